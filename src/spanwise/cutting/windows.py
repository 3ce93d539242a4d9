"""Windows of one size: each opens ``overlap`` before the last cut, overlap counted inside."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.cutting.clusters import border_after, border_before
from spanwise.cutting.levels import CLUSTER, SENTENCE_INSIDE, WORD, Level, paragraph_level
from spanwise.cutting.pack import reach, under_head
from spanwise.cutting.sizers import Chars, Measure, fits
from spanwise.cutting.spans import Spans, end_at, start_at, trim

__all__ = ["Aim", "Windows"]

# The levels whose cuts lie before white space.
_BEFORE_WHITE = ("paragraph", "line", "word")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """Where a window would like to be cut.

    Args:
        levels: strong to weak, without `CLUSTER`; the first that has a cut wins.
        back_half: a cut must lie beyond half the size to count; a word border
            counts anywhere when the back half has none.
        inside: the white space after a cut must lie in the window too, and the
            next window opens after its first character.
    """

    levels: Sequence[Level]
    back_half: bool
    inside: bool


class Windows:
    """Cuts stretches of one text by windows.

    No cut parts a heading, given by flat lists of positions, from the text
    below it, unless the heading alone fills a window.
    """

    __slots__ = (
        "aim",
        "exact",
        "heading_ends",
        "heading_starts",
        "measure",
        "most",
        "overlap",
        "paragraph",
        "size",
        "text",
    )

    def __init__(
        self,
        text: str,
        measure: Measure,
        size: int,
        overlap: int,
        aim: Aim,
        heading_starts: Sequence[int] = (),
        heading_ends: Sequence[int] = (),
        most: int | None = None,
    ) -> None:
        self.text = text
        self.measure = measure
        self.exact = isinstance(measure, Chars)
        self.size = size
        self.most = most
        self.overlap = overlap
        self.aim = aim
        self.paragraph = paragraph_level(text)
        self.heading_starts = heading_starts
        self.heading_ends = heading_ends

    def cut(self, lo: int, hi: int, boundary: str, out: Spans) -> None:
        """Cut ``[lo, hi)`` and append what comes out, the first piece under ``boundary``."""
        text, exact, measure, size = self.text, self.exact, self.measure, self.size
        body, hi = trim(text, lo, hi)
        window, before = body, -1
        while body < hi:
            limit = window + size if exact else measure.fit(window, hi, size)
            cut, opens = self._choose(window, body, limit, hi) if limit < hi else (hi, "")
            end = end_at(text, body, cut)
            start = body
            if self.overlap and window < body:
                earliest = min(body, max(window, measure.back(before, end, size)))
                start = reach(text, measure, self.paragraph, before, body, self.overlap, earliest)
                if not exact and measure.size(start, end) > size:
                    start = body
            out.starts.append(start)
            out.bodies.append(body)
            out.ends.append(end)
            out.boundaries.append(boundary)
            before, boundary = body, opens
            body = start_at(text, cut, hi)
            window = cut
            if self.aim.inside and opens in _BEFORE_WHITE:
                window = min(cut + 1, body)
            if self.overlap:
                opened = measure.back(before, window, self.overlap) if not exact else 0
                window = max(window - self.overlap if exact else opened, before + 1)

    def _choose(self, window: int, body: int, limit: int, hi: int) -> tuple[int, str]:
        """The cut of a window and the name of its level."""
        text, aim = self.text, self.aim
        low = self._below_headings(body, hi) if self.heading_ends else body
        if low >= limit:
            if low > body:
                cut = under_head(text, self.measure, body, low, hi, self.size, self.most)
                if cut > body:
                    return cut, WORD.name
            low = body
        half = low
        if aim.back_half:
            middle = self.size // 2
            half = window + middle if self.exact else self.measure.fit(window, hi, middle)
        for level in aim.levels:
            cut = self._last(level, half, low, limit)
            if cut > low and (self.exact or self._fits(body, cut)):
                return cut, level.name
        if aim.back_half:
            for level in (WORD, SENTENCE_INSIDE):
                cut = self._last(level, low, low, limit)
                if cut > low and (self.exact or self._fits(body, cut)):
                    return cut, level.name
        if window < body:
            # Overlap gives way to a word: the window moves on to the next border.
            full = self.measure.fit(body, hi, self.size)
            cut = WORD.first(text, max(low, limit), min(hi, full + 1))
            whole = cut < hi or body == 0 or text[body - 1].isspace()
            if cut <= full and whole and self._fits(body, cut):
                return cut, WORD.name
        cut = border_before(text, limit, low)
        while cut > low and not (self.exact or self._fits(body, cut)):
            cut = border_before(text, low + (cut - low) // 2, low)
        if cut <= low:
            cut = border_after(text, low + 1, hi, low)
        return cut, CLUSTER.name

    def _last(self, level: Level, half: int, low: int, limit: int) -> int:
        """The last cut of a level beyond ``half`` and ``low`` that parts no heading, or -1."""
        text = self.text
        if self.aim.inside and level.name in _BEFORE_WHITE:
            limit -= 2 if level.name == "paragraph" else 1
        elif self.aim.inside:
            half += 1
        floor = max(half, low)
        cut = level.last(text, floor, limit) if limit > floor else -1
        while cut > floor and self.heading_ends:
            end = end_at(text, low, cut)
            i = bisect_left(self.heading_ends, end)
            if i == len(self.heading_ends) or self.heading_ends[i] != end:
                break
            cut = self.heading_starts[i]
        return cut if cut > floor else -1

    def _below_headings(self, body: int, hi: int) -> int:
        """Where the text begins under the headings at ``body``, or ``body``."""
        starts, ends = self.heading_starts, self.heading_ends
        i = bisect_right(starts, body) - 1
        while 0 <= i < len(starts) and starts[i] <= body < ends[i] and body < hi:
            body = start_at(self.text, ends[i], hi)
            i += 1
        return body

    def _fits(self, body: int, cut: int) -> bool:
        return fits(self.measure, body, end_at(self.text, body, cut), self.size)
