"""The blocks of an RTF file as they are gathered: paragraphs, list items, tables and text boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from spanwise.cutting.surrogates import readable
from spanwise.loaders.builder import Builder

__all__ = ["Flow", "Paragraph"]

_BULLET = "- "

_Block = Callable[[Builder], object]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """What is said of the paragraph being read; what a group says of it ends with the group."""

    style: int = 0
    outline: int = -1
    depth: int = 0
    in_table: bool = False


@dataclass(slots=True)
class Flow:
    """A stretch of blocks: the text, a note, a text box.

    ``lines`` are the paragraphs of the cell being read, ``label`` is the number of the paragraph;
    ``outlines`` are the heading levels of paragraph styles, from 0.
    """

    blocks: list[_Block] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    boxes: list[_Block] = field(default_factory=list)
    now: Paragraph = field(default_factory=Paragraph)
    label: str = ""

    def end(self, outlines: Mapping[int, int]) -> None:
        """End what is still open."""
        self.end_paragraph(outlines)
        self.end_table()

    def end_paragraph(self, outlines: Mapping[int, int]) -> None:
        """End a paragraph; in a table it is a line of its cell."""
        now = self.now
        if now.in_table and (self.pieces or self.lines or self.cells):
            self.end_line()
            return
        text, label = self._ended()
        if text or not (now.in_table or self.cells):
            self.end_table()  # an empty paragraph parts two tables
        if text:
            outline = now.outline if now.outline >= 0 else outlines.get(now.style, -1)
            self.blocks.append(_block(text, outline, label, now.depth))
        self.blocks += self.boxes
        self.boxes = []

    def end_line(self) -> None:
        """End a paragraph of a cell; a number without text is shown too."""
        text, label = self._ended()
        mark = _mark(label)
        self.lines.append(mark + text if mark != _BULLET or text else "")

    def end_cell(self) -> None:
        """End a cell and the paragraph that it ends with."""
        self.end_line()
        self.cells.append("\n".join(self.lines))
        self.lines = []

    def end_row(self) -> None:
        """End a row of a table."""
        self.rows.append(self.cells)
        self.cells = []

    def end_table(self) -> None:
        """End a table, and a cell and a row that nothing ended."""
        if self.lines:
            self.end_cell()
        if self.cells:
            self.end_row()
        rows, self.rows = self.rows, []
        if rows:
            self.blocks.append(lambda builder: builder.table(rows))

    def _ended(self) -> tuple[str, str]:
        """The text and the label of a paragraph that ends."""
        text, label = "".join(self.pieces), self.label
        self.pieces, self.label = [], ""
        return readable(text).strip(), readable(label).strip()


def _block(text: str, outline: int, label: str, depth: int) -> _Block:
    """What writes a paragraph: as a heading, a list item or itself."""
    mark = _mark(label)
    if 0 <= outline < 9:
        title = mark + text if mark != _BULLET else text
        return lambda builder: builder.heading(outline + 1, title)
    if mark:
        return lambda builder: builder.item(text, depth=depth, mark=mark)
    return lambda builder: builder.paragraph(text)


def _mark(label: str) -> str:
    """What stands before an item with a label: its number, or the sign of any bullet."""
    if any(map(str.isalnum, label)):
        return f"{label} "
    return _BULLET if label else ""
