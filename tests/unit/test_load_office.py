"""Office files: all of the text in order, its structure, its places; damage refused by name."""

from __future__ import annotations

import io
import random
import re
import struct
import zipfile
from pathlib import Path

import pytest

from spanwise import Document, LoadError, by_heading, by_layout, by_structure
from spanwise import load as load_bytes
from spanwise.loaders import archives
from spanwise.loaders.archives import MOST_DEPTH, open_archive, parse_xml
from spanwise.loaders.base import Loader, Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.docx import DocxLoader
from spanwise.loaders.odt import OdtLoader
from spanwise.loaders.rtf import RtfLoader
from spanwise.loaders.sheets import XlsxLoader
from spanwise.loaders.slides import PptxLoader

FILES = Path(__file__).parents[1] / "data" / "files"
LOADERS: tuple[Loader, ...] = (
    DocxLoader(),
    OdtLoader(),
    XlsxLoader(),
    PptxLoader(),
    RtfLoader(),
)
NAMES = (
    "rules-libreoffice.docx",
    "rules-libreoffice.odt",
    "rules-libreoffice.rtf",
    "handbook-python-docx.docx",
    "prices-openpyxl.xlsx",
    "prices-libreoffice.xlsx",
    "talk-python-pptx.pptx",
    "talk-libreoffice.pptx",
)

RULES = """\
Refunds

Refunds are always paid within fourteen days.[1]

Tab\tand  spaces
second line Größe 日本 🏮

- alpha
  - alpha one
- beta

Steps:

1. open
  a) lid
  b) box
2. close

Prices

| Item | Price \\| net |  |
| --- | --- | --- |
| Lamp | 12.50 per piece | EUR |

Between tables.

Outer left

| In A | In B |
| --- | --- |

Outer right

Before the box and after it.

Boxed words.

Contact

Write to us.[2]

[1] Banking days.

[2] By post."""

TALK = """\
Refund rules

For the whole shop

Prices

| Item | Price |
| --- | --- |
| Lamp | 12.50 |

Loose words.

Grouped words.

Deadlines

- Fourteen days
  - Banking days
- Größe 日本

Say this slowly.

Spare"""


def raw_of(data: bytes, name: str) -> Raw:
    return Raw(data=data, name=name, uri=name, suffix=Path(name).suffix)


def load(name: str, data: bytes | None = None) -> Document:
    raw = raw_of((FILES / name).read_bytes() if data is None else data, name)
    return next(loader for loader in LOADERS if loader.claims(raw)).load(raw)


def headings(doc: Document) -> list[tuple[int, str]]:
    found = doc.outline.structure
    titles = [
        doc.text[start:end] for start, end in zip(found.title_starts, found.title_ends, strict=True)
    ]
    return list(zip(found.heading_levels, titles, strict=True))


def zipped(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for path, data in members.items():
            archive.writestr(path, data)
    return out.getvalue()


def changed(name: str, member: str, old: bytes, new: bytes) -> bytes:
    """A fixture with one stretch of one member replaced."""
    with zipfile.ZipFile(FILES / name) as archive:
        members = {path: archive.read(path) for path in archive.namelist()}
    assert old in members[member]
    members[member] = members[member].replace(old, new)
    return zipped(members)


# The same source in three formats: tracked changes, notes, lists, tables in tables, a box.


@pytest.mark.parametrize("suffix", ["docx", "odt"])
def test_the_rules_are_complete_and_in_order(suffix: str) -> None:
    doc = load(f"rules-libreoffice.{suffix}")
    assert doc.text == RULES
    assert headings(doc) == [(1, "Refunds"), (2, "Prices"), (1, "Contact"), (0, "")]
    assert doc.meta["title"] == "Refund rules"
    assert doc.meta["author"] == "Ada Klein"
    assert doc.meta["created"].startswith("2024-03-01T09:30:00")
    assert doc.meta["modified"].startswith("2024-03-02T10:00:00")
    assert doc.locate(doc.text.index("Lamp")).heading_path == ("Refunds", "Prices")
    notes = [(part.kind, part.label, doc.text[part.start : part.end]) for part in doc.parts]
    assert notes == [("footnote", "1", "[1] Banking days."), ("endnote", "2", "[2] By post.")]
    assert doc.encoding == "" and doc.locate(0).byte is None


def test_rtf_says_the_same_with_tables_in_cells_flat() -> None:
    doc = load("rules-libreoffice.rtf")
    nested = RULES[RULES.index("Outer left") : RULES.index("Before the box")]
    flat = "| Outer left | In A In B Outer right |\n| --- | --- |\n\n"
    assert doc.text == RULES.replace(nested, flat)
    assert headings(doc) == [(1, "Refunds"), (2, "Prices"), (1, "Contact"), (0, "")]
    assert doc.meta == {
        "title": "Refund rules",
        "author": "Ada Klein",
        "created": "2024-03-01T09:30:00",
        "modified": "2024-03-02T10:00:00",
    }


def test_the_media_types() -> None:
    base = "application/vnd.openxmlformats-officedocument"
    assert [load(name).media_type for name in NAMES[:5]] == [
        f"{base}.wordprocessingml.document",
        "application/vnd.oasis.opendocument.text",
        "application/rtf",
        f"{base}.wordprocessingml.document",
        f"{base}.spreadsheetml.sheet",
    ]
    assert load(NAMES[6]).media_type == f"{base}.presentationml.presentation"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_known_by_its_suffix_and_by_its_bytes(name: str) -> None:
    data = (FILES / name).read_bytes()
    for known in (Raw(data=data, name="x", uri="", suffix=""), raw_of(b"", name)):
        claiming = [loader.name for loader in LOADERS if loader.claims(known)]
        assert claiming == [Path(name).suffix[1:].upper()]


# Word


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("outer", ["prices-openpyxl.xlsx", "talk-libreoffice.pptx"])
def test_a_file_inside_another_does_not_say_what_that_is(outer: str, named: bool) -> None:
    """Fault: a workbook that held a Word file, stored as it is, was taken for one and refused."""
    data = io.BytesIO((FILES / outer).read_bytes())
    with zipfile.ZipFile(data, "a") as archive:
        archive.writestr("xl/embeddings/Word1.docx", (FILES / NAMES[0]).read_bytes())
    uri = outer if named else ""
    assert load_bytes(data.getvalue(), uri=uri).text == load(outer).text


def test_styles_say_the_level_whatever_their_id() -> None:
    doc = load("handbook-python-docx.docx")  # ids `berschrift1` and a style based on Heading 2
    assert headings(doc) == [
        (1, "Handbook"),
        (1, "Returns"),
        (3, "Deep"),
        (2, "By a style based on another"),
    ]
    assert "Plain words.\n\n- first\n  - deeper\n1. one\n2. two\n\nDeep\n\nA\tB\nC\n\n" in doc.text
    assert "| Head |  |\n| --- | --- |\n| a | b |\n|  | c |" in doc.text
    assert "hidden" not in doc.text


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next() -> None:
    data = changed(
        "handbook-python-docx.docx",
        "word/document.xml",
        b"<w:p><w:r><w:t>Plain words.",
        b'<w:p><w:pPr><w:rPr><w:del w:id="9"/></w:rPr></w:pPr><w:r><w:t>One </w:t></w:r></w:p>'
        b"<w:p><w:r><w:t>piece.",
    )
    assert "\n\nOne piece.\n\n" in load("a.docx", data).text


def test_moved_text_stands_once() -> None:
    data = changed(
        "handbook-python-docx.docx",
        "word/document.xml",
        b"<w:r><w:t>Plain words.</w:t></w:r>",
        b"<w:moveFrom><w:r><w:t>Gone.</w:t></w:r></w:moveFrom>"
        b"<w:moveTo><w:r><w:t>Here.</w:t></w:r></w:moveTo>",
    )
    text = load("a.docx", data).text
    assert "Here." in text and "Gone." not in text


def test_a_cell_that_says_it_spans_a_billion_columns() -> None:
    data = changed(
        "handbook-python-docx.docx",
        "word/document.xml",
        b'<w:gridSpan w:val="2"/>',
        b'<w:gridSpan w:val="1000000000"/>',
    )
    assert len(load("a.docx", data).text) < 50_000


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def word(body: str, numbering: str = "", styles: str = "", **chunks: bytes) -> bytes:
    """A Word file written by hand; ``chunks`` are parts in another format, by their relation."""
    links = f'<Relationship Id="n" Type="{LINKS}/numbering" Target="numbering.xml"/>'
    links += f'<Relationship Id="s" Type="{LINKS}/styles" Target="styles.xml"/>'
    for name in chunks:
        links += f'<Relationship Id="{name}" Type="{LINKS}/aFChunk" Target="{name}"/>'
    main = f'xmlns:w="{WORD}" xmlns:r="{LINKS}"'
    members = {
        "word/document.xml": f"<w:document {main}><w:body>{body}</w:body></w:document>",
        "word/numbering.xml": f"<w:numbering {main}>{numbering}</w:numbering>",
        "word/styles.xml": f"<w:styles {main}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": "<Relationships "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}'
        "</Relationships>",
    }
    return zipped(
        {path: text.encode() for path, text in members.items()}
        | {f"word/{name}": data for name, data in chunks.items()}
    )


