"""PDF files: each page's text, labels and places; locked and damaged files refused by name."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pikepdf
import pypdf
import pypdfium2
import pytest
from pypdf.annotations import FreeText
from pypdf.generic import (
    DictionaryObject,
    NameObject,
    NumberObject,
    RectangleObject,
    StreamObject,
)
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from spanwise import Document, LoadError, MissingExtraError, by_paragraph, extras
from spanwise.loaders.base import Loader, Raw
from spanwise.loaders.pdf import PdfLoader

FILES = Path(__file__).parents[1] / "data" / "files"
RULES = FILES / "rules.pdf"
SIZE = (400, 300)


def written(draw: Callable[[Canvas], None], **options: Any) -> bytes:
    """The bytes of a PDF that reportlab writes."""
    out = BytesIO()
    canvas = Canvas(out, pagesize=SIZE, invariant=True, **options)
    draw(canvas)
    canvas.save()
    return out.getvalue()


def pages_of(*pages: list[str]) -> bytes:
    """A PDF of these lines, page by page."""

    def draw(canvas: Canvas) -> None:
        for lines in pages:
            for i, line in enumerate(lines):
                canvas.drawString(50, 250 - 20 * i, line)
            canvas.showPage()

    return written(draw)


def read(data: bytes, loader: Loader | None = None, name: str = "a.pdf") -> Document:
    return (loader or PdfLoader()).load(Raw(data=data, name=name, uri=name, suffix=".pdf"))


def refused(data: bytes, loader: Loader | None = None) -> str:
    with pytest.raises(LoadError) as caught:
        read(data, loader)
    message = str(caught.value)
    assert message.startswith("a.pdf: ")
    assert ";" in message
    return message


def rewritten(data: bytes, change: Callable[[pypdf.PdfWriter], object]) -> bytes:
    """The file as pypdf writes it again, changed."""
    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    change(writer)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.fixture
def without_pdfium(monkeypatch: pytest.MonkeyPatch) -> None:
    real = extras.import_module

    def refuse(name: str) -> object:
        if name == "pypdfium2":
            raise ImportError(name)
        return real(name)

    monkeypatch.setattr(extras, "import_module", refuse)


THREE = pages_of(["One fox.", "Two dogs (and a cat)."], ["Refunds take 14 days."], ["The end."])
TEXTS = ["One fox.\nTwo dogs (and a cat).", "Refunds take 14 days.", "The end."]


def test_pages_are_joined_like_from_pages() -> None:
    doc = read(THREE)
    plain = Document.from_pages(TEXTS)
    assert doc.text == plain.text
    assert [(p.kind, p.start, p.end, p.label) for p in doc.parts] == [
        (p.kind, p.start, p.end, p.label) for p in plain.parts
    ]
    assert [dict(part.meta) for part in doc.parts] == [
        {"number": number, "width": 400, "height": 300} for number in (1, 2, 3)
    ]
    assert (doc.uri, doc.media_type, doc.encoding) == ("a.pdf", "application/pdf", "")
    assert doc.locate(3).byte is None


def test_a_cited_page_holds_what_is_cited() -> None:
    def label(writer: pypdf.PdfWriter) -> None:
        writer.set_page_label(0, 1, style="/r", start=4)
        writer.set_page_label(2, 2, style="/D", prefix="A-", start=7)

    data = rewritten(THREE, label)
    doc = read(data)
    assert [part.label for part in doc.parts] == ["iv", "v", "A-7"]
    reader = pypdf.PdfReader(BytesIO(data))
    chunks = by_paragraph(chunk_size=12, overlap=0).split(doc)
    assert {label for chunk in chunks for label in chunk.pages} == {"iv", "v", "A-7"}
    for chunk in chunks:
        pages = doc.parts_between(chunk.body, chunk.end, "page")
        assert chunk.pages == tuple(page.label for page in pages)
        numbers = [page.meta["number"] - 1 for page in pages]
        assert [reader.page_labels[number] for number in numbers] == list(chunk.pages)
        there = "\n".join(reader.pages[number].extract_text() for number in numbers)
        assert "".join(chunk.text.split()) in "".join(there.split())


def test_a_file_of_libreoffice() -> None:
    doc = read(RULES.read_bytes(), PdfLoader(boxes=True))
    assert doc.text == (
        "Terms of delivery\nParcels leave the store on the day they are ordered.\n"
        "Item 0 Price 0\n\n"
        "Refunds\nMoney comes back within fourteen days, Größe and 日本 included.\n"
        "Item 1 Price 1\n\n"
        "Warranty\nTwo years; batteries six months.\nItem 2 Price 2"
    )
    assert doc.meta["title"] == "Shop rules"
    assert doc.meta["author"] == "Ada Lovelace"
    assert doc.meta["created"].startswith("20")
    assert doc.meta["page_count"] == 3
    assert "pages_without_text" not in doc.meta
    place = doc.locate(doc.text.index("fourteen"))
    page, box = place.part("page"), place.part("box")
    assert page is not None
    assert box is not None
    assert (page.label, box.label) == ("2", "line 2")
    # In the original: what stands inside the box on that page.
    with pypdfium2.PdfDocument(RULES) as pdf:
        shown = pdf[page.meta["number"] - 1]
        x0, y0, x1, y1 = box.meta["box"]
        height = shown.get_height()
        inside = shown.get_textpage().get_text_bounded(x0, height - y1, x1, height - y0)
    assert inside.strip() == doc.text[box.start : box.end]


@pytest.mark.parametrize("boxes", [False, True])
def test_hyphens_at_line_ends_stay(boxes: bool) -> None:
    data = pages_of(["A well-known hyphen-", "ated word and", "1-", "2 end-", "ed"])
    doc = read(data, PdfLoader(boxes=boxes))
    assert doc.text == "A well-known hyphen-\nated word and\n1-\n2 end-\ned"
    lines = [doc.text[part.start : part.end] for part in doc.parts if part.kind == "box"]
    assert lines == (doc.text.split("\n") if boxes else [])


def ink(page: Any, scale: int = 2) -> tuple[float, float, float, float]:
    """Where the page as it is drawn is not white, in points from the top left."""
    bitmap = page.render(scale=scale, grayscale=True)
    rows = [
        bytes(bitmap.buffer)[y * bitmap.stride : y * bitmap.stride + bitmap.width]
        for y in range(bitmap.height)
    ]
    dark = [(x, y) for y, row in enumerate(rows) for x, shade in enumerate(row) if shade < 128]
    xs, ys = [x for x, _ in dark], [y for _, y in dark]
    return min(xs) / scale, min(ys) / scale, (max(xs) + 1) / scale, (max(ys) + 1) / scale


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
@pytest.mark.parametrize("cropped", [False, True])
def test_boxes_lie_where_the_page_shows_the_line(turned: int, cropped: bool) -> None:
    def change(writer: pypdf.PdfWriter) -> None:
        if cropped:
            writer.pages[0].cropbox = RectangleObject((30, 40, 350, 290))
        writer.pages[0].rotate(turned)

    data = rewritten(pages_of(["HANDGLOVES"]), change)
    doc = read(data, PdfLoader(boxes=True))
    page, box = doc.parts
    with pypdfium2.PdfDocument(data) as pdf:
        assert (page.meta["width"], page.meta["height"]) == pdf[0].get_size()
        assert box.meta["box"] == pytest.approx(ink(pdf[0]), abs=1.5)


def test_boxes_beyond_the_basic_plane() -> None:
    data = (FILES / "astral.pdf").read_bytes()
    doc = read(data, PdfLoader(boxes=True))
    assert doc.text == "Größe Ω 😀 𝔸𝔹 end\nмир after\nlast 😀"
    assert doc.meta["title"] == "Beyond 😀"
    boxes = [part for part in doc.parts if part.kind == "box"]
    assert [doc.text[box.start : box.end] for box in boxes] == doc.text.split("\n")
    with pypdfium2.PdfDocument(data) as pdf:
        page = pdf[0]
        for box in boxes:
            x0, y0, x1, y1 = box.meta["box"]
            bounds = x0, page.get_height() - y1, x1, page.get_height() - y0
            found = page.get_textpage().get_text_bounded(*bounds)
            assert found.strip() == doc.text[box.start : box.end]


def test_boxes_change_nothing_else() -> None:
    for data in (THREE, RULES.read_bytes(), (FILES / "astral.pdf").read_bytes()):
        plain, boxed = read(data), read(data, PdfLoader(boxes=True))
        assert plain.text == boxed.text
        assert plain.parts == tuple(part for part in boxed.parts if part.kind != "box")
        assert plain.meta == boxed.meta


def test_japanese() -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    lines = ["返金は十四日以内に行います。", "保証は二年です。"]

    def draw(canvas: Canvas) -> None:
        canvas.setFont("HeiseiMin-W3", 12)
        for i, line in enumerate(lines):
            canvas.drawString(50, 250 - 20 * i, line)

    assert read(written(draw)).text == "\n".join(lines)


def test_what_is_filled_into_a_form_is_read() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 250, "Name:")
        canvas.acroForm.textfield(name="n", value="Ada Lovelace", x=100, y=200, width=200)

    doc = read(written(draw), PdfLoader(boxes=True))
    assert doc.text == "Name:\nAda Lovelace"
    assert [part.kind for part in doc.parts] == ["page", "box", "box"]


def noted(data: bytes, *notes: tuple[str, int, int], drawn: bool = False) -> bytes:
    """A PDF with free text on its first page: what it says, how high it lies, its flags.

    ``drawn``: with a picture of itself, as most programs write it.
    """

    def change(writer: pypdf.PdfWriter) -> None:
        for text, y, flags in notes:
            note = FreeText(text=text, rect=(50, y, 200, y + 30))
            note[NameObject("/F")] = NumberObject(flags)
            if drawn:
                picture = StreamObject()
                picture.set_data(b"BT /F1 12 Tf 2 8 Td (%s) Tj ET" % text.encode())
                picture[NameObject("/Type")] = NameObject("/XObject")
                picture[NameObject("/Subtype")] = NameObject("/Form")
                picture[NameObject("/BBox")] = RectangleObject((0, 0, 150, 30))
                picture[NameObject("/Resources")] = writer.pages[0]["/Resources"]
                note[NameObject("/AP")] = DictionaryObject(
                    {NameObject("/N"): writer._add_object(picture)}
                )
            writer.add_annotation(0, note)

    return rewritten(data, change)


NOTES = (("Low\r\nnote", 40, 0), ("Hidden", 100, 2), ("High note", 160, 4), ("Unseen", 90, 32))


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("reader", ["pypdfium2", "pypdf"])
def test_free_text_on_a_page_is_read(
    drawn: bool, reader: str, request: pytest.FixtureRequest
) -> None:
    """Fault: text that was typed on a page, a FreeText annotation, was lost."""
    if reader == "pypdf":
        request.getfixturevalue("without_pdfium")
    doc = read(noted(THREE, *NOTES, drawn=drawn))
    assert doc.text == "\n\n".join([TEXTS[0] + "\nHigh note\nLow\nnote", *TEXTS[1:]])
    assert doc.meta["reader"] == reader
    out = BytesIO()
    with pikepdf.open(BytesIO(noted(pages_of([]), *NOTES))) as pdf:
        pdf.save(out, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    assert b"/FreeText" not in out.getvalue()
    assert read(out.getvalue()).text == "High note\nLow\nnote"


@pytest.mark.parametrize("turned", [0, 90])
def test_free_text_has_a_box(turned: int) -> None:
    data = rewritten(noted(THREE, *NOTES), lambda writer: writer.pages[0].rotate(turned))
    doc = read(data, PdfLoader(boxes=True))
    boxes = {doc.text[p.start : p.end]: p.meta["box"] for p in doc.parts if p.kind == "box"}
    low = boxes["Low\nnote"]
    assert low == ((50, 230, 200, 260) if turned == 0 else (40, 50, 70, 200))
    assert len(boxes) == 6


@pytest.mark.parametrize("drawn", [False, True])
def test_free_text_on_a_form_stands_once(drawn: bool) -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 250, "Name:")
        canvas.acroForm.textfield(name="n", value="Ada Lovelace", x=100, y=200, width=200)

    assert read(noted(written(draw), ("Note", 40, 0), drawn=drawn)).text == (
        "Name:\nAda Lovelace\nNote"
    )


def test_pages_without_text_are_told() -> None:
    from_image = ImageReader(BytesIO(_png()))

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(from_image, 50, 50, 100, 100)
        canvas.showPage()
        canvas.drawString(50, 250, "Text.")
        canvas.showPage()
        canvas.drawImage(from_image, 50, 50, 100, 100)
        canvas.showPage()

    doc = read(written(draw), PdfLoader(boxes=True))
    assert doc.text == "\n\nText.\n\n"
    assert doc.meta["pages_without_text"] == ("1", "3")
    assert [(p.start, p.end, p.label) for p in doc.parts if p.kind == "page"] == [
        (0, 0, "1"),
        (2, 7, "2"),
        (9, 9, "3"),
    ]


def _png() -> bytes:
    with pypdfium2.PdfDocument(THREE) as pdf:
        out = BytesIO()
        pdf[0].render(scale=0.2).to_pil().save(out, "PNG")
    return out.getvalue()


def locked(data: bytes, user: str, algorithm: str) -> bytes:
    def lock(writer: pypdf.PdfWriter) -> None:
        writer.encrypt(user, "owner", algorithm=algorithm)

    return rewritten(data, lock)


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128", "AES-256"])
@pytest.mark.parametrize("reader", ["pypdfium2", "pypdf"])
def test_encrypted_files(algorithm: str, reader: str, request: pytest.FixtureRequest) -> None:
    if reader == "pypdf":
        request.getfixturevalue("without_pdfium")
    # Anyone may read a file without a user password.
    assert read(locked(THREE, "", algorithm)).text == "\n\n".join(TEXTS)
    data = locked(THREE, "größe" if algorithm == "AES-256" else "open", algorithm)
    assert "PdfLoader(password=...)" in refused(data)
    assert "does not open it" in refused(data, PdfLoader(password="no"))
    password = "größe" if algorithm == "AES-256" else "open"
    for given in (password, "owner"):
        doc = read(data, PdfLoader(password=given))
        assert doc.text == "\n\n".join(TEXTS)
        assert doc.meta["reader"] == reader
    assert password not in repr(PdfLoader(password=password))
    assert read(THREE, PdfLoader(password="unneeded")).text == "\n\n".join(TEXTS)


def test_files_of_qpdf() -> None:
    for options in (
        {"linearize": True},
        {"object_stream_mode": pikepdf.ObjectStreamMode.generate},
    ):
        out = BytesIO()
        with pikepdf.open(BytesIO(THREE)) as pdf:
            pdf.save(out, **options)
        data = out.getvalue()
        assert read(data).text == "\n\n".join(TEXTS)
        for cut in range(0, len(data) - 40, 97):
            refused(data[:cut])


def _grown() -> bytes:
    """The file after a change that is appended to it."""
    writer = pypdf.PdfWriter(BytesIO(THREE), incremental=True)
    writer.add_metadata({"/Title": "Changed"})
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def test_a_file_cut_short_is_refused() -> None:
    for data in (THREE, RULES.read_bytes(), _grown()):
        assert read(data).text
        end = data.rindex(b"startxref")
        step = max(1, end // 150)
        # The first state of a file that grew is whole, up to where the change begins.
        first = data.index(b"startxref")
        for cut in [*range(0, end, step), end]:
            if first < cut <= len(THREE) + len("\n7 0 obj") and data is not THREE:
                continue
            refused(data[:cut])
        for cut in range(end + len("startxref"), len(data)):
            assert read(data[:cut]).text == read(data).text
        assert read(data + b"\r\n" + b"\0" * 3000 + b"<!-- served -->").text == read(data).text


@pytest.mark.parametrize("reader", ["pypdfium2", "pypdf"])
def test_flipped_bytes(reader: str, request: pytest.FixtureRequest) -> None:
    if reader == "pypdf":
        request.getfixturevalue("without_pdfium")
    chance = random.Random(7)
    loaded = 0
    for i in range(150 if reader == "pypdfium2" else 60):
        source = RULES.read_bytes() if i % 2 else THREE
        data = bytearray(source)
        for _ in range(chance.choice((1, 4, 30))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            doc = read(bytes(data), PdfLoader(boxes=reader == "pypdfium2"))
        except LoadError as fault:
            assert str(fault).startswith("a.pdf: ")
            continue
        loaded += 1
        assert doc.meta["page_count"] == len([p for p in doc.parts if p.kind == "page"]) > 0
        doc.text.encode()
    assert loaded > 10


def test_what_is_no_pdf() -> None:
    assert "it is empty" in refused(b"")
    assert "%PDF- is not in its first 1024 bytes" in refused(b"Only text.")
    refused(b" " * 1025 + THREE)
    refused(b"%PDF-1.7\n")
    refused(b"%PDF-1.7\nstartxref\n0\n%%EOF\n")
    refused(b"\x89PNG\r\n\x1a\n" + bytes(2000))


def test_a_file_without_pages(without_pdfium: None) -> None:
    out = BytesIO()
    pypdf.PdfWriter().write(out)
    assert "no pages" in refused(out.getvalue())


def test_a_file_without_pages_by_pdfium() -> None:
    out = BytesIO()
    pypdf.PdfWriter().write(out)
    assert "no pages" in refused(out.getvalue())


def test_a_wrong_table_of_objects_is_mended() -> None:
    at = THREE.rindex(b"startxref")
    data = THREE[:at] + b"startxref\n99999999\n%%EOF\n"
    assert read(data).text == "\n\n".join(TEXTS)
    assert read(b"\r\nHTTP junk\r\n" + THREE).text == "\n\n".join(TEXTS)


def test_a_page_that_is_not_there() -> None:
    """Never a document without it; a count that is no count is not believed."""
    gone = THREE.replace(b"/Kids [ 3 0 R 4 0 R", b"/Kids [ 3 0 R 99 0 R")
    assert gone != THREE
    assert "page 2 of 3 cannot be read" in refused(gone)
    assert "page 4 of 4 cannot be read" in refused(THREE.replace(b"/Count 3", b"/Count 4"))
    assert read(THREE.replace(b"/Count 3", b"/Count 999999999")).meta["page_count"] == 3


def test_many_pages_in_order() -> None:
    doc = read(pages_of(*([f"Page {number}."] for number in range(1, 3001))))
    assert doc.text == "\n\n".join(f"Page {number}." for number in range(1, 3001))
    assert doc.meta["page_count"] == 3000
    place = doc.locate(doc.text.index("Page 2718.")).part("page")
    assert place is not None
    assert place.label == "2718"


def test_several_threads() -> None:
    found: list[str] = []
    data = pages_of(*([f"Page {number}."] for number in range(200)))
    threads = [
        threading.Thread(target=lambda: found.append(read(data, PdfLoader(boxes=True)).text))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [read(data).text] * 6


@pytest.mark.parametrize(
    ("data", "suffix", "claimed"),
    [
        (b"", ".pdf", True),
        (THREE, ".bin", True),
        (THREE, "", True),
        (b"\x1b%-12345X@PJL\r\n" + THREE, "", True),
        (b"x" * 1100 + b"\n" + THREE, "", False),
        (b"A PDF begins with %PDF-1.7.", "", False),
        (b"# Magic\n%PDF-1.7\n", ".md", False),
        (b"text", ".txt", False),
    ],
)
def test_what_is_claimed(data: bytes, suffix: str, claimed: bool) -> None:
    loader: Loader = PdfLoader()
    assert loader.claims(Raw(data=data, name="a", uri="a", suffix=suffix)) is claimed
    assert (loader.name, loader.suffixes) == ("PDF", (".pdf",))


def test_pypdf_where_pdfium_is_missing(without_pdfium: None) -> None:
    def label(writer: pypdf.PdfWriter) -> None:
        writer.set_page_label(0, 2, style="/r", start=4)
        writer.pages[1].rotate(90)

    doc = read(rewritten(THREE, label))
    assert doc.text == "\n\n".join(TEXTS)
    assert [part.label for part in doc.parts] == ["iv", "v", "vi"]
    assert [part.meta["width"] for part in doc.parts] == [400, 300, 400]
    assert doc.meta["reader"] == "pypdf"
    rules = read(RULES.read_bytes())
    assert (rules.meta["title"], rules.meta["author"]) == ("Shop rules", "Ada Lovelace")
    assert "within fourteen days, Größe and" in rules.text
    with pytest.raises(MissingExtraError, match="pypdfium2"):
        read(THREE, PdfLoader(boxes=True))


def test_no_reader_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", refuse)
    with pytest.raises(MissingExtraError, match=r'pypdfium2.*pip install "spanwise\[pdf\]"'):
        read(THREE)


def test_odd_metadata() -> None:
    def change(writer: pypdf.PdfWriter) -> None:
        writer.add_metadata(
            {"/Title": " Größe 😀\0", "/Author": "", "/CreationDate": "D:20240230120000Z"}
        )

    meta = read(rewritten(THREE, change)).meta
    assert meta["title"] == "Größe 😀"
    assert "author" not in meta
    assert "created" not in meta


def test_a_label_that_nobody_can_cite_is_the_number() -> None:
    def change(writer: pypdf.PdfWriter) -> None:
        writer.set_page_label(0, 0, style="/A", start=2_000_000_000)
        writer.set_page_label(1, 1, prefix=" \n")
        writer.set_page_label(2, 2, prefix="Plate\n 1")

    doc = read(rewritten(THREE, change))
    assert [part.label for part in doc.parts] == ["1", "2", "Plate 1"]


def test_an_encryption_nobody_knows() -> None:
    data = locked(THREE, "", "RC4-128").replace(b"/Filter /Standard", b"/Filter /Unheard1")
    assert "in a way that PDFium does not know" in refused(data)


def test_pages_that_hold_themselves() -> None:
    kids = b"/Kids [ 3 0 R 4 0 R 5 0 R ]"
    pages = THREE[: THREE.index(kids)].rsplit(b" 0 obj", 1)[0].rsplit(b"\n", 1)[1]
    refused(THREE.replace(kids, b"/Kids [ 3 0 R %s 0 R 5 0 R ]" % pages))
