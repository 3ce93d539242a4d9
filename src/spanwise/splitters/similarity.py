"""by_similarity: a cut where two neighbouring sentences mean different things."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from spanwise.cutting.caps import Cap
from spanwise.cutting.levels import SENTENCE, WORD, paragraph_level
from spanwise.cutting.sizers import Sizer, chars
from spanwise.cutting.spans import Spans, end_at, start_at, trim
from spanwise.cutting.windows import Aim, Windows
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Sized
from spanwise.splitters.layout import ENGINE_USUAL
from spanwise.splitters.text import cap_spans
from spanwise.vectors import checked_vectors, cosine

__all__ = ["BySimilarity", "Embed", "by_similarity"]

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]

# Below this cosine two sentences are apart; from the agentos reference.
_THRESHOLD = 0.3

# From this cosine on two vectors are equal but for rounding.
_EQUAL = 1 - 1e-9


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
        measure = self.measure(text)
        overlap, size = self.borrowed, self.chunk_size
        aim = Aim(levels=(SENTENCE, WORD), back_half=True, inside=False)
        windows = Windows(text, measure, size, min(overlap, size - 1), aim)
        sentences = sentence_spans(text)
        most = 2 * size
        out = Spans()
        opened = 0
        boundary = "document"
        apart = self._apart([text[start:end] for start, end in sentences])
        for i, cuts_here in enumerate(apart):
            if not cuts_here:
                continue
            start, end = sentences[opened][0], sentences[i][1]
            if measure.holds(start, end, most):
                out.starts.append(start)
                out.bodies.append(start)
                out.ends.append(end)
                out.boundaries.append(boundary)
            else:
                windows.cut(start, end, boundary, out)
            opened, boundary = i + 1, "sentence"
        return cap_spans(text, measure, out)

    def _apart(self, sentences: list[str]) -> list[bool]:
        """For each sentence, whether a group ends with it."""
        if len(sentences) < 2:
            return [True] * len(sentences)
        vectors = checked_vectors(self.embed(sentences), len(sentences))
        least = min(self.threshold, _EQUAL)
        return [cosine(left, right) < least for left, right in pairwise(vectors)] + [True]


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


def by_similarity(
    embed: Embed,
    *,
    chunk_size: int = ENGINE_USUAL[1],
    overlap: int | None = None,
    threshold: float = _THRESHOLD,
    sizer: Sizer = chars,
    max_size: int | Cap | None = None,
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
