"""The smallest failing text of each fault that was found here, by the kind of the fault."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import random
import re
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from tokenizer_makes import tokenizer

from spanwise import (
    Chunk,
    ChunkingEngine,
    Chunks,
    Document,
    EmbedderError,
    EmptyDocumentWarning,
    OptionError,
    Part,
    SplitterError,
    Turn,
    by_heading,
    by_layout,
    by_paragraph,
    by_part,
    by_record,
    by_similarity,
    by_structure,
    by_text,
    by_turn,
    cap,
    chunk,
    chunk_turns,
    explain,
    fixed_with_overlap,
    for_answers,
    for_search,
    load,
    tokens,
    utf8_bytes,
    within,
    words,
)
from spanwise.cutting.block_parser import Structure
from spanwise.cutting.sizers import Words
from spanwise.embedders import FunctionEmbedder


@pytest.mark.parametrize("text", ["## b", "# A\n\n## b", "x\n\n## b\n### c", "\ufeff## b"])
@pytest.mark.parametrize("max_level", [1, 2, 5])
def test_a_deeper_heading_at_the_end_does_not_hang(text: str, max_level: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        chunks = by_heading(max_level=max_level, chunk_size=3, overlap=0).split(text)
    assert "".join("".join(chunks.texts).split()) in ("", "".join(text.strip("\ufeff").split()))


def test_a_line_end_of_windows_is_no_blank_line() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"a b c{end}d e f{end}{end}ggg hhh"
        chunks = by_paragraph(chunk_size=14, overlap=0, min_size=0).split(text)
        assert chunks.boundaries == ["document", "paragraph"], text


def test_an_unclosed_fence_of_one_line_is_not_its_own_closing_line() -> None:
    assert by_structure(target_size=4, overlap=0).split("```abcdefgh ij").texts[0] != "`"


def test_a_heading_with_spaces_after_it_stays_with_its_text() -> None:
    assert by_layout(chunk_size=40, overlap=0).split("# B  \n```\nx\n```").texts == [
        "# B  \n```\nx\n```"
    ]


def test_a_section_may_lose_its_type_but_not_its_floor() -> None:
    chunks = by_structure(target_size=10, max_size=60, min_size=20, overlap=0).split(
        "# A\n\nfirst words\n\nsecond"
    )
    assert len(chunks) == 1


def test_records_of_many_empty_windows_lines_are_linear() -> None:
    chunks = by_record("\n", overlap=0).split("a" + "\r\n" * 50_000 + "b")
    assert chunks.texts == ["a" + "\r\n" * 50_000 + "b"] or len(chunks) == 2


def test_overlap_is_never_white_space_alone() -> None:
    chunks = by_text(chunk_size=40, overlap=22).split(
        "internationalisation internationalisation requires a internationalisation"
    )
    assert all(text == text.strip() for text in chunks.texts)


def test_a_heading_too_deep_to_cut_goes_with_its_text_all_the_same() -> None:
    text = "# A\n\nText of A.\n\n## B\n\nText of B goes on."
    chunks = by_heading(chunk_size=30, overlap=0, min_size=0, max_level=1).split(text)
    assert chunks.texts == ["# A\n\nText of A.", "## B\n\nText of B goes on."]


def test_marks_on_every_sentence_end_need_no_recursion() -> None:
    for piece in ("。\u0301", "\u0600 "):
        for splitter in (by_text(chunk_size=5000), by_paragraph(chunk_size=3000)):
            assert splitter.split(piece * 6000)


def test_starts_stay_in_order_where_context_or_cap_takes_the_overlap() -> None:
    texts = ("a\n# a\naaa a\na", "a---\nk: v\n---\n\ufeffa---\nk: v\n---\n")
    for text, separator in zip(texts, ("\n", "---"), strict=True):
        starts = by_record(separator, chunk_size=11, max_size=13, overlap=10).split(text).starts
        assert starts == sorted(set(starts))


def test_bare_headings_at_the_end_keep_the_size() -> None:
    chunks = by_heading().split("# A\n\n" + "text " * 20 + "\n\n" + "# B\n" * 5000)
    assert max(len(chunk.own_text) for chunk in chunks) <= 1500


def test_overlap_never_drops_the_first_letter_of_the_passage_before() -> None:
    chunks = by_heading(min_size=0).split("Preface\n\n# One\n\ntext")
    assert chunks.texts == ["Preface", "# One\n\ntext"]


def test_pages_come_from_any_iterable_of_strings() -> None:
    pages = ["Page one.", "Page two."]
    assert Document.from_pages(iter(pages)) == Document.from_pages(pages)
    with pytest.raises(OptionError, match="page 1 is None"):
        Document.from_pages([None, "a"])  # type: ignore[list-item]


def test_chunks_and_documents_can_be_sent_copied_and_hashed() -> None:
    document = Document.from_pages(["One.", "Two."], uri="a.pdf")
    for value in (document, by_text().split(document)[0]):
        assert pickle.loads(pickle.dumps(value)) == value
        assert copy.deepcopy(value) == value
        assert isinstance(hash(value), int)


@dataclass(frozen=True, slots=True)
class _Slotted:
    cost: int

    def __call__(self, text: str) -> int:
        return len(text) * self.cost


class _Holding:
    def __init__(self, held: object) -> None:
        self.held = held

    def __call__(self, text: str) -> int:
        return len(text)


class _Named(_Holding):
    def __init__(self) -> None:
        super().__init__(None)

    def fingerprint(self) -> str:
        return "no string"


def test_every_callable_has_its_own_fingerprint() -> None:
    def counting(step: int) -> Any:
        return lambda text: len(text) * step

    sizers = [
        len,
        sum,
        counting(1),
        counting(2),
        functools.partial(max, 1),
        functools.partial(max, 2),
        lambda text: sum(1 for _ in text),
        lambda text: sum(c in {"a", "b", "zz"} for c in text),
        "abc".count,
        "abd".count,
        _Slotted(1),
        _Slotted(2),
        _Holding({}),
        _Holding({"w": 2}),
        _Holding(re.compile("a")),
        _Holding(re.compile("a", re.IGNORECASE)),
        _Named(),
    ]
    for made in (
        [by_text(sizer=sizer).fingerprint for sizer in sizers],
        [by_text(max_size=cap(99, sizer)).fingerprint for sizer in sizers],
    ):
        assert len(set(made)) == len(made)
        assert not any(" at 0x" in each for each in made)


def test_what_is_no_splitter_is_named() -> None:
    for by in ("heading", by_text, 5):
        with pytest.raises(OptionError, match="is no splitter"):
            chunk("text", by=by)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="is no splitter"):
            explain("text", by=by)  # type: ignore[arg-type]


@pytest.mark.parametrize("spans", [[(0,)], [(0, 1, 2, 3)], [(0.0, 1.0)], [(0, 9)], [(1, 1)]])
def test_spans_that_are_no_ranges_are_named(spans: Any) -> None:
    with pytest.raises(SplitterError, match="span 0"):
        Chunks.from_spans(Document(text="abc"), spans)


@pytest.mark.parametrize("answer", [None, "12", [[1.0]], [[1.0], [1.0, 2.0]], [[float("nan")]] * 2])
def test_what_an_embedder_answers_is_checked(answer: Any) -> None:
    with pytest.raises(EmbedderError, match="embed answered"):
        by_similarity(lambda texts: answer).split("One. Two.")


def test_fixed_windows_measure_what_they_ship() -> None:
    """The space before a word was measured with it, and then trimmed: " founder" is one token."""
    pytest.importorskip("bpe_openai")
    sizer = tokens("cl100k_base")
    for size in (1, 2, 5):
        chunks = fixed_with_overlap(chunk_size=size, overlap=0, sizer=sizer).split(
            "a founder of the foundry found a fountain"
        )
        assert max(map(sizer, chunks.texts)) <= size


@pytest.mark.parametrize("white", ["\ufeff", "\ufeff\ufeff", " \ufeff", "\ufeff "])
def test_a_byte_order_mark_before_a_word_does_not_cut_it(white: str) -> None:
    """It is trimmed like white space, but the word after it was cut as if it were part of it."""
    for by in (by_layout, by_text):
        chunks = by(chunk_size=3, overlap=0).split(f"0 {white}00 1")
        assert chunks.texts[:2] == ["0", "00"]


def test_front_matter_never_grows_nor_raises() -> None:
    """Aliases multiply, dotted keys nest, numbers are none: the text loads all the same."""
    bomb = ["a0: &-a0 [x,x,x,x,x,x,x,x,x,x]"]
    bomb += [f"a{i}: &-a{i} [{','.join([f'*-a{i - 1}'] * 10)}]" for i in range(1, 9)]
    for inside in ("\n".join(bomb), "a: &-a [*-a]", "x: .nan", "x: [" * 2000):
        doc = load(f"---\n{inside}\n---\nText".encode(), uri="a.md")
        assert doc.text.endswith("Text")
        json.dumps(dict(doc.meta), allow_nan=False)
    deep = ".".join(["a"] * 2000)
    assert load(f"+++\n{deep} = 1\n+++\nText".encode(), uri="a.md").text.endswith("Text")
    assert load("+++\nt = 'a\u2028b'\n+++\n".encode(), uri="a.md").meta.get("t", "a\u2028b")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        *(("UTF-16", True), ("utf_16", True), ("utf-16", False), ("UTF-8-SIG", True)),
        *(("utf-8-sig", False), ("u32", True), ("cp932", False), ("iso-2022-jp", False)),
    ],
)
def test_a_byte_is_the_files_own_however_the_encoding_is_spelled(encoding: str, mark: bool) -> None:
    """The mark was counted with every stretch, or where there was none."""
    text = "日本 ab"
    raw = text.encode(encoding)
    if not mark and encoding.startswith("utf"):
        raw = text.encode({"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}[encoding])
    doc = load(raw, uri="a.txt", encoding=encoding)
    assert doc.text == text
    for place in (3, 0, 4, 1):
        byte = doc.locate(place).byte
        if encoding == "iso-2022-jp":
            assert byte is None
        else:
            assert byte is not None
            assert raw[byte:].decode(doc.encoding if not mark else _bare(encoding)) == text[place:]


def _bare(encoding: str) -> str:
    return {"UTF-8-SIG": "utf-8", "u32": "utf-32-le"}.get(encoding, "utf-16-le")


def test_many_rows_are_cited_in_linear_work() -> None:
    """Each citation walked through all rows."""

    def seconds(rows: int) -> float:
        chunks = chunk(load(b"a,b\n" + b"1,2\n" * rows, uri="a.csv"))
        begun = time.process_time()
        assert all(each.citation and each.embed_text for each in chunks)
        return time.process_time() - begun

    seconds(100)
    assert seconds(40_000) < 8 * max(seconds(10_000), 0.01)


@pytest.mark.parametrize(
    "change",
    [
        {"added": ["<tok>", "rstrip"]},
        {"added": ["A: ", ""]},
        {"normalizer": {"type": "Replace", "pattern": {"String": "in the"}, "content": "q-z"}},
    ],
)
def test_a_tokenizer_that_reaches_across_spaces_is_counted_whole(change: dict[str, Any]) -> None:
    """Added tokens that take the space after them, replacements with a space inside."""
    library = pytest.importorskip("tokenizers")
    made = library.Tokenizer.from_str(tokenizer("byte-level").to_str())
    if "added" in change:
        content, rstrip = change["added"]
        made.add_tokens([library.AddedToken(content, rstrip=bool(rstrip), special=False)])
    else:
        state = json.loads(made.to_str()) | {"normalizer": change["normalizer"]}
        made = library.Tokenizer.from_str(json.dumps(state))
    assert not tokens(made).proved


@pytest.mark.parametrize("mark", "。！？")
def test_a_word_that_fits_is_whole_after_a_sentence_that_ends_inside_it(mark: str) -> None:
    text = "a" * 11 + " " + mark + "b" * 22
    chunks = by_text(chunk_size=23).split(text)
    assert [chunk.own_text for chunk in chunks] == ["a" * 11 + " " + mark, "b" * 22]


_WORDS = "Five to ten days pass before the money is back on the card. "


@pytest.mark.parametrize("chunk_size", [250, 1000])
def test_a_heading_too_deep_to_cut_is_never_parted_from_its_text(chunk_size: int) -> None:
    """Right below text, with no blank line; and right below the heading of its section."""
    some = _WORDS * (chunk_size // 120)
    text = f"# Guide\n\n## Refunds\n{some}\n### When\n{some}\n### Where\n{some}"
    chunks = by_heading(max_level=2, chunk_size=chunk_size, overlap=0).split(text)
    assert [each.own_text[-4:] for each in chunks] == ["ard."] * len(chunks)
    first = by_heading(max_level=3, overlap=0).split("# Guide\n\n#### Refunds\n\n" + _WORDS * 20)[0]
    assert first.text.startswith("# Guide\n\n#### Refunds\n\nFive")


@pytest.mark.parametrize("make", [by_heading, by_layout, by_structure])
def test_a_heading_keeps_company_above_code_or_a_table_that_is_cut(make: Any) -> None:
    fence = '```yaml title="/etc/service/pool.yaml" linenums="1"\n' + "key: value\n" * 20 + "```\n"
    table = "| Plan name | Requests per minute | Storage in gigabytes |\n|---|---|---|\n"
    table += "| a | 1 | 2 |\n" * 20
    size = "target_size" if make is by_structure else "chunk_size"
    for below in (fence, table):
        for max_size in (None, 80):
            by = make(**{size: 60, "overlap": 0, "max_size": max_size})
            chunks = by.split("## Configure the connection pool\n\n" + below)
            assert not chunks[0].text.endswith("pool"), (below, max_size)
            assert max_size is None or max(map(len, chunks.texts)) <= max_size


def test_the_last_of_a_run_of_headings_over_the_size_keeps_its_text() -> None:
    text = "# hhh\n### hhh\n#### hhh\nword word word"
    chunks = by_heading(chunk_size=20, overlap=0, min_size=0).split(text)
    assert chunks.texts == ["# hhh\n### hhh", "#### hhh\nword word word"]


def test_the_header_of_a_table_is_cut_where_it_does_not_fit() -> None:
    text = f"# Note\n\n| {_WORDS * 70}|\n|---|\n| x |\n"
    chunks = by_heading(overlap=0).split(text)
    assert max(each.end - each.body for each in chunks) <= 1000


@pytest.mark.parametrize("make", [by_text, by_heading, by_paragraph, fixed_with_overlap])
def test_one_endless_word_under_a_cap_of_words_is_linear(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    fit = Words.fit

    def counted(self: Words, lo: int, hi: int, limit: int) -> int:
        asked.append(hi - lo)
        return fit(self, lo, hi, limit)

    monkeypatch.setattr(Words, "fit", counted)
    looks = []
    for length in (20_000, 160_000):
        asked.clear()
        make(sizer=utf8_bytes, chunk_size=500, max_size=cap(400, words)).split("\u5b57" * length)
        looks.append(sum(asked) / length)
    assert looks[1] < looks[0] * 1.5


def _changed(by: Any, before: str, after: str) -> int:
    old = set(by.split(before).ids)
    return sum(each not in old for each in by.split(after).ids)


@pytest.mark.parametrize("make", [by_heading, by_structure, for_search])
@pytest.mark.parametrize("lengths", [(405, 406), (340, 490), (170, 245), (240, 260), (600, 900)])
def test_an_edit_moves_few_cuts_whatever_the_lengths_of_paragraphs(
    make: Any, lengths: tuple[int, int]
) -> None:
    """Two paragraphs to a passage leave one cut in its back half, and so no choice."""
    chance = random.Random(5)
    paragraphs = [
        f"Note {i:04d}. {('some words ' * 99)[: chance.randrange(*lengths) - 12]}."
        for i in range(400)
    ]
    before = "# T\n\n" + "\n\n".join(paragraphs)
    paragraphs.insert(11, "A new one. " * 30)
    assert _changed(make(), before, "# T\n\n" + "\n\n".join(paragraphs)) <= 40


@pytest.mark.parametrize("make", [by_heading, by_structure])
def test_an_edit_of_a_long_list_moves_few_cuts(make: Any) -> None:
    items = [f"- item {i * 7919 % 1000} of the list with words {i * i % 97}" for i in range(1200)]
    before = "# T\n\n" + "\n".join(items)
    items[100] += " newword"
    assert _changed(make(overlap=0), before, "# T\n\n" + "\n".join(items)) <= 12


def _turn(start: int, end: int) -> Part:
    return Part(kind="turn", start=start, end=end, label="x")


@pytest.mark.parametrize("size", [1, 8, 1200])
def test_text_around_turns_is_not_lost(size: int) -> None:
    text = "Intro line\nAna: hi\nNOISE\nBob: yo\nTail"
    document = Document(text=text, parts=(_turn(11, 18), _turn(25, 32)))
    chunks = by_turn(chunk_size=size, overlap_turns=0).split(document)
    assert "\n".join(chunks.texts) == text
    assert chunk(document).texts == [text]
    crossed = Document(text="abcdef ghi", parts=(_turn(0, 6), _turn(3, 10)))
    chunks = by_turn(chunk_size=size, overlap_turns=0).split(crossed)
    assert "".join(chunks.texts) == "abcdef ghi"


def test_turns_lie_in_the_passage_that_shows_them() -> None:
    turns = [
        Turn("Hi. This is a much longer second sentence.", 1, "i1", start_ms=1000, speaker="Ana"),
        Turn("Yes.", 2, start_ms=60_000, speaker="Bo"),
    ]
    document = Document.from_turns(turns, uri="c.vtt")
    for by in (by_turn(chunk_size=60, max_size=20), by_text(chunk_size=30, overlap=12)):
        for each in by.split(document):
            for turn in each.turns:
                assert each.text[turn.start : turn.end].strip() in turns[turn.seq - 1].text
                assert 0 <= turn.start < turn.end <= len(each.text)
            assert Chunk.from_dict(json.loads(each.to_json())) == each


def test_a_citation_is_that_of_the_own_part() -> None:
    turns = [
        Turn("One two three.", 1, speaker="Ana", start_ms=1000),
        Turn("Four five six.", 2, speaker="Bob", start_ms=60_000),
    ]
    last = by_text(chunk_size=25, overlap=8).split(Document.from_turns(turns, uri="c.vtt"))[1]
    assert (last.own_text, last.citation) == ("Four five six.", "c.vtt, 00:01:00, Bob")
    assert last.speakers == ("Ana", "Bob")


def test_a_title_in_a_context_is_short_and_one_line() -> None:
    document = Document(text="# A\n\nbody", meta={"title": "Long\n" * 2000})
    (only,) = chunk(document)
    assert len(only.context) == 200
    assert "\n" not in only.context


@pytest.mark.parametrize("make", [by_heading, by_layout])
def test_parts_of_a_unit_leave_room_for_a_header_too(make: Any) -> None:
    table = "# H\n\n|a|b|\n|-|-|\n" + "|cc|dd|\n" * 40
    chunks = make(chunk_size=60, overlap=0, max_size=30, sizer=_thirds).split(table)
    assert all(_thirds(each.embed_text) <= 30 for each in chunks)


def _thirds(text: str) -> float:
    return len(text) / 3


@pytest.mark.parametrize("media_type", ["text/csv; charset=utf-8", "Text/CSV", "text/csv"])
def test_a_media_type_is_read_whatever_its_case_and_parameters(media_type: str) -> None:
    assert chunk(Document(text="a,b\n" * 500, media_type=media_type)).boundaries[1] == "record"


def test_a_word_is_not_taken_over_the_bound_unmeasured() -> None:
    def odd(text: str) -> int:
        return len(text) + (5 if len(text) % 2 else 0)

    chunks = by_structure(target_size=3, overlap=0, sizer=odd).split("alpha beta gamma")
    assert all(odd(each) <= 6 or len(each) == 1 for each in chunks.texts)


def test_a_kind_that_a_document_has_not_is_named() -> None:
    document = Document(text="a b", parts=(Part(kind="row", start=0, end=1, label="1"),), uri="a")
    with pytest.raises(OptionError, match="kind='rows' is no part of a, which has row"):
        by_part("rows").split(document)
    assert by_part("row").split("no parts").texts == ["no parts"]


def test_metadata_of_any_kind_is_json() -> None:
    meta = {"day": date(2024, 1, 2), "size": float("nan"), "tags": {"b", "a"}, "n": [float("inf")]}
    said = chunk(Document(text="x", meta=meta))[0].to_json()
    assert json.loads(said, parse_constant=pytest.fail)["meta"] == {
        "day": "2024-01-02",
        "size": None,
        "tags": ["a", "b"],
        "n": [None],
    }


def test_keys_of_a_turn_that_are_not_known_are_left_out() -> None:
    (only,) = chunk_turns([Turn("a", 1)])
    told = only.to_dict()
    told["turns"][0]["new"] = 1
    assert Chunk.from_dict(told) == only


def test_equal_vectors_are_not_apart() -> None:
    for vector in ([0.1] * 3, [0.7, 0.2, 0.9], [1e-3, 5.0]):
        by = by_similarity(lambda texts, v=vector: [v] * len(texts), threshold=1)
        assert len(by.split("One cat sat. Two dogs ran.")) == 1


@pytest.mark.parametrize(
    "options", [{"max_size": 1000}, {"max_size": cap(200, words)}, {"max_size": cap(1000)}, {}]
)
def test_a_cap_near_the_target_leaves_a_choice(options: dict[str, Any]) -> None:
    """Stretches went over it and were cut into a full passage and a rest, in turns."""
    chance = random.Random(4)
    paragraphs = [
        " ".join(f"w{chance.randrange(99)}" for _ in range(chance.randint(4, 16))) + "."
        for _ in range(900)
    ]
    before = "\n\n".join(paragraphs)
    by = by_structure(target_size=1000, overlap=0, **options)
    chunks = by.split(before)
    assert sum(len(each) < 200 for each in chunks.texts) <= 1
    for at in range(3, 60, 4):
        edited = [*paragraphs[:at], paragraphs[at] + " new words", *paragraphs[at + 1 :]]
        assert _changed(by, before, "\n\n".join(edited)) <= 12


CAPPED = for_search().within(
    FunctionEmbedder(lambda texts: [[1.0]] * len(texts), id="x"), ceiling=600
)


@pytest.mark.parametrize("rows", [12, 20, 40, 120])
@pytest.mark.parametrize("splitter", [for_search(), for_answers(), CAPPED])
def test_presets_cut_tables_between_rows_and_code_at_lines(rows: int, splitter: Any) -> None:
    """Fault: what was over twice the target was cut at words, in the middle of a row or a line."""
    table = "".join(f"| row {i} | of some words, not many | {i * i} |\n" for i in range(rows))
    code = "".join(f"    call(argument_{i}, another_{i}, third={i})\n" for i in range(rows))
    page = f"# Prices\n\nIn euros.\n\n| name | what it is | price |\n|-|-|-|\n{table}\n"
    page += f"## Code\n\ndef function():\n{code}"
    document = Document(text=page, media_type="text/markdown")
    chunks = splitter.split(document)
    assert len(chunks) > 1
    for passage in chunks:
        assert page[: passage.body].rstrip(" ")[-1:] in ("", "\n")
        assert page[passage.end : passage.end + 1] in ("", "\n")
        assert ("| name" in passage.own_text) == ("| row 0 |" in passage.own_text)
        if passage.own_text.startswith("| row"):
            assert passage.context == "Prices\n| name | what it is | price |\n|-|-|-|"
    assert [cut.body for cut in explain(document, splitter)] == chunks.bodies


@pytest.mark.parametrize(
    "phrase", ["การคืนเงินใช้เวลาห้าถึงสิบวัน", "ការបង្វិលប្រាក់ត្រូវការពេល", "漢字文章の例です"]
)
def test_scripts_without_spaces_have_overlap_before_a_space_too(phrase: str) -> None:
    """Fault: Thai, Lao, Myanmar and Khmer had none where the phrase before was longer than it."""
    text = " ".join([phrase * 2] * 40)
    chunks = by_paragraph(chunk_size=200, overlap=12).split(text)
    assert all(
        0 < body - start <= 12
        for start, body in zip(chunks.starts[1:], chunks.bodies[1:], strict=True)
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("a|b\n-|-\n1|a\n\nword two three", {"chunk_size": 13, "sizer": "letter"}),
        ("a|b\n-|-\n1|)\n\nThe paragraph after the table.", {"chunk_size": 8, "sizer": "o200k"}),
        ("a | b\n---|---\nx | ));\n\nThe one below.\n\nNext.", {"chunk_size": 22, "cap": "o200k"}),
    ],
)
def test_what_follows_a_table_is_kept_where_more_measures_less(
    text: str, options: dict[str, Any]
) -> None:
    """COVER: with the blank line below it the table fitted, by itself it did not."""

    def sizer_of(name: str) -> Any:
        if name == "letter":
            return lambda part: len(part) + 3 * part[-1:].isalnum()
        return tokens(tokenizer("o200k_base"))

    given = {"overlap": 0, "chunk_size": options["chunk_size"]}
    if "sizer" in options:
        given["sizer"] = sizer_of(options["sizer"])
    else:
        given["max_size"] = cap(10, sizer_of(options["cap"]))
    found = by_heading(**given).split(text).texts
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_preset_is_explained_as_the_strategy_that_it_takes() -> None:
    """Fault: parts had no reason at all, and code that was cut did not say so."""
    ends = ((0, 11), (12, 23))
    parts = tuple(Part(kind="message", start=a, end=b, label=str(a)) for a, b in ends)
    document = Document(text="hello there\nbye bye now", media_type="x/y", parts=parts)
    whys = [each.why for each in explain(document, for_search(chunk_size=12))]
    assert whys[1].startswith("a message ends here; the passage before with the next would be 23")
    code = "# A\n\ntext\n\n```\n" + "line of code = 1\n" * 30 + "```\n"
    capped = for_search(chunk_size=800).within(None, ceiling=200)
    assert explain(code, capped)[2].gave_way == ("atom",)


def test_an_empty_turn_is_no_chunk() -> None:
    parts = [Part(kind="turn", start=a, end=b, label=str(a)) for a, b in ((0, 4), (4, 4), (5, 8))]
    document = Document(text="aaaa bbb", parts=tuple(parts))
    assert by_turn(chunk_size=1, overlap_turns=0).split(document).texts == ["aaaa", "bbb"]


def test_a_heading_of_no_level_may_stand_at_the_end_of_a_text() -> None:
    structure = Structure(0, [0, 9], [3, 9], [1, 0], [2, 9], [3, 9])
    document = Document(text="# A\n\ntext", structure=structure)
    assert by_heading().split(document).texts == ["# A\n\ntext"]


@pytest.mark.parametrize("window", [5, 40])
def test_white_space_after_one_character_is_in_the_window(window: int) -> None:
    """WORD: every word was cut after the first one that was."""
    splitter = fixed_with_overlap(chunk_size=5, overlap=0, word_window=window)
    assert splitter.split("a bbbb cccc dddd").texts == ["a", "bbbb", "cccc", "dddd"]


def given_to_a_sizer(use: Callable[[Callable[[str], int]], object]) -> int:
    """How many characters a sizer of words is given, of which nothing is known."""
    given = [0]

    def flat(text: str) -> int:
        given[0] += len(text)
        return len(text.split())

    use(flat)
    return given[0]


@pytest.mark.parametrize("make", [by_text, by_heading, by_paragraph, fixed_with_overlap, by_layout])
def test_a_cap_that_a_long_run_does_not_reach_is_asked_little(make: Any) -> None:
    """LINEAR: it was asked about all the rest at every cut."""

    def asked(length: int) -> int:
        options = {"chunk_size": 100, "overlap": 0, "sizer": utf8_bytes}
        return given_to_a_sizer(
            lambda flat: make(max_size=cap(50, flat), **options).split("é" * length)
        )

    assert asked(64_000) < 6 * asked(16_000)


@pytest.mark.parametrize("strategy", ["heading", "hierarchical"])
def test_a_long_title_is_measured_as_it_ships(strategy: str) -> None:
    """LINEAR, and context: the whole of it was, for each section below, and no room was kept."""

    def asked(count: int) -> int:
        text = "# " + "word " * count + "\n\n" + "## a\n\ntext here\n\n" * count
        if strategy == "heading":
            return given_to_a_sizer(
                lambda flat: by_heading(chunk_size=50, max_size=cap(60, flat)).split(text)
            )
        return given_to_a_sizer(
            lambda flat: ChunkingEngine().chunk(text, strategy=strategy, max_size=cap(60, flat))
        )

    assert asked(2000) < 6 * asked(500)
    text = "# " + "T" * 300 + "\n\n" + "Some words of text follow here and go on. " * 60
    chunks = by_heading(chunk_size=1000, max_size=500, overlap=0).split(text)
    assert {len(chunk.context) for chunk in chunks[1:]} == {200}
    assert all(len(chunk.embed_text) <= 500 for chunk in chunks)


@pytest.mark.parametrize("above", [0, 1, 3, 6, 20])
@pytest.mark.parametrize("rows", [3, 8, 12, 16, 60])
def test_no_row_is_cut_that_fits(above: int, rows: int) -> None:
    """A table right below text, or with text right below it, was cut at sentences."""
    text = "# Fees\n\n" + "The table lists the fees by country, as of March. " * above + "\n"
    text += "| Country | Fee | Note |\n|---|---|---|\n"
    text += "".join(f"| C {i} | {i}.50 EUR | Monthly. No. {i} applies. |\n" for i in range(rows))
    text += "- An item. It ends.\n" * above
    for splitter in (for_search(), for_answers(), by_structure(target_size=90, respect_lines=True)):
        for piece in splitter.split(text):
            for place in (piece.body, piece.end):
                line = text.rfind("\n", 0, place) + 1
                if text.startswith("|", line) and place > line:
                    assert text[place] == "\n"
    table = text.index("| Country"), text.rindex("|") + 1
    if table[1] - table[0] <= 750:
        assert any(
            each.start <= table[0] and table[1] <= each.end for each in for_search().split(text)
        )


def test_items_below_a_table_are_no_rows() -> None:
    text = "# Fees\n\n| Country | Fee |\n|---|---|\n" + "| A | 1 |\n" * 12
    text += "- The item says something about fees. It ends here.\n" * 6
    found = explain(text, by_structure(target_size=60, respect_lines=True, overlap=0, min_size=0))
    assert all(cut.boundary != "row" for cut in found if text[cut.body] == "-")
    assert any(cut.boundary == "row" for cut in found)


@pytest.mark.parametrize("make", [by_layout, by_heading])
def test_a_row_that_fits_is_not_cut_to_make_room_for_its_header(make: Any) -> None:
    text = "# Fees\n\n| Country | Fee | Note |\n|---|---|---|\n"
    rows = [f"| Finland {i} | {i}91.50 EUR | Paid monthly now. No. 3. |" for i in range(1, 6)]
    chunks = make(chunk_size=500, overlap=0, max_size=90).split(text + "\n".join(rows))
    assert chunks.texts[1:] == rows
    short = "\n".join(f"| F {i} | {i} | x |" for i in range(8))
    chunks = make(chunk_size=500, overlap=0, max_size=90).split(text + short + "\n" + rows[0])
    assert chunks.texts[-1] == rows[0]
    assert any("| Country |" in chunk.context for chunk in chunks[1:-1])


def test_a_cut_is_named_by_what_is_left_out_there() -> None:
    """EXPLAIN: under a heading that fills a size it was a blank line, at a space a cluster."""
    heading = "# " + "h" * 47 + "\n\n"
    spaced, joined = heading + "Refund words of it go on. " * 8, heading + "今天天气很好我们" * 20
    splitters = (
        by_structure(target_size=50, overlap=0, min_size=0),
        by_layout(chunk_size=50, overlap=0),
        by_heading(chunk_size=50, overlap=0),
    )
    for splitter in splitters:
        assert explain(spaced, splitter)[1].boundary == "word"
        assert explain(joined, splitter)[1].boundary == "cluster"
    for splitter in (by_text(chunk_size=5, overlap=0), fixed_with_overlap(chunk_size=5, overlap=0)):
        assert explain("Hello world other", splitter)[1].boundary == "word"


def test_chunks_of_another_splitter_are_not_changed() -> None:
    """SAME: overlap that gives way to context was taken from those that it may give again."""
    document = Document(text="# " + "Heading " * 3 + "\n\n" + "text " * 8 + "\n")
    made = Chunks.from_spans(document, [(0, 30), (20, 31, 60)])

    class Own:
        name, version, fingerprint = "own", 1, "own/1"

        def split(self, source: Any) -> Chunks:
            return made

    before = [*made.starts]
    assert within(Own(), None, ceiling=60).split(document).starts != before
    assert made.starts == before
