"""STABLE: the cuts of a version do not change unasked. Positions as a hash, never text.

When cuts change on purpose, raise the strategy's `version`, say so in CHANGELOG.md, and
write the hashes anew with: python tests/golden/test_golden.py
"""

from __future__ import annotations

import json
import lzma
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from spanwise import Document, Turn
from spanwise.splitters.registry import STRATEGIES

HERE = Path(__file__).parent
CORPUS = HERE.parent / "data" / "markdown_corpus.jsonl.xz"
HASHES = HERE / "cuts.json"


def two_letters(texts: Any) -> list[list[float]]:
    """A fixed embedding: how often two letters occur, and a constant."""
    return [[text.count("e"), text.count("t"), 0.5] for text in texts]


def cuts(kind: Any) -> str:
    """A hash over the positions of a strategy at its defaults on the whole corpus."""
    digest = sha256()
    with lzma.open(CORPUS, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][::3]
    for text in texts:
        document = Document(text=text)
        options: dict[str, Any] = {}
        if kind.name == "by_turn":
            turns = (Turn(line, i) for i, line in enumerate(text.splitlines()))
            document = Document.from_turns(turns)
        if kind.name == "by_similarity":
            options["embed"] = two_letters
        chunks = kind(**options).split(document)
        digest.update(json.dumps([chunks.starts, chunks.bodies, chunks.ends]).encode())
        digest.update("".join(chunks.boundaries).encode())
    return f"{kind.version} {digest.hexdigest()[:32]}"


@pytest.mark.parametrize("kind", STRATEGIES, ids=lambda kind: kind.name)
def test_the_cuts_are_those_of_the_version(kind: Any) -> None:
    assert cuts(kind) == json.loads(HASHES.read_text())[kind.name]


if __name__ == "__main__":
    found = {kind.name: cuts(kind) for kind in STRATEGIES}
    HASHES.write_text(json.dumps(found, indent=2) + "\n")
