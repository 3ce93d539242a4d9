"""How much of the evidence was found: arithmetic on half-open ranges, no text.

``evidence`` and ``found`` are ranges ``(start, end)`` on one line; ``found`` is in rank order.
Evidence that overlaps counts once. All measures lie between 0 and 1.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import log2

__all__ = [
    "Range",
    "cut_to",
    "gains",
    "iou",
    "is_hit",
    "kept_whole",
    "less",
    "measure",
    "merged",
    "ndcg",
    "precision",
    "recall",
    "recall_within",
    "shared",
]

Range = tuple[int, int]


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The same positions in order, as disjoint ranges that do not touch.

    >>> merged([(5, 8), (0, 2), (7, 9), (2, 3)])
    [(0, 3), (5, 9)]
    """
    made: list[Range] = []
    for start, end in sorted(ranges):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(end, made[-1][1]))
        elif start < end:
            made.append((start, end))
    return made


def measure(ranges: Iterable[Range]) -> int:
    """The sum of the lengths; what lies in two ranges counts twice."""
    return sum(end - start for start, end in ranges)


def shared(some: Iterable[Range], others: Iterable[Range]) -> int:
    """How many positions lie in both.

    >>> shared([(0, 4), (6, 9)], [(3, 7), (3, 8)])
    3
    """
    a, b = merged(some), merged(others)
    i = j = total = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


def less(ranges: Iterable[Range], taken: Range) -> list[Range]:
    """The ranges without what lies in another.

    >>> less([(0, 9)], (3, 5))
    [(0, 3), (5, 9)]
    """
    first, last = taken
    made: list[Range] = []
    for start, end in ranges:
        if end <= first or last <= start:
            made.append((start, end))
            continue
        if start < first:
            made.append((start, first))
        if last < end:
            made.append((last, end))
    return made


def recall(evidence: Sequence[Range], found: Sequence[Range]) -> float:
    """The share of the evidence that was found.

    Recall, precision and IoU: Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval",
    Chroma 2024, over characters. Their denominators count what was found twice twice.
    """
    whole = measure(merged(evidence))
    return shared(evidence, found) / whole if whole else 0.0


def precision(evidence: Sequence[Range], found: Sequence[Range]) -> float:
    """The share of what was found that is evidence; text that comes again counts again."""
    whole = measure(found)
    return shared(evidence, found) / whole if whole else 0.0


def iou(evidence: Sequence[Range], found: Sequence[Range]) -> float:
    """Intersection over union; text that comes again counts again in the union.

    >>> iou([(0, 10)], [(5, 20)])
    0.25
    """
    both = shared(evidence, found)
    union = measure(merged(evidence)) + measure(found) - both
    return both / union if union else 0.0


def cut_to(found: Sequence[Range], budget: int) -> list[Range]:
    """What of a ranking fits a context of so many characters; the last one is cut.

    >>> cut_to([(0, 60), (200, 260), (300, 310)], 100)
    [(0, 60), (200, 240)]
    """
    made: list[Range] = []
    for start, end in found:
        if budget <= 0:
            break
        made.append((start, min(end, start + budget)))
        budget -= end - start
    return made


def recall_within(evidence: Sequence[Range], found: Sequence[Range], budget: int) -> float:
    """The share of the evidence in a context of so many characters, filled in rank order."""
    return recall(evidence, cut_to(found, budget))


def is_hit(evidence: Sequence[Range], found: Sequence[Range]) -> bool:
    """Whether any of the evidence was found."""
    return shared(evidence, found) > 0


def gains(evidence: Sequence[Range], found: Sequence[Range]) -> list[float]:
    """For each of a ranking the share of the evidence that it adds to those before it.

    >>> gains([(0, 10)], [(0, 4), (2, 5), (20, 30)])
    [0.4, 0.1, 0.0]
    """
    left = merged(evidence)
    whole = measure(left)
    made = []
    for each in found:
        before = measure(left)
        left = less(left, each)
        made.append((before - measure(left)) / whole if whole else 0.0)
    return made


def ndcg(
    evidence: Sequence[Range], found: Sequence[Range], shares: Sequence[float] = (1.0,)
) -> float:
    """The `gains`, each divided by the logarithm of its rank, over the best there can be.

    ``shares``: how much of the evidence each document holds. At best one passage has all of a
    document's, so that the best is the same for every splitter. Source: Järvelin and Kekäläinen,
    "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
    """
    best = _discounted(sorted(shares, reverse=True))
    return _discounted(gains(evidence, found)) / best if best else 0.0


def _discounted(given: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(given, 1))


def kept_whole(evidence: Iterable[Range], chunks: Sequence[Range]) -> list[bool]:
    """For each piece of evidence whether one chunk holds all of it.

    ``chunks`` with their overlap, in order of their starts and of their ends.
    """
    starts = [start for start, _ in chunks]
    made = []
    for start, end in evidence:
        i = bisect_right(starts, start) - 1
        made.append(i >= 0 and end <= chunks[i][1])
    return made