def paragraph(text: str, level: int = -1, end: str = "") -> str:
    """A paragraph of Word; from level 0 it is an item of list 1."""
    listed = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
    settings = (listed if level >= 0 else "") + (f"<w:rPr>{end}</w:rPr>" if end else "")
    run = f"<w:r><w:t>{text}</w:t></w:r>" if text else ""
    return f"<w:p><w:pPr>{settings}</w:pPr>{run}</w:p>"


def table(*rows: tuple[str, ...]) -> str:
    """A table of Word whose cells hold these paragraphs."""
    cells = ("".join(f"<w:tc>{cell}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in cells) + "</w:tbl>"


def levels(*forms: tuple[str, str]) -> str:
    """The levels of a list of Word: how each counts and what it shows."""
    return "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
        for level, (form, text) in enumerate(forms)
    )


LIST = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
NUMBERED = f'<w:abstractNum w:abstractNumId="0">{levels(("decimal", "%1."))}</w:abstractNum>{LIST}'
BULLETS = f'<w:abstractNum w:abstractNumId="0">{levels(("bullet", "•"))}</w:abstractNum>{LIST}'


def test_word_counts_items_in_cells_and_empty_ones() -> None:
    """Fault: a numbered paragraph in a cell lost its number, and those after it were too low."""
    item = paragraph
    body = (
        item("one", 0)
        + table((item("two", 0), item("b")), (item("three", 0) + item("four", 0), item("", 0)))
        + item("", 0)
        + item("seven", 0)
    )
    assert load("a.docx", word(body, NUMBERED)).text == (
        "1. one\n\n| 2. two | b |\n| --- | --- |\n| 3. three 4. four | 5. |\n\n7. seven"
    )
    assert load("a.docx", word(body, BULLETS)).text == (
        "- one\n\n| - two | b |\n| --- | --- |\n| - three - four |  |\n\n- seven"
    )


@pytest.mark.parametrize("end", ["<w:del/>", "<w:moveFrom/>", "<w:vanish/>"])
def test_word_counts_no_paragraph_that_is_not_shown(end: str) -> None:
    """Fault: what counts empty items must not count those whose end is deleted or hidden."""
    body = paragraph("one", 0) + paragraph("", 0, end) + paragraph("two", 0)
    body += table((paragraph("", 0, end) + paragraph("three", 0), paragraph("b")))
    text = "1. one\n2. two\n\n| 3. three | b |\n| --- | --- |"
    assert load("a.docx", word(body, NUMBERED)).text == text


def test_word_lists_made_with_a_list_style_keep_their_numbers() -> None:
    """Fault: a list that takes its levels from a list style (numStyleLink) became bullets."""
    forms = levels(("decimal", "%1."), ("lowerLetter", "%2)"))
    linked = '<w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="LS"/></w:abstractNum>'
    meant = f'<w:abstractNum w:abstractNumId="7"><w:styleLink w:val="LS"/>{forms}</w:abstractNum>'
    body = "".join(paragraph(text, level) for text, level in (("one", 0), ("sub", 1), ("two", 0)))
    for numbering in (linked + meant + LIST, meant + linked + LIST):
        assert load("a.docx", word(body, numbering)).text == "1. one\n  a) sub\n2. two"
    begun = LIST.replace(
        "</w:num>",
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="4"/></w:lvlOverride></w:num>',
    )
    text = load("a.docx", word(body, linked + meant + begun)).text
    assert text == "4. one\n  a) sub\n5. two"
    alone = load("a.docx", word(body, linked + LIST)).text  # nothing says how it counts
    assert alone == "- one\n  - sub\n- two"


def test_word_text_is_hidden_by_its_style_too() -> None:
    """Fault: what a page pasted from the web says of its forms was read as text."""

    def style(key: str, kind: str, hides: str = "", based: str = "") -> str:
        look = f'<w:rPr><w:vanish w:val="{hides}"/></w:rPr>' if hides else ""
        based = f'<w:basedOn w:val="{based}"/>' if based else ""
        return f'<w:style w:type="{kind}" w:styleId="{key}">{based}{look}</w:style>'

    def run(text: str, style: str = "", own: str = "") -> str:
        look = f'<w:rStyle w:val="{style}"/>' if style else ""
        look += f'<w:vanish w:val="{own}"/>' if own else ""
        return f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"

    def styled(key: str, *runs: str) -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{key}"/></w:pPr>{"".join(runs)}</w:p>'

    styles = style("Form", "paragraph", "1") + style("Below", "paragraph", based="Form")
    styles += style("Shown", "paragraph", "0", based="Form")
    styles += style("Secret", "character", "on") + style("Round", "paragraph", based="Round")
    body = styled("Form", run("Bottom of Form"), run("a", own="0")) + styled("Below", run("no"))
    body += styled(
        "Shown", run("b"), run("no", "Secret"), run("c", own="false"), run("no", own="1")
    )
    body += styled("Round", run("d")) + paragraph("e")
    assert load("a.docx", word(body, styles=styles)).text == "a\n\nbc\n\nd\n\ne"


def chunk(name: str) -> str:
    return f'<w:altChunk r:id="{name}"/>'


def test_word_reads_parts_in_another_format_where_they_stand() -> None:
    """Fault: a Word file whose text was an ``altChunk`` was an empty document, without a word."""
    inner = changed("handbook-python-docx.docx", "word/document.xml", b"Plain words.", b"Inner.")
    body = paragraph("Before.") + chunk("a.htm") + paragraph("Between.") + chunk("b.docx")
    body += table((paragraph("Cell."), chunk("c.txt"))) + paragraph("After.")
    parts = {
        "a.htm": "<h1>Größe</h1><p>Page.</p><ul><li>item".encode(),
        "b.docx": inner,
        "c.txt": b"One.\r\nTwo.",
    }
    doc = load("a.docx", word(body, **parts))
    assert doc.text.startswith("Before.\n\nGröße\n\nPage.\n\n- item\n\nBetween.\n\nHandbook\n")
    assert "\n\nInner.\n\n- first\n" in doc.text
    assert doc.text.endswith("\n\nCell.\n\nOne.\nTwo.\n\nAfter.")
    assert headings(doc)[:3] == [(1, "Größe"), (1, "Handbook"), (1, "Returns")]
    assert "missing" not in doc.meta


def test_notes_of_a_word_file_in_another_are_numbered_with_the_others() -> None:
    inner = (FILES / "rules-libreoffice.docx").read_bytes()
    doc = load(
        "a.docx", word(chunk("a.docx") + chunk("b.docx"), **{"a.docx": inner, "b.docx": inner})
    )
    notes = [doc.text[part.start : part.end] for part in doc.parts]
    assert notes == ["[1] Banking days.", "[2] By post.", "[3] Banking days.", "[4] By post."]
    assert doc.text.count("[3]") == 2 and doc.text.count("Boxed words.") == 2


def test_word_names_the_parts_that_it_does_not_read() -> None:
    deep = word(paragraph("deepest"))
    for _ in range(3):
        deep = word(paragraph("deep") + chunk("a.docx"), **{"a.docx": deep})
    parts = {"a.rtf": rb"{\rtf1 no}", "a.mht": b"MIME-Version: 1.0\n\nno", "a.docx": deep}
    doc = load("a.docx", word(paragraph("Yes.") + "".join(map(chunk, (*parts, "gone"))), **parts))
    assert doc.text == "Yes.\n\ndeep\n\ndeep"
    assert doc.meta["missing"] == ("word/a.rtf", "word/a.mht", "word/a.docx", "gone")


def test_the_type_of_a_part_says_what_it_is() -> None:
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="dat" ContentType="text/plain"/>'
        '<Override PartName="/word/a.DAT" ContentType="Text/HTML; charset=utf-8"/></Types>'
    )
    data = word(chunk("a.dat") + chunk("b.dat"), **{"a.dat": b"<p>Page.", "b.dat": b"<p>Text."})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {path: archive.read(path) for path in archive.namelist()}
    doc = load("a.docx", zipped({**members, "[Content_Types].xml": types.encode()}))
    assert doc.text == "Page.\n\n<p>Text."


