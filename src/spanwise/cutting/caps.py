"""A cap on a whole passage, in the unit of its size or in another."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from spanwise.cutting.naming import named
from spanwise.cutting.sizers import Chars, Counted, Measure, Sizer, bind, chars, utf8_bytes, words
from spanwise.errors import OptionError, shown

__all__ = [
    "OVERLAP_SHARE",
    "Cap",
    "Capped",
    "allows",
    "bind_capped",
    "borrowed",
    "cap",
    "fit_all",
    "halfway",
    "name_of",
]

# How many code points are looked at first for where two sizes end.
_REACH = 4096

# At most this share of a cap is kept free for overlap.
OVERLAP_SHARE = 4


@dataclass(frozen=True, slots=True)
class Cap:
    """At most ``limit`` in the unit of ``sizer``."""

    limit: int
    sizer: Sizer = chars

    def __post_init__(self) -> None:
        if isinstance(self.limit, bool) or not isinstance(self.limit, int) or self.limit < 1:
            raise OptionError(
                f"limit={shown(self.limit)} is not a whole number of at least 1; "
                "give what a passage may measure at the most"
            )
        if not callable(self.sizer):
            raise OptionError(
                f"sizer={shown(self.sizer)} cannot be called; pass chars, words, utf8_bytes, "
                "tokens(...) or a function from a text to its size"
            )

    def __str__(self) -> str:
        return f"{self.limit:,} {name_of(self.sizer)}"

    @property
    def fingerprint(self) -> str:
        """What the cap is, for the fingerprint of a splitter."""
        plain = self.sizer in (chars, utf8_bytes, words)
        return f"cap({self.limit}, {name_of(self.sizer) if plain else named(self.sizer)})"

    def same_unit(self, other: Cap) -> bool:
        """Whether both count the same."""
        return named(self.sizer) == named(other.sizer)

    def allows(self, text: str) -> bool:
        """Whether a string measures at most the limit."""
        return self.sizer(text) <= self.limit


def cap(limit: int, sizer: Sizer = chars) -> Cap:
    """A cap for ``max_size`` in a unit of its own.

    >>> from spanwise import by_paragraph, words
    >>> by_paragraph(chunk_size=100, overlap=0, max_size=cap(2, words)).split("a b c").texts
    ['a b', 'c']
    """
    return Cap(limit, sizer)


def name_of(sizer: Sizer) -> str:
    """What a sizer counts, for messages."""
    unit = getattr(sizer, "unit", None)
    return str(unit or getattr(sizer, "__name__", None) or type(sizer).__name__)


class Capped:
    """A measure that also holds a cap: what it says to fit is within both.

    ``kept`` of the cap is left free, for what ships beside the passage.
    """

    __slots__ = ("cap", "inner", "kept", "limit", "most", "spare")

    def __init__(self, inner: Measure, cap: Measure, limit: Cap, spare: int = 0) -> None:
        self.inner = inner
        self.cap = cap
        self.limit = limit
        self.most = limit.limit
        self.spare = self.kept = min(ceil(spare), self.most // OVERLAP_SHARE)

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``, in the unit of the inner measure."""
        return self.inner.size(lo, hi)

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit`` and the cap, or ``lo``."""
        most = self.most - self.kept
        if self.cap is self.inner:
            return self.inner.fit(lo, hi, min(limit, most))
        # Neither is asked about much more than the other lets through; code points cost nothing.
        near = hi
        if isinstance(self.inner, Chars):
            near = self.inner.fit(lo, hi, limit)
        elif isinstance(self.cap, Counted):
            near = self._near(lo, hi, limit, most)
        end = self.cap.fit(lo, near, most)
        while lo < (within := self.inner.fit(lo, end, limit)) < end:
            # Measured again: sizes need not be monotone.
            end = self.cap.fit(lo, within, most)
            if end == within:
                return end
        return within

    def _near(self, lo: int, hi: int, limit: int, most: int) -> int:
        """An end, not far beyond what fits: one word may be as long as the text."""
        reach = _REACH
        while (near := lo + reach) < hi:
            if self.cap.fit(lo, near, most) < near or self.inner.fit(lo, near, limit) < near:
                return near
            reach *= 2
        return hi

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start found to hold at most ``limit`` and the cap, or ``hi``."""
        most = self.most - self.kept
        if self.cap is self.inner:
            return self.inner.back(lo, hi, min(limit, most))
        start = self.cap.back(lo, hi, most)
        while start < (within := self.inner.back(start, hi, limit)) < hi:
            start = self.cap.back(within, hi, most)
            if start == within:
                return start
        return within

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether ``[lo, hi)`` is at most ``limit`` and within the cap."""
        if self.cap is self.inner:
            return self.inner.holds(lo, hi, min(limit, self.most - self.kept))
        return self.cap.holds(lo, hi, self.most - self.kept) and self.inner.holds(lo, hi, limit)

    def leave(self, room: int) -> None:
        """Leave room in the cap for what stands beside the next passages."""
        self.kept = max(self.spare, ceil(room))

    def allows(self, lo: int, hi: int) -> bool:
        """Whether ``[lo, hi)`` is within the whole cap."""
        return self.cap.holds(lo, hi, self.most)


def bind_capped(sizer: Sizer, limit: Cap | None, text: str, overlap: int = 0) -> Measure:
    """The sizer bound to a text, and with it the cap; ``overlap`` is left free in that."""
    inner = bind(sizer, text)
    if limit is None:
        return inner
    if limit.sizer is sizer:
        return Capped(inner, inner, limit, overlap)
    other = bind(limit.sizer, text)
    # Overlap takes about what the first stretch of its size takes.
    reach = inner.fit(0, len(text), overlap) if overlap else 0
    return Capped(inner, other, limit, other.size(0, reach) if reach else 0)


def allows(measure: Measure, lo: int, hi: int) -> bool:
    """Whether ``[lo, hi)`` is within the whole cap of a measure, if it has one."""
    return not isinstance(measure, Capped) or measure.allows(lo, hi)


def fit_all(measure: Measure, lo: int, hi: int, limit: int) -> int:
    """`fit` with nothing of the cap kept free."""
    if not isinstance(measure, Capped):
        return measure.fit(lo, hi, limit)
    kept, measure.kept = measure.kept, 0
    end = measure.fit(lo, hi, limit)
    measure.kept = kept
    return end


def borrowed(measure: Measure, lo: int, hi: int, overlap: int) -> int:
    """How far ``overlap`` reaches back from ``hi``; of a cap it takes half at the most."""
    if not isinstance(measure, Capped):
        return measure.back(lo, hi, overlap)
    kept = measure.kept
    measure.leave(max(kept, measure.most - measure.most // 2))
    start = measure.back(lo, hi, overlap)
    measure.kept = kept
    return start


def halfway(measure: Measure, lo: int, limit: int, hi: int, size: int) -> int:
    """How far half a size reaches from ``lo``, where a whole one reaches ``limit``."""
    half = measure.fit(lo, hi, size // 2)
    # Where the cap is what binds, half of it is asked for.
    return min(half, lo + (limit - lo) // 2) if isinstance(measure, Capped) else half
