"""adonis-agora `chunkText`: prose and records."""

from __future__ import annotations

from typing import Any

from conformance.compare import REFUSED, Answer, On, Subject, Vector, snake
from conformance.models import chunk_text as model
from conformance.models.white import Refused
from conformance.texts import texts
from hypothesis import strategies as st

import spanwise
from spanwise.errors import OptionError

DEPARTURES = (
    "refused", "order", "boundaries", "line-ends", "clusters", "whole-words", "word-overlap",
    "no-repeats", "small-sizes", "slices",
)  # fmt: skip


def ours(case: Vector) -> Answer:
    try:
        chunks = spanwise.chunk_text(case["input"], **snake(case["options"]))
    except OptionError:
        return REFUSED
    return {
        "own": list(zip(chunks.bodies, chunks.ends, strict=True)),
        "starts": chunks.starts,
        "texts": chunks.texts,
    }


def run(case: Vector, on: On) -> Answer:
    text, options = case["input"], snake(case["options"])
    try:
        passages = model.chunk_text(text, **options, on=on)
        strings = model.chunk_strings(text, **options, on=on)
    except Refused:
        return REFUSED
    return {
        "own": [(passage.body, passage.end) for passage in passages],
        "starts": [passage.start for passage in passages],
        "texts": strings,
    }


def group(case: Vector) -> str:
    return "chunkText records" if case["options"].get("separator") else "chunkText prose"


@st.composite
def drawn(draw: Any, separators: st.SearchStrategy[Any]) -> Vector:
    size = draw(st.integers(1, 80))
    overlap = draw(st.one_of(st.none(), st.integers(0, size - 1)))
    options = {"chunkSize": size, "separator": draw(separators)}
    if overlap is not None:
        options["overlap"] = overlap
    return {"fn": "chunkText", "options": options, "input": draw(texts)}


DRAWN = {
    "chunkText prose": drawn(st.just("")),
    "chunkText records": drawn(
        st.sampled_from(["\n", "\n\n", "---", " ", "a", "\r\n", "x", ". ", "\u0301"])
    ),
}

SUBJECTS = (Subject("agora_chunk_text", ("chunkText",), ours, run, DEPARTURES, group, drawn=DRAWN),)
