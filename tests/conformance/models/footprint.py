"""agentfootprint's splitters, over spans.

`by_paragraph`: paragraph_spans, pack_spans, hard_cut, fold_runts, merge_short_spans_forward,
apply_overlap, to_pieces. `by_heading`: find_headings, sections, section_spans,
merge_short_sections, fold_runts, apply_overlap, to_pieces. `fixed_with_overlap`: fixed_spans,
fold_runts, apply_overlap, to_pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .white import NONE, Hang, On, js_is_space, js_line_end, js_skip, js_trim

MAX_CHARS = 1000
OVERLAP_CHARS = 150
MIN_CHARS = 250
RUNT_CHARS = 50
WORD_WINDOW = 40
CEILING_CHARS = 2000


class Span(NamedTuple):
    """A range, its label, where its own text begins if overlap moved `start`, its section."""

    start: int
    end: int
    heading: str | None = None
    content_start: int | None = None
    section: int = 0


class Piece(NamedTuple):
    """What a splitter gives; `body` is the first place of its own text (not in the reference)."""

    start: int
    end: int
    heading: str | None
    page: int | None
    body: int
    section: int


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


# Splitters.


def by_paragraph(
    text: str,
    *,
    max_chars: float = MAX_CHARS,
    overlap_chars: int = OVERLAP_CHARS,
    min_chars: float | None = None,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    floor = resolve_min_chars(min_chars, max_chars, on=on)
    spans = paragraph_pipeline(
        text, max_chars=max_chars, overlap_chars=overlap_chars, floor=floor, on=on
    )
    return to_pieces(text, spans, pages=pages, on=on)


def by_heading(
    text: str,
    *,
    max_chars: float = MAX_CHARS,
    overlap_chars: int = OVERLAP_CHARS,
    max_level: int = 6,
    min_chars: float | None = None,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    floor = resolve_min_chars(min_chars, max_chars, on=on)
    headings = find_headings(text, max_level=max_level, on=on)
    if headings:
        spans = heading_pipeline(
            text, headings, max_chars=max_chars, overlap_chars=overlap_chars, floor=floor, on=on
        )
    else:
        spans = paragraph_pipeline(
            text, max_chars=max_chars, overlap_chars=overlap_chars, floor=floor, on=on
        )
    return to_pieces(text, spans, pages=pages, on=on)


def fixed_with_overlap(
    text: str,
    *,
    chars: int = MAX_CHARS,
    overlap_chars: int = OVERLAP_CHARS,
    word_window: int = WORD_WINDOW,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    spans = fixed_spans(text, chars=chars, word_window=word_window, on=on)
    spans = fold_runts(spans, runt_limit(chars, on=on), on=on)
    spans = apply_overlap(spans, overlap_chars, text=text, on=on)
    return to_pieces(text, spans, pages=pages, on=on)


def whole_document(text: str, *, pages: Sequence[str] = (), on: On = NONE) -> list[Piece]:
    return to_pieces(text, [Span(0, len(text))], pages=pages, on=on)


# The two pipelines.


def paragraph_pipeline(
    text: str, *, max_chars: float, overlap_chars: int, floor: float, on: On = NONE
) -> list[Span]:
    spans = pack_spans(paragraph_spans(text, on=on), max_chars, on=on)
    spans = cut_long(spans, max_chars, overlap_chars, on=on)
    spans = fold_runts(spans, runt_limit(max_chars, on=on), on=on)
    spans = merge_short_spans_forward(spans, floor, on=on)
    return apply_overlap(spans, overlap_chars, text=text, on=on)


def heading_pipeline(
    text: str,
    headings: list[Heading],
    *,
    max_chars: float,
    overlap_chars: int,
    floor: float,
    on: On = NONE,
) -> list[Span]:
    spans = merge_short_sections(
        text,
        sections(text, headings, on=on),
        lambda section: section_spans(text, section, max_chars, overlap_chars, on=on),
        floor,
        on=on,
    )
    spans = fold_runts(spans, floor or runt_limit(max_chars, on=on), on=on)
    return apply_overlap(spans, overlap_chars, text=text, on=on)


# Units.


def paragraph_spans(text: str, *, on: On = NONE) -> list[Span]:
    """The non-empty stretches between blank lines."""
    spans: list[Span] = []
    start = 0
    for gap_start, gap_end in [*blank_lines(text, on=on), (len(text), len(text))]:
        if gap_start > start:
            spans.append(Span(start, gap_start))
        start = gap_end
    return spans


def blank_lines(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """LF, spaces or tabs, LF: left to right, without overlap."""
    found: list[tuple[int, int]] = []
    place = text.find("\n")
    while place >= 0:
        end = skip_blanks(text, place + 1)
        if end < len(text) and text[end] == "\n":
            found.append((place, end + 1))
            place = text.find("\n", end + 1)
        else:
            place = text.find("\n", place + 1)
    return found


def skip_blanks(text: str, start: int) -> int:
    while start < len(text) and text[start] in " \t":
        start += 1
    return start


def find_headings(text: str, *, max_level: int = 6, on: On = NONE) -> list[Heading]:
    """The heading lines that are not too deep."""
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


def sections(text: str, headings: list[Heading], *, on: On = NONE) -> list[Section]:
    """The preamble, if any character stands before the first heading, then each heading's."""
    found: list[Section] = []
    if headings[0].start > 0:
        found.append(Section(0, 0, headings[0].start, None, 0))
    for row, heading in enumerate(headings):
        end = headings[row + 1].start if row + 1 < len(headings) else len(text)
        found.append(Section(heading.start, heading.line_end, end, heading.label, len(found)))
    return found


