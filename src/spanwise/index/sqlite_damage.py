"""What does not fit together inside an SQLite file."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any
from zlib import crc32

from spanwise.index.damage import (
    can_be_read,
    document_faults,
    passage_faults,
    sound_digests,
    vector_faults,
)
from spanwise.index.records import KEPT
from spanwise.index.rows import ChunkRow, labels_of
from spanwise.index.sqlite_schema import make_words
from spanwise.index.sqlite_words import WordIndex
from spanwise.index.tables import COLUMNS
from spanwise.index.texts import bytes_of, legible

__all__ = ["damage"]

# Where each word is; in a table of its own, which an index that is only read can have too.
_PLACES = "CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance)"


def damage(
    connection: sqlite3.Connection, number: int, space: str, settings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each fault: the name of the document it is in (empty for the file) and what it is.

    Cost: every text is read, hashed and indexed again, in memory.
    """
    for (said,) in connection.execute("PRAGMA integrity_check(20)"):
        if said != "ok":
            yield "", f"SQLite says: {said}"
    sound = sound_digests(_vectors(connection, number))
    fresh = sqlite3.connect(":memory:")
    try:
        make_words(fresh, settings.get("stems", "1") == "1")
        words = WordIndex(fresh)
        for key, data, *values in connection.execute(
            f"SELECT id, text, {', '.join(KEPT)} FROM documents ORDER BY namespace, uri"
        ).fetchall():
            said = dict(zip(KEPT, values, strict=True))
            name, recipe, text = (legible(each) for each in (said["uri"], said["recipe"], data))
            rows = connection.execute(
                f"SELECT id, position, {COLUMNS} FROM chunks WHERE document = ? ORDER BY position",
                (key,),
            ).fetchall()
            positions = [row[1] for row in rows]
            chunks = [ChunkRow(*row[2:]) for row in rows]
            labels = connection.execute("SELECT key, value FROM labels WHERE document = ?", (key,))
            is_seen = partial(_is_seen, {(bytes(label), value) for label, value in labels})
            for fault in (
                *document_faults(said, text, data, legible, is_seen),
                *passage_faults(said, text, legible, positions, chunks),
                *vector_faults(recipe, space, settings, chunks, sound),
            ):
                yield name, fault
            keyed = zip((row[0] for row in rows), chunks, strict=True)
            words.add(text, [(each, row) for each, row in keyed if can_be_read(row)])
            words.settle()
        yield from _of_words(connection, fresh)
    finally:
        fresh.close()
    yield from _of_leftovers(connection)
    for data, checksum in connection.execute("SELECT data, checksum FROM graphs"):
        if crc32(data) != checksum:
            yield "", "the graph of vectors is damaged; index_vectors() makes it anew"


def _is_seen(labels: set[tuple[bytes, str]], metadata: Mapping[str, Any]) -> bool:
    return labels == {(bytes_of(key), value) for key, value in labels_of(metadata)}


def _vectors(
    connection: sqlite3.Connection, space: int
) -> Iterator[tuple[bytes, Sequence[float], int]]:
    for digest, data, checksum in connection.execute(
        "SELECT digest, data, checksum FROM vectors WHERE space = ? AND length(data) % 2 = 0 "
        "ORDER BY id",
        (space,),
    ):
        yield bytes(digest), struct.unpack(f"<{len(data) // 2}e", data), checksum


def _of_words(
    connection: sqlite3.Connection, fresh: sqlite3.Connection
) -> Iterator[tuple[str, str]]:
    """Where the word index differs from one that is made now."""
    try:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    except sqlite3.OperationalError as fault:
        # It needs the right to write, which a reader has not, and another process may hold.
        if not any(word in str(fault) for word in ("readonly", "locked", "busy")):
            yield "", f"the word index is damaged: {fault}"
    except sqlite3.DatabaseError as fault:
        yield "", f"the word index is damaged: {fault}"
    # The record of averages, without which no score can be told.
    if connection.execute("SELECT 1 FROM words_data WHERE id = 1").fetchone() is None:
        yield "", "the word index does not hold how many words there are"
    sizes = "SELECT id, sz FROM words_docsize"
    if dict(connection.execute(sizes)) != dict(fresh.execute(sizes)):
        yield "", "the word index does not hold the passages that there are"
    try:
        if any(one != other for one, other in zip_longest(_places(connection), _places(fresh))):
            yield "", "the word index does not hold the words that there are"
        written = "SELECT CAST(term AS BLOB) FROM vocabulary_terms"
        wanted, held = set(fresh.execute(written)), set(connection.execute(written))
        if wanted - held:
            yield "", "the vocabulary lacks words that there are"
        if held - wanted:
            yield "", "the vocabulary holds words that are gone"
    except sqlite3.DatabaseError as fault:
        yield "", f"the word index is damaged: {fault}"


def _places(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Where each word is, in order; a stem, or a word of 32 KiB, may end inside a character."""
    connection.execute("DROP TABLE IF EXISTS temp.places")
    connection.execute(_PLACES)
    return connection.execute("SELECT CAST(term AS BLOB), doc, col, offset FROM temp.places")


def _of_leftovers(connection: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for table in ("chunks", "labels"):
        (count,) = connection.execute(
            f"SELECT count(*) FROM {table} WHERE document NOT IN (SELECT id FROM documents)"
        ).fetchone()
        if count:
            yield "", f"{count} rows of {table} belong to no document"
    (count,) = connection.execute("SELECT count(*) FROM state").fetchone()
    if count != 1:
        yield "", "it cannot say when it was changed last"
