"""Word files: paragraphs, headings, lists, tables and notes in the order they are read."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from spanwise.documents import Document
from spanwise.loaders.archives import Archive, holds_member, open_archive
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.office import (
    MOST_COLUMNS,
    attribute,
    holds_table,
    inside,
    main_part,
    numeral,
    office_meta,
    read_main,
    read_xml,
    relations,
    under,
    whole_number,
)

__all__ = ["DocxLoader"]

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_MAIN = "word/document.xml"
_DEEPEST_STYLE = 20
_LEVELS = 9

# Deleted or moved away, settings, and the half of a choice that older programs read.
_SKIPPED = frozenset(
    (
        *("w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:sdtPr", "w:tcPr", "w:trPr", "w:tblPr"),
        *("w:tblGrid", "w:sectPr", "w:rt", "w:instrText", "w:delText", "w:delInstrText"),
        *("w:fldData", "mc:Fallback"),
    )
)
_BLOCKS = frozenset(("w:p", "w:tbl"))
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
        """The text with its headings; footnotes and endnotes stand at its end, as ``[1]``."""
        archive = open_archive(raw)
        path = main_part(archive, _MAIN)
        root = read_main(archive, path, "w:document")
        reader = _Reader(archive, path)
        for body in root.iter("w:body"):
            reader.blocks(body)
            break
        reader.notes()
        return reader.builder.document(
            uri=raw.uri, media_type=_MEDIA_TYPE, meta=office_meta(archive)
        )


@dataclass(frozen=True, slots=True)
class _Style:
    """What a paragraph style says of headings and lists, -1 and empty where it says nothing."""

    based: str
    outline: int
    list_id: str
    list_level: int
    depth: int  # of ``List Bullet 2``, whose own list has one level


class _Reader:
    """Writes the blocks of one file."""

    def __init__(self, archive: Archive, path: str) -> None:
        self.builder = Builder()
        self._styles: dict[str, _Style] = {}
        self._inherited: dict[str, _Style] = {}
        self._default = ""
        self._numbering = _Numbering()
        self._found: dict[str, dict[str, Element]] = {"footnote": {}, "endnote": {}}
        self._cited: dict[tuple[str, str], int] = {}
        self._order: list[tuple[str, str]] = []
        self._carried = ""  # of a paragraph whose end was deleted
        self._boxes: list[Element] = []
        for kind, member in relations(archive, path).values():
            if kind == "styles":
                self._read_styles(read_xml(archive, member))
            elif kind == "numbering":
                self._numbering = _Numbering(read_xml(archive, member))
            elif kind in ("footnotes", "endnotes"):
                notes = self._found[kind[:-1]]
                for note in read_xml(archive, member):
                    if attribute(note, "type", "normal") == "normal":
                        notes[attribute(note, "id")] = note

    def _read_styles(self, root: Element) -> None:
        for style in root.iter("w:style"):
            if attribute(style, "type", "paragraph") != "paragraph":
                continue
            key = attribute(style, "styleId")
            name = attribute(under(style, "w:name"), "val").lower()
            settings = under(style, "w:pPr")
            outline = _outline(settings)
            if outline < 0:
                outline = _named_level(name, key)
            list_id, level = _list_of(settings)
            based = attribute(under(style, "w:basedOn"), "val")
            self._styles[key] = _Style(based, outline, list_id, level, _named_depth(name))
            if attribute(style, "default") in ("1", "true", "on"):
                self._default = key

    def blocks(self, parent: Element) -> None:
        """Write the paragraphs and tables in an element, and the text boxes below each."""
        for block in inside(parent, _BLOCKS, _SKIPPED):
            if block.tag == "w:p":
                self._paragraph(block)
            else:
                self._end_carried()
                self._table(block)
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
            kind, key = self._order[at]
            at += 1
            texts = [self._text(block) for block in self._found[kind][key].iter("w:p")]
            text = "\n".join(text.strip() for text in texts if text.strip())
            start = self.builder.paragraph(f"[{at}] {text}")
            self.builder.note(kind, str(at), start, self.builder.position)

    def _paragraph(self, block: Element) -> None:
        settings = under(block, "w:pPr")
        text = self._carried + self._text(block)
        self._carried = ""
        if settings is not None and under(settings, "w:rPr", "w:del") is not None:
            self._carried = text
            return
        outline, list_id, level, depth = self._kind(settings)
        inked = text.strip()
        label = self._numbering.label(list_id, level) if list_id and inked else None
        if 0 <= outline < _LEVELS:
            self.builder.heading(outline + 1, f"{label or ''} {text}" if inked else "")
        elif label is None:
            self.builder.paragraph(text)
        else:
            mark = f"{label} " if label else "- "
            self.builder.item(text, depth=max(level, depth), mark=mark)

    def _kind(self, settings: Element | None) -> tuple[int, str, int, int]:
        """The outline level from 0, or -1; the list's id, or empty; the level in it; its depth."""
        key = self._default
        if settings is not None:
            key = attribute(under(settings, "w:pStyle"), "val", key)
        style = self._inherited.get(key)
        if style is None:
            style = self._inherited[key] = self._inherit(key)
        outline, (list_id, level) = _outline(settings), _list_of(settings)
        outline = outline if outline >= 0 else style.outline
        list_id = list_id or style.list_id
        level = min(max(level if level >= 0 else style.list_level, 0), _LEVELS - 1)
        return outline, list_id if list_id != "0" else "", level, style.depth

    def _inherit(self, key: str) -> _Style:
        """A style with what the styles it is based on say."""
        outline = level = -1
        list_id, depth = "", 0
        for _ in range(_DEEPEST_STYLE):  # a style may be based on itself
            style = self._styles.get(key)
            if style is None:
                outline = outline if outline >= 0 else _named_level("", key)
                break
            outline = outline if outline >= 0 else style.outline
            list_id = list_id or style.list_id
            level = level if level >= 0 else style.list_level
            depth = max(depth, style.depth)
            key = style.based
        return _Style("", outline, list_id, level, depth)

    def _table(self, table: Element) -> None:
        rows = [
            self._cells(row)
            for row in inside(table, ("w:tr",), _UNWRAPPED)
            if under(row, "w:trPr", "w:del") is None
        ]
        alone = len(rows) == 1 and len(rows[0]) == 1
        tops = [top for row in rows for cell in row for top in cell]
        if alone or holds_table(table, tops, _BLOCKS, _SKIPPED):
            # A frame or a layout: its cells hold whole blocks.
            for top in tops:
                self.blocks(top)
            return
        self.builder.table([[self._cell_text(cell) for cell in row] for row in rows])

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

    def _cell_text(self, cell: list[Element]) -> str:
        return "\n".join(
            self._text(block) for top in cell for block in inside(top, _BLOCKS, _SKIPPED)
        )

    def _text(self, paragraph: Element) -> str:
        """The text of a paragraph; its text boxes are put aside."""
        pieces: list[str] = []
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
            elif tag in _SKIPPED or (tag == "w:r" and _is_hidden(element)):
                continue
            elif tag in ("w:footnoteReference", "w:endnoteReference"):
                cited = (tag[2:-9], attribute(element, "id"))
                if cited[1] in self._found[cited[0]]:
                    number = self._cited.setdefault(cited, len(self._order) + 1)
                    if number > len(self._order):
                        self._order.append(cited)
                    pieces.append(f"[{number}]")
            elif tag == "w:txbxContent":
                self._boxes.append(element)
            else:
                self._inline(element, pieces)


