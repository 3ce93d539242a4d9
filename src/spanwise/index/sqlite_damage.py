"""What does not fit together inside an SQLite file."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterator
from hashlib import sha256
from itertools import zip_longest
from math import isfinite
from zlib import crc32

from spanwise.chunks import join_context
from spanwise.index.layout import document_of
from spanwise.index.rows import (
    ChunkRow,
    checksum_of,
    digest_of,
    labels_of,
    merged,
    recipe_of,
    space_of,
)
from spanwise.index.sqlite_schema import COLUMNS, bytes_of, make_words, text_of
from spanwise.index.sqlite_words import WordIndex

__all__ = ["damage"]

# Where each word is; in a table of its own, which an index that is only read can have too.
_PLACES = "CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance)"


def damage(
    connection: sqlite3.Connection, space: int, fingerprint: str, stems: bool
) -> Iterator[tuple[str, str]]:
    """Each fault: the name of the document it is in (empty for the file) and what it is.

    Cost: every text is read, hashed and indexed again, in memory.
    """
    for (said,) in connection.execute("PRAGMA integrity_check(20)"):
        if said != "ok":
            yield "", f"SQLite says: {said}"
    with_vectors = _digests(connection, space)
    # A document of other settings waits to be cut anew, and need not have vectors until then.
    settings = dict(connection.execute("SELECT name, value FROM settings"))
    recorded = recipe_of(settings) if settings.get("splitter") else ""
    fresh = sqlite3.connect(":memory:")
    try:
        make_words(fresh, stems)
        words = WordIndex(fresh)
        for key, uri, recipe, checksum, text, *rest in connection.execute(
            "SELECT id, uri, recipe, checksum, text, content_hash, meta, changes, source, "
            "media_type, layout, characters FROM documents ORDER BY namespace, uri"
        ).fetchall():
            name = text_of(uri)
            for fault in _of_document(connection, key, text, rest):
                yield name, fault
            rows = connection.execute(
                f"SELECT id, position, {COLUMNS} FROM chunks WHERE document = ? ORDER BY position",
                (key,),
            ).fetchall()
            chunks = [(each, ChunkRow(*row)) for each, _, *row in rows]
            whole = text.decode("utf-8", "replace") if _decoded(text) is None else text_of(text)
            faults = list(_of_chunks(whole, [row[1] for row in rows], chunks))
            meta, media_type, layout = rest[1], rest[4], rest[5]
            written = checksum_of(media_type, recipe, meta, layout, [row for _, row in chunks])
            if written != checksum and not faults:
                faults.append("what is stored beside its text is not what was written")
            for fault in faults:
                yield name, fault
            if space_of(recipe) == fingerprint != "" and recorded in ("", recipe):
                lost = sum(row.digest not in with_vectors for _, row in chunks)
                if lost:
                    yield name, f"{lost} of its passages have no vector"
            words.add(whole, [each for each in chunks if _can_be_read(each[1])])
            words.settle()
        yield from _of_words(connection, fresh)
    finally:
        fresh.close()
    yield from _of_leftovers(connection)


def _decoded(text: bytes) -> str | None:
    try:
        return text_of(text)
    except UnicodeDecodeError:
        return None


def _of_document(
    connection: sqlite3.Connection, key: int, text: bytes, rest: list[object]
) -> Iterator[str]:
    content, meta, changes, source, media_type, layout, characters = rest
    whole = _decoded(text)
    if sha256(text).hexdigest() != content:
        yield "its text is not the one that was stored"
    elif whole is None or len(whole) != characters:
        yield "its text is not as long as it was"
    try:
        own, laid = json.loads(str(meta)), json.loads(str(changes))
        dict(json.loads(str(source)))
        document_of(whole or "", "", str(media_type), own, layout)  # type: ignore[arg-type]
    except Exception as fault:  # whatever damage does to it
        yield f"what is stored beside its text cannot be read ({type(fault).__name__}: {fault})"
        return
    kept = connection.execute("SELECT key, value FROM labels WHERE document = ?", (key,))
    wanted = {(bytes_of(name), value) for name, value in labels_of(merged(own, laid))}
    if {(bytes(name), value) for name, value in kept} != wanted:
        yield "filters do not see the metadata that it has"


def _of_chunks(
    text: str, positions: list[int], chunks: list[tuple[int, ChunkRow]]
) -> Iterator[str]:
    if positions != list(range(len(chunks))):
        yield "its passages are not numbered one by one"
    last_start, last_end = -1, 0
    for number, (_, row) in enumerate(chunks):
        if not (last_start < row.start <= row.body < row.end <= len(text) and row.body >= last_end):
            yield f"passage {number}, [{row.start}, {row.end}), is outside the text or out of order"
            continue
        last_start, last_end = row.start, row.end
        try:
            whole = join_context(row.context, text[row.start : row.end])
        except ValueError:
            yield f"what is stored of passage {number} cannot be read"
            continue
        if digest_of(whole) != row.digest:
            yield f"passage {number} is not the text that was embedded"


def _can_be_read(row: ChunkRow) -> bool:
    try:
        return isinstance(row.context, str)
    except Exception:  # whatever damage does to it
        return False


def _digests(connection: sqlite3.Connection, space: int) -> set[bytes]:
    """The digests of a space that have a sound vector."""
    sound: set[bytes] = set()
    length = 0
    for digest, data, checksum in connection.execute(
        "SELECT digest, data, checksum FROM vectors WHERE space = ? ORDER BY id", (space,)
    ):
        length = length or len(data)
        if crc32(data) == checksum and len(data) == length and len(data) % 2 == 0:
            numbers = struct.unpack(f"<{len(data) // 2}e", data)
            size = sum(number * number for number in numbers)
            if isfinite(size) and (size == 0 or 0.9 < size < 1.1):
                sound.add(bytes(digest))
    return sound


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
    sizes = "SELECT id, sz FROM words_docsize"
    if dict(connection.execute(sizes)) != dict(fresh.execute(sizes)):
        yield "", "the word index does not hold the passages that there are"
    try:
        if any(one != other for one, other in zip_longest(_places(connection), _places(fresh))):
            yield "", "the word index does not hold the words that there are"
        written = "SELECT term FROM vocabulary_terms"
        if not set(fresh.execute(written)) <= set(connection.execute(written)):
            yield "", "the vocabulary lacks words that there are"
    except sqlite3.DatabaseError as fault:
        yield "", f"the word index is damaged: {fault}"


def _places(connection: sqlite3.Connection) -> sqlite3.Cursor:
    """Where each word is, in order."""
    connection.execute("DROP TABLE IF EXISTS temp.places")
    connection.execute(_PLACES)
    return connection.execute("SELECT term, doc, col, offset FROM temp.places")


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
