"""User reports whose symptom lies in reading a file, each as a property of its whole kind.

As in `test_user_reports.py`, which counts them; how a report's options are read is said in each
test. A passage is a slice of the document's text: nothing is written anew, so what a report asks
of "the serialised chunk" is asked here of the string that ships, ``chunk.embed_text``.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
import subprocess
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanwise import (
    CeilingWarning,
    Chunk,
    Chunks,
    LoadError,
    by_heading,
    by_layout,
    by_paragraph,
    by_part,
    by_record,
    by_structure,
    by_text,
    by_turn,
    cap,
    chars,
    chunk,
    clip_report,
    find_documents,
    fixed_with_overlap,
    iter_chunks,
    load,
    utf8_bytes,
    whole_document,
    words,
)
from spanwise.cutting.spans import is_white
from spanwise.splitters.choose import splitter_for

DATA = Path(__file__).parents[1] / "data" / "user_reports.jsonl"
REPORTS: dict[str, dict[str, Any]] = {
    report["id"]: report for report in map(json.loads, DATA.read_text("utf-8").splitlines())
}
COMMAND = [sys.executable, "-c", "from spanwise.cli import main; main()"]

few = settings(max_examples=40, deadline=None, derandomize=True, database=None)

# name -> (size, overlap, other options) -> splitter, for text with or without headings
WINDOWS: dict[str, Callable[..., Any]] = {
    "by_text": lambda n, o, **k: by_text(chunk_size=n, overlap=o, **k),
    "by_layout": lambda n, o, **k: by_layout(chunk_size=n, overlap=o, **k),
    "by_heading": lambda n, o, **k: by_heading(chunk_size=n, overlap=o, **k),
    "by_heading, no floor": lambda n, o, **k: by_heading(chunk_size=n, overlap=o, min_size=0, **k),
    "by_paragraph": lambda n, o, **k: by_paragraph(chunk_size=n, overlap=o, **k),
    "fixed_with_overlap": lambda n, o, **k: fixed_with_overlap(chunk_size=n, overlap=o, **k),
    "by_structure": lambda n, o, **k: by_structure(target_size=n, overlap=o, **k),
}
windows = pytest.mark.parametrize("name", WINDOWS)


def given_by(number: str) -> Any:
    """The input of a report; what is written as Python is made."""
    value = REPORTS[f"UR-{number}"]["input"]
    return eval(value[4:]) if isinstance(value, str) and value.startswith("py: ") else value


def check(chunks: Chunks, most: int | None = None, sizer: Any = chars) -> list[Chunk]:
    """What no report may break: slices, order, coverage, the cap on all that ships."""
    source, found = chunks.document.text, list(chunks)
    last_start, last_end = -1, 0
    for c in found:
        assert 0 <= c.start <= c.body < c.end <= len(source)
        assert source[c.start : c.end] == c.text
        assert c.start > last_start
        assert c.body >= last_end
        assert all(map(is_white, source[last_end : c.body]))
        last_start, last_end = c.start, c.end
        assert most is None or sizer(c.embed_text) <= most
    assert all(map(is_white, source[last_end:]))
    return found


# --- positions ------------------------------------------------------------------------------

NAMES = ["área", "später", "naïve", "Größe", "日本", "имя", "x", "ñ_1", "fα"]
INKS = ["日本語の文字列", "ü", "é", "e\u0301", "🏮🏮", "👩\u200d🚀", "ascii", "ﬁ", "\u2028", "𝔘"]


@st.composite
def programs(draw: Any) -> str:
    """Python code with names, strings and comments of one to four bytes a character."""
    out = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6)):
        ink = "".join(draw(st.lists(st.sampled_from(INKS), max_size=5)))
        if draw(st.booleans()):
            out.append(f'{name} = "{ink}"\n# {ink.replace(chr(0x2028), "")}\n\n')
        if draw(st.booleans()):
            out.append(f'class {name}:\n    """{ink}"""\n\n    def {name}(self):  # {name}\n')
            out.append(f'        return "{ink}"\n\n')
        else:
            out.append(f"def {name}(x):\n    return x + '{ink}'\n\n")
    return "".join(out)


@given(programs(), st.integers(12, 80), st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))
@example(REPORTS["UR-009"]["input"], 40, "utf-8")
@few
def test_ur_009_code_is_cut_by_code_points_whatever_its_bytes(
    text: str, size: int, codec: str
) -> None:
    """A code chunker compared the parser's byte positions with limits of characters."""
    for newline in ("\n", "\r\n"):
        source = text.replace("\n", newline)
        data = source.encode(codec)
        document = load(data, uri="a.py")
        assert document.text == source
        assert "problem" not in document.meta
        outline = document.outline.structure
        # What the parser counts in bytes is right in code points: each title is a name.
        for start, end in zip(outline.title_starts, outline.title_ends, strict=True):
            assert source[start:end] in NAMES
            assert source[:start].endswith(("def ", "class "))
        for found in re.finditer(r"^( {4})?def (\w+)\(.*\s+return", source, re.M):
            path = document.locate(found.end()).heading_path
            assert path == ((found[2],) * 2 if found[1] else (found[2],))
        bare = {"utf-8-sig": "utf-8", "utf-16": f"utf-16-{sys.byteorder[0]}e"}.get(codec, codec)
        for sizer, most in ((chars, size), (utf8_bytes, max(size, 25))):
            by = by_heading(chunk_size=most, overlap=0, sizer=sizer, max_size=most)
            for c in check(by.split(document), most, sizer):
                first, last = (document.locate(at).byte for at in (c.start, c.end))
                assert data[first:last].decode(bare) == c.text


