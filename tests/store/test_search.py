"""Search: any query is legal, every hit is a slice with its evidence, and every number is right."""

from __future__ import annotations

import html
import itertools
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanwise import (
    Document,
    OptionError,
    StoreError,
    by_heading,
    by_paragraph,
    by_text,
    cap,
    whole_document,
    words,
)
from spanwise.embedders import FunctionEmbedder
from spanwise.errors import EmbedderError
from spanwise.index import Hits, Index
from spanwise.index.fusion import fused, mixed
from spanwise.index.matrix import similarities, unit_rows
from spanwise.index.queries import indexed_text, read_query
from spanwise.index.rows import Found, Passage
from spanwise.lexical import iter_units

DIMENSIONS = 16


def vectors(texts: list[str]) -> list[list[float]]:
    """Stands in for a model: words at random, a text their sum."""
    made = []
    for text in texts:
        rows = [
            numpy.random.default_rng(sum(map(ord, word))).standard_normal(DIMENSIONS)
            for word in re.findall(r"\w+", text.lower())
        ]
        made.append(list(map(float, sum(rows, numpy.zeros(DIMENSIONS)))))
    return made


def embedder() -> FunctionEmbedder:
    return FunctionEmbedder(vectors, id="sums", dimensions=DIMENSIONS)


def index_of(*texts: str, **options: object) -> Index:
    index = Index.open(**options)  # type: ignore[arg-type]
    index.add(Document(text=text, uri=f"d{i}.md") for i, text in enumerate(texts))
    return index


def texts_of(hits: Hits) -> list[str]:
    return [hit.text for hit in hits]


@pytest.fixture(scope="module")
def mixture() -> Iterator[Index]:
    """Many scripts and signs in one index."""
    with index_of(
        "# Crème brûlée\n\nA self-test of C++ v1.2 for @user, Music/albums 2026-12-15.",
        "第三步 启动job-sync后20个任务恢复正常，检查完成",
        "Can't AND won't: a\"b --dry-run ^a ( NEAR rowid text context\0null",
        "<script>alert('x')</script> <b>bold refund</b> & more",
        "ภาษาไทยไม่มีช่องว่าง 東京都 한국어 हिन्दी",
        embedder=embedder(),
    ) as index:
        yield index


# --- queries --------------------------------------------------------------------------------

SIGNS = st.text(st.characters(codec=None, categories=None), max_size=30) | st.text(
    "ab\"'*()+-^:{}[]~<>&|\\/ \0\n東é", max_size=30
)


@settings(max_examples=300, deadline=None)
@given(SIGNS, st.sampled_from(["words", "meaning", "both"]))
@example('" OR 1', "words")
@example("\ud800", "both")
@example("NEAR(a b)", "words")
@example("text:a", "words")
def test_ur_125_any_string_is_a_query(mixture: Index, query: str, mode: str) -> None:
    for hit in mixture.search(query, mode=mode, limit=3):
        document = mixture.document(hit.chunk.doc_uri)
        assert document.text[hit.start : hit.end] == hit.text
        shown = hit.snippet()
        assert document.text[shown.start : shown.end] == shown.text
        bare = re.sub("</?mark>", "", shown.html(ellipsis=""))
        assert "<" not in bare
        assert html.unescape(bare) == shown.text.replace("\0", "\u2400")  # HTML holds no NUL


@pytest.mark.parametrize(
    "query",
    [
        *("x" * 100_000, "word " * 20_000, '"' * 100_000, "東" * 100_000, "a*" * 50_000),
        *("\0" * 100_000, " ".join(f"refund{i}" for i in range(12_000))),
    ],
    ids=lambda query: repr(query[:6]),
)
def test_a_query_of_100_kb_is_legal(mixture: Index, query: str) -> None:
    mixture.search(query, limit=3, mode="words")


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("creme", "Crème"),
        ("CRÈME", "Crème"),
        ("self-test", "self-test"),
        ("C++", "C"),
        ("can't", "Can't"),
        ("v1.2", "v1.2"),
        ("任务", "任务"),
        ("sync", "sync"),
        ("检查", "检查"),
        ("步", "步"),
        ("ไทย", "ไทย"),
        ("京都", "京都"),
        ("한국어", "한국어"),
        ("हिन्दी", "हिन्दी"),
        ("album*", "albums"),
        ('"bold refund"', "bold refund"),
        ("refunding", "refund"),
    ],
)
def test_ur_123_words_of_any_script_are_found_and_marked(
    mixture: Index, query: str, marked: str
) -> None:
    """Words inside Chinese were not found, and signs were commands."""
    hit = mixture.search(query, mode="words", limit=1)[0]
    shown = hit.snippet()
    found = [shown.text[mark.start : mark.end] for mark in shown.marks]
    assert (
        marked in found
        or marked == re.sub(r"[|]", "", "-".join(found))
        or "".join(found) == re.sub(r"\W", "", marked)
    )


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(codec=None, categories=None), max_size=30))
@example("ab\u0301_東京 \u0e33\ud800x\0y İ")
def test_the_index_has_the_words_that_snippets_read(text: str) -> None:
    # SQLite's tokenizer folds the case of ASCII alone.
    found = re.findall(r"[0-9A-Za-z\x80-\U0010ffff]+", indexed_text(text))
    shown = [re.sub("[A-Z]", lambda letter: letter[0].lower(), word) for word in found]
    units = [read_query(f'"{unit}"').phrases for unit, _, _ in iter_units(text)]
    assert shown == [phrase[0][0] for phrase in units if phrase]


