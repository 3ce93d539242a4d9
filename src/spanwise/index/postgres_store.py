"""PostgresStore: an index in a schema of a PostgreSQL database, its vectors by pgvector."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from spanwise.errors import StoreError
from spanwise.index.layout import document_of, pack_layout
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
from spanwise.index.rows import (
    ChunkRow,
    DocumentRow,
    Found,
    Passage,
    Scope,
    StoredDocument,
    checksum_of,
    chunk_of,
    labels_of,
    merged,
    plain,
)

__all__ = ["PostgresStore"]

# So many code points of texts are kept decoded.
_KEPT_TEXT = 1 << 23


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
        self._texts: OrderedDict[tuple[int, str], str] = OrderedDict()

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
        return [_text(namespace) for (namespace,) in rows]

    def documents(self, scope: Scope) -> list[StoredDocument]:
        """The documents of a scope, in order of their uris."""
        which, values = _allowed(scope)
        rows = self._session.all(
            f"SELECT {_STORED} FROM documents AS d WHERE id IN ({which}) ORDER BY uri", values
        )
        return [_stored(row) for row in rows]

    def document(self, namespace: str, uri: str) -> StoredDocument | None:
        """What is known of one document, or None."""
        rows = self._session.all(
            f"SELECT {_STORED} FROM documents AS d WHERE name = %s", (name_digest(namespace, uri),)
        )
        return _stored(rows[0]) if rows else None

    def whole(self, namespace: str, uri: str) -> tuple[DocumentRow, list[ChunkRow]]:
        """A document with its text and its passages; `StoreError` where there is none."""
        with self.reading():
            rows = self._session.all(
                "SELECT id, media_type, recipe, meta, changes, source, layout, text "
                "FROM documents WHERE name = %s",
                (name_digest(namespace, uri),),
            )
            if not rows:
                raise StoreError(
                    f"{self.name}: it has no document {uri!r}; index.documents() lists them"
                )
            key, media_type, recipe, meta, changes, source, layout, text = rows[0]
            chunks = self._session.all(
                f"SELECT {_COLUMNS} FROM chunks WHERE document = %s ORDER BY position", (key,)
            )
        document = document_of(_text(text), uri, _text(media_type), json.loads(meta), layout)
        row = DocumentRow(
            namespace=namespace,
            document=document,
            recipe=_text(recipe),
            source=json.loads(source),
            changes=json.loads(changes),
        )
        return row, [ChunkRow(*each) for each in chunks]

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
        run = self._session.run
        old = {}
        for key, position, *columns in self._session.all(
            f"SELECT id, position, {_COLUMNS} FROM chunks WHERE document = %s", (document,)
        ):
            row = ChunkRow(*columns)
            old[row.name, row.digest] = (key, position, row)
        fresh, moved = [], []
        for position, row in enumerate(chunks):
            kept = old.pop((row.name, row.digest), None)
            if kept is None:
                fresh.append((position, row))
            elif kept[1:] != (position, row):
                moved.append((position, *row, kept[0]))
        gone = [key for key, *_ in old.values()]
        if gone:
            self._words.drop(gone)
            run("DELETE FROM chunks WHERE id = ANY(%s::bigint[])", (gone,))
        keys = self._session.all(
            "SELECT nextval(pg_get_serial_sequence('chunks', 'id')) FROM generate_series(1, %s)",
            (len(fresh),),
        )
        keyed = [(key, row) for (key,), (_, row) in zip(keys, fresh, strict=True)]
        counts = self._words.add(text, keyed) if keyed else []
        with self._session.connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE chunks SET (position, {_COLUMNS}) = (%s, {_MARKS}) WHERE id = %s", moved
            )
            cursor.executemany(
                f"INSERT INTO chunks (id, document, position, words, {_COLUMNS}) "
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

    def passages(self, keys: Iterable[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""
        wanted = list(keys)
        with self.reading():
            found = {
                passage.key: passage
                for passage in self._passages("c.id = ANY(%s::bigint[])", (wanted,))
            }
        return [found[key] for key in wanted if key in found]

    def passages_of(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""
        with self.reading():
            return list(
                self._passages(
                    "c.document = %s AND c.position BETWEEN %s AND %s ORDER BY c.position",
                    (document, first, last),
                )
            )

    def _passages(self, which: str, values: Sequence[Any]) -> Iterator[Passage]:
        columns = ", ".join(f"c.{name}" for name in _COLUMNS.split(", "))
        metadata: dict[int, dict[str, Any]] = {}
        for row in self._session.all(
            "SELECT c.id, c.document, c.position, d.namespace, d.uri, d.content_hash, d.meta, "
            f"d.changes, {columns} FROM chunks AS c JOIN documents AS d ON d.id = c.document "
            f"WHERE {which}",
            values,
        ):
            key, document, position, namespace, uri, content, meta, changes, *own = row
            place = ChunkRow(*own)
            text = self._text(document, content)[place.start : place.end]
            if document not in metadata:
                metadata[document] = merged(json.loads(meta), json.loads(changes))
            yield Passage(
                key,
                document,
                _text(namespace),
                place.digest,
                chunk_of(place, text, _text(uri), position, metadata[document]),
            )

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""
        with self.reading():
            rows = self._session.all(
                "SELECT content_hash FROM documents WHERE id = %s", (document,)
            )
            return self._text(document, rows[0][0])[start:end] if rows else ""

    def _text(self, document: int, content_hash: str) -> str:
        """The text of a document; those asked for last are kept."""
        name = (document, content_hash)
        if name not in self._texts:
            ((data,),) = self._session.all("SELECT text FROM documents WHERE id = %s", (document,))
            self._texts[name] = _text(data)
            while len(self._texts) > 1 and sum(map(len, self._texts.values())) > _KEPT_TEXT:
                self._texts.popitem(last=False)
        self._texts.move_to_end(name)
        return self._texts[name]

    # --- the whole --------------------------------------------------------------------------

    def damage(self, space: str) -> Iterator[tuple[str, str]]:
        """What does not fit together inside, as the document's name and what it is."""
        with self.reading():
            number = self._vectors.space(space)
            yield from damage(self._session.connection, number, space, self.stems)

    def vacuum(self) -> None:
        """Give back the room of what was removed, for what is written next."""
        with self._session.writing():
            self._words.forget_unused()
        self._session.run(f"VACUUM (ANALYZE) {_TABLES}")

    def close(self) -> None:
        """Close the connection; closing twice does nothing."""
        self._session.close()
        self._texts.clear()


