"""The engine's `hierarchical`: sections by heading, `fixed` inside."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from .cuts import ink
from .markdown import Heading, Headings, front_end, governing, is_bare, label_of, scan_headings
from .pieces import Chunk, fixed_chunks
from .runs import Run, runs_length
from .white import JS_LINE_END, On, js_is_blank, js_line_end, js_skip, js_trim
from .windows import Prose, Sizes


class Section(NamedTuple):
    """From a heading's start to the next section; `row` is the heading it is named by."""

    start: int
    end: int
    row: int


def by_title(text: str, sizes: Sizes, *, on: On) -> list[Chunk]:
    titles = find_titles(text, on=on)
    chunks: list[Chunk] = []
    for start, end in preamble(text, titles, on=on):
        chunks.extend(untitled(text, start, end, sizes, on=on))
    for section in sections(text, titles, on=on):
        chunks.extend(titled(text, titles, section, sizes, on=on))
    return chunks


def preamble(text: str, titles: Headings, *, on: On) -> list[tuple[int, int]]:
    """What comes before the first heading, trimmed unless there is none; front matter apart."""
    end = titles[0].start if titles else len(text)
    places = [0, end]
    if "commonmark" in on:
        places = [0, front_end(text), end]
    ranges = list(pairwise(places))
    if titles or "slices" in on:
        ranges = [ink(text, start, end, on) for start, end in ranges]
    return [(start, end) for start, end in ranges if not js_is_blank(text[start:end])]


def sections(text: str, titles: Headings, *, on: On) -> list[Section]:
    """Each heading opens one; with `bare`, only when the one before it holds text."""
    found: list[Section] = []
    opened = -1
    for row, title in enumerate(titles):
        end = titles[row + 1].start if row + 1 < len(titles) else len(text)
        opened = title.start if opened < 0 else opened
        if "bare" in on and row + 1 < len(titles) and is_bare(text, title, end, on):
            continue
        found.append(Section(opened, end, row))
        opened = -1
    return found


def find_titles(text: str, *, on: On) -> Headings:
    """Matches from left to right; a line that a match has used is not looked at again."""
    if "commonmark" in on:
        return scan_headings(text)
    found: list[Heading] = []
    start = 0
    while start < len(text):
        title = parse_title(text, start, on=on)
        if title is not None:
            found.append(title)
        start = js_line_end(text, start if title is None else title.end) + 1
    return tuple(found)


def parse_title(text: str, start: int, *, on: On) -> Heading | None:
    """One to six `#` at `start`, white space (line ends too), text to its line's end."""
    after = start
    while after < len(text) and text[after] == "#":
        after += 1
    label = label_start(text, after, on=on)
    if not 1 <= after - start <= 6 or label < 0:
        return None
    end = js_line_end(text, label)
    return Heading(start, end, *js_trim(text, label, end), after - start)


def label_start(text: str, after: int, *, on: On) -> int:
    """Past all white space; of white space to the text's end the last that is no line end."""
    label = js_skip(text, after, len(text))
    if label == after:
        return -1
    if label < len(text):
        return label
    for place in range(label - 1, after, -1):
        if text[place] not in JS_LINE_END:
            return place
    return -1


def title_metadata(text: str, titles: Headings, row: int, *, on: On) -> dict[str, Any]:
    """The level and, unless there are none, the labels of the headings around it."""
    metadata: dict[str, Any] = {"headingLevel": titles[row].level}
    path = title_path(titles, row, on=on)
    if path:
        metadata["ancestorHeadings"] = [
            text[titles[above].label_start : titles[above].label_end] for above in path
        ]
    return metadata


def title_path(titles: Headings, row: int, *, on: On) -> list[int]:
    """The rows of the headings that enclose one, outermost first."""
    path: list[int] = []
    level = titles[row].level
    for above in range(row - 1, -1, -1):
        if titles[above].level < level:
            path.insert(0, above)
            level = titles[above].level
    return path


def untitled(text: str, start: int, end: int, sizes: Sizes, *, on: On) -> list[Chunk]:
    """Text under no heading: no metadata when it fits, an empty one when it was cut."""
    runs = (Run(start, end),)
    if runs_length(runs) <= sizes.chunk_size:
        return [Chunk(runs)]
    return [chunk._replace(metadata={}) for chunk in fixed_chunks(text, runs, sizes, on=on)]


def titled(text: str, titles: Headings, section: Section, sizes: Sizes, *, on: On) -> list[Chunk]:
    """What a section holds, under its label."""
    start, end = section_range(text, titles, section, on=on)
    chunks = [Chunk((Run(start, end),))]
    if end - start > sizes.chunk_size:
        chunks = fixed_chunks(text, chunks[0].runs, sizes, Prose(headings=titles), on=on)
    metadata = title_metadata(text, titles, section.row, on=on)
    return [
        chunk._replace(
            heading=chunk_label(text, titles, section, chunk, on=on),
            metadata=metadata,
            section=section.row + 1,
        )
        for chunk in chunks
    ]


def section_range(text: str, titles: Headings, section: Section, *, on: On) -> tuple[int, int]:
    """The body without its heading line; a bare heading's text is its body."""
    if "slices" in on:
        return ink(text, section.start, section.end, on)
    title = titles[section.row]
    start, end = js_trim(text, title.end, section.end)
    return (start, end) if start < end else (title.label_start, title.label_end)


def chunk_label(text: str, titles: Headings, section: Section, chunk: Chunk, *, on: On) -> str:
    """The section's label, or that of the heading right above the chunk's own text."""
    title: Heading | None = titles[section.row]
    if "bare" in on:
        run = chunk.runs[0]
        title = governing(text, titles, run.start + chunk.body, run.end, on)
    return "" if title is None else label_of(text, title)
