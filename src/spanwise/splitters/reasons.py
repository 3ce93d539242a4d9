"""explain: each cut of a splitter, its boundary, why it fell there and what gave way to the cap."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from spanwise.chunks import Chunks
from spanwise.context import join_context
from spanwise.cutting.caps import Capped, bind_capped
from spanwise.cutting.levels import (
    CLAUSE,
    CLUSTER,
    SENTENCE,
    WORD,
    line_level,
    paragraph_level,
)
from spanwise.cutting.overlap import reach
from spanwise.cutting.sizers import Measure
from spanwise.cutting.spans import end_at
from spanwise.documents import Document
from spanwise.splitters.base import Splitter, as_document, default_floor
from spanwise.splitters.choose import the_splitter
from spanwise.splitters.presets import Preset
from spanwise.splitters.similarity import BySimilarity
from spanwise.splitters.text import ByRecord, record_spans

__all__ = ["Cut", "explain"]

_HARD = {
    "document": "the text begins here",
    "heading": "a heading opens a section",
    "fence": "code is a passage of its own",
    "table": "a table is a passage of its own",
    "page": "a form feed ends a page",
    "custom": "the splitter cut here",
}

_SOFT = {
    "block": "a blank line, or the edge of code or a table",
    "paragraph": "a blank line",
    "line": "the end of a line",
    "row": "the end of a row of a table",
    "sentence": "the end of a sentence",
    "clause": "the end of a clause",
    "word": "white space between words",
    "cluster": "no word border is in reach",
}

# What some strategies take whole; `by_part` does so with any kind of part.
_WHOLE = {"record": "a separator ends a record", "turn": "a turn ends here"}

_GAVE_WAY = {
    "size": "the passage before could hold more, but not with this",
    "atom": "what would be whole (code, a table, a record, a turn) is cut",
    "floor": "a passage this short would join another",
    "overlap": "overlap from the passage before is left out or shortened",
    "context": "headings or a table header are left out of the context",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A cut before ``body``: the kind of boundary, the sizes and the reason.

    ``size`` is that of the own part, ``overlap`` that of what is borrowed from
    before, both in the splitter's unit. ``gave_way`` names what ``max_size``
    took precedence over: size, atom, floor, overlap, context.
    """

    index: int
    start: int
    body: int
    end: int
    boundary: str
    size: int
    overlap: int
    why: str
    gave_way: tuple[str, ...] = ()


def explain(source: Document | str, by: Splitter | None = None) -> list[Cut]:
    """Why a splitter cut where it did: one entry a chunk, in order.

    The positions are those that ``by.split`` answers.

    >>> [cut.why for cut in explain("# A\\n\\nOne.")]
    ['the text begins here']
    """
    document = as_document(source)
    splitter = the_splitter(document, by)
    if isinstance(splitter, Preset):
        splitter = splitter.chosen(document)
    chunks = splitter.split(document)
    sizer = getattr(splitter, "sizer", chunks.sizer)
    capped = bind_capped(sizer, chunks.limit, document.text, getattr(splitter, "on_top", 0))
    measure = capped.inner if isinstance(capped, Capped) else capped
    limit = getattr(splitter, "chunk_size", getattr(splitter, "target_size", None))
    cuts: list[Cut] = []
    for i, boundary in enumerate(chunks.boundaries):
        start, body, end = chunks.starts[i], chunks.bodies[i], chunks.ends[i]
        gave_way: tuple[str, ...] = ()
        if isinstance(capped, Capped):
            gave_way = _conceded(splitter, chunks, i, measure, capped, limit)
        why = _HARD.get(boundary, "")
        if whole := _whole(splitter, boundary):
            why = whole
            joined = measure.size(*_with_next(splitter, chunks, i)) if i else 0
            if limit is not None and joined > limit:
                why += f"; the passage before with the next would be {joined:,}, over {limit:,}"
        elif boundary in _SOFT:
            joined = measure.size(chunks.bodies[i - 1], end) if i else 0
            why = _SOFT[boundary]
            # Where the cap is what binds, the size has no part in it.
            by_size = _fills(splitter, boundary) and not {"size", "atom"}.intersection(gave_way)
            if by_size and limit is not None and joined > limit:
                why += f"; with the passage before it would measure {joined:,}, over {limit:,}"
        if gave_way and chunks.limit:
            reasons = "; ".join(_GAVE_WAY[each] for each in gave_way)
            why += f"; under max_size={chunks.limit}: {reasons}"
        cuts.append(
            Cut(
                index=i,
                start=start,
                body=body,
                end=end,
                boundary=boundary,
                size=measure.size(body, end),
                overlap=measure.size(start, body) if start < body else 0,
                why=why,
                gave_way=gave_way,
            )
        )
    return cuts


