"""The options of the verbs of an index, and what is read from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from enum import Enum
from math import inf
from typing import Annotated, Any

import typer

from spanwise.cli.options import refuse_empty
from spanwise.cli.strategies import INDEX_NAMES
from spanwise.embedders.registry import FORMS
from spanwise.errors import OptionError, shown
from spanwise.index.making import NO_EMBEDDER

__all__ = [
    "BundleFile",
    "DryRun",
    "EmbedderName",
    "Every",
    "HitFormat",
    "HitFormatOption",
    "InIndex",
    "IndexArgument",
    "IndexBy",
    "IndexChunkSize",
    "KeepMissing",
    "Metadata",
    "Namespace",
    "Rebuild",
    "Reload",
    "ReportFormat",
    "ReportFormatOption",
    "RowFormat",
    "RowFormatOption",
    "ToIndex",
    "Where",
    "read_pairs",
]

# The variable that names the index where no option does.
_VARIABLE = "SPANWISE_INDEX"

_CUTTING = "How to cut"
_FINDING = "What to read"
_CHANGING = "What to change"
_CHOOSING = "What to find"
_SHOWING = "What to show"


class ReportFormat(str, Enum):
    """How a report is shown."""

    text = "text"
    json = "json"


class RowFormat(str, Enum):
    """How documents and passages of an index are shown."""

    text = "text"
    jsonl = "jsonl"


class HitFormat(str, Enum):
    """How hits are shown."""

    text = "text"
    jsonl = "jsonl"
    html = "html"


InIndex = Annotated[
    str, typer.Option("--in", metavar="FILE", envvar=_VARIABLE, help="The index to read.")
]
ToIndex = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FILE",
        envvar=_VARIABLE,
        help="The index to write, made where there is none.",
    ),
]
IndexArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE", envvar=_VARIABLE, callback=refuse_empty, help="The index to check."
    ),
]
BundleFile = Annotated[
    str,
    typer.Option(
        "--to", metavar="BUNDLE", callback=refuse_empty, help="The file of JSON lines to write."
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="NAME",
        callback=refuse_empty,
        help=f"What finds passages by meaning: {', '.join(form for form, _ in FORMS)}, or "
        f"{NO_EMBEDDER} for words alone. Unset: that of the index; of a new one {NO_EMBEDDER}.",
        rich_help_panel=_CUTTING,
    ),
]
IndexBy = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=refuse_empty,
        help=f"{', '.join(INDEX_NAMES[:-1])} or {INDEX_NAMES[-1]}. Unset: as the index was made; "
        "of a new one each document by its kind, in passages of a size that finds well.",
        rich_help_panel=_CUTTING,
    ),
]
IndexChunkSize = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE", help="The size to fill to; 500 in a new index.", rich_help_panel=_CUTTING
    ),
]
Namespace = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="A part of the index that is kept apart, such as one customer's.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Only documents whose metadata say so; repeatable: the same key again is any of the "
        "values, another key must fit too.",
        rich_help_panel=_CHOOSING,
    ),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE",
        help="Laid over the metadata of each document, for --where; repeatable. Numbers, true, "
        "false and null are read as such, other values as text.",
        rich_help_panel=_FINDING,
    ),
]
KeepMissing = Annotated[
    bool,
    typer.Option(
        "--keep-missing",
        help="Keep documents whose file is gone or is not chosen any more.",
        rich_help_panel=_CHANGING,
    ),
]
Reload = Annotated[
    bool,
    typer.Option(
        "--reload",
        help="Read and cut also the files that did not change.",
        rich_help_panel=_CHANGING,
    ),
]
Rebuild = Annotated[
    bool,
    typer.Option(
        "--rebuild",
        help="Take another splitter or embedder than the index was made with, for all of it.",
        rich_help_panel=_CHANGING,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Write nothing; say what would be done.", rich_help_panel=_CHANGING
    ),
]
Graph = Annotated[
    bool,
    typer.Option(
        "--graph",
        help="At the end make a graph of the vectors, so that search by meaning is quick in more "
        "than half a million passages; it is nearly exact then.",
        rich_help_panel=_CHANGING,
    ),
]
Every = Annotated[
    float | None,
    typer.Option(
        "--every",
        metavar="SECONDS",
        help="Go on, and look for changes every so many seconds, until Ctrl-C.",
        rich_help_panel=_CHANGING,
    ),
]
ReportFormatOption = Annotated[
    ReportFormat | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="text or json. Unset: text on a terminal, json elsewhere.",
        rich_help_panel=_SHOWING,
    ),
]
RowFormatOption = Annotated[
    RowFormat | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="text or jsonl. Unset: text on a terminal, jsonl elsewhere.",
        rich_help_panel=_SHOWING,
    ),
]
HitFormatOption = Annotated[
    HitFormat | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="text, jsonl or html. Unset: text on a terminal, jsonl elsewhere.",
        rich_help_panel=_SHOWING,
    ),
]


def read_pairs(option: str, pairs: Iterable[str]) -> dict[str, Any]:
    """The values of ``KEY=VALUE`` pairs by their keys; a key that comes again has a list.

    >>> read_pairs("--where", ["team=support", "team=sales", "year=2024", 'code="007"'])
    {'team': ['support', 'sales'], 'year': 2024, 'code': '007'}
    """
    found: dict[str, list[Any]] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise OptionError(
                f"{option} {shown(pair)} is no KEY=VALUE; give for example {option} team=support"
            )
        found.setdefault(key, []).append(_read_value(value))
    return {key: values[0] if len(values) == 1 else values for key, values in found.items()}


def _read_value(text: str) -> Any:
    """A number, true, false, null or a text in quotes as JSON has them; else the text itself."""
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    is_plain = not isinstance(value, list | dict) and value not in (inf, -inf)
    return value if is_plain else text


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number that can be compared")