# OpenDocument and RTF


def text_document(body: str, styles: str = "") -> bytes:
    """An OpenDocument text written by hand."""
    spaces = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
        for prefix in ("office", "style", "table", "text")
    )
    content = f"<office:document-content {spaces}><office:body><office:text>{body}</office:text>"
    kept = f"<office:document-styles {spaces}><office:styles>{styles}</office:styles>"
    return zipped(
        {
            "content.xml": (content + "</office:body></office:document-content>").encode(),
            "styles.xml": (kept + "</office:document-styles>").encode(),
        }
    )


def test_odt_numbers_items_in_cells() -> None:
    """Fault: a numbered paragraph in a cell of an ODT file lost its number."""
    form = (
        '<text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
    )
    styles = f'<text:list-style style:name="L">{form}</text:list-style>'

    def items(*texts: str) -> str:
        entries = "".join(
            f"<text:list-item><text:p>{text}</text:p></text:list-item>" for text in texts
        )
        return (
            f'<text:list text:style-name="L" text:continue-numbering="true">{entries}</text:list>'
        )

    cells = (items("two"), "<text:p>b</text:p>", items("three", "four"), items(""))
    one, two, three, four = (f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
    rows = "".join(f"<table:table-row>{row}</table:table-row>" for row in (one + two, three + four))
    body = f"{items('one')}<table:table>{rows}</table:table>{items('', 'seven')}"
    text = "1. one\n\n| 2. two | b |\n| --- | --- |\n| 3. three 4. four | 5. |\n\n7. seven"
    assert load("a.odt", text_document(body, styles)).text == text
    bullets = text_document(body)  # no style, no numbers
    text = "- one\n\n| - two | b |\n| --- | --- |\n| - three - four |  |\n\n- seven"
    assert load("a.odt", bullets).text == text


def test_odt_numbers_chapters() -> None:
    """Fault: ODT headings lost their chapter numbers, which Word and RTF files of them have."""
    outline = "".join(
        f'<text:outline-level-style text:level="{level}" style:num-format="{form}" '
        f'style:num-suffix="{end}" text:display-levels="{shown}"/>'
        for level, form, end, shown in ((1, "1", ".", 1), (2, "1", "", 2), (3, "", "", 1))
    )
    styles = f'<text:outline-style style:name="Outline">{outline}</text:outline-style>'
    for name, said in (
        ("H", ""),
        ("None", 'style:list-style-name=""'),
        ("Below", 'style:parent-style-name="None"'),
        ("Again", 'style:parent-style-name="Again"'),
    ):
        styles += f'<style:style style:name="{name}" style:family="paragraph" {said}/>'

    def head(level: int, text: str, said: str = "", style: str = "H") -> str:
        return (
            f'<text:h text:style-name="{style}" text:outline-level="{level}" {said}>{text}</text:h>'
        )

    body = (
        head(1, "Terms") + head(2, "Payment") + head(3, "Details") + head(2, "", style="Again")
        + head(2, "Refunds") + head(1, "Preface", style="None") + head(1, "Thanks", style="Below")
        + head(1, "Contents", 'text:is-list-header="true"') + head(1, "End")
        + head(2, "Far", 'text:restart-numbering="true" text:start-value="7"')
        + head(2, "Anew", 'text:restart-numbering="true"')
    )  # fmt: skip
    cells = "".join(
        f"<table:table-cell>{cell}</table:table-cell>" for cell in (head(1, "In"), "<text:p/>")
    )
    body += f"<table:table><table:table-row>{cells}</table:table-row></table:table>"
    doc = load("a.odt", text_document(body, styles))
    titles = ("1. Terms", "1.1 Payment", "Details", "1.3 Refunds", "Preface", "Thanks", "Contents")
    assert [title for _, title in headings(doc)] == [*titles, "2. End", "2.7 Far", "2.1 Anew"]
    assert doc.text.endswith("| 3. In |  |\n| --- | --- |")


def test_odt_text_that_is_hidden_is_not_text() -> None:
    """Fault: hidden sections, paragraphs and words were read."""

    def style(name: str, family: str, shown: str = "", parent: str = "") -> str:
        look = f'<style:text-properties text:display="{shown}"/>' if shown else ""
        parent = f'style:parent-style-name="{parent}"' if parent else ""
        head = f'style:style style:name="{name}" style:family="{family}"'
        return f"<{head} {parent}>{look}</style:style>"

    def styled(tag: str, name: str, text: str) -> str:
        return f'<text:{tag} text:style-name="{name}">{text}</text:{tag}>'

    styles = style("Gone", "paragraph", "none") + style("Below", "paragraph", parent="Gone")
    styles += style("Back", "paragraph", "true", parent="Gone") + style("Gone", "text", "none")
    styles += style("Round", "paragraph", parent="Round")
    body = styled("p", "Gone", "no") + styled("h", "Below", "no") + styled("p", "Back", "a")
    body += styled("p", "Round", f"b{styled('span', 'Gone', 'no')}c{styled('span', 'T', 'd')}")
    for said in ('text:display="none"', 'text:display="condition" text:is-hidden="true"'):
        body += f"<text:section {said}><text:p>no</text:p></text:section>"
    body += '<text:section text:display="condition"><text:p>e</text:p></text:section>'
    assert load("a.odt", text_document(body, styles)).text == "a\n\nbcd\n\ne"


def test_odt_counts_the_levels_that_are_passed_over() -> None:
    """Fault: a heading of level 2 before any of level 1 was 1.1, and what followed was 1 too."""
    outline = "".join(
        f'<text:outline-level-style text:level="{level}" style:num-format="1" '
        f'text:display-levels="{level}"/>'
        for level in (1, 2, 3)
    )
    styles = f'<text:outline-style style:name="Outline">{outline}</text:outline-style>'
    body = "".join(f'<text:h text:outline-level="{level}">x</text:h>' for level in (2, 3, 1, 3, 2))
    doc = load("a.odt", text_document(body, styles))
    assert [title for _, title in headings(doc)] == ["1.1 x", "1.1.1 x", "2 x", "2.1.1 x", "2.2 x"]


def item_of(label: str, settings: str = "") -> str:
    """How Word writes a list item in RTF: the label before the settings of its paragraph."""
    return rf"{{\listtext\pard\plain {label}\tab}}\pard\plain\ls1{settings} "


def test_rtf_keeps_the_label_before_the_settings() -> None:
    """Fault: Word writes a label before ``\\pard``, which took it away, in cells as in the text."""
    row, cell = r"\trowd\cellx1\cellx2 ", r"\intbl"
    body = item_of("1.") + r"one\par" + row
    body += item_of("2.", cell) + r"two\cell\pard\intbl b\cell\row" + row
    body += item_of("3.", cell) + r"three\par " + item_of("4.", cell) + r"four\cell "
    body += item_of("5.", cell) + r"\cell\row " + item_of("6.") + r"\par "
    body += item_of("7.") + "seven"
    text = "1. one\n\n| 2. two | b |\n| --- | --- |\n| 3. three 4. four | 5. |\n\n7. seven"
    assert load("a.rtf", rf"{{\rtf1\ansi {body}}}".encode()).text == text
    for label in "123456789":
        body = body.replace(f"plain {label}.", r"plain \'b7")
    text = "- one\n\n| - two | b |\n| --- | --- |\n| - three - four |  |\n\n- seven"
    assert load("a.rtf", rf"{{\rtf1\ansi {body}}}".encode()).text == text


@pytest.mark.parametrize(
    "between", [r"\pard\par", r"\pard\plain\par\par", r"\pard\sect", r"\pard x\par"]
)
def test_an_empty_paragraph_parts_two_tables_of_rtf(between: str) -> None:
    """Fault: tables with an empty paragraph between them became one, under the first header."""
    row = r"\trowd\cellx1\cellx2\pard\intbl %s\cell %s\cell\row"
    body = row % ("Name", "Price") + row % ("Lamp", r"\par 2") + between + row % ("City", "Zip")
    doc = load("a.rtf", rf"{{\rtf1\ansi {body}\pard end\par}}".encode())
    above = "| Name | Price |\n| --- | --- |\n| Lamp | 2 |\n\n" + (
        "x\n\n" if "x" in between else ""
    )
    assert doc.text == above + "| City | Zip |\n| --- | --- |\n\nend"


# Excel


@pytest.mark.parametrize("name", ["prices-openpyxl.xlsx", "prices-libreoffice.xlsx"])
def test_sheets_and_rows_keep_their_names_and_numbers(name: str) -> None:
    doc = load(name)
    rows = {
        (doc.locate(part.start).part("sheet").label, part.label): doc.text[part.start : part.end]
        for part in doc.parts
        if part.kind == "row"
    }
    assert rows["Prices", "3"] == "| Item | Price | Since | Sold | Share | Time |"
    assert rows["Prices", "4"] == "| Lamp | 12.5 | 2024-03-01 | TRUE | 25% | 09:30:00 |"
    assert rows["Prices", "5"] == (
        "| Größe 日本 | 3 | 2024-03-01 13:30:00 | FALSE | 30% | 23:59:59 |"
    )
    assert rows["Prices", "6"] == "| Bar \\| code | 1000000 | 1900-01-31 | TRUE | 100% | 00:00:00 |"
    assert "36:05:00" in rows["Prices", "8"]
    assert rows["Prices", "12"] == "| Second | table |"
    assert rows["Prices", "13"] == "| x | two lines |"
    assert rows["Notes", "2"] == "| last |"
    sheets = [part.label for part in doc.parts if part.kind == "sheet"]
    assert sheets == ["Prices", "Empty", "Notes"]
    assert doc.meta["hidden_sheets"] == ("Secret",)
    assert "hidden words" not in doc.text
    at = doc.text.index("Lamp")
    assert doc.places_between(at, doc.text.index("Bar")) == ("sheet Prices", "rows 4-6")


def test_a_formula_shows_its_value_or_itself() -> None:
    assert "| Total | 1000015.5 |" in load("prices-libreoffice.xlsx").text
    assert "| Total | =SUM(C4:C6) |" in load("prices-openpyxl.xlsx").text


def sheet(cells: bytes, strings: bytes = b"", styles: bytes = b"", book: bytes = b"") -> bytes:
    """A workbook of one sheet, written by hand."""
    main = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    links = b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    for number, name in enumerate((b"worksheet", b"sharedStrings", b"styles")):
        links += b'<Relationship Id="r%d" Type="%s/%s" Target="%s.xml"/>' % (
            number, kind, name, name)  # fmt: skip
    return zipped(
        {
            "xl/workbook.xml": b'<workbook %s xmlns:r="%s">%s<sheets><sheet name="S" sheetId="1" '
            b'r:id="r0"/></sheets></workbook>' % (main, kind, book),
            "xl/_rels/workbook.xml.rels": links + b"</Relationships>",
            "xl/worksheet.xml": b"<worksheet %s><sheetData>%s</sheetData></worksheet>"
            % (main, cells),
            "xl/sharedStrings.xml": b"<sst %s>%s</sst>" % (main, strings),
            "xl/styles.xml": b"<styleSheet %s>%s</styleSheet>" % (main, styles),
        }
    )


@pytest.mark.parametrize(
    ("code", "value", "said"),
    [
        ("yyyy-mm-dd", "45352", "2024-03-01"),
        ("d. mmmm yyyy", "45352.75", "2024-03-01"),
        ("mmm", "45352", "2024-03-01"),
        ("dd/mm/yy hh:mm", "45352.75", "2024-03-01 18:00:00"),
        ("[$-409]h:mm AM/PM", "0.75", "18:00:00"),
        ("[h]:mm", "1.5", "36:00:00"),
        ("yyyy-mm-dd", "1", "1900-01-01"),
        ("yyyy-mm-dd", "61", "1900-03-01"),
        ("yyyy-mm-dd", "99999999999", "99999999999"),
        ("yyyy-mm-dd", "45351.99999996528", "2024-02-29"),
        ("yyyy-mm-dd", "45351.9999999999", "2024-03-01"),
        ("0.00", "3.0", "3"),
        ('0.0" days"', "3.5", "3.5"),
        ("[Red]#,##0", "1234567", "1234567"),
        ("General", "0.30000000000000004", "0.3"),
        ("General", "1E+20", "100000000000000000000"),
        ("General", "1E-7", "1e-07"),
        ("0", "1234567890123456789", "1234567890123456789"),
        ("0", "-1234567890123456789", "-1234567890123456789"),
        ("General", "1.2345678901234567E+19", "12345678901234600000"),
        ("00000", "2134", "02134"),
        ("00000", "-2134", "-02134"),
        ("00000", "2134.5", "2134.5"),
        ("0000;-0", "123456", "123456"),
        ("0%", "0.07", "7%"),
        ("General", "nan", "nan"),
    ],
)
def test_numbers_as_a_person_reads_them(code: str, value: str, said: str) -> None:
    """Fault: long ids lost their last digits, postal codes their zeros, late hours their day."""
    escaped = code.replace('"', "&quot;").encode()
    styles = b'<numFmts><numFmt numFmtId="200" formatCode="%s"/></numFmts>' % escaped
    styles += b'<cellXfs><xf numFmtId="200"/></cellXfs>'
    cells = b'<row r="1"><c r="A1" s="0"><v>%s</v></c></row>' % value.encode()
    assert load("a.xlsx", sheet(cells, styles=styles)).text.splitlines()[0] == f"| {said} |"


def test_the_formats_of_cells_are_not_those_of_conditions() -> None:
    """Fault: a conditional format of the same number turned dates into percentages."""
    styles = b'<numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts>'
    styles += b'<cellXfs><xf numFmtId="164"/><xf numFmtId="19"/></cellXfs>'
    styles += b'<dxfs><dxf><numFmt numFmtId="164" formatCode="0%"/></dxf>'
    styles += b'<dxf><numFmt numFmtId="19" formatCode="m/d/yyyy"/></dxf></dxfs>'
    cells = b'<row r="1"><c s="0"><v>45352</v></c><c s="1"><v>0.75</v></c></row>'
    doc = load("a.xlsx", sheet(cells, styles=styles))
    assert doc.text.startswith("| 2024-03-01 | 18:00:00 |")


def test_dates_from_1904() -> None:
    styles = b'<cellXfs><xf numFmtId="14"/></cellXfs>'
    cells = b'<row r="1"><c r="A1" s="0"><v>43890</v></c></row>'
    book = b'<workbookPr date1904="1"/>'
    assert "| 2024-03-01 |" in load("a.xlsx", sheet(cells, styles=styles, book=book)).text


def test_strings_without_readings_and_with_escapes() -> None:
    strings = b"<si><r><t>A</t></r><r><t>_x0042_</t></r><rPh><t>no</t></rPh></si>"
    cells = b'<row><c t="s"><v>0</v></c><c t="s"><v>9</v></c><c t="e"><v>#N/A</v></c></row>'
    assert load("a.xlsx", sheet(cells, strings)).text.startswith("| AB | #N/A |")


@pytest.mark.parametrize("nested", [b"row", b"c", b"is", b"t", b"v"])
def test_elements_in_their_like_do_not_multiply_their_text(nested: bytes) -> None:
    inside = b"<v>one&#10;two</v>" if nested == b"v" else b"<is><t>one&#10;two</t></is>"
    cells = b'<row r="1"><c r="A1" t="inlineStr">%s</c></row>' % inside
    cells = cells.replace(b"<%s" % nested, b"<%s>" % nested * 5000 + b"<%s" % nested)
    cells = cells.replace(b"</%s>" % nested, b"</%s>" % nested * 5001)
    assert load("a.xlsx", sheet(cells)).text.count("one") <= 1


def test_two_cells_far_apart_are_two_small_tables() -> None:
    cells = b'<row r="1"><c r="A1"><v>1</v></c></row>'
    cells += b'<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    doc = load("a.xlsx", sheet(cells))
    assert doc.text == "| 1 |\n| --- |\n\n| 2 |\n| --- |"
    assert [part.label for part in doc.parts if part.kind == "row"] == ["1", "1048576"]


def test_a_sheet_that_writes_more_than_it_holds_is_refused() -> None:
    long = b"<si><t>" + b"x" * 1_000_000 + b"</t></si>"
    cells = b"<row>" + b'<c t="s"><v>0</v></c>' * 300 + b"</row>"
    with pytest.raises(LoadError, match=r"^a\.xlsx: its sheets make a text of over"):
        load("a.xlsx", sheet(cells, long))
    letters = [chr(65 + i // 676) + chr(65 + i // 26 % 26) + chr(65 + i % 26) for i in range(6000)]
    diagonal = "".join(
        f'<row r="{i + 1}"><c r="{name}{i + 1}"><v>1</v></c></row>'
        for i, name in enumerate(letters)
    )
    with pytest.raises(LoadError, match="its sheets make a text of over"):
        load("a.xlsx", sheet(diagonal.encode()))


# PowerPoint


@pytest.mark.parametrize("name", ["talk-python-pptx.pptx", "talk-libreoffice.pptx"])
def test_slides_in_the_order_they_are_shown(name: str) -> None:
    doc = load(name)
    assert doc.text == TALK
    assert headings(doc) == [
        (1, title) for title in ("Refund rules", "Prices", "Deadlines", "Spare")
    ]
    slides = [part for part in doc.parts if part.kind == "slide"]
    assert [part.label for part in slides] == ["1", "2", "3", "4"]
    assert [dict(part.meta) for part in slides] == [{}, {}, {}, {"hidden": True}]
    at = doc.text.index("Say this")
    assert [(p.kind, p.label) for p in doc.locate(at).parts] == [("slide", "3"), ("notes", "3")]
    assert doc.places_between(at, at + 3) == ("slide 3", "notes 3")
    assert doc.meta["title"] == "Refund talk" and doc.meta["created"] == "2024-03-01T09:00:00Z"
    # The third slide shown is the second one made.
    with zipfile.ZipFile(FILES / "talk-python-pptx.pptx") as archive:
        assert b"Fourteen days" in archive.read("ppt/slides/slide2.xml")


def test_slides_are_numbered_from_the_number_that_the_file_says() -> None:
    """Fault: a talk that goes on at slide 12 was cited from slide 1."""
    name = "talk-python-pptx.pptx"
    for number, labels in ((b"12", "12 13 14 15"), (b"0", "0 1 2 3"), (b"x", "1 2 3 4")):
        said = b'<p:presentation firstSlideNum="%s"' % number
        doc = load(name, changed(name, "ppt/presentation.xml", b"<p:presentation", said))
        slides = [part.label for part in doc.parts if part.kind == "slide"]
        assert slides == labels.split()


# RTF


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (rb"caf\'e9", "café"),
        (rb"\u26085?\u26412\'3f!", "日本!"),
        (rb"\uc2\u26085ab!", "日!"),
        (rb"\uc0\u55356\u57326!", "🏮!"),
        (rb"\u-3?", "\ufffd"),
        (rb"{\fonttbl{\f1\fcharset128 MS;}}\f1 \'93\'fa\'96\'7b", "日本"),
        (rb"{\fonttbl{\f1\fcharset204 A;}}{\f1 \'ff}\'ff", "яÿ"),
        (rb"a{\*\unknown no}b{\pict 00ff}{\header no}{\v no}{\deleted no}c", "abc"),
        (rb"a\{\}\\\~\emdash b", "a{}\\\N{NO-BREAK SPACE}—b"),
        (b"a{\\pict\\bin5 }}}}}}b", "ab"),
        (rb"a\par b\line c", "a\n\nb\nc"),
        (b"one\ntwo", "onetwo"),
    ],
)
def test_characters_of_rtf(body: bytes, said: str) -> None:
    assert load("a.rtf", rb"{\rtf1\ansi\ansicpg1252 " + body + b"}").text == said


@pytest.mark.parametrize(
    ("head", "data", "said"),
    [
        (rb"\mac\ansicpg10000", rb"caf\'8e", "café"),
        (rb"\mac\ansicpg10007", "Пари".encode("mac_cyrillic"), "Пари"),
        (rb"\mac\ansicpg10001", rb"\'93\'fa\'96\'7b", "日本"),
        (rb"\mac\ansicpg19999", rb"caf\'8e", "café"),  # as \mac says
        (rb"\ansi\ansicpg19999", rb"caf\'e9", "café"),
        (rb"\mac", rb"caf\'8e", "café"),
        (rb"\ansi{\fonttbl{\f1\fcharset89 Geneva;}}\f1", rb"\'8f", "П"),
        (rb"\ansi{\fonttbl{\f1\fcharset78 Osaka;}}\f1", rb"\'93\'fa\'96\'7b", "日本"),
    ],
)
def test_rtf_of_a_mac(head: bytes, data: bytes, said: str) -> None:
    """Fault: code pages of the Mac (``\\ansicpg10000``) were read as those of Windows."""
    assert load("a.rtf", rb"{\rtf1%b %b}" % (head, data)).text == said


# What is not what it says


@pytest.mark.parametrize("kind", ["docx", "odt", "rtf"])
def test_one_wide_row_does_not_multiply_a_table(kind: str) -> None:
    """Fault: every row was filled up to the widest one, 16 million places for these."""
    size = 4000
    if kind == "docx":
        data = word(table((paragraph("x"),) * size, *[(paragraph("x"),)] * size))
    elif kind == "odt":
        row, cell = "table:table-row", "<table:table-cell><text:p>x</text:p></table:table-cell>"
        rows = f"<{row}>{cell * size}</{row}>" + f"<{row}>{cell}</{row}>" * size
        data = text_document(f"<table:table>{rows}</table:table>")
    else:
        data = b"{\\rtf1 \\intbl " + b"x\\cell " * size + b"\\row " + b"x\\cell\\row " * size + b"}"
    found = load(f"wide.{kind}", data).text
    assert len(found) < 30 * size
    assert found.count("x") == 2 * size


def test_an_odt_that_repeats_too_many_cells_is_refused() -> None:
    cell = (
        '<table:table-cell table:number-columns-repeated="64"><text:p>x</text:p></table:table-cell>'
    )
    row = f'<table:table-row table:number-rows-repeated="64">{cell * 40}</table:table-row>'
    with pytest.raises(LoadError, match=r"wide.odt: its tables have over 4000000 cells"):
        load("wide.odt", text_document(f"<table:table>{row * 40}</table:table>"))


def test_what_a_group_of_rtf_says_of_a_paragraph_ends_with_it() -> None:
    """Fault: all paragraphs behind a heading in a group were headings, or rows of its table."""
    styles = rb"{\stylesheet{\s1\outlinelevel0 heading 1;}}"
    doc = load("a.rtf", rb"{\rtf1\ansi" + styles + rb"{\pard\s1 Title\par}One\par Two\par}")
    assert doc.text == "Title\n\nOne\n\nTwo"
    assert headings(doc) == [(1, "Title")]
    cells = rb"{\trowd\cellx1000\cellx2000\pard\intbl A\cell B\cell\row}"
    doc = load("a.rtf", rb"{\rtf1\ansi" + cells + rb"After\par more\par}")
    assert doc.text == "| A | B |\n| --- | --- |\n\nAfter\n\nmore"


def test_fields_of_word_inside_each_other_and_to_choose_from() -> None:
    """Fault: what a field in an instruction gives was shown, what is chosen was not."""

    def mark(kind: str, data: str = "") -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}">{data}</w:fldChar></w:r>'

    def run(text: str, tag: str = "w:t") -> str:
        return f'<w:r><{tag} xml:space="preserve">{text}</{tag}></w:r>'

    inner = mark("begin") + run("MERGEFIELD", "w:instrText") + mark("separate") + run("female")
    code = run(" IF ", "w:instrText") + inner + mark("end") + run(' = "female"', "w:instrText")
    greeting = mark("begin") + code + mark("separate") + run("Mrs") + mark("end")
    page = mark("begin") + run("PAGEREF", "w:instrText") + mark("separate") + run("3") + mark("end")
    contents = mark("begin") + run("TOC", "w:instrText") + mark("separate") + run("One ") + page
    entries = '<w:listEntry w:val="France"/><w:listEntry w:val="Spain"/>'
    choice = f'<w:ffData><w:ddList><w:result w:val="1"/>{entries}</w:ddList></w:ffData>'
    chosen = mark("begin", choice) + run("FORMDROPDOWN", "w:instrText") + mark("end")
    bodies = (run("Dear ") + greeting + run(" Ito"), contents + mark("end"), run("To ") + chosen)
    doc = load("a.docx", word("".join(f"<w:p>{body}</w:p>" for body in bodies)))
    assert doc.text == "Dear Mrs Ito\n\nOne 3\n\nTo Spain"


