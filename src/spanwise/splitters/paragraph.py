"""by_paragraph: blank lines, packed up to a size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.cutting.floor import merge_backward, merge_forward
from spanwise.cutting.levels import paragraph_level
from spanwise.cutting.pack import RUNT, Packer
from spanwise.cutting.spans import Spans
from spanwise.documents import Document
from spanwise.splitters.base import (
    Sized,
    below_line,
    cap_pieces,
    default_floor,
    show,
)

__all__ = ["USUAL", "ByParagraph", "by_paragraph", "close_floor"]

# Default overlap and size; from the footprint reference, measured there.
USUAL = (150, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByParagraph(Sized):
    """Cuts at blank lines and packs paragraphs up to ``chunk_size``.

    A form feed always cuts. A paragraph that does not fit is cut at lines, then
    sentences, clauses, words and clusters. A piece below ``min_size`` (unset:
    the smaller of 250 and a quarter of ``chunk_size``) joins the next one, the
    last one the piece before. ``overlap`` (unset: 150, or 15 % of a smaller size) comes on
    top of ``chunk_size``.

    >>> by_paragraph(chunk_size=12, overlap=0).split("One line.\\n\\nAnother.").texts
    ['One line.', 'Another.']
    """

    name: ClassVar[str] = "by_paragraph"
    usual: ClassVar[tuple[int, int]] = USUAL

    chunk_size: int = USUAL[1]
    min_size: int | None = None

    def __post_init__(self) -> None:
        Sized.__post_init__(self)
        default_floor(self.min_size, self.chunk_size)

    @property
    def on_top(self) -> int:
        """Its overlap."""
        return self.borrowed

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        overlap, size = self.borrowed, self.chunk_size
        packer = Packer(text, self.measure(text), size)
        levels = (paragraph_level(text), *below_line(text))
        floor = min(default_floor(self.min_size, self.chunk_size), size - 1)
        boundary = "document"
        for start, end in pages(text):
            first = len(packer.starts)
            packer.fill(start, end, levels, boundary)
            close_floor(packer, first, floor)
            boundary = "page"
        return show(cap_pieces(packer, levels), overlap)


def pages(text: str) -> list[tuple[int, int]]:
    """The stretches between form feeds."""
    found, at = [], 0
    while (feed := text.find("\f", at)) >= 0:
        found.append((at, feed))
        at = feed + 1
    found.append((at, len(text)))
    return found


def close_floor(packer: Packer, first: int, floor: int) -> None:
    """Merge runts backward, then what is below the floor forward, within the bound of SIZE."""
    size = packer.size
    merge, runt = max(floor, RUNT), min(RUNT, size // 2)
    short = packer.below(first, max(floor, runt))
    runts = [i for i in short if packer.is_below(packer.starts[i], packer.ends[i], runt)]
    if merge_backward(packer, first, runts, size + RUNT - 1) or floor < runt:
        short = packer.below(first, floor)
    merge_forward(packer, first, short, floor, size + merge - 1, size + 2 * merge - 1)


by_paragraph = ByParagraph