CODE = {
    ".js": "// {ink}\nfunction {name}() {{ return '{ink}'; }}\n\nvar n = '{ink}';\n",
    ".ts": "/* {ink} */ export function {name}(a: string): string {{ return '{ink}'; }}\n",
    ".java": 'class A{i} {{\n  // {ink}\n  String {name}() {{ return "{ink}"; }}\n}}\n',
    ".go": '// {ink}\nfunc {name}() string {{ return "{ink}" }}\n\n',
    ".rs": '// {ink}\nfn {name}() -> &\'static str {{ "{ink}" }}\n\n',
    ".rb": "# {ink}\ndef {name}\n  '{ink}'\nend\n\n",
    ".php": "<?php // {ink}\nfunction {name}() {{ return '{ink}'; }} ?>\n",
}


@pytest.mark.parametrize("suffix", CODE)
def test_ur_009_other_languages_too(suffix: str) -> None:
    """The same for code that a parser of another language reads."""
    rng = random.Random(9)
    names = [f"{rng.choice(['área', 'größe', 'fα', 'plain'])}{i}" for i in range(12)]
    inks = ("日本語の文字列", "ü", "🏮🏮", "e\u0301", "ascii")
    text = "".join(
        CODE[suffix].format(name=name, i=i, ink=" ".join(rng.choices(inks, k=rng.randint(0, 5))))
        for i, name in enumerate(names)
    )
    data = text.encode()
    document = load(data, uri=f"a{suffix}")
    if "problem" in document.meta:
        pytest.skip(str(document.meta["problem"]))
    assert [path[-1] for path in document.outline.paths if path[-1] in names] == names
    for size, sizer in ((60, chars), (60, utf8_bytes), (200, chars)):
        by = by_heading(chunk_size=size, overlap=0, sizer=sizer, max_size=size)
        for c in check(by.split(document), size, sizer):
            first, last = (document.locate(at).byte for at in (c.start, c.end))
            assert data[first:last].decode() == c.text


# --- sizes ----------------------------------------------------------------------------------

keys = st.sampled_from(["harbour", "north_pier", "crane", "a", "ключ", "", "x" * 30, "k 1", 'q"'])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.sampled_from(
        ["", "lifts forty tonnes on a calm day", "日本語 " * 9, "y" * 90, "\n\\", "]}"]
    ),
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=15,
)
indents = st.sampled_from([None, 1, 4])


