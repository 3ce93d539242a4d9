"""A document built block by block: its text, its structure and the parts of its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from spanwise.cutting.markdown import Structure
from spanwise.documents import Document
from spanwise.parts import PartRow, Parts

__all__ = ["Builder", "is_sparse"]

_BETWEEN_BLOCKS = "\n\n"
_BETWEEN_ITEMS = "\n"
_DEEPEST = 6
_MOST_PLACES = 20  # of a table, for each of its cells


class Builder:
    """Writes a text and notes where its headings, code, tables and parts lie.

    Blocks are parted by a blank line, list items by a line end. Nothing is escaped and nothing
    is read as Markdown: the structure is what was said here, whatever the text looks like. A
    block without ink is left out.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._at = 0
        self._structure = Structure()
        self._parts: list[PartRow] = []
        self._tight = False  # the last block was a list item
        self._apart = False  # the next block stands under no heading

    @property
    def position(self) -> int:
        """Where the text ends so far, in code points."""
        return self._at

    def heading(self, level: int, text: str) -> int:
        """A heading, on one line; where it begins, or -1."""
        title = " ".join(text.split())
        self._apart = self._apart and not title
        start = self._block(title)
        if start >= 0:
            self._mark(start, self._at, max(1, min(_DEEPEST, level)))
        return start

    def apart(self) -> None:
        """What is written next stands under no heading above: another slide, the footnotes.

        A heading that comes next says itself where it belongs.
        """
        self._apart = bool(self._structure.heading_starts)

    def paragraph(self, text: str) -> int:
        """A paragraph as it is, without the white space at its ends; where it begins, or -1."""
        return self._block(text.strip())

    def item(self, text: str, *, depth: int = 0, mark: str = "- ") -> int:
        """A list item; ``depth`` counts the lists around its own."""
        inked = text.strip()
        return self._block("  " * depth + mark + inked, tight=True) if inked else -1

    def code(self, text: str) -> int:
        """Code or other preformatted text, kept whole while it fits; line ends as given."""
        lines = text.strip("\r\n")
        start = self._block(lines.rstrip())
        if start >= 0:
            self._atom("fence", start)
        return start

    def table(
        self, rows: Sequence[Sequence[str]], *, part: str = "", labels: Sequence[str] = ()
    ) -> int:
        """A table, its first row the header: cells between bars, a rule below the header.

        With ``part`` each row is a part of that kind, labelled by the ``labels``. Cells are put
        on one line, a bar in one is escaped. Rows are filled up to the widest one, but where that
        would be nearly all of the table.
        """
        width = max(map(len, rows), default=0)
        if not width:
            return -1
        least = width
        if is_sparse(len(rows) * width, sum(map(len, rows))):
            least = 0
        lines = [_row(row, least if i else width) for i, row in enumerate(rows)]
        lines.insert(1, "|" + " --- |" * width)
        start = self._block("\n".join(lines))
        self._atom("table", start)
        if part:
            at = start
            for i, line in enumerate(lines):
                if i != 1:
                    self.note(part, labels[i - (i > 1)], at, at + len(line))
                at += len(line) + 1
        return start

    def note(self, kind: str, label: str, start: int, end: int, **meta: Any) -> None:
        """A part of the source that is already written."""
        self._parts.append((kind, start, end, label, meta))

    @contextmanager
    def part(self, kind: str, label: str, **meta: Any) -> Iterator[None]:
        """Everything written inside is a part of the source: a page, a slide, a sheet.

        It begins with its first block; without one it is an empty part where the text ends.
        """
        written = len(self._pieces)
        yield
        inside = self._pieces[written:]
        # The first piece is what parts the block from the one before.
        gap = len(inside[0]) if inside and written else 0
        start = self._at - sum(map(len, inside)) + gap
        self._parts.append((kind, start, self._at, label, meta))

    def document(self, *, uri: str, media_type: str, meta: Mapping[str, Any]) -> Document:
        """What was written, as a document."""
        order = sorted(self._parts, key=itemgetter(2), reverse=True)
        order.sort(key=itemgetter(1))
        return Document(
            text="".join(self._pieces),
            uri=uri,
            media_type=media_type,
            parts=Parts.of_rows(order),
            meta=meta,
            structure=self._structure,
        )

    def _block(self, text: str, *, tight: bool = False) -> int:
        """Write a block without white space at its end; where it begins, or -1 without ink."""
        if not text:
            return -1
        start = self._at
        if self._pieces:
            gap = _BETWEEN_ITEMS if tight and self._tight else _BETWEEN_BLOCKS
            self._pieces.append(gap)
            start += len(gap)
        if self._apart:
            self._apart = False
            self._mark(start, start, 0)
        self._tight = tight
        self._pieces.append(text)
        self._at = start + len(text)
        return start

    def _mark(self, start: int, end: int, level: int) -> None:
        found = self._structure
        found.heading_starts.append(start)
        found.heading_ends.append(end)
        found.heading_levels.append(level)
        found.title_starts.append(start)
        found.title_ends.append(end)

    def _atom(self, kind: str, start: int) -> None:
        self._structure.atom_kinds.append(kind)
        self._structure.atom_starts.append(start)
        self._structure.atom_ends.append(self._at)


def is_sparse(places: int, cells: int) -> bool:
    """Whether nearly all places of a table are empty, which a few cells may make without end."""
    return places > _MOST_PLACES * cells + 1000


def _row(cells: Sequence[str], least: int) -> str:
    """A row of a table on one line, of so many cells at least."""
    if len(cells) < least:
        cells = [*cells, *[""] * (least - len(cells))]
    line = f"| {' | '.join(cells)} |"
    # Most rows hold no bar, no empty cell and no white space but single spaces between words.
    if line.isprintable() and "  " not in line and line.count("|") == len(cells) + 1:
        return line
    lines = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(lines)} |"
