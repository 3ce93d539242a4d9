"""From cuts to passages, on integers: fill, floor, reach.

*Fill* takes whole units of a level while they fit and refines a unit that does
not fit by the next weaker level. *Floor* merges what is too short. *Reach*
moves a shown start back into the passage before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from spanwise.cutting.clusters import border_after, is_border
from spanwise.cutting.levels import CLUSTER, SENTENCE, Level
from spanwise.cutting.sizers import Chars, Measure
from spanwise.cutting.spans import end_at, start_at, trim

__all__ = ["Packer", "merge_backward", "merge_forward", "reach"]

_WORD_START = re.compile(r"(?<=\s)[^\s\ufeff]")


class Packer:
    """Fills pieces of one text up to one size; keeps what it has cut.

    Args:
        text: the whole text.
        measure: the sizer, bound to the text.
        size: what a piece may hold, in the measure's unit.
    """

    __slots__ = ("boundaries", "ends", "exact", "measure", "size", "starts", "text")

    def __init__(self, text: str, measure: Measure, size: int) -> None:
        self.text = text
        self.measure = measure
        self.size = size
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

    def take(self, first: int) -> list[tuple[int, int, str]]:
        """The pieces from index ``first`` on, which are then no longer kept."""
        taken = list(
            zip(self.starts[first:], self.ends[first:], self.boundaries[first:], strict=True)
        )
        del self.starts[first:], self.ends[first:], self.boundaries[first:]
        return taken

    def fits(self, lo: int, hi: int) -> bool:
        """Whether ``[lo, hi)`` measures at most the size."""
        if self.exact:
            return hi - lo <= self.size
        return self.measure.size(lo, hi) <= self.size

    def reach(self, lo: int, hi: int, share: int = 1) -> int:
        """How far a piece from ``lo`` may go: the size, or the size over ``share``."""
        if self.exact:
            return min(hi, lo + self.size // share)
        return self.measure.fit(lo, hi, self.size // share)

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
        text, exact, size, level = self.text, self.exact, self.size, levels[0]
        find, fit = level.last, self.measure.fit
        p, hi = trim(text, lo, hi)
        while p < hi:
            limit = p + size if exact else fit(p, hi, size)
            if limit >= hi:
                self.add(p, hi, boundary)
                return
            low = head if p < head < limit else p
            c = find(text, low, limit) if exact else self.last(level, p, low, limit)
            if c > p:
                self.add(p, end_at(text, p, c), boundary)
            elif level is CLUSTER:
                c = border_after(text, limit + 1, hi, p)
                self.add(p, c, boundary)
            else:
                c = level.first(text, limit, hi)
                end = end_at(text, p, c)
                if most and self.measure.size(p, end) <= most:
                    self.add(p, end, boundary)
                else:
                    self.fill(p, end, levels[1:], boundary, head=head, most=most)
            p = start_at(text, c, hi)
            boundary = level.name

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
        while p < hi:
            limit = self.reach(p, hi)
            if limit == hi:
                self.add(p, hi, boundary)
                return
            low = max(p, head) if head < limit else p
            c, boundary_after = self.best(levels, p, low, min(limit, max(tail - 1, low + 1)), hi)
            if c <= p:
                c = border_after(text, limit + 1, hi, p)
                boundary_after = CLUSTER.name
            self.add(p, end_at(text, p, c), boundary)
            p = start_at(text, c, hi)
            boundary = boundary_after

    def best(
        self, levels: Sequence[Level], p: int, low: int, limit: int, hi: int
    ) -> tuple[int, str]:
        """The locally best cut for a piece from ``p``, and the name of its level.

        Of the strongest level that has cuts in the back half of the size: least
        indentation, then the longest unit after it, then the latest. When the
        back half has none, the last cut of the strongest level that has one.
        """
        half = max(low, self.reach(p, hi, 2))
        for level in levels[:-1]:
            c = self.choose(level, half, limit, hi)
            if c >= 0 and (self.exact or self.fits(p, end_at(self.text, p, c))):
                return c, level.name
        for level in levels:
            c = self.last(level, p, low, limit)
            if c > p:
                return c, level.name
        return -1, ""

    def choose(self, level: Level, half: int, limit: int, hi: int) -> int:
        """Of the cuts in ``(half, limit]`` the best one, or -1.

        Least indentation, then the longest unit after it, then the latest.
        """
        text = self.text
        opened = level.openings(text, half, limit, hi)
        if len(opened) < 2:
            return opened[0][0] if opened else -1
        ink = opened[-1][1]
        ends = [cut for cut, _ in opened[1:]]
        ends.append(level.first(text, ink, min(hi, ink + self.size)))
        best = least = longest = -1
        for (cut, ink), end in zip(opened, ends, strict=True):
            indent = indentation(text, cut, ink) if ink - cut > 1 else 0
            if least < 0 or indent < least or (indent == least and end - ink >= longest):
                best, least, longest = cut, indent, end - ink
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


def indentation(text: str, cut: int, ink: int) -> int:
    """The columns before the first ink after a cut, when that ink opens a line."""
    opened = max(text.rfind("\n", cut, ink), text.rfind("\r", cut, ink)) + 1
    return len(text[opened:ink].expandtabs(4)) if 0 < opened < ink else 0


def merge_forward(packer: Packer, first: int, floor: int, bound: int, last: int) -> None:
    """Merge pieces below ``floor`` into what follows; the last ones into what precedes.

    Only pieces from index ``first`` on take part. A run of short pieces closes
    as soon as it reaches the floor. No merge goes over ``bound``, gaps included,
    nor the one at the end over ``last``.
    """
    if floor <= 0:
        return
    size, exact = packer.measure.size, packer.exact
    pieces = packer.take(first)
    opened = closed = -1  # a run that is still short
    opening = ""
    for start, end, boundary in pieces:
        if opened < 0:
            if (end - start if exact else size(start, end)) >= floor:
                packer.add(start, end, boundary)
            else:
                opened, closed, opening = start, end, boundary
            continue
        if size(opened, end) > bound:
            # The run stands alone: what follows does not fit with it.
            packer.add(opened, closed, opening)
            opened, opening = start, boundary
        closed = end
        if size(opened, closed) >= floor:
            packer.add(opened, closed, opening)
            opened = -1
    if opened >= 0:
        if len(packer) > first and size(packer.starts[-1], closed) <= last:
            packer.ends[-1] = closed
        else:
            packer.add(opened, closed, opening)


def merge_backward(packer: Packer, first: int, floor: int, bound: int) -> None:
    """Merge pieces below ``floor`` into the one before, from index ``first`` on."""
    if len(packer) - first < 2:
        return
    size, exact = packer.measure.size, packer.exact
    for start, end, boundary in packer.take(first):
        short = (end - start if exact else size(start, end)) < floor
        if short and len(packer) > first and size(packer.starts[-1], end) <= bound:
            packer.ends[-1] = end
        else:
            packer.add(start, end, boundary)


def reach(
    text: str,
    measure: Measure,
    paragraph: Level,
    before: int,
    body: int,
    overlap: int,
    earliest: int = 0,
) -> int:
    """Where a passage whose own part begins at ``body`` is shown from.

    The furthest paragraph or sentence start within ``overlap`` that uses at
    least half of it, else the furthest word start, else a cluster border; never
    at or before ``before``, where the previous own part begins, nor before
    ``earliest``.
    """
    lo = max(before + 1, earliest, measure.back(before, body, overlap))
    if lo >= body:
        return body
    half = measure.back(before, body, (overlap + 1) // 2)
    found = body
    for level in (paragraph, SENTENCE):
        for c in level.cuts(text, max(before, lo - 2), half):
            start = start_at(text, c, body)
            if start >= lo:
                if start <= half:
                    found = min(found, start)
                break
    if found == body:
        found = _word_start(text, lo, body)
    if found == body:
        found = border_after(text, lo, body, before)
    if measure.size(found, body) > overlap:
        return body
    return found


def _word_start(text: str, lo: int, hi: int) -> int:
    """The first start of a word in ``[lo, hi)``, or ``hi``."""
    found = _WORD_START.search(text, lo, hi)
    while found and not is_border(text, found.start(), max(0, found.start() - 1)):
        found = _WORD_START.search(text, found.end(), hi)
    return found.start() if found else hi