@windows
@given(values, indents, st.booleans(), st.integers(20, 90))
@example(json.loads(REPORTS["UR-019"]["input"]), None, True, 60)
@few
def test_ur_019_enclosing_keys_are_paid_for(
    name: str, value: Any, indent: int | None, ascii_only: bool, most: int
) -> None:
    """A JSON splitter ignored the cost of the enclosing keys.

    Read: what ships is a slice of the file, so keys count where they stand, and nothing else
    ships. A file that fits is one passage that parses; no other is flagged as whole.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = load(text.encode(), uri="a.json")
    assert document.text == text
    for overlap in (0, 7):
        chunks = WINDOWS[name](most, overlap, max_size=most).split(document)
        found = check(chunks, most)
        assert all(c.context == "" for c in found)
        if len(text) <= most and not overlap:  # of which some leave room in any case
            assert [json.loads(c.text) for c in found] == [value]


@given(st.lists(values, min_size=1, max_size=9), indents, st.integers(20, 90), st.booleans())
@few
def test_ur_019_a_record_that_fits_is_whole_and_another_is_flagged(
    items: list[Any], indent: int | None, most: int, inside: bool
) -> None:
    """The same for the items of a list, which are taken whole.

    Read: a passage that begins amid a record has another boundary than ``record``.
    """
    value = {"title": "t", "rows": items} if inside else items
    document = load(json.dumps(value, indent=indent).encode(), uri="a.json")
    records = [(part.start, part.end) for part in document.parts]
    assert [json.loads(document.text[a:b]) for a, b in records] == items
    chunks = by_part("record", chunk_size=most, max_size=most).split(document)
    check(chunks, most)
    for start, end in records:
        cuts_inside = [
            boundary
            for body, boundary in zip(chunks.bodies, chunks.boundaries, strict=True)
            if start < body < end
        ]
        assert "record" not in cuts_inside
        assert bool(cuts_inside) == (end - start > most)


HTML_KINDS = {
    "table": (
        "<table>{}</table>",
        "<tr><td>r{0:02d}</td><td>value {0:02d}</td></tr>",
        "value {0:02d} |",
    ),
    "list": ("<ul>{}</ul>", "<li>r{0:02d} value {0:02d}</li>", "- r{0:02d} value {0:02d}"),
    "steps": ("<ol>{}</ol>", "<li><p>r{0:02d}</p><p>value {0:02d}</p></li>", "value {0:02d}"),
    "code": ("<pre>{}</pre>", "r{0:02d} = value {0:02d}\n", "r{0:02d} = value {0:02d}"),
    "quote": (
        "<blockquote>{}</blockquote>",
        "<p>r{0:02d} value {0:02d}</p>",
        "r{0:02d} value {0:02d}",
    ),
    "definitions": ("<dl>{}</dl>", "<dt>r{0:02d}</dt><dd>value {0:02d}</dd>", "value {0:02d}"),
}


@windows
@pytest.mark.parametrize("kind", HTML_KINDS)
@pytest.mark.parametrize("count", [3, 80])
def test_ur_020_elements_of_html_kept_whole_are_counted(name: str, kind: str, count: int) -> None:
    """Tables and lists kept whole on purpose went over the limit many times.

    Read: without a cap what is kept whole is at most the size, with the heading above it;
    with ``max_size`` no exception is left. The summary count is that of `clip_report`.
    """
    around, item, said = HTML_KINDS[kind]
    body = around.format("".join(item.format(i) for i in range(count)))
    page = f"<h1>Harbour</h1><p>intro</p>{body}<p>end</p>"
    document = load(page.encode(), uri="a.html")
    for overlap in (0, 30):
        loose = check(WINDOWS[name](200, overlap).split(document))
        capped = check(WINDOWS[name](200, overlap, max_size=200).split(document), 200)
        if name != "by_layout":  # which keeps tables and code whole at any size
            bound = 400 if name == "by_structure" else 200 + 2 * 50
            assert max(c.end - c.body for c in loose) <= bound
        over = [c.id for c in loose if len(c.embed_text) > 200]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CeilingWarning)
            assert clip_report(loose, ceiling=200).ids == tuple(over)
        assert not clip_report(capped, ceiling=200)
        for i in range(count):
            # Those that cut between the blocks of a page cut no row or item.
            if name in ("by_heading", "by_heading, no floor", "by_paragraph"):
                assert sum(said.format(i) in c.own_text for c in capped) == 1
    whole = whole_document().split(document)
    if len(document.text) > 200:
        with pytest.warns(CeilingWarning):
            assert clip_report(whole, ceiling=200).count == len(whole) == 1


# --- text lost ------------------------------------------------------------------------------

K = "K" * 650
LEAVES = {
    "string.py": f'label = "{K}"\ncount = 1\n',
    "argument.py": f'def f():\n    g("{K}", 1)\n\n\ndef h():\n    return 2\n',
    "comment.py": f"def f():\n    # {K}\n    return 1\n",
    "docstring.py": f'class A:\n    """{K}"""\n\n    def f(self):\n        """{K[:0]}"""\n',
    "name.py": f"def {K}():\n    pass\n",
    "default.py": f'def f(a="{K}", b=2):\n    return a\n',
    "decorator.py": f'@d("{K}")\ndef f():\n    return 1\n',
    "minified.py": "".join(f"K{i}=K;" for i in range(325)) + "\n",
    "nested.py": "x = " + "[" * 60 + f"'{K}'" + "]" * 60 + "\n",
    "broken.py": f'def f(:\n    "{K}"\n  x = (\n',
    "string.js": f"var a = '{K}';\nfunction f() {{ return 1; }}\n",
    "minified.js": "function f(){" + "".join(f"K({i},K);" for i in range(325)) + "}",
    "comment.go": f"package a\n\n/* {K} */\nfunc f() int {{\n\treturn 1\n}}\n",
    "string.rs": f'fn f() -> &str {{\n    r#"{K}"#\n}}\n',
    "no_parser.zig": f'const a = "{K}";\n',
}


@windows
@pytest.mark.parametrize("file", LEAVES)
def test_ur_028_a_leaf_of_a_syntax_tree_over_the_limit_is_kept(name: str, file: str) -> None:
    """A code splitter dropped a leaf (string, comment, minified line) above the limit."""
    for newline in ("\n", "\r\n", "\r"):
        document = load(LEAVES[file].replace("\n", newline).encode(), uri=file)
        for size, overlap, options in ((100, 0, {}), (100, 20, {"max_size": 100}), (30, 0, {})):
            chunks = WINDOWS[name](size, overlap, **options).split(document)
            found = check(chunks, options.get("max_size"))
            assert sum(c.own_text.count("K") for c in found) == 650


@given(
    st.lists(
        st.tuples(st.integers(0, 700), st.sampled_from(["#", "'", "def ", "x = "])), max_size=6
    ),
    st.integers(5, 120),
)
@few
def test_ur_028_leaves_of_any_length(leaves_of: list[tuple[int, str]], size: int) -> None:
    """The same for any lengths side by side."""
    lines = {"#": "# {}", "'": "'{}'", "def ": "def K{}(): pass", "x = ": "x = [{}]"}
    text = "".join(lines[kind].format("K" * length) + "\n" for length, kind in leaves_of)
    document = load(text.encode(), uri="a.py")
    for most in (None, size):
        chunks = by_heading(chunk_size=size, overlap=0, max_size=most).split(document)
        if chunks:  # else bare headings
            found = check(chunks, most)
            assert sum(c.own_text.count("K") for c in found) == text.count("K")


EMPTY: list[Any] = [{}, [], None, False, 0, ""]


@pytest.mark.parametrize("name", [*WINDOWS, "by_record", "chosen"])
@given(
    st.lists(st.sampled_from([*EMPTY, [[]], {"": None}, [None, ""]]), min_size=1, max_size=40),
    st.sampled_from(["object", "list", "deep"]),
    indents,
    st.integers(12, 90),
)
@example(EMPTY * 5, "object", None, 60)
@few
def test_ur_030_empty_values_stay(
    name: str, empties: list[Any], shape: str, indent: int | None, size: int
) -> None:
    """Empty values at a chunk boundary vanished from the JSON output.

    Read: the passages in order, with only white space between, are the file's own value.
    """
    pairs = {f"k{i:02d}": value for i, value in enumerate(empties)}
    value: Any = {"object": {"m": pairs}, "list": empties, "deep": [{"m": {"n": [pairs]}}]}[shape]
    document = load(json.dumps(value, indent=indent).encode(), uri="a.json")
    by = (
        by_record(" ", chunk_size=size, overlap=0, max_size=size)
        if name == "by_record"
        else splitter_for(document)
        if name == "chosen"
        else WINDOWS[name](size, 0, max_size=size)
    )
    found = check(by.split(document), size if name != "chosen" else None)
    # No name or number is longer than a passage, so every cut is between two tokens.
    again = json.loads(" ".join(c.own_text for c in found))
    assert again == value
    assert json.dumps(again) == json.dumps(value)  # types and the order of keys too


# --- HTML -----------------------------------------------------------------------------------

INLINE = ["strong", "em", "a", "b", "i", "code", "span", "u", "mark", "sub", "kbd", "abbr", "font"]


@st.composite
def inline(draw: Any) -> tuple[str, str]:
    """A run of inline HTML, and what it says."""
    html, said = "", ""
    open_tags: list[str] = []
    for word in draw(
        st.lists(st.sampled_from(["You", "must", "5", "a & b", "<x>", "é"]), min_size=1)
    ):
        for _ in range(draw(st.integers(0, 2))):
            tag = draw(st.sampled_from(INLINE))
            open_tags.append(tag)
            html += f'<{tag} href="/v?a=1&amp;b=2">' if tag == "a" else f"<{tag}>"
        html += escape(word)
        said += word
        while open_tags and draw(st.booleans()):
            html += f"</{open_tags.pop()}>"
        if draw(st.booleans()):
            html += draw(st.sampled_from([" ", "\n", "  ", "<!-- no -->\t"]))
            said += " "
    return html + "".join(f"</{tag}>" for tag in reversed(open_tags)), " ".join(said.split())


@given(st.lists(inline(), min_size=1, max_size=5), st.sampled_from(["p", "div", "h2", "li", "td"]))
@example([(REPORTS["UR-040"]["input"][3:-4], "You must not open the valve first & alone.")], "p")
@few
def test_ur_040_words_in_inline_tags_stay_in_their_place(
    runs: list[tuple[str, str]], block: str
) -> None:
    """Words inside inline tags were moved in front of the text around them.

    Read: a block leads back to the line of the source on which it begins.
    """
    around = {"li": ("<ul>\n", "</ul>"), "td": ("<table>\n", "</table>")}.get(block, ("", ""))
    page, lines = around[0], []
    for html, _ in runs:
        before, after = (
            ("<tr><td>", "</td></tr>") if block == "td" else (f"<{block}>", f"</{block}>")
        )
        lines.append((page.count("\n") + 1, html.count("\n")))
        page += f"{before}{html}{after}\n\n"
    document = load((page + around[1]).encode(), uri="a.html")
    at, ends = 0, []
    for (_, said), line in zip(runs, lines, strict=True):
        at = document.text.index(said, at)
        noted = document.locate(at).part("source line")
        if block != "td":  # a table is one block
            assert noted is not None and noted.label == str(line[0])
        at += len(said)
        ends.append((at, line))
    expected = sorted("".join(said for _, said in runs).replace(" ", ""))
    marks = " -|" if block in ("li", "td") else " "
    assert sorted(c for c in document.text if c not in marks + "\n") == expected
    for size in (30, 200):
        by = by_paragraph(chunk_size=size, overlap=0, max_size=size)
        for c in check(by.split(document), size):
            if block != "td":
                line, more = next(line for end, line in ends if end > c.body)
                assert line <= c.lines[0] <= line + more


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), min_size=1, max_size=14),
    st.booleans(),
    st.integers(20, 120),
)
@example([(1, 1), (2, 1), (3, 1), (2, 1)], False, 60)
@few
def test_ur_048_the_parents_of_html_headings_stay(
    sections: list[tuple[int, int]], wrapped: bool, size: int
) -> None:
    """The parent heading was dropped as soon as a lower heading appeared."""
    page, expected = "", {}
    path: list[tuple[int, str]] = []
    for i, (level, paragraphs) in enumerate(sections):
        path = [above for above in path if above[0] < level] + [(level, f"Title {i}")]
        inside = "".join(f"<p>text {i}.{k}.</p>" for k in range(paragraphs))
        expected |= {f"text {i}.{k}.": tuple(t for _, t in path) for k in range(paragraphs)}
        one = f"<h{level}>Title <i>{i}</i></h{level}>{inside}"
        page += f"<section><div>{one}</div></section>" if wrapped else one
    document = load(page.encode(), uri="a.html")
    spans = [(start := document.text.index(said), start + len(said)) for said in expected]
    below = dict(zip(spans, expected.values(), strict=True))
    for (start, _), said in below.items():
        assert document.locate(start).heading_path == said
    for name, make in WINDOWS.items():
        if not spans and "heading" in name:
            continue  # bare headings give no chunk
        for c in make(size, 0, max_size=size).split(document):
            # That of the first text in the passage.
            first = next((s for s in spans if s[1] > c.body and s[0] < c.end), None)
            assert first is None or c.heading_path == below[first]
    if spans:
        for c in by_heading(chunk_size=size, overlap=0, min_size=0).split(document):
            # Without a floor no passage holds the text of two sections.
            assert {path for said, path in expected.items() if said in c.text} <= {c.heading_path}


# --- encodings ------------------------------------------------------------------------------


def test_ur_079_one_bad_file_does_not_stop_a_folder(tmp_path: Path) -> None:
    """One file that is not UTF-8 stopped the folder, or the platform's encoding was used."""
    files = {name: bytes(data) for name, data in given_by("079").items()}
    files |= {
        "u8.md": "é".encode("utf-8-sig"),
        "page.html": '<meta charset="cp1252"><p>é</p>'.encode("cp1252"),
    }
    files |= {"x.csv": b"a,b\n1,\xff\n", "y.jsonl": b'{"a": "\xe9"}\n', "z.py": b"# \xe9\nx = 1\n"}
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    good, bad = {}, {}
    for path in find_documents(tmp_path):
        try:
            good[path.name] = load(path)
        except LoadError as fault:  # noqa: PERF203
            bad[path.name] = str(fault)
    assert {name: document.text for name, document in good.items()} == {
        "good.txt": "fine text",
        "u16.txt": "hello",
        "u8.md": "é",
        "page.html": "é",
    }
    assert good["u16.txt"].meta["encoding"] == "utf-16"
    for name, at in (("bad.txt", 3), ("x.csv", 6), ("y.jsonl", 7), ("z.py", 2)):
        assert bad[name].startswith(f"{tmp_path / name}: byte {at}, ")
    assert load(tmp_path / "bad.txt", encoding="latin-1").text == "café Straße"
    # The command line goes on too, counts what failed, and asks no locale.
    answers = set()
    for variables in (
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C.UTF-8"},
        {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONIOENCODING": "latin-1"},
    ):
        done = subprocess.run(
            [*COMMAND, "chunk", str(tmp_path), "--format", "jsonl"],
            capture_output=True,
            check=False,
            env={**os.environ, **variables},
        )
        assert done.returncode == 1
        said = done.stderr.decode("ascii", "replace")
        assert "4 failed:" in said
        assert all(f"{name}: byte " in said for name in ("bad.txt", "x.csv", "y.jsonl", "z.py"))
        answers.add(done.stdout)
    assert len(answers) == 1
    assert len(answers.pop().splitlines()) == len(good)


@pytest.mark.parametrize(
    "suffix", [".txt", ".md", ".csv", ".tsv", ".json", ".jsonl", ".log", ".vtt", ".srt", ".py"]
)
@given(
    before=st.text(st.sampled_from("aé🏮 \n"), max_size=40),
    wrong=st.sampled_from([b"\xff", b"\xe9 ", b"\xc3(", b"\xed\xa0\x80", b"\xf8\x88", b"\x80"]),
    after=st.text(st.sampled_from("aé \n"), max_size=9),
)
@few
def test_ur_079_the_first_wrong_byte_is_named(
    suffix: str, before: str, wrong: bytes, after: str
) -> None:
    """The same for any text kind and place: the path and the byte are said."""
    data = before.encode() + wrong + after.encode()
    with pytest.raises(UnicodeDecodeError) as fault:
        data.decode()
    with pytest.raises(LoadError, match=rf"^in/a{suffix}: byte {fault.value.start}, 0x") as said:
        load(data, uri=f"in/a{suffix}")
    assert "name its encoding" in str(said.value)


# --- one unit -------------------------------------------------------------------------------

CODE_TEXT = "".join(f"def f{i}(x):\n    return x + {i}\n\n" for i in range(60))
PROSE = "Some prose. " * 300
KINDS = {
    "a.py": CODE_TEXT,
    "a.js": "".join(f"function f{i}(x) {{\n  return x + {i};\n}}\n\n" for i in range(60)),
    "a.md": PROSE,
    "b.md": f"# Title\n\n{PROSE}\n\n```py\n{CODE_TEXT}```\n",
    "a.txt": PROSE.replace(". S", ".\n\nS"),
    "a.html": f"<h1>Title</h1><p>{PROSE}</p><pre>{CODE_TEXT}</pre><table>"
    + "".join(f"<tr><td>k{i}</td><td>some value {i}</td></tr>" for i in range(60))
    + "</table>",
    "a.csv": "id,name,note\n" + "".join(f"{i},name {i},a note of {i}\n" for i in range(200)),
    "a.json": json.dumps([{"id": i, "note": f"a note of {i}"} for i in range(200)]),
    "a.jsonl": "".join(json.dumps({"id": i, "t": "some words " * 9}) + "\n" for i in range(60)),
    "a.log": "".join(f"2026-01-01 INFO request {i} took {i * 7} ms\n" for i in range(200)),
    "a.vtt": "WEBVTT\n\n"
    + "".join(
        f"00:{i:02d}:01.000 --> 00:{i:02d}:09.000\n<v Ana>{'some words ' * 9}\n\n"
        for i in range(60)
    ),
    "a.ipynb": json.dumps(
        {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {},
            "cells": [
                {"cell_type": kind, "metadata": {}, "source": source, "outputs": []}
                for kind, source in (("markdown", "# T\n\n" + PROSE), ("code", CODE_TEXT))
            ],
        }
    ),
    "a.eml": f"From: a@b.example\nSubject: Prose\n\n{PROSE}\n",
    "a.rtf": "{\\rtf1 " + PROSE.replace(". S", ".\\par S") + "}",
}


@pytest.mark.parametrize("file", KINDS)
@pytest.mark.parametrize("sizer", [words, chars, utf8_bytes], ids=lambda sizer: sizer.__name__)
def test_ur_088_one_unit_for_every_kind_of_file(file: str, sizer: Any) -> None:
    """One strategy measured characters and another tokens under the same settings."""
    document = load(KINDS[file].encode(), uri=file)
    for size, overlap in ((80, 0), (80, 9), (300, 40)):
        options = {"sizer": sizer, "max_size": size}
        for name, make in WINDOWS.items():
            found = check(make(size, overlap, **options).split(document), size, sizer)
            if name in ("by_text", "fixed_with_overlap"):
                # No other unit binds: passages hold about what the size says.
                assert len(found) <= 3 * sizer(document.text) // (size - overlap) + 3
        kind = next((part.kind for part in document.parts if part.kind in ("row", "record")), "")
        if any(part.kind == "turn" for part in document.parts):
            check(by_turn(chunk_size=size, **options).split(document), size, sizer)
        if kind:
            check(by_part(kind, chunk_size=size, **options).split(document), size, sizer)
        other = cap(size, sizer)
        capped = by_text(chunk_size=100, overlap=9, max_size=other)
        check(capped.split(document), size, sizer)


# --- large files ----------------------------------------------------------------------------


def lines_of(count: int) -> Iterator[bytes]:
    """The report's file, a few rows at a time."""
    yield b"id,name,note\n"
    for at in range(0, count, 50):
        rows = range(at, min(at + 50, count))
        yield "".join(f"{i},name {i},note {i}\n" for i in rows).encode()


def peak_of(run: Callable[[], object]) -> int:
    """The most memory in bytes that a call took beside what was there before."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("by", [None, by_text(chunk_size=200, overlap=20), by_record("\n")])
def test_ur_096_memory_does_not_grow_with_the_file(by: Any) -> None:
    """A large CSV or text file was held in several copies until the process was killed."""
    window = 1 << 16
    peaks = []
    for count in (5_000, 20_000, 40_000):
        made = iter_chunks(lines_of(count), by, uri="a.csv", window=window)
        peaks.append(peak_of(lambda made=made: sum(1 for _ in made)))  # type: ignore[misc]
    # What is kept is a few windows, and 20 bytes a chunk for its id.
    assert peaks[2] < peaks[0] + 40_000 * 20
    assert peaks[2] < 40 * window
    assert peaks[2] < 50 << 20


def test_ur_096_the_whole_report(request: pytest.FixtureRequest) -> None:
    """The report's 350,000 rows under its 50 MB; a tenth of them without --deep."""
    count = 350_000 if request.config.getoption("--deep", default=False) else 35_000
    by = by_part("row", chunk_size=200)
    seen = rows = 0

    def run() -> None:
        nonlocal seen, rows
        for c in iter_chunks(lines_of(count), by, uri="a.csv"):
            assert len(c.own_text) <= 200
            assert c.context == ("id,name,note" if seen else "")
            rows += c.own_text.count("\n") + 1
            seen += 1

    assert peak_of(run) < 50 << 20
    assert rows == count + 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".log"])
