"""Two lists of passages as one ranking."""

from __future__ import annotations

from collections.abc import Sequence

from spanwise.index.hits import Standing
from spanwise.index.rows import Found

__all__ = ["fused", "mixed"]

# Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
# learning methods", SIGIR 2009.
_K = 60


def mixed(found: Sequence[Found], mix: float, limit: int) -> list[Found]:
    """The best passages when a share of the scores of both neighbours is added to each.

    A neighbour that was not found adds nothing.

    >>> mixed([Found(7, 1, 0, 2.0), Found(8, 1, 1, 1.0)], 0.5, 2)[1].score
    2.0
    """
    if mix:
        scores = {(each.document, each.position): each.score for each in found}
        found = [
            each._replace(
                score=each.score
                + mix * scores.get((each.document, each.position - 1), 0.0)
                + mix * scores.get((each.document, each.position + 1), 0.0)
            )
            for each in found
        ]
        found = sorted(found, key=lambda each: (-each.score, each.document, each.position))
    return list(found[:limit])


def fused(
    words: Sequence[Found], meaning: Sequence[Found], mode: str, weights: tuple[float, float]
) -> list[tuple[Found, Standing]]:
    """The passages of both lists, best first: by their score in one list, or by both ranks.

    A rank adds its weight divided by 60 plus the rank. Equal scores stay in the order of their
    documents and places.
    """
    places: dict[int, Found] = {}
    by_words, by_meaning = _ranks(words, places), _ranks(meaning, places)
    made = []
    for key, found in places.items():
        words_rank, words_score = by_words.get(key, (None, None))
        meaning_rank, meaning_score = by_meaning.get(key, (None, None))
        if mode == "words":
            score = words_score
        elif mode == "meaning":
            score = meaning_score
        else:
            score = sum(
                weight / (_K + rank)
                for weight, rank in zip(weights, (words_rank, meaning_rank), strict=True)
                if rank is not None
            )
        standing = Standing(
            score=score or 0.0,
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
    for found in results:
        places.setdefault(found.chunk, found)
    return {found.chunk: (rank, found.score) for rank, found in enumerate(results, 1)}
