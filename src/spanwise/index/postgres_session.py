"""The session with a PostgreSQL server: opened, read and written in transactions, faults told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from spanwise.errors import OptionError, StoreError, shown
from spanwise.extras import require_extra
from spanwise.index.postgres_schema import (
    WRITERS,
    check_readable,
    is_current,
    prepare,
    set_path,
)
from spanwise.index.postgres_words import has_words_of_now, write_words_of_now
from spanwise.index.turns import Turns

__all__ = ["PostgresSession"]

# Seconds a writer waits for another one: each writes one document at a time.
_PATIENCE = 60

# PostgreSQL cuts longer names, so that two of them could be one.
_LONGEST_NAME = 63


class PostgresSession:
    """One connection, which threads may share: they take turns.

    A writer holds a lock of its schema, so that there is one at a time, and reads what is
    committed; a reader sees the moment at which it began.
    """

    def __init__(self, conninfo: str, schema: str, *, read_only: bool) -> None:
        if not schema or "\0" in schema or len(schema.encode("utf-8", "replace")) > _LONGEST_NAME:
            raise OptionError(
                f"schema={shown(schema)} is no name of a schema, which has 1 to {_LONGEST_NAME} "
                "bytes; give another"
            )
        self._psycopg = require_extra("psycopg", "pgvector", "a PostgreSQL store")
        self._schema = schema
        self._read_only = read_only
        self._turns = Turns(self._faults)
        self._closed = False
        self.name = f"schema {schema!r}"
        with self._faults():
            self.connection = self._connect(conninfo)

    def close(self) -> None:
        """Close the connection; closing twice does nothing."""
        with self._turns.lock:
            self._closed = True
            self.connection.close()

    def reading(self) -> AbstractContextManager[None]:
        """Within it, all that is read is of one moment."""
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", writes=False)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within it, all that is written is written, or nothing; one writer at a time."""
        if self._read_only:
            raise StoreError(f"{self.name}: it is open for reading only; open it without read_only")
        with self._transaction("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", writes=True):
            if self._turns.depth == 1:
                self.connection.execute(
                    "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (WRITERS, self._schema)
                )
            yield

    def all(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows that a statement answers."""
        with self._turns.lock, self._faults():
            rows: list[Any] = self.connection.execute(statement, values, binary=True).fetchall()
            return rows

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """How many rows a statement changed."""
        with self._turns.lock, self._faults():
            count: int = self.connection.execute(statement, values).rowcount
            return count

    def _transaction(self, begin: str, *, writes: bool) -> AbstractContextManager[None]:
        run = self.connection.execute
        return self._turns.transaction(
            lambda: run(begin), lambda: run("COMMIT"), self._roll_back, writes=writes
        )

    def _roll_back(self) -> None:
        if not self.connection.closed:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What psycopg raises, told as what to do."""
        errors = self._psycopg.errors
        try:
            yield
        except (self._psycopg.OperationalError, self._psycopg.InterfaceError) as fault:
            way_out = "check that the server runs and is reached, and open the index again"
            if self._closed:
                way_out = "open the index again"
            elif isinstance(fault, (errors.LockNotAvailable, errors.QueryCanceled)):
                way_out = "another process holds it; try again when that is done"
            elif isinstance(fault, (errors.DiskFull, errors.OutOfMemory)):
                way_out = "free some room on the server"
            raise StoreError(f"{self.name}: {_said(fault)}; {way_out}") from fault
        except errors.InsufficientPrivilege as fault:
            raise StoreError(
                f"{self.name}: {_said(fault)}; have these rights granted, or what is missing made "
                "by who has them"
            ) from fault
        except errors.ReadOnlySqlTransaction as fault:
            raise StoreError(
                f"{self.name}: {_said(fault)}; open it without read_only to change it"
            ) from fault
        except self._psycopg.Error as fault:
            raise StoreError(
                f"{self.name}: {_said(fault)}; it is damaged or no index: restore it, or index "
                "anew into another schema"
            ) from fault

    def _connect(self, conninfo: str) -> Any:
        try:
            connection = self._psycopg.connect(conninfo, autocommit=True, prepare_threshold=None)
        except self._psycopg.ProgrammingError:
            # What it says may hold a part of a password.
            raise StoreError(
                "conninfo cannot be read as a connection string; give for example "
                "'host=localhost dbname=docs', or a URL that begins with postgresql://"
            ) from None
        try:
            self.name = f"{connection.info.dbname}/{self._schema}"
            connection.execute("SET client_encoding TO 'UTF8'")
            connection.execute("SET default_transaction_isolation TO 'read committed'")
            connection.execute(f"SET lock_timeout TO '{_PATIENCE}s'")
            if self._read_only:
                connection.execute("SET default_transaction_read_only TO on")
                check_readable(connection, self._schema, self.name)
                set_path(connection, self._schema)
            else:
                self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: Any) -> None:
        """Have the tables of this version, and a word index of the words of now."""
        if not is_current(connection, self._schema):
            with connection.transaction():
                prepare(connection, self._schema, self.name)
        set_path(connection, self._schema)
        if not has_words_of_now(connection):
            with connection.transaction():
                connection.execute(
                    "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (WRITERS, self._schema)
                )
                if not has_words_of_now(connection):
                    write_words_of_now(connection)


def _said(fault: BaseException) -> str:
    """What the server said, in one line."""
    return " ".join(str(fault).split()) or type(fault).__name__
