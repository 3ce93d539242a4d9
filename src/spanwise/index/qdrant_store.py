"""QdrantStore: an index in a Qdrant server, in a folder, or in memory."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from spanwise.errors import StoreError
from spanwise.extras import require_extra
from spanwise.index.qdrant_calls import MEMORY, QdrantCalls
from spanwise.index.qdrant_changes import Changes
from spanwise.index.qdrant_damage import damage
from spanwise.index.qdrant_parts import Parts
from spanwise.index.qdrant_passages import Passages
from spanwise.index.qdrant_points import (
    Address,
    Entry,
    document_id,
    document_payload,
    labels_in,
    owner_of,
    pieces_of,
    read,
)
from spanwise.index.qdrant_readings import Readings
from spanwise.index.qdrant_totals import Totals
from spanwise.index.qdrant_vectors import Vectors
from spanwise.index.qdrant_words import WordSearch
from spanwise.index.queries import WordQuery
from spanwise.index.records import stored_of
from spanwise.index.rows import (
    ChunkRow,
    DocumentRow,
    Found,
    Passage,
    Scope,
    StoredDocument,
    merged,
)

__all__ = ["QdrantStore"]

# How often a document is read that another process changes meanwhile.
_TRIES = 5


class QdrantStore:
    """An index in Qdrant, by its address, a folder, ``":memory:"``, or a ``QdrantClient``.

    - ``prefix``: of the names of its collections, so that a server may hold several indexes.
    - ``read_only``: nothing is written.

    It finds what `SqliteStore` finds, with the same scores. A client that was given stays open.
    Threads may share a store, and stores a client; they take turns.

    What is weaker than a file of SQLite:

    - Qdrant has no transactions. A document changes all at once for readers, and what a kill
      leaves behind is never seen and cleaned up by the next run; but several documents do not
      change together, and two processes that change one document at once may leave points
      behind until `vacuum`. On a server, only what was broken off an hour ago is cleaned up.
    - A reading sees one moment of what this process changes. What other processes change may be
      seen in part: old in one document, new in another, never mixed within one. A search whose
      document is replaced under it raises `StoreError` rather than mix.
    - A vector that another process drops in the moment in which a document begins to use it is
      missing until that document is indexed again; `damage` tells.
    - The local mode, a folder or memory, is for one process, and for small indexes: every search
      looks at every point, in Python, and every point is a write of its own. The client itself
      warns above 20,000.
    - Cost: a passage has its words and their numbers beside its vectors, and all passages of a
      document are written again when it changes; a document takes some fifteen requests to write;
      a word of a query takes one request to count, and a phrase reads all passages that have its
      words. When passages become 1.5 times as long or as short on average, all sparse vectors are
      written anew. In local mode 1,200 passages took 5 times the room of SQLite, and a search
      0.1 s.

    Raises `StoreError` where there is no Qdrant, and for an index of a newer format.
    """

    def __init__(
        self, place: str | Path | Any, *, prefix: str = "spanwise", read_only: bool = False
    ) -> None:
        if read_only and place == MEMORY:
            raise StoreError("an index in memory is new, so it cannot be read only; give a path")
        self._calls = QdrantCalls(place, prefix, read_only=read_only)
        self._changes = Changes(self._calls)
        self._vectors = Vectors(self._calls)
        self._totals = Totals(self._calls)
        self._parts = Parts(self._calls, self._totals)
        self._readings = Readings(self._calls)
        self._live = self._readings.live
        self._passages = Passages(self._calls, self._parts, self._readings)
        try:
            with self._calls.shared.lock:
                self._prepare()
        except BaseException:
            self._calls.close()
            raise

    def _prepare(self) -> None:
        """Have the collections, of this version, and nothing that was broken off."""
        if not self._totals.prepare() and not self._calls.read_only:
            self._repair()

    def _repair(self) -> None:
        """Bring to an end what was broken off."""
        self._changes.repair()
        self._parts.end_words()

    # --- who reads and who writes -----------------------------------------------------------

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment; see the class."""
        return self._readings.reading()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within it, no other thread writes; what is written is visible at once."""
        if self._calls.read_only:
            raise StoreError(f"{self.name}: it is open for reading only; open it without read_only")
        with self._calls.shared.lock:
            if self._calls.shared.failed:
                self._repair()
            yield

    # --- settings ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The folder or the address, and a prefix of one's own."""
        return self._calls.name

    @property
    def stems(self) -> bool:
        """Whether words of one stem are one word of the word index."""
        found: bool = self._totals.state()["stems"]
        return found

    def settings(self) -> dict[str, str]:
        """The settings of the index, as they were given; empty for a new one."""
        found: dict[str, str] = json.loads(self._totals.state()["settings"])
        return found

    def change_settings(self, settings: Mapping[str, str]) -> None:
        """Set these settings, all at once."""
        with self.writing():
            laid = json.dumps({**self.settings(), **settings})
            self._totals.change(settings=laid)

    def prepare_words(self, stems: bool) -> None:
        """Have a word index with or without stems, written anew where it was made otherwise."""
        state = self._totals.state()
        if stems != state["stems"]:
            with self.writing():
                self._parts.write_words(stems, state["scale"])

    # --- documents --------------------------------------------------------------------------

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""
        with self.reading():
            return self._readings.namespaces()

    def documents(self, scope: Scope) -> list[StoredDocument]:
        """The documents of a scope, in order of their uris."""
        with self.reading():
            stored = [stored_of(payload, read) for payload in self._readings.documents(scope)]
            return sorted(stored, key=lambda each: each.uri)

    def document(self, namespace: str, uri: str) -> StoredDocument | None:
        """What is known of one document, or None."""
        with self.reading():
            entry = self._readings.document(namespace, uri)
            return None if entry is None else stored_of(entry.payload, read)

    def whole(self, namespace: str, uri: str) -> tuple[DocumentRow, list[ChunkRow]]:
        """A document with its text and its passages; `StoreError` where there is none."""
        with self.reading():
            for _ in range(_TRIES):
                entry = self._readings.document(namespace, uri)
                if entry is None:
                    raise StoreError(
                        f"{self.name}: it has no document {uri!r}; index.documents() lists them"
                    )
                found = self._parts.whole(entry)
                if found is not None:
                    return found
                self._readings.forget(entry)  # another process changes it now
        raise StoreError(
            f"{self.name}: parts of {uri!r} are missing; run verify, and index it again"
        )

    def put(self, row: DocumentRow, chunks: Sequence[ChunkRow], space: str) -> set[bytes]:
        """Put a document in the place of the one of its name: see `Store.put`."""
        with self.writing():
            digests = [each.digest for each in chunks]
            missing = self._vectors.missing(space, digests) if space else set()
            if missing:
                return missing
            state = self._totals.state()
            known = self._readings.now(row.namespace, row.uri)
            point_id = document_id(row.namespace, row.uri)
            number = state["number"] + 1 if known is None else known.payload["number"]
            address = Address(number, _generation(known), owner_of(point_id))
            serials, fresh = self._parts.serials(known, chunks)
            pieces, layouts = pieces_of(row)
            counts = (len(pieces), len(layouts))
            payload = document_payload(row, address, chunks, counts, fresh)
            entry = Entry(point_id, payload)
            with self._changes.begun(point_id, [each.place for each in (known, entry) if each]):
                payload["length"] = self._parts.put(entry, row, chunks, serials)
                # Another process may have dropped them, as no passage had them yet.
                missing = self._vectors.missing(space, digests) if space else set()
                if not missing:
                    self._readings.hold(point_id, known)
                    # From here on readers see the new generation.
                    self._calls.put(self._calls.documents, [(point_id, {}, payload)])
                    self._totals.count(state, {} if known is None else known.payload, payload)
            if not missing:
                self._parts.follow_average()
        return missing

    def note_source(self, namespace: str, uri: str, source: Mapping[str, Any]) -> None:
        """Set only what is known of a document's file."""
        with self.writing():
            known = self._readings.now(namespace, uri)
            if known is not None:
                self._readings.hold(known.id, known)
                said = {"source": json.dumps(dict(source))}
                self._calls.set(self._calls.documents, [known.id], said)

    def change_metadata(self, namespace: str, uri: str, changes: Mapping[str, Any]) -> None:
        """Set the changes laid over a document's metadata."""
        with self.writing():
            known = self._readings.now(namespace, uri)
            if known is None:
                return
            calls = self._calls
            labels = labels_in(merged(known.meta, changes))
            # Until all is done passages have the labels of before and after, and the document
            # says which count.
            both = {*labels, *known.payload["labels"]}
            for snapshot in calls.shared.snapshots:
                both.update((snapshot.documents.get(known.id) or {}).get("labels", ()))
            with self._changes.begun(known.id, [], labels=True):
                ids = [*calls.get(calls.passages, known.address.ids(0, known.chunks), False)]
                calls.set(calls.passages, ids, {"labels": sorted(both)})
                self._readings.hold(known.id, known)
                said = {"changes": json.dumps(dict(changes)), "labels": labels}
                calls.set(calls.documents, [known.id], said)

    def remove(self, namespace: str, uris: Collection[str]) -> None:
        """Remove documents with their passages, each all at once."""
        for uri in uris:
            with self.writing():
                known = self._readings.now(namespace, uri)
                if known is None:
                    continue
                state = self._totals.state()
                with self._changes.begun(known.id, [known.place]):
                    self._readings.hold(known.id, known)
                    self._calls.drop(self._calls.documents, [known.id])
                    self._totals.count(state, known.payload, {})

    # --- words ------------------------------------------------------------------------------

    def find_words(self, query: WordQuery, scope: Scope, limit: int) -> list[Found]:
        """The best passages by BM25, best first."""
        if not all(wanted for _, wanted in scope.where):
            return []
        with self.reading():
            state = self._totals.state()
            search = WordSearch(
                self._calls,
                self._parts.vocabulary,
                self._totals.total(state),
                self._live,
                stems=state["stems"],
            )
            return search.find(query, scope, limit)

    # --- vectors ----------------------------------------------------------------------------

    def missing(self, space: str, digests: Iterable[bytes]) -> set[bytes]:
        """The digests that have no vector in a space."""
        return self._vectors.missing(space, digests)

    def put_vectors(self, space: str, digests: Sequence[bytes], vectors: Any) -> None:
        """Keep vectors: a table of half-precision numbers, a row a digest."""
        with self.writing():
            self._vectors.put(space, digests, vectors)

    def vectors(self, space: str, digests: Iterable[bytes]) -> dict[bytes, Any]:
        """The vectors of digests, each a row of half-precision numbers."""
        numpy = require_extra("numpy", "index", "search by meaning")
        return self._vectors.get(numpy, space, digests)

    def drop_vectors(self, space: str) -> int:
        """Drop the vectors that no passage needs, and all of other spaces; how many."""
        unused = self._vectors.unused(space)
        if unused or self._calls.shared.failed:
            with self.writing():
                if self._calls.shared.snapshots:
                    self._calls.when_unread(
                        lambda: self._vectors.drop(space, self._vectors.unused(space))
                    )
                else:
                    self._vectors.drop(space, unused)
        return sum(map(len, unused.values()))

    def find_near(
        self, space: str, vector: Any, scope: Scope, limit: int, mix: float
    ) -> list[Found]:
        """The passages whose vectors have the largest cosine, best first; see `Store`."""
        if not all(wanted for _, wanted in scope.where):
            return []
        with self.reading():
            return self._vectors.nearest(space, vector, scope, limit, mix, self._live)

    def index_vectors(self, space: str = "") -> None:
        """Refused: vectors are searched exactly here."""
        raise StoreError(
            f"{self.name}: vectors in Qdrant are searched exactly, without a graph; an "
            "SqliteStore and a PostgresStore can make one"
        )

    # --- passages ---------------------------------------------------------------------------

    def uris(self, documents: Iterable[int]) -> dict[int, str]:
        """What documents are called, by their keys; those that are gone are left out."""
        with self.reading():
            return self._passages.uris(documents)

    def passages(self, keys: Iterable[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""
        with self.reading():
            return self._passages.picked(list(keys))

    def passages_of(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""
        with self.reading():
            return self._passages.between(document, first, last)

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""
        with self.reading():
            return self._passages.text(document, start, end)

    # --- the whole --------------------------------------------------------------------------

    def damage(self, space: str) -> Iterator[tuple[str, str]]:
        """What does not fit together inside, as the document's name and what it is."""
        return damage(self._calls, self._totals, self._parts, self._vectors, self._changes, space)

    def vacuum(self) -> None:
        """Give back the room of what was removed, and of what broken runs left behind."""
        with self.writing():
            self._repair()
            self._changes.sweep()
            self._parts.vocabulary.pack(1)

    def close(self) -> None:
        """End the use of the store; closing twice does nothing."""
        self._calls.close()


def _generation(known: Entry | None) -> int:
    """A generation that a document does not have; two processes do not choose the same."""
    was = -1 if known is None else known.generation
    return next(made for _ in range(9) if (made := uuid4().int & 0xFFFFFFFF) != was)
