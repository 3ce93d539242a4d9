"""The table of parts beside a plain tuple of them, and documents that keep one."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import Document, OptionError, Part
from spanwise.parts import Parts

PARTS = st.builds(
    Part,
    kind=st.sampled_from(["page", "row"]),
    start=st.integers(0, 3),
    end=st.integers(0, 3),
    label=st.sampled_from(["", "1", "x"]),
    meta=st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=1),
)
PLAIN = st.lists(PARTS, max_size=6).map(tuple)
EDGES = st.none() | st.integers(-8, 8)
# As loaders make it: numbers for labels, one value again and again for kinds and metas.
NUMBERED = st.integers(0, 6).map(
    lambda n: Parts(("row",) * n, range(n), list(range(1, n + 1)), range(7, n + 7), ({"a": 1},) * n)
)
TABLES = PLAIN.map(Parts.of) | NUMBERED


def outcome(ask: Any) -> Any:
    try:
        return ask()
    except Exception as fault:
        return type(fault)


@given(TABLES, st.integers(-8, 8), EDGES, EDGES, EDGES.filter(lambda step: step != 0))
def test_a_table_answers_as_a_tuple_does(
    table: Parts, index: int, start: int | None, end: int | None, step: int | None
) -> None:
    plain = tuple(Part(**dict(zip(Part.__slots__, row, strict=True))) for row in table.rows())
    assert (len(table), bool(table), hash(table)) == (len(plain), bool(plain), hash(plain))
    assert [*table] == [*plain] and [*reversed(table)] == [*reversed(plain)]
    assert outcome(lambda: table[index]) == outcome(lambda: plain[index])
    assert tuple(table[start:end:step]) == plain[start:end:step]
    assert isinstance(table[start:end:step], Parts)
    for part in plain:
        assert part in table
        assert (table.index(part), table.count(part)) == (plain.index(part), plain.count(part))
    assert outcome(lambda: table.index(None)) is ValueError
    assert None not in table
    assert table + plain == plain + table == table + table == (*table, *plain) == plain * 2
    assert type(table + table) is tuple


@given(TABLES, TABLES)
def test_a_table_is_equal_to_what_holds_equal_parts(one: Parts, other: Parts) -> None:
    same = tuple(one) == tuple(other)
    assert (one == other) == (one == tuple(other)) == (tuple(one) == other) == same
    assert (one == list(other)) == (list(one) == other) == same
    assert (one != other) == (not same)
    assert one != set() and one != None and one != "x"  # noqa: E711
    if same:
        assert len({one, other, tuple(one)}) == 1
    for again in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
        assert again == one and type(again) is Parts


@given(PLAIN, st.sampled_from(["page", "row", "cell"]), st.sets(st.integers(0, 5)))
def test_parts_are_picked_by_kind_and_by_place(
    plain: tuple[Part, ...], kind: str, places: set[int]
) -> None:
    table, rising = Parts.of(plain), sorted(place for place in places if place < len(plain))
    assert table.at(rising) == [plain[place] for place in rising]
    assert table.labels_at(rising) == [plain[place].label for place in rising]
    assert table.of_kind(kind) == [part for part in plain if part.kind == kind]
    assert (
        Parts.of(table) is table and Parts.of_rows(table.rows()) == Parts.of(iter(plain)) == plain
    )


def test_a_long_table_is_shown_by_its_first_and_last() -> None:
    table = Parts(("row",) * 4, range(4), range(1, 5), range(1, 5), ({},) * 4)
    first, second, *_, last = map(repr, table)
    assert first == "Part(kind='row', start=0, end=1, label='1', meta={})"
    assert repr(table) == f"<Parts: 4, {first}, …, {last}>"
    assert repr(table[:2]) == f"<Parts: 2, {first}, {second}>"
    assert repr(Parts()) == "<Parts: 0>"


def test_a_table_does_not_change() -> None:
    with pytest.raises(FrozenInstanceError):
        Parts().starts = [1]  # type: ignore[misc]
    with pytest.raises(TypeError):
        Parts()[0] = Part(kind="row", start=0, end=0, label="")  # type: ignore[index]


def test_a_document_takes_parts_in_any_form() -> None:
    plain = tuple(Part(kind="row", start=i, end=i + 1, label=str(i), meta={"n": i}) for i in (0, 1))
    made = [Document(text="ab", parts=each) for each in (plain, [*plain], iter(plain))]  # type: ignore[arg-type]
    for document in made:
        assert document == made[0] and hash(document) == hash(made[0])
        assert document.parts == plain and document.parts[0].meta is plain[0].meta
        assert replace(document, uri="a").parts is document.parts
        assert pickle.loads(pickle.dumps(document)) == document
    assert Document(text="").parts == () and not Document(text="").parts


@pytest.mark.parametrize("places", [[(0, 3)], [(1, 2), (0, 1)], [(1, 0)], [(-1, 0)]])
def test_parts_out_of_order_or_outside_the_text_are_refused(places: list[tuple[int, int]]) -> None:
    parts = [Part(kind="row", start=start, end=end, label="x") for start, end in places]
    wrong = parts[-1]
    with pytest.raises(OptionError) as refused:
        Document(text="ab", parts=parts)
    assert str(refused.value) == (
        f"part 'x', [{wrong.start}, {wrong.end}), is out of order or outside the text of 2; "
        "sort parts by start"
    )
