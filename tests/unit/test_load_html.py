"""HTML and EPUB: every word a browser shows, in order, with its structure and where it was."""

from __future__ import annotations

import io
import random
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from timeit import repeat

import pytest
from markdown_it import MarkdownIt

from spanwise import Document, LoadError, by_heading, chunk
from spanwise import load as load_bytes
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.epub import EpubLoader
from spanwise.loaders.html import HtmlLoader, write_html
from spanwise.loaders.html_reader import read_html

FILES = Path(__file__).parent.parent / "data" / "files"
MANY = 100_000


def page(html: str | bytes, suffix: str = ".html", encoding: str = "") -> Document:
    data = html.encode() if isinstance(html, str) else html
    raw = Raw(data=data, name="a.html", uri="kb/a.html", suffix=suffix, encoding=encoding)
    return HtmlLoader().load(raw)


def book(data: bytes) -> Document:
    return EpubLoader().load(Raw(data=data, name="b.epub", uri="kb/b.epub", suffix=".epub"))


def text(html: str) -> str:
    return page(html).text


def stated(doc: Document, position: int, kind: str) -> str:
    part = doc.locate(position).part(kind)
    assert part is not None
    return part.label


# What pandoc 3.9 and LibreOffice 7.4 made of one guide.

IN_ORDER = (
    "The Lighthouse Guide",
    "Ada Keeper",
    "Björn Lamp",
    "Before dusk",
    "Check the lamp, the lens and the fog horn. If the pressure is < 3 bar & falling, call",
    "Fill the tank.",
    "Trim the wick:",
    "slowly,",
    "evenly.",
    "Close the door.",
    "Signals",
    "Long",
    "Ship in sight",
    "All clear",
    "Never leave the light alone.",
    "def flash(n):",
    "lamp.off()",
    "Wick",
    "The part that burns.",
    "The part that bends the light.",
    "灯台の夜",
    "夜は長い。Café « ouvert » — naïve 🏮.",
    "A drawing of the tower",
    "After dawn",
    "Put out the lamp. Write the log.1",
    "In ink, never in pencil.",
)
CODE = "def flash(n):\n    for _ in range(n):\n        lamp.on()\n\n        lamp.off()"


def load_file(name: str) -> Document:
    data = (FILES / name).read_bytes()
    return book(data) if name.endswith(".epub") else page(data)


@pytest.mark.parametrize(
    "name",
    [
        "guide-pandoc.html",
        "guide-libreoffice.html",
        "guide-pandoc.epub",
        "guide-libreoffice.epub",
    ],
)
def test_all_text_in_order(name: str) -> None:
    doc = load_file(name)
    at = 0
    for words in IN_ORDER:
        at = doc.text.index(words, at) + len(words)
    assert doc.meta["title"] == "The Lighthouse Guide"
    assert "<p" not in doc.text and "image0001" not in doc.text


@pytest.mark.parametrize("name", ["guide-pandoc.html", "guide-pandoc.epub"])
def test_structure_of_pandoc(name: str) -> None:
    doc = load_file(name)
    assert doc.outline.paths[1:] == [
        ("Before dusk",),
        ("Before dusk", "Signals"),
        ("灯台の夜",),
        ("After dawn",),
    ]
    assert CODE in doc.text
    found = doc.outline.structure
    atoms = zip(found.atom_kinds, found.atom_starts, found.atom_ends, strict=True)
    kinds = {kind: doc.text[start:end] for kind, start, end in atoms}
    assert kinds["fence"] == CODE
    assert kinds["table"].splitlines()[0] == "| Signal | Meaning | Seconds |"
    assert "1. Fill the tank.\n2. Trim the wick:\n  - slowly,\n  - evenly.\n3. Close" in doc.text
    assert "Wick\n: The part that burns.\nLens\n: The part" in doc.text


