"""by_similarity: a cut where two neighbouring sentences mean different things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, sqrt
from typing import ClassVar

from spanwise.cutting.levels import SENTENCE, WORD, paragraph_level
from spanwise.cutting.sizers import Sizer, bind, chars, fits
from spanwise.cutting.spans import Spans, end_at, start_at, trim
from spanwise.cutting.windows import Aim, Windows
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Sized
from spanwise.splitters.layout import ENGINE_USUAL
from spanwise.splitters.text import cap_spans

__all__ = ["BySimilarity", "Embed", "by_similarity"]

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]

# Below this cosine two sentences are apart; from the agentos reference.
_THRESHOLD = 0.3


def _no_embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    raise OptionError(
        "embed is not given; pass a function from a list of texts to a list of vectors"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BySimilarity(Sized):
    """Cuts where the cosine of two neighbouring sentences falls below ``threshold``.

    ``embed`` answers one vector for each of a list of texts; it is called once
    a document. A group above twice ``chunk_size`` is cut at sentences and words
    in windows of ``chunk_size``, with ``overlap`` (unset: 64, or an eighth of a
    smaller size) counted inside.
    """

    name: ClassVar[str] = "by_similarity"
    usual: ClassVar[tuple[int, int]] = ENGINE_USUAL

    embed: Embed = _no_embed
    chunk_size: int = ENGINE_USUAL[1]
    threshold: float = _THRESHOLD

    def __post_init__(self) -> None:
        Sized.__post_init__(self)
        if not callable(self.embed):
            raise OptionError(
                f"embed={shown(self.embed)} cannot be called; "
                "pass a function from a list of texts to a list of vectors"
            )
        if not isinstance(self.threshold, int | float) or not -1 <= self.threshold <= 1:
            raise OptionError(
                f"threshold={shown(self.threshold)} is no cosine; give a number from -1 to 1"
            )

    def positions(self, document: Document) -> Spans:
        """Where the cuts fall."""
        text = document.text
        measure = bind(self.sizer, text)
        size = self.within
        overlap = self.borrowed
        aim = Aim(levels=(SENTENCE, WORD), back_half=True, inside=False)
        windows = Windows(text, measure, size, min(overlap, size - 1), aim)
        sentences = sentence_spans(text)
        most = 2 * self.chunk_size
        if self.max_size is not None:
            most = min(most, self.max_size)
        out = Spans()
        opened = 0
        boundary = "document"
        apart = self._apart([text[start:end] for start, end in sentences])
        for i, cuts_here in enumerate(apart):
            if not cuts_here:
                continue
            start, end = sentences[opened][0], sentences[i][1]
            if fits(measure, start, end, most):
                out.starts.append(start)
                out.bodies.append(start)
                out.ends.append(end)
                out.boundaries.append(boundary)
            else:
                windows.cut(start, end, boundary, out)
            opened, boundary = i + 1, "sentence"
        return cap_spans(text, measure, out, self.max_size)

    def _apart(self, sentences: list[str]) -> list[bool]:
        """For each sentence, whether a group ends with it."""
        if len(sentences) < 2:
            return [True] * len(sentences)
        vectors = checked_vectors(self.embed(sentences), len(sentences))
        return [cosine(left, right) < self.threshold for left, right in pairwise(vectors)] + [True]


def checked_vectors(answer: object, count: int) -> list[list[float]]:
    """The vectors an embedder answered, when there is one of the same length a text."""
    try:
        vectors = [[float(number) for number in vector] for vector in answer]  # type: ignore[attr-defined]
    except TypeError as error:
        raise OptionError(
            f"embed answered {shown(answer)}; it must answer a list of vectors of numbers"
        ) from error
    if len(vectors) != count:
        raise OptionError(
            f"embed answered {len(vectors)} vectors for {count} texts; "
            "it must answer one vector a text, in order"
        )
    for i, vector in enumerate(vectors):
        if len(vector) != len(vectors[0]) or not all(map(isfinite, vector)):
            raise OptionError(
                f"embed answered vector {i} with {len(vector)} numbers, {shown(vector)}; all must "
                f"be {len(vectors[0])} finite numbers"
            )
    return vectors


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences of a text, trimmed; a blank line ends one too."""
    lo, hi = trim(text, 0, len(text))
    cuts = sorted({*SENTENCE.cuts(text, lo, hi), *paragraph_level(text).cuts(text, lo, hi), hi})
    spans = []
    for cut in cuts:
        start = start_at(text, lo, cut)
        if start < cut:
            spans.append((start, end_at(text, start, cut)))
        lo = cut
    return spans


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors; 0 when one of them is zero.

    >>> cosine([1, 0], [1, 0])
    1.0
    """
    lengths = sqrt(sum(x * x for x in left)) * sqrt(sum(x * x for x in right))
    return sum(x * y for x, y in zip(left, right, strict=True)) / lengths if lengths else 0.0


def by_similarity(
    embed: Embed,
    *,
    chunk_size: int = ENGINE_USUAL[1],
    overlap: int | None = None,
    threshold: float = _THRESHOLD,
    sizer: Sizer = chars,
    max_size: int | None = None,
) -> BySimilarity:
    """A `BySimilarity` splitter over the vectors of ``embed``."""
    return BySimilarity(
        embed=embed,
        chunk_size=chunk_size,
        overlap=overlap,
        threshold=threshold,
        sizer=sizer,
        max_size=max_size,
    )
