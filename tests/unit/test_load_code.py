"""Source code: the text is the file's own, definitions are headings, paths are right."""

from __future__ import annotations

import ast
import importlib.util
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import (
    Document,
    LoadError,
    MissingExtraError,
    by_heading,
    by_layout,
    by_paragraph,
    by_structure,
    explain,
)
from spanwise.loaders import code_tree
from spanwise.loaders.base import Raw
from spanwise.loaders.code import CodeLoader
from spanwise.loaders.languages import LANGUAGES
from spanwise.loaders.offsets import CodePoints

STDLIB = Path(sysconfig.get_path("stdlib"))
SPLITTERS = (
    by_heading(),
    by_heading(min_size=0, overlap=0),
    by_heading(chunk_size=200),
    by_heading(chunk_size=300, max_level=1, overlap=0),
    by_layout(),
    by_structure(),
    by_paragraph(),
)
WHITE = " \t\r\n\f\v\xa0\ufeff"


def load(data: bytes | str, name: str = "a.py", encoding: str = "") -> Document:
    raw = data.encode() if isinstance(data, str) else data
    suffix = Path(name).suffix.lower()
    return CodeLoader().load(Raw(data=raw, name=name, uri=name, suffix=suffix, encoding=encoding))


def paths(doc: Document) -> list[tuple[str, ...]]:
    return list(doc.outline.paths)


def openings(doc: Document) -> list[str]:
    found = doc.structure
    assert found is not None
    pairs = zip(found.heading_starts, found.heading_ends, strict=True)
    return [doc.text[start:end] for start, end in pairs]


def check(doc: Document) -> None:
    """The structure is in order; chunks are slices and leave out nothing but white space."""
    found, text = doc.structure, doc.text
    assert found is not None
    assert found.heading_starts == sorted(set(found.heading_starts))
    for i, start in enumerate(found.heading_starts):
        end = found.heading_ends[i]
        following = [*found.heading_starts, len(text)][i + 1]
        assert start <= end <= following
        assert 1 <= found.heading_levels[i] <= 6
        assert found.title_starts[i] < found.title_ends[i]
        assert text[start] not in WHITE
    for splitter in SPLITTERS:
        last = 0
        for chunk in splitter.split(doc):
            assert text[chunk.start : chunk.end] == chunk.text
            assert not text[last : chunk.start].strip(WHITE)
            last = max(last, chunk.end)
        assert not text[last:].strip(WHITE)


MODULE = '''"""What the module is for."""
# A comment directly above.
import os

X = 1


# About A.
@deco(1)
class A(Base, metaclass=M):  # note
    """What A is."""

    attr = 1

    # About m.
    @property
    def m(self, a,  # c: colon
          b={1: 2}) -> dict[str, int]:
        return 1  # done

    x = m

    async def am(self): return 2

    class B:
        def deep(self):
            def inner():
                pass
            return inner


_cache = {}

def f(): pass

# ---- section ----

def g(a, /, *, b: (int) = (3)) -> lambda: 3:
    # in g
    pass
    # tail of g

if X:
    def h(): ...
else:
    def h(): pass

if __name__ == "__main__":
    g()
'''
MODULE_PATHS = [
    ("A",),
    ("A", "m"),
    ("A", "am"),
    ("A", "B"),
    ("A", "B", "deep"),
    ("f",),
    ("g",),
    ("h",),
    ("h",),
    ('if __name__ == "__main__"',),
]


def test_definitions_are_headings() -> None:
    doc = load(MODULE)
    assert paths(doc) == MODULE_PATHS
    assert openings(doc) == [
        "# About A.\n@deco(1)\nclass A(Base, metaclass=M):  # note",
        "# About m.\n    @property\n    def m(self, a,  # c: colon\n"
        "          b={1: 2}) -> dict[str, int]:",
        "async def am(self):",
        "class B:",
        "def deep(self):",
        "_cache = {}\n\ndef f():",
        "# ---- section ----\n\ndef g(a, /, *, b: (int) = (3)) -> lambda: 3:",
        "if X:\n    def h():",
        "else:\n    def h():",
        "",
    ]
    assert doc.media_type == "text/x-python"
    assert (doc.text, doc.encoding, dict(doc.meta)) == (MODULE, "utf-8", {"encoding": "utf-8"})
    assert doc.parts == ()
    check(doc)


