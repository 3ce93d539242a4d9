"""What a size counts, and how far a size reaches in a text.

A sizer is any ``str -> int``. Bound to one text it becomes a `Measure`, which
answers in positions. Sizes need not be monotone: a `Measure` only ever returns
a range that it has measured.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from re import compile as pattern
from typing import Protocol

from spanwise.errors import OptionError, shown

__all__ = [
    "Counted",
    "Measure",
    "Sizer",
    "Words",
    "bind",
    "chars",
    "exceeds",
    "utf8_bytes",
    "words",
]

Sizer = Callable[[str], int]

_WORD = pattern(r"\S+")


def chars(text: str) -> int:
    """The length in code points.

    >>> chars("naïve")
    5
    """
    return len(text)


def utf8_bytes(text: str) -> int:
    """The length in UTF-8 bytes; a lone surrogate counts three.

    >>> utf8_bytes("naïve")
    6
    """
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def words(text: str) -> int:
    """The number of runs between white space.

    >>> words("two words")
    2
    """
    return len(text.split())


class Measure(Protocol):
    """A sizer bound to one text."""

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end in ``[lo, hi]`` found to hold at most ``limit``, or ``lo``."""

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start in ``[lo, hi]`` found to hold at most ``limit``, or ``hi``."""

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether ``[lo, hi)`` was measured to be at most ``limit``.

        A range that is much too large is not measured whole for it.
        """


def bind(sizer: Sizer, text: str) -> Measure:
    """The sizer bound to a text.

    A sizer that can answer ranges faster than by counting slices carries a
    method ``bind(text) -> Measure``.
    """
    if sizer is chars or sizer is len or (sizer is utf8_bytes and text.isascii()):
        return Chars()
    if sizer is words:
        return Words(text)
    own = getattr(sizer, "bind", None)
    if own is not None:
        bound: Measure = own(text)
        return bound
    return Counted(text, sizer)


def exceeds(measure: Measure, lo: int, hi: int, size: int, times: int) -> bool:
    """Whether ``[lo, hi)`` takes more than ``times`` pieces of a size, filled one by one."""
    for _ in range(times):
        if lo >= hi:
            break
        lo = max(lo + 1, measure.fit(lo, hi, size))
    return lo < hi


class Chars:
    """Code points: every answer is one addition, so hot loops do it themselves."""

    __slots__ = ()

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""
        return hi - lo

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit``, or ``lo``."""
        return min(hi, lo + limit)

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether ``[lo, hi)`` is at most ``limit``."""
        return hi - lo <= limit

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start found to hold at most ``limit``, or ``hi``."""
        return max(lo, hi - limit)


class Counted:
    """Any sizer, by galloping: it is never called on much more than what fits."""

    __slots__ = ("sizer", "text")

    def __init__(self, text: str, sizer: Sizer) -> None:
        self.text = text
        self.sizer = sizer

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""
        size: object = self.sizer(self.text[lo:hi])
        if isinstance(size, int | float) and size >= 0:
            return size  # type: ignore[return-value]  # a part of a unit is as good
        raise OptionError(
            f"sizer={shown(self.sizer)} answers {shown(size)}, which is no size; it must answer "
            "how much a text measures, 0 or more"
        )

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit``, or ``lo``."""
        return lo + _gallop(hi - lo, limit, lambda reach: self.size(lo, lo + reach))

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start found to hold at most ``limit``, or ``hi``."""
        return hi - _gallop(hi - lo, limit, lambda reach: self.size(hi - reach, hi))

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether ``[lo, hi)`` was measured to be at most ``limit``."""
        return self.fit(lo, hi, limit) == hi


class Words(Counted):
    """Words, found one after the other instead of counted again and again."""

    __slots__ = ()

    def __init__(self, text: str) -> None:
        super().__init__(text, words)

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit``, or ``lo``."""
        beyond = next(islice(_WORD.finditer(self.text, lo, hi), max(0, limit), None), None)
        return beyond.start() if beyond else hi


def _gallop(room: int, limit: int, measured: Callable[[int], int]) -> int:
    """The furthest reach in ``[0, room]`` found to measure at most ``limit``."""
    fits, reach = 0, min(room, max(1, limit))
    while measured(reach) <= limit:
        if reach == room:
            return room
        fits, reach = reach, min(room, reach * 2)
    while reach - fits > 1:
        middle = (fits + reach) // 2
        if measured(middle) <= limit:
            fits = middle
        else:
            reach = middle
    return fits
