"""How many chunks change when one sentence is put into a real Markdown file.

Files of 15 to 120 kB, size 1000, overlap 0. The sentence goes to the start of the paragraph that
is nearest to a place in the file: half of it for the first table (about 60 files), and one eighth,
two eighths and so on for the second (all files). A chunk has changed when its text is in the new
list of texts and not in the old one; texts that occur more than once count as often as they occur.

    python benchmarks/edits.py
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from statistics import mean

import corpora
import peers

import spanwise

SIZE = 1000
FILES = 60
PLACES = 7
PEERS = (peers.STS_MARKDOWN, peers.LANGCHAIN_MARKDOWN, peers.CHONKIE, peers.BLAZECHUNK)
SENTENCE = "This sentence was put here by hand to see what it moves. "

Cut = Callable[[str], list[str]]


def splitters() -> dict[str, Cut]:
    """Ours and the peers that are installed, each to a list of texts."""
    heading = spanwise.by_heading(chunk_size=SIZE, overlap=0)
    structure = spanwise.by_structure(target_size=SIZE, overlap=0)
    layout = spanwise.by_layout(chunk_size=SIZE, overlap=0)
    paragraph = spanwise.by_paragraph(chunk_size=SIZE, overlap=0)
    made: dict[str, Cut] = {
        "by_heading": lambda text: heading.split(text).texts,
        "by_structure": lambda text: structure.split(text).texts,
        "by_layout": lambda text: layout.split(text).texts,
        "by_paragraph": lambda text: paragraph.split(text).texts,
    }
    for name, run in peers.installed(PEERS, SIZE).items():
        made[name] = lambda text, run=run: [each for each, *_ in run(text)]
    return made


def places(text: str, count: int) -> list[int]:
    """Starts of paragraphs near ``count`` places that divide the text evenly, without doubles."""
    starts = [block.start for block in spanwise.blocks(text) if block.kind == "paragraph"]
    wanted = [len(text) * i // (count + 1) for i in range(1, count + 1)]
    near = (min(starts, key=lambda start, at=at: abs(start - at)) for at in wanted if starts)
    return list(dict.fromkeys(near))


def changed(before: list[str], after: list[str]) -> int:
    """How many texts of the new list are not in the old one."""
    return (Counter(after) - Counter(before)).total()


def files() -> list[tuple[str, str]]:
    """The real Markdown files of the right size."""
    return [
        (name, text)
        for name, text in corpora.markdown_files()
        if 15_000 <= len(text.encode("utf-8", "surrogatepass")) <= 120_000
    ]


def table(cut: Cut, texts: list[tuple[str, str]], count: int) -> dict[str, object]:
    """Mean and worst of one splitter, and where the worst was."""
    found = []
    for name, text in texts:
        before = cut(text)
        for at in places(text, count):
            after = cut(text[:at] + SENTENCE + text[at:])
            found.append((changed(before, after), name, at))
    worst = max(found)
    return {
        "edits": len(found),
        "mean": mean(count for count, _, _ in found),
        "worst": worst[0],
        "without": mean(count for count, name, _ in found if name != worst[1]),
        "over_4": sum(count > 4 for count, _, _ in found),
        "where": f"{worst[1]} at {worst[2]}",
    }


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--only", nargs="*", default=[], help="names of splitters")
    given = parser.parse_args()
    texts = files()
    made = splitters()
    print(f"spanwise {spanwise.__version__}, {peers.versions()}", file=sys.stderr)
    for chosen, count in ((texts[:FILES], 1), (texts, PLACES)):
        if not given.json:
            print(f"{len(chosen)} files, {count} place(s) each")
        for name, cut in made.items():
            if given.only and name not in given.only:
                continue
            row = {"files": len(chosen), "name": name, **table(cut, chosen, count)}
            if given.json:
                print(json.dumps(row))
            else:
                print(
                    f"  {name:32}{row['edits']:5} edits  mean {row['mean']:6.2f}  "
                    f"worst {row['worst']:4}  over 4: {row['over_4']:3}  "
                    f"mean without the worst file {row['without']:5.2f}: {row['where']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
