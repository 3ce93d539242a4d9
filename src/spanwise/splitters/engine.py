"""ChunkingEngine: one front for four strategies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.chunks import Chunks
from spanwise.cutting.caps import Cap, Capped
from spanwise.cutting.levels import WORD
from spanwise.cutting.sizers import Sizer, chars
from spanwise.cutting.spans import Spans, start_at
from spanwise.cutting.windows import Aim, Windows
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Sized, leave_for_context
from spanwise.splitters.layout import ENGINE_USUAL, ByLayout
from spanwise.splitters.similarity import Embed, by_similarity
from spanwise.splitters.text import cap_spans, windowed

__all__ = ["BySize", "ByTitle", "ChunkingEngine"]

STRATEGIES = ("fixed", "semantic", "hierarchical", "layout")

_AIM = Aim(levels=(WORD,), back_half=False, inside=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class BySize(Sized):
    """The engine's ``fixed``: every ``chunk_size``, moved back to the last white space.

    ``overlap`` (unset: 64, or an eighth of a smaller size) counts inside.
    """

    name: ClassVar[str] = "engine_fixed"
    usual: ClassVar[tuple[int, int]] = ENGINE_USUAL

    chunk_size: int = ENGINE_USUAL[1]

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        return windowed(self, document, _AIM)


@dataclass(frozen=True, slots=True, kw_only=True)
class ByTitle(Sized):
    """The engine's ``hierarchical``: sections by heading, ``fixed`` inside.

    A heading stays in its passage and bare headings go with what follows.
    """

    name: ClassVar[str] = "engine_hierarchical"
    usual: ClassVar[tuple[int, int]] = ENGINE_USUAL

    chunk_size: int = ENGINE_USUAL[1]

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text, structure = document.text, document.outline.structure
        measure = self.measure(text)
        overlap, size = self.borrowed, self.chunk_size
        starts, ends = structure.heading_starts, document.outline.heading_ends
        windows = Windows(text, measure, size, min(overlap, size - 1), _AIM, starts, ends)
        out = Spans()
        at = 0
        edges = [structure.front] if structure.front else []
        for i, start in enumerate(starts):
            bare_above = i > 0 and start_at(text, ends[i - 1], start) == start
            if not bare_above:
                edges.append(start)
        for edge in (*edges, len(text)):
            if isinstance(measure, Capped):
                outline = document.outline
                leave_for_context(measure, outline, outline.heading_at(at, edge))
            windows.cut(at, edge, "heading" if out.starts else "document", out)
            at = edge
        return cap_spans(text, measure, out)


class ChunkingEngine:
    """One front for ``fixed``, ``semantic``, ``hierarchical`` and ``layout``.

    >>> ChunkingEngine().chunk("Some words.", strategy="fixed").texts
    ['Some words.']
    """

    __slots__ = ()

    def chunk(
        self,
        text: Document | str,
        *,
        strategy: str = "fixed",
        chunk_size: int = ENGINE_USUAL[1],
        overlap: int | None = None,
        embed: Embed | None = None,
        sizer: Sizer = chars,
        max_size: int | Cap | None = None,
    ) -> Chunks:
        """The chunks by one strategy; without ``embed``, ``semantic`` is ``fixed``."""
        if strategy not in STRATEGIES:
            raise OptionError(
                f"strategy={shown(strategy)} is unknown; give one of {', '.join(STRATEGIES)}"
            )
        if strategy == "semantic" and embed is not None:
            return by_similarity(
                embed, chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size
            ).split(text)
        kinds: dict[str, type[BySize | ByTitle | ByLayout]] = {
            "hierarchical": ByTitle,
            "layout": ByLayout,
        }
        kind = kinds.get(strategy, BySize)
        return kind(chunk_size=chunk_size, overlap=overlap, sizer=sizer, max_size=max_size).split(
            text
        )
