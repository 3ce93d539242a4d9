"""What real Markdown files lose at the cuts: fences, tables, headings, beside peers.

The judge is markdown-it-py, which shares no code with any splitter here. Judged are own parts:

- *fence cut*, *table cut*: no chunk holds the whole of one that is no larger than the size;
- *heading orphaned*: a chunk ends in a heading, and more text follows it in the file;
- *heading alone*: a chunk holds nothing but headings.

Only headings of the document itself count, not those inside lists and quotes; fences and tables
count at any depth. Front matter is no part of CommonMark, so the judge is not shown it.

    python benchmarks/structure.py [--all]
"""

from __future__ import annotations

import argparse
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import corpora
import peers
from markdown_it import MarkdownIt

import spanwise

SIZES = (300, 1000, 2000)
PEERS = (
    peers.STS_MARKDOWN,
    peers.LANGCHAIN_MARKDOWN,
    peers.CHONKIE,
    peers.BLAZECHUNK,
    peers.DOCUMENT,
)

Range = tuple[int, int]
Cut = Callable[[str], Iterable[Range]]

_LINE_END = re.compile(r"\r\n?|\n")
_FRONT = re.compile(
    r"\A(?:---[ \t]*\r?\n.*?\n(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n.*?\n\+\+\+)[ \t]*\r?$", re.S | re.M
)
_INK = re.compile(r"\S")
_JUDGE = MarkdownIt("commonmark").enable("table")


class Judged(NamedTuple):
    """What a text holds, as ranges from ink to ink."""

    fences: list[Range]
    tables: list[Range]
    headings: list[Range]


def judge(text: str) -> Judged:
    """The fences, tables and document-level headings of a text."""
    front = _FRONT.match(text)
    shown = re.sub(r"[^\r\n]", " ", front.group()) + text[front.end() :] if front else text
    lines = [0, *(found.end() for found in _LINE_END.finditer(text)), len(text)]
    judged = Judged([], [], [])
    for token in _JUDGE.parse(shown):
        kind = {
            "fence": judged.fences,
            "table_open": judged.tables,
            "heading_open": None if token.level else judged.headings,
        }.get(token.type)
        if kind is not None and token.map:
            start, end = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
            held = text[start:end]
            start += len(held) - len(held.lstrip())
            kind.append((start, start + len(held.strip())))
    return judged


class Loss(NamedTuple):
    """One thing that went wrong: which, where in the text, in which chunk."""

    kind: str
    start: int
    end: int
    chunk: int


def losses(
    text: str, judged: Judged, parts: list[Range], *, fence: float, table: float
) -> Iterator[Loss]:
    """What the own parts lose; fences up to ``fence`` characters count, tables up to ``table``."""
    starts = [start for start, _ in parts]
    for kind, ranges, most in (
        ("fence cut", judged.fences, fence),
        ("table cut", judged.tables, table),
    ):
        for start, end in ranges:
            i = max(0, bisect_right(starts, start) - 1)
            if end - start <= most and not (parts and parts[i][0] <= start < end <= parts[i][1]):
                yield Loss(kind, start, end, i)
    last = len(text.rstrip())
    heads = [start for start, _ in judged.headings]
    head_ends = [end for _, end in judged.headings]
    for i, (start, stop) in enumerate(parts):
        end = start + len(text[start:stop].rstrip())
        j = bisect_left(head_ends, end)
        if end < last and j < len(head_ends) and head_ends[j] == end:
            yield Loss("heading orphaned", heads[j], end, i)
        at = start
        j = max(0, bisect_right(heads, at) - 1)
        while j < len(heads) and heads[j] <= at < head_ends[j]:
            found = _INK.search(text, head_ends[j], end)
            at = found.start() if found else end
            j += 1
        if at >= end > start:
            yield Loss("heading alone", start, end, i)


def own_parts(chunks: spanwise.Chunks) -> list[Range]:
    """The own parts of chunks."""
    return list(zip(chunks.bodies, chunks.ends, strict=True))


def splitters(size: int) -> dict[str, Cut]:
    """Ours and the peers that are installed, each to ranges."""
    ours = {
        "by_heading": spanwise.by_heading(chunk_size=size, overlap=0),
        "by_heading, overlap": spanwise.by_heading(chunk_size=size),
        "by_layout": spanwise.by_layout(chunk_size=size, overlap=0),
        "by_layout, overlap": spanwise.by_layout(chunk_size=size),
        "by_structure": spanwise.by_structure(target_size=size, overlap=0),
        "by_structure, overlap": spanwise.by_structure(target_size=size),
    }
    made: dict[str, Cut] = {
        name: lambda text, by=by: own_parts(by.split(text)) for name, by in ours.items()
    }
    for name, run in peers.installed(PEERS, size).items():
        made[name] = lambda text, name=name, run=run: peers.spans(name, run, text)
    return made


KINDS = ("fence cut", "table cut", "heading orphaned", "heading alone")


def main() -> None:
    """Print one table for each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="every file found, not only the repo's")
    parser.add_argument("--where", action="store_true", help="say where ours lose something")
    given = parser.parse_args()
    warnings.simplefilter("ignore", spanwise.SpanwiseWarning)
    files = corpora.markdown_files() if given.all else corpora.repo_markdown()
    found = [(name, text, judge(text)) for name, text in files]
    for size in SIZES:
        fences, tables = (
            sum(end - start <= size for _, _, judged in found for start, end in judged[kind])
            for kind in (0, 1)
        )
        headings = sum(len(judged.headings) for _, _, judged in found)
        print(
            f"size {size}: {len(found)} files, {fences} fences and {tables} tables that fit, "
            f"{headings} headings"
        )
        for name, cut in splitters(size).items():
            counts, chunks = dict.fromkeys(KINDS, 0), 0
            for file, text, judged in found:
                parts = list(cut(text))
                chunks += len(parts)
                for loss in losses(text, judged, parts, fence=size, table=size):
                    counts[loss.kind] += 1
                    if given.where and name.startswith("by_"):
                        held = text[loss.start : loss.end]
                        print(f"    {name} {loss.kind}: {file} {loss.start} {held[:60]!r}")
            row = "".join(f"{kind} {count:4}   " for kind, count in counts.items())
            print(f"  {name:32}{chunks:6} chunks   {row}", flush=True)


if __name__ == "__main__":
    main()
