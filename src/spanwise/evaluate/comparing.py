"""Which differences are real: the paired bootstrap over questions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, fsum

__all__ = ["DRAWS", "LEAST_QUESTIONS", "Difference", "difference", "resampled"]

# Enough for two digits of an interval's ends.
DRAWS = 2000

_SHARE = 0.95

# With fewer the interval is too narrow: of two like systems one was better in 1 of 6 comparisons by
# 5 questions, in 1 of 10 by 10.
LEAST_QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of one minus that of another, with its 95 % interval over the questions."""

    mean: float
    low: float
    high: float
    questions: int = LEAST_QUESTIONS

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves out 0, and rests on `LEAST_QUESTIONS` or more."""
        return self.questions >= LEAST_QUESTIONS and (self.low > 0 or self.high < 0)

    @property
    def reach(self) -> float:
        """What the questions cannot tell from 0: half of the interval."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def resampled(scores: Sequence[float], *, seed: int = 0, draws: int = DRAWS) -> list[float]:
    """The mean of as many scores drawn with replacement, again and again.

    Lists of one length are drawn alike with one seed, so that their differences are paired.
    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    chance = random.Random(seed)
    count = len(scores)
    return [fsum(chance.choices(scores, k=count)) / count for _ in range(draws)]


def difference(
    some: Sequence[float],
    others: Sequence[float],
    some_means: Sequence[float],
    other_means: Sequence[float],
) -> Difference:
    """The difference of two lists of scores; the means are those of `resampled`.

    >>> a, b = [1.0] * 20, [0.5] * 20
    >>> str(difference(a, b, resampled(a), resampled(b)))
    '+0.500 [+0.500, +0.500]'
    """
    drawn = sorted(a - b for a, b in zip(some_means, other_means, strict=True))
    tail = (1 - _SHARE) / 2
    low = drawn[int(tail * len(drawn))]
    high = drawn[ceil((1 - tail) * len(drawn)) - 1]
    return Difference((fsum(some) - fsum(others)) / len(some), low, high, len(some))