def section_spans(
    text: str, section: Section, max_chars: float, overlap_chars: int, *, on: On = NONE
) -> list[Span]:
    """The section whole, or its paragraphs packed, the heading line glued to the first."""
    label, number = section.heading, section.number
    if section.end - section.start <= max_chars:
        return [Span(section.start, section.end, label, None, number)]
    units = [
        Span(section.body + unit.start, section.body + unit.end, label, None, number)
        for unit in paragraph_spans(text[section.body : section.end], on=on)
    ]
    if units:
        units[0] = units[0]._replace(start=section.start)
    else:
        units = [Span(section.start, section.end, label, None, number)]
    return cut_long(pack_spans(units, max_chars, on=on), max_chars, overlap_chars, on=on)


def fixed_spans(text: str, *, chars: int, word_window: int, on: On = NONE) -> list[Span]:
    """Every `chars` characters, moved back to white space."""
    spans: list[Span] = []
    start = 0
    while start < len(text):
        end = min(start + chars, len(text))
        if end < len(text):
            end = word_cut(text, start, end, word_window, on=on)
        if end <= start:
            raise Hang("the cut does not move on")
        spans.append(Span(start, end))
        start = end
    return spans


def word_cut(text: str, start: int, end: int, word_window: int, *, on: On = NONE) -> int:
    """The last white space in reach of the cut, else the cut."""
    lowest = max(start + 1, end - word_window)
    cut = end
    while cut > lowest:
        if js_is_space(text[cut]):
            return cut
        cut -= 1
    return end


# Packing, cutting, folding, overlap.


def same_section(left: Span, right: Span, *, on: On = NONE) -> bool:
    """Two spans belong together when their labels are equal (or both have none)."""
    return left.heading == right.heading


def pack_spans(units: list[Span], max_chars: float, *, on: On = NONE) -> list[Span]:
    """Neighbours joined while they fit; nothing is split."""
    packed: list[Span] = []
    for unit in units:
        if packed and can_pack(packed[-1], unit, max_chars, on=on):
            packed[-1] = packed[-1]._replace(end=unit.end)
        else:
            packed.append(unit._replace(content_start=None))
    return packed


def can_pack(current: Span, unit: Span, max_chars: float, *, on: On = NONE) -> bool:
    return unit.end - current.start <= max_chars and same_section(current, unit, on=on)


def cut_long(
    spans: list[Span], max_chars: float, overlap_chars: int, *, on: On = NONE
) -> list[Span]:
    """Every span over the target cut hard, the others as they are."""
    done: list[Span] = []
    for span in spans:
        if span.end - span.start > max_chars:
            done.extend(hard_cut(span, max_chars, overlap_chars, on=on))
        else:
            done.append(span)
    return done


def hard_cut(
    span: Span, max_chars: float, overlap_chars: int, *, on: On = NONE
) -> list[Span]:
    """Pieces of at most `max_chars`, each already overlapping the one before."""
    pieces: list[Span] = []
    start = span.start
    while start < span.end:
        end = hard_cut_end(span, start, max_chars, on=on)
        pieces.append(span._replace(start=start, end=end, content_start=None))
        if end >= span.end:
            break
        start = hard_cut_next(start, end, max_chars, overlap_chars, on=on)
    return pieces


def hard_cut_end(span: Span, start: int, max_chars: float, *, on: On = NONE) -> int:
    return int(min(start + max_chars, span.end))


def hard_cut_next(
    start: int, end: int, max_chars: float, overlap_chars: int, *, on: On = NONE
) -> int:
    """The stride is never less than one."""
    return start + int(max(1, max_chars - overlap_chars))


def runt_limit(max_chars: float, *, on: On = NONE) -> int:
    """Below this a span folds; the same number whatever the caller's size."""
    return RUNT_CHARS


