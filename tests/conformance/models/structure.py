"""agentos `SemanticChunker`, over runs of source places.

`segments` (by lines) -> `split_long` (paragraphs, sentences, fixed) -> `merge_short` ->
`with_overlap`. The source is the text and one LF more, which the reference writes back; a place
past the text's end is that LF.
"""

from __future__ import annotations

from typing import NamedTuple

from .runs import Run, Runs, runs_join, runs_length, runs_slice, runs_text
from .white import NONE, Hang, On, js_is_blank, js_is_space, js_trim


class Sizes(NamedTuple):
    target_size: int
    max_size: int
    min_size: int
    overlap: int


class Part(NamedTuple):
    """A chunk's own text, the place the reference gives it, its kind."""

    runs: Runs
    offset: int
    kind: str


class Chunk(NamedTuple):
    """What comes out: `lead` is the overlap, `runs` the own text."""

    lead: Runs
    runs: Runs
    number: int
    start_offset: int
    end_offset: int
    kind: str


class Line(NamedTuple):
    """A line `start..end` of the source; `end` is past its LF."""

    start: int
    end: int


def semantic_chunks(
    text: str,
    *,
    target_size: int = 1000,
    max_size: int = 2000,
    min_size: int = 200,
    overlap: int = 100,
    preserve_code_blocks: bool = True,
    respect_headings: bool = True,
    on: On = NONE,
) -> list[Chunk]:
    if js_is_blank(text):
        return []
    source = text + "\n"
    sizes = Sizes(target_size, max_size, min_size, overlap)
    parts = segments(
        source, sizes, code_blocks=preserve_code_blocks, headings=respect_headings, on=on
    )
    parts = [small for part in parts for small in split_long(source, part, sizes, on=on)]
    parts = merge_short(source, parts, sizes, on=on)
    return with_overlap(source, parts, sizes, on=on)


def chunk_text(text: str, chunk: Chunk) -> str:
    """The reference's text of a chunk."""
    return runs_text(text + "\n", (*chunk.lead, *chunk.runs))


# By lines.


def lines(source: str) -> list[Line]:
    """Lines end at LF alone."""
    found: list[Line] = []
    start = 0
    while start < len(source):
        end = source.index("\n", start) + 1
        found.append(Line(start, end))
        start = end
    return found


