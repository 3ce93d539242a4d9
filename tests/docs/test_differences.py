"""docs/differences.md: an entry for every departure, and its examples are what really comes out.

`python tests/docs/test_differences.py` (with tests/ on the path) writes the outputs anew.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conformance.compare import Answer, Subject, Vector, fewest
from conformance.departures import DEPARTURES
from conformance.subjects import SUBJECTS

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
NOTHING: frozenset[str] = frozenset()


class Example(NamedTuple):
    """A block of the page: the departure it stands under, the call, and what is said to come out.

    `first..last` are the lines of the block.
    """

    departure: str
    case: Vector
    theirs: str
    ours: str
    first: int
    last: int


def lines() -> list[str]:
    return PAGE.read_text(encoding="utf-8").split("\n")


def entries() -> list[str]:
    return [line.split("`")[1] for line in lines() if line.startswith("### `")]


def examples() -> list[Example]:
    found, departure, page = [], "", lines()
    for row, line in enumerate(page):
        if line.startswith("### `"):
            departure = line.split("`")[1]
        if line != "```text":
            continue
        last = page.index("```", row)
        call, *rest = page[row + 1 : last]
        function, options = call.split(" ", 1)
        said = dict(each.split(maxsplit=1) for each in rest)
        case: Vector = {"fn": function, "options": json.loads(options)}
        if "pages" in said:
            case["pages"] = json.loads(said["pages"])
            case["input"] = "\n\n".join(case["pages"])
        else:
            case["input"] = json.loads(said["text"])
        found.append(Example(departure, case, said["theirs"], said["ours"], row + 1, last))
    return found


def subject_of(case: Vector) -> Subject:
    return next(subject for subject in SUBJECTS if case["fn"] in subject.functions)


def shown(answer: Answer, text: str) -> str:
    """The texts of an answer; with the heading or the page before each where one has any."""
    if "refused" in answer:
        return "refused"
    if "hangs" in answer:
        return "never returns"
    texts = answer.get("texts")
    if texts is None:
        places = zip(answer["starts"], answer["own"], strict=True)
        texts = [text[start:end] for start, (_, end) in places]
    rows: list[Any] = list(texts)
    for name in ("labels", "pages"):
        if any(value is not None for value in answer.get(name, ())):
            rows = [[value, row] for value, row in zip(answer[name], rows, strict=True)]
    return json.dumps(rows, ensure_ascii=False)


def outputs(case: Vector) -> tuple[str, str]:
    subject, text = subject_of(case), case["input"]
    return shown(subject.model(case, NOTHING), text), shown(subject.ours(case), text)


def test_every_departure_has_an_entry_in_order() -> None:
    assert entries() == list(DEPARTURES)
    assert {example.departure for example in examples()} == set(DEPARTURES)


@pytest.mark.parametrize(
    "example", [pytest.param(each, id=f"{each.departure}-{each.first}") for each in examples()]
)
def test_example(example: Example) -> None:
    assert (example.theirs, example.ours) == outputs(example.case)
    subject, case, name = subject_of(example.case), example.case, example.departure
    ours = subject.ours(case)

    def explains(on: frozenset[str]) -> bool:
        return bool(subject.model(case, on) == ours)

    every = frozenset(subject.departures)
    assert explains(every)
    assert not explains(NOTHING)
    # The departure is what the example shows: without it the rest gives something else.
    assert not explains(every - {name}) or name in fewest(explains, every)


def write() -> None:
    """Put what comes out into the blocks."""
    page = lines()
    for example in reversed(examples()):
        theirs, ours = outputs(example.case)
        kept = [
            line
            for line in page[example.first : example.last]
            if not line.startswith(("theirs ", "ours "))
        ]
        page[example.first : example.last] = [*kept, f"theirs {theirs}", f"ours   {ours}"]
    PAGE.write_text("\n".join(page), encoding="utf-8")


if __name__ == "__main__":
    write()