_TABLES = "documents, labels, chunks, postings, vocabulary, vectors"

# The columns of a passage, in the order of `ChunkRow`, and of what is told of a document.
_COLUMNS = 'name, start, body, "end", boundary, digest, about'
_MARKS = ", ".join(["%s"] * len(ChunkRow._fields))
_STORED = (
    "namespace, uri, media_type, characters, (SELECT count(*) FROM chunks WHERE document = d.id), "
    "content_hash, meta, changes, recipe, source"
)


def _document_values(row: DocumentRow, chunks: Sequence[ChunkRow]) -> dict[str, Any]:
    document = row.document
    meta, layout = json.dumps(plain(document.meta)), pack_layout(document)
    return {
        "name": name_digest(row.namespace, row.uri),
        "namespace": _bytes(row.namespace),
        "uri": _bytes(row.uri),
        "media_type": _bytes(document.media_type),
        "recipe": _bytes(row.recipe),
        "characters": len(document.text),
        "content_hash": document.content_hash,
        "meta": meta,
        "changes": json.dumps(dict(row.changes)),
        "source": json.dumps(dict(row.source)),
        "layout": layout,
        "checksum": checksum_of(document.media_type, row.recipe, meta, layout, chunks),
        "text": _bytes(document.text),
    }


def _stored(row: Sequence[Any]) -> StoredDocument:
    namespace, uri, media_type, characters, chunks, content, meta, changes, recipe, source = row
    return StoredDocument(
        namespace=_text(namespace),
        uri=_text(uri),
        media_type=_text(media_type),
        characters=characters,
        chunks=chunks,
        content_hash=content,
        meta=json.loads(meta),
        changes=json.loads(changes),
        recipe=_text(recipe),
        source=json.loads(source),
    )


def _allowed(scope: Scope) -> tuple[str, list[Any]]:
    """The documents of a scope, as a query for their keys and its values."""
    statement = "SELECT id FROM documents WHERE namespace = %s"
    values: list[Any] = [_bytes(scope.namespace)]
    for key, wanted in scope.where:
        statement += (
            " AND id IN (SELECT labels.document FROM labels WHERE label = ANY(%s::bytea[]))"
        )
        values.append([label_digest(key, value) for value in wanted])
    return statement, values


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
