"""SqliteStore: an index in one file, or in memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from spanwise.errors import StoreError
from spanwise.index.queries import WordQuery
from spanwise.index.records import values_of
from spanwise.index.rows import (
    ChunkRow,
    DocumentRow,
    Found,
    Passage,
    Scope,
    StoredDocument,
    labels_of,
    merged,
)
from spanwise.index.sqlite_damage import damage
from spanwise.index.sqlite_file import SqliteFile
from spanwise.index.sqlite_schema import change_settings, marks, parts
from spanwise.index.sqlite_vectors import SqliteVectors
from spanwise.index.sqlite_words import WordIndex
from spanwise.index.tables import COLUMNS, Tables, Which, changed
from spanwise.index.texts import bytes_of, text_of

__all__ = ["SqliteStore"]


class SqliteStore:
    """An index in one SQLite file: WAL, FTS5, half-precision vectors searched exactly.

    After `index_vectors` they are searched by way of a graph.

    Threads may share one; they take turns. Raises `StoreError` for a file that is no index,
    damaged, of a newer format, or in use for longer than a minute.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False, create: bool = True) -> None:
        self._file = SqliteFile(str(path), read_only=read_only, create=create)
        self._connection = self._file.connection
        self._words = WordIndex(self._connection)
        self._file.on_end = self._settle
        self._tables = Tables(self._file.all, "?")
        self._vectors = SqliteVectors(self._file)

    def _settle(self, done: bool) -> None:
        if done:
            self._words.settle()
        else:
            self._words.forget()
        self._vectors.settle(done)

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment."""
        return self._file.reading()

    def writing(self) -> AbstractContextManager[None]:
        """Within it, all that is written is written at its end, or nothing."""
        return self._file.writing()

    # --- settings ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The path."""
        return self._file.path

    @property
    def stems(self) -> bool:
        """Whether words of one stem are one word of the word index."""
        return self.settings().get("stems", "1") == "1"

    def settings(self) -> dict[str, str]:
        """The settings of the index; those of the tables themselves too."""
        return dict(self._file.all("SELECT name, value FROM settings"))

    def change_settings(self, settings: Mapping[str, str]) -> None:
        """Set these settings, all at once."""
        with self._file.writing():
            change_settings(self._connection, settings)

    def prepare_words(self, stems: bool) -> None:
        """Have a word index with or without stems, written anew where it was made otherwise."""
        if stems != self.stems:
            with self._file.writing():
                self._words.write_anew(stems)

    # --- documents --------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""
        rows = self._file.all("SELECT DISTINCT namespace FROM documents ORDER BY namespace")
        return [text_of(namespace) for (namespace,) in rows]

    def documents(self, scope: Scope) -> list[StoredDocument]:
        """The documents of a scope, in order of their uris."""
        which, values = _allowed(scope)
        return self._tables.stored((f"id IN ({which})", values))

    def document(self, namespace: str, uri: str) -> StoredDocument | None:
        """What is known of one document, or None."""
        rows = self._tables.stored(_named(namespace, uri))
        return rows[0] if rows else None

    def whole(self, namespace: str, uri: str) -> tuple[DocumentRow, list[ChunkRow]]:
        """A document with its text and its passages; `StoreError` where there is none."""
        with self.reading():
            found = self._tables.whole(_named(namespace, uri))
        if found is None:
            raise StoreError(
                f"{self._file.path}: it has no document {uri!r}; index.documents() lists them"
            )
        return found

    def put(self, row: DocumentRow, chunks: Sequence[ChunkRow], space: str) -> set[bytes]:
        """Put a document in the place of the one of its name: see `Store.put`."""
        with self._file.writing():
            if space:
                missing = self.missing(space, [each.digest for each in chunks])
                if missing:
                    return missing
            run = self._connection.execute
            known = run(
                "SELECT id, text FROM documents WHERE namespace = ? AND uri = ?",
                (bytes_of(row.namespace), bytes_of(row.uri)),
            ).fetchone()
            before = text_of(known[1]) if known else ""
            values = values_of(row, chunks) | {
                "namespace": bytes_of(row.namespace),
                "uri": bytes_of(row.uri),
                "text": bytes_of(row.document.text),
            }
            names = ", ".join(values)
            if known:
                key = known[0]
                run(
                    f"UPDATE documents SET ({names}) = ({marks(names.split())}) WHERE id = ?",
                    (*values.values(), key),
                )
                run("DELETE FROM labels WHERE document = ?", (key,))
            else:
                key = run(
                    f"INSERT INTO documents ({names}) VALUES ({marks(names.split())})",
                    (*values.values(),),
                ).lastrowid
            self._label(key, row.metadata)
            self._put_chunks(key, before, row.document.text, chunks)
        return set()

    def _put_chunks(
        self, document: int, before: str, text: str, chunks: Sequence[ChunkRow]
    ) -> None:
        """Have these passages of a document; those that stay keep their row and their words."""
        connection = self._connection
        rows = connection.execute(
            f"SELECT id, position, {COLUMNS} FROM chunks WHERE document = ?", (document,)
        )
        gone, moved, fresh = changed(rows, chunks)
        self._vectors.changed([row.digest for _, row in gone], [row.digest for row in chunks])
        self._words.drop(before, gone)
        connection.executemany("DELETE FROM chunks WHERE id = ?", [(key,) for key, _ in gone])
        connection.executemany(
            f"UPDATE chunks SET (position, {COLUMNS}) = (?, {marks(ChunkRow._fields)}) "
            "WHERE id = ?",
            moved,
        )
        (last,) = connection.execute(
            "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0)"
        ).fetchone()
        keyed = [(key, row) for key, (_, row) in enumerate(fresh, last + 1)]
        connection.executemany(
            f"INSERT INTO chunks (id, document, position, {COLUMNS}) "
            f"VALUES (?, ?, ?, {marks(ChunkRow._fields)})",
            [
                (key, document, position, *row)
                for (key, row), (position, _) in zip(keyed, fresh, strict=True)
            ],
        )
        self._words.add(text, keyed)

    def note_source(self, namespace: str, uri: str, source: Mapping[str, Any]) -> None:
        """Set only what is known of a document's file."""
        with self._file.writing():
            self._connection.execute(
                "UPDATE documents SET source = ? WHERE namespace = ? AND uri = ?",
                (json.dumps(source), bytes_of(namespace), bytes_of(uri)),
            )

    def change_metadata(self, namespace: str, uri: str, changes: Mapping[str, Any]) -> None:
        """Set the changes laid over a document's metadata."""
        with self._file.writing():
            rows = self._file.all(
                "SELECT id, meta FROM documents WHERE namespace = ? AND uri = ?",
                (bytes_of(namespace), bytes_of(uri)),
            )
            for key, meta in rows:
                self._connection.execute(
                    "UPDATE documents SET changes = ? WHERE id = ?", (json.dumps(changes), key)
                )
                self._connection.execute("DELETE FROM labels WHERE document = ?", (key,))
                self._label(key, merged(json.loads(meta), changes))

    def remove(self, namespace: str, uris: Collection[str]) -> None:
        """Remove documents with their passages, each all at once."""
        for uri in uris:
            with self._file.writing():
                for key, text in self._file.all(
                    "SELECT id, text FROM documents WHERE namespace = ? AND uri = ?",
                    (bytes_of(namespace), bytes_of(uri)),
                ):
                    self._put_chunks(key, text_of(text), "", ())
                    self._connection.execute("DELETE FROM documents WHERE id = ?", (key,))

    def _label(self, document: int, metadata: Mapping[str, Any]) -> None:
        self._connection.executemany(
            "INSERT INTO labels (key, value, document) VALUES (?, ?, ?)",
            [(bytes_of(key), value, document) for key, value in labels_of(metadata)],
        )

    # --- words ------------------------------------------------------------------------------

    def find_words(self, query: WordQuery, scope: Scope, limit: int) -> list[Found]:
        """The best passages by BM25, best first."""
        with self.reading():
            allowed = None if self._is_all(scope) else _allowed(scope)
            return self._words.find(query, allowed, limit)

    # --- vectors ----------------------------------------------------------------------------

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        return self._vectors.missing(space, digests)

    def put_vectors(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""
        self._vectors.put(space, digests, vectors)

    def vectors(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""
        return self._vectors.of(space, digests)

    def drop_vectors(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many."""
        return self._vectors.drop(space)

    def find_near(
        self, space: str, vector: Any, scope: Scope, limit: int, mix: float
    ) -> list[Found]:
        """The passages whose vectors have the largest cosine, best first; see `Store`."""
        with self.reading():
            documents = None
            if not self._is_all(scope):
                which, values = _allowed(scope)
                documents = [key for (key,) in self._file.all(which, values)]
            return self._vectors.nearest(space, vector, documents, limit, mix)

    def index_vectors(self, space: str = "") -> None:
        """Make a graph of the vectors of a space: searches are quick and nearly exact then.

        Unset, of the space of the index's embedder. Where there is a graph it learns the vectors
        that are new. `StoreError` where there are no vectors, `MissingExtraError` without usearch.
        """
        self._vectors.index(space or self.settings().get("embedder", ""))

    def _is_all(self, scope: Scope) -> bool:
        """Whether a scope is the whole index, so that nothing has to be filtered."""
        return not scope.where and not self._file.all(
            "SELECT 1 FROM documents WHERE namespace != ? LIMIT 1", (bytes_of(scope.namespace),)
        )

    # --- passages ---------------------------------------------------------------------------

    def uris(self, documents: Iterable[int]) -> dict[int, str]:
        """What documents are called, by their keys; those that are gone are left out."""
        with self.reading():
            wanted = parts(list(documents))
            return self._tables.uris((f"id IN ({marks(part)})", part) for part in wanted)

    def passages(self, keys: Iterable[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""
        wanted = list(keys)
        with self.reading():
            return self._tables.picked(
                wanted, [(f"c.id IN ({marks(part)})", part) for part in parts(wanted)]
            )

    def passages_of(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""
        with self.reading():
            return self._tables.between(document, first, last)

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""
        with self.reading():
            return self._tables.text(document, start, end)

    # --- the whole --------------------------------------------------------------------------

    def damage(self, space: str) -> Iterator[tuple[str, str]]:
        """What does not fit together inside, as the document's name and what it is."""
        with self.reading():
            yield from damage(self._connection, self._vectors.space(space), space, self.settings())

    def vacuum(self) -> None:
        """Give back the room of what was removed."""
        with self._file.writing():
            self._words.write_anew(self.stems)
            self._vectors.stays_tidy()
        self._file.all("VACUUM")
        self._file.all("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        self._file.close()
        self._tables.forget()
        self._vectors.forget()


def _named(namespace: str, uri: str) -> Which:
    """The document of a name, as a condition and its values."""
    return "namespace = ? AND uri = ?", (bytes_of(namespace), bytes_of(uri))


def _allowed(scope: Scope) -> tuple[str, list[Any]]:
    """The documents of a scope, as a query for their keys and its values."""
    statement = "SELECT id FROM documents WHERE namespace = ?"
    values: list[Any] = [bytes_of(scope.namespace)]
    for key, wanted in scope.where:
        statement += (
            " AND id IN (SELECT document FROM labels WHERE key = ? AND value IN "
            "(SELECT value FROM json_each(?)))"
        )
        values += [bytes_of(key), json.dumps(wanted)]
    return statement, values
