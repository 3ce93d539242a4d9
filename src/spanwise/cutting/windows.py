"""Windows of one size: each opens ``overlap`` before the last cut, overlap counted inside."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from spanwise.cutting.caps import borrowed, halfway
from spanwise.cutting.clusters import border_after, border_before
from spanwise.cutting.levels import (
    CLUSTER,
    SENTENCE,
    SENTENCE_INSIDE,
    WORD,
    Find,
    Level,
    between,
    paragraph_level,
)
from spanwise.cutting.overlap import reach
from spanwise.cutting.pack import RUNT, under_head
from spanwise.cutting.sizers import Chars, Measure
from spanwise.cutting.spans import Spans, end_at, is_white, start_at, texts_below, trim

__all__ = ["BEFORE_WHITE", "Aim", "Windows"]

# The levels whose cuts lie before white space.
BEFORE_WHITE = ("paragraph", "line", "word")


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
        "overlap",
        "paragraph",
        "plan",
        "size",
        "text",
        "text_starts",
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
    ) -> None:
        self.text = text
        self.measure = measure
        self.exact = isinstance(measure, Chars)
        self.size = size
        self.overlap = overlap
        self.aim = aim
        self.plan = [self._planned(level) for level in aim.levels]
        # Overlap begins at paragraphs too; without it the text need not be read for them.
        self.paragraph = paragraph_level(text) if overlap else WORD
        self.heading_starts = heading_starts
        self.heading_ends = heading_ends
        self.text_starts = texts_below(text, heading_starts, heading_ends)

    def cut(self, lo: int, hi: int, boundary: str, out: Spans) -> None:
        """Cut ``[lo, hi)`` and append what comes out, the first piece under ``boundary``."""
        text, exact, measure, size = self.text, self.exact, self.measure, self.size
        overlap, plan, middle = self.overlap, self.plan, self.size // 2
        back_half, inside = self.aim.back_half, self.aim.inside
        headed = bool(self.heading_ends)
        add_start, add_body = out.starts.append, out.bodies.append
        add_end, add_boundary = out.ends.append, out.boundaries.append
        body, hi = trim(text, lo, hi)
        window, before = body, -1
        while body < hi:
            limit = window + size if exact else self._limit(window, body, hi)
            cut, opens = hi, ""
            if limit < hi:
                half = low = self._below_headings(body, hi) if headed else body
                keep = headed  # whether a heading must not end the piece
                cut = -1
                if low >= limit:
                    if low > body:
                        # The headings leave no room: the first word goes with them, or
                        # they are cut like other text.
                        cut = under_head(text, measure, body, low, hi, size, size + RUNT - 1)
                        keep = False
                    opens, half, low = WORD.name, body, body
                if back_half:
                    half = window + middle if exact else halfway(measure, window, limit, hi, size)
                if cut <= body:
                    for name, find, short, beyond in plan:
                        floor = half + beyond
                        if floor < low:
                            floor = low
                        cut = find(text, floor, limit - short)
                        if keep and cut > floor:
                            cut = self._above_heading(cut, floor)
                        if cut > floor and (exact or self._fits(body, cut)):
                            opens = name
                            break
                    else:
                        cut, opens = self._fall_back(window, body, low, limit, hi, keep)
            # Most passages end with a letter or a mark: no white space to step over.
            end = cut if "!" <= text[cut - 1] <= "~" else end_at(text, body, cut)
            start = body
            if overlap and window < body:
                start = self._shown_from(window, before, body, end)
            add_start(start)
            add_body(body)
            add_end(end)
            add_boundary(boundary)
            before, boundary = body, opens
            # Most cuts lie at a space before a letter (the common case of `start_at`).
            if cut + 1 < hi and text[cut] == " " and "!" <= text[cut + 1] <= "~":
                body = cut + 1
            else:
                body = start_at(text, cut, hi)
            if opens == CLUSTER.name or (headed and opens == WORD.name):
                boundary = between(end, body)
            window = cut
            if inside and opens in BEFORE_WHITE:
                window = cut + 1 if cut < body else body
            if overlap:
                window = self._reopened(window, before)

    def _limit(self, window: int, body: int, hi: int) -> int:
        """How far a window may reach, with the white space after what fits: that ships in none."""
        text, measure, size = self.text, self.measure, self.size
        limit = measure.fit(window, hi, size)
        if limit >= hi and window < body and not measure.holds(body, hi, size):
            # A word may count for more without the white space before it.
            limit = measure.fit(body, hi, size)
        most = min(limit + 2, hi - 1)
        while limit < most and is_white(text[limit]):
            limit += 1
        return limit

    def _shown_from(self, window: int, before: int, body: int, end: int) -> int:
        """Where the piece with own part ``[body, end)`` is shown from: its overlap is inside."""
        measure, size = self.measure, self.size
        earliest = min(body, max(window, measure.back(before, end, size)))
        start = reach(self.text, measure, self.paragraph, before, body, self.overlap, earliest)
        return start if self.exact or measure.size(start, end) <= size else body

    def _reopened(self, window: int, before: int) -> int:
        """Where a window opens so that it holds the overlap; after ``before``, the last body."""
        if self.exact:
            return max(window - self.overlap, before + 1)
        return max(borrowed(self.measure, before, window, self.overlap), before + 1)

    def _fall_back(
        self, window: int, body: int, low: int, limit: int, hi: int, keep: bool
    ) -> tuple[int, str]:
        """The cut of a window in which no level has one where it should be, and its level."""
        text, aim = self.text, self.aim
        if aim.back_half:
            for name, find, short, _ in map(self._planned, (WORD, SENTENCE_INSIDE)):
                cut = find(text, low, limit - short)
                if keep and cut > low:
                    cut = self._above_heading(cut, low)
                if cut > low and (self.exact or self._fits(body, cut)):
                    return cut, name
        if window < body:
            # Overlap gives way to a word: the window moves on to the next border.
            full = self.measure.fit(body, hi, self.size)
            cut = WORD.first(text, max(low, limit), min(hi, full + 1))
            opens_word = body == 0 or text[body].isspace()
            opens_word = opens_word or text[body - 1].isspace() or is_white(text[body - 1])
            opens_word = opens_word or SENTENCE.last(text, body - 1, body) == body
            whole = cut < hi or opens_word
            if cut <= full and whole and self._fits(body, cut):
                return cut, WORD.name
        cut = border_before(text, limit, low)
        while cut > low and not (self.exact or self._fits(body, cut)):
            cut = border_before(text, low + (cut - low) // 2, low)
        if cut <= low:
            cut = border_after(text, low + 1, hi, low)
        return cut, CLUSTER.name

    def _planned(self, level: Level) -> tuple[str, Find, int, int]:
        """How a level is looked for: its finder, what its white space takes, where it begins."""
        name, find = level.name, level.last
        if not self.aim.inside:
            return name, find, 0, 0
        if name not in BEFORE_WHITE:
            return name, find, 0, 1
        return name, find, 2 if name == "paragraph" else 1, 0

    def _above_heading(self, cut: int, low: int) -> int:
        """The cut, moved above the headings that it would part from their text, or -1."""
        end = end_at(self.text, 0, cut)
        i = bisect_left(self.heading_ends, end)
        if i == len(self.heading_ends) or self.heading_ends[i] != end:
            return cut
        while i and self.text_starts[i - 1] == self.text_starts[i]:
            i -= 1
        return self.heading_starts[i] if self.heading_starts[i] > low else -1

    def _below_headings(self, body: int, hi: int) -> int:
        """Where the text begins under the headings at ``body``, or ``body``."""
        i = bisect_right(self.heading_starts, body) - 1
        if i < 0 or body >= self.heading_ends[i]:
            return body
        return min(self.text_starts[i], hi)

    def _fits(self, body: int, cut: int) -> bool:
        return self.measure.holds(body, end_at(self.text, body, cut), self.size)
