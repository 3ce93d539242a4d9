"""Sizes of ranges of a text from running sums over places at which counts add up.

What is counted for each side of such a place adds up to what is counted for both. So a range costs
two places and the pieces that it cuts at its ends. Where a text has no such place for long (one
endless word, Chinese, minified code) it is parted anywhere: there the sum is only an estimate, and
every range that holds such a parting is counted whole before it is said to fit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from re import Pattern
from typing import Generic, Protocol, TypeVar

from spanwise.cutting.spans import first_ink

__all__ = ["STRETCH", "Counts", "Summed", "far_above"]

# What has no place to part it is parted in stretches of so many code points.
STRETCH = 48

# A piece that is longer than this and than a quarter of what fits is gone into.
_WORD = 16

# So many answers of each kind are remembered of one text (about 6 MB in all).
_REMEMBERED = 1 << 14

_Key = TypeVar("_Key")
_Answer = TypeVar("_Answer")


class Counts(Protocol):
    """How many tokens a string has."""

    @property
    def added(self) -> int:
        """How many a model adds to each text."""

    @property
    def border(self) -> Pattern[str]:
        """Where counts add up."""

    def whole(self, text: str) -> int:
        """The true count of a string, read as a whole, with what the model adds."""

    def opening(self, text: str) -> int:
        """The count of a string that follows nothing."""

    def following(self, text: str) -> int:
        """The count of a string that begins where counts add up."""


_Counts = TypeVar("_Counts", bound=Counts)


class Summed(ABC, Generic[_Counts]):
    """Counts bound to a text, which is read once when this is made.

    A subclass knows the places at which counts add up, and how many tokens stand before each.
    """

    __slots__ = ("_counts", "_heads", "_ranges", "_soft", "_tails", "_text")

    def __init__(self, text: str, counts: _Counts) -> None:
        self._text = text
        self._counts = counts
        self._soft = array("Q")  # the places at which counts only nearly add up
        self._heads: dict[int, tuple[int, int]] = {}
        self._tails: dict[int, tuple[int, int]] = {}
        self._ranges: dict[tuple[int, int], int] = {}

    @abstractmethod
    def _after(self, at: int) -> tuple[int, int]:
        """The first place from ``at`` on, and the count before it."""

    @abstractmethod
    def _before(self, at: int) -> tuple[int, int]:
        """The last place up to ``at``, and the count before it."""

    @abstractmethod
    def _reached(self, count: int, end: int) -> int:
        """The last place up to ``end`` that has at most a count before it."""

    @abstractmethod
    def _least(self, count: int) -> int:
        """The first place that has at least a count before it."""

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""
        if self._soft and self._is_soft(lo, hi):
            return self._whole(lo, hi)
        return self._sum(lo, hi)

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether a range is counted to be at most ``limit``; cheap when it is far above."""
        if lo >= hi:
            return True
        if not self._soft or not self._is_soft(lo, hi):
            return self._sum(lo, hi) <= limit
        return self._sum(lo, hi) < far_above(limit) and self._whole(lo, hi) <= limit

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit``, or ``lo``."""
        if self.holds(lo, hi, limit):
            return hi
        first, before = self._head(lo)
        if first < hi:
            room = before + limit
            reached = self._reached(room, hi) if room >= 0 else lo
            soft = self._soft and self._is_soft(lo, reached + 1)
            if soft:
                reached = self._soft_reach(lo, reached, hi, limit)
            if reached > lo and (soft or reached >= first):
                return self._into(lo, reached, hi, limit)
            hi = first if first > lo else min(hi, self._after(lo + 1)[0])
        places = [found.start() for found in self._counts.border.finditer(self._text, lo + 1, hi)]
        step = _furthest(len(places), lambda k: self.holds(lo, places[k - 1], limit))
        if step:
            return self._into(lo, places[step - 1], hi, limit)
        edge = places[0] if places else hi
        return lo + _furthest(edge - lo, lambda reach: self.holds(lo, lo + reach, limit))

    def _into(self, lo: int, reached: int, hi: int, limit: int) -> int:
        """How far beyond ``reached`` it fits, into a piece that is long beside what fits."""
        near = min(hi, reached + max(_WORD, (reached - lo) // 4))
        # A piece may open with white space of any length.
        ink = max(reached + 1, first_ink(self._text, reached, near))
        if near == hi or self._counts.border.search(self._text, ink, near):
            return reached
        end = min(hi, self._after(near)[0])
        if self._soft and self._is_soft(lo, end):
            return reached
        return reached + _furthest(
            end - 1 - reached, lambda more: self.holds(lo, reached + more, limit)
        )

    def _soft_reach(self, lo: int, reached: int, hi: int, limit: int) -> int:
        """How far it fits where it may go up to ``reached``, as counts only nearly add up."""
        while not self.holds(lo, reached, limit):
            reached, _ = self._before(lo + (reached - lo) * 3 // 4)
        end = min(hi, self._after(reached + 1)[0])
        if reached <= lo or not self._is_soft(lo, end):
            return reached
        room = limit - self._whole(lo, reached)
        more = self._text[reached:end]
        step = _furthest(len(more), lambda k: self._counts.opening(more[:k]) <= room)
        return reached + step if self.holds(lo, reached + step, limit) else reached

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start found to hold at most ``limit``, or ``hi``."""
        if self.holds(lo, hi, limit):
            return lo
        text = self._text
        last, before = self._before(hi - 1)
        over = before + self._sum(last, hi) - limit
        place = max(self._least(max(0, over)), self._after(lo)[0])
        while place <= last and not self.holds(place + text[place].isspace(), hi, limit):
            place, _ = self._after(place + 1 + (last - place) // 4)
        reached = place + text[place].isspace() if place <= last else hi
        edge = max(lo, self._before(min(place, last + 1) - 1)[0]) if place else lo
        if self._soft and reached < hi and self._is_soft(edge, hi):
            room = limit - self._whole(reached, hi)
            more = text[edge:reached]
            step = _furthest(
                len(more), lambda k: self._counts.opening(more[len(more) - k :]) <= room
            )
            return reached - step if self.holds(reached - step, hi, limit) else reached
        places = [found.end() for found in self._counts.border.finditer(text, edge, reached)]
        step = _furthest(len(places), lambda k: self.holds(places[-k], hi, limit))
        if step:
            reached = places[-step]
        edge = places[-step - 1] if step < len(places) else edge
        if reached < hi and reached - edge <= max(_WORD, (hi - reached) // 4):
            return reached
        # Into a piece that is long beside what fits.
        return reached - _furthest(
            reached - edge, lambda more: self.holds(reached - more, hi, limit)
        )

    def _sum(self, lo: int, hi: int) -> int:
        """The sum of the pieces of a range; exact where no soft place lies in it."""
        first, before = self._head(lo)
        last, count = self._tail(hi)
        if last < first:
            return self._counts.added + self._counts.opening(self._text[lo:hi])
        return count - before

    def _head(self, lo: int) -> tuple[int, int]:
        """The first place from ``lo`` on, and the count before it less that from ``lo`` to it."""
        found = self._heads.get(lo)
        if found is None:
            # A space that begins a range may not count as one between words does.
            first, before = self._after(lo + self._text[lo : lo + 1].isspace())
            if lo < first:
                before -= self._counts.opening(self._text[lo:first])
            found = _keep(self._heads, lo, (first, before - self._counts.added))
        return found

    def _tail(self, hi: int) -> tuple[int, int]:
        """The last place up to ``hi``, and the count before it with that from it to ``hi``."""
        found = self._tails.get(hi)
        if found is None:
            last, count = self._before(hi)
            if last < hi:
                counts = self._counts.following if last else self._counts.opening
                count += counts(self._text[last:hi])
            found = _keep(self._tails, hi, (last, count))
        return found

    def _is_soft(self, lo: int, hi: int) -> bool:
        return bisect_right(self._soft, lo) < bisect_left(self._soft, hi)

    def _whole(self, lo: int, hi: int) -> int:
        found = self._ranges.get((lo, hi))
        if found is None:
            found = _keep(self._ranges, (lo, hi), self._counts.whole(self._text[lo:hi]))
        return found


def far_above(limit: int) -> int:
    """The sum from which on a range is over a limit: stretches count a little more apart."""
    return limit + limit // 8 + 9


def _keep(answers: dict[_Key, _Answer], key: _Key, answer: _Answer) -> _Answer:
    """Remember an answer, and forget all others when they are too many."""
    if len(answers) >= _REMEMBERED:
        answers.clear()
    answers[key] = answer
    return answer


def _furthest(most: int, holds: Callable[[int], bool]) -> int:
    """The furthest reach up to ``most`` found to hold, by bisection; 0 when none is."""
    low, high = 0, most + 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
