"""The word index in SQLite: FTS5 without a copy of the text, and the words it knows."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from spanwise.index.queries import WORDS_VERSION, WordQuery, indexed_text
from spanwise.index.rows import ChunkRow, Found
from spanwise.index.sqlite_schema import change_settings, make_words
from spanwise.index.tables import COLUMNS
from spanwise.index.texts import text_of
from spanwise.stemming import stem

__all__ = ["WordIndex", "has_words_of_now", "stored_stems", "write_words_of_now"]

# A word of the context counts as two of the text; benchmarks/quality.py.
_WEIGHTS = "2.0, 1.0"

# A query of more words is asked by the rarest of them.
_MOST_PHRASES = 128


class WordIndex:
    """The words of every passage and of its context, with or without stems.

    FTS5 keeps where each word is and no text; to forget a passage it has to be told the words
    that it was given.
    """

    __slots__ = ("_connection", "_fresh", "_gone")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._gone: list[tuple[int, str, str]] = []
        self._fresh: dict[int, tuple[int, str, str]] = {}

    def write_anew(self, stems: bool) -> None:
        """Write the words of all passages, in the transaction that is open."""
        run = self._connection.execute
        make_words(self._connection, stems)
        for document, text in run("SELECT id, text FROM documents").fetchall():
            rows = run(f"SELECT id, {COLUMNS} FROM chunks WHERE document = ?", (document,))
            self.add(text_of(text), [(key, ChunkRow(*row)) for key, *row in rows])
            self.settle()
        change_settings(self._connection, {"words": WORDS_VERSION, "stems": str(int(stems))})

    def add(self, text: str, rows: Sequence[tuple[int, ChunkRow]]) -> None:
        """Add passages of a text, each with its key; `settle` writes them."""
        self._fresh.update((entry[0], entry) for entry in _entries(text, rows))

    def drop(self, text: str, rows: Sequence[tuple[int, ChunkRow]]) -> None:
        """Forget passages of a text as it was when they were added; `settle` writes it."""
        # What was added in this transaction is not written yet.
        written = [each for each in rows if self._fresh.pop(each[0], None) is None]
        self._gone += _entries(text, written)

    def settle(self) -> None:
        """Write what was added and forgotten, at the end of a transaction.

        FTS5 writes out what it has gathered whenever another table is written to, so all of a
        transaction goes in together.
        """
        gone, self._gone = self._gone, []
        fresh, self._fresh = [*self._fresh.values()], {}
        self._connection.executemany(
            "INSERT INTO words (words, rowid, context, text) VALUES ('delete', ?, ?, ?)", gone
        )
        self._connection.executemany(
            "INSERT INTO words (rowid, context, text) VALUES (?, ?, ?)", fresh
        )
        self._connection.executemany(
            "INSERT INTO vocabulary (vocabulary, rowid, text) VALUES ('delete', ?, ?)",
            [(key, f"{context} {text}") for key, context, text in gone],
        )
        self._connection.executemany(
            "INSERT INTO vocabulary (rowid, text) VALUES (?, ?)",
            [(key, f"{context} {text}") for key, context, text in fresh],
        )

    def forget(self) -> None:
        """Write nothing of what was added and forgotten: the transaction failed."""
        self._gone, self._fresh = [], {}

    def find(
        self, query: WordQuery, allowed: tuple[str, list[Any]] | None, limit: int
    ) -> list[Found]:
        """The best passages, best first.

        ``allowed`` is a query for the keys of documents and its values; None for all.
        """
        asked = self._expression(query)
        if not asked:
            return []
        if allowed is None:
            best = (
                "SELECT rowid AS key, -rank AS score FROM words WHERE words MATCH ? "
                f"AND rank MATCH 'bm25({_WEIGHTS})' ORDER BY rank LIMIT ?"
            )
            values: tuple[Any, ...] = (asked, limit)
        else:
            best = (
                f"SELECT words.rowid AS key, -bm25(words, {_WEIGHTS}) AS score "
                "FROM words CROSS JOIN chunks ON chunks.id = words.rowid "
                f"WHERE words MATCH ? AND chunks.document IN ({allowed[0]}) "
                "ORDER BY score DESC, key LIMIT ?"
            )
            values = (asked, *allowed[1], limit)
        rows = self._connection.execute(
            "SELECT c.id, c.document, c.position, score, "
            "(SELECT max(position) + 1 FROM chunks WHERE document = c.document) "
            f"FROM ({best}) JOIN chunks AS c ON c.id = key ORDER BY score DESC, c.id",
            values,
        )
        return [Found(*row) for row in rows]

    def _expression(self, query: WordQuery) -> str:
        """A query in the language of FTS5; every word in quotes, so that none is a command."""
        phrases = [" ".join(phrase) for phrase in query.phrases]
        if len(phrases) > _MOST_PHRASES:
            phrases = self._rarest(phrases)
        for begun in query.prefixes:
            words = self._connection.execute(
                "SELECT CAST(term AS BLOB) FROM vocabulary_terms WHERE term >= ? AND term < ?",
                (begun, begun + "\U0010ffff"),
            )
            # Words of one stem count as one, whichever of them there are.
            stems = stored_stems(self._connection)
            found: dict[str, str] = {}
            for (raw,) in words:
                word = raw.decode("utf-8", "ignore")  # cut off at 32 KiB
                found.setdefault(stem(word) if stems else word, word)
                if len(found) == query.most_begun:
                    break
            phrases += found.values()
        return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))

    def _rarest(self, phrases: list[str]) -> list[str]:
        """The phrases whose rarest words are in the fewest passages, but for those of none."""
        counted = sorted((self._count(phrase), i) for i, phrase in enumerate(phrases))
        return [phrases[i] for count, i in counted if count][:_MOST_PHRASES]

    def _count(self, phrase: str) -> int:
        """In how many passages the rarest word of a phrase is."""
        stems, counts = stored_stems(self._connection), []
        for word in phrase.split():
            row = self._connection.execute(
                "SELECT doc FROM words_terms WHERE term = ?",
                (stem(word) if stems else word,),
            ).fetchone()
            counts.append(row[0] if row else 0)
        return min(counts)


def _entries(text: str, rows: Sequence[tuple[int, ChunkRow]]) -> list[tuple[int, str, str]]:
    return [
        (key, indexed_text(row.context), indexed_text(text[row.start : row.end]))
        for key, row in rows
    ]


def stored_stems(connection: sqlite3.Connection) -> bool:
    """Whether the word index of a file has stems; a new one has."""
    return _setting(connection, "stems", "1") == "1"


def has_words_of_now(connection: sqlite3.Connection) -> bool:
    """Whether the word index of a file has the words that texts are read into now."""
    return _setting(connection, "words", "") == WORDS_VERSION


def write_words_of_now(connection: sqlite3.Connection) -> None:
    """Write the word index of a file anew, in the transaction that is open."""
    WordIndex(connection).write_anew(stored_stems(connection))


def _setting(connection: sqlite3.Connection, name: str, default: str) -> str:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return row[0] if row else default
