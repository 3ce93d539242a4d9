"""Excel files: each visible sheet as tables whose rows keep their numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain, repeat
from types import MappingProxyType
from typing import NamedTuple
from xml.etree.ElementTree import Element

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.archives import Archive, holds_member, open_archive
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.office import (
    attribute,
    main_part,
    office_meta,
    read_main,
    read_xml,
    relation_id,
    relations,
    tell_xml,
    whole_number,
)
from spanwise.loaders.xml_names import ShortNames

__all__ = ["XlsxLoader"]

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_MAIN = "xl/workbook.xml"

# One cell in A1 and one in XFD1048576 make 17 thousand million; a text names one string often.
_MOST_CELLS = 20_000_000
_MOST_TEXT = 256_000_000
_LAST_ROW, _LAST_COLUMN = 1_048_576, 16_384

# One blank row divides the rows of a table, two divide tables.
_BLANK_ROWS_INSIDE = 1

_Rows = dict[int, dict[int, str]]
_BLANK: Mapping[int, str] = MappingProxyType({})

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CELL = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
# What a number format shows as it is, and colours and places; `[h]`, `[m]` and `[s]` stay.
_QUOTED = re.compile(r'"[^"]*"|\\.|[_*].|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_DATES, _TIMES = frozenset("yd"), frozenset("hs[")
# The formats that Excel knows by number and does not write down.
_BUILT_IN = {9: "0%", 10: "0%", 22: "d h", 46: "[h]"}
_BUILT_IN |= dict.fromkeys((*range(14, 18), *range(27, 37), *range(50, 59)), "d")
_BUILT_IN |= dict.fromkeys((*range(18, 22), 45, 47), "h")


@dataclass(frozen=True, slots=True)
class XlsxLoader:
    """Reads Excel files; hidden sheets are left out and named in ``meta["hidden_sheets"]``."""

    name: str = "XLSX"
    suffixes: tuple[str, ...] = (".xlsx", ".xlsm", ".xltx", ".xltm")

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix says so, or it is a ZIP archive with an Excel workbook inside."""
        return raw.suffix in self.suffixes or holds_member(raw, _MAIN)

    def load(self, raw: Raw) -> Document:
        """A part for each sheet and in it one for each row, numbered as in the sheet.

        Cells hold what was last calculated, dates as ISO says, a formula where there is no
        value. Two blank rows divide tables; columns without anything are left out.
        """
        archive = open_archive(raw)
        path = main_part(archive, _MAIN)
        root = read_main(archive, path, "x:workbook")
        links = relations(archive, path)
        book = _read_book(archive, links, root)
        builder, writer = Builder(), _Writer(raw.name)
        hidden: list[str] = []
        for sheet in root.iter("x:sheet"):
            name = attribute(sheet, "name")
            kind, member = links.get(relation_id(sheet), ("", ""))
            if attribute(sheet, "state", "visible") != "visible":
                hidden.append(name)
            elif kind == "worksheet":
                cells = _Cells(book)
                tell_xml(archive, member, cells)
                with builder.part("sheet", name):
                    writer.write(builder, cells.rows)
        meta: dict[str, object] = dict(office_meta(archive))
        if hidden:
            meta["hidden_sheets"] = tuple(hidden)
        return builder.document(uri=raw.uri, media_type=_MEDIA_TYPE, meta=meta)


