"""Word files: paragraphs, headings, lists, tables and notes in the order they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.archives import Archive, holds_member, open_archive
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.docx_chunks import form_of
from spanwise.loaders.docx_numbering import Numbering
from spanwise.loaders.docx_styles import LEVELS, Styles, hiding, settings_of
from spanwise.loaders.html import write_html
from spanwise.loaders.html_encoding import decode_html
from spanwise.loaders.office import (
    MOST_COLUMNS,
    attribute,
    holds_table,
    inside,
    main_part,
    office_meta,
    read_main,
    read_xml,
    relation_id,
    relations,
    under,
    whole_number,
)
from spanwise.loaders.text import decode

__all__ = ["DocxLoader"]

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_MAIN = "word/document.xml"
# A Word file that stands in another may hold a third one; a part may be named again and again.
_DEEPEST_CHUNK = 2
_MOST_TEXT = 1 << 30

# Deleted or moved away, settings, and the half of a choice that older programs read.
_SKIPPED = frozenset(
    (
        *("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:sdtPr", "w:tcPr", "w:trPr", "w:tblPr"),
        *("w:tblGrid", "w:sectPr", "w:rt", "w:instrText", "w:delText", "w:delInstrText"),
        *("w:fldData", "mc:Fallback"),
    )
)
_BLOCKS = frozenset(("w:p", "w:tbl", "w:altChunk"))
# What holds no rows or cells of the table it stands in.
_UNWRAPPED = _SKIPPED | _BLOCKS
# The Greek letters and the signs most in use of the font Symbol, by its own numbers.
_GREEK = dict(zip("abgdezhqiklmnxoprstufcyw", "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
_SYMBOLS = {
    0xA3: "≤",
    0xA5: "∞",
    0xAC: "←",
    0xAE: "→",
    0xB0: "°",
    0xB1: "±",
    0xB3: "≥",
    0xB4: "×",
    0xB7: "•",
    0xB8: "÷",
    0xB9: "≠",
    0xBB: "≈",
    0xD6: "√",
    0xE5: "∑",
    0xF2: "∫",
}
_SIGNS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
}


@dataclass(frozen=True, slots=True)
class DocxLoader:
    """Reads Word files; comments, page headers and hidden or deleted text are left out."""

    name: str = "DOCX"
    suffixes: tuple[str, ...] = (".docx", ".docm", ".dotx", ".dotm")

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix says so, or it is a ZIP archive with a Word document inside."""
        return raw.suffix in self.suffixes or holds_member(raw, _MAIN)

    def load(self, raw: Raw) -> Document:
        """The text with its headings; footnotes and endnotes stand at its end, as ``[1]``.

        Parts in another format (``altChunk``) are read where they stand if they are Word, HTML or
        text; ``meta`` names the others as ``missing``.
        """
        archive = open_archive(raw)
        reader = _Reader(archive, raw.encoding)
        reader.body()
        reader.notes()
        meta: dict[str, Any] = {**office_meta(archive)}
        if reader.missing:
            meta["missing"] = tuple(reader.missing)
        return reader.builder.document(uri=raw.uri, media_type=_MEDIA_TYPE, meta=meta)


