"""Loading beside bare parsers: `spanwise.load` and a parser of the same format, in turns.

Both run in this process over the same bytes, in memory. Printed are the median, the spread (lowest
to highest) and how many times as long `spanwise.load` takes as the parser. The bound holds against
*bare* parsers, which give values, a tree or a text and no more. Those *in use* are what people take
instead; a *floor* does less than any parser must. Files are those in tests/data/files, the standard
library, and larger ones that are made here, without a network. Sizes of archives are those of the
members that are read, unpacked. A mailbox is read from disk by its peer, which takes only a path.

    python benchmarks/loading.py                  # every format
    python benchmarks/loading.py --kind CSV --profile
"""

from __future__ import annotations

import argparse
import ast
import csv
import email
import email.policy
import gc
import io
import json
import mailbox
import os
import platform
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from math import ceil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any
from xml.etree import ElementTree
from zipfile import ZIP_DEFLATED, ZipFile

import corpora
from speed import Sampler

import spanwise

BOUND = 1.3
ROWS = 20_000

# A timed run repeats what takes less than this, so that the clock is no part of it.
_LEAST_SECONDS = 0.02
# What takes longer than this is run three times and no more.
_LONG_SECONDS = 1.0
_FEW = 3

_DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "files"
_STANDARD = ("argparse", "ast", "inspect", "pathlib", "subprocess", "tarfile", "turtle", "typing")

