"""Files of records: CSV, TSV, JSON, JSON Lines, logs. The text is the file's own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, compress, count, repeat
from operator import add, contains, itemgetter, mul, ne, sub
from typing import Any, ClassVar, NamedTuple

from spanwise.cutting.spans import WHITE
from spanwise.documents import Document
from spanwise.loaders.base import Raw
from spanwise.loaders.json_items import json_items, json_problem
from spanwise.loaders.text import decode, media_type_of, own_encoding
from spanwise.parts import Parts

__all__ = [
    "SAMPLE",
    "CsvLoader",
    "JsonLinesLoader",
    "JsonLoader",
    "LogLoader",
    "first_row",
    "next_line",
    "next_row",
    "row_header",
    "rows_opening",
]

# What the delimiter of a `.csv` is told from, in code points.
SAMPLE = 65_536

# A quoted field that is longer is one whose quote was never closed: the limit of Python's csv.
_LONGEST_FIELD = 131_072

# Every chunk carries the meta of its document, so the rows reported there are few.
_REPORTED = 20
_LONGEST_HEADER = 10_000

_DELIMITERS = (",", ";", "\t", "|")
# The line by which Excel is told the delimiter; it is no row of the table.
_DECLARED = re.compile(rf"\ufeff?sep=([{''.join(_DELIMITERS)}])(?:\r\n?|\n)")
_LINE_END = re.compile(r"\r\n?|\n")
_STOPS = {each: re.compile(rf"{re.escape(each)}|\r\n?|\n") for each in _DELIMITERS}

_Row = tuple[int, int, int, bool]


def next_line(text: str, at: int, final: bool = True) -> tuple[int, int] | None:
    """Where the line from ``at`` ends and the next begins.

    None while that is not certain, because more text is to come (``final`` is false).
    """
    found = _LINE_END.search(text, at)
    if not final and (found is None or found.end() == len(text)):
        return None
    return found.span() if found else (len(text), len(text))


def next_row(text: str, at: int, delimiter: str, final: bool = True) -> _Row | None:
    """Where the row from ``at`` ends, where the next begins, its fields, a quote left open.

    Line ends in quotes are part of the row and a doubled quote is one quote; a quote inside an
    unquoted field is a letter like others. A quote that is not closed within 131,072 characters
    is one too, and the row ends with its line. None while that is not certain, because more
    text is to come (``final`` is false).
    """
    line = next_line(text, at, final)
    if line is None or text.find('"', at, line[0]) < 0:
        return line and (*line, text.count(delimiter, at, line[0]) + 1, False)
    stops, length = _STOPS[delimiter], len(text)
    fields = 1
    while True:
        if text[at : at + 1] == '"':
            furthest = at + 1 + _LONGEST_FIELD
            quote = text.find('"', at + 1, furthest)
            while quote >= 0 and text[quote + 1 : quote + 2] == '"':
                quote = text.find('"', quote + 2, furthest)
            if not final and (length < furthest if quote < 0 else quote + 1 == length):
                return None
            if quote < 0:
                line = next_line(text, at, final)
                return line and (*line, fields + text.count(delimiter, at, line[0]), True)
            at = quote + 1
        stop = stops.search(text, at)
        if stop is None or stop.end() == length:
            if not final:
                return None
            if stop is None:
                return length, length, fields, False
        if text[stop.start()] != delimiter:
            return *stop.span(), fields, False
        fields += 1
        at = stop.end()


def rows_opening(text: str, suffix: str) -> tuple[str, int]:
    """The delimiter of a text of rows, and where its header may begin.

    What a first line such as ``sep=;`` says, as Excel writes it, which the header comes after;
    else a tab by the suffix ``.tsv``, or what the rows show.
    """
    declared = _DECLARED.match(text)
    if declared:
        return declared[1], declared.end()
    return "\t" if suffix == ".tsv" else _sniffed(text), 0


def _sniffed(text: str) -> str:
    """The delimiter of a text of rows: comma, semicolon, tab or bar.

    Of the first 65,536 characters: the one by which the most characters lie in rows of as many
    fields as the first, two at least; of equals the one with more fields, then the first of
    these four. Comma when there is none.
    """
    sample, final = text[:SAMPLE], len(text) <= SAMPLE
    best, chosen = (0, 0), _DELIMITERS[0]
    for delimiter in _DELIMITERS:
        row = next_row(sample, 0, delimiter, final)
        first = row[2] if row else 0
        if first > 1:
            rows = _rows(sample, delimiter, final)
            sizes = map(sub, rows.ends, rows.starts)
            agreeing = sum(compress(sizes, map(first.__eq__, rows.fields)))
            if (agreeing, first) > best:
                best, chosen = (agreeing, first), delimiter
    return chosen


class _Rows(NamedTuple):
    """Rows that are not blank, as columns; of those with an open quote only the starts."""

    numbers: Sequence[int]
    starts: list[int]
    ends: list[int]
    fields: list[int]
    unclosed: set[int]

    def without_first(self) -> _Rows:
        """All rows but the first."""
        numbers, starts, ends, fields, unclosed = self
        return _Rows(numbers[1:], starts[1:], ends[1:], fields[1:], unclosed)


def _rows(text: str, delimiter: str, final: bool = True) -> _Rows:
    """The rows as `next_row` finds them, but all at once where no quote is in doubt."""
    plain = _without_quoted(text, delimiter)
    starts, ends, lines = _lines(plain or text)
    if plain and max(map(len, lines)) > _LONGEST_FIELD:
        plain = ""
        starts, ends, lines = _lines(text)
    fields = [found + 1 for found in map(str.count, lines, repeat(delimiter))]
    known = len(lines) if final else len(lines) - 1
    doubtful = () if plain else compress(count(), map(contains, lines, repeat('"')))
    unclosed: set[int] = set()
    following = 0
    for i in doubtful:
        if starts[i] < following:
            continue
        row = next_row(text, starts[i], delimiter, final)
        if row is None:
            known = i
            break
        ends[i], following, fields[i], is_open = row
        inside = bisect_left(starts, following) - i - 1
        fields[i + 1 : i + 1 + inside] = repeat(0, inside)  # these lines are no rows
        if is_open:
            unclosed.add(starts[i])
    if final and not following and all(lines):
        return _Rows(range(1, len(lines) + 1), starts, ends, fields, unclosed)
    kept = list(map(mul, map(ne, starts[:known], ends), fields))
    numbers = list(compress(accumulate(map(min, fields, repeat(1))), kept))
    starts, ends, fields = (list(compress(each, kept)) for each in (starts, ends, fields))
    return _Rows(numbers, starts, ends, fields, unclosed)


def _without_quoted(text: str, delimiter: str) -> str:
    """The text with blanks for what quotes hold; empty where a quote may be no mark of a field."""
    between = text.split('"')
    before = set(map(itemgetter(slice(-1, None)), between[:-1:2]))
    # Nothing before a quote: it is the first character, or the second of two in a field.
    if len(between) % 2 == 0 or not before <= {"", delimiter, "\r", "\n"}:
        return ""
    between[1::2] = map(" ".__mul__, map(len, between[1::2]))
    return '"'.join(between)


def _lines(text: str) -> tuple[list[int], list[int], list[str]]:
    """Where lines start and end, and the lines."""
    found = _LINE_END.search(text)
    line_end = found[0] if found else "\n"
    lines = text.split(line_end)
    same = len(lines) - 1
    if text.count("\r") + text.count("\n") > same * len(line_end):
        spans = [found.span() for found in _LINE_END.finditer(text)]
        starts = [0, *(end for _, end in spans)]
        ends = [*(start for start, _ in spans), len(text)]
        lines = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    else:
        sizes = list(map(len, lines))
        following = list(accumulate(map(len(line_end).__add__, sizes), initial=0))
        starts, ends = following[:-1], list(map(add, following, sizes))
    if not lines[-1]:  # no line begins behind the last line end
        del starts[-1], ends[-1], lines[-1]
    return starts, ends, lines


def first_row(text: str, at: int, delimiter: str, final: bool = True) -> tuple[int, int] | None:
    """Where the first row from ``at`` that is not blank lies; None without one, or in doubt."""
    while at < len(text):
        row = next_row(text, at, delimiter, final)
        if row is None or at < row[0]:
            return row and (at, row[0])
        at = row[1]
    return None


def row_header(text: str, delimiter: str, row: tuple[int, int] | None) -> dict[str, Any]:
    """The fields of a row, as ``header``; nothing for a long one."""
    if row is None or row[1] - row[0] > _LONGEST_HEADER:
        return {}
    return {"header": tuple(_cells(text[row[0] : row[1]], delimiter))}


def _cells(text: str, delimiter: str) -> list[str]:
    """The fields of a row, their quotes taken off."""
    cells, at, stops = [], 0, _STOPS[delimiter]
    while True:
        cell = ""
        if text[at : at + 1] == '"':
            quote = text.find('"', at + 1)
            while quote >= 0 and text[quote + 1 : quote + 2] == '"':
                quote = text.find('"', quote + 2)
            if quote >= 0:
                cell, at = text[at + 1 : quote].replace('""', '"'), quote + 1
        stop = stops.search(text, at)
        cells.append(cell + text[at : stop.start() if stop else len(text)])
        if stop is None:
            return cells
        at = stop.end()


class _Faults:
    """What could not be read: how many, and the first of them with the reason."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[int, str]] = []

    def add(self, number: int, reason: str) -> None:
        """Count one; the first are kept."""
        self.count += 1
        if self.count <= _REPORTED:
            self.first.append((number, reason))

    def meta(self, name: str) -> dict[str, Any]:
        """What there is to report, under a name."""
        if not self.count:
            return {}
        return {name: tuple(self.first), f"{name}_count": self.count}


