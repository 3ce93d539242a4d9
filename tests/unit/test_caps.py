"""Caps in another unit than the size, what an embedder reads, and what is clipped."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hostile import hostile
from hypothesis import given
from hypothesis import strategies as st

from spanwise import (
    Cap,
    CeilingWarning,
    Chunks,
    Document,
    OptionError,
    SizeError,
    Turn,
    by_heading,
    by_layout,
    by_paragraph,
    by_record,
    by_similarity,
    by_structure,
    by_text,
    by_turn,
    cap,
    chars,
    clip_report,
    explain,
    fixed_with_overlap,
    tokens,
    utf8_bytes,
    whole_document,
    within,
    words,
)

SENTENCES = "A sentence of six words here. " * 40


pytestmark = pytest.mark.filterwarnings("ignore::spanwise.EmptyDocumentWarning")


@dataclass(frozen=True)
class Reader:
    """An embedder that says what it reads."""

    ceiling: Any
    id: str = "reader"
    dimensions: int = 1

    def embed(self, texts: Any) -> list[list[float]]:
        return [[float(len(text))] for text in texts]


# --- two units ------------------------------------------------------------------------------


def test_a_size_in_characters_and_a_cap_in_words_hold_together() -> None:
    chunks = by_paragraph(chunk_size=400, overlap=0, max_size=cap(30, words)).split(SENTENCES)
    assert {words(each.embed_text) for each in chunks} <= set(range(1, 31))
    assert max(len(each.text) for each in chunks) < 400
    loose = by_paragraph(chunk_size=400, overlap=0, max_size=cap(3000, words)).split(SENTENCES)
    assert loose.texts == by_paragraph(chunk_size=400, overlap=0).split(SENTENCES).texts


def test_the_cap_cuts_at_sentences_not_at_words() -> None:
    """Where the cap binds, half of it is looked through for the best cut, not half the size."""
    for by in (by_text, by_paragraph, by_heading, by_layout):
        chunks = by(chunk_size=1000, overlap=0, max_size=cap(20, words)).split(SENTENCES)
        assert all(each.text.endswith(".") for each in chunks), by
        assert {words(each.text) for each in chunks} <= {18, 12, 6}


def test_overlap_keeps_its_room_under_a_cap_in_another_unit() -> None:
    chunks = by_paragraph(chunk_size=400, overlap=60, max_size=cap(30, words)).split(SENTENCES)
    assert all(each.start < each.body for each in list(chunks)[1:])
    assert max(words(each.embed_text) for each in chunks) <= 30


def test_the_later_rows_of_a_table_keep_room_for_its_header() -> None:
    table = "| name | value |\n|---|---|\n" + "".join(f"| row{i} | {i} |\n" for i in range(60))
    for by in (by_heading, by_layout):
        chunks = by(overlap=0, max_size=cap(40, words)).split(table)
        assert len(chunks) > 5
        assert all(words(each.embed_text) <= 40 for each in chunks)
        assert all("| name | value |" in each.embed_text for each in chunks)
        assert all(each.text.endswith("|") for each in chunks)


def test_the_path_above_a_passage_keeps_its_room() -> None:
    text = "# A long title of the whole\n\n## And one below it\n\n" + SENTENCES
    chunks = by_heading(overlap=0, max_size=cap(40, words)).split(text)
    assert all(words(each.embed_text) <= 40 for each in chunks)
    assert all("A long title" in each.embed_text for each in chunks)


@given(text=hostile, most=st.integers(4, 30))
def test_bytes_cap_what_characters_fill(text: str, most: int) -> None:
    """A code point is at most four bytes, so four is the smallest cap that always holds."""
    for by in (by_text, by_heading):
        for each in by(chunk_size=20, overlap=2, max_size=cap(most, utf8_bytes)).split(text):
            assert utf8_bytes(each.embed_text) <= most


def test_a_character_over_the_cap_names_both() -> None:
    with pytest.raises(SizeError, match=r"position 2 measures 4, over max_size=3 utf8_bytes"):
        by_text(max_size=cap(3, utf8_bytes)).split("a \U0001f600")


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "9"])
def test_a_cap_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(OptionError, match="limit="):
        cap(limit)


def test_a_cap_counts_by_a_function() -> None:
    with pytest.raises(OptionError, match="sizer='words' cannot be called"):
        cap(9, "words")  # type: ignore[arg-type]


# --- what gave way --------------------------------------------------------------------------


def conceded(by: Any, text: str) -> set[str]:
    return {name for cut in explain(text, by) for name in cut.gave_way}


def test_explain_says_what_gave_way() -> None:
    code = "```\n" + "x = 1\n" * 60 + "```"
    assert conceded(by_paragraph(overlap=0, min_size=0, max_size=300), SENTENCES) == {"size"}
    assert conceded(by_heading(overlap=0, max_size=100), code) >= {"atom"}
    assert conceded(by_layout(overlap=0, max_size=100), code) >= {"atom"}
    assert "atom" not in conceded(by_paragraph(overlap=0, max_size=100), code)
    short = "Some words here.\n\n" + "word " * 30
    assert "floor" in conceded(by_paragraph(overlap=0, chunk_size=400, max_size=40), short)
    record = by_text(chunk_size=100, overlap=90, max_size=100)
    assert conceded(record, SENTENCES) <= {"overlap"}
    long_title = "# " + "Title " * 12 + "\n\n" + SENTENCES
    assert "context" in conceded(by_heading(overlap=0, max_size=100), long_title)


@pytest.mark.parametrize("make", [by_text, by_paragraph, by_heading, fixed_with_overlap])
def test_a_cut_that_only_the_cap_made_is_not_laid_to_the_size(make: Any) -> None:
    """Fault: the size was blamed, and nothing was said to give way."""
    cuts = explain("word " * 60, make(chunk_size=100, overlap=0, max_size=60))
    assert all(cut.gave_way == ("size",) for cut in cuts[1:])
    assert not any("over 100" in cut.why for cut in cuts)


def test_what_a_strategy_takes_whole_is_cut_by_the_cap_alone() -> None:
    """Fault: the size was blamed, which never cuts a record, or nothing."""
    text = "First line of a long record that goes on.\nSecond line of the same record goes on."
    turns = Document.from_turns([Turn(text, 1)])
    for by, source in (
        (whole_document(max_size=45), text),
        (by_record("---", chunk_size=20, overlap=0, max_size=45), text),
        (by_turn(chunk_size=20, max_size=45), turns),
        (within(Halves(), None, ceiling=20), text),
    ):
        cuts = explain(source, by)
        assert len(cuts) > 1
        assert all(cut.gave_way == ("atom",) for cut in cuts if cut.boundary == "line")
        assert not any("over 20" in cut.why for cut in cuts)


def test_sentences_that_are_apart_are_no_matter_of_the_cap() -> None:
    """Fault: where the threshold cut, the cap was said to have done so."""
    text = "First line of a long record goes on. Second line of the same record."

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[1, 0] if "First" in each else [0, 1] for each in texts]

    cut = explain(text, by_similarity(embed, overlap=0, max_size=45))[1]
    assert (cut.why, cut.gave_way) == ("the end of a sentence", ())


def test_a_cap_inside_a_separator_is_explained() -> None:
    """Fault: a record of nothing but a separator had no end."""
    by = by_record("x", chunk_size=3, overlap=0, max_size=1)
    assert len(explain("ab xx\u0301yx\u0301zx\u0301", by)) > 3


def test_without_a_cap_nothing_gives_way() -> None:
    for by in (by_paragraph(), by_heading(), by_layout(), by_structure(), by_text()):
        assert conceded(by, "# A\n\n" + SENTENCES) == set()
        assert conceded(by.within(Reader(cap(10**6))), "# A\n\n" + SENTENCES) == set()


def test_the_reason_names_the_cap() -> None:
    cut = explain(SENTENCES, by_paragraph(overlap=0, max_size=cap(30, words)))[1]
    assert "under max_size=30 words: the passage before could hold more" in cut.why


# --- within ---------------------------------------------------------------------------------


def test_the_order_of_truth() -> None:
    """The caller's number, then the embedder's, then 2,000 characters."""
    reads = Reader(cap(50, words))
    assert by_text().within(reads).max_size == cap(50, words)
    assert by_text().within(reads, ceiling=70).max_size == cap(70)
    assert by_text().within(reads, ceiling=cap(9, words)).max_size == cap(9, words)
    assert by_text().within(Reader(None)).max_size == cap(2000)
    assert by_text().within(None).max_size == cap(2000)
    assert by_text().within(lambda texts: [[1.0] for _ in texts]).max_size == cap(2000)


def test_a_smaller_cap_stays_and_a_larger_one_is_refused() -> None:
    assert by_text(max_size=40).within(Reader(cap(50))).limit == cap(40)
    with pytest.raises(OptionError, match="max_size=60 chars is over what the embedder reads"):
        by_text(max_size=60).within(Reader(cap(50)))
    with pytest.raises(OptionError, match="in another unit"):
        by_text(max_size=60).within(Reader(cap(50, words)))


@pytest.mark.parametrize("ceiling", [0, 0.5, -3, True, "many"])
def test_a_ceiling_is_a_whole_number(ceiling: Any) -> None:
    """A ceiling of a half became 0 and every passage was said to be clipped."""
    with pytest.raises(OptionError, match="ceiling="):
        by_text().within(None, ceiling=ceiling)


@pytest.mark.parametrize("embedder", ["wordllama", 7, object()])
def test_what_is_no_embedder_is_refused(embedder: Any) -> None:
    """A name passed for the embedder silently meant 2,000 characters."""
    with pytest.raises(OptionError, match="is no embedder"):
        by_text().within(embedder)


def test_a_ceiling_that_is_no_cap_is_refused() -> None:
    with pytest.raises(OptionError, match="the embedder's ceiling=512 is no cap"):
        by_text().within(Reader(512))


class Halves:
    """A splitter that a person wrote: two passages, however long."""

    name = "halves"
    version = 1
    fingerprint = "halves/1"

    def split(self, source: Document | str) -> Chunks:
        document = source if isinstance(source, Document) else Document(text=source)
        middle = len(document.text) // 2
        return Chunks.from_spans(document, [(0, middle), (middle, len(document.text))])


def test_any_splitter_can_be_held_within() -> None:
    splitter = within(Halves(), Reader(cap(20, words)))
    chunks = splitter.split(SENTENCES)
    assert all(words(each.embed_text) <= 20 for each in chunks)
    assert "".join("".join(each.own_text.split()) for each in chunks) == "".join(SENTENCES.split())
    assert (splitter.name, splitter.version) == ("halves", 1)
    assert splitter.fingerprint != Halves.fingerprint
    assert within(by_text(), Reader(cap(9))) == by_text().within(Reader(cap(9)))


# --- clip reports ---------------------------------------------------------------------------


def test_clipped_passages_are_counted_and_warned_of_once() -> None:
    chunks = by_record("|", chunk_size=1, overlap=0).split("aa bb cc|dd|ee ff gg hh|ii")
    with pytest.warns(CeilingWarning, match="2 of 4 passages are longer than 2 words") as said:
        report = clip_report(chunks, Reader(cap(2, words)))
    assert len(said) == 1
    assert said[0].filename == __file__
    assert "splitter.within(embedder)" in str(said[0].message)
    assert (report.count, report.total, report.largest) == (2, 4, 4)
    assert report.ids == (chunks.ids[0], chunks.ids[2])
    assert (report.ceiling, report.origin) == (cap(2, words), "embedder")
    assert report


def test_nothing_clipped_is_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = clip_report(["a b", "c"], Reader(None), ceiling=cap(2, words))
        assert not report
        assert report.origin == "given"
        assert clip_report([], Reader(None)).origin == "default"
        assert clip_report(["x" * 2000]).count == 0
    with pytest.warns(CeilingWarning, match="nothing is known"):
        assert clip_report(["ok", "x" * 2001]).ids == ("1",)


def test_the_context_is_measured_too() -> None:
    """Only the text was measured, and headings were put before it afterwards."""
    chunks = by_heading(overlap=0, min_size=0).split("# Title\n\n" + SENTENCES)
    later = [each for each in chunks if each.context]
    assert later
    longest = max(chars(each.text) for each in later)
    with pytest.warns(CeilingWarning):
        assert clip_report(later, ceiling=longest).count


@given(text=hostile, most=st.integers(7, 60))
def test_what_is_cut_within_is_never_clipped(text: str, most: int) -> None:
    reads = Reader(Cap(most))
    for by in (by_heading(), by_text(), by_structure(), by_layout()):
        report = clip_report(by.within(reads).split(text), reads)
        assert Counter(report.ids) == Counter()


@pytest.mark.parametrize("answer", [[1, 2], None, "3", -1, float("nan")])
def test_a_sizer_that_answers_no_size_is_refused(answer: Any) -> None:
    with pytest.raises(OptionError, match="is no size"):
        by_paragraph(sizer=lambda text: answer).split("One two.\n\nThree.")
    if not isinstance(answer, int):
        with pytest.raises(OptionError, match="is no count"):
            tokens(lambda text: answer)("One two.")


def test_sizes_may_be_parts_of_a_unit() -> None:
    quarter: Any = lambda text: len(text) / 4  # noqa: E731
    chunks = by_heading(max_size=cap(30, quarter)).split("word " * 300)
    assert max(map(quarter, chunks.texts)) <= 30
