"""Which splitter finds best: ours and the peers on questions with exact evidence.

Each folder holds ``docs.jsonl`` ({"id", "text"}) and ``queries.jsonl`` ({"id", "query", "group",
"evidence": [{"doc", "start", "end"}]}). All splitters count characters, add no overlap and are
resized to one mean size; their passages, white space trimmed, are searched by the same index.

Two tables a folder. *Splitters alone*: by words, no neighbours mixed in, no headings in the index.
*As shipped*: what an index of ours does unasked, by words and with an embedder, beside the best
peer's passages bare and in the same index. Below each, paired 95 % intervals to the best peer.

    python benchmarks/quality.py                        # what lies in ../shared/quality
    python benchmarks/quality.py FOLDER --embedder none
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import peers

from spanwise import (
    Chunks,
    Document,
    SemanticChunker,
    SplitterError,
    by_heading,
    by_paragraph,
    by_text,
    fixed_with_overlap,
)
from spanwise.cutting.spans import trim
from spanwise.evaluate import Evaluation, Evidence, Question, Setup, Step, evaluate
from spanwise.splitters.base import Splitter
from spanwise.splitters.presets import for_search

MEAN_SIZE = 345
DATA = Path(__file__).parents[2] / "shared" / "quality"

PEERS = {
    "semchunk": peers.SEMCHUNK,
    "langchain, default": peers.LANGCHAIN_TEXT,
    "langchain, sentences": peers.LANGCHAIN_SENTENCES,
    "chonkie, recursive": peers.CHONKIE,
    "chonkie, sentence": peers.CHONKIE_SENTENCE,
    "sts, text": peers.STS_TEXT,
    "sts, markdown": peers.STS_MARKDOWN,
    "llama-index, sentence": peers.LLAMA,
    "blazechunk": peers.BLAZECHUNK,
}

OURS: tuple[Splitter, ...] = (
    for_search(),
    by_heading(overlap=0),
    by_paragraph(overlap=0),
    by_text(overlap=0),
    SemanticChunker(overlap=0),
    fixed_with_overlap(overlap=0),
)


@dataclass(frozen=True)
class Peer:
    """A peer as a splitter: its passages at their exact place in the text, trimmed."""

    name: str
    chunk_size: int = MEAN_SIZE
    version = 1

    @property
    def fingerprint(self) -> str:
        """The name and the size."""
        return f"{self.name} {self.chunk_size}"

    def split(self, source: Document | str) -> Chunks:
        """The passages of the peer, as slices of the document."""
        document = source if isinstance(source, Document) else Document(text=source)
        text = document.text
        name = PEERS[self.name]
        run = peers.installed([name], self.chunk_size)[name]
        trimmed = (trim(text, start, end) for start, end in exact(name, run, text))
        made = [(start, end) for start, end in trimmed if start < end]
        return Chunks.from_spans(document, made, splitter=self.name)


def exact(name: str, run: peers.Run, text: str) -> list[tuple[int, int]]:
    """Where the passages of a peer stand: where it says if that is so, else where they are next."""
    answers = [(each[0], each[1]) for each in run(text)]
    if not any(place is None for _, place in answers):
        made = peers.spans(name, lambda _: answers, text)
        places = [0, *(place for span in made for place in span)]
        is_slice = all(text[a:b] == each for (a, b), (each, _) in zip(made, answers, strict=True))
        if is_slice and places == sorted(places):
            return made
    made, at = [], 0
    for each, _ in answers:
        inner = each.strip()
        start = text.find(inner, at)
        if start < 0 or text[at:start].strip():
            raise SplitterError(f"{name}: {inner[:60]!r} is not what comes after {at} in the text")
        at = start + len(inner)
        made.append((start, at))
    return made


def read(folder: Path) -> tuple[list[Document], list[Question]]:
    """A set; texts with a heading are Markdown, the others plain."""
    documents = []
    for line in (folder / "docs.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            said = json.loads(line)
            marked = re.search(r"^#{1,6} \S", said["text"], re.M)
            kind = "text/markdown" if marked else "text/plain"
            documents.append(Document(text=said["text"], uri=said["id"], media_type=kind))
    questions = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            said = json.loads(line)
            found = tuple(Evidence(e["doc"], e["start"], e["end"]) for e in said["evidence"])
            questions.append(Question(said["query"], found, said["id"], said["group"]))
    return documents, questions


def best_of(found: Evaluation, names: set[str]) -> str:
    """The best of some setups; the rows are ranked."""
    return next(row.name for row in found.rows if row.name in names)


def show(title: str, found: Evaluation, base: str) -> None:
    """The table alone, and the interval of every other setup to one."""
    print(f"{title}\n")
    table, *_ = str(found).split("\n\nRecall")
    print(table)
    for note in found.notes:
        print(note)
    print(f"\nto {base}, paired, 95 %:")
    for row in found.rows:
        if row.name != base:
            against = found.compare(row.name, base)
            print(f"  {row.name:34} {against}{' *' if against.is_real else ''}")
    print()


def watch(at: Step) -> None:
    if sys.stderr.isatty():
        print(f"\r{at.done:,} of {at.total:,} {at.setup:45}", end="", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="each with docs and queries.jsonl")
    parser.add_argument("--mean-size", type=int, default=MEAN_SIZE)
    parser.add_argument("--embedder", default="wordllama", help="for the second table, or none")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folders = options.folders or sorted(each.parent for each in DATA.glob("*/queries.jsonl"))
    if not folders:
        parser.error(f"no folder is given, and {DATA} holds none")
    there = peers.installed(PEERS.values(), MEAN_SIZE)
    theirs = [Peer(name) for name, peer in PEERS.items() if peer in there]
    if not theirs:
        sys.exit(
            "no peer is installed to compare with: pip install semchunk langchain-text-splitters "
            "chonkie semantic-text-splitter llama-index-core blazechunk"
        )
    print(peers.versions())
    over: dict[tuple[int, str], list[float]] = {}
    for folder in folders:
        documents, questions = read(folder)
        print(f"\n# {folder.name}: mean size {options.mean_size}\n")
        alone = [
            Setup(each.name, each, mode="words", mix=0.0, context=False)
            for each in (*OURS, *theirs)
        ]
        found = evaluate(questions, documents, alone, mean_size=options.mean_size, watch=watch)
        base = best_of(found, {each.name for each in theirs})
        show("Splitters alone, by words", found, base)
        size = found.row(base).size or MEAN_SIZE
        peer = Peer(base, size)
        setups = [
            Setup("best peer", peer, mode="words", mix=0.0, context=False),
            Setup("best peer in our index", peer, mode="words"),
            Setup("spanwise", for_search(), mode="words"),
        ]
        if options.embedder != "none":
            setups += [
                replace(
                    each,
                    name=f"{each.name} + {options.embedder}",
                    embedder=options.embedder,
                    mode="auto",
                )
                for each in setups
            ]
        shipped = evaluate(questions, documents, setups, watch=watch)
        bare = {each.name for each in setups if not each.context}
        show(f"As shipped; the best peer is {base}", shipped, best_of(shipped, bare))
        for i, each in enumerate((found, shipped)):
            for row in each.rows:
                over.setdefault((i, row.name), []).append(row.means["mean_recall"])
    print(f"# Recall, the mean over {len(folders)} sets\n")
    for i, title in enumerate(("Splitters alone, by words", "As shipped")):
        means = {name: sum(of) / len(of) for (number, name), of in over.items() if number == i}
        print(f"{title}\n")
        for name, mean in sorted(means.items(), key=lambda each: -each[1]):
            print(f"  {name:34} {mean:.3f}")
        print()


if __name__ == "__main__":
    main()
