"""What is asked of a search, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from numbers import Real

from spanwise.cutting.caps import Cap
from spanwise.errors import OptionError, require, shown

__all__ = ["MIX", "RERANK_DEPTH", "Rerank", "Wishes", "wishes_of"]

_MODES = ("auto", "words", "meaning", "both")

# The weight of both neighbours' scores; benchmarks/quality.py.
MIX = 0.3

# Far above what is of use, and far below what no sum of scores can hold.
_MOST_MIX = 1_000_000

# The weights of words and of meaning in each fusion; benchmarks/quality.py.
_WEIGHTS = {"scores": (1.0, 0.3), "ranks": (1.0, 1.0)}

# A reranker is asked about so many texts where nobody says how many.
RERANK_DEPTH = 50

# Passages taken from each list before they are fused; more are taken for a larger limit.
_DEPTH, _DEPTH_A_HIT = 100, 4

# More passages than an index has; a larger number is one that no store can be asked with.
_DEEPEST = (1 << 31) - 1

# A function from a query and passages to a score each, higher for better.
Rerank = Callable[[str, list[str]], Iterable[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is asked of a search: see `Index.search`. ``mode`` is never ``auto``."""

    query: str
    limit: int
    mode: str
    fusion: str
    weights: tuple[float, float]
    min_score: float | None
    rerank: Rerank | None
    rerank_depth: int
    budget: Cap | None
    expand: int | str
    fold: bool
    explain: bool

    @property
    def depth(self) -> int:
        """How many passages are taken from each list."""
        wanted = max(_DEPTH, _DEPTH_A_HIT * self.limit, self.rerank_depth if self.rerank else 0)
        return min(wanted, _DEEPEST)


def wishes_of(
    query: str,
    *,
    has_vectors: bool,
    limit: int,
    mode: str,
    fusion: str,
    weights: tuple[float, float] | None,
    mix: float,
    min_score: float | None,
    rerank: Rerank | None,
    rerank_depth: int,
    budget: Cap | int | None,
    expand: int | str,
    fold: bool,
    explain: bool,
) -> Wishes:
    """The options of a search; `OptionError` for what is none."""
    if not isinstance(query, str):
        raise OptionError(f"query={shown(query)} is no string; give the words to look for")
    require("limit", limit, 1)
    require("rerank_depth", rerank_depth, 1)
    if fusion not in tuple(_WEIGHTS):
        raise OptionError(f"fusion={shown(fusion)} is unknown; give one of {', '.join(_WEIGHTS)}")
    if not _is_number(mix) or not 0 <= mix <= _MOST_MIX:
        raise OptionError(
            f"mix={shown(mix)} is no number from 0 to {_MOST_MIX:,}; give the weight of both "
            "neighbours, such as 0.3, or 0 for none"
        )
    if min_score is not None and not _is_number(min_score):
        raise OptionError(
            f"min_score={shown(min_score)} is no number; give the least score of a hit, or leave "
            "it out"
        )
    if rerank is not None and not callable(rerank):
        raise OptionError(
            f"rerank={shown(rerank)} cannot be called; pass a function from the query and a list "
            "of passages to a score each"
        )
    if isinstance(expand, str):
        if expand not in ("section", "document"):
            raise OptionError(
                f"expand={shown(expand)} is unknown; give a number of passages, 'section' or "
                "'document'"
            )
    else:
        require("expand", expand, 0)
    if budget is not None and not isinstance(budget, Cap):
        require("budget", budget, 1)
        budget = Cap(budget)
    return Wishes(
        query=query,
        limit=limit,
        mode=_mode_of(mode, has_vectors),
        fusion=fusion,
        weights=_WEIGHTS[fusion] if weights is None else _weights_of(weights, mode),
        min_score=min_score,
        rerank=rerank,
        rerank_depth=rerank_depth,
        budget=budget,
        expand=expand,
        fold=fold,
        explain=explain,
    )


def _mode_of(mode: str, has_vectors: bool) -> str:
    if mode not in _MODES:
        raise OptionError(f"mode={shown(mode)} is unknown; give one of {', '.join(_MODES)}")
    if mode == "auto":
        return "both" if has_vectors else "words"
    if mode != "words" and not has_vectors:
        raise OptionError(
            f"mode={mode!r} needs vectors, and this index was made without an embedder; search by "
            "words, or index anew with one"
        )
    return mode


def _weights_of(weights: tuple[float, float], mode: str) -> tuple[float, float]:
    if (
        not isinstance(weights, tuple | list)
        or len(weights) != 2
        or not all(map(_is_number, weights))
        or min(weights) < 0
        or max(weights) == 0
    ):
        raise OptionError(
            f"weights={shown(weights)} is no pair of numbers of at least 0, one of them above; "
            "give those of words and of meaning, such as (1.0, 0.3)"
        )
    if mode in ("words", "meaning"):
        raise OptionError(
            f"weights={shown(weights)} has no effect with mode={mode!r}, where there is one list; "
            "leave it out, or search by both"
        )
    return weights


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    except OverflowError:  # a whole number beyond all others
        return False
