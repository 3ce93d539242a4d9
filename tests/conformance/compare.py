"""Each vector against our output: equal, or explained to the letter by named departures.

A `Subject` says how one or more reference functions are run: `ours` is the real code on a vector,
`model` the plain model with some departures switched on. Both give an `Answer`: facets in the
order in which they are compared ("own" first, then "starts", "labels", "pages", ...), each any
value with `==`. `REFUSED` is the answer of whoever refuses the options, `HANGS` of a reference
that never returns. The model with nothing switched on is the vector (`test_models.py`).

A new strategy joins by a module in `subjects/` that ends in `SUBJECTS`, and by one line in
`subjects/__init__.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from conformance.departures import DEPARTURES
from hypothesis.strategies import SearchStrategy

DATA = Path(__file__).parent.parent / "data" / "conformance"

Vector = dict[str, Any]
Answer = dict[str, Any]
On = frozenset[str]

REFUSED: Answer = {"refused": True}
HANGS: Answer = {"hangs": True}

EQUAL, DEPARTS, BY_MODEL, UNEXPLAINED = "equal", "departs", "by the model", "unexplained"


class Subject(NamedTuple):
    """How the vectors of some reference functions are run.

    `departures` are the names that its model knows, in any order; none means that our output must
    equal the vector. `group` names the part of the file that a vector is counted in. `drawn` holds,
    by name, what the fuzz draws vectors from: `fn`, `options` and `input`, all options legal.
    """

    file: str
    functions: tuple[str, ...]
    ours: Callable[[Vector], Answer]
    model: Callable[[Vector, On], Answer]
    departures: tuple[str, ...]
    group: Callable[[Vector], str]
    by_model_only: bool = False
    drawn: Mapping[str, SearchStrategy[Vector]] = MappingProxyType({})


class Verdict(NamedTuple):
    """What became of one vector.

    `own_equal` looks at the own parts alone, `places_equal` at all but labels and pages.
    """

    file: str
    group: str
    name: str
    outcome: str
    departures: tuple[str, ...]
    own_equal: bool
    places_equal: bool


def vectors(file: str) -> list[Vector]:
    lines = (DATA / f"{file}.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def snake(options: Vector) -> Vector:
    """The options under the names the models use."""
    return {
        "".join(f"_{char.lower()}" if char.isupper() else char for char in name): value
        for name, value in options.items()
    }


def by_function(case: Vector) -> str:
    """The usual group: the reference function."""
    return str(case["fn"])


def pairs(subjects: Sequence[Subject]) -> Iterator[tuple[Subject, Vector]]:
    """Every vector with the subject that runs it; one that no subject runs is an error."""
    for file in dict.fromkeys(subject.file for subject in subjects):
        for case in vectors(file):
            found = [
                subject
                for subject in subjects
                if subject.file == file and case["fn"] in subject.functions
            ]
            if len(found) != 1:
                raise LookupError(f"{file}: {case['name']} has {len(found)} subjects, not 1")
            yield found[0], case


def judge(subject: Subject, case: Vector) -> Verdict:
    """Compare one vector."""
    reference, ours = subject.model(case, frozenset()), subject.ours(case)
    outcome, names = EQUAL, ()
    if subject.by_model_only:
        outcome = BY_MODEL if reference == ours else UNEXPLAINED
    elif reference != ours:
        every = frozenset(subject.departures)
        if subject.departures and subject.model(case, every) == ours:
            outcome = DEPARTS
            names = fewest(lambda on: bool(subject.model(case, on) == ours), every)
        else:
            outcome = UNEXPLAINED
    own_equal = reference.get("own", reference) == ours.get("own", ours)
    places_equal = without_names(reference) == without_names(ours)
    return Verdict(
        subject.file, subject.group(case), case["name"], outcome, names, own_equal, places_equal
    )


def without_names(answer: Answer) -> Answer:
    return {facet: value for facet, value in answer.items() if facet not in ("labels", "pages")}


def fewest(explains: Callable[[On], bool], every: On) -> tuple[str, ...]:
    """A small set of departures that still explains: one if one does, else by leaving out.

    No name can be left out of what comes back, though another set might be smaller.
    """
    names = [name for name in DEPARTURES if name in every]
    for name in names:
        if explains(frozenset({name})):
            return (name,)
    kept = list(names)
    for name in reversed(names):
        fewer = [other for other in kept if other != name]
        if explains(frozenset(fewer)):
            kept = fewer
    return tuple(kept)


def difference(subject: Subject, case: Vector) -> str:
    """The first facet in which the model with everything on is not our output."""
    model, ours = subject.model(case, frozenset(subject.departures)), subject.ours(case)
    for facet in dict.fromkeys([*model, *ours]):
        if model.get(facet) != ours.get(facet):
            return f"{facet}: model {model.get(facet)!r}, ours {ours.get(facet)!r}"
    return "none"
