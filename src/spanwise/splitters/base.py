"""What a splitter is, and what all strategies of this library share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Protocol, TypeVar

from spanwise.chunks import Chunks
from spanwise.context import BETWEEN_HEADINGS, LONGEST_TITLE, join_context
from spanwise.cutting.caps import Cap, Capped, bind_capped
from spanwise.cutting.levels import (
    CLAUSE,
    CLUSTER,
    SENTENCE,
    WORD,
    Level,
    line_level,
    paragraph_level,
)
from spanwise.cutting.naming import named
from spanwise.cutting.outline import Outline
from spanwise.cutting.overlap import reach
from spanwise.cutting.pack import Packer
from spanwise.cutting.sizers import Measure, Sizer, chars
from spanwise.cutting.spans import Spans
from spanwise.documents import Document
from spanwise.embedders.base import ceiling_of
from spanwise.errors import OptionError, SizeError, require, shown

__all__ = [
    "ANY_SIZE",
    "Sized",
    "Splitter",
    "Strategy",
    "as_document",
    "below_line",
    "cap_pieces",
    "default_floor",
    "default_overlap",
    "leave_for_context",
    "limits",
    "show",
]

Own = TypeVar("Own", bound="Strategy")

# A size that does not bind.
ANY_SIZE = 1 << 62

# The default floor: 250, or a quarter of the size; from the footprint reference.
_FLOOR = 250


class Splitter(Protocol):
    """Anything that cuts a document or a string into chunks.

    ``fingerprint`` names everything that decides where the cuts fall.
    """

    @property
    def name(self) -> str:
        """What the strategy is called."""

    @property
    def version(self) -> int:
        """Changes when its cuts do."""

    @property
    def fingerprint(self) -> str:
        """The name, the version and every option."""

    def split(self, source: Document | str) -> Chunks:
        """The chunks of a document or a string, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """The options every strategy has; one of this library's own splitters.

    Args:
        sizer: what sizes count; any ``str -> int``.
        max_size: hard cap on the whole shipped string, overlap and context included: a number
            in the sizer's unit, or `cap(limit, sizer)` in another.
    """

    name: ClassVar[str] = ""
    version: ClassVar[int] = 1
    takes_whole: ClassVar[bool] = False  # records, turns and the like, which the cap alone cuts

    sizer: Sizer = chars
    max_size: int | Cap | None = None

    @abstractmethod
    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""

    @property
    def limit(self) -> Cap | None:
        """``max_size`` with its unit, or None."""
        return Cap(self.max_size, self.sizer) if isinstance(self.max_size, int) else self.max_size

    def keeps_whole(self, size: int) -> bool:
        """Whether code or a table of a size is cut by ``max_size`` alone."""
        return False

    @property
    def on_top(self) -> int:
        """The overlap that comes on top of a size, and is left free in a cap."""
        return 0

    def measure(self, text: str) -> Measure:
        """The sizer bound to a text, and with it the cap, in which overlap on top is left free."""
        return bind_capped(self.sizer, self.limit, text, self.on_top)

    @property
    def fingerprint(self) -> str:
        """The name, the version and every option, as one line."""
        options = (f"{each.name}={named(getattr(self, each.name))}" for each in fields(self))
        return f"{self.name}/{self.version} {' '.join(sorted(options))}"

    def within(self: Own, embedder: object, *, ceiling: Cap | int | None = None) -> Own:
        """The same strategy under what an embedder reads: no passage is longer.

        The cap is the ``ceiling`` given (a number is one of characters), else the embedder's,
        else 2,000 characters. A ``max_size`` of its own stays when it is the smaller one; a
        larger one, or one in another unit, is an `OptionError`.
        """
        limit = smaller(self.limit, ceiling_of(embedder, ceiling)[0])
        return replace(self, max_size=limit) if self.limit is None else self

    def split(self, source: Document | str) -> Chunks:
        """The chunks of a document or a string, in order."""
        document = as_document(source)
        spans = self.positions(document)
        chunks = Chunks(document, spans, limit=self.limit, sizer=self.sizer)
        chunks.drop_overlap_for_context()
        return chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized(Strategy):
    """A strategy that fills chunks up to a size, with overlap.

    ``usual`` are the default overlap and the default size it belongs to.
    """

    usual: ClassVar[tuple[int, int]] = (0, 1)

    chunk_size: int = 1
    overlap: int | None = None

    def __post_init__(self) -> None:
        limits(
            chunk_size=self.chunk_size,
            overlap=self.overlap,
            max_size=self.max_size,
            sizer=self.sizer,
        )

    @property
    def borrowed(self) -> int:
        """The overlap, or the usual one in proportion to the size."""
        return default_overlap(self.overlap, self.chunk_size, self.usual)


def smaller(own: Cap | None, limit: Cap) -> Cap:
    """The cap of a splitter's own, where it has one, which what an embedder reads must allow."""
    if own is None:
        return limit
    if not own.same_unit(limit):
        raise OptionError(
            f"max_size={own} is in another unit than what the embedder reads, {limit}; leave "
            "max_size out, or give it in that unit"
        )
    if own.limit > limit.limit:
        raise OptionError(
            f"max_size={own} is over what the embedder reads, {limit}; lower it, or leave it out"
        )
    return own


