"""Jupyter notebooks: cells as parts, their Markdown as structure, code and outputs as code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from spanwise.cutting.markdown import scan
from spanwise.documents import Document
from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.html import write_html
from spanwise.loaders.text import decode

__all__ = ["NotebookLoader"]

NOTEBOOK = "application/x-ipynb+json"

# Where a notebook without a suffix says what it is: at either end.
_HEAD = 4096
_FORMAT = b'"nbformat"'

# What terminals read as colours, cursor moves and titles. Source: ECMA-48.
_ansi = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])?")

# How half of a pair is escaped, which no file can hold without the other half.
_half = re.compile(r"\\u[dD]").search

# The lists of a structure that hold positions.
_HEADING_PLACES = ("heading_starts", "heading_ends", "title_starts", "title_ends")
_ATOM_PLACES = ("atom_starts", "atom_ends")

# What stands for an object that is shown in another form.
_PLACEHOLDER = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9A-Fa-f]+)?>")

# Format 3 names the forms of an output without a slash.
_OLD_TYPES = {
    "text": "text/plain",
    "html": "text/html",
    "latex": "text/latex",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}


@dataclass(frozen=True, slots=True)
class NotebookLoader:
    """Reads Jupyter notebooks of the formats 2 to 4: each cell is a part, numbered from 1."""

    name: str = "Jupyter notebook"
    suffixes: tuple[str, ...] = (".ipynb",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is a notebook, by its suffix or its own word for its format."""
        if raw.suffix or not raw.data.lstrip().startswith(b"{"):
            return raw.suffix in self.suffixes
        return _FORMAT in raw.data[:_HEAD] or _FORMAT in raw.data[-_HEAD:]

    def load(self, raw: Raw) -> Document:
        """The cells in order; after code what it gave as text, without colour codes.

        A line that a progress bar wrote over is left out, as the notebook shows it. ``meta``
        holds ``language``, and ``images``: the images that are not in the text.
        """
        text, _ = decode(raw.data, raw.name, raw.encoding)
        if not text.strip():
            return Document(text="", uri=raw.uri, media_type=NOTEBOOK)
        book = _read(text, raw.name)
        builder = _Builder()
        images: list[str] = []
        problems: list[str] = []
        languages = [_language(book)]
        for number, cell in enumerate(_cells(book, raw.name), 1):
            if not isinstance(cell, dict):
                problems.append(f"cell {number} is {type(cell).__name__}, not an object")
                continue
            if "language" in cell:
                languages.append(_string(cell["language"]))
            outputs = _outputs(cell)
            if outputs or "attachments" in cell:
                images += [f"cell {number}: {kind}" for kind in _images(cell, outputs)]
            builder.cell(str(number), cell, outputs)
        meta: dict[str, Any] = {"language": next(filter(None, languages), "")}
        if images:
            meta["images"] = images
        if problems:
            meta["problems"] = problems
        return builder.document(uri=raw.uri, media_type=NOTEBOOK, meta=MappingProxyType(meta))


class _Builder(Builder):
    """A builder that also takes cells, and blocks of Markdown as they are."""

    def cell(self, number: str, cell: dict[str, Any], outputs: list[dict[str, Any]]) -> None:
        """A cell and what it gave, as a part that begins with its first block."""
        written, start = len(self._pieces), self._at
        _write(self, cell, outputs)
        if 0 < written < len(self._pieces):
            start += len(self._pieces[written])  # what parts the block from the one before
        self.note("cell", number, start, self._at, type=_string(cell.get("cell_type")))

    def markdown(self, text: str) -> None:
        """Markdown, with the headings, code and tables in it noted."""
        lines = text.replace("\r\n", "\n").rstrip()
        # Blank lines go, but not the indent of the first line: it may make it code.
        blank = len(lines) - len(lines.lstrip())
        if blank:
            lines = lines[lines.rfind("\n", 0, blank) + 1 :]
        start = self._block(lines)
        if start < 0:
            return
        # The line end before it keeps a rule at the start from being read as front matter.
        shift = start - 1
        found, mine = scan("\n" + lines), self._structure
        if found.heading_levels:
            mine.heading_levels.extend(found.heading_levels)
            for name in _HEADING_PLACES:
                getattr(mine, name).extend([at + shift for at in getattr(found, name)])
        if found.atom_kinds:
            mine.atom_kinds.extend(found.atom_kinds)
            for name in _ATOM_PLACES:
                getattr(mine, name).extend([at + shift for at in getattr(found, name)])


