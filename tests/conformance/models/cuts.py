"""Where our rules cut a text: lists over the whole of it, made by plain loops.

Each list obeys the switches it is about (`clusters`, `line-ends`, `boundaries`); without them it
holds what the reference would look at. A cut is the end of the unit before it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from spanwise.cutting.clusters import clusters
from spanwise.cutting.sentences import clause_cuts as our_clause_cuts
from spanwise.cutting.sentences import sentence_cuts as our_sentence_cuts

from .white import On, js_is_blank, js_is_space, js_skip


@lru_cache(maxsize=16)
def borders(text: str, on: On) -> frozenset[int]:
    """Where a text may be cut at all."""
    if "clusters" in on:
        return frozenset({0, *clusters(text)})
    return frozenset(range(len(text) + 1))


def ink_start(text: str, start: int, end: int, on: On) -> int:
    """Past the white space, but not into a cluster; `end` when all is white."""
    found = js_skip(text, start, end)
    while start < found < end and found not in borders(text, on):
        found -= 1
    return found


def ink_end(text: str, start: int, end: int, on: On) -> int:
    """Before the white space, but not into a cluster; `start` when all is white."""
    found = end
    while found > start and js_is_space(text[found - 1]):
        found -= 1
    while start < found < end and found not in borders(text, on):
        found += 1
    return found


def ink(text: str, start: int, end: int, on: On) -> tuple[int, int]:
    start = ink_start(text, start, end, on)
    return start, ink_end(text, start, end, on)


@lru_cache(maxsize=16)
def line_ends(text: str, on: On) -> tuple[tuple[int, int], ...]:
    """Each line end as a range: LF alone, or CRLF and CR too."""
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(text):
        length = 1 if text[place] == "\n" else 0
        if "line-ends" in on and text[place] == "\r":
            length = 2 if text[place : place + 2] == "\r\n" else 1
        if length:
            found.append((place, place + length))
        place += max(length, 1)
    return tuple(found)


def is_blank_line(text: str, on: On) -> bool:
    """Any white space makes a line blank, or spaces and tabs alone."""
    return not text.strip(" \t\r\n") if "line-ends" in on else js_is_blank(text)


@lru_cache(maxsize=16)
def line_cuts(text: str, on: On) -> tuple[int, ...]:
    return tuple(start for start, _ in line_ends(text, on))


@lru_cache(maxsize=16)
def paragraph_cuts(text: str, on: On) -> tuple[int, ...]:
    """The line ends before a blank line (which must have a line end of its own)."""
    ends = line_ends(text, on)
    return tuple(
        start
        for (start, end), (following, _) in pairwise(ends)
        if is_blank_line(text[end:following], on)
    )


@lru_cache(maxsize=16)
def sentence_cuts(text: str, on: On) -> tuple[int, ...]:
    """After a mark and white space, or as our sentence rules say."""
    if "boundaries" in on:
        found = our_sentence_cuts(text, 0, len(text))
    else:
        found = [
            place
            for place in range(1, len(text))
            if text[place - 1] in ".!?" and js_is_space(text[place])
        ]
    return tuple(place for place in found if place in borders(text, on))


def opens_word(text: str, place: int, on: On) -> bool:
    """Whether what begins at a place is no rest of a word that was cut."""
    beside = text[max(0, place - 1) : place + 1]
    if place == 0 or beside[0] == "\ufeff" or any(map(str.isspace, beside)):
        return True
    return place in sentence_cuts(text, on)


@lru_cache(maxsize=16)
def clause_cuts(text: str, on: On) -> tuple[int, ...]:
    """As our clause rules say; no reference knows clauses."""
    return tuple(cut for cut in our_clause_cuts(text, 0, len(text)) if cut in borders(text, on))


@lru_cache(maxsize=16)
def word_cuts(text: str, on: On) -> tuple[int, ...]:
    """Before each character of white space, as JavaScript means it or as Python does."""
    return tuple(
        place
        for place, char in enumerate(text)
        if (char.isspace() if "boundaries" in on else js_is_space(char))
        and place in borders(text, on)
    )


@lru_cache(maxsize=16)
def cluster_cuts(text: str, on: On) -> tuple[int, ...]:
    return tuple(sorted(borders(text, on)))


CUTS = {
    "paragraph": paragraph_cuts,
    "line": line_cuts,
    "sentence": sentence_cuts,
    "clause": clause_cuts,
    "word": word_cuts,
    "cluster": cluster_cuts,
}


def cuts_between(level: str, text: str, start: int, end: int, on: On) -> list[int]:
    """All cuts `c` of a level with `start < c <= end`."""
    return [place for place in CUTS[level](text, on) if start < place <= end]


def last_cut(level: str, text: str, start: int, end: int, on: On) -> int:
    """The last of them, or -1."""
    return max(cuts_between(level, text, start, end, on), default=-1)


def first_cut(level: str, text: str, start: int, end: int, on: On) -> int:
    """The first of them, or `end`."""
    return min(cuts_between(level, text, start, end, on), default=end)


def overlap_start(text: str, previous: int, body: int, overlap: int, earliest: int, on: On) -> int:
    """Where a passage is shown from: borrowed text before `body`, not before `earliest`.

    The furthest paragraph or sentence start that uses half the overlap, else the furthest word
    start, else a cluster; never the whole of the own part that begins at `previous`.
    """
    first = max(previous + 1 if "no-repeats" in on else previous, earliest, body - overlap)
    if first >= body:
        return body
    if "word-overlap" not in on:
        return ink_start(text, first, body, on)
    half = body - (overlap + 1) // 2
    starts = [
        ink_start(text, cut, body, on)
        for level in ("paragraph", "sentence")
        for cut in cuts_between(level, text, previous, half, on)
    ]
    starts = [start for start in starts if first <= start <= half]
    if starts:
        return min(starts)
    for place in range(first, body):
        if starts_word(text, place, on):
            return place
    allowed = borders(text, on)
    if previous not in allowed:  # the own part before began inside a cluster that was cut
        allowed = frozenset(clusters(text, previous, body))
    border = next((place for place in range(first, body) if place in allowed), body)
    place = ink_start(text, border, body, on)
    spaceless = re.match("[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]", text[place])
    spaced = js_is_space(text[body - 1]) and not spaceless
    return body if spaced else place  # spaced words, and none of them in reach


def starts_word(text: str, place: int, on: On) -> bool:
    """Whether a word begins at a place: white space before it, none (and no BOM) at it."""
    if place == 0 or place not in borders(text, on):
        return False
    return text[place - 1].isspace() and not text[place].isspace() and text[place] != "\ufeff"


RUNT = 50


def word_below(
    text: str, start: int, head: int, high: int, size: int, on: On, most: int | None = None
) -> int:
    """Where the first word (or cluster) under a heading that fills the size ends, or -1.

    It goes over the size by less than a runt, so that the heading is not alone.
    """
    if ink_end(text, start, head, on) - start > size:
        return -1
    limit = min(high, start + size + RUNT - 1)
    if most is not None:
        limit = min(limit, start + most)
    if limit <= head:
        return -1
    cut = first_cut("word", text, head, min(limit + 1, high), on)
    if cut > limit:
        cut = last_cut("cluster", text, head, limit, on)
    return cut if cut > head else -1
