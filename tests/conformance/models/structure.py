"""agentos `SemanticChunker`, over runs of source places.

`segments` (stretches between headings and fences, gathered at blank lines) -> `split_long`
(`long_parts.py`) -> `merge_short` -> `with_overlap`. The source is the text and one LF more, which
the reference writes back; a place past the text's end is that LF.
"""

from __future__ import annotations

from typing import NamedTuple

from .cuts import ink, ink_end, ink_start, is_blank_line, line_ends, overlap_start
from .long_parts import best_cut, cap, code_inside, split_lines, split_long
from .markdown import context_above, front_end, scan_atoms, scan_headings
from .parts import Part, Sizes, trimmed
from .runs import Run, Runs, runs_join, runs_length, runs_slice, runs_text
from .white import NONE, On, Refused, js_is_blank, js_is_space, js_trim

LONG = 8


class Chunk(NamedTuple):
    """What comes out: `lead` is the overlap, `runs` the own text."""

    lead: Runs
    runs: Runs
    number: int
    start_offset: int
    end_offset: int
    kind: str


class Line(NamedTuple):
    """A line `start..stop` of the source; `end` is past its line end."""

    start: int
    stop: int
    end: int


class Mark(NamedTuple):
    """A heading's or a code block's lines; `after` is past the last line end."""

    start: int
    end: int
    after: int
    kind: str
    closed: bool = True


class Stretch(NamedTuple):
    """What lies between hard boundaries; the text below its headings begins at `head`."""

    start: int
    head: int
    end: int
    kind: str


def semantic_chunks(
    text: str,
    *,
    target_size: int = 1000,
    max_size: int | None = None,
    min_size: int | None = None,
    overlap: int | None = None,
    preserve_code_blocks: bool = True,
    respect_headings: bool = True,
    on: On = NONE,
) -> list[Chunk]:
    if "refused" in on:
        check(target_size, max_size, min_size, overlap)
    if js_is_blank(text):
        return []
    source = text + "\n"
    sizes = resolve(target_size, max_size, min_size, overlap, on=on)
    parts = front_parts(source, sizes, on=on)
    parts += segments(
        source, sizes, code_blocks=preserve_code_blocks, headings=respect_headings, on=on
    )
    parts = [small for part in parts for small in split_long(source, part, sizes, on=on)]
    parts = merge_short(source, parts, sizes, on=on)
    if max_size is None or "cap-whole" not in on:
        return with_overlap(source, parts, sizes, on=on)
    chunks = with_overlap(source, cap(source, parts, sizes, on=on), sizes, on=on)
    return [within(text, chunk, sizes, on=on) for chunk in chunks]


def chunk_text(text: str, chunk: Chunk) -> str:
    """The reference's text of a chunk."""
    return runs_text(text + "\n", (*chunk.lead, *chunk.runs))


# Options.


def check(
    target_size: int, max_size: int | None, min_size: int | None, overlap: int | None
) -> None:
    """Our code refuses sizes below 1, overlap not below the target, a floor not below the most."""
    largest = 2 * target_size if max_size is None else max_size
    if (
        min(target_size, largest) < 1
        or (overlap is not None and not 0 <= overlap < target_size)
        or (min_size is not None and not 0 <= min_size < largest)
    ):
        raise Refused


