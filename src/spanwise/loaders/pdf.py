"""PDF: the text of each page, under the page's own label and with the place of each line."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from threading import Lock
from typing import Any, ClassVar

from spanwise.documents import Document
from spanwise.errors import LoadError, MissingExtraError
from spanwise.extras import require_extra
from spanwise.loaders.base import Raw
from spanwise.loaders.pdf_lines import HYPHEN, Box, lines_of, text_of
from spanwise.loaders.pdf_notes import Note, may_have_notes, pdfium_notes, pypdf_notes, with_notes
from spanwise.parts import PartRow, Parts

__all__ = ["PdfLoader"]

_BETWEEN_PAGES = "\n\n"  # as Document.from_pages joins them

# Where readers look for the first line of the file; printers write their own before it.
_HEAD = 1024
_MARK = b"%PDF-"
_HEADER = re.compile(rb"(?:\A\W*|[\r\n]\s*)%PDF-\d\.\d")
_OBJECT = re.compile(rb"\d\s+\d+\s+obj\b")

_SURROGATE = re.compile("[\ud800-\udfff]")

# D:20240102030405+01'00'; all but the year may be left out.
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-]\d\d)'?(\d\d)?)?")

# What a pure reader raises inside a damaged file, besides its own errors.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,  # and so RecursionError and NotImplementedError
    StopIteration,
    TypeError,
    ValueError,  # and so UnicodeError
    zlib.error,
)

# Codes of PDFium for a file it cannot open.
_NEEDS_PASSWORD = 4
_UNKNOWN_LOCK = 5

# PDFium is for one thread at a time, whatever the document.
_PDFIUM = Lock()

# No page is called more than this; a damaged one can be XXXXX... without end.
_LONGEST_LABEL = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page as a reader gives it; lines are counted in its own text."""

    text: str
    label: str
    width: float
    height: float
    lines: tuple[tuple[int, int, Box], ...] = ()


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is looked for on a page besides its text."""

    forms: bool
    notes: bool
    boxes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfLoader:
    """Reads PDF files with PDFium (``pip install "spanwise[pdf]"``), else with pypdf.

    - ``password``: opens an encrypted file (default: none, which opens those that anyone may
      read).
    - ``boxes``: note where on its page each line lies (default: no; it takes up to half more time
      and a part for every line). Only PDFium can say.

    Each page is a part of kind ``page``, labelled as the page itself is; its ``meta`` holds its
    ``number`` from 1, its ``width`` and ``height`` in points. Pages are joined by a blank line.
    With ``boxes`` each line is a part of kind ``box`` whose ``meta["box"]`` is (x0, y0, x1, y1)
    in points from the top left of the page as it is shown. Filled-in form fields come after the
    text of their page, then free text that a person put on it, unless it is hidden. Line ends are
    ``\\n``; hyphens at line ends stay.

    The document's ``meta``: ``page_count``, ``reader``, and where set ``title``, ``author``,
    ``created`` (ISO 8601) and ``pages_without_text``, the labels of those that may need OCR.

    A file made to do harm can keep PDFium busy without end, and no thread can stop it: read
    files of strangers in a process with a time limit.
    """

    password: str = field(default="", repr=False)
    boxes: bool = False

    name: ClassVar[str] = "PDF"
    suffixes: ClassVar[tuple[str, ...]] = (".pdf",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is called a PDF or begins like one.

        What comes before the first line of a PDF is looked past only in a file without a
        suffix: a text may speak of ``%PDF-``.
        """
        if raw.suffix in self.suffixes or raw.data.startswith(_MARK):
            return True
        return not raw.suffix and _HEADER.search(raw.data[: _HEAD + 8]) is not None

    def load(self, raw: Raw) -> Document:
        """The document of a PDF file; `LoadError` for one that is damaged or locked."""
        _check_whole(raw)
        said: dict[str, str] = {}
        purpose = "reading a PDF file"
        try:
            pages = self._read_pdfium(require_extra("pypdfium2", "pdf", purpose), raw, said)
        except MissingExtraError as missing:
            if self.boxes:
                raise
            try:
                pypdf = require_extra("pypdf", "pdf", purpose)
            except MissingExtraError:
                raise missing from None
            pages = self._read_pypdf(pypdf, raw, said)
        return _document(raw, list(pages), said)

    def _read_pdfium(self, pdfium: Any, raw: Raw, said: dict[str, str]) -> Iterator[_Page]:
        """The pages, by PDFium."""
        with _PDFIUM:
            try:
                pdf = pdfium.PdfDocument(raw.data, password=self.password or None)
            except pdfium.PdfiumError as fault:
                code = fault.err_code
                if code == _NEEDS_PASSWORD:
                    raise self._locked(raw) from None
                if code == _UNKNOWN_LOCK:
                    raise _lock_unknown(raw) from None
                # Code 0 is success: a file in order whose pages are not to be found.
                raise _damaged(raw, str(fault) if code else "no page was found") from None
            with closing(pdf):
                count = len(pdf)
                number = 0
                try:
                    said["reader"] = "pypdfium2"
                    for key in ("Title", "Author", "CreationDate"):
                        said[key] = _or_empty(pdf.get_metadata_value, key)
                    has_forms = pdf.get_formtype() == pdfium.raw.FORMTYPE_ACRO_FORM
                    if has_forms:
                        pdf.init_forms()
                    asked = _Asked(has_forms, may_have_notes(raw.data), self.boxes)
                    for number in range(1, count + 1):
                        yield _pdfium_page(pdfium, pdf, number, asked)
                except (AssertionError, MemoryError, RuntimeError, UnicodeError) as fault:
                    # RuntimeError is PdfiumError too.
                    raise _page_damaged(raw, number, count, fault) from None

    def _read_pypdf(self, pypdf: Any, raw: Raw, said: dict[str, str]) -> Iterator[_Page]:
        """The pages, by pypdf."""
        errors = pypdf.errors
        number = count = 0
        try:
            pdf = pypdf.PdfReader(BytesIO(raw.data))
            if pdf.is_encrypted and not pdf.decrypt(self.password):
                raise self._locked(raw)
            count = len(pdf.pages)
            said["reader"] = "pypdf"
            found = pdf.metadata or {}
            for key in ("Title", "Author", "CreationDate"):
                said[key] = str(found.get(f"/{key}") or "")
            labels = pdf.page_labels
            for number, page in enumerate(pdf.pages, 1):
                box = page.cropbox
                width, height = float(box.width), float(box.height)
                if page.rotation % 180:
                    width, height = height, width
                text = page.extract_text().replace("\r\n", "\n").strip("\n")
                text, _ = with_notes(text, pypdf_notes(page))
                label = labels[number - 1] if number <= len(labels) else ""
                yield _Page(
                    text=_SURROGATE.sub("\ufffd", text),
                    label=_label(str(label), number),
                    width=round(width, 2),
                    height=round(height, 2),
                )
        except LoadError:
            raise
        except errors.DependencyError as fault:
            raise LoadError(
                f"{raw.name}: its encryption is not read by pypdf alone ({fault}); "
                'pip install "spanwise[pdf]"'
            ) from None
        except (errors.PyPdfError, *_DAMAGE) as fault:
            if number:
                raise _page_damaged(raw, number, count, fault) from None
            raise _damaged(raw, str(fault)) from None

    def _locked(self, raw: Raw) -> LoadError:
        """What to say of a file that the password does not open."""
        if self.password:
            return LoadError(
                f"{raw.name}: the PDF is encrypted and the password given does not open it; "
                "give PdfLoader the right one"
            )
        return LoadError(
            f"{raw.name}: the PDF is encrypted and only opens with a password; "
            "give it: PdfLoader(password=...)"
        )


