"""Search by meaning through a graph of the vectors beside the exact search of the same file.

The passages are 400 characters of sentences of prose and Markdown, drawn by chance, so that none is
there twice, and embedded by wordllama. Queries are twelve words out of them. Both searches mix in
neighbours as the index does; recall is how many of the exact search's hits are among the graph's.

    python benchmarks/graph.py                     # 500,000 passages, some minutes
    python benchmarks/graph.py --passages 50000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice, pairwise
from pathlib import Path
from statistics import mean, median
from time import perf_counter

import corpora
from index import A_DOCUMENT, SIZE, splitter

from spanwise import Document
from spanwise.cutting.sentences import sentence_cuts
from spanwise.embedders import WordLlamaEmbedder
from spanwise.index import Index, SqliteStore
from spanwise.index.rows import Scope

QUERIES, MIX, DEPTHS = 100, 0.3, (10, 100)


def documents(passages: int) -> Iterator[Document]:
    """Sentences in documents of 100 passages."""
    source = corpora.prose(1) + corpora.markdown(1)
    cuts = [0, *sentence_cuts(source, 0, len(source))]
    sentences = [source[a:b].strip() for a, b in pairwise(cuts) if b - a < SIZE]
    chance = random.Random(0)
    for i in range(passages // A_DOCUMENT):
        text = ""
        while len(text) < SIZE * A_DOCUMENT:
            text += " " + " ".join(chance.choices(sentences, k=50))
        yield Document(text=text[: SIZE * A_DOCUMENT], uri=f"d{i}.txt", media_type="text/plain")


def queries(texts: list[str]) -> list[str]:
    """Twelve words each, out of the middle of documents."""
    chance = random.Random(1)
    found = []
    for _ in range(QUERIES):
        words = chance.choice(texts).split()
        at = chance.randrange(max(1, len(words) - 12))
        found.append(" ".join(words[at : at + 12]))
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--passages", type=int, default=500_000)
    options = parser.parse_args()
    embedder = WordLlamaEmbedder()
    some = [each.text for each in islice(documents(options.passages), QUERIES)]
    asked = embedder.embed(queries(some))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "index.db")
        with Index.open(path, splitter=splitter(), embedder=embedder, batch_size=1024) as index:
            total = index.add(documents(options.passages)).chunks
        store = SqliteStore(path)
        space = store.settings()["embedder"]

        def search() -> tuple[list[list[int]], float]:
            found, times = [], []
            for vector in asked:
                started = perf_counter()
                hits = store.find_near(space, vector, Scope(""), max(DEPTHS), MIX)
                times.append(perf_counter() - started)
                found.append([hit.chunk for hit in hits])
            return found, median(times)

        search()
        exact, slow = search()
        before, started = path.stat().st_size, perf_counter()
        store.index_vectors(space)
        made = perf_counter() - started
        store.close()
        store = SqliteStore(path)
        started = perf_counter()
        store.find_near(space, asked[0], Scope(""), 10, MIX)
        first = perf_counter() - started
        near, quick = search()
        size = path.stat().st_size - before
        print(f"{total:,} passages; Python {sys.version.split()[0]}, usearch {version('usearch')}")
        print(f"exact {slow * 1e3:.1f} ms, by the graph {quick * 1e3:.1f} ms a query")
        for depth in DEPTHS:
            shares = [
                len({*one[:depth]} & {*two[:depth]}) / max(1, len(two[:depth]))
                for one, two in zip(near, exact, strict=True)
            ]
            print(f"recall of the first {depth}: {mean(shares):.3f}, least {min(shares):.2f}")
        print(f"made in {made:.0f} s, {size / 1e6:.0f} MB; the first search took {first:.1f} s")
        store.close()


if __name__ == "__main__":
    main()
