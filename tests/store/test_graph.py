"""A graph of vectors proposes; what is found is exact, new and there."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy
import pytest
from store.corpus import Counting
from store.test_stores import SPACE, cut, put, row_of, sentences, vectors_of

from spanwise import Document, MissingExtraError, StoreError
from spanwise.index import Index, QdrantStore, SqliteStore
from spanwise.index.graph import Graph
from spanwise.index.matrix import unit_rows
from spanwise.index.rows import Found, Scope, scope_of

EVERYWHERE = Scope("")
CHANCE = numpy.random.default_rng(3)
QUERIES = [unit_rows(numpy, CHANCE.normal(size=(1, 16)))[0] for _ in range(5)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pytest.importorskip("usearch")
    return tmp_path / "index.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """Sixty documents, of which a graph may propose only some passages."""
    made = SqliteStore(path)
    for i in range(60):
        put(made, row_of(sentences(i, 12), f"{i}.md", n=i % 30), space=SPACE)
    yield made
    made.close()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many candidates each graph was asked for."""
    counts: list[int] = []
    near = Graph.near

    def noted(self: Graph, library: Any, vector: Any, count: int) -> Any:
        counts.append(count)
        return near(self, library, vector, count)

    monkeypatch.setattr(Graph, "near", noted)
    monkeypatch.setattr("spanwise.index.sqlite_near._CANDIDATES", 40)
    return counts


def found(store: SqliteStore, mix: float = 0.0, scope: Scope = EVERYWHERE) -> list[list[Found]]:
    return [store.find_near(SPACE, query, scope, 10, mix) for query in QUERIES]


@pytest.mark.parametrize("mix", [0.0, 0.3])
def test_what_is_found_is_nearly_what_is_nearest(
    store: SqliteStore, asked: list[int], mix: float
) -> None:
    scopes = (EVERYWHERE, scope_of("", {"n": 3}), Scope("none"))
    exact = [found(store, mix, scope) for scope in scopes]
    everything = {
        each.chunk: each.score
        for query in QUERIES[:1]
        for each in store.find_near(SPACE, query, EVERYWHERE, 10_000, mix)
    }
    store.index_vectors(SPACE)
    near = [found(store, mix, scope) for scope in scopes]
    assert asked == [40] * 5  # of the whole index alone; a filter is searched exactly
    assert near[1:] == exact[1:]
    for one, two in zip(near[0], exact[0], strict=True):
        assert len(one) == 10
        assert len({each.chunk for each in one} & {each.chunk for each in two}) >= 8
        assert [each.score for each in one] == sorted((each.score for each in one), reverse=True)
    for each in near[0][0]:
        assert each.score == pytest.approx(everything[each.chunk], abs=1e-6)


def test_a_graph_is_never_stale(store: SqliteStore, path: Path, asked: list[int]) -> None:
    """What came after it is found, what is gone is not, and both without another graph."""
    store.index_vectors(SPACE)
    best = found(store)[0][0]
    store.remove("", [store.passages([best.chunk])[0].chunk.doc_uri])
    rows = put(store, row_of(f"# New\n\n{sentences(99, 3)}", "new.md"), space=SPACE)
    vector = store.vectors(SPACE, [rows[0].digest])[rows[0].digest]
    with closing(SqliteStore(path, read_only=True)) as reader:
        for each in (store, reader):
            assert best.document not in {hit.document for hit in found(each)[0]}
            first = each.find_near(SPACE, vector, EVERYWHERE, 1, 0.0)[0]
            assert each.passages([first.chunk])[0].chunk.doc_uri == "new.md"
            assert first.score == pytest.approx(1, abs=2e-3)
        with pytest.raises(StoreError, match="open for reading only"):
            reader.index_vectors(SPACE)
    assert len(asked) == 17
    store.index_vectors(SPACE)
    assert store.find_near(SPACE, vector, EVERYWHERE, 1, 0.0)[0].document == first.document
    assert list(store.damage(SPACE)) == []


