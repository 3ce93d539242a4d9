"""The verb that brings an index up to date with folders."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import typer

from spanwise.cli.edge import FAILED, as_typed, failed
from spanwise.cli.index_options import (
    DryRun,
    EmbedderName,
    Every,
    Graph,
    IndexBy,
    IndexChunkSize,
    KeepMissing,
    Metadata,
    Namespace,
    Rebuild,
    Reload,
    ReportFormat,
    ReportFormatOption,
    ToIndex,
    read_pairs,
)
from spanwise.cli.index_rows import change_line, changes_of, report_rows
from spanwise.cli.opened import once, planning, writing
from spanwise.cli.options import (
    Encoding,
    Exclude,
    Include,
    MaxLevel,
    MaxSize,
    MinSize,
    NoIgnore,
    NoRecursive,
    Overlap,
    Separator,
    SizerName,
    SizerOption,
    Tokenizer,
    given_options,
    refuse_empty,
    refuse_unused,
)
from spanwise.cli.screen import Counting, Screen
from spanwise.cli.strategies import index_splitter
from spanwise.errors import LoadError, OptionError
from spanwise.extras import require_extra
from spanwise.index import Failure, IndexReport, Progress
from spanwise.loaders.files import find_documents

__all__ = ["INDEX_VERBS"]

_INDEX_EXAMPLES = """
[bold]Examples[/bold]

  spanwise index docs --to docs.db

  spanwise index docs notes --to docs.db --embedder wordllama

  spanwise index support --to docs.db --metadata team=support

  spanwise index docs --to docs.db --dry-run

  spanwise index docs --to docs.db --rebuild --embedder onnx:models/minilm

  spanwise index docs --to docs.db --every 2
"""


def index(
    file: ToIndex,
    folders: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FOLDER",
            callback=refuse_empty,
            help="Folders to bring the index up to date with.",
            show_default=False,
        ),
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    no_ignore: NoIgnore = False,
    no_recursive: NoRecursive = False,
    encoding: Encoding = "",
    metadata: Metadata = None,
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
    keep_missing: KeepMissing = False,
    reload: Reload = False,
    rebuild: Rebuild = False,
    dry_run: DryRun = False,
    graph: Graph = False,
    every: Every = None,
    namespace: Namespace = "",
    format_: ReportFormatOption = None,
) -> None:
    """Bring an index up to date with folders: only what changed is read, cut and embedded.

    With --rebuild and without a folder, what the index holds is cut and embedded anew.
    """
    screen = Screen()
    _check(folders or (), rebuild, dry_run, every, graph)
    if not folders:
        of_folders = {
            "--include": include,
            "--exclude": exclude,
            "--no-ignore": no_ignore,
            "--no-recursive": no_recursive,
            "--encoding": encoding,
            "--metadata": metadata,
            "--namespace": namespace,
            "--keep-missing": keep_missing,
            "--reload": reload,
        }
        refuse_unused(of_folders, "on a --rebuild without a FOLDER; give one, or leave it out")
    laid = read_pairs("--metadata", metadata or ())
    with once(screen):
        given = given_options(
            chunk_size, overlap, min_size, max_size, max_level, separator, sizer, tokenizer
        )
        splitter = index_splitter(by, given)
    missing: list[str] = []
    there = [folder for folder in folders or () if _is_folder(folder, missing)]
    if folders and not there:
        raise failed(missing)
    which: dict[str, Any] = {
        "include": include or (),
        "exclude": exclude or (),
        "ignore_files": not no_ignore,
        "recursive": not no_recursive,
    }
    there = _distinct(there, which)
    is_new = not Path(file).exists()
    options: dict[str, Any] = {"splitter": splitter, "embedder": embedder, "rebuild": rebuild}
    opening = (
        planning(file, **options) if dry_run else writing(file, create=bool(folders), **options)
    )
    with opening as opened:
        add = partial(
            opened.add_folder,
            **which,
            encoding=encoding,
            metadata=laid,
            namespace=namespace,
            remove_missing=not keep_missing,
            dry_run=dry_run,
        )
        try:
            reports = _runs(screen, [partial(add, folder, reload=reload) for folder in there])
            if rebuild and not dry_run:
                (rest,) = _runs(screen, [opened.rebuild])
                # What folders hold is counted already.
                reports.append(replace(rest, discovered=0) if there else rest)
            if graph:
                screen.tell("making the graph of vectors", "dim")
                opened.index_vectors()
        except KeyboardInterrupt:
            screen.tell("stopped; what is written is kept, and the same command goes on from it")
            raise
        report = IndexReport.of_all(reports)
        _show(screen, format_, file, report)
        if is_new and embedder is None and report.discovered:
            screen.tell("--embedder wordllama would find by meaning too", "dim")
        bad = missing + _reasons(file, report.failed)
        if bad:
            screen.tell(f"{len(bad):,} failed:")
            status = failed(bad, "  ")
        else:
            found = all(each.discovered for each in reports[: len(there)])
            status = typer.Exit(0 if found else FAILED)
        if every is not None:
            _go_on(screen, format_, file, [partial(add, folder) for folder in there], report, every)
        if status.exit_code:
            raise status


def _check(
    folders: Sequence[str], rebuild: bool, dry_run: bool, every: float | None, graph: bool
) -> None:
    """Refuse options that contradict each other."""
    if not folders and (not rebuild or dry_run or every is not None):
        raise OptionError(
            "no FOLDER is given; name at least one, or give --rebuild alone to cut and embed anew "
            "what the index holds"
        )
    if graph and dry_run:
        raise OptionError("--graph and --dry-run contradict each other; give one of them")
    if graph:
        require_extra("usearch", "ann", "--graph")
    if every is not None and (dry_run or not 0 < every < float("inf")):
        raise OptionError(
            "--every and --dry-run contradict each other; give one of them"
            if dry_run
            else f"--every {every:g} is no number of seconds above 0; give for example --every 2"
        )


def _is_folder(folder: str, missing: list[str]) -> bool:
    path = Path(folder)
    if path.is_dir():
        return True
    name, parent = path.name, path.parent.as_posix()
    if not path.is_file():
        reason = "there is no such folder, and nothing was changed; check the path"
    elif path.suffix.lower() == ".zip":
        reason = "it is an archive; unpack it, and give the folder that it is in then"
    else:
        command = shlex.join(["spanwise", "index", parent, "--include", name])
        reason = f"it is a file; give its folder: {command}"
    missing.append(f"{folder}: {reason}")
    return False


def _distinct(folders: Sequence[str], which: Mapping[str, Any]) -> list[str]:
    """The folders, but for those given twice, and those whose documents are all another's too."""
    places: dict[Path, str] = {}
    for folder in folders:
        places.setdefault(Path(os.path.abspath(folder)), folder)  # noqa: PTH100 - keeps links

    @cache
    def documents(place: Path) -> set[Path]:
        return set(find_documents(place, on_error=lambda fault: None, **which))

    def is_in_another(place: Path) -> bool:
        return any(
            documents(place) and documents(place) <= documents(other)
            for other in places
            if other in place.parents
        )

    return [folder for place, folder in places.items() if not is_in_another(place)]


