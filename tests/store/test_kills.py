"""A kill at any moment leaves whole documents, and the next run goes on where it ended.

Each kill is a real one (SIGKILL) of a real process, which ends itself before the k-th statement
that writes, for every k, and after the last; so each statement is also the last one that was
done. Statements are those SQLite itself reports, with those that FTS5 makes inside.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from store.corpus import QUERIES, Counting, damage, found, told, write

from spanwise import StoreError
from spanwise.index import Index
from spanwise.index import ingest as ingest_module
from spanwise.splitters.presets import for_search

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL and no fork")

_READS = ("SELECT", "PRAGMA", "EXPLAIN", "--")


def prose(number: int, count: int = 2) -> str:
    """A document of some passages, one of them shared by all."""
    own = "\n\n".join(
        f"Section {number} of part {i} pays the late fee of matter {number * 7 + i}, and ends."
        for i in range(count)
    )
    return f"# Document {number}\n\nThe café in 東京都 pays refunds to Zoë, all of them.\n\n{own}\n"


def opened(folder: Path, counter: Counting, **options: Any) -> Index:
    """The index of a folder."""
    options = {"splitter": for_search(chunk_size=90), "stems": True, **options}
    return Index.open(
        folder / "index.db", embedder=counter.embedder, batch_size=4, attempts=1, **options
    )


# --- what is killed -------------------------------------------------------------------------


def made(folder: Path) -> None:
    """An index of five documents in two namespaces."""
    write(folder, {f"d/{i}.md": prose(i) for i in range(4)})
    write(folder, {"d/long.txt": "Refunds are paid. " * 20})
    with opened(folder, Counting()) as index:
        index.add_folder(folder / "d")
        index.add_folder(folder / "d", include="0.md", namespace="team")


def edited(folder: Path) -> None:
    """The same, and the files have changed since."""
    made(folder)
    write(folder, {"d/0.md": prose(0).replace("late", "early"), "d/new.md": prose(9)})
    write(folder, {"d/2.md": "", "d/3.md": b"\xff\0"})
    (folder / "d/1.md").rename(folder / "d/moved.md")


def bundled(folder: Path) -> None:
    """The same, and a bundle of other documents."""
    made(folder)
    other = folder / "other"
    write(folder, {"other/d/0.md": prose(20), "other/d/5.md": prose(5, 4), "other/d/6.md": ""})
    with opened(other, Counting()) as index:
        index.add_folder(other / "d")
        index.export_bundle(folder / "bundle")
    shutil.rmtree(other)


def removed(folder: Path) -> None:
    """The same, and documents were taken out, and the words of an older version are in it."""
    made(folder)
    with opened(folder, Counting()) as index:
        index.remove("d/2.md")
    with closing(sqlite3.connect(folder / "index.db")) as connection:
        connection.execute("UPDATE settings SET value = 'old' WHERE name = 'words'")
        connection.commit()


def files_only(folder: Path) -> None:
    """Files, and no index."""
    write(folder, {f"d/{i}.md": prose(i) for i in range(3)})


def run(folder: Path, counter: Counting, **options: Any) -> None:
    with opened(folder, counter, **options) as index:
        index.add_folder(folder / "d")


def run_anew(folder: Path, counter: Counting) -> None:
    run(folder, counter, splitter=for_search(chunk_size=50), stems=False, rebuild=True)


def rebuild(folder: Path, counter: Counting) -> None:
    with opened(folder, counter, splitter=for_search(chunk_size=200), rebuild=True) as index:
        index.rebuild()


def remove(folder: Path, counter: Counting) -> None:
    with opened(folder, counter) as index:
        index.remove(["d/0.md", "d/long.txt", "d/none.md"])
        index.remove_where({"encoding": "utf-8"}, namespace="team")


def change_metadata(folder: Path, counter: Counting) -> None:
    with opened(folder, counter) as index:
        index.update_metadata("d/0.md", {"team": ["a", "b"], "encoding": None})
        index.update_metadata("d/0.md", {"n": 1}, namespace="team")


def vacuum(folder: Path, counter: Counting) -> None:
    with opened(folder, counter) as index:
        index.vacuum()


def graph(folder: Path, counter: Counting) -> None:
    with opened(folder, counter) as index:
        index.index_vectors()


def import_bundle(folder: Path, counter: Counting) -> None:
    with opened(folder, counter) as index:
        index.import_bundle(folder / "bundle")


@dataclass(frozen=True)
class Scene:
    """What there is, what is done to it, by which embedder, and how much is written at once."""

    prepare: Callable[[Path], None]
    act: Callable[[Path, Counting], None]
    embedder: str = "hash"
    group: int = 1


SCENES = {
    "a first run": Scene(files_only, run),
    "a run over edits": Scene(edited, run),
    "a run over edits, written at once": Scene(edited, run, group=10_000),
    "other options": Scene(made, run_anew, "two"),
    "a rebuild, written at once": Scene(made, rebuild, "two", 10_000),
    "a removal": Scene(made, remove),
    "metadata": Scene(made, change_metadata),
    "a vacuum after an update": Scene(removed, vacuum),
    "a bundle": Scene(bundled, import_bundle),
    "a graph": Scene(made, graph),
}


# --- the process that is killed -------------------------------------------------------------


def act(scene: Scene, folder: Path, stop: int = 0) -> Counting:
    """Do it; with ``stop`` end before the statement of that number, or after the last."""
    ingest_module._GROUP = scene.group
    connect, seen = sqlite3.connect, 0

    def note(statement: str) -> None:
        nonlocal seen
        if not statement.lstrip().upper().startswith(_READS):
            seen += 1
            if seen == stop:
                os.kill(os.getpid(), signal.SIGKILL)

    def connected(*args: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*args, **options)
        connection.set_trace_callback(note)
        return connection

    if stop:
        sqlite3.connect = connected
    counter = Counting(scene.embedder)
    scene.act(folder, counter)
    return counter


def serve() -> None:
    """Kill a child at every statement of what is asked for, and say where each was left.

    A process of its own, so that a fork of it is warm and has one thread.
    """
    for line in sys.stdin:
        name, base = json.loads(line)
        warm = f"{base}-warm"
        shutil.copytree(base, warm)
        act(SCENES[name], Path(warm))  # what is imported late is imported once
        for k in count(1):
            folder = Path(f"{base}-{k}")
            shutil.copytree(base, folder)
            child = os.fork()
            if child == 0:
                try:
                    act(SCENES[name], folder, k)
                    os._exit(0)
                except BaseException as fault:
                    print(repr(fault), file=sys.stderr)
                    os._exit(1)
            _, status = os.waitpid(child, 0)
            print(json.dumps([str(folder), status]), flush=True)
            if status != signal.SIGKILL:
                break


@pytest.fixture
def room() -> Iterator[Path]:
    """A folder in memory where there is one: a kill is the same there, and no disk is slow."""
    memory = "/dev/shm"
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """The process that kills its children."""
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": tests, "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(30) == 0


def killed(server: subprocess.Popen[str], name: str, base: Path) -> Iterator[Path]:
    """The folders that kills left, one for each place; the last one was not killed."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps([name, str(base)]) + "\n")
    server.stdin.flush()
    while True:
        folder, status = json.loads(server.stdout.readline())
        assert status in (0, signal.SIGKILL)
        yield Path(folder)
        shutil.rmtree(folder)
        if status == 0:
            return


