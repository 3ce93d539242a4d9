"""The word index in Qdrant: candidates by sparse vectors, scored exactly as FTS5 scores them.

A passage has its words in its payload, their numbers for filters and counts, and a sparse vector:
for each word nearly what BM25 gives it, by the average length of the time when it was written. So
the product with the rarities of a query's words is a bound of the score. The best by that bound
are read and scored exactly, until no other can be better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log
from typing import Any, NamedTuple
from uuid import uuid4

from spanwise.index.qdrant_calls import QdrantCalls, scope_conditions
from spanwise.index.qdrant_points import OWN, read, written
from spanwise.index.queries import WordQuery, indexed_text
from spanwise.index.rows import ChunkRow, Found, Scope
from spanwise.index.texts import bytes_of
from spanwise.stemming import stem

__all__ = ["Total", "Vocabulary", "WordSearch", "entry_of", "sparse_of", "words_of"]

# BM25 as FTS5 has it, https://sqlite.org/fts5.html#the_bm25_function: its constants, the least
# that a word is worth, and how often a word of the context counts.
_K1, _B, _LEAST, _CONTEXT = 1.2, 0.75, 1e-6, 2

# A query of more words is asked by the rarest of them.
_MOST_PHRASES = 128

# Candidates of the first request beyond the limit, and the most of one request.
_BEYOND, _MOST = 64, 4096

# Sparse vectors are of single precision: how much a bound may be too low.
_SLACK = 1 + 1e-5

# Points that hold words before they are packed, how often that is asked, and words a packed one.
_LOOSE, _EVERY, _PACKED = 256, 64, 4096

# So many words are remembered to be in the vocabulary.
_REMEMBERED = 1 << 18

_WORDS = re.compile(r"[0-9A-Za-z\x80-\U0010ffff]+")

# What a candidate is read for.
_PAYLOAD = (*OWN, "words")

# Words that follow each other; one word is a phrase of one.
Phrase = tuple[str, ...]


class Row(NamedTuple):
    """A passage of a document as it is now: the payload that was asked for, and where it is.

    ``fits`` is whether its document is in a scope, ``of`` how many passages that has.
    """

    key: int
    document: int
    payload: Mapping[str, Any]
    fits: bool
    of: int

    def found(self, score: float = 0.0) -> Found:
        """It in a list of results."""
        return Found(self.key, self.document, self.payload["position"], score, self.of)


# Which of some passages are of their documents as they are now, and whether those are in a scope.
Live = Callable[[Iterable[Any], Scope], list[Row]]


class Total(NamedTuple):
    """How many passages there are and how many words they have.

    ``low`` is the least average length by which a sparse vector was made.
    """

    passages: int
    length: int
    low: float

    @property
    def average(self) -> float:
        """Words a passage."""
        return self.length / self.passages if self.passages else 0.0


def words_of(text: str) -> list[str]:
    """The words of a text in order."""
    return _parted(indexed_text(text))


def _parted(indexed: str) -> list[str]:
    """The words of an indexed text, as FTS5's tokenizer `ascii` parts and folds them."""
    return [
        word.lower() if word.isascii() else word.translate(_ASCII_LOWER)
        for word in _WORDS.findall(indexed)
    ]


_ASCII_LOWER = {i: i + 32 for i in range(ord("A"), ord("Z") + 1)}


@lru_cache(maxsize=1 << 15)
def _number(word: str) -> int:
    """The number of a word in a sparse vector; of a million words a hundred pairs share one."""
    return int.from_bytes(blake2b(bytes_of(word), digest_size=4).digest(), "big")


def _weight(often: float, length: float, average: float) -> float:
    return often * (_K1 + 1.0) / (often + _K1 * (1.0 - _B + _B * length / average))


def entry_of(text: str, row: ChunkRow, stems: bool) -> tuple[dict[str, Any], set[str]]:
    """What a passage's payload holds of its words, and its words as they were written."""
    context, own = words_of(row.context), words_of(text[row.start : row.end])
    surface = {*context, *own}
    if stems:
        context, own = [stem(word) for word in context], [stem(word) for word in own]
    return {
        "words": written(f"{' '.join(context)}\n{' '.join(own)}"),
        "terms": sorted({_number(word) for word in (*context, *own)}),
        "length": len(context) + len(own),
    }, surface