def test_a_phrase_is_a_phrase_and_a_beginning_a_beginning() -> None:
    with index_of("late refund here", "refund is late", "installation", "instal") as index:
        assert texts_of(index.search('"late refund"')) == ["late refund here"]
        assert texts_of(index.search("installat*")) == ["installation", "instal"]
        assert texts_of(index.search("refu*", limit=1))
        assert not index.search('"refu*"')
    with index_of("installation", "instal", stems=False) as index:
        assert texts_of(index.search("instal")) == ["instal"]
        assert set(texts_of(index.search("instal*"))) == {"instal", "installation"}


def test_ur_051_a_word_in_the_heading_above_counts_twice() -> None:
    """The path is a field of its own, and no snippet quotes it."""
    text = "# Modbus\n\n## Timeout\n\nDefault is two seconds.\n\n## Parity\n\nEven modbus."
    splitter = by_heading(chunk_size=40, overlap=0, min_size=0)
    with index_of(text, splitter=splitter) as index:
        for hit in index.search("modbus", mode="words", mix=0):
            shown = hit.snippet()
            assert text[shown.start : shown.end] == shown.text
        timeout = index.search("timeout modbus", mode="words", mix=0)[0]
        assert timeout.chunk.heading_path == ("Modbus", "Timeout")
        assert "Modbus" in timeout.chunk.context or "Modbus" in timeout.text


def test_ur_045_front_matter_is_metadata_and_no_passage() -> None:
    """It ranked for unrelated queries and was shown as the snippet."""
    front = "---\ntype: reference\ntags: [alpha, beta]\n---\n\n"
    with index_of(f"{front}# Cranes\n\nCranes lift loads.", "# Winches\n\nThey pull.") as index:
        hit = index.search("lift", mode="words")[0]
        assert hit.chunk.doc_uri == "d0.md"
        assert "lift loads" in hit.snippet().text
        assert not index.search("reference", mode="words")
        assert index.verify()


@pytest.mark.parametrize("size", [50, 200, 1000])
def test_ur_060_a_payload_in_base64_is_no_passage(size: int) -> None:
    """An inline image became a thousand passages.

    What is left of it are the two edges that stand in a passage with other text.
    """
    payload = "iVBORw0K" * 3000
    text = f"# Pic\n\nBefore.\n\n![x](data:image/png;base64,{payload})\n\nAfter it all.\n"
    splitter = by_heading(chunk_size=size, overlap=0, max_size=size)
    with index_of(text, splitter=splitter) as index:
        holding = [each for each in index.chunks("d0.md") if "iVBORw0K" in each.text]
        assert len(holding) <= 2
        assert all(re.search("x|After", each.text.replace(payload[:8], "")) for each in holding)
        for query in ("before", "after"):
            hit = index.search(query, mode="words")[0]
            assert text[hit.start : hit.end] == hit.text
            assert query in hit.text.lower()


def test_what_holds_the_ends_of_two_payloads_is_no_passage() -> None:
    image = f"![](data:image/png;base64,{'iVBORw0K' * 40})"
    text = f"Before.\n\n{image}\n{image}\n{image}\n\nAfter."
    with index_of(text, splitter=by_text(chunk_size=100, overlap=0, max_size=100)) as index:
        assert [each.text[:6] for each in index.chunks("d0.md")][:1] == ["Before"]
        holding = [each.text for each in index.chunks("d0.md") if "iVBORw0K" in each.text]
        assert all("Before" in each or "After" in each for each in holding)


