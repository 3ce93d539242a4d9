"""agentfootprint's splitters, and its span helpers (which our code does not show)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.compare import (
    HANGS,
    REFUSED,
    Answer,
    On,
    Subject,
    Vector,
    by_function,
    snake,
)
from conformance.models import footprint as model
from conformance.models import footprint_html
from conformance.models import footprint_spans as spans_of
from conformance.models.white import Hang, Refused
from conformance.texts import texts
from hypothesis import strategies as st

import spanwise
from spanwise.errors import EmptyDocumentWarning, OptionError
from spanwise.splitters.base import Strategy

# The reference's option names and ours.
OPTIONS = {
    "maxChars": "chunk_size",
    "chars": "chunk_size",
    "overlapChars": "overlap",
    "minChars": "min_size",
    "maxLevel": "max_level",
    "wordWindow": "word_window",
}

SLICED = ("refused", "clusters", "word-overlap", "no-repeats", "small-sizes", "bound", "slices")
PAGED = ("pages", "own-page")
FLOORED = (*SLICED, *PAGED, "line-ends", "boundaries", "soft-cut", "one-overlap")
SECTIONED = (
    *FLOORED, "local", "equal-labels", "own-label", "first-label", "last-label", "bare",
    "commonmark",
)  # fmt: skip
FIXED = (*SLICED, *PAGED, "boundaries", "line-ends", "whole-words")
WHOLE = ("clusters", *PAGED)


def ours(kind: type[Strategy], media_type: str, case: Vector) -> Answer:
    options = {OPTIONS[name]: value for name, value in case["options"].items()}
    try:
        splitter = kind(**options)
    except OptionError:
        return REFUSED
    if "pages" in case:
        document = spanwise.Document.from_pages(case["pages"], media_type=media_type)
        assert document.text == case["input"]
    else:
        document = spanwise.Document(text=case["input"], media_type=media_type)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        chunks = splitter.split(document)
    return {
        "own": list(zip(chunks.bodies, chunks.ends, strict=True)),
        "starts": list(chunks.starts),
        "labels": [chunk.heading_path[-1] if chunk.heading_path else None for chunk in chunks],
        "pages": [int(chunk.pages[0]) if chunk.pages else None for chunk in chunks],
    }


def run(split: Callable[..., list[model.Piece]], case: Vector, on: On) -> Answer:
    options = {**snake(case["options"]), "pages": case.get("pages", [])}
    try:
        pieces = split(case["input"], **options, on=on)
    except (Refused, ValueError):
        return REFUSED
    except Hang:
        return HANGS
    return {
        "own": [(piece.body, piece.end) for piece in pieces],
        "starts": [piece.start for piece in pieces],
        "labels": [piece.heading for piece in pieces],
        "pages": [piece.page for piece in pieces],
    }


@st.composite
def drawn(draw: Any, name: str) -> Vector:
    """A vector with legal options for a splitter; one in four is of pages."""
    size = draw(st.integers(1, 80))
    options: Vector = {}
    if name != "wholeDocument":
        options["chars" if name == "fixedWithOverlap" else "maxChars"] = size
        options |= draw(st.sampled_from([{}, {"overlapChars": draw(st.integers(0, size - 1))}]))
    if name in ("byHeading", "byParagraph"):
        options |= draw(st.sampled_from([{}, {"minChars": draw(st.integers(0, size - 1))}]))
    if name == "byHeading":
        options["maxLevel"] = draw(st.sampled_from([6, 6, 1, 2, 3]))
    if name == "fixedWithOverlap":
        options["wordWindow"] = draw(st.integers(0, 50))
    case = {"fn": name, "options": options, "input": draw(texts)}
    if draw(st.integers(0, 3)) == 3:
        case["pages"] = draw(st.lists(texts, min_size=1, max_size=3))
        case["input"] = "\n\n".join(case["pages"])
    return case


def subject(
    name: str,
    kind: type[Strategy],
    media_type: str,
    split: Callable[..., list[model.Piece]],
    departures: tuple[str, ...],
) -> Subject:
    return Subject(
        "footprint_splitters",
        (name,),
        partial(ours, kind, media_type),
        partial(run, split),
        departures,
        by_function,
        drawn={name: drawn(name)},
    )


# Span helpers: our code has none of them, so the model stands against the vector.


def to_span(span: Vector) -> spans_of.Span:
    return spans_of.Span(span["start"], span["end"], span.get("heading"), span.get("contentStart"))


def as_span(span: spans_of.Span) -> Vector:
    answer = {
        "start": span.start,
        "end": span.end,
        "heading": span.heading,
        "contentStart": span.content_start,
    }
    return {name: value for name, value in answer.items() if value is not None}


def run_span_helper(name: str, given: Vector) -> Any:
    spans = [to_span(span) for span in given.get("spans", given.get("units", []))]
    if name == "packSpans":
        return [as_span(span) for span in spans_of.pack_spans(spans, given["maxChars"])]
    if name == "applyOverlap":
        return [as_span(span) for span in spans_of.apply_overlap(spans, given["overlapChars"])]
    if name == "foldRunts":
        limit = given.get("minChars", spans_of.RUNT_CHARS)
        return [as_span(span) for span in spans_of.fold_runts(spans, limit)]
    if name == "mergeShortSpansForward":
        merged = spans_of.merge_short_spans_forward(spans, given["minChars"])
        return [as_span(span) for span in merged]
    return run_text_helper(name, given)


def run_text_helper(name: str, given: Vector) -> Any:
    if name == "hardCut":
        cut = spans_of.hard_cut(to_span(given["span"]), given["maxChars"], given["overlapChars"])
        return [as_span(span) for span in cut]
    if name == "paragraphSpans":
        return [as_span(span) for span in spans_of.paragraph_spans(given["text"])]
    if name == "trimSpan":
        span = model.trim_span(given["text"], to_span(given["span"]))
        return None if span is None else as_span(span)
    if name == "pageLocator":
        locate = model.page_locator(given["pages"])
        return [locate(place) for place in given["offsets"]]
    if name == "resolveMinChars":
        return model.resolve_min_chars(given["minChars"], given["maxChars"])
    if name == "resolveChunkCeiling":
        declared = (given["embedder"] or {}).get("maxInputChars")
        chars, source = model.resolve_chunk_ceiling(given["explicit"], declared)
        return {"chars": chars, "source": source}
    assert name == "stripTags"
    return footprint_html.strip_tags(given["text"])


def expected(case: Vector) -> Answer:
    return REFUSED if case.get("refused") else {"answer": case["expected"]}


def helper(case: Vector, on: On) -> Answer:
    try:
        answer: Any = run_span_helper(case["fn"], case["input"])
    except ValueError:
        return REFUSED
    return {"answer": answer}


HELPERS = (
    "packSpans", "applyOverlap", "foldRunts", "mergeShortSpansForward", "hardCut",
    "paragraphSpans", "trimSpan", "pageLocator", "resolveMinChars", "resolveChunkCeiling",
    "stripTags",
)  # fmt: skip

SUBJECTS = (
    subject("byHeading", spanwise.by_heading, "text/markdown", model.by_heading, SECTIONED),
    subject("byParagraph", spanwise.by_paragraph, "text/plain", model.by_paragraph, FLOORED),
    subject(
        "fixedWithOverlap",
        spanwise.fixed_with_overlap,
        "text/plain",
        model.fixed_with_overlap,
        FIXED,
    ),
    subject("wholeDocument", spanwise.whole_document, "text/plain", model.whole_document, WHOLE),
    Subject("footprint_spans", HELPERS, expected, helper, (), by_function, by_model_only=True),
)
