"""A document beside its text: parts, structure and encoding, as compressed JSON and back."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict
from typing import Any

from spanwise.cutting.markdown import Structure
from spanwise.documents import Document
from spanwise.parts import Parts

__all__ = ["document_of", "pack_layout"]

_EMPTY = b""


def pack_layout(document: Document) -> bytes:
    """What makes the document again, together with its text; empty where nothing does."""
    said: dict[str, Any] = {}
    if document.parts:
        said["parts"] = [
            (kind, start, end, label, dict(meta))
            for kind, start, end, label, meta in Parts.of(document.parts).rows()
        ]
    if document.structure is not None:
        said["structure"] = asdict(document.structure)
    if document.encoding:
        said["encoding"] = document.encoding
    if not said:
        return _EMPTY
    return zlib.compress(json.dumps(said, separators=(",", ":"), default=str).encode(), 1)


def document_of(
    text: str, uri: str, media_type: str, meta: dict[str, Any], layout: bytes
) -> Document:
    """The document that `pack_layout` packed."""
    said = json.loads(zlib.decompress(layout)) if layout else {}
    structure = said.get("structure")
    return Document(
        text=text,
        uri=uri,
        media_type=media_type,
        meta=meta,
        parts=Parts.of_rows(said.get("parts", ())),
        structure=None if structure is None else Structure(**structure),
        encoding=said.get("encoding", ""),
    )
