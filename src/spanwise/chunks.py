"""A passage with its exact place, and the sequence of them a splitter answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any, overload

from spanwise.context import BETWEEN_HEADINGS, context_of, join_context
from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import Sizer, chars
from spanwise.cutting.spans import Spans
from spanwise.documents import Document
from spanwise.errors import SplitterError, shown
from spanwise.metadata import json_line
from spanwise.parts import Parts

__all__ = [
    "ID_BYTES",
    "Chunk",
    "Chunks",
    "TurnSpan",
]

# Twelve hexadecimal digits: among a million passages of one document two
# different ones share an id with a chance of 1 in 500.
ID_BYTES = 6

# Fields that the JSON form always has.
_ALWAYS = ("heading_path", "pages", "lines")


@dataclass(frozen=True, slots=True)
class TurnSpan:
    """Where a turn lies in its passage's text: ``[start, end)`` in code points.

    Of a turn that was cut it is the part that the passage shows.
    """

    seq: int
    item_id: str
    start: int
    end: int
    start_ms: int | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage: ``document.text[start:end] == text``.

    ``[body, end)`` is its own part and ``[start, body)`` overlap borrowed from
    the passage before. Pages, lines, places (such as ``rows 3-8``), heading path and citation
    are those of the own part; turns, their times and speakers those of all that is shown.
    ``context`` helps an embedder and is never part of ``text``.
    """

    id: str
    doc_uri: str
    index: int
    start: int
    body: int
    end: int
    text: str
    boundary: str
    heading_path: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    lines: tuple[int, ...]
    context: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    first_seq: int | None = None
    last_seq: int | None = None
    item_ids: tuple[str, ...] = ()
    start_ms: int | None = None
    end_ms: int | None = None
    speakers: tuple[str, ...] = ()
    turns: tuple[TurnSpan, ...] = ()
    places: tuple[str, ...] = ()

    @property
    def own_text(self) -> str:
        """The text without the overlap borrowed from before."""
        return self.text[self.body - self.start :]

    @property
    def embed_text(self) -> str:
        """What an embedder is given: the context, a blank line, the text."""
        return join_context(self.context, self.text)

    @property
    def citation(self) -> str:
        """Where the passage is, as a person would cite it.

        >>> from spanwise import by_heading
        >>> by_heading().split("# Refunds\\n\\nFive to ten days.")[0].citation
        'lines 1-3, Refunds'
        """
        places = [PurePosixPath(self.doc_uri).name or self.doc_uri] if self.doc_uri else []
        own = [turn for turn in self.turns if turn.end > self.body - self.start]
        start_ms = _first(turn.start_ms for turn in own)
        if start_ms is not None:
            places.append(clock(start_ms))
        if self.pages:
            many = len(self.pages) > 1
            places.append(
                f"pp. {self.pages[0]}-{self.pages[-1]}" if many else f"p. {self.pages[0]}"
            )
        places.extend(self.places)
        if self.lines and not self.pages and not self.places and start_ms is None:
            first, last = self.lines[0], self.lines[-1]
            places.append(f"line {first}" if first == last else f"lines {first}-{last}")
        if self.heading_path:
            places.append(BETWEEN_HEADINGS.join(self.heading_path))
        places.extend(dict.fromkeys(turn.speaker for turn in own if turn.speaker))
        return ", ".join(places)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, in plain lists and dicts; `from_dict` reads it back.

        Fields that say nothing here, such as the turns of a page, are left out.
        """
        plain = {
            each.name: value
            for each in fields(self)
            if (value := getattr(self, each.name)) not in (None, (), {}) or each.name in _ALWAYS
        }
        plain["meta"] = dict(self.meta)
        if self.turns:
            plain["turns"] = [
                {name: value for name, value in asdict(turn).items() if value is not None}
                for turn in self.turns
            ]
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in plain.items()
        }

    def to_json(self) -> str:
        """`to_dict` as one line of JSON; lone surrogates as escapes."""
        return json_line(self.to_dict() | {"citation": self.citation})

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Chunk:
        """The chunk that `to_dict` wrote; keys it does not know are left out."""
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in _known(cls, plain).items()
        }
        turns = (_known(TurnSpan, turn) for turn in values.get("turns", ()))
        values["turns"] = tuple(TurnSpan(**turn) for turn in turns)
        return cls(**values)


class Chunks(Sequence[Chunk]):
    """Passages in order: flat lists of positions; a `Chunk` is built when asked for.

    ``starts``, ``bodies``, ``ends`` and ``boundaries`` are lists of the same
    length; ``texts`` slices the document.
    """

    __slots__ = ("_ids", "bodies", "boundaries", "document", "ends", "limit", "sizer", "starts")

    def __init__(
        self,
        document: Document,
        spans: Spans,
        *,
        limit: Cap | None = None,
        sizer: Sizer = chars,
    ) -> None:
        self.document = document
        self.starts = spans.starts
        self.bodies = spans.bodies
        self.ends = spans.ends
        self.boundaries = spans.boundaries
        self.limit = limit
        self.sizer = sizer
        self._ids: list[str] | None = None

    @classmethod
    def from_spans(
        cls,
        document: Document,
        spans: Iterable[tuple[int, int] | tuple[int, int, int]],
        *,
        splitter: str = "a splitter",
    ) -> Chunks:
        """Chunks from positions that another splitter chose.

        ``spans`` are ``(start, end)`` or ``(start, body, end)`` in code points.
        Raises `SplitterError`, naming the span, when one is outside the text,
        empty, or out of order.

        >>> doc = Document(text="ab cd")
        >>> Chunks.from_spans(doc, [(0, 2), (3, 5)]).texts
        ['ab', 'cd']
        """
        if not isinstance(document, Document):
            raise SplitterError(
                f"{splitter}: {shown(document)} is no Document; make one with Document(text=...)"
            )
        made, length = Spans(), len(document.text)
        last_start, last_end = -1, 0
        for i, span in enumerate(spans):
            places = tuple(span) if isinstance(span, Iterable) else ()
            start, body, end = places if len(places) == 3 else (*places[:1], *places, 0, 0, 0)[:3]
            if len(places) not in (2, 3) or not all(type(place) is int for place in places):
                fault = "is not (start, end) or (start, body, end) in whole numbers"
            elif not 0 <= start <= body < end <= length:
                fault = f"is not 0 <= start <= body < end <= {length}, the text's length"
            elif start <= last_start:
                fault = f"does not start after the span before it, at {last_start}"
            elif body < last_end:
                fault = f"has its own part before {last_end}, where the one before it ends"
            else:
                made.starts.append(start)
                made.bodies.append(body)
                made.ends.append(end)
                made.boundaries.append("document" if i == 0 else "custom")
                last_start, last_end = start, end
                continue
            raise SplitterError(
                f"{splitter}: span {i}, {shown(places or span)}, {fault}; "
                "give half-open ranges of code points in order"
            )
        return cls(document, made)

    def __len__(self) -> int:
        return len(self.bodies)

    @overload
    def __getitem__(self, index: int) -> Chunk: ...
    @overload
    def __getitem__(self, index: slice) -> list[Chunk]: ...
    def __getitem__(self, index: int | slice) -> Chunk | list[Chunk]:
        if isinstance(index, slice):
            return [self._build(i) for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"chunk {index} of {len(self)}")
        return self._build(at)

    def __iter__(self) -> Iterator[Chunk]:
        return map(self._build, range(len(self)))

    def __repr__(self) -> str:
        return f"<Chunks: {len(self)} of {shown(self.document.uri or self.document.text, 40)}>"

    @property
    def texts(self) -> list[str]:
        """The text of every chunk."""
        text = self.document.text
        return [text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]

    @property
    def heading_paths(self) -> list[tuple[str, ...]]:
        """The heading path of every chunk."""
        outline = self.document.outline
        if not outline.structure.heading_starts:
            return [()] * len(self)
        at, paths = outline.heading_at, [*outline.paths, ()]
        return [paths[at(body, end)] for body, end in zip(self.bodies, self.ends, strict=True)]

    @property
    def ids(self) -> list[str]:
        """The id of every chunk: of its own text, with an ordinal for repeats."""
        if self._ids is None:
            text, uri = self.document.text, self.document.uri
            seen: dict[str, int] = {}
            ids = []
            for body, end in zip(self.bodies, self.ends, strict=True):
                raw = text[body:end].encode("utf-8", "surrogatepass")
                name = blake2b(raw, digest_size=ID_BYTES).hexdigest()
                count = seen[name] = seen.get(name, 0) + 1
                ids.append(f"{uri}#{name}" if count == 1 else f"{uri}#{name}-{count}")
            self._ids = ids
        return self._ids

    def drop_overlap_for_context(self) -> None:
        """Let overlap go where a passage with its whole context is over the cap."""
        if self.limit is None:
            return
        text, outline = self.document.text, self.document.outline
        last = -1
        for i, (start, body, end) in enumerate(
            zip(self.starts, self.bodies, self.ends, strict=True)
        ):
            if start < body:
                heading = outline.heading_at(body, end)
                context = context_of(self.document, body, body, heading, text[body:end], self.limit)
                whole = join_context(context, text[start:end])
                if start <= last or not self.limit.allows(whole):
                    self.starts[i] = body
            last = self.starts[i]

    def shipped(self, i: int, start: int, *, within: bool = True) -> str:
        """The string that chunk ``i`` would ship if it began at ``start``.

        Its context is within the cap, or whole where ``within`` is false.
        """
        body, end = self.bodies[i], self.ends[i]
        text = self.document.text[start:end]
        heading = self.document.outline.heading_at(body, end)
        limit = self.limit if within else None
        return join_context(context_of(self.document, start, body, heading, text, limit), text)

    def context_is_short(self, i: int) -> bool:
        """Whether the context of chunk ``i`` gave way to the cap."""
        start = self.starts[i]
        return self.shipped(i, start) != self.shipped(i, start, within=False)

    def _build(self, i: int) -> Chunk:
        """The chunk at an index: the one place where a `Chunk` is made."""
        document = self.document
        start, end = self.starts[i], self.ends[i]
        return Chunk(
            id=self.ids[i],
            doc_uri=document.uri,
            index=i,
            start=start,
            body=self.bodies[i],
            end=end,
            text=document.text[start:end],
            boundary=self.boundaries[i],
            meta=document.meta,
            **self.told(i),
        )

    def told(self, i: int) -> dict[str, Any]:
        """What a chunk says of itself beside its place and its text, by the names of its fields.

        What it has nothing to say of is left out, but for its lines.
        """
        document, outline = self.document, self.document.outline
        start, body, end = self.starts[i], self.bodies[i], self.ends[i]
        said: dict[str, Any] = {"lines": document.lines_between(body, end)}
        heading = -1
        if outline.structure.heading_starts:
            heading = outline.heading_at(body, end)
            if heading >= 0:
                said["heading_path"] = outline.paths[heading]
            titles = outline.titles_between(body, end)
            if titles:
                said["headings"] = titles
        context = context_of(document, start, body, heading, document.text[start:end], self.limit)
        if context:
            said["context"] = context
        if document.has_parts:
            pages = tuple(document.labels_between(body, end, "page"))
            places = document.places_between(body, end)
            said |= {"pages": pages, "places": places}
        if "turn" in document.kinds:
            said |= _of_turns(document.parts_between(start, end, "turn"), start, end)
        return said


def _known(kind: type[Any], plain: Mapping[str, Any]) -> dict[str, Any]:
    """What a value of a kind takes of some fields by name."""
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in plain.items() if name in names}


def _of_turns(turns: Parts, start: int, end: int) -> dict[str, Any]:
    """What a chunk of ``[start, end)`` says of its turns."""
    if not turns:
        return {}
    metas = turns.metas
    return {
        "first_seq": metas[0].get("seq"),
        "last_seq": metas[-1].get("seq"),
        "item_ids": tuple(meta.get("item_id", "") for meta in metas),
        "start_ms": _first(meta.get("start_ms") for meta in metas),
        "end_ms": _first(meta.get("end_ms") for meta in reversed(metas)),
        "speakers": tuple(dict.fromkeys(s for meta in metas if (s := meta.get("speaker")))),
        "turns": tuple(
            TurnSpan(
                meta.get("seq", 0),
                meta.get("item_id", ""),
                max(lo, start) - start,
                min(hi, end) - start,
                meta.get("start_ms"),
                meta.get("speaker", ""),
            )
            for lo, hi, meta in zip(turns.starts, turns.ends, metas, strict=True)
        ),
    }


def _first(values: Iterable[int | None]) -> int | None:
    """The first value that there is: a title before the first speaker has no time."""
    return next((value for value in values if value is not None), None)


def clock(milliseconds: int) -> str:
    """A time as ``hours:minutes:seconds``.

    >>> clock(724_000)
    '00:12:04'
    """
    seconds = milliseconds // 1000
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
