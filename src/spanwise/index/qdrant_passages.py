"""Passages in Qdrant as they are shown, each with its part of the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spanwise.errors import StoreError
from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_parts import Parts
from spanwise.index.qdrant_points import OWN, ROW, Entry, chunk_row, read
from spanwise.index.qdrant_readings import Readings
from spanwise.index.rows import Passage, Scope, chunk_of, merged

__all__ = ["Passages"]

# What a passage is shown by.
_SHOWN = (*OWN, *ROW)


class Passages:
    """The passages of a store; all belongs into a reading, which sees each document once."""

    def __init__(self, calls: QdrantCalls, parts: Parts, readings: Readings) -> None:
        self._calls = calls
        self._parts = parts
        self._readings = readings

    def uris(self, documents: Iterable[int]) -> dict[int, str]:
        """What documents are called, by their keys; those that are gone are left out."""
        entries = {key: self._readings.entry_of(key) for key in documents}
        return {key: read(entry.payload["uri"]) for key, entry in entries.items() if entry}

    def picked(self, keys: Sequence[int]) -> list[Passage]:
        """Passages by their keys, in that order; those that are gone are left out."""
        if not keys:
            return []
        has_key = self._calls.is_any("key", map(str, dict.fromkeys(keys)))
        found = self._shown(self._calls.all(self._calls.passages, [has_key], list(_SHOWN)))
        return [found[key] for key in keys if key in found]

    def between(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""
        entry = self._readings.entry_of(document)
        if entry is None:
            return []
        ids = entry.address.ids(max(0, first), min(last + 1, entry.chunks))
        points = self._calls.get(self._calls.passages, ids, list(_SHOWN))
        if len(points) < len(ids):
            raise self._changed(entry)
        found = self._shown(points[point_id] for point_id in ids)
        return sorted(found.values(), key=lambda each: each.chunk.index)

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""
        entry = self._readings.entry_of(document)
        return "" if entry is None else self._text(entry, start, end)

    def _shown(self, points: Iterable[Any]) -> dict[int, Passage]:
        found: dict[int, Passage] = {}
        listed = list(points)
        entries = self._readings.entries({point.payload["document"] for point in listed})
        for row in self._readings.live(listed, Scope("")):
            entry = entries[row.payload["document"]]
            place = chunk_row(row.payload)
            text = self._text(entry, place.start, place.end)
            metadata = merged(entry.meta, entry.changes)
            uri, at = read(entry.payload["uri"]), row.payload["position"]
            found[row.key] = Passage(
                row.key,
                row.document,
                read(entry.payload["namespace"]),
                place.digest,
                chunk_of(place, text, uri, at, metadata),
            )
        return found

    def _text(self, entry: Entry, start: int, end: int) -> str:
        end = min(end, entry.payload["characters"])
        text = self._parts.text(entry.address, start, end)
        if text is None:
            raise self._changed(entry)
        return text

    def _changed(self, entry: Entry) -> StoreError:
        """What a reading has seen of a document is not there any more."""
        return StoreError(
            f"{self._calls.name}: {read(entry.payload['uri'])} was changed by another process "
            "while it was read, or it is damaged; search again, or run verify"
        )
