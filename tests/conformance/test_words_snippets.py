"""`lexical_tokens` and `snippet_around` against the golden vectors, with no departure."""

import json
from pathlib import Path
from typing import Any

import pytest

from spanwise.lexical import lexical_tokens
from spanwise.snippets import snippet_around

DATA = Path(__file__).parents[1] / "data" / "conformance"


def vectors(name: str) -> list[Any]:
    lines = (DATA / name).read_text("ascii").splitlines()
    cases = [json.loads(line) for line in lines]
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", vectors("lexical_tokens.jsonl"))
def test_lexical_tokens(case: dict[str, Any]) -> None:
    assert lexical_tokens(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", vectors("snippet_around.jsonl"))
def test_snippet_around(case: dict[str, Any]) -> None:
    snippet = snippet_around(case["input"]["text"], case["input"]["words"], **case["options"])
    assert {"at": snippet.at, "text": snippet.text} == case["expected"]


def test_every_vector_is_here() -> None:
    assert len(vectors("lexical_tokens.jsonl")) == 36
    assert len(vectors("snippet_around.jsonl")) == 33