@dataclass(frozen=True, slots=True)
class CsvLoader:
    """Reads CSV and TSV: a part "row" for each record, the header being row 1.

    The rows are counted as a spreadsheet does: a record of several lines is one, a blank line
    has a number but no part, nor has Excel's line ``sep=;`` above the header. ``meta`` holds
    ``delimiter``, ``header`` (the fields of the first row) and, where there are any,
    ``bad_rows``: the first 20 rows that have another number of fields or a quote left open, with
    the reason, and ``bad_rows_count``.
    """

    name: ClassVar[str] = "CSV"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    def claims(self, raw: Raw) -> bool:
        """By its suffix."""
        return raw.suffix in self.suffixes

    def load(self, raw: Raw) -> Document:
        """The document; bad rows are kept as they are."""
        text, used = decode(raw.data, raw.name, raw.encoding)
        delimiter, begin = rows_opening(text, raw.suffix)
        rows = _rows(text, delimiter)
        if begin:
            rows = rows.without_first()
        faults = _Faults()
        expected = rows.fields[0] if rows.fields else 0
        if rows.unclosed or rows.fields.count(expected) < len(rows.fields):
            for number, start, found in zip(rows.numbers, rows.starts, rows.fields, strict=True):
                if start in rows.unclosed:
                    faults.add(number, "a quote is not closed")
                elif found != expected:
                    faults.add(number, f"fields: {found}, in the header: {expected}")
        meta_of = {found: {"fields": found} for found in set(rows.fields)}
        metas = list(map(meta_of.__getitem__, rows.fields))
        parts = Parts(("row",) * len(metas), rows.starts, rows.ends, rows.numbers, metas)
        first = (rows.starts[0], rows.ends[0]) if rows.starts else None
        header = row_header(text, delimiter, first)
        meta = {"delimiter": delimiter, **header, **faults.meta("bad_rows")}
        return _document(raw, text, used, parts, meta)