@pytest.mark.parametrize("name", ["guide-pandoc.html", "guide-libreoffice.html"])
def test_source_lines_are_where_the_words_are(name: str) -> None:
    doc = load_file(name)
    lines = (FILES / name).read_bytes().decode().splitlines()
    for words in ("Before dusk", "Trim the wick", "slowly", "Never leave", "夜は長い", "Put out"):
        number = int(stated(doc, doc.text.index(words), "source line"))
        assert words.split()[0] in "".join(lines[number - 1 : number + 2])
    assert doc.locate(0).byte is None


def test_chapters_of_a_book() -> None:
    doc = load_file("guide-pandoc.epub")
    assert doc.media_type == "application/epub+zip"
    assert doc.meta == {
        "title": "The Lighthouse Guide",
        "author": "Ada Keeper, Björn Lamp",
        "language": "en-GB",
    }
    with zipfile.ZipFile(FILES / "guide-pandoc.epub") as archive:
        for words, chapter in (
            ("Fill the tank", "Before dusk"),
            ("夜は長い", "灯台の夜"),
            ("Put out the lamp", "After dawn"),
        ):
            part = doc.locate(doc.text.index(words)).part("chapter")
            assert part is not None and part.label == chapter
            assert words in archive.read(part.meta["file"]).decode()
    other = load_file("guide-libreoffice.epub")
    assert stated(other, other.text.index("夜は長い"), "chapter") == "灯台の夜"


def test_what_markdown_it_writes_comes_back() -> None:
    source = (
        "# A\n\n- x\n  1. y\n- z\n\n| a | b |\n|---|---|\n| 1 | 2\\|3 |\n\n```\n<b>\n  &\n```\n"
    )
    html = MarkdownIt("commonmark").enable("table").render(source)
    assert text(html) == (
        "A\n\n- x\n  1. y\n- z\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |\n\n<b>\n  &"
    )


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a < b then c > d", "a < b then c > d"),
        ("x <y", "x <y"),
        ("I </3 you", "I </3 you"),
        ("1 <2 <= 3<", "1 <2 <= 3<"),
        ("&lt;p&gt; &copy &#x41;&#66 &nope; AT&T &notit;", "<p> © AB &nope; AT&T ¬it;"),
        ("&#" + "9" * 5000 + ";x", "\ufffdx"),
        ("a \n\t b<b> c </b>d<i>e</i>", "a b c de"),
        ("a<br>b<br/> c", "a\nb\nc"),
        ("a<p>b<p>c</p>d<div>e</div>f", "a\n\nb\n\nc\n\nd\n\ne\n\nf"),
        ("a<hr>b", "a\n\nb"),
        ('<a href="x>y">link</a> <img alt="a &amp; b" src=i.png>', "link a & b"),
        ("a<!-- b --> c<!-->d<!--->e<!-- x", "a cde"),
        ("a<script>if (a<b) '</p>'</script>b<style>p{}</style>c<template>d</template>", "abc"),
        ("<p>a<template><p>b</template>c", "ac"),
        ("<ul><li>a<template><li>b</template><li>c</ul>", "- a\n- c"),
        ("<template><template>a</template>b</template>c", "c"),
        ("<svg><metadata>a</metadata><desc>b</desc><defs><text>c</defs><text>d</svg>", "d"),
        ("<noscript>kept</noscript>", "kept"),
        ("a<div hidden>b<div>c</div>d</div>e", "a\n\ne"),
        ("<p hidden>a<p>b", "b"),
        ("a <span hidden>b<span>c</span>d</span>e", "a e"),
        ('<div hidden="until-found">a</div><p aria-hidden=true>b', "a\n\nb"),
        ("<title>a <b> c</title>d<textarea> <i>e</textarea>", "d <i>e"),
        ("<title>never closed<p>text", "never closed\n\ntext"),
        ("<ol start=3><li>a<li value=7>b<li>c</ol>", "3. a\n7. b\n8. c"),
        ("<ol type=a start=26><li>a<li>b</ol>", "z. a\naa. b"),
        ("<ol type=I start=4><li>a</ol>", "IV. a"),
        ("<ul><li>a<ul><li>b</ul>c<p>d</ul>e", "- a\n  - b\n  c\n  d\n\ne"),
        ("<li>a<li>b", "- a\n- b"),
        ("<dl><div><dt>a</dt><dd>b</dd></div><dt>c<dd>d</dl>", "a\n: b\nc\n: d"),
        ("<blockquote>a<p>b</blockquote>c", "a\n\nb\n\nc"),
        ("<pre>\n  a\n\n\tb <b>c</b>\n</pre>d", "  a\n\n\tb c\n\nd"),
        ("<pre>a<br>b<div>c</div>d</pre>", "a\nb\nc\nd"),
        ("<xmp><b>x</xmp>", "<b>x"),
        ("<select><option>a<option>b</select>", "a b"),
        ("<![CDATA[a <b> c]]>d", "a <b> cd"),
        ('a <b title="never closed>b</b> c', "a b c"),
    ],
)
def test_text_as_a_browser_shows_it(html: str, expected: str) -> None:
    assert text(html) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (
            "<table><caption>C</caption><tr><th>a<th>b<tr><td>1<td>2|3</table>",
            "C\n\n| a | b |\n| --- | --- |\n| 1 | 2\\|3 |",
        ),
        (
            "<table><thead><tr><th>a</th><th colspan=2>b</th></tr></thead><tbody>"
            "<tr><td rowspan=2>1</td><td>2</td><td>3</td></tr><tr><td>4</td><td>5</td></tr>"
            "</tbody></table>",
            "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | 5 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td><p>1<p>2<td><table><tr><td>x<td>y</table>z</table>w",
            "| a | b |\n| --- | --- |\n| 1 2 | x y z |\n\nw",
        ),
        (  # a table that only places its cells
            "<table><tr><td><h1>T</h1>a<td><table><tr><td>x<td>y</table></table>",
            "T\n\na\n\n| x | y |\n| --- | --- |",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb"),
        ("<table>stray<tr><td>a<td>b", "stray\n\n| a | b |\n| --- | --- |"),
        ("<tr><td>a<td>b", "a\n\nb"),
        ("<ul><li>x<table><tr><td>a<td>b</table>y</ul>", None),
        ("<table><tr hidden><td>no<td>no<tr><td>a<td>b</table>", "| a | b |\n| --- | --- |"),
    ],
)
def test_tables(html: str, expected: str | None) -> None:
    if expected is None:
        expected = "- x\n\n| a | b |\n| --- | --- |\n\n  y"
    assert text(html) == expected


