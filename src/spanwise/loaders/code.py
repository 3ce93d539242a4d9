"""Source code: the file's own text, its functions and classes as headings."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from spanwise.cutting.block_parser import Structure
from spanwise.cutting.markdown_lines import line_feeds
from spanwise.documents import Document
from spanwise.errors import LoadError, MissingExtraError, OptionError
from spanwise.loaders.base import Raw
from spanwise.loaders.code_headings import (
    LINE_END,
    Definition,
    line_start,
    rest_of_line,
    structure_of,
)
from spanwise.loaders.code_tree import read_tree
from spanwise.loaders.languages import LANGUAGES, Language
from spanwise.loaders.offsets import CodePoints
from spanwise.loaders.text import decode, own_encoding

__all__ = ["CodeLoader"]

_PYTHON = (".py", ".pyi", ".pyw")
_PYTHON_TYPE = "text/x-python"
_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}

# A first line that names the program; a file without suffix is known by it.
_SHEBANG = re.compile(rb"#![^\r\n]*\b(python|node|ruby|php|lua|bash|sh)[\d.]*(?=[\s]|\Z)")
_SHEBANG_SUFFIX = {
    b"python": ".py",
    b"node": ".js",
    b"ruby": ".rb",
    b"php": ".php",
    b"lua": ".lua",
    b"bash": ".sh",
    b"sh": ".sh",
}

_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

# Where a PEP 263 line may stand: the first two lines.
_COOKIE_LINES = 2
_HEAD = 4096

_OPENS = re.compile(
    r"(?:async(?:[ \t\f]|\\(?:\r\n|\r|\n))+)?(?:def|class)(?:[ \t\f]|\\(?:\r\n|\r|\n))+"
    r"([^\s(:\[\\]+)"
)
# From the end of a signature's last expression to its colon, past comments.
_COLON = re.compile(r"[^:#]*(?:#[^\r\n]*[^:#]*)*:")

# What the tolerant scan looks at: strings, comments, and definitions at line starts.
_MARKS = re.compile(
    r"\"\"\"|'''|[\"'#\\]"
    r"|(?:^|(?<=[\r\n]))([ \t\f]*)((?:async[ \t]+)?(?:def[ \t]+(?=\w+[ \t]*[(\[])"
    r"|class[ \t]+(?=\w+[ \t]*[(:\[])))(\w+)"
)
_ONE_LINE = {
    '"': re.compile(r"\"(?:[^\"\\\r\n]|\\(?:\r\n|[\s\S]))*\"?"),
    "'": re.compile(r"'(?:[^'\\\r\n]|\\(?:\r\n|[\s\S]))*'?"),
}
_TRIPLE = {
    '"""': re.compile(r"(?:[^\"\\]|\\[\s\S]|\"(?!\"\"))*\"\"\""),
    "'''": re.compile(r"(?:[^'\\]|\\[\s\S]|'(?!''))*'''"),
}
_LINE_START = re.compile(r"(?:\A|(?:\r\n|\r|\n))([ \t\f]*)(?=[^\s#)\]}])")
_BRACKETS = re.compile(r"[()\[\]{}:#\"'\r\n]")
_MOST_MARKS = 2000  # of a signature


class CodeLoader:
    """Reads source code: Python with the standard library, other languages with ``code``.

    Each function, method and class is a heading with its name as title; the text is the file's
    own. Without the extra, code in another language is plain text, and ``meta["problem"]``
    says what is missing. It also says when code has errors and was read as well as it could be.
    """

    name = "source code"
    suffixes = (*_PYTHON, *_BY_SUFFIX)

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix is one of code, or a file without one begins as a script."""
        return bool(_suffix_of(raw))

    def load(self, raw: Raw) -> Document:
        """The file's text with its definitions as headings; `LoadError` for what is no text."""
        language = _BY_SUFFIX.get(_suffix_of(raw))
        if language is None:
            text, encoding = _decode_python(raw)
            structure, problem = _read_python(line_feeds(text))
        else:
            text, encoding = decode(raw.data, raw.name, raw.encoding)
            structure, problem = _read_other(line_feeds(text), language)
        meta = {"encoding": encoding}
        if problem:
            meta["problem"] = problem
        return Document(
            text=text,
            uri=raw.uri,
            media_type=language.media_type if language else _PYTHON_TYPE,
            meta=meta,
            structure=structure,
            encoding=own_encoding(raw.data, encoding),
        )


