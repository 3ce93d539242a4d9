"""The verbs that compare splitters on documents of one's own: eval, questions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated

import typer

from spanwise.cli.edge import counted, failed
from spanwise.cli.index_options import ReportFormat, ReportFormatOption
from spanwise.cli.opened import once
from spanwise.cli.options import Encoding, Exclude, Include, NoIgnore, NoRecursive, refuse_empty
from spanwise.cli.screen import NARROWEST, Counting, Screen
from spanwise.cli.sources import (
    STANDARD_INPUT,
    Failures,
    Source,
    attempt,
    find_sources,
    read_standard_input,
)
from spanwise.cli.strategies import NAMES, index_splitter
from spanwise.documents import Document
from spanwise.embedders.registry import FORMS, find_embedder
from spanwise.errors import OptionError, shown
from spanwise.evaluate import (
    Evaluation,
    Question,
    Setup,
    Step,
    evaluate,
    known_item_questions,
    read_questions,
)
from spanwise.evaluate.questions import questions_of, to_json
from spanwise.evaluate.sizing import size_field
from spanwise.splitters.base import Splitter

__all__ = ["EVAL_VERBS"]

# What is compared where nothing is named, and the mean size of its passages.
_USUAL, _USUAL_SIZE = ("heading", "paragraph", "text", "structure", "fixed"), 350

# Longer lines are hard to read.
_WIDEST = 100

# The most questions that are made where none are given.
_COUNT = 200

_MADE = (
    "The questions were made from the documents. {heading} are headings, which favours passages "
    "that keep their heading (an index gives it to all of them, but for --no-context); {sentence} "
    "are the rarest words of a sentence, which are easy to find. Questions that people ask tell "
    "more: begin with spanwise questions FOLDER > questions.jsonl and put your own words in."
)

_EVAL_EXAMPLES = """
[bold]Examples[/bold]

  spanwise eval docs

  spanwise eval questions.jsonl docs --by heading --by text --mean-size 400

  spanwise eval questions.jsonl docs --by heading:500 --by heading:1000 --by search

  spanwise eval questions.jsonl docs --embedder wordllama --format json > scores.json
"""


def eval_(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[QUESTIONS] FOLDER",
            callback=refuse_empty,
            help="A file of questions, one JSON object a line, or - for standard input, and the "
            "documents; without questions some are made from the documents.",
        ),
    ],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[:SIZE]",
            help=f"A splitter to compare, repeatable: {', '.join(NAMES)}, or search, that of "
            f"an index; with the size it fills to. Unset: {', '.join(_USUAL)}, at the mean size "
            f"{_USUAL_SIZE}.",
        ),
    ] = None,
    mean_size: Annotated[
        int | None,
        typer.Option(
            metavar="CHARS",
            help="Resize every splitter until its passages have this mean size.",
        ),
    ] = None,
    embedder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Find by meaning too: {', '.join(form for form, _ in FORMS)}.",
        ),
    ] = "none",
    mode: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="words, meaning, both or auto: both where there is an embedder."
        ),
    ] = "auto",
    mix: Annotated[
        float | None,
        typer.Option(
            metavar="WEIGHT", help="The weight of both neighbours' scores. Unset: as in a search."
        ),
    ] = None,
    no_context: Annotated[
        bool,
        typer.Option("--no-context", help="Index the passages without their heading path."),
    ] = False,
    include: Include = None,
    exclude: Exclude = None,
    no_ignore: NoIgnore = False,
    no_recursive: NoRecursive = False,
    encoding: Encoding = "",
    format_: ReportFormatOption = None,
) -> None:
    """Compare splitters on documents of your own: which finds what answers a question best."""
    screen = Screen()
    if len(paths) > 2:
        raise OptionError(
            f"{len(paths)} paths are given; give QUESTIONS and FOLDER, or FOLDER alone"
        )
    splitters = _splitters(by or (), mean_size)
    if not by and mean_size is None:
        mean_size = _USUAL_SIZE
    with once(screen):
        model = None if embedder == "none" else find_embedder(embedder)
        setups = [
            Setup(name, each, embedder=model, mode=mode, mix=mix, context=not no_context)
            for name, each in splitters
        ]
        failures = Failures()
        sources = _sources(paths[-1], failures, include, exclude, not no_ignore, not no_recursive)
        if len(paths) == 2:  # the questions are no document, also where they lie among them
            others = [each for each in sources if not each.is_file(paths[0])]
            if sources and not others:
                failures.add(f"{paths[-1]}: it holds the questions alone; give documents too")
            sources = others
        documents = _load(screen, sources, failures, encoding)
        if paths[0] == STANDARD_INPUT and len(paths) == 2:
            asked = questions_of(read_standard_input(), Source(paths[0]).name, documents)
        elif len(paths) == 2:
            asked = read_questions(paths[0], documents)
        else:
            asked = _made(documents, paths[-1], failures, _COUNT, 0)
        with Counting(screen) as bar:

            def watch(at: Step) -> None:
                bar.show(at.done, at.total, at.setup)

            found = evaluate(asked, documents, setups, mean_size=mean_size, watch=watch)
    if len(paths) == 1:
        counts = {"heading": 0, "sentence": 0} | found.groups
        found = replace(found, notes=(_MADE.format(**counts), *found.notes))
    form = format_ or (ReportFormat.text if screen.is_terminal else ReportFormat.json)
    if form is ReportFormat.json:
        sys.stdout.write(json.dumps(found.to_dict()) + "\n")
    else:
        screen.write(f"{_text(screen, found)}\n")
    sys.stdout.flush()
    _end(screen, failures)


_QUESTIONS_EXAMPLES = """
[bold]Examples[/bold]

  spanwise questions docs --count 50 > questions.jsonl

  spanwise eval questions.jsonl docs
