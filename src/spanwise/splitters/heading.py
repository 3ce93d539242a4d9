"""by_heading: the sections an author marked, cut inside only where they do not fit."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import ClassVar

from spanwise.cutting.caps import Capped
from spanwise.cutting.floor import merge_backward
from spanwise.cutting.levels import Level, between, block_level, paragraph_level
from spanwise.cutting.outline import Outline
from spanwise.cutting.pack import LONG, RUNT, Packer, checksum
from spanwise.cutting.sizers import exceeds
from spanwise.cutting.spans import Spans, end_at, start_at, texts_below, trim
from spanwise.documents import Document
from spanwise.errors import EmptyDocumentWarning, OptionError, require, shown
from spanwise.splitters.atoms import Atom, atoms_of, refine_atom
from spanwise.splitters.base import (
    Sized,
    below_line,
    cap_pieces,
    default_floor,
    leave_for_context,
    show,
)
from spanwise.splitters.paragraph import USUAL, close_floor

__all__ = ["Blocks", "ByHeading", "by_heading"]

_DEEPEST = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHeading(Sized):
    """Cuts at Markdown headings; a section that fits stays whole.

    A longer section is cut between blocks, a block that does not fit at lines,
    sentences, clauses, words and clusters. Fences and tables up to
    ``chunk_size`` stay whole. A heading never stands alone: it goes with the
    first piece of its text, and bare headings with what follows. Short sections
    (body below ``min_size``; unset: the smaller of 250 and a quarter of
    ``chunk_size``) join the next one; front matter is a passage of its own.
    ``overlap`` (unset: 150, or 15 % of a smaller size) comes on top of
    ``chunk_size``. Headings deeper than ``max_level`` do not cut. A document of
    bare headings gives no chunk and an `EmptyDocumentWarning`.

    >>> chunks = by_heading(overlap=0, min_size=0).split("# A\\n\\nOne.\\n\\n## B\\n\\nTwo.")
    >>> [chunk.heading_path for chunk in chunks]
    [('A',), ('A', 'B')]
    """

    name: ClassVar[str] = "by_heading"
    usual: ClassVar[tuple[int, int]] = USUAL

    chunk_size: int = USUAL[1]
    min_size: int | None = None
    max_level: int = _DEEPEST

    def __post_init__(self) -> None:
        Sized.__post_init__(self)
        default_floor(self.min_size, self.chunk_size)
        require("max_level", self.max_level, 1)
        if self.max_level > _DEEPEST:
            raise OptionError(
                f"max_level={shown(self.max_level)} is above 6, the deepest heading; give 1 to 6"
            )

    def keeps_whole(self, size: int) -> bool:
        """Whether code or a table of a size is cut by ``max_size`` alone."""
        return size <= self.chunk_size

    @property
    def on_top(self) -> int:
        """Its overlap."""
        return self.borrowed

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text, structure = document.text, document.outline.structure
        overlap, size = self.borrowed, self.chunk_size
        packer = Packer(text, self.measure(text), size)
        blocks = Blocks(packer, document.outline, deeper_than=self.max_level)
        floor = min(default_floor(self.min_size, self.chunk_size), size - 1)
        front = structure.front
        if front:
            packer.fill(0, front, below_line(text), "document")
        if blocks.heading_starts:
            _pack_sections(blocks, front, floor)
            if not packer.starts and blocks.heading_starts:
                warnings.warn(
                    f"{document.uri or 'a text'}: nothing but headings "
                    f"({len(blocks.heading_starts)}), so no chunk; use whole_document, or "
                    "--by whole, to keep them",
                    EmptyDocumentWarning,
                    stacklevel=4,
                )
        else:
            first = len(packer.starts)
            start, end = trim(text, front, len(text))
            if start < end:
                blocks.pack(start, end, start, "block" if first else "document")
                close_floor(packer, first, floor)
        return show(cap_pieces(packer, blocks.levels), overlap, front)


class Blocks:
    """Cuts sections of Markdown between blocks; atoms stay whole while they fit."""

    __slots__ = (
        "atom_ends",
        "atom_kinds",
        "atom_starts",
        "block",
        "deeper_ends",
        "deeper_starts",
        "deeper_texts",
        "heading_ends",
        "heading_starts",
        "levels",
        "outline",
        "packer",
    )

    def __init__(self, packer: Packer, outline: Outline, *, deeper_than: int) -> None:
        text, structure = packer.text, outline.structure
        self.packer = packer
        self.outline = outline
        self.atom_starts, self.atom_ends, self.atom_kinds = atoms_of(text, structure)
        self.block: Level = block_level(text, self.atom_starts, self.atom_ends)
        self.levels = (paragraph_level(text), *below_line(text))
        self.heading_starts = structure.heading_starts
        self.heading_ends = structure.heading_ends
        self.deeper_starts: list[int] = []
        self.deeper_ends: list[int] = []
        if deeper_than < _DEEPEST:
            shallow = [level <= deeper_than for level in structure.heading_levels]
            marks = list(zip(self.heading_starts, self.heading_ends, shallow, strict=True))
            self.heading_starts = [start for start, _, keep in marks if keep]
            self.heading_ends = [end for _, end, keep in marks if keep]
            self.deeper_starts = [start for start, _, keep in marks if not keep]
            self.deeper_ends = [end for _, end, keep in marks if not keep]
        self.deeper_texts = texts_below(text, self.deeper_starts, self.deeper_ends)
        if self.deeper_starts:
            packer.inner = self

    def pack(self, start: int, end: int, head: int, boundary: str) -> None:
        """Cut ``[start, end)``, both at ink; the text under its heading begins at ``head``."""
        packer, text, block = self.packer, self.packer.text, self.block
        long = exceeds(packer.measure, start, end, packer.size, LONG)
        p = start
        while p < end:
            limit = packer.furthest(p, end)
            if limit == end:
                packer.add(p, end, boundary)
                return
            if self.deeper_starts:
                head = self.below(max(p, head), end)
            low = head if p < head < limit else p
            c = packer.under_head(p, head, end) if p < limit <= head else -1
            if c > p:
                packer.add(p, end_at(text, p, c), boundary)
                p = start_at(text, c, end)
                boundary = between(packer.ends[-1], p)
                continue
            if long:
                half = max(low, packer.half(p, limit, end))
                c = packer.choose(block, low, half, limit, end)
                if c >= 0 and not packer.fits(p, end_at(text, p, c)):
                    c = -1
            if c < 0:
                c = packer.last(block, p, low, limit)
            if c < 0:
                c = block.first(text, max(low, limit), end)
                c = self._refine(p, c, head if low < head < c else low, boundary)
            else:
                if self.deeper_starts:
                    c = self.above(low, c)
                packer.add(p, end_at(text, p, c), boundary)
            p = start_at(text, c, end)
            boundary = block.name

    def _refine(self, p: int, stop: int, head: int, boundary: str) -> int:
        """Cut one block that does not fit: an atom may, when its heading is left out.

        Returns where the block ends: more may have fitted where the atom alone did not, as sizes
        need not grow with the text.
        """
        packer = self.packer
        end = end_at(packer.text, p, stop)
        i = bisect_right(self.atom_starts, head) - 1
        if i < 0 or head >= self.atom_ends[i]:
            # Outside atoms a block holds no blank line.
            packer.fill_best(p, end, self.levels[1:], boundary, (head, end + 1))
            return stop
        start = max(head, self.atom_starts[i])
        atom = Atom(start, self.atom_ends[i], self.atom_kinds[i])
        if packer.fits(atom.start, atom.end) and packer.allows(p, atom.end):
            packer.add(p, atom.end, boundary)
        else:
            refine_atom(packer, atom, p, self.levels, boundary)
        return atom.end

    def leave_room(self, capped: Capped, heading: int) -> None:
        """Leave room in the cap for the path above a heading's text."""
        at = bisect_right(self.outline.structure.heading_starts, self.heading_starts[heading]) - 1
        leave_for_context(capped, self.outline, at if heading >= 0 else -1)

    def above(self, low: int, c: int) -> int:
        """The cut, moved above headings that cut nothing and would end the piece."""
        above = c
        while above > low:
            last = end_at(self.packer.text, low, above)
            i = bisect_left(self.deeper_ends, last)
            if (
                i == len(self.deeper_ends)
                or end_at(self.packer.text, self.deeper_starts[i], self.deeper_ends[i]) != last
            ):
                return above
            above = self.deeper_starts[i]
        return c

    def below(self, p: int, end: int) -> int:
        """Where the text begins under the headings at ``p`` that cut nothing."""
        i = bisect_right(self.deeper_starts, p) - 1
        return min(self.deeper_texts[i], end) if i >= 0 and p < self.deeper_ends[i] else p