@pytest.mark.parametrize("name", NAMES)
def test_empty_and_wrong_files_are_refused_by_name(name: str) -> None:
    other = NAMES[(NAMES.index(name) + 4) % len(NAMES)]
    loader = next(loader for loader in LOADERS if loader.claims(raw_of(b"", name)))
    wrong = [b"", b"PK\x03\x04", b"%PDF-1.7\n", b"\xd0\xcf\x11\xe0" + b"\0" * 600]
    if Path(other).suffix != Path(name).suffix:
        wrong.append((FILES / other).read_bytes())
    for data in wrong:
        with pytest.raises(LoadError, match=f"^{re.escape(name)}: "):
            loader.load(raw_of(data, name))
    if not name.endswith(".rtf"):
        with pytest.raises(LoadError, match="it is empty"):
            loader.load(raw_of(b"", name))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_cut_off_is_refused(name: str) -> None:
    data = (FILES / name).read_bytes().rstrip()
    for tenths in range(10):
        with pytest.raises(LoadError, match=f"^{re.escape(name)}: "):
            load(name, data[: len(data) * tenths // 10])
    with pytest.raises(LoadError):
        load(name, data[:-1])


@pytest.mark.parametrize("name", NAMES)
def test_flipped_bytes_give_an_error_or_a_document(name: str) -> None:
    data = (FILES / name).read_bytes()
    whole = load(name).text
    source = random.Random(name)
    for _ in range(60):
        hurt = bytearray(data)
        for _ in range(source.choice((1, 3, 30))):
            hurt[source.randrange(len(hurt))] = source.randrange(256)
        try:
            doc = load(name, bytes(hurt))
        except LoadError as error:
            assert str(error).startswith(name)
        else:
            # An archive has checksums, so what is read is what was written.
            assert name.endswith("rtf") or doc.text == whole


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith("rtf")])
def test_damaged_xml_gives_an_error_or_a_document(name: str) -> None:
    with zipfile.ZipFile(FILES / name) as archive:
        members = {path: archive.read(path) for path in archive.namelist()}
    source = random.Random(name)
    paths = [path for path in members if path.endswith((".xml", ".rels"))]
    for _ in range(60):
        path = source.choice(paths)
        hurt = re.sub(
            rb'"[^"<]*"',
            lambda found: source.choice((b'"0"', b'"-1"', b'"x"', b'"99999999999"', found[0])),
            members[path],
        )
        if source.random() < 0.3:
            hurt = hurt[: source.randrange(len(hurt))]
        try:
            load(name, zipped({**members, path: hurt}, zipfile.ZIP_STORED))
        except LoadError as error:
            assert str(error).startswith(name)


