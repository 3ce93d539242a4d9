"""Changes of a document in Qdrant: all at once for readers, and cleaned up after a kill.

An intent is written first: a point that says which generations a change concerns. Then what is new
is written beside what is old; the document's own point, which names its generation, makes it the
one that counts; then all generations that do not count are deleted, and the intent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_points import DOCUMENT, INTENT, STATE, Address, Entry, owner_of

__all__ = ["Changes"]

# Seconds after which a change of another process is taken to be broken off: the longest document
# takes less. A folder has one process only, so there none is waited for.
_BROKEN_OFF = 3600


class Changes:
    """The changes that were begun, by this process or by others."""

    def __init__(self, calls: QdrantCalls) -> None:
        self._calls = calls

    @contextmanager
    def begun(
        self, document: str, places: Sequence[Sequence[int]], *, labels: bool = False
    ) -> Iterator[None]:
        """Within it a document changes; ``places`` are its generations of before and after.

        At its end what does not count is deleted. A fault leaves that to the next change.
        """
        shared = self._calls.shared
        intent = str(uuid4())
        payload = {
            "kind": INTENT,
            "document": document,
            "places": [list(place) for place in places],
            "relabel": labels,
            "when": int(time.time()),
        }
        shared.running.add(intent)
        done = False
        try:
            self._calls.put(self._calls.documents, [(intent, {}, payload)])
            yield
            done = True
        finally:
            if not done:
                self._fail(intent)
        self._calls.when_unread(partial(self._end, intent, payload))

    def _end(self, intent: str, payload: dict[str, Any]) -> None:
        done = False
        try:
            self.settle(intent, payload)
            self._calls.shared.running.discard(intent)
            done = True
        finally:
            if not done:
                self._fail(intent)

    def _fail(self, intent: str) -> None:
        self._calls.shared.running.discard(intent)
        self._calls.shared.failed.add(intent)

    def settle(self, intent: str, payload: dict[str, Any]) -> None:
        """Delete what an intent speaks of and does not count, and the intent."""
        calls = self._calls
        point_id = payload["document"]
        found = calls.get(calls.documents, [point_id])
        entry = Entry(point_id, found[point_id].payload) if point_id in found else None
        for number, generation, chunks, parts in payload["places"]:
            if entry is None or entry.generation != generation:
                address = Address(number, generation, owner_of(point_id))
                calls.drop(calls.passages, address.ids(0, chunks))
                calls.drop(calls.texts, address.ids(0, parts))
        if payload["relabel"] and entry is not None:
            ids = [*calls.get(calls.passages, entry.address.ids(0, entry.chunks), False)]
            calls.set(calls.passages, ids, {"labels": entry.payload["labels"]})
        calls.drop(calls.documents, [intent])
        calls.shared.failed.discard(intent)

    def repair(self) -> None:
        """Settle the changes that were broken off."""
        calls = self._calls
        for intent in list(self._intents()):
            if self._is_broken_off(intent):
                self.settle(intent.id, intent.payload)
                calls.set(calls.documents, [STATE], {"token": uuid4().hex})
        # One whose intent was never written has nothing to settle.
        calls.shared.failed.intersection_update({STATE})

    def _intents(self) -> Iterator[Any]:
        return self._calls.all(self._calls.documents, [self._calls.equals("kind", INTENT)])

    def _is_broken_off(self, intent: Any) -> bool:
        shared = self._calls.shared
        if intent.id in shared.running:
            return False
        is_old = time.time() - intent.payload["when"] > _BROKEN_OFF
        return self._calls.is_local or is_old or intent.id in shared.failed

    def leftovers(self) -> dict[str, list[str]]:
        """Passages and pieces of no document and no change, by their collection."""
        calls, found = self._calls, {}
        for collection in (calls.passages, calls.texts):
            points = [
                (point.id, (point.payload["document"], point.payload["generation"]))
                for point in calls.all(collection, payload=["document", "generation"])
            ]
            # Read after them, and in this order: what is written now has an intent until its
            # document names it.
            known = {
                (intent.payload["document"], place[1])
                for intent in self._intents()
                for place in intent.payload["places"]
            }
            is_document = [calls.equals("kind", DOCUMENT)]
            for point in calls.all(calls.documents, is_document, ["generation"]):
                known.add((point.id, point.payload["generation"]))
            found[collection] = [point_id for point_id, owner in points if owner not in known]
        return found

    def sweep(self) -> None:
        """Delete all leftovers."""
        for collection, ids in self.leftovers().items():
            self._calls.drop(collection, ids)