def _symbol(code: str, font: str) -> str:
    """A character put in by its number in a font; U+FFFD for one that is only a picture."""
    number = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{1,4}", code) else 0
    if font.lower() == "symbol":
        number &= 0xFF
        letter = _GREEK.get(chr(number).lower(), "")
        letter = letter.upper() if chr(number).isupper() else letter
        return letter or _SYMBOLS.get(number, "\ufffd")
    return chr(number) if 0x20 <= number < 0xD800 else "\ufffd"


class _Numbering:
    """The labels of lists, counted as Word counts them."""

    def __init__(self, root: Element | None = None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}
        self._lists: dict[str, str] = {}
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if root is None:
            return
        for abstract in root.iter("w:abstractNum"):
            self._levels[attribute(abstract, "abstractNumId")] = _levels_of(abstract)
        for concrete in root.iter("w:num"):
            key = attribute(concrete, "numId")
            self._lists[key] = attribute(under(concrete, "w:abstractNumId"), "val")
            for changed in concrete.iter("w:lvlOverride"):
                start = under(changed, "w:startOverride")
                level = whole_number(attribute(changed, "ilvl"))
                own = f"list {key}"
                base = self._levels.get(self._lists[key], {})
                # A list that starts anew counts for itself.
                self._levels[own] = {**base, **_levels_of(changed)}
                if start is not None and level in self._levels[own]:
                    form, text, _ = self._levels[own][level]
                    begun = whole_number(attribute(start, "val"), 1)
                    self._levels[own][level] = (form, text, begun)
                self._lists[key] = own

    def label(self, list_id: str, level: int) -> str | None:
        """What stands before the next item: ``3.2.``; empty for a bullet; None without a list."""
        key = self._lists.get(list_id)
        if key is None:
            return None
        levels, counts = self._levels.get(key, {}), self._counts[key]
        form, text, start = levels.get(level, ("bullet", "", 1))
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if form == "none" and not text.strip():
            return None
        if form == "bullet":
            return ""
        for other in range(level + 1):
            if f"%{other + 1}" in text:
                other_form, _, begun = levels.get(other, ("decimal", "", 1))
                text = text.replace(f"%{other + 1}", numeral(counts.get(other, begun), other_form))
        return text.strip()


