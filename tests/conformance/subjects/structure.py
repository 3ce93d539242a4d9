"""agentos `SemanticChunker.chunk`."""

from __future__ import annotations

from conformance.compare import HANGS, REFUSED, Answer, On, Subject, Vector, by_function, snake
from conformance.models import structure as model
from conformance.models.white import Hang, Refused, js_trim

import spanwise
from spanwise.errors import OptionError

DEPARTURES = (
    "refused", "boundaries", "line-ends", "clusters", "whole-words", "word-overlap", "local",
    "no-repeats", "small-sizes", "bare", "commonmark", "once", "slices", "cap-whole",
)  # fmt: skip


def ours(case: Vector) -> Answer:
    try:
        splitter = spanwise.SemanticChunker(**snake(case["options"]))
    except OptionError:
        return REFUSED
    chunks = splitter.split(case["input"])
    return {
        "own": [chunk.text[chunk.body - chunk.start :] for chunk in chunks],
        "bodies": [(chunk.body, chunk.end) for chunk in chunks],
        "texts": chunks.texts,
    }


def run(case: Vector, on: On) -> Answer:
    text, options = case["input"], snake(case["options"])
    try:
        chunks = model.semantic_chunks(text, **options, on=on)
    except Refused:
        return REFUSED
    except Hang:
        return HANGS
    source = text + "\n"
    return {
        # The reference's own parts end with line feeds of its own: they are looked at in "texts".
        "own": [inner(model.chunk_text(text, chunk._replace(lead=())), on) for chunk in chunks],
        "bodies": [own_range(source, chunk, on) for chunk in chunks],
        "texts": [model.chunk_text(text, chunk) for chunk in chunks],
    }


def inner(text: str, on: On) -> str:
    start, end = js_trim(text, 0, len(text))
    return text if "slices" in on else text[start:end]


def own_range(source: str, chunk: model.Chunk, on: On) -> tuple[int, int]:
    start, end = chunk.runs[0].start, chunk.runs[-1].end
    return (start, end) if "slices" in on else js_trim(source, start, end)


SUBJECTS = (
    Subject(
        "agentos_semantic_chunker",
        ("SemanticChunker.chunk",),
        ours,
        run,
        DEPARTURES,
        by_function,
    ),
)
