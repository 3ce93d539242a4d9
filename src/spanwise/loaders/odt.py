"""OpenDocument texts: headings, paragraphs, lists, tables and notes in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.archives import Archive, open_archive
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.odt_styles import OUTLINE, Styles
from spanwise.loaders.office import (
    attribute,
    holds_table,
    inside,
    named_meta,
    numeral,
    read_main,
    read_xml,
    whole_number,
)

__all__ = ["OdtLoader"]

_MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
_MAIN, _STYLES, _META, _MANIFEST = "content.xml", "styles.xml", "meta.xml", "META-INF/manifest.xml"
# The first member is stored, not compressed, for programs that look at how a file begins.
_BEGINS = b"mimetype" + _MEDIA_TYPE.encode()
_HEAD = 200

# A file may say that a space, a cell or a row comes a billion times.
_MOST_SPACES = 1000
_MOST_REPEATED = 64
_MOST_CELLS = 4_000_000

_SKIPPED = frozenset(
    (
        *("text:tracked-changes", "text:ruby-text", "text:note-citation", "office:annotation"),
        *("office:annotation-end", "office:forms", "office:event-listeners"),
        *("svg-compatible:title", "svg-compatible:desc", "text:sequence-decls"),
        *("text:variable-decls", "text:user-field-decls"),
    )
)
_BLOCKS = frozenset(("text:p", "text:h", "text:list", "table:table"))
_WHITE = re.compile(r"[\t\r\n][ \t\r\n]*| [ \t\r\n]+")  # a space alone stays


@dataclass(frozen=True, slots=True)
class OdtLoader:
    """Reads OpenDocument texts; comments, page headers and deleted text are left out."""

    name: str = "ODT"
    suffixes: tuple[str, ...] = (".odt", ".ott")

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix or the first member says so."""
        return raw.suffix in self.suffixes or (
            raw.data.startswith(b"PK\x03\x04") and _BEGINS in raw.data[:_HEAD]
        )

    def load(self, raw: Raw) -> Document:
        """The text with its headings; footnotes and endnotes stand at its end, as ``[1]``."""
        archive = open_archive(raw)
        if _MANIFEST in archive and b"encryption-data" in archive.read(_MANIFEST):
            raise LoadError(
                f"{raw.name}: it has a password, and none is asked for; save a copy without one"
            )
        root = read_main(archive, _MAIN, "office:document-content")
        reader = _Reader(archive, root)
        for body in root.iter("office:text"):
            reader.blocks(body)
            break
        reader.notes()
        meta = _meta_of(archive)
        return reader.builder.document(uri=raw.uri, media_type=_MEDIA_TYPE, meta=meta)


