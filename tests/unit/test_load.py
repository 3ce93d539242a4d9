"""Loading: bytes to text, unaltered; what is no text is refused by name."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import Document, LoadError, OptionError, chunk
from spanwise.cli.sources import remarks
from spanwise.loaders import files as files_module
from spanwise.loaders import find_documents, load
from spanwise.loaders.front_matter import front_matter
from spanwise.splitters.choose import splitter_for

TEXT = "Größe\r\n日本 🏮\rend\n"


def write(path: Path, raw: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8-sig"),
        (b"\xff\xfe" + TEXT.encode("utf-16-le"), "utf-16"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16"),
        (b"\xff\xfe\0\0" + TEXT.encode("utf-32-le"), "utf-32"),
        (b"\0\0\xfe\xff" + TEXT.encode("utf-32-be"), "utf-32"),
    ],
)
def test_the_text_is_what_the_bytes_say(tmp_path: Path, raw: bytes, encoding: str) -> None:
    doc = load(write(tmp_path / "a.md", raw))
    assert doc.text == TEXT
    assert doc.meta["encoding"] == encoding
    assert raw.decode(encoding) == TEXT
    assert load(raw, uri="a.md").text == TEXT


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_unaltered(text: str) -> None:
    for codec, mark in (("utf-8", b"\xef\xbb\xbf"), ("utf-16-be", b"\xfe\xff")):
        assert load(mark + text.encode(codec)).text == text


def test_only_the_mark_that_named_the_encoding_is_dropped() -> None:
    assert load(b"\xef\xbb\xbf\xef\xbb\xbfA").text == "\ufeffA"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("a.MARKDOWN", "text/markdown"),
        ("a.mdx", "text/markdown"),
        ("a.jsonl", "application/jsonl"),
        ("a.ndjson", "application/x-ndjson"),
        ("a.csv", "text/csv"),
        ("a.tsv", "text/tab-separated-values"),
        ("a.log", "text/x-log"),
        ("a.txt", "text/plain"),
        ("a.py", "text/x-python"),
        ("LICENSE", "text/plain"),
    ],
)
def test_the_suffix_says_the_media_type(tmp_path: Path, name: str, media_type: str) -> None:
    path = write(tmp_path / name, b"A")
    assert load(path).media_type == media_type
    assert load(b"A", uri=f"x/{name}").media_type == media_type


def test_what_a_document_is_called(tmp_path: Path) -> None:
    path = write(tmp_path / "a.md", b"A")
    assert load(path).uri == path.as_posix()
    assert load(str(path), uri="kb/a").uri == "kb/a"
    assert load(b"A") == Document(text="A", meta=load(b"A").meta, encoding="utf-8")


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    assert load(write(tmp_path / "a.md", b"")).text == ""


def test_a_nul_far_inside_valid_text_stays(tmp_path: Path) -> None:
    raw = b"a" * 8192 + b"\0b"
    assert load(write(tmp_path / "a.txt", raw)).text == raw.decode()


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"ab\0cd", "binary: byte 2 is NUL"),
        ("A".encode("utf-16-le"), "UTF-16 without a byte order mark"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"PK\x03\x04\x14\0", "a ZIP archive"),
        (b"\x1f\x8b\x08\xff", "compressed by gzip"),
        (b"\x89PNG\r\n\x1a\n\0", "a PNG image"),
        (b"caf\xe9 au lait", "byte 3, 0xe9, is not UTF-8"),
        (b"ok \xed\xa0\x80", "byte 3, 0xed, is not UTF-8"),
        (b"\xff\xfeA", "UTF-16-LE, but byte 2"),
        (b"\xff\xfe\0\xd8A\0", "UTF-16-LE, but byte 2"),
        (b"\xff\xfe\0\0A\0\0", "UTF-32-LE, but byte 4"),
    ],
)
def test_what_is_no_text_is_refused_by_name(tmp_path: Path, raw: bytes, said: str) -> None:
    path = write(tmp_path / "a.txt", raw)
    with pytest.raises(LoadError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_a_person_may_name_the_encoding() -> None:
    doc = load(b"caf\xe9", encoding="cp1252")
    assert (doc.text, doc.meta["encoding"]) == ("café", "cp1252")
    with pytest.raises(LoadError, match="byte 1 is not shift_jis"):
        load(b"a\xff", encoding="shift_jis")
    for name in ("utf-99", "hex"):
        with pytest.raises(OptionError, match=f"encoding='{name}'"):
            load(b"a", encoding=name)


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("ISO-8859-1", "Größe", "cp1252"),
        ("windows-1251", "Привет", "cp1251"),
        ("Shift_JIS", "①番", "cp932"),
        ("iso-8859-8-i", "שלום", "iso8859-8"),
        ("UTF-8", "Größe", "utf-8"),
        ("no-such", "Größe", "utf-8"),
    ],
)
@pytest.mark.parametrize("name", ["a.xml", "a.svg", "a.rss"])
def test_xml_says_its_encoding(label: str, text: str, codec: str, name: str) -> None:
    """Fault: what XML declares was passed over, and all but UTF-8 refused."""
    written = f'<?xml version="1.0" encoding="{label}"?>\n<a>{text}</a>'
    raw = written.encode(codec)
    doc = load(raw, uri=name)
    assert (doc.text, doc.media_type, doc.meta["encoding"]) == (written, "text/plain", codec)
    place = written.index(text) + 1
    assert raw[doc.locate(place).byte :].decode(codec) == written[place:]
    marked = load(b"\xef\xbb\xbf" + written.encode(), uri=name)
    assert (marked.text, marked.meta["encoding"]) == (written, "utf-8-sig")
    assert load(written.encode("utf-16-le"), uri=name, encoding="utf-16-le").text == written


def test_only_xml_says_its_encoding_so() -> None:
    written = '<?xml version="1.0" encoding="ISO-8859-1"?> is how it begins: é'
    for name in ("a.md", "a.txt", ""):
        assert load(written.encode(), uri=name).text == written
    html = "<a>\n<meta charset=koi8-r>é"
    wrong = '<?xml version="1.0" encoding="iso-2022-jp"?><a>é</a>'
    assert load(wrong.encode(), uri="a.xml").text == wrong
    assert load(html.encode(), uri="a.xml").text == html


def test_places_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="no such file"):
        load(tmp_path / "none.md")
    with pytest.raises(LoadError, match="it is a folder"):
        load(tmp_path)
    with pytest.raises(LoadError, match="cannot be read"):
        load("a\0b")
    with pytest.raises(LoadError, match="cannot be read"):
        load("a" * 5000)
    with pytest.raises(OSError):
        load(tmp_path / "none.md")


@pytest.mark.skipif(os.name == "nt", reason="devices and sockets of POSIX")
def test_devices_and_sockets_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="device or a socket"):
        load("/dev/zero")
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket is short
        try:
            listener.bind("s")
        finally:
            os.chdir(here)
        with pytest.raises(LoadError, match="device or a socket"):
            load(path)


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path / "a.md", b"A")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(LoadError, match="not allowed"):
        load(path)


def test_a_folder_in_order(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.txt", "a/B.MD", "a.txt", "c.png", ".git/x.md", ".hidden.md", "d.bin"):
        write(tmp_path / name, b"A")
    found = [path.relative_to(tmp_path).as_posix() for path in find_documents(tmp_path)]
    assert found == ["a/B.MD", "a/z.txt", "a.txt", "b.md"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links need a right on Windows")
def test_links_in_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "a/a.md", b"A")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/loop.md").symlink_to(tmp_path)
    (tmp_path / "b.md").symlink_to(tmp_path / "a/a.md")
    (tmp_path / "broken.md").symlink_to(tmp_path / "none")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    os.mkfifo(tmp_path / "pipe.md")
    found = [path.relative_to(tmp_path).as_posix() for path in find_documents(tmp_path)]
    assert found == ["a/a.md", "b.md", "broken.md", "self.md"]
    for name in ("broken.md", "self.md"):
        with pytest.raises(LoadError, match=name):
            load(tmp_path / name)


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.md", b"A")
    write(tmp_path / "locked/b.md", b"B")
    real = os.scandir

    def refuse(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(files_module.os, "scandir", refuse)
    with pytest.raises(LoadError, match=r"locked: the folder cannot be listed \(Permission denied"):
        find_documents(tmp_path)
    errors: list[LoadError] = []
    assert find_documents(tmp_path, on_error=errors.append) == [tmp_path / "a.md"]
    assert len(errors) == 1
    with pytest.raises(LoadError, match="cannot be listed"):
        find_documents(tmp_path / "none")


def test_an_encoding_is_guessed_only_when_asked(tmp_path: Path) -> None:
    pytest.importorskip("charset_normalizer")
    text = "Где находится ближайший маяк? Смотритель зажигает лампу на закате. " * 12
    path = write(tmp_path / "a.txt", text.encode("cp1251"))
    with pytest.raises(LoadError, match="is not UTF-8"):
        load(path)
    doc = load(path, encoding="guess")
    assert (doc.text, doc.encoding) == (text, "cp1251")
    place = doc.locate(doc.text.index("маяк"))
    assert place.byte is not None
    assert path.read_bytes()[place.byte :].decode("cp1251").startswith("маяк")
    assert load(write(tmp_path / "b.txt", "ö".encode()), encoding="guess").text == "ö"
    with pytest.raises(LoadError, match="Nothing could be guessed"):
        load(write(tmp_path / "c.txt", bytes(range(128, 256)) * 9), encoding="guess")


FILES = sorted((Path(__file__).parents[1] / "data" / "files").glob("*.*"))
OWN = {
    "a.csv": b'name,note\nAda,"two\nlines"\nBob,x\n',
    "a.jsonl": b'{"a": 1}\n{"a": 2}\n',
    "a.json": b'[{"a": 1}, {"a": [2, 3]}]',
    "a.log": b"one\ntwo\n",
    "a.py": b'"""Doc."""\n\n\nclass A:\n    def b(self):\n        return 1\n',
    "a.srt": b"1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n"
    b"2\n00:00:03,000 --> 00:00:04,000\nAgain.\n",
    "a.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>Hello.\n",
    "a.eml": b"Subject: Late\nFrom: a@b.c\n\nThe parcel is late.\n",
    "a.ipynb": b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": '
    b'"markdown", "metadata": {}, "source": "# Results\\n\\nFine."}]}',
    "a.html": b"<h1>Open</h1><p>From nine to five.</p>",
    "a.md": b"---\ntitle: T\n---\n# A\n\nText.\n",
}


@pytest.mark.parametrize("name", [*OWN, *(path.name for path in FILES)])
def test_every_kind_is_whole_and_cites_its_source(name: str) -> None:
    """SLICE, COVER and a citation for every loader and its default splitter."""
    raw = OWN.get(name) or next(path for path in FILES if path.name == name).read_bytes()
    if name.endswith(".pdf"):
        pytest.importorskip("pypdfium2")
    doc = load(raw, uri=name)
    for max_size in (None, 60):
        by = splitter_for(doc)
        chunks = replace(by, max_size=max_size).split(doc)  # type: ignore[type-var]
        at = 0
        for each in chunks:
            assert doc.text[each.start : each.end] == each.text
            assert not doc.text[at : each.body].strip()
            at = each.end
            assert each.citation.startswith(name)
            assert len(each.citation) > len(name)
            place = doc.locate(each.body)
            if place.byte is not None:
                assert raw[place.byte :].decode(doc.encoding).startswith(each.own_text[:20])
        assert not doc.text[at:].strip()
    again = load(raw, uri=name, isolate=True)
    assert (again.text, again.parts) == (doc.text, doc.parts)


@pytest.mark.parametrize(
    ("name", "data", "citation"),
    [
        ("m.py", b"def f():\n    return 1\n\x0c\ndef g():\n    return 2\n", "m.py, lines 1-5, f"),
        ("a.csv", b"a,b\n1,x\x0cy\n2,z\n", "a.csv, rows 1-3"),
        ("a.eml", b"From: a@x\nSubject: s\n\nbody\x0cmore\n", "a.eml, s"),
        ("a.txt", b"one\x0ctwo", "a.txt, p. 1"),
    ],
)
def test_form_feeds_make_pages_of_plain_text_alone(name: str, data: bytes, citation: str) -> None:
    assert chunk(load(data, uri=name))[0].citation == citation


@pytest.mark.parametrize("value", ["true", "3", "'yes'", "[a, b]"])
def test_fields_of_front_matter_are_not_taken_for_what_loaders_note(value: str) -> None:
    names = ("missing", "problem", "problems", "bad_rows", "pages_without_text", "header")
    fields = "".join(f"{name}: {value}\n" for name in (*names, "encoding", "kept"))
    document = load(f"---\n{fields}---\n# Head\n\nText.\n".encode(), uri="a.md")
    assert remarks(document) == []
    assert document.meta["encoding"] == "utf-8"
    assert document.meta["kept"] == document.meta["front_matter.missing"]
    assert chunk(document)[-1].context == ""


def test_front_matter_is_read_the_same_whatever_is_installed() -> None:
    fields = "title: >\n  Returns\n  handbook\nof: |\n  a\n  b\nx: &a 1\nm:\n  k: v\nn: 3\n"
    assert load(f"---\n{fields}---\nText".encode(), uri="a.md").meta == {
        "title": "Returns handbook",
        "of": "a\nb",
        "n": 3,
        "encoding": "utf-8",
    }


FRONT_MATTER: list[tuple[str, Any]] = [
    ('"Returns: how"  # shown on top', "Returns: how"),
    ("'it''s' # so", "it's"),
    (r'"say \"hi\" \u00e9\x41\n\\ \/"', 'say "hi" éA\n\\ /'),
    ('"two\n  lines"', "two lines"),
    ("Ships in two days,\n  except on Sundays.  # so\n", "Ships in two days, except on Sundays."),
    ("\n  on the next line", "on the next line"),
    ("# a remark\n  'so'", "so"),
    ("C# and a#b # not this", "C# and a#b"),
    ("Returns: how", "Returns: how"),
    ("http://a.b/c:d", "http://a.b/c:d"),
    ('["a, b", c]', ["a, b", "c"]),
    ("[]", []),
    ('[\n  "a, b",\n  c # last, one\n]', ["a, b", "c"]),
    ("[a b, 'c''d', 1, true, ~,]  # all", ["a b", "c'd", 1, True, None]),
    ("\n- a # b\n- 'c, d'\n-\n- 2", ["a", "c, d", None, 2]),
    ("\n- # remark\n  'a'", ["a"]),
    ("\n  # remark\n  - a\n    and more\n\n  - b", ["a and more", "b"]),
    (">\n  one\n  two\n\n  three", "one two\nthree"),
    ("|\n  one\n    two\n", "one\n  two"),
    ("", None),
    ("# nothing", None),
    ("2024-05-01", "2024-05-01"),
    ("9" * 400, "9" * 400),
]
NOT_READ = (
    *('"open', "'open", '"a" b', r'"\q"', r'"\ud800"', "[a", "[a, [b]]", "[a: b]", "[a, , b]"),
    *("{a: 1}", "&a 1", "*a", "!!str 1", "\n  a: 1", "\n- a: 1", "\n- - a", "text\n  a: 1"),
    *("[*a]", "\n- a\n  - b: c", "\n  - a\n text", "[a] b", "- a", "@a"),
)


@pytest.mark.parametrize(("written", "meant"), FRONT_MATTER)
def test_front_matter_is_what_its_yaml_says(written: str, meant: object) -> None:
    """Fault: quotes and remarks were kept, commas in quotes parted, lines below left out."""
    for newline in ("\n", "\r\n"):
        text = f"---\nbefore: 1\nkey: {written}\nafter: 2\n---\nText".replace("\n", newline)
        fields = front_matter(text)
        assert fields == {"before": 1, "key": meant, "after": 2}
        assert type(fields["key"]) is type(meant)


@pytest.mark.parametrize("written", NOT_READ)
def test_front_matter_that_is_not_read_is_left_out(written: str) -> None:
    """Fault: what the reader does not know came out as other values."""
    text = f"---\nbefore: 1\nkey: {written}\nafter: 2\n---\nText"
    assert front_matter(text) == {"before": 1, "after": 2}


@pytest.mark.parametrize(
    "name", ["команда", "部署", "हिन्दी", "หัวข้อ", "été", "e\u0301te", "größe 2"]
)
def test_a_field_may_have_a_name_in_any_script(name: str) -> None:
    """Fault: fields whose names begin with no ASCII letter were left out, so no filter saw them."""
    assert front_matter(f"---\nbefore: 1\n{name}: x\n---\n") == {"before": 1, name: "x"}


def test_front_matter_takes_time_that_grows_with_it() -> None:
    for piece in ("a ", "'' ", "#", " #", "  ", "[", ",", "a,", "\n  a", "\n- a", '\\"', ": "):
        for begin in ("", "[", "'", '"', "\n- ", ">\n  "):
            text = f"---\nkey: {begin}{piece * 50_000}\nafter: 2\n---\n"
            assert front_matter(text)["after"] == 2  # minutes when quadratic
    assert front_matter(f"---\na{' ' * 300_000}b\nc : 1\n---\n") == {"c": 1}


def test_a_place_in_a_heading_lies_under_that_heading() -> None:
    document = Document(text="Intro\n\n# A\n\n# C\n\ntext")
    found = [document.locate(document.text.index(each)).heading_path for each in ("I", "A", "C")]
    assert found == [(), ("A",), ("C",)]
    assert document.locate(len(document.text)).heading_path == ("C",)
