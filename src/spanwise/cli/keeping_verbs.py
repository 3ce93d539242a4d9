"""The verbs that look after an index: documents, remove, verify, export, import."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated

import typer

from spanwise.cli.edge import FAILED, counted, failed
from spanwise.cli.index_options import (
    BundleFile,
    EmbedderName,
    IndexArgument,
    IndexBy,
    IndexChunkSize,
    InIndex,
    Namespace,
    ReportFormat,
    ReportFormatOption,
    RowFormat,
    RowFormatOption,
    ToIndex,
    Where,
    read_pairs,
)
from spanwise.cli.index_rows import difference_rows, document_rows
from spanwise.cli.opened import checking, nothing_in, once, reading, writing
from spanwise.cli.options import (
    MaxLevel,
    MaxSize,
    MinSize,
    Overlap,
    Separator,
    SizerName,
    SizerOption,
    Tokenizer,
    given_options,
    refuse_empty,
)
from spanwise.cli.screen import Screen
from spanwise.cli.strategies import index_splitter
from spanwise.errors import OptionError
from spanwise.metadata import json_line

__all__ = ["KEEPING_VERBS"]

_DOCUMENTS_EXAMPLES = """
[bold]Examples[/bold]

  spanwise documents --in docs.db

  spanwise documents --in docs.db --where team=support --format jsonl
"""


def documents(
    file: InIndex,
    where: Where = None,
    namespace: Namespace = "",
    format_: RowFormatOption = None,
) -> None:
    """List the documents of an index, with their metadata."""
    screen = Screen()
    fitting = read_pairs("--where", where or ())
    with reading(file) as opened:
        found = opened.documents(where=fitting, namespace=namespace)
        if not found:
            screen.tell(nothing_in(opened, file, where or (), namespace))
            raise typer.Exit(FAILED)
    if (format_ or (RowFormat.text if screen.is_terminal else RowFormat.jsonl)) is RowFormat.jsonl:
        for each in found:
            plain = asdict(each) | {"metadata": each.metadata}
            sys.stdout.write(json_line(plain) + "\n")
        return
    document_rows(screen, found)
    passages = sum(each.chunks for each in found)
    screen.tell(f"{counted(len(found), 'document')}, {counted(passages, 'passage')}", "dim")


_VERIFY_EXAMPLES = """
[bold]Examples[/bold]

  spanwise verify docs.db

  spanwise verify docs.db --no-files
"""


def verify(
    file: IndexArgument,
    no_files: Annotated[
        bool, typer.Option("--no-files", help="Look at the index alone, not at its files.")
    ] = False,
    format_: ReportFormatOption = None,
) -> None:
    """Check an index against itself and its files; list every difference, exit 1 with any."""
    screen = Screen()
    with checking(file) as opened:
        report = opened.verify(files=not no_files)
    form = format_ or (ReportFormat.text if screen.is_terminal else ReportFormat.json)
    if form is ReportFormat.json:
        sys.stdout.write(json.dumps(asdict(report)) + "\n")
    else:
        difference_rows(screen, file, report)
    if not report:
        raise typer.Exit(FAILED)


_EXPORT_EXAMPLES = """
[bold]Example[/bold]

  spanwise export --in docs.db --to docs.bundle
"""


def export(bundle: BundleFile, file: InIndex, namespace: Namespace = "") -> None:
    """Write the documents of an index with their vectors to one file of JSON lines."""
    screen = Screen()
    with reading(file) as opened:
        count = opened.export_bundle(bundle, namespace=namespace)
    screen.tell(f"{counted(count, 'document')} written to {bundle}", "dim")


_IMPORT_EXAMPLES = """
[bold]Example[/bold]

  spanwise import docs.bundle --to copy.db --embedder wordllama
"""


def import_(
    bundle: Annotated[
        str,
        typer.Argument(metavar="BUNDLE", callback=refuse_empty, help="A file that export wrote."),
    ],
    file: ToIndex,
    embedder: EmbedderName = None,
    by: IndexBy = "",
    chunk_size: IndexChunkSize = None,
    overlap: Overlap = None,
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_level: MaxLevel = None,
    separator: Separator = None,
    sizer: SizerOption = SizerName.chars,
    tokenizer: Tokenizer = "",
    namespace: Namespace = "",
) -> None:
    """Read a bundle into an index that is made as the one it came from; nothing is embedded."""
    screen = Screen()
    with once(screen):
        given = given_options(
            chunk_size, overlap, min_size, max_size, max_level, separator, sizer, tokenizer
        )
        splitter = index_splitter(by, given)
        with writing(file, splitter=splitter, embedder=embedder) as opened:
            count = opened.import_bundle(bundle, namespace=namespace)
    screen.tell(f"{counted(count, 'document')} read into {file}", "dim")


_REMOVE_EXAMPLES = """
[bold]Examples[/bold]

  spanwise remove --in docs.db docs/old.md

  spanwise remove --in docs.db --where team=sales --where team=press
"""


def remove(
    file: InIndex,
    uris: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URI",
            callback=refuse_empty,
            help="As documents lists them.",
            show_default=False,
        ),
    ] = None,
    where: Where = None,
    namespace: Namespace = "",
) -> None:
    """Take documents out of an index and print their names; their files are left alone."""
    screen = Screen()
    fitting = read_pairs("--where", where or ())
    if bool(uris) == bool(fitting):
        raise OptionError(
            "URI and --where contradict each other; give one of them"
            if uris
            else "nothing is named; give a URI or --where KEY=VALUE"
        )
    with writing(file, create=False) as opened:
        if uris:
            gone = opened.remove(dict.fromkeys(uris), namespace=namespace)
        else:
            gone = opened.remove_where(fitting, namespace=namespace)
        why = "" if uris or gone else nothing_in(opened, file, where or (), namespace)
    for uri in gone:
        screen.write(f"{uri}\n")
    screen.tell(f"{counted(len(gone), 'document')} taken out", "dim")
    absent = [uri for uri in dict.fromkeys(uris or ()) if uri not in gone]
    if why or absent:
        raise failed([why] if why else [f"{uri}: {file} holds no such document" for uri in absent])


KEEPING_VERBS: tuple[tuple[Callable[..., None], str], ...] = (
    (documents, _DOCUMENTS_EXAMPLES),
    (remove, _REMOVE_EXAMPLES),
    (verify, _VERIFY_EXAMPLES),
    (export, _EXPORT_EXAMPLES),
    (import_, _IMPORT_EXAMPLES),
)