class _Sections:
    """Runs of headings with the text below them, as flat lists.

    The text begins at ``heads[i]``; ``last_headings[i]`` is the index of the
    last heading of the run, -1 above the first; ``shorts[i]`` the size of a
    text below the floor, else -1. Headings without text at the end lie in
    ``bare``, empty when there are none.
    """

    __slots__ = ("bare", "ends", "heads", "last_headings", "shorts", "starts")

    def __init__(self, blocks: Blocks, front: int, floor: int) -> None:
        packer = blocks.packer
        text, measure, size, exact = packer.text, packer.measure, packer.size, packer.exact
        ends, count = blocks.heading_ends, len(blocks.heading_starts)
        starts = [*blocks.heading_starts, len(text)]
        self.starts: list[int] = []
        self.heads: list[int] = []
        self.ends: list[int] = []
        self.shorts: list[int] = []
        self.last_headings: list[int] = []
        self.bare = (len(text), len(text))
        start = head = start_at(text, front, starts[0])
        stop = starts[0]
        i = -1 if head < stop else 0
        while i < count:
            if i >= 0:
                start, stop = starts[i], starts[i + 1]
                if not text.startswith("#", start):
                    start = start_at(text, start, stop)
                head = ends[i] + 2
                # Most texts begin below a blank line (the common case of `start_at`).
                if not (head < stop and text[head - 1] == "\n" and "!" <= text[head] <= "~"):
                    head = start_at(text, ends[i], stop)
                while head == stop and i + 1 < count:
                    i += 1
                    stop = starts[i + 1]
                    head = start_at(text, ends[i], stop)
                if head == stop:
                    self.bare = (start, end_at(text, start, stop))
                    break
            end = stop - 2
            # Most end above a blank line (the common case of `end_at`).
            if not (head < end and text[end:stop] == "\n\n" and "!" <= text[end - 1] <= "~"):
                end = end_at(text, head, stop)
            if exact:
                body = end - head if end - head < floor and end - start <= size else -1
            elif measure.holds(head, end, floor - 1) and measure.holds(start, end, size):
                body = measure.size(head, end)
            else:
                body = -1
            self.starts.append(start)
            self.heads.append(head)
            self.ends.append(end)
            self.shorts.append(body)
            self.last_headings.append(i)
            i += 1

    def stretch_end(self, i: int) -> int:
        """One past the last of the short sections that ``i`` begins."""
        while i < len(self.shorts) and self.shorts[i] >= 0:
            i += 1
        return i


