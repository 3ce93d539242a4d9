"""Overlap: how far back into the passage before the next one is shown from."""

from __future__ import annotations

import re

from spanwise.cutting.clusters import border_after, is_border
from spanwise.cutting.levels import SENTENCE, Level
from spanwise.cutting.sizers import Measure
from spanwise.cutting.spans import WHITE, start_at

__all__ = ["reach"]

# Thai, Lao, Tibetan, Myanmar, Khmer, and all from where most scripts are written without spaces.
_SPACELESS = re.compile("[\u0e00-\u109f\u1780-\u17ff\u2e80-\U0010ffff]")

_WORD_START = re.compile(r"(?<=\s)[^\s\ufeff]")


def reach(
    text: str,
    measure: Measure,
    paragraph: Level,
    before: int,
    body: int,
    overlap: int,
    earliest: int = 0,
) -> int:
    """Where a passage whose own part begins at ``body`` is shown from.

    The furthest paragraph or sentence start within ``overlap`` that uses at
    least half of it, else the furthest word start, else a cluster border; never
    at or before ``before``, where the previous own part begins, nor before
    ``earliest``.
    """
    lo = max(before + 1, earliest, measure.back(before, body, overlap))
    if lo >= body:
        return body
    half = measure.back(before, body, (overlap + 1) // 2)
    found = body
    for level in (paragraph, SENTENCE):
        near = level.last(text, before, lo - 1) if lo - 1 > before else -1
        for c in ([near] if near > before else []) + level.cuts(text, lo - 1, half):
            start = start_at(text, c, body)
            if start >= lo:
                if start <= half:
                    found = min(found, start)
                break
    if found == body:
        found = _word_start(text, lo, body)
    if found == body:
        # No word begins in reach: only inside one long word, or where words are not spaced.
        found = start_at(text, border_after(text, lo, body, before), body)
        if found < body and text[body - 1] in WHITE and not _SPACELESS.match(text, found):
            return body
    return found if measure.size(found, body) <= overlap else body


def _word_start(text: str, lo: int, hi: int) -> int:
    """The first start of a word in ``[lo, hi)``, or ``hi``."""
    found = _WORD_START.search(text, lo, hi)
    while found and not is_border(text, found.start(), max(0, found.start() - 1)):
        found = _WORD_START.search(text, found.end(), hi)
    return found.start() if found else hi