def test_prose_after_a_payload_is_found() -> None:
    """Fault: letters and spaces up to the next sign were taken for Base64, and were not indexed."""
    lines = "\n".join(["QUJDREVG" * 9] * 4)
    prose = "Refunds are paid within ten days of the request "
    for payload, ending in (("QUJD" * 60, "\n\n"), (lines + "\nQQ==", "\n"), ("QQ==", " ")):
        text = f"data:image/png;base64,{payload}{ending}{prose * 8}"
        with index_of(text, splitter=by_text(chunk_size=80, overlap=0)) as index:
            found = index.search("refunds", limit=99, fold=False)
            assert sum(hit.text.count("Refunds") for hit in found) == 8, payload
            assert not any("QUJDQUJDQUJD" in each.text for each in index.chunks("d0.md")[2:])


# --- ranking --------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**31))
def test_half_precision_products_are_exact(rows: int, dimensions: int, seed: int) -> None:
    chance = numpy.random.default_rng(seed)
    scale = 10.0 ** chance.integers(-8, 1, (rows, 1))
    table = (chance.standard_normal((rows, dimensions)) * scale).astype(numpy.float16)
    query = chance.standard_normal(dimensions).astype(numpy.float32)
    query /= numpy.linalg.norm(query)
    wanted = table.astype(numpy.float64) @ query.astype(numpy.float64)
    numpy.testing.assert_allclose(similarities(numpy, table, query), wanted, atol=1e-5, rtol=1e-4)


def test_rows_of_zeros_stay_zeros() -> None:
    made = unit_rows(numpy, [[0.0, 0.0], [3.0, 4.0]])
    assert made.tolist() == [[0.0, 0.0], [float(numpy.float16(0.6)), float(numpy.float16(0.8))]]


@pytest.mark.parametrize("mix", [0.0, 0.3, 1.0])
def test_meaning_is_the_cosine_mixed_with_its_neighbours(mix: float) -> None:
    chance = random.Random(3)
    texts = [
        "\n\n".join(
            " ".join(chance.choices("abcdefghij", k=6)) for _ in range(chance.randint(1, 9))
        )
        for _ in range(12)
    ]
    splitter = by_text(chunk_size=12, overlap=0)
    with index_of(*texts, splitter=splitter, embedder=embedder()) as index:
        query = "a b c j"
        asked = unit_rows(numpy, vectors([query]))[0].astype(float)
        scores: dict[str, float] = {}
        for document in index.documents():
            chunks = index.chunks(document.uri)
            made = unit_rows(numpy, vectors([each.embed_text for each in chunks])).astype(float)
            own = made @ asked
            for i, each in enumerate(chunks):
                beside = [own[j] for j in (i - 1, i + 1) if 0 <= j < len(chunks)]
                scores[each.id] = (own[i] + mix * sum(beside)) / (1 + mix * len(beside))
        hits = index.search(query, mode="meaning", mix=mix, limit=20, fold=False)
        best = sorted((score for score in scores.values() if score > 0), reverse=True)[:20]
        assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-4)
        for hit in hits:
            assert hit.score == pytest.approx(scores[hit.chunk.id], abs=1e-4)


def test_words_are_mixed_with_the_neighbours_that_were_found() -> None:
    found = [Found(1, 7, 0, 4.0, 3), Found(2, 7, 1, 1.0, 3), Found(3, 8, 0, 2.0, 1)]
    assert [(each.chunk, each.score) for each in mixed(found, 0.5)] == [
        (1, pytest.approx((4 + 0.5 * 1) / 1.5)),
        (2, pytest.approx((1 + 0.5 * 4) / 2)),
        (3, pytest.approx(2.0)),
    ]
    assert mixed(found, 0.0) == found
    far = [Found(i, 7, i, float(i == 0), 4) for i in range(4)]
    assert [each.score for each in mixed(far, 0.5, reach=2)] == pytest.approx(
        [1 / (1 + 0.5 + 0.25), 0.5 / (1 + 2 * 0.5 + 0.25), 0.25 / (1 + 2 * 0.5 + 0.25), 0.0]
    )


def unnamed(documents: Iterable[int]) -> dict[int, str]:
    """Documents without names."""
    return {}


