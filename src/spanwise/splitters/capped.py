"""within: any splitter, also one that a person wrote, under what an embedder reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap, bind_capped
from spanwise.cutting.spans import Spans
from spanwise.documents import Document
from spanwise.embedders.base import ceiling_of
from spanwise.splitters.base import Splitter, Strategy
from spanwise.splitters.presets import Preset
from spanwise.splitters.text import cap_spans

__all__ = ["CappedSplitter", "within"]


@dataclass(frozen=True, slots=True)
class CappedSplitter:
    """A splitter whose passages over a cap are cut again, at lines, sentences or words."""

    splitter: Splitter
    limit: Cap

    @property
    def name(self) -> str:
        """The splitter's own name."""
        return self.splitter.name

    @property
    def version(self) -> int:
        """The splitter's own version."""
        return self.splitter.version

    @property
    def chunk_size(self) -> int | None:
        """The splitter's own size, where it has one."""
        return getattr(self.splitter, "chunk_size", None)

    takes_whole: ClassVar[bool] = True  # the cap alone cuts what the splitter made

    @property
    def fingerprint(self) -> str:
        """The splitter's own fingerprint and the cap."""
        return f"{self.splitter.fingerprint} within {self.limit.fingerprint}"

    def split(self, source: Document | str) -> Chunks:
        """The splitter's chunks, none of them over the cap."""
        made = self.splitter.split(source)
        text = made.document.text
        # Copies: a splitter may give the same chunks again.
        spans = Spans([*made.starts], [*made.bodies], [*made.ends], [*made.boundaries])
        measure = bind_capped(made.sizer, self.limit, text)
        chunks = Chunks(
            made.document, cap_spans(text, measure, spans), limit=self.limit, sizer=made.sizer
        )
        chunks.drop_overlap_for_context()
        return chunks


def within(splitter: Splitter, embedder: object, *, ceiling: Cap | int | None = None) -> Splitter:
    """The splitter under what an embedder reads: no passage is longer.

    The strategies of this library make room while they cut (their method `within`); the
    passages of any other splitter are cut again where they are too long. The cap is the
    ``ceiling`` given, else the embedder's, else 2,000 characters.
    """
    if isinstance(splitter, Strategy | Preset):
        return splitter.within(embedder, ceiling=ceiling)
    return CappedSplitter(splitter, ceiling_of(embedder, ceiling)[0])
