"""What does not fit together inside the collections of an index in Qdrant."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import isclose
from typing import Any

from spanwise.chunks import join_context
from spanwise.index.layout import document_of
from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_changes import Changes
from spanwise.index.qdrant_parts import Parts, Totals
from spanwise.index.qdrant_points import DOCUMENT, Entry, chunk_row, labels_in, read
from spanwise.index.qdrant_vectors import Vectors
from spanwise.index.qdrant_words import entry_of, sparse_of
from spanwise.index.rows import checksum_of, digest_of, merged, space_of
from spanwise.index.sqlite_schema import bytes_of

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
    points = calls.all(calls.documents, [calls.equals("kind", DOCUMENT)])
    entries = sorted(
        (Entry(point.id, point.payload) for point in points),
        key=lambda entry: (entry.payload["namespace"], entry.payload["uri"]),
    )
    surface: set[str] = set()
    for entry in entries:
        name = read(entry.payload["uri"])
        text, layout, faults = _text_of(parts.parts(entry), entry)
        for fault in faults:
            yield name, fault
        ids = entry.address.ids(0, entry.chunks)
        found = calls.get(calls.passages, ids, True, ["words"])
        rows = [found[point_id] for point_id in ids if point_id in found]
        if len(rows) < len(ids):
            yield name, f"{len(ids) - len(rows)} of its passages are gone"
        faults = list(_of_passages(calls, rows, entry, text, state, surface))
        said = entry.payload
        chunks = [chunk_row(row.payload) for row in rows]
        kept = (read(said["media_type"]), read(said["recipe"]), said["meta"], layout, chunks)
        if not faults and checksum_of(*kept).hex() != said["checksum"]:
            faults.append("what is stored beside its text is not what was written")
        for fault in faults:
            yield name, fault
        if space and space_of(read(entry.payload["recipe"])) == space:
            digests = {bytes.fromhex(row.payload["digest"]) for row in rows}
            sound = vectors.sound(space, digests)
            lost = sum(bytes.fromhex(row.payload["digest"]) not in sound for row in rows)
            if lost:
                yield name, f"{lost} of its passages have no vector"
    if not surface <= parts.vocabulary.words():
        yield "", "the vocabulary lacks words that there are"
    for collection, left in changes.leftovers().items():
        if left:
            yield "", f"{len(left)} points of {collection} belong to no document; run vacuum"


def _text_of(
    parts: Sequence[Mapping[str, Any] | None], entry: Entry
) -> tuple[str, bytes, list[str]]:
    """The text and layout of a document, as far as they are there, and what is wrong with it."""
    said, faults, layout = entry.payload, [], b""
    data = ["" if part is None else part["data"] for part in parts]
    text = "".join(read(piece) for piece in data[: said["pieces"]])
    if sha256(bytes_of(text)).hexdigest() != said["content_hash"]:
        faults.append("its text is not the one that was stored")
    elif len(text) != said["characters"]:
        faults.append("its text is not as long as it was")
    try:
        layout = b64decode("".join(data[said["pieces"] :]))
        dict(json.loads(said["source"]))
        document_of(text, "", read(said["media_type"]), entry.meta, layout)
        labels = labels_in(merged(entry.meta, entry.changes))
    except Exception as fault:  # whatever damage does to it
        kind = type(fault).__name__
        faults.append(f"what is stored beside its text cannot be read ({kind}: {fault})")
    else:
        if sorted(labels) != sorted(said["labels"]):
            faults.append("filters do not see the metadata that it has")
    return text, layout, faults


def _of_passages(
    calls: QdrantCalls,
    rows: Sequence[Any],
    entry: Entry,
    text: str,
    state: Mapping[str, Any],
    surface: set[str],
) -> Iterator[str]:
    """What is wrong with passages; their words are added to ``surface``."""
    last_start, last_end, length = -1, 0, 0
    others = set()
    for number, point in enumerate(rows):
        payload = point.payload
        row = chunk_row(payload)
        if payload["position"] != number or payload["generation"] != entry.generation:
            others.add("its passages are not numbered one by one")
        if payload["namespace"] != entry.payload["namespace"] or not (
            set(entry.payload["labels"]) <= set(payload["labels"])
        ):
            others.add("filters do not see the metadata that it has")
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
        words, found = entry_of(text, row, state["stems"])
        surface |= found
        length += words["length"]
        if any(payload.get(key) != value for key, value in words.items()) or not _is_same(
            point.vector, sparse_of(calls.models, words, state["scale"]), state
        ):
            others.add("the word index does not hold the words that it has")
    if not others and len(rows) == entry.chunks and length != entry.payload["length"]:
        others.add("the word index does not count the words that it has")
    yield from sorted(others)


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
