"""What stands around a passage: so many neighbours on each side, each read once in a search."""

from __future__ import annotations

from collections.abc import Iterator

from spanwise.chunks import Chunk
from spanwise.index.rows import Passage
from spanwise.index.store import Store

__all__ = ["Around", "outward"]

# So many passages are read at a time.
_AT_ONCE = 64

# More white space than this is looked at: ink that no passage holds may stand there (Base64).
_WHITE = 64


def outward(store: Store, document: int, at: int, step: int, most: int) -> Iterator[Chunk]:
    """The passages after number ``at``, or before it with a ``step`` of -1, nearest first."""
    while most > 0:
        count = min(most, _AT_ONCE)
        first, last = (at + 1, at + count) if step > 0 else (max(0, at - count), at - 1)
        found = store.passages_of(document, first, last) if last >= 0 else []
        if not found:
            return
        for near in found[::step]:
            yield near.chunk
        at, most = at + step * count, most - count


class _Run:
    """Passages side by side: the last ones known on either side, and where no more adjoin."""

    __slots__ = ("ends", "last", "over", "starts")

    def __init__(self, at: int) -> None:
        self.last = {-1: at, 1: at}
        self.over: set[int] = set()
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}


class Around:
    """The neighbours of passages of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[tuple[int, int], _Run] = {}  # by the document and number of each passage

    def range_of(self, passage: Passage, count: int) -> tuple[int, int]:
        """The range of a passage with up to so many on each side, as far as they adjoin."""
        document, at = passage.document, passage.chunk.index
        run = self._runs.get((document, at))
        if run is None:
            run = _Run(at)
            self._note(document, run, passage.chunk)
        first, last = max(0, at - count), at + count
        self._extend(document, run, -1, run.last[-1] - first)
        self._extend(document, run, 1, last - run.last[1])
        return run.starts[max(run.last[-1], first)], run.ends[min(run.last[1], last)]

    def _extend(self, document: int, run: _Run, step: int, count: int) -> None:
        """Know so many passages more on a side, as far as they adjoin."""
        if count <= 0 or step in run.over:
            return
        for near in outward(self._store, document, run.last[step], step, count):
            known = run.last[step]
            gap = (run.ends[known], near.start) if step > 0 else (near.end, run.starts[known])
            if self._has_ink(document, *gap):
                break
            run.last[step] = near.index
            self._note(document, run, near)
            count -= 1
        if count:
            run.over.add(step)

    def _has_ink(self, document: int, start: int, end: int) -> bool:
        """Whether ink stands between two passages."""
        return end - start > _WHITE and bool(self._store.text(document, start, end).strip())

    def _note(self, document: int, run: _Run, chunk: Chunk) -> None:
        run.starts[chunk.index], run.ends[chunk.index] = chunk.start, chunk.end
        self._runs[document, chunk.index] = run
