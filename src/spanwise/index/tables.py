"""Documents and passages in the tables that SQLite and PostgreSQL have alike."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from spanwise.index.records import KEPT, TOLD, row_of, stored_of
from spanwise.index.rows import ChunkRow, DocumentRow, Passage, StoredDocument, chunk_of, merged
from spanwise.index.texts import text_of

__all__ = ["COLUMNS", "Changed", "Tables", "changed"]

# The columns of a passage, in the order of `ChunkRow`.
COLUMNS = 'name, start, body, "end", boundary, digest, about'

# So many code points of texts are kept decoded.
_KEPT_TEXT = 1 << 23

_STORED = f"{', '.join(TOLD)}, (SELECT count(*) FROM chunks WHERE document = d.id)"
_PASSAGE = ", ".join(f"c.{name}" for name in COLUMNS.split(", "))

# Rows that a statement answers, by its values; and a condition with its values.
Read = Callable[[str, Sequence[Any]], list[Any]]
Which = tuple[str, Sequence[Any]]


class Tables:
    """What is read of documents and passages; the texts asked for last are kept decoded.

    ``mark`` stands for a value in a statement. All but `forget` belongs into a reading, which
    makes what it reads of one moment, and threads take turns.
    """

    __slots__ = ("_kept", "_mark", "_read", "_texts")

    def __init__(self, read: Read, mark: str) -> None:
        self._read = read
        self._mark = mark
        self._texts: OrderedDict[tuple[int, str], str] = OrderedDict()
        self._kept = 0  # their code points

    def stored(self, which: Which) -> list[StoredDocument]:
        """What is told of documents, in order of their uris."""
        rows = self._read(
            f"SELECT {_STORED} FROM documents AS d WHERE {which[0]} ORDER BY uri", which[1]
        )
        return [stored_of(dict(zip((*TOLD, "chunks"), row, strict=True)), text_of) for row in rows]

    def whole(self, which: Which) -> tuple[DocumentRow, list[ChunkRow]] | None:
        """One document with its text and its passages, or None."""
        rows = self._read(
            f"SELECT id, text, {', '.join(KEPT)} FROM documents WHERE {which[0]}", which[1]
        )
        if not rows:
            return None
        key, text, *values = rows[0]
        row = row_of(dict(zip(KEPT, values, strict=True)), text_of(text), text_of)
        chunks = self._read(
            f"SELECT {COLUMNS} FROM chunks WHERE document = {self._mark} ORDER BY position", (key,)
        )
        return row, [ChunkRow(*each) for each in chunks]

    def uris(self, which: Iterable[Which]) -> dict[int, str]:
        """What the documents of these conditions are called, by their keys."""
        return {
            key: text_of(uri)
            for condition, values in which
            for key, uri in self._read(f"SELECT id, uri FROM documents WHERE {condition}", values)
        }

    def picked(self, keys: Sequence[int], which: Iterable[Which]) -> list[Passage]:
        """The passages of these conditions, in the order of their keys; the gone are left out."""
        found = {passage.key: passage for each in which for passage in self._passages(each)}
        return [found[key] for key in keys if key in found]

    def between(self, document: int, first: int, last: int) -> list[Passage]:
        """The passages of a document from number ``first`` to ``last``, both included."""
        which = "c.document = {0} AND c.position BETWEEN {0} AND {0} ORDER BY c.position"
        return [*self._passages((which.format(self._mark), (document, first, last)))]

    def text(self, document: int, start: int, end: int) -> str:
        """A part of the text of a document."""
        rows = self._read(
            f"SELECT content_hash FROM documents WHERE id = {self._mark}", (document,)
        )
        return self._text(document, rows[0][0])[start:end] if rows else ""

    def forget(self) -> None:
        """Keep no text."""
        self._texts.clear()
        self._kept = 0

    def _passages(self, which: Which) -> Iterator[Passage]:
        metadata: dict[int, dict[str, Any]] = {}
        for row in self._read(
            "SELECT c.id, c.document, c.position, d.namespace, d.uri, d.content_hash, d.meta, "
            f"d.changes, {_PASSAGE} FROM chunks AS c JOIN documents AS d ON d.id = c.document "
            f"WHERE {which[0]}",
            which[1],
        ):
            key, document, position, namespace, uri, content, meta, changes, *own = row
            place = ChunkRow(*own)
            text = self._text(document, content)[place.start : place.end]
            if document not in metadata:
                metadata[document] = merged(json.loads(meta), json.loads(changes))
            chunk = chunk_of(place, text, text_of(uri), position, metadata[document])
            yield Passage(key, document, text_of(namespace), place.digest, chunk)

    def _text(self, document: int, content_hash: str) -> str:
        name = (document, content_hash)
        if name not in self._texts:
            ((data,),) = self._read(
                f"SELECT text FROM documents WHERE id = {self._mark}", (document,)
            )
            self._texts[name] = text_of(data)
            self._kept += len(self._texts[name])
            while len(self._texts) > 1 and self._kept > _KEPT_TEXT:
                _, dropped = self._texts.popitem(last=False)
                self._kept -= len(dropped)
        self._texts.move_to_end(name)
        return self._texts[name]


class Changed(NamedTuple):
    """What the passages of a document become: those that stay as they are are not in it.

    ``gone`` are keys and rows; ``moved`` position, columns and key; ``fresh`` position and row.
    """

    gone: list[tuple[int, ChunkRow]]
    moved: list[tuple[Any, ...]]
    fresh: list[tuple[int, ChunkRow]]


def changed(rows: Iterable[Sequence[Any]], chunks: Sequence[ChunkRow]) -> Changed:
    """What to write; ``rows`` are key, position and columns of the passages that there are."""
    old = {}
    for key, position, *columns in rows:
        row = ChunkRow(*columns)
        old[row.name, row.digest] = (key, position, row)
    fresh, moved = [], []
    for position, row in enumerate(chunks):
        kept = old.pop((row.name, row.digest), None)
        if kept is None:
            fresh.append((position, row))
        elif kept[1:] != (position, row):
            moved.append((position, *row, kept[0]))
    return Changed([(key, row) for key, _, row in old.values()], moved, fresh)