@pytest.mark.parametrize(
    "ruby",
    [
        "<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>",
        "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(<rt>じ<rp>)</ruby>",
        "<ruby><rb>漢<rt>かん<rb>字<rt>じ</ruby>",
        "<ruby><rb>漢</rb><rb>字</rb><rtc><rt>かん</rt><rt>じ</rt></rtc></ruby>",
    ],
)
def test_words_are_whole_beside_their_readings(ruby: str) -> None:
    """Fault: what is printed small above a word stood inside it, and the word was not found."""
    assert text(f"<p>その{ruby}は</p><p>次") == "その漢字は\n\n次"
    assert text(f"{ruby[:-7]}<p>次") == "漢字\n\n次"  # neither is closed


def test_headings() -> None:
    doc = page("<h1>A<br>b</h1><h2><div>C</div><div>D</div></h2>x<h3>open<p>y")
    assert doc.outline.paths == [("A b",), ("A b", "C D"), ("A b", "C D", "open")]
    assert doc.text.endswith("x\n\nopen\n\ny")


def test_self_closing_tags_of_xhtml() -> None:
    html = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
        '<script src="x"/></head><body><p>a<a id="i"/></p><div hidden="hidden"/>b</body></html>'
    )
    assert text(html) == "a\n\nb"


def test_meta() -> None:
    doc = page(
        "<html lang=de><head><title> A &amp;\nB </title><meta name=Description content='d  e'>"
        "<body><svg><title>icon</title></svg>x"
    )
    assert doc.meta == {"encoding": "utf-8", "title": "A & B", "lang": "de", "description": "d e"}
    assert (doc.text, doc.uri, doc.media_type) == ("x", "kb/a.html", "text/html")
    builder = Builder()
    assert write_html(builder, "<title>T</title><p>x\0y") == "T"
    assert write_html(builder, "<p>z", lines=False) == ""
    doc = builder.document(uri="", media_type="", meta={})
    assert doc.text == "x\ufffdy\n\nz"
    assert [(part.kind, part.label) for part in doc.parts] == [("source line", "1")]
    assert read_html("<h2>a <b>b</b></h2>").first_heading == "a b"


