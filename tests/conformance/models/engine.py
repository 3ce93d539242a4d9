"""agentos `ChunkingEngine.chunk`, over runs of source places.

`fixed` is the base: `fixed_windows` -> trimmed slices. `semantic`: sentences -> groups ->
joined -> fixed when over twice the size. `hierarchical`: find_titles -> bodies -> fixed when over
the size. `layout`: blocks -> code and tables whole, prose fixed.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .runs import Run, Runs, runs_join, runs_length, runs_slice, runs_text
from .white import (
    JS_LINE_END,
    NONE,
    Hang,
    On,
    js_is_blank,
    js_is_space,
    js_line_end,
    js_skip,
    js_trim,
)

SIMILARITY = 0.3


class Sizes(NamedTuple):
    chunk_size: int
    chunk_overlap: int


class Window(NamedTuple):
    """One step of the fixed strategy, in its own text."""

    start: int
    previous_cut: int
    cut: int


class Chunk(NamedTuple):
    """A chunk's text as runs; `body` counts the characters of it that only repeat."""

    runs: Runs
    body: int = 0
    heading: str | None = None
    metadata: dict[str, Any] | None = None
    section: int = 0


class Title(NamedTuple):
    """A heading: `start..end` of its match, its trimmed label, its level."""

    start: int
    end: int
    label_start: int
    label_end: int
    level: int


class Block(NamedTuple):
    """A range of whole lines (without the last LF) and what it is: code, table or prose."""

    start: int
    end: int
    kind: str


def engine_chunks(
    text: str,
    *,
    strategy: str,
    chunk_size: int = 512,
    chunk_overlap: int = 64,
    embed: str | None = None,
    on: On = NONE,
) -> list[Chunk]:
    sizes = Sizes(chunk_size, chunk_overlap)
    if strategy == "fixed" or (strategy == "semantic" and embed is None):
        return by_size(text, sizes, on=on)
    if strategy == "semantic":
        return by_similarity(text, sizes, on=on)
    if strategy == "hierarchical":
        return by_title(text, sizes, on=on)
    if strategy == "layout":
        return by_layout(text, sizes, on=on)
    raise ValueError(f"unknown strategy: {strategy!r}")


def chunk_content(text: str, chunk: Chunk) -> str:
    """The reference's content of a chunk."""
    return runs_text(text, chunk.runs)


# Fixed.


