"""known_item_questions: questions about documents for which nobody has asked any yet."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

from spanwise.cutting.levels import WORD, paragraph_level
from spanwise.cutting.sentences import sentence_cuts
from spanwise.cutting.spans import trim
from spanwise.documents import Document
from spanwise.errors import require
from spanwise.evaluate.questions import Evidence, Question, by_uri
from spanwise.lexical import is_spaceless, lexical_spans, lexical_tokens

__all__ = ["known_item_questions"]

# A heading of one word, or above next to nothing, asks for nothing in particular.
_LEAST_WORDS, _LEAST_BODY = 2, 80
# As much is said by so many letters of a script that is written without spaces.
_LEAST_LETTERS = 4

# Longer sections are asked for by their beginning.
_LONGEST_BODY = 1000

# A query has so many words of its sentence; and so long a sentence is prose.
_FEWEST, _MOST = 5, 8
_SHORTEST_SENTENCE, _LONGEST_SENTENCE = 40, 400

_HEADING, _SENTENCE = "heading", "sentence"


def known_item_questions(
    documents: Iterable[Document], *, count: int = 200, seed: int = 0
) -> tuple[Question, ...]:
    """Questions whose answer is known, because they were made from it.

    Half are headings: the query is the heading's words, the evidence the section's own body, cut
    at a paragraph border near 1,000 characters. Headings that repeat are left out. Half are
    sentences: the query is their 5 to 8 rarest words in order, the evidence the sentence. Where
    one kind is short, the other fills up. They are spread over the documents, and the same
    documents and ``seed`` give the same questions.

    Such questions use the words of their answer, as people often do not; those by heading favour
    splitters that keep a heading with its text. Text in scripts without spaces is asked for by
    heading only. Fewer than ``count`` where the documents hold no more.
    """
    require("count", count, 1)
    require("seed", seed, 0)
    known = by_uri(documents)
    chance = random.Random(seed)
    headings = _spread(_by_heading(known.values()), chance, count)
    sentences = _spread(_by_sentence(known.values()), chance, count)
    headings = headings[: max(count // 2, count - len(sentences))]
    sentences = sentences[: count - len(headings)]
    return tuple(
        Question(made.query, (made.evidence,), f"{group}-{number}", group)
        for group, drawn in ((_HEADING, headings), (_SENTENCE, sentences))
        for number, made in enumerate(drawn, 1)
    )


@dataclass(frozen=True, slots=True)
class _Made:
    """A query and its answer, and what tells whether it is the only one."""

    query: str
    evidence: Evidence
    is_distinct: Callable[[], bool]


def _spread(made: Iterable[_Made], chance: random.Random, count: int) -> list[_Made]:
    """So many by chance, one of each document in turn, no query twice."""
    of: dict[str, list[_Made]] = {}
    for each in made:
        of.setdefault(each.evidence.document, []).append(each)
    queues = [of[uri] for uri in sorted(of)]
    for queue in queues:
        chance.shuffle(queue)
    chance.shuffle(queues)
    drawn: list[_Made] = []
    asked: set[str] = set()
    while queues and len(drawn) < count:
        for queue in queues:
            while queue:
                each = queue.pop()
                if each.query.lower() not in asked and each.is_distinct():
                    asked.add(each.query.lower())
                    drawn.append(each)
                    break
        queues = [queue for queue in queues if queue]
    return drawn[:count]


def _by_heading(documents: Iterable[Document]) -> list[_Made]:
    """The sections whose heading is there once in all documents."""
    made: list[_Made] = []
    seen: Counter[str] = Counter()

    def is_single(name: str) -> bool:
        return seen[name] == 1

    for document in documents:
        text, found = document.text, document.outline.structure
        ends = [*found.heading_starts, len(text)][1:]
        titles = zip(found.title_starts, found.title_ends, strict=True)
        for (start, end), body, limit in zip(titles, found.heading_ends, ends, strict=True):
            query = " ".join(text[start:end].split())
            words = lexical_tokens(query)
            name = " ".join(words)
            seen[name] += 1
            first, last = trim(text, body, _body_end(text, body, limit))
            asks = len(words) >= _LEAST_WORDS or (
                len(name) >= _LEAST_LETTERS and is_spaceless(name)
            )
            if asks and last - first >= _LEAST_BODY:
                evidence = Evidence(document.uri, first, last)
                made.append(_Made(query, evidence, partial(is_single, name)))
    return made


def _body_end(text: str, start: int, end: int) -> int:
    """Where the beginning of a section ends: at the last paragraph border that is near enough."""
    start, end = trim(text, start, end)
    if end - start <= _LONGEST_BODY:
        return end
    paragraph = paragraph_level(text)
    least, most = start + _LONGEST_BODY // 2, start + _LONGEST_BODY
    cut = paragraph.last(text, least, most)
    if cut < 0:
        beyond = min(end, most + _LONGEST_BODY // 2)
        cut = paragraph.first(text, most, beyond)
        if cut == beyond < end:
            cut = paragraph.last(text, start + _LEAST_BODY, least)
    if cut < 0:
        cuts = sentence_cuts(text, least, most)
        cut = cuts[-1] if cuts else WORD.last(text, least, most)
    return cut if cut > 0 else most


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence: its place, its words in order, and which of them make the query."""

    evidence: Evidence
    words: tuple[str, ...]


