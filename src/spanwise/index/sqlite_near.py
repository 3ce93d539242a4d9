"""The vectors of an SQLite file in memory: read once, kept up to date.

They are searched exactly, or, where the file has a graph of them, those that it proposes are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from zlib import crc32

from spanwise.index.graph import Graph
from spanwise.index.matrix import half, similarities
from spanwise.index.rows import Found

__all__ = ["Held", "graph_of"]

_All = Callable[..., list[Any]]

# Rows read at a time, so that reading needs little room beside what is kept.
_STEP = 1024

# Each change adds a block; more of them are joined.
_MOST_BLOCKS = 16

# A graph is asked for so many vectors, or for so many times what is wanted.
_CANDIDATES, _TIMES = 512, 4

# A graph of which less is held still is not gone by.
_LEAST_SHARE = 0.5

# What is held is read anew when more than this share of it belongs to no passage.
_MOST_UNUSED = 0.1


class Held:
    """The vectors of a space, and which passage has which.

    What the file holds is compared by its generation, which every change to it raises. Vectors
    that are new are added; the passages are read anew.
    """

    __slots__ = (
        "_blocks",
        "_documents",
        "_generation",
        "_graph",
        "_graph_id",
        "_ids",
        "_keys",
        "_numpy",
        "_order",
        "_outside",
        "_positions",
        "_rows",
        "space",
    )

    def __init__(self, numpy: Any, space: str) -> None:
        self.space = space
        self._numpy = numpy
        self._generation = -1
        self._graph: Graph | None = None
        self._graph_id = 0
        self._forget()

    def _forget(self) -> None:
        numpy = self._numpy
        self._blocks: list[Any] = []
        self._ids = numpy.zeros(0, dtype=numpy.int64)
        self._rows = self._keys = self._documents = self._positions = self._ids
        self._outside = self._ids  # the rows of vectors that are not in the graph
        self._order: Any = None  # passages in order of their vectors: places and rows

    def __len__(self) -> int:
        return len(self._ids)

    def refresh(self, read: _All, space: int) -> None:
        """Have what the file holds at the moment of the transaction that is open."""
        ((generation,),) = read("SELECT generation FROM state")
        if generation == self._generation:
            return
        self._add_vectors(read, space)
        # One that was left out, since no passage had it then, may have one now.
        is_whole = self._read_passages(read, space)
        used = len(self._numpy.unique(self._rows))
        if not is_whole or len(self._ids) - used > _MOST_UNUSED * len(self._ids):
            self._forget()
            self._add_vectors(read, space, used_only=True)
            self._read_passages(read, space)
        self._read_graph(read, space)
        self._generation = generation

    def nearest(
        self, vector: Any, documents: Sequence[int] | None, limit: int, mix: float
    ) -> list[Found]:
        """The passages nearest to a vector, best first; of some documents or of all.

        With ``mix`` a score is the mean of the passage's own cosine and, with that weight, those
        of the passage before and the one after.
        """
        numpy = self._numpy
        if not len(self._rows):
            return []
        proposing = self._proposing() if documents is None else None
        if proposing is None:
            wanted = places = numpy.arange(len(self._rows))
            parts = [similarities(numpy, block, vector) for block in self._blocks]
            scores = numpy.concatenate(parts)[self._rows]
        else:
            wanted = places = self._proposed(*proposing, vector, limit)
            if mix:
                wanted = self._with_neighbours(places)
                places = self._with_neighbours(wanted)
            scores = similarities(numpy, self._joined()[self._rows[places]], vector)
        if mix:
            beside = self._documents[places[1:]] == self._documents[places[:-1]]
            beside &= places[1:] == places[:-1] + 1
            own = scores.copy()
            shares = numpy.ones_like(scores)
            scores[1:] += mix * (own[:-1] * beside)
            scores[:-1] += mix * (own[1:] * beside)
            shares[1:] += mix * beside
            shares[:-1] += mix * beside
            scores /= shares
        if len(wanted) < len(places):
            scores = scores[numpy.searchsorted(places, wanted)]
        if documents is not None:
            scores[~numpy.isin(self._documents, documents)] = 0
        best = _largest(numpy, scores, limit)
        return [
            Found(
                int(self._keys[i]),
                int(self._documents[i]),
                int(self._positions[i]),
                float(score),
            )
            for i, score in zip(wanted[best], scores[best], strict=True)
        ]

    def everything(self) -> tuple[Any, Any]:
        """The ids of all vectors, and their table; neither is changed later."""
        return self._ids, self._joined()

    def _proposing(self) -> tuple[Graph, float] | None:
        """The graph, and the share of it that is held still; None where it is of no use."""
        if self._graph is None:
            return None
        share = (len(self._ids) - len(self._outside)) / len(self._graph)
        return (self._graph, share) if share >= _LEAST_SHARE else None

    def _proposed(self, graph: Graph, share: float, vector: Any, limit: int) -> Any:
        """The places of passages whose vectors may be nearest, and of all outside the graph."""
        numpy, ids = self._numpy, self._ids
        near = graph.near(numpy, vector, int(max(_CANDIDATES, _TIMES * limit) / share))
        known = numpy.searchsorted(ids, near)
        known = known[(known < len(ids)) & (ids[numpy.minimum(known, len(ids) - 1)] == near)]
        rows = numpy.unique(numpy.concatenate([known, self._outside]))
        if self._order is None:
            order = numpy.argsort(self._rows, kind="stable")
            self._order = order, self._rows[order]
        order, ordered = self._order
        first, end = (numpy.searchsorted(ordered, rows, side=side) for side in ("left", "right"))
        counts = end - first
        before = numpy.cumsum(counts) - counts
        among = numpy.arange(counts.sum()) + numpy.repeat(first - before, counts)
        return numpy.sort(order[among])

    def _with_neighbours(self, places: Any) -> Any:
        """Places, and those before and after each."""
        numpy = self._numpy
        beside = numpy.unique(numpy.concatenate([places - 1, places, places + 1]))
        return beside[(beside >= 0) & (beside < len(self._rows))]

    def _joined(self) -> Any:
        """All vectors as one table."""
        if len(self._blocks) > 1:
            self._blocks = [self._numpy.concatenate(self._blocks)]
        return self._blocks[0]

    def _add_vectors(self, read: _All, space: int, *, used_only: bool = False) -> None:
        numpy = self._numpy
        last = int(self._ids[-1]) if len(self._ids) else 0
        used = "AND digest IN (SELECT digest FROM chunks)" if used_only else ""
        (count, most) = read(
            f"SELECT count(*), max(id) FROM vectors WHERE space = ? AND id > ? {used}",
            (space, last),
        )[0]
        if not count:
            return
        ids = numpy.empty(count, dtype=numpy.int64)
        block, filled = None, 0
        while last < most:
            rows = read(
                # The plus keeps SQLite from the index by space: the rows are in order of ids.
                "SELECT id, data FROM vectors WHERE +space = ? AND id > ? "
                f"{used} ORDER BY id LIMIT ?",
                (space, last, _STEP),
            )
            if block is None:
                block = numpy.empty((count, len(rows[0][1]) // 2), dtype=numpy.float16)
            raw = b"".join(data for _, data in rows)
            block[filled : filled + len(rows)] = half(numpy, raw, block.shape[1])
            ids[filled : filled + len(rows)] = [key for key, _ in rows]
            filled += len(rows)
            last = rows[-1][0]
        self._blocks.append(block)
        if len(self._blocks) > _MOST_BLOCKS:
            self._joined()
        self._ids = numpy.concatenate([self._ids, ids])

    def _read_passages(self, read: _All, space: int) -> bool:
        """Which passage has which vector, by documents and places; whether all are held."""
        numpy = self._numpy
        ((count,),) = read("SELECT count(*) FROM chunks")
        found = numpy.empty((count, 4), dtype=numpy.int64)
        filled, last = 0, (-1, -1)
        while True:
            rows = read(
                "SELECT c.document, c.position, c.id, v.id FROM chunks AS c "
                "CROSS JOIN vectors AS v ON v.space = ? AND v.digest = c.digest "
                "WHERE (c.document, c.position) > (?, ?) "
                "ORDER BY c.document, c.position LIMIT ?",
                (space, *last, _STEP),
            )
            if not rows:
                break
            found[filled : filled + len(rows)] = rows
            filled += len(rows)
            last = rows[-1][:2]
        self._order = None
        self._documents = found[:filled, 0].astype(numpy.int32)
        self._positions = found[:filled, 1].astype(numpy.int32)
        self._keys = found[:filled, 2].copy()
        self._rows = numpy.searchsorted(self._ids, found[:filled, 3]).astype(numpy.int32)
        held = self._rows < len(self._ids)
        return bool(held.all() and (self._ids[self._rows] == found[:filled, 3]).all())

    def _read_graph(self, read: _All, space: int) -> None:
        """Have the graph of the file, if it has one that is whole, and know what is not in it."""
        ((newest,),) = read("SELECT coalesce(max(id), 0) FROM graphs WHERE space = ?", (space,))
        if newest != self._graph_id:
            self._graph, self._graph_id = graph_of(read, space), newest
        if self._graph is not None:
            inside = self._numpy.isin(self._ids, self._graph.ids(self._numpy))
            self._outside = self._numpy.flatnonzero(~inside)


def graph_of(read: _All, space: int) -> Graph | None:
    """The graph of a space that a file holds; None where there is none that is whole."""
    parts = read("SELECT data, checksum FROM graphs WHERE space = ? ORDER BY id", (space,))
    if not parts or any(crc32(data) != checksum for data, checksum in parts):
        return None
    return Graph.load(b"".join(data for data, _ in parts))


def _largest(numpy: Any, scores: Any, limit: int) -> Any:
    """The places of the largest scores above 0, largest first, the first of equal ones first."""
    places = numpy.flatnonzero(scores > 0)
    if len(places) > limit:
        # All that are as large as the last one stay, so that which of them are kept is no chance.
        least = numpy.partition(scores[places], len(places) - limit)[len(places) - limit]
        places = places[scores[places] >= least]
    return places[numpy.argsort(-scores[places], kind="stable")][:limit]