def test_fusion_adds_shares_of_the_best_score_or_reciprocal_ranks() -> None:
    by_words = [Found(1, 1, 0, 8.0), Found(2, 1, 1, 4.0)]
    meaning = [Found(2, 1, 1, 0.5), Found(3, 2, 0, 0.4)]
    scores = {
        f.chunk: s.score for f, s in fused(by_words, meaning, "both", "scores", (1.0, 0.5), unnamed)
    }
    assert scores == pytest.approx({1: 1.0, 2: 0.5 + 0.5, 3: 0.4})
    ranks = {
        f.chunk: s.score for f, s in fused(by_words, meaning, "both", "ranks", (1.0, 2.0), unnamed)
    }
    assert ranks == pytest.approx({1: 1 / 61, 2: 1 / 62 + 2 / 61, 3: 2 / 62})
    assert fused([], [], "both", "scores", (1.0, 1.0), unnamed) == []


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_both_finds_what_either_finds(mixture: Index, fusion: str) -> None:
    hits = mixture.search("refund", mode="both", fusion=fusion, limit=5)
    assert any(hit.standing.words_rank and hit.standing.meaning_rank for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


# --- hits -----------------------------------------------------------------------------------


def test_ur_109_overlapping_hits_become_one_slice() -> None:
    """Copies and neighbours filled the first places, and overlap was repeated."""
    text = "".join(f"Sentence {i} about nothing. " for i in range(30))
    text += "The kiwi fruit is green. " + text
    splitter = by_text(chunk_size=160, overlap=80)
    with index_of(text, splitter=splitter) as index:
        hits = index.search("kiwi", limit=5)
        assert len(hits) == 1
        assert hits[0].text == text[hits[0].start : hits[0].end]
        assert hits[0].text.count("kiwi") == 1
        apart = index.search("kiwi", limit=5, fold=False)
        assert len(apart) >= 2


def test_a_passage_between_two_hits_makes_one_of_all() -> None:
    """Fault: it was joined with the first, which then overlapped the second."""
    text = (
        "refund refund refund is here now. middle words of refund go on. "
        "refund refund refund at the end."
    )
    with index_of(text, splitter=by_text(chunk_size=40, overlap=15)) as index:
        hits = index.search("refund", mix=0, explain=True, budget=len(text))
        ((hit),) = hits
        ids = {each.id for each in index.chunks("d0.md")}
        assert (hit.text, {hit.chunk.id, *hit.joined}) == (text, ids)
        reasons = [each.why for each in hits.candidates if not each.returned]
        assert len(reasons) == 3
        # Each with what it was joined with first, which is one of them.
        assert all(why.removeprefix("joined with ") in ids for why in reasons)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.sampled_from([0, 1, "section"]))
def test_hits_never_overlap(counts: list[int], expand: int | str) -> None:
    text = " ".join(f"{'refund ' * n}and so on number {i}." for i, n in enumerate(counts))
    with index_of(text, splitter=by_text(chunk_size=40, overlap=20)) as index:
        hits = index.search("refund", expand=expand, limit=3, explain=True)
        ranges = sorted((hit.start, hit.end) for hit in hits)
        assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges))
        returned = [each.id for each in hits.candidates if each.returned]
        assert returned == [hit.chunk.id for hit in hits]
        named = [name for hit in hits for name in (hit.chunk.id, *hit.joined, *hit.repeats)]
        assert len(named) == len(set(named))


def test_a_repeat_of_what_was_joined_is_left_out() -> None:
    first, second = "Refund words come first here. ", "Then some more of refund talk. "
    with index_of(first + second, second, splitter=by_text(chunk_size=31, overlap=0)) as index:
        hits = index.search("refund", expand=1)
        assert len(hits) == 1
        assert len(hits[0].repeats) == 1


def test_many_hits_of_one_document_are_widened_once() -> None:
    """Fault: for each passage of a large document all of it was read again."""
    text = "".join(f"refund word {i} of it. " for i in range(400))
    with index_of(text, splitter=by_text(chunk_size=24, overlap=0)) as index:
        asked: list[int] = []
        read = index._store.passages_of

        def counted(document: int, first: int, last: int) -> list[Passage]:
            found = read(document, first, last)
            asked.append(len(found))
            return found

        index._store.passages_of = counted  # type: ignore[method-assign]
        for expand in ("document", "section"):
            asked.clear()
            (hit,) = index.search("refund word", expand=expand)
            assert hit.text == text.strip()
            assert sum(asked) < 2 * len(index.chunks("d0.md"))


@pytest.mark.parametrize("options", [{"budget": 500, "explain": True}, {"fold": False}], ids=str)
@pytest.mark.parametrize("expand", ["document", "section"])
def test_what_a_hit_was_widened_to_is_read_once(expand: str, options: dict[str, Any]) -> None:
    """Fault: what was over the budget was read and measured again for each of its passages."""
    text = "".join(f"refund word {i} of it. " for i in range(400))
    with index_of(text, splitter=by_text(chunk_size=24, overlap=0)) as index:
        store, asked, measured = index._store, [0], [0]
        passages_of, text_of = store.passages_of, store.text

        def counted(document: int, first: int, last: int) -> list[Passage]:
            found = passages_of(document, first, last)
            asked[0] += len(found)
            return found

        def measuring(document: int, start: int, end: int) -> str:
            measured[0] += end - start
            return text_of(document, start, end)

        store.passages_of = counted  # type: ignore[method-assign]
        store.text = measuring  # type: ignore[method-assign]
        hits = index.search("refund word", expand=expand, limit=5, **options)
        assert len(hits) == 5
        assert asked[0] < 2 * len(index.chunks("d0.md"))
        assert measured[0] <= len(text) * max(1, len(hits))


