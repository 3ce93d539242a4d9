"""What is true of a whole index in Qdrant: its format, its state, how much it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from spanwise.errors import StoreError
from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_points import DOCUMENT, STATE
from spanwise.index.qdrant_words import Total
from spanwise.index.queries import WORDS_VERSION

__all__ = ["Totals"]

_FORMAT = 1


class Totals:
    """What is true of the whole index: its state, and how many passages and words it has."""

    def __init__(self, calls: QdrantCalls) -> None:
        self._calls = calls
        self._counted: tuple[str, Total] | None = None

    def prepare(self) -> bool:
        """Have the collections and their state; whether they are made now.

        Raises `StoreError` for those of a newer version or of another kind, and where there are
        none to read.
        """
        calls = self._calls
        state = None
        if calls.exists(calls.documents):
            state = calls.get(calls.documents, [STATE]).get(STATE)
        if state is not None:
            self._check_format(state.payload)
            return False
        if calls.read_only:
            raise calls.absent()
        if calls.exists(calls.documents) and calls.count(calls.documents):
            raise StoreError(
                f"{calls.name}: its collections are of another kind; give another prefix"
            )
        calls.make_all()
        fresh = {
            "kind": "state",
            "format": _FORMAT,
            "settings": "{}",
            "token": uuid4().hex,
            "number": 0,
            "stems": True,
            "words": WORDS_VERSION,
            "scale": 1.0,
            "low": 1.0,
            "making": "",
        }
        calls.put(calls.documents, [(STATE, {}, fresh)])
        return True

    def _check_format(self, state: Mapping[str, Any]) -> None:
        if state["format"] > _FORMAT:
            raise StoreError(
                f"{self._calls.name}: it has format {state['format']}, and this version of "
                f"spanwise reads up to {_FORMAT}; install a newer spanwise, or index into another "
                "place"
            )

    def state(self) -> dict[str, Any]:
        """The payload of the one point that says it."""
        found = self._calls.get(self._calls.documents, [STATE])
        if STATE not in found:
            raise self._calls.absent()
        payload: dict[str, Any] = found[STATE].payload
        return payload

    def change(self, **said: Any) -> None:
        """Set parts of the state, all at once."""
        self._calls.set(self._calls.documents, [STATE], said)

    def total(self, state: Mapping[str, Any]) -> Total:
        """How many passages and words there are; counted anew when another process wrote."""
        if self._counted is None or self._counted[0] != state["token"]:
            calls = self._calls
            is_document = [calls.equals("kind", DOCUMENT)]
            counts = [
                (point.payload["chunks"], point.payload["length"])
                for point in calls.all(calls.documents, is_document, ["chunks", "length"])
            ]
            passages, length = (sum(each) for each in zip((0, 0), *counts, strict=True))
            self._counted = (state["token"], Total(passages, length, 0.0))
        return self._counted[1]._replace(low=state["low"])

    def count(
        self, state: Mapping[str, Any], was: Mapping[str, Any], now: Mapping[str, Any]
    ) -> None:
        """Count a document that changed since ``state`` was read, and have others count anew."""
        total = None
        if self._counted is not None and self._counted[0] == state["token"]:
            total = self._counted[1]
            total = total._replace(
                passages=total.passages + now.get("chunks", 0) - was.get("chunks", 0),
                length=total.length + now.get("length", 0) - was.get("length", 0),
            )
        token = uuid4().hex
        self._counted = None
        self.change(token=token, number=max(state["number"], now.get("number", 0)))
        if total is not None:
            self._counted = (token, total)
