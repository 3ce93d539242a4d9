"""PostgresStore: an index in a schema of a PostgreSQL database, its vectors by pgvector."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from spanwise.errors import StoreError
from spanwise.index.postgres_damage import damage
from spanwise.index.postgres_schema import (
    label_digest,
    name_digest,
    read_settings,
    write_settings,
)
from spanwise.index.postgres_session import PostgresSession
from spanwise.index.postgres_vectors import VectorTable
from spanwise.index.postgres_words import WordIndex
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
from spanwise.index.tables import COLUMNS, Tables, Which, changed
from spanwise.index.texts import bytes_of, text_of

__all__ = ["PostgresStore"]


class PostgresStore:
    """An index in a schema of a PostgreSQL database with pgvector. Needs ``pgvector``.

    - ``conninfo``: how the database is reached, as psycopg and libpq read it:
      ``host=localhost dbname=docs`` or ``postgresql://...``. A session of its own is kept, so a
      pool has to lend one for all of it.
    - ``schema``: where the tables are, made where there is none; one index a schema.
    - ``read_only``: nothing is written, not even by another program's mistake.

    Words are scored as in an `SqliteStore`, vectors are searched exactly, or by HNSW after
    `index_vectors`. Processes may share a schema, and threads a store: they take turns to write.
    Raises `StoreError` for a database that is not reached, a schema that is no index, damaged, of
    a newer format, or in use for longer than a minute; `MissingExtraError` without psycopg.
    """

    def __init__(self, conninfo: str, *, schema: str = "spanwise", read_only: bool = False) -> None:
        self._session = PostgresSession(conninfo, schema, read_only=read_only)
        self._words = WordIndex(self._session.connection)
        self._vectors = VectorTable(self._session)
        self._tables = Tables(self._session.all, "%s")

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment."""
        return self._session.reading()

    def writing(self) -> AbstractContextManager[None]:
        """Within it, all that is written is written at its end, or nothing."""
        return self._session.writing()

    # --- settings ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The database and the schema."""
        return self._session.name

    @property
    def stems(self) -> bool:
        """Whether words of one stem are one word of the word index."""
        with self.reading():
            return self._words.stems

    def settings(self) -> dict[str, str]:
        """The settings of the index; those of the tables themselves too."""
        with self.reading():
            return read_settings(self._session.connection)

    def change_settings(self, settings: Mapping[str, str]) -> None:
        """Set these settings, all at once."""
        with self._session.writing():
            write_settings(self._session.connection, settings)

    def prepare_words(self, stems: bool) -> None:
        """Have a word index with or without stems, written anew where it was made otherwise."""
        if stems != self.stems:
            with self._session.writing():
                self._words.write_anew(stems)

    # --- documents --------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""
        rows = self._session.all("SELECT DISTINCT namespace FROM documents ORDER BY namespace")
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
                f"{self.name}: it has no document {uri!r}; index.documents() lists them"
            )
        return found

    def put(self, row: DocumentRow, chunks: Sequence[ChunkRow], space: str) -> set[bytes]:
        """Put a document in the place of the one of its name: see `Store.put`."""
        with self._session.writing():
            if space:
                missing = self.missing(space, [each.digest for each in chunks])
                if missing:
                    return missing
            values = _document_values(row, chunks)
            names = ", ".join(values)
            marks = ", ".join(["%s"] * len(values))
            ((key,),) = self._session.all(
                f"INSERT INTO documents ({names}) VALUES ({marks}) "
                f"ON CONFLICT (name) DO UPDATE SET ({names}) = ({marks}) RETURNING id",
                [*values.values(), *values.values()],
            )
            self._label(key, row.metadata)
            self._put_chunks(key, row.document.text, chunks)
            self._count_in_time()
        return set()

    def _count_in_time(self) -> None:
        """Tell the server how large the tables are, when they have doubled.

        It finds out by itself within a minute or so, and plans searches badly until then.
        """
        if self._session.run(
            "UPDATE state SET analyzed = passages WHERE passages > 2 * analyzed + 50"
        ):
            self._session.run(f"ANALYZE {_TABLES}")

    def _put_chunks(self, document: int, text: str, chunks: Sequence[ChunkRow]) -> None:
        """Have these passages of a document; those that stay keep their row and their words."""
        rows = self._session.all(
            f"SELECT id, position, {COLUMNS} FROM chunks WHERE document = %s", (document,)
        )
        gone, moved, fresh = changed(rows, chunks)
        if gone:
            keys = [key for key, _ in gone]
            self._words.drop(keys)
            self._session.run("DELETE FROM chunks WHERE id = ANY(%s::bigint[])", (keys,))
        made = self._session.all(
            "SELECT nextval(pg_get_serial_sequence('chunks', 'id')) FROM generate_series(1, %s)",
            (len(fresh),),
        )
        keyed = [(key, row) for (key,), (_, row) in zip(made, fresh, strict=True)]
        counts = self._words.add(text, keyed) if keyed else []
        with self._session.connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE chunks SET (position, {COLUMNS}) = (%s, {_MARKS}) WHERE id = %s", moved
            )
            cursor.executemany(
                f"INSERT INTO chunks (id, document, position, words, {COLUMNS}) "
                f"VALUES (%s, %s, %s, %s, {_MARKS})",
                [
                    (key, document, position, count, *row)
                    for (key, row), (position, _), count in zip(keyed, fresh, counts, strict=True)
                ],
            )

    def note_source(self, namespace: str, uri: str, source: Mapping[str, Any]) -> None:
        """Set only what is known of a document's file."""
        with self._session.writing():
            self._session.run(
                "UPDATE documents SET source = %s WHERE name = %s",
                (json.dumps(dict(source)), name_digest(namespace, uri)),
            )

    def change_metadata(self, namespace: str, uri: str, changes: Mapping[str, Any]) -> None:
        """Set the changes laid over a document's metadata."""
        with self._session.writing():
            for key, meta in self._session.all(
                "UPDATE documents SET changes = %s WHERE name = %s RETURNING id, meta",
                (json.dumps(dict(changes)), name_digest(namespace, uri)),
            ):
                self._label(key, merged(json.loads(meta), changes))

    def remove(self, namespace: str, uris: Collection[str]) -> None:
        """Remove documents with their passages, each all at once."""
        for uri in uris:
            with self._session.writing():
                for (key,) in self._session.all(
                    "SELECT id FROM documents WHERE name = %s", (name_digest(namespace, uri),)
                ):
                    self._put_chunks(key, "", ())
                    self._session.run("DELETE FROM documents WHERE id = %s", (key,))

    def _label(self, document: int, metadata: Mapping[str, Any]) -> None:
        """Have filters see this metadata of a document."""
        self._session.run("DELETE FROM labels WHERE document = %s", (document,))
        self._session.run(
            "INSERT INTO labels (label, document) SELECT unnest(%s::bytea[]), %s",
            ([label_digest(key, value) for key, value in labels_of(metadata)], document),
        )

    # --- words ------------------------------------------------------------------------------

    def find_words(self, query: WordQuery, scope: Scope, limit: int) -> list[Found]:
        """The best passages by BM25, best first; those of equal score in order of their keys."""
        with self.reading():
            return self._words.find(query, _allowed(scope), limit)

    # --- vectors ----------------------------------------------------------------------------

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        return self._vectors.missing(space, digests)

    def put_vectors(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""
        self._vectors.put(space, digests, vectors)

    def vectors(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""
        return self._vectors.read(space, digests)

    def drop_vectors(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many."""
        return self._vectors.drop(space)

    def find_near(
        self, space: str, vector: Any, scope: Scope, limit: int, mix: float
    ) -> list[Found]:
        """The passages whose vectors have the largest cosine, best first; see `Store`.

        Cost: every vector of the scope is compared, on the server; see `index_vectors`.
        """
        return self._vectors.nearest(space, vector, _allowed(scope), limit, mix)

    def index_vectors(self, space: str = "") -> None:
        """Make an HNSW index of the vectors of a space: searches are quick and nearly exact then.

        Unset, of the space of the index's embedder. A search that mixes in neighbours stays
        exact. `StoreError` where there are no vectors, or some of more than 4,000 numbers.
        """
        self._vectors.index(space or self.settings().get("embedder", ""))

    # --- passages ---------------------------------------------------------------------------

    def uris(self, documents: Iterable[int]) -> dict[int, str]:
        """What documents are called, by their keys; those that are gone are left out."""
        with self.reading():
            return self._tables.uris([("id = ANY(%s::bigint[])", (list(documents),))])

    def passages(self, keys: Iterable[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""
        wanted = list(keys)
        with self.reading():
            return self._tables.picked(wanted, [("c.id = ANY(%s::bigint[])", (wanted,))])

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
            number = self._vectors.space(space)
            yield from damage(self._session.connection, number, space, self.settings())

    def vacuum(self) -> None:
        """Give back the room of what was removed, for what is written next."""
        with self._session.writing():
            self._words.forget_unused()
        self._session.run(f"VACUUM (ANALYZE) {_TABLES}")

    def close(self) -> None:
        """Close the connection; closing twice does nothing."""
        self._session.close()
        self._tables.forget()


_TABLES = "documents, labels, chunks, postings, vocabulary, vectors"

_MARKS = ", ".join(["%s"] * len(ChunkRow._fields))


def _document_values(row: DocumentRow, chunks: Sequence[ChunkRow]) -> dict[str, Any]:
    values = values_of(row, chunks)
    encoded = ("namespace", "uri", "media_type", "recipe")
    return values | {
        "name": name_digest(row.namespace, row.uri),
        **{name: bytes_of(values[name]) for name in encoded},
        "text": bytes_of(row.document.text),
    }


def _named(namespace: str, uri: str) -> Which:
    """The document of a name, as a condition and its values."""
    return "name = %s", (name_digest(namespace, uri),)


def _allowed(scope: Scope) -> tuple[str, list[Any]]:
    """The documents of a scope, as a query for their keys and its values."""
    statement = "SELECT id FROM documents WHERE namespace = %s"
    values: list[Any] = [bytes_of(scope.namespace)]
    for key, wanted in scope.where:
        statement += (
            " AND id IN (SELECT labels.document FROM labels WHERE label = ANY(%s::bytea[]))"
        )
        values.append([label_digest(key, value) for value in wanted])
    return statement, values
