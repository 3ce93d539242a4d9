"""A section of Markdown that does not fit: between its blocks, then inside them.

The headings, fences and tables are those that the library's block scanner finds (it has tests of
its own); all else is done here.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from zlib import crc32

from spanwise.cutting.markdown import Structure, scan

from .cuts import CUTS, cuts_between, ink, ink_end, ink_start, paragraph_cuts
from .footprint_spans import (
    BELOW_PARAGRAPH,
    RUNT_CHARS,
    Span,
    cluster_end,
    hard_cut,
    overlapping,
    soft_cut,
)
from .white import On, js_skip

LONG = 8
"""A section above this many sizes is cut at locally best blocks."""

CHECKED = 64
"""The checksum of a unit reads this many characters."""


class Heading(NamedTuple):
    """A heading line `start..line_end`, without its line end."""

    start: int
    line_end: int
    level: int
    label: str


def marked_headings(text: str) -> list[Heading]:
    """The headings as CommonMark reads them, of any level; a label of two lines becomes one."""
    found = scan(text)
    headings = []
    for start, end, level, first, last in zip(
        found.heading_starts,
        found.heading_ends,
        found.heading_levels,
        found.title_starts,
        found.title_ends,
        strict=True,
    ):
        label = text[first:last]
        if "\n" in label or "\r" in label:
            label = " ".join(label.split())
        headings.append(Heading(start, end, level, label))
    return headings


class Blocks:
    """Cuts a section between its blocks, and inside the blocks that do not fit."""

    def __init__(
        self, text: str, max_chars: float, overlap_chars: int, max_level: int, on: On
    ) -> None:
        self.text, self.size, self.overlap_chars, self.on = text, int(max_chars), overlap_chars, on
        found: Structure = scan(text)
        self.atoms = [
            (start, ink_end(text, start, end, on), kind)
            for start, end, kind in zip(
                found.atom_starts, found.atom_ends, found.atom_kinds, strict=True
            )
            if kind != "html"
        ]
        inside = {place for start, end, _ in self.atoms for place in range(start + 1, end)}
        edges = {edge for start, end, _ in self.atoms for edge in (start, end)}
        self.block_cuts = sorted(edges | {*paragraph_cuts(text, on)} - inside)
        self.deeper = {
            heading.start: heading.line_end
            for heading in marked_headings(text)
            if heading.level > max_level
        }

    def cut(self, whole: Span, body: int) -> list[Span]:
        """The section's pieces; no cut parts its heading from the text at `body`."""
        text, size, on = self.text, self.size, self.on
        pieces: list[Span] = []
        place, end = whole.start, whole.end
        head = ink_start(text, body, end, on)
        while place < end:
            limit = place + size
            if limit >= end:
                pieces.append(whole._replace(start=place, end=end))
                break
            head = self.below_deeper(max(place, head), end)
            low = head if head < limit else place
            cut = self.first_word(place, head, end)
            if limit <= head and cut > place:
                pieces.append(whole._replace(start=place, end=ink_end(text, place, cut, on)))
                place = ink_start(text, cut, end, on)
                continue
            cuts = [cut for cut in self.block_cuts if low < cut <= limit]
            cut = -1
            if "local" in on and end - whole.start > LONG * size:
                half = max(low, place + size // 2)
                cut = self.best(self.beyond(cuts, half, limit, end), self.block_cuts, end)
            if cut < 0 and cuts:
                cut = cuts[-1]
            if cut >= 0:
                cut = self.above_deeper(low, cut)
                pieces.append(whole._replace(start=place, end=ink_end(text, place, cut, on)))
            else:
                cut = min([c for c in self.block_cuts if limit < c < end], default=end)
                unit = whole._replace(start=place, end=ink_end(text, place, cut, on))
                cut_pieces = self.cut_block(unit, head if low < head < cut else low)
                pieces.extend(overlapping(cut_pieces, self.overlap_chars, on=on))
            place = ink_start(text, cut, end, on)
        return pieces

    def first_word(self, place: int, head: int, end: int) -> int:
        """The end of the first word below a heading that fills the size, or -1.

        A heading does not stand alone: with it, a piece may be longer by less than a runt.
        """
        most = min(end, place + self.size + RUNT_CHARS - 1)
        fits = ink_end(self.text, place, head, self.on) - place <= self.size
        if "bare" not in self.on or not fits or most <= head:
            return -1
        words = cuts_between("word", self.text, head, most, self.on)
        if words or most == end:
            return words[0] if words else end
        return max(cuts_between("cluster", self.text, head, most, self.on), default=-1)

    def below_deeper(self, place: int, end: int) -> int:
        """Where the text begins below the headings at a place that cut nothing."""
        for start, line_end in sorted(self.deeper.items()):
            if start <= place < line_end:
                place = ink_start(self.text, line_end, end, self.on)
        return place

    def above_deeper(self, low: int, cut: int) -> int:
        """The cut above headings that cut nothing and would end the piece, if it may go there."""
        above = cut
        while above > low:
            last = ink_end(self.text, low, above, self.on)
            ended = [
                start
                for start, end in self.deeper.items()
                if ink_end(self.text, start, end, self.on) == last
            ]
            if not ended:
                return above
            above = ended[0]
        return cut

    def cut_block(self, unit: Span, head: int) -> list[Span]:
        """One block that does not fit, or does not with its heading; an atom that fits is whole."""
        around = [atom for atom in self.atoms if atom[0] <= head < atom[1]]
        if not around:
            return self.cut_inside(unit, BELOW_PARAGRAPH, head, math.inf)
        start, end, kind = around[0]
        start = max(start, head)
        unit = unit._replace(end=end)
        if end - start <= self.size:
            return [unit]
        lines = [cut for cut in CUTS["line"](self.text, self.on) if start < cut < end]
        if kind == "table" and "soft-cut" in self.on:
            return self.cut_table(unit, lines, start)
        head = js_skip(self.text, lines[0] if lines else end, end)
        if (
            unit.start < start
            and ink_end(self.text, unit.start, head, self.on) - unit.start > self.size
        ):
            head = start
        tail: float = math.inf
        if kind == "fence" and lines and self.text[lines[-1] : end].strip()[:3] in ("```", "~~~"):
            tail = ink_end(self.text, start, lines[-1], self.on)
        return self.cut_inside(unit, ("paragraph", *BELOW_PARAGRAPH), head, tail)

    def cut_table(self, unit: Span, lines: list[int], start: int) -> list[Span]:
        """The header with the rows that fit, or cut where it does not, then the other rows."""
        header = lines[1] if len(lines) > 1 else unit.end
        fit = [cut for cut in lines if header < cut <= unit.start + self.size]
        cut = fit[-1] if fit else header
        top = unit._replace(end=ink_end(self.text, unit.start, cut, self.on))
        rest = unit._replace(start=cut)
        tops = [top]
        if ink_end(self.text, start, header, self.on) - start > self.size:
            head = start if unit.start < start else 0
            tops = self.cut_inside(top, BELOW_PARAGRAPH, head, math.inf)
        return [*tops, *self.cut_inside(rest, BELOW_PARAGRAPH, 0, math.inf)]

    def cut_inside(self, unit: Span, levels: tuple[str, ...], head: int, tail: float) -> list[Span]:
        """At the locally best cuts, none up to `head` if there is a choice, none from `tail` on."""
        text, size, on = self.text, self.size, self.on
        if "soft-cut" not in on:
            return hard_cut(unit, size, self.overlap_chars, text=text, on=on | {"one-overlap"})
        if "local" not in on:
            return soft_cut(text, unit, size, levels, on=on)
        pieces: list[Span] = []
        place, end = ink(text, unit.start, unit.end, on)
        long = end - place > LONG * size
        while place < end:
            limit = place + size
            if limit >= end:
                pieces.append(unit._replace(start=place, end=end))
                break
            head = self.below_deeper(max(place, head), end)
            low = max(place, head) if head < limit else place
            cut = self.first_word(place, head, end) if limit <= head else -1
            if cut < 0:
                last = min(limit, max(tail - 1, low + 1))
                cut = self.best_inside(levels, place, low, last, end, long)
                cut = self.above_deeper(low, cut) if cut > low else cut
            if cut < 0:
                cut = cluster_end(text, limit, limit, on)
            pieces.append(unit._replace(start=place, end=ink_end(text, place, cut, on)))
            place = ink_start(text, cut, end, on)
        return pieces

    def best_inside(
        self,
        levels: tuple[str, ...],
        place: int,
        low: int,
        limit: float,
        end: int,
        long: bool,
    ) -> int:
        """The best cut in the back half of the size, else the last, of the strongest level; or -1.

        Weaker than sentences it is always the last.
        """
        half = max(low, place + self.size // 2)
        for level in levels:
            cuts = cuts_between(level, self.text, low, int(limit), self.on)
            back = [cut for cut in cuts if cut > half]
            if long:
                back = self.beyond(cuts, half, int(limit), end)
            if back and level in ("paragraph", "line", "sentence"):
                return self.best(back, CUTS[level](self.text, self.on), end)
            if cuts:
                return cuts[-1]
        return -1

    def beyond(self, cuts: list[int], half: int, limit: int, end: int) -> list[int]:
        """The cuts beyond half a size; where they leave no choice, those beyond a quarter."""
        back = [cut for cut in cuts if cut > half]
        if len({js_skip(self.text, cut, end) for cut in back}) < 2:
            back = [cut for cut in cuts if cut > half - (limit - half) // 2]
        return back

    def best(self, cuts: list[int], every: list[int] | tuple[int, ...], end: int) -> int:
        """Of several cuts: least indentation, then the longest unit after it.

        Of equals the one whose text has the largest checksum, then the latest.
        """
        by_ink = {js_skip(self.text, cut, end): cut for cut in cuts}
        best, rank = -1, (0, 0, 0, 0)
        for ink_at, cut in by_ink.items():
            after = [other for other in by_ink.values() if other > ink_at]
            if after:
                unit_end = after[0]
            else:
                most = min(end, ink_at + self.size)
                unit_end = min([c for c in every if ink_at < c <= most], default=most)
            checked = self.text[ink_at : ink_at + CHECKED].encode("utf-8", "surrogatepass")
            here = (self.indentation(cut, ink_at), ink_at - unit_end, -crc32(checked), -cut)
            if best < 0 or here < rank:
                best, rank = cut, here
        return best

    def indentation(self, cut: int, ink_at: int) -> int:
        """The columns before the first ink after a cut, when that ink opens a line."""
        line = ink_at
        while line > cut and self.text[line - 1] not in "\r\n":
            line -= 1
        return len(self.text[line:ink_at].expandtabs(4)) if line > cut else 0