# --- what is left ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Expected:
    """What an index said before, what it says when nothing was killed, and what it finds."""

    before: dict[str, Any]
    after: dict[str, Any]
    hits: list[Any]


def all_told(index: Index) -> dict[str, Any]:
    return {name: told(index, name) for name in ("", "team")}


def all_found(index: Index) -> list[Any]:
    modes = ("words", "meaning")
    return [
        {key: round(score, 4) for key, score in found(index, query, mode, name).items()}
        for query in QUERIES[:4]
        for mode in modes
        for name in ("", "team")
    ]


def expected(scene: Scene, base: Path) -> Expected:
    before: dict[str, Any] = {"": {}, "team": {}}
    if (base / "index.db").exists():
        with Index.open(base / "index.db") as index:
            before = all_told(index)
    whole = base.with_name(base.name + "-whole")
    shutil.copytree(base, whole)
    act(scene, whole)
    with Index.open(whole / "index.db", embedder=Counting(scene.embedder).embedder) as index:
        assert not damage(index)
        return Expected(before, all_told(index), all_found(index))


def state_of(folder: Path) -> bytes:
    """What a kill left, but for the random numbers of a log: equal ones need one check."""
    seen = sha256()
    for name in ("index.db", "index.db-wal"):
        path = folder / name
        data = path.read_bytes() if path.exists() else b"none"
        if name.endswith("-wal") and len(data) > 32:
            page = int.from_bytes(data[8:12], "big")
            for at in range(32, len(data), 24 + page):
                seen.update(data[at : at + 8])
                seen.update(data[at + 24 : at + 24 + page])
        else:
            seen.update(data)
    return seen.digest()


def without_vectors(entry: dict[str, Any] | None) -> dict[str, Any] | None:
    return entry and {key: value for key, value in entry.items() if key != "vectors"}


