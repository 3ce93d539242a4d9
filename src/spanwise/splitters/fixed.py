"""fixed_with_overlap and whole_document: no structure asked of the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.cutting.clusters import border_after, border_before
from spanwise.cutting.floor import merge_backward
from spanwise.cutting.levels import CLUSTER, WORD, between
from spanwise.cutting.pack import RUNT, Packer
from spanwise.cutting.sizers import Chars
from spanwise.cutting.spans import Spans, start_at, trim
from spanwise.documents import Document
from spanwise.errors import require
from spanwise.splitters.base import (
    Sized,
    Strategy,
    below_line,
    cap_pieces,
    limits,
    show,
)
from spanwise.splitters.paragraph import USUAL

__all__ = ["FixedWithOverlap", "WholeDocument", "fixed_with_overlap", "whole_document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedWithOverlap(Sized):
    """Cuts every ``chunk_size``, moved back to a word border within ``word_window``.

    A last piece below 50 (or half of ``chunk_size``) joins the one before.
    ``overlap`` (unset: 150, or 15 % of a smaller size) comes on top of
    ``chunk_size``. For text without any structure.

    >>> fixed_with_overlap(chunk_size=10, overlap=0).split("alpha beta gamma").texts
    ['alpha beta', 'gamma']
    """

    name: ClassVar[str] = "fixed_with_overlap"
    usual: ClassVar[tuple[int, int]] = USUAL

    chunk_size: int = USUAL[1]
    word_window: int = 40

    def __post_init__(self) -> None:
        Sized.__post_init__(self)
        require("word_window", self.word_window, 0)

    @property
    def on_top(self) -> int:
        """Its overlap."""
        return self.borrowed

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        overlap, size = self.borrowed, self.chunk_size
        measure = self.measure(text)
        packer = Packer(text, measure, size)
        exact = isinstance(measure, Chars)
        at, hi, boundary = 0, len(text), "document"
        while at < hi:
            # Only characters also count the white space that is trimmed (as in the reference).
            limit = min(hi, at + size) if exact else measure.fit(start_at(text, at, hi), hi, size)
            opens = WORD.name
            cut = hi
            if limit < hi:
                cut = WORD.last(text, max(at, limit - self.word_window), limit)
                if cut < 0:
                    opens = CLUSTER.name
                    cut = border_before(text, limit, at)
                    if cut == at:
                        cut = border_after(text, limit + 1, hi, at)
            start, end = trim(text, at, cut)
            if start < end:
                if boundary == CLUSTER.name:
                    boundary = between(packer.ends[-1], start)
                packer.add(start, end, boundary)
                boundary = opens
            at = cut
        bound = size + RUNT - 1
        first = max(0, len(packer) - 2)
        merge_backward(packer, first, packer.below(first, min(RUNT, size // 2)), bound)
        return show(cap_pieces(packer, below_line(text)), overlap)


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeDocument(Strategy):
    """One chunk: the text without the white space at its ends.

    >>> whole_document().split("  A note. ").texts
    ['A note.']
    """

    name: ClassVar[str] = "whole_document"
    takes_whole: ClassVar[bool] = True

    def __post_init__(self) -> None:
        limits(chunk_size=1, overlap=None, max_size=self.max_size, sizer=self.sizer)

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        packer = Packer(text, self.measure(text), 1)
        start, end = trim(text, 0, len(text))
        if start < end:
            packer.add(start, end, "document")
        return show(cap_pieces(packer, below_line(text)), 0)


fixed_with_overlap = FixedWithOverlap
whole_document = WholeDocument
