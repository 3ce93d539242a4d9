"""Vectors as plain numbers: checked, compared."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt

from spanwise.errors import EmbedderError, shown

__all__ = ["checked_vectors", "cosine"]


def checked_vectors(
    answer: object, count: int, dimensions: int = 0, *, name: str = "embed"
) -> list[list[float]]:
    """The vectors an embedder answered, when there is one of the same length a text.

    ``dimensions`` is the length they must have, 0 for any. Raises `EmbedderError`.
    """
    try:
        if isinstance(answer, str | bytes):
            raise TypeError
        vectors = [[float(number) for number in vector] for vector in answer]  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderError(
            f"{name} answered {shown(answer)}; it must answer a list of vectors of numbers"
        ) from error
    if len(vectors) != count:
        raise EmbedderError(
            f"{name} answered {len(vectors)} vectors for {count} texts; "
            "it must answer one vector a text, in order"
        )
    for i, vector in enumerate(vectors):
        wanted = dimensions or len(vectors[0])
        if len(vector) != wanted or not all(map(isfinite, vector)):
            raise EmbedderError(
                f"{name} answered vector {i} with {len(vector)} numbers, {shown(vector)}; all must "
                f"be {wanted} finite numbers"
            )
    return vectors


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors; 0 when one of them is zero.

    >>> cosine([1, 0], [1, 0])
    1.0
    """
    lengths = sqrt(sum(x * x for x in left)) * sqrt(sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / lengths if lengths else 0.0
