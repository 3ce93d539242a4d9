"""Every promise of docs/strategies.md, for every strategy of the registry, on hostile text."""

from __future__ import annotations

import pickle
import re
import warnings

from hostile import hostile
from hypothesis import given
from hypothesis import strategies as st
from properties.splitters import Case, cases, each_strategy, uneven

from spanwise import Chunk, Chunks, EmptyDocumentWarning, explain
from spanwise.cutting.clusters import border_after, border_before, is_border
from spanwise.cutting.levels import CLAUSE, SENTENCE
from spanwise.cutting.pack import RUNT
from spanwise.cutting.spans import WHITE
from spanwise.splitters.base import Strategy


def is_white(character: str) -> bool:
    """White as the promise COVER means it."""
    return character.isspace() or character == "\ufeff"


def split(case: Case) -> Chunks:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        return case.splitter.split(case.document)


def atoms(case: Case) -> list[tuple[int, int]]:
    """What a strategy may keep whole whatever its size, with the heading glued to it."""
    text, structure = case.document.text, case.document.outline.structure
    name = case.splitter.name
    found = [
        (end - len(text[start:end].lstrip(WHITE)), start + len(text[start:end].rstrip(WHITE)))
        for start, end in zip(structure.atom_starts, structure.atom_ends, strict=True)
    ]
    if name == "by_record":
        found = [(0, len(text))]
    if name in ("by_turn", "by_part"):
        found = [(part.start, part.end) for part in case.document.parts]
    return found


