"""Legal cuts, strong to weak, looked for near the place where one is needed.

A cut is the end of the unit before it: the white space that separates two
units comes after the cut and belongs to no passage. Every finder answers cuts
``c`` with ``lo < c <= hi``, and each of them is a cluster border.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanwise.cutting.clusters import border_before, clusters, is_border
from spanwise.cutting.sentences import (
    clause_cuts,
    last_clause_cut,
    last_sentence_cut,
    sentence_cuts,
)
from spanwise.cutting.spans import WHITE, first_ink

__all__ = [
    "CLAUSE",
    "CLUSTER",
    "SENTENCE",
    "SENTENCE_INSIDE",
    "WORD",
    "Find",
    "Level",
    "between",
    "block_level",
    "line_level",
    "paragraph_level",
]

Find = Callable[[str, int, int], int]
FindAll = Callable[[str, int, int], list[int]]

# LF, CRLF and CR end lines; U+2028 and U+2029 do not (departure `line-ends`).
_LINE_END = re.compile(r"\r\n?|\n")
# A blank line holds spaces and tabs alone, as in CommonMark.
_BLANK = re.compile(r"(?:\r\n|\n|\r(?!\n))[ \t]*[\r\n]")
_BLANK_LF = re.compile(r"\n[ \t]*\n")
_OPENS_BLANK_LF = re.compile(r"\n(?=[ \t]*\n)")
_WHITE_RUN = re.compile(r"\s+")

# The last line end of a gap, with the indentation of the line that it opens.
_OPENED_LF = re.compile(rf"\n[{WHITE.replace(chr(10), '')}]*(?=[^{WHITE}])")

# What follows a line end where a blank line may begin.
_AFTER_LINE = ("\n", " ", "\t")

# Words are short: their borders are looked for in this many code points first.
_NEAR = 64
# The first cut beyond a place is looked for in windows that double from here.
_AHEAD = 256


@dataclass(frozen=True, slots=True)
class Level:
    """One kind of boundary, found from a place where a cut is needed.

    ``last`` is the last cut of a window or -1, ``cuts`` all of them in order,
    ``first`` the first one or ``hi``. ``chosen``: whether its units differ
    enough to choose the best among its cuts.
    """

    name: str
    last: Find
    cuts: FindAll
    first: Find
    chosen: bool = True

    def openings(self, text: str, lo: int, hi: int, end: int) -> list[tuple[int, int]]:
        """The cuts of a window, each with the first ink after it; one for each gap."""
        if self is _LINE_LF:
            return _line_openings_lf(text, lo, hi, end)
        found: list[tuple[int, int]] = []
        for cut in self.cuts(text, lo, hi):
            ink = first_ink(text, cut, end)
            if found and found[-1][1] == ink:
                found.pop()
            found.append((cut, ink))
        return found


def _first_of(cuts: FindAll) -> Find:
    """The first cut of a window, or its end, looked for in windows that double."""

    def first(text: str, lo: int, hi: int) -> int:
        reach = _AHEAD
        while lo < hi:
            end = min(hi, lo + reach)
            found = cuts(text, lo, end)
            if found:
                return found[0]
            lo, reach = end, reach * 2
        return hi

    return first


def line_level(text: str) -> Level:
    """The ends of lines; quicker for a text that has no carriage return."""
    return _LINE_ANY if "\r" in text else _LINE_LF


def paragraph_level(text: str) -> Level:
    """The line ends before blank lines; quicker without a carriage return."""
    return _PARAGRAPH_ANY if "\r" in text else _PARAGRAPH_LF


def block_level(text: str, starts: Sequence[int], ends: Sequence[int]) -> Level:
    """Paragraphs and atoms: no cut falls inside ``[starts[i], ends[i])``, one at each end."""
    paragraph = paragraph_level(text)

    def last(text: str, lo: int, hi: int) -> int:
        i = bisect_right(starts, hi) - 1
        if i < 0 or ends[i] <= lo:
            return paragraph.last(text, lo, hi)
        if hi < ends[i]:
            return starts[i] if starts[i] > lo else -1
        found = paragraph.last(text, ends[i], hi)
        return found if found >= 0 else ends[i]

    def cuts(text: str, lo: int, hi: int) -> list[int]:
        i = max(0, bisect_right(starts, lo) - 1)
        found: list[int] = []
        while lo < hi and i < len(starts) and starts[i] <= hi:
            if ends[i] > lo:
                if starts[i] > lo:
                    found += paragraph.cuts(text, lo, starts[i])
                    if not found or found[-1] < starts[i]:
                        found.append(starts[i])
                if ends[i] <= hi:
                    found.append(ends[i])
                lo = ends[i]
            i += 1
        return found + paragraph.cuts(text, lo, hi) if lo < hi else found

    def first(text: str, lo: int, hi: int) -> int:
        i = bisect_right(starts, lo)
        if i and lo < ends[i - 1]:
            return min(ends[i - 1], hi)
        return paragraph.first(text, lo, min(starts[i], hi) if i < len(starts) else hi)

    return Level("block", last, cuts, first)


def _last_line_lf(text: str, lo: int, hi: int) -> int:
    return text.rfind("\n", lo + 1, hi + 1)


def _last_line_any(text: str, lo: int, hi: int) -> int:
    found = max(text.rfind("\n", lo + 1, hi + 1), text.rfind("\r", lo + 1, hi + 1))
    if found > 0 and text[found - 1 : found + 1] == "\r\n":
        return found - 1 if found - 1 > lo else -1
    return found


def _line_cuts_lf(text: str, lo: int, hi: int) -> list[int]:
    found = []
    c = text.find("\n", lo + 1, hi + 1)
    while c >= 0:
        found.append(c)
        c = text.find("\n", c + 1, hi + 1)
    return found


def _line_cuts_any(text: str, lo: int, hi: int) -> list[int]:
    return [
        c
        for c in (found.start() for found in _LINE_END.finditer(text, lo + 1, hi + 1))
        if text[c - 1 : c + 1] != "\r\n"
    ]


def _line_openings_lf(text: str, lo: int, hi: int, end: int) -> list[tuple[int, int]]:
    found = [line.span() for line in _OPENED_LF.finditer(text, lo + 1, hi + 1)]
    # The white space after the last line end may go beyond the window.
    last = text.rfind("\n", found[-1][1] if found else lo + 1, hi + 1)
    if last >= 0:
        found.append((last, first_ink(text, last, end)))
    return found


def _first_line_lf(text: str, lo: int, hi: int) -> int:
    found = text.find("\n", lo + 1, hi)
    return found if found >= 0 else hi


def _last_paragraph_lf(text: str, lo: int, hi: int) -> int:
    line = text.rfind("\n", lo + 1, hi + 1)
    if line < 0:
        return -1
    after = text[line + 1 : line + 2]
    if after == "\n" or (after in _AFTER_LINE and _BLANK_LF.match(text, line)):
        return line
    before = text.rfind("\n", lo + 1, line)
    if before < 0 or before == line - 1:
        return before
    # A later blank line than the last empty one can only be one that holds white space.
    found = text.rfind("\n\n", lo + 1, before + 1)
    floor = found + 1 if found >= 0 else lo + 1
    if text.find(" \n", floor, line + 1) < 0 and text.find("\t\n", floor, line + 1) < 0:
        return found
    while (line := text.rfind("\n", floor, line)) >= 0:
        if text[line + 1] in _AFTER_LINE and _BLANK_LF.match(text, line):
            return line
    return found


def _last_paragraph_any(text: str, lo: int, hi: int) -> int:
    line = _last_line_any(text, lo, hi)
    while line >= 0 and not _BLANK.match(text, line):
        line = _last_line_any(text, lo, line - 1)
    return line


def _paragraph_cuts_lf(text: str, lo: int, hi: int) -> list[int]:
    found = [blank.start() for blank in _OPENS_BLANK_LF.finditer(text, lo + 1, hi + 1)]
    # The last one may end outside the window, to which the pattern is bound.
    last = text.rfind("\n", found[-1] + 1 if found else lo + 1, hi + 1)
    if last >= 0 and _BLANK_LF.match(text, last):
        found.append(last)
    return found


def _paragraph_cuts_any(text: str, lo: int, hi: int) -> list[int]:
    return [c for c in _line_cuts_any(text, lo, hi) if _BLANK.match(text, c)]


def _first_paragraph_lf(text: str, lo: int, hi: int) -> int:
    line = text.find("\n", lo + 1, hi - 1)
    if line < 0:
        return hi
    if text[line + 1] == "\n":
        return line
    found = _BLANK_LF.search(text, line, hi)
    return found.start() if found else hi


def _last_white(text: str, lo: int, hi: int) -> int:
    """The last white space in ``(lo, hi]``, or -1."""
    if lo < hi < len(text) and text[hi].isspace():
        return hi
    end = min(hi + 1, len(text))
    low = max(lo + 1, end - _NEAR)
    while low < end:
        parts = text[low:end].rsplit(None, 1)
        if parts and len(parts[-1]) < end - low:
            return end - len(parts[-1]) - 1
        if low == lo + 1:
            break
        low = max(lo + 1, low - (end - low) * 3)
    return -1


def _last_word(text: str, lo: int, hi: int) -> int:
    c = _last_white(text, lo, hi)
    while c >= 0 and not is_border(text, c, lo):
        c = _last_white(text, lo, c - 1)
    return c


def _word_cuts(text: str, lo: int, hi: int) -> list[int]:
    runs = (range(*run.span()) for run in _WHITE_RUN.finditer(text, lo + 1, hi + 1))
    borders = (next((c for c in run if is_border(text, c, lo)), -1) for run in runs)
    return [c for c in borders if c >= 0]


def _last_sentence(text: str, lo: int, hi: int) -> int:
    # The white space after a sentence may lie just outside the window.
    found = last_sentence_cut(text, lo, hi + 1)
    return found if found <= hi else last_sentence_cut(text, lo, hi)


def _sentence_cuts(text: str, lo: int, hi: int) -> list[int]:
    return [c for c in sentence_cuts(text, lo, hi + 1) if c <= hi]


def _last_clause(text: str, lo: int, hi: int) -> int:
    found = last_clause_cut(text, lo, hi + 1)
    return found if found <= hi else last_clause_cut(text, lo, hi)


def _clause_cuts(text: str, lo: int, hi: int) -> list[int]:
    return [c for c in clause_cuts(text, lo, hi + 1) if c <= hi]


def _last_cluster(text: str, lo: int, hi: int) -> int:
    found = border_before(text, hi, lo)
    return found if found > lo else -1


def _cluster_cuts(text: str, lo: int, hi: int) -> list[int]:
    return list(clusters(text, lo, hi))


_LINE_LF = Level("line", _last_line_lf, _line_cuts_lf, _first_line_lf)
_LINE_ANY = Level("line", _last_line_any, _line_cuts_any, _first_of(_line_cuts_any))
_PARAGRAPH_LF = Level("paragraph", _last_paragraph_lf, _paragraph_cuts_lf, _first_paragraph_lf)
_PARAGRAPH_ANY = Level(
    "paragraph", _last_paragraph_any, _paragraph_cuts_any, _first_of(_paragraph_cuts_any)
)
SENTENCE = Level("sentence", _last_sentence, _sentence_cuts, _first_of(_sentence_cuts))
# The white space that a sentence end needs must lie before ``hi``.
SENTENCE_INSIDE = Level("sentence", last_sentence_cut, sentence_cuts, _first_of(sentence_cuts))
CLAUSE = Level("clause", _last_clause, _clause_cuts, _first_of(_clause_cuts), chosen=False)
WORD = Level("word", _last_word, _word_cuts, _first_of(_word_cuts), chosen=False)
CLUSTER = Level("cluster", _last_cluster, _cluster_cuts, _first_of(_cluster_cuts), chosen=False)


def between(end: int, start: int) -> str:
    """The name of a cut that no level looked for: white space may be left out there even so."""
    return WORD.name if end < start else CLUSTER.name
