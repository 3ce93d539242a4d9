"""The models answer every golden vector exactly, so a departure can be stated against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conformance.models import chunk_text, engine, footprint, footprint_spans, structure, turns
from conformance.models.white import Hang
from conformance.subjects.footprint import run_span_helper

DATA = Path(__file__).parent.parent / "data" / "conformance"

Vector = dict[str, Any]


def vectors(name: str) -> list[Vector]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def cases(name: str) -> list[Any]:
    rows = enumerate(vectors(name))
    return [pytest.param(case, id=f"{row}-{case['name']}") for row, case in rows]


def snake(options: Vector) -> Vector:
    """The options under the names the models use."""
    return {
        "".join(f"_{char.lower()}" if char.isupper() else char for char in name): value
        for name, value in options.items()
    }


COUNTS = {
    "agora_chunk_text": 122,
    "footprint_splitters": 247,
    "footprint_spans": 137,
    "agentos_semantic_chunker": 112,
    "agentos_chunking_engine": 122,
    "chunk_turns": 31,
}


@pytest.mark.parametrize(("name", "count"), COUNTS.items())
def test_no_vector_is_missing(name: str, count: int) -> None:
    assert len(vectors(name)) == count


@pytest.mark.parametrize("case", cases("agora_chunk_text"))
def test_chunk_text(case: Vector) -> None:
    options, text = snake(case["options"]), case["input"]
    assert chunk_text.chunk_strings(text, **options) == case["expected"]
    for start, body, end in chunk_text.chunk_text(text, **options):
        assert 0 <= start <= body <= end <= len(text)


# agentfootprint.

SPLITTERS = {
    "byHeading": footprint.by_heading,
    "byParagraph": footprint.by_paragraph,
    "fixedWithOverlap": footprint.fixed_with_overlap,
    "wholeDocument": footprint.whole_document,
}


def as_piece(piece: footprint.Piece) -> Vector:
    answer = {
        "start": piece.start,
        "end": piece.end,
        "heading": piece.heading,
        "page": piece.page,
    }
    return {name: value for name, value in answer.items() if value is not None}


@pytest.mark.parametrize("case", cases("footprint_splitters"))
def test_footprint_splitters(case: Vector) -> None:
    text = case["input"]
    options = {**snake(case["options"]), "pages": case.get("pages", [])}
    split = SPLITTERS[case["fn"]]
    if case.get("refused") or case.get("reference_hangs"):
        with pytest.raises(ValueError if case.get("refused") else Hang):
            split(text, **options)
        return
    pieces = split(text, **options)
    expected = [
        {name: value for name, value in piece.items() if name != "splits_pair"}
        for piece in case["expected"]
    ]
    assert [as_piece(piece) for piece in pieces] == expected
    for piece in pieces:
        assert piece.start <= piece.body <= piece.end


@pytest.mark.parametrize("case", cases("footprint_spans"))
def test_footprint_spans(case: Vector) -> None:
    if case.get("refused"):
        with pytest.raises(ValueError):
            run_span_helper(case["fn"], case["input"])
        return
    assert run_span_helper(case["fn"], case["input"]) == case["expected"]


# agentos.


@pytest.mark.parametrize("case", cases("agentos_semantic_chunker"))
def test_semantic_chunker(case: Vector) -> None:
    text, options = case["input"], snake(case["options"])
    if case.get("reference_hangs"):
        with pytest.raises(Hang):
            structure.semantic_chunks(text, **options)
        return
    metadata = {"metadata": case["metadata"]} if "metadata" in case else {}
    answer = [
        {
            "text": structure.chunk_text(text, chunk),
            "index": chunk.number,
            "startOffset": chunk.start_offset,
            "endOffset": chunk.end_offset,
            "boundaryType": chunk.kind,
            **metadata,
        }
        for chunk in structure.semantic_chunks(text, **options)
    ]
    assert answer == case["expected"]


def as_engine_chunk(text: str, chunk: engine.Chunk, index: int) -> Vector:
    answer = {"content": engine.chunk_content(text, chunk), "index": index}
    extra = {"heading": chunk.heading, "metadata": chunk.metadata}
    return answer | {name: value for name, value in extra.items() if value is not None}


@pytest.mark.parametrize("case", cases("agentos_chunking_engine"))
def test_chunking_engine(case: Vector) -> None:
    text, options = case["input"], snake(case["options"])
    if case.get("refused") or case.get("reference_hangs"):
        with pytest.raises(ValueError if case.get("refused") else Hang):
            engine.engine_chunks(text, **options)
        return
    chunks = engine.engine_chunks(text, **options)
    answer = [as_engine_chunk(text, chunk, index) for index, chunk in enumerate(chunks)]
    assert answer == case["expected"]


@pytest.mark.parametrize("case", cases("chunk_turns"))
def test_chunk_turns(case: Vector) -> None:
    assert turns.chunk_turns(case["input"], **snake(case["options"])) == case["expected"]


# Inputs the reference notes give that no vector holds.


def test_leading_blank_line_erases_the_first_label() -> None:
    pieces = footprint.by_heading("\n# A\n\n" + "x" * 300)
    assert [(piece.start, piece.heading) for piece in pieces] == [(1, None)]


def test_negative_overlap_skips_text() -> None:
    cut = footprint_spans.hard_cut(footprint_spans.Span(0, 200), 60, -30)
    assert [(span.start, span.end) for span in cut] == [(0, 60), (90, 150), (180, 200)]


def test_hard_cut_overlaps_twice() -> None:
    pieces = footprint.by_paragraph("x" * 3000)
    expected = [(0, 1000), (700, 1850), (1550, 2700), (2400, 3000)]
    assert [(piece.start, piece.end) for piece in pieces] == expected


def test_overlap_past_the_piece_adds_nothing() -> None:
    found = chunk_text.chunk_text("aaaa bbbb cccc dddd eeee", chunk_size=20, overlap=18)
    assert [passage.body == passage.end for passage in found] == [False, True, True, False]


@pytest.mark.parametrize(("text", "size", "overlap"), [("a bb ccc dddd eeeee", 6, 2)])
def test_engine_goes_back_for_ever(text: str, size: int, overlap: int) -> None:
    with pytest.raises(Hang):
        engine.engine_chunks(text, strategy="fixed", chunk_size=size, chunk_overlap=overlap)
