"""An encoding as a sizer: its tokens, read in one thread or in several.

What an encoder holds for its own use is meant for one thread: two that share it take three quarters
of the time of one, where two that have one each take half. A twin costs 20 MB and 40 ms, so twins
are made once a sizer has read so much that it pays.
"""

from __future__ import annotations

import os
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from spanwise.cutting.token_ends import TokenEnds, runs
from spanwise.cutting.units import Parting

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["Encoding", "Reader", "by_lists", "by_tables"]

# Code points given to an encoder at once, of up to four tokens each: bpe-openai refuses 200,000.
_MOST = 48_000

# Parts of one piece may have fewer tokens than the whole; each cut stands for so many more.
_SEAM = 8

# More threads than this gain little: what is left is Python's.
_THREADS = 4

# Twins pay from so many code points on.
_MUCH = 1_500_000

# A text, where in UTF-8 it begins, the type of an array: where each token ends.
Reader = Callable[[str, int, str], "array[int]"]


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
    table = numpy.array(lengths, "u8")

    def read(text: str, begin: int, kind: str) -> array[int]:
        ends = table[encode(text)].cumsum()
        ends += begin
        return array(kind, ends.astype(kind).tobytes())

    return read


class Encoding:
    """How many tokens a string has by an encoding that adds none.

    Args:
        encode: the tokens of a string.
        read: where they end.
        parting: where counts add up.
        twin: makes another reader that shares nothing with this one and lets other threads run
            while it reads; None where there is none.
    """

    __slots__ = ("_helpers", "_read", "_seen", "_state", "_twin", "border", "encode")

    added = 0

    def __init__(
        self,
        encode: Callable[[str], list[int]],
        read: Reader,
        parting: Parting,
        twin: Callable[[], Reader] | None = None,
    ) -> None:
        self.encode = encode
        self.border = parting.border
        self._read = read
        self._twin = twin
        self._seen = 0
        self._state = (0, False)
        self._helpers: list[tuple[Executor, Reader]] = []

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

    def read(self, texts: Sequence[tuple[str, int]], kind: str) -> list[array[int]]:
        """Where the tokens of each text end, given where in UTF-8 it begins.

        What is much is shared with as many threads as there are cores.
        """
        self._seen += sum(len(text) for text, _ in texts)
        found = [array(kind)] * len(texts)
        left = deque(range(len(texts)))

        def share(read: Reader) -> None:
            while True:
                try:
                    i = left.popleft()
                except IndexError:
                    return
                text, begin = texts[i]
                found[i] = read(text, begin, kind)

        reading: list[Future[None]] = []
        if self._twin and len(texts) > 1:
            with suppress(RuntimeError):  # no more threads: at a limit, or at the process's end
                for helper, read in self._ready(self._twin):
                    reading.append(helper.submit(share, read))
        share(self._read)
        for each in reading:
            each.result()
        return found

    def _ready(self, twin: Callable[[], Reader]) -> list[tuple[Executor, Reader]]:
        """A thread for each further core, and what it reads with."""
        # Threads do not live on in a fork.
        state = (os.getpid(), self._seen >= _MUCH)
        if state != self._state:
            # Not imported above: it brings logging along, which few need.
            pools = import_module("concurrent.futures")
            self._helpers = [
                (pools.ThreadPoolExecutor(1, "spanwise"), twin() if state[1] else self._read)
                for _ in range(min(_THREADS, cores()) - 1)
            ]
            self._state = state
        return self._helpers

    def bind(self, text: str) -> TokenEnds:
        """The encoding bound to a text, which is then read once."""
        return TokenEnds(text, self)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
