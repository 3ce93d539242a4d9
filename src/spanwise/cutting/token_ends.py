"""Counting a text by where its tokens end, for tokenizers whose tokens are bytes of the text.

Such a tokenizer is so fast that nothing is worth remembering but its own answer: a text is encoded
once, in runs, and the end of each token is kept. Between two places at which counts add up stand as
many tokens as end there.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from spanwise.cutting.sums import STRETCH, Summed, far_above

if TYPE_CHECKING:
    from spanwise.cutting.encodings import Encoding

__all__ = ["TokenEnds", "runs"]

# A run is at least so long, and looked at in windows for pieces that are too long.
_RUN, _WINDOW = 1 << 15, 512

# A text of so many code points may have more bytes than the smaller places hold.
_MANY = 1 << 30

# The bytes of UTF-8 that begin no character.
_INNER = bytes(range(0x80, 0xC0))

# Of a text that is not ASCII it is kept where in UTF-8 every block of so many code points begins.
_BLOCK_BITS = 8


def runs(text: str, border: re.Pattern[str]) -> Iterator[tuple[int, int, bool]]:
    """Runs of a text between places to part it, and of each whether it holds a long piece."""
    start = at = 0
    while at < len(text):
        found = border.search(text, at + _WINDOW)
        stop = found.start() if found else len(text)
        if stop - at > 2 * _WINDOW:
            if start < at:
                yield start, at, False
            yield at, stop, True
            start = stop
        elif stop - start >= _RUN:
            yield start, stop, False
            start = stop
        at = stop
    if start < at:
        yield start, at, False


class TokenEnds(Summed["Encoding"]):
    """An encoding bound to a text: the place of every token's end in UTF-8."""

    __slots__ = ("_blocks", "_ends", "_known", "_rest")

    def __init__(self, text: str, encoding: Encoding) -> None:
        super().__init__(text, encoding)
        self._ends = array("I" if len(text) < _MANY else "Q", [0])  # where so many tokens end
        # Where blocks begin in UTF-8, if that is not as in the text.
        self._blocks = array("Q", () if text.isascii() else (0,))
        self._known = 0  # up to where its tokens are
        self._rest = self._reading()

    def _reading(self) -> Iterator[None]:
        """Read one run more at each step."""
        text, kind = self._text, self._ends.typecode
        taken: deque[tuple[int, int, bool]] = deque()

        def texts() -> Iterator[tuple[str, int]]:
            for start, stop, long in runs(text, self._counts.border):
                self._find_blocks(stop)
                taken.append((start, stop, long))
                yield "" if long else text[start:stop], self._byte(start)

        for ends in self._counts.read(texts(), len(text), kind):
            start, stop, long = taken.popleft()
            if long:
                self._add_stretches(start, stop, STRETCH)
            else:
                self._add(start, stop, ends)
            self._known = stop
            yield

    def _find_blocks(self, stop: int) -> None:
        """Find where the blocks of the text up to a place begin in UTF-8."""
        text, blocks, step = self._text, self._blocks, 1 << _BLOCK_BITS
        if blocks:
            starts = range((len(blocks) - 1) << _BLOCK_BITS, stop, step)
            sizes = (_utf8(text[at : at + step]) for at in starts)
            blocks.extend(islice(accumulate(sizes, initial=blocks[-1]), 1, None))

    def _know(self, place: int, tokens: int = -1) -> bool:
        """Whether the text is read up to a place; it is read on until then, or so many tokens."""
        while self._known < place and not 0 <= tokens < len(self._ends):
            next(self._rest)
        return self._known >= place

    def _read(self, start: int, stop: int) -> None:
        """Add the ends of the tokens of ``[start, stop)``, which are not known yet."""
        counts, text = self._counts, self._text[start:stop]
        self._add(start, stop, counts.ends(text, self._byte(start), self._ends.typecode))

    def _add(self, start: int, stop: int, ends: array[int]) -> None:
        """Add the ends of the tokens of ``[start, stop)``."""
        end = self._byte(stop)
        if ends and ends[-1] == end:
            self._ends.extend(ends)
            return
        # These are not its bytes, as of two surrogates that an encoder takes for one character.
        found = self._counts.border.search(self._text, (start + stop) // 2, stop)
        if stop - start == 1:
            self._ends.extend([end] * len(ends))
        elif found:
            self._read(start, found.start())
            self._read(found.start(), stop)
        else:
            self._add_stretches(start, stop, 1)

    def _add_stretches(self, start: int, stop: int, length: int) -> None:
        """Add the tokens of what has no place to part it, or none that can be relied on."""
        for at in range(start, stop, length):
            if at > start:
                self._soft.append(at)
            self._read(at, min(at + length, stop))

    def holds(self, lo: int, hi: int, limit: int) -> bool:
        """Whether a range is counted to be at most ``limit``; cheap when it is far from it."""
        if hi - lo <= limit and _utf8(self._text[lo:hi]) <= limit:
            return True  # no token is less than a byte
        if hi > self._known:
            _, before = self._head(lo)
            if not self._know(hi, before + far_above(limit)):
                return False
        return super().holds(lo, hi, limit)

    def size(self, lo: int, hi: int) -> int:
        """The size of ``[lo, hi)``."""
        self._know(hi)
        return super().size(lo, hi)

    def _after(self, at: int) -> tuple[int, int]:
        if not at:
            return 0, 0
        self._know(at)
        soft = self._soft
        i = bisect_left(soft, at)
        place = soft[i] if i < len(soft) else len(self._text)
        found = self._counts.border.search(self._text, at, place + 1)
        if found:
            place = min(place, found.start())
        return place, self._count(place)

    def _before(self, at: int) -> tuple[int, int]:
        place = self._place(at)
        return place, self._count(place)

    def _place(self, at: int) -> int:
        """The last place up to ``at``."""
        text, soft = self._text, self._soft
        self._know(at)
        if at >= len(text):
            return len(text)
        i = bisect_right(soft, at)
        floor = soft[i - 1] if i else 0
        low = max(floor, at - 4 * _WINDOW)  # no piece is longer, so there is one mostly
        is_border = self._counts.border.match
        while at > low and not is_border(text, at):
            line = max(low, text.rfind("\n", low, at - 1) + 1)
            at = max(line, text.rfind(" ", line, at))
        return at if at == floor or is_border(text, at) else self._place(at)

    def _reached(self, count: int, end: int) -> int:
        ends = self._ends
        self._know(end, count + 1)
        if count + 1 < len(ends):
            last = ends[bisect_left(ends, ends[count + 1]) - 1]
            end = min(end, self._character(last))
        return self._place(end)

    def _least(self, count: int) -> int:
        self._know(len(self._text), count)
        return self._after(self._character(self._ends[min(count, len(self._ends) - 1)]))[0]

    def _count(self, place: int) -> int:
        """How many tokens end up to a place."""
        return bisect_right(self._ends, self._byte(place)) - 1

    def _byte(self, place: int) -> int:
        """Where a place of the text is in its UTF-8."""
        if not self._blocks:
            return place
        block = place >> _BLOCK_BITS
        return self._blocks[block] + _utf8(self._text[block << _BLOCK_BITS : place])

    def _character(self, byte: int) -> int:
        """The last place of the text up to a place in its UTF-8."""
        if not self._blocks:
            return byte
        block = bisect_right(self._blocks, byte) - 1
        start = block << _BLOCK_BITS
        written = self._text[start : start + (1 << _BLOCK_BITS)].encode("utf-8", "surrogatepass")
        before = written[: byte - self._blocks[block]]
        inside = len(before) < len(written) and written[len(before)] in _INNER
        return start + len(before.translate(None, _INNER)) - inside


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
