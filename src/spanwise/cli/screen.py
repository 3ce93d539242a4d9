"""What a person sees: streams, rows of a fixed width, progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from spanwise.snippets import Highlight

__all__ = [
    "NARROWEST",
    "Column",
    "Counting",
    "Rows",
    "Screen",
    "Working",
    "escaped",
    "one_line",
    "prepare_streams",
    "silence",
    "style_of",
    "visible",
    "wrap",
]

# Below these a run is over before a person looks for progress.
_LONG_BYTES = 4_000_000
_LONG_FILES = 100
_LONG_SECONDS = 1.0
# A name beside a bar.
_LONGEST_NAME = 32

# Narrower terminals fold the lines; below this a table says nothing.
NARROWEST = 60

# How often the bar moves: drawing it is slower than writing a line.
_STEP = 512

_GAP = 2
_HARD_CUTS = ("document", "page", "heading", "fence", "table", "record", "turn", "block")
_WEAK_CUTS = ("clause", "word", "cluster")


def prepare_streams() -> None:
    """Let no character, such as a lone surrogate, be one that cannot be written."""
    # A closed stream is None in Python; what would go there goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def silence(stream: TextIO) -> None:
    """Send what is still held for a stream nowhere, so that closing it cannot fail."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass


def visible(text: str) -> str:
    r"""A text that a terminal acts on in no way: control characters become pictures.

    >>> visible("a\x1b[2Jb")
    'a␛[2Jb'
    """
    return _whole(text).ansi()


def escaped(text: str) -> str:
    """A text as HTML."""
    return _whole(text).html()


def _whole(text: str) -> Highlight:
    """A text to render, without a mark."""
    return Highlight(
        text=text, start=0, end=len(text), marks=(), truncated_left=False, truncated_right=False
    )


def one_line(text: str) -> str:
    """A text on one line, safe to show."""
    return " ".join(visible(text).split())


def style_of(boundary: str) -> str:
    """How a boundary is coloured: by how good a place to cut it is."""
    if boundary in _HARD_CUTS:
        return "cyan"
    return "yellow" if boundary in _WEAK_CUTS else "green"


class Stream(Console):
    """A console that lets the caller decide what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Pass the error on; rich would end the process with status 1."""
        raise BrokenPipeError


class Screen:
    """The two streams, and whether a person sits before each."""

    def __init__(self) -> None:
        self.out = Stream(file=sys.stdout, highlight=False, markup=False, emoji=False)
        self.err = Stream(file=sys.stderr, highlight=False, markup=False, emoji=False)
        self.is_terminal = sys.stdout.isatty()
        self.err_is_terminal = sys.stderr.isatty()

    def tell(self, message: str, style: str = "") -> None:
        """One line on standard error."""
        self.err.print(Text(one_line(message), style=style), soft_wrap=True)

    def write(self, text: str) -> None:
        """Text on standard output; made safe where a person reads it."""
        sys.stdout.write(visible(text) if self.is_terminal else text)


class Column:
    """A column of `Rows`: a heading, a width in cells, and the most lines of a cell."""

    __slots__ = ("lines", "right", "title", "width")

    def __init__(self, title: str, width: int, *, right: bool = False, lines: int = 1) -> None:
        self.title = title
        self.width = width
        self.right = right
        self.lines = lines


class Rows:
    """A table that is printed row by row, so that no run is too long for it."""

    def __init__(self, console: Console, columns: Sequence[Column]) -> None:
        self.console = console
        self.columns = columns
        self.begun = False

    def add(self, *cells: Text) -> None:
        """Print a row, and the headings above the first."""
        if not self.begun:
            self.begun = True
            titles = [Text(column.title, style="bold") for column in self.columns]
            self._print(titles)
            rules = [Text(self._rule * column.width, style="dim") for column in self.columns]
            self._print(rules)
        self._print(cells)

    def gap(self) -> None:
        """An empty line between two groups of rows."""
        if self.begun:
            self.console.print()

    @property
    def _rule(self) -> str:
        return "─" if self.console.encoding.lower().startswith("utf") else "-"

    def _print(self, cells: Sequence[Text]) -> None:
        wrapped = [
            wrap(self.console, cell, column.width, column.lines)
            for cell, column in zip(cells, self.columns, strict=True)
        ]
        for i in range(max(map(len, wrapped))):
            line = Text()
            for column, lines in zip(self.columns, wrapped, strict=True):
                part = lines[i] if i < len(lines) else Text()
                blank = " " * (column.width - part.cell_len)
                line.append(blank if column.right else "")
                line.append_text(part)
                line.append(("" if column.right else blank) + " " * _GAP)
            line.rstrip()
            self.console.print(line, no_wrap=True, crop=False, overflow="ignore")


def wrap(console: Console, text: Text, width: int, lines: int) -> list[Text]:
    """A text in at most so many lines; what does not fit ends in an ellipsis."""
    made = list(text.wrap(console, width))
    for line in made:
        line.rstrip()
    if len(made) <= lines:
        return made
    rest = Text(" ").join(made[lines - 1 :])
    rest.truncate(width, overflow="ellipsis")
    return [*made[: lines - 1], rest]


class Working:
    """Progress on standard error while a run is long; nothing when nobody looks.

    With rows on the same terminal only the wait for a document is shown, since
    the rows themselves show that the run goes on.
    """

    def __init__(self, screen: Screen, sizes: Sequence[int], *, rows: bool) -> None:
        self.screen = screen
        long = sum(sizes) > _LONG_BYTES or len(sizes) > _LONG_FILES
        self.waits = long and rows and screen.err_is_terminal
        self.bar: Progress | None = None
        if long and screen.err_is_terminal and not rows:
            self.bar = _bar(screen, TaskProgressColumn())
            self.task = self.bar.add_task("", total=sum(sizes) or None)
        self.done = 0

    def __enter__(self) -> Working:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar:
            self.bar.stop()

    @contextmanager
    def cutting(self, name: str) -> Iterator[None]:
        """While a document is loaded and cut."""
        if self.bar:
            self.bar.update(self.task, description=_short(name))
        if self.waits:
            with self.screen.err.status(f"cutting {_short(name)}"):
                yield
        else:
            yield

    def wrote(self, i: int, share: float, size: int) -> None:
        """So much of a document of so many bytes is written."""
        if self.bar and i % _STEP == 0:
            self.bar.update(self.task, completed=self.done + share * size)

    def finished(self, size: int) -> None:
        """A document of so many bytes is done."""
        self.done += size
        if self.bar:
            self.bar.update(self.task, completed=self.done)


class Counting:
    """Documents counted on standard error once a run is long; nothing when nobody looks."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.bar: Progress | None = None
        self.begun = time.monotonic()

    def __enter__(self) -> Counting:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar:
            self.bar.stop()

    def show(self, done: int, total: int, name: str) -> None:
        """So many of so many documents are done, and this is what is at hand."""
        long = total > _LONG_FILES or time.monotonic() - self.begun > _LONG_SECONDS
        if self.bar is None and long and self.screen.err_is_terminal:
            self.bar = _bar(self.screen, MofNCompleteColumn())
            self.task = self.bar.add_task("", total=total)
            self.bar.start()
        if self.bar:
            self.bar.update(self.task, completed=done, total=total, description=_short(name))


def _bar(screen: Screen, measure: ProgressColumn) -> Progress:
    """A bar on standard error that is gone when the work is done."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        measure,
        TimeElapsedColumn(),
        console=screen.err,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _short(name: str) -> str:
    """The end of a name, where it differs from others."""
    name = one_line(name)
    return name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