@pytest.mark.parametrize(
    ("data", "expected", "used"),
    [
        ("Größe".encode(), "Größe", "utf-8"),
        (b"\xef\xbb\xbf<meta charset=latin1>" + "é".encode(), "é", "utf-8-sig"),
        (b"\xff\xfe" + "<p>é".encode("utf-16-le"), "é", "utf-16"),
        (b'<META charset="ISO-8859-1">\x93caf\xe9\x94', "“café”", "cp1252"),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">'
            + "灯台".encode("cp932"),
            "灯台",
            "cp932",
        ),
        (b'<?xml version="1.0" encoding="windows-1251"?><p>\xc4\xe0', "Да", "cp1251"),
        (b"<!-- <meta charset=koi8-r> -->" + "é".encode(), "é", "utf-8"),
        (b"<meta charset=unicode_escape>\\u0041", "\\u0041", "utf-8"),
        (b"<meta charset=none-such>a", "a", "utf-8"),
        (b"<meta charset=utf-16>a", "a", "utf-8"),
        (b"<meta charset=iso-2022-jp>" + "é x".encode(), "é x", "utf-8"),
    ],
)
def test_encodings(data: bytes, expected: str, used: str) -> None:
    doc = page(data)
    assert (doc.text, doc.meta["encoding"]) == (expected, used)


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        *[(label, "สวัสดี “ครับ”", "cp874") for label in ("windows-874", "DOS-874", "tis-620")],
        *[(label, "שלום", "iso8859-8") for label in ("iso-8859-8-i", "logical", "iso88598")],
        *[(label, "مرحبا", "iso8859-6") for label in ("iso-8859-6-e", "arabic")],
        *[(label, "Привет", "cp866") for label in ("ibm866", "cp866", "866", "csibm866")],
        *[(label, "Привіт", "mac-cyrillic") for label in ("x-mac-cyrillic", "x-mac-ukrainian")],
        *[(label, "Привет", "cp1251") for label in ("x-cp1251", "windows-1251", "cp1251")],
        *[(label, "Привет", "koi8-r") for label in ("koi", "koi8", "KOI8-R")],
        *[(label, "①番", "cp932") for label in ("x-sjis", "ms_kanji", "windows-31j")],
        *[(label, "朱镕基", "gb18030") for label in ("x-gbk", "gb_2312-80", "csGB2312", "chinese")],
        *[(label, "똠방각하", "cp949") for label in ("windows-949", "ks_c_5601-1989", "korean")],
        *[(label, "中文", "big5") for label in ("cn-big5", "x-x-big5", "Big5")],
        *[(label, "日本", "euc_jp") for label in ("x-euc-jp", "euc-jp")],
        *[(label, "Größe €", "cp1252") for label in ("iso88591", "x-cp1252", "cp819", "l1")],
        *[(label, "Größe €", "iso8859-15") for label in ("csisolatin9", "iso885915")],
        *[(label, "Größe", "mac-roman") for label in ("mac", "x-mac-roman", "macintosh")],
        *[(label, "Größe", "utf-8") for label in ("unicode-1-1-utf-8", "UTF8", "utf-16le")],
    ],
)
def test_encodings_are_what_browsers_mean_by_their_names(label: str, text: str, codec: str) -> None:
    """Fault: names that Python has not ended the command, or were passed over."""
    doc = page(f'<meta charset="{label}"><p>'.encode() + text.encode(codec))
    assert (doc.text, doc.meta["encoding"]) == (text, codec)


