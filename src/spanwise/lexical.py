"""Words: what a search compares, and where each one stands in the text as given.

A word is compared in a normal form, and its position is never that of the normal form. Nothing
here maps one string onto another: the rule finds the same words in a text as in its normal form,
in the same order, so the two lists are read side by side. Positions are code points.
"""

import re
import unicodedata
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Literal, NamedTuple

__all__ = [
    "APOSTROPHES",
    "GAP",
    "QUOTED",
    "SPACELESS",
    "Fold",
    "Match",
    "Prefixes",
    "Term",
    "WordSpan",
    "find_matches",
    "folder",
    "is_spaceless",
    "iter_spans",
    "iter_units",
    "lexical_spans",
    "lexical_tokens",
    "loosened",
    "normal_case",
    "query_terms",
]

# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, Tai, Javanese, kana,
# bopomofo and Han. A query is looked for anywhere in them, one letter being one unit.
SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf\u3005-\u3007\u3021-\u3029"
    "\u3031-\u303c\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua980-\ua9ff"
    "\uaa60-\uaadf\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Letters by category that join to the letter before: Thai and Lao am, half-width voicing marks.
_JOINED = "\u0e33\u0eb3\uff9e\uff9f"

# Blocks of punctuation and signs without a mark: ASCII and Latin, general, Chinese, full-width.
_NO_MARKS = "\0-\u02ff\u2000-\u20cf\u2100-\u2ceb\u2e00-\u3029\uff00-\uff0f\uff1a-\uff20"

_ASCII_WORD = re.compile("[0-9A-Za-z]+")
QUOTED = re.compile('["“”„«»]([^"“”„«»]*)["“”„«»]')
# So many marks in a row (and other signs: a wider class is a faster one) that `normalize`, which
# sorts them in quadratic time, needs help.
_MANY_MARKS = re.compile(rf"[{_JOINED}\W]{{32,}}")
APOSTROPHES = ("'", "’")
GAP = ""  # stands between two units that do not touch

_Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
Term = tuple[str, ...]  # units, with `GAP` where they need not touch
_Terms = dict[tuple[Term, bool], int]  # each term, and whether it was quoted, to its number
Fold = Callable[[str], str]


class WordSpan(NamedTuple):
    """A word in normal form and the range it takes in the text as given."""

    word: str
    start: int
    end: int


class Match(NamedTuple):
    """A place where a query matches: a range, and the number of the query's term."""

    start: int
    end: int
    term: int


# Classes as wide as these are slow to compile, so each waits for the first text that needs it.
@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]")


def is_spaceless(text: str) -> bool:
    """Whether a text holds letters of a script that is written without spaces."""
    return _spaceless().search(text) is not None


@cache
def _unit() -> re.Pattern[str]:
    # A letter of a script without spaces with its marks (what else is no `\w` inside a word), or
    # a run of other characters.
    return re.compile(rf"[{SPACELESS}][{_JOINED}\W]*|[^{SPACELESS}]+")


@cache
def _any_word() -> re.Pattern[str]:
    r"""A word, once `_` is a space: `\w` is L*, N* and `_` (test_word_class_is_the_category)."""
    planes = (range(0x300, 0x20000), range(0xE0100, 0xE01F0))
    points = (chr(point) for plane in planes for point in plane)
    marks = "".join(mark for mark in points if unicodedata.category(mark)[0] == "M")
    # `re` tries the ranges beyond U+FFFF one by one, so what ends most words is ruled out first.
    return re.compile(rf"\w+(?:[^\w{_NO_MARKS}](?<=[{marks}])\w*)*")


def _places(text: str) -> Iterator[re.Match[str]]:
    """The words of a text, in any form of it."""
    if text.isascii():
        return _ASCII_WORD.finditer(text)
    return _any_word().finditer(text.replace("_", " "))


def _normal(form: _Form, text: str) -> str:
    """`unicodedata.normalize` in linear time (test_normal_form_of_many_marks_is_linear)."""
    if text.isascii() or unicodedata.is_normalized(form, text):
        return text
    apart: _Form = "NFKD" if "K" in form else "NFD"

    def sort(run: re.Match[str]) -> str:
        if run[0].isascii():
            return run[0]
        marks = (mark for c in run[0] for mark in unicodedata.normalize(apart, c))
        groups = groupby(marks, key=lambda mark: unicodedata.combining(mark) > 0)
        return "".join(
            mark
            for movable, group in groups
            for mark in (sorted(group, key=unicodedata.combining) if movable else group)
        )

    return unicodedata.normalize(form, _MANY_MARKS.sub(sort, text))


def normal_case(text: str) -> str:
    """A text in NFC and in lower case, the form in which words are compared."""
    return _normal("NFC", text).lower()


