"""The word index in PostgreSQL: BM25 over postings, equal to that of SQLite's FTS5.

A posting is a word of a passage as it was written: how often it is in the context and in the text,
and where. The vocabulary says which term each word is compared by: itself or its stem. So a
beginning of a word finds what is there, and what was there once leaves nothing behind. Words are
parted as FTS5's tokenizer `ascii` does, in bytes, so that both stores find the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from spanwise.index.postgres_schema import read_settings, write_settings
from spanwise.index.queries import WORDS_VERSION, WordQuery, indexed_text
from spanwise.index.rows import ChunkRow, Found
from spanwise.index.tables import COLUMNS
from spanwise.index.texts import bytes_of, text_of
from spanwise.stemming import stem

__all__ = [
    "WordIndex",
    "has_words_of_now",
    "postings_of",
    "terms_of",
    "words_of",
    "write_words_of_now",
]

# A posting: the word, how often it is in the context and in the text, and its places.
Posting = tuple[bytes, int, int, list[int]]

# A query of more words is asked by the rarest of them.
_MOST_PHRASES = 128

# Bytes of a word that are compared: a B-tree holds no rows above 2,704, FTS5 compares 32,768.
_LONGEST = 2000

# The first place of a context; those of the text begin at 0, so no phrase is in both.
_CONTEXT = -(1 << 30)

# How bytes begin that are written in hexadecimal digits, in a line of COPY and in an array.
_HEX = "\\\\x"

_WORDS = re.compile(rb"[0-9a-z\x80-\xff]+")

_ASKED = """
WITH asked AS (
    SELECT * FROM unnest(%s::int[], %s::int[], %s::int[], %s::bytea[])
        AS given (phrase, size, place, term)
)"""

_SINGLE = """
    SELECT phrase, chunk, sum(2 * in_context + in_text)::float8 AS often
    FROM asked JOIN vocabulary USING (term) JOIN postings USING (word)
    WHERE size = 1 GROUP BY phrase, chunk"""

# Every place where the phrase would begin by one of its words; where all agree it is.
_PHRASES = """
    UNION ALL
    SELECT phrase, chunk, sum(CASE WHEN origin < 0 THEN 2 ELSE 1 END)::float8 FROM (
        SELECT phrase, chunk, spot - place AS origin
        FROM asked JOIN vocabulary USING (term) JOIN postings USING (word)
            CROSS JOIN unnest(places) AS spot
        WHERE size > 1 GROUP BY phrase, chunk, size, origin HAVING count(*) = size
    ) AS placed GROUP BY phrase, chunk"""

# As `bm25(words, 2.0, 1.0)` of FTS5, https://sqlite.org/fts5.html#the_bm25_function: a word of
# the context counts as two; all words of both make the length; a phrase is rare by the passages
# of the whole index. The sum is in the order of the phrases, so that equal passages score alike.
_BEST = """
, hits AS MATERIALIZED (
    SELECT phrase, chunk, often,
        ln((%s::float8 - n + 0.5::float8) / (n + 0.5::float8)) AS idf
    FROM (
        SELECT *, (count(*) OVER (PARTITION BY phrase))::float8 AS n FROM ({hits}
        ) AS found
    ) AS counted
)
SELECT id, document, position, score, (
    SELECT max(position) + 1 FROM chunks WHERE document = best.document
) FROM (
    SELECT id, document, position, sum(
        (CASE WHEN idf <= 0 THEN 1e-6::float8 ELSE idf END) * (
            (often * (1.2::float8 + 1.0::float8)) / (often + 1.2::float8 * (
                1.0::float8 - 0.75::float8 + 0.75::float8 * words / %s::float8
            ))
        ) ORDER BY phrase
    ) AS score
    FROM hits JOIN chunks ON id = chunk WHERE document IN ({allowed})
    GROUP BY id ORDER BY score DESC, id LIMIT %s
) AS best ORDER BY score DESC, id
"""


class WordIndex:
    """The words of every passage and of its context, compared with or without stems.

    Words stay in the vocabulary when their passages go, and find nothing.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @property
    def stems(self) -> bool:
        """Whether there are stems: asked each time, since another process may change it."""
        return read_settings(self._connection).get("stems", "1") == "1"

    def write_anew(self, stems: bool) -> None:
        """Write the words of all passages, in the transaction that is open."""
        run = self._connection.execute
        write_settings(self._connection, {"words": WORDS_VERSION, "stems": str(int(stems))})
        for table in ("postings", "vocabulary"):
            run(f"DELETE FROM {table}")
        run("UPDATE state SET passages = 0, words = 0")
        for (key,) in run("SELECT id FROM documents ORDER BY id").fetchall():
            (text,) = run(
                "SELECT text FROM documents WHERE id = %s", (key,), binary=True
            ).fetchone()
            rows = run(
                f"SELECT id, {COLUMNS} FROM chunks WHERE document = %s", (key,), binary=True
            ).fetchall()
            counts = self.add(
                text_of(text),
                [(chunk, ChunkRow(*row)) for chunk, *row in rows],
            )
            with self._connection.cursor() as cursor:
                cursor.executemany(
                    "UPDATE chunks SET words = %s WHERE id = %s",
                    [(count, row[0]) for count, row in zip(counts, rows, strict=True)],
                )

    def add(self, text: str, rows: Sequence[tuple[int, ChunkRow]]) -> list[int]:
        """Add passages of a text, each with its key; how many words each has."""
        stems = self.stems
        counts: list[int] = []
        surface: set[bytes] = set()
        lines: list[str] = []
        for key, row in rows:
            context, own = words_of(text, row)
            for word, in_context, in_text, places in postings_of(context, own):
                spots = ",".join(map(str, places))
                lines.append(f"{key}\t{_HEX}{word.hex()}\t{in_context}\t{in_text}\t{{{spots}}}\n")
            counts.append(len(context) + len(own))
            surface.update(context, own)
        with self._connection.cursor().copy(
            "COPY postings (chunk, word, in_context, in_text, places) FROM STDIN"
        ) as copy:
            copy.write("".join(lines))
        written = sorted(surface)
        self._connection.execute(
            "INSERT INTO vocabulary (word, term) SELECT * FROM unnest(%s::bytea[], %s::bytea[]) "
            "ON CONFLICT DO NOTHING",
            (_array(written), _array(terms_of(written, stems))),
        )
        self._count(len(counts), sum(counts))
        return counts

    def drop(self, keys: Sequence[int]) -> None:
        """Forget passages; their rows are there still."""
        run = self._connection.execute
        (words,) = run(
            "SELECT coalesce(sum(words), 0)::bigint FROM chunks WHERE id = ANY(%s::bigint[])",
            (list(keys),),
        ).fetchone()
        run("DELETE FROM postings WHERE chunk = ANY(%s::bigint[])", (list(keys),))
        self._count(-len(keys), -words)

    def forget_unused(self) -> None:
        """Take the words out of the vocabulary that no passage has."""
        self._connection.execute(
            "DELETE FROM vocabulary WHERE NOT EXISTS "
            "(SELECT 1 FROM postings WHERE postings.word = vocabulary.word)"
        )

    def _count(self, passages: int, words: int) -> None:
        if passages:
            self._connection.execute(
                "UPDATE state SET passages = passages + %s, words = words + %s", (passages, words)
            )

    def find(self, query: WordQuery, allowed: tuple[str, list[Any]], limit: int) -> list[Found]:
        """The best passages, best first.

        ``allowed`` is a query for the keys of documents and its values.
        """
        phrases = self._phrases(query, self.stems)
        asked = [
            (number, len(phrase), place, term)
            for number, phrase in enumerate(phrases)
            for place, term in enumerate(phrase)
        ]
        if not asked:
            return []
        columns = [list(column) for column in zip(*asked, strict=True)]
        passages, counted = self._connection.execute("SELECT passages, words FROM state").fetchone()
        if not counted:
            return []
        hits = _SINGLE + (_PHRASES if any(len(phrase) > 1 for phrase in phrases) else "")
        rows = self._connection.execute(
            _ASKED + _BEST.format(hits=hits, allowed=allowed[0]),
            (*columns, passages, counted / passages, *allowed[1], limit),
            binary=True,
        )
        return [Found(*row) for row in rows]

    def _phrases(self, query: WordQuery, stems: bool) -> list[tuple[bytes, ...]]:
        """The phrases of a query in the words of the index, those of beginnings too.

        Two words of one stem are two phrases, as they are for FTS5.
        """
        named = {name: _split(name) for name in map(" ".join, query.phrases)}
        if len(named) > _MOST_PHRASES:
            named = self._rarest(named, stems)
        for begun in query.prefixes:
            start = bytes_of(begun)[:_LONGEST]
            rows = self._connection.execute(
                "SELECT word FROM vocabulary WHERE word >= %s AND word < %s AND EXISTS "
                "(SELECT 1 FROM postings WHERE postings.word = vocabulary.word) ORDER BY word",
                (start, start + b"\xff"),
                binary=True,
            ).fetchall()
            # Words of one stem count as one.
            found = {terms_of([word], stems): word for (word,) in reversed(rows)}
            for word in sorted(found.values())[: query.most_begun]:
                named[word.decode("utf-8", "replace")] = [word]
        return [terms_of(words, stems) for words in named.values() if words]

    def _rarest(self, named: dict[str, list[bytes]], stems: bool) -> dict[str, list[bytes]]:
        """The phrases whose rarest words are in the fewest passages, but for those of none."""
        terms = {term for words in named.values() for term in terms_of(words, stems)}
        rows = self._connection.execute(
            "SELECT term, count(DISTINCT chunk) FROM vocabulary JOIN postings USING (word) "
            "WHERE term = ANY(%s::bytea[]) GROUP BY term",
            (sorted(terms),),
            binary=True,
        ).fetchall()
        known = dict(rows)
        counted = sorted(
            (min((known.get(term, 0) for term in terms_of(words, stems)), default=0), i, name)
            for i, (name, words) in enumerate(named.items())
        )
        kept = [name for count, _, name in counted if count][:_MOST_PHRASES]
        return {name: named[name] for name in kept}


