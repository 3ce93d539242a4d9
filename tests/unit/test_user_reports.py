"""User reports: every symptom, by number, as a property of its whole kind.

The reports are in `tests/data/user_reports.jsonl`; their options are those of no library, so
each test says how it reads them where that is not plain: `max_size` with overlap counted inside
is `by_text`, Markdown is `by_heading`, a prefix is `context`, and a cap that must hold for
everything shipped is `max_size`. The last test holds that no report is forgotten.
"""

import json
import math
import random
import re
import subprocess
import sys
import time
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizer_makes import MAKES, tokenizer

from spanwise import (
    Cap,
    Chunk,
    ChunkingEngine,
    Chunks,
    Document,
    EmptyDocumentWarning,
    OptionError,
    SemanticChunker,
    SizeError,
    Turn,
    blocks,
    by_heading,
    by_layout,
    by_paragraph,
    by_record,
    by_similarity,
    by_structure,
    by_text,
    by_turn,
    chars,
    chunk,
    chunk_text,
    chunk_turns,
    clip_report,
    explain,
    fixed_with_overlap,
    highlight,
    tokens,
    utf8_bytes,
    whole_document,
    words,
)
from spanwise.cutting.clusters import is_border
from spanwise.cutting.spans import is_white
from spanwise.splitters.engine import BySize, ByTitle

DATA = Path(__file__).parents[1] / "data" / "user_reports.jsonl"
REPORTS: dict[str, dict[str, Any]] = {
    report["id"]: report for report in map(json.loads, DATA.read_text("utf-8").splitlines())
}

few = settings(max_examples=30, deadline=None, derandomize=True, database=None)


# --- every splitter under one roof ----------------------------------------------------------


def letters(texts: Sequence[str]) -> list[list[float]]:
    """Stands in for an embedder: how often each of a few letters occurs."""
    return [[1.0, *(float(text.count(c)) for c in "aeiot \n")] for text in texts]


def sentences(text: str) -> int:
    """A sizer that counts sentences."""
    return len(re.findall(r"[.!?]+", text)) or (1 if text.strip() else 0)


