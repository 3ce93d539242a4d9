"""A graph of vectors, by usearch: which may be near to one is found without comparing all.

It only proposes. What it proposes is compared exactly by who asks, vectors that are not in it are
compared without it, and one that is gone is not found. So an old graph costs time, and no hit.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from spanwise.extras import require_extra

__all__ = ["Graph"]

# Vectors are handed over in single precision, so many at a time.
_STEP = 1 << 14

# Neighbours of a vector, and how many are looked at to find them: twice what usearch does unasked,
# for a recall of .99 instead of .96 (benchmarks/graph.py).
_LINKS, _CARE = 32, 256


class Graph:
    """Vectors of a space as a graph of neighbours (HNSW), each by its id.

    Its own copy of them takes a byte a number, and the graph about 280 bytes a vector.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @classmethod
    def new(cls, dimensions: int) -> Graph:
        """A graph of no vectors; `MissingExtraError` without usearch."""
        library = _library()
        made = {"connectivity": _LINKS, "expansion_add": _CARE}
        return cls(library.Index(ndim=dimensions, metric="cos", dtype="i8", **made))

    @classmethod
    def load(cls, data: bytes) -> Graph | None:
        """The graph that was dumped; None where it cannot be read, or usearch is not there."""
        try:
            inner = _library().Index.restore(data)
        except Exception:  # the library raises bare RuntimeError, and a search without it is exact
            return None
        return cls(inner) if inner is not None else None

    def dump(self) -> bytes:
        """The graph as bytes."""
        return bytes(self._inner.save())

    def __len__(self) -> int:
        return len(self._inner)

    def ids(self, numpy: Any) -> Any:
        """The ids of the vectors in it."""
        return numpy.asarray(self._inner.keys[:]).astype(numpy.int64)

    def add(self, numpy: Any, ids: Any, table: Any) -> None:
        """Add vectors that are not in it, a row of half-precision numbers for each id."""
        for start in range(0, len(ids), _STEP):
            part = table[start : start + _STEP].astype(numpy.float32)
            self._inner.add(ids[start : start + _STEP].astype(numpy.uint64), part)

    def near(self, numpy: Any, vector: Any, count: int) -> Any:
        """The ids of vectors that may be nearest to one."""
        found = self._inner.search(numpy.asarray(vector, dtype=numpy.float32), count)
        return numpy.asarray(found.keys).astype(numpy.int64)


def _library() -> Any:
    require_extra("usearch", "ann", "a graph of vectors")
    return import_module("usearch.index")
