"""What does not fit together inside the collections of an index in Qdrant."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import isclose
from typing import Any

from spanwise.index.damage import can_be_read, document_faults, passage_faults, vector_faults
from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_changes import Changes
from spanwise.index.qdrant_parts import Parts
from spanwise.index.qdrant_points import DOCUMENT, Entry, chunk_row, labels_in, read
from spanwise.index.qdrant_totals import Totals
from spanwise.index.qdrant_vectors import Vectors
from spanwise.index.qdrant_words import entry_of, sparse_of
from spanwise.index.rows import ChunkRow
from spanwise.index.texts import bytes_of

__all__ = ["damage"]


def damage(
    calls: QdrantCalls,
    totals: Totals,
    parts: Parts,
    vectors: Vectors,
    changes: Changes,
    space: str,
) -> Iterator[tuple[str, str]]:
    """Each fault: the name of the document it is in (empty for the index) and what it is.

    Cost: every text is read, hashed and parted into words again, and every vector is read.
    """
    state = totals.state()
    settings = json.loads(state["settings"])
    points = calls.all(calls.documents, [calls.equals("kind", DOCUMENT)])
    entries = sorted(
        (Entry(point.id, point.payload) for point in points),
        key=lambda entry: (entry.payload["namespace"], entry.payload["uri"]),
    )
    surface: set[str] = set()
    for entry in entries:
        name = read(entry.payload["uri"])
        said, text = _told(parts.parts(entry), entry)
        ids = entry.address.ids(0, entry.chunks)
        found = calls.get(calls.passages, ids, True, ["words"])
        rows = [found[point_id] for point_id in ids if point_id in found]
        chunks = [chunk_row(row.payload) for row in rows]
        # A passage of another generation has no number in this one.
        positions = [
            row.payload["position"] if row.payload["generation"] == entry.generation else -1
            for row in rows
        ]
        is_seen = partial(_is_seen, said["labels"])
        faults = [*document_faults(said, text, bytes_of(text), read, is_seen)]
        if len(rows) < len(ids):
            faults.append(f"{len(ids) - len(rows)} of its passages are gone")
        faults += passage_faults(said, text, read, positions, chunks)
        faults += _of_points(calls, [*zip(rows, chunks, strict=True)], entry, text, state, surface)
        if space:
            sound = vectors.sound(space, {row.digest for row in chunks})
            faults += vector_faults(read(said["recipe"]), space, settings, chunks, sound)
        for fault in faults:
            yield name, fault
    if not surface <= parts.vocabulary.words():
        yield "", "the vocabulary lacks words that there are"
    for collection, left in changes.leftovers().items():
        if left:
            yield "", f"{len(left)} points of {collection} belong to no document; run vacuum"


def _told(parts: Sequence[Mapping[str, Any] | None], entry: Entry) -> tuple[dict[str, Any], str]:
    """What is kept of a document, and its text, as far as they are there."""
    data = ["" if part is None else part["data"] for part in parts]
    pieces = entry.payload["pieces"]
    layout, checksum = "".join(data[pieces:]), entry.payload["checksum"]
    said = {
        "layout": _decoded(b64decode, layout),
        "checksum": _decoded(bytes.fromhex, checksum),
    }
    return {**entry.payload, **said}, "".join(read(piece) for piece in data[:pieces])


def _decoded(decode: Callable[[str], bytes], text: str) -> bytes:
    """The bytes of a text, or itself as bytes where damage left none: they are told later."""
    try:
        return decode(text)
    except ValueError:
        return bytes_of(text)


def _is_seen(labels: Sequence[str], metadata: Mapping[str, Any]) -> bool:
    return sorted(labels) == sorted(labels_in(metadata))


def _of_points(
    calls: QdrantCalls,
    rows: Sequence[tuple[Any, ChunkRow]],
    entry: Entry,
    text: str,
    state: Mapping[str, Any],
    surface: set[str],
) -> list[str]:
    """What is wrong with what finds passages; their words are added to ``surface``."""
    faults, length = set(), 0
    for point, row in rows:
        payload = point.payload
        if payload["namespace"] != entry.payload["namespace"] or not (
            set(entry.payload["labels"]) <= set(payload["labels"])
        ):
            faults.add("filters do not see the metadata that it has")
        if not can_be_read(row):  # which is told already
            continue
        words, found = entry_of(text, row, state["stems"])
        surface |= found
        length += words["length"]
        if any(payload.get(key) != value for key, value in words.items()) or not _is_same(
            point.vector, sparse_of(calls.models, words, state["scale"]), state
        ):
            faults.add("the word index does not hold the words that it has")
    if not faults and len(rows) == entry.chunks and length != entry.payload["length"]:
        faults.add("the word index does not count the words that it has")
    return sorted(faults)


def _is_same(kept: Any, made: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether a sparse vector is the one that is made now, or one by another average length."""
    was, now = (kept or {}).get("words"), made.get("words")
    if was is None or now is None:
        return was is now
    if list(was.indices) != list(now.indices):
        return False
    return state["low"] != state["scale"] or all(
        isclose(one, other, rel_tol=1e-5) for one, other in zip(was.values, now.values, strict=True)
    )
