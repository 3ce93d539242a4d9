"""What a loader is: the bytes of a file in, a document out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from spanwise.documents import Document

__all__ = ["Loader", "Raw"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The bytes of a source and what is known of them.

    ``name`` is what messages call it, ``uri`` what the document will be called; ``suffix`` is
    in small letters with its dot, or empty; ``encoding`` is the one a person named, or empty.
    """

    data: bytes
    name: str
    uri: str
    suffix: str
    encoding: str = ""


class Loader(Protocol):
    """Reads one kind of file. A person's own come first; the first that claims a file reads it."""

    @property
    def name(self) -> str:
        """What the kind is called, such as ``PDF``."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of its files, in small letters with their dots."""

    def claims(self, raw: Raw) -> bool:
        """Whether the bytes are of this kind, by their suffix or how they begin."""

    def load(self, raw: Raw) -> Document:
        """The document; `LoadError`, with ``raw.name`` first, for what cannot be read."""
