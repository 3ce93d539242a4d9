"""What an index asks of the place that keeps it; one file an adapter.

A document, its passages and their words change together or not at all, and a reader sees them as
they were or as they are. Vectors are kept apart: one belongs to a digest and a space (the
fingerprint of an embedder), whoever uses it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from spanwise.index.queries import WordQuery
from spanwise.index.rows import (
    ChunkRow,
    DocumentRow,
    Found,
    Passage,
    Scope,
    StoredDocument,
)

__all__ = ["Store"]


class Store(Protocol):
    """A place that keeps documents, passages, words and vectors."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def settings(self) -> dict[str, str]:
        """The settings of the index, as they were given; empty for a new one."""

    def change_settings(self, settings: Mapping[str, str]) -> None:
        """Set these settings, all at once."""

    @property
    def stems(self) -> bool:
        """Whether words of one stem are one word of the word index."""

    def prepare_words(self, stems: bool) -> None:
        """Have a word index with or without stems, written anew where it was made otherwise."""

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment."""

    def writing(self) -> AbstractContextManager[None]:
        """Within it, all that is written may become visible together at its end."""

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""

    def documents(self, scope: Scope) -> list[StoredDocument]:
        """The documents of a scope, in order of their uris."""

    def document(self, namespace: str, uri: str) -> StoredDocument | None:
        """What is known of one document, or None."""

    def whole(self, namespace: str, uri: str) -> tuple[DocumentRow, list[ChunkRow]]:
        """A document with its text and its passages."""

    def put(self, row: DocumentRow, chunks: Sequence[ChunkRow], space: str) -> set[bytes]:
        """Put a document in the place of the one of its name, all at once.

        Where a digest has no vector in ``space`` nothing is written, and the digests are
        answered. Passages that stay are not written again but for their place.
        """

    def note_source(self, namespace: str, uri: str, source: Mapping[str, Any]) -> None:
        """Set only what is known of a document's file."""

    def change_metadata(self, namespace: str, uri: str, changes: Mapping[str, Any]) -> None:
        """Set the changes laid over a document's metadata."""

    def remove(self, namespace: str, uris: Collection[str]) -> None:
        """Remove documents with their passages, each all at once."""

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""

    def put_vectors(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""

    def vectors(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""

    def drop_vectors(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many."""

    def find_words(self, query: WordQuery, scope: Scope, limit: int) -> list[Found]:
        """The best passages by BM25, best first."""

    def find_near(
        self, space: str, vector: Any, scope: Scope, limit: int, mix: float
    ) -> list[Found]:
        """The passages whose vectors have the largest cosine, best first; above 0 alone.

        With ``mix`` a score is the mean of the passage's own cosine and, with that weight, those
        of its neighbours.
        """

    def index_vectors(self, space: str = "") -> None:
        """Have searches by meaning go by a graph from now on: quick, and nearly exact."""

    def uris(self, documents: Iterable[int]) -> dict[int, str]:
        """What documents are called, by their keys; those that are gone are left out."""

    def passages(self, keys: Iterable[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""

    def passages_of(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""

    def damage(self, space: str) -> Iterator[tuple[str, str]]:
        """What does not fit together inside, as the document's name and what it is."""

    def vacuum(self) -> None:
        """Give back the room of what was removed."""

    def close(self) -> None:
        """End the use of the store."""
