"""Every store keeps the promises of the Protocol, and finds what the SQLite store finds."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import compress

import numpy
import pytest
from hostile import PIECES
from store.corpus import Counting, assert_equal, damage
from store.stores import STORES, Opener, postgres_server

from spanwise import Document, StoreError, by_heading, by_paragraph
from spanwise.errors import OptionError
from spanwise.index import Index, PostgresStore, SqliteStore, Store
from spanwise.index.matrix import unit_rows
from spanwise.index.queries import read_query
from spanwise.index.rows import ChunkRow, DocumentRow, Found, Scope, rows_of, scope_of
from spanwise.metadata import plain

SPACE = "hash@16"
EVERYWHERE = 10_000
HOSTILE = (
    "Nul \0 in it.\n\nA lone \ud800 and \udfff.\n\n\ufeffnaïve 東京都 \U0001f600 end.\r\n\r\nlast\0"
)


@pytest.fixture(params=list(STORES))
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    with STORES[request.param](tmp_path) as made:
        yield made


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    made = opener()
    yield made
    made.close()


@pytest.fixture
def peer() -> Iterator[SqliteStore]:
    """What the others are compared with."""
    made = SqliteStore(":memory:")
    yield made
    made.close()


def row_of(text: str, uri: str = "a.md", *, namespace: str = "", **meta: Any) -> DocumentRow:
    document = Document(text=text, uri=uri, media_type="text/markdown", meta=meta)
    return DocumentRow(namespace=namespace, document=document, recipe="r", source={"size": 1})


def cut(row: DocumentRow) -> list[ChunkRow]:
    return rows_of(by_heading(chunk_size=60, overlap=0, min_size=0).split(row.document))


def vectors_of(rows: Sequence[ChunkRow]) -> Any:
    """A vector of length 1 from each digest."""
    raw = [numpy.frombuffer(each.digest, dtype=numpy.uint8) for each in rows]
    return unit_rows(numpy, numpy.array(raw, dtype=numpy.float32).reshape(-1, 16) - 127.5)


def put(store: Store, row: DocumentRow, *, space: str = "") -> list[ChunkRow]:
    rows = cut(row)
    if space:
        store.put_vectors(space, [each.digest for each in rows], vectors_of(rows))
    assert store.put(row, rows, space) == set()
    return rows


def named(store: Store, found: Sequence[Found]) -> list[tuple[str, int, float]]:
    passages = store.passages([each.chunk for each in found])
    assert [each.key for each in passages] == [each.chunk for each in found]
    assert [each.document for each in passages] == [each.document for each in found]
    assert [each.chunk.index for each in passages] == [each.position for each in found]
    return [
        (passage.chunk.doc_uri, each.position, each.score)
        for passage, each in zip(passages, found, strict=True)
    ]


def words(store: Store, query: str, scope: Scope | None = None, limit: int = EVERYWHERE) -> Any:
    return named(store, store.find_words(read_query(query), scope or Scope(""), limit))


def uris(found: Sequence[tuple[str, int, float]]) -> list[str]:
    return sorted({uri for uri, _, _ in found})


def assert_alike(mine: Any, theirs: Any, exact: float = 1e-6) -> None:
    """The same passages with the same scores, best first; equal ones may change places."""
    scores = [score for _, _, score in mine]
    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx([score for _, _, score in theirs], abs=exact, rel=exact)
    one = {(uri, position): score for uri, position, score in mine}
    two = {(uri, position): score for uri, position, score in theirs}
    assert one == pytest.approx(two, abs=exact, rel=exact)


def sentences(seed: int, count: int) -> str:
    """Random text: few words, so that they meet; headings, so that there are contexts."""
    chance = random.Random(seed)
    lexicon = (
        *("refund", "refunds", "refunded", "late", "fee", "fees", "the", "the", "of", "pay"),
        *("paying", "café", "cafe", "東京", "京都府", "naïve", "x1", "O'Neil", "Ünder", "ﬁne", "½"),
        *("Ꭰꭰ", "ก็ำ", "straße", "STRASSE", "(1)", "⑴", "a_b", "e\u0301té", "run", "running"),
    )
    made = []
    for _ in range(count):
        line = " ".join(chance.choice(lexicon) for _ in range(chance.randint(1, 12)))
        made.append(f"# {line}" if chance.random() < 0.2 else f"{line}.")
    return "\n\n".join(made)


# --- documents ------------------------------------------------------------------------------


def test_a_new_store_is_empty(store: Store) -> None:
    assert store.namespaces() == []
    assert store.documents(Scope("")) == []
    assert store.document("", "a.md") is None
    assert store.passages([1, 2]) == []
    assert store.passages_of(1, 0, 9) == []
    assert store.text(1, 0, 9) == ""
    assert store.missing(SPACE, [b"x" * 16]) == {b"x" * 16}
    assert store.vectors(SPACE, [b"x" * 16]) == {}
    assert words(store, "a") == []
    assert store.find_near(SPACE, vectors_of([])[:0].sum(0), Scope(""), 5, 0.0) == []
    assert store.drop_vectors(SPACE) == 0
    assert list(store.damage(SPACE)) == []
    store.remove("", ["a.md"])
    store.change_metadata("", "a.md", {"a": 1})
    store.note_source("", "a.md", {})
    with pytest.raises(StoreError, match=r"has no document 'a\.md'; index\.documents\(\) lists"):
        store.whole("", "a.md")


@pytest.mark.parametrize("text", [HOSTILE, "", "word " * 3000, "w" * 100_000], ids=len)
def test_a_document_comes_back_as_it_was_put(store: Store, text: str) -> None:
    row = row_of(text, "ü\ud800 \0.md", namespace="n\0\udfff", n=1, tags=["a", "é\ud800"], f=0.5)
    rows = put(store, row)
    kept, chunks = store.whole(row.namespace, row.uri)
    assert kept.document == row.document
    assert (kept.recipe, kept.source, kept.changes) == ("r", {"size": 1}, {})
    assert chunks == rows
    known = store.document(row.namespace, row.uri)
    assert known is not None
    assert (known.namespace, known.uri, known.media_type) == (
        *[row.namespace, row.uri],
        "text/markdown",
    )
    assert (known.characters, known.chunks) == (len(text), len(rows))
    assert known.content_hash == row.document.content_hash
    assert (known.meta, known.changes) == (plain(row.document.meta), {})
    assert store.namespaces() == [row.namespace]
    assert store.documents(Scope(row.namespace)) == [known]
    assert store.documents(Scope("")) == []
    assert list(store.damage("")) == []


def test_a_document_takes_the_place_of_the_one_of_its_name(store: Store) -> None:
    put(store, row_of("alpha one\n\nbeta two", team="a"))
    put(store, row_of("gamma", namespace="other"))
    put(store, row_of("beta two\n\ndelta", team="b"))
    assert store.whole("", "a.md")[0].document.text == "beta two\n\ndelta"
    assert words(store, "alpha one") == []
    assert [uri for uri, *_ in words(store, "beta delta")] == ["a.md"] * len(
        store.whole("", "a.md")[1]
    )
    assert store.documents(scope_of("", {"team": "a"})) == []
    assert len(store.documents(scope_of("", {"team": "b"}))) == 1
    store.remove("", ["a.md", "none.md"])
    assert store.document("", "a.md") is None
    assert words(store, "beta") == []
    assert uris(words(store, "gamma", Scope("other"))) == ["a.md"]
    assert store.namespaces() == ["other"]
    assert list(store.damage("")) == []


def test_passages_that_stay_keep_their_keys(store: Store) -> None:
    texts = [f"Passage number {i} of this document is of some fifty letters." for i in range(6)]
    put(store, row_of("\n\n".join(texts)))
    (known,) = {each.document for each in store.passages(_keys(store, "passage"))}
    before = {each.chunk.text: each.key for each in store.passages_of(known, 0, 99)}
    changed = ["A new one stands before them all, and it is long enough.", *texts[2:], texts[0]]
    put(store, row_of("\n\n".join(changed)))
    after = store.passages_of(known, 0, 99)
    assert [each.chunk.text for each in after] == changed
    assert [each.chunk.index for each in after] == list(range(6))
    for each in after[1:]:
        assert each.key == before[each.chunk.text]
    assert after[0].key not in before.values()
    assert store.passages([before[texts[1]]]) == []
    assert list(store.damage("")) == []


def _keys(store: Store, query: str) -> list[int]:
    return [each.chunk for each in store.find_words(read_query(query), Scope(""), EVERYWHERE)]


def test_without_its_vectors_nothing_of_a_document_is_written(store: Store) -> None:
    put(store, row_of("old words"), space=SPACE)
    row = row_of("# New\n\nnew words\n\n# Newer\n\nold words")
    rows = cut(row)
    store.put_vectors(SPACE, [rows[0].digest], vectors_of(rows[:1]))
    lacking = {each.digest for each in rows[1:]}
    assert lacking
    assert store.missing(SPACE, [each.digest for each in rows]) == lacking
    assert store.missing("other@16", [rows[0].digest]) == {rows[0].digest}
    assert store.put(row, rows, SPACE) == lacking
    assert store.whole("", "a.md")[0].document.text == "old words"
    assert uris(words(store, "old")) == ["a.md"]
    assert words(store, "new") == []
    assert store.put(row, rows, "") == set()


def test_metadata_and_sources_change_alone(store: Store) -> None:
    put(store, row_of("text", team="a", n=1))
    store.change_metadata("", "a.md", {"team": "b", "n": None, "é": ["x", 2]})
    store.note_source("", "a.md", {"size": 2, "name": "ü\ud800"})
    known = store.document("", "a.md")
    assert known is not None
    assert known.metadata == {"team": "b", "é": ["x", 2]}
    assert known.meta == {"team": "a", "n": 1}
    assert known.source == {"size": 2, "name": "ü\ud800"}
    for where, count in (({"team": "b"}, 1), ({"team": "a"}, 0), ({"n": 1}, 0), ({"é": 2}, 1)):
        assert len(store.documents(scope_of("", where))) == count, where
    (passage,) = store.passages(_keys(store, "text"))
    assert passage.chunk.meta == {"team": "b", "é": ["x", 2]}
    store.change_metadata("", "a.md", {})
    assert len(store.documents(scope_of("", {"team": "a", "n": 1}))) == 1
    assert list(store.damage("")) == []


# --- filters --------------------------------------------------------------------------------

FILTERED = {
    "a": {"team": "a", "n": 1, "tags": ["x", "y"], "b": True},
    "b": {"team": "b", "n": "1", "tags": [], "b": False},
    "c": {"team": None, "n": 1.0, "tags": "x", "b": 1},
    "d": {"n": 1.5, "tags": [["x"]], "long": "long " * 2000},
}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (None, "abcd"),
        ({}, "abcd"),
        ({"team": "a"}, "a"),
        ({"team": ["a", "b", "z"]}, "ab"),
        ({"team": []}, ""),
        ({"team": "a", "n": []}, ""),
        ({"team": None}, "c"),
        ({"team": [None, "a"]}, "ac"),
        ({"n": 1}, "ac"),
        ({"n": 1.0}, "ac"),
        ({"n": "1"}, "b"),
        ({"n": [1, "1"]}, "abc"),
        ({"n": 1.5}, "d"),
        ({"tags": "x"}, "ac"),
        ({"tags": ["y", "z"]}, "a"),
        ({"b": True}, "a"),
        ({"b": 1}, "c"),
        ({"b": False}, "b"),
        ({"n": 1, "tags": "x"}, "ac"),
        ({"n": 1, "tags": "y"}, "a"),
        ({"nothing": None}, ""),
        ({"nothing": "a"}, ""),
        ({"long": "long " * 2000}, "d"),
        ({"team": "' OR 1=1 --"}, ""),
    ],
)
def test_filters(store: Store, where: Any, expected: str) -> None:
    for uri, meta in FILTERED.items():
        put(store, row_of(f"same words {uri}", uri, **meta), space=SPACE)
    put(store, row_of("same words a", "a", namespace="other", team="a", n=1), space=SPACE)
    scope = scope_of("", where)
    assert [each.uri for each in store.documents(scope)] == list(expected)
    assert uris(words(store, "same", scope)) == list(expected)
    near = store.find_near(SPACE, _towards_all(store), scope, EVERYWHERE, 0.0)
    assert uris(named(store, near)) == list(expected)
    assert len(store.documents(scope_of("other", {"team": "a"}))) == 1
    assert store.documents(scope_of("third", where)) == []


def _towards_all(store: Store) -> Any:
    """A vector at less than a right angle to all of the filtered documents."""
    rows = [row for uri in FILTERED for row in store.whole("", uri)[1]]
    table = vectors_of(rows).astype(numpy.float64)
    towards = numpy.linalg.lstsq(table, numpy.ones(len(rows)), rcond=None)[0]
    assert (table @ towards > 0.5).all()
    return unit_rows(numpy, towards[None])[0]


# --- words ----------------------------------------------------------------------------------

QUERIES = (
    *("refund", "late fee", "the of the", '"the late fee"', '"the the"', "pay*", "re* f*", "x1"),
    *("cafe", "CAFÉ", "東京", "京都府", "東", "naive", "o'neil", "ünder*", "fine", "½", "Ꭰ*", "Ꭰꭰ"),
    *("strasse", "(1)", "1 ⑴", "a_b", '"fees refunded" late', "runs", "runn*", "ก็ำ", "été", "zzz"),
    *(
        "",
        " ",
        '"',
        '""',
        "*",
        "NEAR(a b)",
        "a AND b NOT c",
        "context:late",
        "-late",
        "\0",
        "\ud800",
    ),
)


def fill(store: Store, seed: int) -> None:
    """Documents that come, change and go."""
    for i in range(12):
        put(store, row_of(sentences(seed * 100 + i, 12), f"{i}.md", n=i % 3))
    put(store, row_of(sentences(seed, 30), "1.md", namespace="other"))
    for i in range(0, 12, 3):
        text = store.whole("", f"{i}.md")[0].document.text
        put(store, row_of(f"{text[40:]}\n\n{sentences(seed * 100 + 50 + i, 3)}", f"{i}.md", n=1))
    store.remove("", ["4.md", "5.md"])


@pytest.mark.parametrize("stems", [True, False])
def test_words_are_found_and_scored_as_in_sqlite(
    store: Store, peer: SqliteStore, stems: bool
) -> None:
    for each in (store, peer):
        each.prepare_words(stems)
        assert each.stems == stems
        fill(each, 1)
        assert any(row.context for row in each.whole("", "8.md")[1])
    for query in QUERIES:
        for scope in (Scope(""), Scope("other"), scope_of("", {"n": [0, 1]}), Scope("none")):
            theirs = words(peer, query, scope)
            assert_alike(words(store, query, scope), theirs)
            few = words(store, query, scope, 3)
            assert few == words(store, query, scope)[:3]
            assert [score for *_, score in few] == pytest.approx([s for *_, s in theirs[:3]])
    assert list(store.damage("")) == []


def test_any_string_is_a_query(store: Store, peer: SqliteStore) -> None:
    chance = random.Random(5)
    pieces = [*PIECES, '"', "*", "'", "(", "ab*", "NEAR", "OR", "%", "\\", "::", "ﬁ", "①", "ͺ", "ͅ"]
    texts = ["".join(chance.choices(pieces, k=60)) for _ in range(8)]
    for each in (store, peer):
        for i, text in enumerate(texts):
            put(each, row_of(text, f"{i}.md"))
    for _ in range(150):
        query = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        assert_alike(words(store, query), words(peer, query))
    many = " ".join(f"w{i}" for i in range(400)) + " word three a*"
    assert_alike(words(store, many), words(peer, many))
    assert words(store, many)


def test_words_of_many_kinds(store: Store) -> None:
    put(store, row_of("Crème brûlée is served at the café in 東京都 by O'Neil.", "a"))
    put(store, row_of("The refund was installed late; installing takes days.", "b"))
    put(store, row_of("Late was the refund of Zoë\0null.", "c"))
    for query, expected in (
        ("creme brulee", "a"),
        ("CRÈME", "a"),
        ("京都", "a"),
        ("東京", "a"),
        ("都東", ""),
        ("o'neil", "a"),
        ("installation", "b"),
        ("instal*", "b"),
        ("installi*", "b"),
        ('"the refund was"', "b"),
        ('"refund the"', ""),
        ('"was the refund"', "c"),
        ("refund", "bc"),
        ("zoe null", "c"),
        ("ref* lat*", "bc"),
    ):
        assert uris(words(store, query)) == list(expected), query


def test_a_word_of_the_context_counts_twice_and_no_phrase_leads_out_of_it(store: Store) -> None:
    filler = "So many letters that the next paragraph has to stand alone."
    rest = "and more of what makes it long enough to be a passage of its own"
    put(store, row_of(f"# Alpha\n\n{filler}\n\nbeta gamma {rest}", "a"))
    put(store, row_of(f"# Beta\n\n{filler}\n\nalpha gamma {rest}", "b"))
    for i in range(9):
        put(store, row_of(f"nothing of that, {i}", f"{i}"))
    rows = store.whole("", "a")[1]
    assert "Alpha" in rows[-1].context
    last = len(rows) - 1
    scores = {(uri, position): score for uri, position, score in words(store, "alpha")}
    assert scores["a", last] > scores["b", last] > 0
    assert words(store, '"alpha beta"') == [] != words(store, '"alpha gamma"')
    assert [each[:2] for each in words(store, '"beta gamma"')] == [("a", last)]


def test_stems_are_taken_up_and_given_up(store: Store) -> None:
    assert store.stems
    put(store, row_of("She was running home."))
    assert uris(words(store, "runs")) == ["a.md"]
    store.prepare_words(False)
    assert not store.stems
    assert words(store, "runs") == []
    assert uris(words(store, "running")) == ["a.md"]
    put(store, row_of("She runs home."))
    assert words(store, "running") == []
    store.prepare_words(False)
    store.prepare_words(True)
    assert uris(words(store, "running")) == ["a.md"]
    assert list(store.damage("")) == []


def test_words_that_are_gone_find_nothing_by_their_beginnings(store: Store) -> None:
    put(store, row_of(" ".join(f"aa{i:04}" for i in range(300))))
    put(store, row_of("aazz"))
    assert uris(words(store, "aa*")) == ["a.md"]
    store.vacuum()
    assert uris(words(store, "aa*")) == ["a.md"]
    assert list(store.damage("")) == []


def test_a_word_that_is_gone_leads_to_no_other_of_its_stem(
    store: Store, request: pytest.FixtureRequest
) -> None:
    if not isinstance(store, SqliteStore | PostgresStore):
        reason = "its vocabulary keeps the word, whose stem is that of another"
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))
    put(store, row_of("running"))
    put(store, row_of("runs", "b.md"))
    assert uris(words(store, "runn*")) == ["a.md", "b.md"]
    store.remove("", ["a.md"])
    assert words(store, "runn*") == []
    assert uris(words(store, "run*")) == ["b.md"]


# --- vectors --------------------------------------------------------------------------------


def expected_near(
    store: Store, scope: Scope, query: Any, mix: float
) -> list[tuple[str, int, float]]:
    """By numpy, in double precision."""
    made = []
    target = query.astype(numpy.float64)
    for each in store.documents(scope):
        rows = store.whole(each.namespace, each.uri)[1]
        kept = store.vectors(SPACE, [row.digest for row in rows])
        own = []
        for row in rows:
            vector = kept[row.digest].astype(numpy.float64)
            size = numpy.linalg.norm(vector) * numpy.linalg.norm(target)
            own.append(float(vector @ target / size) if size else 0.0)
        for i, score in enumerate(own):
            beside = [own[j] for j in (i - 1, i + 1) if 0 <= j < len(own)]
            mean = (score + mix * sum(beside)) / (1 + mix * len(beside))
            made.append((each.uri, i, mean))
    return sorted((each for each in made if each[2] > 1e-4), key=lambda each: -each[2])


@pytest.mark.parametrize("mix", [0.0, 0.3])
def test_vectors_are_searched_exactly(store: Store, mix: float) -> None:
    for i in range(20):
        put(store, row_of(sentences(i, 10), f"{i}.md", n=i % 3), space=SPACE)
    put(store, row_of(sentences(1, 10), "1.md", namespace="other"), space=SPACE)
    chance = numpy.random.default_rng(3)
    for scope in (Scope(""), Scope("other"), scope_of("", {"n": [0, 1]}), Scope("none")):
        query = unit_rows(numpy, chance.normal(size=(1, 16)))[0]
        mine = named(store, store.find_near(SPACE, query, scope, EVERYWHERE, mix))
        mine = [each for each in mine if each[2] > 1e-4]
        assert_alike(mine, expected_near(store, scope, query, mix), 2e-3)
        few = store.find_near(SPACE, query, scope, 4, mix)
        assert [each.score for each in few] == [each[2] for each in mine[:4]]
    assert store.find_near("other@16", query, Scope(""), 4, mix) == []
    assert list(store.damage(SPACE)) == []


def test_equal_vectors_and_those_of_zeros(store: Store) -> None:
    rows = {}
    for uri in ("b", "a", "z"):
        rows[uri] = cut(row_of("same" if uri != "z" else "zero", uri))
        vector = numpy.eye(16, dtype=numpy.float16)[:1] * (uri != "z")
        store.put_vectors(SPACE, [each.digest for each in rows[uri]], vector)
        store.put(row_of("same" if uri != "z" else "zero", uri), rows[uri], SPACE)
    found = named(store, store.find_near(SPACE, numpy.eye(16, dtype="f2")[0], Scope(""), 9, 0.0))
    assert uris(found) == ["a", "b"]
    assert [score for *_, score in found] == pytest.approx([1.0, 1.0])
    zero = numpy.zeros(16, dtype=numpy.float16)
    assert store.find_near(SPACE, zero, Scope(""), 9, 0.0) == []
    assert store.find_near(SPACE, -numpy.eye(16, dtype="f2")[0], Scope(""), 9, 0.3) == []
    assert list(store.damage(SPACE)) == []


def test_vectors_come_back_bit_by_bit_and_are_dropped_when_unused(store: Store) -> None:
    rows = put(store, row_of(sentences(1, 9)), space=SPACE)
    digests = [each.digest for each in rows]
    tiny = numpy.array([[6e-8, -6e-8, 0.0, -0.0, 1.0, 0.1, 1 / 3, *[0.0] * 9]], dtype="f2")
    store.put_vectors(SPACE, [b"t" * 16], tiny)
    kept = store.vectors(SPACE, [*digests, b"t" * 16, b"none" * 4])
    assert set(kept) == {*digests, b"t" * 16}
    for digest, vector in zip(digests, vectors_of(rows), strict=True):
        assert kept[digest].dtype == numpy.float16
        assert (kept[digest] == vector).all()
    assert (kept[b"t" * 16] == tiny[0]).all()
    # A digest that has one keeps it.
    store.put_vectors(SPACE, [b"t" * 16], -tiny)
    assert (store.vectors(SPACE, [b"t" * 16])[b"t" * 16] == tiny[0]).all()
    store.put_vectors("other@3", [b"t" * 16, digests[0]], numpy.eye(3, dtype="f2")[:2])
    assert store.drop_vectors(SPACE) == 3
    assert store.drop_vectors(SPACE) == 0
    assert store.missing(SPACE, [*digests, b"t" * 16]) == {b"t" * 16}
    assert store.missing("other@3", digests[:1]) == {digests[0]}


# --- passages and settings ------------------------------------------------------------------


def test_passages_and_parts_of_texts(store: Store) -> None:
    row = row_of(HOSTILE, n=1)
    rows = put(store, row)
    key = store.find_words(read_query("nul naive lone last"), Scope(""), 1)[0].document
    found = store.passages_of(key, 0, 99)
    assert len(found) == len(rows)
    for number, (passage, kept) in enumerate(zip(found, rows, strict=True)):
        chunk = passage.chunk
        assert chunk.text == HOSTILE[kept.start : kept.end]
        assert (chunk.start, chunk.body, chunk.end) == (kept.start, kept.body, kept.end)
        assert (chunk.index, chunk.id) == (number, f"a.md#{kept.name}")
        assert (passage.digest, passage.namespace) == (kept.digest, "")
        assert chunk.meta == {"n": 1}
    assert store.passages_of(key, 1, 2) == found[1:3]
    assert store.passages_of(key, 2, 1) == []
    keys = [each.key for each in found]
    assert store.passages([*keys[::-1], 10**9, keys[0]]) == [*found[::-1], found[0]]
    assert store.text(key, 0, len(HOSTILE)) == HOSTILE
    assert store.text(key, 3, 30) == HOSTILE[3:30]
    assert store.text(key, 3, 10**6) == HOSTILE[3:]
    put(store, row_of("other text"))
    assert store.text(key, 0, 99) == "other text"


def test_settings(store: Store, opener: Opener) -> None:
    store.change_settings({"one": "1", "two": "é \\ ' \n"})
    store.change_settings({"one": "", "three": "x" * 10_000})
    kept = store.settings()
    wanted = {"one": "", "two": "é \\ ' \n", "three": "x" * 10_000}
    assert {name: kept[name] for name in wanted} == wanted
    store.close()
    store.close()
    again = opener()
    kept = again.settings()
    assert {name: kept[name] for name in wanted} == wanted
    again.close()


def test_a_store_is_the_same_when_it_is_opened_again(opener: Opener) -> None:
    store = opener()
    for i in range(4):
        put(store, row_of(sentences(i, 6), f"{i}.md", n=i), space=SPACE)
    store.prepare_words(False)
    query = unit_rows(numpy, numpy.ones((1, 16)))[0]

    def all_of(each: Store) -> Any:
        return (
            each.stems,
            each.documents(Scope("")),
            [each.whole("", f"{i}.md") for i in range(4)],
            words(each, "refund the late"),
            each.find_near(SPACE, query, Scope(""), 9, 0.3),
        )

    before = all_of(store)
    name = store.name
    store.close()
    again = opener()
    assert again.name == name
    assert all_of(again) == before
    put(again, row_of("more", "more.md"))
    assert uris(words(again, "more")) == ["more.md"]
    assert list(again.damage(SPACE)) == []
    again.close()


# --- two at once ----------------------------------------------------------------------------


def two_of(opener: Opener) -> tuple[Store, Store]:
    first = opener()
    try:
        return first, opener()
    except StoreError as fault:
        first.close()
        pytest.skip(f"one user at a time: {fault}")


def test_a_reader_sees_whole_documents(opener: Opener) -> None:
    writer, reader = two_of(opener)
    faults: list[object] = []
    seen: set[str] = set()
    stop = threading.Event()

    def read() -> None:
        try:
            while not stop.is_set():
                with reader.reading():
                    known = reader.document("", "a.md")
                    if known is None:
                        continue
                    row, rows = reader.whole("", "a.md")
                    found = words(reader, "alpha")
                    text = row.document.text
                    seen.add(text)
                    assert known.chunks == len(rows) == len(found)
                    assert known.content_hash == row.document.content_hash
                    assert text.count("alpha") == len(found)
                    key = reader.find_words(read_query("alpha"), Scope(""), 1)[0].document
                    for each in reader.passages_of(key, 0, 99):
                        assert text[each.chunk.start : each.chunk.end] == each.chunk.text
        except BaseException as fault:  # told below
            faults.append(fault)

    thread = threading.Thread(target=read)
    thread.start()
    for i in range(400):
        put(writer, row_of("\n\n".join(f"# H{j}\n\nalpha {i} {j}" for j in range(1 + i % 5))))
        if i >= 40 and (len(seen) > 1 or faults):
            break
    stop.set()
    thread.join()
    assert faults == []
    assert len(seen) > 1
    assert list(reader.damage("")) == []
    writer.close()
    reader.close()


def test_what_is_read_within_reading_is_of_one_moment(opener: Opener) -> None:
    writer, reader = two_of(opener)
    put(writer, row_of("alpha"))
    with reader.reading():
        assert uris(words(reader, "alpha")) == ["a.md"]
        put(writer, row_of("beta"))
        put(writer, row_of("gamma", "b.md"))
        assert uris(words(reader, "alpha")) == ["a.md"]
        assert reader.whole("", "a.md")[0].document.text == "alpha"
        assert reader.document("", "b.md") is None
    assert words(reader, "alpha") == []
    assert uris(words(reader, "gamma")) == ["b.md"]
    writer.close()
    reader.close()


def test_what_is_written_within_writing_is_undone_by_a_fault(store: Store) -> None:
    put(store, row_of("alpha"))
    if isinstance(store, SqliteStore | PostgresStore):
        with pytest.raises(ZeroDivisionError), store.writing():
            put(store, row_of("beta"))
            put(store, row_of("gamma", "b.md"))
            assert uris(words(store, "gamma")) in ([], ["b.md"])
            raise ZeroDivisionError
        assert [each.uri for each in store.documents(Scope(""))] == ["a.md"]
        assert uris(words(store, "alpha")) == ["a.md"]
        assert words(store, "beta gamma") == []
    with store.writing():
        put(store, row_of("beta"))
        put(store, row_of("gamma", "b.md"))
    assert uris(words(store, "beta gamma")) == ["a.md", "b.md"]
    assert list(store.damage("")) == []


def test_writers_wait_for_each_other(opener: Opener) -> None:
    stores = two_of(opener)
    faults: list[object] = []

    def write(number: int) -> None:
        try:
            for i in range(15):
                put(stores[number], row_of(sentences(i + number, 5), f"{i % 7}.md"), space=SPACE)
                stores[number].drop_vectors(SPACE)
        except BaseException as fault:  # told below
            faults.append(fault)

    def put(store: Store, row: DocumentRow, *, space: str) -> None:
        rows = cut(row)
        missing = {each.digest for each in rows}
        while missing:
            store.put_vectors(space, [each.digest for each in rows], vectors_of(rows))
            missing = store.put(row, rows, space)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for each in stores:
        assert len(each.documents(Scope(""))) == 7
        assert list(each.damage(SPACE)) == []
        each.close()


# --- damage ---------------------------------------------------------------------------------

# Statements that do harm, the name of each the fault that has to be told.
_HARM = {
    "not the one that was stored": "UPDATE documents SET text = {other} WHERE uri = {a}",
    "not as long": "UPDATE documents SET characters = 3 WHERE uri = {a}",
    "cannot be read": "UPDATE documents SET meta = '{{' WHERE uri = {a}",
    "not what was written": "UPDATE documents SET layout = {layout} WHERE uri = {a}",
    "filters do not see": "DELETE FROM labels",
    "not numbered": "UPDATE chunks SET position = position + 1 WHERE position > 0",
    "outside the text": 'UPDATE chunks SET "end" = 100000 WHERE position = 0',
    "not the text that was embedded": 'UPDATE chunks SET "end" = "end" - 1 WHERE position = 1',
    "of passage 1 cannot be read": "UPDATE chunks SET about = '{{\"context\":' WHERE position = 1",
    "not what was written ": "UPDATE chunks SET name = 'x' WHERE position = 1",
    "have no vector": "DELETE FROM vectors",
    "passages have no vector": "UPDATE vectors SET checksum = checksum + 1",
}
_SQLITE_HARM = {
    "passages that there are": "DELETE FROM words_docsize WHERE id = 1",
    "words that there are": "INSERT INTO words (words) VALUES ('delete-all')",
    "the vocabulary lacks": "INSERT INTO vocabulary (vocabulary) VALUES ('delete-all')",
    "belong to no document": "INSERT INTO labels VALUES ('k', '1', 99)",
    "changed last": "DELETE FROM state",
}
_POSTGRES_HARM = {
    "words that there are": "DELETE FROM postings WHERE word = 'alpha'",
    "words that there are ": "UPDATE postings SET places = '{{7}}' WHERE word = 'alpha'",
    "words that there are  ": "UPDATE postings SET in_text = 9 WHERE word = 'alpha'",
    "length of a passage": "UPDATE chunks SET words = words + 1 WHERE position = 1",
    "does not count": "UPDATE state SET words = words + 1",
    "does not count ": "DELETE FROM state",
    "the vocabulary lacks": "DELETE FROM vocabulary WHERE word = 'alpha'",
    "the vocabulary lacks ": "UPDATE vocabulary SET term = 'beta' WHERE word = 'alpha'",
    "belong to no chunk": "INSERT INTO postings VALUES ('k', 99999, 1, 1, '{{}}')",
    "passages have no vector ": "UPDATE vectors SET data = '[1,1]'",
}
HARMS = [
    *(("sqlite", *harm) for harm in {**_HARM, **_SQLITE_HARM}.items()),
    *(("postgres", *harm) for harm in {**_HARM, **_POSTGRES_HARM}.items()),
]


@pytest.mark.parametrize(("name", "told", "statement"), HARMS)
def test_damage_is_found(name: str, told: str, statement: str, tmp_path: Path) -> None:
    with STORES[name](tmp_path) as opener:
        store: Any = opener()
        row = row_of("# One\n\nalpha beta\n\n# Two\n\ngamma delta", n=1)
        row = DocumentRow(
            namespace="", document=row.document, recipe=f'["s", "{SPACE}"]', source={}
        )
        put(store, row, space=SPACE)
        assert list(store.damage(SPACE)) == []
        connection = store._connection if name == "sqlite" else store._session.connection
        mark = "X'{}'" if name == "sqlite" else "'\\x{}'::bytea"
        values = {
            "a": mark.format(b"a.md".hex()),
            "other": mark.format(b"other".hex()),
            "layout": mark.format(compress(b"{}").hex()),
        }
        if name == "sqlite":
            connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(statement.format(**values))
        store.close()
        again = opener()
        found = list(again.damage(SPACE))
        again.close()
        assert any(told.strip() in what for _, what in found), found


# --- the index ------------------------------------------------------------------------------

FILES = {
    "a.md": "# Terms\n\nRefunds are paid within ten days.\n\n## Late fees\n\nThe late fee is due.",
    "sub/b.txt": "The café in 東京都 pays refunds to Zoë.\n\nPay the late fee at once!",
    "c.html": "<h1>Terms</h1><p>A refund of the late fee needs a form.</p>",
    "d.md": HOSTILE.replace("\ud800", "").replace("\udfff", "").replace("\0", ""),
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


def test_an_index_is_the_same_in_every_store(opener: Opener, tmp_path: Path) -> None:
    folder = write(tmp_path / "docs", FILES)
    embedder = Counting().embedder
    made: list[Callable[[], Store]] = [opener, lambda: SqliteStore(tmp_path / "peer.db")]
    indexes = [
        Index(
            each(), splitter=by_paragraph(chunk_size=60), embedder=embedder, ceiling=500,
            base=tmp_path,
        )
        for each in made
    ]  # fmt: skip
    lone = Document(text=HOSTILE, uri="lone", meta={"team": "a"})
    for step in range(3):
        if step == 1:
            write(
                folder, {"a.md": FILES["a.md"].replace("ten", "twenty"), "e.md": "# Terms\n\nnew"}
            )
            (folder / "c.html").unlink()
        for index in indexes:
            report = index.add_folder(folder, metadata={"kind": "file"})
            assert not report.failed
            index.add(lone, namespace="team")
            index.update_metadata("lone", {"step": step}, namespace="team")
            assert index.verify().differences == ()
        assert_equal(*indexes, namespaces=["", "team"])
    assert indexes[0].add_folder(folder, metadata={"kind": "file"}).embedded == 0
    for index in indexes:
        assert [h.chunk.doc_uri for h in index.search("nul", where={"team": "a"}, namespace="team")]
        assert not index.search("refund", where={"kind": []})
        index.remove("docs/a.md")
        index.vacuum()
    assert_equal(*indexes, namespaces=["", "team"])
    assert damage(indexes[0]) == []
    for index in indexes:
        index.close()


@pytest.mark.parametrize("target", list(STORES))
@pytest.mark.parametrize("source", list(STORES))
def test_a_bundle_leads_from_store_to_store(source: str, target: str, tmp_path: Path) -> None:
    embedder = Counting()
    options: dict[str, Any] = {"splitter": by_paragraph(chunk_size=60), "ceiling": 500}
    with STORES[source](tmp_path / "one") as first, STORES[target](tmp_path / "two") as second:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
        one = Index(first(), embedder=embedder.embedder, **options)
        two = Index(second(), embedder=embedder.embedder, **options)
        one.add([Document(text=sentences(i, 8), uri=f"{i}", meta={"n": i}) for i in range(5)])
        one.add(Document(text=HOSTILE, uri="hostile\ud800"))
        one.update_metadata("1", {"more": ["a"]})
        embedder.begin()
        assert one.export_bundle(tmp_path / "bundle") == 6
        assert two.import_bundle(tmp_path / "bundle") == 6
        assert embedder.embedded == []
        assert_equal(one, two, namespaces=[""])
        assert two.verify().differences == ()
        one.close()
        two.close()


# --- PostgreSQL alone -----------------------------------------------------------------------


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Opener]:
    with STORES["postgres"](tmp_path) as made:
        yield made


def conninfo() -> str:
    return postgres_server()[0]


def run(store: Any, statement: str) -> Any:
    return store._session.connection.execute(statement)


def test_postgres_hnsw_finds_what_is_near(postgres: Opener) -> None:
    store: Any = postgres()
    with pytest.raises(StoreError, match="index documents first, or search without it"):
        store.index_vectors(SPACE)
    for i in range(60):
        put(store, row_of(sentences(i, 10), f"{i}.md", n=i % 30), space=SPACE)
    chance = numpy.random.default_rng(3)
    queries = [unit_rows(numpy, chance.normal(size=(1, 16)))[0] for _ in range(5)]
    scopes = (Scope(""), scope_of("", {"n": 3}), Scope("none"))

    def found() -> list[list[Found]]:
        return [
            store.find_near(SPACE, query, scope, 10, 0.0) for query in queries for scope in scopes
        ]

    exact = found()
    store.index_vectors(SPACE)
    store.index_vectors(SPACE)
    run(store, "SET enable_seqscan TO off")
    near = found()
    for one, two in zip(near, exact, strict=True):
        assert len(one) == len(two)
        assert len({each.chunk for each in one} & {each.chunk for each in two}) >= 0.8 * len(one)
    put(store, row_of("more", "more.md"), space=SPACE)
    store.drop_vectors(SPACE)
    assert list(store.damage(SPACE)) == []
    store.close()


def test_postgres_only_reads_what_is_read_only(postgres: Opener) -> None:
    schema = _schema(postgres)
    with pytest.raises(StoreError, match=r"there is no such index; make it with Index\("):
        PostgresStore(conninfo(), schema="nowhere", read_only=True)
    store = PostgresStore(conninfo(), schema=schema, read_only=True)
    assert store.documents(Scope("")) == []
    with pytest.raises(StoreError, match="it is open for reading only; open it without read_only"):
        put(store, row_of("text"))
    with pytest.raises(StoreError, match="read-only transaction; open it without read_only"):
        store._session.run("DELETE FROM documents")
    store.close()
    with pytest.raises(StoreError, match="closed; open the index again"):
        store.documents(Scope(""))


def _schema(opener: Opener) -> str:
    store: Any = opener()
    put(store, row_of("text"))
    store.remove("", ["a.md"])
    schema: str = store._session._schema
    store.close()
    return schema


def test_postgres_refuses_what_is_no_index_of_its_own(postgres: Opener) -> None:
    schema = _schema(postgres)
    store: Any = postgres()
    run(store, "UPDATE spanwise_format SET version = 99")
    store.close()
    for read_only in (True, False):
        with pytest.raises(StoreError, match=r"it has format 99, .* reads up to 1"):
            PostgresStore(conninfo(), schema=schema, read_only=read_only)
    with pytest.importorskip("psycopg").connect(conninfo(), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS another")
        connection.execute("CREATE TABLE IF NOT EXISTS another.kind (a int)")
    for read_only in (True, False):
        with pytest.raises(StoreError, match="a schema of another kind; give another schema"):
            PostgresStore(conninfo(), schema="another", read_only=read_only)
    for name in ("", "x" * 64, "a\0b"):
        with pytest.raises(OptionError, match="is no name of a schema"):
            PostgresStore(conninfo(), schema=name)


def test_postgres_tells_no_password(postgres: Opener, tmp_path: Path) -> None:
    for given in (
        f"host={tmp_path} user=me password=secret",
        f"postgresql://me:secret@/db?host={tmp_path}",
        "password=secret nonsense",
        "postgresql://me:secret@[::1/db",
    ):
        with pytest.raises(StoreError) as fault:
            PostgresStore(given)
        assert "secret" not in str(fault.value)
        assert ";" in str(fault.value)


def test_postgres_schemas_are_apart(postgres: Opener) -> None:
    schema = _schema(postgres)
    one, two = postgres(), PostgresStore(conninfo(), schema=f"{schema} two")
    put(one, row_of("alpha"), space=SPACE)
    assert two.documents(Scope("")) == []
    assert words(two, "alpha") == []
    assert two.missing(SPACE, [cut(row_of("alpha"))[0].digest])
    run(two, f'DROP SCHEMA "{schema.replace(chr(34), chr(34) * 2)} two" CASCADE')
    one.close()
    two.close()


def test_postgres_schemas_are_made_once_by_many(postgres: Opener) -> None:
    made: list[Any] = []

    def make() -> None:
        try:
            made.append(postgres())
        except BaseException as fault:  # told below
            made.append(fault)

    threads = [threading.Thread(target=make) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in made:
        assert isinstance(each, PostgresStore), each
        each.close()


def test_postgres_keeps_the_old_document_where_a_session_is_lost(postgres: Opener) -> None:
    store, other = postgres(), postgres()
    put(store, row_of("alpha"))
    ((pid,),) = run(store, "SELECT pg_backend_pid()").fetchall()
    with pytest.raises(StoreError, match="and open the index again"), store.writing():
        put(store, row_of("beta\n\ngamma"))
        run(other, f"SELECT pg_terminate_backend({pid}, 5000)")
        put(store, row_of("delta", "d.md"))
    assert [each.uri for each in other.documents(Scope(""))] == ["a.md"]
    assert uris(words(other, "alpha")) == ["a.md"]
    assert words(other, "beta delta") == []
    put(other, row_of("beta"))
    assert list(other.damage("")) == []
    store.close()
    other.close()


def test_postgres_says_who_is_waited_for(postgres: Opener) -> None:
    store, other = postgres(), postgres()
    run(other, "SET lock_timeout TO '50ms'")
    with (
        store.writing(),
        pytest.raises(StoreError, match="another process holds it; try again when that is done"),
    ):
        put(other, row_of("beta"))
    put(other, row_of("beta"))
    store.close()
    other.close()


def test_postgres_words_of_another_version_are_written_anew(postgres: Opener) -> None:
    store: Any = postgres()
    put(store, row_of("alpha beta"))
    store.change_settings({"words": "0"})
    run(store, "DELETE FROM postings")
    store.close()
    again = postgres()
    assert uris(words(again, "alpha")) == ["a.md"]
    assert list(again.damage("")) == []
    again.close()


def test_postgres_lends_a_store_to_threads(postgres: Opener) -> None:
    store = postgres()
    faults: list[object] = []

    def use(number: int) -> None:
        try:
            for i in range(10):
                put(store, row_of(f"alpha {number} {i}\n\nbeta", f"{number}.md"), space=SPACE)
                with store.reading():
                    assert len(words(store, f"alpha {number}")) >= 1
                    assert store.whole("", f"{number}.md")[0].document.text
        except BaseException as fault:  # told below
            faults.append(fault)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert list(store.damage(SPACE)) == []
    store.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Makes a database of its own, and says how it is reached."""
    with STORES["postgres"](tmp_path):
        psycopg = pytest.importorskip("psycopg")
        made: list[str] = []

        def make(options: str = "", *statements: str) -> str:
            name = f"own{len(made)}"
            made.append(name)
            with psycopg.connect(conninfo(), autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 {options}")
            given = conninfo().replace("dbname=postgres", f"dbname={name}")
            with psycopg.connect(given, autocommit=True) as connection:
                for statement in statements:
                    connection.execute(statement)
            return given

        yield make
        with psycopg.connect(conninfo(), autocommit=True) as connection:
            for name in made:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute("DROP ROLE IF EXISTS plain")


def test_postgres_of_another_encoding_and_pgvector_elsewhere(
    database: Callable[..., str], peer: SqliteStore
) -> None:
    for encoding in ("LATIN1", "SQL_ASCII"):
        given = database(
            f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'",
            "CREATE SCHEMA elsewhere",
            "CREATE EXTENSION vector SCHEMA elsewhere",
        )
        store = PostgresStore(given)
        for each in (store, peer):
            fill(each, 3)
            put(each, row_of(HOSTILE, "ü\ud800", é="東京\0"), space=SPACE)
        assert store.whole("", "ü\ud800") == peer.whole("", "ü\ud800")
        assert len(store.documents(scope_of("", {"é": "東京\0"}))) == 1
        for query in QUERIES:
            assert_alike(words(store, query), words(peer, query))
        store.index_vectors(SPACE)
        near = store.find_near(SPACE, vectors_of(cut(row_of(HOSTILE)))[0], Scope(""), 1, 0.0)
        assert near[0].score == pytest.approx(1, abs=2e-3)
        assert list(store.damage(SPACE)) == []
        store.close()


def test_postgres_with_few_rights(database: Callable[..., str]) -> None:
    given = database("", "CREATE ROLE plain LOGIN")
    plain_user = given.replace("user=postgres", "user=plain")
    with pytest.raises(StoreError, match=r"permission denied .*; have these rights granted, or"):
        PostgresStore(plain_user)
    owner: Any = PostgresStore(given)
    put(owner, row_of("alpha"), space=SPACE)
    run(owner, "GRANT USAGE ON SCHEMA spanwise TO plain")
    run(owner, "GRANT SELECT ON ALL TABLES IN SCHEMA spanwise TO plain")
    for read_only in (True, False):
        store: Any = PostgresStore(plain_user, read_only=read_only)
        assert uris(words(store, "alpha")) == ["a.md"]
        assert list(store.damage(SPACE)) == []
        with pytest.raises(StoreError, match=r"read_only|rights"):
            put(store, row_of("beta"))
        store.close()
    run(owner, "GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA spanwise TO plain")
    run(owner, "GRANT USAGE ON ALL SEQUENCES IN SCHEMA spanwise TO plain")
    store = PostgresStore(plain_user)
    for i in range(60):
        put(store, row_of(f"beta {i}", f"{i}.md"), space=SPACE)
    store.remove("", ["a.md"])
    store.drop_vectors(SPACE)
    store.vacuum()
    assert words(owner, "alpha") == []
    assert len(words(owner, "beta")) == 60
    assert list(store.damage(SPACE)) == []
    store.close()
    owner.close()
    # A schema and an extension that someone else made are enough.
    made = database(
        "", "CREATE EXTENSION vector", "CREATE SCHEMA mine AUTHORIZATION plain"
    ).replace("user=postgres", "user=plain")
    store = PostgresStore(made, schema="mine")
    put(store, row_of("alpha"), space=SPACE)
    assert list(store.damage(SPACE)) == []
    store.close()


def test_postgres_of_an_older_pgvector(database: Callable[..., str]) -> None:
    given = database(
        "",
        "CREATE EXTENSION vector",
        "UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'",
    )
    with pytest.raises(StoreError, match=r"0\.7\.4, which is older than 0\.8; install a newer"):
        PostgresStore(given)


def test_importing_the_index_needs_no_psycopg() -> None:
    code = "import sys; import spanwise.index; print('psycopg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
