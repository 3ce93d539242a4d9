"""adonis-agora `chunkText`, over positions.

Prose: `windows` -> `window_passage` (the reference's slices, and what is new in each).
Records: `record_spans` -> `record_groups` -> the same triples.
"""

from __future__ import annotations

from typing import NamedTuple

from spanwise.cutting.sentences import sentence_cuts

from .cuts import (
    borders,
    first_cut,
    ink,
    ink_start,
    line_cuts,
    opens_word,
    overlap_start,
    paragraph_cuts,
    word_cuts,
)
from .white import NONE, On, Refused, js_slice

CHUNK_SIZE = 800
OVERLAP = 100


class Window(NamedTuple):
    """One step of the prose path: it opens at `start`, its own text at `body`."""

    start: int
    body: int
    cut: int


class Passage(NamedTuple):
    """Where a chunk lies: all of it is `start..end`, its own text (if any) `body..end`."""

    start: int
    body: int
    end: int


class Group(NamedTuple):
    """Records `first..stop` in one chunk; those before `first_new` were in the one before."""

    first: int
    first_new: int
    stop: int


def chunk_text(
    text: str,
    *,
    chunk_size: int = CHUNK_SIZE,
    overlap: int | None = None,
    separator: str | None = None,
    on: On = NONE,
) -> list[Passage]:
    """The passages, in order."""
    overlap = resolve_overlap(overlap, chunk_size, on=on)
    if separator:
        records = record_spans(text, separator, on=on)
        groups = record_groups(
            records, len(separator), chunk_size=chunk_size, overlap=overlap, on=on
        )
        return [group_passage(records, group, on=on) for group in groups]
    passages = []
    for window in windows(text, chunk_size=chunk_size, overlap=overlap, on=on):
        passage = window_passage(text, window, chunk_size=chunk_size, overlap=overlap, on=on)
        if passage is not None:
            passages.append(passage)
    return with_overlap(text, passages, overlap=overlap, on=on)


def chunk_strings(
    text: str,
    *,
    chunk_size: int = CHUNK_SIZE,
    overlap: int | None = None,
    separator: str | None = None,
    on: On = NONE,
) -> list[str]:
    """The reference's answer: slices, or records joined again with the separator."""
    if not separator or "slices" in on:
        passages = chunk_text(
            text, chunk_size=chunk_size, overlap=overlap, separator=separator, on=on
        )
        return [text[passage.start : passage.end] for passage in passages]
    overlap = resolve_overlap(overlap, chunk_size, on=on)
    records = record_spans(text, separator, on=on)
    groups = record_groups(records, len(separator), chunk_size=chunk_size, overlap=overlap, on=on)
    return [
        separator.join(text[start:end] for start, end in records[group.first : group.stop])
        for group in groups
    ]


