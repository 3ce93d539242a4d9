"""A document as the values that a store keeps of it, and back; its text is kept apart."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spanwise.index.layout import document_of, pack_layout
from spanwise.index.rows import ChunkRow, DocumentRow, StoredDocument, checksum_of
from spanwise.metadata import plain

__all__ = ["KEPT", "TOLD", "row_of", "stored_of", "values_of"]

# The names of the values that tell of a document, and of all that are kept.
TOLD = (
    *("namespace", "uri", "media_type", "characters", "content_hash", "meta", "changes"),
    *("recipe", "source"),
)
KEPT = (*TOLD, "layout", "checksum")


def values_of(row: DocumentRow, chunks: Sequence[ChunkRow]) -> dict[str, Any]:
    """What is kept of a document by its names, with the texts not yet as the store takes them."""
    document = row.document
    meta, layout = json.dumps(plain(document.meta)), pack_layout(document)
    return {
        "namespace": row.namespace,
        "uri": row.uri,
        "media_type": document.media_type,
        "characters": len(document.text),
        "content_hash": document.content_hash,
        "meta": meta,
        "changes": json.dumps(dict(row.changes)),
        "recipe": row.recipe,
        "source": json.dumps(dict(row.source)),
        "layout": layout,
        "checksum": checksum_of(document.media_type, row.recipe, meta, layout, chunks),
    }


def stored_of(said: Mapping[str, Any], read: Callable[[Any], str]) -> StoredDocument:
    """What is told of a document; ``read`` makes a text of how the store keeps one."""
    return StoredDocument(
        namespace=read(said["namespace"]),
        uri=read(said["uri"]),
        media_type=read(said["media_type"]),
        characters=said["characters"],
        chunks=said["chunks"],
        content_hash=said["content_hash"],
        meta=json.loads(said["meta"]),
        changes=json.loads(said["changes"]),
        recipe=read(said["recipe"]),
        source=json.loads(said["source"]),
    )


def row_of(said: Mapping[str, Any], text: str, read: Callable[[Any], str]) -> DocumentRow:
    """The document of what is kept of it and of its text."""
    return DocumentRow(
        namespace=read(said["namespace"]),
        document=document_of(
            text,
            read(said["uri"]),
            read(said["media_type"]),
            json.loads(said["meta"]),
            said["layout"],
        ),
        recipe=read(said["recipe"]),
        source=dict(json.loads(said["source"])),
        changes=dict(json.loads(said["changes"])),
    )
