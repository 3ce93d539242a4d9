"""An index of 50,000 passages beside bare SQLite and numpy: writing, searching, opening, memory.

The passages are 400 characters of prose, 100 a document, with vectors of 384 numbers that cost
nothing to get. Ours is `Index.add` of the documents, cutting and hashing included. Bare is the rows
of that index, read out beforehand and put into the same tables of a new file by `executemany` in
one transaction; printed beside it is the same into tables without keys and without the vocabulary
for beginnings of words.

A query is asked of both in turns: ours by `Index.search`, with chunks and scores; bare by one
FTS5 statement of the same words for 100 keys and the product of a single-precision table with
the same vector, of which the 100 largest are taken. Printed are medians.

    python benchmarks/index.py            # 50,000 passages
    python benchmarks/index.py --passages 5000
"""

from __future__ import annotations

import argparse
import gc
import random
import re
import sqlite3
import sys
import tempfile
import tracemalloc
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import corpora
import numpy

from spanwise import Document, fixed_with_overlap
from spanwise.embedders import FunctionEmbedder
from spanwise.index import Index, SqliteStore
from spanwise.index.queries import indexed_text, read_query

SIZE, A_DOCUMENT, DIMENSIONS = 400, 100, 384
QUERIES, ROUNDS, DEPTH = 200, 3, 100

# What was asked for: times of ours over bare, seconds, and memory over half-precision size.
INSERT, QUERY, OPEN, MEMORY, RATE = 2.5, 3.0, 0.050, 1.2, 10_000


def documents(passages: int) -> list[Document]:
    """Prose in documents of 100 passages."""
    size = SIZE * A_DOCUMENT
    number = count()
    # The corpus repeats its paragraphs; a number now and then makes all passages different.
    text = re.sub(
        r"(?:\S+\s+){25}",
        lambda found: f"{found[0]}{next(number) % 4999} ",
        corpora.prose(passages * SIZE / 1e6),
    )
    text = text[: passages * SIZE]
    cuts = range(0, len(text), size)
    return [
        Document(text=text[at : at + size], uri=f"d{i}.txt", media_type="text/plain")
        for i, at in enumerate(cuts)
    ]


class Free:
    """An embedder whose vectors are rows of one table, in turn."""

    def __init__(self, count: int) -> None:
        table = numpy.random.default_rng(0).standard_normal((count, DIMENSIONS), numpy.float32)
        self.table = table / numpy.linalg.norm(table, axis=1, keepdims=True)
        self.at = 0

    def __call__(self, texts: list[str]) -> Any:
        """The next rows."""
        places = numpy.arange(self.at, self.at + len(texts)) % len(self.table)
        self.at += len(texts)
        return self.table[places]


def splitter() -> Any:
    return fixed_with_overlap(chunk_size=SIZE, overlap=0)


def write_ours(path: Path, given: list[Document], free: Free) -> float:
    free.at = 0
    embedder = FunctionEmbedder(free, id="free", dimensions=DIMENSIONS)
    started = perf_counter()
    with Index.open(path, splitter=splitter(), embedder=embedder, batch_size=512) as index:
        report = index.add(given)
        spent = perf_counter() - started
    assert not report.failed and report.embedded == report.chunks, report
    return spent


