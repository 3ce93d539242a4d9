"""What does not fit together in a document as a store keeps it, in words; alike in every store."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from zlib import crc32

from spanwise.context import join_context
from spanwise.index.records import row_of
from spanwise.index.rows import ChunkRow, checksum_of, digest_of, recipe_of, space_of
from spanwise.index.texts import bytes_of

__all__ = [
    "can_be_read",
    "document_faults",
    "passage_faults",
    "sound_digests",
    "vector_faults",
]


def document_faults(
    said: Mapping[str, Any],
    text: str,
    data: bytes,
    read: Callable[[Any], str],
    is_seen: Callable[[Mapping[str, Any]], bool],
) -> Iterator[str]:
    """What is wrong with a text and with what is kept beside it, as `values_of` made it.

    ``data`` are the bytes of the text; ``read`` makes a text of how the store keeps one;
    ``is_seen`` says whether filters see this metadata, and no other.
    """
    if sha256(data).hexdigest() != said["content_hash"]:
        yield "its text is not the one that was stored"
    elif len(text) != said["characters"] or bytes_of(text) != data:
        yield "its text is not as long as it was"
    try:
        seen = is_seen(row_of(said, text, read).metadata)
    except Exception as fault:  # whatever damage does to it
        yield f"what is stored beside its text cannot be read ({type(fault).__name__}: {fault})"
    else:
        if not seen:
            yield "filters do not see the metadata that it has"


def passage_faults(
    said: Mapping[str, Any],
    text: str,
    read: Callable[[Any], str],
    positions: Sequence[int],
    chunks: Sequence[ChunkRow],
) -> Iterator[str]:
    """What is wrong with the passages of a document, in order; or else with its checksum."""
    faults = [*_passage_faults(text, positions, chunks)]
    if not faults:
        kept = (read(said["media_type"]), read(said["recipe"]), said["meta"], said["layout"])
        if checksum_of(*kept, chunks) != said["checksum"]:
            faults.append("what is stored beside its text is not what was written")
    yield from faults


def _passage_faults(
    text: str, positions: Sequence[int], chunks: Sequence[ChunkRow]
) -> Iterator[str]:
    if list(positions) != list(range(len(chunks))):
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


def can_be_read(row: ChunkRow) -> bool:
    """Whether a passage has a context that has words, or none."""
    try:
        return isinstance(row.context, str)
    except Exception:  # whatever damage does to it
        return False


def vector_faults(
    recipe: str,
    space: str,
    settings: Mapping[str, str],
    chunks: Iterable[ChunkRow],
    sound: Collection[bytes],
) -> Iterator[str]:
    """Whether passages lack a vector in a space; ``sound`` are the digests that have one.

    A document of other settings waits to be cut anew, and need not have vectors until then.
    """
    recorded = recipe_of(settings) if settings.get("splitter") else recipe
    if space_of(recipe) == space != "" and recipe == recorded:
        lost = sum(row.digest not in sound for row in chunks)
        if lost:
            yield f"{lost} of its passages have no vector"


def sound_digests(vectors: Iterable[tuple[bytes, Sequence[float], int]]) -> set[bytes]:
    """The digests whose vectors are as they were written: of one size, and of length 1 or 0.

    Each comes with its vector and with the checksum of its numbers at half precision.
    """
    found: set[bytes] = set()
    most = 0
    for digest, numbers, checksum in vectors:
        most = most or len(numbers)
        data = struct.pack(f"<{len(numbers)}e", *numbers)
        size = sum(number * number for number in numbers)
        # No number is in between where one is infinite or none.
        if len(numbers) == most and crc32(data) == checksum and (size == 0 or 0.9 < size < 1.1):
            found.add(digest)
    return found
