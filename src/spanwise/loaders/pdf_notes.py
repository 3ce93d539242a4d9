"""Free text that a person put on a page of a PDF, as with a typewriter."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, cast, create_string_buffer
from dataclasses import dataclass
from typing import Any

from spanwise.loaders.pdf_lines import Box, box_on

__all__ = ["Note", "may_have_notes", "pdfium_notes", "pypdf_notes", "with_notes"]

# Flags of an annotation: hidden, and not shown on a screen.
_UNSEEN = 2 | 32


@dataclass(frozen=True, slots=True)
class Note:
    """A text and where it lies on its page."""

    text: str
    box: Box


def with_notes(
    text: str, notes: Sequence[Note], *, merged: bool = False
) -> tuple[str, list[tuple[int, int, Box]]]:
    """The text of a page with its notes below, from top to bottom, and where each lies.

    ``merged``: notes that the file has a picture of are in the text, and stay out here.
    """
    there = "".join(text.split()) if merged else ""
    placed = []
    for note in sorted(notes, key=lambda note: (note.box[1], note.box[0])):
        said = note.text.replace("\r\n", "\n").replace("\r", "\n").strip()
        if said and "".join(said.split()) not in there:
            text += "\n" + said if text else said
            placed.append((len(text) - len(said), len(text), note.box))
    return text, placed


def may_have_notes(data: bytes) -> bool:
    """Whether a file may have notes: it names them, or holds objects that are compressed.

    To look at every link of a page takes up to half as long as to read the page.
    """
    return b"/FreeText" in data or b"/ObjStm" in data


def pdfium_notes(api: Any, page: Any) -> list[Note]:
    """The notes on a page of PDFium."""
    notes: list[Note] = []
    for i in range(api.FPDFPage_GetAnnotCount(page)):
        found = api.FPDFPage_GetAnnot(page, i)
        if not found:
            continue
        if (
            api.FPDFAnnot_GetSubtype(found) == api.FPDF_ANNOT_FREETEXT
            and not api.FPDFAnnot_GetFlags(found) & _UNSEEN
        ):
            rect = api.FS_RECTF()
            api.FPDFAnnot_GetRect(found, rect)
            box = box_on(page)(rect.left, rect.bottom, rect.right, rect.top)
            notes.append(Note(_contents(api, found), box))
        api.FPDFPage_CloseAnnot(found)
    return notes


def _contents(api: Any, found: Any) -> str:
    size = api.FPDFAnnot_GetStringValue(found, b"Contents", None, 0)
    buffer = create_string_buffer(size)
    api.FPDFAnnot_GetStringValue(found, b"Contents", cast(buffer, POINTER(api.FPDF_WCHAR)), size)
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\0")


def pypdf_notes(page: Any) -> list[Note]:
    """The notes on a page of pypdf; their boxes only say which is above which."""
    notes: list[Note] = []
    annotations = page.annotations
    for each in annotations if isinstance(annotations, list) else ():
        found = each.get_object()
        if not isinstance(found, dict) or found.get("/Subtype") != "/FreeText":
            continue
        said = {key: found[key] for key in ("/F", "/Rect", "/Contents") if key in found}
        if not said.get("/F", 0) & _UNSEEN:
            x0, y0, x1, y1 = map(float, said.get("/Rect", (0, 0, 0, 0)))
            box = min(x0, x1), -max(y0, y1), max(x0, x1), -min(y0, y1)
            notes.append(Note(str(said.get("/Contents", "")), box))
    return notes