def _by_sentence(documents: Iterable[Document]) -> Iterator[_Made]:
    """The sentences that a query of their rarest words is the only sentence to hold."""
    sentences: list[_Sentence] = []
    counts: Counter[str] = Counter()
    for document in documents:
        counts.update(lexical_tokens(document.text))
        sentences += _sentences(document)
    holding: dict[str, set[int]] = {}
    for i, each in enumerate(sentences):
        for word in each.words:
            holding.setdefault(word, set()).add(i)

    @cache  # sentences that repeat, or differ in common words, ask the same
    def is_alone(query: tuple[str, ...]) -> bool:
        smallest, *others = sorted((holding[word] for word in query), key=len)
        return len(smallest.intersection(*others)) == 1

    for each in sentences:
        size = each.evidence.end - each.evidence.start
        query = _rarest(each.words, counts)
        if query and _SHORTEST_SENTENCE <= size <= _LONGEST_SENTENCE:
            yield _Made(" ".join(query), each.evidence, partial(is_alone, tuple(query)))


def _sentences(document: Document) -> Iterator[_Sentence]:
    """The sentences of the paragraphs that are no heading, code or table."""
    text, found = document.text, document.outline.structure
    barred = sorted(
        [
            (0, found.front),
            *zip(found.heading_starts, found.heading_ends, strict=True),
            *zip(found.atom_starts, found.atom_ends, strict=True),
        ]
    )
    at = 0
    for start, end in [*barred, (len(text), len(text))]:
        if at < start:
            borders = [at, *paragraph_level(text).cuts(text, at, start), start]
            for low, high in pairwise(borders):
                yield from _in_paragraph(document, low, high)
        at = max(at, end)


def _in_paragraph(document: Document, low: int, high: int) -> Iterator[_Sentence]:
    text = document.text
    cuts = [low, *sentence_cuts(text, low, high), high]
    for before, after in pairwise(cuts):
        start, end = trim(text, before, after)
        if start < end:
            words = tuple(span.word for span in lexical_spans(text[start:end]))
            yield _Sentence(Evidence(document.uri, start, end), words)


def _rarest(words: Sequence[str], counts: Counter[str]) -> list[str]:
    """The rarest words of a sentence in their order; none where it has too few."""
    distinct = dict.fromkeys(words)
    wanted = max(_FEWEST, min(_MOST, len(distinct) // 3))
    if len(distinct) <= wanted:
        return []
    ranked = sorted(distinct, key=lambda word: counts[word])  # the first of equals first
    chosen = set(ranked[:wanted])
    return [word for word in distinct if word in chosen]