class _Writer:
    """Writes the tables of sheets, within limits for the whole file."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._cells_left = _MOST_CELLS
        self._text_left = _MOST_TEXT

    def write(self, builder: Builder, rows: _Rows) -> None:
        """Write the rows of a sheet as one table or several."""
        numbers = sorted(rows)
        begin = 0
        for at in range(1, len(numbers) + 1):
            if at == len(numbers) or numbers[at] - numbers[at - 1] > _BLANK_ROWS_INSIDE + 1:
                self._table(builder, rows, numbers[begin:at])
                begin = at

    def _table(self, builder: Builder, rows: _Rows, numbers: list[int]) -> None:
        inked = [rows[number] for number in numbers]
        columns = sorted(set().union(*inked))
        first, last = numbers[0], numbers[-1]
        self._cells_left -= (last - first + 1) * len(columns)
        self._text_left -= sum(sum(map(len, row.values())) for row in inked)
        if self._cells_left < 0 or self._text_left < 0:
            raise LoadError(
                f"{self._name}: its sheets make a text of over {_MOST_CELLS} cells or "
                f"{_MOST_TEXT} characters, more than is written; divide the file"
            )
        table = [
            list(map(rows.get(number, _BLANK).get, columns, repeat("")))
            for number in range(first, last + 1)
        ]
        builder.table(table, part="row", labels=[*map(str, range(first, last + 1))])


class _Book(NamedTuple):
    """What the cells of a workbook refer to."""

    names: ShortNames
    strings: list[str]
    formats: list[_Format]
    from_1904: bool


def _read_book(archive: Archive, links: Mapping[str, tuple[str, str]], root: Element) -> _Book:
    """The strings and formats of a workbook, and from when it counts its days."""
    epoch = attribute(next(root.iter("x:workbookPr"), None), "date1904")
    book = _Book(archive.names, [], [], epoch in ("1", "true"))
    for kind, member in links.values():
        if kind == "sharedStrings":
            book.strings.clear()
            tell_xml(archive, member, _Cells(book))
        elif kind == "styles":
            book = book._replace(formats=_formats_of(read_xml(archive, member)))
    return book


class _Cells:
    """The rows of a sheet, or the shared strings, as they are read tag by tag.

    A sheet has millions of elements of three kinds; its tree would take longer than the rest.
    """

    def __init__(self, book: _Book) -> None:
        self.rows: _Rows = {}  # for each row that holds anything its cells, by numbers from 1
        self._names, self._strings, self._formats, self._from_1904 = book
        self._shown: dict[str, _Format] = {}  # the format of each style met so far
        self._columns: dict[str, int] = {}  # by their letters, those met so far
        self._pieces: list[str] = []  # of the text since the last tag
        self.data = self._pieces.append
        self._runs: list[str] = []  # of the string that is open
        self._is_phonetic = False  # how the string is read aloud, which is no text of it
        self._row = self._column = 0
        self._row_name = ""
        self._found: dict[int, str] = {}
        self._kind = self._style = self._written = self._formula = self._inline = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """A row, a cell, or what is in one."""
        if self._pieces:
            self._pieces.clear()
        name = self._names[tag]
        if name == "x:c":
            reference = attributes.get("r", "")
            # A cell is called by its column and then the number of its row.
            letters = reference.removesuffix(self._row_name)
            self._column = self._columns.get(letters) or self._column_of(reference)
            self._kind = attributes.get("t") or "n"
            self._style = attributes.get("s", "")
            self._written = self._formula = self._inline = ""
        elif name == "x:row":
            self._row = whole_number(attributes.get("r", ""), self._row + 1)
            self._row_name = str(self._row)
            self._column, self._found = 0, {}
        elif name in ("x:is", "x:si"):
            self._runs.clear()
        elif name == "x:rPh":
            self._is_phonetic = True

    def end(self, tag: str) -> None:
        """What was said between the last two tags, a cell or a row.

        It is taken once: elements of one kind inside each other would else multiply it.
        """
        name = self._names[tag]
        if name == "x:c":
            text = self._text() if self._kind else ""
            if text and not text.isspace() and self._column <= _LAST_COLUMN:
                self._found[self._column] = text
            self._kind = ""  # no cell is open
        elif name == "x:v":
            self._written = "".join(self._pieces)
            self._pieces.clear()
        elif name == "x:t":
            if not self._is_phonetic:
                self._runs += self._pieces
            self._pieces.clear()
        elif name == "x:is":
            self._inline = self._string()
        elif name == "x:si":
            self._strings.append(self._string())
        elif name == "x:row":
            if self._found and 0 < self._row <= _LAST_ROW:
                self.rows.setdefault(self._row, {}).update(self._found)
            self._found = {}
        elif name == "x:f":
            self._formula = "".join(self._pieces)
            self._pieces.clear()
        elif name == "x:rPh":
            self._is_phonetic = False

    def _string(self) -> str:
        """The text of the string that ends."""
        text = _unescaped("".join(self._runs))
        self._runs.clear()
        return text

    def _text(self) -> str:
        """The text of the cell that ends."""
        kind, written = self._kind, self._written
        if kind == "inlineStr" and self._inline:
            return self._inline
        if not written:
            return f"={self._formula}" if self._formula else ""
        if kind == "n":
            shown_as = self._shown.get(self._style)
            if shown_as is None:
                style = whole_number(self._style)
                shown_as = self._formats[style] if style < len(self._formats) else _PLAIN
                self._shown[self._style] = shown_as
            return _number(written, shown_as, self._from_1904)
        if kind == "s":
            at = whole_number(written, -1)
            return self._strings[at] if 0 <= at < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if written.strip() == "1" else "FALSE"
        return _unescaped(written)

    def _column_of(self, reference: str) -> int:
        """The number of a cell's column, from 1: 28 for ``AB7``; without one the next."""
        found = _CELL.fullmatch(reference)
        if not found:
            return self._column + 1
        number = 0
        for letter in found[1]:
            number = number * 26 + ord(letter) - ord("A") + 1
        self._columns[found[1]] = number
        return number


