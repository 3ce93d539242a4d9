"""The agentos models with every departure on are a second implementation: no text tells them apart.

200 examples a strategy, 20,000 with SPANWISE_DEEP=1 (SPANWISE_EXAMPLES for another number).
"""

from __future__ import annotations

import os
from typing import Any

import hostile
import pytest
from conformance.subjects import engine, structure
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLES = int(
    os.environ.get("SPANWISE_EXAMPLES") or (20_000 if os.environ.get("SPANWISE_DEEP") else 200)
)

# Much of the hostile alphabet in a row makes few passages; lines of words make many.
sentences = st.lists(
    st.sampled_from(
        ["One. ", "two ", "Three! ", "four, ", "five\n", "\n\n", "# A\n", "# B\n\n", "x" * 9, "  "]
    ),
    max_size=60,
).map("".join)
texts = st.one_of(hostile.hostile, hostile.texts, sentences)


@st.composite
def engine_cases(draw: Any, strategy: str) -> dict[str, Any]:
    size = draw(st.integers(1, 60))
    options = {"strategy": strategy, "chunkSize": size}
    overlap = draw(st.one_of(st.none(), st.integers(0, size - 1)))
    if overlap is not None:
        options["chunkOverlap"] = overlap
    if strategy == "semantic":
        options["embed"] = "wh16"
    return {"input": draw(texts), "options": options}


@st.composite
def structure_cases(draw: Any) -> dict[str, Any]:
    target = draw(st.integers(1, 60))
    options: dict[str, Any] = {"targetSize": target}
    if draw(st.booleans()):
        options["maxSize"] = draw(st.integers(1, 150))
    least = draw(st.one_of(st.none(), st.integers(0, min(60, options.get("maxSize", target) - 1))))
    if least is not None:
        options["minSize"] = least
    overlap = draw(st.one_of(st.none(), st.integers(0, target - 1)))
    if overlap is not None:
        options["overlap"] = overlap
    options["respectHeadings"] = draw(st.booleans())
    options["preserveCodeBlocks"] = draw(st.booleans())
    return {"input": draw(texts), "options": options}


@pytest.mark.parametrize("strategy", ["fixed", "semantic", "hierarchical", "layout"])
def test_chunking_engine(strategy: str) -> None:
    @settings(max_examples=EXAMPLES)
    @given(engine_cases(strategy))
    def same(case: dict[str, Any]) -> None:
        assert engine.run(case, frozenset(engine.DEPARTURES)) == engine.ours(case)

    same()


@settings(max_examples=EXAMPLES)
@given(structure_cases())
def test_semantic_chunker(case: dict[str, Any]) -> None:
    assert structure.run(case, frozenset(structure.DEPARTURES)) == structure.ours(case)