def test_chunks_carry_the_path_of_their_code() -> None:
    chunks = by_heading(min_size=0, overlap=0).split(load(MODULE))
    found = {chunk.heading_path: chunk.text for chunk in chunks}
    assert found[("A", "am")] == "async def am(self): return 2"
    assert found[("A", "m")].endswith("return 1  # done\n\n    x = m")
    assert found[("f",)] == "_cache = {}\n\ndef f(): pass"
    assert found[()].startswith('"""What the module is for."""')


LINES = [
    pytest.param(MODULE.replace("\n", "\r\n").encode(), id="CRLF"),
    pytest.param(MODULE.replace("\n", "\r").encode(), id="CR"),
    pytest.param(MODULE.encode("utf-8-sig"), id="BOM"),
    pytest.param(MODULE.encode("utf-16"), id="UTF-16"),
    pytest.param(MODULE.replace("\n\n_cache", "\n\f\n_cache").encode(), id="form feed"),
    pytest.param(MODULE.replace("    ", "\t").encode(), id="tabs"),
    pytest.param(MODULE.replace("What", "🏮é\u2028\x85").encode(), id="wide"),
    pytest.param((MODULE + "print 'x'\n").encode(), id="Python 2"),
    pytest.param((MODULE + "print 'x'\n").replace("\n", "\r\n").encode(), id="Python 2, CRLF"),
    pytest.param((MODULE + "print 'x'\n").replace("\n", "\r").encode(), id="Python 2, CR"),
    pytest.param(MODULE.replace('A is."""', "A is.").encode(), id="an open string"),
]


@pytest.mark.parametrize("data", LINES)
def test_line_ends_and_marks_change_nothing(data: bytes) -> None:
    doc = load(data)
    assert paths(doc) == MODULE_PATHS
    check(doc)
    place = doc.locate(doc.text.index("return 1"))
    assert place.heading_path == ("A", "m")
    assert place.byte is not None
    bare = {"utf-16": "utf-16-le"}.get(doc.encoding, "utf-8")
    assert data[place.byte :].startswith("return 1".encode(bare))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MODULE + "print 'x'\n", "line 50: not Python"),
        (MODULE + "(" * 500, "not Python"),
        (MODULE + "x = " + "-" * 200_000 + "1\n", "nested too deeply"),
        (MODULE + "x = a" + ".b" * 100_000 + "\n", "nested too deeply"),
        (MODULE + "a" * 9000 + "\0", "not Python"),
    ],
)
def test_code_that_cannot_be_parsed_is_scanned(text: str, said: str) -> None:
    doc = load(text)
    assert paths(doc)[:9] == MODULE_PATHS[:9]
    assert said in doc.meta["problem"]
    assert "its lines were looked at instead" in doc.meta["problem"]
    assert doc.text == text


def test_python_2() -> None:
    text = (
        "class Old:\n    '''It says:\n\ndef not_one():\n'''\n"
        "    def m(self, (a, b)):\n        print a\n\n        raise E, b\n\n"
        "def after(x='#', y=[1,\n2]):\n    exec x\n"
    )
    doc = load(text)
    assert paths(doc) == [("Old",), ("Old", "m"), ("after",)]
    assert openings(doc)[1:] == ["def m(self, (a, b)):", "def after(x='#', y=[1,\n2]):"]
    check(doc)


