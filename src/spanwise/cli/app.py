"""The command line: the verbs chunk, explain and snippet, those of an index and of comparing."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from typer.main import get_command

import spanwise
from spanwise.chunks import Chunk, Chunks
from spanwise.cli.edge import (
    FAILED,
    INTERRUPTED,
    UNREAD,
    WRONG_USE,
    complain,
    counted,
    edge,
    failed,
    name_of_verb,
    unwritten,
)
from spanwise.cli.eval_verbs import EVAL_VERBS
from spanwise.cli.index_verbs import INDEX_VERBS
from spanwise.cli.keeping_verbs import KEEPING_VERBS
from spanwise.cli.options import (
    By,
    ChunkSize,
    Encoding,
    Exclude,
    Fit,
    Format,
    FormatOption,
    Include,
    MaxLevel,
    MaxSize,
    MinSize,
    NoIgnore,
    NoRecursive,
    OneFile,
    Overlap,
    Separator,
    SizerName,
    SizerOption,
    SnippetFormat,
    Tokenizer,
    given_options,
    refuse_empty,
)
from spanwise.cli.screen import Screen, Working, escaped, prepare_streams, silence, visible
from spanwise.cli.search_verbs import SEARCH_VERBS
from spanwise.cli.sources import (
    Failures,
    Source,
    attempt,
    find_sources,
    named,
    notes,
    one_source,
    remarks,
)
from spanwise.cli.strategies import Chooser
from spanwise.cli.tables import chunk_rows, cut_rows
from spanwise.documents import Document
from spanwise.embedders.registry import find_embedder
from spanwise.splitters.base import Strategy

__all__ = ["app", "run"]

_CUTTING, _INDEX, _CHOICE = "Without an index", "With an index", "Which splitter"

# The usage error of the command line parser, which typer does not export.
_UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="spanwise",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and answer its exit status."""
    prepare_streams()
    try:
        answer = get_command(app)(args=arguments, prog_name="spanwise", standalone_mode=False)
        sys.stdout.flush()
        return int(answer or 0)
    except OSError as fault:  # of a help text; verbs have an edge of their own
        return unwritten("spanwise", fault)
    except _UsageError as fault:
        command = fault.ctx.command_path if fault.ctx else "spanwise"
        complain(f"{command}: {fault.format_message()}", f"Try '{command} --help'.")
        return WRONG_USE
    except typer.Abort:
        return INTERRUPTED
    except SystemExit:  # so the parser and rich end where nobody reads a help text
        silence(sys.stdout)
        return UNREAD


def _version(asked: bool) -> None:
    if asked:
        print(f"spanwise {spanwise.__version__}")
        raise typer.Exit


@app.callback(
    invoke_without_command=True,
    epilog="Exit status: 0 fine, 1 something failed and is listed, 2 wrong use.",
)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Cut documents into passages that can say where they came from, and find them again."""
    if context.invoked_subcommand is None:
        print(context.get_help())


_CHUNK_EXAMPLES = """
[bold]Examples[/bold]

  spanwise chunk docs README.md

  spanwise chunk notes.md --chunk-size 500 --overlap 0 > passages.jsonl

  git show HEAD:README.md | spanwise chunk - --by heading --format text

  spanwise chunk export.txt --by record --separator '\\n---\\n'

  spanwise chunk docs --tokenizer model/tokenizer.json --max-size 256

  spanwise chunk docs --fit wordllama