def third(text: str) -> int:
    """A sizer like a token model's guess: three characters a token, begun ones count."""
    return -(-len(text) // 3)


def lumpy(text: str) -> int:
    """A sizer that is not monotone: a longer text may measure less."""
    return len(text) + (len(text) % 3 == 1)


SIZERS = [chars, words, utf8_bytes, third, lumpy]

# name -> (chunk_size, overlap, other options) -> splitter
INSIDE: dict[str, Any] = {  # overlap counts inside the size
    "by_text": lambda n, o, **k: by_text(chunk_size=n, overlap=o, **k),
    "by_layout": lambda n, o, **k: by_layout(chunk_size=n, overlap=o, **k),
    "engine_fixed": lambda n, o, **k: BySize(chunk_size=n, overlap=o, **k),
    "engine_hierarchical": lambda n, o, **k: ByTitle(chunk_size=n, overlap=o, **k),
}
ON_TOP: dict[str, Any] = {  # overlap comes on top of it
    "by_heading": lambda n, o, **k: by_heading(chunk_size=n, overlap=o, **k),
    "by_heading, no floor": lambda n, o, **k: by_heading(chunk_size=n, overlap=o, min_size=0, **k),
    "by_paragraph": lambda n, o, **k: by_paragraph(chunk_size=n, overlap=o, **k),
    "by_paragraph, no floor": lambda n, o, **k: by_paragraph(
        chunk_size=n, overlap=o, min_size=0, **k
    ),
    "fixed_with_overlap": lambda n, o, **k: fixed_with_overlap(chunk_size=n, overlap=o, **k),
    "by_structure": lambda n, o, **k: SemanticChunker(target_size=n, overlap=o, **k),
}
GROUPING: dict[str, Any] = {  # units of their own, cut only where they are too large
    "by_similarity": lambda n, o, **k: by_similarity(letters, chunk_size=n, overlap=o, **k),
    "by_record": lambda n, o, **k: by_record("\n", chunk_size=n, overlap=o, **k),
    "by_turn": lambda n, o, **k: by_turn(chunk_size=n, overlap_turns=1 if o else 0, **k),
}
WHOLE: dict[str, Any] = {"whole_document": lambda n, o, **k: whole_document(**k)}
WINDOWS = {**INSIDE, **ON_TOP}
EVERY = {**WINDOWS, **GROUPING, **WHOLE}
MARKDOWN = [
    "by_heading",
    "by_heading, no floor",
    "by_structure",
    "by_layout",
    "engine_hierarchical",
]

every = pytest.mark.parametrize("name", EVERY)
windows = pytest.mark.parametrize("name", WINDOWS)
inside = pytest.mark.parametrize("name", INSIDE)
on_top = pytest.mark.parametrize("name", ON_TOP)
markdown = pytest.mark.parametrize("name", MARKDOWN)


def cut(name: str, text: str, size: int = 1000, overlap: int | None = 0, **options: Any) -> Chunks:
    """The chunks of a text by one splitter; a document of bare headings may give none."""
    source: Document | str = text
    if name == "by_turn":
        lines = re.split(r"\r\n|\r|\n", text)
        source = Document.from_turns(Turn(line, i) for i, line in enumerate(lines))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        return EVERY[name](size, overlap, **options).split(source)


def check(chunks: Chunks, max_size: int | None = None, sizer: Any = chars) -> list[Chunk]:
    """What no report may break: slices, order, coverage, clusters, the cap."""
    source, found = chunks.document.text, list(chunks)
    last_start, last_end = -1, 0
    for c in found:
        assert 0 <= c.start <= c.body < c.end <= len(source)
        assert source[c.start : c.end] == c.text
        assert c.start > last_start
        assert c.body >= last_end
        gap = source[last_end : c.body]
        assert all(map(is_white, gap)), f"lost {gap!r}"
        last_start, last_end = c.start, c.end
        if max_size is None:
            assert is_border(source, c.start)
            assert is_border(source, c.body)
            assert is_border(source, c.end)
        else:
            assert sizer(c.embed_text) <= max_size, f"{c.embed_text!r} is over {max_size}"
    if found or not bare(source):
        gap = source[last_end:]
        assert all(map(is_white, gap)), f"lost {gap!r}"
    return found


def bare(source: str) -> bool:
    """Whether a text is headings alone, of which `by_heading` makes no chunk."""
    return all(block.kind == "heading" for block in blocks(source))


def titles(source: str) -> list[tuple[int, str]]:
    """The headings of a text: level and title."""
    outline = Document(text=source).outline
    levels = outline.structure.heading_levels
    return list(zip(levels, (path[-1] for path in outline.paths), strict=True))


def growth(run: Callable[[int], object], small: int) -> None:
    """Four times the text takes less than eight times as long."""
    taken = []
    for n in (small, small * 4):
        best = math.inf
        for _ in range(2):
            begun = time.perf_counter()
            run(n)
            best = min(best, time.perf_counter() - begun)
        taken.append(max(best, 0.02))
    assert taken[1] < 8 * taken[0], f"{taken[0]:.3f} s grew to {taken[1]:.3f} s"


SMALL = st.text(st.sampled_from("ab \n"), max_size=60)
PROSE = st.text(st.sampled_from("abc  .,\n\t"), max_size=120)
MARKED = st.lists(
    st.sampled_from(
        [
            "# A",
            "## Bee",
            "### C c",
            "text one. And two.",
            "a longer line of text that is cut, since it does not fit. Again.",
            "```py\n# x\n\ny = 1\n```",
            "~~~\n# no",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
            "- one\n    - two\n\n      # deep",
            "> quote\n> # in it",
            "Setext\n===",
            "",
            "x",
        ]
    ),
    max_size=9,
).map("\n\n".join)


# --- positions ------------------------------------------------------------------------------


@every
def test_ur_001_repeated_text_has_its_own_place(name: str) -> None:
    """Equal pieces got the place of the first of them, or none."""
    for phrase, end, size in product(
        ("red fish, ", "a ", "Same again. ", "Twin.\n\n", "x\n"), ("", "."), (5, 10, 37)
    ):
        for overlap in (0, 2):
            found = check(cut(name, phrase * 9 + end, size, overlap))
            spans = [(c.start, c.end) for c in found]
            assert spans == sorted(set(spans))


@every
@given(text=st.text(st.sampled_from("tar "), max_size=50), size=st.integers(1, 12), data=st.data())
@example(text="tartar tar tartar tarta", size=6, data=None)
@few
def test_ur_002_a_prefix_of_later_text_is_not_found_earlier(
    name: str, text: str, size: int, data: Any
) -> None:
    """A passage that also occurs earlier was reported at the earlier place."""
    overlap = data.draw(st.integers(0, size - 1)) if data else 3
    check(cut(name, text, size, overlap))


@every
@pytest.mark.parametrize("sizer", SIZERS)
@given(text=PROSE | st.text(max_size=40), size=st.integers(4, 30), data=st.data())
@few
def test_ur_003_overlap_in_another_unit_than_positions(
    name: str, sizer: Any, text: str, size: int, data: Any
) -> None:
    """Overlap counted in tokens was taken off a character position."""
    overlap = data.draw(st.integers(0, size - 1))
    for c in check(cut(name, text, size, overlap, sizer=sizer)):
        if name in WINDOWS and name != "by_structure":
            borrowed = c.text[: c.body - c.start]
            assert sizer(borrowed) <= overlap


@every
@given(
    parts=st.lists(
        st.sampled_from(
            ["  First block.  ", "\tSecond one", "x", "\n", "\n\n\n   ", "\r\n", "\xa0y "]
        ),
        max_size=12,
    ),
    size=st.integers(1, 60),
)
@few
def test_ur_005_white_space_is_never_edited(name: str, parts: list[str], size: int) -> None:
    """Paragraphs were stripped and joined, so that they no longer occurred in the source."""
    for c in check(cut(name, "".join(parts), size)):
        assert not is_white(c.own_text[0]) or name == "by_turn"
        assert not is_white(c.own_text[-1]) or name == "by_turn"


def test_ur_006_one_long_word_is_cut_at_even_steps() -> None:
    """Every piece of a long word claimed to begin at 0."""
    for length, size, overlap in product((2000, 257, 256, 480), (256, 100), (32, 0)):
        chunks = chunk_text("x" * length, chunk_size=size, overlap=overlap)
        step = size - overlap
        count = max(1, -(-(length - overlap) // step))
        assert chunks.starts == [i * step for i in range(count)]
        assert chunks.ends[-1] == length
        check(chunks)


@every
def test_ur_006_every_splitter_places_the_pieces_of_a_word(name: str) -> None:
    """The same with overlap on top, and by the cap where only the cap cuts."""
    found = check(cut(name, "x" * 2000, 64, 8, max_size=72), 72)
    assert len(found) >= 2000 // 72
    assert sum(c.end - c.body for c in found) == 2000


@every
@pytest.mark.parametrize("tail", ["", "\n", "\n\n\n", "\r\n", "\r", " \n \n", "\f", "\u2028"])
def test_ur_007_the_last_end_is_within_the_text(name: str, tail: str) -> None:
    """A final line feed put the last end one past the text."""
    for text in ("# T\n\nbody line", "x", "one\ntwo", "```\nopen", "| a |\n|---|\n| b |"):
        for size in (5, 100):
            found = check(cut(name, text + tail, size))
            if name != "by_turn":  # a turn is as given
                assert found[-1].end == len(text)


def line_of(source: str, position: int) -> int:
    """The number of a line by counting, CR and CRLF ends included."""
    return len(re.findall(r"\r\n|\r|\n", source[:position])) + 1


@every
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_ur_008_line_ends_of_two_characters(name: str, newline: str) -> None:
    """Each CRLF shifted all that followed by one; line numbers drifted."""
    text = "# One\n\nalpha line\n\n# Two\n\nbeta line\n```\ncode\n```\n\n\nlast\n" * 3
    source = text.replace("\n", newline)
    for size, overlap in product((8, 24, 60), (0, 5)):
        chunks = cut(name, source, size, overlap)
        inner = chunks.document.text
        for c in check(chunks):
            first, last = c.lines
            assert first == line_of(inner, c.body)
            assert last == line_of(inner, c.end - 1)
            assert newline == "\n" or name == "by_turn" or "\n" not in c.text.replace(newline, "")


@every
@given(
    text=st.text(st.sampled_from("naïve=日本é 語\n\U0001f389"), max_size=60),
    size=st.integers(4, 40),
)
@example(
    text='naïve = "日本語"\n\ndef área(x):\n    return naïve\n\ndef später():\n    return "ü"\n',
    size=40,
)
@few
def test_ur_009_bytes_are_never_positions(name: str, text: str, size: int) -> None:
    """Byte positions were compared with character limits and stored as characters.

    The report cuts Python code; the same holds for any text that is measured in bytes.
    """
    found = check(cut(name, text, size, 0, sizer=utf8_bytes, max_size=size), size, utf8_bytes)
    for c in found:
        raw = text.encode()
        before = len(text[: c.start].encode())
        if name != "by_turn":
            assert raw[before : before + utf8_bytes(c.text)].decode() == c.text


@every
def test_ur_010_every_chunk_has_a_place(name: str) -> None:
    """Some chunks carried no position, so results led back to no page or line."""
    text = "Twice the same line.\n\n" * 2 + "# H\n\n| a |\n|---|\n| b |\n\n```\nx\n```\n"
    for size, overlap in product((3, 22, 500), (0, 2)):
        for c in check(cut(name, text, size, overlap)):
            assert all(isinstance(n, int) for n in (c.start, c.body, c.end, *c.lines))
            assert c.citation
            assert Chunk.from_dict(json.loads(c.to_json())) == c


# --- sizes ----------------------------------------------------------------------------------


def test_ur_011_an_absent_separator_still_obeys_the_cap() -> None:
    """Without the separator in the text the pieces were far above the limit."""
    for text, separator in product(
        ("lorem ipsum " * 120, "lorem" * 300, "a\nb " * 200), ("\n\n", "%%%", "zz")
    ):
        found = check(
            by_record(separator, chunk_size=100, overlap=0, max_size=100).split(text), 100
        )
        assert len(found) > 5


@every
def test_ur_011_the_cap_holds_whatever_the_text_lacks(name: str) -> None:
    """No text is so short of boundaries that the cap gives way."""
    for unit in (
        "lorem ipsum ",
        "x",
        "。",
        "a\n",
        "a\u00a0b",
        "-- ",
        "|a|\n",
        "\n# h\n\nt",
        "e\u0301",
    ):
        check(cut(name, unit * 150, 100, 10, max_size=100), 100)


@every
@pytest.mark.parametrize("limit", [3, 10])
def test_ur_012_a_sentence_over_the_limit_is_cut_at_words(name: str, limit: int) -> None:
    """A sentence strategy gave back a sentence above the limit as one chunk."""
    text = (
        "Short one. This second sentence keeps going with many more words than the small limit "
        "allows it to have. End."
    )
    found = check(cut(name, text, limit, 1, sizer=words, max_size=limit), limit, words)
    assert {c.boundary for c in found} & {"word", "clause"}  # the mark of a piece that continues
    for c in found:
        assert c.start == 0 or text[c.start - 1].isspace()
        assert c.end == len(text) or text[c.end].isspace()


@every
def test_ur_013_text_without_marks_is_cut_by_count(name: str) -> None:
    """Text without any sentence mark came back as one chunk of thousands of words."""
    text = " ".join(f"w{i}" for i in range(3000))
    found = check(cut(name, text, 512, 0, sizer=words, max_size=512), 512, words)
    assert len(found) == 6
    for unmarked in ("key: value\n" * 400, '{"a":1,"b":[2,3]},' * 200, "; ".join("ab" * 900)):
        check(cut(name, unmarked, 64, 0, sizer=words, max_size=64), 64, words)


@every
@pytest.mark.parametrize("sizer", SIZERS)
@pytest.mark.parametrize("overlap", [0, 8])
def test_ur_014_what_is_embedded_is_within_the_cap(name: str, sizer: Any, overlap: int) -> None:
    """The cap was checked before headings were put in front of the text."""
    text = (
        "# A rather long chapter title here\n\n## And a long section title as well\n\n"
        + " ".join(f"word{i}" for i in range(300))
    )
    table = "# Prices\n\n| id | name |\n|---|---|\n" + "".join(
        f"| {i} | n{i} |\n" for i in range(40)
    )
    for source, cap in product((text, table), (20, 64, 150)):
        check(cut(name, source, cap, overlap, sizer=sizer, max_size=cap), cap, sizer)
        # A size far above the cap leaves the cap in force.
        check(cut(name, source, 1000, overlap, sizer=sizer, max_size=cap), cap, sizer)


@every
@given(text=MARKED, cap=st.integers(6, 60), data=st.data())
@few
def test_ur_014_context_is_counted_in_any_markdown(
    name: str, text: str, cap: int, data: Any
) -> None:
    """The same over headings, fences, tables and lists in any order."""
    overlap = data.draw(st.integers(0, cap - 1))
    sizer = data.draw(st.sampled_from(SIZERS))
    check(cut(name, text, cap, overlap, sizer=sizer, max_size=cap), cap, sizer)


@inside
@given(
    text=st.text(st.sampled_from("oxy  \n"), max_size=60), size=st.integers(1, 9), data=st.data()
)
@example(text="ox  yak  emu  cat  asp  elk", size=5, data=None)
@few
def test_ur_016_white_space_inside_a_window_counts(
    name: str, text: str, size: int, data: Any
) -> None:
    """Overlapping windows brought stripped separators back and went over the limit."""
    overlap = data.draw(st.integers(0, size - 1)) if data else 2
    for c in check(cut(name, text, size, overlap)):
        assert len(c.text) <= size


@pytest.mark.parametrize("make", [by_heading, by_paragraph])
def test_ur_017_a_floor_over_the_size_is_refused(make: Any) -> None:
    """A floor above the size glued full chunks together."""
    for size, floor in ((130, 300), (130, 130), (1, 1)):
        with pytest.raises(OptionError, match=f"min_size={floor}.*chunk_size={size}"):
            make(chunk_size=size, min_size=floor)
    with pytest.raises(OptionError, match=r"min_size=300.*max_size=260"):
        SemanticChunker(target_size=130, min_size=300)


@pytest.mark.parametrize("make", [by_heading, by_paragraph])
@given(lengths=st.lists(st.integers(1, 150), max_size=12), floor=st.integers(0, 129))
@few
def test_ur_017_a_floor_merges_within_its_bound(make: Any, lengths: list[int], floor: int) -> None:
    """the library promises a bound above the size for merges, and the cap where one is given."""
    text = "\n\n".join(f"# S{i}\n\n{'abcdefg '[i % 7] * n}" for i, n in enumerate(lengths))
    merge = max(floor, 50)
    for c in check(make(chunk_size=130, min_size=floor, overlap=0).split(text)):
        assert len(c.own_text) < 130 + (merge if c.end < len(text) else 2 * merge)
    check(make(chunk_size=130, min_size=floor, overlap=0, max_size=130).split(text), 130)


@windows
def test_ur_018_chunks_of_even_lines_are_full(name: str) -> None:
    """Chunks were less than half full although their neighbours fitted with them."""
    text = "\n".join(f"line {i:02d} abcdefghijkl" for i in range(52))
    for size in (100, 210, 400):
        found = check(cut(name, text, size, 0, max_size=size), size)
        # These cut at the best line of the back half, so that edits do not ripple.
        best = name.startswith(("by_heading", "by_structure"))
        least = (size // 2 if best else size + 1) // 21
        assert all(c.text.count("\n") + 1 >= least for c in found[:-1])


@windows
@given(lines=st.lists(st.integers(1, 30), min_size=1, max_size=30), size=st.integers(40, 90))
@few
def test_ur_018_two_neighbours_never_fit_together(name: str, lines: list[int], size: int) -> None:
    """The rule for lines of any length: what would fit together is together.

    A block over the size is cut at the best cut in the back half, not at the last that fits.
    """
    text = "\n".join("ab cd"[i % 2] * n for i, n in enumerate(lines))
    found = check(cut(name, text, size, 0, max_size=size))
    for a, b in pairwise(found):
        # A window counts the one white character it opens or ends with.
        assert len(text[a.body : b.end]) > size - (name in INSIDE)


@pytest.mark.parametrize("kind", ["table", "list", "quote", "fence", "html"])
@every
def test_ur_020_elements_kept_whole_are_counted(name: str, kind: str) -> None:
    """Tables kept whole were not counted and went over the limit many times.

    The report's table is HTML, read in test_user_reports_loading.py; here they are Markdown's own.
    """
    rows = range(80)
    body = {
        "table": "| k | v |\n|---|---|\n" + "".join(f"| r{i} | value {i} |\n" for i in rows),
        "list": "".join(f"- r{i} value\n" for i in rows),
        "quote": "".join(f"> r{i} value\n" for i in rows),
        "fence": "```\n" + "".join(f"r{i} value\n" for i in rows) + "```\n",
        "html": "<table>" + "".join(f"<tr><td>r{i}</td></tr>\n" for i in rows) + "</table>\n",
    }[kind]
    text = f"# T\n\nintro\n\n{body}\nend\n"
    for overlap in (0, 30):
        check(cut(name, text, 200, overlap, max_size=200), 200)


@windows
def test_ur_021_the_size_alone_takes_effect(name: str) -> None:
    """The size did nothing unless an unrelated option was given too."""
    text = "Some plain words in a row. " * 200
    small, large = cut(name, text, 32, None), cut(name, text, 512, None)
    assert len(check(small)) > 2 * len(check(large))
    bound = 32 * 2 if name == "by_structure" else 32 + 2 * 50
    assert max(end - body for body, end in zip(small.bodies, small.ends, strict=True)) <= bound
    capped = cut(name, text, 1000, None, max_size=32)
    assert len(check(capped, 32)) > 2 * len(large)


# --- never ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "size_name"),
    [
        (by_text, "chunk_size"),
        (by_heading, "chunk_size"),
        (by_paragraph, "chunk_size"),
        (fixed_with_overlap, "chunk_size"),
        (by_layout, "chunk_size"),
        (SemanticChunker, "target_size"),
        (lambda **k: by_record("\n", **k), "chunk_size"),
        (lambda **k: by_similarity(letters, **k), "chunk_size"),
        (lambda **k: chunk_text("unread", **k), "chunk_size"),
        (lambda **k: ChunkingEngine().chunk("unread", **k), "chunk_size"),
    ],
)
def test_ur_022_sizes_that_hang_are_refused(make: Any, size_name: str) -> None:
    """Overlap at or above the size made the window stand still."""
    for size, overlap in ((300, 300), (300, 301), (1, 1), (10, 10**9)):
        with pytest.raises(OptionError) as caught:
            make(**{size_name: size}, overlap=overlap)
        assert f"overlap={overlap}" in str(caught.value)
        assert f"{size_name}={size}" in str(caught.value)
    for bad in (0, -1, -300, "300", 3.5, 300.0, None, True, math.nan):
        with pytest.raises(OptionError, match=re.escape(f"{size_name}={bad!r}")):
            make(**{size_name: bad})
    for bad in (-1, "30", 1.0, True):
        with pytest.raises(OptionError, match=re.escape(f"overlap={bad!r}")):
            make(overlap=bad)
    for bad in (0, -1, "300", 2.0, False):
        with pytest.raises(OptionError, match=re.escape(f"max_size={bad!r}")):
            make(max_size=bad)


def test_ur_022_whole_documents_and_turns_refuse_them_too() -> None:
    """By turn the sizes are the reference's: 0 is one turn a chunk, below is refused."""
    for bad in (-1, "300", 2.0, None, True):
        with pytest.raises(OptionError, match="chunk_size"):
            by_turn(chunk_size=bad)  # type: ignore[arg-type]
    for bad in ("1", 1.5, None):
        with pytest.raises(OptionError, match="overlap_turns"):
            by_turn(overlap_turns=bad)  # type: ignore[arg-type]
    for bad in (0, -1, "300", 2.0, True):
        with pytest.raises(OptionError, match="max_size"):
            by_turn(max_size=bad)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="max_size"):
            whole_document(max_size=bad)  # type: ignore[arg-type]


@every
@given(
    text=st.text(st.sampled_from("xy\n ."), max_size=80), size=st.integers(1, 50), data=st.data()
)
@example(text="xy\n" * 70, size=50, data=None)
@few
def test_ur_023_every_overlap_below_the_size_ends(
    name: str, text: str, size: int, data: Any
) -> None:
    """Pulling the end back to a line made the chunk shorter than the overlap."""
    overlap = data.draw(st.integers(0, size - 1)) if data else 45
    for options in ({}, {"max_size": size}):
        found = check(cut(name, text, size, overlap, **options), options.get("max_size"))
        assert len(found) <= max(1, len(text))
        assert all(a.start < b.start for a, b in pairwise(found))


def test_ur_025_the_last_window_comes_once() -> None:
    """Once the window reached the end it was given out for ever."""
    chunks = chunk_text("z" * 1003, chunk_size=250, overlap=25)
    spans = list(zip(chunks.starts, chunks.ends, strict=True))
    assert spans == [(0, 250), (225, 475), (450, 700), (675, 925), (900, 1003)]


@every
def test_ur_025_one_chunk_reaches_the_end(name: str) -> None:
    """The same for every splitter, length and overlap near a multiple of the size."""
    for unit, length, overlap in product(("z", "z ", "zz\n"), range(95, 106), (0, 3, 24)):
        chunks = cut(name, unit * length, 25, overlap)
        source = chunks.document.text
        last = len(source if name == "by_turn" else source.rstrip())
        assert [c.end for c in check(chunks)].count(last) == 1


@every
def test_ur_026_a_piece_without_separator_ends(name: str) -> None:
    """With one separator configured the recursion never came to its end."""
    text = "\n\n".join(["p" * 30, "q" * 5000, "r" * 30])
    check(cut(name, text, 100, 10, max_size=100), 100)
    large = "p\n\n" + "q" * 10**6 + "\n\nr"
    check(cut(name, large, 5000, 10, max_size=5000), 5000)


def test_ur_026_the_separator_given_is_the_only_one() -> None:
    """The same with the separator of the report."""
    text = "\n\n".join(["p" * 30, "q" * 10**6, "r" * 30])
    check(by_record("\n\n", chunk_size=1000, overlap=10, max_size=1000).split(text), 1000)


@every
@pytest.mark.parametrize("body", ["short", "", "- a\n- b", "one line. two"])
def test_ur_027_small_pieces_do_not_explode(name: str, body: str) -> None:
    """The start crept forward one character at a time where pieces are below the overlap."""
    text = "".join(f"## h{i}\n\n{body}\n\n" for i in range(60))
    size, overlap = 400, 120
    found = check(cut(name, text, size, overlap))
    pieces = 60 * max(1, body.count("\n") + 2)  # a record or a turn is a line here
    assert len(found) <= pieces + math.ceil(len(text) / (size - overlap))
    if name not in GROUPING:
        assert sum(len(c.text) for c in found) <= len(text) + overlap * len(found)
        assert all(c.body - c.start <= overlap for c in found)
    # Each chunk begins a block of its own, not some characters on.
    assert all(a.body < b.body and a.start < b.start for a, b in pairwise(found))


# --- text lost or altered -------------------------------------------------------------------


@every
def test_ur_028_a_leaf_over_the_limit_is_kept(name: str) -> None:
    """A long string, comment or line above the limit was dropped.

    The report cuts Python code; here the leaf lies bare, in a fence, a table, a list and a quote.
    """
    leaf = 'label = "' + "K" * 650 + '"'
    for text in (
        f"{leaf}\ncount = 1\n",
        f"```py\n{leaf}\n```\n",
        f"| a | b |\n|---|---|\n| {leaf} | 2 |\n",
        f"# H\n\n- {leaf}\n- b\n",
        f"> {leaf}\n",
        f"# {leaf}\n\ntext\n",
    ):
        for options in ({}, {"max_size": 100}):
            found = check(cut(name, text, 100, 0, **options), options.get("max_size"))
            assert sum(c.text.count("K") for c in found) == 650


@markdown
@pytest.mark.parametrize("length", [1, 19, 20, 21, 40, 200])
def test_ur_029_a_heading_over_the_cap_loses_no_body(name: str, length: int) -> None:
    """Where heading and caption filled the budget the body was skipped."""
    text = "# Top\n\n# " + "very " * length + "long title\n\nThe only sentence that matters.\n"
    for sizer, cap in ((words, 20), (chars, 40)):
        found = check(cut(name, text, cap, 0, sizer=sizer, max_size=cap), cap, sizer)
        own = " ".join(c.own_text for c in found)
        assert "The only sentence that matters." in own


def test_ur_029_context_is_shortened_outermost_first() -> None:
    """What does not fit is left out from the outside; the path on the chunk stays whole."""
    text = "# Outer\n\n## Middle\n\n### Inner\n\n" + "word " * 40
    seen = set()
    for cap in range(8, 60):
        found = check(by_heading(chunk_size=8, overlap=0, max_size=cap).split(text), cap)
        for c in (c for c in found if c.text.startswith("word")):
            assert c.heading_path == ("Outer", "Middle", "Inner")
            kept = c.context.split(" > ") if c.context else []
            assert kept == ["Outer", "Middle", "Inner"][3 - len(kept) :]
            seen.add(len(kept))
    assert seen == {0, 1, 2, 3}


@every
@pytest.mark.parametrize("size", [4, 7, 11])
def test_ur_031_bytes_never_split_a_letter(name: str, size: int) -> None:
    """A cut inside a letter of several bytes gave an empty chunk and lost text."""
    for unit, overlap in product(
        ("Prüfgröße für Gerät Ä42 – größer. ", "日本語。", "\U0001f389"), (0, 2)
    ):
        found = check(
            cut(name, unit * 10, size, overlap, sizer=utf8_bytes, max_size=size), size, utf8_bytes
        )
        assert all(c.text and "\ufffd" not in c.text for c in found)


def test_ur_031_a_letter_wider_than_the_cap_is_named() -> None:
    """No cap can hold it, so the error says which character and where."""
    for name in EVERY:
        with pytest.raises(SizeError, match="'é' at position 2"):
            cut(name, "aaé", 1, 0, sizer=utf8_bytes, max_size=1)


@every
@pytest.mark.parametrize("gap", ["\n\n", "\n", "\f", "\r\n\r\n"])
def test_ur_032_the_floor_deletes_nothing(name: str, gap: str) -> None:
    """Chunks below the minimum size were thrown away."""
    text = f"Hi.{gap}" + "A normal paragraph of text. " * 15 + f"{gap}OK.\n"
    own = [c.own_text for c in check(cut(name, text, 200, 0))]
    assert any("Hi." in each for each in own)
    assert any("OK." in each for each in own)
    for short in ("Hi.", "x", "# H\n\nx", "Hi.\n\nYou."):
        assert "".join(c.own_text for c in check(cut(name, short, 200, 0)))


@pytest.mark.parametrize("make", [by_heading, by_paragraph, SemanticChunker])
@given(
    lengths=st.lists(st.integers(1, 80), min_size=1, max_size=9),
    floor=st.integers(0, 59),
    gap=st.sampled_from(["\n\n", "\n\n# H\n\n", "\f", "\n\n```\nx\n```\n\n"]),
)
@few
def test_ur_032_any_floor_deletes_nothing(
    make: Any, lengths: list[int], floor: int, gap: str
) -> None:
    """The same for any floor and any row of short and long pieces."""
    size = "target_size" if make is SemanticChunker else "chunk_size"
    text = gap.join("abc"[i % 3] * n for i, n in enumerate(lengths))
    for overlap in (0, 20):
        check(make(**{size: 60}, min_size=floor, overlap=overlap).split(text))


@pytest.mark.parametrize("mark", ["。", "！", "？", "। ", ". ", "! ", "؟ ", "። ", "။ "])
def test_ur_034_the_mark_stays_with_its_sentence(mark: str) -> None:
    """The full stop that was split at was gone from the chunks."""
    text = "".join(f"第{i}条规定{mark}" for i in "一二三")
    found = check(chunk_text(text, chunk_size=7, overlap=0))
    assert [c.text for c in found] == [f"第{i}条规定{mark.strip()}" for i in "一二三"]


@given(
    text=st.text(st.sampled_from("ab。 \n"), max_size=60),
    separator=st.sampled_from(["。", "\n", " ", "ab", "\n\n", "。a"]),
    size=st.integers(1, 20),
)
@few
def test_ur_034_only_separators_lie_between_records(text: str, separator: str, size: int) -> None:
    """By record the separator is in no record (COVER's exception); nothing else is lost."""
    chunks = by_record(separator, chunk_size=size, overlap=0).split(text)
    at = 0
    for c in [*chunks, None]:
        gap = text[at : c.body if c else len(text)]
        assert not gap.replace(separator, "").strip(), f"lost {gap!r}"
        at = c.end if c else at
    assert all(c.text == text[c.start : c.end] for c in chunks)


@every
@pytest.mark.parametrize("size", [12, 30, 200])
def test_ur_035_headings_are_text_too(name: str, size: int) -> None:
    """Headings were only in the prefix; without it they were nowhere."""
    text = (
        "# Chapter of Otters\n\nThey swim.\n\n## Diet of Otters\n\nFish.\n\nSetext one\n---\n\nx\n"
    )
    found = check(cut(name, text, size, 0))
    if size >= 30 and name in MARKDOWN:
        for title, body in (("Diet of Otters", "Fish."), ("Setext one", "x")):
            assert any(title in c.own_text and body in c.own_text for c in found)


VERBATIM = {
    "UR-036": (
        "# L\n\n- one\n    - one.a\n        - one.a.i\n- two\n",
        "\n    - one.a\n        - one.a.i\n",
    ),
    "UR-037": (
        "# Build\n\n```make\nall:\n\tcc\xa0-o app main.c\n    echo ok\n```\n",
        "\n\tcc\xa0-o app main.c\n    echo ok\n",
    ),
    "UR-038": (
        "# H\n\nPara one.\n\nPara two.\n\n\nPara three.\n",
        "Para one.\n\nPara two.\n\n\nPara three.",
    ),
}


def verbatim(report: str, name: str) -> None:
    """The passage of a report stands unchanged in one chunk, whatever the line ends."""
    text, kept = VERBATIM[report]
    for newline in ("\n", "\r\n", "\r"):
        found = check(cut(name, text.replace("\n", newline), 200, 0))
        assert sum(kept.replace("\n", newline) in c.text for c in found) == 1


@pytest.mark.parametrize("name", [*WINDOWS, "by_similarity", "by_record", "whole_document"])
def test_ur_036_indentation_of_lists_is_kept(name: str) -> None:
    """Nested items lost their indentation."""
    if name == "by_similarity":
        pytest.skip("cuts by meaning, also between items")
    verbatim("UR-036", name)
    for marker, depth in product(("-", "*", "+", "1.", "2)"), (2, 3, 4, 8)):
        item = "".join(f"{' ' * depth * i}{marker} level {i}\n" for i in range(4))
        assert any(item.rstrip() in c.text for c in check(cut(name, f"# L\n\n{item}", 300, 0)))


@pytest.mark.parametrize("name", [*WINDOWS, "by_record", "whole_document"])
def test_ur_037_white_space_in_code_is_kept(name: str) -> None:
    """Tabs, non-breaking spaces and indentation in code were removed."""
    verbatim("UR-037", name)
    for white in ("\t", "\xa0", "  ", "\u3000", "\x1f", "\u2009"):
        code = f"```\n{white}a{white}{white}b\n{white}\n{white}c\n```"
        assert any(code in c.text for c in check(cut(name, f"# B\n\n{code}\n", 300, 0)))


@pytest.mark.parametrize("name", [*WINDOWS, "by_record", "whole_document"])
def test_ur_038_blank_lines_are_kept(name: str) -> None:
    """Blank lines became single line ends."""
    if name != "by_record":
        verbatim("UR-038", name)
    for blank in range(1, 6):
        body = ("\n" * blank).join(["Para one.", "Para two.", "Para three."])
        assert any(body in c.text for c in check(cut(name, f"# H\n\n{body}\n", 300, 0)))


@every
@given(text=MARKED, size=st.integers(1, 40))
@example(text="# A\n\ntext of a\n\n## B\n\n- x\n- y\n", size=16)
@few
def test_ur_039_passages_and_gaps_give_the_source(name: str, text: str, size: int) -> None:
    """Heading marks and the line ends around them were lost at a cut."""
    chunks = cut(name, text, size, 0)
    source, at, pieces = chunks.document.text, 0, []
    for c in check(chunks):
        pieces += [source[at : c.start], c.text]
        at = c.end
    assert "".join([*pieces, source[at:]]) == source
    assert all(map(is_white, "".join(pieces[::2])))


# --- headings, front matter, fences, tables --------------------------------------------------


@pytest.mark.parametrize("fence", ["```", "~~~", "`````", "~~~~"])
@pytest.mark.parametrize("info", ["sh", "", " py title", "{.r}"])
@pytest.mark.parametrize("margin", ["", "  ", "> ", "- ", "1. "])
def test_ur_041_a_comment_in_code_is_no_heading(fence: str, info: str, margin: str) -> None:
    """A comment in a fence was read as a heading and split the fence."""
    rest = margin if margin == "> " else " " * len(margin)
    code = f"{fence}{info}\n# not a heading\n## nor this\n\nalso\n===\nrun --all\n{fence}"
    body = margin + code.replace("\n", f"\n{rest}")
    text = f"# Setup\n\n{body}\n\n## Next\n\nok\n"
    assert titles(text) == [(1, "Setup"), (2, "Next")]
    for name in MARKDOWN:
        found = check(cut(name, text, 200, 0))
        holding = [c for c in found if "not a heading" in c.text]
        assert len(holding) == 1
        assert holding[0].heading_path[:1] == ("Setup",)
        assert "run --all" in holding[0].text


def test_ur_043_underlined_headings() -> None:
    """Underlined headings were missed, or every dashed line was one."""
    text = "Title line one\ncontinued\n===\n\nbody\n\nSub\n-\n\nmore\n\n---\n\nafter the rule\n"
    assert titles(text) == [(1, "Title line one continued"), (2, "Sub")]
    for mark, level in (("=", 1), ("-", 2)):
        for length, before, after in product((1, 2, 3, 40), ("", " ", "   "), ("", "  ", "\t")):
            line = f"{before}{mark * length}{after}"
            assert titles(f"x\n\nSub\n{line}\n\ny\n") == [(level, "Sub")]
            assert titles(f"x\n\nSub\n\n{line}\n\ny\n") == []
        assert titles(f"Sub\n    {mark * 3}\n") == []
        assert titles(f"- item\n{mark * 3}\n") == []
        assert titles(f"> quote\n{mark * 3}\n") == []
    assert titles("Sub\n- -\n") == []
    assert titles("a\n***\n") == []


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ur_044_front_matter_is_no_heading(newline: str, mark: str) -> None:
    """Front matter became a false first heading with all its keys."""
    for keys in ("layout: wide\nowner: ops", "a: 1", "# comment\na: 1", "t: |\n  # x\n\n  y"):
        text = f"{mark}---\n{keys}\n---\n# Pumps\n\ntext\n".replace("\n", newline)
        assert titles(text) == [(1, "Pumps")]
        for name in MARKDOWN:
            found = check(cut(name, text, 200, 0))
            holding = [c for c in found if keys.split("\n")[0] in c.text]
            assert len(holding) == 1
            assert "Pumps" not in holding[0].text
            assert holding[0].heading_path == ()
    assert titles("x\n\n---\nlayout: wide\n---\n\ny\n") == [(2, "layout: wide")]
    assert titles("\n---\nlayout: wide\n---\n\ny\n") == [(2, "layout: wide")]
    assert titles(" ---\nlayout: wide\n---\n\ny\n") == [(2, "layout: wide")]


@markdown
def test_ur_045_front_matter_is_apart_from_prose(name: str) -> None:
    """Front matter was indexed as prose and shown as the snippet.

    The half about search is in test_search.py; here the front matter shares no chunk with prose.
    """
    front = "---\ntype: reference\ntags: [alpha, beta, gamma]\n---"
    text = f"{front}\n\n# Cranes\n\nCranes lift loads.\n"
    found = check(cut(name, text, 1000, 0))
    assert [c.own_text for c in found] == [front, "# Cranes\n\nCranes lift loads."]
    assert found[1].heading_path == ("Cranes",)
    assert [c.text for c in check(cut(name, text, 1000, 100))][1].count("reference") == 0
    shown = highlight(text, "lift", width=30)
    assert "lift loads" in shown.text
    assert "tags" not in shown.text


@markdown
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@given(text=MARKED, size=st.integers(8, 80))
@example(text="# A\n\ntext\n\n***\n\n## B\n\nmore\n", size=200)
@few
def test_ur_046_windows_line_ends_change_no_heading(
    name: str, newline: str, text: str, size: int
) -> None:
    """With Windows line ends headings kept a CR or were not seen at all."""
    other = text.replace("\n", newline)
    assert titles(other) == titles(text)
    assert not any("\r" in title for _, title in titles(other))
    # Cut only where something always cuts: in a block over the size, the best cut is the one
    # before the longest unit, and line ends of two characters are longer.
    lf = check(cut(name, text, 10_000, 0))
    crlf = check(cut(name, other, 10_000, 0))
    assert [c.heading_path for c in lf] == [c.heading_path for c in crlf]
    assert [c.own_text.replace("\n", newline) for c in lf] == [c.own_text for c in crlf]
    check(cut(name, other, size, 0))


@pytest.mark.parametrize("name", ["by_paragraph", "by_paragraph, no floor", "by_text"])
@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@given(
    text=st.lists(st.sampled_from(["a b", "c", "", "d e f. g", " "]), max_size=14).map("\n".join),
    size=st.integers(1, 12),
)
@example(text="a b c\nd e f\n\ng", size=4)
@few
def test_ur_046_windows_line_ends_change_no_cut(
    name: str, newline: str, text: str, size: int
) -> None:
    """Counted in words, the cuts are the same whatever ends a line, and of the same kind."""
    lf = check(cut(name, text, size, 0, sizer=words))
    other = check(cut(name, text.replace("\n", newline), size, 0, sizer=words))
    assert [c.own_text.replace("\n", newline) for c in lf] == [c.own_text for c in other]
    assert [c.boundary for c in lf] == [c.boundary for c in other]


@every
@given(text=MARKED, size=st.integers(1, 60))
@example(text="# First\n\ntext\n\n## Second\n\nmore\n", size=16)
@example(text="---\na: 1\n---\n\n# H\n\nx\n", size=16)
@few
def test_ur_047_a_byte_order_mark_changes_nothing(name: str, text: str, size: int) -> None:
    """A byte order mark hid the first heading, front matter or fence."""
    assert titles("\ufeff" + text) == titles(text)
    plain, marked = cut(name, text, size, 0), cut(name, "\ufeff" + text, size, 0)
    check(plain)
    check(marked)
    if name in ("by_turn", "fixed_with_overlap"):
        return  # a turn is as given; a fixed window counts the mark
    assert [c.own_text for c in plain] == [c.own_text.lstrip("\ufeff") for c in marked]
    assert [c.heading_path for c in plain] == [c.heading_path for c in marked]


@given(levels=st.lists(st.integers(1, 6), min_size=1, max_size=12))
@example(levels=[1, 2, 3, 4, 2, 1])
@example(levels=[1, 4])
@few
def test_ur_049_paths_follow_levels(levels: list[int]) -> None:
    """After a drop of several levels later sections had wrong ancestors."""
    text = "".join(f"{'#' * level} H{i}\n\ntext {i}\n\n" for i, level in enumerate(levels))
    expected = []
    above: list[tuple[int, str]] = []
    for i, level in enumerate(levels):
        above = [pair for pair in above if pair[0] < level] + [(level, f"H{i}")]
        expected.append(tuple(title for _, title in above))
    for splitter in (by_heading(min_size=0, overlap=0), by_structure(min_size=0, overlap=0)):
        chunks = splitter.split(text)
        check(chunks)
        assert [c.heading_path for c in chunks] == expected
        assert chunks.heading_paths == expected
    # Wherever the cuts fall, the path is that of the first text that is no heading.
    for name, size in product(MARKDOWN, (9, 20, 40)):
        for c in check(cut(name, text, size, 0)):
            if found := re.search(r"text (\d+)", c.own_text):
                assert c.heading_path == expected[int(found[1])]


@markdown
@pytest.mark.parametrize("size", [16, 24, 40, 60, 400])
@pytest.mark.parametrize("overlap", [0, 7])
def test_ur_050_no_heading_is_said_twice(name: str, size: int, overlap: int) -> None:
    """With the path in front, a section's heading stood twice in its first chunk."""
    text = (
        "# Harbour\n\nIntro.\n\n## Berth nine\n\nDeep water. "
        + "More of it. " * 9
        + "\n\n### Rope\n\nx\n"
    )
    found = check(cut(name, text, size, overlap))
    for c, title in product(found, ("Harbour", "Berth nine", "Rope")):
        assert c.embed_text.count(title) <= 1
        if c.text.lstrip("# ").startswith(title):
            assert c.embed_text.count(title) == 1
    for c in found:
        assert all(c.embed_text.count(title) == 1 for title in c.heading_path)


@markdown
@pytest.mark.parametrize("size", [20, 40, 200])
def test_ur_051_the_path_is_beside_the_text(name: str, size: int) -> None:
    """Headings put into the stored text skewed word counts, and snippets quoted them.

    Ranking is in test_search.py; here the text holds no word that is not in the source there.
    """
    text = (
        "# Modbus\n\n## Timeout\n\nDefault is two seconds.\n\n## Parity\n\nEven.\n\n"
        "## Baud\n\nModbus default 9600.\n"
    )
    found = check(cut(name, text, size, 0))
    assert sum(c.text.count("Modbus") for c in found) == text.count("Modbus")
    for c in found:
        assert c.embed_text.endswith(c.text)
        shown = highlight(c.text, "modbus", origin=c.start)
        assert text[shown.start : shown.end] == shown.text


@markdown
@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
@pytest.mark.parametrize("margin", ["", "1. ", "- ", "> ", "10) ", "> - "])
def test_ur_052_a_fence_in_a_list_or_quote_is_whole(name: str, fence: str, margin: str) -> None:
    """A fence inside a list item was cut in the middle.

    An atom stays whole up to the size (in `by_structure` and `by_layout` to the cap); a larger
    one is cut at line ends.
    """
    if name == "engine_hierarchical":
        pytest.skip("the engine's `hierarchical` knows headings alone")
    rest = "".join(c if c == ">" else " " for c in margin)
    code = f"{fence}ts\nconst a = 1;\n\nconst b = 2;\n{fence}".replace("\n", f"\n{rest}")
    for lead in range(0, 90, 7):
        text = (
            f"Some {'word ' * (lead // 5)}here.\n\n{margin}Step\n\n{rest}{code}\n\n{margin}Done\n"
        )
        found = check(cut(name, text, len(code) + 5, 0))
        assert any(code in c.text for c in found), [c.text for c in found]


@markdown
@pytest.mark.parametrize("size", [30, 60, 200])
@pytest.mark.parametrize("fence", ["```py", "~~~", "````"])
@pytest.mark.parametrize("overlap", [0, 20])
def test_ur_053_no_fence_mark_stands_alone(name: str, size: int, fence: str, overlap: int) -> None:
    """A fence above the limit left its opening line alone in a chunk."""
    if name == "engine_hierarchical":
        pytest.skip("the engine's `hierarchical` knows headings alone")
    mark = fence.rstrip("py")
    for line in ("value_{0} = {0}\n", "a = identifier_{0}\n", "f({0}); g(); h()\n"):
        code = "".join(line.format(i) for i in range(60))
        text = f"# T\n\nIntro.\n\n{fence}\n{code}{mark}\n\nAfter.\n"
        found = check(cut(name, text, size, overlap, max_size=size), size)
        opened, closed = text.index(fence), text.rindex(mark)
        for c in found:
            assert c.own_text.strip("`~py\n ")
            if opened < c.body < closed:
                assert text[c.body - 1] == "\n", text[c.body - 9 : c.body + 9]
        first = next(c for c in found if fence in c.own_text)
        assert line.format(0).rstrip() in first.own_text


@pytest.mark.parametrize("name", [*MARKDOWN, "by_paragraph", "by_text"])
def test_ur_054_an_inline_span_opens_no_fence(name: str) -> None:
    """Three backticks on one line were taken for an open fence that swallowed the rest."""
    for inner in ("wide" * 30, "a b", "x``y", "a"):
        text = f"```{inner}```\n\n# Real heading\n\nrest\n"
        assert titles(text) == [(1, "Real heading")]
        assert blocks(text)[0].kind == "paragraph"
        check(cut(name, text, 50, 0))
    # Tildes may have backticks, and tildes, behind them.
    assert titles("~~~ a`b ~~~\n\n# Not a heading\n\nrest\n") == []


@pytest.mark.parametrize(
    "name", ["by_heading", "by_heading, no floor", "by_structure", "by_layout"]
)
@pytest.mark.parametrize("size", [60, 100])
def test_ur_055_a_table_keeps_its_heading(name: str, size: int) -> None:
    """Headings were collected in one chunk and their tables in others."""
    for gap in ("\n\n", "\n"):
        text = "\n\n".join(
            f"## {hue} pump{gap}| k | v |\n|---|---|\n| a{i} | b{i} |"
            for i, hue in enumerate(("Red", "Blue", "Green"))
        )
        found = check(cut(name, text, size, 0, max_size=60), 60)
        for i, hue in enumerate(("Red", "Blue", "Green")):
            (c,) = [c for c in found if f"a{i}" in c.text]
            assert c.heading_path == (f"{hue} pump",)
            assert f"## {hue} pump" in c.text


def stock(newline: str, lead: str) -> tuple[str, str, list[str]]:
    """A table below a lead: the text, the header, the rows."""
    header = "| id | name | price |\n|---|---|---|".replace("\n", newline)
    rows = [f"| {i} | item {i} | {i * 7} |" for i in range(12)]
    return lead + newline.join([header, *rows]) + newline, header, rows


@pytest.mark.parametrize("name", ["by_heading", "by_heading, no floor", "by_layout"])
@pytest.mark.parametrize("cap", [40, 60, 90, 150])
@pytest.mark.parametrize("overlap", [0, 30])
def test_ur_056_rows_are_whole(name: str, cap: int, overlap: int) -> None:
    """A table above the limit was cut inside a row."""
    for lead, newline in product(("", "# Stock\n\n", "Intro text.\n\n"), ("\n", "\r\n")):
        source, _, rows = stock(newline, lead)
        found = check(cut(name, source, cap, overlap, max_size=cap), cap)
        for row in rows:
            assert sum(row in c.own_text for c in found) == 1, [c.own_text for c in found]


@pytest.mark.parametrize("name", ["by_heading", "by_heading, no floor", "by_layout"])
@pytest.mark.parametrize("cap", [60, 90, 150])
@pytest.mark.parametrize("overlap", [0, 30])
def test_ur_056_later_parts_keep_the_header(name: str, cap: int, overlap: int) -> None:
    """Later parts of a table lacked the column names; the library reserves room for context."""
    for lead, newline in product(("", "# Stock\n\n", "Intro text.\n\n"), ("\n", "\r\n")):
        source, header, _ = stock(newline, lead)
        for c in check(cut(name, source, cap, overlap, max_size=cap), cap):
            if c.start > source.index("| item"):
                assert header in c.context
                assert header not in c.text


@markdown
def test_ur_056_later_parts_keep_their_headings(name: str) -> None:
    """The same room is kept for headings, where size and cap are one number."""
    text = "# Harbour\n\n" + "Deep water here. " * 60
    for c in check(cut(name, text, 200, 0, max_size=200), 200)[1:]:
        assert c.context == "Harbour"


@every
@pytest.mark.parametrize("size", [8, 30, 200])
def test_ur_058_nothing_comes_twice(name: str, size: int) -> None:
    """An inline HTML table was in the text's chunk and again in one of its own."""
    for element in (
        "<table><tr><td>uniqueCell7</td></tr></table>",
        "| h |\n|---|\n| uniqueCell7 |",
        "```\nuniqueCell7\n```",
        "# uniqueCell7\n\nx",
        "- uniqueCell7",
        "> uniqueCell7",
        "```\nuniqueCell7",
    ):
        found = check(cut(name, f"Intro\n\n{element}\n\nOutro\n", size, 0))
        assert sum(len(c.text) for c in found) <= len(f"Intro\n\n{element}\n\nOutro")
        if size >= 30:
            assert sum(c.text.count("uniqueCell7") for c in found) == 1


@windows
@pytest.mark.parametrize(
    "path", ["plan?day=AAAABBBBCCCC&dock=/n/4", "a.b!c?d;e,f:g", "x_(1)/y", "第一,二。三"]
)
def test_ur_059_a_link_that_fits_is_whole(name: str, path: str) -> None:
    """A link was cut inside its target although a cut before it was possible."""
    link = f"[timetable](https://ferry.example.org/{path})"
    if "。" in path and name != "engine_fixed":
        path = path.replace("。", ".")  # a CJK full stop ends a sentence wherever it stands
        link = f"[timetable](https://ferry.example.org/{path})"
    for lead in range(1, 16):
        text = (
            f"Bring {'the ' * lead}form to the desk first. {link} Then board. " + "And so on. " * 5
        )
        options = {"word_window": 80} if name == "fixed_with_overlap" else {}
        found = check(cut(name, text, 80, 0, max_size=80, **options), 80)
        assert any(link in c.text for c in found), [c.text for c in found]


@every
def test_ur_060_text_around_a_payload_is_kept(name: str) -> None:
    """An inline image of base64 became a thousand chunks that spoil results.

    The index does not mark it as no text yet; here the text around it has chunks without it,
    positions after it are right, and there are no more pieces than the size asks for.
    """
    payload = "iVBORw0K" * 3000
    text = f"# Pic\n\nBefore.\n\n![x](data:image/png;base64,{payload})\n\nAfter it all.\n"
    found = check(cut(name, text, 200, 0, max_size=200), 200)
    assert len(found) <= len(text) / 100
    for kept in ("Before.", "After it all."):
        assert any(kept in c.text for c in found)


@pytest.mark.parametrize("name", ["by_heading", "by_heading, no floor", "by_layout"])
@given(
    bodies=st.lists(
        st.sampled_from(["Give hay at dawn.", "Use it. Or not.", "x", "- a\n- b", "w " * 30]),
        min_size=1,
        max_size=5,
    ),
    size=st.integers(11, 60),
    capped=st.booleans(),
    style=st.sampled_from(["## Feeding", "# A #", "Setext\n---"]),
)
@few
def test_ur_061_no_heading_stands_alone(
    name: str, bodies: list[str], size: int, capped: bool, style: str
) -> None:
    """A heading was alone in a chunk and its text in the next."""
    text = "\n\n".join(f"{style}\n\n{body}" for body in bodies)
    # Only a cap that holds no heading and word together goes before this.
    options = {"max_size": max(size, 20)} if capped else {}
    for c in check(cut(name, text, size, 0, **options), options.get("max_size")):
        assert not bare(c.own_text)
        last = blocks(c.own_text)[-1]
        assert last.kind != "heading", c.own_text


@pytest.mark.parametrize("name", [*MARKDOWN])
@given(levels=st.lists(st.integers(1, 6), min_size=1, max_size=6))
@example(levels=[1, 2, 3])
@few
def test_ur_062_stacked_headings_are_one_chunk(name: str, levels: list[int]) -> None:
    """Headings one above the other each became a chunk."""
    text = "\n\n".join(f"{'#' * n} H{i}" for i, n in enumerate(levels)) + "\n\nActual text.\n"
    (c,) = check(cut(name, text, 120, 0))
    assert c.text == text.strip()


@pytest.mark.parametrize("count", [2, 3, 7])
@pytest.mark.parametrize("body", ["a", "some words", "x\n\ny", "```\nc\n```"])
def test_ur_064_every_title_opens_a_chunk(count: int, body: str) -> None:
    """A strategy named after titles did not cut at one, since small pieces were combined.

    `by_heading` cuts at each heading with its floor off, and `by_structure` and the engine's
    `hierarchical` always do; with the floor on, the library lets short sections share a chunk.
    """
    text = "\n\n".join(f"# T{i}\n\n{body}" for i in range(count)) + "\n"
    for splitter in (
        by_heading(chunk_size=10000, overlap=0, min_size=0),
        SemanticChunker(target_size=10000, overlap=0, preserve_code_blocks=False),
        ByTitle(chunk_size=10000, overlap=0),
    ):
        assert len(check(splitter.split(text))) == count
    deep = by_heading(chunk_size=10000, overlap=0, min_size=0, max_level=1)
    assert len(check(deep.split(text.replace("T1", "T1\n\nx\n\n## Deeper")))) == count
    floored = check(by_heading(chunk_size=10000, overlap=0, min_size=5000).split(text))
    assert len(floored) < count


# --- overlap --------------------------------------------------------------------------------


def test_ur_065_sentences_as_a_unit() -> None:
    """After the end came one more chunk that held nothing but overlap."""
    chunks = by_text(chunk_size=3, overlap=2, sizer=sentences).split("Go. Stop. Wait. Run.")
    assert chunks.texts == ["Go. Stop. Wait.", "Stop. Wait. Run."]


@every
@pytest.mark.parametrize("sizer", [sentences, chars, words])
@given(
    count=st.integers(1, 12),
    size=st.integers(2, 9),
    data=st.data(),
    gap=st.sampled_from([" ", "\n", "\n\n"]),
)
@few
def test_ur_065_each_chunk_adds_something(
    name: str, sizer: Any, count: int, size: int, data: Any, gap: str
) -> None:
    """No chunk lies within another, and each has text of its own."""
    overlap = data.draw(st.integers(0, size - 1))
    text = gap.join(["Go.", "Stop it.", "Wait!"][i % 3] for i in range(count))
    found = check(cut(name, text, size, overlap, sizer=sizer))
    for a, b in pairwise(found):
        assert a.start < b.start
        assert a.end < b.end


@pytest.mark.parametrize("length", range(6, 30))
def test_ur_066_overlap_where_no_separator_is(length: int) -> None:
    """Overlap was dropped on the path that found no separator."""
    text = ("klmnopqrstuvwxyzabcdefghij" * 2)[:length]
    texts = chunk_text(text, chunk_size=6, overlap=2).texts
    assert texts == [text[i : i + 6] for i in range(0, max(1, length - 2), 4)]


@windows
def test_ur_066_every_window_carries_overlap_over_a_hard_cut(name: str) -> None:
    """The same for the others: a run without borders is carried over by exactly the budget."""
    found = check(cut(name, "klmnopqrstuvw" * 9, 30, 6))
    assert {c.body - c.start for c in found[1:-1]} == {6}


@windows
@pytest.mark.parametrize("sizer", [chars, third, utf8_bytes])
@given(
    first=st.integers(20, 60),
    second=st.integers(1, 40),
    gap=st.sampled_from(["\n\n", " ", "", "\n"]),
)
@example(first=26, second=10, gap="\n\n")
@few
def test_ur_067_overlap_is_reported_and_within_its_budget(
    name: str, sizer: Any, first: int, second: int, gap: str
) -> None:
    """Overlap vanished when a chunk was exactly full, and nothing said so."""
    source = "A" * first + gap + "B" * second
    chunks = cut(name, source, 26, 5, sizer=sizer)
    check(chunks)
    cuts = explain(source, by=WINDOWS[name](26, 5, sizer=sizer))
    for c, reason in zip(chunks, cuts, strict=True):
        assert (reason.start, reason.body, reason.end) == (c.start, c.body, c.end)
        assert reason.overlap == sizer(source[c.start : c.body]) <= 5
    if gap == "\n\n" and first == 26 and second == 10 and sizer is chars and len(chunks) == 2:
        # The rule: after white space overlap begins at a word, and none begins in reach.
        assert chunks[1].start == chunks[1].body


@every
@given(
    picks=st.lists(
        st.sampled_from(["internationalisation", "requires", "a", "it.", "considerable"]),
        max_size=25,
    ),
    overlap=st.integers(22, 38),
    size=st.integers(40, 70),
    gap=st.sampled_from([" ", "  ", "\n"]),
    capped=st.booleans(),
)
@few
def test_ur_068_no_overlap_begins_inside_a_word(
    name: str, picks: list[str], overlap: int, size: int, gap: str, capped: bool
) -> None:
    """Overlap began in the middle of a word.

    the rules: where a word starts in reach of the budget, overlap begins at one.
    """
    text = gap.join(picks)
    options = {"max_size": size} if capped else {}
    chunks = cut(name, text, size, overlap, **options)
    source = chunks.document.text
    found = check(chunks, options.get("max_size"))
    for c in found:
        assert c.body == 0 or source[c.body - 1].isspace()
        assert c.end == len(source) or source[c.end].isspace()
        inked = (i for i in range(c.start, c.body) if not source[i].isspace())
        starts = [i for i in inked if i == 0 or source[i - 1].isspace()]
        assert not starts or c.start in starts
        assert not c.text[0].isspace() or name == "by_turn"


def test_ur_068_the_text_of_the_report() -> None:
    """The sizes of the report, in which the budget holds one word at most."""
    text = "internationalisation requires considerable preparation beforehand always everywhere"
    for name in WINDOWS:
        for c in check(cut(name, text, 40, 12, max_size=40), 40):
            assert c.start == 0 or text[c.start - 1] == " "
            assert c.end == len(text) or text[c.end] == " "


@every
@pytest.mark.parametrize("unit", ["q", "q ", "qq\n", "Qq. ", "q\n\n"])
def test_ur_069_no_overlap_carries_nothing(name: str, unit: str) -> None:
    """With overlap 0 the whole previous chunk was carried along."""
    found = check(cut(name, unit * 28, 7, 0, max_size=7), 7)
    assert all(c.start == c.body for c in found)
    assert sum(len(c.text) for c in found) <= len(unit * 28)
    if unit == "q":
        assert len(found) == 4


@inside
@given(length=st.integers(1, 40), size=st.integers(2, 9), data=st.data())
@few
def test_ur_070_no_trail_of_shrinking_chunks(name: str, length: int, size: int, data: Any) -> None:
    """Overlap left a trail of ever shorter chunks at the end.

    The report expects a fixed step even where overlap is more than half the size; the library lets
    overlap never cover the whole previous own part, so there a step may be longer.
    """
    overlap = data.draw(st.integers(0, size - 1))
    text = ("0123456789AB" * 4)[:length]
    found = check(cut(name, text, size, overlap))
    ends = [c.end for c in found]
    assert ends == sorted(set(ends))
    assert ends.count(length) == 1
    assert all(len(c.text) == size for c in found[:-1])
    if length <= size:
        assert len(found) == 1
    if 2 * overlap < size:
        assert [c.start for c in found] == list(range(0, max(1, length - overlap), size - overlap))


# --- characters and scripts -----------------------------------------------------------------


@every
@pytest.mark.parametrize("unit", ["\u2026\u2014\U0001f389", "\U0001f389", "é日", "a\U00010000"])
@pytest.mark.parametrize("cap", [4, 5, 20])
def test_ur_071_no_cut_inside_a_character(name: str, unit: str, cap: int) -> None:
    """A fixed length fell inside a character, and the service refused the chunk for ever."""
    chunks = cut(name, unit * 100, cap, cap // 4, sizer=utf8_bytes, max_size=cap)
    for c in check(chunks, cap, utf8_bytes):
        assert c.text.encode()


CLUSTERS = [
    "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "\U0001f44b\U0001f3fb",
    "\U0001f1eb\U0001f1ee",
    "e\u0301",
    "க\u0bcd\u0bb7",
    "\u1100\u1161\u11a8",
    "❤\ufe0f",
    "1\ufe0f\u20e3",
    "\r\n",
    "नि",
]


@every
@given(
    text=st.lists(st.sampled_from([*CLUSTERS, "a", " "]), max_size=40).map("".join),
    size=st.integers(1, 30),
    data=st.data(),
)
@example(text="".join(CLUSTERS[:3]) * 20, size=9, data=None)
@few
def test_ur_072_no_cut_inside_a_cluster(name: str, text: str, size: int, data: Any) -> None:
    """A family, a flag or a waving hand was torn into its parts."""
    overlap = data.draw(st.integers(0, size - 1)) if data else 0
    chunks = cut(name, text, size, overlap)
    check(chunks)  # holds that each position is a cluster border
    capped = cut(name, text, size, overlap, max_size=max(size, 8))
    for c in check(capped, max(size, 8)):  # no cluster here is larger
        assert is_border(capped.document.text, c.start)
        assert is_border(capped.document.text, c.body)
        assert is_border(capped.document.text, c.end)


@every
@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u0591", "\u0e49", "\u093f"])
@pytest.mark.parametrize("size", [3, 7, 8])
def test_ur_073_an_accent_stays_with_its_letter(name: str, marks: str, size: int) -> None:
    """A cut separated a combining accent from its letter."""
    for text, overlap in product((f"e{marks}" * 61, f"e{marks} " * 30), (0, 1, 2)):
        for c in check(cut(name, text, size, overlap, max_size=size), size):
            assert not unicodedata.category(c.text[0]).startswith("M")
            assert not unicodedata.category(c.own_text[0]).startswith("M")


@every
@given(text=st.text(st.sampled_from("ok \ud83c\udf89.\n"), max_size=40), size=st.integers(1, 12))
@example(text="ok \ud83c end. Next sentence.", size=12)
@few
def test_ur_074_lone_surrogates_pass_unharmed(name: str, text: str, size: int) -> None:
    """A lone surrogate passed through and failed late, at the store.

    Ours: it is a character like another; it counts three bytes, ids and JSON are safe of it.
    """
    chunks = cut(name, text, size, 0)
    for c in check(chunks):
        assert c.to_json().isascii()
        assert Chunk.from_dict(json.loads(c.to_json())).id == c.id
    assert chunks.document.content_hash
    check(cut(name, text, 6, 0, sizer=utf8_bytes, max_size=6), 6, utf8_bytes)


@pytest.mark.parametrize("name", [*WINDOWS, "by_similarity"])
@given(lengths=st.lists(st.integers(4, 18), min_size=1, max_size=12), data=st.data())
@few
def test_ur_075_chinese_is_cut_at_its_own_marks(name: str, lengths: list[int], data: Any) -> None:
    """For Chinese and Japanese no separator matched, so cuts fell inside clauses."""
    if name in ("fixed_with_overlap", "engine_fixed", "engine_hierarchical"):
        return  # windows at word borders; they know no sentences
    if name in INSIDE or name == "by_similarity":
        # By the rule a window looks for sentence ends in its back half: here one always is.
        lengths = [max(12, n) for n in lengths]
    marks = data.draw(st.lists(st.sampled_from("。！？"), min_size=12, max_size=12))
    text = "".join("会" * n + m for n, m in zip(lengths, marks, strict=False))
    for c in check(cut(name, text, 20, 0, max_size=20), 20)[:-1]:
        assert c.text[-1] in "。！？"


def test_ur_075_the_text_of_the_report() -> None:
    """With a clause mark among the ends; `by_text` has no clauses, the packing strategies do."""
    text = (
        "今天的会议讨论了三个问题。第一是预算；第二是人员安排！第三是时间表？"
        "请各部门在周五之前回复。谢谢大家的配合。"
    )
    for name in ("by_text", "by_heading", "by_paragraph"):
        for c in check(cut(name, text, 20, 0, max_size=20), 20)[:-1]:
            assert c.text[-1] in "。；！？"


@pytest.mark.parametrize(
    "name", ["by_text", "by_heading", "by_paragraph", "by_structure", "by_similarity"]
)
@pytest.mark.parametrize("mark", ["।", "॥", "؟", "።", "។", "။", "۔", "!", "?", "‼", "…"])
def test_ur_076_ends_of_other_scripts(name: str, mark: str) -> None:
    """The danda and other ends were unknown, so a hard cut was used next to one."""
    for sentence in ("यह पहला वाक्य है", "هذه جملة أولى", "ይህ ነው", "นี่คือประโยค"):
        text = " ".join(f"{sentence}{mark}" for _ in range(6))
        size = 2 * len(sentence) + 8
        for c in check(cut(name, text, size, 0, max_size=size), size)[:-1]:
            assert c.text.rstrip().endswith(mark)


@every
@given(text=st.text(st.sampled_from("ab \0\n#."), max_size=60), size=st.integers(1, 40))
@example(text="alpha\x00beta\n\n# H\x00ead\n\ntext \x00\x00 end\n", size=40)
@few
def test_ur_078_nul_is_a_character(name: str, text: str, size: int) -> None:
    """A NUL from a PDF aborted the batch.

    Cutting leaves it where it is; the store is tested in `store/test_index.py`.
    """
    chunks = cut(name, text, size, 0)
    found = check(chunks)
    assert sum(c.text.count("\0") for c in found) == text.count("\0") or bare(text)
    assert all(Chunk.from_dict(json.loads(c.to_json())) == c for c in found)
    highlight(text, "a\0b")


@pytest.mark.parametrize(
    "data",
    ["café Straße".encode("latin-1"), b"fine text", "hello".encode("utf-16"), bytearray(b"x"), b""],
)
def test_ur_079_bytes_are_refused_by_name(data: Any) -> None:
    """One file that is not UTF-8 stopped the whole folder.

    Decoding is in test_user_reports_loading.py; here bytes never become a text by guess.
    """
    with pytest.raises(OptionError, match="decode bytes first"):
        Document(text=data)
    with pytest.raises(OptionError, match="decode bytes first"):
        chunk(data)
    for make in EVERY.values():
        with pytest.raises(OptionError, match="decode bytes first"):
            make(100, 0).split(data)


# --- pages ----------------------------------------------------------------------------------


@every
@given(
    pages=st.lists(
        st.sampled_from(["p1 a b c d", "x", "", " ", "one. two\n\nthree", "# H\n\nt"]),
        min_size=2,
        max_size=7,
    ),
    size=st.integers(1, 12),
    data=st.data(),
)
@example(pages=["p1 a b c d", "p2 e f g h", "p3 i j"], size=4, data=None)
@few
def test_ur_080_pages_are_counted_once(name: str, pages: list[str], size: int, data: Any) -> None:
    """Breaks inside the overlap were counted again, and numbers ran ahead.

    The page is looked up at the own part: overlap from the page before does not count.
    """
    overlap = data.draw(st.integers(0, size - 1)) if data else 2
    chunks = cut(name, "\f".join(pages), size, overlap, sizer=words)
    source = chunks.document.text
    if name == "by_turn" or "\f" not in source:
        return  # `from_turns` may leave a blank turn and its page break out
    for c in check(chunks):
        first, last = (str(1 + source.count("\f", 0, at)) for at in (c.body, c.end - 1))
        assert c.pages[0] == first
        assert c.pages[-1] == last
        assert list(c.pages) == [str(n) for n in range(int(first), int(last) + 1)]
        assert int(last) <= len(pages)


def test_ur_081_a_chunk_names_the_pages_it_is_on() -> None:
    """A chunk had the page it ends on instead of the one it starts on."""
    text = "m1 m2 m3\x0cn1 n2 n3 n4\x0co1 o2"
    found = check(BySize(chunk_size=4, overlap=0, sizer=words).split(text))
    assert [(c.text, c.pages) for c in found] == [
        ("m1 m2 m3\x0cn1", ("1", "2")),
        ("n2 n3 n4\x0co1", ("2", "3")),
        ("o2", ("3",)),
    ]
    assert [c.citation for c in found] == ["pp. 1-2", "pp. 2-3", "p. 3"]


@every
def test_ur_081_pages_given_by_a_list(name: str) -> None:
    """The same for a document made of pages."""
    if name == "by_turn":
        pytest.skip("a document of turns has no pages")
    document = Document.from_pages([f"page {i} text. " * 6 for i in range(1, 6)])
    for size in (20, 90, 300):
        for c in check(EVERY[name](size, 10).split(document)):
            numbers = [int(n) for n in re.findall(r"page (\d)", c.own_text)]
            if numbers:
                assert int(c.pages[0]) <= numbers[0] <= numbers[-1] <= int(c.pages[-1])
                assert int(c.pages[-1]) - int(c.pages[0]) <= numbers[-1] - numbers[0] + 1


@every
def test_ur_083_no_page_is_borrowed(name: str) -> None:
    """A document without pages had one from another, or page 2 of a file of one page."""
    splitter_of = EVERY[name]
    for text, expected in (
        ("no pages in here", set()),
        ("only page\f", {"1"}),
        ("only page\f\n", {"1"}),
        ("one\ftwo\fthree", {"1", "2", "3"}),
        ("no pages, again", set()),
        ("\fsecond", {"2"}),
    ):
        chunks = cut(name, text, 50)
        # A turn is as given, its form feeds too.
        pages = set() if name == "by_turn" else expected
        assert {page for c in check(chunks) for page in c.pages} == pages
    assert splitter_of(50, 0)


# --- budgets --------------------------------------------------------------------------------


@every
def test_ur_087_metadata_takes_no_room(name: str) -> None:
    """A long path in the metadata was taken off the budget."""
    text = "Body words of the note. " * 60
    meta = {"path": "/".join(f"folder{i}" for i in range(60)), "tags": ["x " * 500]}
    splitter = EVERY[name](64, 0, sizer=words, max_size=64)
    source = Document(text=text, meta=meta, uri="/".join(["long"] * 99))
    if name == "by_turn":
        turns = [Turn(text, 1, item_id="i" * 500)]
        source = Document.from_turns(turns, uri="/".join(["long"] * 99))
    found = check(splitter.split(source), 64, words)
    assert len(found) == 5
    assert all(c.context == "" for c in found)


@every
def test_ur_087_a_title_that_does_not_fit_gives_way(name: str) -> None:
    """A title does go in front, so it is counted, and left out where room is short."""
    title = "Title " * 30
    source: Document = Document(text="Body words of the note. " * 60, meta={"title": title})
    if name == "by_turn":
        source = Document.from_turns([Turn("Body words of the note. " * 60, 1)])
    for cap in (10, 64, 200):
        check(EVERY[name](cap, 0, sizer=words, max_size=cap).split(source), cap, words)


@every
@pytest.mark.parametrize("sizer", [words, third, utf8_bytes])
def test_ur_088_one_unit_for_every_kind_of_text(name: str, sizer: Any) -> None:
    """One strategy counted characters and another tokens under the same settings.

    Code cut by its syntax is in test_user_reports_loading.py; the unit holds as for prose.
    """
    code = "".join(f"def f{i}(x):\n    return x + {i}\n\n" for i in range(60))
    for text in (
        code,
        f"```py\n{code}```\n",
        "Some prose. " * 300,
        "# H\n\n" + "Some prose. " * 99,
    ):
        check(cut(name, text, 80, 8, sizer=sizer, max_size=80), 80, sizer)


@every
def test_ur_089_the_callers_counter_is_the_one_enforced(name: str) -> None:
    """Tokens were guessed as a quarter of the characters, wrong for Chinese and code."""
    for text in ("漢字文章" * 500, "if(a[i]){b+=1;}" * 100, "plain words here. " * 60):
        for counter in (len, lambda s: 3 * len(s), lambda s: len(s) + 2, third):
            found = check(cut(name, text, 128, 9, sizer=counter, max_size=128), 128, counter)
            assert len(found) >= counter(text) // 128


@every
@pytest.mark.parametrize("sizer", [words, chars, sentences])
def test_ur_090_the_smallest_sizes_work(name: str, sizer: Any) -> None:
    """Limits of 64 or 128 failed because of a fixed minimum of room."""
    text = "One. Two. Three. Four. Five. Six."
    for cap in (1, 2, 3, 64, 128):
        found = check(cut(name, text, cap, None, sizer=sizer, max_size=cap), cap, sizer)
        if cap == 1 and sizer is words:
            assert [c.text for c in found] == text.split()
    for cap in (1, 2, 5):
        check(cut(name, "# Head\n\n## Sub\n\nx y z. a b\n", cap, None, max_size=cap), cap)


class Reader:
    """An embedder that says what it reads of a text, and keeps what it is given."""

    id, dimensions = "reader", 1

    def __init__(self, ceiling: Cap | None) -> None:
        self.ceiling = ceiling
        self.given: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        return [[1.0] for _ in texts]


@every
@pytest.mark.parametrize("sizer", [words, chars, third])
def test_ur_084_nothing_over_what_the_embedder_reads_is_sent(name: str, sizer: Any) -> None:
    """A model cut what was beyond its window without a word; the tails were unfindable."""
    for text in (" ".join(f"tok{i}" for i in range(400)), "# Head\n\n" + "Some prose. " * 200):
        for limit in (16, 256):
            embedder = Reader(Cap(limit, sizer))
            source = Document.from_turns([Turn(text, 0)]) if name == "by_turn" else text
            chunks = EVERY[name](1000, 0).within(embedder).split(source)
            embedder.embed([c.embed_text for c in check(chunks, limit, sizer)])
            assert max(map(sizer, embedder.given)) <= limit
            assert not clip_report(chunks, embedder)


@every
def test_ur_084_an_unknown_embedder_reads_two_thousand_characters(name: str) -> None:
    """Without a declared limit nothing was known, and nothing was done."""
    embedder = Reader(None)
    text = "Some prose that goes on. " * 400
    source = Document.from_turns([Turn(text, 0)]) if name == "by_turn" else text
    check(EVERY[name](9000, 0).within(embedder).split(source), 2000)
    with pytest.raises(OptionError, match="max_size=9,000 chars is over what the embedder reads"):
        EVERY[name](9000, 0, max_size=9000).within(embedder)


@every
@pytest.mark.parametrize("make", MAKES)
def test_ur_086_control_tokens_in_a_text_are_text(name: str, make: str) -> None:
    """Text that quotes a model's control token made the token counter raise."""
    sizer = tokens(tokenizer(make), quiet=True)
    text = "The marker <|endoftext|> ends a document, <|im_start|> opens a turn. [CLS] </s>"
    for size in (12, 40):
        found = check(cut(name, text, size, 0, sizer=sizer, max_size=size), size, sizer)
        assert max(sizer.whole(c.embed_text) for c in found) <= size


# --- edge input -----------------------------------------------------------------------------

EDGES = [
    *("", " ", "\n\n", "\ufeff", "\f", ".", "x", "One sentence only.", "```", "---", "|", "# "),
    *("<p>", "{", '"', "\r", "\r\n", "\0", "\u200b", "\u0301", "\ud800", "#", "###### ", "# #"),
    *("---\n---", "---\n---\n", "---\na", "> ", "- ", "1.", "    x", "\t", "|\n|-|", "|a|\n|-|"),
    *(
        "~~~\n",
        "```\n```",
        "<!--",
        "===",
        "x\n===",
        "\ufeff\ufeff",
        "\x1c",
        "[a]: b",
        "\\",
        "*" * 9,
    ),
]


@every
@pytest.mark.parametrize("text", EDGES)
def test_ur_091_edge_inputs(name: str, text: str) -> None:
    """Empty text, white space or a single sentence raised an index error."""
    for size, overlap, options in product(
        (1, 2, 10), (None, 0), ({}, {"max_size": 10}, {"sizer": words})
    ):
        found = check(cut(name, text, size, overlap, **options))
        ink = any(not is_white(c) for c in text)
        assert ink or not found
        assert not ink or found or bare(text)
    if name != "by_turn":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EmptyDocumentWarning)
            explain(text, by=EVERY[name](10, 0))


# --- slow input -----------------------------------------------------------------------------


@every
@pytest.mark.parametrize("unit", ["a", "a ", "a. ", "a\n", "a\n\n", "# a\n\nb\n\n"])
def test_ur_093_a_sizer_is_called_on_bounded_pieces(name: str, unit: str) -> None:
    """Counting one long run without spaces took quadratic time in the token counter.

    The longest string measured must not grow with the text, nor the work by more than the text.
    """
    longest, work = [], []
    for n in (6000, 24000):
        calls: list[int] = []

        def count(text: str, calls: list[int] = calls) -> int:
            calls.append(len(text))
            return -(-len(text) // 4)

        text = (unit * n)[:n]
        check(cut(name, text, 16, 4, sizer=count, max_size=32))
        longest.append(max(calls))
        work.append(sum(calls))
    assert longest[1] <= max(2 * longest[0], 4096), f"a call on {longest[1]} of 24,000 characters"
    assert work[1] <= 6 * work[0]


@every
@pytest.mark.parametrize("unit", ["\n", "text\n\n", "text\n\n\n\n\n", " \n", "\r\n"])
def test_ur_094_blank_lines_are_linear(name: str, unit: str) -> None:
    """A file of a hundred thousand blank lines took an hour."""
    growth(lambda n: cut(name, "a" + unit * n + "b", 200, 0, sizer=words).texts, 3_000)


@every
@pytest.mark.parametrize("head", ["", "# H\n\n"])
def test_ur_095_places_are_looked_up_not_searched(name: str, head: str) -> None:
    """Finding each chunk's place or line by rescanning froze on repetitive files."""

    def run(n: int) -> None:
        for c in cut(name, head + "same paragraph again.\n\n" * n, 200, 20):
            assert c.lines
            assert c.id

    growth(run, 1_500)
    check(cut(name, head + "same paragraph again.\n\n" * 500, 200, 20))


# --- ids, settings, determinism -------------------------------------------------------------


@pytest.mark.parametrize("make", [by_heading, by_structure])
@pytest.mark.parametrize("at", [0, 57, 199])
def test_ur_098_an_edit_keeps_the_other_ids(make: Any, at: int) -> None:
    """One new paragraph in a long file made all its chunks new.

    Not embedding again is tested in `store/test_index.py`.
    """
    paragraphs = [f"Paragraph number {i} has its own words.\n\n" for i in range(200)]
    size = {"target_size": 120} if make is by_structure else {"chunk_size": 120}
    splitter = make(**size, overlap=0)
    before = splitter.split("".join(paragraphs))
    paragraphs.insert(at, "A new first paragraph.\n\n")
    after = splitter.split("".join(paragraphs))
    check(after)
    new = set(after.ids) - set(before.ids)
    assert 1 <= len(new) <= 4, new
    texts = dict(zip(before.ids, [c.own_text for c in before], strict=True))
    assert all(c.own_text == texts[c.id] for c in after if c.id in texts)


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (by_text, {"chunk_size": 99, "overlap": 7, "max_size": 500, "sizer": words}),
        (
            by_heading,
            {
                "chunk_size": 99,
                "overlap": 7,
                "min_size": 3,
                "max_level": 2,
                "max_size": 9,
                "sizer": words,
            },
        ),
        (
            by_paragraph,
            {"chunk_size": 99, "overlap": 7, "min_size": 3, "max_size": 9, "sizer": words},
        ),
        (fixed_with_overlap, {"chunk_size": 99, "overlap": 7, "word_window": 3, "sizer": words}),
        (
            SemanticChunker,
            {
                "target_size": 99,
                "overlap": 7,
                "min_size": 3,
                "max_size": 999,
                "respect_headings": False,
                "preserve_code_blocks": False,
                "sizer": words,
            },
        ),
        (by_layout, {"chunk_size": 99, "overlap": 7, "max_size": 9, "sizer": words}),
        (lambda **k: by_record("\n", **k), {"chunk_size": 99, "overlap": 7, "sizer": words}),
        (
            lambda **k: by_similarity(letters, **k),
            {"chunk_size": 99, "threshold": 0.5, "sizer": words},
        ),
        (by_turn, {"chunk_size": 99, "overlap_turns": 3, "sizer": words}),
        (whole_document, {"max_size": 99, "sizer": words}),
    ],
)
def test_ur_099_every_option_is_in_the_fingerprint(make: Any, options: dict[str, Any]) -> None:
    """A changed size left old chunks in place, since nothing recorded the settings.

    The index compares fingerprints (`store/test_index.py`); each option must change it, and the
    same options not.
    """
    prints = {make().fingerprint}
    for name, value in options.items():
        one = make(**{name: value}).fingerprint
        assert one == make(**{name: value}).fingerprint
        assert " at 0x" not in one
        prints.add(one)
    assert len(prints) == len(options) + 1
    assert len({by_record(s).fingerprint for s in ("\n", "\n\n", "%")}) == 3


def test_ur_099_two_counters_are_two_settings() -> None:
    """Two sizers that count otherwise must not share a fingerprint."""

    class Tokens:
        def __init__(self, share: int) -> None:
            self.share = share

        def __call__(self, text: str) -> int:
            return len(text) // self.share

    first, second = by_text(sizer=Tokens(2)).fingerprint, by_text(sizer=Tokens(9)).fingerprint
    one, other = (by_text(sizer=lambda s, n=n: len(s) * n).fingerprint for n in (1, 2))
    assert first != second
    assert one != other


@pytest.mark.parametrize("seed", ["0", "1", "random"])
def test_ur_100_ids_are_the_same_in_every_process(seed: str, tmp_path: Path) -> None:
    """Ids came from a hash that changes with each process."""
    text = "Same text, different process.\n\nSecond paragraph.\n\nSecond paragraph.\n"
    code = (
        "import sys, spanwise as s; t = sys.argv[1];"
        "print([x.ids for x in ("
        "s.by_heading(chunk_size=40).split(t), s.chunk_text(t, chunk_size=40),"
        "s.by_paragraph(chunk_size=20).split(s.Document(text=t, uri='a/b.md')))])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, text],
        cwd=tmp_path,
        env={"PYTHONHASHSEED": seed, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [
        by_heading(chunk_size=40).split(text).ids,
        chunk_text(text, chunk_size=40).ids,
        by_paragraph(chunk_size=20).split(Document(text=text, uri="a/b.md")).ids,
    ]
    assert run.stdout.strip() == str(here)


@every
def test_ur_100_equal_texts_have_two_ids(name: str) -> None:
    """Two places with the same text have ids of their own, and each id is one chunk's."""
    for size, overlap in product((3, 25, 60), (0, 2)):
        chunks = cut(name, "Twin text here.\n\n" * 9 + "a\nb\n" * 9, size, overlap)
        assert len(set(chunks.ids)) == len(chunks)
        assert [c.id for c in chunks] == chunks.ids


@every
def test_ur_138_the_same_in_every_thread_and_order(name: str) -> None:
    """Users ask that nothing but the text decides: no batch order, no threads, no run."""
    files = [f"# H{i}\n\n" + f"Sentence of text {i}. " * 60 for i in range(8)]
    splitter = EVERY[name](200, 20)

    def run(text: str) -> list[str]:
        source: Document | str = text
        if name == "by_turn":
            source = Document.from_turns([Turn(line, 1) for line in text.split("\n")])
        return [c.to_json() for c in splitter.split(source)]

    alone = [run(text) for text in files]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, files)) == alone
    shuffled = list(range(8))
    random.Random(1).shuffle(shuffled)
    assert {i: run(files[i]) for i in shuffled} == dict(enumerate(alone))
    document = Document(text=files[0])
    if name != "by_turn":
        with ThreadPoolExecutor(4) as pool:  # one document, read by several at once
            results = pool.map(lambda _: [c.to_json() for c in splitter.split(document)], range(8))
            assert all(result == alone[0] for result in results)


# --- stitching and duplicates ---------------------------------------------------------------


@every
@pytest.mark.parametrize("overlap", [0, 20, 80])
def test_ur_109_neighbours_stitch_to_the_source(name: str, overlap: int) -> None:
    """Composed context repeated the overlap, or removed what truly occurs twice.

    Hits are merged in test_search.py; the positions suffice to stitch any run of neighbours.
    """
    about = [f"Sentence {i % 7} about nothing. " for i in range(60)]
    text = "".join([*about[:30], "The kiwi fruit is green. ", *about[30:]])
    chunks = cut(name, text, 160, overlap)
    source, found = chunks.document.text, check(chunks)
    assert sum(c.own_text.count("kiwi fruit") for c in found) == 1
    for i in range(len(found)):
        for j in range(i, min(i + 4, len(found))):
            stitched, at = found[i].text, found[i].end
            for c in found[i + 1 : j + 1]:
                stitched += source[at : c.body] + c.own_text
                at = c.end
            assert stitched == source[found[i].start : found[j].end]


@every
@given(picks=st.lists(st.sampled_from("ABC"), max_size=15), size=st.integers(1, 60), data=st.data())
@few
def test_ur_110_true_repeats_survive_stitching(
    name: str, picks: list[str], size: int, data: Any
) -> None:
    """A sentence that occurs twice made text vanish, since overlap was guessed by its words."""
    lines = {
        "A": "Each valve is checked daily by the crew.",
        "B": "2.4 Gauges are read hourly.",
        "C": "End.",
    }
    chunks = cut(
        name, "\n\n".join(lines[p] for p in picks), size, data.draw(st.integers(0, size - 1))
    )
    source, stitched, at = chunks.document.text, "", 0
    for c in check(chunks):
        stitched += source[at : c.body] + c.text[c.body - c.start :]
        at = c.end
    assert stitched + source[at:] == source


# --- search words, turns, sentences, options --------------------------------------------------


@given(
    query=st.text(max_size=12)
    | st.text(st.sampled_from("\"'-+*()[]:^~@/\\.ANDORNEAR "), max_size=12)
)
@few
def test_ur_125_no_query_is_a_syntax_error(query: str) -> None:
    """A hyphen, a quote or an @ in a query raised a syntax error.

    The index's half is in test_search.py; marking words takes any query too.
    """
    source = (
        "A self-test of C++ v1.2 for @user, Music/albums 2026-12-15, can't a\"b --dry-run ^a ( AND"
    )
    shown = highlight(source, query)
    assert source[shown.start : shown.end] == shown.text
    for word in ("self-test", "Music/albums", "can't", "v1.2", "2026-12-15"):
        marks = highlight(source, word).marks
        assert "".join(source[m.source_start : m.source_end] for m in marks).strip()
    for empty in ("", "   ", ":", "*", "("):
        assert highlight(source, empty).marks == ()


def test_ur_126_turns_keep_their_times_and_speakers() -> None:
    """A transcript became one flat text without times.

    Reading WebVTT is in test_user_reports_loading.py; here the times of turns are kept.
    """
    turns = [
        Turn("Welcome to the call.", 1, "c1", start_ms=1000, end_ms=3000, speaker="Ana"),
        Turn(
            "Thanks. First topic\nis the budget.",
            2,
            "c2",
            start_ms=3500,
            end_ms=7250,
            speaker="Ben",
        ),
        Turn("Let us close.", 3, "c3", start_ms=3_723_000, end_ms=3_729_000, speaker="Ana"),
    ]
    for size in (1, 40, 60, 1000):
        chunks = chunk_turns(turns, chunk_size=size, overlap_turns=0)
        seen = []
        for c in check(chunks):
            own = turns[c.first_seq - 1 : c.last_seq]  # type: ignore[operator]
            seen += own
            assert c.text == "\n".join(turn.text for turn in own)  # no turn is cut
            assert (c.start_ms, c.end_ms) == (own[0].start_ms, own[-1].end_ms)
            assert c.speakers == tuple(dict.fromkeys(turn.speaker for turn in own))
            assert c.item_ids == tuple(turn.item_id for turn in own)
        assert seen == turns
    assert "01:02:03, Ana" in chunk_turns(turns, chunk_size=1, overlap_turns=0)[-1].citation


@pytest.mark.parametrize(
    "name", ["by_text", "by_heading", "by_paragraph", "by_structure", "by_similarity"]
)
@pytest.mark.parametrize(
    "inner",
    [
        "crew@ship.example",
        "r2.0.1",
        "docs/map.md",
        "https://a.example/b?c=d.e",
        "3.14",
        "a.b.c",
        "x.y()",
        "node.js",
        "10:30.5",
    ],
)
def test_ur_132_dots_inside_words_end_nothing(name: str, inner: str) -> None:
    """Dots in addresses, versions and paths were taken for sentence ends."""
    text = f"Mail {inner} of that {inner} now. Then stop. See {inner} today. Over."
    for size in (len(inner) + 6, 30, 62):
        found = check(cut(name, text, size, 0, max_size=size), size)
        assert sum(c.text.count(inner) for c in found) == 3
        for c in found:
            if c.boundary == "sentence":
                assert text[: c.body].rstrip().endswith(("now.", "stop.", "today."))


def test_ur_132_the_text_of_the_report() -> None:
    """The cuts of the report's text are at its three sentence ends."""
    text = (
        "Mail crew@ship.example on r2.0.1 of docs/map.md now. Then stop. "
        "See https://a.example/b?c=d.e today."
    )
    for name in ("by_text", "by_heading", "by_paragraph"):
        found = check(cut(name, text, 62, 0, max_size=62), 62)
        assert all(c.text.endswith(("now.", "stop.", "today.")) for c in found)
        assert len(found) == 2


@pytest.mark.parametrize("name", ["by_text", "by_heading", "by_paragraph"])
@pytest.mark.parametrize(
    "first",
    [
        "Dr. Lee met K. L. Berg at 9 a.m. near St. Anne, e.g. for tea.",
        "Am 3. Mai kamen sie usw. zurück.",
    ],
)
def test_ur_133_abbreviations_end_nothing(name: str, first: str) -> None:
    """Abbreviations, initials and ordinals ended sentences; a wrong guess must break nothing."""
    text = f"{first} They left. {first} They left."
    size = len(first) + 12
    found = check(cut(name, text, size, 0, max_size=size), size)
    assert [c.text for c in found] == [f"{first} They left."] * 2
    for small in (9, 20, 41):
        check(cut(name, text, small, 0, max_size=small), small)


@pytest.mark.parametrize("name", ["by_text", "by_similarity"])
def test_ur_134_line_ends_of_wrapped_text_are_no_sentence_ends(name: str) -> None:
    """In hard-wrapped text a line end was preferred over a sentence end.

    `by_text` prefers sentences to lines; the packing strategies keep lines first, since in
    Markdown a line is a list item or a row.
    """
    text = (
        "The first sentence goes on\nover two lines. The second\none does as well. A third\n"
        "sentence ends here.\n"
    )
    for size in (50, 60, 70):
        for c in check(cut(name, text, size, 0)):
            assert c.text.endswith(".")


def test_ur_135_an_option_acts_or_is_refused() -> None:
    """An option was accepted and did nothing for some formats."""
    text = "%%%\nalpha one\n\n%%%\nbeta two\n"
    assert by_record("%%%", chunk_size=10, overlap=0).split(text).texts == ["alpha one", "beta two"]
    assert chunk_text(text, separator="%%%", chunk_size=10, overlap=0).texts == [
        "alpha one",
        "beta two",
    ]
    for make in (
        by_text,
        by_heading,
        by_paragraph,
        fixed_with_overlap,
        by_layout,
        SemanticChunker,
        by_turn,
        whole_document,
    ):
        for option in ("separators", "separator", "size", "chunk_overlap", "strategy"):
            with pytest.raises((TypeError, OptionError), match=option):
                make(**{option: "%%%"})
    with pytest.raises(OptionError, match="strategy='markdown' is unknown"):
        ChunkingEngine().chunk(text, strategy="markdown")


@pytest.mark.parametrize("option", ["sizer", "threshold", "overlap_turns", "embed"])
def test_ur_135_a_value_of_the_wrong_kind_is_named(option: str) -> None:
    """What cannot work is refused when the splitter is made, with the option's name."""
    makers: dict[str, list[Callable[[], object]]] = {
        "sizer": [lambda m=m: m(10, 0, sizer="words") for m in EVERY.values()],  # type: ignore[misc]
        "threshold": [lambda: by_similarity(letters, threshold="high")],  # type: ignore[arg-type]
        "overlap_turns": [lambda: by_turn(overlap_turns="1")],  # type: ignore[arg-type]
        "embed": [lambda: by_similarity("model-name")],  # type: ignore[arg-type]
    }
    for make in makers[option]:
        with pytest.raises(OptionError, match=f"{option}="):
            make()


@windows
@pytest.mark.parametrize("size", [1, 2, 9, 50, 99, 150, 300])
def test_ur_136_a_smaller_size_alone_works(name: str, size: int) -> None:
    """Giving only a smaller size raised an error about options never set."""
    check(cut(name, "Some words here. " * 40, size, None))
    check(cut(name, "Some words here. " * 40, 1000, None, max_size=size), size)


def test_ur_136_messages_name_what_was_given() -> None:
    """A message has the option that the caller gave, and its value."""
    for make, given_option, value in (
        (by_heading, "min_size", 1200),
        (by_paragraph, "min_size", 1200),
        (by_text, "overlap", 900),
        (by_layout, "overlap", 512),
        (SemanticChunker, "overlap", 1000),
        (SemanticChunker, "min_size", 2000),
        (by_heading, "max_level", 7),
        (fixed_with_overlap, "word_window", -1),
    ):
        with pytest.raises(OptionError, match=f"^{given_option}={value} "):
            make(**{given_option: value})


@given(
    text=st.text(st.sampled_from("ab1(\\d)+.*| \n"), max_size=40),
    separator=st.sampled_from(
        ["(\\d)+", ".", "*", "a|b", "(", "\\", "\\n", "1", "[ab]", "$", "^", ""]
    ),
    size=st.integers(1, 12),
)
@example(text="a1bb22ccc333d", separator="(\\d)+", size=5)
@few
def test_ur_137_separators_are_literal(text: str, separator: str, size: int) -> None:
    """Separators documented as patterns were taken literally, or groups doubled text.

    Ours are documented as literal: one that looks like a pattern cuts only where it stands.
    """
    chunks = chunk_text(text, separator=separator, chunk_size=size, overlap=0)
    at = 0
    for c in chunks:
        assert c.text == text[c.start : c.end] != ""
        gap = text[at : c.start]
        assert not (gap.replace(separator, "") if separator else gap).strip()
        at = c.end
    if separator and separator not in text:
        assert len(chunks) <= 1


@pytest.mark.parametrize("name", ["by_paragraph, no floor", "by_heading, no floor"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_ur_139_a_blank_line_ends_a_paragraph(name: str, newline: str) -> None:
    """Every line end of a hard-wrapped text was taken for the end of a paragraph."""
    first = "The canal was dug by hand\nover nine years and opened\nin spring."
    second = "It silted up within a\ndecade."
    for gap in ("\n\n", "\n\n\n", "\n \t\n"):
        text = f"{first}{gap}{second}\n".replace("\n", newline)
        # `merge: false` is ours with a size that holds one paragraph and not two.
        size = len(first.replace("\n", newline))
        found = check(cut(name, text, size, 0, max_size=size), size)
        assert [c.text for c in found] == [p.replace("\n", newline) for p in (first, second)]
        assert len(check(cut(name, text, 200, 0))) == 1
        for limit in range(20, size):
            for c in check(cut(name, text, limit, 0)):
                if c.boundary in ("paragraph", "block"):
                    assert c.text.startswith("It")


@markdown
@pytest.mark.parametrize("overlap", [0, 40])
@pytest.mark.parametrize("cap", [100, 300])
def test_ur_140_structure_and_size_in_one_call(name: str, overlap: int, cap: int) -> None:
    """Splitting by headings had no limit, and splitting by size saw no headings."""
    text = "# Big\n\n" + "A sentence in the big section. " * 400 + "\n\n# Small\n\n" + "Tiny. " * 30
    found = check(cut(name, text, cap, overlap, max_size=cap), cap)
    small = text.index("# Small")
    for c in found:
        if name != "by_layout":  # whose hard boundaries are fences and tables
            assert c.end <= small or c.body >= small
        if c.body < small:
            assert c.heading_path == ("Big",)
        else:
            assert c.heading_path == ("Small",)


@pytest.mark.parametrize(
    "name", ["by_heading", "by_heading, no floor", "by_structure", "engine_hierarchical"]
)
@pytest.mark.parametrize("count", [5, 30, 38])
def test_ur_141_a_section_that_fits_is_one_chunk(name: str, count: int) -> None:
    """Sections that fit were cut again at arbitrary places by a second splitter."""
    text = "".join(f"## S{i}\n\n{'word ' * count}\n\n" for i in range(6))
    found = check(cut(name, text, 200, 0))
    if count > 10:
        assert len(found) == 6
    for i in range(6):
        section = f"## S{i}\n\n{'word ' * count}".rstrip()
        assert sum(section in c.text for c in found) == 1


@every
@given(text=MARKED, size=st.integers(8, 80))
@few
def test_ur_141_cutting_a_passage_again_changes_nothing(name: str, text: str, size: int) -> None:
    """A chunk's own text, cut again with the same options, is that one chunk.

    Two exceptions by the rules: a chunk of headings that ended a document is bare on its own, and a
    merge by the floor may be over the size.
    """
    if name == "by_similarity":
        return  # what is apart depends on the neighbours
    for c in check(cut(name, text, size, 0)):
        if len(c.own_text) <= size and not bare(c.own_text):
            again = cut(name, c.own_text, size, 0)
            if len(again) != 1:
                # Within a section, front matter or a fence may be read anew without its lead.
                assert titles(c.own_text) or "```" in c.own_text or "~~~" in c.own_text
            check(again)


# --- the count ------------------------------------------------------------------------------


def reports_in(path: Path) -> set[str]:
    """The reports that a file has a test for."""
    return {f"UR-{n}" for n in re.findall(r"^def test_ur_(\d+)_", path.read_text("utf-8"), re.M)}


def test_every_report_has_a_test() -> None:
    """No report is forgotten; those of snippets are tested with them."""
    here = Path(__file__)
    beside = {"test_snippets.py", "test_user_reports_loading.py"}
    store = {"test_index.py", "test_kills.py", "test_search.py"}
    files = [here, *(here.with_name(name) for name in beside)]
    files += [here.parents[1] / "store" / name for name in store]
    assert set().union(*map(reports_in, files)) == set(REPORTS)
    snippets = {i for i in REPORTS if "UR-111" <= i <= "UR-123"}
    assert snippets <= reports_in(here.with_name("test_snippets.py"))