"""


def questions(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER", callback=refuse_empty, help="The documents: a folder or a file."
        ),
    ],
    count: Annotated[int, typer.Option(metavar="NUMBER", help="The most questions.")] = _COUNT,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Another number draws other questions.")
    ] = 0,
    include: Include = None,
    exclude: Exclude = None,
    no_ignore: NoIgnore = False,
    no_recursive: NoRecursive = False,
    encoding: Encoding = "",
) -> None:
    """Make questions from documents, as JSON lines to edit and to give to eval."""
    screen, failures = Screen(), Failures()
    sources = _sources(folder, failures, include, exclude, not no_ignore, not no_recursive)
    documents = _load(screen, sources, failures, encoding)
    made = _made(documents, folder, failures, count, seed)
    known = {each.uri: each for each in documents}
    is_utf = screen.out.encoding.startswith("utf")  # eval reads no other encoding
    for each in made:
        sys.stdout.write(to_json(each, known, ensure_ascii=not is_utf) + "\n")
    sys.stdout.flush()
    of = counted(len(documents), "document")
    screen.tell(f"{counted(len(made), 'question')} on {of}", "dim")
    _end(screen, failures)


def _text(screen: Screen, found: Evaluation) -> str:
    """An evaluation in the lines of the terminal, no longer than a person reads."""
    if not screen.is_terminal:
        return str(found)
    return found.to_text(min(_WIDEST, max(NARROWEST, screen.out.width)))


def _splitters(by: Sequence[str], mean_size: int | None) -> list[tuple[str, Splitter]]:
    """The splitters named, each by what was typed."""
    made: list[tuple[str, Splitter]] = []
    for typed in by or _USUAL:
        name, colon, size = typed.partition(":")
        if not name:
            raise OptionError(f"--by {shown(typed)} has no name; give one of {', '.join(NAMES)}")
        given: dict[str, int] = {}
        if colon:
            if not (size.isascii() and size.isdigit()):
                raise OptionError(
                    f"--by {shown(typed)}: {shown(size)} is no size; give for example "
                    f"--by {name}:500"
                )
            if mean_size is not None:
                raise OptionError(
                    f"--by {typed} and --mean-size contradict each other; leave one size out"
                )
            unsized = index_splitter(name, {})
            if unsized is not None and not size_field(unsized):
                raise OptionError(
                    f"--by {typed}: {unsized.name} has no size to fill to; give --by {name}"
                )
            given["chunk_size"] = int(size)
        splitter = index_splitter(name, given)
        assert splitter is not None
        if any(typed == other for other, _ in made):
            raise OptionError(f"--by {typed} is given twice; leave one out")
        made.append((typed, splitter))
    return made


def _sources(
    path: str,
    failures: Failures,
    include: list[str] | None,
    exclude: list[str] | None,
    ignore_files: bool,
    recursive: bool,
) -> list[Source]:
    return find_sources(
        [path],
        failures,
        include=include or (),
        exclude=exclude or (),
        ignore_files=ignore_files,
        recursive=recursive,
    )


def _load(
    screen: Screen, sources: Sequence[Source], failures: Failures, encoding: str
) -> list[Document]:
    """The documents of a run; those that cannot be read are noted."""
    made: list[Document] = []
    with Counting(screen) as bar:
        for number, source in enumerate(sources):
            bar.show(number, len(sources), source.name)

            def load(source: Source = source) -> Document:
                document = source.load(encoding)
                return document if document.uri else replace(document, uri=source.name)

            document = attempt(source, failures, screen.tell, load)
            if document is not None:
                made.append(document)
    if not made:
        raise failed(failures.reasons)
    return made


def _made(
    documents: Sequence[Document], path: str, failures: Failures, count: int, seed: int
) -> tuple[Question, ...]:
    """Questions made from the documents; ends the run where there are none."""
    made = known_item_questions(documents, count=count, seed=seed)
    if not made:
        raise failed(
            [
                *failures.reasons,
                f"{path}: no questions can be made from it: they are made from headings with text "
                "below, and from sentences in scripts with spaces; write some yourself "
                "(docs/evaluate.md)",
            ]
        )
    return made


def _end(screen: Screen, failures: Failures) -> None:
    if failures.reasons:
        screen.tell(f"{len(failures.reasons):,} failed:")
        raise failed(failures.reasons, "  ")


EVAL_VERBS: tuple[tuple[Callable[..., None], str], ...] = (
    (eval_, _EVAL_EXAMPLES),
    (questions, _QUESTIONS_EXAMPLES),
)
