"""Front matter: the fields at the top of a Markdown file, as metadata."""

from __future__ import annotations

import re
from datetime import date, time
from importlib import import_module
from math import isfinite
from typing import Any

from spanwise.cutting.markdown_lines import front_end

__all__ = ["front_matter"]

_FIELD = re.compile(r"([A-Za-z_][\w .-]*?)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
# Texts on the lines below, folded or as they are; what YAML means as something else than it says.
_BELOW = re.compile(r"[>|][-+0-9]*\s*(?:#.*)?$")
_NOT_PLAIN = re.compile(r"[&*!{>|%@`]")
_LINE_END = re.compile(r"\r\n?|\n")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


def front_matter(text: str) -> dict[str, Any]:
    r"""The fields of a text's front matter, values as JSON has them; empty without any.

    TOML (between ``+++``) is read by the standard library from Python 3.11 on. Of YAML (between
    ``---``) the plain part is read, the same wherever it runs: ``key: value``, quoted strings,
    numbers, lists in brackets or one item a line, texts below ``>`` and ``|``; anything else is
    left out. What cannot be read gives no fields: the text keeps it all the same.

    >>> front_matter("---\ntitle: Returns\ntags: [a, b]\n---\nText")
    {'title': 'Returns', 'tags': ['a', 'b']}
    """
    end = front_end(text)
    lines = _LINE_END.split(text[:end].lstrip("\ufeff").strip())
    if len(lines) < 2:
        return {}
    inside = "\n".join(lines[1:-1])
    try:
        toml = lines[0][:1] == "+"
        fields = _plain(import_module("tomllib").loads(inside)) if toml else _yaml(inside)
    except Exception:  # a library's own errors; the fields are an extra, the text stays
        return {}
    return fields if isinstance(fields, dict) else {}


def _yaml(text: str) -> dict[str, Any]:
    """The plain part of YAML."""
    fields: dict[str, Any] = {}
    below: dict[str, tuple[str, list[str]]] = {}  # what joins the lines of a text, and these
    last = ""  # the field that the next line may go on with
    for line in text.splitlines():
        indented = not line.strip() or line[0] in " \t"
        if last in below and indented:
            below[last][1].append(line.strip())
            continue
        item, field = _ITEM.match(line), _FIELD.match(line)
        held = fields.get(last, "")
        if item and (held is None or isinstance(held, list)):
            if held is None:
                held = fields[last] = []
            held.append(_value(item[1]))
        elif field and _BELOW.match(field[2] or ""):
            last = field[1]
            below[last] = (" " if field[2][0] == ">" else "\n", [])
        elif field and not _NOT_PLAIN.match(field[2] or ""):
            last = field[1]
            fields[last] = _value(field[2] or "")
        elif line.strip() and not line.lstrip().startswith("#"):
            if held is None and indented:
                del fields[last]  # it holds more than a value
            last = ""
    return fields | {name: joint.join(lines).strip() for name, (joint, lines) in below.items()}


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
