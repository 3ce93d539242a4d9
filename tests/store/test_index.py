"""The index by its promises: what a run embeds, reads, writes and says; damage; refusals; reports.

User reports are tested as in `unit/test_user_reports.py`, which counts them.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from store.corpus import Counting, Known, assert_equal, damage, fresh, told, write

from spanwise import (
    Document,
    LoadError,
    OptionError,
    Part,
    StoreError,
    by_heading,
    cap,
    chars,
    load,
    utf8_bytes,
    words,
)
from spanwise.embedders.function import FunctionEmbedder
from spanwise.errors import EmbedderError
from spanwise.index import Index, IndexReport, Progress, SqliteStore, sqlite_file
from spanwise.index.bundle import _sealed
from spanwise.index.sqlite_file import SqliteFile
from spanwise.loaders import folders
from spanwise.loaders.files import read_raw
from spanwise.splitters.presets import for_search

SPLITTER = for_search(chunk_size=120)


@pytest.fixture
def counter() -> Counting:
    return Counting()


def opened(folder: Path, counter: Counting | None = None, **options: Any) -> Index:
    """The index of a folder, with an embedder that counts, or with words alone."""
    options = {"splitter": SPLITTER, "attempts": 1, **options}
    options.setdefault("embedder", "none" if counter is None else counter.embedder)
    folder.mkdir(exist_ok=True)
    return Index.open(folder / "index.db", **options)


def anew(folder: Path, uris: list[str], counter: Counting | None = None, **options: Any) -> Index:
    """A fresh build of files as they are now."""
    known = {uri: Known(load(folder / uri, uri=uri)) for uri in uris}
    options = {"splitter": SPLITTER, "stems": True, **options}
    embedder = None if counter is None else Counting(counter.name, counter.dimensions).embedder
    return fresh({"": known}, embedder=embedder, **options)


def hits(index: Index, query: str, **options: Any) -> list[str]:
    """The documents that are found by words."""
    return [hit.chunk.doc_uri for hit in index.search(query, mode="words", **options)]


def prose(number: int) -> str:
    """A document of some passages that no other one has."""
    return f"# Document {number}\n\n" + "\n\n".join(
        f"Section {number} of part {i} speaks about matter {number * 7 + i} at some length, "
        f"and names {number} and {i}. Then it ends."
        for i in range(6)
    )


def altered(folder: Path, statement: str, *values: Any) -> None:
    """Change rows of an index file behind its back."""
    with closing(sqlite3.connect(folder / "index.db")) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(statement, values)
        connection.commit()


# --- user reports ---------------------------------------------------------------------------


def test_ur_060_text_around_a_payload_is_found(tmp_path: Path, counter: Counting) -> None:
    """An inline image of base64 became a thousand chunks that spoil results.

    By words it spoils none: what is around it is found, alone, at its place.
    """
    text = f"# Pic\n\nBefore.\n\n![x](data:image/png;base64,{'iVBORw0K' * 3000})\n\nAfter it all.\n"
    write(tmp_path, {"d/a.md": text, "d/b.md": "Before and after."})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        for query, uris in (("before", {"d/a.md", "d/b.md"}), ('"after it all"', {"d/a.md"})):
            found = index.search(query, mode="words", mix=0)
            assert {hit.chunk.doc_uri for hit in found} == uris
            for hit in found:
                assert query.strip('"') in hit.text.lower()
                assert index.document(hit.chunk.doc_uri).text[hit.start : hit.end] == hit.text


@pytest.mark.parametrize("text", ["alpha\0beta\n\n# H\0ead\n\ntext \0\0 end\n", "\0", "\0\n\n\0a"])
def test_ur_078_nul_reaches_no_column_of_text(tmp_path: Path, counter: Counting, text: str) -> None:
    """A NUL from a PDF aborted the batch at the store.

    The text is kept unaltered, as bytes, so that positions stay right; nothing that is stored as
    text, and nothing of what words are found by, holds one.
    """
    others = [Document(text=f"fine {i}", uri=f"{i}.md", meta={"n\0": "\0"}) for i in range(2)]
    with opened(tmp_path, counter) as index:
        report = index.add([others[0], Document(text=text, uri="nul.md"), others[1]])
        assert (report.added, report.failed) == (3, ())
        assert index.document("nul.md").text == text
        assert all(text[c.start : c.end] == c.text for c in index.chunks("nul.md"))
        assert not damage(index)
        for query in ("fine", "\0", "a\0", '"alpha\0beta"'):
            index.search(query)
        if "beta" in text:
            assert hits(index, "beta") == ["nul.md"]
    with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f"SELECT * FROM {table}").fetchall():
                assert not any(isinstance(each, str) and "\0" in each for each in row), table


@pytest.mark.parametrize("says", [True, False])
def test_ur_085_a_text_too_long_for_the_server_stops_no_run(tmp_path: Path, says: bool) -> None:
    """One over-long chunk made the whole run fail.

    An embedder that says what it reads gets no more; of one that says too much, only the document
    it cannot take fails, with the reason, whatever lies in a batch with it.
    """
    counter = Counting()

    def limited(texts: list[str]) -> Any:
        if any(len(text.split()) > 300 for text in texts):
            raise ValueError("this model's maximum context length is 300 tokens")
        return counter(texts)

    ceiling = cap(300 if says else 100_000, words)
    embedder = FunctionEmbedder(limited, id="limited", dimensions=16, ceiling=ceiling)
    write(tmp_path, {"d/a.md": "fine", "d/b.md": "x1 " * 5000, "d/c.md": "fine too"})
    splitter = for_search(chunk_size=20_000)
    with opened(tmp_path, None, embedder=embedder, splitter=splitter) as index:
        report = index.add_folder(tmp_path / "d")
        if says:
            assert (report.added, report.failed, report.clipped) == (3, (), ())
            assert len(index.chunks("d/b.md")) >= 5000 / 300
        else:
            assert report.added == 2
            assert [(each.uri, each.stale) for each in report.failed] == [("d/b.md", False)]
            assert "maximum context length is 300" in report.failed[0].reason
        assert hits(index, "fine") == ["d/a.md", "d/c.md"]
        assert not damage(index)


def test_ur_096_vectors_are_written_in_bounded_batches(
    tmp_path: Path, counter: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file was held in memory together with all its embeddings.

    While one document of many passages is embedded, what waits to be written stays under a bound.
    """
    monkeypatch.setattr("spanwise.index.ingest._GROUP", 200)
    waiting: list[int] = []

    def watched(texts: list[str]) -> Any:
        with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
            (written,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        waiting.append(len(counter.embedded) - written)
        assert len(texts) <= 32
        return counter(texts)

    embedder = FunctionEmbedder(watched, id="hash", dimensions=16)
    rows = "".join(f"{i},name {i},note {i} that is of some length\n" for i in range(8000))
    write(tmp_path, {"d/a.csv": "id,name,note\n" + rows})
    with opened(tmp_path, None, embedder=embedder, batch_size=32) as index:
        report = index.add_folder(tmp_path / "d")
        assert report.embedded == len(set(counter.embedded)) > 2000
        assert max(waiting) <= 200 + 3 * 32
        assert not damage(index)


def test_ur_097_an_unchanged_run_embeds_reads_and_writes_nothing(
    tmp_path: Path, counter: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every run wrote the index again, and it grew with each."""
    write(tmp_path, {"d/a.md": "# A\n\none\n", "d/b.md": "# B\n\ntwo\n", "d/c.txt": ""})
    monkeypatch.setattr("spanwise.index.files._TOO_NEW_NS", -(10**12))
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        index.vacuum()
    before = (tmp_path / "index.db").read_bytes()
    opens: list[Any] = []
    opened_before = Path.open

    def noted(path: Path, *args: Any, **kwargs: Any) -> Any:
        opens.append(path)
        return opened_before(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", noted)
    counter.begin()
    for _ in range(2):
        with opened(tmp_path, counter) as index:
            report = index.add_folder(tmp_path / "d")
            assert (report.added, report.changed, report.unchanged) == (0, 0, 3)
            assert (report.removed, report.loaded, report.embedded) == ((), 0, 0)
    assert counter.calls == 0
    assert opens == []
    assert (tmp_path / "index.db").read_bytes() == before
    assert not (tmp_path / "index.db-wal").exists()


@pytest.mark.parametrize("at", [0, 57, 200])
def test_ur_098_one_paragraph_is_embedded_not_the_file(
    tmp_path: Path, counter: Counting, at: int
) -> None:
    """One changed paragraph in a long file made all of its chunks be embedded again."""
    paragraphs = [f"Paragraph number {i} has its own words.\n\n" for i in range(200)]
    splitter = by_heading(chunk_size=120, overlap=0)
    write(tmp_path, {"d/a.txt": "".join(paragraphs)})
    with opened(tmp_path, counter, splitter=splitter) as index:
        index.add_folder(tmp_path / "d")
        paragraphs.insert(at, "A new first paragraph.\n\n")
        write(tmp_path, {"d/a.txt": "".join(paragraphs)})
        counter.begin()
        report = index.add_folder(tmp_path / "d")
        assert (report.changed, len(counter.embedded)) == (1, report.embedded)
        assert 1 <= report.embedded <= 3
        assert_equal(index, anew(tmp_path, ["d/a.txt"], counter, splitter=splitter), [""])


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "size": ({"splitter": for_search(chunk_size=300)}, "splitter"),
    "strategy": ({"splitter": by_heading()}, "splitter"),
    "ceiling": ({"ceiling": 90}, "splitter"),
    "stems": ({"stems": False}, "stems"),
    "no embedder": ({"embedder": "none"}, "embedder"),
    "embedder": ({"embedder": Counting("other").embedder}, "embedder"),
    "dimensions": ({"embedder": Counting(dimensions=8).embedder}, "embedder"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_ur_099_other_settings_are_refused_or_the_index_is_made_anew(
    tmp_path: Path, counter: Counting, name: str
) -> None:
    """Changing the chunk size or the model left a mixture."""
    others, named = OTHERS[name]
    write(tmp_path, {"d/a.txt": "Plain sentence here. " * 50, "d/b.md": prose(1)})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        before = told(index)
    with pytest.raises(StoreError, match=f"made with {named} "):  # noqa: SIM117
        with opened(tmp_path, counter, **others) as index:
            index.add_folder(tmp_path / "d")
    with opened(tmp_path, counter) as index:
        assert told(index) == before
    with opened(tmp_path, counter, **others, rebuild=True) as index:
        report = index.add_folder(tmp_path / "d")
        assert report.recut == (0 if name == "stems" else 2)
        options = {key: value for key, value in others.items() if key in ("splitter", "stems")}
        embedder = others.get("embedder", Counting().embedder)
        other = Index(
            SqliteStore(":memory:"),
            splitter=options.get("splitter", SPLITTER),
            embedder=embedder,
            stems=options.get("stems"),
            ceiling=others.get("ceiling"),
        )
        other.add([load(tmp_path / uri, uri=uri) for uri in ("d/a.txt", "d/b.md")])
        assert_equal(index, other, [""])
        assert not damage(index)


def test_ur_101_loading_twice_stores_once(tmp_path: Path, counter: Counting) -> None:
    """Loading a document twice stored its chunks twice.

    Also where what was known of its file is lost. The kill is `test_ur_108_...` of `test_kills`.
    """
    write(tmp_path, {"d/a.md": "# A\n\nalpha\n"})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        before = told(index)
        altered(tmp_path, "UPDATE documents SET source = '{}'")
        index.add_folder(tmp_path / "d")
        index.add_folder(tmp_path / "d", reload=True)
        index.add(load(tmp_path / "d/a.md", uri="d/a.md"))
        assert told(index) == before
        assert hits(index, "alpha") == ["d/a.md"]
        assert len(counter.embedded) == 1


def test_ur_102_a_file_that_shrinks_leaves_nothing(tmp_path: Path, counter: Counting) -> None:
    """When a file shrank, the surplus chunks stayed and were found."""
    splitter = by_heading(chunk_size=20, overlap=0)
    write(tmp_path, {"d/a.md": "# 1\n\nred\n\n# 2\n\ngreen\n\n# 3\n\nblue\n"})
    with opened(tmp_path, counter, splitter=splitter) as index:
        index.add_folder(tmp_path / "d")
        assert hits(index, "blue") == ["d/a.md"]
        write(tmp_path, {"d/a.md": "# 1\n\nred\n"})
        index.add_folder(tmp_path / "d")
        assert hits(index, "blue") == []
        assert_equal(
            index, anew(tmp_path, ["d/a.md"], counter, splitter=splitter), [""], ["blue", "red"]
        )
        (tmp_path / "d/a.md").write_bytes(b"")
        index.add_folder(tmp_path / "d")
        assert_equal(index, anew(tmp_path, ["d/a.md"], counter, splitter=splitter), [""], ["red"])


def test_ur_103_renamed_and_deleted_files_are_gone(tmp_path: Path, counter: Counting) -> None:
    """Deleted or renamed files stayed in the index."""
    write(tmp_path, {"d/a.md": "alpha\n", "d/b.md": "beta\n"})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        (tmp_path / "d/a.md").rename(tmp_path / "d/c.md")
        (tmp_path / "d/b.md").unlink()
        counter.begin()
        report = index.add_folder(tmp_path / "d")
        assert report.removed == ("d/a.md", "d/b.md")
        assert (hits(index, "beta"), hits(index, "alpha")) == ([], ["d/c.md"])
        assert counter.calls == 0
        assert_equal(index, anew(tmp_path, ["d/c.md"], counter), [""])


@pytest.mark.parametrize("settled", [True, False])
def test_ur_104_time_alone_decides_nothing(
    tmp_path: Path, counter: Counting, settled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A touch embedded everything again, and a same-size edit with its time set back was missed."""
    if settled:
        monkeypatch.setattr("spanwise.index.files._TOO_NEW_NS", -(10**12))
    write(tmp_path, {"d/a.md": "cat\n"})
    path = tmp_path / "d/a.md"
    state = path.stat()
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        while path.stat().st_ctime_ns == state.st_ctime_ns:  # until the clock has gone on
            path.write_bytes(b"dog\n")
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
        assert path.stat().st_mtime_ns == state.st_mtime_ns
        report = index.add_folder(tmp_path / "d")
        assert (report.changed, hits(index, "dog"), hits(index, "cat")) == (1, ["d/a.md"], [])
        counter.begin()
        os.utime(path)
        report = index.add_folder(tmp_path / "d")
        assert (report.unchanged, report.loaded, counter.calls) == (1, 0, 0)


def test_ur_106_what_failed_to_be_written_is_not_known(tmp_path: Path, counter: Counting) -> None:
    """Run state said a chunk is indexed, the store lacked it, and every run reported success."""

    class Failing(SqliteStore):
        def put(self, row: Any, chunks: Any, space: str) -> set[bytes]:
            if row.uri.endswith("b.md"):
                raise StoreError("the disk is full; free some room")
            return super().put(row, chunks, space)

    write(tmp_path, {"d/a.md": "alpha\n", "d/b.md": "beta\n"})
    path = tmp_path / "index.db"
    options: dict[str, Any] = {"splitter": SPLITTER, "embedder": counter.embedder}
    with Index(Failing(path), **options, base=tmp_path) as index:
        with pytest.raises(StoreError, match="disk is full"):
            index.add_folder(tmp_path / "d")
        assert not damage(index)
    with opened(tmp_path, counter) as index:
        assert index.add_folder(tmp_path / "d").added >= 1
        assert_equal(index, anew(tmp_path, ["d/a.md", "d/b.md"], counter), [""])
        altered(tmp_path, "DELETE FROM vectors WHERE id = (SELECT max(id) FROM vectors)")
        assert [each.what for each in index.verify().differences] == [
            "1 of its passages have no vector"
        ]
        counter.begin()
        index.add_folder(tmp_path / "d", reload=True)
        assert len(counter.embedded) == 1
        assert_equal(index, anew(tmp_path, ["d/a.md", "d/b.md"], counter), [""])
        (tmp_path / "d/b.md").write_text("gamma")
        assert [(each.kind, each.uri) for each in index.verify().differences] == [
            ("changed", "d/b.md")
        ]


def test_ur_107_a_missing_or_empty_folder_deletes_nothing(
    tmp_path: Path, counter: Counting
) -> None:
    """An empty input list deleted the whole index."""
    write(tmp_path, {"d/a.md": "alpha\n", "d/sub/b.md": "beta\n"})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        before = told(index)
        (tmp_path / "d").rename(tmp_path / "away")
        with pytest.raises(LoadError, match="no such folder, and nothing was changed"):
            index.add_folder(tmp_path / "d")
        assert told(index) == before
        (tmp_path / "d").mkdir()
        report = index.add_folder(tmp_path / "d")
        assert (report.removed, report.discovered) == ((), 0)
        assert "nothing was taken" in report.notes[0]
        write(tmp_path, {"d/x.unknown": b"\0"})
        assert index.add_folder(tmp_path / "d").removed == ()
        assert index.add([]).removed == ()
        (tmp_path / "file").write_text("x")
        with pytest.raises(LoadError):
            index.add_folder(tmp_path / "file")
        assert told(index) == before


# --- what a run embeds, reads, writes and says ----------------------------------------------


def test_one_sentence_of_a_hundred_documents_embeds_at_most_three_passages(
    tmp_path: Path, counter: Counting
) -> None:
    write(tmp_path, {f"d/{i:03}.md": prose(i) for i in range(100)})
    with opened(tmp_path, counter) as index:
        first = index.add_folder(tmp_path / "d")
        assert first.embedded == len(counter.embedded) > 400
        for number, old, new in (
            (7, "Then it ends.", "Then it begins."),
            (50, "at some length", "only"),
            (99, "# Document 99\n\n", "# Document 99\n\nA new paragraph at the top.\n\n"),
        ):
            path = tmp_path / f"d/{number:03}.md"
            path.write_text(path.read_text().replace(old, new, 1))
            counter.begin()
            report = index.add_folder(tmp_path / "d")
            assert (report.changed, report.unchanged) == (1, 99)
            assert report.embedded == len(counter.embedded) <= 3
        (tmp_path / "d/new").mkdir()
        for i in range(10):
            (tmp_path / f"d/{i:03}.md").rename(tmp_path / f"d/new/{i}.md")
        counter.begin()
        report = index.add_folder(tmp_path / "d")
        assert (report.added, len(report.removed), counter.calls) == (10, 10, 0)
        names = [f"d/{i:03}.md" for i in range(10, 100)] + [f"d/new/{i}.md" for i in range(10)]
        assert_equal(index, anew(tmp_path, names, counter), [""], ["matter 77", "document"])
        assert not damage(index)


def test_a_dry_run_says_what_the_run_then_does(tmp_path: Path, counter: Counting) -> None:
    write(tmp_path, {f"d/{i}.md": prose(i) for i in range(6)})
    write(tmp_path, {"d/broken.docx": b"PK\x03\x04"})
    path = tmp_path / "index.db"

    def check(index: Index, **options: Any) -> IndexReport:
        before, rows = path.read_bytes(), told(index)
        wal = tmp_path / "index.db-wal"
        logged = wal.read_bytes()
        counter.begin()
        foretold = index.add_folder(tmp_path / "d", **options, dry_run=True)
        assert (counter.calls, foretold.dry_run) == (0, True)
        assert (path.read_bytes(), wal.read_bytes(), told(index)) == (before, logged, rows)
        done = index.add_folder(tmp_path / "d", **options)
        assert replace(foretold, seconds=0, dry_run=False) == replace(done, seconds=0)
        assert done.embedded == len(counter.embedded)
        assert "a dry run, nothing was written" in str(foretold)
        return done

    with opened(tmp_path, counter) as index:
        assert check(index).added == 6
        assert check(index).unchanged == 6
        write(tmp_path, {"d/1.md": prose(100), "d/2.md": prose(3), "d/new.md": prose(1)})
        (tmp_path / "d/5.md").unlink()
        done = check(index)
        assert (done.added, done.changed, done.unchanged, done.removed) == (1, 2, 3, ("d/5.md",))
        assert check(index, metadata={"team": "a"}).changed == 6
        check(index, reload=True)
    with opened(tmp_path, counter, splitter=for_search(chunk_size=60), rebuild=True) as index:
        assert check(index).recut == 6


def test_a_report_says_what_was_done(tmp_path: Path, counter: Counting) -> None:
    write(tmp_path, {"d/a.md": "same words", "d/b.md": "same words", "d/c.md": "poison here"})
    write(tmp_path, {"d/bad.txt": b"\xff\0"})
    counter.poison = "poison"
    seen: list[Any] = []
    with opened(tmp_path, counter) as index:
        report = index.add_folder(tmp_path / "d", watch=seen.append)
        assert report.discovered == 4
        assert (report.added, report.loaded) == (2, 3)
        assert (report.chunks, report.embedded, report.reused) == (2, 1, 1)
        assert [each.uri for each in report.failed] == ["d/bad.txt", "d/c.md"]
        assert report.stale == ()
        assert "it cannot take 'poison'" in report.failed[1].reason
        assert (report.embedder, report.splitter[:10]) == ("hash@16", "for_search")
        assert [each.done for each in seen] == [1, 2, 3, 4]
        assert {each.total for each in seen} == {4}
        assert json.loads(json.dumps(report.to_dict()))["added"] == 2
        assert "2 added" in str(report)
        write(tmp_path, {"d/a.md": "other poison"})
        (tmp_path / "d/b.md").write_bytes(b"\xff\0")
        report = index.add_folder(tmp_path / "d")
        assert report.stale == ("d/a.md", "d/b.md")
        assert (hits(index, "same"), report.changed) == (["d/a.md"], 0)
        counter.poison = ""
        write(tmp_path, {"d/b.md": "same words"})
        report = index.add_folder(tmp_path / "d")
        assert (report.added, report.changed, report.unchanged) == (1, 1, 1)
        assert [each.uri for each in report.failed] == ["d/bad.txt"]


def test_what_no_longer_loads_is_cut_anew_from_what_was_loaded(
    tmp_path: Path, counter: Counting
) -> None:
    """Fault: after a change of options a file that failed kept its old passages and no vectors."""
    write(tmp_path, {"d/a.md": prose(1), "d/b.md": prose(2)})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        other = anew(tmp_path, ["d/a.md", "d/b.md"], Counting("two"), splitter=by_heading())
    (tmp_path / "d/b.md").write_bytes(b"\xff\0")
    options: dict[str, Any] = {"splitter": by_heading(), "embedder": Counting("two").embedder}
    with opened(tmp_path, None, **options, rebuild=True) as index:
        report = index.add_folder(tmp_path / "d")
        assert (report.recut, report.stale) == (2, ("d/b.md",))
        assert_equal(index, other, [""])
        assert not damage(index)


def test_another_heading_level_is_a_change(tmp_path: Path, counter: Counting) -> None:
    """Fault: a file whose text stayed and whose headings, pages or parts changed was unchanged."""
    page = "<!doctype html><body><h1>One</h1><p>words</p><h{0}>Two</h{0}><p>more words</p>"
    splitter = by_heading(chunk_size=10, overlap=0)
    write(tmp_path, {"d/a.html": page.format(1)})
    with opened(tmp_path, counter, splitter=splitter) as index:
        index.add_folder(tmp_path / "d")
        write(tmp_path, {"d/a.html": page.format(2)})
        assert index.add_folder(tmp_path / "d").changed == 1
        assert_equal(index, anew(tmp_path, ["d/a.html"], counter, splitter=splitter), [""])
        pages = Document.from_pages(["one", "two"], uri="p.pdf")
        index.add(pages)
        parts = tuple(replace(part, label=f"x{part.label}") for part in pages.parts)
        assert index.add(replace(pages, parts=parts)).changed == 1
        assert index.chunks("p.pdf")[0].pages[0] == "x1"
        assert index.add(replace(pages, parts=parts, media_type="text/x-log")).changed == 1
        assert index.document("p.pdf").media_type == "text/x-log"


def test_the_last_of_one_name_stays(tmp_path: Path, counter: Counting) -> None:
    """Fault: of several documents of one name in one call an earlier one could win."""
    one, other = (Document(text=text, uri="a") for text in ("red fox", "blue whale"))
    with opened(tmp_path, counter) as index:
        for given in ([one, other], [one, other], [other, one, other], [other, one]):
            index.add(given)
            assert index.document("a").text == given[-1].text
            assert not damage(index)
            assert hits(index, "fox whale") == ["a"]


def test_giving_documents_again_writes_nothing(tmp_path: Path, counter: Counting) -> None:
    """Fault: each wrote what was known of its file, which for a given one is nothing."""
    documents = [Document(text=prose(i), uri=str(i), meta={"n": i}) for i in range(3)]
    with opened(tmp_path, counter) as index:
        index.add(documents)
        before = (tmp_path / "index.db-wal").read_bytes()
        assert index.add(documents).unchanged == 3
        assert (tmp_path / "index.db-wal").read_bytes() == before


def test_values_that_json_has_no_form_for_fail_no_run(tmp_path: Path) -> None:
    """Fault: a date in the metadata of a part ended the run."""
    loop: list[Any] = []
    loop.append(loop)
    part = Part(kind="page", start=0, end=3, label="1", meta={"when": Path("x")})
    with opened(tmp_path) as index:
        report = index.add(
            [
                Document(text="one", uri="a", parts=(part,), meta={"when": Path("y")}),
                Document(text="two", uri="b", meta={"loop": loop}),
                Document(text="three", uri="c", meta={("a", "b"): 1}),  # type: ignore[dict-item]
                Document(text="four", uri="d"),
            ]
        )
        assert [each.uri for each in report.failed] == ["b", "c"]
        assert report.added == 2
        assert index.document("a").parts[0].meta == {"when": "x"}
        assert not damage(index)


def test_metadata_changed_while_a_run_embeds_stays(tmp_path: Path) -> None:
    """Fault: what was laid over a document while it waited for vectors was lost."""
    counter = Counting()
    write(tmp_path, {"d/a.md": "old words"})
    with opened(tmp_path, counter) as index, opened(tmp_path, counter) as other:
        index.add_folder(tmp_path / "d")
        write(tmp_path, {"d/a.md": "new words"})
        report = index.add_folder(
            tmp_path / "d", watch=lambda _: other.update_metadata("d/a.md", {"team": "x"})
        )
        assert report.changed == 1
        assert index.document("d/a.md").text == "new words"
        assert index.documents(where={"team": "x"})


def test_vectors_that_another_run_drops_are_embedded_again(tmp_path: Path) -> None:
    """Fault: a document whose vectors another process dropped was left out and not reported."""
    counter = Counting()

    class Dropping(SqliteStore):
        left = 2

        def put(self, row: Any, chunks: Any, space: str) -> set[bytes]:
            if self.left:
                self.left -= 1
                with self.writing():
                    self._connection.execute("DELETE FROM vectors")
            return super().put(row, chunks, space)

    write(tmp_path, {"d/a.md": prose(1), "d/b.md": prose(2)})
    options: dict[str, Any] = {"splitter": SPLITTER, "embedder": counter.embedder}
    with Index(Dropping(tmp_path / "index.db"), **options, base=tmp_path) as index:
        report = index.add_folder(tmp_path / "d")
        assert (report.added, report.failed) == (2, ())
        assert report.embedded == len(counter.embedded)
        assert_equal(index, anew(tmp_path, ["d/a.md", "d/b.md"], counter), [""], ["matter"])
        assert not damage(index)


def test_vectors_left_by_a_run_that_failed_are_found_right(tmp_path: Path) -> None:
    """Fault: a search left out vectors of no passage, then took others for them."""
    counter = Counting()
    texts = {f"d/{i}.md": f"one passage about matter {i}" for i in range(6)}
    texts["d/0.md"] = prose(0) + "\n\nA last one of poison."
    write(tmp_path, texts)
    counter.poison = "poison"
    with opened(tmp_path, counter, batch_size=1) as index:
        report = index.add_folder(tmp_path / "d")
        assert [each.uri for each in report.failed] == ["d/0.md"]
        index.search("matter", mode="meaning")
        counter.poison = ""
        assert index.add_folder(tmp_path / "d").added == 1
        for uri in texts:
            for chunk in index.chunks(uri):
                best = index.search(chunk.embed_text, mode="meaning", limit=1, mix=0)[0]
                assert best.chunk == chunk
                assert best.score == pytest.approx(1, abs=0.01)


def test_a_text_that_failed_once_fails_no_later_document(tmp_path: Path, counter: Counting) -> None:
    """Fault: one text that two documents have, embedded for the second, failed that too."""
    counter.failing = frozenset({1})
    documents = [Document(text=f"matter {i}", uri=f"b{i}") for i in range(6)]
    same = [Document(text="the same text", uri=uri) for uri in ("a", "c")]
    with opened(tmp_path, counter, batch_size=1) as index:
        report = index.add([same[0], *documents, same[1]])
        assert [each.uri for each in report.failed] == ["a"]
        assert (report.added, report.embedded) == (7, 7)
        assert not damage(index)
        counter.begin()
        assert index.add(same).added == 1
        assert counter.calls == 0


def test_failures_of_several_calls_at_once_end_no_run(tmp_path: Path) -> None:
    """Fault: halves of a batch that failed were sent while others were collected: `KeyError`."""
    counter = Counting()
    counter.poison = "poison"
    bad = {str(i) for i in range(100) if i % 9 == 7}
    documents = [
        Document(text=f"{'poison' if str(i) in bad else 'matter'} {i}", uri=str(i))
        for i in range(100)
    ]
    for concurrency in (1, 2, 5):
        folder = tmp_path / str(concurrency)
        with opened(folder, counter, batch_size=8, concurrency=concurrency) as index:
            report = index.add(documents)
            assert {each.uri for each in report.failed} == bad
            assert report.added == 100 - len(bad)
            assert not damage(index)


@pytest.mark.parametrize("bad", [{0, 64}, set(range(0, 200, 8)), set(range(50, 90))])
def test_bad_texts_are_not_taken_for_an_embedder_that_is_down(
    tmp_path: Path, counter: Counting, bad: set[int]
) -> None:
    """Fault: two texts it could not take, in two batches, ended all embedding."""
    counter.poison = "poison"
    documents = [
        Document(text=f"{'poison' if i in bad else 'matter'} {i}", uri=str(i)) for i in range(200)
    ]
    with opened(tmp_path, counter, batch_size=64) as index:
        report = index.add(documents)
        assert {int(each.uri) for each in report.failed} == bad


def test_an_embedder_that_is_down_is_not_asked_for_ever(tmp_path: Path, counter: Counting) -> None:
    counter.failing = frozenset(range(1, 10_000))
    documents = [Document(text=f"matter {i}", uri=str(i)) for i in range(500)]
    with opened(tmp_path, counter, batch_size=8) as index:
        report = index.add(documents)
        assert len(report.failed) == 500
        assert counter.calls <= 12
        assert "calls in a row failed" in report.failed[-1].reason


def test_a_rank_does_not_hang_on_what_was_written_first(tmp_path: Path) -> None:
    """Fault: passages of equal score had other ranks, so other fused scores, in a fresh build."""
    counter = Counting()
    found = []
    for order in (1, -1):
        with opened(tmp_path / str(order), counter, embedder=counter.embedder) as index:
            index.add([Document(text="late fee", uri=f"{i}") for i in (1, 2, 3)[::order]])
            index.add([Document(text=f"late fee {i}", uri=f"x{i}") for i in (1, 2, 3)[::order]])
            hits = index.search("late fee", mode="both", fold=False)
            found.append({hit.chunk.id: (hit.score, hit.standing.words_rank) for hit in hits})
    assert found[0] == found[1]


def test_words_that_are_gone_take_no_place_among_beginnings(tmp_path: Path) -> None:
    """Fault: of many words with a beginning, those of old texts hid those of new ones."""
    with opened(tmp_path) as index:
        index.add(Document(text=" ".join(f"pay{i:04}" for i in range(400)), uri="a"))
        index.add(Document(text="payment", uri="a"))
        assert hits(index, "pay*") == ["a"]


@pytest.mark.parametrize("stems", [True, False])
def test_words_that_are_gone_add_nothing_to_a_score(tmp_path: Path, stems: bool) -> None:
    """Fault: a word counted once for each form that any text ever had of it."""
    texts = {"a": "pay the fee", "b": "payment of the fee", "c": "nothing"}
    with opened(tmp_path, stems=stems) as index:
        index.add(Document(text="pays paying payments", uri="c"))
        index.add([Document(text=text, uri=uri) for uri, text in texts.items()])
        known = {uri: Known(Document(text=text, uri=uri)) for uri, text in texts.items()}
        other = fresh({"": known}, splitter=SPLITTER, embedder=None, stems=stems)
        assert_equal(index, other, [""], ["pay*", "paym*", "fee pay*"])


def test_the_owner_of_a_file_is_the_folder_that_was_run_last(
    tmp_path: Path, counter: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: whether a file was taken out hung on how long ago it was written."""
    for settled in (False, True):
        folder = tmp_path / str(settled)
        write(folder, {"d/a.md": "alpha", "d/sub/b.md": "beta"})
        monkeypatch.setattr("spanwise.index.files._TOO_NEW_NS", -(10**12) if settled else 10**12)
        with opened(folder, counter) as index:
            index.add_folder(folder / "d")
            index.add_folder(folder / "d/sub")
            write(folder, {"d/.gitignore": "sub\n", "d/sub/c.md": "gamma"})
            assert index.add_folder(folder / "d").removed == ()
            write(folder, {"d/sub/.gitignore": "b.md\n"})
            assert index.add_folder(folder / "d/sub").removed == ("d/sub/b.md",)


def test_reload_reads_and_cuts_every_file_again(tmp_path: Path, counter: Counting) -> None:
    """Fault: what was unchanged was left alone, so no run could mend lost vectors."""
    write(tmp_path, {"d/a.md": prose(1), "d/b.md": prose(2)})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        altered(tmp_path, "DELETE FROM vectors")
        assert len(damage(index)) == 2
        report = index.add_folder(tmp_path / "d", reload=True)
        assert (report.loaded, report.unchanged) == (2, 0)
        assert not damage(index)


def test_a_failed_transaction_leaves_no_word(tmp_path: Path) -> None:
    """What was to be written of words is forgotten with the rest, and written when tried again."""
    store = SqliteStore(tmp_path / "index.db")
    with Index(store, splitter=SPLITTER) as index:
        index.add(Document(text="alpha", uri="a"))
        run = store._file.connection.execute
        run(
            "CREATE TEMP TRIGGER full BEFORE UPDATE ON state BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
        with pytest.raises(StoreError, match="full"):
            index.add(Document(text="beta betamax", uri="b"))
        run("DROP TRIGGER full")
        assert not damage(index)
        index.add(Document(text="beta betamax", uri="b"))
        assert hits(index, "betam*") == ["b"]
        assert not damage(index)


def test_a_document_costs_no_more_in_a_large_index(tmp_path: Path, counter: Counting) -> None:
    """After each run all vectors were looked through for those that no passage has."""
    with opened(tmp_path, counter) as index:
        connection = index._store._connection  # type: ignore[attr-defined]
        steps, costs = 0, []

        def count() -> None:
            nonlocal steps
            steps += 1

        def documents(first: int, end: int) -> list[Document]:
            return [
                Document(text=f"# Part {i}\n\nMatter {i} costs {7 * i}.", uri=f"{i}.md")
                for i in range(first, end)
            ]

        connection.set_progress_handler(count, 10)
        for first in (0, 2000):
            index.add(documents(first, first + 100 if first == 0 else first))
            before = steps
            for one in documents(first + 200, first + 210):
                index.add(one)
                index.add(replace(one, text=one.text.replace("costs", "cost")))
                index.remove(one.uri)
            costs.append(steps - before)
            index.add(documents(300, 1900))
        connection.set_progress_handler(None, 0)
        assert costs[1] < 2 * costs[0]


@pytest.mark.parametrize("other", [False, True])
def test_vectors_without_a_passage_go_whoever_left_them(
    tmp_path: Path, counter: Counting, other: bool
) -> None:
    """A store looks at what it wrote itself; what others wrote, at all of it."""
    path = tmp_path / "index.db"

    def held() -> int:
        with closing(sqlite3.connect(path)) as connection:
            return int(connection.execute("SELECT count(*) FROM vectors").fetchone()[0])

    with opened(tmp_path, counter) as index:
        index.add([Document(text=f"Text {i}.", uri=f"{i}.md") for i in range(9)])
        index.add(Document(text="Another text.", uri="1.md"))
        index.remove(["2.md", "3.md"])
        assert held() == 7
        if other:
            with closing(SqliteStore(path)) as store:
                store.remove("", ["4.md"])  # and no run that tidies up
            assert held() == 7
        else:
            with pytest.raises(ZeroDivisionError), index._store.writing():
                index._store.remove("", ["4.md"])
                raise ZeroDivisionError
            assert held() == 7
        index.remove("5.md")
        assert held() == (5 if other else 6)
        with closing(SqliteStore(path)) as store:
            store.put_vectors("hash@16", [b"loose"], zeros())
    with opened(tmp_path, counter) as index:
        index.add(Document(text="More.", uri="more.md"))
        assert held() == (6 if other else 7)
        assert index.verify(files=False)


def test_a_store_knows_whose_moment_a_file_was_tidy_at(tmp_path: Path) -> None:
    """Fault: as many transactions of another store were taken for its own."""
    path = tmp_path / "index.db"
    with opened(tmp_path, Counting()) as index:
        index.add([Document(text=f"Text {i}.", uri=f"{i}.md") for i in range(5)])
        space = index._store.settings()["embedder"]
        index._store.change_metadata("", "1.md", {"n": 1})
        with closing(SqliteStore(path)) as other:
            other.remove("", ["2.md"])
            assert other.drop_vectors(space) == 1
            other.remove("", ["3.md"])
        assert index._store.drop_vectors(space) == 1
        assert index._store.drop_vectors(space) == 0


def test_a_removal_that_waits_for_a_rebuild_leaves_its_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: those of the embedder before were kept, which were none."""
    with opened(tmp_path, Counting()) as index:
        index.add([Document(text=f"Text {i}.", uri=f"{i}.md") for i in range(5)])
        remove = index._store.remove

        def waiting(namespace: str, uris: Any) -> None:
            with opened(tmp_path, Counting("two"), rebuild=True) as other:
                other.rebuild()
            remove(namespace, uris)

        monkeypatch.setattr(index._store, "remove", waiting)
        index.remove("1.md")
    with opened(tmp_path, Counting("two")) as index:
        assert index.verify(files=False)


def zeros() -> Any:
    return pytest.importorskip("numpy").zeros((1, 16), dtype="float16")


def test_vectors_of_an_embedder_that_is_no_longer_used_are_dropped(
    tmp_path: Path, counter: Counting
) -> None:
    """Fault: an index that became one of words alone kept all its vectors."""
    with opened(tmp_path, counter) as index:
        index.add(Document(text="alpha", uri="a"))
    with opened(tmp_path, rebuild=True) as index:
        index.rebuild()
        with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
            assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (0,)


def test_options_that_come_back_find_no_document_without_vectors(
    tmp_path: Path, counter: Counting
) -> None:
    """Fault: what was not cut anew meanwhile lost its vectors, and then was taken to have them."""
    write(tmp_path, {"d/a.md": prose(1), "e/b.md": prose(2)})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        index.add_folder(tmp_path / "e", namespace="e")
    with opened(tmp_path, Counting("two"), rebuild=True) as index:
        index.add_folder(tmp_path / "e", namespace="e")
        assert not damage(index)
    with opened(tmp_path, counter, rebuild=True) as index:
        index.add_folder(tmp_path / "e", namespace="e")
        assert not damage(index)
        assert index.verify()
        assert index.add_folder(tmp_path / "d").unchanged == 1
        known = {
            name: {uri: Known(load(tmp_path / uri, uri=uri))}
            for name, uri in (("", "d/a.md"), ("e", "e/b.md"))
        }
        other = fresh(known, splitter=SPLITTER, embedder=Counting().embedder, stems=True)
        assert_equal(index, other, ["", "e"], ["matter"])
    with opened(tmp_path, counter, rebuild=True) as index:
        assert index.add_folder(tmp_path / "d").unchanged == 1


# --- damage and differences -----------------------------------------------------------------

ZERO = "zeroblob(length(data))"
NAN = "CAST(x'007e' || substr(data, 3) AS BLOB)"

# What is done to a sound index, and what a check then says.
DAMAGE: dict[str, tuple[str, str]] = {
    "text": ("UPDATE documents SET text = CAST('other' AS BLOB) WHERE id = 1", "its text is not"),
    "a letter": (
        "UPDATE documents SET text = CAST(replace(text, 'S', 'T') AS BLOB) WHERE id = 1",
        "its text is not",
    ),
    "no text at all": ("UPDATE documents SET text = x'ff00ff' WHERE id = 1", "its text is not"),
    "characters": ("UPDATE documents SET characters = 3 WHERE id = 1", "not as long"),
    "metadata": ('UPDATE documents SET meta = \'{"a": {"b": 2}}\' WHERE id = 1', "written"),
    "metadata cut": ("UPDATE documents SET meta = '{' WHERE id = 1", "cannot be read"),
    "changes": ("UPDATE documents SET changes = '{\"a\": 1}' WHERE id = 1", "filters"),
    "source": ("UPDATE documents SET source = '[' WHERE id = 1", "cannot be read"),
    "layout": ("UPDATE documents SET layout = x'78' WHERE id = 1", "cannot be read"),
    "media type": ("UPDATE documents SET media_type = 'x' WHERE id = 1", "not what was written"),
    "recipe": ("UPDATE documents SET recipe = 'x' WHERE id = 1", "not what was written"),
    "start": ("UPDATE chunks SET start = start + 1 WHERE id = 2", "passage 1"),
    "end": ('UPDATE chunks SET "end" = 100000 WHERE id = 2', "outside the text"),
    "body": ("UPDATE chunks SET body = body + 1 WHERE id = 2", "not what was written"),
    "order": ("UPDATE chunks SET position = 9 - position WHERE document = 1", "numbered"),
    "a passage": ("DELETE FROM chunks WHERE id = 2", "numbered"),
    "the last passage": (
        "DELETE FROM chunks WHERE id = (SELECT max(id) FROM chunks WHERE document = 1)",
        "not what was written",
    ),
    "context": (
        "UPDATE chunks SET about = json_set(about, '$.context', 'x') WHERE id = 2",
        "not the text that was embedded",
    ),
    "lines": ("UPDATE chunks SET about = json_set(about, '$.lines', 9) WHERE id = 2", "written"),
    "about": ("UPDATE chunks SET about = '[1' WHERE id = 1", "not what was written"),
    "about cut": (
        "UPDATE chunks SET about = substr(about, 1, length(about) - 1) WHERE id = 2",
        "cannot be read",
    ),
    "name": ("UPDATE chunks SET name = 'x' WHERE id = 2", "not what was written"),
    "boundary": ("UPDATE chunks SET boundary = 'x' WHERE id = 2", "not what was written"),
    "digest": ("UPDATE chunks SET digest = x'00' WHERE id = 2", "not the text that was embedded"),
    "content hash": ("UPDATE documents SET content_hash = 'x' WHERE id = 1", "its text is not"),
    "vector zero": (f"UPDATE vectors SET data = {ZERO} WHERE id = 2", "1 of its passages"),
    "vector no number": (f"UPDATE vectors SET data = {NAN} WHERE id = 2", "1 of its passages"),
    "vector of another": (
        "UPDATE vectors SET data = (SELECT data FROM vectors WHERE id = 3) WHERE id = 2",
        "1 of its passages",
    ),
    "vector short": ("UPDATE vectors SET data = substr(data, 3) WHERE id = 2", "1 of its passages"),
    "vector gone": ("DELETE FROM vectors WHERE id = 2", "1 of its passages have no vector"),
    "vectors gone": ("DELETE FROM vectors", "passages have no vector"),
    "space": ("UPDATE spaces SET fingerprint = 'x@1'", "passages have no vector"),
    "words gone": (
        "INSERT INTO words (words) VALUES ('delete-all')",
        "does not hold the passages",
    ),
    "words more": (
        "INSERT INTO words (rowid, context, text) VALUES (999, '', 'ghost')",
        "does not hold the passages",
    ),
    "words of another": (
        "INSERT INTO words (words, rowid, context, text) VALUES ('delete', 2, '', 'ghost')",
        "the word index",
    ),
    "words damaged": ("DELETE FROM words_data WHERE id > 10", "the word index"),
    "counts of words": ("DELETE FROM words_data WHERE id = 1", "how many words"),
    "vocabulary": ("INSERT INTO vocabulary (vocabulary) VALUES ('delete-all')", "vocabulary lacks"),
    "labels gone": ("DELETE FROM labels", "filters do not see"),
    "labels more": ("INSERT INTO labels VALUES (CAST('a' AS BLOB), '1', 1)", "filters do not see"),
    "orphan labels": ("INSERT INTO labels VALUES (CAST('a' AS BLOB), '1', 99)", "rows of labels"),
    "orphan passages": ("UPDATE chunks SET document = 99 WHERE document = 2", "rows of chunks"),
    "document gone": ("DELETE FROM documents WHERE id = 2", "belong to no document"),
    "state": ("DELETE FROM state", "when it was changed last"),
    "stems": ("UPDATE settings SET value = '0' WHERE name = 'stems'", "does not hold the words"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sound index."""
    folder = tmp_path_factory.mktemp("sound")
    with opened(folder, Counting()) as index:
        index.add([Document(text=prose(i), uri=f"{i}.md", meta={"n": i}) for i in (1, 2)])
        assert not damage(index)
        assert len(index.chunks("1.md")) > 3
    return (folder / "index.db").read_bytes()


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(tmp_path: Path, sound: bytes, counter: Counting, name: str) -> None:
    (tmp_path / "index.db").write_bytes(sound)
    statement, said = DAMAGE[name]
    altered(tmp_path, statement)
    with opened(tmp_path, counter, read_only=True) as index:
        found = damage(index)
        assert any(said in each for each in found), found
        assert not index.verify()
    with opened(tmp_path, counter) as index:
        assert any(said in each for each in damage(index))


def test_two_passages_whose_words_were_swapped_are_named(tmp_path: Path) -> None:
    """Fault: where counts stay the same, nothing was seen."""
    with opened(tmp_path) as index:
        index.add([Document(text="red fox", uri="a"), Document(text="red owl", uri="b")])
    with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
        for key, old, new in ((1, "red fox", "red owl"), (2, "red owl", "red fox")):
            connection.execute(
                "INSERT INTO words (words, rowid, context, text) VALUES ('delete', ?, '', ?)",
                (key, old),
            )
            connection.execute(
                "INSERT INTO words (rowid, context, text) VALUES (?, '', ?)", (key, new)
            )
        connection.commit()
    with opened(tmp_path) as index:
        assert damage(index) == [": the word index does not hold the words that there are"]


def test_a_check_beside_a_writer_finds_no_damage(tmp_path: Path) -> None:
    """Fault: a word index that another process was writing to was called damaged."""
    with opened(tmp_path) as index:
        index.add(Document(text="red fox", uri="a"))
        with closing(sqlite3.connect(tmp_path / "index.db", timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")
            index._store._connection.execute("PRAGMA busy_timeout = 0")  # type: ignore[attr-defined]
            assert not damage(index)
            other.execute("ROLLBACK")


def test_bytes_of_a_file_that_were_overwritten_are_named(tmp_path: Path, sound: bytes) -> None:
    """Whatever page is hit: a check says so, or the file cannot be opened, and nothing crashes."""
    page = 8192
    for start in range(page, len(sound), page):
        (tmp_path / "index.db").write_bytes(sound[:start] + b"\xa5" * page + sound[start + page :])
        try:
            with opened(tmp_path, Counting(), read_only=True) as index:
                assert damage(index), start
        except StoreError as fault:
            assert "damaged" in str(fault) or "database" in str(fault)


def test_differences_from_the_files_are_named(tmp_path: Path, counter: Counting) -> None:
    write(tmp_path, {f"d/{name}.md": prose(i) for i, name in enumerate("abcd")})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d", exclude="z*")
        index.add(Document(text="given", uri="given.md"))
        assert index.verify()
        assert "all is as it should be" in str(index.verify())
        (tmp_path / "d/a.md").unlink()
        write(tmp_path, {"d/b.md": "other", "d/e.md": "new", "d/z.md": "left out", "f/y.md": "no"})
        report = index.verify()
        assert [(each.kind, each.uri) for each in report.differences] == [
            ("missing", "d/a.md"),
            ("changed", "d/b.md"),
            ("new", "d/e.md"),
        ]
        assert "3 differences" in str(report)
        assert index.verify(files=False)
    with opened(tmp_path, counter, splitter=by_heading(), rebuild=True) as index:

        def stop(_: Progress) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            index.add(Document(text="given anew", uri="given.md"), watch=stop)
        kinds = [(each.kind, each.uri) for each in index.verify(files=False).differences]
        assert kinds == [("cut", uri) for uri in (*(f"d/{name}.md" for name in "abcd"), "given.md")]
        index.rebuild()
        assert index.verify(files=False)
        (tmp_path / "d").rename(tmp_path / "away")
        assert {each.kind for each in index.verify().differences} == {"missing"}


def test_a_folder_that_cannot_be_listed_was_not_left_out_by_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: a note said that other options had chosen what is in it, and to take that out."""
    write(tmp_path, {"d/a.md": "# A\n\nOne.", "d/sub/b.md": "# B\n\nTwo.", "d/c.txt": "Three."})
    with Index.open(tmp_path / "index.db") as index:
        index.add_folder(tmp_path / "d")
        scandir = os.scandir

        def refused(path: str) -> Any:
            if Path(path).name == "sub":
                raise PermissionError(13, "Permission denied", str(path))
            return scandir(path)

        with monkeypatch.context() as patched:
            patched.setattr(folders.os, "scandir", refused)
            report = index.add_folder(tmp_path / "d")
        assert len(report.failed) == 1
        assert not [note for note in report.notes if "other options" in note]
        assert len(index.documents()) == 3
        report = index.add_folder(tmp_path / "d", include=["*.md"])
        assert [note for note in report.notes if "other options chose are kept (1)" in note]


# --- refusals -------------------------------------------------------------------------------


def test_an_index_that_another_process_makes_meanwhile_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: what the file said it was and its tables were of two moments, so it was refused."""
    connected = sqlite_file._connected
    for moment in range(12):
        path = tmp_path / f"{moment}.db"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        left = [moment]

        def trace(statement: str, path: Path = path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1 and not statement.startswith("--"):
                Index.open(path).close()

        def opened(name: str, trace: Callable[[str], None] = trace) -> sqlite3.Connection:
            monkeypatch.setattr(sqlite_file, "_connected", connected)
            connection = connected(name)
            connection.set_trace_callback(trace)
            return connection

        monkeypatch.setattr(sqlite_file, "_connected", opened)
        with Index.open(path) as index:
            assert index.documents() == []


def test_what_is_no_index_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    for read_only in (False, True):
        path.write_text("a text that is no database, and long enough to be one " * 20)
        with pytest.raises(StoreError, match="damaged or no index"):
            Index.open(path, read_only=read_only)
        path.unlink()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE notes (note)")
            connection.commit()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="database of another kind"):
            Index.open(path, read_only=read_only)
        assert path.read_bytes()[100:] == before[100:]
        path.unlink()
        Index.open(path).close()
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version = 99")
        with pytest.raises(StoreError, match=r"format 99.*install a newer spanwise"):
            Index.open(path, read_only=read_only)
        path.unlink()
        with pytest.raises(StoreError, match=r"its folder does not exist|no such index"):
            Index.open(tmp_path / "none/index.db", read_only=read_only)
        with pytest.raises(StoreError, match=r"it is a folder; give the path of a file, such as"):
            Index.open(tmp_path, read_only=read_only)
        with pytest.raises(StoreError, match=r"check the path|no such index"):
            Index.open("a\0b", read_only=read_only)
    with pytest.raises(StoreError, match="no such index"):
        Index.open(path, create=False)
    assert not path.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_where_an_index_is_made() -> None:
    """Fault: it was said that there is no transaction to roll back."""
    with pytest.raises(StoreError, match="full; free some room on the disk"):
        Index.open("/dev/full")


def test_a_reader_writes_nothing(tmp_path: Path, counter: Counting) -> None:
    write(tmp_path, {"d/a.md": "alpha"})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        index.export_bundle(tmp_path / "bundle")
    before = (tmp_path / "index.db").read_bytes()
    write(tmp_path, {"d/a.md": "beta"})
    with opened(tmp_path, counter, read_only=True) as index:
        for change in (
            lambda: index.add_folder(tmp_path / "d"),
            lambda: index.add(Document(text="x", uri="x")),
            lambda: index.update_metadata("d/a.md", {"a": 1}),
            lambda: index.remove("d/a.md"),
            lambda: index.remove_where({"encoding": "utf-8"}),
            lambda: index.import_bundle(tmp_path / "bundle", namespace="b"),
            index.vacuum,
        ):
            with pytest.raises(StoreError, match="read"):
                change()
        assert index.add_folder(tmp_path / "d", dry_run=True).changed == 1
        assert index.verify(files=False)
        assert hits(index, "alpha") == ["d/a.md"]
    options: dict[str, Any] = {"read_only": True, "rebuild": True, "splitter": by_heading()}
    with opened(tmp_path, counter, **options) as index, pytest.raises(StoreError, match="read"):
        index.rebuild()
    assert (tmp_path / "index.db").read_bytes() == before


def test_calls_that_would_take_out_everything_or_nothing_are_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        index.add([Document(text="x", uri="a", meta={"n": 1}), Document(text="y", uri="b")])
        with pytest.raises(OptionError, match="would take out every document"):
            index.remove_where({})
        assert index.remove_where({"n": []}) == ()
        assert index.remove_where({"n": [1, 2]}) == ("a",)
        assert index.remove(["a", "b", "b", "c"]) == ("b",)
        for uri in ("a", "none"):
            with pytest.raises(StoreError, match="it has no document"):
                index.update_metadata(uri, {"a": 1})
            with pytest.raises(StoreError, match="it has no document"):
                index.document(uri)
        with pytest.raises(OptionError, match="no Document with a uri"):
            index.add(Document(text="x"))


def test_vectors_of_another_embedder_are_not_compared(tmp_path: Path, counter: Counting) -> None:
    """Fault: with `rebuild` but no run yet, a query was compared with vectors of another model."""
    with opened(tmp_path, counter) as index:
        index.add(Document(text="alpha", uri="a"))
    for other in (Counting("two"), Counting(dimensions=8)):
        rebuild = other.name == "two"
        with opened(tmp_path, other, rebuild=rebuild) as index:
            with pytest.raises(StoreError, match="made with embedder hash@16"):
                index.search("alpha")
            assert hits(index, "alpha") == ["a"]


def test_one_that_was_opened_before_another_made_the_index_anew(tmp_path: Path) -> None:
    """Fault: it went on by the old options, and dropped the new vectors."""
    one, two = Counting("one"), Counting("two")
    document = Document(text=prose(1), uri="a")
    with opened(tmp_path, one) as old, opened(tmp_path, read_only=True, embedder=None) as reader:
        assert reader.search("matter").mode == "words"
        old.add(document)
        with opened(tmp_path, two, rebuild=True, stems=False) as index:
            index.rebuild()
            for call in (lambda: old.add(document), lambda: old.search("matter")):
                with pytest.raises(StoreError, match="made with embedder two, not one"):
                    call()
            assert not damage(index)
            assert reader._store.stems is False
            with pytest.raises(StoreError, match="no name to find it by"):
                reader.search("matter")


def lines_of(bundle: Path) -> list[dict[str, Any]]:
    """What the lines of a bundle say, without their digests."""
    return [
        {name: value for name, value in json.loads(line).items() if name != "digest"}
        for line in bundle.read_text().splitlines()
    ]


def test_a_bundle_that_is_refused_decides_nothing(tmp_path: Path, counter: Counting) -> None:
    """Fault: a new index that refused a bundle was from then on one without an embedder."""
    path = tmp_path / "bundle"
    with opened(tmp_path / "a", counter) as index:
        index.add(Document(text="alpha", uri="a"))
        index.export_bundle(path)
        before = told(index)
    with opened(tmp_path / "b") as index, pytest.raises(StoreError, match="made with spl"):
        index.import_bundle(path)
    with opened(tmp_path / "b", counter) as index:
        index.import_bundle(path)
        assert told(index) == before
        lines = path.read_text().splitlines(keepends=True)
        path.with_name("whole").write_text("".join(lines))
        for hurt in ("", "{}\n", lines[0], lines[0] + lines[1][:-9], lines[0] + lines[1] * 2):
            path.write_text(hurt)
            with pytest.raises(StoreError, match="bundle"):
                index.import_bundle(path, namespace="x")
        said = lines_of(path.with_name("whole"))[1]
        for name, value in (
            ("chunks", [[*said["chunks"][0][:1], 0, 0, 99, *said["chunks"][0][4:]]]),
            ("vectors", ["AAAA"]),
            ("vectors", ["/38" + said["vectors"][0][3:]]),
            ("uri", ""),
            ("layout", "AAAA"),
        ):
            path.write_text(lines[0] + _sealed({**said, name: value}))
            with pytest.raises(StoreError, match="line 2 is damaged"):
                index.import_bundle(path, namespace="x")
        assert index._store.namespaces() == [""]
        assert told(index) == before


def test_a_bundle_is_checked_whole_before_it_is_written(tmp_path: Path) -> None:
    """Fault: values of other kinds were written, or told as what Python raises."""
    path = tmp_path / "bundle"
    with Index.open() as index:
        index.add(Document(text="# A\n\nalpha beta", uri="a.md"))
        index.export_bundle(path)
    head, said = lines_of(path)
    (chunk,) = said["chunks"]
    about = [
        *({"text": "other"}, {"meta": {"team": "x"}}, {"context": 5}, {"heading_path": 5}),
        *({"heading_path": [5]}, {"lines": 5}, {"turns": [5]}, {"headings": "A"}),
    ]
    changed = [
        *({"meta": []}, {"meta": "x"}, {"changes": [1]}, {"source": 5}, {"source": {"root": "x"}}),
        *({"media_type": 5}, {"uri": 5}, {"chunks": [[None, *chunk[1:]]]}),
        *({"chunks": [[chunk[0], value, *chunk[2:]]]} for value in (0.0, False)),
        *({"chunks": [[*chunk[:5], {"lines": [1], **each}]]} for each in about),
    ]
    texts = [_sealed({**said, **each}) for each in (*changed, {"chunks": [chunk, chunk]})]
    with Index.open() as index:
        for text in (*texts, "[" * 200_000):
            path.write_text(f"{_sealed(head)}{text}\n")
            with pytest.raises(StoreError, match="line 2 is damaged"):
                index.import_bundle(path)
        twice = _sealed({**head, "documents": 2}) + _sealed(said) * 2
        uncounted = _sealed({**head, "documents": None}) + _sealed(said)
        for text, reason in ((twice, "two documents of one uri"), (uncounted, "1 of None")):
            path.write_text(text)
            with pytest.raises(StoreError, match=reason):
                index.import_bundle(path)
        assert index.namespaces() == []


def test_a_bundle_that_is_refused_makes_no_index(tmp_path: Path) -> None:
    """Fault: what a refused bundle was made with was from then on what the index cut with."""
    path = tmp_path / "bundle"
    with Index.open() as index:
        index.add(Document(text="alpha", uri="a"))
        index.export_bundle(path)
    head, said = lines_of(path)
    other = json.dumps({"name": "for_search", "options": {"chunk_size": 77}})
    for changes in ({"splitter_made": other}, {"embedder_name": "http://127.0.0.1:9/v1#m"}):
        path.write_text(_sealed({**head, **changes}) + _sealed(said))
        with Index.open() as index:
            with pytest.raises(StoreError, match="made"):
                index.import_bundle(path)
            report = index.add(Document(text="beta", uri="b"))
            assert "chunk_size=500" in report.splitter
            assert report.embedder == ""
    for changes in ({"splitter_made": "{"}, {"splitter_made": "[]"}, {"ceiling": "many"}):
        path.write_text(_sealed({**head, **changes}) + _sealed(said))
        with Index.open() as index:
            assert index.import_bundle(path) == 1


def test_no_damage_to_a_bundle_is_taken_for_what_was_written(
    tmp_path: Path, counter: Counting
) -> None:
    """Fault: a letter of a text, a number of a vector could change, and verify found nothing."""
    path = tmp_path / "bundle"
    with opened(tmp_path / "a", counter) as index:
        index.add(Document(text="A refund takes five days.", uri="r"), metadata={"team": "board"})
        index.export_bundle(path)
        before = told(index)
    text, chance = path.read_text(), random.Random(1)
    with opened(tmp_path / "b", counter) as index:
        for _ in range(400):
            at = chance.randrange(len(text))
            hurt = text[:at] + chance.choice('0a5}"') + text[at + 1 :]
            path.write_text(hurt)
            try:
                index.import_bundle(path)
            except StoreError:
                assert index.namespaces() == []
            else:
                assert hurt == text
                assert told(index) == before
                index.remove("r")


def test_a_bundle_of_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bundle"
    with Index.open() as index:
        index.add(Document(text="A refund.", uri="r"))
        index.export_bundle(path)
    head, said = lines_of(path)
    del head["stems"]
    path.write_text(f"{json.dumps({**head, 'version': 1})}\n{json.dumps(said)}\n")
    with Index.open() as index:
        assert index.import_bundle(path) == 1
        assert index.document("r").text == "A refund."


def test_a_bundle_says_whether_there_are_stems(tmp_path: Path) -> None:
    """Fault: a copy found other passages than what it was copied from."""
    path = tmp_path / "bundle"
    with Index.open(stems=False) as index:
        index.add(Document(text="A refund.", uri="r"))
        index.export_bundle(path)
    with Index.open() as index:
        index.import_bundle(path)
        assert not index.search("refunds")
        assert index.search("refund")
    with Index.open(stems=True) as index, pytest.raises(StoreError, match="made with stems 0"):
        index.import_bundle(path)
    with Index.open() as index:
        index.add(Document(text="A fee.", uri="f"))
        with pytest.raises(StoreError, match="made with stems 0"):
            index.import_bundle(path)


def test_what_lies_beside_a_bundle_is_left_alone(tmp_path: Path) -> None:
    """Fault: a file called like the bundle with .part was written over and taken away."""
    beside = tmp_path / "x.part"
    beside.write_text("precious")
    with Index.open() as index:
        index.add(Document(text="A refund.", uri="r"))
        index.export_bundle(tmp_path / "x")
    assert beside.read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["x", "x.part"]


def test_the_file_of_another_program_is_not_changed(tmp_path: Path) -> None:
    """Fault: it had another way of writing before it was refused."""
    path = tmp_path / "other.db"
    for version in (0, 1, 99):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (x)")
            connection.execute(f"PRAGMA user_version = {version}")
            connection.commit()
        before = path.read_bytes()
        with pytest.raises(StoreError, match="another kind"):
            Index.open(path)
        assert path.read_bytes() == before
        path.unlink()


@pytest.mark.parametrize("size", [1e-25, 1e20, 3e38])
def test_vectors_of_any_length_are_found(size: float) -> None:
    """Fault: a length that single precision cannot square made a vector of zeros."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [[size, size]] * len(texts)

    embedder = FunctionEmbedder(embed, id="m", dimensions=2)
    with Index.open(embedder=embedder) as index:
        index.add(Document(text="one", uri="u"))
        (hit,) = index.search("two", mode="meaning")
        assert hit.score == pytest.approx(1, abs=1e-3)


def test_a_bundle_has_to_have_a_place(tmp_path: Path) -> None:
    """Fault: where there is none, what Python raises was raised."""
    (tmp_path / "file").write_text("")
    with Index.open() as index:
        index.add(Document(text="alpha", uri="a"))
        for path in ("", "/", tmp_path, tmp_path / "file" / "b", tmp_path / "no" / "b", "a\0b"):
            with pytest.raises(StoreError, match="name of a file"):
                index.export_bundle(path)
        with pytest.raises(StoreError, match="cannot be read"):
            index.import_bundle("a\0b")


def test_what_is_no_bundle_is_refused_by_name(tmp_path: Path) -> None:
    """Fault: a pipe was waited for without an end, and an index was said to be damaged."""
    (tmp_path / "text").write_text("mine")
    with Index.open(tmp_path / "i.db") as index:
        index.add(Document(text="alpha", uri="a"))
        for name in ("i.db", "text"):
            with pytest.raises(StoreError, match="it is no bundle"):
                index.import_bundle(tmp_path / name)
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
            with pytest.raises(StoreError, match="it is there and is no bundle"):
                index.export_bundle(tmp_path / "pipe")
            with pytest.raises(StoreError, match="it is no file"):
                index.import_bundle(tmp_path / "pipe")


@pytest.mark.parametrize("splitter", ["by_text", for_search, object()], ids=str)
def test_what_is_no_splitter_is_refused(splitter: Any) -> None:
    with pytest.raises(OptionError, match="no splitter"):
        Index.open(splitter=splitter)


def test_what_a_caller_gives_wrong_is_no_fault_of_a_document(tmp_path: Path) -> None:
    """Fault: metadata that are no mapping were told as a document that failed."""
    loop: dict[str, Any] = {}
    loop["a"] = loop
    document = Document(text="alpha", uri="a")
    write(tmp_path, {"d/a.md": "alpha"})
    with Index.open() as index:
        index.add(document)
        for wrong in (5, "x", loop, {(1, 2): 3}):
            for name, call in (
                ("metadata", lambda: index.add(document, metadata=wrong)),  # type: ignore[arg-type] # noqa: B023
                ("metadata", lambda: index.add_folder(tmp_path / "d", metadata=wrong)),  # type: ignore[arg-type] # noqa: B023
                ("changes", lambda: index.update_metadata("a", wrong)),  # type: ignore[arg-type] # noqa: B023
            ):
                with pytest.raises(OptionError, match=f"{name}=.*is no metadata"):
                    call()
        for options in ({"include": 5}, {"exclude": [5]}, {"namespace": None}):
            with pytest.raises(OptionError):
                index.add_folder(tmp_path / "d", **options)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="is no document"):
            index.add(5)  # type: ignore[arg-type]
        assert [each.uri for each in index.documents()] == ["a"]


def test_a_bundle_whose_vectors_another_run_drops_is_read_whole(tmp_path: Path) -> None:
    """Fault: its documents were left out, and counted as read."""
    counter = Counting()

    class Dropping(SqliteStore):
        left = 1

        def put(self, row: Any, chunks: Any, space: str) -> set[bytes]:
            if self.left:
                self.left -= 1
                with self.writing():
                    self._connection.execute("DELETE FROM vectors")
            return super().put(row, chunks, space)

    path = tmp_path / "bundle"
    with opened(tmp_path / "a", counter) as index:
        index.add(Document(text="alpha", uri="a"))
        index.export_bundle(path)
        before = told(index)
    options: dict[str, Any] = {"splitter": SPLITTER, "embedder": counter.embedder}
    with Index(Dropping(tmp_path / "index.db"), **options) as index:
        assert index.import_bundle(path) == 1
        assert told(index) == before


def test_a_reader_without_a_lock_is_never_torn(
    tmp_path: Path, counter: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: one in a folder it may not write to read pages of two moments when one was written.

    SQLite refuses such a folder to the first connection; here a stand-in for it does.
    """
    with opened(tmp_path, counter) as index:
        index.add([Document(text=prose(i), uri=str(i)) for i in range(30)])
    connect = sqlite3.connect

    class Refused(sqlite3.Connection):
        def execute(self, *_: Any) -> Any:
            raise sqlite3.OperationalError("unable to open database file")

    def connected(path: str, **options: Any) -> sqlite3.Connection:
        kind = Refused if path.endswith("?mode=ro") else sqlite3.Connection
        return connect(path, **options, factory=kind)

    monkeypatch.setattr(sqlite3, "connect", connected)
    with opened(tmp_path, counter, read_only=True) as reader:
        monkeypatch.undo()
        assert len(hits(reader, "matter", fold=False)) == 10
        with opened(tmp_path, counter) as index:
            index.add(Document(text="alpha", uri="a"))
            with pytest.raises(StoreError, match="open it again"):
                hits(reader, "matter")
        for call in (lambda: hits(reader, "matter"), reader.documents, reader.verify):
            with pytest.raises(StoreError, match="open it again"):
                call()
    with opened(tmp_path, counter, read_only=True) as reader:
        assert hits(reader, "alpha") == ["a"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_kept(tmp_path: Path, counter: Counting) -> None:
    write(tmp_path, {"d/a.md": "alpha", "d/sub/b.md": "beta", "d/c.md": "gamma"})
    with opened(tmp_path, counter) as index:
        index.add_folder(tmp_path / "d")
        before = told(index)
        for path, mode in (("d/sub", 0), ("d/sub", 0o300), ("d/a.md", 0)):
            was = (tmp_path / path).stat().st_mode
            (tmp_path / path).chmod(mode)
            report = index.add_folder(tmp_path / "d", reload=True)
            (tmp_path / path).chmod(was)
            assert (len(report.failed), report.removed) == (1, ())
            assert told(index) == before


def test_a_file_of_sqlite_is_closed_once(tmp_path: Path) -> None:
    file = SqliteFile(str(tmp_path / "x.db"), read_only=False, create=True)
    file.close()
    file.close()
    with pytest.raises(StoreError, match="open the index again"):
        file.all("SELECT 1")


def test_a_new_index_is_made_as_the_bundle_it_reads(tmp_path: Path) -> None:
    document = Document(text="# A\n\nOne two three. Four five six.", uri="a.md")
    with Index.open(splitter=for_search(chunk_size=20), ceiling=30) as index:
        index.add(document)
        index.export_bundle(tmp_path / "b.jsonl")
        made = [each.text for each in index.chunks("a.md")]
    with Index.open(tmp_path / "i.db") as index:
        assert index.import_bundle(tmp_path / "b.jsonl") == 1
        report = index.add(Document(text=document.text + "\n\nSeven eight nine.", uri="b.md"))
        assert "chunk_size=20" in report.splitter
        assert "cap(30" in report.splitter
        assert [each.text for each in index.chunks("a.md")] == made
    with (
        Index.open(splitter=for_search(chunk_size=25)) as index,
        pytest.raises(StoreError, match="splitter"),
    ):
        index.import_bundle(tmp_path / "b.jsonl")


def test_what_is_ready_is_written_when_a_run_is_interrupted(
    tmp_path: Path, counter: Counting
) -> None:
    def stop(at: Progress) -> None:
        if at.done == 3:
            raise KeyboardInterrupt

    given = [Document(text=f"Document {i}.", uri=f"{i}.md") for i in range(5)]
    with Index.open(tmp_path / "i.db") as index:
        with pytest.raises(KeyboardInterrupt):
            index.add(given, watch=stop)
        assert [each.uri for each in index.documents()] == ["0.md", "1.md", "2.md"]
        assert index.verify()
        assert index.add(given).unchanged == 3


def test_a_bundle_is_written_over_no_other_file(tmp_path: Path) -> None:
    with Index.open(tmp_path / "i.db") as index:
        index.add(Document(text="text", uri="a.md"))
        (tmp_path / "precious.txt").write_text("mine")
        for name in ("precious.txt", "i.db"):
            with pytest.raises(StoreError, match="no bundle"):
                index.export_bundle(tmp_path / name)
        assert (tmp_path / "precious.txt").read_text() == "mine"
        assert index.export_bundle(tmp_path / "b.jsonl") == index.export_bundle(
            tmp_path / "b.jsonl"
        )
        assert index.verify()


def test_what_other_options_chose_is_kept_and_counted(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"{name} refund")
    with Index.open(tmp_path / "i.db") as index:
        assert index.add_folder(folder).notes == ()
        report = index.add_folder(folder, exclude=["a.md"])
        assert (report.removed, len(report.notes)) == ((), 1)
        assert "other options chose are kept (1)" in report.notes[0]
        assert len(index.documents()) == 2


def test_sets_in_metadata_are_lists() -> None:
    with Index.open() as index:
        document = Document(text="refund", uri="a")
        index.add(document, metadata={"team": {"support", "sales"}})
        assert index.documents()[0].metadata == {"team": ["sales", "support"]}
        assert index.search("refund", where={"team": "support"})


def test_what_is_ready_is_written_when_the_documents_end_in_an_error(tmp_path: Path) -> None:
    def given() -> Iterator[Document]:
        yield Document(text="One.", uri="1")
        raise OSError("gone")

    with Index.open(tmp_path / "i.db") as index:
        with pytest.raises(OSError, match="gone"):
            index.add(given())
        assert [each.uri for each in index.documents()] == ["1"]


def test_a_path_of_nothing_is_refused() -> None:
    with pytest.raises(OptionError, match="names no file"):
        Index.open("")


@pytest.mark.parametrize("ceiling", [cap(40, words), 300])
def test_the_same_call_opens_an_index_again(tmp_path: Path, ceiling: Any) -> None:
    for i in range(2):
        with Index.open(tmp_path / "a.db", ceiling=ceiling) as index:
            index.add(Document(text="Some words. " * 90, uri=f"{i}.md"))
            assert len(index.documents()) == i + 1
            longest = max(words(each.text) for each in index.chunks("0.md"))
            assert longest <= 40 or ceiling == 300


def test_folders_of_one_name_are_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fault: by way of a store, names began at the current folder, so one took out the other."""
    for name in "AB":
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / f"{name}.md").write_text(f"Text {name}.")
    for name in "AB":
        monkeypatch.chdir(tmp_path / name)
        with Index(SqliteStore(tmp_path / "i.db")) as index:
            assert index.add_folder("docs").removed == ()
    with Index.open(tmp_path / "i.db") as index:
        assert [each.uri for each in index.documents()] == ["A/docs/A.md", "B/docs/B.md"]
        assert index.verify()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_folder_is_the_same_by_every_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: by a link above it each document came twice, and stayed when its file was gone."""
    real, link = tmp_path / "real", tmp_path / "link"
    (real / "docs").mkdir(parents=True)
    link.symlink_to(real)
    (real / "own").symlink_to(real / "docs")  # a link of its own name stays one
    (real / "docs" / "a.md").write_text("Refund.")
    monkeypatch.chdir(real)
    names = []
    for home in (real, link):
        with Index.open(home / "i.db") as index:
            for folder in (real / "docs", link / "docs", "docs", link / ".." / "real" / "docs"):
                index.add_folder(folder)
            names.append([each.uri for each in index.documents()])
    assert names == [["docs/a.md"]] * 2
    with Index.open(link / "i.db") as index:
        index.add_folder(real / "own")
        index.add_folder(link / "own")
        assert [each.uri for each in index.documents()] == ["docs/a.md", "own/a.md"]
        (real / "docs" / "a.md").rename(real / "docs" / "b.md")
        assert index.add_folder(link / "docs").removed == ("docs/a.md",)


def test_a_file_saved_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: the hash of what it was before stood beside the text of after, for ever."""
    path = tmp_path / "docs" / "a.md"
    write(tmp_path / "docs", {"a.md": "A"})

    def saved(*args: Any, **options: Any) -> Any:
        path.write_text("B")
        return read_raw(*args, **options)

    with Index.open(tmp_path / "i.db") as index:
        with monkeypatch.context() as patch:
            patch.setattr("spanwise.index.files.read_raw", saved)
            index.add_folder(tmp_path / "docs")
        assert index.document("docs/a.md").text == "B"
        path.write_text("A")
        assert not index.verify()
        assert index.add_folder(tmp_path / "docs").changed == 1
        assert index.document("docs/a.md").text == "A"


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_to_nothing_and_a_folder_are_no_file(tmp_path: Path) -> None:
    """Fault: documents stayed for ever where something else had their name."""
    docs, target = tmp_path / "docs", tmp_path / "t.md"
    write(docs, {"f.md": "Fee.", "k.md": "Kept."})
    target.write_text("Refund.")
    (docs / "l.md").symlink_to(target)
    with Index.open(tmp_path / "i.db") as index:
        assert index.add_folder(docs).added == 3
        target.unlink()
        (docs / "f.md").unlink()
        (docs / "f.md").mkdir()
        report = index.add_folder(docs)
        assert report.removed == ("docs/f.md", "docs/l.md")
        assert [(each.uri, each.stale) for each in report.failed] == [("docs/l.md", False)]
        assert report.notes == ()
        assert [each.uri for each in index.documents()] == ["docs/k.md"]


def test_what_never_was_in_the_index_is_not_stale_in_it() -> None:
    """Fault: the second document of a name was taken for one that was known before."""

    def down(texts: list[str]) -> list[list[float]]:
        raise ValueError("down")

    embedder = FunctionEmbedder(down, id="b", dimensions=2)
    with Index.open(embedder=embedder, attempts=1) as index:
        report = index.add([Document(text="one", uri="x"), Document(text="two", uri="x")])
        assert report.stale == ()
        assert index.documents() == []


def test_another_embedder_is_taken_over_by_every_document_of_the_next_run(tmp_path: Path) -> None:
    """Fault: what that run did not touch, or another namespace held, was found by words alone."""

    def embedder(name: str) -> FunctionEmbedder:
        return FunctionEmbedder(lambda texts: [[1.0, 2.0]] * len(texts), id=name, dimensions=2)

    def found(index: Index, namespace: str = "") -> list[str]:
        hits = index.search("x", mode="meaning", namespace=namespace)
        return sorted(hit.chunk.doc_uri for hit in hits)

    write(tmp_path / "docs", {"f.md": "refund f"})
    path = tmp_path / "i.db"
    with Index.open(path, embedder=embedder("A")) as index:
        index.add([Document(text=f"refund {each}", uri=each) for each in "ab"])
        index.add(Document(text="refund t", uri="t"), namespace="team")
    for name, again in (("B", "c"), ("C", "d"), ("D", "")):
        with Index.open(path, embedder=embedder(name), rebuild=True) as index:
            if again:
                planned = index.add(Document(text=f"refund {again}", uri=again), dry_run=True)
                report = index.add(Document(text=f"refund {again}", uri=again))
                assert (planned.added, planned.recut) == (report.added, report.recut)
            else:
                report = index.add_folder(tmp_path / "docs")
            assert (report.added, report.recut) == (1, {"B": 3, "C": 4, "D": 5}[name])
            assert found(index, "team") == ["t"]
            assert index.verify()
            assert not index._making.is_behind
        with Index.open(path, embedder=embedder(name)) as index:
            assert index.add(Document(text="refund a", uri="a")).unchanged == 1
    with Index.open(path, embedder=embedder("D")) as index:
        assert found(index) == ["a", "b", "c", "d", "docs/f.md"]


def test_a_model_in_a_folder_is_found_from_every_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: it was noted as it was typed, and looked for in whatever folder one was in."""

    def find(name: str) -> FunctionEmbedder:
        if not Path(name.partition(":")[2]).is_dir():
            raise EmbedderError(f"folder={name!r} is no folder")
        return FunctionEmbedder(lambda texts: [[1.0, 2.0]] * len(texts), id="m", dimensions=2)

    monkeypatch.setattr("spanwise.index.making.find_embedder", find)
    (tmp_path / "home" / "model").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "home")
    with Index.open(tmp_path / "i.db", embedder="onnx:model") as index:
        index.add(Document(text="A refund.", uri="r"))
    monkeypatch.chdir(tmp_path)
    with Index.open(tmp_path / "i.db") as index:
        assert index.search("refund").mode == "both"
    (tmp_path / "home" / "model").rmdir()
    with Index.open(tmp_path / "i.db") as index:
        assert index.search("refund", mode="words")
        with pytest.raises(StoreError, match=r"its embedder onnx:.*model cannot be had"):
            index.search("refund")


def test_a_key_that_was_taken_away_stays_away() -> None:
    """Fault: an unrelated change, made while the document had not the key, brought it back."""
    with Index.open() as index:

        def add(**meta: str) -> None:
            index.add(Document(text="A refund.", uri="a", meta=meta))

        add(team="board")
        index.update_metadata("a", {"team": None})
        add()
        assert index.update_metadata("a", {"x": 1}) == {"x": 1}
        add(team="board")
        assert index.documents()[0].metadata == {"x": 1}
        index.update_metadata("a", {"later": None})
        add(later="yes", other="y")
        assert index.documents()[0].metadata == {"other": "y", "x": 1}


@pytest.mark.parametrize("sizer", [chars, words, utf8_bytes])
def test_a_ceiling_in_a_unit_of_its_own_is_remembered(tmp_path: Path, sizer: Any) -> None:
    """Fault: only one in plain characters was, and the splitter was blamed."""
    text = "refund paid " * 100
    with Index.open(tmp_path / "a.db", ceiling=cap(40, sizer)) as index:
        index.add(Document(text=text, uri="a"))
        index.export_bundle(tmp_path / "a.bundle")
    with Index.open(tmp_path / "a.db") as again, Index.open() as other:
        assert again.add(Document(text=text + "more", uri="b")).embedded == 0
        other.import_bundle(tmp_path / "a.bundle")
        for index in (again, other):
            for document in index.documents():
                assert all(sizer(each.text) <= 40 for each in index.chunks(document.uri))
        assert other.add(Document(text=text, uri="c"))


def test_what_is_no_option_is_refused_by_name(tmp_path: Path) -> None:
    """Fault: an empty folder was this one; ``stems=2`` made an index that found no words."""
    with pytest.raises(OptionError, match="stems=2 is neither"):
        Index.open(stems=2)  # type: ignore[arg-type]
    with Index.open() as index:
        with pytest.raises(OptionError, match="folder='' names no folder"):
            index.add_folder("")
        index.add(Document(text="A refund.", uri="a"))
        for options in ({"min_score": 10**400}, {"mix": 10**400}, {"weights": (10**400, 1)}):
            with pytest.raises(OptionError):
                index.search("refund", **options)  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="it cannot be written"):
            index.export_bundle(tmp_path / ("x" * 250))
        write(tmp_path, {"d/a.md": "alpha"})
        (note,) = index.add_folder(tmp_path / "d", include=["*.rst"]).notes
        assert "that the patterns choose" in note
