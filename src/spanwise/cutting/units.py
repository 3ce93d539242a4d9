"""Counting a text by units whose counts add up, each distinct one counted once.

A tokenizer is slow and texts repeat their words. Between two characters that are not white, one
space parts a text in units that no token of a usual tokenizer crosses: what is counted for each
side adds up to what is counted for both. So a text is read once, a unit that was seen is only
looked up, and a range costs the units of the two blocks it cuts. Long stretches without such a
space (Chinese, minified code, one endless word) are parted anywhere: there the sum is only an
estimate, and every range that holds such a parting is counted whole before it is said to fit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate

__all__ = ["UnitCounter", "UnitMeasure"]

# A space between two characters that are not white. A literal first: the search runs at its speed.
_BORDER = re.compile(r" (?=\S)(?<!\s )")

# A block of units has about this many code points; one of twice as many holds a unit that is too
# long, and is parted in stretches.
_BLOCK, _STRETCH = 256, 48

# So many units are remembered (about 30 MB), and so many ranges of one text.
_REMEMBERED = 1 << 18
_RANGES = 256

# From here on the size of a range that has to be counted whole is only estimated.
_LARGEST = 100_000

CountAll = Callable[[list[str]], list[int]]


class UnitCounter:
    """How many tokens a string has, by a tokenizer and what was counted before.

    Args:
        count_all: the true counts of strings, without what a model adds to each.
        before: what stands before a unit that follows a space when it is counted alone: the
            space, or nothing for tokenizers that add one of their own.
        added: how many tokens a model adds to each text.
    """

    __slots__ = ("_bare", "_before", "_spaced", "added", "count_all")

    def __init__(self, count_all: CountAll, before: str, added: int) -> None:
        self.count_all = count_all
        self.added = added
        self._before = before
        self._bare: dict[str, int] = {}
        self._spaced: dict[str, int] = {}

    def whole(self, text: str) -> int:
        """The true count of a string, read as a whole, with what the model adds."""
        return self.count_all([text])[0] + self.added

    def size(self, text: str) -> int:
        """The count of a string, with what the model adds, by its units where they add up."""
        units = _BORDER.split(text)
        if max(map(len, units)) > _BLOCK:
            return self.whole(text)
        return self.added + self.opening(text)

    def opening(self, text: str) -> int:
        """The count of a string, by its units; the first follows nothing."""
        units = _units(text) or [""]
        if text[:1] == " ":
            units[:2] = [" ".join(units[:2])]  # the space that opens a string is counted with it
        first = units[0]
        count = self._bare.get(first)
        if count is None:
            count = self.count_all([first])[0] if first else 0
            if len(first) <= _BLOCK:
                self._remember(self._bare, first, count)
        return count + self.after_space(units[1:])

    def after_space(self, units: list[str]) -> int:
        """The count of units that each follow one space, which counts with them."""
        try:
            return sum(map(self._spaced.__getitem__, units))
        except KeyError:
            return sum(self.each_after_space(units))

    def each_after_space(self, units: list[str]) -> list[int]:
        """`after_space` of each unit."""
        known = self._spaced
        missing = sorted(set(units).difference(known))
        if not missing:
            return [*map(known.__getitem__, units)]
        counted = self.count_all([self._before + unit for unit in missing])
        new = dict(zip(missing, counted, strict=True))
        counts = [new[unit] if unit in new else known[unit] for unit in units]
        for unit, count in new.items():
            if len(unit) <= _BLOCK:
                self._remember(known, unit, count)
        return counts

    def _remember(self, known: dict[str, int], unit: str, count: int) -> None:
        if len(known) >= _REMEMBERED:
            known.clear()
        known[unit] = count


def _units(text: str) -> list[str]:
    """The units of a string, in order."""
    units = text.split()
    # Most often single spaces are all the white space there is: half the cost of the pattern.
    return units if " ".join(units) == text else _BORDER.split(text)


class UnitMeasure:
    """A `UnitCounter` bound to a text: sizes of ranges from running sums over its blocks.

    The text is read once, at about 40 million code points a second when its words are known. A
    range then costs two bisections and the units of the two blocks that it cuts.
    """

    __slots__ = ("_counter", "_opened", "_ranges", "_soft", "_starts", "_sums", "_text")

    def __init__(self, text: str, counter: UnitCounter) -> None:
        self._text = text
        self._counter = counter
        self._starts = array("Q")  # where blocks begin, and the end; the space before one is its
        self._sums = array("Q", [0])  # the counts of all blocks before
        self._soft = array("Q")  # the starts at which counts only nearly add up
        self._ranges: dict[tuple[int, int], int] = {}
        self._opened = (-1, 0)
        self._read()

    def _read(self) -> None:
        """Part the text in blocks and count them."""
        text, counter, length = self._text, self._counter, len(self._text)
        border, after_space = _BORDER.search, counter.after_space
        add_start, add_sum = self._starts.append, self._sums.append
        at = total = 0
        while at < length:
            found = border(text, at + _BLOCK)
            stop = found.start() if found else length
            if stop - at > 2 * _BLOCK:
                for start in range(at, stop, _STRETCH):
                    if start > at:
                        self._soft.append(start)
                    add_start(start)
                    total += counter.opening(text[start : min(start + _STRETCH, stop)])
                    add_sum(total)
            else:
                add_start(at)
                if at and found:
                    total += after_space(_units(text[at + 1 : stop]))
                else:
                    total += self._block(at, stop)
                add_sum(total)
            at = stop
        add_start(length)

    def _block(self, start: int, end: int) -> int:
        """The count of a string from the start of a block on."""
        text = self._text
        if start and text[start] == " " and end - start > 1 and not text[end - 1].isspace():
            return self._counter.after_space(_units(text[start + 1 : end]))
        return self._counter.opening(text[start:end])

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""
        if self._is_soft(lo, hi) and hi - lo <= _LARGEST:
            return self._whole(lo, hi)
        return self._sum(lo, hi)

    def fit(self, lo: int, hi: int, limit: int) -> int:
        """The furthest end found to hold at most ``limit``, or ``lo``."""
        starts, sums = self._starts, self._sums
        i = bisect_right(starts, lo)
        j = bisect_left(starts, hi) - 1  # the last block that begins before the end
        if i > j:
            return hi if self.holds(lo, hi, limit) else self._further(lo, lo, hi, limit)
        room = sums[i] + limit - self._head(lo, i)
        if room >= sums[j] and self.holds(lo, hi, limit):
            return hi
        j = min(j, bisect_right(sums, room) - 1)
        while j >= i and not self.holds(lo, starts[j], limit):
            j = i + (j - i) * 3 // 4 if j > i else j - 1
        if j < i:
            return self._further(lo, lo, starts[i], limit)
        return self._further(lo, starts[j], min(hi, starts[j + 1]), limit)

    def _further(self, lo: int, reached: int, end: int, limit: int) -> int:
        """How far beyond ``reached`` it fits, up to the end of a block.

        To a border of units where there is one, else to any place.
        """
        text, counter = self._text, self._counter
        if reached > lo and not self._is_soft(lo, end):
            units = _units(text[reached + 1 : end])[:-1]
            counts = [*accumulate(counter.each_after_space(units))]
            step = bisect_right(counts, limit - self._sum(lo, reached))
            return reached + sum(map(len, units[:step])) + step
        if reached > lo:
            room = limit - self._whole(lo, reached)
            step = _furthest(
                end - reached, lambda k: counter.opening(text[reached : reached + k]) <= room
            )
            return reached + step if self.holds(lo, reached + step, limit) else reached
        places = [found.start() for found in _BORDER.finditer(text, lo + 1, end)]
        step = _furthest(len(places), lambda k: self.holds(lo, places[k - 1], limit))
        if step:
            return places[step - 1]
        edge = places[0] if places else end
        return lo + _furthest(edge - lo, lambda reach: self.holds(lo, lo + reach, limit))

    def back(self, lo: int, hi: int, limit: int) -> int:
        """The earliest start found to hold at most ``limit``, or ``hi``."""
        if self.holds(lo, hi, limit):
            return lo
        starts, sums, text, counter = self._starts, self._sums, self._text, self._counter
        j = bisect_left(starts, hi) - 1
        over = sums[j] + self._sum(starts[j], hi) - limit
        i = max(bisect_left(sums, max(0, over)), bisect_left(starts, lo))
        while i <= j and not self.holds(starts[i] + (text[starts[i]] == " "), hi, limit):
            i += 1 + (j - i) // 4
        reached = starts[i] + (text[starts[i]] == " ") if i <= j else hi
        edge = max(lo, starts[min(i, j + 1) - 1]) if i else lo
        if reached < hi and self._is_soft(edge, hi):
            room = limit - self._whole(reached, hi)
            step = _furthest(
                reached - edge, lambda k: counter.opening(text[reached - k : reached]) <= room
            )
            return reached - step if self.holds(reached - step, hi, limit) else reached
        places = [found.end() for found in _BORDER.finditer(text, edge, reached)]
        step = _furthest(len(places), lambda k: self.holds(places[-k], hi, limit))
        if step:
            return places[-step]
        if reached < hi:
            return reached
        edge = places[-1] if places else edge
        return hi - _furthest(hi - edge, lambda reach: self.holds(hi - reach, hi, limit))

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether a range is counted to be at most ``limit``; cheap when it is far above."""
        if lo >= hi:
            return True
        if not self._is_soft(lo, hi):
            return self._sum(lo, hi) <= limit
        # Stretches count a little more apart than together.
        return self._sum(lo, hi) <= limit + limit // 8 + 8 and self._whole(lo, hi) <= limit

    def _sum(self, lo: int, hi: int) -> int:
        """The sum of the units of a range; exact where no soft start lies in it."""
        starts = self._starts
        i = bisect_right(starts, lo)
        j = bisect_right(starts, hi) - 1
        if j < i:
            return self._counter.added + self._counter.opening(self._text[lo:hi])
        count = self._head(lo, i) + self._sums[j] - self._sums[i]
        return count + self._block(starts[j], hi) if starts[j] < hi else count

    def _head(self, lo: int, i: int) -> int:
        """The count from ``lo`` to the start of block ``i``, the first after it; kept for one."""
        if self._opened[0] != lo:
            count = self._counter.opening(self._text[lo : self._starts[i]])
            self._opened = (lo, self._counter.added + count)
        return self._opened[1]

    def _is_soft(self, lo: int, hi: int) -> bool:
        soft = self._soft
        return bool(soft) and bisect_right(soft, lo) < bisect_left(soft, hi)

    def _whole(self, lo: int, hi: int) -> int:
        found = self._ranges.get((lo, hi))
        if found is None:
            if len(self._ranges) >= _RANGES:
                self._ranges.clear()
            found = self._ranges[lo, hi] = self._counter.whole(self._text[lo:hi])
        return found


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
