"""From cuts to passages, on integers: whole units of a level while they fit.

A unit that does not fit is refined by the next weaker level. What is too short is
merged afterwards (`floor`), and what is shown moves back into the passage before (`overlap`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import sub
from typing import Protocol
from zlib import crc32

from spanwise.cutting.caps import Capped, fit_all, halfway
from spanwise.cutting.clusters import border_after, border_before
from spanwise.cutting.levels import CLUSTER, WORD, Level, between
from spanwise.cutting.sizers import Chars, Measure, exceeds
from spanwise.cutting.spans import end_at, start_at, trim

__all__ = [
    "LONG",
    "RUNT",
    "Packer",
    "checksum",
    "under_head",
]

# A piece below this many units is a runt whatever the floor; from the
# footprint reference. Small sizes have a smaller one (departure `small-sizes`).
RUNT = 50

# What takes more than so many pieces is cut so that an edit does not ripple to its end
# (docs/strategies.md, best cuts; benchmarks/edits.py).
LONG = 8

# Equal units are told apart by the checksum of this many code points.
_CHECKED = 64


class Inner(Protocol):
    """Headings that cut nothing, which go with the text below them all the same."""

    def above(self, low: int, c: int) -> int:
        """The cut, moved above headings that would end the piece, if it may go there."""

    def below(self, p: int, end: int) -> int:
        """Where the text begins under the headings at ``p``, or ``p``."""


class Packer:
    """Fills pieces of one text up to one size; keeps what it has cut.

    Args:
        text: the whole text.
        measure: the sizer, bound to the text.
        size: what a piece may hold, in the measure's unit.
        most: what it may hold at the very most, with the word that a heading keeps.
    """

    __slots__ = (
        "bound",
        "boundaries",
        "capped",
        "ends",
        "exact",
        "inner",
        "measure",
        "rows_kept",
        "size",
        "starts",
        "text",
    )

    def __init__(self, text: str, measure: Measure, size: int, most: int | None = None) -> None:
        self.text = text
        self.measure = measure
        self.size = size
        self.bound = size + RUNT - 1 if most is None else min(most, size + RUNT - 1)
        self.capped = measure if isinstance(measure, Capped) else None
        self.inner: Inner | None = None
        self.rows_kept = 0  # what the header of a table takes beside its later rows
        self.exact = isinstance(measure, Chars)
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.boundaries: list[str] = []

    def __len__(self) -> int:
        return len(self.starts)

    def add(self, start: int, end: int, boundary: str) -> None:
        """Keep ``[start, end)`` as a piece of its own."""
        self.starts.append(start)
        self.ends.append(end)
        self.boundaries.append(boundary)

    def below(self, first: int, floor: int) -> list[int]:
        """The indexes, from ``first`` on, of pieces that measure less than ``floor``."""
        starts, ends = self.starts, self.ends
        if floor <= 0:
            return []
        if self.exact:
            sizes = map(sub, ends[first:], starts[first:])
            return [i for i, size in enumerate(sizes, first) if size < floor]
        is_below = self.is_below
        return [i for i in range(first, len(starts)) if is_below(starts[i], ends[i], floor)]

    def is_below(self, lo: int, hi: int, floor: int) -> bool:
        """Whether ``[lo, hi)`` measures less than ``floor``."""
        return hi - lo < floor if self.exact else self.measure.holds(lo, hi, floor - 1)

    def drop(self, first: int, gone: Sequence[int]) -> None:
        """Keep the pieces of these indexes, all from ``first`` on, no longer."""
        if gone:
            kept = bytearray(b"\1") * (len(self) - first)
            for i in gone:
                kept[i - first] = 0
            self.starts[first:] = compress(self.starts[first:], kept)
            self.ends[first:] = compress(self.ends[first:], kept)
            self.boundaries[first:] = compress(self.boundaries[first:], kept)

    def allows(self, lo: int, hi: int) -> bool:
        """Whether ``[lo, hi)`` is within the cap, if there is one."""
        return self.capped is None or self.capped.allows(lo, hi)

    def merges(self, lo: int, hi: int, bound: int, boundary: str) -> bool:
        """Whether ``[lo, hi)`` may be one piece, merged where one opens at ``boundary``."""
        if boundary != "row" or self.capped is None:
            return self.measure.holds(lo, hi, bound)
        kept = self.capped.kept
        self.capped.leave(max(kept, self.rows_kept))
        answer = self.measure.holds(lo, hi, bound)
        self.capped.kept = kept
        return answer

    def fits(self, lo: int, hi: int) -> bool:
        """Whether ``[lo, hi)`` measures at most the size."""
        return self.measure.holds(lo, hi, self.size)

    def furthest(self, lo: int, hi: int) -> int:
        """How far a piece from ``lo`` may go."""
        return min(hi, lo + self.size) if self.exact else self.measure.fit(lo, hi, self.size)

    def half(self, lo: int, limit: int, hi: int) -> int:
        """How far half a size goes from ``lo``, where a whole one reaches ``limit``."""
        if self.exact:
            return min(hi, lo + self.size // 2)
        return halfway(self.measure, lo, limit, hi, self.size)

    def fill(
        self,
        lo: int,
        hi: int,
        levels: Sequence[Level],
        boundary: str,
        *,
        head: int = 0,
        most: int = 0,
    ) -> None:
        """Cut ``[lo, hi)``: whole units while they fit, refined where one does not.

        The last level given must be `CLUSTER`. A refined unit shares no piece
        with its neighbours. No cut falls at or before ``head`` while a piece can
        go beyond it. A unit of at most ``most`` stays whole.
        """
        self._fill(*trim(self.text, lo, hi), levels, boundary, head, most)

    def _fill(
        self, p: int, hi: int, levels: Sequence[Level], boundary: str, head: int, most: int
    ) -> None:
        """`fill` from ink to ink."""
        text, exact, size, level = self.text, self.exact, self.size, levels[0]
        find, fit = level.last, self.measure.fit
        add_start, add_end = self.starts.append, self.ends.append
        add_boundary = self.boundaries.append
        while p < hi:
            limit = p + size if exact else fit(p, hi, size)
            if limit >= hi:
                add_start(p)
                add_end(hi)
                add_boundary(boundary)
                return
            low = head if p < head < limit else p
            c = self.under_head(p, head, hi) if p < limit <= head else -1
            found = c < 0 and level is not CLUSTER
            if c < 0:
                c = find(text, low, limit) if exact else self.last(level, p, low, limit)
            if c > p:
                # Most pieces end with a letter: no white space to step over.
                add_end(c if "!" <= text[c - 1] <= "~" else end_at(text, p, c))
                add_start(p)
                add_boundary(boundary)
            elif level is CLUSTER:
                c = border_after(text, low + 1, hi, p)
                self.add(p, c, boundary)
            else:
                c = level.first(text, limit, hi)
                if c >= hi and not (most and self.measure.holds(p, hi, most)):
                    # This level has no cut here at all: the next one takes its place.
                    levels = levels[1:]
                    level = levels[0]
                    find = level.last
                    continue
                end = end_at(text, p, c)
                if most and self.measure.holds(p, end, most):
                    self.add(p, end, boundary)
                else:
                    self._fill(p, end, levels[1:], boundary, head, most)
            # Most cuts lie at a space or a line end, or at two (the common cases of `start_at`).
            if c + 2 < hi and text[c] in " \n":
                p = c + 2 if text[c + 1] in " \n" else c + 1
                if not "!" <= text[p] <= "~":
                    p = start_at(text, c, hi)
            else:
                p = start_at(text, c, hi)
            boundary = level.name if found else between(self.ends[-1], p)

    def fill_best(
        self, lo: int, hi: int, levels: Sequence[Level], boundary: str, bounds: tuple[int, int]
    ) -> None:
        """Cut ``[lo, hi)`` at the locally best cuts, so that an edit does not ripple.

        ``bounds`` are two places: no cut falls at or before the first while a
        piece can go beyond it (a heading, the opening line of a fence), none at
        or after the second (the closing line).
        """
        text, head, tail = self.text, *bounds
        p, hi = trim(text, lo, hi)
        long = exceeds(self.measure, p, hi, self.size, LONG)
        while p < hi:
            limit = self.furthest(p, hi)
            if limit == hi:
                self.add(p, hi, boundary)
                return
            if self.inner is not None:
                head = self.inner.below(max(p, head), hi)
            low = max(p, head) if head < limit else p
            c, boundary_after = -1, ""
            if p < head and limit <= head:
                c = self.under_head(p, head, hi)
            if c < 0:
                last = min(limit, max(tail - 1, low + 1))
                half = max(low, self.half(p, limit, hi))
                floor = low if long else half
                c, boundary_after = self.best(levels, p, low, floor, half, last, hi)
                if self.inner is not None and c > low:
                    c = self.inner.above(low, c)
            if c <= p:
                c = border_after(text, low + 1, hi, p)
                boundary_after = ""
            self.add(p, end_at(text, p, c), boundary)
            p = start_at(text, c, hi)
            boundary = boundary_after or between(self.ends[-1], p)

    def under_head(self, p: int, head: int, hi: int) -> int:
        """`under_head` for a piece of this packer."""
        return under_head(self.text, self.measure, p, head, hi, self.size, self.bound)

    def best(
        self,
        levels: Sequence[Level],
        p: int,
        low: int,
        floor: int,
        half: int,
        limit: int,
        hi: int,
    ) -> tuple[int, str]:
        """The locally best cut for a piece from ``p``, and the name of its level.

        The strongest level that has a cut wins; of its cuts the best beyond
        ``half`` of the size, else the last. Weaker than sentences it is the last.
        """
        for level in levels:
            c = self.choose(level, floor, half, limit, hi) if level.chosen else -1
            if c < 0 or not (self.exact or self.fits(p, end_at(self.text, p, c))):
                c = self.last(level, p, low, limit)
            if c > p:
                return c, level.name
        return -1, ""

    def choose(self, level: Level, floor: int, half: int, limit: int, hi: int) -> int:
        """Of the cuts in ``(half, limit]`` the best one, or -1.

        Where there is one at most there would be no choice, and an edit would move
        all cuts after it; then those beyond a quarter of the size count too, if they
        lie beyond ``floor``.

        Least indentation, then the longest unit after it; of equals the one whose
        unit has the largest checksum, so that the choice does not move with the
        window, then the latest.
        """
        text = self.text
        opened = level.openings(text, half, limit, hi)
        if len(opened) < 2 and floor < half:
            opened = level.openings(text, max(floor, half - (limit - half) // 2), limit, hi)
        if len(opened) < 2:
            return opened[0][0] if opened else -1
        ink = opened[-1][1]
        stop = level.first(text, ink, min(hi, ink + self.size))
        best = least = longest = place = -1
        for (cut, ink), (end, _) in zip(opened, [*opened[1:], (stop, stop)], strict=True):
            indent = indentation(text, cut, ink) if ink - cut > 1 else 0
            if least < 0 or indent < least or (indent == least and end - ink > longest):
                best, least, longest, place = cut, indent, end - ink, ink
            elif (
                indent == least
                and end - ink == longest
                and checksum(text, ink) >= checksum(text, place)
            ):
                best, place = cut, ink
        return best

    def last(self, level: Level, p: int, low: int, limit: int) -> int:
        """The last cut in ``(low, limit]`` whose piece from ``p`` is measured to fit, or -1."""
        c = level.last(self.text, low, limit)
        if self.exact:
            return c
        while c > low and not self.fits(p, end_at(self.text, p, c)):
            limit = low + (c - low) * 3 // 4
            c = level.last(self.text, low, limit) if limit > low else -1
        return c


def under_head(
    text: str, measure: Measure, p: int, head: int, hi: int, size: int, bound: int
) -> int:
    """The end of the first word under a heading that leaves no room for it, or -1.

    A heading does not stand alone for the sake of the size: it may go over it, up
    to ``bound``, with the first word (or cluster) of its text.
    """
    end = end_at(text, p, head)
    if fit_all(measure, p, end, size) < end:
        return -1
    limit = fit_all(measure, p, hi, bound)
    if limit <= head:
        return -1
    for c in (WORD.first(text, head, min(limit + 1, hi)), border_before(text, limit, head)):
        end = end_at(text, p, c)
        if head < c <= limit and fit_all(measure, p, end, bound) == end:
            return c
    return -1


def checksum(text: str, start: int) -> int:
    """A number for the text that begins at a place."""
    return crc32(text[start : start + _CHECKED].encode("utf-8", "surrogatepass"))


def indentation(text: str, cut: int, ink: int) -> int:
    """The columns before the first ink after a cut, when that ink opens a line."""
    _, opened, indent = text[cut:ink].rpartition("\n")
    if "\r" in indent:
        _, opened, indent = indent.rpartition("\r")
    return len(indent.expandtabs(4)) if opened else 0
