"""What a loader builds: its text, its structure, its parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spanwise import Part, by_heading, by_layout, by_part, chunk
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
            [["land", "price"], ["France | Monaco", "5"], ["Spain", "6"]], part="row", first=4
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
                made.table([[text, text], [text]], part="row")
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
