"""Definitions as headings, and where tree-sitter finds them in languages besides Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from spanwise.cutting.block_parser import Structure
from spanwise.cutting.spans import first_ink
from spanwise.errors import MissingExtraError
from spanwise.extras import require_extra
from spanwise.loaders.offsets import CodePoints

__all__ = [
    "LANGUAGES",
    "LINE_END",
    "Definition",
    "Language",
    "read_tree",
    "rest_of_line",
    "structure_of",
]

_DEEPEST = 6

# A function up to this size is one section, its inner functions unmarked; a longer one is cut in
# any case. The size by_heading cuts at (splitters/paragraph.py, USUAL).
_WHOLE = 1000

# Code between definitions below this size is no section: by_heading would join it to the next
# one and give both its path. The floor of by_heading (splitters/base.py, default_floor).
_SHORT = 250

_LONGEST_TITLE = 60

# A grammar that loses more than one byte in so many has not understood the text. C with macros
# of its own loses a little in half of all files.
_SHARE = 10

LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK_LINE = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t\f]*(?=\r|\n)")
_REST = r"[ \t\f;,)]*(?:%s)?[ \t\f]*(?=[\r\n]|\Z)"
_CODE = re.compile(r"\b(?!(?:end|endif|fi|done)\b)\w")
_DECORATION = re.compile(r"[\s#/*\-=~!<>;:(){}\[\]]*")

_HASH = r"#[^\r\n]*"
_DASHES = r"--(?:\[\[(?:[^\]]|\](?!\]))*\]\]|[^\r\n]*)"
_SLASHES = r"//[^\r\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)"


class Definition(NamedTuple):
    """A function, class or the like, in code points.

    ``[start, opening)`` is what it opens with; between ``floor`` and ``start`` are only comments;
    the name is ``[name, name_end)``. ``holds`` says that its inner definitions always count.
    """

    floor: int
    start: int
    name: int
    name_end: int
    opening: int
    end: int
    holds: bool


def line_start(text: str, at: int) -> int:
    """Where the line of a position starts; line ends are LF or CRLF."""
    return text.rfind("\n", 0, at) + 1


def rest_of_line(text: str, at: int, comment: str = _HASH) -> int:
    """The end of a line whose rest holds no code, or ``at``."""
    rest = re.compile(_REST % comment).match(text, at)
    return rest.end() if rest else at


def structure_of(text: str, definitions: Iterable[Definition], comment: str = _HASH) -> Structure:
    """The structure in which each definition is a heading; line ends are LF or CRLF.

    Code after a definition is led back to what holds it by an empty heading with the holder's
    name; at the top level, where nothing has a name, by one with the first words of that code.
    """
    return _Marks(text, comment).run(sorted(definitions, key=lambda each: (each.start, -each.end)))


class _Marks:
    """Writes headings for definitions and for the code between them."""

    def __init__(self, text: str, comment: str) -> None:
        self.text = text
        self.found = Structure()
        self.comments = re.compile(comment)
        self.rest = re.compile(_REST % comment)
        self.open: list[Definition] = []
        self.closed = -1  # where the last definition inside the open one ended

    def run(self, definitions: list[Definition]) -> Structure:
        for each in definitions:
            self._close(each.start)
            above = self.open[-1] if self.open else None
            if len(self.open) == _DEEPEST:
                continue
            if above is not None and (
                each.start < above.opening
                or each.end > above.end
                or (not above.holds and above.end - above.start <= _WHOLE)
            ):
                continue
            least = max(self.closed, above.opening if above else 0)
            start = self._with_comments(max(each.floor, least), each.start)
            if self.closed >= 0:
                start = self._between(self.closed, start, True)
            self._mark(start, each.opening, len(self.open) + 1, each.name, each.name_end)
            self.open.append(each)
            self.closed = -1
        self._close(len(self.text) + 1)
        if self.closed >= 0:
            self._between(self.closed, len(self.text), False)
        return Structure() if self._is_bare() else self.found

    def _close(self, position: int) -> None:
        """Close the definitions that end before a position."""
        while self.open and self.open[-1].end <= position:
            last = self.open[-1]
            if self.closed >= 0:
                self._between(self.closed, last.end, False)
            self.open.pop()
            rest = self.rest.match(self.text, last.end)
            self.closed = min(rest.end() if rest else last.end, max(position, last.end))

    def _mark(self, start: int, end: int, level: int, title: int, title_end: int) -> None:
        found = self.found
        found.heading_starts.append(start)
        found.heading_ends.append(end)
        found.heading_levels.append(level)
        found.title_starts.append(title)
        found.title_ends.append(title_end)

    def _with_comments(self, floor: int, start: int) -> int:
        """The start of a definition, moved above the comments directly above it."""
        text = self.text
        if floor:
            line = LINE_END.search(text, floor, start)
            if line is None:
                return start
            floor = line.end()
        for blank in _BLANK_LINE.finditer(text, max(0, floor - 1), start):
            floor = max(floor, blank.end())
        return first_ink(text, floor, start)

    def _between(self, lo: int, hi: int, followed: bool) -> int:
        """Mark code after a definition; where what follows it starts, which short code joins."""
        text = self.text
        start = hi
        for line in LINE_END.finditer(text, lo, hi):
            start = first_ink(text, line.end(), hi)
            if start == hi or text[start] not in ")]};":
                break
        if start >= hi or text[start] in ")]};":
            return hi
        code = self.comments.sub("", text[start:hi])
        if _CODE.search(code) is None:
            return self._first_comment(start, hi) if followed else hi
        if hi - start >= _SHORT or not (followed or self.open):
            if self.open:
                name, name_end = self.open[-1].name, self.open[-1].name_end
            else:
                name, name_end = self._first_words(start, hi)
            self._mark(start, start, max(1, len(self.open)), name, name_end)
            return hi
        if followed and (not self.open or code.rstrip().endswith((":", "{"))):
            return self._below_deeper(start, hi)
        return hi

    def _below_deeper(self, start: int, hi: int) -> int:
        """The start of short code, below comments that still belong to what is above."""
        text, at = self.text, start
        comments: list[int] = []
        while (comment := self.comments.match(text, at, hi)) is not None:
            comments.append(at)
            at = first_ink(text, comment.end(), hi)
        column = self._column(at)
        return next((each for each in comments if self._column(each) <= column), at)

    def _first_comment(self, start: int, hi: int) -> int:
        """The first comment that stands in the column of the definition below it."""
        at, column = start, self._column(hi)
        while at < hi:
            if self._column(at) == column and _CODE.match(self.text, at) is None:
                return at
            line = LINE_END.search(self.text, at, hi)
            at = first_ink(self.text, line.end(), hi) if line else hi
        return hi

    def _column(self, at: int) -> int:
        return at - line_start(self.text, at)

    def _is_bare(self) -> bool:
        """Whether no ink stands outside the headings; such a text would give no chunk."""
        found = self.found
        ends = [0, *found.heading_ends]
        starts = [*found.heading_starts, len(self.text)]
        for at, start in zip(ends, starts, strict=True):
            if first_ink(self.text, at, start) < start:
                return False
        return True

    def _first_words(self, start: int, hi: int) -> tuple[int, int]:
        """The first line of code, or of a comment, as a title."""
        skipped = _DECORATION.match(self.text, start, hi)
        at = skipped.end() if skipped and skipped.end() < hi else start
        line = LINE_END.search(self.text, at, hi)
        end = min(line.start() if line else hi, at + _LONGEST_TITLE)
        return at, at + len(self.text[at:end].rstrip(" \t\f:{([=,;\\"))


@dataclass(frozen=True, slots=True)
class Language:
    """A language that tree-sitter reads: its files, its grammar, what defines in it.

    ``functions`` and ``holders`` are node types; a holder's inner definitions always count.
    """

    name: str
    suffixes: tuple[str, ...]
    media_type: str
    module: str
    functions: tuple[str, ...]
    holders: tuple[str, ...] = ()
    grammar: str = "language"
    comment: str = _SLASHES


_SCRIPT_FUNCTIONS = (
    *("function_declaration", "generator_function_declaration", "method_definition"),
    "variable_declarator",
)
_TYPED = (
    *("class_declaration", "abstract_class_declaration", "interface_declaration"),
    *("internal_module", "enum_declaration"),
)
_TYPED_FUNCTIONS = (*_SCRIPT_FUNCTIONS, "public_field_definition")
_C_HOLDERS = ("struct_specifier", "union_specifier", "enum_specifier")

LANGUAGES = (
    Language(
        "JavaScript",
        (".js", ".mjs", ".cjs", ".jsx"),
        "text/javascript",
        "tree_sitter_javascript",
        (*_SCRIPT_FUNCTIONS, "field_definition"),
        ("class_declaration",),
    ),
    Language(
        "TypeScript",
        (".ts", ".mts", ".cts"),
        "text/x-typescript",
        "tree_sitter_typescript",
        _TYPED_FUNCTIONS,
        _TYPED,
        "language_typescript",
    ),
    Language(
        "TSX",
        (".tsx",),
        "text/x-typescript",
        "tree_sitter_typescript",
        _TYPED_FUNCTIONS,
        _TYPED,
        "language_tsx",
    ),
    Language(
        "Go",
        (".go",),
        "text/x-go",
        "tree_sitter_go",
        ("function_declaration", "method_declaration"),
        ("type_spec",),
    ),
    Language(
        "Rust",
        (".rs",),
        "text/x-rust",
        "tree_sitter_rust",
        ("function_item",),
        ("impl_item", "trait_item", "mod_item", "struct_item", "enum_item", "union_item"),
    ),
    Language(
        "Java",
        (".java",),
        "text/x-java",
        "tree_sitter_java",
        ("method_declaration", "constructor_declaration", "compact_constructor_declaration"),
        (
            *("class_declaration", "interface_declaration", "enum_declaration"),
            *("record_declaration", "annotation_type_declaration"),
        ),
    ),
    Language("C", (".c",), "text/x-c", "tree_sitter_c", ("function_definition",), _C_HOLDERS),
    Language(
        "C++",
        (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h"),
        "text/x-c++",
        "tree_sitter_cpp",
        ("function_definition",),
        (*_C_HOLDERS, "class_specifier", "namespace_definition"),
    ),
    Language(
        "C#",
        (".cs",),
        "text/x-csharp",
        "tree_sitter_c_sharp",
        ("method_declaration", "constructor_declaration", "local_function_statement"),
        (
            *("namespace_declaration", "class_declaration", "interface_declaration"),
            *("struct_declaration", "enum_declaration", "record_declaration"),
        ),
    ),
    Language(
        "Ruby",
        (".rb", ".rake"),
        "text/x-ruby",
        "tree_sitter_ruby",
        ("method", "singleton_method"),
        ("class", "module"),
        comment=_HASH,
    ),
    Language(
        "PHP",
        (".php",),
        "text/x-php",
        "tree_sitter_php",
        ("function_definition", "method_declaration"),
        (
            *("class_declaration", "interface_declaration", "trait_declaration"),
            *("enum_declaration", "namespace_definition"),
        ),
        "language_php",
        rf"#(?!\[)[^\r\n]*|{_SLASHES}",
    ),
    Language(
        "Kotlin",
        (".kt", ".kts"),
        "text/x-kotlin",
        "tree_sitter_kotlin",
        ("function_declaration",),
        ("class_declaration", "object_declaration"),
    ),
    Language(
        "Scala",
        (".scala",),
        "text/x-scala",
        "tree_sitter_scala",
        ("function_definition",),
        ("class_definition", "object_definition", "trait_definition", "enum_definition"),
    ),
    Language(
        "Swift",
        (".swift",),
        "text/x-swift",
        "tree_sitter_swift",
        ("function_declaration", "init_declaration"),
        ("class_declaration", "protocol_declaration"),
    ),
    Language(
        "Lua",
        (".lua",),
        "text/x-lua",
        "tree_sitter_lua",
        ("function_declaration",),
        comment=_DASHES,
    ),
    Language(
        "Bash",
        (".sh", ".bash"),
        "text/x-shellscript",
        "tree_sitter_bash",
        ("function_definition",),
        comment=_HASH,
    ),
)

# What stands around a definition and opens with it.
_WRAPPERS = frozenset(
    (
        *("export_statement", "ambient_declaration", "expression_statement", "type_declaration"),
        *("lexical_declaration", "variable_declaration", "template_declaration"),
        *("type_definition", "local_declaration", "declaration"),
    )
)
_ABOVE = frozenset(("attribute_item", "decorator"))
_BODIES = frozenset(
    ("class_body", "enum_class_body", "function_body", "template_body", "protocol_body")
)
_VALUES = frozenset(("arrow_function", "function_expression", "generator_function"))
_TYPES = frozenset(("struct_type", "interface_type"))
_WITH_VALUE = ("variable_declarator", "field_definition", "public_field_definition")


def read_tree(text: str, language: Language) -> tuple[list[Definition], bool]:
    """The definitions of a text, and whether the grammar understood it.

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
    data = text.encode("utf-8", "surrogatepass")
    root = sitter.Parser(grammar).parse(data).root_node
    at = CodePoints(data)
    kinds = frozenset((*language.functions, *language.holders))
    found: list[Definition] = []
    lost = 0
    for chain in _chains(root, kinds):
        node = chain[-1].node
        if node.type == "ERROR":
            lost += node.end_byte - node.start_byte
            continue
        each = _definition(text, chain, language, at)
        if each is not None:
            found.append(each)
    return found, lost * _SHARE <= len(data)