def _read(text: str, name: str) -> dict[str, Any]:
    """The JSON of a notebook."""
    try:
        book = json.loads(text.removeprefix("\ufeff"))
        if _half(text):
            whole = json.dumps(book, ensure_ascii=False).encode("utf-8", "replace")
            book = json.loads(whole)
    except (ValueError, RecursionError) as fault:
        raise LoadError(
            f"{name}: it begins with {shown(text[:40])} and is not JSON ({fault}), which a "
            "notebook is; save it again from Jupyter, or load it as plain text"
        ) from None
    if not isinstance(book, dict):
        raise LoadError(
            f"{name}: its JSON is {shown(book)}, where a notebook is an object with cells; "
            "load it as plain text"
        )
    return book


def _cells(book: dict[str, Any], name: str) -> Iterator[Any]:
    """The cells in order; format 3 keeps them in worksheets."""
    sheets = book.get("worksheets") if "cells" not in book else [book]
    if not isinstance(sheets, list):
        raise LoadError(
            f"{name}: its JSON has the keys {shown(list(book))}, where a notebook has cells; "
            "load it as plain text"
        )
    for sheet in sheets:
        cells = sheet.get("cells", []) if isinstance(sheet, dict) else None
        if not isinstance(cells, list):
            raise LoadError(
                f"{name}: its cells are {shown(cells)}, where a notebook has a list of them; "
                "save it again from Jupyter"
            )
        yield from cells


def _language(book: dict[str, Any]) -> str:
    """What language the notebook says its code is in."""
    meta = _object(book.get("metadata"))
    return (
        _string(_object(meta.get("language_info")).get("name"))
        or _string(_object(meta.get("kernelspec")).get("language"))
        or _string(meta.get("language"))
    )


def _write(builder: _Builder, cell: dict[str, Any], outputs: list[dict[str, Any]]) -> None:
    """A cell and what it gave."""
    kind = cell.get("cell_type")
    source = _string(cell.get("source")) or _string(cell.get("input"))
    if kind == "code":
        builder.code(source)
        for output in outputs:
            _write_output(builder, output)
    elif kind in ("markdown", "html"):
        builder.markdown(source)
    elif kind == "heading":
        level = cell.get("level")
        builder.heading(level if isinstance(level, int) else 1, source)
    else:
        builder.paragraph(source)


def _write_output(builder: _Builder, output: dict[str, Any]) -> None:
    """What a cell gave, where it is text."""
    kind = output.get("output_type")
    if kind in ("error", "pyerr"):
        # Lines of a traceback are listed without their line ends, unlike those of a text.
        lines = output.get("traceback")
        trace = "\n".join(map(_string, lines)) if isinstance(lines, list) else _string(lines)
        said = f"{_string(output.get('ename'))}: {_string(output.get('evalue'))}"
        builder.code(_plain(trace) if trace.strip() else said.strip(": "))
    elif kind == "stream":
        builder.code(_plain(_string(output.get("text"))))
    else:
        data = _data(output)
        plain, html = _string(data.get("text/plain")), _string(data.get("text/html"))
        if written := _string(data.get("text/markdown")):
            builder.markdown(written)
        elif plain.strip() and not _PLACEHOLDER.fullmatch(plain.strip()):
            builder.code(_plain(plain))
        elif html:
            write_html(builder, html, lines=False)
        else:
            builder.code(_plain(_string(data.get("text/latex")) or plain))


def _outputs(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of a cell."""
    outputs = cell.get("outputs")
    return [each for each in outputs if isinstance(each, dict)] if isinstance(outputs, list) else []


def _data(output: dict[str, Any]) -> dict[str, Any]:
    """The forms of an output by media type."""
    if "data" in output:
        return _object(output["data"])
    return {kind: output[old] for old, kind in _OLD_TYPES.items() if old in output}


def _images(cell: dict[str, Any], outputs: list[dict[str, Any]]) -> Iterator[str]:
    """The images of a cell: attached ones by name, those it gave by media type."""
    yield from map(str, _object(cell.get("attachments")))
    for output in outputs:
        if output.get("output_type") == "stream":
            continue  # of text alone
        for kind in _data(output):
            if kind.startswith("image/"):
                yield kind
                break  # several forms of one output are one image


def _plain(text: str) -> str:
    """An output as a person sees it: no colour codes, no lines that were written over."""
    if "\x1b" in text:
        text = _ansi.sub("", text)
    if "\r" not in text:
        return text
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    """A text, which notebooks also write as a list of its lines; empty for anything else."""
    if isinstance(value, list):
        try:
            value = "".join(value)
        except TypeError:
            value = "".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""
