"""What a document in Qdrant consists of: pieces of its text, passages, and their words."""

from __future__ import annotations

import json
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from spanwise.index.qdrant_calls import QdrantCalls
from spanwise.index.qdrant_points import (
    DOCUMENT,
    PIECE,
    ROW,
    STATE,
    Address,
    Entry,
    chunk_row,
    passage_payload,
    pieces_of,
    read,
)
from spanwise.index.qdrant_totals import Totals
from spanwise.index.qdrant_words import Vocabulary, entry_of, sparse_of
from spanwise.index.queries import WORDS_VERSION
from spanwise.index.records import row_of
from spanwise.index.rows import ChunkRow, DocumentRow

__all__ = ["Parts"]

# So many pieces of texts are kept.
_KEPT = 256

# The sparse vectors are made anew when the average length is so many times another one; an index
# of fewer passages is searched whole in one request anyhow.
_DRIFT, _FEW = 1.5, 64


class Parts:
    """The points of documents beside their own."""

    def __init__(self, calls: QdrantCalls, totals: Totals) -> None:
        self._calls = calls
        self._totals = totals
        self._kept: OrderedDict[str, Any] = OrderedDict()
        self.vocabulary = Vocabulary(calls)

    # --- read -------------------------------------------------------------------------------

    def whole(self, entry: Entry) -> tuple[DocumentRow, list[ChunkRow]] | None:
        """A document with its text and passages, or None where any is missing."""
        said = entry.payload
        parts = self.parts(entry)
        rows = self.rows(entry.address, 0, entry.chunks, list(ROW))
        if None in parts or None in rows:
            return None
        data = [part["data"] for part in parts if part is not None]
        text = "".join(read(piece) for piece in data[: said["pieces"]])
        layout = b64decode("".join(data[said["pieces"] :]))
        row = row_of({**said, "layout": layout}, text, read)
        return row, [chunk_row(payload) for payload in rows if payload is not None]

    def parts(self, entry: Entry) -> list[dict[str, Any] | None]:
        """The payload of each piece of a document's text and layout, None for one that is gone."""
        ids = entry.address.ids(0, entry.parts)
        found = self._calls.get(self._calls.texts, ids)
        return [found[point_id].payload if point_id in found else None for point_id in ids]

    def rows(
        self, address: Address, first: int, end: int, payload: Any = True
    ) -> list[dict[str, Any] | None]:
        """The payload of each passage in a range of numbers, None for one that is not there."""
        ids = address.ids(first, end)
        found = self._calls.get(self._calls.passages, ids, payload)
        return [found[point_id].payload if point_id in found else None for point_id in ids]

    def text(self, address: Address, start: int, end: int) -> str | None:
        """A part of the text of a generation; None where it is not all there."""
        with self._calls.shared.lock:
            return self._text(address, start, end) if start < end else ""

    def _text(self, address: Address, start: int, end: int) -> str | None:
        ids = address.ids(start // PIECE, (end - 1) // PIECE + 1)
        absent = [point_id for point_id in ids if point_id not in self._kept]
        found = self._calls.get(self._calls.texts, absent)
        pieces = []
        for point_id in ids:
            payload = self._kept.pop(point_id, None) or (
                point_id in found and found[point_id].payload
            )
            if not payload:
                return None
            self._kept[point_id] = payload
            pieces.append(read(payload["data"]))
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        first = start // PIECE * PIECE
        return "".join(pieces)[start - first : end - first]

    # --- write ------------------------------------------------------------------------------

    def serials(self, known: Entry | None, chunks: Sequence[ChunkRow]) -> tuple[list[int], int]:
        """The number of each passage, kept where it stays; and the first that none had."""
        kept, fresh = {}, 0
        if known is not None:
            for said in self.rows(known.address, 0, known.chunks, ["name", "digest", "serial"]):
                if said is not None:
                    kept[read(said["name"]), said["digest"]] = said["serial"]
            fresh = known.payload["serials"]
        found = []
        for each in chunks:
            serial = kept.pop((each.name, each.digest.hex()), fresh)
            fresh += serial == fresh
            found.append(serial)
        return found, fresh

    def put(
        self, entry: Entry, row: DocumentRow, chunks: Sequence[ChunkRow], serials: Sequence[int]
    ) -> int:
        """Write a generation; how many words its passages have."""
        pieces, layouts = pieces_of(row)
        parts = [*pieces, *layouts]
        owned = {"document": entry.id, "generation": entry.generation}
        self._calls.put(
            self._calls.texts,
            [
                (at, {}, {**owned, "data": data})
                for at, data in zip(entry.address.ids(0, len(parts)), parts, strict=True)
            ],
        )
        state = self._totals.state()
        scale = state["scale"]
        if not self._totals.total(state).passages:
            lengths = [entry_of(row.document.text, each, False)[0]["length"] for each in chunks]
            scale = max(1.0, sum(lengths) / max(1, len(lengths)))
            self._totals.change(scale=scale, low=scale)
        return self._put_passages(entry, row, chunks, serials, state["stems"], scale)

    def _put_passages(
        self,
        entry: Entry,
        row: DocumentRow,
        chunks: Sequence[ChunkRow],
        serials: Sequence[int],
        stems: bool,
        scale: float,
    ) -> int:
        """Write passages and their words; how many words they have."""
        surface: set[str] = set()
        points, length = [], 0
        ids = entry.address.ids(0, len(chunks))
        for at, (point, each, serial) in enumerate(zip(ids, chunks, serials, strict=True)):
            said, words = entry_of(row.document.text, each, stems)
            surface |= words
            length += said["length"]
            payload = passage_payload(entry, at, serial, each) | said
            points.append((point, sparse_of(self._calls.models, said, scale), payload))
        self.vocabulary.add(surface)
        self._calls.put(self._calls.passages, points)
        return length

    def write_words(self, stems: bool, scale: float) -> None:
        """Write the words of all passages anew; where it is broken off, `end_words` goes on."""
        calls = self._calls
        calls.shared.failed.add(STATE)
        low = min(scale, self._totals.state()["low"])
        self._totals.change(making=json.dumps([stems, scale]), low=low, token=uuid4().hex)
        for point in list(calls.all(calls.documents, [calls.equals("kind", DOCUMENT)])):
            entry = Entry(point.id, point.payload)
            found = self.whole(entry)
            if found is not None:  # else it is damaged, which `damage` tells
                serials, _ = self.serials(entry, found[1])
                self._put_passages(entry, *found, serials, stems, scale)
        self._totals.change(
            stems=stems,
            words=WORDS_VERSION,
            scale=scale,
            low=scale,
            making="",
            token=uuid4().hex,
        )
        calls.shared.failed.discard(STATE)

    def end_words(self) -> None:
        """Go on where writing words was broken off, or where words are read in another way now."""
        state = self._totals.state()
        if state["making"] or state["words"] != WORDS_VERSION:
            stems, scale = json.loads(state["making"] or "[true, 0]")
            if not scale:
                stems, scale = state["stems"], state["scale"]
            self.write_words(stems, scale)
        self._calls.shared.failed.discard(STATE)

    def follow_average(self) -> None:
        """Make the sparse vectors anew where the average length has become quite another."""
        state = self._totals.state()
        total = self._totals.total(state)
        drift = total.average / state["scale"]
        if total.passages >= _FEW and drift and not 1 / _DRIFT <= drift <= _DRIFT:
            self.write_words(state["stems"], total.average)