class _Reader:
    """Writes the blocks of one file; one that stands in another writes what that one does."""

    def __init__(self, archive: Archive, encoding: str, outer: _Reader | None = None) -> None:
        self.builder: Builder = outer.builder if outer else Builder()
        self.missing: list[str] = outer.missing if outer else []
        self._depth: int = outer._depth + 1 if outer else 0
        self._archive = archive
        self._encoding = encoding
        self._path = main_part(archive, _MAIN)
        self._styles = Styles()
        self._numbering = Numbering()
        self._found: dict[str, dict[str, Element]] = {"footnote": {}, "endnote": {}}
        self._cited: dict[tuple[str, str], int] = {}
        self._order: list[tuple[_Reader, str, str]] = outer._order if outer else []
        self._chunks: dict[str, str] = {}
        self._carried = ""  # of a paragraph whose end was deleted
        # The fields that are open: whether the instruction goes on, where what they give begins.
        self._fields: list[tuple[bool, int]] = []
        self._hides = False  # whether the style of the paragraph does
        self._boxes: list[Element] = []
        for key, (kind, member) in relations(archive, self._path).items():
            if kind == "styles":
                self._styles = Styles(read_xml(archive, member))
            elif kind == "numbering":
                self._numbering = Numbering(read_xml(archive, member))
            elif kind in ("footnotes", "endnotes"):
                notes = self._found[kind[:-1]]
                for note in read_xml(archive, member):
                    if attribute(note, "type", "normal") == "normal":
                        notes[attribute(note, "id")] = note
            elif kind == "aFChunk":
                self._chunks[key] = member

    def body(self) -> None:
        """Write all but the notes."""
        for body in read_main(self._archive, self._path, "w:document").iter("w:body"):
            self.blocks(body)
            break

    def blocks(self, parent: Element) -> None:
        """Write the paragraphs and tables in an element, and the text boxes below each."""
        for block in inside(parent, _BLOCKS, _SKIPPED):
            if block.tag == "w:p":
                self._paragraph(block)
            else:
                self._end_carried()
                if block.tag == "w:tbl":
                    self._table(block)
                else:
                    self._chunk(block)
            boxes, self._boxes = self._boxes, []
            for box in boxes:
                self.blocks(box)
        self._end_carried()

    def _end_carried(self) -> None:
        self.builder.paragraph(self._carried)
        self._carried = ""

    def notes(self) -> None:
        """Write the notes that the text refers to, in the order it does."""
        at = 0
        self.builder.apart()
        while at < len(self._order):  # a note may refer to another
            reader, kind, key = self._order[at]
            at += 1
            text = reader._lines(reader._found[kind][key].iter("w:p"))
            start = self.builder.paragraph(f"[{at}] {text}")
            self.builder.note(kind, str(at), start, self.builder.position)

    def _paragraph(self, block: Element) -> None:
        outline, depth, mark, text = self._read(block)
        if 0 <= outline < LEVELS:
            self.builder.heading(outline + 1, mark + text if text.strip() else "")
        elif mark:
            self.builder.item(text, depth=depth, mark=mark)
        else:
            self.builder.paragraph(text)

    def _read(self, block: Element) -> tuple[int, int, str, str]:
        """A paragraph's outline level or -1, its depth, mark (``- ``, ``2. ``) and text.

        Nothing where its end was deleted: its text then begins the next one's.
        """
        settings = under(block, "w:pPr")
        key, outline, list_id, level, ending = settings_of(settings)
        self._hides = self._styles.hides(key)
        text = self._carried + self._text(block)
        self._carried = ""
        if ending is not None and _is_gone(ending):
            self._carried = text
            return -1, 0, "", ""
        style = self._styles.of(key)
        outline = outline if outline >= 0 else style.outline
        list_id = list_id or style.list_id
        # Word counts an empty paragraph too, unless even its end is hidden.
        if list_id in ("", "0") or (not text.strip() and self._is_hidden(ending)):
            return outline, 0, "", text
        level = min(max(level if level >= 0 else style.list_level, 0), LEVELS - 1)
        label = self._numbering.label(list_id, level)
        if label is None:
            return outline, 0, "", text
        bullet = "" if 0 <= outline < LEVELS else "- "
        return outline, max(level, style.depth), f"{label} " if label else bullet, text

    def _table(self, table: Element) -> None:
        rows = [
            self._cells(row)
            for row in inside(table, ("w:tr",), _UNWRAPPED)
            if under(row, "w:trPr", "w:del") is None
        ]
        alone = len(rows) == 1 and len(rows[0]) == 1
        tops = [top for row in rows for cell in row for top in cell]
        chunked = self._chunks and next(table.iter("w:altChunk"), None) is not None
        if alone or chunked or holds_table(table, tops, _BLOCKS, _SKIPPED):
            # A frame or a layout: its cells hold whole blocks.
            for top in tops:
                self.blocks(top)
            return
        self.builder.table([[self._cell(cell) for cell in row] for row in rows])

    def _chunk(self, block: Element) -> None:
        """Write what stands in the file as a part in another format, or name it as missing."""
        key = relation_id(block)
        path = self._chunks.get(key, "")
        if path not in self._archive:
            self.missing.append(path or key)
            return
        name, data = f"{self._archive.name}: {path} inside", self._archive.read(path)
        form = form_of(self._archive, path, data)
        if form == "word" and self._depth < _DEEPEST_CHUNK:
            inner = Raw(data=data, name=name, uri="", suffix="")
            _Reader(open_archive(inner), self._encoding, self).body()
        elif form == "html":
            html, _ = decode_html(data, name, self._encoding)
            write_html(self.builder, html, lines=False)
        elif form == "text":
            text, _ = decode(data, name, self._encoding)
            self.builder.paragraph(text.replace("\r\n", "\n").replace("\r", "\n"))
        else:
            self.missing.append(path)
        if self.builder.position > _MOST_TEXT:
            raise LoadError(
                f"{self._archive.name}: its parts make a text of over {_MOST_TEXT} characters, "
                "more than is read; divide it"
            )

    def _cells(self, row: Element) -> list[list[Element]]:
        """The cells of a row; one that spans columns is followed by empty ones."""
        before = whole_number(
            attribute(under(row, "w:trPr", "w:gridBefore"), "val"), most=MOST_COLUMNS
        )
        cells: list[list[Element]] = [[]] * before
        for cell in inside(row, ("w:tc",), _UNWRAPPED):
            settings = under(cell, "w:tcPr")
            if settings is None:
                cells.append([cell])
                continue
            merged = under(settings, "w:vMerge")
            goes_on = merged is not None and attribute(merged, "val", "continue") == "continue"
            span = attribute(under(settings, "w:gridSpan"), "val")
            spanned = whole_number(span, 1, most=MOST_COLUMNS) - 1
            cells += [[] if goes_on else [cell], *[[]] * spanned]
        return cells

    def _cell(self, tops: list[Element]) -> str:
        return self._lines([block for top in tops for block in inside(top, _BLOCKS, _SKIPPED)])

    def _lines(self, blocks: Iterable[Element]) -> str:
        """The paragraphs of a cell or a note with their marks; numbers without text are shown."""
        lines: list[str] = []
        for block in blocks:
            _, _, mark, text = self._read(block)
            inked = text.strip()
            if inked or mark not in ("", "- "):
                lines.append(mark + inked)
        if self._carried:
            lines.append(self._carried.strip())
            self._carried = ""
        return "\n".join(lines)

    def _text(self, paragraph: Element) -> str:
        """The text of a paragraph; its text boxes are put aside."""
        pieces: list[str] = []
        self._fields = []
        self._inline(paragraph, pieces)
        return "".join(pieces)

    def _inline(self, parent: Element, pieces: list[str]) -> None:
        for element in parent:
            tag = element.tag
            if tag in ("w:t", "m:t", "a:t"):
                pieces.append(element.text or "")
            elif tag in _SIGNS:
                pieces.append(_SIGNS[tag])
            elif tag == "w:sym":
                pieces.append(_symbol(attribute(element, "char"), attribute(element, "font")))
            elif tag in _SKIPPED or (tag == "w:r" and self._is_hidden(under(element, "w:rPr"))):
                continue
            elif tag in ("w:footnoteReference", "w:endnoteReference"):
                cited = (tag[2:-9], attribute(element, "id"))
                if cited[1] in self._found[cited[0]]:
                    number = self._cited.setdefault(cited, len(self._order) + 1)
                    if number > len(self._order):
                        self._order.append((self, *cited))
                    pieces.append(f"[{number}]")
            elif tag == "w:txbxContent":
                self._boxes.append(element)
            elif tag == "w:fldChar":
                self._field(element, pieces)
            else:
                self._inline(element, pieces)

    def _is_hidden(self, look: Element | None) -> bool:
        """Whether what looks so is hidden: by itself, by its style or by that of its paragraph."""
        said = hiding(look)
        if said is not None:
            return said
        style = attribute(under(look, "w:rStyle"), "val")
        return self._hides or (style != "" and self._styles.hides(style))

    def _field(self, mark: Element, pieces: list[str]) -> None:
        """A mark of a field; what one inside the instruction of another gives is not shown."""
        kind, fields = attribute(mark, "fldCharType"), self._fields
        if kind == "begin":
            fields.append((True, len(pieces)))
            choices = under(mark, "w:ffData", "w:ddList")
            if choices is not None:
                entries = [attribute(each, "val") for each in choices if each.tag == "w:listEntry"]
                chosen = whole_number(attribute(under(choices, "w:result"), "val"))
                pieces += entries[chosen : chosen + 1]
        elif kind == "separate" and fields:
            fields[-1] = False, fields[-1][1]
        elif kind == "end" and fields:
            _, begun = fields.pop()
            if fields and fields[-1][0]:
                del pieces[begun:]


def _symbol(code: str, font: str) -> str:
    """A character put in by its number in a font; U+FFFD for one that is only a picture."""
    number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,4}", code) else 0
    if font.lower() == "symbol":
        number &= 0xFF
        letter = _GREEK.get(chr(number).lower(), "")
        letter = letter.upper() if chr(number).isupper() else letter
        return letter or _SYMBOLS.get(number, "\ufffd")
    return chr(number) if 0x20 <= number < 0xD800 else "\ufffd"


def _is_gone(ending: Element) -> bool:
    """Whether the end of a paragraph that looks so was deleted or moved away."""
    return under(ending, "w:del") is not None or under(ending, "w:moveFrom") is not None
