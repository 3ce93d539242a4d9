"""by_layout: code and tables whole, prose between them in windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.cutting.levels import SENTENCE, WORD, line_level, paragraph_level
from spanwise.cutting.pack import Packer
from spanwise.cutting.spans import Spans, end_at, start_at
from spanwise.cutting.windows import Aim, Windows
from spanwise.documents import Document
from spanwise.splitters.atoms import Atom, atoms_of, refine_atom
from spanwise.splitters.base import ANY_SIZE, Sized, below_line
from spanwise.splitters.text import cap_spans

__all__ = ["ENGINE_USUAL", "ByLayout", "by_layout"]

# Default overlap and size of the engine strategies; from the agentos reference.
ENGINE_USUAL = (64, 512)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByLayout(Sized):
    """Keeps every fence and table whole and cuts the prose between them in windows.

    An atom is cut only by ``max_size``: a table between rows, code at lines.
    A heading goes with what follows it. Prose is cut at blank lines, lines,
    sentences or words, whichever is strongest in the back half of a window;
    ``overlap`` (unset: 64, or an eighth of a smaller size) counts inside
    ``chunk_size``.

    >>> by_layout(chunk_size=40, overlap=0).split("Text.\\n\\n|a|b|\\n|-|-|\\n|1|2|").texts
    ['Text.', '|a|b|\\n|-|-|\\n|1|2|']
    """

    name: ClassVar[str] = "by_layout"
    usual: ClassVar[tuple[int, int]] = ENGINE_USUAL

    chunk_size: int = ENGINE_USUAL[1]

    def keeps_whole(self, size: int) -> bool:
        """Whether code or a table of a size is cut by ``max_size`` alone."""
        return True

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text, structure = document.text, document.outline.structure
        measure = self.measure(text)
        overlap, size = self.borrowed, self.chunk_size
        levels = (paragraph_level(text), line_level(text), SENTENCE, WORD)
        inside = (levels[0], *below_line(text))
        aim = Aim(levels=levels, back_half=True, inside=False)
        starts, ends = structure.heading_starts, document.outline.heading_ends
        windows = Windows(text, measure, size, min(overlap, size - 1), aim, starts, ends)
        out = Spans()
        at, boundary = structure.front, "document"
        if structure.front:
            windows.cut(0, structure.front, boundary, out)
            boundary = "block"
        # An atom that is over the cap is filled up to it.
        packer = Packer(text, measure, size if self.limit is None else ANY_SIZE)
        heading = 0
        for atom in map(Atom, *atoms_of(text, structure)):
            # Headings right above an atom belong to it.
            while heading < len(ends) and ends[heading] <= atom.start:
                heading += 1
            start = start_at(text, atom.start, atom.end)
            above = heading - 1
            while above >= 0 and starts[above] >= at:
                end = end_at(text, starts[above], start)
                if end != ends[above]:
                    break
                start = start_at(text, starts[above], end)
                above -= 1
            windows.cut(at, start, boundary, out)
            if out.starts:
                boundary = atom.kind
            first = len(packer)
            if packer.allows(start, atom.end):
                packer.add(start, atom.end, boundary)
            else:
                refine_atom(packer, atom, start, inside, boundary)
            out.starts += packer.starts[first:]
            out.bodies += packer.starts[first:]
            out.ends += packer.ends[first:]
            out.boundaries += packer.boundaries[first:]
            at, boundary = atom.end, "block"
        windows.cut(at, len(text), boundary, out)
        return cap_spans(text, measure, out)


by_layout = ByLayout