def test_neighbours_are_read_once_however_many_are_asked_for() -> None:
    """Fault: each passage of a document read as many as were asked for, which was quadratic."""
    text = "".join(f"refund word {i} of it. " for i in range(400))
    with index_of(text, splitter=by_text(chunk_size=24, overlap=0)) as index:
        chunks, asked = index.chunks("d0.md"), [0]
        read = index._store.passages_of

        def counted(document: int, first: int, last: int) -> list[Passage]:
            found = read(document, first, last)
            asked[0] += len(found)
            return found

        index._store.passages_of = counted  # type: ignore[method-assign]
        for expand in (3, 100, 10**6):
            asked[0] = 0
            hits = index.search("refund word", expand=expand, fold=False, limit=300)
            assert asked[0] < 2 * len(chunks) + 2 * expand
            for hit in hits:
                first = chunks[max(0, hit.chunk.index - expand)]
                last = chunks[min(len(chunks) - 1, hit.chunk.index + expand)]
                assert (hit.start, hit.end) == (first.start, last.end)


def test_neighbours_end_where_text_is_left_out_of_the_index() -> None:
    """Fault: a Base64 picture of 100,000 characters was what stood around a hit."""
    picture = "![x](data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 5000 + ")"
    text = "\n\n".join(("Intro refund here.", picture, "After parcel text.", "The end."))
    with index_of(text, splitter=by_paragraph(chunk_size=25, min_size=0, overlap=0)) as index:
        for expand in (1, 9):
            (hit,) = index.search("refund", expand=expand)
            assert "iVBORw0" not in hit.text
            (hit,) = index.search("parcel", expand=expand)
            assert hit.text.endswith("After parcel text.\n\nThe end.")
            assert len(hit.text) < 60


def test_a_section_ends_where_another_of_its_name_begins() -> None:
    """Fault: both were one, as they have one path."""
    text = "# Log\n\n## Fixed\n\nAlpha bug.\n\nMore alpha.\n\n## Fixed\n\nBeta bug.\n\nMore beta."
    with index_of(text, splitter=by_heading(chunk_size=22, min_size=0, overlap=0)) as index:
        for query, section in (
            ("alpha", "## Fixed\n\nAlpha bug.\n\nMore alpha."),
            ("beta", "## Fixed\n\nBeta bug.\n\nMore beta."),
            ('"more beta"', "## Fixed\n\nBeta bug.\n\nMore beta."),
        ):
            assert (
                index.search(query, expand="section")[0].text.removeprefix("# Log\n\n") == section
            )


def test_a_larger_limit_gives_no_fewer_hits() -> None:
    """Fault: where repeats took 10,000 places the search gave up, but for a small limit."""
    texts = ["refund refund refund"] * 10_001 + ["a refund is paid"]
    with index_of(*texts) as index:
        assert [len(index.search("refund", limit=limit)) for limit in (2, 2499, 2500)] == [2, 2, 2]


def test_many_beginnings_share_the_words_they_stand_for() -> None:
    """Fault: each stood for 256 words, and a query of 700 of them took minutes."""
    begun = read_query(" ".join(f"{a}{b}*" for a in "abcdefghijklmnopqrst" for b in "abcdefghij"))
    assert len(begun.prefixes) == 200
    assert begun.most_begun == 1
    many = read_query(" ".join(f"w{i}*" for i in range(999)))
    assert len(many.prefixes) * many.most_begun == 256
    text = " ".join(f"refund{i}" for i in range(400))
    with index_of(text, "refund0 paid", splitter=whole_document()) as index:
        assert len(index.search("refund* pai*")) == 2


@pytest.mark.parametrize("letter", "দतપம갰")
def test_a_word_whose_stem_ends_inside_a_character_is_found(letter: str) -> None:
    """Fault: UnicodeDecodeError from the search, the hit and its snippet; false damage."""
    text = f"The word a{letter}ing means refund. a{letter}ed " + "한" * 11_000
    with index_of(text, splitter=whole_document()) as index:
        assert index.verify().differences == ()
        for query in (
            "refund",
            f"a{letter}ing",
            "a*",
            "한*",
            " ".join(f"w{i}" for i in range(200)),
        ):
            for hit in index.search(query):
                assert hit.words
                assert hit.snippet().matched