class _Seen(NamedTuple):
    """A node, where what stands before it ends, and where its attributes begin or -1."""

    node: Any
    floor: int
    above: int


def _chains(root: Any, kinds: frozenset[str]) -> Iterator[list[_Seen]]:
    """Each definition and error, last in the list of the nodes that hold it.

    One walk: a query, or asking nodes for their neighbours, grows with the square of a text.
    """
    cursor = root.walk()
    chain: list[_Seen] = []
    floor, above = 0, -1
    left: list[tuple[int, int]] = []
    while True:
        node = cursor.node
        kind = node.type
        chain.append(_Seen(node, floor, above))
        if kind in kinds or kind == "ERROR":
            yield chain
        if kind in _ABOVE:
            above = above if above >= 0 else node.start_byte
        elif "comment" not in kind:
            floor, above = node.end_byte, -1
        left.append((floor, above))
        if cursor.goto_first_child():
            floor, above = node.start_byte, -1
            continue
        floor, above = left.pop()
        chain.pop()
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            floor, above = left.pop()
            chain.pop()


def _definition(
    text: str, chain: list[_Seen], language: Language, at: CodePoints
) -> Definition | None:
    """A node as a definition; None for one without name or body, such as a prototype."""
    node = chain[-1].node
    value = node
    if node.type in _WITH_VALUE:
        value = node.child_by_field_name("value")
        if value is None or value.type not in _VALUES:
            return None
    above = chain[-2].node if len(chain) > 1 else None
    names, body = _name(node, above), _body(value)
    if names is None or body is None:
        return None
    i = len(chain) - 1
    while i and chain[i - 1].node.type in _WRAPPERS and _is_only(chain[i].node, chain[i - 1].node):
        i -= 1
    outer = chain[i]
    floor, end = outer.floor, max(node.end_byte, outer.node.end_byte)
    start = outer.above if outer.above >= 0 else outer.node.start_byte
    name, name_end, first = at(names[0]), at(names[1]), at(body.start_byte)
    if text[first : first + 1] == "{":
        opening = rest_of_line(text, first + 1, language.comment)
    elif body.type in _TYPES and "{" in text[first : at(body.end_byte)]:
        opening = rest_of_line(text, text.index("{", first) + 1, language.comment)
    else:
        # The body begins without a brace; comments above it are part of it.
        opens = [
            child.end_byte
            for child in value.children
            if child.end_byte <= body.start_byte and "comment" not in child.type
        ]
        opening = max(name_end, at(max(opens, default=0)))
        opening = rest_of_line(text, opening, language.comment)
    if opening > first and text[first : first + 1] != "{" and body.type not in _TYPES:
        opening = name_end
    if not (at(start) <= name < name_end <= at(end) and at(start) < opening <= at(end)):
        return None
    return Definition(
        min(at(floor), at(start)),
        at(start),
        name,
        name_end,
        opening,
        at(end),
        node.type in language.holders,
    )


