"""Counting a text by where its tokens end, for tokenizers whose tokens are bytes of the text.

Such a tokenizer is so fast that nothing is worth remembering but its own answer: a text is encoded
once, in runs, and the end of each token is kept. Between two places at which counts add up stand as
many tokens as end there.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from os import getpid
from threading import Lock
from typing import TYPE_CHECKING

from spanwise.cutting.reading import Reading, Run
from spanwise.cutting.sizers import utf8_bytes
from spanwise.cutting.sums import STRETCH, Summed, far_above
from spanwise.cutting.utf8 import Utf8

if TYPE_CHECKING:
    from spanwise.cutting.encodings import Encoding

__all__ = ["TokenEnds", "runs"]

# A run is at least so long, and looked at in windows for pieces that are too long.
_RUN, _WINDOW = 1 << 14, 512

# A text of so many code points may have more bytes than the smaller places hold.
_MANY = 1 << 30


def runs(text: str, border: re.Pattern[str], start: int = 0) -> Iterator[tuple[int, int, bool]]:
    """Runs of a text between places to part it, and of each whether it holds a long piece."""
    at = start
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


def _to_read(text: str, border: re.Pattern[str], utf8: Utf8, start: int) -> Iterator[Run]:
    """The runs of a text from a place on."""
    for at, stop, long in runs(text, border, start):
        utf8.look(stop)
        yield Run(at, stop, utf8.byte(at), "" if long else text[at:stop])


class TokenEnds(Summed["Encoding"]):
    """An encoding bound to a text: the place of every token's end in UTF-8.

    The text is read only as far as it is asked about.
    """

    __slots__ = ("_ends", "_known", "_lock", "_reading", "_utf8")

    def __init__(self, text: str, encoding: Encoding) -> None:
        super().__init__(text, encoding)
        self._ends = array("I" if len(text) < _MANY else "Q", [0])  # where so many tokens end
        self._utf8 = Utf8(text)
        self._known = 0  # up to where its tokens are
        self._reading: Reading | None = None
        self._lock = Lock()

    def _know(self, place: int, tokens: int = -1) -> bool:
        """Whether the text is read up to a place; it is read on until then, or so many tokens."""
        while self._known < place and not 0 <= tokens < len(self._ends):
            with self._lock:
                if self._known == len(self._text):
                    return False  # the place is beyond it
                self._read_on()
        return self._known >= place

    def _read_on(self) -> None:
        """Read one run more."""
        text, reading = self._text, self._reading
        if reading is None or reading.process != getpid():  # helpers do not live on in a fork
            left = _to_read(text, self._counts.border, self._utf8, self._known)
            reading = self._counts.reading(left, len(text) - self._known, self._ends.typecode)
            self._reading = reading
        tokens, softs = len(self._ends), len(self._soft)
        try:
            run, ends = reading.next()
            if run.text:
                self._add(run.start, run.stop, ends)
            else:
                self._add_stretches(run.start, run.stop, STRETCH)
        except BaseException:
            self._reading = None  # to be read again from here
            del self._ends[tokens:], self._soft[softs:]
            raise
        self._known = run.stop
        if run.stop == len(text):
            self._reading = None

    def _read(self, start: int, stop: int) -> None:
        """Add the ends of the tokens of ``[start, stop)``, which are not known yet."""
        counts, text = self._counts, self._text[start:stop]
        self._add(start, stop, counts.read(text, self._utf8.byte(start), self._ends.typecode))

    def _add(self, start: int, stop: int, ends: array[int]) -> None:
        """Add the ends of the tokens of ``[start, stop)``."""
        end = self._utf8.byte(stop)
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
        if hi - lo <= limit and utf8_bytes(self._text[lo:hi]) <= limit:
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
            end = min(end, self._utf8.character(last))
        return self._place(end)

    def _least(self, count: int) -> int:
        self._know(len(self._text), count)
        return self._after(self._utf8.character(self._ends[min(count, len(self._ends) - 1)]))[0]

    def _count(self, place: int) -> int:
        """How many tokens end up to a place."""
        return bisect_right(self._ends, self._utf8.byte(place)) - 1
