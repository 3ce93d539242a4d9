"""Growth: each strategy from 1 to 16 MB of prose and Markdown, and over each hostile input.

For real text the ratio of times for 16 times the text may be at most 20. A hostile input is run at
a sixteenth of its size and at its size, with the same limit. A ratio is taken
from the best of up to three runs; a time below `FLOOR` seconds counts as `FLOOR`. What already
takes more than `AT_FOUR` times as long for four times the text is not run on the whole text: its
ratio is that of the four times, squared.

The tests in `tests/work/test_growth.py` use the strategies and inputs named here, at small sizes.

    python benchmarks/growth.py                   # real text
    python benchmarks/growth.py --hostile
"""

from __future__ import annotations

import argparse
import gc
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

import corpora

import spanwise

FLOOR = 0.005
LIMIT = 20.0
AT_FOUR = 10.0

Run = Callable[[str], Any]
Make = Callable[..., Any]


def embed(texts: Sequence[str]) -> list[tuple[float, float]]:
    """A vector for each text without any meaning: its first character decides."""
    return [(1.0, float(ord(text[0]) % 2)) for text in texts]


def _engine(strategy: str) -> Make:
    vectors = embed if strategy == "semantic" else None

    def make(**options: Any) -> Run:
        front = spanwise.ChunkingEngine()
        return lambda text: front.chunk(text, strategy=strategy, embed=vectors, **options)

    return make


def _split(kind: Callable[..., spanwise.Splitter], *given: Any, **fixed: Any) -> Make:
    return lambda **options: kind(*given, **fixed, **options).split


def _turns(**options: Any) -> Run:
    return lambda text: spanwise.chunk_turns(
        [spanwise.Turn(line, seq) for seq, line in enumerate(text.splitlines())], **options
    )


def _chunk_text(**options: Any) -> Run:
    return lambda text: spanwise.chunk_text(text, **options)


# Every strategy with its defaults and with what else changes its way: no overlap, no floor, a cap.
# Each is made with further options (a sizer) and answers chunks.
STRATEGIES: dict[str, Make] = {
    "chunk_text": _chunk_text,
    "by_text overlap=0": _split(spanwise.by_text, overlap=0),
    "by_record": _split(spanwise.by_record, "\n"),
    "by_record of spaces": _split(spanwise.by_record, " "),
    "by_record overlap=0": _split(spanwise.by_record, "\n\n", overlap=0),
    "by_heading": _split(spanwise.by_heading),
    "by_heading overlap=0": _split(spanwise.by_heading, overlap=0),
    "by_heading min_size=0": _split(spanwise.by_heading, min_size=0, overlap=0),
    "by_heading max_level=1": _split(spanwise.by_heading, max_level=1),
    "by_heading max_size": _split(spanwise.by_heading, max_size=1000),
    "by_paragraph": _split(spanwise.by_paragraph),
    "by_paragraph overlap=0": _split(spanwise.by_paragraph, overlap=0),
    "by_paragraph max_size": _split(spanwise.by_paragraph, max_size=1000),
    "fixed_with_overlap": _split(spanwise.fixed_with_overlap),
    "fixed_with_overlap max_size": _split(spanwise.fixed_with_overlap, max_size=1000),
    "whole_document": _split(spanwise.whole_document),
    "whole_document max_size": _split(spanwise.whole_document, max_size=1000),
    "by_structure": _split(spanwise.by_structure),
    "by_structure plain": _split(
        spanwise.by_structure, preserve_code_blocks=False, respect_headings=False
    ),
    "by_layout": _split(spanwise.by_layout),
    "by_layout max_size": _split(spanwise.by_layout, max_size=512),
    "by_similarity": _split(spanwise.by_similarity, embed),
    "engine fixed": _engine("fixed"),
    "engine semantic": _engine("semantic"),
    "engine hierarchical": _engine("hierarchical"),
    "engine layout": _engine("layout"),
    "chunk_turns": _turns,
    "chunk": lambda **options: spanwise.chunk,
}


def _listed(make: Make) -> Run:
    """Chunks with everything they carry, built."""
    run = make()
    return lambda text: list(run(text))


def _query(text: str) -> str:
    """The same words whatever the size, and so matches in proportion to it."""
    return " ".join([*text[1000:1040].split()[:2], "text", "word"])