def _is_only(node: Any, above: Any) -> bool:
    """Whether a node is the only one of its type in what wraps it."""
    same = [child for child in above.named_children if child.type == node.type]
    return len(same) == 1


def _name(node: Any, above: Any) -> tuple[int, int] | None:
    """The byte range of what a definition is called."""
    kind = node.type
    if kind == "impl_item":
        last = node.child_by_field_name("type")
        first = node.child_by_field_name("trait") or last
        return (first.start_byte, last.end_byte) if last is not None else None
    found = node.child_by_field_name("name") or node.child_by_field_name("property")
    receiver = node.child_by_field_name("receiver")
    if receiver is not None and found is not None:
        return receiver.start_byte, found.end_byte
    inner = node.child_by_field_name("declarator")
    while found is None and inner is not None:
        after = inner.child_by_field_name("declarator")
        if after is None and inner.type in ("reference_declarator", "parenthesized_declarator"):
            after = inner.named_children[-1] if inner.named_children else None
        if after is None:
            found = inner
        inner = after
    if found is None and kind in _C_HOLDERS and above.type == "type_definition":
        found = above.child_by_field_name("declarator")
    if found is None and kind == "init_declaration":
        found = node.children[0] if node.children else None
    return (found.start_byte, found.end_byte) if found is not None else None


def _body(node: Any) -> Any:
    """The node of a definition's body, or None."""
    body = node.child_by_field_name("body")
    if body is None and node.type == "type_spec":
        body = node.child_by_field_name("type")
        return body if body is not None and body.type in _TYPES else None
    if body is None:
        body = next((child for child in node.children if child.type in _BODIES), None)
    return body
