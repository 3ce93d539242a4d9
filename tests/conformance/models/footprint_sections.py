"""agentfootprint's `byHeading`: heading lines, sections, the floor of sections.

With `commonmark` the headings, fences, tables and front matter are those that the library's block
scanner finds (it has tests of its own); all else is done here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple
from zlib import crc32

from spanwise.cutting.markdown import Structure, scan

from .cuts import CUTS, cuts_between, ink, ink_end, ink_start, paragraph_cuts
from .footprint_spans import (
    BELOW_PARAGRAPH,
    RUNT_CHARS,
    Span,
    cluster_end,
    cut_long,
    fold_runts,
    hard_cut,
    overlapping,
    pack_spans,
    paragraph_spans,
    runt_limit,
    soft_cut,
    trim_spans,
    trimmed,
)
from .white import NONE, On, js_line_end, js_skip

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


class Section(NamedTuple):
    """A heading (or the preamble) up to the next; its body is `body..end`."""

    start: int
    body: int
    end: int
    heading: str | None
    number: int


# Headings.


def find_headings(text: str, *, max_level: int = 6, on: On = NONE) -> list[Heading]:
    """The heading lines that are not too deep."""
    if "commonmark" in on:
        return [heading for heading in marked_headings(text) if heading.level <= max_level]
    found: list[Heading] = []
    start = 0
    while start < len(text):
        end = js_line_end(text, start)
        heading = parse_heading(text, start, end, on=on)
        if heading is not None and heading.level <= max_level:
            found.append(heading)
        start = end + 1
    return found


def parse_heading(text: str, start: int, end: int, *, on: On = NONE) -> Heading | None:
    """One to six `#`, at least one space or tab, text; the label loses trailing ones.

    Of white space alone the last character is the label, so two of them are needed.
    """
    after = start
    while after < end and text[after] == "#":
        after += 1
    level = after - start
    if not 1 <= level <= 6 or after == end or text[after] not in " \t":
        return None
    label = text[after:end].strip(" \t")
    if not label and end - after < 2:
        return None
    return Heading(start, end, level, label or text[end - 1])


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


def label_at(text: str, body: int, span: Span, *, on: On = NONE) -> str | None:
    """The label of the span; of the heading above the first own text that is in no heading."""
    if "own-label" not in on:
        return span.heading
    headings = marked_headings(text) if "commonmark" in on else find_headings(text, on=on)
    label, place = None, body
    for heading in headings:
        if heading.start > place or heading.start >= span.end:
            break
        label = heading.label
        if place < heading.line_end:
            place = js_skip(text, heading.line_end, span.end)
    return label


# Sections.


def front_spans(text: str, max_chars: float, *, on: On = NONE) -> tuple[int, list[Span]]:
    """The end of front matter and the passages it makes; the reference knows none."""
    if not {"commonmark", "first-label"} <= on:
        return 0, []
    front = scan(text).front
    whole = trim_spans(text, [Span(0, front, None, None, -1)], on=on)
    return front, cut_long(whole, max_chars, 0, text=text, on=on)


def sections(text: str, headings: list[Heading], front: int = 0, *, on: On = NONE) -> list[Section]:
    """The preamble, if any character stands before the first heading, then each heading's."""
    found: list[Section] = []
    preamble = Section(front, front, headings[0].start, None, 0)
    if has_preamble(text, preamble, on=on):
        found.append(preamble)
    first = 0
    for row, heading in enumerate(headings):
        end = headings[row + 1].start if row + 1 < len(headings) else len(text)
        if "bare" in on and end < len(text) and not has_body(text, heading.line_end, end, on=on):
            continue
        opening = headings[first]
        found.append(Section(opening.start, heading.line_end, end, opening.label, len(found)))
        first = row + 1
    return found


def has_preamble(text: str, preamble: Section, *, on: On = NONE) -> bool:
    if "first-label" in on:
        return has_body(text, preamble.start, preamble.end, on=on)
    return preamble.end > preamble.start


def has_body(text: str, start: int, end: int, *, on: On = NONE) -> bool:
    return ink_start(text, start, end, on) < end


def section_spans(
    text: str,
    section: Section,
    max_chars: float,
    overlap_chars: int,
    max_level: int = 6,
    *,
    on: On = NONE,
) -> list[Span]:
    """The section whole, or its paragraphs packed, the heading line glued to the first."""
    label, number = section.heading, section.number
    start, end = trimmed(text, section.start, section.end, on=on)
    whole = Span(start, end, label, None, number)
    if end - start <= max_chars:
        return [whole]
    if "commonmark" in on:
        return Blocks(text, max_chars, overlap_chars, max_level, on).cut(whole, section.body)
    units = [
        unit._replace(heading=label, section=number)
        for unit in paragraph_spans(text, section.body, section.end, on=on)
    ]
    if units:
        units[0] = units[0]._replace(start=start)
    else:
        units = [whole]
    packed = trim_spans(text, pack_spans(units, max_chars, on=on), on=on)
    return cut_long(packed, max_chars, overlap_chars, text=text, on=on)