def test_ur_096_chunks_come_while_the_file_is_read(suffix: str) -> None:
    """Chunks are made lazily: the first comes after a few windows, whatever the length."""
    given_out = 0

    def source() -> Iterator[bytes]:
        nonlocal given_out
        row = {".tsv": "%d\tname\tnote\n", ".jsonl": '{"id": %d}\n'}.get(suffix, "%d,name,note\n")
        for i in range(10_000_000):
            line = (row % i).encode()
            given_out += len(line)
            yield line

    by = by_text(chunk_size=200) if suffix == ".log" else None
    window = 1 << 12
    made = iter_chunks(source(), by, uri=f"a{suffix}", window=window)
    assert given_out == 0
    before = next(made).end
    # The delimiter of a CSV is told from the first 64 K.
    assert given_out <= (1 << 16) + 4 * window
    for _ in range(200):
        before = next(made).end
    assert given_out <= max(before, 1 << 16) + 4 * window


# --- transcripts ----------------------------------------------------------------------------


def stamp(milliseconds: int, hours: bool) -> str:
    seconds = milliseconds // 1000
    whole = f"{seconds // 60 % 60:02d}:{seconds % 60:02d}.{milliseconds % 1000:03d}"
    return f"{seconds // 3600:02d}:{whole}" if hours or seconds >= 3600 else whole


