"""Counting a text by pieces whose counts add up, so that it is read once.

Between two characters that are not white, one space parts a text in pieces that no token of a usual
tokenizer crosses. Each distinct piece is counted once and remembered, and sums over groups of them
are kept. A piece that is too long to be remembered is parted anywhere (see `sums`).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate, pairwise

from spanwise.cutting.sums import STRETCH, Summed

__all__ = ["MARKS", "SPACES", "SPACES_AND_LINES", "WORDS", "Counter", "Parting", "UnitMeasure"]

# So many pieces have one sum: more cost more at the ends of a range, fewer more memory.
_GROUP = 8

# A longer piece is not remembered, and parted in stretches.
_LONGEST = 256

# So many pieces are remembered (about 30 MB).
_REMEMBERED = 1 << 18

# A text is read in parts of about this many code points, so that the pieces alive are few.
_PART = 1 << 20

# What opens a key that is the piece itself, and one without a space before it; a space that parts
# nothing.
_RAW, _BARE, _KEPT = "\0\1\2"

# White space but for the space and the line feed; the first eight are ASCII.
_WHITES = (
    "\t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)

# What is remembered of a piece: its length above, its count below, so that one sum gives both.
_SHIFT = 32
_COUNT = (1 << _SHIFT) - 1

CountAll = Callable[[list[str]], list[int]]


class Parting:
    """Where a text is parted, by a pattern that matches its pieces, all of it.

    ``border`` finds where a piece may begin.
    """

    __slots__ = ("border", "keys")

    def __init__(self, border: str, piece: str) -> None:
        self.border = re.compile(border)
        self.keys: Callable[[str], list[str]] = re.compile(piece).findall

    def pieces(self, keys: list[str]) -> list[str]:
        """The pieces that keys stand for."""
        return keys


class _Spaced(Parting):
    """Parts a text at single spaces between ink and, if told, where a line begins with ink.

    The key of a piece leaves out the space that opens it; one without such a space opens with
    `_BARE`. Spaces inside are `_KEPT`, so that most of a text is parted by `str.split`.
    """

    __slots__ = ("_lines",)

    def __init__(self, *, lines: bool) -> None:
        # A literal first: the search runs at its speed.
        self.border = re.compile(r" (?=\S)(?<!\s )" + (r"|(?<=\n)(?=\S)" if lines else ""))
        self._lines = lines
        self.keys = self._keys

    def _keys(self, text: str) -> list[str]:
        marked = text[1:] if text[0] == " " and text[1:2].strip() else _BARE + text
        if "  " in marked:
            marked = marked.replace("  ", _KEPT * 2).replace(_KEPT + " ", _KEPT * 2)
        if marked[-1] == " ":
            marked = marked[:-1] + _KEPT
        if text.isprintable():
            return marked.split(" ")  # the space is all the white space there is
        if _RAW in text or _BARE in text or _KEPT in text:
            places = [0, *(found.start() for found in self.border.finditer(text, 1)), len(text)]
            return [_RAW + text[a:b] for a, b in pairwise(places)]
        whites = ["\n", *(w for w in _WHITES[: 8 if text.isascii() else None] if w in text)]
        for white in whites:
            marked = marked.replace(" " + white, _KEPT + white).replace(white + " ", white + _KEPT)
        if self._lines:
            marked = marked.replace("\n", "\n " + _BARE)
            for white in (*whites, _KEPT):
                marked = marked.replace(f" {_BARE}{white}", white)
            marked = marked.removesuffix(" " + _BARE)
        return marked.split(" ")

    def pieces(self, keys: list[str]) -> list[str]:
        """The pieces that keys stand for."""
        return [" " + key if key[0] > _KEPT and _KEPT not in key else _piece(key) for key in keys]


def _piece(key: str) -> str:
    if key[0] == _RAW:
        return key[1:]
    piece = key.replace(_KEPT, " ")
    return piece[1:] if key[0] == _BARE else " " + piece


_MARK = r"!-/:-@\[-`{-~"
_PLAIN = r" \t\n\r"  # other white space is dropped by some tokenizers, or is part of a word

SPACES = _Spaced(lines=False)
SPACES_AND_LINES = _Spaced(lines=True)
WORDS = Parting(f"[{_PLAIN}]", rf"[{_PLAIN}]*[^{_PLAIN}]+|[{_PLAIN}]+")
MARKS = Parting(f"[{_PLAIN}]", rf"[{_PLAIN}]*(?:[{_MARK}]|[^{_PLAIN}{_MARK}]+)|[{_PLAIN}]+")


class Counter:
    """How many tokens a string has, by pieces whose counts add up; each is counted once.

    Args:
        count_all: the true counts of strings, without what a model adds to each.
        parting: the pieces.
        added: how many tokens a model adds to each text.
        own_space: whether the tokenizer puts a space of its own before a string, so that a
            piece is counted without the space that it begins with.
        is_one: whether a piece is one token, without asking the tokenizer; where it says no it
            is asked.
    """

    __slots__ = ("_is_one", "_known", "_own_space", "added", "count_all", "parting")

    def __init__(
        self,
        count_all: CountAll,
        parting: Parting,
        added: int = 0,
        *,
        own_space: bool = False,
        is_one: Callable[[str], bool] | None = None,
    ) -> None:
        self.count_all = count_all
        self.parting = parting
        self.added = added
        self._own_space = own_space
        self._is_one = is_one
        self._known: dict[str, int] = {"": 0}

    @property
    def border(self) -> re.Pattern[str]:
        """Where counts add up."""
        return self.parting.border

    def bind(self, text: str) -> UnitMeasure:
        """The counter bound to a text, which is then read once."""
        return UnitMeasure(text, self)

    def whole(self, text: str) -> int:
        """The true count of a string, read as a whole, with what the model adds."""
        return self.count_all([text])[0] + self.added

    def size(self, text: str) -> int:
        """The count of a string, with what the model adds, by its pieces where they add up."""
        keys = self.parting.keys(text) if text else []
        if max(map(len, keys), default=0) > _LONGEST:
            return self.whole(text)
        return self.added + self.opening(text)

    def opening(self, text: str) -> int:
        """The count of a string that follows nothing."""
        if self._own_space and text[:1] == " ":
            first, *others = self.parting.keys(text)
            return self.count_all(self.parting.pieces([first]))[0] + self._total(others)
        return self.following(text)

    def following(self, text: str) -> int:
        """The count of a string that begins where a piece does."""
        return self._total(self.parting.keys(text)) if text else 0

    def reach(self, text: str, room: int) -> int:
        """How far into a string, which begins where a piece does, whole pieces fit ``room``."""
        keys = self.parting.keys(text)
        known, _ = self.weights(keys)
        length = 0
        for key in keys:
            weight = known.get(key)  # none where a cut piece with the space after it is too long
            if weight is None or weight & _COUNT > room:
                break
            room -= weight & _COUNT
            length += weight >> _SHIFT
        return length

    def weights(self, keys: list[str]) -> tuple[dict[str, int], bool]:
        """What is remembered of pieces, and whether some are too long for it.

        Asks for all that were not seen before at once. When too many are remembered, all are
        forgotten afterwards.
        """
        known = self._known
        missing = set(keys).difference(known)
        if not missing:
            return known, False
        asked = [key for key in missing if len(key) <= _LONGEST]
        pieces = self.parting.pieces(asked)
        each = zip(pieces, self._counts(pieces), strict=True)
        known.update(
            zip(asked, [(len(piece) << _SHIFT) + count for piece, count in each], strict=True)
        )
        if len(known) > _REMEMBERED:
            self._known = {"": 0}
        return known, len(asked) < len(missing)

    def _total(self, keys: list[str]) -> int:
        """The sum of the counts of pieces."""
        try:
            return sum(map(self._known.__getitem__, keys)) & _COUNT
        except KeyError:
            known, _ = self.weights(keys)
        long = self.parting.pieces([key for key in keys if key not in known])
        return (sum(known.get(key, 0) for key in keys) & _COUNT) + sum(self._counts(long))

    def _counts(self, pieces: list[str]) -> list[int]:
        """The counts of pieces by the tokenizer."""
        if self._own_space:
            pieces = [piece.removeprefix(" ") or piece for piece in pieces]
        if not self._is_one:
            return self.count_all(pieces) if pieces else []
        asked = [i for i, piece in enumerate(pieces) if not self._is_one(piece)]
        counts = [1] * len(pieces)
        if asked:
            for i, size in zip(asked, self.count_all([pieces[i] for i in asked]), strict=True):
                counts[i] = size
        return counts


class UnitMeasure(Summed[Counter]):
    """A counter bound to a text: running sums over groups of its pieces."""

    __slots__ = ("_starts", "_sums")

    def __init__(self, text: str, counter: Counter) -> None:
        super().__init__(text, counter)
        self._starts = array("Q")  # where groups begin, and the end
        self._sums = array("Q", [0])  # the counts of all groups before
        self._read()

    def _read(self) -> None:
        """Part the text in pieces and count them."""
        text, counter, length = self._text, self._counts, len(self._text)
        search, at = counter.border.search, 0
        while at < length:
            found = search(text, at + _PART)
            stop = found.start() if found else length
            keys = counter.parting.keys(text[at:stop])
            known, some_long = counter.weights(keys)
            long = [i for i, key in enumerate(keys) if key not in known] if some_long else []
            first = 0
            for i in long:
                at = self._add_long(keys[i], self._add_groups(keys[first:i], known, at))
                first = i + 1
            at = self._add_groups(keys[first:] if long else keys, known, at)
        self._starts.append(length)

    def _add_groups(self, keys: list[str], known: dict[str, int], at: int) -> int:
        """Add the sums of pieces that begin at a place; where the last one ends."""
        keys += [""] * (-len(keys) % _GROUP)
        each = map(known.__getitem__, keys)
        groups = map(sum, zip(*[each] * _GROUP, strict=True))
        running = [*accumulate(groups, initial=(at << _SHIFT) + self._sums[-1])]
        self._starts.extend([both >> _SHIFT for both in running[:-1]])
        self._sums.extend([both & _COUNT for both in running[1:]])
        return running[-1] >> _SHIFT

    def _add_long(self, key: str, at: int) -> int:
        """Add the sums of a piece that is too long to be known, in stretches; where it ends."""
        (piece,) = self._counts.parting.pieces([key])
        for i in range(0, len(piece), STRETCH):
            if i:
                self._soft.append(at + i)
            self._starts.append(at + i)
            self._sums.append(self._sums[-1] + self._counts.opening(piece[i : i + STRETCH]))
        return at + len(piece)

    def _after(self, at: int) -> tuple[int, int]:
        i = bisect_left(self._starts, at)
        return self._starts[i], self._sums[i]

    def _before(self, at: int) -> tuple[int, int]:
        i = bisect_right(self._starts, at) - 1
        return self._starts[i], self._sums[i]

    def _reached(self, count: int, end: int) -> int:
        i = bisect_right(self._sums, count) - 1
        start = self._starts[i]
        if start >= end:
            return self._before(end)[0]
        pieces = self._text[start : min(end, self._starts[i + 1])]
        return start + self._counts.reach(pieces, count - self._sums[i])

    def _least(self, count: int) -> int:
        return self._starts[min(bisect_left(self._sums, count), len(self._starts) - 1)]
