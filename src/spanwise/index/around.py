"""What stands around a passage: so many neighbours on each side, each read once in a search."""

from __future__ import annotations

from dataclasses import dataclass, field

from spanwise.chunks import Chunk
from spanwise.index.rows import Passage
from spanwise.index.store import Store

__all__ = ["Around"]

# So many passages are read at a time.
_AT_ONCE = 64

# More white space than this is looked at: ink that no passage holds may stand there (Base64).
_WHITE = 64


@dataclass(slots=True)
class _Run:
    """Passages side by side, by their numbers, and whether more may follow at either end."""

    first: int
    last: int
    starts: dict[int, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    is_first: bool = False
    is_last: bool = False


class Around:
    """The neighbours of passages of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[tuple[int, int], _Run] = {}  # by the document and number of each passage

    def range_of(self, passage: Passage, count: int) -> tuple[int, int]:
        """The range of a passage with up to so many on each side, as far as they adjoin."""
        chunk, document = passage.chunk, passage.document
        at = chunk.index
        run = self._runs.get((document, at))
        if run is None:
            run = _Run(at, at)
            self._note(document, run, chunk)
        first, last = max(0, at - count), at + count
        while not run.is_first and run.first > first:
            self._read_before(document, run, first)
        while not run.is_last and run.last < last:
            self._read_after(document, run, last)
        return run.starts[max(run.first, first)], run.ends[min(run.last, last)]

    def _read_before(self, document: int, run: _Run, first: int) -> None:
        found = self._store.passages_of(document, max(first, run.first - _AT_ONCE), run.first - 1)
        run.is_first = not found
        for near in reversed(found):
            chunk = near.chunk
            if self._are_apart(document, chunk.end, run.starts[run.first]):
                run.is_first = True
                return
            run.first = chunk.index
            self._note(document, run, chunk)

    def _read_after(self, document: int, run: _Run, last: int) -> None:
        found = self._store.passages_of(document, run.last + 1, min(last, run.last + _AT_ONCE))
        run.is_last = not found
        for near in found:
            chunk = near.chunk
            if self._are_apart(document, run.ends[run.last], chunk.start):
                run.is_last = True
                return
            run.last = chunk.index
            self._note(document, run, chunk)

    def _are_apart(self, document: int, end: int, start: int) -> bool:
        """Whether ink stands between two passages."""
        return start - end > _WHITE and bool(self._store.text(document, end, start).strip())

    def _note(self, document: int, run: _Run, chunk: Chunk) -> None:
        run.starts[chunk.index], run.ends[chunk.index] = chunk.start, chunk.end
        self._runs[document, chunk.index] = run
