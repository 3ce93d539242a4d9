"""The tables of an index in SQLite, and how an older file becomes a newer one.

Text that may hold lone surrogates, which SQLite does not take, is kept as bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from spanwise.errors import StoreError

__all__ = [
    "change_settings",
    "check_readable",
    "is_current",
    "make_words",
    "marks",
    "parts",
    "upgrade",
]

# "spnw" in ASCII: says that a file is an index of this library.
_APPLICATION = 0x73706E77

# SQLite takes at most so many values in one statement.
_MOST_VALUES = 900

_FIRST = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE state (generation INTEGER NOT NULL);
INSERT INTO state VALUES (0);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace BLOB NOT NULL,
    uri BLOB NOT NULL,
    media_type TEXT NOT NULL,
    recipe TEXT NOT NULL,
    characters INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    meta TEXT NOT NULL,
    changes TEXT NOT NULL,
    source TEXT NOT NULL,
    layout BLOB NOT NULL,
    checksum BLOB NOT NULL,
    text BLOB NOT NULL,
    UNIQUE (namespace, uri)
);
CREATE TABLE labels (
    key BLOB NOT NULL,
    value TEXT NOT NULL,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    PRIMARY KEY (key, value, document)
) WITHOUT ROWID;
CREATE INDEX labels_of_document ON labels (document);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    position INTEGER NOT NULL,
    start INTEGER NOT NULL,
    body INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    digest BLOB NOT NULL,
    name TEXT NOT NULL,
    boundary TEXT NOT NULL,
    about TEXT NOT NULL
);
CREATE INDEX chunks_of_document ON chunks (document, position);
CREATE INDEX chunks_of_digest ON chunks (digest);
CREATE TABLE spaces (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces,
    digest BLOB NOT NULL,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (space, digest)
);
"""

# At generation `tidy` every vector had a passage. A graph is in parts, in order of their ids.
_SECOND = """
ALTER TABLE state ADD COLUMN tidy INTEGER NOT NULL DEFAULT 0;
CREATE TABLE graphs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES spaces,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""

Value = TypeVar("Value")

# Each step takes a file from the version of its number to the next one.
_STEPS: tuple[Callable[[sqlite3.Connection], object], ...] = (
    lambda connection: _run(connection, _FIRST),
    lambda connection: _run(connection, _SECOND),
)

_VERSION = len(_STEPS)


def marks(values: Sequence[object]) -> str:
    """The question marks for so many values."""
    return ", ".join("?" * len(values))


def parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    """Values in parts of as many as one statement takes."""
    for i in range(0, len(values), _MOST_VALUES):
        yield values[i : i + _MOST_VALUES]


def change_settings(connection: sqlite3.Connection, settings: Mapping[str, str]) -> None:
    """Set these settings."""
    connection.executemany(
        "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", settings.items()
    )


def is_current(connection: sqlite3.Connection) -> bool:
    """Whether a file is an index of this version."""
    return _marks_of(connection)[:2] == (_APPLICATION, _VERSION)


def refuse_others(connection: sqlite3.Connection, name: str) -> int:
    """The version of a file; `StoreError` for one of a newer library or that is no index."""
    application, found, tables = _marks_of(connection)
    if application != _APPLICATION and (application or found or tables):
        raise StoreError(f"{name}: it is a database of another kind; give another path")
    if found > _VERSION:
        raise StoreError(
            f"{name}: it has format {found}, and this version of spanwise reads up to "
            f"{_VERSION}; install a newer spanwise, or index into another file"
        )
    return found


def check_readable(connection: sqlite3.Connection, name: str) -> None:
    """Raise `StoreError` for a file of another version and for one that is no index."""
    found = refuse_others(connection, name)
    if found < _VERSION:
        raise StoreError(
            f"{name}: it has format {found}, which has to be brought to {_VERSION} first; open it "
            "once without read_only"
        )


def upgrade(connection: sqlite3.Connection, name: str) -> None:
    """Bring a file to the newest version, in the transaction that is open.

    Raises `StoreError` for a file of a newer library and for one that is no index.
    """
    found = refuse_others(connection, name)
    if found < _VERSION:
        for step in _STEPS[found:]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_VERSION}")


def _marks_of(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """What a file says it is, its version, and how many tables it has, all of one moment."""
    marks: tuple[int, int, int] = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master) "
        "FROM pragma_application_id, pragma_user_version"
    ).fetchone()
    return marks


def make_words(connection: sqlite3.Connection, stems: bool) -> None:
    """Make an empty word index, which holds no text, only where each word is.

    `vocabulary` holds each word as it is written, and not where: a beginning of a word need not be
    one of its stem.
    """
    for table in ("words", "vocabulary"):
        connection.execute(f"DROP TABLE IF EXISTS {table}_terms")
        connection.execute(f"DROP TABLE IF EXISTS {table}")
    tokenizer = "porter ascii" if stems else "ascii"
    connection.execute(
        f"CREATE VIRTUAL TABLE words USING fts5(context, text, content='', tokenize='{tokenizer}')"
    )
    connection.execute(
        "CREATE VIRTUAL TABLE vocabulary USING fts5"
        "(text, content='', detail=none, columnsize=0, tokenize='ascii')"
    )
    for table in ("words", "vocabulary"):
        connection.execute(f"CREATE VIRTUAL TABLE {table}_terms USING fts5vocab({table}, 'row')")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Run statements one by one: `executescript` would end the transaction first."""
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(statement)