class Gather:
    """What the line pass holds: the open segment and the open code block, as ranges."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parts: list[Part] = []
        self.start = self.end = 0
        self.kind = "paragraph"
        self.block_start: int | None = None

    def holds_text(self) -> bool:
        return not js_is_blank(self.source[self.start : self.end])

    def flush(self) -> None:
        """The segment becomes a part unless it is blank; it stays open."""
        if self.holds_text():
            self.parts.append(Part((Run(self.start, self.end),), self.start, self.kind))

    def reset(self, start: int, kind: str = "paragraph") -> None:
        self.start = self.end = start
        self.kind = kind

    def emit_block(self, end: int) -> None:
        assert self.block_start is not None
        self.parts.append(Part((Run(self.block_start, end),), self.block_start, "code-block"))
        self.block_start = None


def segments(
    source: str, sizes: Sizes, *, code_blocks: bool, headings: bool, on: On = NONE
) -> list[Part]:
    """Code blocks, headings with what follows, paragraphs gathered to the target."""
    gather = Gather(source)
    found = lines(source)
    for line in found:
        if code_blocks and is_fence(source, line, gather.block_start, on=on):
            take_fence(gather, line, on=on)
        elif gather.block_start is not None:
            continue
        elif headings and is_heading(source, line, on=on):
            gather.flush()
            gather.reset(line.start, "heading")
            gather.end = line.end
        elif ends_segment(gather, line, sizes, on=on):
            gather.flush()
            gather.reset(line.end)
        else:
            gather.end = line.end
    close_gather(gather, len(source), on=on)
    return gather.parts


def is_fence(source: str, line: Line, opened: int | None, *, on: On = NONE) -> bool:
    """Three backticks after white space, whatever follows; the same line opens and closes."""
    start, end = js_trim(source, line.start, line.end)
    return source[start:end].startswith("```")


def take_fence(gather: Gather, line: Line, *, on: On = NONE) -> None:
    """Opening keeps the gathered text; closing drops it (and the block's last LF)."""
    if gather.block_start is None:
        gather.flush()
        gather.block_start = line.start
        return
    gather.emit_block(line.end - 1)
    gather.reset(line.end)


def is_heading(source: str, line: Line, *, on: On = NONE) -> bool:
    """One to six `#` at the line's start, then white space other than the LF."""
    after = line.start
    while source[after] == "#":
        after += 1
    return 1 <= after - line.start <= 6 and after < line.end - 1 and js_is_space(source[after])


def ends_segment(gather: Gather, line: Line, sizes: Sizes, *, on: On = NONE) -> bool:
    """A blank line, once the segment holds something and reaches the target."""
    if not js_is_blank(gather.source[line.start : line.end]) or not gather.holds_text():
        return False
    return gather.end - gather.start >= sizes.target_size


def close_gather(gather: Gather, end: int, *, on: On = NONE) -> None:
    """An open block first, then the gathered text, even if it was flushed when it opened."""
    if gather.block_start is not None:
        gather.emit_block(end)
    gather.flush()


# Splitting what is too long.


def split_long(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """At blank lines, else at sentence ends, else by count."""
    if runs_length(part.runs) <= sizes.max_size:
        return [part]
    units = paragraph_units(source, part.runs, on=on)
    if len(units) <= 1:
        return split_sentences(source, part, sizes, on=on)
    done: list[Part] = []
    for small in pack_units(source, units, part.offset, "\n\n", "paragraph", sizes, on=on):
        if runs_length(small.runs) > sizes.max_size:
            done.extend(split_sentences(source, small, sizes, on=on))
        else:
            done.append(small)
    return done


def split_sentences(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    units = sentence_units(source, part.runs, on=on)
    if len(units) <= 1:
        return split_fixed(source, part, sizes, on=on)
    done: list[Part] = []
    for small in pack_units(source, units, part.offset, " ", "sentence", sizes, on=on):
        if runs_length(small.runs) > sizes.max_size:
            done.extend(split_fixed(source, small, sizes, on=on))
        else:
            done.append(small)
    return done


def pack_units(
    source: str, units: list[Runs], offset: int, joiner: str, kind: str, sizes: Sizes, *, on: On
) -> list[Part]:
    """Units joined while they fit the target; blank parts are dropped.

    The next part's place is reckoned as if one joiner had stood between the units.
    """
    done: list[Part] = []
    packed: Runs = ()
    for unit in units:
        length = runs_length(packed)
        if not length:
            packed = unit
        elif packs(length, len(joiner), runs_length(unit), sizes, on=on):
            packed = runs_join(packed, joiner, unit)
        else:
            done.append(Part(packed, offset, kind))
            offset += length + len(joiner)
            packed = unit
    done.append(Part(packed, offset, kind))
    return [part for part in done if not js_is_blank(runs_text(source, part.runs))]


def packs(length: int, joiner_length: int, added: int, sizes: Sizes, *, on: On = NONE) -> bool:
    return length + joiner_length + added <= sizes.target_size


def paragraph_units(source: str, runs: Runs, *, on: On = NONE) -> list[Runs]:
    """Between LF, white space, LF, as long as it goes."""
    return between(runs, blank_gaps(runs_text(source, runs), on=on))


def sentence_units(source: str, runs: Runs, *, on: On = NONE) -> list[Runs]:
    """Between stretches of white space that follow a sentence mark."""
    return between(runs, sentence_gaps(runs_text(source, runs), on=on))


def between(runs: Runs, gaps: list[tuple[int, int]]) -> list[Runs]:
    """What lies between the gaps, empty units included."""
    found: list[Runs] = []
    start = 0
    for gap_start, gap_end in gaps:
        found.append(runs_slice(runs, start, gap_start))
        start = gap_end
    return [*found, runs_slice(runs, start, runs_length(runs))]


def white_stretches(text: str) -> list[tuple[int, int]]:
    """Every longest stretch of white space."""
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(text):
        end = place
        while end < len(text) and js_is_space(text[end]):
            end += 1
        if end > place:
            found.append((place, end))
        place = max(end, place + 1)
    return found


def blank_gaps(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """In each stretch of white space, from its first LF to its last, when they are two."""
    gaps: list[tuple[int, int]] = []
    for start, end in white_stretches(text):
        first, last = text.find("\n", start, end), text.rfind("\n", start, end)
        if first < last:
            gaps.append((first, last + 1))
    return gaps


def sentence_gaps(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in white_stretches(text)
        if start > 0 and is_sentence_mark(text[start - 1], on=on)
    ]


def is_sentence_mark(char: str, *, on: On = NONE) -> bool:
    return char in ".!?"


def split_fixed(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """Every `target_size` characters; pieces are trimmed but their place is not moved."""
    text = runs_text(source, part.runs)
    done: list[Part] = []
    start = 0
    while start < len(text):
        end = fixed_cut(text, start, sizes, on=on)
        left, right = js_trim(text, start, end)
        if left < right:
            runs = runs_slice(part.runs, left, right)
            done.append(Part(runs, fixed_offset(part, start, left, on=on), "fixed"))
        following = fixed_next(text, end, on=on)
        if following <= start:
            raise Hang("the fixed split does not move on")
        start = following
    return done


def fixed_cut(text: str, start: int, sizes: Sizes, *, on: On = NONE) -> int:
    """The target, moved back to the last U+0020 that is far enough in."""
    end = min(start + sizes.target_size, len(text))
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", 0, max(end, 0) + 1)
    return space if space > start + sizes.min_size else end


def fixed_next(text: str, end: int, *, on: On = NONE) -> int:
    """Spaces alone are skipped."""
    while end < len(text) and text[end] == " ":
        end += 1
    return end


def fixed_offset(part: Part, start: int, trimmed: int, *, on: On = NONE) -> int:
    """The place before the piece was trimmed."""
    return part.offset + start


# Merging and overlap.


def merge_short(source: str, parts: list[Part], sizes: Sizes, *, on: On = NONE) -> list[Part]:
    """A short part is put after the one before, with a blank line between."""
    merged: list[Part] = []
    for part in parts:
        if merged and is_short(source, part, sizes, on=on):
            runs = runs_join(merged[-1].runs, "\n\n", part.runs)
            merged[-1] = merged[-1]._replace(runs=runs)
        else:
            merged.append(part)
    return merged


def is_short(source: str, part: Part, sizes: Sizes, *, on: On = NONE) -> bool:
    """White space aside, below the least size; headings and code blocks never are."""
    if part.kind in ("heading", "code-block"):
        return False
    start, end = js_trim(text := runs_text(source, part.runs), 0, len(text))
    return end - start < sizes.min_size


def with_overlap(source: str, parts: list[Part], sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """The end of the previous own text in front, with nothing between."""
    chunks: list[Chunk] = []
    for row, part in enumerate(parts):
        lead = overlap_runs(source, parts[row - 1], part, sizes, on=on) if row else ()
        end = part.offset + runs_length(part.runs)
        chunks.append(Chunk(lead, part.runs, row, part.offset, end, part.kind))
    return chunks


def overlap_runs(
    source: str, previous: Part, part: Part, sizes: Sizes, *, on: On = NONE
) -> Runs:
    """The last `overlap` characters, wherever that is."""
    if sizes.overlap <= 0:
        return ()
    length = runs_length(previous.runs)
    return runs_slice(previous.runs, length - sizes.overlap, length)