@dataclass(frozen=True, slots=True)
class JsonLinesLoader:
    """Reads JSON Lines: a part "record" for each line, labelled by the line's number.

    A line that is no JSON is kept; the first 20 stand in ``meta["bad_records"]`` with the
    reason, their number in ``bad_records_count``.
    """

    name: ClassVar[str] = "JSON Lines"
    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    def claims(self, raw: Raw) -> bool:
        """By its suffix."""
        return raw.suffix in self.suffixes

    def load(self, raw: Raw) -> Document:
        """The document; bad lines are kept as they are."""
        text, used = decode(raw.data, raw.name, raw.encoding)
        starts, ends, lines = _lines(text)
        kept = [i for i, line in enumerate(lines) if line.strip(WHITE)]
        faults = _Faults()
        for i in kept:
            problem = json_problem(lines[i])
            if problem:
                faults.add(i + 1, problem)
        starts, ends = [starts[i] for i in kept], [ends[i] for i in kept]
        parts = _records(starts, ends, [i + 1 for i in kept])
        return _document(raw, text, used, parts, faults.meta("bad_records"))


@dataclass(frozen=True, slots=True)
class JsonLoader:
    """Reads JSON: a part "record" for each item of the list it holds.

    The list is the file's own value, or the one list among the values of its object; items are
    counted from 1. Text that is no JSON is loaded too, and ``meta["problem"]`` says why it has
    no records.
    """

    name: ClassVar[str] = "JSON"
    suffixes: ClassVar[tuple[str, ...]] = (".json",)

    def claims(self, raw: Raw) -> bool:
        """By its suffix."""
        return raw.suffix in self.suffixes

    def load(self, raw: Raw) -> Document:
        """The document, valid or not."""
        text, used = decode(raw.data, raw.name, raw.encoding)
        problem, starts, ends = json_items(text)
        parts = _records(starts, ends, range(1, len(starts) + 1))
        return _document(raw, text, used, parts, {"problem": problem} if problem else {})


@dataclass(frozen=True, slots=True)
class LogLoader:
    """Reads a log: lines, without parts."""

    name: ClassVar[str] = "log"
    suffixes: ClassVar[tuple[str, ...]] = (".log",)

    def claims(self, raw: Raw) -> bool:
        """By its suffix."""
        return raw.suffix in self.suffixes

    def load(self, raw: Raw) -> Document:
        """The document."""
        text, used = decode(raw.data, raw.name, raw.encoding)
        return _document(raw, text, used, Parts(), {})


def _records(starts: Sequence[int], ends: Sequence[int], numbers: Sequence[int]) -> Parts:
    return Parts(("record",) * len(starts), starts, ends, numbers, ({},) * len(starts))


def _document(
    raw: Raw, text: str, encoding: str, parts: Parts, meta: Mapping[str, Any]
) -> Document:
    return Document(
        text=text,
        uri=raw.uri,
        media_type="application/json" if raw.suffix == ".json" else media_type_of(raw.suffix),
        parts=parts,
        meta={"encoding": encoding, **meta},
        encoding=own_encoding(raw.data, encoding),
    )
