"""A page of HTML as it is written: its blocks, and the lines that they stood on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from spanwise.loaders.builder import Builder
from spanwise.loaders.html_blocks import (
    Block,
)

__all__ = ["Page"]


@dataclass(slots=True)
class Page:
    """What a page of HTML holds: its blocks in order, and what it says of itself.

    ``lined``: whether it is kept which lines of the HTML the blocks stand on.
    """

    lined: bool = True
    title: str = ""
    lang: str = ""
    description: str = ""
    blocks: list[Block] = field(default_factory=list)
    line_ends: list[int] = field(default_factory=list)

    @property
    def first_heading(self) -> str:
        """The text of its first heading, or nothing."""
        found = next((block.text for block in self.blocks if block.kind == "heading"), "")
        return " ".join(found.split())

    def write(self, builder: Builder) -> None:
        """Write the blocks; lines of the HTML that are kept are parts, ``source line``.

        What stands on one line shares one part.
        """
        noted, start, end = 0, -1, builder.position
        for block in self.blocks:
            at = _write(builder, block)
            written = builder.position
            if written == end:
                continue
            if block.kind == "table" and block.lines:
                # Its rows have been noted as they were written.
                if noted:
                    builder.note("source line", str(noted), start, end)
                noted, end = 0, written
                continue
            usual = ((at, self.line_of(block.at)),)
            for place, line in _places(block, at) if block.lines else usual:
                if line != noted and place < written:
                    if self.lined and noted:
                        builder.note("source line", str(noted), start, min(end, place))
                    noted, start = line, place
                end = written
        if self.lined and noted:
            builder.note("source line", str(noted), start, end)

    def line_of(self, place: int) -> int:
        """The number of the line of the HTML that a place in it is on."""
        return bisect_right(self.line_ends, place) + 1


def _places(block: Block, start: int) -> Iterator[tuple[int, int]]:
    """Where each line of the source begins in a block that is written, and its number."""
    prefix = 2 * block.level + len(block.mark) if block.kind == "item" else 0
    (first, line), *more = block.lines
    yield start + first, line
    indent, counted = prefix, 0
    for offset, line in more:
        if prefix:  # lines that an item holds are indented
            indent += prefix * block.text.count("\n", counted, offset)
            counted = offset
        yield start + offset + indent, line


def _write(builder: Builder, block: Block) -> int:
    """Write a block; where it begins."""
    if block.kind == "heading":
        return builder.heading(block.level, block.text)
    if block.kind == "item":
        indent = "  " * block.level + " " * len(block.mark)
        text = block.text.replace("\n", "\n" + indent)
        return builder.item(text, depth=block.level, mark=block.mark)
    if block.kind == "code":
        return builder.code(block.text)
    if block.kind == "table":
        labels = [str(line) for _, line in block.lines]
        return builder.table(block.rows, part="source line" if labels else "", labels=labels)
    return builder.paragraph(block.text)
