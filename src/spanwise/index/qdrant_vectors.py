"""The vectors of an index in Qdrant: a collection an embedder, a point a digest.

A digest may be that of many passages, so a search for vectors finds digests, and then the passages
that have them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from zlib import crc32

from spanwise.index.damage import sound_digests
from spanwise.index.fusion import mixed
from spanwise.index.qdrant_calls import QdrantCalls, scope_conditions
from spanwise.index.qdrant_points import OWN, digest_id
from spanwise.index.qdrant_words import Live
from spanwise.index.rows import Found, Scope

__all__ = ["Vectors"]

# In a scope of so many passages their vectors are asked for by name; a larger one is looked
# through from the best vector on.
_NARROW = 1024

# Passages among which the scores of neighbours are mixed.
_MIX_DEPTH = 1000

# Vectors of the first request for each passage that is wanted, the most of one request, and
# digests whose passages are asked for at once.
_EACH, _MOST, _DIGESTS = 2, 4096, 256

_PAYLOAD = (*OWN, "digest")


class Vectors:
    """The vectors of all spaces, each of length 1 or 0."""

    def __init__(self, calls: QdrantCalls) -> None:
        self._calls = calls

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        wanted = set(digests)
        name = self._calls.space(space)
        if not wanted or not self._calls.exists(name):
            return wanted
        ids = {digest_id(digest): digest for digest in sorted(wanted)}
        return {ids[point_id] for point_id in ids.keys() - self._calls.get(name, ids, False).keys()}

    def put(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors; one that is there stays."""
        fresh = self.missing(space, digests)
        rows = dict(zip(digests, vectors, strict=True))
        if not fresh:
            return
        name = self._calls.make_space(space, len(next(iter(rows.values()))))
        self._calls.put(
            name,
            [
                (
                    digest_id(digest),
                    rows[digest].tolist(),
                    {"checksum": crc32(rows[digest].astype("<f2").tobytes())},
                )
                for digest in sorted(fresh)
            ],
        )

    def get(self, numpy: Any, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests."""
        ids = {digest_id(digest): digest for digest in sorted(set(digests))}
        name = self._calls.space(space)
        if not ids or not self._calls.exists(name):
            return {}
        return {
            ids[point_id]: numpy.array(point.vector, dtype="<f2")
            for point_id, point in self._calls.get(name, ids, False, True).items()
        }

    def sound(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests whose vectors are as they were written: of length 1 or 0."""
        ids = {digest_id(digest): digest for digest in sorted(set(digests))}
        name = self._calls.space(space)
        if not ids or not self._calls.exists(name):
            return set()
        return sound_digests(
            (ids[point_id], point.vector, point.payload["checksum"])
            for point_id, point in self._calls.get(name, ids, True, True).items()
        )

    def unused(self, space: str) -> dict[str, list[str]]:
        """The vectors that no passage needs, by their collection; all of another space."""
        calls, found = self._calls, {}
        for name in calls.spaces():
            ids = {point.id for point in calls.all(name, payload=False)}
            if name == calls.space(space):
                # Read after the vectors, so that those of a document that comes now stay.
                for point in calls.all(calls.passages, payload=["digest"]):
                    ids.discard(digest_id(bytes.fromhex(point.payload["digest"])))
            if ids or name != calls.space(space):
                found[name] = sorted(ids)
        return found

    def drop(self, space: str, unused: Mapping[str, Sequence[str]]) -> None:
        """Drop what `unused` found."""
        for name, ids in unused.items():
            if name == self._calls.space(space):
                self._calls.drop(name, ids)
            else:
                self._calls.run("delete_collection", name)

    # --- search -----------------------------------------------------------------------------

    def nearest(
        self, space: str, vector: Any, scope: Scope, limit: int, mix: float, live: Live
    ) -> list[Found]:
        """The passages nearest to a vector, best first; above 0 alone."""
        name = self._calls.space(space)
        if not self._calls.exists(name):
            return []
        query = [float(number) for number in vector]
        depth = max(limit, _MIX_DEPTH) if mix else limit
        conditions = scope_conditions(self._calls, scope)
        if self._calls.count(self._calls.passages, conditions) <= _NARROW:
            found = self._narrow(name, query, conditions, scope, live)
        else:
            found = self._wide(name, query, conditions, scope, depth, live, mix == 0)
        found = sorted(mixed(found, mix), key=lambda each: -each.score)
        return [each for each in found if each.score > 0][:limit]

    def _narrow(
        self, name: str, query: Any, conditions: Sequence[Any], scope: Scope, live: Live
    ) -> list[Found]:
        """All passages of a scope with their scores."""
        points = self._calls.all(self._calls.passages, conditions, list(_PAYLOAD))
        having = _by_vector(live, points, scope)
        if not having:
            return []
        hits = self._calls.nearest(name, query, [self._calls.has_id(having)], len(having), 0)
        return [found._replace(score=hit.score) for hit in hits for found in having[hit.id]]

    def _wide(
        self,
        name: str,
        query: Any,
        conditions: Sequence[Any],
        scope: Scope,
        depth: int,
        live: Live,
        above_zero: bool,
    ) -> list[Found]:
        """The passages of a scope that have the best vectors of all."""
        found: list[Found] = []
        start, step = 0, _EACH * depth
        while True:
            page = self._calls.nearest(name, query, (), step, start)
            scores = {hit.id: hit.score for hit in page}
            having = self._having(list(scores), conditions, scope, live)
            found += [
                each._replace(score=scores[point_id])
                for point_id, rows in having.items()
                for each in rows
            ]
            # Of those that score as the last one more may follow, so they do not count yet.
            last = page[-1].score if page else 0.0
            sure = sum(each.score > last for each in found)
            if len(page) < step or sure >= depth or (above_zero and last <= 0):
                return found
            start += step
            step = min(2 * step, _MOST)

    def _having(
        self, ids: Sequence[str], conditions: Sequence[Any], scope: Scope, live: Live
    ) -> dict[str, list[Found]]:
        """The passages of a scope that have vectors of these ids."""
        found: dict[str, list[Found]] = {}
        for i in range(0, len(ids), _DIGESTS):
            digests = [point_id.replace("-", "") for point_id in ids[i : i + _DIGESTS]]
            points = self._calls.all(
                self._calls.passages,
                [*conditions, self._calls.is_any("digest", digests)],
                list(_PAYLOAD),
            )
            found.update(_by_vector(live, points, scope))
        return found


def _by_vector(live: Live, points: Iterable[Any], scope: Scope) -> Mapping[str, list[Found]]:
    """Passages of a scope by the ids of their vectors, without scores."""
    found: dict[str, list[Found]] = defaultdict(list)
    for row in live(points, scope):
        if row.fits:
            point_id = digest_id(bytes.fromhex(row.payload["digest"]))
            found[point_id].append(row.found())
    return found
