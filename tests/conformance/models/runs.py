"""Text that was put together: source ranges with joiners between them.

The agentos chunkers join what they cut. A part is a tuple of runs, so that both the reference's
text and the places it came from are known.
"""

from __future__ import annotations

from typing import NamedTuple


class Run(NamedTuple):
    """A source range, or (when `joiner` is not empty) text that is in no source, at a place."""

    start: int
    end: int
    joiner: str = ""


Runs = tuple[Run, ...]


def run_length(run: Run) -> int:
    return len(run.joiner) or run.end - run.start


def runs_length(runs: Runs) -> int:
    return sum(run_length(run) for run in runs)


def runs_text(source: str, runs: Runs) -> str:
    return "".join(run.joiner or source[run.start : run.end] for run in runs)


def runs_slice(runs: Runs, start: int, end: int) -> Runs:
    """The part of the joined text from `start` to `end`, as runs; empty runs are left out."""
    kept: list[Run] = []
    place = 0
    for run in runs:
        length = run_length(run)
        left, right = max(start - place, 0), min(end - place, length)
        place += length
        if left >= right:
            continue
        if run.joiner:
            kept.append(Run(run.start, run.end, run.joiner[left:right]))
        else:
            kept.append(Run(run.start + left, run.start + right))
    return tuple(kept)


def runs_join(left: Runs, joiner: str, right: Runs) -> Runs:
    """Both with the joiner between, which sits where the left one ends."""
    place = left[-1].end if left else 0
    return (*left, Run(place, place, joiner), *right)


def runs_ranges(runs: Runs) -> list[tuple[int, int]]:
    """The source ranges alone."""
    return [(run.start, run.end) for run in runs if not run.joiner and run.end > run.start]
