"""The vectors of an index in PostgreSQL: kept by pgvector at half precision, searched exactly.

With an HNSW index, which is made only where it is asked for, they are searched by that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

from spanwise.errors import StoreError
from spanwise.extras import require_extra
from spanwise.index.postgres_session import PostgresSession
from spanwise.index.rows import Found
from spanwise.index.texts import bytes_of

__all__ = ["VectorTable"]

# The largest number of candidates that pgvector's HNSW looks at.
_MOST_CANDIDATES = 1000

# pgvector's HNSW takes no vectors of half precision that have more numbers.
_MOST_INDEXED = 4000

_MEAN = (
    "(cosine + %s::float8 * (coalesce(lag(cosine) OVER beside, 0) "
    "+ coalesce(lead(cosine) OVER beside, 0))) / (1 + %s::float8 * "
    "(num_nonnulls(lag(cosine) OVER beside) + num_nonnulls(lead(cosine) OVER beside)))"
)
# Vectors have length 1 but for their rounding, so their product is the cosine: as the other stores
# reckon it, and 0 for a vector of zeros, for which pgvector's `<=>` answers no number.
_COSINE = "-(data <#> %s::halfvec)"


class VectorTable:
    """Vectors by space and digest."""

    __slots__ = ("_session",)

    def __init__(self, session: PostgresSession) -> None:
        self._session = session

    def space(self, fingerprint: str) -> int:
        """The number of a space, 0 for one that holds nothing."""
        return self._space(fingerprint)[0]

    def _space(self, fingerprint: str) -> tuple[int, int]:
        """The number of a space, and the size of the vectors that HNSW has; 0 for none."""
        rows = self._session.all(
            "SELECT id, indexed FROM spaces WHERE fingerprint = %s", (bytes_of(fingerprint),)
        )
        return rows[0] if rows else (0, 0)

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        wanted = sorted(set(digests))
        with self._session.reading():
            rows = self._session.all(
                "SELECT digest FROM unnest(%s::bytea[]) AS digest WHERE NOT EXISTS "
                "(SELECT 1 FROM vectors WHERE space = %s AND vectors.digest = digest.digest)",
                (wanted, self.space(space)),
            )
        return {digest for (digest,) in rows}

    def put(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""
        with self._session.writing():
            self._session.run(
                "INSERT INTO spaces (fingerprint) VALUES (%s) ON CONFLICT DO NOTHING",
                (bytes_of(space),),
            )
            number = self.space(space)
            with self._session.connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO vectors (space, digest, data, checksum) "
                    "VALUES (%s, %s, %s::halfvec, %s) ON CONFLICT DO NOTHING",
                    [
                        (number, digest, _written(vector), crc32(vector.astype("<f2").tobytes()))
                        for digest, vector in zip(digests, vectors, strict=True)
                    ],
                )

    def read(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""
        numpy = require_extra("numpy", "pgvector", "reading vectors")
        with self._session.reading():
            rows = self._session.all(
                "SELECT digest, halfvec_send(data) FROM vectors "
                "WHERE space = %s AND digest = ANY(%s::bytea[])",
                (self.space(space), sorted(set(digests))),
            )
        # Of each, its size, two bytes, and its numbers, big end first.
        return {
            digest: numpy.frombuffer(data, dtype=">f2", offset=4).astype("<f2")
            for digest, data in rows
        }

    def drop(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many."""
        unused = (
            "FROM vectors WHERE space != %s OR NOT EXISTS "
            "(SELECT 1 FROM chunks WHERE chunks.digest = vectors.digest)"
        )
        number = self.space(space)
        if not self._session.all(f"SELECT 1 {unused} LIMIT 1", (number,)):
            return 0
        with self._session.writing():
            return self._session.run(f"DELETE {unused}", (number,))

    def nearest(
        self, space: str, vector: Any, allowed: tuple[str, list[Any]], limit: int, mix: float
    ) -> list[Found]:
        """The passages nearest to a vector, best first, of the documents that a query answers.

        With ``mix`` a score is the mean of the passage's own cosine and, with that weight, those
        of the passage before and the one after.
        """
        which, values = allowed
        asked = _written(vector)
        with self._session.reading():
            number, indexed = self._space(space)
            if indexed and not mix:
                return self._by_index(number, indexed, asked, allowed, limit)
            own = (
                f"SELECT chunks.id, document, position, {_COSINE} AS cosine "
                "FROM chunks JOIN vectors ON vectors.digest = chunks.digest AND space = %s "
                f"WHERE document IN ({which})"
            )
            given: list[Any] = [asked, number, *values]
            score = "cosine"
            if mix:
                score = _MEAN
                given = [mix, mix, *given]
            rows = self._session.all(
                f"SELECT * FROM (SELECT id, document, position, {score} AS score "
                f"FROM ({own}) AS own WINDOW beside AS (PARTITION BY document ORDER BY position)"
                ") AS scored WHERE score > 0 ORDER BY score DESC, document, position LIMIT %s",
                (*given, limit),
            )
        return [Found(*row) for row in rows]

    def _by_index(
        self, number: int, size: int, asked: str, allowed: tuple[str, list[Any]], limit: int
    ) -> list[Found]:
        """By HNSW, which goes on until as many are found as are wanted."""
        which, values = allowed
        candidates = max(40, min(2 * limit, _MOST_CANDIDATES))
        self._session.run(f"SET LOCAL hnsw.ef_search = {candidates}")
        self._session.run("SET LOCAL hnsw.iterative_scan = strict_order")
        distance = f"data::halfvec({size}) <#> %s::halfvec({size})"
        rows = self._session.all(
            f"SELECT id, document, position, -distance FROM (SELECT chunks.id, document, "
            f"position, {distance} AS distance "
            "FROM vectors JOIN chunks ON chunks.digest = vectors.digest "
            f"WHERE space = {number} AND document IN ({which}) ORDER BY {distance} LIMIT %s"
            ") AS near WHERE distance < 0 ORDER BY distance, document, position",
            (asked, *values, asked, limit),
        )
        return [Found(*row) for row in rows]

    def index(self, space: str) -> None:
        """Make the HNSW index of a space; nothing where there is one."""
        with self._session.writing():
            number, indexed = self._space(space)
            if indexed:
                return
            rows = self._session.all(
                "SELECT DISTINCT vector_dims(data) FROM vectors WHERE space = %s", (number,)
            )
            if len(rows) != 1 or rows[0][0] > _MOST_INDEXED:
                raise StoreError(
                    f"{self._session.name}: the space {space!r} holds vectors of "
                    f"{[size for (size,) in rows]} numbers, and HNSW takes those of one size up to "
                    f"{_MOST_INDEXED:,}; index documents first, or search without it"
                )
            ((size,),) = rows
            self._session.run(
                f"CREATE INDEX vectors_near_{number} ON vectors "
                f"USING hnsw ((data::halfvec({size})) halfvec_ip_ops) WHERE space = {number}"
            )
            self._session.run("UPDATE spaces SET indexed = %s WHERE id = %s", (size, number))


def _written(vector: Any) -> str:
    """A vector as pgvector reads it; every number of half precision has an exact form."""
    return f"[{','.join(map(repr, vector.astype('float16').tolist()))}]"
