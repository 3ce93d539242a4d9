"""Presets: a splitter for any document, with the sizes that were measured for a use."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap
from spanwise.documents import Document
from spanwise.embedders.base import ceiling_of
from spanwise.splitters.base import Splitter, Strategy, as_document, require
from spanwise.splitters.choose import splitter_for

__all__ = ["ForSearch", "for_search"]

# Passages of some 350 characters on average find best; benchmarks/quality.py.
_CHUNK_SIZE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ForSearch:
    """Each document by the strategy of its kind, in passages of a size that finds well."""

    name: ClassVar[str] = "for_search"
    version: ClassVar[int] = 1

    chunk_size: int = _CHUNK_SIZE
    limit: Cap | None = None

    def __post_init__(self) -> None:
        require("chunk_size", self.chunk_size, 1)

    @property
    def fingerprint(self) -> str:
        """The name, the version, the size and the cap."""
        limit = "None" if self.limit is None else self.limit.fingerprint
        return f"{self.name}/{self.version} chunk_size={self.chunk_size} limit={limit}"

    def within(self, embedder: object, *, ceiling: Cap | int | None = None) -> ForSearch:
        """The same under what an embedder reads: no passage is longer."""
        return replace(self, limit=ceiling_of(embedder, ceiling)[0])

    def split(self, source: Document | str) -> Chunks:
        """The chunks of a document or a string, in order."""
        document = as_document(source)
        return self._splitter(document).split(document)

    def _splitter(self, document: Document) -> Splitter:
        chosen = splitter_for(document)
        assert isinstance(chosen, Strategy)
        takes = {each.name for each in fields(chosen)}
        wanted: dict[str, Any] = {"chunk_size": self.chunk_size, "overlap": 0, "overlap_turns": 0}
        wanted = {name: value for name, value in wanted.items() if name in takes}
        if self.limit is not None:
            wanted["max_size"] = self.limit
        return replace(chosen, **wanted)


def for_search(*, chunk_size: int = _CHUNK_SIZE) -> ForSearch:
    """The splitter of an index: by the document's kind, without overlap, in small passages.

    >>> for_search().split("# Refunds\\n\\nFive to ten days.").texts
    ['# Refunds\\n\\nFive to ten days.']
    """
    return ForSearch(chunk_size=chunk_size)
