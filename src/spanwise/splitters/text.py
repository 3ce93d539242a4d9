"""chunk_text: windows over prose, or whole records where their border is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap, Capped
from spanwise.cutting.clusters import is_border
from spanwise.cutting.levels import SENTENCE_INSIDE, WORD, line_level, paragraph_level
from spanwise.cutting.pack import Packer
from spanwise.cutting.sizers import Measure, Sizer, chars
from spanwise.cutting.spans import Spans, end_at, start_at
from spanwise.cutting.windows import Aim, Windows
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Sized, below_line, cap_pieces

__all__ = ["ByRecord", "ByText", "by_record", "by_text", "carried", "chunk_text"]

# Default overlap and size; from the agora reference.
_USUAL = (100, 800)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByText(Sized):
    """Cuts prose in windows: at a blank line, a sentence end, a line, a word.

    The strongest that lies in the back half of the window wins; a word border
    counts anywhere in it, and without one a cluster is cut. ``overlap``
    (unset: 100, or an eighth of a smaller size) counts inside ``chunk_size``.

    >>> by_text(chunk_size=20, overlap=0).split("One sentence. And another one.").texts
    ['One sentence.', 'And another one.']
    """

    name: ClassVar[str] = "by_text"
    usual: ClassVar[tuple[int, int]] = _USUAL

    chunk_size: int = _USUAL[1]

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        levels = (paragraph_level(text), SENTENCE_INSIDE, line_level(text), WORD)
        aim = Aim(levels=levels, back_half=True, inside=True)
        return windowed(self, document, aim)


def windowed(splitter: Sized, document: Document, aim: Aim) -> Spans:
    """The whole text in windows of a splitter's size and overlap."""
    text = document.text
    measure = splitter.measure(text)
    size = splitter.chunk_size
    overlap = min(splitter.borrowed, size - 1)
    out = Spans()
    Windows(text, measure, size, overlap, aim).cut(0, len(text), "document", out)
    return cap_spans(text, measure, out)


def cap_spans(text: str, measure: Measure, spans: Spans) -> Spans:
    """The spans, with every own part over the cap of a measure cut until it fits."""
    if not isinstance(measure, Capped) or all(map(measure.allows, spans.starts, spans.ends)):
        return spans
    packer = Packer(text, measure, 1)
    packer.starts, packer.ends = spans.bodies, spans.ends
    packer.boundaries = spans.boundaries
    shown_from = dict(zip(spans.bodies, spans.starts, strict=True))
    capped = cap_pieces(packer, below_line(text))
    starts: list[int] = []
    for body, end in zip(capped.starts, capped.ends, strict=True):
        start = shown_from.get(body, body)
        # A piece of what was cut may begin after the overlap of the next chunk did.
        late = bool(starts) and start <= starts[-1]
        starts.append(body if late or not measure.allows(start, end) else start)
    return Spans(starts, capped.starts, capped.ends, capped.boundaries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByRecord(Sized):
    r"""Cuts at a literal separator alone; a record is never cut.

    A chunk takes whole records while they fit ``chunk_size``, a larger record
    is a chunk of its own (cut only by ``max_size``). ``overlap`` (unset: 100, or
    an eighth of a smaller size) is a budget for whole records carried from the
    chunk before, counted inside ``chunk_size``; they give way to the next new one.

    >>> by_record("\n", chunk_size=8, overlap=0).split("a=1\nb=2\nc=3").texts
    ['a=1\nb=2', 'c=3']
    """

    name: ClassVar[str] = "by_record"
    takes_whole: ClassVar[bool] = True
    usual: ClassVar[tuple[int, int]] = _USUAL

    separator: str = "\n"
    chunk_size: int = _USUAL[1]

    def __post_init__(self) -> None:
        if not isinstance(self.separator, str) or not self.separator:
            raise OptionError(
                f"separator={shown(self.separator)} is no string of one character or more; "
                "give the text between two records, or use by_text for prose"
            )
        Sized.__post_init__(self)

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        measure = self.measure(text)
        overlap, size = self.borrowed, self.chunk_size
        records = record_spans(text, self.separator)
        carry = partial(carried, measure, records, overlap)
        out = pack_whole(measure, records, size, carry, "record")
        return cap_spans(text, measure, out)


def carried(
    measure: Measure,
    ranges: Sequence[tuple[int, int]],
    overlap: int,
    first: int,
    following: int,
) -> int:
    """The first of the ranges before ``following`` that fit a budget; none up to ``first``."""
    body = ranges[following][0]
    while following - 1 > first and measure.holds(ranges[following - 1][0], body, overlap):
        following -= 1
    return following


def pack_whole(
    measure: Measure,
    ranges: Sequence[tuple[int, int]],
    size: int,
    carry: Callable[[int, int], int],
    boundary: str,
) -> Spans:
    """Chunks of whole ranges: as many as fit, after those carried from the chunk before.

    ``carry(first, following)`` answers the first range that the next chunk opens
    with; carried ranges give way until the next new one fits.
    """
    out = Spans()
    first = new = 0
    while new < len(ranges):
        end = ranges[new][1]
        while first < new and not measure.holds(ranges[first][0], end, size):
            first += 1
        following = new + 1
        while following < len(ranges) and measure.holds(
            ranges[first][0], ranges[following][1], size
        ):
            following += 1
        out.starts.append(ranges[first][0])
        out.bodies.append(ranges[new][0])
        out.ends.append(ranges[following - 1][1])
        out.boundaries.append(boundary if new else "document")
        if following < len(ranges):
            first = carry(first, following)
        new = following
    return out


def record_spans(text: str, separator: str) -> list[tuple[int, int]]:
    """The records between separators, trimmed, without the empty ones.

    A separator that would cut a cluster is none.
    """
    records: list[tuple[int, int]] = []
    lo = at = 0
    while lo < len(text):
        found = text.find(separator, at)
        hi = len(text) if found < 0 else found
        at = hi + len(separator)
        if found >= 0 and not is_border(text, at, lo):
            continue
        # White space before a separator belongs to no record, a mark on it does.
        end = end_at(text, lo, hi)
        if found >= 0 and lo < end and not is_border(text, end, lo):
            continue
        start = start_at(text, lo, hi)
        if start < end:
            records.append((start, end))
        lo = at
    return records


def by_record(
    separator: str,
    *,
    chunk_size: int = _USUAL[1],
    overlap: int | None = None,
    sizer: Sizer = chars,
    max_size: int | Cap | None = None,
) -> ByRecord:
    """A `ByRecord` splitter for records that end with ``separator``, taken literally."""
    return ByRecord(
        separator=separator, chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size
    )


def chunk_text(
    text: Document | str,
    *,
    chunk_size: int = _USUAL[1],
    overlap: int | None = None,
    separator: str = "",
    sizer: Sizer = chars,
    max_size: int | Cap | None = None,
) -> Chunks:
    """The chunks of a prose text, or of its records when a ``separator`` is given.

    The one-call form of `by_text` and `by_record`; an empty separator is the
    prose path.

    >>> chunk_text("Short.").texts
    ['Short.']
    """
    if separator:
        return by_record(
            separator, chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size
        ).split(text)
    return ByText(chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size).split(
        text
    )


by_text = ByText