@pytest.mark.parametrize("expand", [4, "section", "document"])
def test_a_hit_that_is_too_much_with_what_is_around_it_stands_alone(expand: int | str) -> None:
    """Fault: it was left out, and a small budget gave nothing at all."""
    text = "# A\n\n" + "\n\n".join(
        f"Refund {word} of it." for word in ("one", "two", "three", "four")
    )
    with index_of(text, splitter=by_paragraph(chunk_size=20, min_size=0, overlap=0)) as index:
        (hit,) = index.search('"refund three"', expand=expand, budget=30)
        assert hit.text == "Refund three of it."
        assert len(index.search("refund", expand=expand, budget=60)) > 1
        (wide,) = index.search('"refund three"', expand=expand, budget=1000)
        assert wide.text == text


def test_what_stands_above_the_first_heading_is_a_section() -> None:
    """Fault: the section of a passage under no heading was the whole document."""
    text = "Preamble of the refund.\n\n# One\n\nAlpha text.\n\n# Two\n\nBeta text."
    with index_of(text, splitter=by_heading(chunk_size=30, min_size=0, overlap=0)) as index:
        assert index.search("refund", expand="section")[0].text == "Preamble of the refund."
        assert index.search("refund", expand="document")[0].text == text


def test_repeats_are_named_and_left_out() -> None:
    with index_of("The same words.", "The same words.", "Other words here.") as index:
        hits = index.search("words same")
        assert texts_of(hits) == ["The same words.", "Other words here."]
        assert len(hits[0].repeats) == 1


@pytest.mark.parametrize("expand", [1, 3, "section", "document"])
def test_what_is_added_around_a_hit_is_a_slice(expand: int | str) -> None:
    text = "".join(
        f"# Part {n}\n\n" + "".join(f"Line {n} {m} of it.\n\n" for m in range(9)) for n in range(4)
    )
    splitter = by_heading(chunk_size=40, overlap=0, min_size=0)
    with index_of(text, splitter=splitter) as index:
        hit = index.search('"line 2 4"', mode="words", expand=expand, limit=1)[0]
        assert text[hit.start : hit.end] == hit.text
        assert "Line 2 3 " in hit.text
        assert "Line 2 5 " in hit.text
        if expand == "section":
            assert hit.text.startswith("# Part 2")
            assert hit.text.endswith("Line 2 8 of it.")
        if expand == "document":
            assert hit.text == text.strip()


@settings(max_examples=40, deadline=None)
@given(budget=st.integers(1, 400), expand=st.integers(0, 2), overlap=st.sampled_from([0, 20]))
def test_a_budget_is_never_passed(budget: int, expand: int, overlap: int) -> None:
    text = " ".join(f"refund rule number {i} says so." for i in range(60))
    with index_of(text, splitter=by_text(chunk_size=60, overlap=overlap)) as index:
        hits = index.search("refund rule", budget=budget, expand=expand, limit=20)
        assert sum(len(hit.text) for hit in hits) <= budget
        for hit in hits:
            assert text[hit.start : hit.end] == hit.text
        in_words = index.search("refund rule", budget=cap(budget, words), expand=expand)
        assert sum(words(hit.text) for hit in in_words) <= budget


def test_every_candidate_says_why(mixture: Index) -> None:
    hits = mixture.search("a refund and bold", limit=1, explain=True, mode="words")
    assert [each.returned for each in hits.candidates].count(True) == 1
    assert {each.why for each in hits.candidates} == {"returned", "over limit=1"}
    low = mixture.search("a refund", min_score=1e9, explain=True, mode="words")
    assert not low
    assert all("below min_score" in each.why for each in low.candidates)


def test_a_reranker_decides_the_order() -> None:
    asked: list[tuple[str, int]] = []

    def longest(query: str, passages: list[str]) -> list[float]:
        asked.append((query, len(passages)))
        return [len(passage) for passage in passages]

    with index_of("refund", "refund two", "refund two three", "other") as index:
        hits = index.search("refund", rerank=longest, rerank_depth=2)
        assert asked == [("refund", 2)]
        assert [hit.score for hit in hits] == sorted(map(len, texts_of(hits)), reverse=True)
        for answer in ([1.0], None, ["best"] * 3, [None] * 3):
            with pytest.raises(OptionError, match="it must answer one number a passage"):
                index.search("refund", rerank=lambda query, passages, answer=answer: answer)


def test_a_score_that_is_no_number_leaves_the_others_in_order() -> None:
    """Fault: what stood before and after it was not compared."""
    scores = {"refund one": 1.0, "refund two": float("nan"), "refund three": 3.0}
    with index_of(*scores) as index:
        hits = index.search("refund", rerank=lambda _, texts: (scores[each] for each in texts))
        assert texts_of(hits) == ["refund three", "refund one"]