def words_of(text: str, row: ChunkRow) -> tuple[list[bytes], list[bytes]]:
    """The words of a passage's context, and its own, as they were written but for case."""
    own = text[row.start : row.end]
    return _split(indexed_text(row.context)), _split(indexed_text(own))


def postings_of(context: Sequence[bytes], own: Sequence[bytes]) -> Iterator[Posting]:
    """The postings of a passage, from the words of its context and its own."""
    found: dict[bytes, list[int]] = {}
    for first, words in ((_CONTEXT, context), (0, own)):
        for place, word in enumerate(words, first):
            found.setdefault(word, []).append(place)
    for word, places in found.items():
        in_context = sum(place < 0 for place in places)
        yield word, in_context, len(places) - in_context, places


def _split(text: str) -> list[bytes]:
    """The words of an indexed text in order; `lower` of bytes leaves all but ASCII alone."""
    words = _WORDS.findall(bytes_of(text).lower())
    return [word[:_LONGEST] for word in words]


def _array(values: Iterable[bytes]) -> str:
    """An array of bytes as PostgreSQL reads it: made by psycopg it takes ten times as long."""
    return "{" + ",".join(f'"{_HEX}{value.hex()}"' for value in values) + "}"


def terms_of(words: Sequence[bytes], stems: bool) -> tuple[bytes, ...]:
    """What words are compared by: their stems or themselves."""
    return tuple(_term(word) if stems else word for word in words)


@lru_cache(maxsize=1 << 15)
def _term(word: bytes) -> bytes:
    """The stem of a word; one that was cut is too long to have one."""
    if len(word) >= _LONGEST:
        return word
    return bytes_of(stem(text_of(word)))


def has_words_of_now(connection: Any) -> bool:
    """Whether the word index of a schema has the words that texts are read into now."""
    return read_settings(connection).get("words") == WORDS_VERSION


def write_words_of_now(connection: Any) -> None:
    """Write the word index of a schema anew, in the transaction that is open."""
    words = WordIndex(connection)
    words.write_anew(words.stems)
