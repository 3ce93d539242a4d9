"""What the agentos models take from our Markdown scanner once `commonmark` is on.

The scanner has its own tests (`test_commonmark.py`), so both sides may use it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spanwise.cutting.markdown import scan

from .cuts import ink_end, ink_start
from .white import On


class Heading(NamedTuple):
    """Its lines `start..end` (without the last line end), its label, its level."""

    start: int
    end: int
    label: str
    level: int


class Atom(NamedTuple):
    start: int
    end: int
    kind: str


@lru_cache(maxsize=16)
def front_end(text: str) -> int:
    """The end of the front matter, or 0."""
    return scan(text).front


@lru_cache(maxsize=16)
def headings(text: str) -> tuple[Heading, ...]:
    found = scan(text)
    rows = zip(
        found.heading_starts,
        found.heading_ends,
        found.title_starts,
        found.title_ends,
        found.heading_levels,
        strict=True,
    )
    return tuple(
        Heading(start, end, one_line(text[title_start:title_end]), level)
        for start, end, title_start, title_end, level in rows
    )


def one_line(title: str) -> str:
    return " ".join(title.split()) if "\n" in title or "\r" in title else title


@lru_cache(maxsize=16)
def atoms(text: str, kinds: tuple[str, ...]) -> tuple[Atom, ...]:
    found = scan(text)
    rows = zip(found.atom_starts, found.atom_ends, found.atom_kinds, strict=True)
    return tuple(Atom(start, end, kind) for start, end, kind in rows if kind in kinds)


def governing(text: str, body: int, end: int, on: On) -> str | None:
    """The label of the last heading above the first character that is in no heading."""
    above = [heading for heading in headings(text) if heading.start <= body]
    while above and body < above[-1].end:
        following = ink_start(text, above[-1].end, end, on)
        if following >= end:
            break
        body = following
        above = [heading for heading in headings(text) if heading.start <= body]
    return above[-1].label if above else None


def below_headings(text: str, body: int, end: int, on: On) -> int:
    """Where the text under the headings at `body` begins; `body` when there are none."""
    for heading in headings(text):
        if heading.start <= body < heading.end:
            body = ink_start(text, heading.end, end, on)
    return body


def with_heading(text: str, start: int, cut: int, on: On) -> int:
    """The cut, moved before the headings that it would part from the text below them."""
    for heading in reversed(headings(text)):
        ends = ink_end(text, heading.start, heading.end, on)
        if ink_end(text, start, cut, on) == ends > heading.start:
            cut = heading.start
    return cut