def resolve(
    target: int, largest: int | None, least: int | None, overlap: int | None, *, on: On
) -> Sizes:
    """What is not given: 2000, 200 and 100, or in proportion to the target.

    With `cap-whole`, room for the overlap is kept within the largest size.
    """
    small = "small-sizes" in on
    if overlap is None:
        overlap = min(100, target // 10) if small else 100
    if largest is None:
        largest = 2 * target if small else 2000
    if "cap-whole" in on:
        target = min(target, largest - min(overlap, largest // 4))
    if least is None:
        least = min(200, target // 5) if small else 200
    return Sizes(target, largest, least, overlap)


# Hard boundaries.


def lines(source: str, *, on: On) -> list[Line]:
    """Lines end at LF alone, or at CRLF and CR too."""
    found: list[Line] = []
    start = 0
    for stop, end in line_ends(source, on):
        found.append(Line(start, stop, end))
        start = end
    return found


def front_parts(source: str, sizes: Sizes, *, on: On) -> list[Part]:
    """Front matter is a block of its own, packed from its lines."""
    if "commonmark" not in on:
        return []
    start, end = ink(source, 0, front_end(source[:-1]), on)
    if start == end:
        return []
    return split_lines(source, Part((Run(start, end),), start, "front"), sizes, on=on)


def segments(
    source: str, sizes: Sizes, *, code_blocks: bool, headings: bool, on: On = NONE
) -> list[Part]:
    """Code blocks, headings with what follows, paragraphs gathered to the target."""
    marks = find_marks(source, code_blocks=code_blocks, headings=headings, on=on)
    parts: list[Part] = []
    still: list[Part] = []
    for stretch in stretches(source, marks, on=on):
        if stretch.kind == "code-block":
            run = Run(stretch.start, stretch.end)
            parts.append(Part((run,), stretch.start, "code-block", stretch.head))
            again, still = still, []
        elif stretch.start < stretch.end:
            found, is_open = gathered(source, stretch, sizes, on=on)
            found = [part for part in found if not js_is_blank(runs_text(source, part.runs))]
            parts.extend(found)
            still = found[-1:] if is_open else []
    if marks and not marks[-1].closed and "once" not in on:
        # What was still gathering when the last block opened comes out once more.
        parts.extend(again)
    return parts


def find_marks(source: str, *, code_blocks: bool, headings: bool, on: On) -> list[Mark]:
    """The headings and code blocks, by lines or as our scanner finds them."""
    if "commonmark" in on:
        return scanned_marks(source, code_blocks=code_blocks, headings=headings, on=on)
    marks: list[Mark] = []
    opened: int | None = None
    for line in lines(source, on=on):
        if code_blocks and is_fence(source, line, on=on):
            if opened is not None:
                marks.append(Mark(opened, line.stop, line.end, "code-block"))
            opened = line.start if opened is None else None
        elif opened is None and headings and is_heading(source, line, on=on):
            marks.append(Mark(line.start, line.end, line.end, "heading"))
    if opened is not None:
        marks.append(Mark(opened, len(source), len(source), "code-block", closed=False))
    return marks


def scanned_marks(source: str, *, code_blocks: bool, headings: bool, on: On) -> list[Mark]:
    text = source[:-1]
    ranges: list[tuple[int, int, str]] = []
    if headings:
        ranges += [(heading.start, heading.end, "heading") for heading in scan_headings(text)]
    if code_blocks:
        ranges += [
            (atom.start, atom.end, "code-block")
            for atom in scan_atoms(text)
            if atom.kind == "fence"
        ]
    found = lines(source, on=on)
    return [
        Mark(start, end, next(line.end for line in found if line.end > end), kind, closed)
        for start, end, kind in sorted(ranges)
        for closed in [kind == "heading" or code_inside(text, start, end, on=on)[1] <= end]
    ]


def is_fence(source: str, line: Line, *, on: On = NONE) -> bool:
    """Three backticks after white space, whatever follows; the same line opens and closes."""
    start, end = js_trim(source, line.start, line.end)
    return source[start:end].startswith("```")


def is_heading(source: str, line: Line, *, on: On = NONE) -> bool:
    """One to six `#` at the line's start, then white space other than the LF."""
    after = line.start
    while source[after] == "#":
        after += 1
    return 1 <= after - line.start <= 6 and after < line.stop and js_is_space(source[after])


def stretches(source: str, marks: list[Mark], *, on: On) -> list[Stretch]:
    """Text, headings with what follows them, code blocks; with `bare`, bare headings join."""
    start = front_end(source[:-1]) if "commonmark" in on else 0
    followings = [*(mark.start for mark in marks), len(source)]
    found = [Stretch(start, start, followings[0], "paragraph")]
    bare = -1
    for mark, following in zip(marks, followings[1:], strict=True):
        opens = mark.start if bare < 0 else bare
        head = ink_start(source, mark.end, following, on)
        if mark.kind == "code-block":
            found.append(Stretch(opens, mark.start, mark.end, "code-block"))
            found.append(Stretch(mark.after, mark.after, following, "paragraph"))
            bare = -1
        elif "bare" in on and head == following < len(source):
            bare = opens
        else:
            found.append(Stretch(opens, head, following, "heading"))
            bare = -1
    return [trimmed_stretch(source, stretch, on=on) for stretch in found]


def trimmed_stretch(source: str, stretch: Stretch, *, on: On) -> Stretch:
    """With `slices`, without the white space at both ends."""
    if "slices" not in on:
        return stretch
    start, end = ink(source, stretch.start, stretch.end, on)
    head = ink_start(source, min(max(start, stretch.head), end), end, on)
    return stretch._replace(start=start, head=head, end=end)


# Gathering.


def gathered(source: str, stretch: Stretch, sizes: Sizes, *, on: On) -> tuple[list[Part], bool]:
    """The parts of a stretch, only the first a heading, and whether the last still gathers."""
    parts: list[Part] = []
    start, head, kind = stretch.start, stretch.head, stretch.kind
    long = stretch.end - stretch.start > LONG * sizes.target_size
    is_open = False
    while start < stretch.end:
        end, following = gather(source, start, head, stretch.end, long, sizes, on=on)
        is_open = end == stretch.end
        parts.append(trimmed(source, Part((Run(start, end),), start, kind, head), on=on))
        start = head = following
        if "slices" in on:
            start = head = ink_start(source, following, stretch.end, on)
        kind = "paragraph"
    return parts, is_open


def gather(
    source: str, start: int, head: int, high: int, long: bool, sizes: Sizes, *, on: On
) -> tuple[int, int]:
    """Where the part from `start` ends and what comes after the blank line begins."""
    if long and "local" in on:
        least = max(head, start + max(0, sizes.target_size - 2))
        most = min(high, start + min(sizes.target_size * 2, sizes.max_size))
        cut = best_cut(source[:-1], "paragraph", least, most, high, sizes, on=on)
        if cut >= 0:
            return cut, cut
    end = start
    following = high
    for line in lines(source, on=on):
        if start < line.end and line.start < high:
            if ends_part(source, start, head, end, line, sizes, on=on):
                following = line.end
                break
            end = min(line.end, high)
    if long and "local" in on and ink_end(source, start, end, on) - start > sizes.max_size:
        half = max(head, min(high, start + sizes.target_size // 2))
        cut = best_cut(source[:-1], "paragraph", half, most, high, sizes, on=on, floor=head)
        if cut >= 0:
            return cut, cut
    return end, following


def ends_part(
    source: str, start: int, head: int, end: int, line: Line, sizes: Sizes, *, on: On
) -> bool:
    """A blank line, once the part holds something and reaches the target."""
    if not is_blank_line(source[line.start : line.end], on) or js_is_blank(source[start:end]):
        return False
    if "bare" in on and line.start <= head:
        return False
    if "line-ends" in on:
        end = last_stop(source, line, on=on) + 1
    return end - start >= sizes.target_size


def last_stop(source: str, line: Line, *, on: On) -> int:
    """Where the line before one stops: any line end counts as one character."""
    return max(other.stop for other in lines(source, on=on) if other.end <= line.start)


# Merging and overlap.


def merge_short(source: str, parts: list[Part], sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """A short part is put after the one before, with a blank line between."""
    merged: list[Part] = []
    for part in parts:
        if merged and is_short(source, part, sizes, on=on) and joins(merged[-1], part, sizes, on):
            merged[-1] = merged[-1]._replace(runs=joined(merged[-1].runs, part.runs, on))
        else:
            merged.append(part)
    return merged


def joins(left: Part, right: Part, sizes: Sizes, on: On) -> bool:
    """Whatever the length, or within the largest size."""
    whole = runs_length(joined(left.runs, right.runs, on))
    return "cap-whole" not in on or whole <= sizes.max_size


def joined(left: Runs, right: Runs, on: On) -> Runs:
    """With a blank line between, or the slice of both."""
    if "slices" in on and left[-1].end <= right[0].start:
        return (Run(left[0].start, right[-1].end),)
    return runs_join(left, "\n\n", right)


def is_short(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> bool:
    """White space aside, below the least size; headings, code and front matter never are."""
    if part.kind in ("heading", "code-block", "front"):
        return False
    text = runs_text(source, part.runs)
    start, end = ink(text, 0, len(text), on) if "slices" not in on else (0, len(text))
    return end - start < sizes.min_size


def with_overlap(source: str, parts: list[Part], sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """The end of the previous own text in front, with nothing between."""
    chunks: list[Chunk] = []
    for row, part in enumerate(parts):
        lead = overlap_runs(source, parts[row - 1], part, sizes, on=on) if row else ()
        end = part.offset + runs_length(part.runs)
        chunks.append(Chunk(lead, part.runs, row, part.offset, end, part.kind))
    return chunks


def overlap_runs(source: str, previous: Part, part: Part, sizes: Sizes, *, on: On = NONE) -> Runs:
    """The last `overlap` characters, wherever that is; with `slices`, the text right before."""
    if sizes.overlap <= 0:
        return ()
    if "slices" not in on:
        length = runs_length(previous.runs)
        return runs_slice(previous.runs, length - sizes.overlap, length)
    before, body, end = previous.runs[0].start, part.runs[0].start, part.runs[-1].end
    earliest = max(before, end - sizes.max_size) if "cap-whole" in on else before
    if "commonmark" in on:
        earliest = max(earliest, front_end(source[:-1]))
    start = overlap_start(source[:-1], before, body, sizes.overlap, min(earliest, body), on)
    return (Run(start, body),) if start < body else ()


def within(text: str, chunk: Chunk, sizes: Sizes, *, on: On) -> Chunk:
    """Without its overlap when that is too much beside the headings above."""
    body, end = chunk.runs[0].start, min(chunk.runs[-1].end, len(text))
    context = context_above(text, body, end, sizes.max_size, on)
    beside = len(context) + 2 if context else 0
    whole = beside + runs_length(chunk.lead) + end - body
    return chunk._replace(lead=()) if whole > sizes.max_size else chunk