def _suffix_of(raw: Raw) -> str:
    """The suffix that says the language, or nothing."""
    if raw.suffix in _PYTHON or raw.suffix in _BY_SUFFIX:
        return raw.suffix
    if raw.suffix or PurePosixPath(raw.uri).suffix:
        return ""
    script = _SHEBANG.match(raw.data[:256])
    return _SHEBANG_SUFFIX[script[1]] if script else ""


def _read_other(text: str, language: Language) -> tuple[Structure, str]:
    """The structure of code in another language, and what is wrong with it."""
    try:
        found, understood = read_tree(text, language)
    except MissingExtraError as missing:
        return Structure(), str(missing)
    problem = "" if understood else f"much of it is no {language.name} that the parser knows"
    return structure_of(text, found, language.comment), problem


def _decode_python(raw: Raw) -> tuple[str, str]:
    """The text of a Python file, in the encoding that its first lines name (PEP 263)."""
    if not raw.encoding:
        lines = raw.data[:_HEAD].splitlines(keepends=True)[:_COOKIE_LINES]
        try:
            named, _ = tokenize.detect_encoding(iter(lines).__next__)
            if named not in ("utf-8", "utf-8-sig"):
                text, encoding = decode(raw.data, raw.name, named)
                # Bytes can be told only where the text leads back to them.
                if text.encode(encoding) == raw.data:
                    return text, encoding
        except (SyntaxError, LoadError, OptionError, UnicodeError):
            pass  # the bytes are then read without what the line says
    return decode(raw.data, raw.name, raw.encoding)


