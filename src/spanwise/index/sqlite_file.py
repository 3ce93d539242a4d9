"""The SQLite file of an index: opened, read and written in transactions, its faults told."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from spanwise.errors import StoreError, shown
from spanwise.index.sqlite_schema import check_readable, is_current, refuse_others, upgrade
from spanwise.index.sqlite_words import has_words_of_now, write_words_of_now
from spanwise.index.turns import Turns

__all__ = ["MEMORY", "SqliteFile"]

# The path of an index that is in memory only.
MEMORY = ":memory:"

# Seconds a writer waits for another one: each writes one document at a time.
_PATIENCE = 60

# Bytes a page of a new file, some ten vectors; and pages in the log before they are moved into
# the file: 32 MB, so that a large run does it seldom.
_PAGE, _CHECKPOINT = 8192, 4000


class SqliteFile:
    """One connection, which threads may share: they take turns."""

    def __init__(self, path: str, *, read_only: bool, create: bool) -> None:
        self.path = path
        self._read_only = read_only
        self._turns = Turns(self._faults)
        # What the file was like, where it is read without a lock.
        self._still: tuple[int, ...] | None = None
        # How many transactions of this connection have raised the generation.
        self.written = 0
        # Called at the end of a transaction that writes, and with False at that of one that fails.
        self.on_end: Callable[[bool], object] = lambda done: None
        with self._faults():
            self.connection = self._connect(create)

    def close(self) -> None:
        """Close the file; closing twice does nothing."""
        with self._turns.lock:
            self.connection.close()

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment."""
        return self._transaction("BEGIN", writes=False)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within it, all that is written is written, or nothing; it raises the generation."""
        self.refuse_reader()
        with self._transaction("BEGIN IMMEDIATE", writes=True):
            yield
            if self._turns.depth == 1:
                self.connection.execute("UPDATE state SET generation = generation + 1")
                self.on_end(True)
                self.written += 1

    def refuse_reader(self) -> None:
        """Raise `StoreError` where the file is open for reading only."""
        if self._read_only:
            raise StoreError(f"{self.path}: it is open for reading only; open it without read_only")

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows that a statement answers."""
        with self._turns.lock, self._faults():
            rows = self.connection.execute(statement, values).fetchall()
            if self._turns.depth == 0:
                self._refuse_changed()
            return rows

    def _transaction(self, begin: str, *, writes: bool) -> AbstractContextManager[None]:
        return self._turns.transaction(
            partial(self._begin, begin),
            self._commit,
            partial(self._roll_back, writes),
            writes=writes,
        )

    def _begin(self, statement: str) -> None:
        self._refuse_changed()
        self.connection.execute(statement)

    def _commit(self) -> None:
        self.connection.execute("COMMIT")
        self._refuse_changed()

    def _roll_back(self, wrote: bool) -> None:
        if wrote:
            self.on_end(False)
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What SQLite raises, told as what to do."""
        try:
            yield
        except sqlite3.OperationalError as fault:
            said = str(fault)
            way_out = "check the path and its permissions"
            if "locked" in said or "busy" in said:
                way_out = "another process holds it; try again when that is done"
            elif "readonly" in said and self._read_only:
                way_out = "open it without read_only to change it"
            elif "full" in said:
                way_out = "free some room on the disk"
            raise StoreError(f"{self.path}: {said}; {way_out}") from fault
        except sqlite3.ProgrammingError as fault:
            raise StoreError(f"{self.path}: {fault}; open the index again") from fault
        except sqlite3.DatabaseError as fault:
            raise StoreError(
                f"{self.path}: {fault}; it is damaged or no index: restore it, or index anew into "
                "another file"
            ) from fault

    def _connect(self, create: bool) -> sqlite3.Connection:
        if self.path != MEMORY:
            path = Path(self.path)
            if path.is_dir():
                raise StoreError(
                    f"{self.path}: it is a folder; give the path of a file, such as "
                    f"{path / 'index.db'}"
                )
            if (self._read_only or not create) and not path.is_file():
                raise StoreError(
                    f"{self.path}: there is no such index; make it with Index.open(path), or "
                    "spanwise index FOLDER --to FILE"
                )
            if not path.absolute().parent.is_dir():
                raise StoreError(
                    f"{self.path}: its folder does not exist; make it first, or give another path"
                )
        connection = self._reader() if self._read_only else _connected(self.path)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if self._read_only:
                check_readable(connection, self.path)
            else:
                refuse_others(connection, self.path)  # before anything of the file is changed
                connection.execute(f"PRAGMA page_size = {_PAGE}")
                _use_log(connection)
                # Safe at a kill at any time; at a loss of power the last documents may be lost.
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT}")
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _reader(self) -> sqlite3.Connection:
        """A connection that only reads; where not even SQLite's own files can be written too."""
        if self.path == MEMORY:
            raise StoreError("an index in memory is new, so it cannot be read only; give a path")
        uri = Path(self.path).absolute().as_uri()
        connection = _connected(f"{uri}?mode=ro", uri=True)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            log = self._log()
            if log.exists() and log.stat().st_size:
                raise
            self._still = self._state()
            connection = _connected(f"{uri}?mode=ro&immutable=1", uri=True)
        return connection

    def _log(self) -> Path:
        """Where SQLite keeps its log: beside the file itself, not beside a link to it."""
        return Path(os.path.realpath(self.path) + "-wal")

    def _state(self) -> tuple[int, ...]:
        """What tells whether the file or its log was written to."""
        found = []
        for path in (Path(self.path), self._log()):
            if path.exists():
                state = path.stat()
                found += [state.st_size, state.st_mtime_ns, state.st_ino]
        return tuple(found)

    def _refuse_changed(self) -> None:
        """Raise `StoreError` where a file that is read without a lock is no longer as it was."""
        if self._still is not None and self._still != self._state():
            raise StoreError(
                f"{self.path}: another process wrote to it while it was read without a lock, since "
                "its folder cannot be written to; open it again"
            )

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Have the tables of this version, and a word index of the words of now."""
        if is_current(connection) and has_words_of_now(connection):
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            upgrade(connection, self.path)
            if not has_words_of_now(connection):
                write_words_of_now(connection)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # SQLite may have ended it by itself
                connection.execute("ROLLBACK")
            raise


def _use_log(connection: sqlite3.Connection) -> None:
    """Write by way of a log; SQLite does not wait for another process that begins to do so too."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as fault:
            if "locked" not in str(fault) or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _connected(path: str, *, uri: bool = False) -> sqlite3.Connection:
    try:
        return sqlite3.connect(
            path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False, uri=uri
        )
    except ValueError as fault:  # a name that no file can have
        raise StoreError(f"{shown(path)}: {fault}; check the path") from None
