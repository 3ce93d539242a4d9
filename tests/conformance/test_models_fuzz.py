"""With every departure on, the plain models are a second implementation: no text tells them apart.

20,000 examples each with SPANWISE_DEEP=1 (SPANWISE_EXAMPLES for another number).
"""

from __future__ import annotations

import os

import pytest
from conformance.compare import Subject, difference
from conformance.subjects import SUBJECTS
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLES = int(
    os.environ.get("SPANWISE_EXAMPLES") or (20_000 if os.environ.get("SPANWISE_DEEP") else 200)
)

DRAWN = [
    pytest.param(subject, cases, id=name)
    for subject in SUBJECTS
    for name, cases in subject.drawn.items()
]


@pytest.mark.parametrize(("subject", "cases"), DRAWN)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_the_model_with_every_departure_is_our_code(
    subject: Subject, cases: st.SearchStrategy[dict[str, object]], data: st.DataObject
) -> None:
    case = data.draw(cases)
    assert subject.ours(case) == subject.model(case, frozenset(subject.departures)), difference(
        subject, case
    )