def test_a_hit_marks_what_was_found() -> None:
    """Fault: `r*` marked nothing, and `car` marked what begins with it, which is not found."""
    with index_of("Refunds. A car on a carpet.", "A carpet.") as index:
        (hit,) = index.search("re*")
        assert (hit.words, hit.snippet().plain("[", "]")) == (
            ("Refunds",),
            "[Refunds]. A car on a carpet.",
        )
        assert index.search("r*")[0].words == ("Refunds",)
        (hit,) = index.search("car")
        assert hit.words == ("car",)
        assert index.search("refund")[0].words == ("Refunds",)


def test_a_letter_with_its_marks_is_marked_by_its_beginning() -> None:
    """Fault: a beginning of one letter in a script without spaces found it, and marked nothing."""
    for text, query, marked in (
        ("ข้อมูล", "ข*", ("ข้",)),
        ("ข้อมูล", "ข้*", ("ข้",)),
        ("返金は十日", "返*", ("返",)),
    ):
        with index_of(text) as index:
            (hit,) = index.search(query)
            assert hit.words == marked, (text, query)
            assert not index.search("ข" if "ข" in text else "五")


def test_repeats_take_no_place_from_what_is_asked_for() -> None:
    """Fault: with a budget that nobody reached, or a reranker, what stood below them was lost."""
    texts = {f"d{i}": "Refund refund." for i in range(150)} | {"z": "A refund takes five days."}
    asked: list[list[str]] = []

    def even(query: str, passages: list[str]) -> list[float]:
        asked.append(passages)
        return [1.0] * len(passages)

    with Index.open() as index:
        index.add([Document(text=text, uri=uri) for uri, text in texts.items()])
        for options in ({}, {"budget": 100_000}, {"rerank": even}, {"rerank": even, "limit": 3}):
            hits = index.search("refund", **options)  # type: ignore[arg-type]
            assert len(hits) == 2, options
            assert sum(len(hit.repeats) for hit in hits) == 149
        assert all(sorted(set(each)) == sorted(each) for each in asked)
        assert len(index.search("refund", budget=20)) == 1


@pytest.mark.parametrize("options", [{}, {"rerank_depth": 2}, {"limit": 3}, {"explain": True}])
def test_a_reranker_is_asked_once(options: dict[str, Any]) -> None:
    """Fault: where repeats took places it was asked about the same texts for each look down."""
    asked: list[list[str]] = []

    def even(query: str, passages: list[str]) -> list[float]:
        asked.append(passages)
        return [1.0] * len(passages)

    with index_of(*(f"Refund rule {i % 5}." for i in range(900)), "A refund, late.") as index:
        hits = index.search("refund", rerank=even, **options)
        assert len(asked) == 1
        assert len(asked[0]) == len(set(asked[0])) == options.get("rerank_depth", 6)
        assert len(hits) == min(len(asked[0]), options.get("limit", 10))


def test_the_order_is_that_of_the_documents_however_they_were_written() -> None:
    """Fault: equal scores stood in the order of being written, and so did what a limit left."""
    texts = {name: f"Refund rule {name}." for name in "abcdefghijkl"}
    for options in ({"mode": "words"}, {"mode": "meaning"}, {"mode": "both"}, {"mix": 0}):
        found = []
        for seed in range(4):
            names = list(texts)
            random.Random(seed).shuffle(names)
            with Index.open(embedder=embedder()) as index:
                for name in names:
                    index.add(Document(text="other words", uri=name))
                for name in names[::-1]:
                    index.add(Document(text=texts[name], uri=name))
                hits = index.search("refund rule", limit=5, **options)  # type: ignore[arg-type]
                found.append([hit.chunk.doc_uri for hit in hits])
        assert found == [found[0]] * 4, options
        if options == {"mode": "words"}:
            assert found[0] == list("abcde")


def test_a_reranker_is_not_asked_about_nothing() -> None:
    with index_of("refund") as index:
        assert not index.search("zzz", rerank=lambda _, texts: [1 / len(texts)])


def test_to_explain_changes_no_hit() -> None:
    """Fault: with a reranker those below its depth became hits."""
    with index_of("refund", "refund two", "refund two three") as index:
        for options in ({"rerank": lambda _, texts: [1.0] * len(texts), "rerank_depth": 1}, {}):
            hits = index.search("refund", explain=True, **options)  # type: ignore[arg-type]
            plain = index.search("refund", **options)  # type: ignore[arg-type]
            assert list(hits) == list(plain)
            assert len(hits.candidates) == 3
        assert {each.why for each in hits.candidates} == {"returned"}


