"""SemanticChunker: headings and code apart, paragraphs gathered to a target."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from spanwise.cutting.caps import OVERLAP_SHARE, Cap
from spanwise.cutting.levels import CLUSTER, SENTENCE, WORD, Level, line_level, paragraph_level
from spanwise.cutting.markdown import Structure
from spanwise.cutting.pack import LONG, Packer
from spanwise.cutting.sizers import exceeds
from spanwise.cutting.spans import Spans, end_at, start_at
from spanwise.documents import Document
from spanwise.errors import OptionError, require
from spanwise.splitters.atoms import Atom, refine_atom
from spanwise.splitters.base import (
    Strategy,
    cap_pieces,
    default_overlap,
    limits,
    show,
)

__all__ = ["SemanticChunker", "by_structure"]

# Default overlap and target; from the agentos reference.
_USUAL = (100, 1000)
_MAX = 2000
_MIN = 200


class _Segment(NamedTuple):
    """A stretch between hard boundaries: its text begins at ``head`` under its headings."""

    start: int
    head: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticChunker(Strategy):
    """Cuts at headings and around fences, and gathers paragraphs to ``target_size``.

    A blank line ends a chunk once it holds ``target_size``. What exceeds
    ``max_size`` (unset: twice the target) is cut at blank lines, then sentences,
    then words, packed to ``target_size``; a fence at its lines. A piece below
    ``min_size`` (unset: 200, or a fifth of a smaller target) that is neither
    heading nor code joins the one before, within ``max_size``. ``overlap``
    (unset: 100, or a tenth of a smaller target) comes on top, also within it.
    With ``respect_lines`` what exceeds it is cut at line ends before words, and
    a table between rows.

    >>> SemanticChunker(overlap=0).split("# A\\n\\nOne.\\n\\n# B\\n\\nTwo.").texts
    ['# A\\n\\nOne.', '# B\\n\\nTwo.']
    """

    name: ClassVar[str] = "by_structure"

    target_size: int = _USUAL[1]
    max_size: int | Cap | None = None
    min_size: int | None = None
    overlap: int | None = None
    preserve_code_blocks: bool = True
    respect_headings: bool = True
    respect_lines: bool = False

    def __post_init__(self) -> None:
        limits(
            chunk_size=self.target_size,
            overlap=self.overlap,
            max_size=self.max_size,
            sizer=self.sizer,
            size_name="target_size",
        )
        if self.min_size is not None:
            require("min_size", self.min_size, 0)
            if self.min_size >= self.largest:
                raise OptionError(
                    f"min_size={self.min_size} is not below max_size={self.largest}; "
                    "lower min_size, or pass 0 to turn merging off"
                )

    @property
    def largest(self) -> int:
        """``max_size``, or twice the target where it is unset or in another unit."""
        if isinstance(self.max_size, int):
            return self.max_size
        return self.target_size * _MAX // _USUAL[1]

    def keeps_whole(self, size: int) -> bool:
        """Whether code or a table of a size is cut by ``max_size`` alone."""
        return size <= self.largest

    @property
    def on_top(self) -> int:
        """Its overlap; a cap in the unit of the size leaves it free by a smaller target."""
        if isinstance(self.max_size, int):
            return 0
        return default_overlap(self.overlap, self.target_size, _USUAL)

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text, structure = document.text, document.outline.structure
        largest = self.largest
        overlap = default_overlap(self.overlap, self.target_size, _USUAL)
        # Overlap comes on top, also within what a chunk may hold.
        target = min(self.target_size, largest - min(overlap, largest // OVERLAP_SHARE))
        floor = min(_MIN, target * _MIN // _USUAL[1]) if self.min_size is None else self.min_size
        measure = self.measure(text)
        packer = Packer(text, measure, target, largest)
        paragraph = paragraph_level(text)
        line = line_level(text)
        lined = (paragraph, line, SENTENCE, WORD, CLUSTER)
        levels = (paragraph, SENTENCE, *([line] if self.respect_lines else []), WORD, CLUSTER)
        exempt: list[bool] = []
        boundary = "document"
        if structure.front:
            packer.fill(0, structure.front, lined[1:], boundary, most=largest)
            exempt = [True] * len(packer)
        for segment in self._segments(text, structure):
            if packer.starts or boundary != "document":
                boundary = segment.kind
            for start, head, end in self._gathered(packer, paragraph, segment):
                first = len(packer)
                whole = packer.measure.holds(start, end, largest)
                if whole:
                    packer.add(start, end, boundary)
                elif segment.kind == "fence":
                    refine_atom(packer, Atom(head, end, "fence"), start, lined, boundary)
                else:
                    for at, stop, table in self._parts(structure, packer, start, head, end):
                        if stop - at < end - start and packer.measure.holds(at, stop, largest):
                            packer.add(at, stop, boundary)
                        elif table:
                            refine_atom(packer, table, at, lined, boundary)
                        elif exceeds(measure, at, stop, target, LONG):
                            # A long list, or text without blank lines: no edit ripples to its end.
                            packer.fill_best(at, stop, lined, boundary, (head, stop + 1))
                        else:
                            packer.fill(at, stop, levels, boundary, head=head, most=largest)
                        boundary = "block"
                keeps = whole and segment.kind != "paragraph" and start == segment.start
                exempt += [keeps] * (len(packer) - first)
                boundary = paragraph.name
        self._merge(packer, exempt, floor, largest)
        return show(cap_pieces(packer, levels), overlap, structure.front, largest)

    def _parts(
        self, structure: Structure, packer: Packer, start: int, head: int, end: int
    ) -> Iterator[tuple[int, int, Atom | None]]:
        """A stretch in tables, if their rows are kept, and what is between them.

        What stands above a table goes with it where both fit, and with the header of one that is
        cut; a heading always does.
        """
        text, holds = packer.text, packer.measure.holds
        ends, starts = structure.atom_ends, structure.atom_starts
        at = start
        for i in range(bisect_right(ends, start), bisect_left(starts, end)):
            if structure.atom_kinds[i] != "table" or not self.respect_lines:
                continue
            table = max(start, starts[i])
            stop = end_at(text, table, min(end, ends[i]))
            whole = holds(table, stop, self.largest)
            goes_with = holds(at, stop, self.largest) if whole else packer.fits(at, table)
            if max(at, head) < table and not goes_with:
                yield at, end_at(text, at, table), None
                at = table
            yield at, stop, Atom(table, stop, "table")
            at = start_at(text, stop, end)
        if at < end:
            yield at, end, None

    def _segments(self, text: str, structure: Structure) -> Iterator[_Segment]:
        """The stretches between hard boundaries; bare headings go with what follows."""
        marks: list[tuple[int, int, str]] = []
        if self.respect_headings:
            marks += (
                (start, end, "heading")
                for start, end in zip(structure.heading_starts, structure.heading_ends, strict=True)
            )
        if self.preserve_code_blocks:
            marks += (
                (start, end, "fence")
                for start, end, kind in zip(
                    structure.atom_starts, structure.atom_ends, structure.atom_kinds, strict=True
                )
                if kind == "fence"
            )
        marks.sort()
        at, bare = structure.front, -1
        for i, (start, end, kind) in enumerate([*marks, (len(text), len(text), "end")]):
            lo = start_at(text, at, start)
            if lo < start:
                yield _Segment(lo, lo, end_at(text, lo, start), "paragraph")
            if kind == "end":
                break
            at = end
            opens = start_at(text, start, end)
            if kind == "fence":
                closes = end_at(text, opens, end)
                yield _Segment(opens if bare < 0 else bare, opens, closes, "fence")
                bare = -1
                continue
            following = marks[i + 1][0] if i + 1 < len(marks) else len(text)
            bare = opens if bare < 0 else bare
            head = start_at(text, end, following)
            if head < following or following == len(text):
                yield _Segment(bare, head, end_at(text, bare, following), "heading")
                at, bare = following, -1

    def _gathered(
        self, packer: Packer, paragraph: Level, segment: _Segment
    ) -> Iterator[tuple[int, int, int]]:
        """A segment in stretches that hold at least the target, their last line end included.

        In a long one a stretch that is over the largest size goes back to the best blank line
        that fits. Fences are not gathered.
        """
        start, head, end, kind = segment
        if kind == "fence":
            yield start, head, end
            return
        text, measure, target = packer.text, packer.measure, packer.size
        long = exceeds(measure, start, end, target, LONG)
        while start < end:
            low = max(head, measure.fit(start, end, max(0, target - 2)))
            cut = -1
            if long:
                far = measure.fit(start, end, min(target * 2, self.largest))
                cut = packer.choose(paragraph, low, low, far, end)
            if cut < 0:
                cut = paragraph.first(text, low, end)
                if long and not measure.holds(start, end_at(text, start, cut), self.largest):
                    half = max(head, packer.half(start, far, end))
                    back = packer.choose(paragraph, head, half, far, end)
                    cut = back if back >= 0 else cut
            yield start, head, end_at(text, start, cut)
            start = head = start_at(text, cut, end)

    def _merge(self, packer: Packer, exempt: list[bool], floor: int, largest: int) -> None:
        """Let what is too short end the piece before it."""
        starts, ends, boundaries = packer.starts, packer.ends, packer.boundaries
        measure, out = packer.measure, 0
        for i, keep in enumerate(exempt):
            if (
                out
                and not keep
                and measure.holds(starts[i], ends[i], floor - 1)
                and measure.holds(starts[out - 1], ends[i], largest)
            ):
                ends[out - 1] = ends[i]
            else:
                starts[out], ends[out], boundaries[out] = starts[i], ends[i], boundaries[i]
                out += 1
        del starts[out:], ends[out:], boundaries[out:]


by_structure = SemanticChunker