def fold_runts(spans: list[Span], limit: float = RUNT_CHARS, *, on: On = NONE) -> list[Span]:
    """A runt joins the span before it when both have one label; the first never does."""
    folded: list[Span] = []
    for span in spans:
        if folded and folds(folded[-1], span, limit, on=on):
            folded[-1] = folded[-1]._replace(end=span.end)
        else:
            folded.append(span)
    return folded


def folds(previous: Span, span: Span, limit: float, *, on: On = NONE) -> bool:
    return span.end - span.start < limit and same_section(previous, span, on=on)


def merge_short_spans_forward(
    spans: list[Span], floor: float, *, on: On = NONE
) -> list[Span]:
    """Short spans gather until they reach the floor or a full span takes them."""
    if floor <= 0 or len(spans) <= 1:
        return list(spans)
    merged: list[Span] = []
    run: Span | None = None
    for span in spans:
        run = span if run is None else join_spans(run, span, on=on)
        if run.end - run.start >= floor:
            merged.append(run)
            run = None
    if run is not None and merged:
        merged[-1] = join_spans(merged[-1], run, on=on)
    elif run is not None:
        merged.append(run)
    return merged


def join_spans(first: Span, last: Span, *, on: On = NONE) -> Span:
    """From the first to the last; the label is lost."""
    return Span(first.start, last.end, None, None, first.section)


def apply_overlap(
    spans: list[Span], overlap_chars: int, *, text: str = "", on: On = NONE
) -> list[Span]:
    """Each span but the first reaches back, its old start kept when that moves it."""
    if overlap_chars <= 0:
        return list(spans)
    shifted: list[Span] = []
    for row, span in enumerate(spans):
        start = span.start
        if row:
            start = overlap_start(text, spans[row - 1], span, overlap_chars, on=on)
        moved = start != span.start
        shifted.append(span._replace(start=start, content_start=span.start) if moved else span)
    return shifted


def overlap_start(
    text: str, previous: Span, span: Span, overlap_chars: int, *, on: On = NONE
) -> int:
    """Counted characters, not before the previous span's own start."""
    return max(previous.start, span.start - overlap_chars)


# The floor of sections.


def merge_short_sections(
    text: str,
    found: list[Section],
    spans_of: Callable[[Section], list[Span]],
    floor: float,
    *,
    on: On = NONE,
) -> list[Span]:
    """Short sections gather, then stand alone, lead the next full one, or end the last."""
    done: list[Span] = []
    run: list[Section] = []
    for section in found:
        if is_short(text, section, floor, on=on):
            run.append(section)
            if run_stands(text, run, floor, on=on):
                done.append(run_span(run, on=on))
                run = []
            continue
        spans = spans_of(section)
        if run and spans:
            spans[0] = lead_span(run, spans[0], on=on)
            run = []
        done.extend(spans)
    return close_run(text, done, run, on=on)


def body_length(text: str, section: Section, *, on: On = NONE) -> int:
    """How long the body is without white space at its ends; the heading line is no part."""
    start, end = js_trim(text, section.body, section.end)
    return end - start


def is_short(text: str, section: Section, floor: float, *, on: On = NONE) -> bool:
    """A bare heading is short whatever the floor."""
    length = body_length(text, section, on=on)
    return length == 0 or length < floor


def run_stands(text: str, run: list[Section], floor: float, *, on: On = NONE) -> bool:
    """Whether the gathered sections are long enough together."""
    return floor > 0 and run_length(text, run, on=on) >= floor


def run_length(text: str, run: list[Section], *, on: On = NONE) -> int:
    return sum(body_length(text, section, on=on) for section in run)


def label_source(run: list[Section], *, on: On = NONE) -> tuple[str | None, int]:
    """Whose label (and section) gathered sections get: the first one's, even if it has none."""
    return run[0].heading, run[0].number


def run_span(run: list[Section], *, on: On = NONE) -> Span:
    """Gathered sections as one span."""
    heading, number = label_source(run, on=on)
    return Span(run[0].start, run[-1].end, heading, None, number)


def lead_span(run: list[Section], first: Span, *, on: On = NONE) -> Span:
    """The first span of a full section stretched back; the short ones' label wins."""
    heading, number = label_source(run, on=on)
    return Span(run[0].start, first.end, heading, None, number)


def close_run(text: str, done: list[Span], run: list[Section], *, on: On = NONE) -> list[Span]:
    """What is left at the end joins the last span under its label; bare headings alone vanish."""
    if not run:
        return done
    if done:
        return [*done[:-1], done[-1]._replace(end=run[-1].end)]
    return [run_span(run, on=on)] if run_length(text, run, on=on) > 0 else []


# Edges.


def trim_span(text: str, span: Span, *, on: On = NONE) -> Span | None:
    start, end = js_trim(text, span.start, span.end)
    return span._replace(start=start, end=end) if start < end else None