SAID = [
    "Welcome to the call.",
    "Thanks. First topic\nis the budget.",
    "Let us <i>close</i>.",
    "Is 3 &lt; 4 &amp; 5?",
    "<c.loud>Yes</c>, <00:00:02.000>sure.",
    "12",
]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5_000_000),
            st.integers(1, 9_000),
            st.sampled_from(["Ana", "Ben", "Dr. Eß", ""]),
            st.sampled_from(SAID),
            st.sampled_from(["", "7\n", "cue-a\n"]),
            st.sampled_from(["", " align:start", " line:0 position:20%"]),
            st.sampled_from(["", "NOTE made by hand\n\n", "NOTE\ntwo\nlines\n\n"]),
        ),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.integers(5, 200),
)
@few
def test_ur_126_cues_of_webvtt_are_turns_with_times(
    cues: list[tuple[int, int, str, str, str, str, str]], newline: str, hours: bool, size: int
) -> None:
    """A transcript became one flat text: time codes dropped, or indexed as words."""
    begins, expected = 0, []
    file = "WEBVTT - a title\nKind: captions\n\nSTYLE\n::cue { color: red }\n\n"
    for gap, length, who, said, name, setting, note in cues:
        begins += gap
        ends = begins + length
        voice = f"<v {who}>" if who else ""
        times = f"{stamp(begins, hours)} --> {stamp(ends, hours)}"
        file += f"{note}{name}{times}{setting}\n{voice}{said}\n\n"
        plain = said.replace("\n", " ").replace("&lt;", "<").replace("&amp;", "&")
        for tag in ("<i>", "</i>", "<c.loud>", "</c>", "<00:00:02.000>"):
            plain = plain.replace(tag, "")
        expected.append((plain, begins, ends, who))
        begins = ends
    document = load(file.replace("\n", newline).encode(), uri="a.vtt")
    assert "problems" not in document.meta
    # No time code, number, note or tag: the text is what was said, and nothing else.
    assert document.text == "\n".join(said for said, _, _, _ in expected)
    for overlap in (0, 1):
        chunks = by_turn(chunk_size=size, overlap_turns=overlap).split(document)
        seen = 0
        for c in check(chunks):
            own = expected[seen : seen + c.own_text.count("\n") + 1]
            assert c.own_text == "\n".join(said for said, _, _, _ in own)  # no cue is cut
            shown = expected[: seen + len(own)][-len(c.turns) :]
            assert c.text == "\n".join(said for said, _, _, _ in shown)
            assert (c.start_ms, c.end_ms) == (shown[0][1], shown[-1][2])
            assert c.speakers == tuple(dict.fromkeys(who for *_, who in shown if who))
            assert len(own) == 1 or len(c.text) <= size
            seen += len(own)
        assert seen == len(expected)
    assert chunk(document).document is document
    assert splitter_for(document) == by_turn()


