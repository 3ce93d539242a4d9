"""Counting a text by parts whose counts add up, so that it is read once.

Between two characters that are not white, one space parts a text in units that no token of a usual
tokenizer crosses: what is counted for each side adds up to what is counted for both. So sums over
blocks of units are kept, and a range costs the ends of the two blocks it cuts. Slow tokenizers
count each distinct unit once, and it is remembered; fast ones count whole blocks. Long stretches
without such a space (Chinese, minified code, one endless word) are parted anywhere: there the sum
is only an estimate, and every range that holds such a parting is counted whole before it is said
to fit.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, islice, pairwise
from typing import TypeAlias

__all__ = ["BlockCounter", "Counter", "UnitCounter", "UnitMeasure", "WordCounter"]

# A space between two characters that are not white. A literal first: the search runs at its speed.
_SPACE = re.compile(r" (?=\S)(?<!\s )")
# Where a line begins with ink.
_LINE = re.compile(r"(?<=\n)(?=\S)")
_SPACE_OR_LINE = re.compile(rf"{_SPACE.pattern}|{_LINE.pattern}")
_WHITE = re.compile(r"[ \t\n\r]")
# White to Python, yet some tokenizers drop these, or take them for part of a word.
_RARE_WHITE = re.compile("[\x0b\x0c\x1c-\x1f\x85\u2028\u2029]").search
_WHITE_RUN = re.compile(r"[ \t\n\r]+")

# A block of units has about this many code points; one of twice as many holds a unit that is too
# long, and is parted in stretches.
_BLOCK, _STRETCH = 256, 48

# So many units are remembered (about 30 MB), and so many ranges of one text.
_REMEMBERED = 1 << 18
_RANGES = 256

# From here on the size of a range that has to be counted whole is only estimated.
_LARGEST = 100_000

CountAll = Callable[[list[str]], list[int]]


class _Known:
    """Counts of units, each asked for once; all are forgotten when they are too many."""

    __slots__ = ("before", "count_all", "counts")

    def __init__(self, count_all: CountAll, before: str = "") -> None:
        self.count_all = count_all
        self.before = before
        self.counts: dict[str, int] = {}

    def total(self, units: list[str]) -> int:
        """The sum of the counts of some units."""
        try:
            return sum(map(self.counts.__getitem__, units))
        except KeyError:
            return sum(self.each(units))

    def each(self, units: list[str]) -> list[int]:
        """The counts of some units."""
        known = self.counts
        missing = [*set(units).difference(known)]
        if missing:
            before = self.before
            asked = [before + unit for unit in missing] if before else missing
            if len(known) + len(missing) > _REMEMBERED:
                known = self.counts = {}
                asked = [before + unit for unit in units]
                missing = units
            known.update(zip(missing, self.count_all(asked), strict=True))
        counts = [*map(known.__getitem__, units)]
        for unit in missing:
            if len(unit) > _BLOCK:
                known.pop(unit, None)
        if len(known) > _REMEMBERED:
            self.counts = {}
        return counts


class WordCounter:
    """How many tokens a string has, for tokenizers that only look at what white space parts.

    Args:
        count_all: the true counts of strings, without what a model adds to each.
        added: how many tokens a model adds to each text.
    """

    __slots__ = ("_known", "added", "count_all")

    border = _WHITE  # where a block may begin
    block = _BLOCK

    def __init__(self, count_all: CountAll, added: int) -> None:
        self.count_all = count_all
        self.added = added
        self._known = _Known(count_all)

    def whole(self, text: str) -> int:
        """The true count of a string, read as a whole, with what the model adds."""
        return self.count_all([text])[0] + self.added

    def size(self, text: str) -> int:
        """The count of a string, with what the model adds, by its units."""
        return self.added + self.opening(text)

    def opening(self, text: str) -> int:
        """The count of a string whose first unit follows nothing."""
        return self._known.total(self._words(text))

    following = opening  # what stands before a word is nothing to it

    def furthest(self, text: str, places: Sequence[int], start: int, room: int) -> int:
        """How many of the places the string from ``start`` may go to within ``room``."""
        words = [self._words(text[a:b]) for a, b in pairwise([start, *places])]
        counts = iter(self._known.each([word for each in words for word in each]))
        sums = accumulate(sum(islice(counts, len(each))) for each in words)
        return bisect_right([*sums], room)

    def _words(self, text: str) -> list[str]:
        if _RARE_WHITE(text) is None:
            return text.split()
        return [word for word in _WHITE_RUN.split(text) if word]


class UnitCounter:
    """How many tokens a string has, for tokenizers that take a space with the word after it.

    Args:
        count_all: the true counts of strings, without what a model adds to each.
        before: what stands before a unit that follows a space when it is counted alone: the
            space, or nothing for tokenizers that add one of their own.
        lines: whether counts add up where a line begins, too.
        added: how many tokens a model adds to each text.
    """

    __slots__ = ("_bare", "_lines", "_spaced", "added", "border", "count_all")

    block = _BLOCK

    def __init__(self, count_all: CountAll, added: int, before: str, *, lines: bool) -> None:
        self.count_all = count_all
        self.added = added
        self.border = _SPACE_OR_LINE if lines else _SPACE
        self._lines = lines
        self._bare = _Known(count_all)
        self._spaced = _Known(count_all, before)

    def whole(self, text: str) -> int:
        """The true count of a string, read as a whole, with what the model adds."""
        return self.count_all([text])[0] + self.added

    def size(self, text: str) -> int:
        """The count of a string, with what the model adds, by its units where they add up."""
        if max(map(len, self.border.split(text))) > _BLOCK:
            return self.whole(text)
        return self.added + self.opening(text)

    def opening(self, text: str) -> int:
        """The count of a string whose first unit follows nothing."""
        return self._count(text, text[:1] == " ")

    def following(self, text: str) -> int:
        """The count of a string that begins at a border, with the space there."""
        if text[0] != " ":
            return self._count(text, False)
        if self._lines and "\n" in text:
            first, *lines = _LINE.split(text[1:])
            return self._after_space(first) + sum(map(self.opening, lines))
        return self._after_space(text[1:])

    def furthest(self, text: str, places: Sequence[int], start: int, room: int) -> int:
        """How many of the places the string from ``start`` may go to within ``room``."""
        pieces = [text[a:b] for a, b in pairwise([start, *places])]
        if all(piece[0] == " " and "\n" not in piece for piece in pieces):
            counts = self._spaced.each([piece[1:] for piece in pieces])
        else:
            counts = [self.following(piece) for piece in pieces]
        return bisect_right([*accumulate(counts)], room)

    def _after_space(self, text: str) -> int:
        """The count of a string that follows one space, which counts with it."""
        return self._spaced.total(_units(text))

    def _count(self, text: str, space: bool) -> int:
        """The count of a string; ``space``: one that opens it is counted with the first unit."""
        if self._lines and "\n" in text:
            first, *lines = _LINE.split(text)
            if lines:
                return self._count(first, space) + sum(self._count(line, False) for line in lines)
        units = _units(text) or [""]
        if space:
            units[:2] = [" ".join(units[:2])]
        first = units[0]
        count = self._bare.each([first])[0] if first else 0
        return count + (self._after_space(text[len(first) + 1 :]) if len(units) > 1 else 0)


class BlockCounter:
    """How many tokens a string has, for tokenizers so fast that nothing is worth remembering.

    Args:
        count: the true count of a string, without what a model adds.
        added: how many tokens a model adds to each text.
        lines: whether counts add up where a line begins, and not only at single spaces.
    """

    __slots__ = ("added", "border", "opening")

    block = 128

    def __init__(self, count: Callable[[str], int], *, lines: bool, added: int = 0) -> None:
        self.added = added
        self.opening = count
        self.border = _SPACE_OR_LINE if lines else _SPACE

    def whole(self, text: str) -> int:
        """The true count of a string, with what the model adds."""
        return self.opening(text) + self.added

    size = whole

    def following(self, text: str) -> int:
        """The count of a string that begins at a border, with the space there."""
        return self.opening(text)

    def furthest(self, text: str, places: Sequence[int], start: int, room: int) -> int:
        """How many of the places the string from ``start`` may go to within ``room``."""
        count = self.opening
        return _furthest(len(places), lambda k: count(text[start : places[k - 1]]) <= room)


def _units(text: str) -> list[str]:
    """The units between single spaces."""
    units = text.split()
    # Most often single spaces are all the white space there is: half the cost of the pattern.
    return units if " ".join(units) == text else _SPACE.split(text)


Counter: TypeAlias = "WordCounter | UnitCounter | BlockCounter"


class UnitMeasure:
    """A counter bound to a text: sizes of ranges from running sums over its blocks.

    The text is read once. A range then costs two bisections and the ends of the two blocks that it
    cuts.
    """

    __slots__ = ("_counter", "_opened", "_ranges", "_soft", "_starts", "_sums", "_text")

    def __init__(self, text: str, counter: Counter) -> None:
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
        border, following, block = counter.border.search, counter.following, counter.block
        add_start, add_sum = self._starts.append, self._sums.append
        at = total = 0
        while at < length:
            found = border(text, at + block)
            stop = found.start() if found else length
            if stop - at > 2 * block:
                for start in range(at, stop, _STRETCH):
                    if start > at:
                        self._soft.append(start)
                    add_start(start)
                    total += counter.opening(text[start : min(start + _STRETCH, stop)])
                    add_sum(total)
            else:
                add_start(at)
                total += following(text[at:stop]) if at else counter.opening(text[:stop])
                add_sum(total)
            at = stop
        add_start(length)

    def _block(self, start: int, end: int) -> int:
        """The count of a string from the start of a block on."""
        text = self._text[start:end]
        return (
            self._counter.following(text) if start and text != " " else self._counter.opening(text)
        )

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
            places = [found.start() for found in counter.border.finditer(text, reached + 1, end)]
            step = counter.furthest(text, places, reached, limit - self._sum(lo, reached))
            return places[step - 1] if step else reached
        if reached > lo:
            room = limit - self._whole(lo, reached)
            step = _furthest(
                end - reached, lambda k: counter.opening(text[reached : reached + k]) <= room
            )
            return reached + step if self.holds(lo, reached + step, limit) else reached
        places = [found.start() for found in counter.border.finditer(text, lo + 1, end)]
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
        while i <= j and not self.holds(starts[i] + text[starts[i]].isspace(), hi, limit):
            i += 1 + (j - i) // 4
        reached = starts[i] + text[starts[i]].isspace() if i <= j else hi
        edge = max(lo, starts[min(i, j + 1) - 1]) if i else lo
        if reached < hi and self._is_soft(edge, hi):
            room = limit - self._whole(reached, hi)
            step = _furthest(
                reached - edge, lambda k: counter.opening(text[reached - k : reached]) <= room
            )
            return reached - step if self.holds(reached - step, hi, limit) else reached
        places = [found.end() for found in self._counter.border.finditer(text, edge, reached)]
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
        soft = self._is_soft(lo, hi)
        # Stretches count a little more apart than together.
        most = limit + limit // 8 + 8 if soft else limit
        first, last = bisect_right(self._starts, lo), bisect_right(self._starts, hi) - 1
        if first < last and self._sums[last] - self._sums[first] > most:
            return False  # the blocks inside alone are over
        return self._sum(lo, hi) <= most and (not soft or self._whole(lo, hi) <= limit)

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