def _unescaped(text: str) -> str:
    """A text with ``_x000D_`` and its like read; halves of a pair stay as they are."""
    if "_x" not in text:
        return text

    def read(found: re.Match[str]) -> str:
        code = int(found[1], 16)
        return found[0] if 0xD800 <= code < 0xE000 else chr(code)

    return _ESCAPE.sub(read, text)


class _Format(NamedTuple):
    """How a cell style shows numbers."""

    has_date: bool = False
    has_time: bool = False
    adds_up: bool = False  # hours beyond 24
    percent: bool = False
    digits: int = 0  # whole numbers have so many at the least, as postal codes do


_PLAIN = _Format()


def _formats_of(styles: Element) -> list[_Format]:
    """For each cell style how it shows numbers."""
    codes = dict(_BUILT_IN)
    # Conditional formats hold codes too, under numbers of their own.
    for written in chain.from_iterable(styles.iter("x:numFmts")):
        code = _QUOTED.sub("", attribute(written, "formatCode"))
        codes[whole_number(attribute(written, "numFmtId"))] = code.partition(";")[0]
    return [
        _format(codes.get(whole_number(attribute(style, "numFmtId")), "").lower())
        for table in styles.iter("x:cellXfs")
        for style in table
    ]


def _format(code: str) -> _Format:
    """A number format, without what it shows as it is and in small letters."""
    has_date, has_time = not _DATES.isdisjoint(code), not _TIMES.isdisjoint(code)
    if code.startswith("general"):
        has_date = has_time = False
    # `m` alone is a month, as in `mmm`.
    has_digits = "0" in code or "#" in code
    has_date = has_date or ("m" in code and not has_time and not has_digits)
    digits = len(code) if code.strip("0") == "" else 0
    return _Format(has_date, has_time, "[" in code, "%" in code, digits)


def _number(written: str, shown_as: _Format, from_1904: bool) -> str:
    """A number, date, time or percentage as a person reads it."""
    try:
        value = float(written)
    except ValueError:
        return written
    if not abs(value) < 1e300:
        return written
    if shown_as.has_date or shown_as.has_time:
        moment = _moment(value, shown_as, from_1904)
        if moment:
            return moment
    if shown_as.percent:
        return f"{_plain(value * 100)}%"
    if abs(value) >= 1e15 and written.strip().removeprefix("-").isdecimal():
        return written.strip()  # other programs than Excel write all digits of an id
    if shown_as.digits and value.is_integer():
        return _plain(value).zfill(shown_as.digits + (value < 0))
    return _plain(value)


def _plain(value: float) -> str:
    """A number with the 15 digits that Excel keeps, and no needless point.

    >>> _plain(3.0), _plain(0.1 + 0.2), _plain(1e16)
    ('3', '0.3', '10000000000000000')
    """
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value)) if abs(value) < 1e15 else f"{Decimal(f'{value:.15g}'):f}"
    return f"{value:.15g}"


def _moment(value: float, shown_as: _Format, from_1904: bool) -> str:
    """A date, a time or both; empty where Excel has none."""
    if not 0 <= value < 3_000_000:
        return ""
    seconds = round(value * 86_400)
    if not shown_as.has_time:
        # The last second of a day is still of that day; less is what a float cannot tell.
        seconds = int(value + 1e-8) * 86_400
    if not shown_as.has_date and (shown_as.adds_up or value < 1):
        minutes, second = divmod(seconds, 60)
        return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}"
    # Excel counts a 29 February 1900 that never was; from 1 March on it is one day ahead.
    start = datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30 if value >= 60 else 31)
    try:
        moment = start + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    if not shown_as.has_time:
        return moment.date().isoformat()
    return moment.isoformat(" ") if shown_as.has_date else moment.time().isoformat()