def sparse_of(models: Any, payload: Mapping[str, Any], average: float) -> dict[str, Any]:
    """The sparse vector of a passage with these words."""
    context, own = _columns(payload)
    often: Counter[int] = Counter()
    for words, weight in ((context, _CONTEXT), (own, 1)):
        for word in words:
            often[_number(word)] += weight
    length = payload["length"]
    numbers = sorted(often)
    weights = [_weight(often[number], length, average) for number in numbers]
    return {"words": models.SparseVector(indices=numbers, values=weights)} if numbers else {}


def _columns(payload: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    context, _, own = read(payload["words"]).partition("\n")
    return _apart(context), _apart(own)


def _apart(words: str) -> list[str]:
    return words.split(" ") if words else []


class _Candidate:
    """A passage that may be found, with its words counted."""

    __slots__ = ("_columns", "_counted", "length", "row")

    def __init__(self, row: Row) -> None:
        self.row = row
        self._columns = _columns(row.payload)
        self._counted = [Counter(words) for words in self._columns]
        self.length = sum(len(words) for words in self._columns)

    def often(self, phrase: Phrase) -> int:
        """How often a phrase is in it; what is in the context counts twice."""
        if len(phrase) == 1:
            context, own = (counted[phrase[0]] for counted in self._counted)
        else:
            context, own = (_times(words, phrase) for words in self._columns)
        return _CONTEXT * context + own

    def found(
        self, rarity: Mapping[Phrase, float], asked: Sequence[Phrase], average: float
    ) -> Found:
        """Its score for the phrases of a query, in their order."""
        score = 0.0
        for phrase in asked:
            often = self.often(phrase)
            if often:
                score += rarity[phrase] * _weight(often, self.length, average)
        return self.row.found(score)


def _times(words: Sequence[str], phrase: Phrase) -> int:
    starts = (i for i, word in enumerate(words) if word == phrase[0])
    return sum(tuple(words[i : i + len(phrase)]) == phrase for i in starts)


class WordSearch:
    """One search for words."""

    def __init__(
        self, calls: QdrantCalls, vocabulary: Vocabulary, total: Total, live: Live, *, stems: bool
    ) -> None:
        self._calls = calls
        self._vocabulary = vocabulary
        self._total = total
        self._live = live
        self._stems = stems
        self._counts: dict[str, int] = {}

    def find(self, query: WordQuery, scope: Scope, limit: int) -> list[Found]:
        """The best passages, best first; those of equal score in order of their keys."""
        if not self._total.passages:
            return []
        asked = self._phrases(query)
        rarity: dict[Phrase, float] = {}
        candidates: dict[int, _Candidate] = {}
        for phrase in dict.fromkeys(asked):
            if len(phrase) == 1:
                count = self._count(phrase[0])
            else:
                having = self._having(phrase, scope)
                count = len(having)
                candidates.update((each.row.key, each) for each in having if each.row.fits)
            if count:
                rarity[phrase] = self._rarity(count)
        asked = [phrase for phrase in asked if phrase in rarity]
        found = {key: self._scored(row, rarity, asked) for key, row in candidates.items()}
        self._add_best(rarity, asked, scope, limit, found)
        best = [each for each in found.values() if each.score > 0]
        return sorted(best, key=lambda each: (-each.score, each.chunk))[:limit]

    def _add_best(
        self,
        rarity: Mapping[Phrase, float],
        asked: Sequence[Phrase],
        scope: Scope,
        limit: int,
        found: dict[int, Found],
    ) -> None:
        """Add passages by what their score may be at most, until the others are below."""
        single: dict[int, float] = {}
        for phrase in asked:
            if len(phrase) == 1:
                number = _number(phrase[0])
                single[number] = single.get(number, 0.0) + rarity[phrase]
        if not single:
            return
        query = self._calls.models.SparseVector(
            indices=sorted(single), values=[single[number] for number in sorted(single)]
        )
        conditions = scope_conditions(self._calls, scope)
        # A vector made by a larger average length is worth more than the score, by a smaller less.
        most = max(1.0, self._total.average / self._total.low) * _SLACK
        start, step = 0, limit + _BEYOND
        while True:
            page = self._calls.nearest(
                self._calls.passages,
                query,
                conditions,
                step,
                start,
                payload=list(_PAYLOAD),
                using="words",
            )
            for row in self._live(page, scope):
                if row.fits and row.key not in found:
                    found[row.key] = self._scored(_Candidate(row), rarity, asked)
            if len(page) < step:
                return
            scores = sorted((each.score for each in found.values()), reverse=True)
            if len(scores) >= limit and scores[limit - 1] > page[-1].score * most:
                return
            start += step
            step = min(2 * step, _MOST)

    def _scored(
        self,
        row: _Candidate,
        rarity: Mapping[Phrase, float],
        asked: Sequence[Phrase],
    ) -> Found:
        return row.found(rarity, asked, self._total.average)

    def _having(self, phrase: Phrase, scope: Scope) -> list[_Candidate]:
        """The passages of the whole index in which a phrase is."""
        conditions = [self._calls.equals("terms", _number(word)) for word in dict.fromkeys(phrase)]
        points = self._calls.all(self._calls.passages, conditions, list(_PAYLOAD))
        rows = (_Candidate(row) for row in self._live(points, scope))
        return [each for each in rows if each.often(phrase)]

    def _rarity(self, count: int) -> float:
        passages = self._total.passages
        count = min(count, passages)  # what a broken run left counts until the next one
        rarity = log((passages - count + 0.5) / (count + 0.5))
        return rarity if rarity > 0 else _LEAST

    def _count(self, word: str) -> int:
        """In how many passages a word is."""
        if word not in self._counts:
            self._counts[word] = self._calls.count(
                self._calls.passages, [self._calls.equals("terms", _number(word))]
            )
        return self._counts[word]

    def _phrases(self, query: WordQuery) -> list[Phrase]:
        """The phrases of a query in the words of the index, those of beginnings too.

        Two words of one stem are two phrases, as they are for FTS5.
        """
        named = dict.fromkeys(map(" ".join, query.phrases))
        if len(named) > _MOST_PHRASES:
            named = dict.fromkeys(self._rarest(list(named)))
        for begun in query.prefixes:
            # Words of passages that are gone take no place among so many, and those of one stem
            # count as one.
            words = (each for each in self._vocabulary.begun(begun) if self._least(each))
            found: dict[Phrase, str] = {}
            for word in words:
                found.setdefault(self._phrase(word), word)
                if len(found) == query.most_begun:
                    break
            named.update(dict.fromkeys(found.values()))
        return [phrase for name in named if (phrase := self._phrase(name))]

    def _least(self, name: str) -> int:
        """In how many passages the rarest word of a phrase is."""
        return min(map(self._count, self._phrase(name)), default=0)

    def _phrase(self, name: str) -> Phrase:
        return tuple(stem(word) if self._stems else word for word in _parted(name))

    def _rarest(self, names: Sequence[str]) -> list[str]:
        """The phrases whose rarest words are in the fewest passages, but for those of none."""
        counted = sorted((self._least(name), i) for i, name in enumerate(names))
        return [names[i] for count, i in counted if count][:_MOST_PHRASES]


class Vocabulary:
    """Every word as it was written, since a beginning of a word need not be one of its stem.

    Points hold words each, and the first letters of those; a word may be in several. Nothing of
    it is ever changed, so that processes may write at once; what is loose is packed now and then.
    Words stay when their passages go.
    """

    def __init__(self, calls: QdrantCalls) -> None:
        self._calls = calls
        self._known: set[str] = set()
        self._written = 0

    def add(self, words: set[str]) -> None:
        """Have these words."""
        fresh = words - self._known
        if not fresh:
            return
        self._put([sorted(fresh)])
        if len(self._known) + len(fresh) > _REMEMBERED:
            self._known.clear()
        self._known |= fresh
        self._written += 1
        if self._written % _EVERY == 0:
            self.pack()

    def begun(self, begun: str) -> list[str]:
        """The words that begin so, in order."""
        heads = [self._calls.equals("heads", begun[:2])]
        points = self._calls.all(self._calls.words, heads)
        words = {word for point in points for word in _apart(point.payload["words"])}
        return sorted(word for word in words if word.startswith(begun))

    def words(self) -> set[str]:
        """All words."""
        points = self._calls.all(self._calls.words)
        return {word for point in points for word in _apart(point.payload["words"])}

    def pack(self, loose: int = _LOOSE) -> None:
        """Write the words anew in fewer points, where many are loose."""
        if self._calls.count(self._calls.words) <= loose:
            return
        points = list(self._calls.all(self._calls.words))
        words = sorted({word for point in points for word in _apart(point.payload["words"])})
        packed = [words[i : i + _PACKED] for i in range(0, len(words), _PACKED)]
        if len(points) > len(packed) + loose:
            self._put(packed)
            self._calls.drop(self._calls.words, [point.id for point in points])

    def _put(self, parts: Sequence[Sequence[str]]) -> None:
        self._calls.put(
            self._calls.words,
            [
                (
                    str(uuid4()),
                    {},
                    {
                        "words": " ".join(words),
                        "heads": sorted({word[:size] for word in words for size in (1, 2)}),
                    },
                )
                for words in parts
            ],
        )