def test_ur_126_the_reports_own_file_to_the_letter() -> None:
    """The report's file, as WebVTT and the same as SubRip."""
    text = REPORTS["UR-126"]["input"]
    subrip = text.removeprefix("WEBVTT\n\nNOTE made by hand\n\n").replace(" align:start", "")
    for who in ("Ana", "Ben"):
        subrip = subrip.replace(f"<v {who}>", f"{who}: ")
    subrip = subrip.replace("Ben: ", "Ana: ")  # a name counts where it recurs
    for data, uri, second in ((text, "a.vtt", "Ben"), (subrip, "a.srt", "Ana")):
        found = check(by_turn(chunk_size=60, overlap_turns=0).split(load(data.encode(), uri=uri)))
        assert [(c.text, c.start_ms, c.end_ms, c.speakers) for c in found] == [
            (
                "Welcome to the call.\nThanks. First topic is the budget.",
                1000,
                7250,
                tuple(dict.fromkeys(("Ana", second))),
            ),
            ("Let us close.", 3_723_000, 3_729_000, ("Ana",)),
        ]
        assert found[1].citation == f"{uri}, 01:02:03, Ana"


# --- records --------------------------------------------------------------------------------

cells = st.lists(
    st.sampled_from(["id", "note", "3", "é", "line", '"hi"', ",", "\n", "\r\n", "; ", "x y", "🏮"]),
    max_size=5,
).map(lambda pieces: "".join(pieces).strip())


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=14
        )
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.integers(10, 120),
    st.sampled_from([".tsv", ".csv"]),
)
@example(
    [["id", "note"], ["1", "one\ntwo, still"], ["2", 'say "hi"'], ["3", "plain"]],
    "\n",
    1,
    40,
    ".csv",
)
@few
def test_ur_128_line_feeds_in_quotes_end_no_record(
    table: list[list[str]], end: str, quoting: Any, size: int, suffix: str
) -> None:
    """A line feed inside a quoted field was taken for the end of the record.

    The same rows are asked of `iter_chunks`, which reads a few bytes at a time.
    """
    delimiter = "\t" if suffix == ".tsv" else ","
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(table)
    text = out.getvalue()
    data = text.encode()
    document = load(data, uri=f"a{suffix}")
    if document.meta["delimiter"] != delimiter:
        return  # told from the text: another agrees as well
    written = [_written(row, delimiter, end, quoting) for row in table]
    assert [text[part.start : part.end] for part in document.parts] == written
    header = written[0]
    for overlap in (0, size // 3):
        by = by_part("row", chunk_size=size, overlap=overlap)
        chunks = by.split(document)
        found = check(chunks)
        again = [
            row
            for c in found
            for row in csv.reader(io.StringIO(c.own_text, newline=""), delimiter=delimiter)
        ]
        assert again == table
        edges = {part.start for part in document.parts}
        assert {c.start for c in found} | {c.body for c in found} <= edges
        assert {c.end for c in found} <= {part.end for part in document.parts}
        for c in found:
            assert c.context == (header if c.start > 0 else "")
        streamed = iter_chunks(io.BytesIO(data), by, uri=f"a{suffix}", window=7)
        assert [(c.start, c.body, c.end, c.id) for c in streamed] == [
            (c.start, c.body, c.end, c.id) for c in found
        ]
    # Under a cap the header counts; it is left out only where it would not leave half.
    capped = by_part("row", chunk_size=size, max_size=size).split(document)
    room = len(header) + 2
    for c in check(capped, size):
        if room <= size // 2 and room + max(map(len, written)) <= size:
            assert c.context == (header if c.start > 0 else "")
            assert c.boundary in ("document", "row")


def _written(row: list[str], delimiter: str, end: str, quoting: Any) -> str:
    """A row as Python writes it, without its line end."""
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerow(row)
    return out.getvalue().removesuffix(end)


@given(
    st.integers(0, 20),
    st.integers(0, 20),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(5, 90),
    st.sampled_from(['"open quote', '"', '""" three', '"a""b', '"é🏮']),
)
@few
def test_ur_129_a_stray_quote_takes_no_other_row(
    before: int, after: int, end: str, size: int, stray: str
) -> None:
    """A stray opening quote swallowed the records after it.

    Read: in a file without fields of several lines the number of a row is that of its line.
    """
    rows = [f"Q{i},A{i}" for i in range(before + after)]
    lines = ["q,a", *rows[:before], f"{stray},oops", *rows[before:]]
    text = end.join(lines) + end
    document = load(text.encode(), uri="a.csv")
    assert [text[part.start : part.end] for part in document.parts] == lines
    assert document.meta["bad_rows"] == ((before + 2, "a quote is not closed"),)
    for by in (by_part("row", chunk_size=size), by_text(chunk_size=size), by_record(end)):
        check(by.split(document))
    for c in check(by_part("row", chunk_size=1).split(document)):
        assert c.own_text == lines[c.index]
        assert c.lines == (c.index + 1, c.index + 1)
        assert c.places == (f"row {c.index + 1}",)


def test_ur_129_a_quote_that_another_closes_is_reported() -> None:
    """Where a later quote closes the stray one, the row is reported by its number all the same.

    Read: the rows between are one field by the standard; nothing is moved and nothing lost.
    """
    for distance in range(6):
        between = "".join(f"Q{i},A{i}\n" for i in range(distance))
        text = f'q,a\nQ,A\n"open quote,oops\n{between}Z,"z"\nY,y\n'
        document = load(text.encode(), uri="a.csv")
        assert document.text == text
        assert document.meta["bad_rows"][0][0] == 3
        assert text[document.parts[-1].start :] == "Y,y\n"
        check(by_part("row", chunk_size=20).split(document))
    # One that is further away than any field is long closes nothing.
    rows = [f"Q{i},A{i}" for i in range(20_000)]
    lines = ["q,a", '"open quote,oops', *rows, 'Z,"z"']
    document = load("\n".join(lines).encode(), uri="a.csv")
    assert [document.text[part.start : part.end] for part in document.parts] == lines
    assert document.meta["bad_rows"] == ((2, "a quote is not closed"),)


lines_of_json = st.lists(
    st.one_of(
        st.builds(lambda t: json.dumps({"id": 1, "t": t}), st.text(max_size=12)),
        st.builds(
            lambda t: json.dumps({"t": t}, ensure_ascii=False),
            st.text(st.sampled_from("a é\u2028\u2029\x85\x0b\x0c\x1c🏮"), max_size=9),
        ),
        st.sampled_from(['{"id": 2, "t": "bro', "{", "not json", "{'a': 1}", "[1,]", "nul"]),
        st.sampled_from(["", " ", "\t"]),
        st.sampled_from(["1", "null", "[]", '"\\n"', '{"t": "line\\nbreak \\u2028 sep"}']),
    ),
    max_size=14,
)


@given(lines_of_json, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(5, 90))
@example(REPORTS["UR-131"]["input"].split("\n")[:-1], "\n", True, 80)
@few
def test_ur_131_a_bad_line_is_named_and_skips_no_other(
    lines: list[str], end: str, last: bool, size: int
) -> None:
    """One invalid or blank line of JSON Lines stopped the file, or was skipped in silence.

    Read: the bad line stays in the text and is named; ``text_field`` is no option here.
    """
    text = end.join(lines) + (end if last else "")
    document = load(text.encode(), uri="a.jsonl")
    assert document.text == text
    inked = [(str(i), line) for i, line in enumerate(lines, 1) if line.strip()]
    assert [(p.label, text[p.start : p.end]) for p in document.parts] == inked
    bad = [int(number) for number, line in inked if not _is_json(line)]
    assert [number for number, _ in document.meta.get("bad_records", ())] == bad
    assert document.meta.get("bad_records_count", 0) == len(bad)
    by = by_part("record", chunk_size=size)
    found = check(by.split(document))
    for c in found:
        assert c.boundary in ("document", "record")
    good = [json.loads(line) for number, line in inked if int(number) not in bad]
    one = check(by_part("record", chunk_size=1).split(document))
    assert [json.loads(c.text) for c in one if _is_json(c.text)] == good
    assert [int(c.places[0].removeprefix("record ")) for c in one] == [int(n) for n, _ in inked]
    streamed = iter_chunks(io.BytesIO(text.encode()), by, uri="a.jsonl", window=5)
    assert [(c.id, c.places) for c in streamed] == [(c.id, c.places) for c in found]


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
