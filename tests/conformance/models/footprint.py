"""agentfootprint's splitters, over spans.

`by_paragraph`: paragraph_spans, pack_spans, cut_long, fold_runts, merge_short_spans_forward,
apply_overlap, to_pieces. `by_heading`: find_headings, sections, section_spans,
merge_short_sections, fold_runts, apply_overlap, to_pieces. `fixed_with_overlap`: fixed_spans,
fold_runts, apply_overlap, to_pieces. The steps on spans are in `footprint_spans.py`, those on
sections in `footprint_sections.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .cuts import ink, ink_start, word_cuts
from .footprint_sections import (
    find_headings,
    front_spans,
    label_at,
    merge_short_sections,
    section_spans,
    sections,
    unheaded_spans,
)
from .footprint_spans import (
    RUNT_CHARS,
    Span,
    apply_overlap,
    cluster_end,
    cut_long,
    fold_runts,
    merge_short_spans_forward,
    pack_spans,
    paragraph_spans,
    runt_limit,
    trim_spans,
)
from .white import NONE, Hang, On, Refused, js_is_space

MAX_CHARS = 1000
OVERLAP_CHARS = 150
MIN_CHARS = 250
WORD_WINDOW = 40
CEILING_CHARS = 2000


class Piece(NamedTuple):
    """What a splitter gives; `body` is the first place of its own text (not in the reference)."""

    start: int
    end: int
    heading: str | None
    page: int | None
    body: int
    section: int


# Splitters.


def by_paragraph(
    text: str,
    *,
    max_chars: float = MAX_CHARS,
    overlap_chars: int | None = None,
    min_chars: float | None = None,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    overlap = resolve_overlap(overlap_chars, max_chars, on=on)
    floor = resolve_min_chars(min_chars, max_chars, on=on)
    spans: list[Span] = []
    for start, end in page_ranges(text, on=on):
        found = paragraph_spans(text, start, end, on=on)
        packed = trim_spans(text, pack_spans(found, max_chars, on=on), on=on)
        cut = cut_long(packed, max_chars, overlap, text=text, on=on)
        spans += close_floors(cut, max_chars, floor, on=on)
    return to_pieces(text, apply_overlap(spans, overlap, text=text, on=on), pages=pages, on=on)


def by_heading(
    text: str,
    *,
    max_chars: float = MAX_CHARS,
    overlap_chars: int | None = None,
    max_level: int = 6,
    min_chars: float | None = None,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    overlap = resolve_overlap(overlap_chars, max_chars, on=on)
    floor = resolve_min_chars(min_chars, max_chars, on=on)
    if "refused" in on and not 1 <= max_level <= 6:
        raise Refused("a level of headings from 1 to 6")
    headings = find_headings(text, max_level=max_level, on=on)
    front, spans = front_spans(text, max_chars, on=on)
    if headings:
        spans += merge_short_sections(
            text,
            sections(text, headings, front, on=on),
            lambda section: section_spans(text, section, max_chars, overlap, max_level, on=on),
            max_chars,
            floor,
            bool(spans),
            on=on,
        )
        if "equal-labels" not in on:
            spans = fold_runts(spans, floor or runt_limit(max_chars, on=on), on=on)
    else:
        found = unheaded_spans(text, front, max_chars, overlap, max_level, on=on)
        spans += close_floors(found, max_chars, floor, on=on)
    spans = apply_overlap(spans, overlap, text=text, front=front, on=on)
    return to_pieces(text, spans, pages=pages, on=on)


def fixed_with_overlap(
    text: str,
    *,
    chars: int = MAX_CHARS,
    overlap_chars: int | None = None,
    word_window: int = WORD_WINDOW,
    pages: Sequence[str] = (),
    on: On = NONE,
) -> list[Piece]:
    overlap = resolve_overlap(overlap_chars, chars, on=on)
    if "refused" in on and word_window < 0:
        raise Refused("a window of at least 0")
    spans = trim_spans(text, fixed_spans(text, chars=chars, word_window=word_window, on=on), on=on)
    limit, most = runt_limit(chars, on=on), chars + RUNT_CHARS - 1
    if "small-sizes" in on:
        spans = [*spans[:-2], *fold_runts(spans[-2:], limit, most, on=on)]
    else:
        spans = fold_runts(spans, limit, most, on=on)
    return to_pieces(text, apply_overlap(spans, overlap, text=text, on=on), pages=pages, on=on)


def whole_document(text: str, *, pages: Sequence[str] = (), on: On = NONE) -> list[Piece]:
    return to_pieces(text, [Span(0, len(text))], pages=pages, on=on)


# Steps of their own.


def page_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """The whole text; form feeds divide it into pages that nothing crosses."""
    if "pages" not in on:
        return [(0, len(text))]
    feeds = [place for place, char in enumerate(text) if char == "\f"]
    return list(zip([0, *(feed + 1 for feed in feeds)], [*feeds, len(text)], strict=True))


def close_floors(spans: list[Span], max_chars: float, floor: float, *, on: On = NONE) -> list[Span]:
    """Runts join what precedes, what is below the floor joins what follows."""
    spans = fold_runts(spans, runt_limit(max_chars, on=on), max_chars + RUNT_CHARS - 1, on=on)
    merge = max(floor, RUNT_CHARS)
    return merge_short_spans_forward(
        spans, floor, max_chars + merge - 1, max_chars + 2 * merge - 1, on=on
    )


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
    lowest = max(start + ("whole-words" not in on), end - word_window)
    for cut in range(end, lowest, -1):
        if cut in word_cuts(text, on) if "boundaries" in on else js_is_space(text[cut]):
            return cut
    return cluster_end(text, start, end, on) if "clusters" in on else end


# Edges.


def to_pieces(
    text: str, spans: list[Span], *, pages: Sequence[str] = (), on: On = NONE
) -> list[Piece]:
    """Trimmed, blank ones dropped, with labels and pages."""
    pieces: list[Piece] = []
    starts = page_starts(pages) or feed_starts(text, on=on)
    for span in spans:
        trimmed = trim_span(text, span, on=on)
        if trimmed is None:
            continue
        own = max(trimmed.start, trimmed.content_start or 0)
        body = ink_start(text, min(own, trimmed.end), trimmed.end, on)
        pieces.append(
            Piece(
                trimmed.start,
                trimmed.end,
                label_at(text, body, trimmed, on=on),
                page_at(starts, page_place(trimmed, body, on=on)),
                body,
                trimmed.section,
            )
        )
    return pieces


def trim_span(text: str, span: Span, *, on: On = NONE) -> Span | None:
    start, end = ink(text, span.start, span.end, on)
    return span._replace(start=start, end=end) if start < end else None


def page_place(trimmed: Span, body: int, *, on: On = NONE) -> int:
    """Where the page is looked up: the own start before it was trimmed, if overlap moved it."""
    if "own-page" in on:
        return body
    if trimmed.content_start is None:
        return trimmed.start
    return trimmed.content_start if trimmed.opened is None else trimmed.opened


def page_starts(pages: Sequence[str]) -> list[int]:
    """Where each page starts; two line feeds stand between pages."""
    starts: list[int] = []
    start = 0
    for page in pages:
        starts.append(start)
        start += len(page) + 2
    return starts


def feed_starts(text: str, *, on: On = NONE) -> list[int]:
    """Where the pages start that a text shows by itself: none; those behind form feeds."""
    if "pages" not in on or "\f" not in text:
        return []
    return [0, *(place + 1 for place, char in enumerate(text) if char == "\f")]


def page_at(starts: list[int], place: int) -> int | None:
    """The number of the last page that starts at or before a place."""
    if not starts:
        return None
    return max(1, sum(1 for start in starts if start <= place))


def page_locator(pages: Sequence[str], *, on: On = NONE) -> Callable[[int], int | None]:
    starts = page_starts(pages)
    return lambda place: page_at(starts, place)


# Options.


def resolve_overlap(overlap: int | None, max_chars: float, *, on: On = NONE) -> int:
    """The overlap; unset, it is the same number whatever the size."""
    if overlap is None:
        overlap = OVERLAP_CHARS
        if "small-sizes" in on:
            overlap = min(overlap, int(max_chars) * OVERLAP_CHARS // MAX_CHARS)
    if "refused" in on and not 0 <= overlap < max_chars:
        raise Refused("a size of at least 1, an overlap from 0 to below it")
    return overlap


def resolve_min_chars(min_chars: float | None, max_chars: float, *, on: On = NONE) -> float:
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
