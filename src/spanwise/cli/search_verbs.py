"""The verbs that ask an index: search, show."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from spanwise.chunks import Chunk
from spanwise.cli.edge import FAILED, as_typed, complain, counted
from spanwise.cli.hit_rows import candidate_rows, hit_rows, html_of, ranks_of
from spanwise.cli.index_options import (
    HitFormat,
    HitFormatOption,
    InIndex,
    Namespace,
    RowFormat,
    RowFormatOption,
    Where,
    read_pairs,
)
from spanwise.cli.opened import nothing_in, once, reading
from spanwise.cli.options import refuse_empty, refuse_unused
from spanwise.cli.screen import Screen, one_line
from spanwise.errors import EmbedderError, MissingExtraError, StoreError, require
from spanwise.index import Hits, Index
from spanwise.metadata import json_line

__all__ = ["SEARCH_VERBS"]

_BY = {"words": "words", "meaning": "meaning", "both": "words and meaning"}

_SEARCH_EXAMPLES = """
[bold]Examples[/bold]

  spanwise search "late refund" --in docs.db

  spanwise search '"trace number" refund*' --in docs.db --mode words

  spanwise search refund --in docs.db --where team=support --where team=sales

  spanwise search refund --in docs.db --expand section --budget 6000

  spanwise search refund --in docs.db --explain
"""


def search(
    query: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help='A question, words, a "phrase" in quotes of its own, or a beginning, refund*.',
        ),
    ],
    file: InIndex,
    limit: Annotated[int, typer.Option(metavar="NUMBER", help="The most passages.")] = 5,
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="words, meaning, both or auto: both where the index has an embedder.",
        ),
    ] = "auto",
    where: Where = None,
    namespace: Namespace = "",
    min_score: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Leave out what scores less; what a score is differs by mode, and --format "
            "jsonl shows it.",
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(metavar="CHARS", help="The most that all texts together may measure."),
    ] = None,
    expand: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="So many passages more on each side; or section, or document.",
        ),
    ] = "0",
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Also list every passage that was looked at, and what became of it."
        ),
    ] = False,
    width: Annotated[
        int, typer.Option(metavar="CHARS", help="The most characters of a snippet.")
    ] = 200,
    format_: HitFormatOption = None,
) -> None:
    """Find the passages of an index that answer a query, best first."""
    screen = Screen()
    require("width", width, 1)
    options: dict[str, Any] = {
        "limit": limit,
        "mode": mode,
        "where": read_pairs("--where", where or ()),
        "namespace": namespace,
        "min_score": min_score,
        "budget": budget,
        "expand": int(expand) if expand.isascii() and expand.isdigit() else expand,
    }
    with once(screen), reading(file) as opened:
        try:
            hits = opened.search(query, explain=explain, **options)
        except (EmbedderError, MissingExtraError) as fault:
            said = f"spanwise search: {as_typed(str(fault))}"
            complain(said, "--mode words searches without the embedder")
            raise typer.Exit(FAILED) from None
        why = "" if hits else _why_none(opened, file, hits, options, where or ())
    form = format_ or (HitFormat.text if screen.is_terminal else HitFormat.jsonl)
    if form is HitFormat.jsonl:
        for line in _lines(hits, width):
            sys.stdout.write(json_line(line) + "\n")
    elif form is HitFormat.html:
        if hits or hits.candidates:
            screen.write("\n".join(html_of(hits, width)) + "\n")
    else:
        hit_rows(screen, hits, width)
        if hits:
            screen.out.print()
        if hits.candidates:
            candidate_rows(screen, hits)
    sys.stdout.flush()
    if why:
        screen.tell(f"{file}: {why}" if not why.startswith(file) else why)
        raise typer.Exit(FAILED)
    if form is HitFormat.text:
        looked = f" of {len(hits.candidates):,} looked at" if explain else ""
        screen.tell(f"{counted(len(hits), 'passage')}{looked}, by {_BY[hits.mode]}", "dim")


def _lines(hits: Hits, width: int) -> list[dict[str, Any]]:
    """A line a hit; where candidates were asked for a line each, those returned with their hit."""
    if not hits.candidates:
        return [hit.to_dict(width) for hit in hits]
    whole = {hit.chunk.id: hit.to_dict(width) for hit in hits}
    return [
        whole.get(each.id, {"id": each.id, "citation": each.citation, **ranks_of(each.standing)})
        | {"returned": each.returned, "why": each.why}
        for each in hits.candidates
    ]


def _why_none(
    opened: Index, file: str, hits: Hits, options: dict[str, Any], where: Sequence[str]
) -> str:
    """Why nothing was found, and what to try."""
    if not hits.query.strip():
        return "the query is empty; give words to look for"
    if not opened.documents(where=options["where"], namespace=options["namespace"]):
        return nothing_in(opened, file, where, options["namespace"])
    looked = hits.candidates or opened.search(hits.query, explain=True, **options).candidates
    if looked:
        return (
            f"{counted(len(looked), 'passage')} found, and none returned: {looked[0].why}; "
            "--explain lists them"
        )
    among = " in the documents that --where leaves" if where else ""
    return (
        f"no passage{among} answers {hits.query!r} by {_BY[hits.mode]}; try other words, "
        "or the beginning of one, such as refund*"
    )


_SHOW_EXAMPLES = """
[bold]Examples[/bold]

  spanwise show docs/refunds.md#1f0c2ab94e55 --in docs.db --around 1

  spanwise show docs/refunds.md --in docs.db
