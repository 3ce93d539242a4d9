"""From the bytes a parser counts to the code points a document counts."""

from __future__ import annotations

__all__ = ["CodePoints"]

# What lies inside a character of UTF-8; every other byte begins one.
_INSIDE = bytes(range(0x80, 0xC0))

# Counts are kept for every block of this many bytes; a question reads one block.
_BLOCK = 1024


class CodePoints:
    """Which code point lies at a byte of a UTF-8 text.

    A byte inside a character answers with that character. Cost: one pass over the text, then
    for each question at most one block of it.

    >>> at = CodePoints("aé🏮b".encode())
    >>> [at(0), at(1), at(3), at(7), at(8)]
    [0, 1, 2, 3, 4]
    """

    __slots__ = ("_counts", "_data")

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._counts: list[int] | None = None
        if not data.isascii():
            counts, found = [0], 0
            for start in range(0, len(data), _BLOCK):
                found += len(data[start : start + _BLOCK].translate(None, _INSIDE))
                counts.append(found)
            self._counts = counts

    def __call__(self, byte: int) -> int:
        """The code point at a byte; ``0 <= byte <= len(data)``."""
        data = self._data
        if not 0 <= byte <= len(data):
            raise ValueError(
                f"byte={byte} is outside the data of {len(data)} bytes; give 0 to its length"
            )
        if self._counts is None:
            return byte
        block = byte // _BLOCK
        before = data[block * _BLOCK : byte].translate(None, _INSIDE)
        inside = byte < len(data) and 0x80 <= data[byte] < 0xC0
        return self._counts[block] + len(before) - inside