def resolve_overlap(overlap: int | None, chunk_size: int, *, on: On = NONE) -> int:
    """The overlap; unset, it is the same number whatever the size."""
    if overlap is None:
        overlap = min(OVERLAP, chunk_size // 8) if "small-sizes" in on else OVERLAP
    if "refused" in on and not 0 <= overlap < chunk_size:
        raise Refused("a size of at least 1, an overlap from 0 to below it")
    return overlap


# The prose path.


def windows(text: str, *, chunk_size: int, overlap: int, on: On = NONE) -> list[Window]:
    """Every step, also those whose slice turns out to hold nothing but white space."""
    low, high = ink(text, 0, len(text), on)
    if low == high:
        return []
    if high - low <= chunk_size:
        return [Window(low, low, high)]
    steps: list[Window] = []
    start = body = low
    while start < high:
        cut, behind = choose_cut(text, low, high, start, body, chunk_size=chunk_size, on=on)
        steps.append(Window(start, body, cut))
        if cut >= high:
            break
        following = ink_start(text, cut, high, on)
        behind = min(behind, following) if "clusters" in on else behind
        start = next_start(start, body, behind, overlap=overlap, on=on)
        body = following
    return steps


def choose_cut(
    text: str, low: int, high: int, start: int, body: int, *, chunk_size: int, on: On = NONE
) -> tuple[int, int]:
    """Where the window that opens at `start` is cut, and the place behind the boundary."""
    end = min(start + chunk_size, high)
    if end >= high:
        return high, high
    left, right = js_slice(high - low, start - low, end - low)
    left, right = low + left, low + right
    found = boundaries(text, left, right, on=on)
    for level in ranks(found, on=on):
        cut, behind = found[level]
        enough = far_enough(behind - 1 - start, chunk_size=chunk_size, on=on)
        if enough and (cut > body or "no-repeats" not in on):
            return cut, behind
    return cut_anywhere(text, start, end, high, body, chunk_size=chunk_size, on=on)


def boundaries(text: str, start: int, end: int, *, on: On = NONE) -> dict[str, tuple[int, int]]:
    """The last boundary of each kind inside the window, strong to weak.

    Each is where a chunk ends by it and the place behind its first character (before which the
    reference cuts). All of it lies in the window.
    """
    found = {}
    if "line-ends" in on:
        blank = [cut for cut in paragraph_cuts(text, on) if start <= cut <= end - 2]
    else:
        blank = [text.rfind("\n\n", start, end)]
    if "boundaries" in on:
        ends = [cut for cut in sentence_cuts(text, start, end) if cut in borders(text, on)]
        lines = [cut for cut in line_cuts(text, on) if start <= cut < end]
        spaces = [cut for cut in word_cuts(text, on) if start <= cut < end]
    else:
        dot = text.rfind(". ", start, end)
        ends = [dot + 1] if dot >= 0 else []
        lines = []
        spaces = [text.rfind(" ", start, end)]
    for level, cuts in (("blank", blank), ("line", lines), ("space", spaces)):
        if cuts and cuts[-1] >= 0:
            found[level] = (cuts[-1], cuts[-1] + 1)
    if ends:
        found["sentence"] = (ends[-1], ends[-1])
    return found


def ranks(found: dict[str, tuple[int, int]], *, on: On = NONE) -> list[str]:
    """Which kinds are tried: the right-most alone, whatever its kind."""
    if "order" in on:
        return [level for level in ("blank", "sentence", "line", "space") if level in found]
    return [max(found, key=lambda level: found[level][1])] if found else []


def far_enough(place: int, *, chunk_size: int, on: On = NONE) -> bool:
    """Only a boundary in the back half counts; `place` is counted from the window's start."""
    return place > chunk_size / 2


def cut_anywhere(
    text: str, start: int, end: int, high: int, body: int, *, chunk_size: int, on: On = NONE
) -> tuple[int, int]:
    """The window's end, where no boundary lies in the back half."""
    if "whole-words" in on:
        low = max(start, body)
        spaces = [cut for cut in word_cuts(text, on) if low < cut < end]
        if spaces:
            return spaces[-1], spaces[-1] + 1
        ends = [cut for cut in sentence_cuts(text, low, end) if cut in borders(text, on)]
        if ends and "boundaries" in on:
            return ends[-1], ends[-1]
        # Overlap gives way to a word: the window goes on to the next border.
        if start < body:
            cut = first_cut("word", text, max(end, body), high, on)
            whole = cut < high or opens_word(text, body, on)
            if whole and cut - body <= chunk_size:
                return cut, cut + 1
    if "clusters" in on:
        end = max((cut for cut in borders(text, on) if body < cut <= end), default=0) or min(
            cut for cut in borders(text, on) if cut > body
        )
    return end, end


def next_start(start: int, body: int, behind: int, *, overlap: int, on: On = NONE) -> int:
    """Where the next window opens: the overlap, but always one character on."""
    if "no-repeats" in on:
        return max(behind - overlap, body + 1) if overlap else behind
    return max(behind - overlap, start + 1)


def window_passage(
    text: str, window: Window, *, chunk_size: int, overlap: int, on: On = NONE
) -> Passage | None:
    """The passage of one window, or None when the slice is empty."""
    low, high = ink(text, 0, len(text), on)
    left, right = js_slice(high - low, window.start - low, window.cut - low)
    start, end = ink(text, low + left, low + right, on)
    if start == end:
        return None
    if "whole-words" in on:
        # A window that went on to the next word shows less from before.
        start = ink_start(text, max(start, min(window.body, end - chunk_size)), end, on)
    body = ink_start(text, max(start, min(window.body, end)), end, on)
    return Passage(start, body, end)


def with_overlap(
    text: str, passages: list[Passage], *, overlap: int, on: On = NONE
) -> list[Passage]:
    """Each passage begins where its window does."""
    if "word-overlap" not in on:
        return passages
    shown = passages[:1]
    for row, passage in enumerate(passages[1:]):
        before = passages[row]
        start = overlap_start(text, before.body, passage.body, overlap, passage.start, on)
        shown.append(passage._replace(start=start))
    return shown


# The record path.


def record_spans(text: str, separator: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """The records between separators, trimmed, without the empty ones."""
    records: list[tuple[int, int]] = []
    start = place = 0
    while start <= len(text):
        found = text.find(separator, place)
        stop = len(text) if found < 0 else found
        place = stop + len(separator)
        record = ink(text, start, stop, on)
        if found >= 0 and not divides(text, record, place, on=on):
            continue
        if record[0] < record[1]:
            records.append(record)
        start = place
    return records


def divides(text: str, record: tuple[int, int], following: int, *, on: On = NONE) -> bool:
    """Whether a separator may be taken as one: no record begins or ends inside a cluster."""
    start, end = record
    return following in borders(text, on) and (start == end or end in borders(text, on))


def record_groups(
    records: list[tuple[int, int]],
    separator_length: int,
    *,
    chunk_size: int,
    overlap: int,
    on: On = NONE,
) -> list[Group]:
    """Which records go together."""
    groups: list[Group] = []
    first = reached = 0
    while reached < len(records):
        first = make_room(records, first, reached, separator_length, chunk_size=chunk_size, on=on)
        stop = fill_group(records, first, reached, separator_length, chunk_size=chunk_size, on=on)
        groups.append(Group(first, min(max(first, reached), stop), stop))
        reached = max(reached, stop)
        if stop == len(records):
            break
        first = carry_from(records, first, stop, separator_length, overlap=overlap, on=on)
    return groups


def make_room(
    records: list[tuple[int, int]],
    first: int,
    reached: int,
    separator_length: int,
    *,
    chunk_size: int,
    on: On = NONE,
) -> int:
    """The first carried record with which the first new one, `reached`, still fits.

    The reference does not look at the new one, so a chunk may hold nothing but carried records.
    """
    if "no-repeats" not in on:
        return first
    while first < reached and (
        record_size(records, first, reached + 1, separator_length, on=on) > chunk_size
    ):
        first += 1
    return first


def fill_group(
    records: list[tuple[int, int]],
    first: int,
    reached: int,
    separator_length: int,
    *,
    chunk_size: int,
    on: On = NONE,
) -> int:
    """One past the last record that fits; the first is taken whatever its length."""
    stop = max(first, reached) + 1 if "no-repeats" in on else first + 1
    while stop < len(records):
        if record_size(records, first, stop + 1, separator_length, on=on) > chunk_size:
            break
        stop += 1
    return stop


def record_size(
    records: list[tuple[int, int]], first: int, stop: int, separator_length: int, *, on: On = NONE
) -> int:
    """How long the records are when joined; as a slice, with what stands between them."""
    if "slices" in on:
        return records[stop - 1][1] - records[first][0]
    total = sum(end - start for start, end in records[first:stop])
    return total + separator_length * (stop - first - 1)


def carry_from(
    records: list[tuple[int, int]],
    first: int,
    stop: int,
    separator_length: int,
    *,
    overlap: int,
    on: On = NONE,
) -> int:
    """The first record of the next chunk: whole records while they fit the overlap.

    Each costs its length and what divides it from the next; the chunk's first record is never
    carried.
    """
    carried = stop
    while carried - 1 > first:
        if "slices" in on:
            size = records[stop][0] - records[carried - 1][0]
        else:
            size = sum(end - start for start, end in records[carried - 1 : stop])
            size += separator_length * (stop - carried + 1)
        if size > overlap:
            break
        carried -= 1
    return carried


def group_passage(records: list[tuple[int, int]], group: Group, *, on: On = NONE) -> Passage:
    """From the first record to the last; the body begins at the first record that is new."""
    end = records[group.stop - 1][1]
    body = records[group.first_new][0] if group.first_new < group.stop else end
    return Passage(records[group.first][0], body, end)
