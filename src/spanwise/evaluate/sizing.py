"""A splitter resized until its passages have a wanted mean size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace

from spanwise.errors import OptionError, SizeError
from spanwise.splitters.base import Splitter

__all__ = ["CLOSE", "resized", "size_field"]

# What splitters call the size that they fill to.
_SIZES = ("chunk_size", "target_size")

# As near to the wanted mean as this is equal; nearer than the half of it the search ends.
CLOSE = 0.02

_ROUNDS = 24

MeanOf = Callable[[Splitter], float]


def size_field(splitter: Splitter) -> str:
    """The option that sets the size of a splitter; empty where there is none."""
    if not is_dataclass(splitter):
        return ""
    options = {each.name for each in fields(splitter) if each.init}
    return next((name for name in _SIZES if name in options), "")


def resized(splitter: Splitter, wanted: int, mean_of: MeanOf) -> Splitter:
    """The splitter with the size whose passages are nearest to a mean size.

    One that has no size is answered as it is. Its other options stay; a floor or an overlap
    that was not set goes with the size. Cost: the documents are cut up to 24 times.
    """
    name = size_field(splitter)
    if not name:
        return splitter
    low, high = 0, 0  # the largest size known to be too small, the smallest too large
    best, nearest = splitter, float("inf")
    size, before = wanted, 0.0
    for i in range(_ROUNDS):
        try:
            made: Splitter = replace(splitter, **{name: size})  # type: ignore[type-var]
            mean = mean_of(made)
        except (OptionError, SizeError):
            mean = 0.0  # below what another option leaves room for
        else:
            if abs(mean - wanted) < nearest:
                best, nearest = made, abs(mean - wanted)
        if nearest <= wanted * CLOSE / 2:
            break
        if mean < wanted:
            low = size
            if not high and mean and mean == before and size > wanted:
                break  # nothing grows any more
        else:
            high = size
        before = mean
        if high and high - low <= 1:
            break
        guess = round(size * wanted / mean) if mean else 2 * size
        if not high:
            size = max(guess, size + 1) if i < 2 else max(guess, 2 * size)
        elif low < guess < high and i % 3 != 2:
            size = guess
        else:
            size = (low + high) // 2
    return best
