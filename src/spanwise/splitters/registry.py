"""Every strategy of this library by name: one line each, read by the command line and the tests."""

from __future__ import annotations

from spanwise.splitters.base import Strategy
from spanwise.splitters.engine import BySize, ByTitle
from spanwise.splitters.fixed import FixedWithOverlap, WholeDocument
from spanwise.splitters.heading import ByHeading
from spanwise.splitters.layout import ByLayout
from spanwise.splitters.paragraph import ByParagraph
from spanwise.splitters.parts import ByPart
from spanwise.splitters.similarity import BySimilarity
from spanwise.splitters.structure import SemanticChunker
from spanwise.splitters.text import ByRecord, ByText
from spanwise.splitters.turns import ByTurn

__all__ = ["STRATEGIES"]

STRATEGIES: tuple[type[Strategy], ...] = (
    ByHeading,
    ByParagraph,
    ByText,
    ByRecord,
    FixedWithOverlap,
    WholeDocument,
    SemanticChunker,
    ByLayout,
    BySimilarity,
    ByTurn,
    ByPart,
    BySize,
    ByTitle,
)
