"""Speed beside peers: both run in this process, in turns, over the same new strings.

Every run gives text and start of every chunk (by_heading and DocumentChunker the heading path
too), size 1000, overlap 0. Printed are the median, the spread (lowest to highest) and the ratio of
the medians. Peers that are not installed are named and left out; slow ones run once, on a text cut
to `--slow-limit`, which flatters those that grow faster than their input.

    python benchmarks/speed.py                 # prose and Markdown of 0.2 MB and 8 MB
    python benchmarks/speed.py --profile by_heading
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from types import FrameType
from typing import Any

import corpora
import peers

import spanwise

SIZE = 1000
SMALL, LARGE = 0.2, 8.0

Run = Callable[[str], Any]


def ours() -> dict[str, Run]:
    """Our strategies, each to texts and starts."""
    paragraph = spanwise.by_paragraph(chunk_size=SIZE, overlap=0)
    fixed = spanwise.fixed_with_overlap(chunk_size=SIZE, overlap=0)
    heading = spanwise.by_heading(chunk_size=SIZE, overlap=0)

    def plain(chunks: spanwise.Chunks) -> list[tuple[str, int]]:
        return list(zip(chunks.texts, chunks.starts, strict=True))

    def with_paths(text: str) -> list[tuple[str, int, tuple[str, ...]]]:
        chunks = heading.split(text)
        return list(zip(chunks.texts, chunks.starts, chunks.heading_paths, strict=True))

    return {
        "chunk_text": lambda text: plain(spanwise.chunk_text(text, chunk_size=SIZE, overlap=0)),
        "by_paragraph": lambda text: plain(paragraph.split(text)),
        "fixed_with_overlap": lambda text: plain(fixed.split(text)),
        "by_heading": with_paths,
    }


# Which of ours stand beside which peers, on which text; figures are the ratio asked for.
TABLES: dict[str, tuple[tuple[str, ...], dict[str, float | None]]] = {
    "prose": (
        ("chunk_text", "by_paragraph", "fixed_with_overlap"),
        {
            peers.BLAZECHUNK: 1.0,
            peers.STS_TEXT: None,
            peers.SEMCHUNK: None,
            peers.CHONKIE: None,
            peers.LANGCHAIN_TEXT: None,
        },
    ),
    "Markdown": (
        ("by_heading",),
        {
            peers.BLAZECHUNK: 0.5,
            peers.DOCUMENT: 10.0,
            peers.STS_MARKDOWN: 10.0,
            peers.SEMCHUNK: None,
            peers.CHONKIE: None,
            peers.LANGCHAIN_MARKDOWN: None,
        },
    ),
}


def timed(run: Run, text: str) -> float:
    """Seconds for one run; what it answers is dropped outside the time."""
    gc.collect()
    begin = perf_counter()
    kept = run(text)
    seconds = perf_counter() - begin
    del kept
    return seconds


def measure(
    kind: str, mb: float, rounds: int, slow_limit: float, chosen: list[str]
) -> Iterator[dict[str, Any]]:
    """One table: the rate of each runner, in MB/s of UTF-8."""
    names, targets = TABLES[kind]
    mine = ours()
    runs: dict[str, Run] = {name: mine[name] for name in names}
    runs |= peers.installed([each for each in targets if not chosen or each in chosen], SIZE)
    # Small texts are five different ones; a large one stands for itself.
    make = corpora.prose if kind == "prose" else corpora.markdown
    texts = [make(mb, seed) for seed in range(5)] if mb < 1 else [make(mb)]
    sizes = [corpora.megabytes(corpora.fresh(text)) for text in texts]
    rates: dict[str, list[float]] = {name: [] for name in runs}
    limited: dict[str, float] = {}
    for i in range(rounds):
        text, size = texts[i % len(texts)], sizes[i % len(texts)]
        for name, run in runs.items():
            part, part_size = text, size
            if size > 1 and name not in mine and name != peers.BLAZECHUNK:
                if i:
                    continue
                if size > slow_limit:
                    part = text[: int(len(text) * slow_limit / size)]
                    part_size = corpora.megabytes(corpora.fresh(part))
                    limited[name] = part_size
            rates[name].append(part_size / timed(run, corpora.fresh(part)))
    middle = {name: median(found) for name, found in rates.items()}
    for name, found in rates.items():
        yield {
            "text": kind,
            "mb": round(sizes[0], 2),
            "name": name,
            "runs": len(found),
            "mb_per_s": middle[name],
            "low": min(found),
            "high": max(found),
            "limited_to_mb": limited.get(name),
            "ratio": {} if name in mine else {each: middle[each] / middle[name] for each in names},
            "target": targets.get(name),
        }


def show(row: dict[str, Any]) -> str:
    """One row of a table, for people."""
    ratios = ", ".join(
        f"{name} {ratio:.2f}x{_verdict(ratio, row['target'])}"
        for name, ratio in row["ratio"].items()
    )
    note = f"  (on {row['limited_to_mb']:.1f} MB)" if row["limited_to_mb"] else ""
    return (
        f"{row['text']:9}{row['mb']:6.2f} MB  {row['name']:36}{row['mb_per_s']:8.1f} MB/s "
        f"[{row['low']:.1f}..{row['high']:.1f}; {row['runs']}]  {ratios}{note}"
    )


def _verdict(ratio: float, target: float | None) -> str:
    if target is None:
        return ""
    return f" (asked {target:g}: {'met' if ratio >= target else 'NOT met'})"


# Profile

# Seconds; many kernels tick 250 times in each.
_SAMPLED = 6


def stages(name: str, text: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of each stage of one of our strategies, in rounds."""
    splitter = SPLITTERS[name]()
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        document = spanwise.Document(text=corpora.fresh(text))
        gc.collect()
        clock = [perf_counter()]
        marks = []
        if name in _READ_MARKDOWN:
            _ = document.outline.structure
            clock.append(perf_counter())
            marks.append("scan")
        spans = splitter.positions(document)
        clock.append(perf_counter())
        marks.append("positions (fill, floor, show)")
        chunks = spanwise.Chunks(document, spans)
        texts = chunks.texts
        clock.append(perf_counter())
        marks.append("texts")
        list(zip(texts, chunks.starts, strict=True))
        clock.append(perf_counter())
        marks.append("pairs")
        if name in _READ_MARKDOWN:
            _ = document.outline.paths
            clock.append(perf_counter())
            marks.append("paths of headings")
            _ = chunks.heading_paths
            clock.append(perf_counter())
            marks.append("paths of chunks")
        for mark, begin, end in zip(marks, clock, clock[1:], strict=False):
            found.setdefault(mark, []).append(end - begin)
    return found


