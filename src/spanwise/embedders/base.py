"""What an embedder is, and how much of a text one reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from spanwise.cutting.caps import Cap
from spanwise.errors import OptionError, shown

__all__ = ["EVERYTHING", "Embedder", "Vectors", "ceiling_of"]

# One row of numbers a text: lists, arrays or the rows of a numpy array.
Vectors = Sequence[Sequence[float]]

# Of an embedder that cuts nothing. A limit has to be a number, and this one stands for
# "reads everything"; from the footprint reference.
EVERYTHING = Cap(1_000_000)

# What an embedder of which nothing is known is taken to read; from the footprint reference.
_UNKNOWN = Cap(2000)


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


def ceiling_of(embedder: object, given: Cap | int | None = None) -> tuple[Cap, str]:
    """What an embedder reads of one text, and who says so: given, embedder or default.

    The caller's ceiling goes first (a number is one of characters), then the embedder's own,
    then 2,000 characters.

    >>> str(ceiling_of(None)[0])
    '2,000 chars'
    """
    if given is not None:
        if isinstance(given, Cap):
            return given, "given"
        if isinstance(given, bool) or not isinstance(given, int) or given < 1:
            raise OptionError(
                f"ceiling={shown(given)} is not a whole number of at least 1; give what the "
                "embedder reads in characters, or cap(limit, sizer) in another unit"
            )
        return Cap(given), "given"
    known = embedder is None or callable(embedder) or hasattr(embedder, "embed")
    own = getattr(embedder, "ceiling", None)
    if own is None and not known:
        raise OptionError(
            f"embedder={shown(embedder)} is no embedder; pass an object with embed and ceiling, "
            "such as those of spanwise.embedders"
        )
    if own is None:
        return _UNKNOWN, "default"
    if not isinstance(own, Cap):
        raise OptionError(
            f"the embedder's ceiling={shown(own)} is no cap; make it one with cap(limit, sizer), "
            "or None where it is not known"
        )
    return own, "embedder"
