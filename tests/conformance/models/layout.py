"""The engine's `layout`: code and tables whole, prose between them by size."""

from __future__ import annotations

from typing import NamedTuple

from .cuts import ink, ink_start
from .markdown import Atom, Headings, front_end, is_bare, scan_atoms, scan_headings
from .pieces import Chunk, fixed_chunks
from .runs import Run
from .white import On
from .windows import Prose, Sizes

LEVELS = ("paragraph", "line", "sentence", "word")


class Block(NamedTuple):
    """A range of whole lines (without the last line end) and what it is: code, table, prose."""

    start: int
    end: int
    kind: str


def by_layout(text: str, sizes: Sizes, *, on: On) -> list[Chunk]:
    """Code and tables whole, of any size; prose by size."""
    headings = scan_headings(text) if "commonmark" in on else ()
    chunks: list[Chunk] = []
    for block in blocks(text, headings, on=on):
        if block.kind == "prose":
            runs = (Run(*ink(text, block.start, block.end, on)),)
            prose = Prose(LEVELS, headings)
            chunks.extend(fixed_chunks(text, runs, sizes, prose, on=on))
        else:
            run = Run(*atom_range(text, block, on=on))
            chunks.append(Chunk((run,), metadata={"type": block.kind}))
    return chunks


def atom_range(text: str, block: Block, *, on: On) -> tuple[int, int]:
    """Whole lines, or a trimmed slice."""
    return ink(text, block.start, block.end, on) if "slices" in on else block[:2]


def blocks(text: str, headings: Headings, *, on: On) -> list[Block]:
    """The lines, grouped."""
    if "commonmark" in on:
        return scanned_blocks(text, headings, on=on)
    return line_blocks(text, on=on)


def scanned_blocks(text: str, headings: Headings, *, on: On) -> list[Block]:
    """The atoms of our scanner, front matter, and prose between."""
    front = front_end(text)
    found = [Block(0, front, "prose")]
    start = front
    for atom in scan_atoms(text):
        opens = with_headings(text, headings, start, atom, on=on)
        found.append(Block(start, opens, "prose"))
        found.append(Block(opens, atom.end, "code" if atom.kind == "fence" else "table"))
        start = atom.end
    return [*found, Block(start, len(text), "prose")]


def with_headings(text: str, headings: Headings, start: int, atom: Atom, *, on: On) -> int:
    """Where an atom opens: bare headings right above join it."""
    opens = ink_start(text, atom.start, atom.end, on)
    if "bare" in on:
        for heading in reversed(headings):
            if start <= heading.start < opens and is_bare(text, heading, opens, on):
                opens = heading.start
    return opens


def line_blocks(text: str, *, on: On) -> list[Block]:
    """What opens a line decides how many belong to it."""
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


def line_kind(text: str, line: tuple[int, int], *, on: On) -> str:
    """What a line opens."""
    if fence_length(text, line, on=on) >= 3:
        return "code"
    return "table" if has_pipe(text, line, on=on) else "prose"


def fence_length(text: str, line: tuple[int, int], *, on: On) -> int:
    """How many backticks stand at the very start of the line."""
    after = line[0]
    while after < line[1] and text[after] == "`":
        after += 1
    return after - line[0]


def has_pipe(text: str, line: tuple[int, int], *, on: On) -> bool:
    return "|" in text[line[0] : line[1]]


def code_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On) -> int:
    """Past the next line with at least as many backticks, whatever follows them, or the end."""
    length = fence_length(text, lines[row], on=on)
    for stop in range(row + 1, len(lines)):
        if fence_length(text, lines[stop], on=on) >= length:
            return stop + 1
    return len(lines)


def table_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On) -> int:
    """The next line without a pipe."""
    stop = row + 1
    while stop < len(lines) and has_pipe(text, lines[stop], on=on):
        stop += 1
    return stop


def prose_stop(text: str, lines: list[tuple[int, int]], row: int, *, on: On) -> int:
    """The next line that opens something else."""
    stop = row + 1
    while stop < len(lines) and line_kind(text, lines[stop], on=on) == "prose":
        stop += 1
    return stop


BLOCK_ENDS = {"code": code_stop, "table": table_stop, "prose": prose_stop}