def _runs(screen: Screen, runs: Sequence[Callable[..., IndexReport]]) -> list[IndexReport]:
    """The report of each run, while a person sees how far it is."""
    with once(screen), Counting(screen) as bar:

        def watch(at: Progress) -> None:
            waits = at.done == at.total and at.embedded
            bar.show(at.done, at.total, "embedding" if waits else at.uri)

        return [run(watch=watch) for run in runs]


def _go_on(
    screen: Screen,
    format_: ReportFormat | None,
    file: str,
    runs: Sequence[Callable[..., IndexReport]],
    last: IndexReport,
    every: float,
) -> None:
    """Run again and again; a line for each time that something changed."""
    known = last.failed
    lost = ""
    while True:
        sys.stdout.flush()
        time.sleep(every)
        try:
            report = IndexReport.of_all(_runs(screen, runs))
        except LoadError as fault:  # a folder that is gone may come back
            if str(fault) != lost:
                screen.tell(str(fault))
            lost = str(fault)
            continue
        lost = ""
        if changes_of(report) and _form(format_, screen) is ReportFormat.text:
            screen.write(f"{time.strftime('%H:%M:%S')}  {change_line(report)}\n")
        elif changes_of(report):
            _show(screen, format_, file, report)
        for reason in _reasons(file, [each for each in report.failed if each not in known]):
            screen.tell(reason)
        known = report.failed


def _show(screen: Screen, format_: ReportFormat | None, file: str, report: IndexReport) -> None:
    if _form(format_, screen) is ReportFormat.json:
        sys.stdout.write(json.dumps(report.to_dict()) + "\n")
    else:
        report_rows(screen, file, report)
    for note in report.notes:
        screen.tell(as_typed(note), "yellow")


def _reasons(file: str, failures: Iterable[Failure]) -> list[str]:
    """What failed, each with its document first."""
    base = Path(file).absolute().parent
    found = []
    for each in failures:
        reason = each.reason.removeprefix(f"{base / each.uri}: ").removeprefix(f"{each.uri}: ")
        kept = " (the index keeps what it had of it)" if each.stale else ""
        found.append(f"{each.uri}: {reason}{kept}")
    return found


def _form(format_: ReportFormat | None, screen: Screen) -> ReportFormat:
    return format_ or (ReportFormat.text if screen.is_terminal else ReportFormat.json)


INDEX_VERBS: tuple[tuple[Callable[..., None], str], ...] = ((index, _INDEX_EXAMPLES),)