def lexical_tokens(text: str) -> list[str]:
    """The words of a text, in NFC and lower case, in order, in any script.

    A word is a letter or a digit (categories L and N) followed by letters, digits and combining
    marks. Nothing is stemmed. Cost: linear. Source: agentos, `lexicalTokens`.

    >>> lexical_tokens("Q3's budget: 1,200 units")
    ['q3', 's', 'budget', '1', '200', 'units']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return _any_word().findall(normal_case(text).replace("_", " "))


def iter_spans(text: str) -> Iterator[WordSpan]:
    """The words of a text with their ranges, one at a time."""
    words = _places(normal_case(text))
    for word, place in zip(words, _places(text), strict=True):
        yield WordSpan(word[0], place.start(), place.end())


def lexical_spans(text: str) -> list[WordSpan]:
    r"""The words of `lexical_tokens`, each with its range in the text as given.

    The ranges are in order and disjoint. A word keeps its marks, so a range ends inside a cluster
    only where a joiner (U+200C, U+200D) or another sign that is no mark follows. Cost: linear.

    >>> [tuple(span) for span in lexical_spans("Le re\u0301sume\u0301")]
    [('le', 0, 2), ('résumé', 3, 11)]
    """
    return list(iter_spans(text))


class Prefixes:
    """Numbered beginnings of words, looked up by their lengths rather than one by one."""

    __slots__ = ("_lengths", "_numbers")

    def __init__(self, beginnings: Iterable[tuple[str, int]]) -> None:
        self._numbers = {beginning: number for beginning, number in beginnings if beginning}
        self._lengths = sorted({len(beginning) for beginning in self._numbers}, reverse=True)

    def find(self, word: str) -> int | None:
        """The number of the longest beginning of a word.

        >>> Prefixes([("re", 0), ("refund", 1)]).find("refunds")
        1
        """
        for length in self._lengths:
            if length <= len(word):
                number = self._numbers.get(word[:length])
                if number is not None:
                    return number
        return None


class _Sequences:
    """Many sequences of units found in one pass.

    Source: Aho and Corasick, "Efficient string matching", CACM 18(6), 1975.
    """

    __slots__ = ("_back", "_next", "found")

    def __init__(self, sequences: Iterable[tuple[Term, int]]) -> None:
        self._next: list[dict[str, int]] = [{}]
        # For each state, the units and the number of the longest sequence that ends there.
        self.found: list[tuple[int, int] | None] = [None]
        for sequence, number in sequences:
            state = 0
            for symbol in sequence:
                state = self._next[state].setdefault(symbol, len(self._next))
                if state == len(self._next):
                    self._next.append({})
                    self.found.append(None)
            self.found[state] = (sum(symbol != GAP for symbol in sequence), number)
        self._back = [0] * len(self._next)
        states = [0]
        for state in states:  # grows: breadth first
            for symbol, after in self._next[state].items():
                states.append(after)
                if state:
                    self._back[after] = self.step(self._back[state], symbol)
                    self.found[after] = self.found[after] or self.found[self._back[after]]

    def __bool__(self) -> bool:
        return len(self._next) > 1

    def step(self, state: int, symbol: str) -> int:
        """The state after one more symbol."""
        while state and symbol not in self._next[state]:
            state = self._back[state]
        return self._next[state].get(symbol, 0)


def iter_units(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text; in scripts without spaces, its letters with their marks."""
    if text.isascii() or not _spaceless().search(text):
        for word in _places(text):
            yield word[0], word.start(), word.end()
        return
    for word in _places(text):
        for unit in _unit().finditer(word.string, word.start(), word.end()):
            yield unit[0], unit.start(), unit.end()


def _may_be_dropped(mark: str) -> bool:
    """Whether a mark is an accent, a Hebrew point or an Arabic vowel sign.

    By combining class, which keeps Indic vowels, viramas, nuktas and kana voicing.
    """
    order = unicodedata.combining(mark)
    return 10 <= order <= 36 or order >= 200


@cache
def folder(fold_accents: bool) -> Fold:
    """What takes the case of a word away, and its accents too."""

    def fold(unit: str) -> str:
        if unit.isascii():
            return unit.lower()
        folded = _normal("NFKC", _normal("NFKC", unit).casefold())
        if not fold_accents:
            return folded
        bare = "".join(c for c in _normal("NFD", folded) if not _may_be_dropped(c))
        return _normal("NFC", bare)

    return fold