@each_strategy
@given(data=st.data())
def test_slice_and_order(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    chunks, text = split(case), case.document.text
    last_start, last_end = -1, 0
    for chunk, own in zip(chunks, chunks.texts, strict=True):
        assert text[chunk.start : chunk.end] == chunk.text == own
        assert 0 <= chunk.start <= chunk.body < chunk.end <= len(text)
        assert chunk.start > last_start
        assert chunk.body >= last_end
        last_start, last_end = chunk.start, chunk.end


@each_strategy
@given(data=st.data())
def test_cover(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    chunks, text = split(case), case.document.text
    if not chunks and kind.name == "by_heading":
        # A document of bare headings: all outside of them is white.
        found = case.document.outline.structure
        edges = zip((0, *found.heading_ends), (*found.heading_starts, len(text)), strict=True)
        assert all(is_white(each) for start, end in edges for each in text[start:end])
        return
    at = 0
    for body, end in [*zip(chunks.bodies, chunks.ends, strict=True), (len(text), len(text))]:
        gap = text[at:body]
        if kind.name == "by_record":
            gap = gap.replace(case.splitter.separator, "")  # type: ignore[attr-defined]
        assert all(map(is_white, gap)), (gap, at, body)
        at = end


@each_strategy
@given(data=st.data())
def test_size(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    chunks, text = split(case), case.document.text
    size, limit = case.splitter.sizer, case.splitter.limit
    if limit is not None:
        for chunk in chunks:
            assert limit.sizer(chunk.embed_text) <= limit.limit, chunk
    if kind.name in ("whole_document", "by_record", "by_turn", "by_part"):
        return
    whole = atoms(case)
    for body, end in zip(chunks.bodies, chunks.ends, strict=True):
        if size(text[body:end]) <= case.bound:
            continue
        one_cluster = not any(is_border(text, i) for i in range(body + 1, end))
        # An atom with the headings above it, or a piece of one that the cap alone cut.
        holds_atom = any(body <= start and stop == end for start, stop in whole) or (
            limit is not None
            and any(headings_before(case, start) <= body and end <= stop for start, stop in whole)
        )
        # Headings and the opening line of a fence stay with their text, be it a single word or
        # cluster (a fence of one cluster that is larger than the size: found by the long run).
        below = after_opening(case, after_headings(case, body, end), end)
        headed = below > body and (
            border_after(text, min(below + 1, end)) >= end
            or size(text[body:end]) < case.bound + RUNT
        )
        assert one_cluster or holds_atom or headed, text[body:end]


@each_strategy
@given(data=st.data())
def test_cluster(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    if case.splitter.max_size is not None:
        return
    chunks, text = split(case), case.document.text
    edges = {part.start for part in case.document.parts} | {p.end for p in case.document.parts}
    for place in {*chunks.starts, *chunks.bodies, *chunks.ends} - edges:
        assert is_border(text, place), (place, text[max(0, place - 3) : place + 3])


@each_strategy
@given(data=st.data())
def test_word(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    splitter = case.splitter
    if splitter.max_size is not None or kind.name in ("by_record", "by_turn", "by_part"):
        return
    chunks, text = split(case), case.document.text
    if set(text) & SEPARATORS or splitter.sizer is uneven:
        return
    whole = atoms(case)
    ends = {*SENTENCE.cuts(text, 0, len(text)), *CLAUSE.cuts(text, 0, len(text))}
    limit = getattr(splitter, "chunk_size", getattr(splitter, "target_size", 0))
    for i, (start, body) in enumerate(zip(chunks.starts, chunks.bodies, strict=True)):
        if in_word(text, body) and body not in ends and chunks.boundaries[i] not in _ATOMS:
            # Only a word that fits no passage is cut, or one beyond the word window.
            lo, hi = word_around(text, body)
            if any(start <= body < stop for start, stop in whole):
                continue  # the opening line of a fence keeps company, be it half a word
            if lo > 0 and not is_border(text, lo - 1):
                continue  # the white space before the word belongs to a cluster
            opened = headings_before(case, lo)
            window = getattr(splitter, "word_window", limit + 1) - 1  # from it on, not at it
            if kind.name == "fixed_with_overlap":
                # Its windows count the white space between.
                opened = chunks.ends[i - 2] if i > 1 else 0
            assert splitter.sizer(text[opened:hi]) > min(limit, window), text[lo:hi]
        if start < body and in_word(text, start) and start not in ends:
            # Overlap begins inside a word only when no other word begins after it.
            assert not any(
                text[place - 1].isspace() and not is_white(text[place]) and is_border(text, place)
                for place in range(start + 1, body)
            ), text[start:body]


# White to Python, yet passages may begin and end with them, as in the references.
SEPARATORS = set("\x1c\x1d\x1e\x1f\x85")

# Code and tables are cut off from what they touch, white space or not.
_ATOMS = ("fence", "table", "block", "page", "heading")


def in_word(text: str, place: int) -> bool:
    """Whether a place has a letter of the same word on both sides."""
    return place > 0 and not is_white(text[place - 1]) and not is_white(text[place])


def word_around(text: str, place: int) -> tuple[int, int]:
    """The run without white space around a place."""
    lo = hi = place
    while lo > 0 and not text[lo - 1].isspace():
        lo -= 1
    while hi < len(text) and not text[hi].isspace():
        hi += 1
    return border_before(text, lo), border_after(text, hi)


def after_headings(case: Case, place: int, end: int) -> int:
    """Where the text begins under the headings at a place."""
    structure, text = case.document.outline.structure, case.document.text
    for start, stop in zip(structure.heading_starts, structure.heading_ends, strict=True):
        if start <= place < stop <= end:
            place = stop
            while place < end and is_white(text[place]) and is_border(text, place + 1):
                place += 1
    return place


def after_opening(case: Case, place: int, end: int) -> int:
    """Where the text begins under the opening line of a fence that a place is in."""
    text, structure = case.document.text, case.document.outline.structure
    for start, stop, kind in zip(
        structure.atom_starts, structure.atom_ends, structure.atom_kinds, strict=True
    ):
        opened = start + len(re.split(r"\r\n?|\n", text[start:stop], maxsplit=1)[0])
        if kind == "fence" and start <= place < opened:
            place = opened
            while place < end and is_white(text[place]) and is_border(text, place + 1):
                place += 1
    return min(place, end)


def headings_before(case: Case, place: int) -> int:
    """Where the headings begin that must stay with the word at a place."""
    structure = case.document.outline.structure
    for start, end in zip(
        reversed(structure.heading_starts), reversed(structure.heading_ends), strict=True
    ):
        if start <= place and all(map(is_white, case.document.text[end:place])):
            place = start
    return place


@each_strategy
@given(data=st.data())
def test_same(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    one = split(case)
    again = split(pickle.loads(pickle.dumps(case)))
    assert (one.starts, one.bodies, one.ends) == (again.starts, again.bodies, again.ends)
    assert one.ids == again.ids
    assert len(set(one.ids)) == len(one.ids)


@each_strategy
@given(data=st.data())
def test_explain(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    chunks = split(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        cuts = explain(case.document, case.splitter)
    assert [(cut.start, cut.body, cut.end, cut.boundary) for cut in cuts] == list(
        zip(chunks.starts, chunks.bodies, chunks.ends, chunks.boundaries, strict=True)
    )
    assert all(cut.why for cut in cuts)


@each_strategy
@given(data=st.data())
def test_json_and_back(kind: type[Strategy], data: st.DataObject) -> None:
    case = data.draw(cases(kind, hostile))
    for chunk in split(case):
        assert Chunk.from_dict(chunk.to_dict()) == chunk
        assert chunk.to_json().isascii()
        assert chunk.citation
