"""What a search answers: hits with their evidence, and every candidate with its fate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from spanwise.chunks import Chunk
from spanwise.index.queries import read_query
from spanwise.lexical import find_matches
from spanwise.snippets import Highlight, highlight
from spanwise.stemming import stem

__all__ = ["Candidate", "Hit", "Hits", "Standing"]

# So many code points around the chunk are looked through for words and snippets.
_NEAR = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where a passage stands: its rank from 1 and its score in each list; None where it is not.

    ``score`` decides the order: BM25, the cosine, their fusion, or what a reranker says.
    """

    score: float
    words_rank: int | None = None
    words_score: float | None = None
    meaning_rank: int | None = None
    meaning_score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that was found.

    ``text`` is ``document.text[start:end]``: the chunk, or more where hits were joined or
    neighbours asked for. ``joined`` are the ids of further chunks in it, ``repeats`` those of
    chunks elsewhere with the same words.
    """

    chunk: Chunk
    standing: Standing
    start: int
    end: int
    text: str
    joined: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()
    query: str = field(default="", repr=False)
    stems: bool = field(default=True, repr=False)

    @property
    def score(self) -> float:
        """What decides its place in the order."""
        return self.standing.score

    @property
    def citation(self) -> str:
        """Where the chunk is, as a person would cite it."""
        return self.chunk.citation

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the passage that the query matches, as they are written there."""
        text, _ = self._near
        found = find_matches(text, self.query, fold_accents=True, **self._matching)
        return tuple(dict.fromkeys(text[match.start : match.end] for match in found))

    def snippet(self, width: int = 200) -> Highlight:
        """The part of the passage that answers best, with the matched words marked."""
        text, origin = self._near
        return highlight(
            text,
            self.query,
            width=width,
            origin=origin,
            fold_accents=True,
            **self._matching,
        )

    @property
    def _matching(self) -> dict[str, Any]:
        """What the index takes for equal words, and for beginnings of words."""
        return {
            "stem": stem if self.stems else str,
            "begun": read_query(self.query).prefixes,
        }

    @property
    def _near(self) -> tuple[str, int]:
        """The text around the chunk, and where it starts: a whole book is not looked through."""
        start = max(self.start, self.chunk.start - _NEAR)
        end = min(self.end, self.chunk.end + _NEAR)
        return self.text[start - self.start : end - self.start], start

    def to_dict(self, width: int = 200) -> dict[str, Any]:
        """The hit in plain lists and dicts, with its snippet as text and as safe HTML."""
        found = self.snippet(width)
        standing = self.standing
        return {
            "id": self.chunk.id,
            "doc_uri": self.chunk.doc_uri,
            "citation": self.citation,
            "score": standing.score,
            "words_rank": standing.words_rank,
            "words_score": standing.words_score,
            "meaning_rank": standing.meaning_rank,
            "meaning_score": standing.meaning_score,
            "words": list(self.words),
            "snippet": found.plain(),
            "snippet_html": found.html(),
            "marks": [[mark.source_start, mark.source_end] for mark in found.marks],
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "heading_path": list(self.chunk.heading_path),
            "pages": list(self.chunk.pages),
            "lines": list(self.chunk.lines),
            "joined": list(self.joined),
            "repeats": list(self.repeats),
            "meta": dict(self.chunk.meta),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A passage that was looked at, and why it was returned or not."""

    id: str
    citation: str
    standing: Standing
    returned: bool
    why: str


class Hits(Sequence[Hit]):
    """The hits of a search, best first.

    ``mode`` is what was searched: words, meaning or both. ``candidates`` are all passages that
    were looked at, where that was asked for.
    """

    __slots__ = ("_hits", "candidates", "mode", "query")

    def __init__(
        self, query: str, mode: str, hits: Sequence[Hit], candidates: Sequence[Candidate] = ()
    ) -> None:
        self.query = query
        self.mode = mode
        self.candidates = tuple(candidates)
        self._hits = tuple(hits)

    def __len__(self) -> int:
        return len(self._hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self._hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    def __repr__(self) -> str:
        return f"<Hits: {len(self)} for {self.query!r} by {self.mode}>"
