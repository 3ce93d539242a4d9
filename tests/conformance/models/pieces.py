"""A chunk of the engine, and the stretches of text that `fixed` makes of one."""

from __future__ import annotations

from typing import Any, NamedTuple

from .runs import Run, Runs, runs_length, runs_slice, runs_text
from .white import On
from .windows import PLAIN, Prose, Sizes, shown, windows


class Chunk(NamedTuple):
    """A chunk's text as runs; `body` counts the characters of it that only repeat."""

    runs: Runs
    body: int = 0
    heading: str | None = None
    metadata: dict[str, Any] | None = None
    section: int = 0


def fixed_chunks(
    source: str, runs: Runs, sizes: Sizes, prose: Prose = PLAIN, *, on: On
) -> list[Chunk]:
    """The slices of some text that hold anything; a stretch of the source is cut where it is."""
    if len(runs) == 1 and not runs[0].joiner:
        text, low, high = source, runs[0].start, runs[0].end
    else:
        text, low, high = runs_text(source, runs), 0, runs_length(runs)
    chunks: list[Chunk] = []
    for window in windows(text, low, high, sizes, prose, on=on):
        start, body, end = shown(text, window, sizes, on=on)
        if start < end:
            piece = (Run(start, end),) if text is source else runs_slice(runs, start, end)
            chunks.append(Chunk(piece, body - start))
    return chunks