def as_document(source: Document | str) -> Document:
    """The document itself, or one made of a string."""
    return source if isinstance(source, Document) else Document(text=source)


def require_below(name: str, value: int, other: str, limit: int, off: str) -> None:
    """Refuse an option that must stay below another."""
    if value >= limit:
        raise OptionError(
            f"{name}={value} is not below {other}={limit}; lower {name}, raise {other}, or {off}"
        )


def limits(
    *,
    chunk_size: int,
    overlap: int | None,
    max_size: int | Cap | None,
    sizer: Sizer,
    size_name: str = "chunk_size",
    least: int = 1,
) -> None:
    """Check a size, its overlap, the cap and the sizer, as every strategy has them."""
    require(size_name, chunk_size, least)
    if not callable(sizer):
        raise OptionError(
            f"sizer={shown(sizer)} cannot be called; pass chars, words, utf8_bytes "
            "or a function from a text to its size"
        )
    if overlap is not None:
        require("overlap", overlap, 0)
        require_below("overlap", overlap, size_name, chunk_size, "pass 0 to turn overlap off")
    if max_size is not None and not isinstance(max_size, Cap):
        require("max_size", max_size, 1)


def default_overlap(overlap: int | None, chunk_size: int, usual: tuple[int, int]) -> int:
    """The overlap given, or the usual one, in proportion where the size is smaller.

    ``usual`` is the default overlap and the default size it belongs to.
    """
    if overlap is not None:
        return overlap
    return min(usual[0], chunk_size * usual[0] // usual[1])


def default_floor(min_size: int | None, chunk_size: int) -> int:
    """The floor given, checked, or the default one of a size."""
    if min_size is None:
        return min(_FLOOR, chunk_size // 4)
    require("min_size", min_size, 0)
    require_below("min_size", min_size, "chunk_size", chunk_size, "pass 0 to turn the floor off")
    return min_size


def below_line(text: str) -> tuple[Level, ...]:
    """From lines down to clusters: how a paragraph that does not fit is cut."""
    return (line_level(text), SENTENCE, CLAUSE, WORD, CLUSTER)


def leave_for_context(capped: Capped, outline: Outline, heading: int) -> None:
    """Leave room in the cap for the heading path above a passage: half of it at the most."""
    path = [title[:LONGEST_TITLE] for title in outline.paths[heading]] if heading >= 0 else []
    while path:
        size = capped.limit.sizer(join_context(BETWEEN_HEADINGS.join(path), ""))
        if size <= capped.most // 2:
            capped.leave(size)
            return
        del path[0]
    capped.leave(0)


def cap_pieces(packer: Packer, levels: Sequence[Level]) -> Packer:
    """The pieces, with every one over the cap cut until it fits."""
    limits = packer.capped
    if limits is None:
        return packer
    text, measure = packer.text, limits.cap
    capped = Packer(text, measure, limits.most)
    for start, end, boundary in zip(packer.starts, packer.ends, packer.boundaries, strict=True):
        if capped.fits(start, end):
            capped.add(start, end, boundary)
        else:
            capped.fill(start, end, levels, boundary)
    whole = Packer(text, limits, limits.most)
    for start, end, boundary in zip(capped.starts, capped.ends, capped.boundaries, strict=True):
        if capped.fits(start, end):
            whole.add(start, end, boundary)
        else:
            _cut_cluster(whole, limits, start, end, boundary)
    return whole


def _cut_cluster(packer: Packer, limits: Capped, start: int, end: int, boundary: str) -> None:
    """Cut a cluster that is over the cap between its code points."""
    while start < end:
        c = limits.cap.fit(start, end, limits.most)
        if c == start:
            raise SizeError(
                f"the character {packer.text[start]!r} at position {start} measures "
                f"{limits.cap.size(start, start + 1)}, over max_size={limits.limit}; "
                "raise max_size"
            )
        packer.add(start, c, boundary)
        start, boundary = c, CLUSTER.name


def show(packer: Packer, overlap: int, front: int = 0, largest: int | None = None) -> Spans:
    """The pieces with their overlap on top, the whole within the cap and within ``largest``.

    No overlap is borrowed from front matter, which ends at ``front``.
    """
    bodies, ends = packer.starts, packer.ends
    if not overlap or len(bodies) < 2:
        return Spans(list(bodies), bodies, ends, packer.boundaries)
    text, measure, capped = packer.text, packer.measure, packer.capped
    if capped is not None:
        capped.kept = 0
    most = largest if largest is not None else None if capped is None else ANY_SIZE
    paragraph = paragraph_level(text)
    starts = bodies[:1]
    for before, body, end in zip(bodies, bodies[1:], ends[1:], strict=False):
        earliest = before if most is None else measure.back(before, end, most)
        earliest = min(max(earliest, front), body)
        start = reach(text, measure, paragraph, before, body, overlap, earliest)
        if most is not None and not measure.holds(start, end, most):
            start = body
        starts.append(start)
    return Spans(starts, bodies, ends, packer.boundaries)
