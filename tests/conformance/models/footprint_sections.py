"""agentfootprint's `byHeading`: heading lines, sections, the floor of sections.

With `commonmark` the headings and the front matter are those that the library's block scanner
finds (it has tests of its own), and a section that does not fit goes to `footprint_blocks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from zlib import crc32

from spanwise.cutting.markdown import scan

from .cuts import ink, ink_start
from .footprint_blocks import CHECKED, LONG, Blocks, Heading, marked_headings
from .footprint_spans import (
    RUNT_CHARS,
    Span,
    cut_long,
    fold_runts,
    pack_spans,
    paragraph_spans,
    runt_limit,
    trim_spans,
    trimmed,
)
from .white import NONE, On, js_line_end, js_skip


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
    row = 0
    while row < len(found):
        section = found[row]
        row += 1
        if is_bare(text, section, on=on) and "bare" in on:
            break
        if is_short(text, section, max_chars, floor, on=on):
            if run and too_long(text, run[0].start, section.end, most, on=on):
                done.append(run_span(text, run, on=on))
                run = []
            run.append(section)
            if run_stands(text, run, floor, on=on):
                if "local" in on:
                    following = many_short(text, found, row - 1, max_chars, floor, on=on)
                    more = best_close(text, run, following, max_chars, on=on)
                    run, row = run + following[:more], row + more
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


def many_short(
    text: str, found: list[Section], row: int, max_chars: float, floor: float, *, on: On = NONE
) -> list[Section]:
    """The short sections after a row, when with those before it they are many; else none."""

    def counts(section: Section) -> bool:
        return is_short(text, section, max_chars, floor, on=on) and not is_bare(
            text, section, on=on
        )

    first = row
    while first > 0 and counts(found[first - 1]):
        first -= 1
    stop = row + 1
    while stop < len(found) and counts(found[stop]):
        stop += 1
    long = run_length(text, found[first:stop], on=on) > LONG * floor
    return found[row + 1 : stop] if long else []


def best_close(
    text: str, run: list[Section], following: list[Section], max_chars: float, *, on: On = NONE
) -> int:
    """How many more sections a run takes: up to before the one with the largest checksum."""
    best, largest = 0, -1
    for more, section in enumerate(following):
        last = following[more - 1] if more else run[-1]
        if too_long(text, run[0].start, last.end, max_chars, on=on):
            break
        start = ink_start(text, section.start, section.end, on=on)
        checked = text[start : start + CHECKED].encode("utf-8", "surrogatepass")
        if crc32(checked) > largest:
            best, largest = more, crc32(checked)
    return best


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
    if not done and not after_front:
        return []
    whole = trim_spans(text, [span], on=on)
    return [*done, *cut_long(whole, max_chars, 0, text=text, on=on)]
