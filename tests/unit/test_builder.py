"""What a loader builds: its text, its structure, its parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise import Part, by_heading, by_layout, by_part, by_record, chunk, explain
from spanwise.documents import Document
from spanwise.loaders.builder import Builder
from spanwise.loaders.front_matter import front_matter


def built() -> Document:
    made = Builder()
    with made.part("slide", "1"):
        made.heading(1, "Prices  of\nparcels")
        made.paragraph("# no heading, | no table\n```")
    with made.part("slide", "2"):
        made.heading(2, "Europe")
        made.item("small")
        made.item("large", depth=1)
        made.table(
            [["land", "price"], ["France | Monaco", "5"], ["Spain", "6"]],
            part="row",
            labels=list("456"),
        )
        made.code("x = 1\n\ny = 2")
    with made.part("slide", "3"):
        made.paragraph(" ")
    return made.document(uri="a.pptx", media_type="application/x", meta={})


def test_the_structure_is_what_was_said_not_what_the_text_looks_like() -> None:
    doc = built()
    found = doc.outline.structure
    assert [doc.text[a:b] for a, b in zip(found.title_starts, found.title_ends, strict=True)] == [
        "Prices of parcels",
        "Europe",
    ]
    assert found.atom_kinds == ["table", "fence"]
    chunks = by_heading(overlap=0, min_size=0).split(doc)
    assert [each.heading_path for each in chunks] == [
        ("Prices of parcels",),
        ("Prices of parcels", "Europe"),
    ]
    assert chunk(doc).boundaries[0] == "document"


def test_parts_lead_back() -> None:
    doc = built()
    place = doc.locate(doc.text.index("Spain"))
    assert [(part.kind, part.label) for part in place.parts] == [("slide", "2"), ("row", "6")]
    assert place.heading_path == ("Prices of parcels", "Europe")
    assert place.byte is None
    slides = {part.label: doc.text[part.start : part.end] for part in doc.parts}
    assert slides["1"].startswith("Prices")
    assert slides["2"].endswith("y = 2")
    assert slides["3"] == ""
    rows = [each for each in by_layout(overlap=0).split(doc) if "Spain" in each.text]
    assert rows[0].places == ("slide 2", "rows 4-6")


def test_items_are_tight_and_tables_are_whole_lines() -> None:
    text = built().text
    assert (
        "- small\n  - large\n\n| land | price |\n| --- | --- |\n| France \\| Monaco | 5 |" in text
    )


@given(
    st.lists(
        st.tuples(st.sampled_from("hpict"), st.text(alphabet="ab \n|#`-", max_size=12)), max_size=12
    )
)
def test_whatever_is_written_the_document_is_whole(blocks: list[tuple[str, str]]) -> None:
    made = Builder()
    for number, (kind, text) in enumerate(blocks):
        with made.part("page", str(number)):
            if kind == "h":
                made.heading(len(text), text)
            elif kind == "p":
                made.paragraph(text)
            elif kind == "i":
                made.item(text)
            elif kind == "c":
                made.code(text)
            else:
                made.table([[text, text], [text]], part="row", labels=["1", "2"])
    doc = made.document(uri="", media_type="x/y", meta={})
    own = "".join("".join(each.own_text.split()) for each in by_layout(overlap=0).split(doc))
    assert own == "".join(doc.text.split())
    pages = [part for part in doc.parts if part.kind == "page"]
    assert len(pages) == len(blocks)
    for part in pages:
        inside = doc.text[part.start : part.end]
        assert inside == inside.strip("\n") or not inside.strip()


def test_front_matter_is_metadata() -> None:
    yaml = (
        "---\ntitle: 'Returns: all'\ndate: 2024-05-06\ntags:\n- a\n- b\n"
        "draft: true\nsize: 3\n---\nText"
    )
    found = front_matter(yaml)
    assert found["title"] == "Returns: all"
    assert found["date"] == "2024-05-06"
    assert (found["tags"], found["draft"], found["size"]) == (["a", "b"], True, 3)
    assert front_matter("No front matter\n---\n") == front_matter("") == {}
    assert front_matter("---\n: [\n---\n") == {}
    bomb = "---\na: &a [x, x]\nb: [*a, *a]\n---\n"
    assert len(str(front_matter(bomb))) < 200


def test_rows_are_kept_whole_with_the_header_as_context() -> None:
    text = "name,price\n" + "".join(f"item{i},{i}\n" for i in range(30))
    parts, at = [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        parts.append(Part(kind="row", start=at, end=at + len(line) - 1, label=str(number)))
        at += len(line)
    doc = Document(
        text=text, uri="a.csv", media_type="text/csv", parts=tuple(parts), meta={"header": True}
    )
    chunks = by_part("row", chunk_size=60, max_size=80).split(doc)
    assert chunks[1].context == "name,price"
    assert chunks[1].citation == f"a.csv, {chunks[1].places[0]}"
    assert all(len(each.embed_text) <= 80 for each in chunks)
    assert chunk(doc).boundaries == ["document"]


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12), st.sampled_from("ab")), max_size=9),
    st.tuples(st.integers(0, 12), st.integers(0, 12)).map(sorted),
)
def test_parts_between_are_those_that_touch_however_they_nest(
    spans: list[tuple[int, int, str]], asked: list[int]
) -> None:
    start, end = asked
    parts = sorted(
        (
            Part(kind=kind, start=min(a, b), end=max(a, b), label=str(i))
            for i, (a, b, kind) in enumerate(spans)
        ),
        key=lambda part: part.start,
    )
    doc = Document(text="x" * 12, parts=tuple(parts))
    for kind in "ab":
        touched = [p for p in parts if p.kind == kind and p.start < end and p.end > start]
        assert doc.parts_between(start, end, kind) == touched


def test_a_part_around_others_of_its_kind_is_found() -> None:
    made = Builder()
    with made.part("attachment", "letter.eml"):
        made.paragraph("Before.")
        with made.part("attachment", "inner.txt"):
            made.paragraph("Inside.")
        made.paragraph("After.")
    made.paragraph("Outside.")
    doc = made.document(uri="a.eml", media_type="message/rfc822", meta={})
    found = {
        word: [part.label for part in doc.parts_between(at, at + len(word), "attachment")]
        for word in ("Before", "Inside", "After", "Outside")
        for at in [doc.text.index(word)]
    }
    assert found == {
        "Before": ["letter.eml"],
        "Inside": ["letter.eml", "inner.txt"],
        "After": ["letter.eml"],
        "Outside": [],
    }
    # Whole parts are those outermost: none is cut for one inside it.
    texts = by_part("attachment", chunk_size=1).split(doc).texts
    assert texts == ["Before.\n\nInside.\n\nAfter.", "Outside."]


def test_finding_parts_does_not_walk_over_those_beside() -> None:
    class Counted(int):
        looked = 0

        def __gt__(self, other: int) -> bool:
            Counted.looked += 1
            return int(self) > other

    n = 2000
    inside = [Part(kind="p", start=i, end=Counted(i + 1), label=str(i)) for i in range(1, n)]
    around = Part(kind="p", start=0, end=Counted(n), label="around")
    doc = Document(text="x" * n, parts=(around, *inside))
    doc.parts_between(0, 1, "p")
    Counted.looked = 0
    for i in range(1, n):
        assert [part.label for part in doc.parts_between(i, i + 1, "p")] == ["around", str(i)]
    assert Counted.looked <= 3 * n


def rows_of(text: str, kind: str = "row", **meta: object) -> Document:
    parts, at = [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        parts.append(Part(kind=kind, start=at, end=at + len(line) - 1, label=str(number)))
        at += len(line)
    return Document(text=text, media_type="text/csv", parts=tuple(parts), meta=meta)


@given(
    st.lists(st.integers(1, 25), min_size=2, max_size=20),
    st.integers(40, 90),
    st.integers(8, 90),
    st.integers(0, 30),
)
def test_room_for_the_header_is_left_where_it_is_not_shown_and_said(
    widths: list[int], most: int, size: int, overlap: int
) -> None:
    text = "name,n\n" + "".join("x" * width + "\n" for width in widths)
    doc = rows_of(text, header=("name", "n"))
    ends = [part.end for part in doc.parts]
    by = by_part("row", chunk_size=size, max_size=most, overlap=min(overlap, size - 1))
    chunks, cuts = by.split(doc), explain(doc, by)
    room = len("name,n\n\n")
    for i, each in enumerate(chunks):
        assert len(each.embed_text) <= most
        assert (each.context == "name,n") == (each.start > 0)
        if i + 1 == len(chunks):
            break
        # The next row fits neither the size nor the cap, of which the header takes its part.
        longer = ends[ends.index(each.end) + 1] - each.start
        over = longer + (room if i else 0) > most
        assert longer > size or over
        assert ("size" in cuts[i + 1].gave_way) == (longer <= size)
        assert (f"over {size:,}" in cuts[i + 1].why) == (longer > size)


def test_the_header_of_a_table_has_its_room_too() -> None:
    made = Builder()
    made.paragraph("Above the table.")
    made.table(
        [["land", "price"], *([f"L{i}", str(i)] for i in range(12))],
        part="row",
        labels=list("0123456789ABC"),
    )
    doc = made.document(uri="a.xlsx", media_type="application/x", meta={})
    chunks = by_part("row", chunk_size=200, max_size=90).split(doc)
    assert len(chunks) > 2
    assert all(len(each.embed_text) <= 90 for each in chunks)
    assert {each.context for each in chunks[1:]} == {"| land | price |\n| --- | --- |"}


def test_explain_names_the_parts_that_are_kept_whole() -> None:
    for kind in ("row", "record", "cell", "message"):
        doc = rows_of("one\ntwo\nthree\n", kind)
        by = by_part(kind, chunk_size=8)
        assert [cut.why for cut in explain(doc, by)] == [
            "the text begins here",
            f"a {kind} ends here; the passage before with the next would be 13, over 8",
        ]
        capped = explain(doc, by_part(kind, chunk_size=100, max_size=8))
        assert capped[1].gave_way == ("size",)
        assert capped[1].why == (
            f"a {kind} ends here; under max_size=8 chars: the passage before could hold more, "
            "but not with this"
        )
    by = by_record("\n", chunk_size=100, overlap=0, max_size=8)
    assert [cut.gave_way for cut in explain("one\ntwo\nthree\n", by)] == [(), ("size",)]
