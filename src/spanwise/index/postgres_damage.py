"""What does not fit together inside a schema of PostgreSQL."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from spanwise.index.damage import (
    can_be_read,
    document_faults,
    passage_faults,
    sound_digests,
    vector_faults,
)
from spanwise.index.postgres_schema import label_digest
from spanwise.index.postgres_words import postings_of, terms_of, words_of
from spanwise.index.records import KEPT
from spanwise.index.rows import ChunkRow, labels_of
from spanwise.index.tables import COLUMNS
from spanwise.index.texts import legible

__all__ = ["damage"]


def damage(
    connection: Any, number: int, space: str, settings: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each fault: the name of the document it is in (empty for the schema) and what it is.

    Cost: every text is read, hashed and parted into words again.
    """

    def read(statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = connection.execute(statement, values, binary=True).fetchall()
        return rows

    sound = sound_digests(_vectors(read, number))
    passages = counted = 0
    surface: set[bytes] = set()
    for (key,) in read("SELECT id FROM documents ORDER BY namespace, uri"):
        ((data, *values),) = read(
            f"SELECT text, {', '.join(KEPT)} FROM documents WHERE id = %s", key
        )
        said = dict(zip(KEPT, values, strict=True))
        name, recipe, text = (legible(each) for each in (said["uri"], said["recipe"], data))
        rows = read(
            f"SELECT id, words, position, {COLUMNS} FROM chunks WHERE document = %s "
            "ORDER BY position",
            key,
        )
        positions = [row[2] for row in rows]
        chunks = [ChunkRow(*row[3:]) for row in rows]
        labels = read("SELECT label FROM labels WHERE document = %s", key)
        is_seen = partial(_is_seen, {label for (label,) in labels})
        keyed = [(row[0], row[1], chunk) for row, chunk in zip(rows, chunks, strict=True)]
        for fault in (
            *document_faults(said, text, data, legible, is_seen),
            *passage_faults(said, text, legible, positions, chunks),
            *vector_faults(recipe, space, settings, chunks, sound),
            *_of_words(read, text, keyed, surface),
        ):
            yield name, fault
        passages += len(rows)
        counted += sum(row[1] for row in rows)
    if read("SELECT passages, words FROM state") != [(passages, counted)]:
        yield "", "the word index does not count the passages and words that there are"
    vocabulary = dict(read("SELECT word, term FROM vocabulary"))
    written, stems = sorted(surface), settings.get("stems", "1") == "1"
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


def _is_seen(labels: set[bytes], metadata: Mapping[str, Any]) -> bool:
    return labels == {label_digest(key, value) for key, value in labels_of(metadata)}


def _of_words(
    read: Any, text: str, chunks: list[tuple[int, int, ChunkRow]], surface: set[bytes]
) -> Iterator[str]:
    """Where the postings of a document differ from those that are made now."""
    wanted = []
    for key, counted, row in chunks:
        if not can_be_read(row):  # which is told already
            continue
        context, own = words_of(text, row)
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


def _vectors(read: Any, space: int) -> Iterator[tuple[bytes, Sequence[float], int]]:
    for digest, data, checksum in read(
        "SELECT digest, halfvec_send(data), checksum FROM vectors WHERE space = %s ORDER BY digest",
        space,
    ):
        yield digest, struct.unpack_from(f">{(len(data) - 4) // 2}e", data, 4), checksum
