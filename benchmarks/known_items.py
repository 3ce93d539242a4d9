"""Known-item search on real Markdown: a section's heading asked for, its body to be found.

Sections of at least 200 characters with a heading of their own are drawn from the Markdown corpus
of this repository; the heading is the query, the body, without it, a document. Found at rank 1,
in the first 10, and the mean reciprocal rank are printed with 95 % bootstrap intervals of the
difference to plain FTS5 with its porter tokenizer over whole bodies, asked for any of the words.

    python benchmarks/known_items.py                     # words, meaning, both with wordllama
    python benchmarks/known_items.py --embedder none
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
from collections.abc import Callable

import corpora
import numpy

from spanwise import Document
from spanwise.index import Index

SECTIONS, LEAST, DEPTH, SEED = 2000, 200, 10, 7

Ask = Callable[[str], list[str]]


def sections() -> list[tuple[str, str, str]]:
    """Name, heading and body of the sections, in an order of their own."""
    found: dict[str, tuple[str, str, str]] = {}
    for name, text in corpora.repo_markdown():
        document = Document(text=text, media_type="text/markdown")
        structure = document.outline.structure
        ends = [*structure.heading_starts, len(text)][1:]
        for i, (start, end) in enumerate(zip(structure.heading_ends, ends, strict=True)):
            heading = text[structure.title_starts[i] : structure.title_ends[i]]
            body = text[start:end].strip()
            if len(body) >= LEAST and len(re.findall(r"\w+", heading)) >= 2:
                found.setdefault(heading.lower(), (f"{name} {i}", heading, body))
    chosen = sorted(found.values())
    random.Random(SEED).shuffle(chosen)
    return chosen[:SECTIONS]


def plain_fts5(given: list[tuple[str, str, str]]) -> Ask:
    """Whole bodies in FTS5 with porter, any of the words."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(name UNINDEXED, body, tokenize='porter')")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(name, body) for name, _, body in given])

    def ask(query: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows = connection.execute(
            "SELECT name FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (words, DEPTH)
        )
        return [name for (name,) in rows]

    return ask


def ours(index: Index, mode: str, **options: object) -> Ask:
    """The documents of the hits of a search, each once."""

    def ask(query: str) -> list[str]:
        hits = index.search(query, mode=mode, limit=3 * DEPTH, fold=False, **options)  # type: ignore[arg-type]
        return list(dict.fromkeys(hit.chunk.doc_uri for hit in hits))[:DEPTH]

    return ask


def ranks(given: list[tuple[str, str, str]], ask: Ask) -> numpy.ndarray:
    """The reciprocal of the rank of each section, 0 where it is not found."""
    scores = []
    for name, heading, _ in given:
        found = ask(heading)
        scores.append(1 / (found.index(name) + 1) if name in found else 0.0)
    return numpy.array(scores)


def show(name: str, scores: numpy.ndarray, base: numpy.ndarray) -> None:
    chance = numpy.random.default_rng(0)
    draws = chance.integers(0, len(scores), (2000, len(scores)))
    low, high = numpy.percentile((scores - base)[draws].mean(axis=1), [2.5, 97.5])
    print(
        f"{name:28} R@1 {(scores == 1).mean():.3f}  R@10 {(scores > 0).mean():.3f}  "
        f"MRR {scores.mean():.3f} ({(scores - base).mean():+.3f} [{low:+.3f}, {high:+.3f}])"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="wordllama")
    options = parser.parse_args()
    given = sections()
    base = ranks(given, plain_fts5(given))
    print(f"{len(given)} sections, {sum(len(body) for _, _, body in given):,} characters")
    show("plain FTS5 porter", base, base)
    with Index.open(embedder=options.embedder) as index:
        index.add(
            Document(text=body, uri=name, media_type="text/markdown") for name, _, body in given
        )
        modes = ["words"] if options.embedder == "none" else ["words", "meaning", "both"]
        for mode in modes:
            for mix in (0.0, 0.3):
                show(f"{mode}, mix {mix}", ranks(given, ours(index, mode, mix=mix)), base)


if __name__ == "__main__":
    main()
