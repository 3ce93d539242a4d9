"""The floor of passages: pieces that are too short join a neighbour."""

from __future__ import annotations

from collections.abc import Iterable

from spanwise.cutting.pack import Packer

__all__ = ["merge_backward", "merge_forward"]


def merge_forward(
    packer: Packer, first: int, short: Iterable[int], floor: int, bound: int, last: int
) -> None:
    """Merge short pieces, those below ``floor``, into what follows; the last into what precedes.

    Only pieces from index ``first`` on take part. A run of short pieces closes
    as soon as it reaches the floor. No merge goes over ``bound``, gaps included,
    nor the one at the end over ``last``.
    """
    starts, ends, boundaries = packer.starts, packer.ends, packer.boundaries
    gone: list[int] = []
    opened, done = first - 1, first  # the last run, and what needs a look next
    for i in short:
        if i < done:
            continue
        before = opened if i == done else i - 1
        opened, done = i, i + 1
        is_short = True
        while is_short and done < len(starts):
            if packer.merges(starts[opened], ends[done], bound, boundaries[done]):
                ends[opened] = ends[done]
                gone.append(done)
            else:
                # The run stands alone: what follows does not fit with it.
                before, opened = opened, done
            done += 1
            is_short = packer.is_below(starts[opened], ends[opened], floor)
        if (
            is_short
            and before >= first
            and packer.merges(starts[before], ends[opened], last, boundaries[opened])
        ):
            ends[before] = ends[opened]
            gone.append(opened)
    packer.drop(first, gone)


def merge_backward(packer: Packer, first: int, short: Iterable[int], bound: int) -> bool:
    """Merge short pieces, from index ``first`` on, into the one before; whether one was."""
    starts, ends, boundaries = packer.starts, packer.ends, packer.boundaries
    gone: list[int] = []
    before = first
    for i in short:
        if not gone or gone[-1] != i - 1:
            before = i - 1
        if i > first and packer.merges(starts[before], ends[i], bound, boundaries[i]):
            ends[before] = ends[i]
            gone.append(i)
    packer.drop(first, gone)
    return bool(gone)
