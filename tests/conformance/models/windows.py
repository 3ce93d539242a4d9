"""The engine's `fixed`: windows of one size over a stretch of text.

Every strategy of the engine cuts with it; `Prose` says what a strategy adds to it.
"""

from __future__ import annotations

from typing import NamedTuple

from .cuts import (
    borders,
    cuts_between,
    ink,
    ink_start,
    last_cut,
    opens_word,
    overlap_start,
    word_below,
)
from .markdown import Headings, before_headings, below_headings
from .white import Hang, On


class Sizes(NamedTuple):
    chunk_size: int
    chunk_overlap: int


class Prose(NamedTuple):
    """The boundaries that `order` prefers in the back half, and the headings not to part."""

    levels: tuple[str, ...] = ("word",)
    headings: Headings = ()


PLAIN = Prose()


class Window(NamedTuple):
    """One step: it opens at `start`, is cut at `cut`; what is new in it begins at `body`.

    `previous` is the body of the step before, or -1.
    """

    start: int
    body: int
    cut: int
    previous: int


def windows(
    text: str, start: int, high: int, sizes: Sizes, prose: Prose, *, on: On
) -> list[Window]:
    """Every step; a start met before (or before the text) means that it goes on for ever."""
    if "slices" in on:
        start, high = ink(text, start, high, on)
    low = cut = start
    previous = -1
    steps: list[Window] = []
    seen: set[int] = set()
    while start < high:
        if start in seen or start < low:
            raise Hang("the fixed strategy does not move on")
        seen.add(start)
        body = ink_start(text, cut, high, on)
        cut = window_cut(text, start, body, high, sizes, prose, on=on)
        steps.append(Window(start, body, cut, previous))
        if cut >= high:
            break
        previous, start = body, next_start(cut, body, sizes, low, on=on)
    return steps


def window_cut(
    text: str, start: int, body: int, high: int, sizes: Sizes, prose: Prose, *, on: On
) -> int:
    """The size, moved back to the last white space in the window, if there is any."""
    end = start + sizes.chunk_size
    if end >= high:
        return high
    floor = least_cut(text, start, body, high, prose, on=on)
    if floor >= end and body < floor:
        place = word_below(text, body, floor, high, sizes.chunk_size, on)
        if place > body:
            return place
        # The headings leave no room at all: they are cut like other text.
        floor, prose = body, prose._replace(headings=())
    place = strongest(text, floor, start, end, sizes, prose, on=on)
    if place < 0:
        place = last_word(text, floor, end, prose, on=on)
    if place < 0 and "order" in on and "sentence" in prose.levels:
        place = last_sentence(text, floor, end, prose, on=on)
    if place < 0 and "whole-words" in on and start < body:
        place = following_word(text, max(floor, end), body, high, sizes, on=on)
    return place if place >= 0 else hard_cut(text, floor, end, on=on)


def least_cut(text: str, start: int, body: int, high: int, prose: Prose, *, on: On) -> int:
    """The place a cut must lie after: the window's start, or where it says something new.

    With `bare`, not below the headings that the window opens with.
    """
    if "no-repeats" not in on:
        return start
    return below_headings(text, prose.headings, body, high, on) if "bare" in on else body


def strongest(
    text: str, floor: int, start: int, end: int, sizes: Sizes, prose: Prose, *, on: On
) -> int:
    """With `order`, the last cut of the strongest level in the back half."""
    if "order" not in on:
        return -1
    half = max(floor, start + sizes.chunk_size // 2)
    for level in prose.levels:
        place = unparted(text, floor, last_cut(level, text, half, end, on), prose, on=on)
        if place > half:
            return place
    return -1


def last_word(text: str, floor: int, end: int, prose: Prose, *, on: On) -> int:
    """The last white space in the window, or -1."""
    place = unparted(text, floor, last_cut("word", text, floor, end, on), prose, on=on)
    return place if place > floor else -1


def last_sentence(text: str, floor: int, end: int, prose: Prose, *, on: On) -> int:
    """Without white space in the window, the last sentence end anywhere in it, or -1."""
    place = unparted(text, floor, last_cut("sentence", text, floor, end, on), prose, on=on)
    return place if place > floor else -1


def unparted(text: str, floor: int, place: int, prose: Prose, *, on: On) -> int:
    """A cut that parts no heading from its text."""
    if place < 0 or "bare" not in on:
        return place
    return before_headings(text, prose.headings, floor, place, on)


def following_word(text: str, place: int, body: int, high: int, sizes: Sizes, *, on: On) -> int:
    """The next word border (or the end), if what is new up to it fits the size, or -1."""
    full = min(high, body + sizes.chunk_size)
    found = cuts_between("word", text, place, min(full, high - 1), on)
    if found:
        return found[0]
    return high if full == high and opens_word(text, body, on) else -1


def hard_cut(text: str, floor: int, end: int, *, on: On) -> int:
    """The window's end, moved back to a cluster's border, or on to the first there is."""
    if "clusters" not in on:
        return end
    place = end
    while place > floor and place not in borders(text, on):
        place -= 1
    if place > floor:
        return place
    place = floor + 1
    while place not in borders(text, on):
        place += 1
    return place


def next_start(cut: int, body: int, sizes: Sizes, low: int, *, on: On) -> int:
    """The overlap before the cut, or the cut when that is not past the text's start."""
    if "no-repeats" in on:
        return max(cut - sizes.chunk_overlap, body + 1) if sizes.chunk_overlap else cut
    following = cut - sizes.chunk_overlap
    return following if following > low else cut


def shown(text: str, window: Window, sizes: Sizes, *, on: On) -> tuple[int, int, int]:
    """The slice of a window: where it is shown from, its own text; empty when all is white."""
    start, end = ink(text, window.start, window.cut, on)
    body = min(max(start, window.body), end)
    if "word-overlap" in on and window.previous >= 0:
        earliest = min(body, max(window.start, end - sizes.chunk_size))
        start = overlap_start(text, window.previous, body, sizes.chunk_overlap, earliest, on)
    return start, body, end