Load = Callable[[bytes, str], Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """Files of one format that are read one after the other; each a name and its bytes."""

    kind: str
    name: str
    files: tuple[tuple[str, bytes], ...]

    @property
    def megabytes(self) -> float:
        """What is read of them, unpacked, in million bytes."""
        return sum(_size(data, uri) for uri, data in self.files) / 1e6


@dataclass(frozen=True, slots=True)
class Peer:
    """A parser, the package it is from (none: the standard library), what it is compared as."""

    name: str
    run: Load
    package: str = ""
    role: str = "in use"  # or "bare", "floor"


# Parsers


class _Text(HTMLParser):
    """The text of a page, as `html.parser` finds it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        """Keep a piece of text."""
        self.found.append(data)


def _html_parser(data: bytes, _: str) -> str:
    parser = _Text()
    parser.feed(data.decode())
    parser.close()
    return "".join(parser.found)


def _lxml_html(data: bytes, _: str) -> Any:
    return import_module("lxml.html").fromstring(data).text_content()


def _pdfium(data: bytes, _: str) -> list[str]:
    pdf = import_module("pypdfium2").PdfDocument(data)
    found = []
    for page in pdf:
        textpage = page.get_textpage()
        found.append(textpage.get_text_range())
        textpage.close()
        page.close()
    pdf.close()
    return found


def _pypdf(data: bytes, _: str) -> list[str]:
    reader = import_module("pypdf").PdfReader(io.BytesIO(data))
    return [page.extract_text() for page in reader.pages]


@cache
def members(data: bytes, uri: str) -> tuple[str, ...]:
    """The members of an archive that `spanwise.load` opens."""
    found: list[str] = []
    opened = ZipFile.open

    def noted(self: ZipFile, name: Any, *rest: Any, **options: Any) -> Any:
        found.append(getattr(name, "filename", name))
        return opened(self, name, *rest, **options)

    ZipFile.open = noted  # type: ignore[method-assign]
    try:
        spanwise.load(data, uri=uri)
    finally:
        ZipFile.open = opened  # type: ignore[method-assign]
    return tuple(dict.fromkeys(found))


def _size(data: bytes, uri: str) -> int:
    if not data.startswith(b"PK"):
        return len(data)
    with ZipFile(io.BytesIO(data)) as zipped:
        return sum(zipped.getinfo(member).file_size for member in members(data, uri))


def _zipped_xml(data: bytes, uri: str) -> list[ElementTree.Element]:
    with ZipFile(io.BytesIO(data)) as zipped:
        return [ElementTree.fromstring(zipped.read(member)) for member in members(data, uri)]


def _zipped_html(data: bytes, uri: str) -> list[Any]:
    found: list[Any] = []
    with ZipFile(io.BytesIO(data)) as zipped:
        for member in members(data, uri):
            inside = zipped.read(member)
            if member.endswith(("html", "htm")):
                found.append(_html_parser(inside, uri))
            elif member != "mimetype":
                found.append(ElementTree.fromstring(inside))
    return found


def _python_docx(data: bytes, _: str) -> list[str]:
    document = import_module("docx").Document(io.BytesIO(data))
    found = [paragraph.text for paragraph in document.paragraphs]
    for table in document.tables:
        found += [cell.text for row in table.rows for cell in row.cells]
    return found


def _python_pptx(data: bytes, _: str) -> list[str]:
    slides = import_module("pptx").Presentation(io.BytesIO(data)).slides
    return [s.text_frame.text for slide in slides for s in slide.shapes if s.has_text_frame]


def _openpyxl(data: bytes, _: str) -> list[Any]:
    book = import_module("openpyxl").load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    return [list(sheet.iter_rows(values_only=True)) for sheet in book]


def _calamine(data: bytes, _: str) -> list[Any]:
    book = import_module("python_calamine").CalamineWorkbook.from_filelike(io.BytesIO(data))
    return [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]


def _striprtf(data: bytes, _: str) -> Any:
    return import_module("striprtf.striprtf").rtf_to_text(data.decode("latin-1"))


def _csv(data: bytes, _: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def _json_lines(data: bytes, _: str) -> list[Any]:
    return [json.loads(line) for line in data.decode().splitlines()]


def _texts_of(message: Any) -> list[str]:
    parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
    return [
        part.get_payload(decode=True).decode(part.get_content_charset() or "utf-8")
        for part in parts
    ]


def _email(data: bytes, _: str) -> list[str]:
    return _texts_of(email.message_from_bytes(data))


def _email_new(data: bytes, _: str) -> Any:
    message = email.message_from_bytes(data, policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    return [*message.items(), body and body.get_content()]


def _mailbox(_: bytes, uri: str) -> list[list[str]]:
    box = mailbox.mbox(uri, create=False)
    found = [_texts_of(message) for message in box]
    box.close()
    return found


def _pysubs2(kind: str) -> Load:
    def run(data: bytes, _: str) -> list[str]:
        found = import_module("pysubs2").SSAFile.from_string(data.decode(), format_=kind)
        return [event.plaintext for event in found]

    return run


def _srt(data: bytes, _: str) -> list[Any]:
    return list(import_module("srt").parse(data.decode()))


def _webvtt(data: bytes, _: str) -> list[str]:
    return [cue.text for cue in import_module("webvtt").from_string(data.decode())]


def _python(data: bytes, _: str) -> ast.Module:
    return ast.parse(data)


@cache
def _grammar(module: str) -> Any:
    return import_module("tree_sitter").Language(import_module(module).language())


def _tree_sitter(module: str) -> Load:
    def run(data: bytes, _: str) -> Any:
        return import_module("tree_sitter").Parser(_grammar(module)).parse(data)

    return run


def _decode(data: bytes, _: str) -> str:
    return data.decode()


_XML = Peer("zipfile+ElementTree", _zipped_xml, role="bare")
_DECODE = (Peer("bytes.decode", _decode, role="bare"),)
_JSON = (Peer("json.loads", lambda data, _: json.loads(data.decode()), role="bare"),)
PEERS: dict[str, tuple[Peer, ...]] = {
    "PDF": (
        Peer("pypdfium2", _pdfium, "pypdfium2", role="bare"),
        Peer("pypdf", _pypdf, "pypdf"),
    ),
    "DOCX": (_XML, Peer("python-docx", _python_docx, "python-docx")),
    "PPTX": (_XML, Peer("python-pptx", _python_pptx, "python-pptx")),
    "XLSX": (
        _XML,
        Peer("openpyxl", _openpyxl, "openpyxl"),
        Peer("calamine", _calamine, "python-calamine"),
    ),
    "ODT": (_XML,),
    "RTF": (Peer("striprtf", _striprtf, "striprtf", role="bare"),),
    "EPUB": (Peer("zipfile+html.parser", _zipped_html, role="bare"),),
    "HTML": (
        Peer("html.parser", _html_parser, role="bare"),
        Peer("lxml.html", _lxml_html, "lxml"),
    ),
    "notebook": _JSON,
    "SubRip": (
        Peer("pysubs2", _pysubs2("srt"), "pysubs2", role="bare"),
        Peer("srt", _srt, "srt"),
    ),
    "WebVTT": (
        Peer("webvtt", _webvtt, "webvtt-py", role="bare"),
        Peer("pysubs2", _pysubs2("vtt"), "pysubs2"),
    ),
    "e-mail": (
        Peer("message_from_bytes", _email, role="bare"),
        Peer("policy.default", _email_new),
    ),
    "mailbox": (Peer("mailbox.mbox", _mailbox, role="bare"),),
    "CSV": (Peer("csv.reader", _csv, role="bare"),),
    "JSON Lines": (Peer("json.loads", _json_lines, role="bare"),),
    "JSON": _JSON,
    "log": _DECODE,
    "Python": (Peer("ast.parse", _python, role="bare"),),
    **{
        name: (Peer("tree-sitter", _tree_sitter(module), module.replace("_", "-"), role="bare"),)
        for name, module in (
            ("C header", "tree_sitter_cpp"),
            ("JavaScript", "tree_sitter_javascript"),
            ("Go", "tree_sitter_go"),
            ("Rust", "tree_sitter_rust"),
        )
    },
    "transcript": (Peer("bytes.decode", _decode, role="floor"),),
    "Markdown": _DECODE,
    "text": _DECODE,
}


# Files


def given_files() -> Iterator[Sample]:
    """A sample for each format in tests/data/files."""
    kinds = {".pdf": "PDF", ".docx": "DOCX", ".pptx": "PPTX", ".xlsx": "XLSX", ".odt": "ODT"}
    kinds |= {".rtf": "RTF", ".epub": "EPUB", ".html": "HTML"}
    for suffix, kind in kinds.items():
        paths = sorted(_DATA.glob(f"*{suffix}"))
        yield Sample(kind, "tests/data", tuple((path.name, path.read_bytes()) for path in paths))


def made_files(folder: Path) -> Iterator[Sample]:
    """Larger samples; a mailbox is also written to the folder, for its peer reads no bytes."""
    prose = corpora.prose(4.0)
    lines = [line for line in prose.splitlines() if line.strip()]
    words = prose.split()

    def phrase(i: int, size: int = 8) -> str:
        at = i * 7 % (len(words) - size)
        return " ".join(words[at : at + size])

    def one(kind: str, uri: str, data: str | bytes, name: str = "made") -> Sample:
        return Sample(kind, name, ((uri, data.encode() if isinstance(data, str) else data),))

    records = [
        {"id": i, "price": i * 1.25, "open": i % 3 > 0, "title": phrase(i, 4), "note": phrase(i)}
        for i in range(ROWS)
    ]
    if installed("reportlab"):
        yield one("PDF", "a.pdf", _pdf([phrase(i, 14) for i in range(5000)]), "100 pages")
    yield one(
        "DOCX",
        "a.docx",
        _grown_zip("handbook-python-docx.docx", "word/document.xml", b"<w:body>", b"<w:sectPr"),
        "body x 40",
    )
    yield one(
        "ODT",
        "a.odt",
        _grown_zip(
            "rules-libreoffice.odt", "content.xml", b"</text:sequence-decls>", b"</office:t"
        ),
        "body x 40",
    )
    yield from _office(records, lines)
    rtf = _read("rules-libreoffice.rtf")
    start, end = rtf.find(b"\\pard\\plain", rtf.find(b"\\sectd")), rtf.rstrip().rfind(b"}")
    yield one("RTF", "a.rtf", rtf[:start] + rtf[start:end] * 40 + rtf[end:], "body x 40")
    page = _read("guide-pandoc.html")
    start, end = page.find(b">", page.find(b"<body")) + 1, page.rfind(b"</body>")
    repeats = 2_000_000 // (end - start) + 1
    long_page = page[:start] + page[start:end] * repeats + page[end:]
    yield one("HTML", "a.html", long_page, f"body x {repeats}")
    yield one("EPUB", "a.epub", _grown_epub("guide-pandoc.epub", 40), "chapters x 40")
    yield one("notebook", "a.ipynb", _notebook(lines))
    cues = [f"{_clock(i)} --> {_clock(i + 1)}\n{phrase(i)}\n" for i in range(4000)]
    srt = "\n".join(f"{i}\n{cue}" for i, cue in enumerate(cues, 1)).replace(".0", ",0")
    yield one("SubRip", "a.srt", srt, "4,000 cues")
    yield one("WebVTT", "a.vtt", "WEBVTT\n\n" + "\n".join(cues), "4,000 cues")
    mails = [_mail(i, lines) for i in range(300)]
    yield Sample("e-mail", "300 messages", tuple((f"{i}.eml", m) for i, m in enumerate(mails)))
    box = b"".join(b"From a@example.com Mon Jan  1 00:00:00 2024\n" + m + b"\n" for m in mails)
    path = folder / "a.mbox"
    path.write_bytes(box)
    yield one("mailbox", str(path), box, "300 messages")
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, records[0])
    writer.writeheader()
    writer.writerows(records)
    yield one("CSV", "a.csv", table.getvalue(), f"{ROWS:,} rows")
    json_lines = "\n".join(map(json.dumps, records))
    yield one("JSON Lines", "a.jsonl", json_lines, f"{ROWS:,} lines")
    yield one("JSON", "a.json", json.dumps(records), f"{ROWS:,} items")
    log = "\n".join(f"2024-01-01T00:00:00Z INFO {phrase(i)}" for i in range(ROWS))
    yield one("log", "a.log", log, f"{ROWS:,} lines")
    library = Path(sysconfig.get_path("stdlib"))
    code = tuple((f"{name}.py", (library / f"{name}.py").read_bytes()) for name in _STANDARD)
    yield Sample("Python", "standard library", code)
    headers = sorted(Path(sysconfig.get_path("include")).glob("*.h"))
    if headers:
        yield Sample("C header", "Python's", tuple((p.name, p.read_bytes()) for p in headers))
    for kind, suffix, made in _CODE:
        text = "\n".join(made.replace("NAME", f"{kind}{i}") for i in range(1000))
        yield one(kind, f"a{suffix}", text, "1,000 functions")
    turns = "\n".join(f"{'Ada' if i % 2 else 'Ben'}: {phrase(i)}." for i in range(4000))
    yield one("transcript", "a.txt", turns, "4,000 turns")
    yield one("Markdown", "a.md", corpora.markdown(4.0), "corpus")
    yield one("text", "b.txt", prose, "prose")


_CODE = (
    (
        "JavaScript",
        ".js",
        "// Adds up.\nexport function NAME(items, most = 10) {\n  let total = 0;\n"
        "  for (const item of items) {\n    if (item.price > most) { total += most; continue; }\n"
        "    total += item.price * item.count;\n  }\n  return { total, at: `${most}` };\n}\n",
    ),
    (
        "Go",
        ".go",
        "// NAME adds up.\nfunc NAME(items []Item, most int) (int, int) {\n\ttotal := 0\n"
        "\tfor _, item := range items {\n\t\tif item.Price > most {\n\t\t\ttotal += most\n"
        "\t\t\tcontinue\n\t\t}\n\t\ttotal += item.Price * item.Count\n\t}\n\treturn total, 0\n}\n",
    ),
    (
        "Rust",
        ".rs",
        "/// Adds up.\npub fn NAME(items: &[Item], most: u64) -> Option<u64> {\n"
        "    let mut total = 0;\n    for item in items.iter() {\n"
        "        if item.price > most { total += most; continue; }\n"
        "        total += item.price * item.count;\n    }\n    Some(total)\n}\n",
    ),
)


def _read(name: str) -> bytes:
    return (_DATA / name).read_bytes()


def _pdf(lines: list[str]) -> bytes:
    """100 pages of 50 lines of running text."""
    out = io.BytesIO()
    sheet = import_module("reportlab.pdfgen.canvas").Canvas(out)
    for page in range(100):
        for i in range(50):
            text = lines[page * 50 + i][:90].encode("latin-1", "replace").decode("latin-1")
            sheet.drawString(50, 790 - 15 * i, text)
        sheet.showPage()
    sheet.save()
    return out.getvalue()


def _grown_zip(name: str, member: str, after: bytes, before: bytes, times: int = 40) -> bytes:
    """An archive, what is between two marks in a member again and again."""
    out = io.BytesIO()
    with ZipFile(_DATA / name) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == member:
                start, end = data.index(after) + len(after), data.rindex(before)
                data = data[:start] + data[start:end] * times + data[end:]
            new.writestr(info.filename, data)
    return out.getvalue()


def _grown_epub(name: str, times: int) -> bytes:
    """A book, the body of each of its pages again and again."""
    out = io.BytesIO()
    with ZipFile(_DATA / name) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith(".xhtml") and "nav" not in info.filename:
                start, end = data.find(b">", data.find(b"<body")) + 1, data.rfind(b"</body>")
                data = data[:start] + data[start:end] * times + data[end:]
            new.writestr(info.filename, data, compress_type=info.compress_type)
    return out.getvalue()


def _office(records: list[dict[str, Any]], lines: list[str]) -> Iterator[Sample]:
    """A workbook and a talk, where the libraries that write them are installed."""
    out = io.BytesIO()
    if installed("python-pptx"):
        talk = import_module("pptx").Presentation()
        for i in range(100):
            slide = talk.slides.add_slide(talk.slide_layouts[1])
            slide.shapes.title.text = lines[i][:60]
            slide.placeholders[1].text = "\n".join(line[:200] for line in lines[i : i + 8])
        talk.save(out)
        yield Sample("PPTX", "100 slides", (("a.pptx", out.getvalue()),))
    out = io.BytesIO()
    if installed("openpyxl"):
        book = import_module("openpyxl").Workbook(write_only=True)
        sheet = book.create_sheet("Prices")
        sheet.append(list(records[0]))
        for record in records:
            sheet.append(list(record.values()))
        book.save(out)
        yield Sample("XLSX", f"{ROWS:,} rows", (("a.xlsx", out.getvalue()),))


def _notebook(lines: list[str]) -> str:
    cells: list[dict[str, Any]] = []
    for i in range(500):
        text = [f"## Step {i}\n", "\n", *(f"{line}\n" for line in lines[i * 3 : i * 3 + 3])]
        cells.append({"cell_type": "markdown", "metadata": {}, "source": text})
        output = {"output_type": "stream", "name": "stdout", "text": [f"{lines[i]}\n"] * 5}
        source = [f"for i in range({i}):\n", "    print(i * 2, end=' ')\n"] * 5
        cell = {"cell_type": "code", "metadata": {}, "execution_count": i, "source": source}
        cells.append({**cell, "outputs": [output]})
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def _clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000"


def _mail(i: int, lines: list[str]) -> bytes:
    message = EmailMessage()
    message["From"], message["To"] = "Ada <ada@example.com>", "ben@example.com"
    message["Subject"], message["Date"] = f"Größe {i}", "Mon, 01 Jan 2024 00:00:00 +0000"
    message["Message-ID"] = f"<{i}@example.com>"
    text = [line for line in lines[i * 20 : i * 20 + 20] if not line.startswith("From ")]
    message.set_content("\n\n".join(text))
    if i % 3 == 0:
        message.add_alternative("".join(f"<p>{line}</p>" for line in text), subtype="html")
    if i % 10 == 0:
        message.add_attachment(bytes(range(256)) * 200, "image", "png", filename="a.png")
    return message.as_bytes()


# Time


def installed(package: str) -> str:
    """The version of a package, or nothing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _ours(data: bytes, uri: str) -> spanwise.Document:
    return spanwise.load(data, uri=uri)


def timed(run: Load, sample: Sample, repeats: int) -> float:
    """Seconds to read the files of a sample once; what it gives is dropped outside the time."""
    gc.collect()
    seconds = 0.0
    for _ in range(repeats):
        begin = perf_counter()
        kept = [run(data, uri) for uri, data in sample.files]
        seconds += perf_counter() - begin
        del kept
    return seconds / repeats


def measure(sample: Sample, rounds: int) -> Iterator[dict[str, Any]]:
    """The rows of one sample: ours, then its peers."""
    peers = [each for each in PEERS[sample.kind] if not each.package or installed(each.package)]
    runs: dict[str, Load] = {"spanwise.load": _ours} | {each.name: each.run for each in peers}
    roles = {each.name: each.role for each in peers}
    first = {name: timed(run, sample, 1) for name, run in runs.items()}  # and warms up
    found: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(rounds):
        for name, run in runs.items():
            if i < _FEW or first[name] < _LONG_SECONDS:
                repeats = ceil(_LEAST_SECONDS / max(first[name], 1e-6))
                found[name].append(timed(run, sample, min(repeats, 1000)))
    ours = median(found["spanwise.load"])
    for name, seconds in found.items():
        middle = median(seconds)
        yield {
            "kind": sample.kind,
            "sample": sample.name,
            "mb": sample.megabytes,
            "files": len(sample.files),
            "name": name,
            "runs": len(seconds),
            "ms": middle * 1e3,
            "low_ms": min(seconds) * 1e3,
            "high_ms": max(seconds) * 1e3,
            "mb_per_s": sample.megabytes / middle,
            "role": roles.get(name, "ours"),
            "ratio": ours / middle if name in roles else None,
            "above": roles.get(name) == "bare" and ours / middle > BOUND,
        }


def show(row: dict[str, Any]) -> str:
    """One row of the table, for people."""
    ratio = ""
    if row["ratio"] is not None:
        verdict = f", {'ABOVE' if row['above'] else 'within'} {BOUND}"
        ratio = f"{row['ratio']:8.2f}x  {row['role']}{verdict if row['role'] == 'bare' else ''}"
    return (
        f"{row['kind']:11}{row['sample']:18}{row['mb']:7.3f} MB  {row['name']:20}"
        f"{row['ms']:10.3f} ms [{row['low_ms']:.3f}..{row['high_ms']:.3f}; {row['runs']}]".ljust(96)
        + f"{row['mb_per_s']:9.1f} MB/s{ratio}"
    )


# Seconds; many kernels tick 250 times in each.
_SAMPLED = 4


def profile(sample: Sample) -> None:
    """Print which functions and lines of ours, or called by ours, were running.

    A C call longer than a tick counts once, so one long parse shows less than its share.
    """
    with Sampler() as sampler:
        begin = perf_counter()
        while perf_counter() - begin < _SAMPLED:
            timed(_ours, sample, 1)
    print(f"{sample.kind}, {sample.name}: share of {sampler.total} samples")
    for counted in (sampler.functions, sampler.lines):
        for (file, place), count in counted.most_common(12):
            path, source = Path(file), ""
            if isinstance(place, int) and path.exists():
                source = path.read_text(encoding="utf-8").splitlines()[place - 1].strip()
            print(f"  {count / sampler.total:7.1%}  {f'{path.name}:{place}':44}{source[:80]}")


def versions() -> str:
    """Versions of everything that runs here."""
    packages = {each.package for peers in PEERS.values() for each in peers if each.package}
    named = [f"{name} {installed(name) or 'NOT INSTALLED'}" for name in sorted(packages)]
    core = installed("tree-sitter") or "NOT INSTALLED"
    python = f"Python {platform.python_version()}, spanwise {spanwise.__version__}"
    return ", ".join([python, f"tree-sitter {core}", *named])


def main() -> None:
    """Measure, or profile."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7, help="runs of each, in turns")
    parser.add_argument("--kind", nargs="*", choices=PEERS, default=[], help="only these formats")
    parser.add_argument("--profile", action="store_true", help="where our time goes")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    load = os.getloadavg()
    print(versions(), f"load {load[0]:.1f} of {os.cpu_count()} cores", sep="\n", file=sys.stderr)
    with TemporaryDirectory() as folder:
        samples = [*given_files(), *made_files(Path(folder))]
        gc.freeze()  # what was made here is no garbage to look through while a parser runs
        order = list(PEERS)
        for sample in sorted(samples, key=lambda each: order.index(each.kind)):
            if given.kind and sample.kind not in given.kind:
                continue
            if given.profile:
                profile(sample)
                continue
            for row in measure(sample, given.rounds):
                print(json.dumps(row) if given.json else show(row), flush=True)


if __name__ == "__main__":
    main()
