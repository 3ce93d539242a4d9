"""The vectors of an SQLite file in memory: read once, kept up to date, searched exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spanwise.index.matrix import half, similarities
from spanwise.index.rows import Found

__all__ = ["Held"]

_All = Callable[..., list[Any]]

# Rows read at a time, so that reading needs little room beside what is kept.
_STEP = 1024

# Each change adds a block; more of them are joined.
_MOST_BLOCKS = 16

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
        "_ids",
        "_keys",
        "_numpy",
        "_positions",
        "_rows",
        "space",
    )

    def __init__(self, numpy: Any, space: str) -> None:
        self.space = space
        self._numpy = numpy
        self._generation = -1
        self._forget()

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
        parts = [similarities(numpy, block, vector) for block in self._blocks]
        scores = numpy.concatenate(parts)[self._rows]
        if mix:
            beside = self._documents[1:] == self._documents[:-1]
            own = scores.copy()
            shares = numpy.ones_like(scores)
            scores[1:] += mix * (own[:-1] * beside)
            scores[:-1] += mix * (own[1:] * beside)
            shares[1:] += mix * beside
            shares[:-1] += mix * beside
            scores /= shares
        if documents is not None:
            scores[~numpy.isin(self._documents, documents)] = 0
        best = _largest(numpy, scores, limit)
        return [
            Found(
                int(self._keys[i]),
                int(self._documents[i]),
                int(self._positions[i]),
                float(scores[i]),
            )
            for i in best
        ]

    def _forget(self) -> None:
        numpy = self._numpy
        self._blocks: list[Any] = []
        self._ids = numpy.zeros(0, dtype=numpy.int64)
        self._rows = self._keys = self._documents = self._positions = self._ids

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
            self._blocks = [numpy.concatenate(self._blocks)]
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
        self._documents = found[:filled, 0].astype(numpy.int32)
        self._positions = found[:filled, 1].astype(numpy.int32)
        self._keys = found[:filled, 2].copy()
        self._rows = numpy.searchsorted(self._ids, found[:filled, 3]).astype(numpy.int32)
        held = self._rows < len(self._ids)
        return bool(held.all() and (self._ids[self._rows] == found[:filled, 3]).all())


def _largest(numpy: Any, scores: Any, limit: int) -> Any:
    """The places of the largest scores above 0, largest first, the first of equal ones first."""
    places = numpy.flatnonzero(scores > 0)
    if len(places) > limit:
        # All that are as large as the last one stay, so that which of them are kept is no chance.
        least = numpy.partition(scores[places], len(places) - limit)[len(places) - limit]
        places = places[scores[places] >= least]
    return places[numpy.argsort(-scores[places], kind="stable")][:limit]
