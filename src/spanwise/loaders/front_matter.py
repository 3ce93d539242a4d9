"""Front matter: the fields at the top of a Markdown file, as metadata."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, time
from importlib import import_module
from math import isfinite
from typing import Any

from spanwise.cutting.block_parser import front_end

__all__ = ["front_matter"]

_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_ANCHOR = re.compile(r"(?:^|[\s\[,{:-])[&*]\S")
_LINE_END = re.compile(r"\r\n?|\n")
_LONGEST = 100_000
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


def front_matter(text: str) -> dict[str, Any]:
    r"""The fields of a text's front matter, values as JSON has them; empty without any.

    TOML (between ``+++``) is read by the standard library from Python 3.11 on, YAML (between
    ``---``) by PyYAML where it is installed. Without it the plain part of YAML is read: ``key:
    value``, quoted strings, numbers, lists in brackets or one item a line; other lines are left
    out. What cannot be read gives no fields: the text keeps it all the same.

    >>> front_matter("---\ntitle: Returns\ntags: [a, b]\n---\nText")
    {'title': 'Returns', 'tags': ['a', 'b']}
    """
    end = front_end(text)
    lines = _LINE_END.split(text[:end].lstrip("\ufeff").strip())
    if len(lines) < 2:
        return {}
    inside = "\n".join(lines[1:-1])
    try:
        found = _reader("tomllib", "loads") if lines[0][:1] == "+" else _yaml(inside)
        fields = _plain(found(inside))
    except Exception:  # a library's own errors; the fields are an extra, the text stays
        return {}
    return fields if isinstance(fields, dict) else {}


def _yaml(text: str) -> Callable[[str], Any]:
    """PyYAML's safe reader; the plain one without it, or where anchors could grow."""
    if len(text) > _LONGEST or _ANCHOR.search(text):
        return _simple
    try:
        return _reader("yaml", "safe_load")
    except ImportError:
        return _simple


def _reader(module: str, name: str) -> Callable[[str], Any]:
    reader: Callable[[str], Any] = getattr(import_module(module), name)
    return reader


def _simple(text: str) -> dict[str, Any]:
    """The plain part of YAML."""
    fields: dict[str, Any] = {}
    last = ""
    for line in text.splitlines():
        item, field, held = _ITEM.match(line), _FIELD.match(line), fields.get(last)
        if item and last and (held is None or isinstance(held, list)):
            fields[last] = [*(held or []), _value(item[1])]
        elif field:
            last = field[1]
            fields[last] = _value(field[2] or "")
        elif line.strip() and not line.lstrip().startswith("#"):
            last = ""
    return fields


def _value(text: str) -> Any:
    """A value as it is typed."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [_value(each) for each in text[1:-1].split(",") if each.strip()]
    text = text.split(" #")[0].rstrip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    return text


def _plain(value: Any) -> Any:
    """A value as JSON can write it."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(each) for each in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