"""


@app.command(rich_help_panel=_CUTTING, epilog=_CHUNK_EXAMPLES)
@edge
def chunk(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH", callback=refuse_empty, help="Files, folders, or - for standard input."
        ),
    ],
    include: Include = None,
    exclude: Exclude = None,
    no_ignore: NoIgnore = False,
    no_recursive: NoRecursive = False,
    by: By = "",
    chunk_size: ChunkSize = None,
    overlap: Overlap = None,
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_level: MaxLevel = None,
    separator: Separator = None,
    sizer: SizerOption = SizerName.chars,
    tokenizer: Tokenizer = "",
    fit: Fit = "",
    encoding: Encoding = "",
    format_: FormatOption = None,
) -> None:
    """Cut files, folders or standard input into passages."""
    screen = Screen()
    with notes(screen.tell):
        embedder = find_embedder(fit) if fit else None
        given = given_options(
            chunk_size, overlap, min_size, max_size, max_level, separator, sizer, tokenizer
        )
        choose = Chooser(by, given, embedder)
    failures = Failures()
    sources = find_sources(
        paths,
        failures,
        include=include or (),
        exclude=exclude or (),
        ignore_files=not no_ignore,
        recursive=not no_recursive,
    )
    choose.check(source.media_type for source in sources)
    form = _form(format_, screen)
    show = {Format.table: chunk_rows, Format.jsonl: _json_lines, Format.text: _passages}[form](
        screen
    )
    passages = done = 0
    proofs: list[spanwise.ClipReport] = []
    with Working(screen, [source.size for source in sources], rows=screen.is_terminal) as working:
        for source in sources:
            size = source.size

            def cut(source: Source = source) -> Chunks:
                document = source.load(encoding)
                for remark in remarks(document):
                    screen.tell(named(source, remark), "dim")
                splitter = choose(document)
                chunks = splitter.split(document)
                if embedder is not None:
                    proofs.append(spanwise.clip_report(chunks, embedder))
                elif tokenizer and splitter.limit is not None:
                    proofs.append(spanwise.clip_report(chunks, ceiling=splitter.limit))
                return chunks

            with working.cutting(source.name):
                chunks = attempt(source, failures, screen.tell, cut)
            if chunks is not None:
                done += 1
                passages += len(chunks)
                length = len(chunks.document.text)
                for i, each in enumerate(chunks):
                    show(chunks, each)
                    working.wrote(i, each.end / length, size)
            working.finished(size)
    sys.stdout.flush()
    for option in choose.unused if done else ():
        screen.tell(f"{option} had no effect: no document was cut by a strategy that takes it")
    if proofs:
        screen.tell(f"{fit or tokenizer}: {spanwise.ClipReport.of_all(proofs)}", "dim")
    _sum_up(screen, done, passages, failures)


_EXPLAIN_EXAMPLES = """
[bold]Examples[/bold]

  spanwise explain notes.md

  spanwise explain notes.md --by structure --chunk-size 400 --format text
"""


@app.command(rich_help_panel=_CUTTING, epilog=_EXPLAIN_EXAMPLES)
@edge
def explain(
    file: OneFile,
    by: By = "",
    chunk_size: ChunkSize = None,
    overlap: Overlap = None,
    min_size: MinSize = None,
    max_size: MaxSize = None,
    max_level: MaxLevel = None,
    separator: Separator = None,
    sizer: SizerOption = SizerName.chars,
    tokenizer: Tokenizer = "",
    fit: Fit = "",
    encoding: Encoding = "",
    format_: FormatOption = None,
) -> None:
    """Say for each cut in a file what kind it is and why it fell there."""
    screen = Screen()
    with notes(screen.tell):
        embedder = find_embedder(fit) if fit else None
        given = given_options(
            chunk_size, overlap, min_size, max_size, max_level, separator, sizer, tokenizer
        )
        choose = Chooser(by, given, embedder)
    failures = Failures()
    source = one_source(file, failures)
    if source is None:
        raise failed(failures.reasons)
    choose.check([source.media_type])

    def work() -> tuple[Document, Strategy, list[spanwise.Cut]]:
        document = source.load(encoding)
        splitter = choose(document)
        return document, splitter, spanwise.explain(document, splitter)

    with Working(screen, [source.size], rows=True) as working, working.cutting(source.name):
        answer = attempt(source, failures, screen.tell, work)
    if answer is None:
        raise failed(failures.reasons)
    document, splitter, cuts = answer
    for option in choose.unused:
        screen.tell(f"{option} had no effect on {splitter.name}")
    form = _form(format_, screen)
    if form is Format.jsonl:
        for each in cuts:
            sys.stdout.write(json.dumps(asdict(each)) + "\n")
    elif form is Format.text:
        for each in cuts:
            screen.write(f"[cut {each.index + 1}: {each.boundary}, {_sizes(each)}: {each.why}]\n")
            screen.write(document.text[each.body : each.end] + "\n\n")
    else:
        cut_rows(screen, document, splitter, cuts)


_SNIPPET_EXAMPLES = """
[bold]Examples[/bold]

  spanwise snippet "late refund" handbook.md

  spanwise snippet "返金" handbook.md --format html
