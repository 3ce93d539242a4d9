"""Where the places of a text are in its UTF-8, and back."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import accumulate, islice

from spanwise.cutting.sizers import utf8_bytes

__all__ = ["Utf8"]

# Of a text that is not ASCII it is kept where in UTF-8 every block of so many code points begins.
_BLOCK_BITS = 8

# The bytes of UTF-8 that begin no character.
_INNER = bytes(range(0x80, 0xC0))


class Utf8:
    """The UTF-8 of a text, as far as it was looked at; a lone surrogate has three bytes."""

    __slots__ = ("_blocks", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._blocks = array("Q", () if text.isascii() else (0,))  # where blocks begin

    def look(self, stop: int) -> None:
        """Look at the text up to a place."""
        text, blocks, step = self._text, self._blocks, 1 << _BLOCK_BITS
        if blocks:
            starts = range((len(blocks) - 1) << _BLOCK_BITS, stop, step)
            sizes = (utf8_bytes(text[at : at + step]) for at in starts)
            blocks.extend(islice(accumulate(sizes, initial=blocks[-1]), 1, None))

    def byte(self, place: int) -> int:
        """Where a place of the text is."""
        if not self._blocks:
            return place
        block = place >> _BLOCK_BITS
        return self._blocks[block] + utf8_bytes(self._text[block << _BLOCK_BITS : place])

    def character(self, byte: int) -> int:
        """The last place of the text up to a byte."""
        if not self._blocks:
            return byte
        block = bisect_right(self._blocks, byte) - 1
        start = block << _BLOCK_BITS
        written = self._text[start : start + (1 << _BLOCK_BITS)].encode("utf-8", "surrogatepass")
        before = written[: byte - self._blocks[block]]
        inside = len(before) < len(written) and written[len(before)] in _INNER
        return start + len(before.translate(None, _INNER)) - inside