# What else must stay linear: all chunks built, words, snippets.
OTHERS: dict[str, Run] = {
    "list(chunk_text)": _listed(STRATEGIES["chunk_text"]),
    "list(by_heading)": _listed(STRATEGIES["by_heading"]),
    "list(by_heading max_size)": _listed(STRATEGIES["by_heading max_size"]),
    "list(by_structure)": _listed(STRATEGIES["by_structure"]),
    "explain": lambda text: list(
        spanwise.explain(spanwise.Document(text=text), by=spanwise.by_heading())
    ),
    "blocks": spanwise.blocks,
    "highlight": lambda text: spanwise.highlight(text, _query(text)),
    "highlight of a letter": lambda text: spanwise.highlight(text, "a"),
    "snippet_around": lambda text: spanwise.snippet_around(text, ["zzz", _query(text)]),
    "lexical_tokens": spanwise.lexical_tokens,
    "lexical_spans": spanwise.lexical_spans,
}


def _positions(make: Make) -> Run:
    """Chunks with their texts and heading paths."""
    run = make()

    def whole(text: str) -> object:
        chunks = run(text)
        return chunks.texts, chunks.heading_paths

    return whole


def runs() -> dict[str, Run]:
    """Everything that is timed, by name."""
    return {name: _positions(make) for name, make in STRATEGIES.items()} | OTHERS


def seconds(run: Run, text: str) -> float:
    """The time of this process for one run over a new string: others share the machine."""
    given = corpora.fresh(text)
    gc.disable()  # a collection costs by what else is alive
    try:
        begin = process_time()
        run(given)
        return process_time() - begin
    finally:
        gc.enable()


def grown(run: Run, small: str, large: str, limit: float, tries: int = 3) -> tuple[float, float]:
    """The best times for both texts; a second and third try only while the ratio is over limit."""
    low = high = float("inf")
    for _ in range(tries):
        low = min(low, seconds(run, small))
        high = min(high, seconds(run, large))
        if high <= limit * max(low, FLOOR):
            break
    return low, high


def main() -> None:
    """Print one row for each strategy and text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hostile", action="store_true", help="the hostile inputs")
    parser.add_argument("--json", type=Path, help="also write one JSON object a line to this file")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names of strategies")
    parser.add_argument("--text", nargs="*", default=[], help="names of texts")
    parser.add_argument("--mb", type=float, default=1.0, help="the smaller size of real text")
    parser.add_argument("--all", action="store_true", help="print rows within the limit too")
    given = parser.parse_args()
    warnings.simplefilter("ignore", spanwise.SpanwiseWarning)
    texts: dict[str, Callable[[int], str]] = {}
    if given.hostile:
        for name, (size, make) in corpora.HOSTILE.items():
            texts[name] = lambda share, size=size, make=make: make(size * share // 16)
    else:
        texts["prose"] = lambda share: corpora.prose(given.mb * share)
        texts["Markdown"] = lambda share: corpora.markdown(given.mb * share)
    over = count = 0
    worst = 0.0
    for label, make in texts.items():
        if given.text and label not in given.text:
            continue
        small, middle, large = make(1), make(4), make(16)
        highest = (0.0, "")
        for name, run in runs().items():
            if given.only and not any(part in name for part in given.only):
                continue
            count += 1
            low, high = grown(run, small, middle, AT_FOUR)
            ratio = (high / max(low, FLOOR)) ** 2
            early = ratio > AT_FOUR**2
            if not early:
                low, high = grown(run, small, large, LIMIT)
                ratio = high / max(low, FLOOR)
                highest = max(highest, (high, name))
            bad = ratio > LIMIT
            over += bad
            worst = max(worst, ratio)
            if given.json:
                row = {"text": label, "name": name, "small_s": low, "large_s": high, "x4": early}
                with given.json.open("a", encoding="utf-8") as file:
                    print(json.dumps(row), file=file)
            if bad or given.all or not given.hostile:
                print(
                    f"{label:28}{name:28}{low * 1e3:9.1f} ms{high * 1e3:10.1f} ms"
                    f"{ratio:8.1f}x{'  OVER' if bad else ''}{' (4 times the text)' * early}",
                    flush=True,
                )
        if given.hostile:
            print(f"{label:28}{len(large)} characters, longest {highest[0]:.2f} s: {highest[1]}")
    print(f"{count} runs, highest ratio {worst:.1f}, {over} over {LIMIT:g}")


if __name__ == "__main__":
    main()
