"""The blocks of a page of HTML: lists by their numbers, tables by their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spanwise.loaders.builder import is_sparse

__all__ = ["MOST_COLUMNS", "Block", "List", "Table", "next_mark", "number_in", "opened_list"]

# A cell that spans rows is said again in each, unless it is long: a few bytes of markup could
# otherwise multiply it. A table that is nearly empty is written as blocks.
_LONGEST_REPEATED = 200
MOST_COLUMNS = 1000  # of one cell, as in the HTML standard

_number = re.compile(r"[ \t\n\r\f]*([+-]?[0-9]{1,9})").match


@dataclass(slots=True)
class Block:
    """One block of a page; the text of a table is in its rows.

    ``lines`` are the lines of the source it stands on, where they are several: where in the text
    each begins (of a table, with which row), and its number.
    """

    kind: str
    at: int
    text: str
    level: int = 0
    mark: str = ""
    rows: Sequence[list[str]] = ()
    lines: Sequence[tuple[int, int]] = ()


@dataclass(slots=True)
class List:
    """An open list: its number and step where it is ordered."""

    name: str
    number: int | None = None
    step: int = 1
    style: str = "1"
    item_open: bool = False
    mark: str = ""  # of the open item
    fresh: bool = False  # it is not yet written


@dataclass(slots=True)
class Table:
    """An open table, and what was open around its open cell."""

    at: int
    before: list[Block]
    lists: list[List]
    above: list[Block] = field(default_factory=list)  # its caption, and text outside of cells
    rows: list[list[tuple[list[Block], int, int]]] = field(default_factory=list)
    sections: set[int] = field(default_factory=set)
    headed: bool = False
    layout: bool = False
    section_open: bool = False
    row_open: bool = False
    cell_open: bool = False
    ignored: int = 0  # tables inside that are too deep

    def blocks(self, line_of: Callable[[int], int]) -> list[Block]:
        """The table as one block, or the blocks of its cells where it only places them."""
        cells = [cell for row in self.rows for cell, _, _ in row]
        inside = [block for cell in cells for block in cell]
        placing = any(
            block.kind in ("heading", "table") or (block.kind == "code" and "\n" in block.text)
            for block in inside
        )
        rows = [] if self.layout or (placing and not self.headed) else self._grid()
        width = max((col + 1 for row in rows for col, text in row.items() if text), default=0)
        kept = [number for number, row in enumerate(rows) if any(row.values())]
        rows = [rows[number] for number in kept]
        if width < 2 or is_sparse(len(rows) * width, len(cells)):
            return [*self.above, *inside]
        grid = [[row.get(col, "") for col in range(width)] for row in rows]
        lines: list[tuple[int, int]] = []
        for i, number in enumerate(kept):
            # A row of cells that hang down from above has no place of its own.
            placed = [block.at for cell, _, _ in self.rows[number] for block in cell[:1]]
            lines.append((i, line_of(placed[0]) if placed else lines[-1][1]))
        several = lines[0][1] < lines[-1][1]
        return [*self.above, Block("table", self.at, "", rows=grid, lines=lines if several else ())]

    def _grid(self) -> list[dict[int, str]]:
        """Each row's cells by their column: across rows said again, across columns once."""
        grid = []
        cells, places = sum(map(len, self.rows)), 0
        hanging: dict[int, tuple[int, str]] = {}  # rows left, text
        for number, row in enumerate(self.rows):
            if number in self.sections:
                hanging = {}
            here = {col: text for col, (_, text) in hanging.items()}
            hanging = {col: (left - 1, text) for col, (left, text) in hanging.items() if left > 1}
            col = 0
            for blocks, columns, rows in row:
                while col in here:
                    col += 1
                text = " ".join(_cell_text(block) for block in blocks)
                here[col] = text
                again = text if len(text) <= _LONGEST_REPEATED else ""
                # The places of a wide cell are only noted where they keep others out.
                for i in range(columns if rows > 1 else 0):
                    hanging[col + i] = (rows - 1, "" if i else again)
                col += columns
            grid.append(here)
            places += len(here) + len(hanging)
            if is_sparse(places, cells):
                return []
        return grid


def _cell_text(block: Block) -> str:
    if block.kind == "table":
        return "; ".join(" ".join(filter(None, row)) for row in block.rows)
    return block.mark.lstrip() + block.text


def number_in(text: str | None, default: int) -> int:
    """A whole number as browsers read one from an attribute."""
    found = _number(text) if text else None
    return int(found[1]) if found else default


def opened_list(name: str, attributes: dict[str, str]) -> List:
    """A list that begins, with its first number where its items have numbers."""
    if name != "ol":
        return List(name)
    backwards = "reversed" in attributes
    style = attributes.get("type", "1").strip()
    # A reversed list counts its items first; without a start its numbers are not known.
    start = (
        None if backwards and "start" not in attributes else number_in(attributes.get("start"), 1)
    )
    return List(name, start, -1 if backwards else 1, style)


def next_mark(opened: List, attributes: dict[str, str]) -> str:
    """The mark of the next item of a list."""
    if opened.name == "ol" and "value" in attributes:
        opened.number = number_in(attributes["value"], opened.number or 1)
    if opened.number is None:
        return "- "
    number = opened.number
    opened.number += opened.step
    letters = str(number)
    if opened.style in ("a", "A") and number > 0:
        letters = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(97 + rest) + letters
    elif opened.style in ("i", "I") and 0 < number < 4000:
        letters = ""
        for worth, sign in _ROMAN:
            letters += sign * (number // worth)
            number %= worth
    return (letters.upper() if opened.style in ("A", "I") else letters) + ". "


_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("m", "cm", "d", "cd", "c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"),
        strict=True,
    )
)
