"""adonis-agora `chunkText`, over positions.

Prose: `trimmed` -> `windows` -> `shown` (the reference's slices) and `own` (what is new in each).
Records: `record_spans` -> `record_groups` -> the same triples.
"""

from __future__ import annotations

from typing import NamedTuple

from .white import NONE, On, js_skip, js_slice, js_trim


class Window(NamedTuple):
    """One step of the prose path; the chunk shown is `start..cut`, trimmed."""

    start: int
    previous_cut: int
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
    chunk_size: int = 800,
    overlap: int = 100,
    separator: str | None = None,
    on: On = NONE,
) -> list[Passage]:
    """The passages, in order."""
    if separator:
        records = record_spans(text, separator, on=on)
        groups = record_groups(
            records, len(separator), chunk_size=chunk_size, overlap=overlap, on=on
        )
        return [group_passage(records, group, on=on) for group in groups]
    passages = []
    for window in windows(text, chunk_size=chunk_size, overlap=overlap, on=on):
        passage = window_passage(text, window, on=on)
        if passage is not None:
            passages.append(passage)
    return passages


def chunk_strings(
    text: str,
    *,
    chunk_size: int = 800,
    overlap: int = 100,
    separator: str | None = None,
    on: On = NONE,
) -> list[str]:
    """The reference's answer: slices, or records joined again with the separator."""
    if not separator:
        passages = chunk_text(text, chunk_size=chunk_size, overlap=overlap, on=on)
        return [text[passage.start : passage.end] for passage in passages]
    records = record_spans(text, separator, on=on)
    groups = record_groups(records, len(separator), chunk_size=chunk_size, overlap=overlap, on=on)
    return [
        separator.join(text[start:end] for start, end in records[group.first : group.stop])
        for group in groups
    ]


# The prose path.


def windows(text: str, *, chunk_size: int, overlap: int, on: On = NONE) -> list[Window]:
    """Every step, also those whose slice turns out to hold nothing but white space."""
    low, high = js_trim(text, 0, len(text))
    if low == high:
        return []
    if high - low <= chunk_size:
        return [Window(low, low, high)]
    steps: list[Window] = []
    start = previous_cut = low
    while start < high:
        cut = choose_cut(text, low, high, start, chunk_size=chunk_size, on=on)
        steps.append(Window(start, previous_cut, cut))
        if cut >= high:
            break
        start, previous_cut = next_start(text, start, cut, overlap=overlap, low=low, on=on), cut
    return steps


def choose_cut(
    text: str, low: int, high: int, start: int, *, chunk_size: int, on: On = NONE
) -> int:
    """Where the window that opens at `start` is cut."""
    end = min(start + chunk_size, high)
    if end >= high:
        return high
    left, right = js_slice(high - low, start - low, end - low)
    found = boundaries(text, low + left, low + right, on=on)
    place = pick_boundary(found, on=on) - start if found else -1
    if far_enough(place, chunk_size=chunk_size, on=on):
        return start + place + 1
    return end


def boundaries(text: str, start: int, end: int, *, on: On = NONE) -> list[int]:
    """The last blank line, sentence end and space inside the window, by where each begins."""
    found = [text.rfind(mark, start, end) for mark in ("\n\n", ". ", " ")]
    return [place for place in found if place >= 0]


def pick_boundary(found: list[int], *, on: On = NONE) -> int:
    """The right-most wins, whatever its kind."""
    return max(found)


def far_enough(place: int, *, chunk_size: int, on: On = NONE) -> bool:
    """Only a boundary in the back half counts; `place` is counted from the window's start."""
    return place > chunk_size / 2


def next_start(
    text: str, start: int, cut: int, *, overlap: int, low: int, on: On = NONE
) -> int:
    """Where the next window opens: the overlap, but always one character on."""
    return max(cut - overlap, start + 1)


def shown(text: str, window: Window, *, on: On = NONE) -> tuple[int, int]:
    """The chunk as the reference gives it; empty when it is all white space."""
    low, high = js_trim(text, 0, len(text))
    left, right = js_slice(high - low, window.start - low, window.cut - low)
    return js_trim(text, low + left, low + right)


def own(text: str, window: Window, *, on: On = NONE) -> tuple[int, int]:
    """What no window before has reached, trimmed; empty when there is nothing new."""
    start, end = shown(text, window, on=on)
    return min(js_skip(text, max(start, window.previous_cut), end), end), end


def window_passage(text: str, window: Window, *, on: On = NONE) -> Passage | None:
    """The passage of one window, or None when the slice is empty."""
    start, end = shown(text, window, on=on)
    if start == end:
        return None
    body, _ = own(text, window, on=on)
    return Passage(start, body, end)


# The record path.


def record_spans(text: str, separator: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """The records between separators, trimmed, without the empty ones."""
    records: list[tuple[int, int]] = []
    start = 0
    while start <= len(text):
        found = text.find(separator, start)
        stop = len(text) if found < 0 else found
        record = trim_record(text, start, stop, on=on)
        if record[0] < record[1]:
            records.append(record)
        start = stop + len(separator)
    return records


def trim_record(text: str, start: int, end: int, *, on: On = NONE) -> tuple[int, int]:
    """A record loses the white space at both ends, its indentation too."""
    return js_trim(text, start, end)


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
        stop = fill_group(records, first, reached, separator_length, chunk_size=chunk_size, on=on)
        groups.append(Group(first, min(max(first, reached), stop), stop))
        reached = max(reached, stop)
        if stop == len(records):
            break
        first = carry_from(records, first, stop, separator_length, overlap=overlap, on=on)
    return groups


def fill_group(
    records: list[tuple[int, int]],
    first: int,
    reached: int,
    separator_length: int,
    *,
    chunk_size: int,
    on: On = NONE,
) -> int:
    """One past the last record that fits; the first is taken whatever its length.

    `reached` is the first record no chunk holds yet; the reference does not look at it, so a
    chunk may hold nothing but carried records.
    """
    stop = first + 1
    size = record_size(records, first, stop, separator_length, on=on)
    while stop < len(records) and size <= chunk_size:
        size = record_size(records, first, stop + 1, separator_length, on=on)
        if size <= chunk_size:
            stop += 1
    return stop


def record_size(
    records: list[tuple[int, int]], first: int, stop: int, separator_length: int, *, on: On = NONE
) -> int:
    """How long the records are when joined."""
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

    Each costs its length and one separator; the chunk's first record is never carried.
    """
    carried, size = stop, 0
    while carried - 1 > first:
        start, end = records[carried - 1]
        size += end - start + separator_length
        if size > overlap:
            break
        carried -= 1
    return carried


def group_passage(
    records: list[tuple[int, int]], group: Group, *, on: On = NONE
) -> Passage:
    """From the first record to the last; the body begins at the first record that is new."""
    end = records[group.stop - 1][1]
    body = records[group.first_new][0] if group.first_new < group.stop else end
    return Passage(records[group.first][0], body, end)