def rows_in(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of an index, read out of it; the words as they were given."""
    connection = sqlite3.connect(path)
    rows = {
        table: connection.execute(f"SELECT * FROM {table}").fetchall()
        for table in ("documents", "chunks", "spaces", "vectors")
    }
    texts = dict(connection.execute("SELECT id, text FROM documents"))
    rows["words"] = [
        (key, "", indexed_text(texts[document].decode()[start:end]))
        for key, document, start, end in connection.execute(
            'SELECT id, document, start, "end" FROM chunks'
        )
    ]
    rows["vocabulary"] = [(key, f" {text}") for key, _, text in rows["words"]]
    connection.close()
    return rows


def write_same(path: Path, rows: dict[str, list[tuple[Any, ...]]]) -> float:
    """The same rows into the same tables with the same indexes."""
    SqliteStore(path).close()
    started = perf_counter()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN")
    columns = {"words": "(rowid, context, text)", "vocabulary": "(rowid, text)"}
    for table, values in rows.items():
        marks = ", ".join("?" * len(values[0]))
        connection.executemany(
            f"INSERT INTO {table} {columns.get(table, '')} VALUES ({marks})", values
        )
    connection.execute("COMMIT")
    connection.close()
    return perf_counter() - started


def write_lean(path: Path, rows: dict[str, list[tuple[Any, ...]]]) -> float:
    """The least that a search could do with: no keys but the rows' own, no vocabulary."""
    started = perf_counter()
    connection = sqlite3.connect(path, isolation_level=None)
    run = connection.execute
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = NORMAL")
    run("CREATE VIRTUAL TABLE words USING fts5(context, text, content='', tokenize='porter ascii')")
    run("BEGIN")
    for table in ("documents", "chunks", "vectors"):
        values = rows[table]
        names = ", ".join(f"c{i}" for i in range(1, len(values[0])))
        run(f"CREATE TABLE {table} (c0 INTEGER PRIMARY KEY, {names})")
        marks = ", ".join("?" * len(values[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    connection.executemany(
        "INSERT INTO words (rowid, context, text) VALUES (?, ?, ?)", rows["words"]
    )
    run("COMMIT")
    connection.close()
    return perf_counter() - started


def queries(given: list[Document]) -> list[str]:
    """Some words that stand together in the texts."""
    chance = random.Random(1)
    found = []
    for _ in range(QUERIES):
        words = chance.choice(given).text.split()
        at = chance.randrange(max(1, len(words) - 8))
        found.append(" ".join(words[at : at + chance.randint(2, 6)]))
    return found


def ask_bare(connection: sqlite3.Connection, table: Any, vector: Any, query: str) -> None:
    phrases = " OR ".join('"' + " ".join(phrase) + '"' for phrase in read_query(query).phrases)
    if phrases:
        connection.execute(
            "SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
            (phrases, DEPTH),
        ).fetchall()
    scores = table @ vector
    best = numpy.argpartition(scores, -DEPTH)[-DEPTH:]
    best[numpy.argsort(-scores[best])]


def measure_queries(ours: Path, bare: Path, free: Free, given: list[Document]) -> dict[str, float]:
    embedder = FunctionEmbedder(free, id="free", dimensions=DIMENSIONS)
    connection = sqlite3.connect(bare)
    table = free.table
    times: dict[str, list[float]] = {name: [] for name in ("ours", "words", "meaning", "bare")}
    asked = queries(given)
    with Index.open(ours, splitter=splitter(), embedder=embedder) as index:
        started = perf_counter()
        index.search(asked[0])
        first = perf_counter() - started
        for i, query in enumerate(asked):
            for name, mode in (("ours", "both"), ("words", "words"), ("meaning", "meaning")):
                started = perf_counter()
                index.search(query, mode=mode)
                times[name].append(perf_counter() - started)
            started = perf_counter()
            ask_bare(connection, table, table[i % len(table)], query)
            times["bare"].append(perf_counter() - started)
    connection.close()
    return {name: median(values) for name, values in times.items()} | {"first": first}


def measure_memory(path: Path, free: Free, passages: int) -> float:
    """What searching keeps in memory, over the half-precision size of the vectors."""
    embedder = FunctionEmbedder(free, id="free", dimensions=DIMENSIONS)
    with Index.open(path, splitter=splitter(), embedder=embedder) as index:
        index.search("warm", mode="words")
        gc.collect()
        tracemalloc.start()
        index.search("warm", mode="meaning")
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    size = passages * DIMENSIONS * 2
    print(f"  while they are read the peak is {peak / size:.2f} of it")
    return kept / size


def verdict(name: str, value: float, asked: float) -> str:
    return (
        f"{name}: {value:.2f} (asked: at most {asked:g}) {'met' if value <= asked else 'NOT met'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=50_000)
    options = parser.parse_args()
    given = documents(options.passages)
    free = Free(options.passages)
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "first.db")
        write_ours(first, given, free)
        rows = rows_in(first)
        total = len(rows["chunks"])
        print(
            f"{total:,} passages, {len(given):,} documents; Python {sys.version.split()[0]}, "
            f"SQLite {sqlite3.sqlite_version}, numpy {numpy.__version__}"
        )
        times: dict[str, list[float]] = {"ours": [], "same": [], "lean": []}
        for i in range(ROUNDS):
            ours, same, lean = (Path(folder, f"{name}{i}.db") for name in times)
            # New strings: what a document has worked out once is not there a second time.
            anew = [replace(each) for each in given]
            times["ours"].append(write_ours(ours, anew, free))
            times["same"].append(write_same(same, rows))
            times["lean"].append(write_lean(lean, rows))
        spent, plain, least = (median(each) for each in times.values())
        print(
            f"written in {spent:.2f} s, {total / spent:,.0f} a second (asked: {RATE:,}), into "
            f"{ours.stat().st_size / 1e6:.0f} MB; bare {plain:.2f} s, without keys {least:.2f} s"
        )
        print(verdict("insert / bare executemany of the same rows", spent / plain, INSERT))
        print(f"insert / the same without keys and vocabulary: {spent / least:.2f}")
        found = measure_queries(ours, lean, free, given)
        print(" ".join(f"{name} {value * 1e3:.1f} ms" for name, value in found.items()))
        print(verdict("hybrid query / bare", found["ours"] / found["bare"], QUERY))
        opened = []
        for _ in range(9):
            started = perf_counter()
            Index.open(ours, splitter=splitter()).close()
            opened.append(perf_counter() - started)
        print(verdict("open, ms", median(opened) * 1e3, OPEN * 1e3))
        print(verdict("memory / half-precision size", measure_memory(ours, free, total), MEMORY))


if __name__ == "__main__":
    main()
