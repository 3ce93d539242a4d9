"""An encoding as a sizer: its tokens, read in one thread or in several.

What an encoder holds for its own use is meant for one thread: two that share it take three quarters
of the time of one, where two that have one each take half. So each thread has a twin of its own,
which is faster still. It costs 20 MB and 40 ms: twins are made once a sizer has read so much that
they pay.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import accumulate, count
from threading import Lock
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

# Threads pay from so many code points of a text on, and twins once a sizer has read so many.
_FEW, _MUCH = 1 << 16, 1_500_000

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
        ends: where they end.
        twin: makes another reader, which is faster, shares nothing with this one and lets other
            threads run while it reads; None where there is none.
        parting: where counts add up.
    """

    __slots__ = ("_helpers", "_seen", "_state", "_twin", "border", "encode", "ends")

    added = 0

    def __init__(
        self,
        encode: Callable[[str], list[int]],
        ends: Reader,
        twin: Callable[[], Reader] | None,
        parting: Parting,
    ) -> None:
        self.encode = encode
        self.ends = ends
        self.border = parting.border
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

    def read(self, texts: Iterable[tuple[str, int]], much: int, kind: str) -> Iterator[array[int]]:
        """Where the tokens of each text end, in order, given where in UTF-8 it begins.

        ``much`` code points in all. What is much is shared with a thread for each further core,
        which read on while the caller is at what was read.
        """
        if self._twin:
            self._prepare(self._twin, much)
        if not self._helpers or much <= _FEW:
            for text, begin in texts:
                yield self.ends(text, begin, kind)
            return
        left = enumerate(texts)
        found: dict[int, array[int]] = {}
        lock = Lock()

        def share(ends: Reader, wanted: int | None = None) -> None:
            """Read what is left, or until a wanted one is found."""
            while wanted is None or wanted not in found:
                with lock:
                    number, (text, begin) = next(left, (-1, ("", 0)))
                if number < 0:
                    return
                found[number] = ends(text, begin, kind)

        reading: list[Future[None]] = []
        with suppress(RuntimeError):  # no more threads: at a limit, or at the process's end
            for helper, ends in self._helpers:
                reading.append(helper.submit(share, ends))
        try:
            for i in count():
                share(self.ends, i)
                if i not in found:  # all are taken
                    for each in reading:
                        if not each.cancel():
                            each.result()
                if i not in found:
                    return
                yield found.pop(i)
        finally:
            left = enumerate(())

    def _prepare(self, twin: Callable[[], Reader], much: int) -> None:
        """Have a thread for each further core, and twins once they pay."""
        self._seen += much
        pays = self._seen >= _MUCH
        # Threads do not live on in a fork.
        state = (os.getpid(), pays)
        if state == self._state or (much <= _FEW and not pays):
            return
        if pays and not self._state[1]:
            self.ends = twin()
        # Not imported above: it brings logging along, which few need.
        pools = import_module("concurrent.futures")
        self._helpers = [
            (pools.ThreadPoolExecutor(1, "spanwise"), twin() if pays else self.ends)
            for _ in range(min(_THREADS, cores()) - 1)
        ]
        self._state = state

    def bind(self, text: str) -> TokenEnds:
        """The encoding bound to a text, which is then read once."""
        return TokenEnds(text, self)


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
