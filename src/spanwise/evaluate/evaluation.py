"""Evaluation: the scores of each setup, ranked, and which differences are real."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any

from spanwise.errors import OptionError, require, shown
from spanwise.evaluate.comparing import DRAWS, Difference, difference, resampled
from spanwise.evaluate.questions import Question
from spanwise.evaluate.wording import sentences, table

__all__ = ["MAIN", "Evaluation", "Row"]

# The score that ranks.
MAIN = "mean_recall"

# What all columns of the table need.
_WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What a setup did: its passages, and for each measure a score a question.

    ``size`` is what its splitter fills to, None where it has no size; ``mean_size`` the mean of
    the passages' own parts in characters; ``indexed`` the characters indexed, with context and
    overlap, for each of the documents; ``whole`` the share of the pieces of evidence that lie in
    one passage.
    """

    name: str
    splitter: str
    mode: str
    size: int | None
    chunks: int
    mean_size: float
    indexed: float
    whole: float
    scores: Mapping[str, tuple[float, ...]] = field(repr=False)

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over the questions."""
        return {name: fsum(scores) / len(scores) for name, scores in self.scores.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Setups by their mean recall, best first, over the same questions.

    ``str`` is `to_text`. ``notes`` are what a reader should know of how it was made.
    """

    rows: tuple[Row, ...]
    questions: tuple[Question, ...] = field(repr=False)
    documents: int
    characters: int
    notes: tuple[str, ...] = ()
    seed: int = 0
    draws: int = DRAWS
    _cache: dict[Any, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    @property
    def best(self) -> Row:
        """The one with the highest mean recall."""
        return self.rows[0]

    def row(self, name: str) -> Row:
        """The row of a setup."""
        for each in self.rows:
            if each.name == name:
                return each
        known = ", ".join(each.name for each in self.rows)
        raise OptionError(f"{shown(name)} was not compared; give one of {known}")

    def compare(self, name: str, other: str, measure: str = MAIN) -> Difference:
        """How much better one setup is than another, paired by question."""
        rows = self.row(name), self.row(other)
        some, others = (_scores(row, measure) for row in rows)
        return difference(some, others, *(self._means(row, measure) for row in rows))

    def _means(self, row: Row, measure: str) -> list[float]:
        key = (row.name, measure)
        if key not in self._cache:
            scores = row.scores[measure]
            self._cache[key] = resampled(scores, seed=self.seed, draws=self.draws)
        made: list[float] = self._cache[key]
        return made

    @property
    def groups(self) -> dict[str, int]:
        """How many questions each group has, in order of their first."""
        counts: dict[str, int] = {}
        for each in self.questions:
            counts[each.group] = counts.get(each.group, 0) + 1
        return counts

    def by_group(self, row: Row, measure: str = MAIN) -> dict[str, float]:
        """The mean of a measure over the questions of each group."""
        scores = _scores(row, measure)
        return {
            group: fsum(s for s, q in zip(scores, self.questions, strict=True) if q.group == group)
            / count
            for group, count in self.groups.items()
        }

    @property
    def verdict(self) -> tuple[str, ...]:
        """Which differences are real and which are not, and which setup to use."""
        against = [self.compare(self.best.name, row.name) for row in self.rows[1:]]
        return tuple(sentences(self.rows, against, len(self.questions)))

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain lists and dicts, with a score a question."""
        rows = []
        for row in self.rows:
            plain = {k: v for k, v in asdict(row).items() if k != "scores"}
            rows.append(
                plain
                | {"means": row.means, "groups": self.by_group(row)}
                | {"less_than_best": asdict(self.compare(row.name, self.best.name))}
                | {"scores": {name: list(scores) for name, scores in row.scores.items()}}
            )
        return {
            "questions": [each.id for each in self.questions],
            "groups": self.groups,
            "documents": self.documents,
            "characters": self.characters,
            "notes": list(self.notes),
            "verdict": list(self.verdict),
            "rows": rows,
        }

    def to_text(self, width: int = _WIDTH) -> str:
        """A table and what it says in words, in lines of at most so many characters."""
        require("width", width, 1)
        differences = {row.name: self.compare(row.name, self.best.name) for row in self.rows[1:]}
        groups = {row.name: self.by_group(row) for row in self.rows}
        return table(self, differences, groups, width)

    def __str__(self) -> str:
        return self.to_text()


def _scores(row: Row, measure: str) -> tuple[float, ...]:
    if measure not in row.scores:
        raise OptionError(
            f"measure={shown(measure)} is unknown; give one of {', '.join(row.scores)}"
        )
    return row.scores[measure]