def _pack_sections(blocks: Blocks, front: int, floor: int) -> None:
    """Cut every section; short ones join the next, a bare one at the end the last."""
    packer = blocks.packer
    measure, exact, add, size = packer.measure, packer.exact, packer.add, packer.size
    merge = max(floor, RUNT)
    bound = size + merge - 1
    runt = floor if floor else min(RUNT, size // 2)
    found = _Sections(blocks, front, floor)
    starts, ends, shorts = found.starts, found.ends, found.shorts
    opened, held = -1, 0  # the first of a run of short sections, and the size of their texts
    stretch, long = 0, False  # where the short sections end, and whether they are many
    boundary = "document"
    if front:
        boundary = "block" if found.last_headings[:1] == [-1] else "heading"
    i = 0
    while i < len(starts):
        start, end = starts[i], ends[i]
        if packer.capped is not None:
            blocks.leave_room(packer.capped, found.last_headings[i])
        # Room left free of a cap makes a difference to what was measured before.
        known = shorts[i] >= 0 and packer.capped is None
        whole = end - start <= size if exact else known or packer.fits(start, end)
        if whole and shorts[i] >= 0:
            if opened >= 0 and not measure.holds(starts[opened], end, bound):
                add(starts[opened], ends[i - 1], boundary)
                opened, boundary = -1, "heading"
            if i >= stretch:
                stretch = found.stretch_end(i)
                long = sum(shorts[i:stretch]) > LONG * floor
            if opened < 0:
                opened, held = i, 0
            held += shorts[i]
            if held >= floor:
                if long:
                    i = _best_close(packer, found, opened, i, stretch)
                add(starts[opened], ends[i], boundary)
                opened, boundary = -1, "heading"
            i += 1
            continue
        first = len(packer.starts)
        if whole:
            add(start, end, boundary)
        else:
            blocks.pack(start, end, found.heads[i], boundary)
        if opened >= 0:
            if measure.holds(starts[opened], packer.ends[first], bound):
                packer.starts[first] = starts[opened]
            else:
                packer.starts.insert(first, starts[opened])
                packer.ends.insert(first, ends[i - 1])
                packer.boundaries.insert(first, boundary)
                packer.boundaries[first + 1] = "heading"
            opened = -1
            first += 1
        if not whole:
            merge_backward(packer, first, packer.below(first, runt), bound)
        boundary = "heading"
        i += 1
    if opened >= 0:
        add(starts[opened], ends[-1], boundary)
        boundary = "heading"
    if found.bare[0] < found.bare[1]:
        _close_bare(blocks, *found.bare, boundary, front, size + 2 * merge)


def _best_close(packer: Packer, found: _Sections, opened: int, last: int, stretch: int) -> int:
    """The last section of a run among many short ones, from ``last`` on.

    Before the section with the largest checksum, while the run fits: so that an
    edit does not move the runs to the end of the stretch.
    """
    best, largest = last, -1
    while last + 1 < stretch and packer.fits(found.starts[opened], found.ends[last]):
        number = checksum(packer.text, found.starts[last + 1])
        if number > largest:
            best, largest = last, number
        last += 1
    return best


def _close_bare(
    blocks: Blocks, start: int, end: int, boundary: str, front: int, bound: int
) -> None:
    """Headings without text at the end: part of the last passage, else one of their own."""
    packer = blocks.packer
    last = len(packer.starts) - 1
    if last >= 0 and packer.starts[last] >= front:
        if packer.measure.holds(packer.starts[last], end, bound):
            packer.ends[last] = end
            return
    elif last < 0:
        return
    packer.fill(start, end, blocks.levels[1:], boundary)


by_heading = ByHeading
