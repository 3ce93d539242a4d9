"""agentfootprint's span helpers: paragraphs, packing, cutting, folding, overlap.

A span's `start..end` holds its own text and, once `apply_overlap` has moved `start`, what it
borrows; `content_start` is then where its own text begins.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .cuts import borders, cuts_between, ink, ink_start, line_ends, overlap_start
from .white import NONE, On

RUNT_CHARS = 50

BELOW_PARAGRAPH = ("line", "sentence", "clause", "word", "cluster")


class Span(NamedTuple):
    """A range, its label, where its own text begins if overlap moved `start`, its section.

    `opened` is where it began before it was trimmed, if it was.
    """

    start: int
    end: int
    heading: str | None = None
    content_start: int | None = None
    section: int = 0
    opened: int | None = None


# Units.


def paragraph_spans(
    text: str, start: int = 0, end: int | None = None, *, on: On = NONE
) -> list[Span]:
    """The non-empty stretches between blank lines."""
    start, end = trimmed(text, start, len(text) if end is None else end, on=on)
    spans: list[Span] = []
    for gap_start, gap_end in [*blank_lines(text, start, end, on=on), (end, end)]:
        if "slices" in on:
            start = ink_start(text, start, gap_start, on)
        if gap_start > start:
            spans.append(Span(start, gap_start))
        start = gap_end
    return spans


def blank_lines(text: str, start: int, end: int, *, on: On = NONE) -> list[tuple[int, int]]:
    """A line end, spaces or tabs, a line end: left to right, without overlap."""
    found: list[tuple[int, int]] = []
    ends = [line for line in line_ends(text, on) if start <= line[0] and line[1] <= end]
    for row, (first, behind) in enumerate(ends[:-1]):
        following, last = ends[row + 1]
        if first >= start and not text[behind:following].strip(" \t"):
            found.append((first, last))
            start = last
    return found


def trimmed(text: str, start: int, end: int, *, on: On = NONE) -> tuple[int, int]:
    """A range as it is; as a passage, without the white space at its ends."""
    return ink(text, start, end, on) if "slices" in on else (start, end)


def trim_spans(text: str, spans: list[Span], *, on: On = NONE) -> list[Span]:
    """The spans before anything is counted: the reference trims the pieces only."""
    done = []
    for span in spans:
        start, end = trimmed(text, span.start, span.end, on=on)
        if start < end:
            done.append(span._replace(start=start, end=end, opened=span.start))
    return done


# Packing and cutting.


def same_section(left: Span, right: Span, *, on: On = NONE) -> bool:
    """Two spans belong together when their labels are equal (or both have none)."""
    if "equal-labels" in on:
        return left.section == right.section
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
    spans: list[Span], max_chars: float, overlap_chars: int, *, text: str = "", on: On = NONE
) -> list[Span]:
    """Every span over the target cut hard, the others as they are."""
    done: list[Span] = []
    for span in spans:
        if span.end - span.start <= max_chars:
            done.append(span)
        elif "soft-cut" in on:
            pieces = soft_cut(text, span, max_chars, BELOW_PARAGRAPH, on=on)
            done.extend(overlapping(pieces, overlap_chars, on=on))
        else:
            done.extend(hard_cut(span, max_chars, overlap_chars, text=text, on=on))
    return done


def soft_cut(
    text: str, span: Span, max_chars: float, levels: tuple[str, ...], *, on: On = NONE
) -> list[Span]:
    """Units of the first level packed; one that is too long is cut by the next level, alone."""
    start, end = ink(text, span.start, span.end, on)
    units: list[Span] = []
    place = start
    for cut in [*cuts_between(levels[0], text, start, end - 1, on), end]:
        place = ink_start(text, place, cut, on)
        if place < cut:
            units.append(span._replace(start=place, end=cut, content_start=None))
        place = cut
    done: list[Span] = []
    for packed in pack_spans(units, max_chars, on=on):
        first, last = ink(text, packed.start, packed.end, on)
        piece = packed._replace(start=first, end=last)
        if last - first > max_chars and len(levels) > 1:
            done.extend(soft_cut(text, piece, max_chars, levels[1:], on=on))
        else:
            done.append(piece)
    return done


def overlapping(pieces: list[Span], overlap_chars: int, *, on: On = NONE) -> list[Span]:
    """The pieces of one span as the reference cuts it: each overlaps the one before already."""
    if "one-overlap" in on:
        return pieces
    return [
        piece if row == 0 else piece._replace(start=max(span.start, piece.start - overlap_chars))
        for row, (span, piece) in enumerate(zip([pieces[0], *pieces], pieces, strict=False))
    ]


def hard_cut(
    span: Span, max_chars: float, overlap_chars: int, *, text: str = "", on: On = NONE
) -> list[Span]:
    """Pieces of at most `max_chars`, each already overlapping the one before."""
    if "one-overlap" in on:
        overlap_chars = 0
    pieces: list[Span] = []
    start = span.start
    while start < span.end:
        end = hard_cut_end(span, start, max_chars, text=text, on=on)
        pieces.append(span._replace(start=start, end=end, content_start=None))
        if end >= span.end:
            break
        start = hard_cut_next(start, end, max_chars, overlap_chars, on=on)
    return pieces


def hard_cut_end(span: Span, start: int, max_chars: float, *, text: str = "", on: On = NONE) -> int:
    end = int(min(start + max_chars, span.end))
    return cluster_end(text, start, end, on) if "clusters" in on else end


def cluster_end(text: str, start: int, end: int, on: On) -> int:
    """The last border up to `end`, else the first after it."""
    inside = [place for place in borders(text, on) if start < place <= end]
    return max(inside) if inside else min(place for place in borders(text, on) if place > end)


def hard_cut_next(
    start: int, end: int, max_chars: float, overlap_chars: int, *, on: On = NONE
) -> int:
    """The stride is never less than one."""
    if "one-overlap" in on:
        return end
    return start + int(max(1, max_chars - overlap_chars))


# The floors.


def runt_limit(max_chars: float, *, on: On = NONE) -> int:
    """Below this a span folds; the same number whatever the caller's size."""
    return min(RUNT_CHARS, int(max_chars) // 2) if "small-sizes" in on else RUNT_CHARS


def fold_runts(
    spans: list[Span], limit: float = RUNT_CHARS, most: float = math.inf, *, on: On = NONE
) -> list[Span]:
    """A runt joins the span before it when both have one label; the first never does."""
    folded: list[Span] = []
    for span in spans:
        if folded and folds(folded[-1], span, limit, most, on=on):
            folded[-1] = folded[-1]._replace(end=span.end)
        else:
            folded.append(span)
    return folded


def folds(previous: Span, span: Span, limit: float, most: float, *, on: On = NONE) -> bool:
    if "bound" in on and span.end - previous.start > most:
        return False
    return span.end - span.start < limit and same_section(previous, span, on=on)


def merge_short_spans_forward(
    spans: list[Span],
    floor: float,
    most: float = math.inf,
    most_at_end: float = math.inf,
    *,
    on: On = NONE,
) -> list[Span]:
    """Short spans gather until they reach the floor or a full span takes them."""
    if floor <= 0 or len(spans) <= 1:
        return list(spans)
    merged: list[Span] = []
    run: Span | None = None
    for span in spans:
        if run is not None and "bound" in on and span.end - run.start > most:
            merged.append(run)
            run = None
        run = span if run is None else join_spans(run, span, on=on)
        if run.end - run.start >= floor:
            merged.append(run)
            run = None
    if run is None:
        return merged
    if merged and not ("bound" in on and run.end - merged[-1].start > most_at_end):
        merged[-1] = join_spans(merged[-1], run, on=on)
    else:
        merged.append(run)
    return merged


def join_spans(first: Span, last: Span, *, on: On = NONE) -> Span:
    """From the first to the last; the label is lost."""
    return Span(first.start, last.end, None, None, first.section)


# Overlap.


def apply_overlap(
    spans: list[Span], overlap_chars: int, *, text: str = "", front: int = 0, on: On = NONE
) -> list[Span]:
    """Each span but the first reaches back, its old start kept when that moves it.

    Nothing is borrowed from before `front`, which the reference does not know.
    """
    if overlap_chars <= 0:
        return list(spans)
    shifted: list[Span] = []
    for row, span in enumerate(spans):
        start = span.start
        if row:
            start = overlap_begins(text, spans[row - 1], span, overlap_chars, front, on=on)
        moved = start != span.start
        shifted.append(span._replace(start=start, content_start=span.start) if moved else span)
    return shifted


def overlap_begins(
    text: str, previous: Span, span: Span, overlap_chars: int, front: int = 0, *, on: On = NONE
) -> int:
    """Counted characters, not before the previous span's own start."""
    front = min(front, span.start)
    if "word-overlap" in on:
        return overlap_start(text, previous.start, span.start, overlap_chars, front, on)
    start = max(previous.start, span.start - overlap_chars, front)
    if "no-repeats" in on and start == previous.start:
        start = min(start + 1, span.start)
    return start