def _check_whole(raw: Raw) -> None:
    """Refuse what is no PDF, and one whose end is missing.

    Readers repair a file that was cut short and silently leave out what is gone. A whole one
    says last where its table of objects starts, and no object comes after that.
    """
    data = raw.data
    if _MARK not in data[: _HEAD + len(_MARK)]:
        what = "it is empty" if not data else f"%PDF- is not in its first {_HEAD} bytes"
        raise LoadError(f"{raw.name}: {what}, so it is no PDF; give a PDF file")
    at = data.rfind(b"startxref")
    if at < 0 or _OBJECT.search(data, at):
        raise LoadError(
            f"{raw.name}: the end of the PDF is missing at byte {len(data)}, so pages or text may "
            "be lost; fetch the file again, or open it in a PDF program and save it anew"
        )


def _lock_unknown(raw: Raw) -> LoadError:
    return LoadError(
        f"{raw.name}: the PDF is encrypted in a way that PDFium does not know; "
        "save it without protection in the program it is made for"
    )


def _damaged(raw: Raw, reason: str) -> LoadError:
    return LoadError(
        f"{raw.name}: the PDF is damaged or has no pages ({reason.strip() or 'no reason given'}); "
        "fetch the file again, or open it in a PDF program and save it anew"
    )


def _page_damaged(raw: Raw, number: int, count: int, fault: BaseException) -> LoadError:
    reason = str(fault).strip() or type(fault).__name__
    return LoadError(
        f"{raw.name}: page {number} of {count} cannot be read ({reason}); "
        "fetch the file again, or open it in a PDF program and save it anew"
    )


