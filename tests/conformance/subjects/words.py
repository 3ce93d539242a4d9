"""`chunkTurns`, `lexicalTokens` and `snippetAround`: no departures, so no model is needed."""

from __future__ import annotations

from typing import Any

from conformance.compare import Answer, On, Subject, Vector, by_function

from spanwise import Turn, chunk_turns, lexical_tokens, snippet_around


def expected(case: Vector, on: On) -> Answer:
    return {"answer": case["expected"]}


def tokens(case: Vector) -> Answer:
    return {"answer": lexical_tokens(case["input"])}


def snippet(case: Vector) -> Answer:
    found = snippet_around(case["input"]["text"], case["input"]["words"], **case["options"])
    return {"answer": {"at": found.at, "text": found.text}}


def turns(case: Vector) -> Answer:
    names = {"maxChars": "chunk_size", "overlapTurns": "overlap_turns"}
    given = [
        Turn(
            turn["text"],
            turn["seq"],
            turn["itemId"],
            start_ms=turn.get("startMs"),
            end_ms=turn.get("endMs"),
        )
        for turn in case["input"]
    ]
    options = {names[name]: value for name, value in case["options"].items()}
    return {"answer": [as_passage(chunk) for chunk in chunk_turns(given, **options)]}


def as_passage(chunk: Any) -> Vector:
    """A chunk of turns in the reference's words."""
    return {
        "index": chunk.index,
        "text": chunk.text,
        "firstSeq": chunk.first_seq,
        "lastSeq": chunk.last_seq,
        "itemIds": list(chunk.item_ids),
        "startMs": chunk.start_ms,
        "endMs": chunk.end_ms,
        "turns": [
            {"seq": turn.seq, "itemId": turn.item_id, "start": turn.start, "end": turn.end}
            for turn in chunk.turns
        ],
    }


SUBJECTS = (
    Subject("chunk_turns", ("chunkTurns",), turns, expected, (), by_function),
    Subject("lexical_tokens", ("lexicalTokens",), tokens, expected, (), by_function),
    Subject("snippet_around", ("snippetAround",), snippet, expected, (), by_function),
)