SPLITTERS: dict[str, Callable[[], Any]] = {
    "by_text": lambda: spanwise.by_text(chunk_size=SIZE, overlap=0),
    "by_paragraph": lambda: spanwise.by_paragraph(chunk_size=SIZE, overlap=0),
    "fixed_with_overlap": lambda: spanwise.fixed_with_overlap(chunk_size=SIZE, overlap=0),
    "by_heading": lambda: spanwise.by_heading(chunk_size=SIZE, overlap=0),
    "by_structure": lambda: spanwise.by_structure(target_size=SIZE, overlap=0),
    "by_layout": lambda: spanwise.by_layout(chunk_size=SIZE, overlap=0),
}
_READ_MARKDOWN = ("by_heading", "by_structure", "by_layout")


class Sampler:
    """Counts the line that runs, as often as the system's clock for this process ticks.

    Time inside a C call counts for the line that made it.
    """

    def __init__(self) -> None:
        self.lines: Counter[tuple[str, int]] = Counter()
        self.functions: Counter[tuple[str, str]] = Counter()
        self.total = 0

    def _tick(self, _: int, frame: FrameType | None) -> None:
        self.total += 1
        if frame:
            code = frame.f_code
            self.lines[code.co_filename, frame.f_lineno] += 1
            self.functions[code.co_filename, code.co_qualname] += 1

    def __enter__(self) -> Sampler:
        signal.signal(signal.SIGPROF, self._tick)
        signal.setitimer(signal.ITIMER_PROF, 0.0005, 0.0005)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)


def profile(name: str, kind: str, mb: float, rounds: int) -> None:
    """Print where one strategy spends its time: stages, functions, lines."""
    text = (corpora.prose if kind == "prose" else corpora.markdown)(mb)
    size = corpora.megabytes(corpora.fresh(text))
    found = stages(name, text, rounds)
    chunks = SPLITTERS[name]().split(text)
    total = sum(map(median, found.values()))
    print(f"{name}, {kind} {size:.2f} MB, {len(chunks)} chunks, {size / total:.0f} MB/s")
    for stage, each in found.items():
        middle = median(each)
        print(
            f"  {stage:36}{middle * 1e3:8.2f} ms{middle / total:7.1%}"
            f"{middle / len(chunks) * 1e9:8.0f} ns a chunk {size / middle:9.0f} MB/s"
        )
    run = ours().get("chunk_text" if name == "by_text" else name)
    if run is None:
        splitter = SPLITTERS[name]()

        def run(text: str) -> object:
            return splitter.split(text).texts

    with Sampler() as sampler:
        begin = perf_counter()
        while perf_counter() - begin < _SAMPLED:
            run(corpora.fresh(text))
    for title, counted in (("functions", sampler.functions), ("lines", sampler.lines)):
        print(f"  {title} (share of {sampler.total} samples)")
        for (file, place), count in counted.most_common(22):
            path = Path(file)
            label, source = f"{path.name}:{place}", ""
            if isinstance(place, int) and path.exists():
                source = path.read_text(encoding="utf-8").splitlines()[place - 1].strip()
            print(f"  {count / sampler.total:7.1%}  {label:44}{source[:80]}")


def versions() -> str:
    """Versions of everything that runs here."""
    python = platform.python_version()
    return f"Python {python}, spanwise {spanwise.__version__}, {peers.versions()}"


def main() -> None:
    """Measure, or profile."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=9, help="rounds on large texts")
    parser.add_argument("--slow-limit", type=float, default=1.0, help="MB for slow peers")
    parser.add_argument("--text", choices=(*TABLES, "both"), default="both")
    parser.add_argument("--mb", type=float, nargs="*", default=[SMALL, LARGE])
    parser.add_argument("--peer", nargs="*", default=[], help="only these, by full name")
    parser.add_argument("--profile", choices=SPLITTERS, metavar="NAME", help="where time goes")
    given = parser.parse_args()
    if given.profile:
        kind = given.text
        if kind == "both":
            kind = "Markdown" if given.profile in _READ_MARKDOWN else "prose"
        profile(given.profile, kind, given.mb[-1], given.rounds)
        return
    load = os.getloadavg()
    print(versions(), f"load {load[0]:.1f} of {os.cpu_count()} cores", sep="\n", file=sys.stderr)
    for kind in TABLES if given.text == "both" else (given.text,):
        for mb in given.mb:
            rounds = given.rounds if mb > 1 else max(25, given.rounds)
            for row in measure(kind, mb, rounds, given.slow_limit, given.peer):
                print(json.dumps(row) if given.json else show(row), flush=True)


if __name__ == "__main__":
    main()
