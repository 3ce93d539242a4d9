"""An index as a verb opens it: to read or to write, its damage told, no empty file left behind."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from spanwise.cli.screen import Screen
from spanwise.cli.sources import notes
from spanwise.errors import SpanwiseError, StoreError
from spanwise.index import Index, SqliteStore
from spanwise.index.sqlite_file import MEMORY

__all__ = ["checking", "nothing_in", "once", "planning", "reading", "writing"]

# What Python raises where the bytes of a damaged file are no text, JSON or numbers any more, or
# nothing at all.
_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, zlib.error)


@contextmanager
def reading(file: str) -> Iterator[Index]:
    """An index that nothing is written to."""
    with _told(file), Index.open(file, read_only=True) as index:
        yield index


@contextmanager
def checking(file: str) -> Iterator[Index]:
    """An index as verify needs it: SQLite checks all of the words only where it could write."""
    folder = os.path.dirname(os.path.abspath(file))  # noqa: PTH100, PTH120
    fixed = not (os.access(file, os.W_OK) and os.access(folder, os.W_OK))
    with _told(file, ""), Index.open(file, read_only=fixed, create=False) as index:
        yield index


@contextmanager
def writing(file: str, *, create: bool = True, **options: Any) -> Iterator[Index]:
    """An index that is written to; a file that was made for nothing is taken away again."""
    is_new = not Path(file).exists()
    try:
        with _told(file), Index.open(file, create=create, **options) as index:
            yield index
    except BaseException:
        if is_new and Path(file).is_file():
            _take_away(file)
        raise


@contextmanager
def planning(file: str, **options: Any) -> Iterator[Index]:
    """An index for a dry run; where there is no file, an empty one in its place."""
    if Path(file).exists():
        with _told(file), Index.open(file, read_only=True, **options) as index:
            yield index
        return
    base = Path(os.path.abspath(file)).parent  # noqa: PTH100 - keeps symbolic links
    with Index(SqliteStore(MEMORY), base=base, **options) as index:
        yield index


@contextmanager
def once(screen: Screen) -> Iterator[None]:
    """Warnings of the library inside are dim lines, each of them once."""
    said: set[str] = set()

    def tell(message: str) -> None:
        if message not in said:
            said.add(message)
            screen.tell(message, "dim")

    with notes(tell):
        yield


def nothing_in(opened: Index, file: str, where: Sequence[str], namespace: str) -> str:
    """Why an index holds no document that is asked for."""
    names = opened.namespaces()
    if not names:
        return f"{file}: it holds no document; add some with spanwise index FOLDER --to {file}"
    if namespace not in names:
        known = ", ".join(repr(name) if name else "the one without a name" for name in names)
        return f"{file}: the namespace {namespace!r} holds no document; those that do are {known}"
    return f"{file}: no document fits {' '.join(f'--where {each}' for each in where)}"


def _take_away(file: str) -> None:
    """Remove an index that holds no document and that nobody else has open."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=0)) as alone:
        alone.isolation_level = None
        # SQLite changes the journal of no file that another connection has open; one that is
        # opened from here on finds out that it is gone when it writes.
        alone.execute("PRAGMA journal_mode = DELETE")
        alone.execute("BEGIN EXCLUSIVE")
        if alone.execute("SELECT 1 FROM documents").fetchone() is None:
            for end in ("", "-wal", "-shm", "-journal"):
                Path(file + end).unlink(missing_ok=True)


@contextmanager
def _told(file: str, more: str = "spanwise verify lists what is damaged; ") -> Iterator[None]:
    """Where the bytes in an index are not what they were, say so."""
    try:
        yield
    except SpanwiseError:
        raise
    except _UNREADABLE as fault:
        raise StoreError(
            f"{file}: what it holds cannot be read ({type(fault).__name__}: {fault}); {more}"
            "restore it, or index anew into another file"
        ) from fault
