"""chunk_turns: whole turns of a transcript."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import Sizer, chars
from spanwise.cutting.spans import Spans, trim
from spanwise.documents import Document, Turn
from spanwise.errors import OptionError, shown
from spanwise.parts import Parts
from spanwise.splitters.base import Strategy, limits
from spanwise.splitters.text import cap_spans, pack_whole

__all__ = ["ByTurn", "by_turn", "chunk_turns"]

# Default size and turns of overlap; from the agentos reference.
_SIZE = 1200
_OVERLAP_TURNS = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTurn(Strategy):
    """Takes whole turns while they fit ``chunk_size``; a turn is never cut.

    The document comes from `Document.from_turns` or a loader; text between its turns is taken
    like a turn. A larger turn is a chunk of
    its own (cut only by ``max_size``). Each chunk opens with up to
    ``overlap_turns`` turns from the end of the one before; they give way until
    the next new turn fits.
    """

    name: ClassVar[str] = "by_turn"
    takes_whole: ClassVar[bool] = True

    chunk_size: int = _SIZE
    overlap_turns: int = _OVERLAP_TURNS

    def __post_init__(self) -> None:
        # As in the reference, a size of 0 is one turn a chunk and a negative
        # overlap none: `chunk_turns` has no departures.
        limits(
            chunk_size=self.chunk_size,
            overlap=None,
            max_size=self.max_size,
            sizer=self.sizer,
            least=0,
        )
        if isinstance(self.overlap_turns, bool) or not isinstance(self.overlap_turns, int):
            raise OptionError(
                f"overlap_turns={shown(self.overlap_turns)} is not a whole number; "
                "give an int, 0 for no overlap"
            )

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        turns = document.parts_between(0, len(document.text), "turn")
        if document.text.strip() and not turns:
            raise OptionError(
                "by_turn needs a document with turns; make one with Document.from_turns, "
                "or use by_text for a plain string"
            )
        measure = self.measure(document.text)
        carried = max(0, self.overlap_turns)
        out = pack_whole(
            measure,
            _ranges(document.text, turns),
            self.chunk_size,
            lambda first, following: max(first + 1, following - carried),
            "turn",
        )
        return cap_spans(document.text, measure, out)


def _ranges(text: str, turns: Parts) -> list[tuple[int, int]]:
    """The turns as given, each from the end of the one before on; text between is like a turn."""
    found: list[tuple[int, int]] = []
    at = 0
    for start, end in zip(turns.starts, turns.ends, strict=True):
        between = trim(text, at, max(at, start))
        found += [between] if between[0] < between[1] else []
        found += [(max(at, start), end)] if max(at, start) < end else []
        at = max(at, end)
    rest = trim(text, at, len(text))
    return found + ([rest] if rest[0] < rest[1] else [])


def chunk_turns(
    turns: Iterable[Turn],
    *,
    chunk_size: int = _SIZE,
    overlap_turns: int = _OVERLAP_TURNS,
    sizer: Sizer = chars,
    max_size: int | Cap | None = None,
) -> Chunks:
    """The chunks of a transcript's turns: the one-call form of `by_turn`.

    >>> chunk_turns([Turn("Hello.", 1), Turn("Hi.", 2)], chunk_size=6).texts
    ['Hello.', 'Hi.']
    """
    splitter = ByTurn(
        chunk_size=chunk_size, overlap_turns=overlap_turns, sizer=sizer, max_size=max_size
    )
    return splitter.split(Document.from_turns(turns))


by_turn = ByTurn