@pytest.mark.parametrize("label", ["iso-8859-12", "windows-900", "none-such", "rot13", "é", "a..b"])
def test_an_encoding_that_nobody_knows_is_passed_over(label: str) -> None:
    """Fault: some of these raised `OptionError`, though no option was given."""
    doc = page(f'<meta charset="{label}"><p>Größe'.encode())
    assert (doc.text, doc.meta["encoding"]) == ("Größe", "utf-8")
    with pytest.raises(LoadError, match="name its encoding"):
        page(f'<meta charset="{label}"><p>'.encode() + b"caf\xe9 au")


def test_an_encoding_that_is_named_or_not_known() -> None:
    assert page(b"<meta charset=utf-8>caf\xe9", encoding="cp1252").text == "café"
    for data in (b"caf\xe9 au", b"<meta charset=utf-8>caf\xe9 au", b"\x89PNG\r\n\x1a\n\0"):
        with pytest.raises(LoadError, match=r"^a\.html: "):
            page(data)


def test_what_is_claimed() -> None:
    def claims(data: bytes, suffix: str) -> bool:
        return HtmlLoader().claims(Raw(data=data, name="a", uri="a", suffix=suffix))

    assert claims(b"", ".htm") and claims(b"", ".xhtml")
    assert claims(b"\xef\xbb\xbf \n<!DOCTYPE html>", "") and claims(b"<HTML lang=en>", "")
    assert not claims(b"<p>a", "") and not claims(b"<!doctype book>", ".xml")
    epub = (FILES / "guide-pandoc.epub").read_bytes()
    assert EpubLoader().claims(Raw(data=epub, name="a", uri="a", suffix=""))
    assert not EpubLoader().claims(Raw(data=b"PK\x03\x04", name="a", uri="a", suffix=".zip"))


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        *(("index.php", "text/x-php"), ("notes.md", "text/markdown"), ("rows.csv", "text/csv")),
        *(("page.asp", "text/plain"), ("page.tmpl", "text/plain"), ("a.xml", "text/plain")),
    ],
)
def test_a_suffix_that_says_otherwise_is_believed(name: str, media_type: str) -> None:
    """Fault: what began as HTML was read as it, and code between ``<?`` and ``?>`` was lost."""
    data = (
        b'<!DOCTYPE html>\n<html><body><?php\n$rows = $db->query("SELECT 1");\n?>\n'
        b"<h1>Title</h1></body></html>\n"
    )
    doc = load_bytes(data, uri=name)
    assert (doc.media_type, doc.text) == (media_type, data.decode())
    for open_name in ("index", "index.txt", "index.text", "", "a.xht", "a.shtml"):
        assert load_bytes(data, uri=open_name).media_type == "text/html"


@pytest.mark.parametrize(
    "unit",
    ["<", "<!--", "<a ", '<a x="', '<a x=">"', "<div>", "<b>", "<ul><li>", "<table><tr><td>",
     "<title>", "<h1>", "<pre>", "<span hidden>", "</", "</p>", "<dl><dd>", "&#", "<svg><title>",
     "<tr><td colspan=999 rowspan=0>", "<table><div></tr>", "<i></b>"],
)  # fmt: skip
def test_a_hundred_thousand_of_anything(unit: str) -> None:
    doc = page("begin " + unit * MANY + "x</p>end")
    assert doc.text.startswith("begin")
    assert unit in ("<!--", "<span hidden>") or doc.text.endswith("end")