def query_terms(query: str, fold: Fold) -> _Terms:
    """The terms of a query, numbered: its words and quoted phrases, and whether quoted."""
    numbers: _Terms = {}
    for i, piece in enumerate(QUOTED.split(query)):
        quoted = i % 2 == 1
        term: list[str] = []
        end = 0
        for unit, start, stop in iter_units(piece):
            if term and start > end:
                if quoted or piece[end:start] in APOSTROPHES:
                    term.append(GAP)
                else:
                    numbers.setdefault((tuple(term), False), len(numbers))
                    term = []
            term.append(fold(unit))
            end = stop
        if term:
            numbers.setdefault((tuple(term), quoted), len(numbers))
    return numbers


def _scan(
    text: str, terms: _Terms, fold: Fold, stem: Fold, begun: Container[str] | None
) -> list[Match]:
    """Every match of every term; of those that end together only the longest."""
    exact: dict[str, int] = {}
    stems: dict[str, int] = {}
    open_ended: list[tuple[str, int]] = []
    sequences: list[tuple[Term, int]] = []
    for (term, quoted), number in terms.items():
        if len(term) > 1:
            if len(term) <= 2 * len(text):
                sequences.append((tuple(map(stem, term)), number))
            continue
        stems.setdefault(stem(term[0]), number)
        short = len(term[0]) == 1 and term[0].isascii()
        whole = short or _spaceless().match(term[0]) is not None
        is_open = not whole if begun is None else term[0] in begun
        if quoted or not is_open:
            exact[term[0]] = number
        else:
            open_ended.append((term[0], number))
    prefixes, automaton = Prefixes(open_ended), _Sequences(sequences)

    # Each distinct unit once: its stem, and the number of the term that it matches alone.
    known: dict[str, tuple[str, int | None]] = {}
    matches: list[Match] = []
    starts: list[int] = []
    state = last = 0
    for unit, start, end in iter_units(text):
        if unit not in known:
            folded = fold(unit)
            base = stem(folded)
            alone = exact.get(folded)
            alone = prefixes.find(folded) if alone is None else alone
            known[unit] = base, stems.get(base) if alone is None else alone
        symbol, alone = known[unit]
        if alone is not None:
            matches.append(Match(start, end, alone))
        if automaton:
            if start > last:
                state = automaton.step(state, GAP)
            state = automaton.step(state, symbol)
            starts.append(start)
            last = end
            longest = automaton.found[state]
            if longest:
                matches.append(Match(starts[-longest[0]], end, longest[1]))
    return matches


def loosened(missing: Iterable[Term], terms: _Terms) -> _Terms:
    """The words of unmatched terms, and the pairs of letters of their runs without spaces."""
    parts: list[Term] = []
    for term in missing:
        tight = [_spaceless().match(unit) is not None for unit in term]
        for i, unit in enumerate(term):
            if tight[i] and i and tight[i - 1]:
                parts.append((term[i - 1], unit))
            elif not tight[i] and unit != GAP:
                parts.append((unit,))
    new = dict.fromkeys((part, False) for part in parts if (part, False) not in terms)
    return {part: number for number, part in enumerate(new, len(terms))}


def _disjoint(matches: list[Match], join: int) -> list[Match]:
    """The first and longest matches; those that overlap are joined up to a length of `join`."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
        elif kept[-1].end < match.end <= kept[-1].start + join:
            kept[-1] = kept[-1]._replace(end=match.end)
    return kept


def find_matches(
    text: str,
    query: str,
    *,
    fold_accents: bool = False,
    stem: Fold = str,
    begun: Container[str] | None = None,
) -> list[Match]:
    """Where the words and phrases of a query stand in a text, in order and disjoint.

    - A word matches every word that begins with it, and the match is the whole word. A single
      ASCII letter or digit matches itself alone. With `begun`, words as they are compared, only
      those match what begins with them.
    - In a script without spaces a word matches anywhere, and the match is what was asked for. A
      longer run found nowhere is looked for by its pairs of letters, as a bigram index does.
    - A quoted phrase matches whole words with white space or punctuation between them. A word with
      an apostrophe is such a phrase, and where it is found nowhere, its parts are looked for.

    Words are compared in NFKC and without case; with `fold_accents` without accents too. With
    `stem`, words of one stem match too, also in phrases. Any string is a legal query. Cost:
    linear in the text and in the query.

    >>> [tuple(match) for match in find_matches("Refunds in 大東京都", "refund 東京")]
    [(0, 7, 0), (12, 14, 1)]
    """
    fold = folder(fold_accents)
    terms = query_terms(query, fold)
    matches = _scan(text, terms, fold, stem, begun)
    found = {match.term for match in matches}
    missing = [
        term
        for (term, quoted), number in terms.items()
        if number not in found and not quoted and len(term) > 1
    ]
    loose = loosened(missing, terms)
    if not loose:
        return _disjoint(matches, join=0)
    return _disjoint(matches + _scan(text, loose, fold, stem, begun), join=max(map(len, missing)))
