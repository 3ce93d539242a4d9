"""Front matter: the fields at the top of a Markdown file, as metadata."""

from __future__ import annotations

import re
from datetime import date, time
from importlib import import_module
from itertools import dropwhile
from math import isfinite
from textwrap import dedent
from typing import Any

from spanwise.cutting.markdown_lines import front_end

__all__ = ["front_matter"]

# Beyond ASCII a name may hold what is no letter, such as the vowel signs of Thai.
_FIELD = re.compile(r"([^\W\d][\w .\-\x80-\U0010ffff]*):(?:\s+(.*))?$")
_ITEM = re.compile(r"(\s*)-(?:\s+(.*))?$")
# A line that goes on with the field above it: indented, empty, a remark, an item, a list's end.
_GOES_ON = re.compile(r"[ \t#\]]|-?$|-\s")
# Texts on the lines below, folded or as they are.
_BELOW = re.compile(r"[>|][-+0-9]*\s*(?:#.*)?$")
# What YAML means as something else than it says.
_NOT_PLAIN = re.compile(r"[&*!{}>|%@`,\]]|[-?:](?:\s|$)")
_PAIR = re.compile(r":(?:\s|$)")
_REMARK = re.compile(r"(?:^|\s)#")
_GAP = re.compile(r"(?:\s|#[^\n]*)*")
_QUOTED = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""", re.S)
_LISTED = re.compile(r"(?:[^\s,\[\]{}#][^\s,\[\]{}]*)(?:\s+[^\s,\[\]{}#][^\s,\[\]{}]*)*")
_ESCAPE = re.compile(r"\\(?:x(..)|u(....)|U(.{8})|(.))", re.S)
_ESCAPED = dict(
    zip('"\\/ntr0abefvN_LP', '"\\/\n\t\r\0\a\b\x1b\f\v\x85\xa0\u2028\u2029', strict=True)
)
_LINE_END = re.compile(r"\r\n?|\n")
_ENDS = re.compile(r"\n+")
_NUMBER = re.compile(r"[-+]?[0-9]{1,300}(?:\.[0-9]+)?$")
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "~": None, "": None}


def front_matter(text: str) -> dict[str, Any]:
    r"""The fields of a text's front matter, values as JSON has them; empty without any.

    TOML (between ``+++``) is read by the standard library from Python 3.11 on. Of YAML (between
    ``---``) the plain part is read, the same wherever it runs: ``key: value``, quoted strings,
    numbers, lists in brackets or one item a line, texts that go on below, with ``>`` and ``|``
    or without. A field of anything else is left out: the text keeps it all the same.

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
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        field = _FIELD.match(lines[at])
        at = below = at + 1
        while at < len(lines) and _GOES_ON.match(lines[at]):
            at += 1
        if field:
            name, beside = field[1].rstrip(), (field[2] or "").strip()
            try:
                fields[name] = _value(beside, lines[below:at])
            except ValueError:  # it is not read
                fields.pop(name, None)
    return fields


def _value(beside: str, below: list[str]) -> Any:
    """The value of a field: what stands beside its name and on the lines below."""
    if _BELOW.match(beside):
        inside = dedent("\n".join(line for line in below if line[:1] in ("", " ", "\t")))
        return _folded(inside.split("\n")) if beside[0] == ">" else inside.strip()
    if not beside or beside[0] == "#":
        below = list(dropwhile(_says_nothing, below))
        if below and _ITEM.match(below[0]):
            return [_scalar("\n".join(item), False) for item in _items(below)]
        return _scalar("\n".join(below), False)
    return _scalar("\n".join([beside, *below]), True)


def _says_nothing(line: str) -> bool:
    """Whether a line is empty or a remark."""
    return line.lstrip()[:1] in ("", "#")


def _items(lines: list[str]) -> list[list[str]]:
    """The items of a list, each with the lines that go on with it."""
    found: list[list[str]] = []
    first = _ITEM.match(lines[0])
    depth = len(first[1]) if first else 0
    for line in lines:
        item = _ITEM.match(line)
        if item and len(item[1]) == depth:
            found.append([item[2] or ""])
        elif _says_nothing(line) or len(line) - len(line.lstrip()) > depth:
            found[-1].append(line)
        else:
            raise ValueError(line)
    return found


def _scalar(text: str, beside: bool) -> Any:
    """A value as it is typed; ``beside``: its first line may hold a colon, as people write it."""
    text = text.strip()
    if text[:1] == "#":
        text = text[_end_of_gap(text, 0) :]
    if text[:1] not in ("'", '"', "["):
        return _typed(text, beside)
    value, end = _listed(text) if text[0] == "[" else _quoted(text, 0)
    if _end_of_gap(text, end) < len(text):
        raise ValueError(text)
    return value


def _typed(text: str, beside: bool) -> Any:
    """A value without quotes."""
    lines = text.split("\n")
    if "#" in text:
        lines = [_REMARK.split(line, maxsplit=1)[0] for line in lines]
    text = _folded(lines)
    if _NOT_PLAIN.match(text) or any(map(_PAIR.search, lines[beside:])):
        raise ValueError(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _NUMBER.match(text):
        return float(text) if "." in text else int(text)
    return text


def _quoted(text: str, at: int) -> tuple[str, int]:
    """A text in quotes, and where these end."""
    found = _QUOTED.match(text, at)
    if not found:
        raise ValueError(text)
    inside = found[0][1:-1]
    if "\n" in inside:
        inside = _folded(inside.split("\n"))
    if found[0][0] == '"':
        inside = _ESCAPE.sub(_escaped, inside)
    else:
        inside = inside.replace("''", "'")
    return inside, found.end()


def _escaped(escape: re.Match[str]) -> str:
    """What an escape stands for."""
    digits = escape[1] or escape[2] or escape[3]
    sign = chr(int(digits, 16)) if digits else _ESCAPED.get(escape[4], "")
    if not sign or "\ud800" <= sign <= "\udfff":
        raise ValueError(escape[0])
    return sign


def _listed(text: str) -> tuple[list[Any], int]:
    """The values of a list in brackets, and where these end."""
    values: list[Any] = []
    at = _end_of_gap(text, 1)
    while text[at : at + 1] != "]":
        if text[at : at + 1] in ("'", '"'):
            value, at = _quoted(text, at)
        else:
            found = _LISTED.match(text, at)
            if not found:
                raise ValueError(text)
            value, at = _typed(found[0], False), found.end()
        values.append(value)
        at = _end_of_gap(text, at)
        if text[at : at + 1] == ",":
            at = _end_of_gap(text, at + 1)
        elif text[at : at + 1] != "]":
            raise ValueError(text)
    return values, at + 1


def _end_of_gap(text: str, at: int) -> int:
    """Where white space and remarks end."""
    found = _GAP.match(text, at)
    return found.end() if found else at


def _folded(lines: list[str]) -> str:
    """Lines of a text as one, an empty line between them as a line end."""
    text = "\n".join(map(str.strip, lines)).strip()
    return _ENDS.sub(lambda ends: "\n" * (len(ends[0]) - 1) or " ", text)


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
