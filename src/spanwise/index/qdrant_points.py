"""What an index is as points of Qdrant: their ids, and their payload.

A passage and a piece of a text have ids that are made of their document's number, its generation,
and their place, so all of a document are asked for by ids. Keys are of the document's number and
of one that a passage keeps from generation to generation.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple
from uuid import UUID

from spanwise.index.layout import pack_layout
from spanwise.index.records import values_of
from spanwise.index.rows import (
    ChunkRow,
    DocumentRow,
    Scope,
    labels_of,
)

__all__ = [
    "DOCUMENT",
    "INTENT",
    "OWN",
    "PIECE",
    "ROW",
    "STATE",
    "Address",
    "Entry",
    "chunk_row",
    "digest_id",
    "document_id",
    "document_payload",
    "fits",
    "label_of",
    "labels_in",
    "owner_of",
    "passage_payload",
    "pieces_of",
    "read",
    "written",
]

# The id of the one point that holds what is true of the whole index, and the kinds of points
# beside it.
STATE = str(UUID(int=0))
DOCUMENT, INTENT = "document", "intent"

# Code points of a text in one point: a request of a server has a bound (32 MB by default).
PIECE = 1 << 15

# What Qdrant or the way to it does not take, and the sign that says so.
_UNSAFE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPED = re.compile(r"\\([0-9a-f]{4})")

# The payload of a passage that makes its row.
ROW = ("name", "start", "body", "end", "boundary", "digest", "about")

# The payload of a passage that says which it is.
OWN = ("document", "generation", "position", "serial")


def written(text: str) -> str:
    r"""A text as Qdrant takes it: NUL and lone surrogates escaped, and so the sign that does it.

    >>> written("a\0b"), read(written("a\0\ud800\\b")) == "a\0\ud800\\b"
    ('a\\0000b', True)
    """
    return _UNSAFE.sub(lambda found: f"\\{ord(found[0]):04x}", text)


def read(text: str) -> str:
    """The text that `written` wrote."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def document_id(namespace: str, uri: str) -> str:
    """The id of a document's point."""
    return str(UUID(bytes=_hashed(json.dumps([namespace, uri]).encode())))


def digest_id(digest: bytes) -> str:
    """The id of a vector's point: the digest itself, where it is as long as an id."""
    return str(UUID(bytes=digest if len(digest) == 16 else _hashed(digest)))


def label_of(key: str, value: str) -> str:
    """A pair of metadata as one short word that a filter compares."""
    return _hashed(json.dumps([key, value]).encode()).hex()


def labels_in(metadata: Mapping[str, Any]) -> list[str]:
    """The labels of a document's metadata."""
    return [label_of(key, value) for key, value in labels_of(metadata)]


def _hashed(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


class Address(NamedTuple):
    """Where the passages and pieces of one generation of a document are.

    ``number`` orders documents as they came; ``owner`` tells two apart that came at once.
    """

    number: int
    generation: int
    owner: int

    def ids(self, first: int, end: int) -> list[str]:
        """The ids of the passages, or of the pieces, from one number up to another."""
        start = self.number << 96 | self.generation << 64 | self.owner << 32
        return [str(UUID(int=start + at)) for at in range(first, end)]


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as its point tells of it."""

    id: str
    payload: Mapping[str, Any]

    @property
    def generation(self) -> int:
        """The generation whose passages are its own."""
        found: int = self.payload["generation"]
        return found

    @property
    def address(self) -> Address:
        """Where its passages and pieces are."""
        return Address(self.payload["number"], self.generation, owner_of(self.id))

    @property
    def key(self) -> int:
        """The key of the document, which it keeps."""
        number: int = self.payload["number"]
        return number << 32 | owner_of(self.id)

    def key_of(self, serial: int) -> int:
        """The key of one of its passages."""
        return self.key << 32 | serial

    @property
    def chunks(self) -> int:
        """How many passages it has."""
        found: int = self.payload["chunks"]
        return found

    @property
    def parts(self) -> int:
        """How many points its text and its layout are in."""
        found: int = self.payload["pieces"] + self.payload["layouts"]
        return found

    @property
    def place(self) -> list[int]:
        """Its generation and all that it has, for an intent."""
        return [self.payload["number"], self.generation, self.chunks, self.parts]

    @property
    def changes(self) -> dict[str, Any]:
        """The changes laid over its metadata."""
        found: dict[str, Any] = json.loads(self.payload["changes"])
        return found

    @property
    def meta(self) -> dict[str, Any]:
        """Its own metadata."""
        found: dict[str, Any] = json.loads(self.payload["meta"])
        return found


def owner_of(point_id: str) -> int:
    """The part of a document's id that is in the ids of its passages."""
    return int(point_id[:8], 16)


def document_payload(
    row: DocumentRow,
    address: Address,
    chunks: Sequence[ChunkRow],
    parts: tuple[int, int],
    serials: int,
) -> dict[str, Any]:
    """The payload of a document; how many words its passages have is yet to be set.

    ``serials`` is the first number that none of its passages had.
    """
    values = values_of(row, chunks)
    del values["layout"]  # it is in pieces of its own
    texts = ("namespace", "uri", "media_type", "recipe")
    return {
        **values,
        **{name: written(values[name]) for name in texts},
        "kind": DOCUMENT,
        "labels": labels_in(row.metadata),
        "number": address.number,
        "generation": address.generation,
        "chunks": len(chunks),
        "length": 0,
        "pieces": parts[0],
        "layouts": parts[1],
        "serials": serials,
        "checksum": values["checksum"].hex(),
    }


def pieces_of(row: DocumentRow) -> tuple[list[str], list[str]]:
    """The text of a document in pieces, and its layout in pieces."""
    text = row.document.text
    layout = b64encode(pack_layout(row.document)).decode()
    pieces = [written(piece) for piece in _parted(text)]
    return pieces, list(_parted(layout))


def _parted(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]


def passage_payload(entry: Entry, at: int, serial: int, row: ChunkRow) -> dict[str, Any]:
    """The payload of a passage of a document but for its words."""
    said = entry.payload
    return {
        "document": entry.id,
        "generation": entry.generation,
        "namespace": said["namespace"],
        "labels": list(said["labels"]),
        "position": at,
        "serial": serial,
        "key": str(entry.key_of(serial)),
        "name": written(row.name),
        "start": row.start,
        "body": row.body,
        "end": row.end,
        "boundary": written(row.boundary),
        "digest": row.digest.hex(),
        "about": written(row.about),
    }


def chunk_row(payload: Mapping[str, Any]) -> ChunkRow:
    """The row of a passage by its payload."""
    return ChunkRow(
        read(payload["name"]),
        payload["start"],
        payload["body"],
        payload["end"],
        read(payload["boundary"]),
        bytes.fromhex(payload["digest"]),
        read(payload["about"]),
    )


def fits(payload: Mapping[str, Any], scope: Scope) -> bool:
    """Whether a document is in a scope."""
    if payload["namespace"] != written(scope.namespace):
        return False
    labels = set(payload["labels"])
    return all(
        any(label_of(key, value) in labels for value in wanted) for key, wanted in scope.where
    )