@pytest.mark.parametrize(
    ("begin", "unit"),
    [
        *[(tag, "a line of the source\n") for tag in ("<pre>", "<p>", "<ul><li>", "<td>")],
        *[(tag, "a<br>\n") for tag in ("<pre>", "<p>", "<ul><li>")],
        *[("<pre>\n", unit) for unit in ("<b>a</b>", "a<br>")],
    ],
)
def test_a_block_of_many_lines_takes_time_that_grows_with_them(begin: str, unit: str) -> None:
    """Fault: for every line of a block all before it were counted; 40,000 took 12 seconds."""

    def fastest(times: int) -> float:
        html = begin + unit * times
        return min(repeat(lambda: page(html), number=1, repeat=3, timer=time.process_time))

    assert fastest(20_000) < 8 * max(fastest(5_000), 0.02)


def test_tags_that_never_end_are_text() -> None:
    assert page("<a" * MANY).text == "<a" * MANY


def test_spans_cannot_multiply_a_table() -> None:
    for html in (
        "<table><tr>" + "<td>x" * 5000 + "<tr><td>y" * 5000,
        "<table><tr><td colspan=999><td>x" + "<tr><td>y" * 20000,
        "<table><tr>" + "<td colspan=1000 rowspan=0>q" * 100 + "<tr><td>y" * 20000,
        "<table><tr><td rowspan=0>" + "word " * 20000 + "<td>b" + "<tr><td>y" * 2000,
    ):
        found = text(html)
        assert len(found) < 10 * len(html)
        assert found.count("y") == html.count("y")