def test_comments_above_a_definition_are_its_own_where_lines_are_looked_at() -> None:
    """Fault: in code that is not parsed, a function below another and a comment was lost."""
    text = (
        "class A:\n    def f(self): return 1\n    # About g.\n    def g(self):\n"
        "        return 2\n# About h.\n@deco\n# More.\ndef h():\n    return 3\n\n# About i.\n"
        "def i(): return 4\n# The end.\n"
    )
    parsed, scanned = load(text), load(f"{text}print 'x'\n")
    assert "problem" not in parsed.meta and "problem" in scanned.meta
    assert paths(scanned)[:5] == paths(parsed)
    assert paths(parsed) == [("A",), ("A", "f"), ("A", "g"), ("h",), ("i",)]
    assert openings(scanned)[2:4] == [
        "# About g.\n    def g(self):",
        "# About h.\n@deco\n# More.\ndef h():",
    ]
    check(scanned)


def test_generics_are_found_by_a_python_that_does_not_know_them() -> None:
    """Fault: one class with type parameters, read by Python 3.11, left its methods to no one."""
    text = (
        "class Box[T: (int, str) = int](Base[T]):\n    def m[U](self, u: U) -> T:\n"
        "        return u\n\nclass Bare[\n    T,\n]:\n    async def n[V](self): return 1\n\n"
        "def f[T](x: list[T]) -> T: return x[0]\n\nprint 'no Python 3 knows this'\n"
    )
    doc = load(text)
    assert "its lines were looked at instead" in doc.meta["problem"]
    assert paths(doc)[:5] == [("Box",), ("Box", "m"), ("Bare",), ("Bare", "n"), ("f",)]
    assert openings(doc)[1:3] == ["def m[U](self, u: U) -> T:", "class Bare[\n    T,\n]:"]
    check(doc)


LONG = "\n".join(f"VALUE_{i} = {i}" for i in range(40))


def test_code_after_a_class_is_not_the_class_s() -> None:
    method = "class C:\n    def m(self):\n        pass\n"
    doc = load(f"{method}\n{LONG}\n\ndef f():\n    pass\n")
    assert paths(doc) == [("C",), ("C", "m"), ("VALUE_0 = 0",), ("f",)]
    assert doc.locate(doc.text.index("VALUE_7")).heading_path == ("VALUE_0 = 0",)
    check(doc)
    # In a class it is led back to the class, whose name stands above.
    inner = "\n".join(f"    {line}" for line in LONG.split("\n"))
    doc = load(f"{method}\n{inner}\n\n    def n(self):\n        pass\n")
    assert paths(doc) == [("C",), ("C", "m"), ("C",), ("C", "n")]
    assert doc.locate(doc.text.index("VALUE_7")).heading_path == ("C",)
    check(doc)


def test_functions_inside_functions_count_where_the_outer_one_is_long() -> None:
    inner = "    def inner():\n        pass\n"
    assert paths(load(f"def f():\n{inner}    return inner\n")) == [("f",)]
    filler = "".join(f"    x{i} = {i}\n" for i in range(120))
    doc = load(f"def f():\n{filler}{inner}{filler}    return inner\n")
    assert paths(doc) == [("f",), ("f", "inner"), ("f",)]
    check(doc)


def test_nesting_ends_at_the_sixth_level() -> None:
    text = "".join("  " * i + f"class C{i}:\n" for i in range(9)) + "  " * 9 + "pass\n"
    doc = load(text)
    assert paths(doc)[-1] == tuple(f"C{i}" for i in range(6))
    check(doc)


def test_code_without_text_under_its_openings_is_kept() -> None:
    for text in ("def f(", "class A:\n" * 50, "class A:\n", "def f():"):
        doc = load(text)
        assert paths(doc) == []
        check(doc)


def test_names_are_taken_from_the_text() -> None:
    # The parser's own names are normalised.
    assert paths(load("def ﬁn(): pass\nclass \\\n  Ünï:\n  async  def 名(x): pass\n")) == [
        ("ﬁn",),
        ("Ünï",),
        ("Ünï", "名"),
    ]