"""


@app.command(rich_help_panel=_CUTTING, epilog=_SNIPPET_EXAMPLES)
@edge
def snippet(
    query: Annotated[
        str,
        typer.Argument(metavar="QUERY", help='Words, or a "phrase" in quotes of its own.'),
    ],
    file: OneFile,
    width: Annotated[int, typer.Option(metavar="CHARS", help="The most characters to show.")] = 200,
    fold_accents: Annotated[
        bool, typer.Option("--fold-accents", help="Match words that differ in their accents.")
    ] = False,
    encoding: Encoding = "",
    format_: Annotated[
        SnippetFormat | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="plain, ansi, html or json. Unset: ansi on a terminal, plain elsewhere.",
        ),
    ] = None,
) -> None:
    """Show where the words of a query stand in a file, and cite the place."""
    screen, failures = Screen(), Failures()
    source = one_source(file, failures)
    if source is None:
        raise failed(failures.reasons)

    def work() -> tuple[Document, spanwise.Highlight]:
        document = source.load(encoding)
        return document, spanwise.highlight(
            document.text, query, width=width, fold_accents=fold_accents
        )

    answer = attempt(source, failures, screen.tell, work)
    if answer is None:
        raise failed(failures.reasons)
    document, found = answer
    if not found.matched:
        complain(f"{source.name}: no word of {query!r} occurs in it")
        raise typer.Exit(FAILED)
    place = Chunks.from_spans(
        document, [(found.marks[0].source_start, found.marks[-1].source_end)]
    )[0]
    form = format_ or (SnippetFormat.ansi if screen.is_terminal else SnippetFormat.plain)
    if form is SnippetFormat.json:
        about = {
            "doc_uri": document.uri,
            "citation": place.citation,
            "lines": place.lines,
            "heading_path": place.heading_path,
        }
        sys.stdout.write(json.dumps(about | asdict(found)) + "\n")
    elif form is SnippetFormat.html:
        screen.write(f"<cite>{escaped(place.citation)}</cite>\n{found.html()}\n")
    elif form is SnippetFormat.plain:
        screen.write(f"{place.citation}\n{found.plain()}\n")
    else:
        style = "1" if os.environ.get("NO_COLOR") else "1;33"
        sys.stdout.write(f"\x1b[2m{visible(place.citation)}\x1b[0m\n{found.ansi(style)}\n")


for _verb, _examples in (*INDEX_VERBS, *SEARCH_VERBS, *KEEPING_VERBS):
    app.command(name_of_verb(_verb), rich_help_panel=_INDEX, epilog=_examples)(edge(_verb))
for _verb, _examples in EVAL_VERBS:
    app.command(name_of_verb(_verb), rich_help_panel=_CHOICE, epilog=_examples)(edge(_verb))


def _form(format_: Format | None, screen: Screen) -> Format:
    return format_ or (Format.table if screen.is_terminal else Format.jsonl)


def _json_lines(screen: Screen) -> Callable[[Chunks, Chunk], None]:
    """A line of JSON a passage."""

    def show(chunks: Chunks, each: Chunk) -> None:
        sys.stdout.write(each.to_json() + "\n")

    return show


def _passages(screen: Screen) -> Callable[[Chunks, Chunk], None]:
    """The passages as they are, each under its citation."""

    def show(chunks: Chunks, each: Chunk) -> None:
        screen.write(f"[{each.citation}]\n{each.text}\n\n")

    return show


def _sizes(each: spanwise.Cut) -> str:
    return f"{each.size:,}" + (f" and {each.overlap:,} of overlap" if each.overlap else "")


def _sum_up(screen: Screen, done: int, passages: int, failures: Failures) -> None:
    """The last line of a run, what failed below it; ends a run with failures."""
    bad = len(failures.reasons)
    counts = f"{counted(done, 'file')}, {counted(passages, 'passage')}"
    screen.tell(f"{counts}, {bad:,} failed:" if bad else counts, "dim" if not bad else "")
    if bad:
        raise failed(failures.reasons, "  ")
