"""What the word index holds of a text, and what it is asked for a query.

Words are read as in snippets (`lexical.py`): folded in case and accents, and letter by letter in
scripts without spaces. SQLite's own tokenizer then only parts what is already parted, so that what
is found is also marked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from spanwise.lexical import (
    APOSTROPHES,
    GAP,
    QUOTED,
    Term,
    folder,
    iter_units,
    loosened,
    query_terms,
)

__all__ = ["WORDS_VERSION", "WordQuery", "indexed_text", "read_query"]

# What decides the words of a text; the word index is written anew where it differs.
WORDS_VERSION = f"2/{unicodedata.unidata_version}"

# So many words stand for all the beginnings that a query asks for.
_MOST_BEGUN = 256

# A run that may hold a word beyond ASCII, and the signs that end one.
_WIDE_RUN = re.compile(r"[0-9A-Za-z]*[^\0-\x7f][0-9A-Za-z\x80-\U0010ffff]*")

# The usual signs beyond ASCII, taken out first: a replacement is cheaper than a run.
_SIGNS = "“”‘’–—…«»\xa0"

_fold = folder(True)


@lru_cache(maxsize=1 << 15)
def _folded(unit: str) -> str:
    """A unit without case and accents; words are few and come often."""
    return _fold(unit)


def _parted(run: re.Match[str]) -> str:
    return f" {' '.join(_folded(unit) for unit, _, _ in iter_units(run[0]))} "


def indexed_text(text: str) -> str:
    """The words of a text as SQLite's tokenizer `ascii` reads them apart.

    ASCII stays as it is: that tokenizer folds its case and ends words where we do.

    >>> indexed_text("Crème in 東京!").split()
    ['creme', 'in', '東', '京', '!']
    """
    if not text.isascii():
        for sign in _SIGNS:
            text = text.replace(sign, " ")
        text = _WIDE_RUN.sub(_parted, text)
    return text.replace("\0", " ")


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What a query asks of a word index.

    A passage is found by any of the ``phrases`` (words that follow each other; one word is a
    phrase of one) or by a word that begins with one of the ``prefixes``.
    """

    phrases: tuple[tuple[str, ...], ...]
    prefixes: tuple[str, ...] = ()

    @property
    def most_begun(self) -> int:
        """For how many of the words that begin with a prefix it stands."""
        return _MOST_BEGUN // max(1, len(self.prefixes))

    def __bool__(self) -> bool:
        return bool(self.phrases or self.prefixes)


def read_query(query: str) -> WordQuery:
    """The words, quoted phrases and beginnings (`instal*`) of a query; any string is one.

    A word with an apostrophe is a phrase, or its parts; a longer run of a script without spaces
    is looked for by its pairs of letters too.

    >>> read_query('"late refund" can\\'t 東京都 pay*')  # doctest: +NORMALIZE_WHITESPACE
    WordQuery(phrases=(('late', 'refund'), ('can', 't'), ('can',), ('東', '京', '都'), ('東', '京'),
    ('京', '都')), prefixes=('pay',))
    """
    terms = query_terms(query, _folded)
    begun = frozenset(_begun(query))
    phrases: dict[tuple[str, ...], None] = {}
    for term, quoted in terms:
        if len(term) == 1 and term[0] in begun:
            continue
        phrases[_words(term)] = None
        if len(term) > 1 and not quoted:
            for part, _ in loosened([term], {}):
                if len(part) > 1 or len(part[0]) > 1:
                    phrases[_words(part)] = None
    return WordQuery(tuple(phrases), tuple(sorted(begun))[:_MOST_BEGUN])


def _words(term: Term) -> tuple[str, ...]:
    return tuple(unit for unit in term if unit != GAP)


def _begun(query: str) -> Iterator[str]:
    """The words of a query that a star follows, those in quotes left out."""
    for piece in QUOTED.split(query)[::2]:
        last = -2
        for unit, start, end in iter_units(piece):
            # The end of a word with an apostrophe, such as `don't*`, is no word, nor is one letter
            # of a run without spaces.
            joined = start == last or (start == last + 1 and piece[last] in APOSTROPHES)
            if piece[end : end + 1] == "*" and not joined:
                yield _folded(unit)
            last = end
