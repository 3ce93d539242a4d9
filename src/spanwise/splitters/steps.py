"""by_text, by_record and by_part a step at a time, over a text that is still coming in."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Protocol

from spanwise.cutting.caps import Capped, allows, halfway
from spanwise.cutting.clusters import is_border
from spanwise.cutting.levels import (
    CLUSTER,
    SENTENCE_INSIDE,
    WORD,
    between,
    line_level,
    paragraph_level,
)
from spanwise.cutting.sizers import Measure
from spanwise.cutting.spans import Spans, end_at, first_ink, start_at, trim
from spanwise.cutting.windows import BEFORE_WHITE, Aim, Windows
from spanwise.splitters.parts import ByPart
from spanwise.splitters.text import ByRecord, ByText, cap_spans, carried

__all__ = ["PartSteps", "RecordSteps", "Step", "Steps", "WindowSteps"]

# Start, body, end and boundary of a chunk.
Step = tuple[int, int, int, str]

# Whether a place is a cut depends on what stands beside it: 40 characters and a few notes to
# each side for a sentence, the white space up to the next ink for a blank line.
_BESIDE = 256


class Steps(Protocol):
    """Cuts a text that is still coming in; positions are those of the text last given."""

    @property
    def keep(self) -> int:
        """From where on the text is still needed."""

    def take(self, text: str, final: bool, returns: bool) -> Iterator[Step]:
        """The next chunks, as long as no later text can change them.

        ``final``: no text is to come; ``returns``: a carriage return was seen in it.
        """

    def shift(self, dropped: int) -> None:
        """Text was dropped before the positions."""


class _Capping:
    """Cuts own parts over the cap, as `cap_spans` does for all of them together."""

    def __init__(self) -> None:
        self.last = -1  # where the chunk before is shown from

    @abstractmethod
    def shift(self, dropped: int) -> None:
        """Text was dropped before the positions."""
        self.last -= dropped

    def within(self, text: str, measure: Measure, step: Step) -> Iterator[Step]:
        """The step, or the pieces of its own part that fit."""
        start, body, end, boundary = step
        if allows(measure, start, end):
            self.last = start
            yield step
            return
        spans = cap_spans(text, measure, Spans([start], [body], [end], [boundary]))
        for piece in zip(spans.starts, spans.bodies, spans.ends, spans.boundaries, strict=True):
            start, body, end, boundary = piece
            # A piece of what was cut may begin after the overlap of this one did.
            self.last = start if start > self.last else body
            yield self.last, body, end, boundary


class WindowSteps(_Capping):
    """The windows of a `ByText`: what `Windows.cut` does, kept between two chunks."""

    def __init__(self, by: ByText) -> None:
        super().__init__()
        self.by = by
        self.body = self.window = 0
        self.before = -1
        self.boundary = "document"

    @property
    def keep(self) -> int:
        """From where on the text is still needed."""
        first = self.before if self.before >= 0 else self.body
        return max(0, first - _BESIDE)

    def shift(self, dropped: int) -> None:
        """Text was dropped before the positions."""
        super().shift(dropped)
        self.body -= dropped
        self.window -= dropped
        if self.before >= 0:
            self.before -= dropped

    def take(self, text: str, final: bool, returns: bool) -> Iterator[Step]:
        """The next chunks, as long as no later text can change them."""
        marker = "\r" if returns else ""
        levels = (paragraph_level(marker), SENTENCE_INSIDE, line_level(marker), WORD)
        measure = self.by.measure(text)
        size = self.by.chunk_size
        overlap = min(self.by.borrowed, size - 1)
        aim = Aim(levels=levels, back_half=True, inside=True)
        cutter = _Window(text, measure, size, overlap, aim)
        cutter.paragraph = levels[0]
        if self.before < 0:
            self.body = self.window = start_at(text, 0, len(text))
        # The ink that is known: what comes next may join to what is last.
        known = end_at(text, min(self.body, len(text)), len(text))
        hi = known if final else len(text)
        sure = hi if final else known - _BESIDE
        while self.body < sure:
            found = cutter.step(self.body, self.window, self.before, hi, sure, final)
            if found is None:
                return
            start, end, body, window, opens = found
            if opens == CLUSTER.name:
                opens = between(end, body)
            step = start, self.body, end, self.boundary
            self.before, self.body, self.window, self.boundary = self.body, body, window, opens
            yield from self.within(text, measure, step)


class _Window(Windows):
    """One window at a time; a text without headings."""

    __slots__ = ()

    def step(
        self, body: int, window: int, before: int, hi: int, sure: int, final: bool
    ) -> tuple[int, int, int, int, str] | None:
        """A chunk's start and end, the next body and window, and the level of the cut.

        None where that depends on text after ``sure``. The loop of `Windows.cut`;
        test_streams.py holds the two together.
        """
        text, exact, measure, size = self.text, self.exact, self.measure, self.size
        limit = window + size if exact else self._limit(window, body, hi)
        if not final:
            full = limit if window == body else measure.fit(body, hi, size)
            if max(limit, full) >= sure or first_ink(text, max(limit, full), hi) >= sure:
                return None
        cut, opens = hi, ""
        if limit < hi:
            half = window + size // 2 if exact else halfway(measure, window, limit, hi, size)
            for name, find, short, beyond in self.plan:
                floor = max(half + beyond, body)
                cut = find(text, floor, limit - short)
                if cut > floor and (exact or self._fits(body, cut)):
                    opens = name
                    break
            else:
                cut, opens = self._fall_back(window, body, body, limit, hi, False)
        end = end_at(text, body, cut)
        start = body
        if self.overlap and window < body:
            start = self._shown_from(window, before, body, end)
        following = start_at(text, cut, hi)
        if not final and following >= sure:
            return None
        window = min(cut + 1, following) if opens in BEFORE_WHITE else cut
        if self.overlap:
            window = self._reopened(window, body)
        return start, end, following, window, opens


class RecordSteps(_Capping):
    """The records of a `ByRecord`: what `record_spans` and `pack_whole` do, kept between two."""

    def __init__(self, by: ByRecord | ByPart, opens: str = "record", leave: int = 0) -> None:
        super().__init__()
        self.by = by
        self._opens = opens
        self._leave = leave
        self._lo = self._at = 0  # where the next record begins, where its end is looked for
        self._records: list[tuple[int, int]] = []
        self._first = self._new = 0
        self._boundary = "document"

    @property
    def keep(self) -> int:
        """From where on the text is still needed."""
        records = self._records
        first = records[self._first][0] if self._first < len(records) else self._lo
        return max(0, first - _BESIDE)

    def shift(self, dropped: int) -> None:
        """Text was dropped before the positions."""
        super().shift(dropped)
        self._lo -= dropped
        self._at -= dropped
        kept = self._records[self._first :]
        self._records = [(start - dropped, end - dropped) for start, end in kept]
        self._new -= self._first
        self._first = 0

    def take(self, text: str, final: bool, returns: bool) -> Iterator[Step]:
        """The next chunks, as long as no later text can change them."""
        records, size, overlap = self._records, self.by.chunk_size, self.by.borrowed
        measure = self.by.measure(text)
        if isinstance(measure, Capped) and self._boundary != "document":
            measure.leave(self._leave)
        while self._new < len(records) or self._find(text, final):
            first, new = self._first, self._new
            body, end = records[new]
            while first < new and not measure.holds(records[first][0], end, size):
                first += 1
            start, following = records[first][0], new + 1
            while following < len(records) or self._find(text, final):
                if not measure.holds(start, records[following][1], size):
                    break
                following += 1
            else:
                if not final:
                    return
            end = records[following - 1][1]
            if not final and isinstance(measure, Capped) and end + _BESIDE > len(text):
                return
            step = start, body, end, self._boundary
            self._boundary = self._opens
            if following < len(records):
                if isinstance(measure, Capped):
                    measure.leave(self._leave)
                first = carried(measure, records, overlap, first, following)
            self._first, self._new = first, following
            yield from self.within(text, measure, step)

    def _find(self, text: str, final: bool) -> bool:
        """Whether another record was found; as `record_spans`."""
        assert isinstance(self.by, ByRecord)
        separator, length = self.by.separator, len(text)
        while self._lo < length:
            found = text.find(separator, self._at)
            if found < 0 and not final:
                # A separator may have come in by half.
                self._at = max(self._at, length - len(separator) + 1)
                return False
            hi = length if found < 0 else found
            after = hi + len(separator)
            if not final and after >= length:
                return False
            lo, self._at = self._lo, after
            if found >= 0 and not is_border(text, after, lo):
                continue
            end = end_at(text, lo, hi)
            if found >= 0 and lo < end and not is_border(text, end, lo):
                continue
            self._lo = after
            start = start_at(text, lo, hi)
            if start < end:
                self._records.append((start, end))
                return True
        return False


class PartSteps(RecordSteps):
    """The parts of a `ByPart` that ``find`` finds: where the one from a place ends, and the next.

    ``leave`` of a cap is kept free for the header above every chunk but the first, which
    shows it.
    """

    def __init__(
        self,
        by: ByPart,
        find: Callable[[str, int, bool], tuple[int, int] | None],
        leave: int,
    ) -> None:
        super().__init__(by, by.kind, leave)
        self._part = find

    def _find(self, text: str, final: bool) -> bool:
        """Whether another part was found."""
        while self._lo < len(text):
            found = self._part(text, self._lo, final)
            if found is None:
                return False
            start, end = trim(text, self._lo, found[0])
            self._lo = found[1]
            if start < end:
                self._records.append((start, end))
                return True
        return False
