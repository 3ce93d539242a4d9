"""An encoding as a sizer: its tokens, read in one thread or in several."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from spanwise.cutting.reading import Reader, Reading, Run
from spanwise.cutting.token_ends import TokenEnds, runs
from spanwise.cutting.units import Parting

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = ["Encoding", "by_lists", "by_tables"]

# Code points given to an encoder at once, of up to four tokens each: bpe-openai refuses 200,000.
_MOST = 48_000

# Parts of one piece may have fewer tokens than the whole; each cut stands for so many more.
_SEAM = 8

# More threads than this gain little: what is left is Python's.
_THREADS = 4

# Threads pay from so many code points of a text on.
_FEW = 1 << 16


def by_lists(encode: Callable[[str], list[int]], lengths: Sequence[int]) -> Reader:
    """A reader of an encoder's lists of tokens, of so many bytes each."""

    def read(text: str, begin: int, kind: str) -> array[int]:
        sizes = [lengths[token] for token in encode(text)]
        ends = array(kind, [*accumulate(sizes, initial=begin)])
        del ends[0]
        return ends

    return read


def by_tables(encode: Callable[[str], Any], lengths: Sequence[int], numpy: Any) -> Reader:
    """The same of one that gives tables of numpy: no token becomes an object."""
    table = numpy.array(lengths, "u4")

    def read(text: str, begin: int, kind: str) -> array[int]:
        ends = table[encode(text)].cumsum(dtype=kind)
        ends += begin
        return array(kind, ends.tobytes())

    return read


class Encoding:
    """How many tokens a string has by an encoding that adds none.

    Args:
        encode: the tokens of a string.
        read: where they end.
        parting: where counts add up.
        in_threads: whether other threads run while it reads.
    """

    __slots__ = ("_helpers", "_in_threads", "_process", "border", "encode", "read")

    added = 0

    def __init__(
        self,
        encode: Callable[[str], list[int]],
        read: Reader,
        parting: Parting,
        *,
        in_threads: bool,
    ) -> None:
        self.encode = encode
        self.read = read
        self.border = parting.border
        self._in_threads = in_threads
        self._process = 0  # whose helpers these are
        self._helpers: list[Executor] = []

    def whole(self, text: str) -> int:
        """The true count of a string.

        It is read in runs, for encoders refuse long strings. A piece of over 48,000 code points
        that has no place to part it is parted anyway: its count is at most so much over the
        true one as merges reach beyond the cuts.
        """
        if len(text) <= _MOST:
            return self.opening(text)
        counts = [
            self.opening(text[at : min(at + _MOST, stop)]) + (at > start) * _SEAM
            for start, stop, _ in runs(text, self.border)
            for at in range(start, stop, _MOST)
        ]
        return sum(counts)

    size = whole

    def opening(self, text: str) -> int:
        """The count of a string that is not long."""
        return len(self.encode(text)) if text else 0

    following = opening

    def reading(self, runs: Iterable[Run], much: int, kind: str) -> Reading:
        """Runs of so many code points in all, with helpers where there are many."""
        helps = self._in_threads and much > _FEW
        return Reading(runs, kind, self.read, self._threads() if helps else ())

    def _threads(self) -> Sequence[Executor]:
        """A thread for each further core; it does not live on in a fork."""
        if self._process != os.getpid():
            # Not imported above: it brings logging along, which few need.
            pools = import_module("concurrent.futures")
            self._helpers = [
                pools.ThreadPoolExecutor(1, "spanwise") for _ in range(min(_THREADS, cores()) - 1)
            ]
            self._process = os.getpid()
        return self._helpers

    def bind(self, text: str) -> TokenEnds:
        """The encoding bound to a text, which is then read once."""
        return TokenEnds(text, self)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
