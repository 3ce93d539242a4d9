"""The defaults of an index, each varied alone: size, context, neighbours, fusion.

On the sets of `quality.py`, beside what an index does unasked with wordllama. Printed is the mean
recall, recall within each budget, the share of evidence kept whole, and the paired 95 % interval to
the default.

    python benchmarks/defaults.py                 # all of it, some minutes
    python benchmarks/defaults.py size mix        # some of it
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import quality

from spanwise.evaluate import Evaluation, Setup, evaluate
from spanwise.splitters.presets import for_search

EMBEDDER = "wordllama"
BUDGETS = (1000, 2000, 4000, 8000)


def setup(name: str, size: int | None = None, **options: object) -> Setup:
    splitter = for_search() if size is None else for_search(chunk_size=size)
    return Setup(name, splitter, embedder=EMBEDDER, **options)  # type: ignore[arg-type]


VARIED = {
    "size": [
        setup(f"chunk_size={size}", size) for size in (250, 350, 500, 700, 1000, 1500, 2000, 3000)
    ],
    "context": [setup("no context", context=False)],
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
            f"{row.name:18} {means['mean_recall']:.3f}  within {budgets}  whole "
            f"{row.whole:.2f}  mean size {row.mean_size:5.0f}  {against}"
        )
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("varied", nargs="*", help=", ".join(VARIED))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for folder in sorted(Path(quality.DATA).glob("*")):
        if not (folder / "queries.jsonl").exists():
            continue
        documents, questions = quality.read(folder)
        for name in options.varied or VARIED:
            found = evaluate(questions, documents, [setup("default"), *VARIED[name]])
            show(f"# {folder.name}, {name} varied; recall, and within 1 to 8 thousand", found)


if __name__ == "__main__":
    main()
