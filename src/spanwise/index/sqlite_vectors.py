"""The vectors of an SQLite file: kept, dropped when no passage has them, searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from zlib import crc32

from spanwise.errors import StoreError
from spanwise.extras import require_extra
from spanwise.index.graph import Graph
from spanwise.index.rows import Found
from spanwise.index.sqlite_file import SqliteFile
from spanwise.index.sqlite_near import Held, graph_of
from spanwise.index.sqlite_schema import marks, parts

__all__ = ["SqliteVectors"]

# Bytes of a graph in one row: SQLite takes at most a thousand million.
_GRAPH_PART = 1 << 24

# A graph is made anew when it holds more than this share of vectors that are gone.
_MOST_GONE = 0.1

_STATE = "SELECT generation, tidy FROM state"
_UNUSED = "NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.digest = vectors.digest)"
_OTHERS = "space < ? OR space > ?"  # a range of the index, which != is not


class SqliteVectors:
    """The vectors of a file, by spaces and digests.

    A file notes at which generation it was tidy: each vector had a passage. Where only this
    connection wrote since, it knows which vectors may have lost theirs.
    """

    __slots__ = ("_file", "_held", "_is_tidy", "_loose", "_tidied")

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._held: Held | None = None
        # The vectors that may have no passage, of what this connection wrote since it was tidy.
        self._loose: set[bytes] = set()
        # At which generation that was, and how many transactions it had written; None where what
        # is loose is not known.
        self._tidied: tuple[int, int] | None = None
        for generation, tidy in file.all(_STATE):  # no row in a damaged file
            self._tidied = (tidy, file.written) if generation == tidy else None
        self._is_tidy = False  # as far as the transaction that is open goes

    def settle(self, done: bool) -> None:
        """A transaction that wrote ends; ``done``: its last statement is to come."""
        if not done:
            self._tidied = None
        elif self._is_tidy and not self._loose:
            self._file.connection.execute("UPDATE state SET tidy = generation")
            ((_, tidy),) = self._file.all(_STATE)
            self._tidied = tidy, self._file.written + 1
        self._is_tidy = False

    def changed(self, gone: Iterable[bytes], there: Iterable[bytes]) -> None:
        """Passages with these digests are gone, and those with the others are there."""
        self._loose.update(gone)
        self._loose.difference_update(there)

    def space(self, fingerprint: str) -> int:
        """The number of a space, or 0."""
        rows = self._file.all("SELECT id FROM spaces WHERE fingerprint = ?", (fingerprint,))
        return rows[0][0] if rows else 0

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        wanted = set(digests)
        with self._file.reading():
            number = self.space(space)
            for part in parts(sorted(wanted)):
                rows = self._file.all(
                    f"SELECT digest FROM vectors WHERE space = ? AND digest IN ({marks(part)})",
                    (number, *part),
                )
                wanted.difference_update(digest for (digest,) in rows)
        return wanted

    def put(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""
        raw, size = vectors.astype("<f2").tobytes(), 2 * vectors.shape[1]
        with self._file.writing():
            self._loose.update(digests)
            connection = self._file.connection
            connection.execute("INSERT OR IGNORE INTO spaces (fingerprint) VALUES (?)", (space,))
            number = self.space(space)
            connection.executemany(
                "INSERT OR IGNORE INTO vectors (space, digest, data, checksum) VALUES (?, ?, ?, ?)",
                [
                    (number, digest, data, crc32(data))
                    for i, digest in enumerate(digests)
                    for data in (raw[i * size : (i + 1) * size],)
                ],
            )

    def of(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""
        numpy = _numpy()
        found: dict[bytes, Any] = {}
        with self._file.reading():
            number = self.space(space)
            for part in parts(sorted(set(digests))):
                for digest, data in self._file.all(
                    "SELECT digest, data FROM vectors WHERE space = ? "
                    f"AND digest IN ({marks(part)})",
                    (number, *part),
                ):
                    found[digest] = numpy.frombuffer(data, dtype="<f2")
        return found

    def drop(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many.

        Cost: that of the vectors that may be loose, where only this connection wrote since the
        file was tidy; else of all.
        """
        number = self.space(space)
        ((generation, tidy),) = self._file.all(_STATE)
        others = f"SELECT 1 FROM vectors WHERE {_OTHERS} LIMIT 1"
        if generation == tidy and not self._file.all(others, (number, number)):
            return 0
        with self._file.writing():
            ((generation, tidy),) = self._file.all(_STATE)
            named = self._file.all("SELECT value FROM settings WHERE name = 'embedder'")
            if named and named[0][0] != space:
                return 0  # the index was made anew while this waited for its turn
            run = self._file.connection.execute
            run("DELETE FROM graphs WHERE space != ?", (number,))
            count = run(f"DELETE FROM vectors WHERE {_OTHERS}", (number, number)).rowcount
            if self._tidied == (tidy, self._file.written - (generation - tidy)):
                for part in parts(sorted(self._loose)):
                    some = f"space = ? AND digest IN ({marks(part)}) AND {_UNUSED}"
                    count += run(f"DELETE FROM vectors WHERE {some}", (number, *part)).rowcount
            else:
                count += run(
                    f"DELETE FROM vectors WHERE space = ? AND {_UNUSED}", (number,)
                ).rowcount
            self._loose.clear()
            self._is_tidy = True
        return count

    def stays_tidy(self) -> None:
        """In a transaction that leaves no vector without a passage: a tidy file stays so."""
        ((generation, tidy),) = self._file.all(_STATE)
        self._is_tidy = generation == tidy

    # --- search -----------------------------------------------------------------------------

    def nearest(
        self, space: str, vector: Any, documents: Sequence[int] | None, limit: int, mix: float
    ) -> list[Found]:
        """The passages nearest to a vector, best first; of some documents or of all."""
        return self._current(space).nearest(vector, documents, limit, mix)

    def index(self, space: str) -> None:
        """Make a graph of the vectors of a space, or let the one there is learn the new ones."""
        self._file.refuse_reader()
        numpy = _numpy()
        with self._file.reading():
            held = self._current(space)
            if not len(held):
                raise StoreError(
                    f"{self._file.path}: it holds no vectors to make a graph of; index documents "
                    "with an embedder first"
                )
            ids, table = held.everything()
            graph = graph_of(self._file.all, self.space(space))
        # Beside searches and runs: they know the graph that the file has.
        if graph is None or len(graph) > (1 + _MOST_GONE) * len(ids):
            graph = Graph.new(table.shape[1])
        inside = numpy.isin(ids, graph.ids(numpy))
        graph.add(numpy, ids[~inside], table[~inside])
        data = graph.dump()
        with self._file.writing():
            number = self.space(space)
            self._file.connection.execute("DELETE FROM graphs WHERE space = ?", (number,))
            self._file.connection.executemany(
                "INSERT INTO graphs (space, data, checksum) VALUES (?, ?, ?)",
                [
                    (number, part, crc32(part))
                    for i in range(0, len(data), _GRAPH_PART)
                    for part in (data[i : i + _GRAPH_PART],)
                ],
            )
            self.stays_tidy()

    def forget(self) -> None:
        """Keep nothing in memory."""
        self._held = None

    def _current(self, space: str) -> Held:
        """What is held of a space, as the file has it in the transaction that is open."""
        if self._held is None or self._held.space != space:
            self._held = Held(_numpy(), space)
        self._held.refresh(self._file.all, self.space(space))
        return self._held


def _numpy() -> Any:
    return require_extra("numpy", "index", "search by meaning")
