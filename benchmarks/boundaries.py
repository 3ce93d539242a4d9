"""Ideas for better boundaries, each measured alone before it may become a strategy.

Every idea is cut to one mean size on the sets of `quality.py` and searched by words, bare: no
headings in the index, no neighbours mixed in. Printed is its mean recall and the paired 95 %
interval to `for_search`. An idea is kept when its interval is above 0 on two sets; none is so far
(docs/defaults.md).

- graded: runs of more blank lines are stronger, and a unit that has to be cut shares no passage.
- soft: a paragraph, a sentence or a list item of up to 1.3 times the size stays whole.
- cohesion: as graded; a passage of a quarter of the size ends where the next unit shares less than
  a tenth of its words.
- even: the least squares of sizes by dynamic programming, weak boundaries at a price.
- even, cohesion: and a price on cutting where words are shared.

    python benchmarks/boundaries.py
    python benchmarks/boundaries.py FOLDER --mean-size 500
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import quality

from spanwise import Chunks, Document, lexical_tokens
from spanwise.cutting.levels import paragraph_level
from spanwise.cutting.pack import Packer
from spanwise.cutting.sizers import bind, chars
from spanwise.cutting.spans import trim
from spanwise.evaluate import Setup, evaluate
from spanwise.splitters.base import below_line
from spanwise.splitters.presets import for_search
from spanwise.stemming import stem

Span = tuple[int, int]
Cut = Callable[[Document, int], Iterator[Span]]

_GAP = re.compile(r"\s*\n\s*")
_WEAKER = (
    re.compile(r"(?<=[.!?。！？])[\"”’)\]]*\s+"),
    re.compile(r"(?<=[;:,—])\s+"),
    re.compile(r"\s+"),
)

# Soft limit; share of the size from where cohesion counts; least share of words in common.
_SOFT, _FROM, _COMMON = 1.3, 0.25, 0.1

# The price of a cut by the strength of its boundary, beside the square of a relative deviation.
_PRICES = {4: 0.0, 3: 0.2, 2: 0.1, 1: 0.05}
_LIMIT, _COHESION = 1.6, 0.1


@dataclass(frozen=True)
class Idea:
    """A way to cut as a splitter that can be resized."""

    name: str
    cut: Cut
    chunk_size: int = 500
    version = 1

    @property
    def fingerprint(self) -> str:
        """The name and the size."""
        return f"{self.name} {self.chunk_size}"

    def split(self, source: Document | str) -> Chunks:
        """The passages, trimmed."""
        document = source if isinstance(source, Document) else Document(text=source)
        spans = (trim(document.text, *span) for span in self.cut(document, self.chunk_size))
        return Chunks.from_spans(document, [each for each in spans if each[0] < each[1]])


@lru_cache(maxsize=1 << 16)
def bag(text: str) -> frozenset[str]:
    """The stems of the longer words of a text."""
    return frozenset(stem(word) for word in lexical_tokens(text) if len(word) > 3)


def common(text: str, left: Span, right: Span) -> float:
    """The share of words that two stretches have in common."""
    some, others = bag(text[slice(*left)]), bag(text[slice(*right)])
    return len(some & others) / max(1, min(len(some), len(others)))


def graded(document: Document, size: int, cohesive: bool = False) -> Iterator[Span]:
    """Cut at the strongest boundaries there are, and pack what fits between them."""
    text, structure = document.text, document.outline.structure
    headings = dict(zip(structure.heading_starts, structure.heading_levels, strict=True))
    ends = dict(zip(structure.heading_starts, structure.heading_ends, strict=True))

    def inked(start: int, end: int) -> int:
        start, end = trim(text, start, end)
        return end - start

    def strongest(start: int, end: int) -> list[int]:
        inside = [place for place in headings if start < place < end]
        if inside:
            level = min(headings[place] for place in inside)
            return [place for place in inside if headings[place] == level]
        below = ends.get(start, start)
        gaps = [each for each in _GAP.finditer(text, start, end) if below < each.end() < end]
        gaps = [each for each in gaps if text[below : each.start()].strip()]
        if gaps:
            most = max(each[0].count("\n") for each in gaps)
            return [each.end() for each in gaps if each[0].count("\n") == most]
        for pattern in _WEAKER:
            cuts = [each.end() for each in pattern.finditer(text, below, end) if each.end() < end]
            if cuts:
                return cuts
        return []

    def pieces(start: int, end: int) -> Iterator[Span]:
        if inked(start, end) <= size:
            yield start, end
            return
        edges = [start, *strongest(start, end), end]
        if len(edges) == 2:
            edges = [*range(start, end, size), end]
        units = list(pairwise(edges))
        i = 0
        while i < len(units):
            first = units[i][0]
            if inked(*units[i]) > size:
                yield from pieces(*units[i])
                i += 1
                continue
            last = i + 1
            while last < len(units) and inked(first, units[last][1]) <= size:
                so_far = (first, units[last - 1][1])
                apart = cohesive and common(text, so_far, units[last]) < _COMMON
                if apart and inked(*so_far) >= _FROM * size:
                    break
                last += 1
            yield first, units[last - 1][1]
            i = last

    yield from pieces(0, len(text))


def cohesion(document: Document, size: int) -> Iterator[Span]:
    """`graded`, and a passage ends early where the next unit is about something else."""
    return graded(document, size, cohesive=True)


def soft(document: Document, size: int) -> Iterator[Span]:
    """Sections packed as `by_paragraph` does, units of up to the soft limit whole."""
    text, structure = document.text, document.outline.structure
    ends = dict(zip(structure.heading_starts, structure.heading_ends, strict=True))
    packer = Packer(text, bind(chars, text), size)
    levels = (paragraph_level(text), *below_line(text))
    edges = [*dict.fromkeys((0, *structure.heading_starts)), len(text)]
    for start, end in pairwise(edges):
        if text[start:end].strip():
            head = ends.get(start, 0)
            packer.fill(start, end, levels, "", head=head, most=int(size * _SOFT))
    yield from zip(packer.starts, packer.ends, strict=True)


def even(document: Document, size: int, cohesive: bool = False) -> Iterator[Span]:
    """The cheapest way through all sentences, lines, paragraphs and headings."""
    text, structure = document.text, document.outline.structure
    strength = {0: 4}
    for found in _GAP.finditer(text):
        strength[found.end()] = 3 if found[0].count("\n") > 1 else 2
    for found in _WEAKER[0].finditer(text):
        strength.setdefault(found.end(), 1)
    strength |= dict.fromkeys(structure.heading_starts, 4)
    places = sorted(place for place in strength if place < len(text))
    ends = [*places[1:], len(text)]
    glued = set(structure.heading_starts)
    cost, after = [float("inf")] * len(places) + [0.0], [0] * len(places)
    for i in range(len(places) - 1, -1, -1):
        for j in range(i, len(places)):
            start, end = trim(text, places[i], ends[j])
            if end - start > size * _LIMIT and j > i:
                break
            price = ((end - start - size) / size) ** 2 if start < end else 0.0
            if j + 1 < len(places):
                price += _PRICES[strength[places[j + 1]]]
                price += 3.0 * (i == j and places[i] in glued)
                if cohesive:
                    beside = (places[j], ends[j]), (places[j + 1], ends[j + 1])
                    price += _COHESION * common(text, *beside)
            if price + cost[j + 1] < cost[i]:
                cost[i], after[i] = price + cost[j + 1], j + 1
    i = 0
    while i < len(places):
        yield places[i], ends[after[i] - 1]
        i = after[i]


def even_cohesive(document: Document, size: int) -> Iterator[Span]:
    """`even`, with a price on cutting where words are shared."""
    return even(document, size, cohesive=True)


IDEAS = {
    "graded": graded,
    "soft": soft,
    "cohesion": cohesion,
    "even": even,
    "even, cohesion": even_cohesive,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--mean-size", type=int, default=quality.MEAN_SIZE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    setups = [
        Setup(each.name, each, mode="words", mix=0.0, context=False)
        for each in (for_search(), *(Idea(name, cut) for name, cut in IDEAS.items()))
    ]
    for folder in options.folders or sorted(
        each.parent for each in quality.DATA.glob("*/queries.jsonl")
    ):
        documents, questions = quality.read(folder)
        found = evaluate(questions, documents, setups, mean_size=options.mean_size)
        quality.show(f"# {folder.name}, mean size {options.mean_size}", found, "for_search")


if __name__ == "__main__":
    main()
