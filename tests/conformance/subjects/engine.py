"""agentos `ChunkingEngine.chunk`: its four strategies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.compare import HANGS, REFUSED, Answer, On, Subject, Vector, snake
from conformance.models import engine as model
from conformance.models.white import Hang, Refused

import spanwise
from spanwise.errors import OptionError

DEPARTURES = (
    "refused", "order", "boundaries", "line-ends", "clusters", "whole-words", "word-overlap",
    "no-repeats", "small-sizes", "bare", "commonmark", "slices", "cut-long",
)  # fmt: skip


def wh16(texts: Sequence[str]) -> list[list[int]]:
    """The vectors' fake embedding."""
    return [model.wh16(text) for text in texts]


def our_options(options: Vector) -> dict[str, Any]:
    """Our names and our embedding for those of a vector."""
    names = {"chunkSize": "chunk_size", "chunkOverlap": "overlap"}
    ours = {names.get(name, name): value for name, value in options.items()}
    return ours | {"embed": wh16} if "embed" in ours else ours


def ours(case: Vector) -> Answer:
    try:
        chunks = spanwise.ChunkingEngine().chunk(case["input"], **our_options(case["options"]))
    except OptionError:
        return REFUSED
    answer: Answer = {
        "own": [chunk.text[chunk.body - chunk.start :] for chunk in chunks],
        "bodies": [(chunk.body, chunk.end) for chunk in chunks],
        "texts": chunks.texts,
    }
    if case["options"]["strategy"] == "hierarchical":
        # The other strategies of the reference give no heading; ours always has its path.
        answer["labels"] = [
            chunk.heading_path[-1] if chunk.heading_path else None for chunk in chunks
        ]
    return answer


def run(case: Vector, on: On) -> Answer:
    text, options = case["input"], snake(case["options"])
    try:
        chunks = model.engine_chunks(text, **options, on=on)
    except (Refused, ValueError):
        return REFUSED
    except Hang:
        return HANGS
    contents = [model.chunk_content(text, chunk) for chunk in chunks]
    answer: Answer = {
        "own": [text[chunk.body :] for text, chunk in zip(contents, chunks, strict=True)],
        "bodies": [model.own_range(chunk) for chunk in chunks],
        "texts": contents,
    }
    if options["strategy"] == "hierarchical":
        answer["labels"] = [chunk.heading for chunk in chunks]
    return answer


def group(case: Vector) -> str:
    return f"ChunkingEngine {case['options']['strategy']}"


SUBJECTS = (
    Subject("agentos_chunking_engine", ("ChunkingEngine.chunk",), ours, run, DEPARTURES, group),
)