def _conceded(
    splitter: Splitter,
    chunks: Chunks,
    i: int,
    measure: Measure,
    capped: Capped,
    limit: int | None,
) -> tuple[str, ...]:
    """What gave way to the cap at a cut: see `Cut`."""
    start, body, end = chunks.starts[i], chunks.bodies[i], chunks.ends[i]
    before = chunks.bodies[i - 1] if i else 0
    found = []
    if i and _whole(splitter, chunks.boundaries[i]) and limit is not None:
        longer = _with_next(splitter, chunks, i)
        room = getattr(splitter, "room_above", None)
        capped.leave(room(chunks.document, capped, before) if room else 0)
        if measure.size(*longer) <= limit and not capped.holds(*longer, limit):
            found.append("size")
        capped.kept = 0
    elif i and chunks.boundaries[i] in _SOFT:
        atom = _atom_at(chunks.document, body)
        keeps = getattr(splitter, "keeps_whole", None)
        if getattr(splitter, "takes_whole", False) or (
            atom and keeps and keeps(measure.size(*atom)) and not capped.allows(*atom)
        ):
            found.append("atom")
        elif limit is not None and _fills(splitter, chunks.boundaries[i]):
            longer = before, _unit_end(chunks, i)
            capped.leave(_context_size(chunks, i - 1, capped))
            if measure.size(*longer) <= limit and not capped.holds(*longer, limit):
                found.append("size")
    floor = getattr(splitter, "min_size", 0)
    if floor is None and limit is not None:
        floor = default_floor(None, limit)
    if floor and measure.size(body, end) < floor and limit is not None:
        following = chunks.ends[i + 1] if i + 1 < len(chunks) else end
        bound = limit + floor
        if any(
            measure.size(lo, hi) < bound and not capped.allows(lo, hi)
            for lo, hi in ((before, end), (body, following))
            if (lo, hi) != (body, end)
        ):
            found.append("floor")
    overlap = getattr(splitter, "borrowed", None) or getattr(splitter, "overlap", None)
    if i and overlap:
        text = chunks.document.text
        wanted = reach(text, measure, paragraph_level(text), before, body, overlap)
        if wanted < start and not capped.limit.allows(chunks.shipped(i, wanted)):
            found.append("overlap")
    if chunks.context_is_short(i):
        found.append("context")
    return tuple(found)


def _fills(splitter: Splitter, boundary: str) -> bool:
    """Whether a soft cut falls where a size is filled: groups of sentences end by their meaning."""
    return not (isinstance(splitter, BySimilarity) and boundary == "sentence")


def _unit_end(chunks: Chunks, i: int) -> int:
    """Where the first unit of chunk ``i`` ends, of the kind of boundary that opens it."""
    text, body, end = chunks.document.text, chunks.bodies[i], chunks.ends[i]
    levels = {
        "sentence": SENTENCE,
        "clause": CLAUSE,
        "word": WORD,
        "cluster": CLUSTER,
        "line": line_level(text),
        "row": line_level(text),
    }
    cut = levels.get(chunks.boundaries[i], paragraph_level(text)).first(text, body, end)
    atom = _atom_at(chunks.document, body + 1)
    if atom and chunks.boundaries[i] == "block":
        cut = max(cut, atom[1])
    return end_at(text, body, min(max(cut, body + 1), end))


def _context_size(chunks: Chunks, i: int, capped: Capped) -> int:
    """What the context of a chunk takes of the cap."""
    own = chunks[i]
    return capped.limit.sizer(join_context(own.context, "")) if own.context else 0


def _whole(splitter: Splitter, boundary: str) -> str:
    """What ends where the strategy takes something whole, or nothing."""
    if boundary == getattr(splitter, "kind", None):
        return f"a {boundary} ends here"
    return _WHOLE.get(boundary, "")


def _with_next(splitter: Splitter, chunks: Chunks, i: int) -> tuple[int, int]:
    """The passage before chunk ``i`` with the first of what that takes whole."""
    document, body, end = chunks.document, chunks.bodies[i], chunks.ends[i]
    if isinstance(splitter, ByRecord):
        records = record_spans(document.text[body:end], splitter.separator)
        end = body + records[0][1] if records else end  # the cap may cut inside a separator
    else:
        parts = document.parts_between(body, end, chunks.boundaries[i])
        if parts:
            # Text between two parts is taken like one.
            after = parts[0].end if parts[0].start <= body else parts[0].start
            end = end_at(document.text, body, min(end, after))
    return chunks.starts[i - 1], end


def _atom_at(document: Document, place: int) -> tuple[int, int] | None:
    """The fence or table that goes on at a place, or None."""
    found = document.outline.structure
    i = bisect_right(found.atom_starts, place) - 1
    if i < 0 or found.atom_kinds[i] == "html":
        return None
    start = found.atom_starts[i]
    end = end_at(document.text, start, found.atom_ends[i])
    return (start, end) if start < place < end else None
