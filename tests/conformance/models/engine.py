"""agentos `ChunkingEngine.chunk`, over runs of source places.

`fixed` is the base (`windows.py`). `semantic`: sentences -> groups -> joined -> fixed when over
twice the size. `hierarchical` is in `titles.py`, `layout` in `layout.py`.
"""

from __future__ import annotations

import math

from .cuts import ink, paragraph_cuts, sentence_cuts
from .layout import by_layout
from .pieces import Chunk, fixed_chunks
from .runs import Run, Runs, runs_join, runs_length, runs_slice, runs_text
from .titles import by_title
from .white import NONE, On, Refused, js_skip
from .windows import Prose, Sizes

SIMILARITY = 0.3
PROSE = Prose(("sentence", "word"))


def engine_chunks(
    text: str,
    *,
    strategy: str,
    chunk_size: int = 512,
    chunk_overlap: int | None = None,
    embed: str | None = None,
    on: On = NONE,
) -> list[Chunk]:
    if "refused" in on:
        check(chunk_size, chunk_overlap)
    sizes = Sizes(chunk_size, usual_overlap(chunk_size, chunk_overlap, on=on))
    if strategy == "fixed" or (strategy == "semantic" and embed is None):
        return by_size(text, sizes, on=on)
    if strategy == "semantic":
        return by_similarity(text, sizes, on=on)
    if strategy == "hierarchical":
        return by_title(text, sizes, on=on)
    if strategy == "layout":
        return by_layout(text, sizes, on=on)
    raise ValueError(f"unknown strategy: {strategy!r}")


def check(chunk_size: int, chunk_overlap: int | None) -> None:
    """Our code refuses sizes below 1 and overlap that is negative or no smaller than the size."""
    if chunk_size < 1 or (chunk_overlap is not None and not 0 <= chunk_overlap < chunk_size):
        raise Refused


def usual_overlap(chunk_size: int, chunk_overlap: int | None, *, on: On = NONE) -> int:
    """The overlap given, or 64; an eighth of a smaller size."""
    if chunk_overlap is not None:
        return chunk_overlap
    return min(64, chunk_size * 64 // 512) if "small-sizes" in on else 64


def chunk_content(text: str, chunk: Chunk) -> str:
    """The reference's content of a chunk."""
    return runs_text(text, chunk.runs)


def own_range(chunk: Chunk) -> tuple[int, int]:
    """From the first place of a chunk's own text to the last."""
    own = runs_slice(chunk.runs, chunk.body, runs_length(chunk.runs))
    return (own[0].start, own[-1].end) if own else (chunk.runs[-1].end, chunk.runs[-1].end)


# Fixed.


def by_size(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    return fixed_chunks(text, (Run(0, len(text)),), sizes, on=on)


# Semantic.


def by_similarity(text: str, sizes: Sizes, *, on: On = NONE) -> list[Chunk]:
    """Neighbouring sentences together while they are alike."""
    found = sentences(text, on=on)
    if is_whole(found, on=on):
        return [Chunk((sentence,)) for sentence in found]
    chunks: list[Chunk] = []
    for group in groups(text, found, on=on):
        runs = join_sentences(group, on=on)
        if is_too_long(runs, sizes, on=on):
            chunks.extend(fixed_chunks(text, runs, sizes, PROSE, on=on))
        else:
            chunks.append(Chunk(runs))
    return chunks


def is_whole(found: list[Run], *, on: On = NONE) -> bool:
    """One sentence is one chunk, whatever its length."""
    return not found or (len(found) == 1 and "cut-long" not in on)


def sentences(text: str, *, on: On = NONE) -> list[Run]:
    """Cut at white space between a sentence mark and an ASCII capital; trimmed, none empty."""
    found: list[Run] = []
    start = 0
    for gap_start, gap_end in [*sentence_gaps(text, on=on), (len(text), len(text))]:
        left, right = ink(text, start, gap_start, on)
        if left < right:
            found.append(Run(left, right))
        start = gap_end
    return found


def sentence_gaps(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """The white space between sentences; with `boundaries`, our ends and those of paragraphs."""
    if "boundaries" in on:
        ends = {*sentence_cuts(text, on), *paragraph_cuts(text, on)}
        return [(end, end) for end in sorted(ends)]
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
    """One space between, whatever stood there, or the slice from the first to the last."""
    if "slices" in on:
        return (Run(group[0].start, group[-1].end),)
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
