"""Snippets: where the words of a query fall in a text, and how that is shown safely.

A snippet is a range of the text and marks are ranges in it. Only rendering makes a new string; it
escapes the document and adds signs of our own. Positions are code points.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cache

from spanwise.cutting.clusters import border_after, border_before, is_border
from spanwise.cutting.spans import first_ink, is_white, trim
from spanwise.errors import OptionError, require, shown
from spanwise.lexical import (
    SPACELESS,
    Fold,
    Match,
    Prefixes,
    find_matches,
    iter_spans,
    normal_case,
)

__all__ = ["Highlight", "Mark", "Snippet", "highlight", "snippet_around"]

# White space as the reference's language defines it: not U+0085, not U+001C to U+001F.
_WHITE = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")

# How far an edge moves to stand beside white space. A longer run is no word a person reads; the
# reference's `wordWindow` is as long.
_REACH = 40
# The share of the free room given to the left, that of `snippet_around`: 80 of 200.
_LEFT, _WHOLE = 2, 5

# Punctuation of scripts without spaces: beside it and their letters they may be cut.
_TIGHT = "\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
_COMMAS = ",;:、，；：،؛–—"
_STOPS = ".!?…。．！？؟।"
_DANGLING = _COMMAS + "#|•-"  # signs that belong to what was cut off

_TAG = re.compile("[A-Za-z][A-Za-z0-9-]*")
# As html.escape, whose module loads every entity name at import.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
_STYLE = re.compile("[0-9]+(?:;[0-9]+)*")
# What a terminal may act on: C0 but TAB and LF, DEL, C1, bidi overrides. A lone surrogate cannot
# be written at all.
_UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# What HTML may not hold, also not as an entity: control characters but white space, and surrogates.
_UNWRITTEN = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Where a word was found, `-1` when none was, and the words around it."""

    at: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A matched word or phrase: its range in the snippet, and in the document."""

    start: int
    end: int
    source_start: int
    source_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Highlight:
    """A range of a document, and the marks in it.

    `text` is the document from `start` to `end`. `truncated_left` and `truncated_right` say
    whether text other than white space was left out on that side. Marks are in order and disjoint.
    """

    text: str
    start: int
    end: int
    marks: tuple[Mark, ...]
    truncated_left: bool
    truncated_right: bool

    @property
    def matched(self) -> bool:
        """Whether a word of the query stands in the text literally."""
        return bool(self.marks)

    def plain(self, before: str = "", after: str = "", *, ellipsis: str = "…") -> str:
        """The snippet as text, each mark between `before` and `after`.

        >>> highlight("The refund is late.", "refund").plain("[", "]")
        'The [refund] is late.'
        """
        return self._render(str, before, after, ellipsis)

    def ansi(self, style: str = "1", *, ellipsis: str = "…") -> str:
        r"""The snippet for a terminal, marks in `style`, the numbers of an SGR sequence.

        Control characters of the document are shown as pictures or as U+FFFD, and a CRLF as LF.
        `OptionError` when `style` is anything but numbers and semicolons.

        >>> highlight("\x1b[2J late refund", "refund").ansi("1;33")
        '␛[2J late \x1b[1;33mrefund\x1b[0m'
        """
        if not _STYLE.fullmatch(style):
            raise OptionError(
                f"style={shown(style)} is no list of SGR numbers; give for example '1' or '1;33'"
            )
        return self._render(_disarm, f"\x1b[{style}m", "\x1b[0m", ellipsis)

    def html(self, tag: str = "mark", *, ellipsis: str = "…") -> str:
        """The snippet as HTML, marks in `tag`, everything else escaped.

        Without the tags and the ellipses, `html.unescape` gives `text` back, but for characters
        that HTML may not hold: those are pictures or U+FFFD. `OptionError` when `tag` is not a
        bare element name.

        >>> highlight("<b>late</b> refund", "refund").html()
        '&lt;b&gt;late&lt;/b&gt; <mark>refund</mark>'
        """
        if not _TAG.fullmatch(tag):
            raise OptionError(
                f"tag={shown(tag)} is no element name; give for example 'mark' or 'b'"
            )
        return self._render(_escape, f"<{tag}>", f"</{tag}>", _escape(ellipsis))

    def _render(self, show: Callable[[str], str], before: str, after: str, ellipsis: str) -> str:
        parts = [ellipsis] if self.truncated_left else []
        end = 0
        for mark in self.marks:
            word = show(self.text[mark.start : mark.end])
            parts += show(self.text[end : mark.start]), before, word, after
            end = mark.end
        parts.append(show(self.text[end:]))
        if self.truncated_right:
            parts.append(ellipsis)
        return "".join(parts)


def snippet_around(
    text: str, words: Iterable[str], *, before: int = 80, after: int = 120
) -> Snippet:
    """The first word that begins with one of `words`, and the whole words around it.

    Words are read as `lexical_tokens` reads them. The snippet starts after the last white space
    at or before `before` code points ahead of the word and ends at the first white space at or
    after `after` code points past its start. White space is collapsed, so the snippet is not a
    slice; `highlight` gives one. Without a match `at` is -1 and the snippet is the text's start.
    A text without white space comes back whole. Source: agentos, `snippetAround`.

    >>> snippet_around("The refund goes back to the card.", ["refund"], before=0, after=8)
    Snippet(at=4, text='refund goes')
    """
    if isinstance(words, str):
        raise OptionError(f"words={shown(words)} is one string; give a list, lexical_tokens(words)")
    require("before", before, 0, "0 starts at the word")
    require("after", after, 0, "0 ends with the word")
    beginnings = Prefixes((normal_case(word), 0) for word in words)
    at = next(
        (span.start for span in iter_spans(text) if beginnings.find(span.word) is not None), -1
    )

    start = max(0, at - before + 1) if at > before else 0
    while start and not _WHITE.match(text[start - 1]):
        start -= 1
    white = _WHITE.search(text, max(0, at) + after)
    end = white.start() if white else len(text)
    return Snippet(at, _WHITE.sub(" ", text[start:end]).strip(" "))


def highlight(
    text: str,
    query: str,
    *,
    width: int = 200,
    origin: int = 0,
    fold_accents: bool = False,
    stem: Fold = str,
    begun: Container[str] | None = None,
) -> Highlight:
    """The part of a text that answers a query best, with every matched word in it marked.

    Best is: most of the query's words, then most matches, then closest together, then first.
    What matches what is said in `find_matches`. Without a match it is the text's start.

    - `width`: the most code points shown, at least 1. A matched word that is longer is shown
      whole; so is a first cluster that is longer.
    - `origin`: where the text begins in its document, such as `chunk.start`. It is added to
      every document position.
    - `fold_accents`: also match words that differ in their accents.
    - `stem`: also match words that this makes equal, such as `spanwise.stemming.stem`.
    - `begun`: only these words match what begins with them; unset, every word does.

    Edges stand beside white space where it is within 40 code points, else at a word's edge, else
    inside a word, and never inside a cluster. A cut never leaves closing punctuation or white
    space in front, nor white space, an opening sign, a comma or a bullet at the end. Any string
    is a legal query. Cost: linear.

    >>> found = highlight("Cold hands. She drank cold water. It froze.", '"cold water"', width=28)
    >>> found.plain("[", "]"), [(m.source_start, m.source_end) for m in found.marks]
    ('…drank [cold water]. It froze.', [(22, 32)])
    """
    require("width", width, 1, "200 is a usual length")
    require("origin", origin, 0, "0 is the start of the document")
    lo, hi = trim(text, 0, len(text))
    matches = find_matches(text, query, fold_accents=fold_accents, stem=stem, begun=begun)
    if matches:
        ranges = _best(text, matches, width)
        core_start, core_end = ranges[0][0], ranges[-1][1]
        start, end = _window(text, core_start, core_end, width, lo, hi)
    else:
        ranges = []
        start, core_end = lo, border_after(text, min(lo + 1, hi), hi, lo)
        end = _end_in(text, core_end, lo + width, hi)
    return Highlight(
        text=text[start:end],
        start=origin + start,
        end=origin + end,
        marks=tuple(
            Mark(
                start=left - start,
                end=right - start,
                source_start=origin + left,
                source_end=origin + right,
            )
            for left, right in ranges
        ),
        truncated_left=start > lo,
        truncated_right=end < hi,
    )


def _escape(text: str) -> str:
    """The text with the five signs of HTML as entities, and nothing that HTML may not hold."""
    return _UNWRITTEN.sub(_picture, text).translate(_ESCAPES)


def _disarm(text: str) -> str:
    """A text that no terminal acts on."""
    return _UNSAFE.sub(_picture, text.replace("\r\n", "\n"))


def _picture(found: re.Match[str]) -> str:
    """What is shown for a control character, and for half of a pair."""
    point = ord(found[0])
    if point < 0x20:
        return chr(0x2400 + point)
    return "␡" if point == 0x7F else "\ufffd"


def _best(text: str, matches: list[Match], width: int) -> list[tuple[int, int]]:
    """The ranges of the matches to show, at cluster borders; together at most `width` or one."""
    counts: dict[int, int] = {}
    best, chosen = (0, 0, 0), (0, 0)
    first = 0
    for last, match in enumerate(matches):
        counts[match.term] = counts.get(match.term, 0) + 1
        while first < last and match.end - matches[first].start > width:
            gone = matches[first].term
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
        rank = len(counts), last - first + 1, matches[first].start - match.end
        if last == 0 or rank > best:
            best, chosen = rank, (first, last + 1)

    ranges: list[tuple[int, int]] = []
    for match in matches[chosen[0] : chosen[1]]:
        start, end = border_before(text, match.start), border_after(text, match.end)
        if ranges and end - ranges[0][0] > width:
            break
        if ranges and start < ranges[-1][1]:
            ranges[-1] = ranges[-1][0], end
        else:
            ranges.append((start, end))
    return ranges


def _window(
    text: str, core_start: int, core_end: int, width: int, lo: int, hi: int
) -> tuple[int, int]:
    """The range around a core that fills the width with whole words."""
    room = width - (core_end - core_start)
    if room <= 0:
        return core_start, core_end
    start = _start_in(text, core_start - room * _LEFT // _WHOLE, core_start, lo)
    end = _end_in(text, core_end, start + width, hi)
    if end == hi:
        start = _start_in(text, end - width, core_start, lo)
    return start, end


def _start_in(text: str, low: int, high: int, lo: int) -> int:
    """Where a snippet may start: the first of the best places in `[low, high]`."""
    if low <= lo:
        return lo
    low = border_after(text, first_ink(text, low, high), high)
    best, found = 0, high
    for i in range(low, min(high, low + _REACH) + 1):
        grade = _start_grade(text[i - 1], text[i])
        if grade > best and is_border(text, i, low):
            best, found = grade, i
    return found


def _end_in(text: str, low: int, high: int, hi: int) -> int:
    """Where a snippet may end: the last of the best places in `[low, high]`."""
    if high >= hi:
        return hi
    high = border_before(text, high, low)
    best, found = 0, low
    for i in range(high, max(low, high - _REACH) - 1, -1):
        grade = _end_grade(text[i - 1], text[i : i + 2])
        if grade > best and is_border(text, i, low):
            best, found = grade, i
    return found


def _start_grade(before: str, first: str) -> int:
    """How well a snippet starts with `first`: 3 for a clean edge, 0 for not at all."""
    if is_white(first) or first in _COMMAS or first in _STOPS:
        return 0
    if unicodedata.category(first) in ("Pe", "Pf"):
        return 0
    return _edge_grade(before, first, is_white(before))


def _end_grade(last: str, after: str) -> int:
    """How well a snippet ends with `last`, from the two characters after it."""
    if is_white(last) or last in _DANGLING or unicodedata.category(last) in ("Ps", "Pi"):
        return 0
    spaced = is_white(after[0]) or (after[0] in _COMMAS + _STOPS and is_white(after[1:] or " "))
    return _edge_grade(last, after[0], spaced)


@cache
def _tight() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}{_TIGHT}]")


def _edge_grade(left: str, right: str, spaced: bool) -> int:
    if spaced or _tight().match(left) or _tight().match(right):
        return 3
    return 1 if _in_word(left) and _in_word(right) else 2


def _in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LNM"
