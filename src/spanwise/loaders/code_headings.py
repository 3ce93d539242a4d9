"""Functions, classes and the like as the headings of code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from spanwise.cutting.block_parser import Structure
from spanwise.cutting.spans import first_ink
from spanwise.loaders.languages import HASH

__all__ = [
    "LINE_END",
    "WHOLE",
    "Definition",
    "line_start",
    "rest_of_line",
    "rest_pattern",
    "structure_of",
]

_DEEPEST = 6

# A function up to this size is one section, its inner functions unmarked; a longer one is cut in
# any case. The size by_heading cuts at (splitters/paragraph.py, USUAL).
WHOLE = 1000

# Code between definitions below this size is no section: by_heading would join it to the next
# one and give both its path. The floor of by_heading (splitters/base.py, default_floor).
_SHORT = 250

_LONGEST_TITLE = 60

LINE_END = re.compile(r"\r\n|\r|\n")
_LAST_BLANK_LINE = re.compile(r"(?s:.*)(?<=\n)[ \t\f]*(?=[\r\n])")
_CODE = re.compile(r"\b(?!(?:end|endif|fi|done)\b)\w")
_DECORATION = re.compile(r"[\s#/*\-=~!<>;:(){}\[\]]*")


class Definition(NamedTuple):
    """A function, class or the like, in code points.

    ``[start, opening)`` is what it opens with; between ``floor`` and ``start`` are only comments;
    the name is ``[name, name_end)``. ``holds`` says that its inner definitions always count.
    """

    floor: int
    start: int
    name: int
    name_end: int
    opening: int
    end: int
    holds: bool


def line_start(text: str, at: int) -> int:
    """Where the line of a position starts; line ends are LF or CRLF."""
    return text.rfind("\n", 0, at) + 1


def rest_pattern(comment: str) -> re.Pattern[str]:
    """What matches the rest of a line that holds no code."""
    return re.compile(rf"[ \t\f;,)]*(?:{comment})?[ \t\f]*(?=[\r\n]|\Z)")


_REST = rest_pattern(HASH)


def rest_of_line(text: str, at: int, pattern: re.Pattern[str] = _REST) -> int:
    """The end of a line whose rest holds no code, or ``at``."""
    rest = pattern.match(text, at)
    return rest.end() if rest else at


def structure_of(text: str, definitions: Iterable[Definition], comment: str = HASH) -> Structure:
    """The structure in which each definition is a heading; line ends are LF or CRLF.

    Code after a definition is led back to what holds it by an empty heading with the holder's
    name; at the top level, where nothing has a name, by one with the first words of that code.
    """
    return _Marks(text, comment).run(sorted(definitions, key=lambda each: (each.start, -each.end)))


class _Marks:
    """Writes headings for definitions and for the code between them."""

    def __init__(self, text: str, comment: str) -> None:
        self.text = text
        # Headings: start, end, level, start and end of the title.
        self.marks: list[tuple[int, int, int, int, int]] = []
        self.comments = re.compile(comment)
        self.rest = rest_pattern(comment)
        self.open: list[Definition] = []
        self.closed = -1  # where the last definition inside the open one ended

    def run(self, definitions: list[Definition]) -> Structure:
        for each in definitions:
            self._close(each.start)
            above = self.open[-1] if self.open else None
            if len(self.open) == _DEEPEST:
                continue
            if above is not None and (
                each.start < above.opening
                or each.end > above.end
                or (not above.holds and above.end - above.start <= WHOLE)
            ):
                continue
            least = max(self.closed, above.opening if above else 0)
            start = self._with_comments(max(each.floor, least), each.start)
            if self.closed >= 0:
                start = self._between(self.closed, start, True)
            level = len(self.open) + 1
            self.marks.append((start, each.opening, level, each.name, each.name_end))
            self.open.append(each)
            self.closed = -1
        self._close(len(self.text) + 1)
        if self.closed >= 0:
            self._between(self.closed, len(self.text), False)
        if not self.marks or self._is_bare():
            return Structure()
        return Structure(0, *map(list, zip(*self.marks, strict=True)))

    def _close(self, position: int) -> None:
        """Close the definitions that end before a position."""
        while self.open and self.open[-1].end <= position:
            last = self.open[-1]
            if self.closed >= 0:
                self._between(self.closed, last.end, False)
            self.open.pop()
            rest = rest_of_line(self.text, last.end, self.rest)
            self.closed = min(rest, max(position, last.end))

    def _with_comments(self, floor: int, start: int) -> int:
        """The start of a definition, moved above the comments directly above it."""
        text = self.text
        if floor:
            floor = text.find("\n", floor, start) + 1
            if not floor:
                return start
        blank = _LAST_BLANK_LINE.match(text, floor, start)
        return first_ink(text, blank.end() if blank else floor, start)

    def _between(self, lo: int, hi: int, followed: bool) -> int:
        """Mark code after a definition; where what follows it starts, which short code joins."""
        text = self.text
        if first_ink(text, lo, hi) == hi:
            return hi
        start = hi
        for line in LINE_END.finditer(text, lo, hi):
            start = first_ink(text, line.end(), hi)
            if start == hi or text[start] not in ")]};":
                break
        if start >= hi or text[start] in ")]};":
            return hi
        code = self.comments.sub("", text[start:hi])
        if _CODE.search(code) is None:
            return self._first_comment(start, hi) if followed else hi
        if hi - start >= _SHORT or not (followed or self.open):
            if self.open:
                name, name_end = self.open[-1].name, self.open[-1].name_end
            else:
                name, name_end = self._first_words(start, hi)
            self.marks.append((start, start, max(1, len(self.open)), name, name_end))
            return hi
        if followed and (not self.open or code.rstrip().endswith((":", "{"))):
            return self._below_deeper(start, hi)
        return hi

    def _below_deeper(self, start: int, hi: int) -> int:
        """The start of short code, below comments that still belong to what is above."""
        text, at = self.text, start
        comments: list[int] = []
        while (comment := self.comments.match(text, at, hi)) is not None:
            comments.append(at)
            at = first_ink(text, comment.end(), hi)
        column = self._column(at)
        return next((each for each in comments if self._column(each) <= column), at)

    def _first_comment(self, start: int, hi: int) -> int:
        """The first comment that stands in the column of the definition below it."""
        at, column = start, self._column(hi)
        while at < hi:
            if self._column(at) == column and _CODE.match(self.text, at) is None:
                return at
            line = LINE_END.search(self.text, at, hi)
            at = first_ink(self.text, line.end(), hi) if line else hi
        return hi

    def _column(self, at: int) -> int:
        return at - line_start(self.text, at)

    def _is_bare(self) -> bool:
        """Whether no ink stands outside the headings; such a text would give no chunk."""
        at = 0
        for start, end, *_ in self.marks:
            if first_ink(self.text, at, start) < start:
                return False
            at = end
        return first_ink(self.text, at, len(self.text)) == len(self.text)

    def _first_words(self, start: int, hi: int) -> tuple[int, int]:
        """The first line of code, or of a comment, as a title."""
        skipped = _DECORATION.match(self.text, start, hi)
        at = skipped.end() if skipped and skipped.end() < hi else start
        line = LINE_END.search(self.text, at, hi)
        end = min(line.start() if line else hi, at + _LONGEST_TITLE)
        return at, at + len(self.text[at:end].rstrip(" \t\f:{([=,;\\"))
