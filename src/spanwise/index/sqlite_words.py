"""The word index in SQLite: FTS5 without a copy of the text, and the words it knows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from typing import Any

from spanwise.index.queries import WORDS_VERSION, WordQuery, indexed_text
from spanwise.index.rows import ChunkRow
from spanwise.index.sqlite_schema import COLUMNS, change_settings, make_words, text_of
from spanwise.stemming import stem

__all__ = ["WordIndex", "has_words_of_now", "stored_stems", "write_words_of_now"]

# A word of the context counts as two of the text; benchmarks/quality.py.
_WEIGHTS = "2.0, 1.0"

# A query of more words is asked by the rarest of them, a beginning by so many words.
_MOST_PHRASES, _MOST_BEGUN = 128, 256

# So many words are remembered to be in the vocabulary.
_REMEMBERED = 1 << 18

_WORDS = re.compile(r"[0-9a-z\x80-\U0010ffff]+")


class WordIndex:
    """The words of every passage and of its context, with or without stems.

    FTS5 keeps where each word is and no text; to forget a passage it has to be told the words
    that it was given. The vocabulary holds every word as it was written, since a beginning of a
    word need not be one of its stem.
    """

    __slots__ = ("_connection", "_known", "stems")

    def __init__(self, connection: sqlite3.Connection, *, stems: bool) -> None:
        self._connection = connection
        self._known: set[str] = set()
        self.stems = stems

    def write_anew(self) -> None:
        """Write the words of all passages, in the transaction that is open."""
        run = self._connection.execute
        make_words(self._connection, self.stems)
        run("DELETE FROM vocabulary")
        for document, text in run("SELECT id, text FROM documents").fetchall():
            rows = run(f"SELECT id, {COLUMNS} FROM chunks WHERE document = ?", (document,))
            self.add(text_of(text), [(key, ChunkRow(*row)) for key, *row in rows])
        change_settings(self._connection, {"words": WORDS_VERSION, "stems": str(int(self.stems))})

    def add(self, text: str, rows: Sequence[tuple[int, ChunkRow]]) -> None:
        """Add passages of a text, each with its key."""
        entries = _entries(text, rows)
        self._connection.executemany(
            "INSERT INTO words (rowid, context, text) VALUES (?, ?, ?)", entries
        )
        found: set[str] = set()
        for _, context, words in entries:
            found.update(_WORDS.findall(words.lower()))
            found.update(_WORDS.findall(context.lower()))
        found -= self._known
        self._connection.executemany(
            "INSERT OR IGNORE INTO vocabulary (word) VALUES (?)",
            [(word,) for word in sorted(found)],
        )
        if len(self._known) + len(found) > _REMEMBERED:
            self._known.clear()
        self._known |= found

    def drop(self, text: str, rows: Sequence[tuple[int, ChunkRow]]) -> None:
        """Forget passages of a text as it was when they were added."""
        self._connection.executemany(
            "INSERT INTO words (words, rowid, context, text) VALUES ('delete', ?, ?, ?)",
            _entries(text, rows),
        )

    def find(
        self, query: WordQuery, allowed: tuple[str, list[Any]] | None, limit: int
    ) -> list[tuple[int, int, int, float]]:
        """Key, document, number and score of the best passages, best first.

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
        return self._connection.execute(
            f"SELECT id, document, position, score FROM ({best}) JOIN chunks ON id = key "
            "ORDER BY score DESC, id",
            values,
        ).fetchall()

    def _expression(self, query: WordQuery) -> str:
        """A query in the language of FTS5; every word in quotes, so that none is a command."""
        phrases = [" ".join(phrase) for phrase in query.phrases]
        if len(phrases) > _MOST_PHRASES:
            phrases = self._rarest(phrases)
        for begun in query.prefixes:
            words = self._connection.execute(
                "SELECT word FROM vocabulary WHERE word >= ? AND word < ? LIMIT ?",
                (begun, begun + "\U0010ffff", _MOST_BEGUN),
            )
            phrases += [word for (word,) in words]
        return " OR ".join(f'"{phrase}"' for phrase in dict.fromkeys(phrases))

    def _rarest(self, phrases: list[str]) -> list[str]:
        """The phrases whose rarest words are in the fewest passages, but for those of none."""
        counted = sorted((self._count(phrase), i) for i, phrase in enumerate(phrases))
        return [phrases[i] for count, i in counted if count][:_MOST_PHRASES]

    def _count(self, phrase: str) -> int:
        """In how many passages the rarest word of a phrase is."""
        counts = []
        for word in phrase.split():
            row = self._connection.execute(
                "SELECT doc FROM words_terms WHERE term = ?",
                (stem(word) if self.stems else word,),
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
    WordIndex(connection, stems=stored_stems(connection)).write_anew()


def _setting(connection: sqlite3.Connection, name: str, default: str) -> str:
    row = connection.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
    return row[0] if row else default