def _meta_of(archive: Archive) -> dict[str, str]:
    if _META not in archive:
        return {}
    return named_meta(
        read_xml(archive, _META).iter(),
        title="title",
        initial_creator="author",
        creator="author",
        creation_date="created",
        date="modified",
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """How a list style labels the items of one depth."""

    has_numbers: bool
    start: int
    form: str
    shown_levels: int
    prefix: str
    suffix: str


def _level(element: Element) -> _Level:
    return _Level(
        element.tag in ("text:list-level-style-number", "text:outline-level-style"),
        whole_number(attribute(element, "start-value"), 1),
        attribute(element, "num-format"),
        max(1, whole_number(attribute(element, "display-levels"), 1, most=10)),
        attribute(element, "num-prefix"),
        attribute(element, "num-suffix"),
    )


# A block of a list, its depth and its mark: ``- `` or ``2. ``.
_Item = tuple[Element, int, str]


@dataclass(slots=True)
class _List:
    """A list that is being written, and how far its levels have counted."""

    style: str
    counts: dict[int, int] = field(default_factory=dict)


class _Reader:
    """Writes the blocks of one file."""

    def __init__(self, archive: Archive, root: Element) -> None:
        self.builder = Builder()
        self._archive = archive
        self._cells_left = _MOST_CELLS
        self._notes: list[Element] = []
        self._boxes: list[Element] = []
        self._lists: dict[str, _List] = {}
        self._last: dict[str, _List] = {}
        self._chapters = _List(OUTLINE)
        self._levels: dict[tuple[str, int], _Level] = {}
        self._styles = Styles()
        roots = [read_xml(archive, _STYLES)] if _STYLES in archive else []
        for styles in (style for each in (*roots, root) for style in each):
            if styles.tag in ("office:styles", "office:automatic-styles"):
                self._read_styles(styles)
        self._styles.drop_hidden(root)
        # Most files have chapters without numbers, and say so of each level.
        self._has_chapters = any(
            level.form for (name, _), level in self._levels.items() if name == OUTLINE
        )

    def _read_styles(self, styles: Element) -> None:
        for style in styles:
            name = attribute(style, "name")
            if style.tag == "style:style":
                self._styles.add(style)
            elif style.tag in ("text:list-style", "text:outline-style"):
                name = name if style.tag == "text:list-style" else OUTLINE
                for level in style:
                    depth = whole_number(attribute(level, "level"), 1) - 1
                    self._levels[name, depth] = _level(level)

    def blocks(self, parent: Element) -> None:
        """Write the blocks in an element, and the text boxes below each."""
        for block in inside(parent, _BLOCKS, _SKIPPED):
            if block.tag == "text:list":
                self._list(block)
            elif block.tag == "table:table":
                self._table(block)
            elif block.tag == "text:h":
                self._heading(block, self._chapter(block))
            else:
                self.builder.paragraph(self._text(block))
            if self._boxes:
                self._write_boxes()

    def notes(self) -> None:
        """Write the notes in the order the text refers to them."""
        at = 0
        self.builder.apart()
        while at < len(self._notes):
            note = self._notes[at]
            at += 1
            kind = attribute(note, "note-class", "footnote")
            text = "\n".join(self._lines(note))
            start = self.builder.paragraph(f"[{at}] {text.strip()}")
            self.builder.note(kind, str(at), start, self.builder.position)

    def _write_boxes(self) -> None:
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self.blocks(box)

    def _heading(self, block: Element, mark: str) -> None:
        level = whole_number(attribute(block, "outline-level"), 1)
        text = self._text(block)
        self.builder.heading(level, mark + text if text else "")

    def _list(self, block: Element) -> None:
        for entry, depth, mark in self._items(block, None, 0):
            if entry.tag == "table:table":
                self._table(entry)
            elif entry.tag == "text:h":
                self._heading(entry, mark)
            else:
                self.builder.item(self._text(entry), depth=depth, mark=mark)
            if self._boxes:
                self._write_boxes()

    def _lines(self, parent: Element) -> Iterator[str]:
        """The paragraphs of a cell or a note with their marks; numbers without text are shown."""
        for block in inside(parent, _BLOCKS, _SKIPPED):
            if block.tag == "text:list":
                for entry, _, mark in self._items(block, None, 0):
                    if entry.tag == "table:table":
                        yield from self._lines(entry)
                    else:
                        text = self._text(entry)
                        yield mark + text if mark != "- " or text else ""
            elif block.tag == "table:table":
                yield from self._lines(block)
            elif block.tag == "text:h":
                yield self._chapter(block) + self._text(block)
            else:
                yield self._text(block)

    def _items(self, block: Element, outer: _List | None, depth: int) -> Iterator[_Item]:
        """The paragraphs and tables of a list, each with its depth and mark."""
        style = attribute(block, "style-name") or (outer.style if outer else "")
        goes_on = attribute(block, "continue-numbering") == "true"
        if outer is not None:
            state = outer if style == outer.style else _List(style)
            if not goes_on:
                state.counts.pop(depth, None)
        else:
            state = self._lists.get(attribute(block, "continue-list"), _List(style))
            if goes_on:
                state = self._last.get(style, state)
            self._last[style] = state
        key = attribute(block, "id")
        if key:
            self._lists[key] = state
        for entry in block:
            if entry.tag in ("text:list-item", "text:list-header"):
                yield from self._entry(entry, state, depth)

    def _entry(self, entry: Element, state: _List, depth: int) -> Iterator[_Item]:
        """The first paragraph of an item with a mark, and the others, which stand below it."""
        label = None
        for block in inside(entry, _BLOCKS, _SKIPPED):
            if block.tag == "text:list":
                yield from self._items(block, state, depth + 1)
            elif block.tag == "table:table":
                yield block, depth, ""
            elif entry.tag == "text:list-header" or label is not None:
                yield block, depth + 1, ""
            else:
                label = self._label(entry, state, depth)
                bullet = "" if block.tag == "text:h" else "- "
                yield block, depth, f"{label} " if label else bullet

    def _chapter(self, block: Element) -> str:
        """What stands before a heading that is in no list: ``3.2 ``; nothing without a number."""
        if (
            not self._has_chapters
            or attribute(block, "is-list-header") == "true"
            or self._styles.is_plain(attribute(block, "style-name"))
        ):
            return ""
        depth = whole_number(attribute(block, "outline-level"), 1) - 1
        if attribute(block, "restart-numbering") == "true":
            self._chapters.counts.pop(depth, None)
        label = self._label(block, self._chapters, depth)
        return f"{label} " if label else ""

    def _label(self, entry: Element, state: _List, depth: int) -> str:
        """What stands before an item: ``3.2.``; empty for a bullet."""
        level = self._levels.get((state.style, depth))
        if level is None or not level.has_numbers:
            return ""
        for deeper in [other for other in state.counts if other > depth]:
            del state.counts[deeper]
        around = [self._levels.get((state.style, at), level) for at in range(depth)]
        for at, other in enumerate(around):
            state.counts.setdefault(at, other.start)  # LibreOffice counts what is passed over
        state.counts[depth] = state.counts.get(depth, level.start - 1) + 1
        begun = attribute(entry, "start-value")
        if begun:
            state.counts[depth] = whole_number(begun, 1)
        if not level.form:
            return ""
        numbers = [
            numeral(state.counts[at], other.form)
            for at, other in enumerate((*around, level))
            if other.form and at > depth - level.shown_levels
        ]
        return f"{level.prefix}{'.'.join(numbers)}{level.suffix}".strip()

    def _table(self, table: Element) -> None:
        rows = list(_below(table, "table:table-row"))
        cells = list(map(_cells, rows))
        tops = [cell for row in cells for cell in row if cell is not None]
        if len(tops) == 1 or holds_table(table, tops, _BLOCKS, _SKIPPED):
            # A frame or a layout: its cells hold whole blocks.
            for cell in tops:
                self.blocks(cell)
            return
        written: list[list[str]] = []
        for row, row_cells in zip(rows, cells, strict=True):
            texts = ["" if cell is None else "\n".join(self._lines(cell)) for cell in row_cells]
            times = whole_number(attribute(row, "number-rows-repeated"), 1, most=_MOST_REPEATED)
            self._cells_left -= len(texts) * times
            if self._cells_left < 0:
                raise LoadError(
                    f"{self._archive.name}: its tables have over {_MOST_CELLS} cells, more than is "
                    "written; divide it"
                )
            written.extend([texts] * times)
        self.builder.table(written)

    def _text(self, paragraph: Element) -> str:
        """The text of a paragraph; its text boxes and notes are put aside."""
        if not len(paragraph):
            return _collapsed(paragraph.text or "").strip()
        pieces: list[str] = []
        self._inline(paragraph, pieces)
        return "".join(pieces).strip()

    def _inline(self, parent: Element, pieces: list[str]) -> None:
        if parent.text:
            pieces.append(_collapsed(parent.text))
        for element in parent:
            tag = element.tag
            if tag == "text:s":
                count = whole_number(attribute(element, "c"), 1, most=_MOST_SPACES)
                pieces.append(" " * count)
            elif tag == "text:tab":
                pieces.append("\t")
            elif tag == "text:line-break":
                pieces.append("\n")
            elif tag == "text:note":
                self._notes.append(element)
                pieces.append(f"[{len(self._notes)}]")
            elif tag in _BLOCKS:  # a text box, or a shape with text in it
                self._boxes.append(parent)
                return
            elif tag not in _SKIPPED:
                self._inline(element, pieces)
            if element.tail:
                pieces.append(_collapsed(element.tail))


def _collapsed(text: str) -> str:
    """A text with each run of white space as one space."""
    if text.isprintable() and "  " not in text:
        return text
    return _WHITE.sub(" ", text)


def _below(parent: Element, tag: str) -> Iterator[Element]:
    """The rows of a table, through its groups of rows."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag.startswith("table:table-"):
            yield from _below(child, tag)


def _cells(row: Element) -> list[Element | None]:
    """The cells of a row, None where another covers it."""
    cells: list[Element | None] = []
    for cell in row:
        times = whole_number(attribute(cell, "number-columns-repeated"), 1, most=_MOST_REPEATED)
        if cell.tag == "table:table-cell":
            again = cell if len(cell) else None
            cells += [cell, *[again] * (times - 1)]
        elif cell.tag == "table:covered-table-cell":
            cells += [None] * times
    return cells