def check_reader(folder: Path, wanted: Expected) -> None:
    """Who only reads sees each document as it was or as it will be, whole."""
    try:
        reader = Index.open(folder / "index.db", read_only=True)
    except StoreError as fault:
        assert not any(wanted.before.values())  # there was no index yet
        assert "no such index" in str(fault) or "format 0" in str(fault)
        return
    with reader:
        old_words = reader._store.settings().get("words") == "old"
        assert old_words or not damage(reader)
        seen = all_told(reader)
        for name, documents in seen.items():
            before, after = wanted.before[name], wanted.after[name]
            assert set(before) & set(after) <= set(documents) <= set(before) | set(after)
            for uri, entry in documents.items():
                versions = [without_vectors(each.get(uri)) for each in (before, after)]
                assert without_vectors(entry) in versions, uri


def check_next(scene: Scene, folder: Path, wanted: Expected) -> None:
    """The next run ends what was begun, and embeds only what has no vector yet."""
    held: set[str] = set()
    with Index.open(folder / "index.db") as index:
        for documents in wanted.after.values():
            for uri, entry in documents.items():
                digests = [row.digest for row in entry["rows"]]
                lost = index._store.missing(f"{scene.embedder}@16", digests)
                for chunk, digest in zip(entry["chunks"], digests, strict=True):
                    if digest not in lost:
                        held.add(chunk.embed_text)
                assert uri
    counter = act(scene, folder)
    assert len(counter.embedded) == len(set(counter.embedded))
    assert not held & set(counter.embedded)
    with Index.open(folder / "index.db", embedder=Counting(scene.embedder).embedder) as index:
        assert not damage(index)
        assert all_told(index) == wanted.after
        assert all_found(index) == wanted.hits


@pytest.mark.parametrize("name", SCENES)
def test_ur_108_a_kill_at_every_statement(
    room: Path, server: subprocess.Popen[str], name: str
) -> None:
    """A kill in the middle lost all progress, or left half a document marked as done."""
    scene = SCENES[name]
    base = room / "base"
    base.mkdir()
    group = ingest_module._GROUP
    try:
        scene.prepare(base)
        wanted = expected(scene, base)
        kills, states = 0, set()
        for folder in killed(server, name, base):
            kills += 1
            state = state_of(folder)
            if state not in states:
                states.add(state)
                check_reader(folder, wanted)
                check_next(scene, folder, wanted)
    finally:
        ingest_module._GROUP = group
    assert kills >= 4
    print(f"{name}: {kills} kills, {len(states)} states")


def test_every_beginning_of_a_log_is_whole_documents(room: Path) -> None:
    """A kill inside a statement: what was written of the log, cut at any byte."""
    base = room / "base"
    base.mkdir()
    edited(base)
    scene = SCENES["a run over edits"]
    group = ingest_module._GROUP
    try:
        wanted = expected(scene, base)
        log = base.with_name("log")
        shutil.copytree(base, log)
        # A second connection keeps the log from being moved into the file.
        with closing(sqlite3.connect(log / "index.db")) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM documents").fetchone()
            act(scene, log)
            data, logged = (log / "index.db").read_bytes(), (log / "index.db-wal").read_bytes()
        page = 24 + int.from_bytes(data[16:18], "big")
        frames = range(32, len(logged) + 1, page)
        assert len(frames) > 20
        cuts = [
            0,
            1,
            31,
            *frames,
            *(each + 1 for each in frames[::5]),
            *(each - 9 for each in frames[1::5]),
        ]
        for i, end in enumerate(cuts):
            folder = room / f"cut-{i}"
            shutil.copytree(base, folder)
            (folder / "index.db").write_bytes(data)
            (folder / "index.db-wal").write_bytes(logged[:end])
            check_reader(folder, wanted)
            if i % 8 == 0:
                check_next(scene, folder, wanted)
            shutil.rmtree(folder)
    finally:
        ingest_module._GROUP = group


@pytest.mark.skipif(not os.environ.get("SPANWISE_DEEP"), reason="a longer run")
def test_kills_at_any_time(room: Path) -> None:
    """Kills from outside, at times that no statement decides."""
    base = room / "base"
    base.mkdir()
    edited(base)
    scene = SCENES["a run over edits"]
    wanted = expected(scene, base)
    tests = str(Path(__file__).parents[1])
    for i in range(60):
        folder = room / f"at-{i}"
        shutil.copytree(base, folder)
        with subprocess.Popen(
            [sys.executable, __file__, "a run over edits", str(folder)],
            env={**os.environ, "PYTHONPATH": tests},
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(i * 0.0007)
            process.kill()
        check_reader(folder, wanted)
        check_next(scene, folder, wanted)
        shutil.rmtree(folder)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("ready", flush=True)
        act(SCENES[sys.argv[1]], Path(sys.argv[2]))
    else:
        serve()