def damaged(data: bytes) -> list[bytes]:
    """Cut short at several places, and with bytes changed."""
    chance = random.Random(7)
    cut = [data[: len(data) * i // 23] for i in range(23)]
    flipped = []
    for _ in range(60):
        copy = bytearray(data)
        for _ in range(chance.choice((1, 4, 40))):
            copy[chance.randrange(len(copy))] = chance.randrange(256)
        flipped.append(bytes(copy))
    return [*cut, *flipped, b"", b"%PDF-1.7\n", b"PK\x03\x04", b"\0" * 100, b"plain words"]


def loaded_or_refused(
    loader: Callable[[bytes], Document], data: bytes, named: str
) -> Document | None:
    try:
        return loader(data)
    except LoadError as fault:
        assert str(fault).startswith(named)
        return None


@pytest.mark.parametrize("name", ["guide-pandoc.html", "guide-libreoffice.html"])
def test_damaged_html(name: str) -> None:
    for data in damaged((FILES / name).read_bytes()):
        doc = loaded_or_refused(page, data, "a.html: ")
        assert doc is None or len(doc.text) <= len(data)


def test_html_that_is_cut_short_holds_what_came_before() -> None:
    whole = (FILES / "guide-pandoc.html").read_bytes()
    doc = page(whole[: whole.index(b"Never leave") + 30])
    assert "1. Fill the tank." in doc.text and "Never leave the light" in doc.text


@pytest.mark.parametrize("name", ["guide-pandoc.epub", "guide-libreoffice.epub"])
def test_damaged_books(name: str) -> None:
    whole = load_file(name).text
    for data in damaged((FILES / name).read_bytes()):
        doc = loaded_or_refused(book, data, "b.epub: ")
        assert doc is None or doc.text == whole or doc.meta["missing"]


def rebuilt(change: dict[str, bytes | None], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Pandoc's book with members changed, added or, with None, left out."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(FILES / "guide-pandoc.epub") as old,
        zipfile.ZipFile(out, "w", method) as new,
    ):
        for name in dict.fromkeys([*old.namelist(), *change]):
            data = change[name] if name in change else old.read(name)
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def member(name: str) -> bytes:
    with zipfile.ZipFile(FILES / "guide-pandoc.epub") as archive:
        return archive.read(name)


OPF = "EPUB/content.opf"
CHAPTER = "EPUB/text/ch001.xhtml"


def test_missing_files_of_a_book() -> None:
    doc = book(rebuilt({CHAPTER: None}))
    assert doc.meta["missing"] == ("text/ch001.xhtml",)
    assert "夜は長い" in doc.text and "Fill the tank" not in doc.text
    for name in ("META-INF/container.xml", OPF):
        with pytest.raises(LoadError, match=r"b\.epub: .* is not in the archive"):
            book(rebuilt({name: None}))
    bare = re.sub(rb"<itemref[^>]*>", b"", member(OPF))
    with pytest.raises(LoadError, match="none of the 0 documents"):
        book(rebuilt({OPF: bare}))
    with pytest.raises(LoadError, match="no well-formed XML"):
        book(rebuilt({OPF: member(OPF)[:-50]}))


def test_without_a_table_of_contents_a_chapter_is_its_first_heading() -> None:
    doc = book(rebuilt({"EPUB/nav.xhtml": b"<broken", "EPUB/toc.ncx": None}))
    assert stated(doc, doc.text.index("夜は長い"), "chapter") == "灯台の夜"


def test_a_member_without_a_name() -> None:
    lost = bytearray(rebuilt({"x": b"x"}))
    at = lost.rindex(b"PK\x01\x02") + 46
    assert lost[at : at + 1] == b"x"
    lost[at] = 0  # zipfile cuts a name at its first NUL
    assert "Fill the tank" in book(bytes(lost)).text


def test_paths_out_of_the_book() -> None:
    for path in (b"../../etc/passwd", b"/etc/passwd", b"file:///etc/passwd", b"..%2f..%2fetc"):
        doc = book(rebuilt({OPF: member(OPF).replace(b"text/ch001.xhtml", path)}))
        assert doc.meta["missing"] == (path.decode(),)


def test_bombs_are_refused_before_they_expand(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = rebuilt({CHAPTER: b"<p>" + b"a" * (65 << 20)})
    assert len(bomb) < 200_000
    with pytest.raises(LoadError, match=r"b\.epub: 'EPUB/text/ch001.xhtml' says it expands"):
        book(bomb)
    # One that lies about its size is cut off where it says it ends.
    lie = bytearray(rebuilt({CHAPTER: b"<p>" + b"a" * (1 << 20)}))
    size = (3 + (1 << 20)).to_bytes(4, "little")
    while (at := lie.find(size)) >= 0:
        lie[at : at + 4] = (100).to_bytes(4, "little")
    with pytest.raises(LoadError, match="damaged"):
        book(bytes(lie))
    monkeypatch.setattr("spanwise.loaders.epub._LARGEST_BOOK", 5000)
    with pytest.raises(LoadError, match="its text expands to"):
        book(rebuilt({}))


def test_entities_do_not_expand() -> None:
    bomb = b"<!DOCTYPE p [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>"
    for name in (OPF, "META-INF/container.xml"):
        data = re.sub(rb"(<\?xml[^>]*>\s*)", lambda found: found[1] + bomb, member(name), count=1)
        with pytest.raises(LoadError, match="declares the XML entity 'a'"):
            book(rebuilt({name: data}))
        coded = data.decode().replace("utf-8", "utf-16").replace("UTF-8", "utf-16")
        with pytest.raises(LoadError, match="declares the XML entity 'a'"):
            book(rebuilt({name: coded.encode("utf-16")}))


def test_protected_books_are_refused() -> None:
    listed = (
        b'<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData>'
        b'<CipherData><CipherReference URI="%s"/></CipherData></EncryptedData></encryption>'
    )
    with pytest.raises(LoadError, match="is encrypted"):
        book(rebuilt({"META-INF/encryption.xml": listed % CHAPTER.encode()}))
    font = listed % b"EPUB/fonts/a.otf"
    assert "Fill the tank" in book(rebuilt({"META-INF/encryption.xml": font})).text
    with pytest.raises(LoadError, match="only deflate"):
        book(rebuilt({}, zipfile.ZIP_BZIP2))


def test_each_line_of_the_source_is_found_again() -> None:
    """Of a table's rows, of code and of text that runs over lines, tags and breaks included."""
    html = (
        "<h1>Prices</h1>\n<table>\n<tr><th>Item</th><th>Price</th></tr>\n"
        + "".join(f"<tr><td>item {i}</td><td>price {i} euro</td></tr>\n" for i in range(90))
        + "</table>\n<pre>\n" + "".join(f"line {i}\n" for i in range(90)) + "</pre>\n<p>"
        + "\n".join(f"word{i} and <b\nclass='x'>more{i}</b><br>" for i in range(90))
        + "</p>\n<ul><li>a\nb<br>c\nd&nbsp;\n&nbsp;e</li></ul>"
    )  # fmt: skip
    doc = load_bytes(html.encode(), uri="p.html")
    source = html.split("\n")
    assert len(doc.parts) > 350
    for part in doc.parts:
        said = re.findall(r"\w+", doc.text[part.start : part.end])
        assert said
        assert set(said) <= {*re.findall(r"\w+", source[int(part.label) - 1])}
    for each in chunk(doc, by_heading(chunk_size=200, overlap=0)):
        first = re.findall(r"\w+", each.own_text)[0]
        assert first in source[each.lines[0] - 1]


def test_lines_of_the_source_stay_right_within_a_block() -> None:
    """Fault: lines of breaks alone, and wide white space at their edges, shifted all below."""
    count = 300
    for line in (
        "item {} is <br><br>",
        "\u3000item {} is.<br>",
        "&nbsp;&nbsp;item {} is <b>bold</b> &nbsp;<br>",
        "item {} <a\n href='#'>is</a>",
        "item {} <!-- a\ncomment -->",
    ):
        body = "\n".join(line.format(i) for i in range(2, count))
        for end in ("\n", "\r\n", "\r"):
            html = f"<p>\n{body}</p>".replace("\n", end)
            doc = page(html)
            for found in re.finditer(r"item (\d+)", doc.text):
                wanted = len(re.split(r"\r\n?|\n", html[: html.index(found[0] + " ")]))
                part = doc.locate(found.start()).part("source line")
                assert part is not None
                assert part.label == str(wanted), (line, end)


def test_what_a_meta_says_of_other_things_is_no_encoding() -> None:
    """Fault: any mention of a charset in one counted."""
    for head in (
        '<meta name="description" content="charset=windows-1251"><meta charset="utf-8">',
        '<meta data-charset="windows-1251">',
        '<meta content="text/html; charset=windows-1251">',
        '<meta charset="no-such"><meta http-equiv="Content-Type" content="a; charset=UTF-8">',
    ):
        assert page((head + "<p>Größe").encode()).text == "Größe"
    head = "<META http-equiv=CONTENT-TYPE content='text/html; charset = \"windows-1251\"'>"
    assert page((head + "<p>Größe Привет").encode("cp1251", "ignore")).text == "Gre Привет"
    assert page("<meta charset=koi8-ru><p>Привет".encode("koi8-u")).text == "Привет"


def test_bytes_that_a_western_page_should_not_have_are_kept() -> None:
    """Fault: one of five bytes without a meaning, and the whole page was refused."""
    raw = b'<meta charset="iso-8859-1"><p>caf\xe9 \xe2\x80\x9cquoted\xe2\x80\x9d'
    assert page(raw).text == "café â€œquotedâ€\x9d"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("<!--\nwrite('<script src=x></script>');\nvar no=1;\n//-->", "vis"),
        ("<!-- write('<script>')", "vis"),
        ("<!--> write('<script>')", "vis"),
        ("<!-- a --> write('<script>')", "vis"),
        ("<!--<SCRIPT/></SCRIPT\n>no<!--<script ></script >no", "vis"),
        ("write('<script></script>no", "no\n\nvis"),
        ("<!-- <scripting></scripting>", "vis"),
    ],
)
def test_a_script_ends_where_browsers_end_it(script: str, text: str) -> None:
    """Fault: the end of a script that a script writes was its own end, and code was text."""
    assert page(f"<script>{script}</script><p>vis</p>").text == text