def _document(raw: Raw, pages: list[_Page], said: dict[str, str]) -> Document:
    """The pages as a document."""
    if not pages:
        raise _damaged(raw, "no page was found")
    rows: list[PartRow] = []
    at = 0
    for number, page in enumerate(pages, 1):
        end = at + len(page.text)
        meta = {"number": number, "width": page.width, "height": page.height}
        rows.append(("page", at, end, page.label, meta))
        for i, (start, stop, box) in enumerate(page.lines, 1):
            rows.append(("box", at + start, at + stop, f"line {i}", {"box": box}))
        at = end + len(_BETWEEN_PAGES)
    facts: dict[str, Any] = {"page_count": len(pages), "reader": said["reader"]}
    for key in ("Title", "Author"):
        if value := said[key].strip(" \t\r\n\0"):
            facts[key.lower()] = value
    if created := _iso(said["CreationDate"]):
        facts["created"] = created
    if blank := tuple(page.label for page in pages if not page.text.strip()):
        facts["pages_without_text"] = blank
    return Document(
        text=_BETWEEN_PAGES.join(page.text for page in pages),
        uri=raw.uri,
        media_type="application/pdf",
        parts=Parts.of_rows(rows),
        meta=facts,
    )


def _pdfium_page(pdfium: Any, pdf: Any, number: int, asked: _Asked) -> _Page:
    """One page by PDFium."""
    page = pdf.get_page(number - 1)
    notes: list[Note] = []
    try:
        if pdfium.raw.FPDFPage_GetAnnotCount(page) > 0:
            notes = pdfium_notes(pdfium.raw, page) if asked.notes else []
            if asked.forms:
                # What is filled in is drawn over the page and is no text of it until it is merged.
                page.flatten()
                page.close()
                page = pdf.get_page(number - 1)
        width, height = page.get_size()
        with closing(page.get_textpage()) as textpage:
            found = text_of(pdfium.raw, textpage)
            lines = (
                list(lines_of(pdfium.raw, page, textpage, found)) if asked.boxes and found else []
            )
    finally:
        page.close()
    label = _label(_or_empty(pdf.get_page_label, number - 1), number)
    text = found.replace("\r\n", "\n").replace(HYPHEN, "-\n")
    if notes:
        text, placed = with_notes(text, notes, merged=asked.forms)
        lines += placed if asked.boxes else ()
    return _Page(
        text=_SURROGATE.sub("\ufffd", text),
        label=label,
        width=round(width, 2),
        height=round(height, 2),
        lines=tuple(lines),
    )


def _label(said: str, number: int) -> str:
    """The page's own label on one line; its number where it has none that can be cited."""
    label = " ".join(said.split())
    return label if 0 < len(label) <= _LONGEST_LABEL else str(number)


def _or_empty(said: Callable[[Any], str], key: Any) -> str:
    """What a file says of itself; empty where that is no text."""
    try:
        return said(key)
    except UnicodeDecodeError:
        return ""


def _iso(date: str) -> str:
    """A date of a PDF as ISO 8601; empty where it is none.

    >>> _iso("D:20240102030405+01'00'"), _iso("D:2024"), _iso("yesterday")
    ('2024-01-02T03:04:05+01:00', '2024-01-01T00:00:00', '')
    """
    match = _DATE.match(date.strip())
    if match is None:
        return ""
    year, month, day, *rest = match.groups()
    hour, minute, second = (value or "00" for value in rest[:3])
    zone = "+00:00" if rest[3] else f"{rest[4]}:{rest[5] or '00'}" if rest[4] else ""
    whole = f"{year}-{month or '01'}-{day or '01'}T{hour}:{minute}:{second}{zone}"
    try:
        return datetime.fromisoformat(whole).isoformat()
    except ValueError:
        return ""
