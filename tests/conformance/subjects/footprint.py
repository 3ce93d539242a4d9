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
from conformance.models.white import Hang, Refused
from conformance.test_models import run_span_helper

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

FLOORED = (
    "refused", "line-ends", "clusters", "word-overlap", "soft-cut", "local", "one-overlap",
    "small-sizes", "bound", "pages", "own-page",
)  # fmt: skip
SECTIONED = (
    *FLOORED, "equal-labels", "first-label", "last-label", "bare", "commonmark",
)  # fmt: skip
FIXED = (
    "refused",
    "whole-words",
    "clusters",
    "word-overlap",
    "small-sizes",
    "bound",
    "pages",
    "own-page",
)
WHOLE = ("clusters", "pages", "own-page")


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
    )


# Span helpers: our code has none of them, so the model stands against the vector.


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