def to_pieces(
    text: str, spans: list[Span], *, pages: Sequence[str] = (), on: On = NONE
) -> list[Piece]:
    """Trimmed, blank ones dropped, with pages."""
    pieces: list[Piece] = []
    page_of = page_locator(pages, on=on)
    for span in spans:
        trimmed = trim_span(text, span, on=on)
        if trimmed is None:
            continue
        own = max(trimmed.start, trimmed.content_start or 0)
        pieces.append(
            Piece(
                trimmed.start,
                trimmed.end,
                trimmed.heading,
                page_of(page_place(text, trimmed, on=on)),
                js_skip(text, min(own, trimmed.end), trimmed.end),
                trimmed.section,
            )
        )
    return pieces


def page_place(text: str, trimmed: Span, *, on: On = NONE) -> int:
    """Where the page is looked up: the own start before it was trimmed, if overlap moved it."""
    return trimmed.start if trimmed.content_start is None else trimmed.content_start


def page_locator(pages: Sequence[str], *, on: On = NONE) -> Callable[[int], int | None]:
    """The number of the last page that starts at or before a place."""
    starts: list[int] = []
    start = 0
    for page in pages:
        starts.append(start)
        start += len(page) + 2

    def locate(place: int) -> int | None:
        if not starts:
            return None
        return max(1, sum(1 for start in starts if start <= place))

    return locate


def resolve_min_chars(
    min_chars: float | None, max_chars: float, *, on: On = NONE
) -> float:
    """The floor; a given one must be a number from 0 to below the target."""
    if min_chars is None:
        return min(MIN_CHARS, math.floor(max_chars / 4))
    if not math.isfinite(min_chars) or min_chars < 0:
        raise ValueError("minChars must be a non-negative number of characters")
    if min_chars >= max_chars:
        raise ValueError(f"minChars ({min_chars}) must be smaller than maxChars ({max_chars})")
    return min_chars


def resolve_chunk_ceiling(
    explicit: float | None, declared: float | None, *, on: On = NONE
) -> tuple[int, str]:
    """The longest chunk an embedder reads, and who said so; a bad number counts as absent."""
    for value, source in ((explicit, "explicit"), (declared, "embedder")):
        if value is not None and math.isfinite(value) and value > 0:
            return math.floor(value), source
    return CEILING_CHARS, "default"


# HTML.

ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " "}


def strip_tags(text: str, *, on: On = NONE) -> str:
    """Markup blanked, every other character at its place."""
    for ranges in (comment_ranges, raw_ranges, tag_ranges):
        text = blank(text, ranges(text, on=on))
    return decode_entities(text, on=on)


def blank(text: str, ranges: list[tuple[int, int]]) -> str:
    """Spaces in the ranges, their LFs kept."""
    chars = list(text)
    for start, end in ranges:
        for place in range(start, end):
            if chars[place] != "\n":
                chars[place] = " "
    return "".join(chars)


def comment_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    return pair_ranges(text, "<!--", "-->")


def tag_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """From a `<` to the next `>`, whatever stands between, at least one character."""
    found: list[tuple[int, int]] = []
    start = text.find("<")
    while start >= 0:
        end = text.find(">", start + 1)
        if end == start + 1:
            end = -1
            following = start + 1
        elif end < 0:
            break
        else:
            found.append((start, end + 1))
            following = end + 1
        start = text.find("<", following)
    return found


def pair_ranges(text: str, opening: str, closing: str) -> list[tuple[int, int]]:
    """From each opening mark to the first closing mark after it."""
    found: list[tuple[int, int]] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        found.append((start, end + len(closing)))
        start = text.find(opening, end + len(closing))
    return found


def raw_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """Scripts and styles with what they hold; an unclosed one is no range."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = raw_end(text, start)
        if end > start:
            found.append((start, end))
        start = max(end, start + 1)
    return found


def raw_end(text: str, start: int) -> int:
    """One past the element that opens at `start`; -1 when none does or it is not closed."""
    for name in ("script", "style"):
        after = start + 1 + len(name)
        if text[start:after].lower() != f"<{name}" or is_word(text[after : after + 1]):
            continue
        for place in range(after, len(text)):
            end = closing_end(text, place, name)
            if end > 0:
                return end
    return -1


def closing_end(text: str, start: int, name: str) -> int:
    """One past `</name`, white space, `>` at `start`, else -1."""
    after = start + 2 + len(name)
    if text[start:after].lower() != f"</{name}":
        return -1
    after = js_skip(text, after, len(text))
    return after + 1 if text[after : after + 1] == ">" else -1


def is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def decode_entities(text: str, *, on: On = NONE) -> str:
    """The few known entities as one character, padded to the length they had; read once."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        name = next((name for name in ENTITIES if text.startswith(name, place)), None)
        if name is None:
            parts.append(text[place])
            place += 1
        else:
            parts.append(ENTITIES[name].ljust(len(name)))
            place += len(name)
    return "".join(parts)
