"""White space and trimming, on positions only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from spanwise.cutting.clusters import border_after, border_before

__all__ = ["WHITE", "Spans", "end_at", "first_ink", "is_white", "start_at", "texts_below", "trim"]

# What no passage begins or ends with: the white space of the references, which
# leaves out U+001C to U+001F and U+0085, separators that a text may need.
WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_INK = re.compile(rf"[^{WHITE}]")

# Below this code point nothing joins to the character before it (clusters.py).
_FIRST_JOINER = "\u0300"

# Trailing white space is looked at in steps of this many code points.
_STEP = 256


@dataclass(slots=True)
class Spans:
    """Cut positions as flat lists: ``starts[i] <= bodies[i] < ends[i]``.

    ``boundaries[i]`` names the kind of cut that opens own part ``i``.
    """

    starts: list[int] = field(default_factory=list)
    bodies: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    boundaries: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.bodies)


def is_white(character: str) -> bool:
    """Whether a character is white space or a byte order mark, and so trimmed."""
    return character in WHITE


def first_ink(text: str, lo: int, hi: int) -> int:
    """The first position in ``[lo, hi)`` that is not white, or ``hi``."""
    found = _INK.search(text, lo, hi)
    return found.start() if found else hi


def end_at(text: str, lo: int, hi: int) -> int:
    """Where a passage up to ``hi`` ends: after ink, never inside a cluster, or ``lo``."""
    end = hi
    # The common cases: a space or a line end, or two of them.
    if end > lo and text[end - 1] in " \n":
        end -= 1
        if end > lo and text[end - 1] in " \n":
            end -= 1
    if end > lo and "!" <= text[end - 1] <= "~":
        return end
    while end > lo and text[end - 1] in WHITE:
        step = max(lo, end - _STEP)
        end = step + len(text[step:end].rstrip(WHITE))
    if lo < end < hi and text[end - 1] >= _FIRST_JOINER:
        return border_after(text, end, hi, lo)
    return end


def start_at(text: str, lo: int, hi: int) -> int:
    """Where a passage from ``lo`` on begins: at ink, never inside a cluster, or ``hi``."""
    # The common cases: a space or a line end, or two of them.
    if lo + 2 < hi and text[lo] in " \n":
        start = lo + 2 if text[lo + 1] in " \n" else lo + 1
        if "!" <= text[start] <= "~":
            return start
    found = _INK.search(text, lo, hi)
    if found is None:
        return hi
    start = found.start()
    if start > lo and text[start] >= _FIRST_JOINER:
        return border_before(text, start, lo)
    return start


def texts_below(text: str, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """For each heading where the text begins below it and those that follow it directly."""
    found = [start_at(text, end, len(text)) for end in ends]
    for i in range(len(ends) - 2, -1, -1):
        if found[i] >= starts[i + 1]:
            found[i] = found[i + 1]
    return found


def trim(text: str, lo: int, hi: int) -> tuple[int, int]:
    """``[lo, hi)`` without the white space at its ends; ``lo == hi`` when all is white.

    Both ends stay cluster borders when they were: white space that a mark is
    joined to is no white space to drop.
    """
    start = start_at(text, lo, hi)
    return start, end_at(text, start, hi)