@pytest.mark.parametrize(
    "answer",
    [[[float("nan")] * 4], [], [[1.0] * 3], "vectors", [["1", "2", "3", "x"]], [[1.0], [1.0] * 2]],
    ids=str,
)
def test_a_vector_of_a_query_that_is_none_is_refused(answer: Any) -> None:
    """Fault: one that is no number found nothing and said nothing; of others numpy complained."""

    class Broken:
        id, dimensions, ceiling = "broken", 4, None
        is_broken = False

        def embed(self, texts: Sequence[str]) -> Any:
            return answer if self.is_broken else [[1.0, 2.0, 3.0, 4.0] for _ in texts]

    embedder = Broken()
    with index_of("refund", embedder=embedder) as index:
        embedder.is_broken = True
        with pytest.raises(EmbedderError, match="finite"):
            index.search("refund")


@pytest.mark.parametrize("option", ["limit", "expand", "rerank_depth"])
def test_a_huge_number_is_all_there_is(option: str) -> None:
    with index_of("refund", "refund two") as index:
        assert len(index.search("refund", **{option: 10**19})) == 2  # type: ignore[arg-type]


def test_filters_serve_as_access_control() -> None:
    with Index.open() as index:
        for name, team in (("a", ["x", "y"]), ("b", "z"), ("c", 1), ("d", None), ("e", True)):
            index.add(Document(text="the same rule", uri=name, meta={"team": team, "n": 1.0}))

        def found(where: object) -> set[str]:
            hits = index.search("rule", where=where, fold=False, expand="document")  # type: ignore[arg-type]
            return {hit.chunk.doc_uri for hit in hits}

        assert found({"team": "x"}) == {"a"}
        assert found({"team": ["y", "z"]}) == {"a", "b"}
        assert found({"team": []}) == set()
        assert found({"team": 1}) == {"c"}
        assert found({"team": "1"}) == set()
        assert found({"team": True}) == {"e"}
        assert found({"team": None}) == {"d"}
        assert found({"n": 1, "team": "z"}) == {"b"}
        assert found({"nothing": "x"}) == set()
        assert found({}) == {"a", "b", "c", "d", "e"}
        with pytest.raises(OptionError, match="no mapping"):
            found(["team"])
        with pytest.raises(OptionError, match="plain values"):
            found({"team": {"x": 1}})


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "best"},
        {"limit": 0},
        {"expand": "all"},
        {"expand": -1},
        {"budget": 0},
        {"fusion": "best"},
        {"mode": "meaning"},
        {"rerank_depth": 0},
        *({"mix": value} for value in (-0.5, float("nan"), 1e308, "0.3", True)),
        *({"weights": value} for value in (1, (1,), (1, 2, 3), (-1, 2), (0, 0), (1, float("nan")))),
        {"weights": (1, 1), "mode": "words"},
        {"min_score": float("nan")},
        {"min_score": "1"},
        {"rerank": "a model"},
        {"fusion": []},
    ],
    ids=str,
)
def test_options_that_do_not_fit_are_refused(options: dict[str, object]) -> None:
    with index_of("text") as index, pytest.raises(OptionError):
        index.search("text", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["words", "meaning", "both"])
def test_repeats_do_not_take_the_places_of_others(mode: str) -> None:
    """Copies of one passage filled the list before they were folded into one hit."""
    with Index.open(embedder=embedder()) as index:
        copies = [Document(text="The refund rule refund.", uri=f"c{i}") for i in range(300)]
        others = [Document(text=f"Case {i} got a refund then.", uri=f"d{i}") for i in range(10)]
        index.add([*copies, *others])
        hits = index.search("refund", mode=mode, limit=5)
        assert len(hits) == 5
        assert sum(len(hit.repeats) for hit in hits) == 299


def test_the_end_of_a_word_with_an_apostrophe_is_no_beginning() -> None:
    assert read_query("don't*").prefixes == ()
    assert read_query("do not*").prefixes == ("not",)
    assert read_query("self-test*").prefixes == ("test",)
    assert read_query("東京*").prefixes == ()
    assert read_query("C* x").prefixes == ("c",)


def test_nothing_is_written_while_a_search_reads() -> None:
    def write(query: str, passages: list[str]) -> list[float]:
        index.add(Document(text="inner word", uri="z"))
        return [1.0] * len(passages)

    with index_of("refund") as index:
        with pytest.raises(StoreError, match="being read"):
            index.search("refund", rerank=write)
        index.add(Document(text="inner word", uri="z"))
        assert index.search("inner")
        assert index.verify()


def test_a_snippet_of_a_whole_book_is_that_of_its_passage() -> None:
    text = "\n\n".join(f"Line {i} has words of its own here." for i in range(5000))
    with index_of(text) as index:
        hit = index.search('"line 2500"', mode="words", expand="document")[0]
        assert hit.text == text
        shown = hit.snippet()
        assert text[shown.start : shown.end] == shown.text
        assert "Line 2500" in shown.text
        assert "2500" in hit.words[0]
