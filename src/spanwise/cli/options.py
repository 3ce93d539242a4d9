"""The options of the verbs, and what they are called in the library."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any

import typer

import spanwise
from spanwise.cli.strategies import NAMES, unescape
from spanwise.embedders.registry import FORMS
from spanwise.errors import OptionError, require

__all__ = [
    "By",
    "ChunkSize",
    "Encoding",
    "Exclude",
    "Fit",
    "Format",
    "FormatOption",
    "Include",
    "MaxLevel",
    "MaxSize",
    "MinSize",
    "NoIgnore",
    "NoRecursive",
    "OneFile",
    "Overlap",
    "Separator",
    "SizerName",
    "SizerOption",
    "SnippetFormat",
    "Tokenizer",
    "given_options",
    "refuse_empty",
    "refuse_unused",
]


class Format(str, Enum):
    """How passages and cuts are shown."""

    table = "table"
    jsonl = "jsonl"
    text = "text"


class SnippetFormat(str, Enum):
    """How a snippet is shown."""

    plain = "plain"
    ansi = "ansi"
    html = "html"
    json = "json"


class SizerName(str, Enum):
    """What sizes count."""

    chars = "chars"
    words = "words"
    utf8_bytes = "utf8_bytes"
    tokens = "tokens"


_SIZERS = {SizerName.words: spanwise.words, SizerName.utf8_bytes: spanwise.utf8_bytes}

_CUTTING = "How to cut"
_FINDING = "What to read"
_SHOWING = "What to show"


def refuse_empty(context: typer.Context, parameter: typer.CallbackParam, value: Any) -> Any:
    """What was typed, but for an empty name, such as that of a shell's variable that is not set."""
    source = context.get_parameter_source(parameter.name or "")
    is_typed = source is not None and source.name == "COMMANDLINE"
    if is_typed and (value == "" or (isinstance(value, list) and "" in value)):
        raise typer.BadParameter("it is empty; name one, or leave it out")
    return value


OneFile = Annotated[
    str,
    typer.Argument(metavar="FILE", callback=refuse_empty, help="A file, or - for standard input."),
]
By = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=refuse_empty,
        help=f"{', '.join(NAMES[:-1])} or {NAMES[-1]}. "
        "Unset: heading for Markdown and every kind with headings, rows or records for data, turns "
        "for transcripts, paragraph for the rest.",
        rich_help_panel=_CUTTING,
    ),
]
ChunkSize = Annotated[
    int | None,
    typer.Option(metavar="SIZE", help="The size to fill to.", rich_help_panel=_CUTTING),
]
Overlap = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE", help="What to borrow from the passage before.", rich_help_panel=_CUTTING
    ),
]
MinSize = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE", help="Shorter passages join a neighbour.", rich_help_panel=_CUTTING
    ),
]
MaxSize = Annotated[
    int | None,
    typer.Option(
        metavar="SIZE",
        help="A hard cap, overlap and context included; in tokens with --tokenizer.",
        rich_help_panel=_CUTTING,
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        callback=refuse_empty,
        help="Count tokens by a tokenizer.json (or its folder), cl100k_base or o200k_base: for "
        "--max-size, or for all sizes with --sizer tokens.",
        rich_help_panel=_CUTTING,
    ),
]
Fit = Annotated[
    str,
    typer.Option(
        metavar="EMBEDDER",
        callback=refuse_empty,
        help=f"No passage longer than it reads, and proof of that. One of "
        f"{', '.join(form for form, _ in FORMS)}.",
        rich_help_panel=_CUTTING,
    ),
]
MaxLevel = Annotated[
    int | None,
    typer.Option(metavar="1-6", help="Deeper headings do not cut.", rich_help_panel=_CUTTING),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help=r"What stands between two records; \n, \r, \t, \f and \\ are read.",
        rich_help_panel=_CUTTING,
    ),
]
SizerOption = Annotated[
    SizerName,
    typer.Option(
        "--sizer",
        metavar="NAME",
        help="What sizes count: chars, words, utf8_bytes or tokens.",
        rich_help_panel=_CUTTING,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN",
        help="In folders, read these too or only below these; as in .gitignore, repeatable.",
        rich_help_panel=_FINDING,
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATTERN", help="In folders, leave these out; repeatable.", rich_help_panel=_FINDING
    ),
]
NoIgnore = Annotated[
    bool,
    typer.Option(
        "--no-ignore", help="Read also what .gitignore leaves out.", rich_help_panel=_FINDING
    ),
]
NoRecursive = Annotated[
    bool,
    typer.Option("--no-recursive", help="Leave out folders in folders.", rich_help_panel=_FINDING),
]
Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        callback=refuse_empty,
        help="Unset: by byte order mark, else UTF-8.",
        rich_help_panel=_FINDING,
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="table, jsonl or text. Unset: table on a terminal, jsonl elsewhere.",
        rich_help_panel=_SHOWING,
    ),
]


def refuse_unused(given: Mapping[str, object], why: str) -> None:
    """Refuse the first option that is given; it has no effect, and ``why`` has the way out."""
    for flag, value in given.items():
        if value:
            raise OptionError(f"{flag} has no effect {why}")


def given_options(
    chunk_size: int | None,
    overlap: int | None,
    min_size: int | None,
    max_size: int | None,
    max_level: int | None,
    separator: str | None,
    sizer: SizerName,
    tokenizer: str,
) -> dict[str, Any]:
    """The options that were given, by the names the library has for them."""
    counter = spanwise.tokens(tokenizer) if tokenizer else None
    of_all = sizer is SizerName.tokens
    if of_all and counter is None:
        raise OptionError(
            "--sizer tokens needs --tokenizer; give the path of a tokenizer.json, cl100k_base or "
            "o200k_base"
        )
    if counter is not None and not of_all and max_size is None:
        raise OptionError(
            "--tokenizer has no effect without --max-size (a cap in tokens) or --sizer tokens "
            "(all sizes in tokens); give one of them, or leave it out"
        )
    limit: int | spanwise.Cap | None = max_size
    if counter is not None and not of_all and max_size is not None:
        require("max_size", max_size, 1)
        limit = spanwise.cap(max_size, counter)
    options = {
        "chunk_size": chunk_size,
        "overlap": overlap,
        "min_size": min_size,
        "max_size": limit,
        "max_level": max_level,
        "separator": None if separator is None else unescape(separator),
        "sizer": counter if of_all else _SIZERS.get(sizer),
    }
    return {name: value for name, value in options.items() if value is not None}