# Archives and XML from strangers


def test_a_member_that_unpacks_too_far(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = raw_of(zipped({"a": b"\0" * 5000, "b": b"\0" * 5000}), "a.zip")
    monkeypatch.setattr(archives, "MOST_TOTAL", 9999)
    with pytest.raises(LoadError, match=r"^a\.zip: it unpacks to 10000 bytes, and at most 9999"):
        open_archive(raw)
    monkeypatch.setattr(archives, "MOST_TOTAL", 10_000)
    monkeypatch.setattr(archives, "MOST_MEMBER", 4999)
    archive = open_archive(raw)
    with pytest.raises(LoadError, match="'a' inside unpacks to 5000 bytes, and at most 4999"):
        archive.read("a")
    monkeypatch.setattr(archives, "MOST_MEMBER", 5000)
    assert archive.read("a") + archive.read("b") == b"\0" * 10_000
    with pytest.raises(LoadError, match="at most 0 are read"):
        archive.read("a")  # read again and again it counts again


def test_a_member_that_lies_about_its_size() -> None:
    data = bytearray(zipped({"a": b"\0" * 5_000_000}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(mark) + at, 10)
    with pytest.raises(LoadError, match=r"^a\.zip: 'a' inside cannot be read \(Bad CRC"):
        open_archive(raw_of(bytes(data), "a.zip")).read("a")


def test_members_that_are_encrypted_damaged_missing_or_packed_otherwise() -> None:
    data = bytearray(zipped({"a": b"words"}, zipfile.ZIP_STORED))
    sealed = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        sealed[sealed.index(mark) + at] |= 1
    with pytest.raises(LoadError, match="encrypted"):
        open_archive(raw_of(bytes(sealed), "a.zip")).read("a")
    data[data.index(b"words")] ^= 1
    with pytest.raises(LoadError, match="Bad CRC"):
        open_archive(raw_of(bytes(data), "a.zip")).read("a")
    archive = open_archive(raw_of(zipped({"a": b"words"}, zipfile.ZIP_BZIP2), "a.zip"))
    with pytest.raises(LoadError, match="compressed by method 12"):
        archive.read("a")
    with pytest.raises(LoadError, match="it has no 'b' inside"):
        archive.read("b")


@pytest.mark.parametrize("at", [32, 46])  # the length of a comment, the name
def test_a_list_of_members_that_was_damaged_hides_none(at: int) -> None:
    data = bytearray(zipped({"a": b"words", "b": b"more", "c": b"most"}))
    data[data.index(b"PK\x01\x02") + at] ^= 47 if at == 32 else 2
    with pytest.raises(LoadError, match=r"^a\.zip: .* cannot be read \(.*differ|announced"):
        open_archive(raw_of(bytes(data), "a.zip"))


def test_passwords_are_named() -> None:
    with zipfile.ZipFile(FILES / "rules-libreoffice.odt") as archive:
        members = {path: archive.read(path) for path in archive.namelist()}
    members["META-INF/manifest.xml"] = members["META-INF/manifest.xml"].replace(
        b"</manifest", b"<manifest:encryption-data/></manifest"
    )
    with pytest.raises(LoadError, match="it has a password"):
        load("a.odt", zipped(members))
    with pytest.raises(LoadError, match="one with a password"):
        load("a.docx", b"\xd0\xcf\x11\xe0" + b"\0" * 600)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-le", "latin-1"])
def test_no_entity_is_expanded(codec: str) -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>'
    declared = codec.replace("-le", "")
    head = "" if codec == "utf-8" else f'<?xml version="1.0" encoding="{declared}"?>'
    with pytest.raises(LoadError, match=r"^a\.xml: it declares a document type"):
        parse_xml((head + bomb).encode(codec), "a.xml")


def test_xml_that_nests_too_deep_or_is_none() -> None:
    assert parse_xml(b"<a>" * MOST_DEPTH + b"</a>" * MOST_DEPTH, "a.xml").tag == "a"
    for depth in (MOST_DEPTH + 1, 300_000):
        with pytest.raises(LoadError, match=r"^a\.xml: its XML nests over 200 deep"):
            parse_xml(b"<a>" * depth + b"</a>" * depth, "a.xml")
    for data in (
        b"",
        b"<a>",
        b"<a/><b/>",
        b'<?xml version="1.0" encoding="nope"?><a/>',
        b"\xff<a/>",
    ):
        with pytest.raises(LoadError, match=r"^a\.xml: it is not well-formed XML"):
            parse_xml(data, "a.xml")


@pytest.mark.parametrize(
    ("name", "member", "end", "open_tag", "close_tag"),
    [
        ("handbook-python-docx.docx", "word/document.xml", b"<w:sectPr", b"<w:tbl><w:tr><w:tc>",
         b"</w:tc></w:tr></w:tbl>"),
        ("handbook-python-docx.docx", "word/document.xml", b"<w:sectPr", b"<w:sdt>", b"</w:sdt>"),
        ("rules-libreoffice.odt", "content.xml", b"</office:text>",
         b"<text:list><text:list-item>", b"</text:list-item></text:list>"),
        ("rules-libreoffice.odt", "content.xml", b"</office:text>",
         b"<text:p><draw:text-box>", b"</draw:text-box></text:p>"),
        ("talk-python-pptx.pptx", "ppt/slides/slide1.xml", b"</p:spTree>", b"<p:grpSp>",
         b"</p:grpSp>"),
    ],
)  # fmt: skip
def test_the_deepest_nesting_that_is_read(
    name: str, member: str, end: bytes, open_tag: bytes, close_tag: bytes
) -> None:
    times = (MOST_DEPTH - 6) // open_tag.count(b"<")
    data = changed(name, member, end, open_tag * times + close_tag * times + end)
    assert load(name, data).text == load(name).text


def test_deep_groups_of_rtf() -> None:
    deep = b"{\\rtf1 " + b"{" * 1900 + b"words" + b"}" * 1900 + b"}"
    assert load("a.rtf", deep).text == "words"
    with pytest.raises(LoadError, match="nest over 2000 deep"):
        load("a.rtf", b"{\\rtf1 " + b"{" * 100_000)


@pytest.mark.parametrize(
    ("rtf", "text"),
    [
        (
            rb"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset204 A;}}\plain \'cf\'f0\'e8\par}",
            "При",
        ),
        (
            rb"{\rtf1\ansi\ansicpg1251\deff0{\fonttbl{\f0\fcharset0 A;}}\pard\f0 caf\'e9\par}",
            "café",
        ),
    ],
)
def test_the_usual_font_of_rtf_says_its_letters(rtf: bytes, text: str) -> None:
    assert load_bytes(rtf, uri="a.rtf").text == text


@pytest.mark.parametrize("suffix", ["docx", "odt", "rtf"])
def test_footnotes_stand_under_no_heading(suffix: str) -> None:
    doc = load(f"rules-libreoffice.{suffix}")
    note = next(part for part in doc.parts if part.kind == "footnote")
    assert doc.locate(note.start).heading_path == ()
    passage = by_heading(min_size=0, overlap=0).split(doc)[-1]
    assert passage.heading_path == ()
    assert passage.context in ("", doc.meta.get("title"))


def test_a_slide_without_a_title_stands_under_no_heading() -> None:
    made = Builder()
    for title, text in (("Refunds", "Five days. " * 60), ("", "Two days. " * 60)):
        made.apart()
        with made.part("slide", "1"):
            made.heading(1, title)
            made.paragraph(text)
            made.heading(2, "Below")
            made.paragraph(text)
    doc = made.document(uri="p.pptx", media_type="application/x", meta={})
    paths = [each.heading_path for each in by_heading(min_size=0, overlap=0).split(doc)]
    assert paths == [("Refunds",), ("Refunds", "Below"), (), ("Below",)]
    assert [each.context for each in by_structure(overlap=0).split(doc)][-2:] == ["", ""]
    for by in (by_layout(overlap=0), by_structure(overlap=0), by_heading()):
        own = "".join("".join(each.own_text.split()) for each in by.split(doc))
        assert own == "".join(doc.text.split())
        assert [each.headings for each in by.split(doc)]


def test_signs_put_in_by_their_number_are_read() -> None:
    data = changed(
        "handbook-python-docx.docx",
        "word/document.xml",
        b"<w:p><w:r><w:t>Plain words.",
        b'<w:p><w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Symbol" w:char="F057"/>'
        b'<w:sym w:font="Symbol" w:char="F0AE"/><w:sym w:font="Arial" w:char="20AC"/>'
        b'<w:sym w:font="Wingdings" w:char="F04A"/><w:t>Plain words.',
    )
    assert "\u03b1\u03a9\u2192\u20ac\ufffdPlain words." in load("a.docx", data).text
