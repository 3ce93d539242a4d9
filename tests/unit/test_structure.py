"""Structure on real Markdown: fences and tables whole, headings with their text.

The judge is markdown-it-py, in `benchmarks/structure.py`. Judged are own parts, `[body, end)`.
"""

import sys
from functools import cache
from pathlib import Path

import pytest

from spanwise import by_heading, by_layout, by_structure

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
try:
    import corpora
    import structure
finally:
    del sys.path[0]

# Each maker takes a size and an overlap, and has its own bound on the fences and tables that must
# stay whole. `by_layout` cuts none without `max_size`. `by_structure` knows no tables; its cap,
# twice the size, holds for a fence with the headings right above it, which are below one size.
STRATEGIES = {
    "by_heading": (
        lambda size, overlap: by_heading(chunk_size=size, overlap=overlap),
        lambda size: (size, size),
    ),
    "by_layout": (
        lambda size, overlap: by_layout(chunk_size=size, overlap=overlap),
        lambda size: (float("inf"), float("inf")),
    ),
    "by_structure": (
        lambda size, overlap: by_structure(target_size=size, overlap=overlap),
        lambda size: (size, 0),
    ),
}


@cache
def judged_files():
    return [(name, text, structure.judge(text)) for name, text in corpora.repo_markdown()]


def lost(splitter, fence, table, files):
    """Everything the own parts lose, as readable rows."""
    return [
        (name, loss.kind, loss.start, text[loss.start : loss.end][:60])
        for name, text, judged in files
        for loss in structure.losses(
            text, judged, structure.own_parts(splitter.split(text)), fence=fence, table=table
        )
    ]


def test_the_corpus_holds_what_is_judged():
    files = judged_files()
    assert len(files) >= 100
    for kind in (0, 1, 2):
        assert sum(len(judged[kind]) for _, _, judged in files) >= 40


def test_the_judge_sees_every_kind_of_loss():
    text = "# A\n\nText.\n\n# B\n\n```\none\n\ntwo\n```\n\n|a|b|\n|-|-|\n|1|2|\n"
    judged = structure.judge(text)
    two, row = text.index("\ntwo"), text.index("|1|2|")
    parts = [(0, 3), (5, 15), (17, two - 1), (two + 1, row - 1), (row, len(text) - 1)]
    found = [
        (loss.kind, loss.chunk)
        for loss in structure.losses(text, judged, parts, fence=1000, table=1000)
    ]
    assert found == [
        *(("fence cut", 2), ("table cut", 3)),
        *(("heading orphaned", 0), ("heading alone", 0), ("heading orphaned", 1)),
    ]
    assert not list(structure.losses(text, judged, [(0, len(text))], fence=1000, table=1000))


@pytest.mark.parametrize("overlap", [0, None])
@pytest.mark.parametrize("size", structure.SIZES)
@pytest.mark.parametrize("name", STRATEGIES)
def test_real_markdown_keeps_its_structure(name, size, overlap):
    make, bounds = STRATEGIES[name]
    fence, table = bounds(size)
    assert lost(make(size, overlap), fence, table, judged_files()) == []


@pytest.mark.parametrize("size", structure.SIZES)
@pytest.mark.parametrize("name", ["by_heading", "by_structure"])
def test_real_markdown_keeps_its_structure_with_crlf(name, size):
    make, bounds = STRATEGIES[name]
    fence, table = bounds(size)
    texts = [(file, corpora.crlf(text)) for file, text, _ in judged_files()[::4]]
    files = [(file, text, structure.judge(text)) for file, text in texts]
    assert lost(make(size, None), fence, table, files) == []
