"""What an embedder is, and what every adapter shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spanwise.cutting.caps import Cap

__all__ = ["Embedder", "Vectors"]

# One row of numbers a text: lists, arrays or the rows of a numpy array.
Vectors = Sequence[Sequence[float]]


class Embedder(Protocol):
    """Anything that turns texts into vectors and says how much of a text it reads."""

    @property
    def id(self) -> str:
        """The name of the model and of all that decides its vectors."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def ceiling(self) -> Cap | None:
        """The most it reads of one text, specials included; None when nobody knows."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order; a blank text is a vector of zeros."""