def unheaded_spans(
    text: str,
    front: int,
    max_chars: float,
    overlap_chars: int,
    max_level: int = 6,
    *,
    on: On = NONE,
) -> list[Span]:
    """The text below the front matter, where no heading cuts it: as paragraphs."""
    section = Section(front, front, len(text), None, 0)
    if "commonmark" in on:
        spans = section_spans(text, section, max_chars, overlap_chars, max_level, on=on)
        return trim_spans(text, spans, on=on)
    packed = pack_spans(paragraph_spans(text, front, on=on), max_chars, on=on)
    return cut_long(trim_spans(text, packed, on=on), max_chars, overlap_chars, text=text, on=on)


# The floor of sections.


def merge_short_sections(
    text: str,
    found: list[Section],
    spans_of: Callable[[Section], list[Span]],
    max_chars: float,
    floor: float,
    after_front: bool = False,
    *,
    on: On = NONE,
) -> list[Span]:
    """Short sections gather, then stand alone, lead the next full one, or end the last."""
    done: list[Span] = []
    run: list[Section] = []
    most = max_chars + max(floor, RUNT_CHARS) - 1
    for section in found:
        if is_bare(text, section, on=on) and "bare" in on:
            break
        if is_short(text, section, max_chars, floor, on=on):
            if run and too_long(text, run[0].start, section.end, most, on=on):
                done.append(run_span(text, run, on=on))
                run = []
            run.append(section)
            if run_stands(text, run, floor, on=on):
                done.append(run_span(text, run, on=on))
                run = []
            continue
        spans = spans_of(section)
        leading: list[Span] = []
        if run and spans:
            if too_long(text, run[0].start, spans[0].end, most, on=on):
                leading = [run_span(text, run, on=on)]
            else:
                leading, spans = [lead_span(text, run, spans[0], on=on)], spans[1:]
            run = []
        if "equal-labels" in on:
            limit = floor or runt_limit(max_chars, on=on)
            spans = fold_runts(spans, limit, most, on=on)
        done.extend(leading + spans)
    if run and "last-label" in on:
        done.append(run_span(text, run, on=on))
        run = []
    bare = found[-1] if "bare" in on and is_bare(text, found[-1], on=on) else None
    if bare is not None:
        return close_bare(text, done, bare, max_chars, floor, after_front, on=on)
    return close_run(text, done, run, on=on)


def too_long(text: str, start: int, end: int, most: float, *, on: On = NONE) -> bool:
    """Whether joined sections would go over the bound; the reference has none."""
    if "bound" not in on:
        return False
    start, end = trimmed(text, start, end, on=on)
    return end - start > most


def body_length(text: str, section: Section, *, on: On = NONE) -> int:
    """How long the body is without white space at its ends; the heading line is no part."""
    start, end = ink(text, section.body, section.end, on)
    return end - start


def is_bare(text: str, section: Section, *, on: On = NONE) -> bool:
    return body_length(text, section, on=on) == 0


def is_short(text: str, section: Section, max_chars: float, floor: float, *, on: On = NONE) -> bool:
    """A bare heading is short whatever the floor."""
    if too_long(text, section.start, section.end, max_chars, on=on):
        return False
    return is_bare(text, section, on=on) or body_length(text, section, on=on) < floor


def run_stands(text: str, run: list[Section], floor: float, *, on: On = NONE) -> bool:
    """Whether the gathered sections are long enough together."""
    return floor > 0 and run_length(text, run, on=on) >= floor


def run_length(text: str, run: list[Section], *, on: On = NONE) -> int:
    return sum(body_length(text, section, on=on) for section in run)


def run_span(text: str, run: list[Section], *, on: On = NONE) -> Span:
    """Gathered sections as one span, under the label of the first, even if it has none."""
    start, end = trimmed(text, run[0].start, run[-1].end, on=on)
    return Span(start, end, run[0].heading, None, run[0].number)


def lead_span(text: str, run: list[Section], first: Span, *, on: On = NONE) -> Span:
    """The first span of a full section stretched back; the short ones' label wins."""
    start, end = trimmed(text, run[0].start, first.end, on=on)
    return Span(start, end, run[0].heading, None, run[0].number)


