"""Qdrant: a kill before every call, what readers see, scores as SQLite gives them."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from store.corpus import QUERIES, Counting, assert_equal, damage, told

from spanwise import Document, MissingExtraError, StoreError, by_paragraph
from spanwise.index import (
    Index,
    QdrantStore,
    SqliteStore,
    qdrant_parts,
    qdrant_points,
    qdrant_vectors,
)
from spanwise.index.queries import read_query
from spanwise.index.rows import Scope

qdrant_client = pytest.importorskip("qdrant_client")

HOSTILE = "Nul \0 in it, a lone \ud800 and \udfff, a sign \\0000, \ufeff, naïve 東京都 \U0001f600."


class Killed(BaseException):
    """The process ends here."""


class Fragile:
    """A client that ends the process before its call of a number."""

    WRITES = ("upsert", "delete", "set_payload", "create_collection", "delete_collection")

    def __init__(self, client: Any) -> None:
        self.client = client
        self.left = -1

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.client, name)
        if name not in self.WRITES:
            return found

        def call(*values: Any, **named: Any) -> Any:
            if self.left == 0:
                raise Killed
            self.left -= 1
            return found(*values, **named)

        return call


@pytest.fixture
def client() -> Iterator[Any]:
    made = qdrant_client.QdrantClient(":memory:")
    yield made
    made.close()


WORDS = "refund refunds refunded late fee paid form card cash 東京 都 café the a of"


def text_of(seed: int, paragraphs: int = 6) -> str:
    rng = random.Random(seed)
    words = WORDS.split()
    return "\n\n".join(
        " ".join(rng.choice(words) for _ in range(rng.randint(3, 30))) for _ in range(paragraphs)
    )


def document(uri: str, seed: int, **meta: Any) -> Document:
    return Document(text=f"# Terms {seed}\n\n{text_of(seed)}", uri=uri, meta=meta)


def index_of(store: Any, counting: Counting, **options: Any) -> Index:
    return Index(store, splitter=by_paragraph(chunk_size=90), embedder=counting.embedder, **options)


def check_whole(index: Index, texts: dict[str, set[str]]) -> None:
    """Each document is one of those that it was or becomes, and so is all that is found of it."""
    for uri, each in told(index).items():
        assert each["document"].text in texts[uri]
        # `told` has compared each passage with the text.
        assert [row.start for row in each["rows"]] == sorted(row.start for row in each["rows"])
    for query in ("refund", '"late fee"', "東京", "pai*"):
        for hit in index.search(query, limit=50, fold=False, expand=1):
            document = index.document(hit.chunk.doc_uri)
            assert document.text[hit.start : hit.end] == hit.text


Change = Callable[[Index], object]

CHANGES: dict[str, Change] = {
    "add": lambda index: index.add(document("c", 3)),
    "change": lambda index: index.add(document("a", 4)),
    "shrink": lambda index: index.add(Document(text="Only a refund.", uri="a")),
    "empty": lambda index: index.add(Document(text="", uri="a")),
    "metadata": lambda index: index.update_metadata("a", {"team": "y"}),
    "remove": lambda index: index.remove("a"),
    "stems": lambda index: index._store.prepare_words(False),
    "vectors": lambda index: index.remove(["a", "b"]),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_kill_before_any_write_leaves_whole_documents(name: str) -> None:
    change, killed = CHANGES[name], 0
    while True:
        client = Fragile(qdrant_client.QdrantClient(":memory:"))
        counting = Counting()
        index = index_of(QdrantStore(client), counting)
        index.add([document("a", 1, team="x"), document("b", 2, team="y")])
        before = {uri: {each["document"].text} for uri, each in told(index).items()}
        client.left = killed
        try:
            change(index)
            done = True
        except Killed:
            done = False
        client.left = -1
        texts = {uri: set(before.get(uri, ())) for uri in "abc"}
        for uri, seed in (("a", 4), ("c", 3)):
            texts[uri].add(document(uri, seed).text)
        texts["a"] |= {"Only a refund.", ""}
        # Another process, before anything is repaired.
        with Index(QdrantStore(client.client, read_only=True), embedder=counting.embedder) as other:
            check_whole(other, texts)
        reopened = index_of(QdrantStore(client.client), counting)
        check_whole(reopened, texts)
        change(reopened)
        assert damage(reopened) == []
        plain = Index(
            SqliteStore(":memory:"),
            splitter=by_paragraph(chunk_size=90),
            embedder=counting.embedder,
        )
        plain.add([document("a", 1, team="x"), document("b", 2, team="y")])
        change(plain)
        assert_equal(reopened, plain, [""])
        plain.close()
        client.client.close()
        if done:
            break
        killed += 1
    assert killed > 3


def test_a_kill_while_it_is_made(tmp_path: Path) -> None:
    for killed in range(20):
        client = Fragile(qdrant_client.QdrantClient(":memory:"))
        client.left = killed
        try:
            QdrantStore(client)
            done = True
        except Killed:
            done = False
        client.left = -1
        index = Index(QdrantStore(client))
        index.add(document("a", 1))
        assert damage(index) == []
        client.client.close()
        if done:
            break
    assert 3 < killed < 19


def test_a_fault_is_repaired_by_the_same_store(client: Any) -> None:
    fragile = Fragile(client)
    index = Index(QdrantStore(fragile))
    index.add(document("a", 1))
    for left in range(8):
        fragile.left = left
        with pytest.raises(Killed):
            index.add(document("a", left + 2))
        fragile.left = -1
    index.add(document("a", 99))
    assert damage(index) == []
    assert index.document("a").text == document("a", 99).text


def test_words_that_were_half_written_are_written_by_the_same_store(client: Any) -> None:
    fragile = Fragile(client)
    index = Index(QdrantStore(fragile))
    index.add([document("a", 1), document("b", 2)])
    for left in (1, 2, 3):
        fragile.left = left
        with pytest.raises(Killed):
            index._store.prepare_words(False)
        fragile.left = -1
        index.update_metadata("a", {"left": left})
        assert damage(index) == []
        assert not index._store.stems
        index._store.prepare_words(True)


class Distant(Fragile):
    """A client as one of a server: it has the address of one."""

    init_options: dict[str, Any] = {"url": "http://user:secret@there:6333"}  # noqa: RUF012

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)

        def call(*values: Any, **named: Any) -> Any:
            self.asked.append((name, values, named))
            return found(*values, **named)

        return call


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
@pytest.mark.filterwarnings("ignore:Local mode performs exact")
def test_a_server_is_asked_for_indexes_and_for_exact_search(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    distant = Distant(client)
    index = index_of(QdrantStore(distant), Counting())
    assert index._store.name == "http://there:6333"
    made = {
        (values[0].rpartition("_")[2], named["field_name"])
        for name, values, named in distant.asked
        if name == "create_payload_index"
    }
    assert made == {
        *(("documents", key) for key in ("kind", "namespace", "labels", "number")),
        *(("passages", key) for key in ("namespace", "labels", "digest", "key", "terms")),
        ("words", "heads"),
    }
    index.add([document("a", 1), document("b", 2)])
    assert index.search("refund")
    asked = [named for name, _, named in distant.asked if name == "query_points"]
    dense = [named["search_params"] for named in asked if named["using"] is None]
    assert dense and all(each.exact for each in dense)
    assert all(named["search_params"] is None for named in asked if named["using"] == "words")
    # What another process does now is not broken off.
    before = client.count("spanwise_passages").count
    distant.left = 5
    with pytest.raises(Killed):
        index.add(document("a", 3))
    assert client.count("spanwise_passages").count > before
    other = index_of(QdrantStore(Distant(client)), Counting())
    other.vacuum()
    assert client.count("spanwise_passages").count > before
    assert damage(other) == []
    assert other.document("a").text == document("a", 1).text
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 4000)
    index_of(QdrantStore(Distant(client)), Counting())
    assert client.count("spanwise_passages").count == before


def test_a_kill_at_any_moment(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path[:0] = [sys.argv[2]]\n"
        "from store.test_qdrant import *\n"
        "index = index_of(QdrantStore(sys.argv[1]), Counting())\n"
        "print('open', flush=True)\n"
        "for i in range(10_000): index.add(document('abc'[i % 3], i % 7))\n"
    )
    texts = {uri: {document(uri, seed).text for seed in range(7)} for uri in "abc"}
    rng = random.Random(4)
    for _ in range(4):
        run = [sys.executable, "-c", code, str(tmp_path / "q"), str(Path(__file__).parents[1])]
        with subprocess.Popen(run, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"open\n"
            time.sleep(rng.random() / 2)
            process.kill()
        with index_of(QdrantStore(tmp_path / "q"), Counting()) as index:
            check_whole(index, texts)
            assert damage(index) == []


@pytest.mark.parametrize("stems", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_finds_what_sqlite_finds_with_the_same_scores(
    client: Any, seed: int, stems: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small steps, so that candidates come in many pages and scopes are wide.
    monkeypatch.setattr("spanwise.index.qdrant_words._BEYOND", 1)
    monkeypatch.setattr(qdrant_vectors, "_NARROW", seed % 2 * 1000)
    monkeypatch.setattr(qdrant_parts, "_FEW", 8)
    counting = Counting()
    one = index_of(QdrantStore(client), counting, stems=stems)
    two = index_of(SqliteStore(":memory:"), counting, stems=stems)
    rng = random.Random(seed)
    for index in (one, two):
        index.add([document(f"d{i:02}", seed * 100 + i, n=i % 3) for i in range(12)])
        index.add([document("e", 7)], namespace="other")
    assert_equal(one, two, ["", "other"])
    queries = (*QUERIES, "refund late fee", '"fee paid form"', "the of a", "r* f*", "東京都 cash")
    for query in queries:
        for limit in (2, 30):
            for where in (None, {"n": [0, 2]}, {"n": []}):
                for mode in ("words", "meaning", "both"):
                    mix = rng.choice([0.0, 0.3])
                    asked: Any = {"limit": limit, "where": where, "mode": mode, "mix": mix}
                    ours = one.search(query, **asked)
                    theirs = two.search(query, **asked)
                    assert [each.chunk.id for each in ours] == [each.chunk.id for each in theirs]
                    assert [each.score for each in ours] == pytest.approx(
                        [each.score for each in theirs], rel=1e-6, abs=1e-6
                    )
    two.close()


def test_the_best_are_proven_so_few_are_read(client: Any) -> None:
    store = QdrantStore(client)
    index = Index(store, splitter=by_paragraph(chunk_size=90))
    index.add([document(f"d{i:03}", i) for i in range(60)])
    asked: list[int] = []
    live = store._live
    store._live = lambda points, scope: asked.append(len(points)) or live(points, scope)  # type: ignore
    for query in ("refund", "late fee paid", "café"):
        found = store.find_words(read_query(query), Scope(""), 5)
        assert len(found) == 5
    passages = sum(each.chunks for each in index.documents())
    assert passages > 300
    assert sum(asked) < 0.8 * 3 * passages


def test_hostile_text_survives(client: Any, tmp_path: Path) -> None:
    counting = Counting()
    uri = "a\0\ud800\\.md"
    for space in ("", "\ud800\0"):
        index = index_of(QdrantStore(client), counting)
        given = Document(text=HOSTILE * 3, uri=uri, meta={"\ud800": "\0", "n": None})
        index.add(given, namespace=space)
        again = index_of(QdrantStore(client), counting)
        assert again.document(uri, namespace=space) == given
        assert [each.uri for each in again.documents(namespace=space)] == [uri]
        hits = again.search("naive 東京", mode="words", where={"\ud800": "\0"}, namespace=space)
        assert hits[0].text in given.text
        assert damage(again) == []
    assert again._store.namespaces() == ["", "\ud800\0"]


def test_long_texts_are_in_pieces(client: Any) -> None:
    text = "\n\n".join(f"Passage {i} of \ud800 many words." for i in range(9000))
    index = Index(QdrantStore(client), splitter=by_paragraph(chunk_size=20_000))
    index.add(Document(text=text, uri="long"))
    assert index.document("long").text == text
    hit = index.search("8999", expand="document")[0]
    assert hit.text == text[hit.start : hit.end]
    assert (hit.start, hit.end) == (0, len(text))
    assert damage(index) == []


def test_a_reading_sees_one_moment(tmp_path: Path) -> None:
    one, two = QdrantStore(tmp_path / "q"), QdrantStore(tmp_path / "q")
    counting = Counting()
    writer = index_of(two, counting)
    writer.add([document("a", 1, team="x"), document("b", 2, team="x"), document("c", 3)])
    reader = index_of(one, counting)
    with one.reading():
        before, ids = told(reader), [h.chunk.id for h in reader.search("refund", limit=99)]

        def change() -> None:
            writer.add([document("a", 5), document("d", 6)])
            writer.remove("b")
            writer.update_metadata("c", {"team": "x"})
            writer.update_metadata("c", {"team": "z"})

        thread = threading.Thread(target=change)
        thread.start()
        thread.join()
        assert told(reader) == before
        assert {h.chunk.id for h in reader.search("refund", limit=99)} == set(ids)
        assert [each.uri for each in reader.documents(where={"team": "x"})] == ["a", "b"]
        assert list(told(writer)) == ["a", "c", "d"]
    assert list(told(reader)) == ["a", "c", "d"]
    assert damage(reader) == []
    assert not one._calls.shared.running
    reader.close()
    writer.close()
    with Index(QdrantStore(tmp_path / "q"), embedder=counting.embedder) as again:
        assert list(told(again)) == ["a", "c", "d"]
        assert damage(again) == []


def test_what_another_process_replaced_is_told(client: Any) -> None:
    counting = Counting()
    index = index_of(QdrantStore(client), counting)
    index.add(document("a", 1))
    store = index._store
    with store.reading():
        found = store.find_words(read_query("refund"), Scope(""), 3)
        assert len(store.passages([each.chunk for each in found])) == 3
        # As another process does, which knows nothing of this reading.
        shared, index._store._calls.shared.snapshots = store._calls.shared.snapshots, []
        thread = threading.Thread(target=lambda: index.add(document("a", 2)))
        thread.start()
        thread.join()
        store._calls.shared.snapshots = shared
        assert store.passages([each.chunk for each in found]) == []
        with pytest.raises(StoreError, match="changed by another process"):
            store.passages_of(found[0].document, 0, 1)


def test_metadata_decides_what_is_found_at_once(client: Any) -> None:
    index = Index(QdrantStore(client))
    index.add(document("a", 1, team="x"))
    assert index.search("refund", where={"team": "x"})
    index.update_metadata("a", {"team": "y"})
    assert not index.search("refund", where={"team": "x"})
    assert index.search("refund", where={"team": "y"})
    # A filter that passages were left with is no way in.
    for point in client.scroll("spanwise_passages", limit=100)[0]:
        labels = [*point.payload["labels"], *document_labels("x")]
        client.set_payload("spanwise_passages", payload={"labels": labels}, points=[point.id])
    assert not index.search("refund", where={"team": "x"})


def document_labels(team: str) -> list[str]:
    return qdrant_points.labels_in({"team": team})


def test_bundles_go_both_ways(client: Any, tmp_path: Path) -> None:
    counting = Counting()
    one, two = index_of(SqliteStore(":memory:"), counting), index_of(QdrantStore(client), counting)
    one.add([document("a", 1), Document(text=HOSTILE, uri="b")])
    two.add(document("z", 9))
    one.export_bundle(tmp_path / "one")
    assert two.import_bundle(tmp_path / "one") == 2
    two.remove("z")
    assert_equal(two, one, [""])
    two.export_bundle(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    one.close()


def test_a_folder_is_kept_up_to_date(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.md").write_text("# Refunds\n\nPaid in ten days.")
    (files / "b.txt").write_text("The late fee.")
    counting = Counting()
    for _ in range(2):
        with Index(QdrantStore(tmp_path / "q"), embedder=counting.embedder, base=tmp_path) as index:
            report = index.add_folder(files)
            assert index.verify().differences == ()
    assert report.unchanged == 2
    (files / "b.txt").unlink()
    (files / "a.md").write_text("# Refunds\n\nPaid in nine days.")
    with Index(QdrantStore(tmp_path / "q"), embedder=counting.embedder, base=tmp_path) as index:
        assert len(index.verify().differences) == 2
        report = index.add_folder(files)
        assert (report.changed, len(report.removed)) == (1, 1)
        assert index.verify().differences == ()
        assert index.search("nine")[0].chunk.doc_uri.endswith("a.md")
        index.vacuum()
        assert index.verify().differences == ()


def test_vectors_of_another_space_go(client: Any) -> None:
    one, two = Counting("one"), Counting("two", 24)
    index = index_of(QdrantStore(client), one)
    index.add(document("a", 1))
    client.create_collection("spanwise_vectors_mine", vectors_config={})
    other = index_of(QdrantStore(client, prefix="spanwise_vectors"), one)
    other.add(document("a", 1))
    index = index_of(QdrantStore(client), two, rebuild=True)
    index.rebuild()
    assert index.search("refund", mode="meaning")
    assert damage(index) == damage(other) == []
    names = sorted(each.name for each in client.get_collections().collections)
    assert "spanwise_vectors_mine" in names
    assert sum(name.startswith("spanwise_vectors_") for name in names) == 1 + 1 + 5


@pytest.mark.parametrize(
    ("collection", "change", "said"),
    [
        ("texts", {"data": "other"}, "not the one that was stored"),
        ("passages", {"start": 10_000}, "outside the text"),
        ("passages", {"labels": []}, "filters do not see"),
        ("passages", {"words": "\nother"}, "word index"),
        ("passages", {"digest": "00" * 16}, "not the text that was embedded"),
        ("documents", {"content_hash": "0"}, "not the one that was stored"),
        ("documents", {"meta": "{"}, "cannot be read"),
        ("documents", {"generation": 5}, "are gone"),
        ("words", {"words": ""}, "vocabulary"),
    ],
)
def test_damage_is_told(client: Any, collection: str, change: Any, said: str) -> None:
    index = index_of(QdrantStore(client), Counting())
    index.add(document("a", 1, team="x"))
    assert damage(index) == []
    for point in client.scroll(f"spanwise_{collection}", limit=1000)[0]:
        if point.payload.get("kind") != "state":
            client.set_payload(f"spanwise_{collection}", payload=change, points=[point.id])
    assert any(said in what for _, what in index._store.damage(index._making.space))


def test_lost_vectors_and_passages_are_told(client: Any) -> None:
    index = index_of(QdrantStore(client), Counting())
    index.add(document("a", 1))
    (space,) = index._store._calls.spaces()
    ids = [point.id for point in client.scroll(space, limit=1)[0]]
    client.delete(space, points_selector=ids)
    assert any("no vector" in each for each in damage(index))
    ids = [point.id for point in client.scroll("spanwise_passages", limit=1)[0]]
    client.delete("spanwise_passages", points_selector=ids)
    assert any("are gone" in each for each in damage(index))
    with pytest.raises(StoreError, match="parts of 'a' are missing"):
        index.document("a")


def test_the_vocabulary_is_packed(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanwise.index.qdrant_words._PACKED", 4)
    index = Index(QdrantStore(client))
    vocabulary = index._store._parts.vocabulary
    for i in range(12):
        index.add(Document(text=f"word{i} again", uri=str(i)))
    assert client.count("spanwise_words").count == 12
    vocabulary.pack(1)
    assert client.count("spanwise_words").count == 4
    assert vocabulary.words() == {"again", *(f"word{i}" for i in range(12))}
    assert len(index.search("word*", limit=20)) == 12


def test_one_folder_has_one_client(tmp_path: Path) -> None:
    one, two = QdrantStore(tmp_path / "q"), QdrantStore(str(tmp_path / "q"))
    assert one._calls.client is two._calls.client
    one.change_settings({"a": "\ud800"})
    one.close()
    one.close()
    assert two.settings() == {"a": "\ud800"}
    with pytest.raises(StoreError, match="closed; open the index again"):
        one.settings()
    two.close()
    again = QdrantStore(tmp_path / "q", read_only=True)
    assert again.settings() == {"a": "\ud800"}
    with pytest.raises(StoreError, match="open for reading only"):
        again.change_settings({})
    again.close()


def test_a_folder_that_another_process_has(tmp_path: Path) -> None:
    store = QdrantStore(tmp_path / "q")
    code = (
        "import sys; from spanwise.index import QdrantStore\n"
        "try: QdrantStore(sys.argv[1])\n"
        "except Exception as fault: print(type(fault).__name__, fault)\n"
    )
    run = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "q")]
    said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert said.startswith("StoreError")
    assert "another client has the folder" in said
    store.close()


def test_what_cannot_be_opened(tmp_path: Path, client: Any) -> None:
    with pytest.raises(StoreError, match="no such index"):
        QdrantStore(tmp_path / "absent", read_only=True)
    assert not (tmp_path / "absent").exists()
    with pytest.raises(StoreError, match="cannot be read only"):
        QdrantStore(":memory:", read_only=True)
    with pytest.raises(StoreError, match="no such index"):
        QdrantStore(client, read_only=True)
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="check the path"):
        QdrantStore(tmp_path / "file")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "meta.json").write_text("{")
    with pytest.raises(StoreError, match="damaged or no index"):
        QdrantStore(tmp_path / "damaged")
    with pytest.raises(StoreError, match="cannot be reached"):
        QdrantStore("http://user:secret@127.0.0.1:9", prefix="mine")
    QdrantStore(client).close()
    client.set_payload("spanwise_documents", payload={"format": 9}, points=[qdrant_points.STATE])
    with pytest.raises(StoreError, match="install a newer spanwise"):
        QdrantStore(client)
    client.create_collection("other_documents", vectors_config={})
    client.upsert(
        "other_documents", [qdrant_client.models.PointStruct(id=1, vector={}, payload={})]
    )
    with pytest.raises(StoreError, match="another prefix"):
        QdrantStore(client, prefix="other")


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingExtraError, match=r"spanwise\[qdrant\]"):
        QdrantStore(":memory:")


def test_importing_needs_no_client() -> None:
    code = "import sys, spanwise.index; assert 'qdrant_client' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
