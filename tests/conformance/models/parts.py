"""A part of a text while `SemanticChunker` works on it."""

from __future__ import annotations

from typing import NamedTuple

from .cuts import ink
from .runs import Run, Runs
from .white import On


class Sizes(NamedTuple):
    target_size: int
    max_size: int
    min_size: int
    overlap: int


class Part(NamedTuple):
    """A chunk's own text, the place the reference gives it, its kind.

    `head` is where the text below its headings begins, when it has any.
    """

    runs: Runs
    offset: int
    kind: str
    head: int = -1


def slice_of(part: Part) -> tuple[int, int]:
    """From its first place to its last."""
    return part.runs[0].start, part.runs[-1].end


def trimmed(source: str, part: Part, *, on: On) -> Part:
    """With `slices`, a part is a trimmed slice of the source."""
    if "slices" not in on:
        return part
    start, end = ink(source, *slice_of(part), on)
    return part._replace(runs=(Run(start, end),), offset=start)