def test_what_most_of_is_gone_is_not_gone_by(store: SqliteStore, asked: list[int]) -> None:
    store.index_vectors(SPACE)
    store.remove("", [f"{i}.md" for i in range(40)])
    store.drop_vectors(SPACE)
    exact = found(store)
    assert not asked
    store.index_vectors(SPACE)
    assert [[each.chunk for each in one[:5]] for one in found(store)] == [
        [each.chunk for each in one[:5]] for one in exact
    ]
    assert len(asked) == 5
    store.drop_vectors("another")
    with pytest.raises(StoreError, match="no vectors to make a graph of"):
        store.index_vectors(SPACE)


def test_what_had_no_passage_when_a_graph_was_made_is_found(
    store: SqliteStore, asked: list[int]
) -> None:
    """Fault: it was taken to be in the graph, since others that are newer were."""
    late = row_of(sentences(7, 400), "late.md")
    rows = cut(late)
    store.put_vectors(SPACE, [each.digest for each in rows], vectors_of(rows))
    put(store, row_of(sentences(8, 3), "newer.md"), space=SPACE)
    found(store)
    store.index_vectors(SPACE)
    put(store, late, space=SPACE)
    for each in rows[:40]:
        vector = store.vectors(SPACE, [each.digest])[each.digest]
        assert store.find_near(SPACE, vector, EVERYWHERE, 1, 0.0)[0].score > 0.99
    assert asked


def test_passages_of_one_text_are_all_found(path: Path, asked: list[int]) -> None:
    with closing(SqliteStore(path)) as store:
        for i in range(30):
            put(store, row_of("The same.", f"{i}.md"), space=SPACE)
        rows = put(store, row_of(sentences(1, 9)), space=SPACE)
        digest = next(row.digest for row in store.whole("", "0.md")[1])
        store.index_vectors(SPACE)
        vector = store.vectors(SPACE, [digest])[digest]
        near = store.find_near(SPACE, vector, EVERYWHERE, 30, 0.0)
        assert [each.score for each in near] == pytest.approx([1] * 30, abs=2e-3)
        assert len(rows) < len(asked) + 30


def test_a_damaged_graph_is_told_and_not_gone_by(
    store: SqliteStore, path: Path, asked: list[int]
) -> None:
    exact = found(store)
    store.index_vectors(SPACE)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE graphs SET data = zeroblob(length(data))")
        connection.commit()
    with closing(SqliteStore(path)) as other:
        assert found(other) == exact
        assert not asked
        assert list(other.damage(SPACE)) == [
            ("", "the graph of vectors is damaged; index_vectors() makes it anew")
        ]
        other.index_vectors(SPACE)
        assert list(other.damage(SPACE)) == []


def test_without_usearch_it_is_exact(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = found(store)
    store.index_vectors(SPACE)
    monkeypatch.setitem(sys.modules, "usearch", None)
    with closing(SqliteStore(path)) as other:
        assert found(other) == exact
        with pytest.raises(MissingExtraError, match=r"spanwise\[ann\]"):
            other.index_vectors(SPACE)


def test_a_file_of_format_1_is_brought_to_2(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        put(store, row_of("Refunds are paid."), space=SPACE)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE graphs")
        connection.execute("ALTER TABLE state DROP COLUMN tidy")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()
    with pytest.raises(StoreError, match="format 1, which has to be brought to 2 first"):
        SqliteStore(path, read_only=True)
    with closing(SqliteStore(path)) as store:
        store.index_vectors(SPACE)
        assert len(store.find_near(SPACE, QUERIES[0], EVERYWHERE, 5, 0.0)) <= 1
        assert list(store.damage(SPACE)) == []


def test_an_index_makes_a_graph(path: Path) -> None:
    with Index.open(path) as index, pytest.raises(StoreError, match="holds no vectors"):
        index.index_vectors()
    with Index.open(path, embedder=Counting().embedder, rebuild=True) as index:
        index.add(Document(text="A refund takes five days.", uri="a.md"))
        before = index.search("refund", mode="meaning")
        index.index_vectors()
        after = index.search("refund", mode="meaning")
        assert [hit.chunk.id for hit in after] == [hit.chunk.id for hit in before]
        assert index.verify()


def test_qdrant_has_none(tmp_path: Path) -> None:
    pytest.importorskip("qdrant_client")
    with (
        closing(QdrantStore(tmp_path / "qdrant")) as store,
        pytest.raises(StoreError, match="searched exactly, without a graph"),
    ):
        store.index_vectors()