def test_the_encoding_that_the_file_names() -> None:
    data = "# -*- coding: latin-1 -*-\ndef é():\n    return 'ü'\n".encode("latin-1")
    doc = load(data)
    assert (doc.encoding, paths(doc)) == ("iso-8859-1", [("é",)])
    at = doc.text.index("ü")
    assert doc.locate(at).byte == data.index("ü".encode("latin-1"))
    assert load("#!x\n# coding=cp932\ns = '日本'\n".encode("cp932")).encoding == "cp932"
    assert load("# coding: latin-1\né = 1\n", encoding="utf-8").text.endswith("é = 1\n")
    for name in ("rot13", "nonsense", "utf-16", "undefined", "ascii", "unicode_escape"):
        doc = load(f"# coding: {name}\né = 1\n")
        assert (doc.encoding, doc.text[-6:]) == ("utf-8", "é = 1\n")
    with pytest.raises(LoadError, match=r"a\.py: byte 0, 0xe9, is not UTF-8"):
        load(b"\xe9 = 1\n")


def modules(count: int) -> list[Path]:
    found = sorted(path for path in STDLIB.glob("*.py") if path.stat().st_size > 2000)
    found += sorted((STDLIB / "asyncio").glob("*.py")) + sorted((STDLIB / "email").glob("*.py"))
    return random.Random(1).sample(found, min(count, len(found)))


