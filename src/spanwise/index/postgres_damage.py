"""What does not fit together inside a schema of PostgreSQL."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from hashlib import sha256
from math import isfinite
from typing import Any
from zlib import crc32

from spanwise.chunks import join_context
from spanwise.index.layout import document_of
from spanwise.index.postgres_schema import label_digest
from spanwise.index.postgres_words import postings_of, terms_of, words_of
from spanwise.index.rows import ChunkRow, checksum_of, digest_of, labels_of, merged, space_of

__all__ = ["damage"]

_COLUMNS = 'id, position, words, name, start, body, "end", boundary, digest, about'


def damage(connection: Any, space: int, fingerprint: str, stems: bool) -> Iterator[tuple[str, str]]:
    """Each fault: the name of the document it is in (empty for the schema) and what it is.

    Cost: every text is read, hashed and parted into words again.
    """

    def read(statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = connection.execute(statement, values, binary=True).fetchall()
        return rows

    sound = _digests(read, space)
    passages = counted = 0
    surface: set[bytes] = set()
    for (key,) in read("SELECT id FROM documents ORDER BY namespace, uri"):
        ((uri, recipe, checksum, text, *rest),) = read(
            "SELECT uri, recipe, checksum, text, content_hash, meta, changes, source, media_type, "
            "layout, characters "
            "FROM documents WHERE id = %s",
            key,
        )
        name = _decoded(uri) or uri.decode("utf-8", "replace")
        kept = {label for (label,) in read("SELECT label FROM labels WHERE document = %s", key)}
        rows = read(f"SELECT {_COLUMNS} FROM chunks WHERE document = %s ORDER BY position", key)
        chunks = [ChunkRow(*row[3:]) for row in rows]
        decoded = _decoded(text)
        whole = text.decode("utf-8", "replace") if decoded is None else decoded
        for fault in _of_document(text, decoded, kept, rest):
            yield name, fault
        faults = list(_of_chunks(whole, [row[1] for row in rows], chunks))
        meta, media_type, layout = rest[1], rest[4].decode("utf-8", "replace"), rest[5]
        made_by = recipe.decode("utf-8", "replace")
        if checksum_of(media_type, made_by, meta, layout, chunks) != checksum and not faults:
            faults.append("what is stored beside its text is not what was written")
        if fingerprint and space_of(made_by) == fingerprint:
            lost = sum(row.digest not in sound for row in chunks)
            if lost:
                faults.append(f"{lost} of its passages have no vector")
        for fault in faults:
            yield name, fault
        keyed = [(row[0], row[2], chunk) for row, chunk in zip(rows, chunks, strict=True)]
        for fault in _of_words(read, whole, keyed, surface):
            yield name, fault
        passages += len(rows)
        counted += sum(row[2] for row in rows)
    if read("SELECT passages, words FROM state") != [(passages, counted)]:
        yield "", "the word index does not count the passages and words that there are"
    vocabulary = dict(read("SELECT word, term FROM vocabulary"))
    written = sorted(surface)
    if [vocabulary.get(word) for word in written] != list(terms_of(written, stems)):
        yield "", "the vocabulary lacks words that there are"
    for table, column, owner in (
        ("chunks", "document", "documents"),
        ("labels", "document", "documents"),
        ("postings", "chunk", "chunks"),
    ):
        ((count,),) = read(
            f"SELECT count(*) FROM {table} WHERE NOT EXISTS "
            f"(SELECT 1 FROM {owner} WHERE {owner}.id = {table}.{column})"
        )
        if count:
            yield "", f"{count} rows of {table} belong to no {owner[:-1]}"


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None


def _of_document(
    text: bytes, whole: str | None, kept: set[bytes], rest: Sequence[Any]
) -> Iterator[str]:
    content, meta, changes, source, media_type, layout, characters = rest
    if sha256(text).hexdigest() != content:
        yield "its text is not the one that was stored"
    elif whole is None or len(whole) != characters:
        yield "its text is not as long as it was"
    try:
        own, laid = json.loads(meta), json.loads(changes)
        dict(json.loads(source))
        document_of(whole or "", "", media_type.decode("utf-8", "surrogatepass"), own, layout)
        wanted = {label_digest(key, value) for key, value in labels_of(merged(own, laid))}
    except Exception as fault:  # whatever damage does to it
        yield f"what is stored beside its text cannot be read ({type(fault).__name__}: {fault})"
        return
    if kept != wanted:
        yield "filters do not see the metadata that it has"


def _of_chunks(text: str, positions: list[int], chunks: list[ChunkRow]) -> Iterator[str]:
    if positions != list(range(len(chunks))):
        yield "its passages are not numbered one by one"
    last_start, last_end = -1, 0
    for number, row in enumerate(chunks):
        if not (last_start < row.start <= row.body < row.end <= len(text) and row.body >= last_end):
            yield f"passage {number}, [{row.start}, {row.end}), is outside the text or out of order"
            continue
        last_start, last_end = row.start, row.end
        try:
            whole = join_context(row.context, text[row.start : row.end])
        except Exception:  # whatever damage does to it
            yield f"what is stored of passage {number} cannot be read"
            continue
        if digest_of(whole) != row.digest:
            yield f"passage {number} is not the text that was embedded"


def _of_words(
    read: Any, text: str, chunks: list[tuple[int, int, ChunkRow]], surface: set[bytes]
) -> Iterator[str]:
    """Where the postings of a document differ from those that are made now."""
    wanted = []
    for key, counted, row in chunks:
        try:
            context, own = words_of(text, row)
        except Exception:  # it was told before
            continue
        surface.update(context, own)
        if counted != len(context) + len(own):
            yield "the word index does not have the length of a passage"
        wanted += [(key, *posting) for posting in postings_of(context, own)]
    found = read(
        "SELECT chunk, word, in_context, in_text, places FROM postings "
        "WHERE chunk = ANY(%s::bigint[])",
        [key for key, _, _ in chunks],
    )
    if sorted(found) != sorted(wanted):
        yield "the word index does not hold the words that there are"


def _digests(read: Any, space: int) -> set[bytes]:
    """The digests of a space that have a sound vector."""
    sound: set[bytes] = set()
    length = 0
    for digest, data, checksum in read(
        "SELECT digest, halfvec_send(data), checksum FROM vectors WHERE space = %s ORDER BY digest",
        space,
    ):
        length = length or len(data)
        numbers = struct.unpack_from(f">{(len(data) - 4) // 2}e", data, 4)
        if len(data) == length and crc32(struct.pack(f"<{len(numbers)}e", *numbers)) == checksum:
            size = sum(number * number for number in numbers)
            if isfinite(size) and (size == 0 or 0.9 < size < 1.1):
                sound.add(digest)
    return sound
