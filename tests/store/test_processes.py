"""Several processes at one index: a search sees whole documents of one moment; runs add up."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from store.corpus import Counting, Known, assert_equal, damage, fresh, write

from spanwise import load
from spanwise.index import Index, ingest
from spanwise.splitters.presets import for_search

SPLITTER = for_search(chunk_size=150)
DOCUMENTS = 6
RUNS = 600 if os.environ.get("SPANWISE_DEEP") else 40


def version(document: int, number: int) -> str:
    """A document in a version that each of its passages names."""
    sections = "\n\n".join(
        f"## Part {i} of v{number}\n\nIn v{number} the refund {document} of part {i} is paid late"
        f"{' again' * (number % 3)}. In v{number} the café of 東京都 pays the fee {i}."
        for i in range(2 + (document + number) % 4)
    )
    return f"# Document {document} v{number}\n\n{sections}\n"


def opened(folder: Path, **options: bool) -> Index:
    return Index.open(
        folder / "index.db", splitter=SPLITTER, embedder=Counting().embedder, **options
    )


# --- what the other processes do ------------------------------------------------------------


def edit_and_index(folder: Path, runs: int, at_once: bool) -> None:
    """Write all documents in a new version, again and again, and index them."""
    ingest._GROUP, ingest._SECONDS = (10**9, 1e9) if at_once else (1, 0.0)
    with opened(folder) as index:
        for number in range(1, runs + 1):
            write(folder, {f"d/{i}.md": version(i, number) for i in range(DOCUMENTS)})
            index.add_folder(folder / "d")
            if number % 10 == 0:
                index.vacuum()


def index_folder(folder: Path, name: str, runs: int) -> None:
    """Index a folder a few times, reading anew each time, with few documents a transaction."""
    ingest._GROUP, ingest._SECONDS = 3, 0.0
    for number in range(runs):
        with opened(folder) as index:
            report = index.add_folder(folder / name, reload=number > 0)
            assert not report.failed, report.failed


def change_metadata(folder: Path, key: str, runs: int) -> None:
    """Lay changes over a document, a key for each process."""
    with opened(folder) as index:
        for number in range(runs):
            index.update_metadata("d/0.md", {f"{key}{number}": number})


ACTIONS = {
    "edit": lambda folder, runs, how: edit_and_index(folder, int(runs), how == "once"),
    "index": lambda folder, name, runs: index_folder(folder, name, int(runs)),
    "metadata": lambda folder, key, runs: change_metadata(folder, key, int(runs)),
}


@contextmanager
def other(action: str, folder: Path, *values: object) -> Iterator[subprocess.Popen[str]]:
    """Another process, which waits for a line before it begins; it has to end well."""
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, __file__, action, str(folder), *map(str, values)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": tests},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
            said = process.stderr.read()
            assert process.wait(60) == 0, said
        finally:
            process.kill()


def begin(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


# --- a search beside a run ------------------------------------------------------------------

QUERIES = ("late refund", '"the café"', "part*", "東京", "v3", "fee 1")


def check_search(index: Index, mode: str, query: str, expand: int | str, at_once: bool) -> int:
    """Every hit is a slice of a whole version; where runs are one transaction, of one version."""
    numbers = set()
    hits = index.search(query, mode=mode, expand=expand, limit=50, fold=False)
    for hit in hits:
        found = {int(each) for each in re.findall(r"\bv(\d+)", hit.chunk.embed_text)}
        assert len(found) == 1, hit
        (number,) = found
        numbers.add(number)
        text = version(int(Path(hit.chunk.doc_uri).stem), number)
        assert text[hit.start : hit.end] == hit.text
        assert text[hit.chunk.start : hit.chunk.end] == hit.chunk.text
        assert hit.start <= hit.chunk.start < hit.chunk.end <= hit.end
        shown = hit.snippet()
        assert all(
            hit.start <= mark.source_start < mark.source_end <= hit.end for mark in shown.marks
        )
        assert hit.to_dict()["text"] == hit.text
    if at_once:
        assert len(numbers) <= 1, numbers
    return len(hits)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_search_beside_a_run_sees_whole_documents(tmp_path: Path, at_once: bool) -> None:
    write(tmp_path, {f"d/{i}.md": version(i, 0) for i in range(DOCUMENTS)})
    with opened(tmp_path) as index:
        index.add_folder(tmp_path / "d")
    searches = hits = 0
    with (
        other("edit", tmp_path, RUNS, "once" if at_once else "each") as process,
        ExitStack() as stack,
    ):
        readers = [
            stack.enter_context(opened(tmp_path, read_only=True)),
            stack.enter_context(opened(tmp_path)),
        ]
        begin(process)
        while process.poll() is None or searches < 30:
            mode = ("words", "meaning", "both")[searches % 3]
            expand = (0, 1, "section", "document")[searches // 3 % 4]
            query = QUERIES[searches % len(QUERIES)]
            hits += check_search(readers[searches % 2], mode, query, expand, at_once)
            if searches % 20 == 0:
                assert not damage(readers[searches // 20 % 2])
                with opened(tmp_path, read_only=True) as reader:
                    check_search(reader, "both", query, 0, at_once)
            searches += 1
    assert hits > searches
    with opened(tmp_path) as index:
        index.add_folder(tmp_path / "d")
        known = {f"d/{i}.md": version(i, RUNS) for i in range(DOCUMENTS)}
        assert {uri: index.document(uri).text for uri in known} == known
        assert not damage(index)


# --- two runs at once -----------------------------------------------------------------------


@pytest.mark.parametrize("folders", [("d", "d"), ("d", "d/sub"), ("d/sub", "e"), ("e", "d")])
def test_two_runs_at_once_add_up(tmp_path: Path, folders: tuple[str, str]) -> None:
    """Also where neither finds an index yet, and one drops vectors the other waits to use."""
    files = {f"d/{i}.md": version(i, i) for i in range(8)}
    files |= {f"d/sub/{i}.md": version(i, i + 3) for i in range(8)}
    files |= {f"e/{i}.md": version(i, i) for i in range(8)}
    write(tmp_path, files)
    with ExitStack() as stack:
        begin(*[stack.enter_context(other("index", tmp_path, name, 3)) for name in folders])
    with opened(tmp_path) as index:
        uris = [uri for uri in files if any(uri.startswith(f"{name}/") for name in folders)]
        known = {uri: Known(load(tmp_path / uri, uri=uri)) for uri in uris}
        whole = fresh({"": known}, splitter=SPLITTER, embedder=Counting().embedder, stems=True)
        assert_equal(index, whole, [""], QUERIES)
        assert not damage(index)
        for name in folders:
            report = index.add_folder(tmp_path / name)
            assert (report.added, report.changed, report.embedded) == (0, 0, 0)


def test_changes_of_metadata_by_two_processes_are_all_kept(tmp_path: Path) -> None:
    """Fault: each wrote all it had read, so changes were lost."""
    write(tmp_path, {f"d/{i}.md": version(i, 0) for i in range(DOCUMENTS)})
    with opened(tmp_path) as index:
        index.add_folder(tmp_path / "d")
    with ExitStack() as stack:
        begin(
            stack.enter_context(other("metadata", tmp_path, "a", 40)),
            stack.enter_context(other("metadata", tmp_path, "b", 40)),
            stack.enter_context(other("edit", tmp_path, 8, "each")),
        )
    with opened(tmp_path) as index:
        metadata = index.document("d/0.md").meta
        assert {key for key in metadata if key[0] in "ab"} == {
            f"{key}{number}" for key in "ab" for number in range(40)
        }
        assert not damage(index)


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    ACTIONS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