def definitions(
    node: ast.AST, path: tuple[str, ...] = ()
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, tuple[str, ...]]]:
    """Functions outside functions, with their paths."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from definitions(child, (*path, child.name))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, (*path, child.name)
        else:
            yield from definitions(child, path)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_the_standard_library() -> None:
    small = cut = 0
    for path in modules(60):
        doc = load(path.read_bytes(), path.name)
        assert "problem" not in doc.meta
        check(doc)
        lines = re.split(r"(?<=\n)", doc.text)
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line))
        spans = [(chunk.start, chunk.end) for chunk in by_heading().split(doc)]
        for node, wanted in definitions(ast.parse(doc.text)):
            first, last = node.body[0], node
            if hasattr(first, "decorator_list"):
                continue  # what a class or function opens with has the path of what follows
            column = len(lines[first.lineno - 1].encode()[: first.col_offset].decode())
            place = doc.locate(starts[first.lineno - 1] + column)
            assert place.heading_path == wanted, (path, node.lineno)
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[last.end_lineno - 1] + last.end_col_offset  # type: ignore[operator]
            if end - start <= 800 and doc.text.isascii():
                small += 1
                cut += not any(lo <= start and end <= hi for lo, hi in spans)
    assert small > 500
    # Long comments may stand between definitions, and take the room of a small one.
    assert cut <= small // 500


def test_explain_agrees() -> None:
    doc = load((STDLIB / "textwrap.py").read_bytes(), "textwrap.py")
    for splitter in SPLITTERS:
        cuts = [(cut.start, cut.end) for cut in explain(doc, splitter)]
        assert cuts == [(chunk.start, chunk.end) for chunk in splitter.split(doc)]


@pytest.mark.filterwarnings("ignore::spanwise.EmptyDocumentWarning")
def test_large_and_strange_files_end() -> None:
    source = (STDLIB / "argparse.py").read_text("utf-8")
    big = source * (5_000_000 // len(source) + 1)
    doc = load(big)
    assert doc.text == big
    assert len(paths(doc)) > 1000
    for piece in (
        *("(", "'", '"""', '\\"""', '"""\\', "'\\\n", "# \n", "@a\n", "\\\n", "def f(\n"),
        *("def f((:\n", "class A:\n", "if a:\n", "elif a:\n  def f(): pass\n", "\r", "\f"),
    ):
        text = piece * (60_000 // len(piece)) + "\ndef g(): pass\nprint 1"
        doc = load(text)
        assert doc.text == text
        by_heading().split(doc)


def test_damaged_python() -> None:
    data = MODULE.encode()
    for end in range(0, len(data), 7):
        check(load(data[:end]))
    dice = random.Random(2)
    for _ in range(60):
        broken = bytearray(data)
        for _ in range(dice.randint(1, 12)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            check(load(bytes(broken)))
        except LoadError as refused:
            assert str(refused).startswith("a.py: ")


CODE = {
    ".js": (
        "import x from 'y';\n\n// About A.\nexport class A {\n  /* é🏮 */ m(x) { return 1 }\n"
        "  f = () => {\n    return 2\n  }\n}\nconst g = (a) => { return a };\n"
        "export default function h() {}\nlet v = 1;\n",
        [("A",), ("A", "m"), ("A", "f"), ("g",), ("h",), ("let v = 1",)],
    ),
    ".ts": (
        "export abstract class A<T> {\n  @dec()\n  m(x: T): void { return }\n}\n"
        "interface I { a(): void }\nnamespace N { export function q() {} }\nenum E { A }\n",
        [("A",), ("A", "m"), ("I",), ("N",), ("N", "q"), ("E",)],
    ),
    ".tsx": ("export function A() { return <b>é</b> }\n", [("A",)]),
    ".go": (
        "package a\n\n// About M.\nfunc (r *T) M() int { return 1 }\n\n"
        "type T struct { a int }\ntype (\n\tU struct{ a int }\n\tV struct{ b int }\n)\n"
        "func f() {}\n",
        [("(r *T) M",), ("T",), ("U",), ("V",), ("f",)],
    ),
    ".rs": (
        "/// About P.\n#[derive(Debug)]\nstruct P { a: i32 }\nimpl fmt::Display for P {\n"
        "    fn f(&self) {}\n}\ntrait T { fn q(); fn z() {} }\nmod m { fn k() {} }\n",
        [
            *(("P",), ("fmt::Display for P",), ("fmt::Display for P", "f")),
            *(("T",), ("T", "z"), ("m",), ("m", "k")),
        ],
    ),
    ".java": (
        "/** About A. */\n@X public class A {\n  @Y void m() { }\n  A() {}\n"
        "  interface I { void q(); }\n  enum E { A; void z() {} }\n}\n",
        [("A",), ("A", "m"), ("A", "A"), ("A", "I"), ("A", "E"), ("A", "E", "z")],
    ),
    ".c": (
        "#include <a.h>\nint p(void);\n/* é */\nstatic int *f(int a)\n{\n  return 0;\n}\n"
        "struct s { int a; };\ntypedef struct { int x; } t;\n",
        [("f",), ("s",), ("t",)],
    ),
    ".cpp": (
        "namespace n {\ntemplate<class T> class A : B {\n public:\n  A() : x(1) {}\n  ~A();\n"
        "  bool operator==(int) { }\n};\n}\nint &n::A::z() { }\n",
        [("n",), ("n", "A"), ("n", "A", "A"), ("n", "A", "operator=="), ("n::A::z",)],
    ),
    ".cs": (
        "namespace N {\n  [X] public class A {\n    void M() { }\n    int Q() => 1;\n  }\n}\n",
        [("N",), ("N", "A"), ("N", "A", "M"), ("N", "A", "Q")],
    ),
    ".rb": (
        "module M\n  class A < B\n    # About m.\n    def m(x)\n      1\n    end\n\n"
        "    def self.s; 2; end\n  end\nend\n",
        [("M",), ("M", "A"), ("M", "A", "m"), ("M", "A", "s")],
    ),
    ".php": (
        "<?php\nnamespace X;\n#[Y]\nclass A {\n  public function m() { }\n}\nfunction f() {}\n",
        [("A",), ("A", "m"), ("f",)],
    ),
    ".kt": (
        "class A(val x: Int) {\n  fun m(): Int { return 1 }\n\n  fun q() = 1\n}\n\n"
        "object O {\n  fun z() {}\n}\n",
        [("A",), ("A", "m"), ("A", "q"), ("O",), ("O", "z")],
    ),
    ".scala": (
        "object O {\n  def m(x: Int): Int = { 1 }\n}\nclass C(a: Int) {\n  def q = 1\n}\n",
        [("O",), ("O", "m"), ("C",), ("C", "q")],
    ),
    ".swift": (
        "class A {\n  func m() -> Int {\n    return 1\n  }\n  init() {}\n}\n",
        [("A",), ("A", "m"), ("A", "init")],
    ),
    ".lua": (
        "-- é\nlocal function f(a)\n  return 1\nend\nfunction M.g() x() end\n",
        [("f",), ("M.g",)],
    ),
    ".sh": ("# é\nf() { echo; }\nfunction g { echo; }\n", [("f",), ("g",)]),
}


def grammar_or_skip(suffix: str) -> None:
    language = next(each for each in LANGUAGES if suffix in each.suffixes)
    for module in ("tree_sitter", language.module):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")


@pytest.mark.parametrize("suffix", CODE)
def test_other_languages(suffix: str) -> None:
    grammar_or_skip(suffix)
    text, wanted = CODE[suffix]
    for lines in (text, text.replace("\n", "\r\n")):
        doc = load(lines, f"a{suffix}")
        assert paths(doc) == wanted
        assert "problem" not in doc.meta
        assert (doc.text, doc.encoding) == (lines, "utf-8")
        assert doc.media_type.startswith("text/")
        check(doc)
        # A name is where the text has it, and its opening is whole lines or ends at the body.
        found = doc.structure
        assert found is not None
        for path, start, end in zip(wanted, found.title_starts, found.title_ends, strict=True):
            assert doc.text[start:end] == path[-1]


def test_what_stands_above_a_definition_goes_with_it() -> None:
    for suffix, opening in (
        (".js", "// About A.\nexport class A {"),
        (".go", "// About M.\nfunc (r *T) M() int {"),
        (".rs", "/// About P.\n#[derive(Debug)]\nstruct P {"),
        (".java", "/** About A. */\n@X public class A {"),
        (".cpp", "template<class T> class A : B {"),
        (".ts", "@dec()\n  m(x: T): void {"),
    ):
        grammar_or_skip(suffix)
        assert opening in openings(load(CODE[suffix][0], f"a{suffix}"))


def test_functions_and_classes_that_are_assigned_to_a_name_are_headings() -> None:
    """Fault: `exports.one = function…`, a Lua module's `M.one = function…`: no name to cite."""
    grammar_or_skip(".js")
    doc = load(
        "exports.one = function (a) { return 1 };\nA.prototype.two = async (a) => { return 2 };\n"
        "module.exports = exports = class extends A { m() { return 3 } };\n"
        "const B = class { m() { return 4 } };\nx = 5;\ny += function () { return 6 };\n",
        "a.js",
    )
    assert paths(doc)[:2] == [("exports.one",), ("A.prototype.two",)]
    assert paths(doc)[2:6] == [("exports",), ("exports", "m"), ("B",), ("B", "m")]
    assert openings(doc)[2] == "module.exports = exports = class extends A {"
    check(doc)
    for text in ("class { m() { return 1 } }", "class N { m() { return 1 } }"):
        doc = load(f"/* é */\nexport default {text}\nexport {{ a as b }};\n", "a.js")
        name = "N" if "N" in text else "default"
        assert paths(doc)[:2] == [(name,), (name, "m")]
        assert openings(doc)[0] == f"/* é */\nexport default {text[: text.index('{') + 1]}"
        check(doc)
    for text in ("(a) => { return a };", "async function* () { yield 1 }"):
        assert paths(load(f"export default {text}\n", "a.ts"))[0] == ("default",)
    grammar_or_skip(".lua")
    doc = load(
        "M.one = function(a)\n  return 1\nend\n-- é\nlocal two = function(a)\n  return 2\nend\n"
        "a, b = 1, function() return 3 end\n",
        "a.lua",
    )
    assert paths(doc)[:2] == [("M.one",), ("two",)]
    assert openings(doc)[:2] == ["M.one = function(a)", "-- é\nlocal two = function(a)"]
    check(doc)


def test_modules_of_typescript_and_functions_in_variables_of_go() -> None:
    """Fault: `declare module` was passed over, and so was `var H = func…`."""
    grammar_or_skip(".ts")
    doc = load(
        'declare module "a/b" { interface X { a: string } }\n'
        "module M { function f() { return 1 } }\n",
        "a.d.ts",
    )
    assert paths(doc) == [('"a/b"',), ('"a/b"', "X"), ("M",), ("M", "f")]
    check(doc)
    grammar_or_skip(".go")
    doc = load(
        "package a\n\n// About H.\nvar H = func(a int) {\n\tx()\n}\n"
        "var (\n\tp = 1\n\tK = func() { y() }\n\ta, b = func() { z() }, 2\n)\n",
        "a.go",
    )
    assert paths(doc)[:2] == [("H",), ("K",)]
    assert openings(doc)[0] == "// About H.\nvar H = func(a int) {"
    check(doc)


def test_conversions_and_macros_of_c_are_called_by_their_whole_name() -> None:
    """Fault: `operator bool() const` was called "() const", every test of a file "TEST"."""
    grammar_or_skip(".cpp")
    doc = load(
        "struct A {\n  operator bool() const { return x; }\n"
        "  explicit operator const T*() { return y; }\n  operator B<C>&() { return z; }\n"
        "  A(int a) { x = a; }\n};\nn::A::operator int() { return 1; }\n"
        "TEST(Refunds, Late) { EXPECT_EQ(1, 1); }\nnamespace n { CASE(one) { check(1); } }\n"
        "A::A(int b) : x(b) { y = b; }\nint &(f)(int a) { return a; }\n",
        "a.cpp",
    )
    assert [path[-1] for path in paths(doc)] == [
        *("A", "operator bool", "operator const T*", "operator B<C>&", "A"),
        *("n::A::operator int", "TEST(Refunds, Late)", "n", "CASE(one)", "A::A", "f"),
    ]
    check(doc)


def test_classes_that_a_macro_shows_to_others_hold_their_methods() -> None:
    """Fault: `class MY_EXPORT Foo` was read as a function, and its methods as no one's."""
    grammar_or_skip(".cpp")
    body = "\n".join(f"    int é{i} = {i};" for i in range(80))
    doc = load(
        f"class MY_EXPORT Foo final : public Bar {{\npublic:\n  Foo(int a) {{\n{body}\n  }}\n"
        f"  void m() {{\n{body}\n  }}\n}};\nstruct GTEST_API_ S {{ void q() {{ a; }} }};\n"
        "template <class T> class API A<T> { void n() { a; } };\n"
        "struct API_POINT f() { return p; }\nclass API;\n",
        "a.hpp",
    )
    assert paths(doc) == [
        *(("Foo",), ("Foo", "Foo"), ("Foo", "m"), ("S",), ("S", "q"), ("A<T>",), ("A<T>", "n")),
        *(("f",), ("class API",)),
    ]
    assert openings(doc)[0] == "class MY_EXPORT Foo final : public Bar {"
    check(doc)


def test_every_language_has_an_example() -> None:
    for language in LANGUAGES:
        assert set(language.suffixes) & set(CODE), language.name


@pytest.mark.parametrize("suffix", CODE)
def test_damaged_code(suffix: str) -> None:
    grammar_or_skip(suffix)
    data = CODE[suffix][0].encode()
    dice = random.Random(3)
    for i in range(40):
        broken = bytearray(data[: dice.randrange(len(data))] if i % 2 else data)
        for _ in range(dice.randint(0, 8) if broken else 0):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        try:
            doc = load(bytes(broken), f"a{suffix}")
        except LoadError as refused:
            assert str(refused).startswith(f"a{suffix}: ")
            continue
        assert doc.text == broken.decode("utf-8-sig")
        check(doc)
    for text in ("{" * 100_000, "((" * 50_000, "é" * 100_000, ""):
        assert load(text, f"a{suffix}").text == text


def test_headers_of_python() -> None:
    grammar_or_skip(".c")
    folder = Path(sysconfig.get_path("include"))
    for path in sorted(folder.glob("*.h"))[::8]:
        data = path.read_bytes()
        doc = load(data, path.name)
        assert doc.text.encode() == data
        check(doc)


def test_without_the_extra_other_code_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str, extra: str, purpose: str) -> object:
        raise MissingExtraError(f'{purpose} needs {module}; pip install "spanwise[{extra}]"')

    monkeypatch.setattr(code_tree, "require_extra", refuse)
    doc = load(CODE[".go"][0], "a.go")
    assert (doc.text, paths(doc), doc.media_type) == (CODE[".go"][0], [], "text/x-go")
    assert doc.meta["problem"] == (
        'cutting Go at its functions needs tree_sitter; pip install "spanwise[code]"'
    )
    check(doc)


def test_a_grammar_of_another_version(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        @staticmethod
        def language() -> int:
            return 0

        @staticmethod
        def Language(pointer: int) -> object:
            raise ValueError("Incompatible Language version 9")

    monkeypatch.setattr(code_tree, "require_extra", lambda *_: Other)
    doc = load(CODE[".go"][0], "a.go")
    assert paths(doc) == []
    assert "another version of tree-sitter-go (Incompatible" in doc.meta["problem"]


def test_many_definitions_and_deep_errors_end() -> None:
    grammar_or_skip(".js")
    doc = load("function f(){ return 1 }\n" * 20_000, "a.js")
    assert len(paths(doc)) == 20_000
    doc = load(f"let {','.join(f'f{i}=()=>{{}}' for i in range(20_000))};\n", "a.js")
    assert len(paths(doc)) == 20_000
    assert "problem" in load("{(" * 100_000, "a.js").meta
    grammar_or_skip(".cpp")
    for text in ("class API " * 20_000, "class " + "API" * 40_000, "class API" + " " * 200_000):
        assert load(text, "a.h").text == text
    doc = load("a.b = " * 5_000 + "function () { return 1 }\n", "a.js")
    assert doc.text.startswith("a.b")


def test_which_files_are_code() -> None:
    loader = CodeLoader()

    def claims(data: bytes, name: str) -> bool:
        suffix = Path(name).suffix
        return loader.claims(Raw(data=data, name=name, uri=name, suffix=suffix))

    assert claims(b"", "a.py")
    assert claims(b"", "a.go")
    assert not claims(b"", "a.md")
    assert claims(b"#!/usr/bin/env python3\n", "run")
    assert claims(b"#!/bin/bash -e\n", "run")
    assert not claims(b"#!/usr/bin/env python3\n", "run.txt")
    assert not claims(b"#!/usr/bin/pythonic\n", "run")
    assert paths(load(b"#!/usr/bin/python3.11\ndef f(): return 1\n", "run")) == [("f",)]


def test_binary_files_are_refused() -> None:
    for name in ("a.py", "a.ts"):
        with pytest.raises(LoadError, match=rf"{name}: .*PNG image"):
            load(b"\x89PNG\r\n\x1a\n\0", name)


@given(st.text(), st.integers(0, 3000))
def test_code_points(text: str, more: int) -> None:
    text = text.encode("utf-8", "ignore").decode() + "é🏮a" * more
    data = text.encode()
    at = CodePoints(data)
    byte = 0
    for i, character in enumerate(text):
        if i < 60 or i > len(text) - 60 or i % 97 == 0:
            for inside in range(len(character.encode())):
                assert at(byte + inside) == i
        byte += len(character.encode())
    assert at(len(data)) == len(text)
    for outside in (-1, len(data) + 1):
        with pytest.raises(ValueError, match="outside the data"):
            at(outside)
