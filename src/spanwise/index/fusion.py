"""Two lists of passages as one ranking."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.index.hits import Standing
from spanwise.index.rows import Found

__all__ = ["fused", "mixed"]

# Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
# learning methods", SIGIR 2009.
_K = 60


def mixed(found: Sequence[Found], mix: float, limit: int, reach: int = 1) -> list[Found]:
    """The best passages by the mean of their own score and, with a weight, their neighbours'.

    The weight is ``mix`` to the power of the distance, up to ``reach``. A neighbour that was not
    found scores 0; one that there is not has no weight.

    >>> mixed([Found(7, 1, 0, 2.0, 2), Found(8, 1, 1, 1.0, 2)], 0.5, 2)[0].score
    1.6666666666666667
    """
    if mix:
        scores = {(each.document, each.position): each.score for each in found}
        made = []
        for each in found:
            score, weights = each.score, 1.0
            for distance in range(1, reach + 1):
                weight = mix**distance
                for place in (each.position - distance, each.position + distance):
                    if place >= 0 and (place < each.of or not each.of):
                        score += weight * scores.get((each.document, place), 0.0)
                        weights += weight
            made.append(each._replace(score=score / weights))
        found = sorted(made, key=lambda each: (-each.score, each.document, each.position))
    return list(found[:limit])


def fused(
    words: Sequence[Found],
    meaning: Sequence[Found],
    mode: str,
    fusion: str,
    weights: tuple[float, float],
) -> list[tuple[Found, Standing]]:
    """The passages of both lists, best first: by their score in one list, or by both.

    With ``scores`` each list gives its weight times the score over the best score of the list,
    with ``ranks`` its weight divided by 60 plus the rank. Equal scores stay in the order of their
    documents and places.
    """
    places: dict[int, Found] = {}
    by_words, by_meaning = _ranks(words, places), _ranks(meaning, places)
    best = [
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
            score = weights[0] * (words_score or 0.0) / best[0]
            score += weights[1] * (meaning_score or 0.0) / best[1]
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
    made.sort(key=lambda each: (-each[1].score, each[0].document, each[0].position))
    return made


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