"""


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            callback=refuse_empty,
            help="The id of a passage, or the uri of a document.",
        ),
    ],
    file: InIndex,
    around: Annotated[
        int,
        typer.Option(metavar="NUMBER", help="So many passages before and after it, too."),
    ] = 0,
    namespace: Namespace = "",
    format_: RowFormatOption = None,
) -> None:
    """Show a passage with its citation and context, or all passages of a document."""
    screen = Screen()
    require("around", around, 0)
    with reading(file) as opened:
        chunks, at = _passages(opened, name, namespace)
    if at is None:
        refuse_unused({"--around": around}, "on a document, all of which is shown; leave it out")
    else:
        chunks = chunks[max(0, at - around) : at + around + 1]
    if (format_ or (RowFormat.text if screen.is_terminal else RowFormat.jsonl)) is RowFormat.jsonl:
        for each in chunks:
            sys.stdout.write(each.to_json() + "\n")
        return
    for i, each in enumerate(chunks):
        screen.write("\n\n" if i else "")
        _passage(screen, each, is_wanted=at is None or each.id == name)
    if not chunks:
        screen.tell(f"{name}: it holds no passage", "dim")


def _passages(opened: Index, name: str, namespace: str) -> tuple[list[Chunk], int | None]:
    """The passages of a document, and the number of the one of a name, None for the document."""
    try:
        return opened.chunks(name, namespace=namespace), None
    except StoreError:
        uri, sign, _ = name.rpartition("#")
        if not sign:
            raise
    wanted = opened.chunk(name, namespace=namespace)
    return opened.chunks(uri, namespace=namespace), wanted.index


def _passage(screen: Screen, each: Chunk, *, is_wanted: bool) -> None:
    """A passage below where it is; the place of one that is only around the wanted one is dim."""
    lines = [each.citation, each.id, *([f"context: {each.context}"] if each.context else [])]
    for i, line in enumerate(lines):
        style = "bold cyan" if is_wanted and i == 0 else "dim"
        screen.out.print(Text(one_line(line), style=style), soft_wrap=True)
    screen.write(f"\n{each.text.rstrip()}\n")


SEARCH_VERBS: tuple[tuple[Callable[..., None], str], ...] = (
    (search, _SEARCH_EXAMPLES),
    (show, _SHOW_EXAMPLES),
)
