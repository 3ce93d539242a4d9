"""What a reading sees of documents in Qdrant: each as it was when it was first seen."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from spanwise.index.qdrant_calls import QdrantCalls, Snapshot, scope_conditions
from spanwise.index.qdrant_points import DOCUMENT, Entry, document_id, fits, read
from spanwise.index.qdrant_words import Row
from spanwise.index.rows import Scope

__all__ = ["Readings"]


class Readings:
    """The readings of a store, one a thread; out of one, all is as it is now."""

    def __init__(self, calls: QdrantCalls) -> None:
        self._calls = calls
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Within it, all that is read is of one moment of what this process changes."""
        if self._snapshot is not None:
            yield
            return
        snapshot = Snapshot()
        self._calls.enter(snapshot)
        self._own.snapshot = snapshot
        try:
            yield
        finally:
            self._own.snapshot = None
            self._calls.leave(snapshot)

    @property
    def _snapshot(self) -> Snapshot | None:
        found: Snapshot | None = getattr(self._own, "snapshot", None)
        return found

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""
        calls = self._calls
        is_document = [calls.equals("kind", DOCUMENT)]
        found = {
            point.id: point.payload
            for point in calls.all(calls.documents, is_document, ["namespace"])
        }
        found |= self._seen()
        return sorted({read(payload["namespace"]) for payload in found.values() if payload})

    def documents(self, scope: Scope) -> list[Mapping[str, Any]]:
        """The payload of the documents of a scope."""
        if not all(wanted for _, wanted in scope.where):
            return []
        calls = self._calls
        found = {
            point.id: point.payload
            for point in calls.all(calls.documents, scope_conditions(calls, scope))
        }
        found |= self._seen()
        return [payload for payload in found.values() if payload and fits(payload, scope)]

    def document(self, namespace: str, uri: str) -> Entry | None:
        """A document by its name."""
        point_id = document_id(namespace, uri)
        return self.entries([point_id]).get(point_id)

    def now(self, namespace: str, uri: str) -> Entry | None:
        """A document as it is now, whatever this reading has seen."""
        point_id = document_id(namespace, uri)
        found = self._calls.get(self._calls.documents, [point_id])
        return Entry(point_id, found[point_id].payload) if point_id in found else None

    def entries(self, ids: Iterable[str]) -> dict[str, Entry]:
        """Documents by their ids."""
        seen = {} if self._snapshot is None else self._snapshot.documents
        wanted = set(ids)
        asked = sorted(wanted - seen.keys())
        found = self._calls.get(self._calls.documents, asked)
        for point_id in asked:
            # A writer may have said meanwhile what the document was.
            seen.setdefault(point_id, found[point_id].payload if point_id in found else None)
        return {
            point_id: Entry(point_id, seen[point_id])
            for point_id in wanted
            if seen[point_id] is not None
        }

    def entry_of(self, document: int) -> Entry | None:
        """A document by its key."""
        for point_id, payload in self._seen().items():
            if payload is not None and Entry(point_id, payload).key == document:
                return Entry(point_id, payload)
        calls = self._calls
        has_number = calls.equals("number", document >> 32)
        for point in calls.all(calls.documents, [has_number], ["number"]):
            if Entry(point.id, point.payload).key == document:
                return self.entries([point.id]).get(point.id)
        return None

    def live(self, points: Iterable[Any], scope: Scope) -> list[Row]:
        """The passages that are of their documents, and which are in a scope."""
        listed = list(points)
        entries = self.entries({point.payload["document"] for point in listed})
        inside = {point_id for point_id, entry in entries.items() if fits(entry.payload, scope)}
        found: list[Row] = []
        for point in listed:
            said = point.payload
            entry = entries.get(said["document"])
            if entry is not None and entry.generation == said["generation"]:
                key = entry.key_of(said["serial"])
                found.append(Row(key, entry.key, said, entry.id in inside, entry.chunks))
        return found

    def hold(self, point_id: str, known: Entry | None) -> None:
        """A document is about to change: other readings see it as it was."""
        self._calls.hold(point_id, None if known is None else known.payload, self._snapshot)

    def forget(self, entry: Entry) -> None:
        """Have this reading see a document as it is now."""
        if self._snapshot is not None:
            self._snapshot.documents.pop(entry.id, None)

    def _seen(self) -> dict[str, Any]:
        return {} if self._snapshot is None else dict(self._snapshot.documents)
