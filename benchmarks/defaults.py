"""The defaults of an index, each varied alone: size, context, neighbours, fusion.

`surroundings` adds to the context of each passage the most distinctive words of its two neighbours:
those frequent there, rare in the document, and not in the passage.

On the sets of `quality.py`, beside what an index does unasked with wordllama. Printed is the mean
recall, recall within each budget, the share of evidence kept whole, and the paired 95 % interval to
the default.

    python benchmarks/defaults.py                 # all of it, some minutes
    python benchmarks/defaults.py size mix        # some of it
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from pathlib import Path
from typing import Any

import quality

from spanwise import Chunks, Document, lexical_tokens
from spanwise.cutting.spans import Spans
from spanwise.evaluate import Evaluation, Setup, evaluate
from spanwise.splitters.presets import for_search

BUDGETS = (1000, 2000, 4000, 8000)


class Surrounded(Chunks):
    """Passages with words of their neighbours in their context."""

    count = 8

    def told(self, i: int) -> dict[str, Any]:
        """What a chunk says of itself, with the words."""
        said = super().told(i)
        own = set(self._bags[i])
        scores: Counter[str] = Counter()
        for j in (i - 1, i + 1):
            if 0 <= j < len(self):
                for word, times in Counter(self._bags[j]).items():
                    if word not in own and len(word) > 2:
                        rare = log((len(self) + 1) / self._spread[word])
                        scores[word] += times / (times + 1) * rare * (1 + (self._spread[word] > 1))
        words = " ".join(word for word, _ in scores.most_common(self.count))
        said["context"] = "\n".join(filter(None, (said.get("context", ""), words)))
        return said

    @cached_property
    def _bags(self) -> list[list[str]]:
        return [lexical_tokens(text) for text in self.texts]

    @cached_property
    def _spread(self) -> Counter[str]:
        return Counter(word for bag in self._bags for word in set(bag))


@dataclass(frozen=True)
class WithSurroundings:
    """for_search, and words of the neighbours in each context."""

    name = "surrounded"
    version = 1
    fingerprint = "surrounded"

    def split(self, source: Document | str) -> Chunks:
        """The passages."""
        made = for_search().split(source)
        spans = Spans(made.starts, made.bodies, made.ends, made.boundaries)
        return Surrounded(made.document, spans)


def surrounded(name: str, **options: object) -> Setup:
    return Setup(name, WithSurroundings(), **options)  # type: ignore[arg-type]


def setup(name: str, size: int | None = None, **options: object) -> Setup:
    splitter = for_search() if size is None else for_search(chunk_size=size)
    return Setup(name, splitter, **options)  # type: ignore[arg-type]


VARIED = {
    "size": [
        setup(f"chunk_size={size}", size) for size in (250, 350, 500, 700, 1000, 1500, 2000, 3000)
    ],
    "context": [setup("no context", context=False)],
    "surroundings": [
        setup("words, mix=0", mode="words", mix=0.0),
        surrounded("8 words, words, mix=0", mode="words", mix=0.0),
        setup("words", mode="words"),
        surrounded("8 words, words", mode="words"),
    ],
    "mix": [setup(f"mix={mix}", mix=mix) for mix in (0.0, 0.15, 0.3, 0.5, 0.8)],
    "fusion": [
        setup("words alone", mode="words"),
        setup("meaning alone", mode="meaning"),
        setup("ranks, 1 and 1", fusion="ranks"),
        setup("ranks, 1 and 0.3", fusion="ranks", weights=(1.0, 0.3)),
        *(
            setup(f"scores, 1 and {share}", fusion="scores", weights=(1.0, share))
            for share in (0.15, 0.3, 0.5, 0.8, 1.2)
        ),
    ],
}


def show(title: str, found: Evaluation) -> None:
    print(f"{title}\n")
    for row in found.rows:
        means = row.means
        budgets = "  ".join(f"{means[f'recall_{budget}']:.3f}" for budget in BUDGETS)
        against = "" if row.name == "default" else found.compare(row.name, "default")
        print(
            f"{row.name:22} {means['mean_recall']:.3f}  within {budgets}  whole "
            f"{row.whole:.2f}  mean size {row.mean_size:5.0f}  {against}"
        )
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("varied", nargs="*", help=", ".join(VARIED))
    parser.add_argument("--embedder", default="wordllama", help="its name, as for spanwise eval")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in sorted(Path(quality.DATA).glob("*")):
        if not (folder / "queries.jsonl").exists():
            continue
        documents, questions = quality.read(folder)
        for name in options.varied or VARIED:
            setups = [
                each if each.mode == "words" else replace(each, embedder=options.embedder)
                for each in (setup("default"), *VARIED[name])
            ]
            found = evaluate(questions, documents, setups)
            show(f"# {folder.name}, {name} varied; recall, and within 1 to 8 thousand", found)


if __name__ == "__main__":
    main()
