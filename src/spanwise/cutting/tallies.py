"""How often each of many names was seen, in little memory."""

from __future__ import annotations

from array import array

__all__ = ["Tally"]


class Tally:
    """How often each name of 48 bits was seen, in 10 to 20 bytes a name.

    An open table of 64-bit words, 48 of them name and 16 count. Names are taken for random.
    """

    _FULL = (1 << 16) - 1

    def __init__(self) -> None:
        self._mask = (1 << 10) - 1
        self._used = 0
        self._words = array("Q", bytes(8 << 10))
        self._many: dict[int, int] = {}  # the few seen more often than a word can count

    def count(self, name: int) -> int:
        """How often a name was seen, now included."""
        words, mask = self._words, self._mask
        at = name & mask
        while (word := words[at]) and word >> 16 != name:
            at = (at + 1) & mask
        if not word:
            words[at] = name << 16 | 1
            self._used += 1
            if self._used * 5 > len(words) * 4:
                self._grow()
            return 1
        if word & self._FULL == self._FULL:
            self._many[name] = self._many.get(name, self._FULL) + 1
            return self._many[name]
        words[at] = word + 1
        return (word & self._FULL) + 1

    def _grow(self) -> None:
        old, size = self._words, len(self._words) * 2
        # Not `bytes`: an array repeats its word without a second copy of the whole.
        words, mask = array("Q", [0]) * size, size - 1
        for word in old:
            if word:
                at = word >> 16 & mask
                while words[at]:
                    at = (at + 1) & mask
                words[at] = word
        self._words, self._mask = words, mask
