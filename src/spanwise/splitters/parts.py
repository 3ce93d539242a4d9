"""by_part: whole parts of the source, such as rows, records or cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.cutting.caps import Cap, Capped, allows
from spanwise.cutting.sizers import Measure, Sizer, chars
from spanwise.cutting.spans import Spans, trim
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Sized
from spanwise.splitters.text import cap_spans, carried, pack_whole

__all__ = ["JOINER", "ByPart", "by_part"]

# As for records; from the agora reference.
_USUAL = (0, 800)

# What holds no letter or digit and is no longer is no passage of its own.
_SIGNS = 8

# What stands between a context and a text takes at most so much in any unit.
JOINER = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ByPart(Sized):
    """Takes whole parts of one kind while they fit ``chunk_size``; a part is never cut.

    The parts are those that a loader noted in the document: the rows of a CSV file, the
    records of a JSON one, slides, cells, messages. Text between them is taken like a part.
    A larger part is a chunk of its own (cut only by ``max_size``). ``overlap`` (unset: none)
    is a budget for whole parts carried from the chunk before, counted inside ``chunk_size``.

    >>> from spanwise import Part
    >>> rows = [Part(kind="row", start=i, end=i + 1, label=str(i)) for i in (0, 2, 4)]
    >>> by_part("row", chunk_size=3).split(Document(text="a b c", parts=tuple(rows))).texts
    ['a b', 'c']
    """

    name: ClassVar[str] = "by_part"
    takes_whole: ClassVar[bool] = True
    usual: ClassVar[tuple[int, int]] = _USUAL

    kind: str = "row"
    chunk_size: int = _USUAL[1]

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or not self.kind:
            raise OptionError(
                f"kind={shown(self.kind)} is no kind of part; give for example row, record, slide, "
                "cell or message"
            )
        Sized.__post_init__(self)

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text, overlap = document.text, self.borrowed
        kinds = document.kinds
        if kinds and self.kind not in kinds:
            raise OptionError(
                f"kind={shown(self.kind)} is no part of {document.uri or 'this text'}, which has "
                f"{', '.join(kinds)}; give one of these, or use chunk, which chooses"
            )
        measure = self.measure(text)
        ranges = self._ranges(document, measure)

        def carry(first: int, following: int) -> int:
            if isinstance(measure, Capped):
                measure.leave(self.room_above(document, measure, ranges[following][0]))
            return carried(measure, ranges, overlap, first, following)

        out = pack_whole(measure, ranges, self.chunk_size, carry, self.kind)
        return cap_spans(text, measure, out)

    def room_above(self, document: Document, capped: Capped, body: int) -> int:
        """What of the cap is left free for the header above a passage from ``body`` on.

        Nothing where it would be over half of the cap, or where the passage shows it itself.
        """
        start, end = document.header_at(body)
        room = capped.cap.size(start, end) + JOINER if start < end else 0
        return room if room <= capped.most // 2 else 0

    def _ranges(self, document: Document, measure: Measure) -> list[tuple[int, int]]:
        """The parts of the kind and what lies between them, trimmed, without the empty ones.

        Signs alone, such as the comma between two records of JSON, go with the part before, at
        the beginning with the one after.
        """
        text = document.text
        parts = document.parts_between(0, len(text), self.kind)
        found: list[tuple[int, int]] = []
        at, bare = 0, False  # whether the last one holds signs alone
        for start, end in zip((*parts.starts, len(text)), (*parts.ends, len(text)), strict=True):
            between = max(at, start)
            inked = trim(text, at, between), trim(text, between, max(between, end))
            for (lo, hi), apart in zip(inked, (True, False), strict=True):
                if lo == hi:
                    continue
                signs = apart and hi - lo <= _SIGNS and not any(map(str.isalnum, text[lo:hi]))
                if found and (signs or bare) and allows(measure, found[-1][0], hi):
                    found[-1] = found[-1][0], hi
                    bare = bare and signs
                else:
                    found.append((lo, hi))
                    bare = signs
            at = max(at, end)
        return found


def by_part(
    kind: str,
    *,
    chunk_size: int = _USUAL[1],
    overlap: int | None = None,
    sizer: Sizer = chars,
    max_size: int | Cap | None = None,
) -> ByPart:
    """A `ByPart` splitter for the parts of one kind."""
    return ByPart(kind=kind, chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size)
