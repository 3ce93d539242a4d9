"""Two lists of passages as one ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from spanwise.index.hits import Standing
from spanwise.index.rows import Found

__all__ = ["Uris", "best", "by_score", "fused", "in_order", "mixed"]

# Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
# learning methods", SIGIR 2009.
_K = 60

# So many more are asked for, since equal scores may go on behind the last one asked for; where they
# go on still, so many times more.
_SLACK, _MORE = 64, 4

# What documents are called, by their keys.
Uris = Callable[[Iterable[int]], Mapping[int, str]]


def best(ask: Callable[[int], list[Found]], limit: int, uris: Uris) -> list[Found]:
    """The best passages of a list, which is asked for so many; of equal ones as in `in_order`."""
    asked = limit + _SLACK
    found = ask(asked)
    while len(found) == asked and found[limit - 1].score == found[-1].score:
        asked *= _MORE
        found = ask(asked)
    return by_score(found, uris)[:limit]


def by_score(found: Sequence[Found], uris: Uris) -> list[Found]:
    """Passages in the order of their scores; see `in_order`."""
    return [found[i] for i in in_order([each.score for each in found], found, uris)]


def in_order(scores: Sequence[float], found: Sequence[Found], uris: Uris) -> list[int]:
    """Places of the largest scores first; equal ones by their documents' uris and their places.

    So that the order is that of the documents, however and whenever each was written.
    """
    order = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)
    runs: list[tuple[int, int]] = []  # of equal scores
    start = 0
    for i in range(1, len(order) + 1):
        if i == len(order) or scores[order[i]] != scores[order[start]]:
            if i - start > 1:
                runs.append((start, i))
            start = i
    if runs:
        names = uris({found[place].document for first, end in runs for place in order[first:end]})
        for first, end in runs:
            order[first:end] = sorted(
                order[first:end],
                key=lambda place: (names.get(found[place].document, ""), found[place].position),
            )
    return order


def mixed(found: Sequence[Found], mix: float, reach: int = 1) -> list[Found]:
    """The passages with the mean of their own score and, with a weight, their neighbours'.

    The weight is ``mix`` to the power of the distance, up to ``reach``. A neighbour that was not
    found scores 0; one that there is not has no weight.

    >>> mixed([Found(7, 1, 0, 2.0, 2), Found(8, 1, 1, 1.0, 2)], 0.5)[0].score
    1.6666666666666667
    """
    if not mix:
        return list(found)
    scores = {(each.document, each.position): each.score for each in found}
    beside = [(step * sign, mix**step) for step in range(1, reach + 1) for sign in (-1, 1)]
    made = []
    for chunk, document, position, own, of in found:
        score, weights = own, 1.0
        for distance, weight in beside:
            place = position + distance
            if place >= 0 and (place < of or not of):
                score += weight * scores.get((document, place), 0.0)
                weights += weight
        made.append(Found(chunk, document, position, score / weights, of))
    return made


def fused(
    words: Sequence[Found],
    meaning: Sequence[Found],
    mode: str,
    fusion: str,
    weights: tuple[float, float],
    uris: Uris,
) -> list[tuple[Found, Standing]]:
    """The passages of both lists, best first: by their score in one list, or by both.

    With ``scores`` each list gives its weight times the score over the best score of the list,
    with ``ranks`` its weight divided by 60 plus the rank.
    """
    places: dict[int, Found] = {}
    by_words, by_meaning = _ranks(words, places), _ranks(meaning, places)
    largest = [
        max((each.score for each in results), default=0.0) or 1.0 for results in (words, meaning)
    ]
    made = []
    for key, found in places.items():
        words_rank, words_score = by_words.get(key, (None, None))
        meaning_rank, meaning_score = by_meaning.get(key, (None, None))
        if mode == "words":
            score = words_score or 0.0
        elif mode == "meaning":
            score = meaning_score or 0.0
        elif fusion == "scores":
            score = weights[0] * (words_score or 0.0) / largest[0]
            score += weights[1] * (meaning_score or 0.0) / largest[1]
        else:
            score = sum(
                weight / (_K + rank)
                for weight, rank in zip(weights, (words_rank, meaning_rank), strict=True)
                if rank is not None
            )
        standing = Standing(
            score=score,
            words_rank=words_rank,
            words_score=words_score,
            meaning_rank=meaning_rank,
            meaning_score=meaning_score,
        )
        made.append((found, standing))
    scores, passages = [each.score for _, each in made], [found for found, _ in made]
    return [made[i] for i in in_order(scores, passages, uris)]


def _ranks(
    results: Sequence[Found], places: dict[int, Found]
) -> dict[int, tuple[int | None, float | None]]:
    """Rank and score by key. Equal scores share a rank: which was written first decides nothing."""
    ranks: dict[int, tuple[int | None, float | None]] = {}
    shared, last = 0, None
    for rank, found in enumerate(results, 1):
        if found.score != last:
            shared, last = rank, found.score
        places.setdefault(found.chunk, found)
        ranks[found.chunk] = (shared, found.score)
    return ranks
