"""Presets: a splitter for any document, with the sizes that were measured for a use."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap
from spanwise.documents import Document
from spanwise.embedders.base import ceiling_of
from spanwise.errors import require
from spanwise.splitters.base import Strategy, as_document, smaller
from spanwise.splitters.choose import splitter_for
from spanwise.splitters.heading import ByHeading, by_heading
from spanwise.splitters.paragraph import ByParagraph
from spanwise.splitters.structure import by_structure

__all__ = ["Preset", "for_answers", "for_search"]

# In characters; docs/defaults.md has the measurements. Passages of some 350 characters on average
# are found best, and those of 1,000 and less fill a context of 4,000 and more best.
_SEARCH_SIZE, _ANSWER_SIZE = 500, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Each document by what finds best in its kind, in passages of about one size, without overlap.

    Pages with headings are cut by `by_structure` around three quarters of ``chunk_size``, plain
    text by `by_heading`, records and turns as `chunk` cuts them.
    """

    version: ClassVar[int] = 1

    name: str
    chunk_size: int
    limit: Cap | None = None

    def __post_init__(self) -> None:
        require("chunk_size", self.chunk_size, 1)

    @property
    def fingerprint(self) -> str:
        """The name, the version, the size and the cap."""
        limit = "None" if self.limit is None else self.limit.fingerprint
        return f"{self.name}/{self.version} chunk_size={self.chunk_size} limit={limit}"

    def within(self, embedder: object, *, ceiling: Cap | int | None = None) -> Preset:
        """The same under what an embedder reads: no passage is longer.

        Its own cap stays when it is the smaller one, as that of `Strategy.within`.
        """
        return replace(self, limit=smaller(self.limit, ceiling_of(embedder, ceiling)[0]))

    def split(self, source: Document | str) -> Chunks:
        """The chunks of a document or a string, in order."""
        document = as_document(source)
        return self.chosen(document).split(document)

    def chosen(self, document: Document) -> Strategy:
        """The strategy that cuts a document, with its options."""
        chosen = splitter_for(document)
        if isinstance(chosen, ByHeading):
            # Found better than by_heading on pages with headings; gathers up to twice its target.
            target = max(1, self.chunk_size * 3 // 4)
            chosen = by_structure(target_size=target, respect_lines=True)
        elif isinstance(chosen, ByParagraph):
            # Found as well as by_paragraph, and an edit changes the passages near it alone.
            chosen = by_heading(chunk_size=self.chunk_size)
        assert isinstance(chosen, Strategy)
        takes = {each.name for each in fields(chosen)}
        wanted: dict[str, Any] = {"chunk_size": self.chunk_size, "overlap": 0, "overlap_turns": 0}
        wanted = {name: value for name, value in wanted.items() if name in takes}
        if self.limit is not None:
            wanted["max_size"] = self.limit
        return replace(chosen, **wanted)


def for_search(*, chunk_size: int = _SEARCH_SIZE) -> Preset:
    """For an index: small passages, each document cut by its kind.

    >>> for_search().split("# Refunds\\n\\nFive to ten days.").texts
    ['# Refunds\\n\\nFive to ten days.']
    """
    return Preset(name="for_search", chunk_size=chunk_size)


def for_answers(*, chunk_size: int = _ANSWER_SIZE) -> Preset:
    """For the context of a model of 4,000 characters and more: larger passages.

    More of the evidence stands whole in one of them.
    """
    return Preset(name="for_answers", chunk_size=chunk_size)