def by_size(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    return fixed_chunks(text, (Run(0, len(text)),), sizes, on=on)


def fixed_chunks(source: str, runs: Runs, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """The trimmed slices of some text that hold anything."""
    text = runs_text(source, runs)
    chunks: list[Chunk] = []
    for window in fixed_windows(text, sizes, on=on):
        start, end = js_trim(text, max(window.start, 0), window.cut)
        if start < end:
            body = js_skip(text, max(start, window.previous_cut), end)
            chunks.append(Chunk(runs_slice(runs, start, end), min(body, end) - start))
    return chunks


def fixed_windows(text: str, sizes: Sizes, *, on: On = NONE) -> list[Window]:
    """Every step; a start met before (or before the text) means that it goes on for ever."""
    steps: list[Window] = []
    seen: set[int] = set()
    start = previous_cut = 0
    while start < len(text):
        if start in seen or start < 0:
            raise Hang("the fixed strategy does not move on")
        seen.add(start)
        cut = fixed_cut(text, start, sizes, on=on)
        steps.append(Window(start, previous_cut, cut))
        if cut >= len(text):
            break
        start, previous_cut = fixed_next(text, start, cut, sizes, on=on), cut
    return steps


def fixed_cut(text: str, start: int, sizes: Sizes, *, on: On = NONE) -> int:
    """The size, moved back to the last white space in the window, if there is any."""
    end = start + sizes.chunk_size
    if end >= len(text):
        return len(text)
    for place in range(end, start, -1):
        if js_is_space(text[place]):
            return place
    return end


def fixed_next(text: str, start: int, cut: int, sizes: Sizes, *, on: On = NONE) -> int:
    """The overlap before the cut, or the cut when that is not past the text's start."""
    following = cut - sizes.chunk_overlap
    return following if following > 0 else cut


# Semantic.


def by_similarity(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """Neighbouring sentences together while they are alike."""
    found = sentences(text, on=on)
    if len(found) <= 1:
        return [Chunk((sentence,)) for sentence in found]
    chunks: list[Chunk] = []
    for group in groups(text, found, on=on):
        runs = join_sentences(group, on=on)
        if is_too_long(runs, sizes, on=on):
            chunks.extend(fixed_chunks(text, runs, sizes, on=on))
        else:
            chunks.append(Chunk(runs))
    return chunks


def sentences(text: str, *, on: On = NONE) -> list[Run]:
    """Cut at white space between a sentence mark and an ASCII capital; trimmed, none empty."""
    found: list[Run] = []
    start = 0
    for gap_start, gap_end in [*sentence_gaps(text, on=on), (len(text), len(text))]:
        left, right = js_trim(text, start, gap_start)
        if left < right:
            found.append(Run(left, right))
        start = gap_end
    return found


def sentence_gaps(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    gaps: list[tuple[int, int]] = []
    place = 1
    while place < len(text):
        end = js_skip(text, place, len(text))
        if end > place and is_sentence_gap(text, place, end, on=on):
            gaps.append((place, end))
        place = end + 1
    return gaps


def is_sentence_gap(text: str, start: int, end: int, *, on: On = NONE) -> bool:
    """Whether white space `start..end` ends a sentence."""
    return text[start - 1] in ".!?" and end < len(text) and "A" <= text[end] <= "Z"


def groups(text: str, found: list[Run], *, on: On = NONE) -> list[list[Run]]:
    vectors = [wh16(text[run.start : run.end]) for run in found]
    grouped = [[found[0]]]
    for row in range(1, len(found)):
        if cosine(vectors[row - 1], vectors[row]) < SIMILARITY:
            grouped.append([found[row]])
        else:
            grouped[-1].append(found[row])
    return grouped


def join_sentences(group: list[Run], *, on: On = NONE) -> Runs:
    """One space between, whatever stood there."""
    runs: Runs = (group[0],)
    for run in group[1:]:
        runs = runs_join(runs, " ", (run,))
    return runs


def is_too_long(runs: Runs, sizes: Sizes, *, on: On = NONE) -> bool:
    """A group may be twice the size."""
    return runs_length(runs) > 2 * sizes.chunk_size


def wh16(text: str) -> list[int]:
    """The golden vectors' embedding: how many words fall into each of sixteen places."""
    counts = [0] * 16
    word = ""
    for char in f"{text.lower()} ":
        if char.isascii() and char.isalnum():
            word += char
        elif word:
            counts[fnv1a(word) % 16] += 1
            word = ""
    return counts


def fnv1a(word: str) -> int:
    value = 0x811C9DC5
    for byte in word.encode():
        value = (value ^ byte) * 0x01000193 % 2**32
    return value


def cosine(left: list[int], right: list[int]) -> float:
    """Nothing is like the zero vector."""
    size = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return sum(a * b for a, b in zip(left, right, strict=True)) / size if size else 0.0


# Hierarchical.


def by_title(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    titles = find_titles(text, on=on)
    if not titles:
        return untitled(text, 0, len(text), sizes, on=on) if not js_is_blank(text) else []
    start, end = js_trim(text, 0, titles[0].start)
    chunks = untitled(text, start, end, sizes, on=on) if start < end else []
    for row, title in enumerate(titles):
        end = titles[row + 1].start if row + 1 < len(titles) else len(text)
        metadata = title_metadata(text, titles, row, on=on)
        chunks.extend(titled(text, title, end, metadata, row + 1, sizes, on=on))
    return chunks


def find_titles(text: str, *, on: On = NONE) -> list[Title]:
    """Matches from left to right; a line that a match has used is not looked at again."""
    found: list[Title] = []
    start = 0
    while start < len(text):
        title = parse_title(text, start, on=on)
        if title is not None:
            found.append(title)
        start = js_line_end(text, start if title is None else title.end) + 1
    return found


def parse_title(text: str, start: int, *, on: On = NONE) -> Title | None:
    """One to six `#` at `start`, white space (line ends too), text to its line's end."""
    after = start
    while after < len(text) and text[after] == "#":
        after += 1
    label = label_start(text, after, on=on)
    if not 1 <= after - start <= 6 or label < 0:
        return None
    end = js_line_end(text, label)
    return Title(start, end, *js_trim(text, label, end), after - start)


def label_start(text: str, after: int, *, on: On = NONE) -> int:
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


def title_metadata(
    text: str, titles: list[Title], row: int, *, on: On = NONE
) -> dict[str, Any]:
    """The level and, unless there are none, the labels of the headings around it."""
    metadata: dict[str, Any] = {"headingLevel": titles[row].level}
    path = title_path(titles, row, on=on)
    if path:
        metadata["ancestorHeadings"] = [
            text[titles[above].label_start : titles[above].label_end] for above in path
        ]
    return metadata


def title_path(titles: list[Title], row: int, *, on: On = NONE) -> list[int]:
    """The rows of the headings that enclose one, outermost first."""
    path: list[int] = []
    level = titles[row].level
    for above in range(row - 1, -1, -1):
        if titles[above].level < level:
            path.insert(0, above)
            level = titles[above].level
    return path


def untitled(text: str, start: int, end: int, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """Text under no heading: no metadata when it fits, an empty one when it was cut."""
    runs = (Run(start, end),)
    if runs_length(runs) <= sizes.chunk_size:
        return [Chunk(runs)]
    return [
        chunk._replace(metadata={}) for chunk in fixed_chunks(text, runs, sizes, on=on)
    ]


def titled(
    text: str,
    title: Title,
    end: int,
    metadata: dict[str, Any],
    section: int,
    sizes: Sizes,
    *,
    on: On = NONE,
) -> list[Chunk]:
    """The body without its heading line; a bare heading's text is its body."""
    label = text[title.label_start : title.label_end]
    start, end = body_range(text, title, end, on=on)
    chunks = [Chunk((Run(start, end),))]
    if end - start > sizes.chunk_size:
        chunks = fixed_chunks(text, chunks[0].runs, sizes, on=on)
    return [
        chunk._replace(heading=label, metadata=metadata, section=section) for chunk in chunks
    ]


def body_range(text: str, title: Title, end: int, *, on: On = NONE) -> tuple[int, int]:
    start, end = js_trim(text, title.end, end)
    return (start, end) if start < end else (title.label_start, title.label_end)


# Layout.


def by_layout(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """Code and tables whole, of any size; prose by size."""
    chunks: list[Chunk] = []
    for block in blocks(text, on=on):
        if block.kind == "prose":
            runs = (Run(*js_trim(text, block.start, block.end)),)
            chunks.extend(fixed_chunks(text, runs, sizes, on=on))
        else:
            run = Run(block.start, block.end)
            chunks.append(Chunk((run,), metadata={"type": block.kind}))
    return chunks


def blocks(text: str, *, on: On = NONE) -> list[Block]:
    """The lines, grouped."""
    found: list[Block] = []
    lines = line_ranges(text)
    row = 0
    while row < len(lines):
        kind = line_kind(text, lines[row], on=on)
        stop = BLOCK_ENDS[kind](text, lines, row, on=on)
        found.append(Block(lines[row][0], lines[stop - 1][1], kind))
        row = stop
    return found


def line_ranges(text: str) -> list[tuple[int, int]]:
    """Lines end at LF alone, which is no part of them; the last may be empty."""
    found: list[tuple[int, int]] = []
    start = 0
    while (end := text.find("\n", start)) >= 0:
        found.append((start, end))
        start = end + 1
    return [*found, (start, len(text))]


def line_kind(text: str, line: tuple[int, int], *, on: On = NONE) -> str:
    """What a line opens."""
    if fence_length(text, line, on=on) >= 3:
        return "code"
    return "table" if has_pipe(text, line, on=on) else "prose"


def fence_length(text: str, line: tuple[int, int], *, on: On = NONE) -> int:
    """How many backticks stand at the very start of the line."""
    after = line[0]
    while after < line[1] and text[after] == "`":
        after += 1
    return after - line[0]


def has_pipe(text: str, line: tuple[int, int], *, on: On = NONE) -> bool:
    return "|" in text[line[0] : line[1]]


def code_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On = NONE) -> int:
    """Past the next line with at least as many backticks, whatever follows them, or the end."""
    length = fence_length(text, lines[row], on=on)
    for stop in range(row + 1, len(lines)):
        if fence_length(text, lines[stop], on=on) >= length:
            return stop + 1
    return len(lines)


def table_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On = NONE) -> int:
    """The next line without a pipe."""
    stop = row + 1
    while stop < len(lines) and has_pipe(text, lines[stop], on=on):
        stop += 1
    return stop


def prose_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On = NONE) -> int:
    """The next line that opens something else."""
    stop = row + 1
    while stop < len(lines) and line_kind(text, lines[stop], on=on) == "prose":
        stop += 1
    return stop


BLOCK_ENDS = {"code": code_stop, "table": table_stop, "prose": prose_stop}
