"""Where the items of the list in a JSON text lie, at any depth of nesting."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

__all__ = ["json_items", "json_problem"]

_BLANKS = " \t\n\r"
_WHITE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:(?P<string>"[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*")'
    r"|(?P<atom>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
    r"|true|false|null|NaN|-?Infinity)|(?P<mark>[\[\]{},:]))"
)
# Starts and ends of the items of a list, and where the list ends.
_Items = tuple[list[int], list[int], int]
_Scan = Callable[[str, int], tuple[Any, int]]

# Numbers stay text: none is too long, and nothing is rounded for the sake of a position.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_scan: _Scan = _DECODER.scan_once  # type: ignore[attr-defined]  # known to CPython, not to mypy
_FAULTS = (StopIteration, ValueError, RecursionError)


class _NoJsonError(ValueError):
    """Text that is no JSON, from a position on."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at


def json_items(text: str) -> tuple[str, list[int], list[int]]:
    """Why a text is no JSON value, or nothing; and where the items of its list start and end.

    The list is the value itself, or the one list among the values of an object.

    >>> json_items('{"n": 2, "rows": [1, [2]]}')
    ('', [18, 21], [19, 24])
    """
    try:
        starts, ends, at = _top(text)
        at = _skip(text, at)
        if at < len(text):
            raise _NoJsonError(at, "text after the value")
    except _NoJsonError as fault:
        line = text.count("\n", 0, fault.at) + 1
        column = fault.at - text.rfind("\n", 0, fault.at)
        return f"not JSON: {fault}, line {line}, column {column}", [], []
    return "", starts, ends


def json_problem(text: str) -> str:
    """Why a text is no JSON value, or nothing; as `json_items`, without the items."""
    value = text.strip(_BLANKS)
    try:
        whole = _scan(value, 0)[1] == len(value)
    except _FAULTS:
        whole = False
    return "" if whole else json_items(text)[0]


def _top(text: str) -> _Items:
    """The items of the list that a text holds, and where its value ends."""
    at = _skip(text, 0)
    opened = text[at : at + 1]
    if opened == "[":
        return _items(text, at)
    if opened != "{":
        return [], [], _value_end(text, at)
    lists: list[_Items] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return [], [], at + 1
    while True:
        if text[at : at + 1] != '"':
            raise _NoJsonError(at, "a name in quotes expected")
        at = _skip(text, _value_end(text, at))
        if text[at : at + 1] != ":":
            raise _NoJsonError(at, "':' expected")
        at = _skip(text, at + 1)
        if text[at : at + 1] == "[":
            lists.append(_items(text, at))
            at = lists[-1][2]
        else:
            at = _value_end(text, at)
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            starts, ends, _ = lists[0] if len(lists) == 1 else ([], [], 0)
            return starts, ends, at + 1
        if text[at : at + 1] != ",":
            raise _NoJsonError(at, "',' or '}' expected")
        at = _skip(text, at + 1)


def _items(text: str, at: int) -> _Items:
    """Where the items of the list at ``at`` start and end, and where it ends."""
    starts: list[int] = []
    ends: list[int] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return starts, ends, at + 1
    comma = ", "
    while True:
        try:
            end = _scan(text, at)[1]
        except _FAULTS:
            at = _skip(text, at)
            end = _value_end(text, at)
        starts.append(at)
        ends.append(end)
        # What parts two items mostly parts the next two as well.
        if text.startswith(comma, end):
            at = end + len(comma)
            continue
        at = _skip(text, end)
        if text[at : at + 1] == "]":
            return starts, ends, at + 1
        if text[at : at + 1] != ",":
            raise _NoJsonError(at, "',' or ']' expected")
        at = _skip(text, at + 1)
        comma = text[end:at]


def _skip(text: str, at: int) -> int:
    """The first position from ``at`` on that is not white space to JSON."""
    found = _WHITE.match(text, at)
    return found.end() if found else at


def _value_end(text: str, at: int) -> int:
    """Where the value at ``at`` ends."""
    try:
        end: int = _DECODER.raw_decode(text, at)[1]
    except json.JSONDecodeError as fault:
        raise _NoJsonError(fault.pos, fault.msg) from None
    except RecursionError:
        return _deep_value_end(text, at)
    return end


def _deep_value_end(text: str, at: int) -> int:
    """Where a value ends that is nested too deeply for Python's parser; no recursion here."""
    open_marks: list[str] = []
    expected = "value"
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            raise _NoJsonError(_skip(text, at), f"a {expected} expected")
        kind, mark = found.lastgroup, found["mark"] or ""
        here = found.end() - len(found[0].lstrip(" \t\n\r"))
        at = found.end()
        closes = bool(mark) and mark in "]}"
        if expected in ("value", "value or close") and kind != "mark":
            expected = "comma or close"
        elif expected in ("value", "value or close") and mark and mark in "[{":
            open_marks.append(mark)
            expected = "value or close" if mark == "[" else "name or close"
            continue
        elif expected in ("name", "name or close") and kind == "string":
            expected = "colon"
            continue
        elif expected == "colon" and mark == ":":
            expected = "value"
            continue
        elif expected == "comma or close" and mark == ",":
            expected = "value" if open_marks[-1] == "[" else "name"
            continue
        elif closes and expected.endswith("close") and open_marks[-1] == "[{"[mark == "}"]:
            open_marks.pop()
            expected = "comma or close"
        else:
            raise _NoJsonError(here, f"a {expected} expected")
        if not open_marks:
            return at