def close_run(text: str, done: list[Span], run: list[Section], *, on: On = NONE) -> list[Span]:
    """What is left at the end joins the last span under its label; bare headings alone vanish."""
    if not run:
        return done
    if done:
        return [*done[:-1], done[-1]._replace(end=run[-1].end)]
    return [run_span(text, run, on=on)] if run_length(text, run, on=on) > 0 else []


def close_bare(
    text: str,
    done: list[Span],
    bare: Section,
    max_chars: float,
    floor: float,
    after_front: bool,
    *,
    on: On = NONE,
) -> list[Span]:
    """Bare headings at the end join the last span; where they do not fit they stand alone.

    A document of bare headings gives nothing, but for one that has front matter.
    """
    span = run_span(text, [bare], on=on)
    most = max_chars + 2 * max(floor, RUNT_CHARS)
    if done and not ("bound" in on and span.end - done[-1].start > most):
        return [*done[:-1], done[-1]._replace(end=span.end)]
    return [*done, span] if done or after_front else []


# Sections that do not fit.


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
            head = max(head, self.below_deeper(place, end))
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
                cut = self.best([c for c in cuts if c > half], self.block_cuts, end)
            if cut < 0 and cuts:
                cut = cuts[-1]
            if cut >= 0:
                pieces.append(whole._replace(start=place, end=ink_end(text, place, cut, on)))
            else:
                cut = min([c for c in self.block_cuts if limit < c < end], default=end)
                unit = whole._replace(start=place, end=ink_end(text, place, cut, on))
                cut_pieces = self.cut_block(unit, low)
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
        while place < end:
            line = place
            while line > 0 and self.text[line - 1] not in "\r\n":
                line -= 1
            if line not in self.deeper:
                return place
            place = js_skip(self.text, self.deeper[line], end)
        return place

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
            return self.cut_table(unit, lines)
        head = js_skip(self.text, lines[0] if lines else end, end)
        tail: float = math.inf
        if kind == "fence" and lines and self.text[lines[-1] : end].strip()[:3] in ("```", "~~~"):
            tail = ink_end(self.text, start, lines[-1], self.on)
        return self.cut_inside(unit, ("paragraph", *BELOW_PARAGRAPH), head, tail)

    def cut_table(self, unit: Span, lines: list[int]) -> list[Span]:
        """The header (whatever its length) with the rows that fit, then the other rows."""
        header = lines[1] if len(lines) > 1 else unit.end
        fit = [cut for cut in lines if header < cut <= unit.start + self.size]
        cut = fit[-1] if fit else header
        top = unit._replace(end=ink_end(self.text, unit.start, cut, self.on))
        rest = unit._replace(start=cut)
        return [top, *self.cut_inside(rest, BELOW_PARAGRAPH, 0, math.inf)]

    def cut_inside(self, unit: Span, levels: tuple[str, ...], head: int, tail: float) -> list[Span]:
        """At the locally best cuts, none up to `head` if there is a choice, none from `tail` on."""
        text, size, on = self.text, self.size, self.on
        if "soft-cut" not in on:
            return hard_cut(unit, size, self.overlap_chars, text=text, on=on | {"one-overlap"})
        if "local" not in on:
            return soft_cut(text, unit, size, levels, on=on)
        pieces: list[Span] = []
        place, end = ink(text, unit.start, unit.end, on)
        while place < end:
            limit = place + size
            if limit >= end:
                pieces.append(unit._replace(start=place, end=end))
                break
            low = max(place, head) if head < limit else place
            cut = self.first_word(place, head, end) if limit <= head else -1
            if cut < 0:
                last = min(limit, max(tail - 1, low + 1))
                cut = self.best_inside(levels, place, low, last, end)
            if cut < 0:
                cut = cluster_end(text, limit, limit, on)
            pieces.append(unit._replace(start=place, end=ink_end(text, place, cut, on)))
            place = ink_start(text, cut, end, on)
        return pieces

    def best_inside(
        self, levels: tuple[str, ...], place: int, low: int, limit: float, end: int
    ) -> int:
        """The best cut in the back half of the size, else the last, of the strongest level; or -1.

        Weaker than sentences it is always the last.
        """
        half = max(low, place + self.size // 2)
        for level in levels:
            cuts = cuts_between(level, self.text, low, int(limit), self.on)
            back = [cut for cut in cuts if cut > half]
            if back and level in ("paragraph", "line", "sentence"):
                return self.best(back, CUTS[level](self.text, self.on), end)
            if cuts:
                return cuts[-1]
        return -1

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
