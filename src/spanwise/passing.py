"""Chunks of a text that goes by: their lines, pages, places and ids, counted on the way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from spanwise.chunks import ID_BYTES, Chunk
from spanwise.context import LONGEST_HEADER, join_context
from spanwise.cutting.spans import first_ink
from spanwise.cutting.tallies import Tally
from spanwise.loaders.records import next_line, next_row
from spanwise.splitters.parts import JOINER, ByPart
from spanwise.splitters.steps import Step
from spanwise.splitters.text import ByRecord, ByText

__all__ = ["By", "Header", "Makes", "Places"]

# What cuts while a text goes by.
By = ByText | ByRecord | ByPart


@dataclass(frozen=True, slots=True)
class Header:
    """The first row of a file of rows, which helps to read the others."""

    start: int = 0
    end: int = 0
    text: str = ""

    def room(self, by: By) -> int:
        """What it takes of the cap, as `ByPart` leaves it free."""
        if by.limit is None or not self.text:
            return 0
        kept = by.limit.sizer(self.text) + JOINER
        return kept if kept <= by.limit.limit // 2 else 0

    def above(self, start: int, body: int) -> str:
        """The header, where a chunk is below it and does not show it."""
        shown_here = self.end <= body and self.start < start
        return self.text if shown_here and len(self.text) <= LONGEST_HEADER else ""


class Makes:
    """Makes chunks of steps: their lines, pages, places and ids."""

    def __init__(
        self,
        uri: str,
        meta: dict[str, Any],
        by: By,
        places: Places | None,
        paged: bool,
        header: Header,
    ) -> None:
        self.uri = uri
        self.meta = meta
        self.limit = by.limit
        self.places = places
        self.paged = paged
        self.header = header
        self.index = 0
        self._ids = Tally()
        self._text = ""
        self._base = 0
        self._at = 0  # up to where lines and pages are counted
        self._lines = self._pages = 1
        self._last = -1

    def see(self, text: str, base: int) -> None:
        """Take the text that the next steps speak of; ``base`` is where it begins."""
        self._text = text
        self._base = base

    def pass_to(self, keep: int) -> int:
        """Count up to a position before which text is dropped; the position to drop it at."""
        if self.places is not None:
            self.places.reach(self._text, keep, False)
            keep = min(keep, self.places.at)
        text = self._text
        if keep and text[keep - 1] == "\r" and text[keep : keep + 1] in ("\n", ""):
            keep -= 1
        if keep > self._at:
            self._count(keep)
        if self.places is not None:
            self.places.shift(keep)
        self._at -= keep
        self._last -= keep
        return keep

    def chunk(self, step: Step) -> Chunk:
        """The chunk of a step."""
        start, body, end, boundary = step
        text, uri = self._text, self.uri
        base, limit = self._base, self.limit
        # As `Chunks.drop_overlap_for_context`, in a text without headings.
        if limit and start < body:
            context = self._context(body, body, text[body:end])
            if start <= self._last or not limit.allows(join_context(context, text[start:end])):
                start = body
        self._last = start
        self._count(body)
        first_line, first_page = self._lines, self._pages
        self._count(end - 1)
        name = blake2b(text[body:end].encode("utf-8", "surrogatepass"), digest_size=ID_BYTES)
        count = self._ids.count(int.from_bytes(name.digest(), "big"))
        plain = f"{uri}#{name.hexdigest()}"
        made = Chunk(
            id=plain if count == 1 else f"{plain}-{count}",
            doc_uri=uri,
            index=self.index,
            start=base + start,
            body=base + body,
            end=base + end,
            text=text[start:end],
            boundary=boundary,
            pages=tuple(map(str, range(first_page, self._pages + 1))) if self.paged else (),
            lines=(first_line, self._lines),
            context=self._context(start, body, text[start:end]),
            meta=self.meta,
            places=self.places.between(body, end) if self.places is not None else (),
        )
        self.index += 1
        return made

    def _context(self, start: int, body: int, text: str) -> str:
        """The header of the rows, where the cap has room for it."""
        above = self.header.above(self._base + start, self._base + body)
        fitting = not above or self.limit is None or self.limit.allows(join_context(above, text))
        return above if fitting else ""

    def _count(self, position: int) -> None:
        """Count the lines and pages up to a position, which is not between CR and LF."""
        text, at = self._text, self._at
        self._lines += text.count("\n", at, position)
        if text.find("\r", at, position) >= 0:
            both = text.count("\r\n", at, position)
            self._lines += text.count("\r", at, position) - both
        if self.paged:
            self._pages += text.count("\f", at, position)
        self._at = position


class Places:
    """The rows or records that lie where the next chunks do, found while the text comes in.

    What lies before ``begin`` has a number and is none of them.
    """

    def __init__(self, kind: str, delimiter: str, begin: int = 0) -> None:
        self.kind = kind
        self.delimiter = delimiter
        self.begin = begin
        self.at = 0
        self._number = 1
        self._found: deque[tuple[int, int, int]] = deque()

    def next(self, text: str, at: int, final: bool) -> tuple[int, int] | None:
        """Where the part from ``at`` ends and the next begins, or None while not certain."""
        if not self.delimiter:
            return next_line(text, at, final)
        row = next_row(text, at, self.delimiter, final)
        return row and row[:2]

    def reach(self, text: str, position: int, final: bool) -> bool:
        """Whether every part that begins before a position is found."""
        while self.at < position:
            found = self.next(text, self.at, final)
            if found is None:
                return False
            end, following = found
            inked = self.at < end if self.delimiter else first_ink(text, self.at, end) < end
            if inked and self.at >= self.begin:
                self._found.append((self.at, end, self._number))
            self.at = following
            self._number += 1
        return True

    def between(self, start: int, end: int) -> tuple[str, ...]:
        """What a person calls the parts that ``[start, end)`` touches; later ones come after."""
        while self._found and self._found[0][1] <= start:
            self._found.popleft()
        labels = [number for begins, ends, number in self._found if begins < end]
        if not labels:
            return ()
        first, last = labels[0], labels[-1]
        return (f"{self.kind} {first}" if first == last else f"{self.kind}s {first}-{last}",)

    def shift(self, dropped: int) -> None:
        """Text was dropped before the positions."""
        self.at -= dropped
        self.begin -= dropped
        self._found = deque((s - dropped, e - dropped, number) for s, e, number in self._found)
