"""Where the items of the list in a JSON text lie, at any depth of nesting."""

from __future__ import annotations

import json
import re

__all__ = ["json_items", "json_problem"]

_WHITE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(
    r'[ \t\n\r]*(?:(?P<string>"[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*")'
    r"|(?P<atom>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
    r"|true|false|null|NaN|-?Infinity)|(?P<mark>[\[\]{},:]))"
)
# Numbers stay text: none is too long, and nothing is rounded for the sake of a position.
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


class _NoJsonError(ValueError):
    """Text that is no JSON, from a position on."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at


def json_items(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Why a text is no JSON value, or nothing; and where the items of its list lie.

    The list is the value itself, or the one list among the values of an object.

    >>> json_items('{"n": 2, "rows": [1, [2]]}')
    ('', [(18, 19), (21, 24)])
    """
    try:
        items, at = _top(text)
        at = _skip(text, at)
        if at < len(text):
            raise _NoJsonError(at, "text after the value")
    except _NoJsonError as fault:
        line = text.count("\n", 0, fault.at) + 1
        column = fault.at - text.rfind("\n", 0, fault.at)
        return f"not JSON: {fault}, line {line}, column {column}", []
    return "", items


def json_problem(text: str) -> str:
    """Why a text is no JSON value, or nothing; as `json_items`, without the items."""
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return json_items(text)[0]
    return ""


def _top(text: str) -> tuple[list[tuple[int, int]], int]:
    """The items of the list that a text holds, and where its value ends."""
    at = _skip(text, 0)
    opened = text[at : at + 1]
    if opened == "[":
        return _items(text, at)
    if opened != "{":
        return [], _value_end(text, at)
    lists: list[list[tuple[int, int]]] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "}":
        return [], at + 1
    while True:
        if text[at : at + 1] != '"':
            raise _NoJsonError(at, "a name in quotes expected")
        at = _skip(text, _value_end(text, at))
        if text[at : at + 1] != ":":
            raise _NoJsonError(at, "':' expected")
        at = _skip(text, at + 1)
        if text[at : at + 1] == "[":
            found, at = _items(text, at)
            lists.append(found)
        else:
            at = _value_end(text, at)
        at = _skip(text, at)
        if text[at : at + 1] == "}":
            return lists[0] if len(lists) == 1 else [], at + 1
        if text[at : at + 1] != ",":
            raise _NoJsonError(at, "',' or '}' expected")
        at = _skip(text, at + 1)


def _items(text: str, at: int) -> tuple[list[tuple[int, int]], int]:
    """Where the items of the list at ``at`` lie, and where it ends."""
    items: list[tuple[int, int]] = []
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return items, at + 1
    while True:
        end = _value_end(text, at)
        items.append((at, end))
        at = _skip(text, end)
        if text[at : at + 1] == "]":
            return items, at + 1
        if text[at : at + 1] != ",":
            raise _NoJsonError(at, "',' or ']' expected")
        at = _skip(text, at + 1)


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