def _levels_of(abstract: Element) -> dict[int, tuple[str, str, int]]:
    """For each level of a list its number format, its text such as ``%1.`` and its start."""
    return {
        whole_number(attribute(level, "ilvl")): (
            attribute(under(level, "w:numFmt"), "val", "decimal"),
            attribute(under(level, "w:lvlText"), "val"),
            whole_number(attribute(under(level, "w:start"), "val"), 0),
        )
        for level in abstract.iter("w:lvl")
    }


def _outline(settings: Element | None) -> int:
    """The outline level that settings say, from 0, 9 for body text; -1 without."""
    if settings is None:
        return -1
    return whole_number(attribute(under(settings, "w:outlineLvl"), "val"), -1, most=_LEVELS)


def _list_of(settings: Element | None) -> tuple[str, int]:
    """The list and the level in it that settings say."""
    found = under(settings, "w:numPr") if settings is not None else None
    if found is None:
        return "", -1
    level = whole_number(attribute(under(found, "w:ilvl"), "val"), -1)
    return attribute(under(found, "w:numId"), "val"), level


def _named_level(name: str, key: str) -> int:
    """The outline level in the name of a style, or in its id where it has no name."""
    named = (name or key).lower().replace(" ", "")
    if named == "title":
        return 0
    if named.startswith("heading"):
        return whole_number(named[7:], 0, most=_LEVELS) - 1
    return -1


def _named_depth(name: str) -> int:
    """How deep a style's name says its list is: 1 for ``List Bullet 2``."""
    begin, _, number = name.rpartition(" ")
    if begin in ("list bullet", "list number"):
        return max(0, whole_number(number, 1, most=_LEVELS) - 1)
    return 0


def _is_hidden(run: Element) -> bool:
    """Whether a run is hidden text."""
    found = under(run, "w:rPr", "w:vanish")
    return found is not None and attribute(found, "val", "1") not in ("0", "false", "off")