def _read_python(text: str) -> tuple[Structure, str]:
    """The structure of Python code, and what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the code that is read, such as "\d"
            tree = ast.parse(text)
    except SyntaxError as fault:
        where = f"line {fault.lineno}: " if fault.lineno else ""
        problem = f"{where}not Python {_VERSION} ({fault.msg}); its lines were looked at instead"
    except (RecursionError, MemoryError):
        problem = "nested too deeply to be parsed; its lines were looked at instead"
    except ValueError as fault:
        problem = f"not Python ({fault}); its lines were looked at instead"
    else:
        return structure_of(text, _parsed(text, tree)), ""
    return structure_of(text, _scanned(text)), problem


class _Places:
    """From a line and a byte in it, as `ast` counts them, to a code point."""

    def __init__(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self._at = CodePoints(data)
        self._lines = [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", data))]

    def __call__(self, line: int, column: int) -> int:
        return self._at(self._lines[line - 1] + column)


def _parsed(text: str, tree: ast.Module) -> Iterator[Definition]:
    """The definitions of a syntax tree."""
    places = _Places(text)
    # Statements to look at, each with the end of what stands before it.
    waiting: list[tuple[ast.stmt, int]] = []

    def queue(block: Sequence[ast.stmt], floor: int) -> None:
        for statement in block:
            waiting.append((statement, floor))
            floor = places(statement.end_lineno or 1, statement.end_col_offset or 0)

    queue(tree.body, 0)
    while waiting:
        statement, floor = waiting.pop()
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for block in _blocks(statement):
                first = block[0]
                queue(block, places(*_start(first)))
            continue
        keyword = places(statement.lineno, statement.col_offset)
        start = keyword
        if statement.decorator_list:
            line, column = _start(statement)
            start = text.rindex("@", 0, places(line, column))
        opens = _OPENS.match(text, keyword)
        if opens is None:
            continue
        last = max(
            (places(line, column) for line, column in _signature_ends(statement)),
            default=0,
        )
        colon = _COLON.match(text, max(last, opens.end()))
        if colon is None:
            continue
        yield Definition(
            min(floor, start),
            start,
            opens.start(1),
            opens.end(1),
            rest_of_line(text, colon.end()),
            places(statement.end_lineno or 1, statement.end_col_offset or 0),
            isinstance(statement, ast.ClassDef),
        )
        queue(statement.body, colon.end())


def _start(statement: ast.stmt) -> tuple[int, int]:
    """Where a statement begins, at the expression of its first decorator if it has any."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    first = decorators[0] if decorators else statement
    return first.lineno, first.col_offset


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks inside a compound statement."""
    holders: list[Any] = [
        statement,
        *getattr(statement, "handlers", ()),
        *getattr(statement, "cases", ()),
    ]
    for holder in holders:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(holder, name, None)
            if isinstance(block, list) and block:
                yield block


def _signature_ends(
    statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
) -> Iterator[tuple[int, int]]:
    """Where the parts of a signature end; its colon comes after the last of them."""
    parts: list[Any] = [*getattr(statement, "type_params", ())]
    if isinstance(statement, ast.ClassDef):
        parts += [*statement.bases, *statement.keywords]
    else:
        given = statement.args
        parts += [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
        parts += [*given.defaults, *given.kw_defaults, statement.returns]
    for part in parts:
        if part is not None:
            yield part.end_lineno, part.end_col_offset


def _scanned(text: str) -> list[Definition]:
    """The definitions at line starts outside strings, for code that cannot be parsed."""
    found, starts, closed = _scan(text, strings=True)
    if not closed:  # a string that never ends: what is inside strings cannot be told
        found, starts, _ = _scan(text, strings=False)
    # A signature ends before the next definition, whatever it leaves open.
    bounds = [*(start for start, _, _ in found[1:]), len(text)]
    colons = [_colon(text, each[2], end) for each, end in zip(found, bounds, strict=False)]
    ends = [len(text)] * len(found)
    open_ones: list[tuple[int, int]] = []  # how far it is indented, and its place in `found`
    following = opened = 0
    for at, indent in starts:
        if at < opened:
            continue  # a signature goes on
        while open_ones and indent <= open_ones[-1][0]:
            ends[open_ones.pop()[1]] = at
        while following < len(found) and found[following][0] < at:
            following += 1
        if following < len(found) and found[following][0] == at:
            open_ones.append((indent, following))
            opened = colons[following]
    out: list[Definition] = []
    # Comments above what comes next are no part of what ends there.
    firsts = {at: _decorated(text, at) for at in {*ends, *(start for start, _, _ in found)}}
    for (start, name, name_end), colon, end in zip(found, colons, ends, strict=True):
        first = firsts[start]
        stop = start + len(text[start : max(firsts[end], name_end)].rstrip())
        is_class = text.startswith("class", start)
        out.append(Definition(first, first, name, name_end, min(colon, stop), stop, is_class))
    return out


def _scan(
    text: str, *, strings: bool
) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]], bool]:
    """Definitions, line starts with their indentation, and whether every string ends."""
    found: list[tuple[int, int, int]] = []
    inside: list[tuple[int, int]] = []  # the long strings
    closed = True
    at = 0
    while (mark := _MARKS.search(text, at)) is not None:
        token, at = mark[0], mark.end()
        if mark[3]:
            found.append((mark.start(2), mark.start(3), mark.end(3)))
        elif token == "#":
            line = LINE_END.search(text, at)
            at = line.start() if line else len(text)
        elif token == "\\":
            at += 1
        elif token in _TRIPLE:
            if strings and closed:
                string = _TRIPLE[token].match(text, at)
                closed = string is not None
                if string is not None:
                    inside.append((at, string.end()))
                    at = string.end()
        elif strings:
            string = _ONE_LINE[token].match(text, mark.start())
            at = string.end() if string else at
    starts: list[tuple[int, int]] = []
    skipped = 0
    for line in _LINE_START.finditer(text):
        while skipped < len(inside) and inside[skipped][1] <= line.end():
            skipped += 1
        if skipped == len(inside) or inside[skipped][0] > line.end():
            indent = line[1].rpartition("\f")[2].expandtabs(8)
            starts.append((line.end(), len(indent)))
    return found, starts, closed


def _decorated(text: str, start: int) -> int:
    """The start of a definition with the decorators and comments directly above it."""
    line = line_start(text, start)
    first = start
    while line > 0:
        end = line - 1
        line = line_start(text, end)
        above = text[line:end]
        if not above.lstrip().startswith(("#", "@")):
            break
        first = line + len(above) - len(above.lstrip())
    return first


def _colon(text: str, at: int, end: int) -> int:
    """Where a signature ends: after its colon, or with its first line."""
    depth = 0
    line = LINE_END.search(text, at, end)
    first = line.start() if line else end
    for _ in range(_MOST_MARKS):
        mark = _BRACKETS.search(text, at, end)
        if mark is None:
            break
        token, at = mark[0], mark.end()
        if token == "#":
            line = LINE_END.search(text, at, end)
            at = line.start() if line else end
        elif token in _ONE_LINE:
            string = _ONE_LINE[token].match(text, mark.start(), end)
            at = string.end() if string else at
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == ":" and depth <= 0:
            return min(rest_of_line(text, at), end)
        elif token in "\r\n" and depth <= 0:
            break
    return first
