"""agentos `chunkTurns`: which turns go together, then what a passage records."""

from __future__ import annotations

from typing import Any, NamedTuple

from .white import NONE, On, js_is_blank

Turn = dict[str, Any]


class Group(NamedTuple):
    """Turns `first..stop` of those that are not blank; from `first_new` on they are new."""

    first: int
    first_new: int
    stop: int


def chunk_turns(
    turns: list[Turn], *, max_chars: int = 1200, overlap_turns: int = 1, on: On = NONE
) -> list[dict[str, Any]]:
    """The passages as the reference gives them."""
    kept = kept_turns(turns, on=on)
    groups = turn_groups(
        [len(turn["text"]) for turn in kept],
        max_chars=max_chars,
        overlap_turns=overlap_turns,
        on=on,
    )
    return [
        passage(kept[group.first : group.stop], index, on=on) for index, group in enumerate(groups)
    ]


def kept_turns(turns: list[Turn], *, on: On = NONE) -> list[Turn]:
    """Blank turns are dropped."""
    return [turn for turn in turns if not js_is_blank(turn["text"])]


def turn_groups(
    lengths: list[int], *, max_chars: int, overlap_turns: int, on: On = NONE
) -> list[Group]:
    """Greedy groups until the last turn is in one."""
    groups: list[Group] = []
    first = reached = 0
    while reached < len(lengths):
        stop = fill(lengths, first, max_chars=max_chars, on=on)
        groups.append(Group(first, reached, stop))
        first = next_first(
            lengths, first, stop, max_chars=max_chars, overlap_turns=overlap_turns, on=on
        )
        reached = stop
    return groups


def joined_length(lengths: list[int], first: int, stop: int, *, on: On = NONE) -> int:
    """With one LF between turns."""
    return sum(lengths[first:stop]) + stop - first - 1


def fill(lengths: list[int], first: int, *, max_chars: int, on: On = NONE) -> int:
    """The first turn always, then while they fit."""
    stop = first + 1
    while stop < len(lengths):
        if joined_length(lengths, first, stop + 1, on=on) > max_chars:
            break
        stop += 1
    return stop


def next_first(
    lengths: list[int],
    first: int,
    stop: int,
    *,
    max_chars: int,
    overlap_turns: int,
    on: On = NONE,
) -> int:
    """The overlap, less its leading turns until it and the next new turn fit."""
    start = overlap_first(first, stop, overlap_turns=overlap_turns, on=on)
    while start < stop < len(lengths):
        if joined_length(lengths, start, stop + 1, on=on) <= max_chars:
            break
        start += 1
    return start


def overlap_first(first: int, stop: int, *, overlap_turns: int, on: On = NONE) -> int:
    """So many turns back, but never the passage's first turn again."""
    return max(first + 1, stop - max(0, overlap_turns))


def passage(turns: list[Turn], index: int, *, on: On = NONE) -> dict[str, Any]:
    return {
        "index": index,
        "text": "\n".join(turn["text"] for turn in turns),
        "firstSeq": turns[0]["seq"],
        "lastSeq": turns[-1]["seq"],
        "itemIds": [turn["itemId"] for turn in turns],
        "startMs": turns[0].get("startMs"),
        "endMs": turns[-1].get("endMs"),
        "turns": places(turns, on=on),
    }


def places(turns: list[Turn], *, on: On = NONE) -> list[dict[str, Any]]:
    """Where each turn lies in the passage's text."""
    found: list[dict[str, Any]] = []
    start = 0
    for turn in turns:
        end = start + len(turn["text"])
        found.append({"seq": turn["seq"], "itemId": turn["itemId"], "start": start, "end": end})
        start = end + 1
    return found
