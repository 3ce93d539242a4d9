"""Headings, fences and tables: what our scanner finds once `commonmark` is on, and what follows.

The scanner has its own tests (`test_commonmark.py`), so the models may use it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spanwise.cutting.markdown import scan

from .cuts import ink_end, ink_start, line_ends
from .white import On


class Heading(NamedTuple):
    """Its lines `start..end` (without the last line end), where its label lies, its level."""

    start: int
    end: int
    label_start: int
    label_end: int
    level: int


Headings = tuple[Heading, ...]


class Atom(NamedTuple):
    """A fence or a table, in whole lines without the last line end."""

    start: int
    end: int
    kind: str


@lru_cache(maxsize=16)
def front_end(text: str) -> int:
    """The end of the front matter, or 0."""
    return scan(text).front


@lru_cache(maxsize=16)
def scan_headings(text: str) -> Headings:
    found = scan(text)
    rows = zip(
        found.heading_starts,
        found.heading_ends,
        found.title_starts,
        found.title_ends,
        found.heading_levels,
        strict=True,
    )
    return tuple(Heading(*row) for row in rows)


@lru_cache(maxsize=16)
def scan_atoms(text: str) -> tuple[Atom, ...]:
    found = scan(text)
    rows = zip(found.atom_starts, found.atom_ends, found.atom_kinds, strict=True)
    return tuple(Atom(*row) for row in rows if row[2] != "html")


def label_of(text: str, heading: Heading) -> str:
    """A label of several lines becomes one line."""
    label = text[heading.label_start : heading.label_end]
    return " ".join(label.split()) if "\n" in label or "\r" in label else label


def is_bare(text: str, heading: Heading, following: int, on: On) -> bool:
    """Whether nothing but white space lies between a heading and a place after it."""
    return ink_start(text, heading.end, following, on) == following


def governing(text: str, headings: Headings, body: int, end: int, on: On) -> Heading | None:
    """The last heading above the first character of an own part that is in no heading."""
    above = [heading for heading in headings if heading.start <= body]
    while above and body < above[-1].end:
        body = ink_start(text, above[-1].end, end, on)
        if body >= end:
            break
        above = [heading for heading in headings if heading.start <= body]
    return above[-1] if above else None


def below_headings(text: str, headings: Headings, body: int, end: int, on: On) -> int:
    """Where the text under the headings at `body` begins; `body` when there are none."""
    for heading in headings:
        if heading.start <= body < heading.end:
            body = ink_start(text, heading.end, end, on)
    return body


def before_headings(text: str, headings: Headings, start: int, cut: int, on: On) -> int:
    """The cut, moved before the headings that it would part from the text below them."""
    for heading in reversed(headings):
        end = ink_end(text, heading.start, heading.end, on)
        if start < cut and ink_end(text, 0, cut, on) == end:
            cut = heading.start
    return cut


def context_above(text: str, body: int, end: int, most: int, on: On) -> str:
    """What our passages say beside their text, shortened outermost first to fit with it.

    The labels of the headings above, then the header of a table that was cut.
    """
    path = [
        label_of(text, heading)
        for heading in enclosing(text, body, end, on)
        if heading.label_start < body and label_of(text, heading)
    ]
    header = table_header(text, body, on)
    while path or header:
        context = "\n".join(line for line in (" > ".join(path), header) if line)
        if len(context) + 2 + end - body <= most:
            return context
        if path:
            del path[0]
        else:
            header = ""
    return ""


def enclosing(text: str, body: int, end: int, on: On) -> list[Heading]:
    """The heading that governs an own part and those around it, outermost first."""
    headings = scan_headings(text)
    heading = governing(text, headings, body, end, on)
    if heading is None:
        return []
    found = [heading]
    for above in reversed(headings[: headings.index(heading)]):
        if above.level < found[0].level:
            found.insert(0, above)
    return found


def table_header(text: str, body: int, on: On) -> str:
    """The first two lines of the table that an own part begins below, if it does."""
    for atom in scan_atoms(text):
        if atom.kind == "table" and atom.start <= body < atom.end:
            stop = [start for start, _ in line_ends(text, on) if start >= atom.start]
            if len(stop) > 1 and body >= stop[1]:
                return text[atom.start : stop[1]]
    return ""
