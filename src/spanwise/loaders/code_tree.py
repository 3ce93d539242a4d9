"""Where tree-sitter finds the definitions of languages besides Python."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from operator import index
from typing import Any

from spanwise.errors import MissingExtraError
from spanwise.extras import require_extra
from spanwise.loaders.code_headings import WHOLE, Definition, rest_of_line, rest_pattern
from spanwise.loaders.languages import C_HOLDERS, Language
from spanwise.loaders.offsets import CodePoints

__all__ = ["read_tree"]

# A grammar that loses more than one byte in so many has not understood the text. C with macros
# of its own loses a little in half of all files.
_SHARE = 10

# The nodes of the smallest definitions, such as `struct {}` in a typedef, or `def a = b`.
_LEAST = 5

# What stands around a definition and opens with it.
_WRAPPERS = frozenset(
    (
        *("export_statement", "ambient_declaration", "expression_statement", "type_declaration"),
        *("lexical_declaration", "variable_declaration", "template_declaration"),
        *("type_definition", "local_declaration", "declaration", "assignment_expression"),
        "var_declaration",
    )
)
_ABOVE = frozenset(("attribute_item", "decorator"))
_BODIES = frozenset(
    ("class_body", "enum_class_body", "function_body", "template_body", "protocol_body")
)
_VALUES = frozenset(
    (
        *("arrow_function", "function_expression", "generator_function", "function_definition"),
        *("func_literal", "class"),
    )
)
_TYPES = frozenset(("struct_type", "interface_type"))
_OUTSIDE = frozenset(("translation_unit", "declaration_list"))
_AROUND = frozenset(
    ("reference_declarator", "parenthesized_declarator", "abstract_reference_declarator")
)
# What is a definition where a function or a class is assigned to its name.
_WITH_VALUE = frozenset(
    (
        *("variable_declarator", "field_definition", "public_field_definition"),
        *("assignment_expression", "assignment_statement", "export_statement", "var_spec"),
    )
)


def read_tree(text: str, language: Language) -> tuple[list[Definition], bool]:
    """The definitions of a text, and whether the grammar understood it.

    Left out are those inside a function of at most `WHOLE` characters, which is one section.
    Raises `MissingExtraError` without the grammar, or with one of another version.
    """
    purpose = f"cutting {language.name} at its functions"
    sitter = require_extra("tree_sitter", "code", purpose)
    module = require_extra(language.module, "code", purpose)
    try:
        grammar = sitter.Language(getattr(module, language.grammar)())
    except ValueError as fault:  # made for another version of tree-sitter
        raise MissingExtraError(
            f"{purpose} needs another version of {language.module.replace('_', '-')} ({fault}); "
            'pip install -U "spanwise[code]"'
        ) from fault
    data = _known(text, language).encode("utf-8", "surrogatepass")
    # In ASCII every byte is a code point.
    reader = _Reader(text, index if data.isascii() else CodePoints(data), language)
    reader.read(sitter.Parser(grammar).parse(data).root_node)
    return reader.found, reader.lost * _SHARE <= len(data)


def _known(text: str, language: Language) -> str:
    """The text with blanks for what the grammar does not know, which is in ASCII."""
    if not language.unknown:
        return text
    return re.sub(
        language.unknown, lambda found: found[0].removesuffix(found[1]) + " " * len(found[1]), text
    )


class _Reader:
    """Finds definitions and errors in one walk through what may hold them.

    A query, or asking nodes for their neighbours, grows with the square of a text.
    """

    def __init__(self, text: str, at: Callable[[int], int], language: Language) -> None:
        self.found: list[Definition] = []
        self.lost = 0  # bytes in errors
        self._text = text
        self._at = at
        self._rest = rest_pattern(language.comment)
        self._holders = frozenset(language.holders)
        self._kinds = self._holders.union(language.functions)
        # The nodes that hold the one looked at, itself last; for each its type, where what stands
        # before it ends, and where its attributes begin or -1.
        self._chain: list[tuple[Any, str, int, int]] = []
        self._inside: dict[int, Counter[str]] = {}  # by the ids of nodes, types of their children

    def read(self, root: Any) -> None:
        """Walk through a tree."""
        cursor, chain = root.walk(), self._chain
        floor, above = 0, -1
        while True:
            node = cursor.node
            kind = node.type
            if node.descendant_count >= _LEAST or node.has_error or kind == "ERROR":
                chain.append((node, kind, floor, above))
                if self._opens(node, kind) and cursor.goto_first_child():
                    floor, above = node.start_byte, -1
                    continue
                chain.pop()
            while True:
                if kind in _ABOVE:
                    above = above if above >= 0 else node.start_byte
                elif "comment" not in kind:
                    floor, above = node.end_byte, -1
                if cursor.goto_next_sibling():
                    break
                if not cursor.goto_parent():
                    return
                node, kind, floor, above = chain.pop()

    def _opens(self, node: Any, kind: str) -> bool:
        """Note a definition or an error; whether what is inside the node counts."""
        if kind == "ERROR":
            self.lost += node.end_byte - node.start_byte
        each = self._definition(node, kind) if kind in self._kinds else None
        if each is None:
            return True
        self.found.append(each)
        return each.holds or each.end - each.start > WHOLE or bool(node.has_error)

    def _definition(self, node: Any, kind: str) -> Definition | None:
        """A node as a definition; None for one without name or body, such as a prototype."""
        value = node
        if kind in _WITH_VALUE:
            value = _value(node, kind)
            if value is None or value.type not in _VALUES:
                return None
        body = _body(value)
        names = _name(node, kind, self._chain[-2][0]) if body is not None else None
        if names is None:
            return None
        at = self._at
        outer, floor, above = self._outer()
        start, end = at(above if above >= 0 else outer.start_byte), at(outer.end_byte)
        name, name_end = at(names[0]), at(names[1])
        opening = self._opening(value, body, name_end)
        if not start <= name < name_end <= end or not start < opening <= end:
            return None
        holds = kind in self._holders or value.type == "class"
        return Definition(at(floor), start, name, name_end, opening, end, holds)

    def _outer(self) -> tuple[Any, int, int]:
        """What opens with the last node of the chain; where what is before it ends; its attributes.

        That is the node itself, or what wraps it and no other of its type.
        """
        i = len(self._chain) - 1
        while i and self._chain[i - 1][1] in _WRAPPERS:
            wrapper, kind = self._chain[i - 1][0], self._chain[i][1]
            if wrapper.named_child_count > 1:
                inside = self._inside.get(wrapper.id)
                if inside is None:
                    inside = Counter(child.type for child in wrapper.named_children)
                    self._inside[wrapper.id] = inside
                if inside[kind] > 1:
                    break
            i -= 1
        node, _, floor, above = self._chain[i]
        return node, floor, above

    def _opening(self, value: Any, body: Any, name_end: int) -> int:
        """Where the opening of a definition ends, below which its body is."""
        text, at = self._text, self._at
        brace = first = at(body.start_byte)
        if not text.startswith("{", first):
            inside = body.type in _TYPES
            brace = text.find("{", first, at(body.end_byte)) if inside else -1
        if brace >= 0:
            return rest_of_line(text, brace + 1, self._rest)
        # The body begins without a brace; comments above it are part of it.
        before = [
            child.end_byte
            for child in value.children
            if child.end_byte <= body.start_byte and "comment" not in child.type
        ]
        opening = max(name_end, at(max(before, default=0)))
        opening = rest_of_line(text, opening, self._rest)
        return name_end if opening > first and body.type not in _TYPES else opening


def _name(node: Any, kind: str, above: Any) -> tuple[int, int] | None:
    """The byte range of what a definition is called."""
    if kind == "impl_item":
        last = node.child_by_field_name("type")
        first = node.child_by_field_name("trait") or last
        return (first.start_byte, last.end_byte) if last is not None else None
    if kind == "assignment_statement":
        found = node.named_children[0]
        return found.start_byte, found.end_byte
    if kind == "export_statement":  # what it exports has no name but this
        found = next((child for child in node.children if child.type == "default"), None)
        return (found.start_byte, found.end_byte) if found is not None else None
    field = node.child_by_field_name
    found = field("name") or field("property") or field("left")
    if found is not None:
        first = node.child_by_field_name("receiver") if kind == "method_declaration" else None
        return (first or found).start_byte, found.end_byte
    if kind == "function_definition":
        return _c_name(node, above)
    if kind in C_HOLDERS and above.type == "type_definition":
        found = above.child_by_field_name("declarator")
    elif kind == "init_declaration" and node.children:
        found = node.children[0]
    return (found.start_byte, found.end_byte) if found is not None else None


def _c_name(node: Any, above: Any) -> tuple[int, int] | None:
    """The byte range of what a function of C or C++ is called.

    A macro such as ``TEST(Refunds, Late)`` says a name only with what it is given.
    """
    inner, around = node.child_by_field_name("declarator"), node
    while inner is not None and inner.type != "operator_cast":
        after = _declared(inner)
        if after is None:
            break
        inner, around = after, inner
    if inner is None:
        return None
    end = inner.end_byte
    is_macro = inner.type == "identifier" and around.type == "function_declarator"
    if is_macro and node.child_by_field_name("type") is None and above.type in _OUTSIDE:
        end = around.child_by_field_name("parameters").end_byte
    named = inner
    while named is not None and named.type == "qualified_identifier":
        named = named.child_by_field_name("name")
    if named is not None and named.type == "operator_cast":  # to a type, up to the parameters
        while named is not None and named.type != "abstract_function_declarator":
            named = _declared(named)
        end = named.start_byte if named is not None else end
    return inner.start_byte, end


def _declared(node: Any) -> Any:
    """What a declarator declares, without a sign or parameters around it, or None."""
    inner = node.child_by_field_name("declarator")
    if inner is None and node.type in _AROUND and node.named_children:
        inner = node.named_children[-1]
    return inner


def _value(node: Any, kind: str) -> Any:
    """What is assigned to a name, or None; where there are several values, none is taken."""
    if kind == "assignment_statement":
        value = node.named_children[-1]
    else:
        value = node.child_by_field_name("right" if kind == "assignment_expression" else "value")
    if value is not None and value.type == "expression_list":
        return value.named_children[0] if value.named_child_count == 1 else None
    return value


def _body(node: Any) -> Any:
    """The node of a definition's body, or None."""
    body = node.child_by_field_name("body")
    if body is None and node.type == "type_spec":
        body = node.child_by_field_name("type")
        return body if body is not None and body.type in _TYPES else None
    if body is None:
        body = next((child for child in node.children if child.type in _BODIES), None)
    return body
