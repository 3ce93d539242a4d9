"""A text, where it came from, and what its positions mean there."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from codecs import lookup
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from spanwise.cutting.markdown import Structure, scan
from spanwise.cutting.outline import Outline
from spanwise.cutting.spans import is_white
from spanwise.errors import OptionError, shown
from spanwise.parts import Part, PartRow, Parts

__all__ = ["MARKDOWN", "RECORDS", "Document", "Location", "Turn"]

# A bare string has no media type and is read as Markdown, like a `.md` file.
MARKDOWN = ("", "text/markdown")

# Files of records, each on a line or several, whose loaders note them as parts.
RECORDS = ("application/jsonl", "application/x-ndjson", "text/csv", "text/tab-separated-values")

# More names than these are shown by the first and the last.
_MOST_NAMED = 3

# Encodings of which a part of a text has no bytes of its own.
_STATEFUL = ("iso2022", "hz", "utf-7", "euc_jis", "shift_jisx", "shift_jis_2004", "big5hkscs")

# Pages are joined as a person would type them: with a blank line.
_BETWEEN_PAGES = "\n\n"
_BETWEEN_TURNS = "\n"

# Parts that a citation names in another way, or that are finer than it.
_NAMED_APART = ("page", "turn", "box", "source line")

# Parts beside the text, which do not tell where a passage is that begins before them.
_ASIDE = ("attachment", "endnote", "footnote", "notes")

_LINE_END = re.compile(r"\r\n?|\n")


def _named(kind: str, labels: list[str]) -> str:
    """What some parts of a kind are called together."""
    first, last = labels[0], labels[-1]
    if len(set(labels)) == 1:
        return f"{kind} {first}"
    if all(label.isdecimal() for label in labels):
        return f"{kind}s {first}-{last}"
    shown_labels = labels if len(labels) <= _MOST_NAMED else [first, "…", last]
    return f"{kind}s {', '.join(shown_labels)}"


def _holds(parts: Parts, places: Sequence[int], position: int) -> bool:
    """Whether one of some parts holds a position."""
    return any(parts.starts[i] <= position < parts.ends[i] for i in places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a position of a document lies in its source.

    ``line`` and ``column`` count from 1, in code points; ``byte`` from 0, and is None where the
    text is not the file's own. ``parts`` are those that hold the position, in order of their
    starts: a page, a sheet and a row, a slide, a cue. ``line`` is that of the text, of the file
    only where ``byte`` is set.
    """

    line: int
    column: int
    byte: int | None
    parts: tuple[Part, ...] = ()
    heading_path: tuple[str, ...] = ()

    def part(self, kind: str) -> Part | None:
        """The innermost part of a kind, or None."""
        return next((part for part in reversed(self.parts) if part.kind == kind), None)


@dataclass(frozen=True, slots=True)
class Turn:
    """One speaker's turn in a transcript; times in milliseconds."""

    text: str
    seq: int
    item_id: str = ""
    start_ms: int | None = field(default=None, kw_only=True)
    end_ms: int | None = field(default=None, kw_only=True)
    speaker: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text that never changes, with the parts that lead back to its source.

    Args:
        text: the whole text; every position in this library counts its code points.
        uri: where it came from; empty for a bare string.
        media_type: such as ``text/markdown``; empty reads as Markdown.
        parts: labelled stretches in order of their starts; kept as a table (`Parts`).
        meta: anything to carry along to every chunk.
        structure: headings, code and tables, where a loader knows them; else Markdown is read.
        encoding: set where the text is the file's own: Python's name of what its bytes are in.
    """

    text: str
    uri: str = ""
    media_type: str = ""
    parts: Sequence[Part] = Parts()
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)
    structure: Structure | None = field(default=None, hash=False, repr=False)
    encoding: str = ""
    _cache: dict[str, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise OptionError(
                f"text={shown(self.text)} is {type(self.text).__name__}, not str; "
                "decode bytes first, or pass a path to the command line"
            )
        parts = Parts.of(self.parts)
        object.__setattr__(self, "parts", parts)
        last, size = 0, len(self.text)
        for i, (start, end) in enumerate(zip(parts.starts, parts.ends, strict=True)):
            if not last <= start <= end <= size:
                raise OptionError(
                    f"part {shown(parts[i].label)}, [{start}, {end}), is out of order or "
                    f"outside the text of {size}; sort parts by start"
                )
            last = start

    def __getstate__(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "uri": self.uri,
            "media_type": self.media_type,
            "parts": self.parts,
            "meta": dict(self.meta),
            "structure": self.structure,
            "encoding": self.encoding,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_cache", {})

    @classmethod
    def from_pages(
        cls, pages: Iterable[str], *, uri: str = "", media_type: str = "text/plain"
    ) -> Document:
        """A document of pages, numbered from 1 and joined by one blank line.

        >>> Document.from_pages(["One.", "Two."]).text
        'One.\\n\\nTwo.'
        """
        pages = [pages] if isinstance(pages, str) else list(pages)
        rows: list[PartRow] = []
        at = 0
        for number, page in enumerate(pages, 1):
            if not isinstance(page, str):
                raise OptionError(
                    f"page {number} is {shown(page)}, not str; give an empty string for a page "
                    "without text"
                )
            rows.append(("page", at, at + len(page), str(number), {}))
            at += len(page) + len(_BETWEEN_PAGES)
        text = _BETWEEN_PAGES.join(pages)
        return cls(text=text, uri=uri, media_type=media_type, parts=Parts.of_rows(rows))

    @classmethod
    def from_turns(
        cls, turns: Iterable[Turn], *, uri: str = "", media_type: str = "text/x-transcript"
    ) -> Document:
        """A document of turns joined by one line feed; blank turns are left out.

        >>> Document.from_turns([Turn("Hi.", 1), Turn(" ", 2), Turn("Yes?", 3)]).text
        'Hi.\\nYes?'
        """
        rows: list[PartRow] = []
        texts: list[str] = []
        at = 0
        for turn in turns:
            if not isinstance(turn, Turn):
                raise OptionError(
                    f"turns holds {shown(turn)}, which is no Turn; make it Turn(text, seq)"
                )
            if all(map(is_white, turn.text)):
                continue
            meta = {
                "seq": turn.seq,
                "item_id": turn.item_id,
                "start_ms": turn.start_ms,
                "end_ms": turn.end_ms,
                "speaker": turn.speaker,
            }
            rows.append(("turn", at, at + len(turn.text), turn.speaker or str(turn.seq), meta))
            texts.append(turn.text)
            at += len(turn.text) + len(_BETWEEN_TURNS)
        text = _BETWEEN_TURNS.join(texts)
        return cls(text=text, uri=uri, media_type=media_type, parts=Parts.of_rows(rows))

    @property
    def essence(self) -> str:
        """The media type in small letters, without its parameters."""
        return self.media_type.split(";")[0].strip().lower()

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text's UTF-8, in hexadecimal."""
        if "hash" not in self._cache:
            raw = self.text.encode("utf-8", "surrogatepass")
            self._cache["hash"] = sha256(raw).hexdigest()
        value: str = self._cache["hash"]
        return value

    @property
    def outline(self) -> Outline:
        """The headings, fences and tables: the loader's, else those of Markdown."""
        if "outline" not in self._cache:
            structure = self.structure
            if structure is None:
                structure = scan(self.text if self.essence in MARKDOWN else "")
            self._cache["outline"] = Outline(self.text, structure)
        value: Outline = self._cache["outline"]
        return value

    def line_at(self, position: int) -> int:
        """The number of the line a position lies on, from 1; LF, CRLF and CR end lines."""
        if "lines" not in self._cache:
            self._cache["lines"] = [found.end() for found in _LINE_END.finditer(self.text)]
        return bisect_right(self._cache["lines"], position) + 1

    def locate(self, position: int) -> Location:
        """Where a position lies in the source: line, column, byte, and the parts that hold it.

        Raises `OptionError` for a position outside the text. Cost: the parts of the document,
        and for the byte the text from the last place asked about.
        """
        if not 0 <= position <= len(self.text):
            raise OptionError(
                f"position={position} is outside the text of {len(self.text)}; give 0 to its length"
            )
        line = self.line_at(position)
        opened = self._cache["lines"][line - 2] if line > 1 else 0
        heading = bisect_right(self.outline.structure.heading_starts, position) - 1
        parts = self._all_parts
        return Location(
            line=line,
            column=position - opened + 1,
            byte=self._byte_at(position) if self.encoding else None,
            parts=tuple(
                parts[i]
                for i, start in enumerate(parts.starts)
                if start <= position <= parts.ends[i]
                and (position < parts.ends[i] or start == position)
            ),
            heading_path=self.outline.paths[heading] if heading >= 0 else (),
        )

    def _byte_at(self, position: int) -> int | None:
        """How many bytes of the file come before a position, its byte order mark included.

        None for encodings that carry state or join code points: there a part of a text has
        no bytes of its own.
        """
        name = lookup(self.encoding).name
        if name.startswith(_STATEFUL):
            return None
        mark = len("".encode(name))
        start, byte = self._cache.get("byte", (0, mark))
        if start > position:
            start, byte = 0, mark
        # These write their mark with every text; here it is counted once.
        bare = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}
        part = self.text[start:position].encode(bare.get(name, name), "surrogatepass")
        found: int = byte + len(part)
        self._cache["byte"] = (position, found)
        return found

    def header_at(self, position: int) -> tuple[int, int]:
        """The header of the table that a position lies in, below it; ``(p, p)`` without one.

        A table of the text, or the first row of a file whose loader says that it is one.
        """
        start, end = self.outline.table_header(position)
        if start == end and self.meta.get("header"):
            rows, _ = self._of_kind("row")
            if rows and position >= rows.ends[0]:
                return rows.starts[0], rows.ends[0]
        return start, end

    def places_between(self, start: int, end: int) -> tuple[str, ...]:
        """What a person calls the parts that ``[start, end)`` touches: ``rows 3-8``.

        Pages and turns are named elsewhere, footnotes and what is attached only where it begins
        there.
        """
        names: list[str] = []
        outer: tuple[Parts, Sequence[int]] = Parts(), ()
        for kind in self.kinds:
            if kind in _NAMED_APART:
                continue
            parts, touched = self._touched(start, end, kind)
            if not touched or (kind in _ASIDE and not _holds(parts, touched, start)):
                continue
            # Rows of two sheets are two counts: only the sheets are named.
            if len(outer[1]) > 1 and _holds(*outer, parts.starts[touched[0]]):
                continue
            names.append(_named(kind, parts.labels_at(touched)))
            outer = parts, touched
        return tuple(names)

    def lines_between(self, start: int, end: int) -> tuple[int, ...]:
        """The first and last line of the source that ``[start, end)`` touches; none if unknown.

        Those of the text where it is the file's own or a bare string; else those that a loader
        noted.
        """
        if self.structure is None or self.encoding:
            return self.line_at(start), self.line_at(end - 1)
        noted, touched = self._touched(start, end, "source line")
        return (int(noted.labels[touched[0]]), int(noted.labels[touched[-1]])) if touched else ()

    @property
    def has_parts(self) -> bool:
        """Whether there are parts, or pages by form feeds."""
        return bool(self.kinds)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its parts and of pages by form feeds, each once, in order of the first."""
        if "kinds" not in self._cache:
            self._cache["kinds"] = tuple(dict.fromkeys(self._all_parts.kinds))
        value: tuple[str, ...] = self._cache["kinds"]
        return value

    def parts_between(self, start: int, end: int, kind: str) -> Parts:
        """The parts of a kind that ``[start, end)`` touches, in order; those around it first.

        Cost: the parts it answers, and how deep they nest.
        """
        parts, touched = self._touched(start, end, kind)
        return parts.at(touched)

    def labels_between(self, start: int, end: int, kind: str) -> list[str]:
        """The labels of `parts_between`, without the parts."""
        parts, touched = self._touched(start, end, kind)
        return parts.labels_at(touched)

    def _touched(self, start: int, end: int, kind: str) -> tuple[Parts, list[int]]:
        """The parts of a kind, and which of them ``[start, end)`` touches."""
        parts, openers = self._of_kind(kind)
        first = bisect_right(parts.starts, start)
        around: list[int] = []
        opener = first - 1
        while opener >= 0:
            if parts.ends[opener] > start and parts.starts[opener] < end:
                around.append(opener)
            opener = openers[opener]
        return parts, [*reversed(around), *range(first, bisect_left(parts.starts, end, first))]

    def _of_kind(self, kind: str) -> tuple[Parts, list[int]]:
        """The parts of a kind, and for each the last before it that is open where it begins."""
        key = f"parts {kind}"
        if key not in self._cache:
            parts = self._all_parts.of_kind(kind)
            self._cache[key] = (parts, parts.openers())
        found: tuple[Parts, list[int]] = self._cache[key]
        return found

    @property
    def _all_parts(self) -> Parts:
        """The parts given, and pages by form feeds where a plain text has them."""
        if "parts" not in self._cache:
            self._cache["parts"] = self._with_pages(Parts.of(self.parts))
        value: Parts = self._cache["parts"]
        return value

    def _with_pages(self, parts: Parts) -> Parts:
        """These parts, and pages by form feeds in plain text that has no others.

        In source code, records and mail a form feed parts no pages.
        """
        paged = self.essence in (*MARKDOWN, "text/plain") and self.structure is None
        if not paged or "\f" not in self.text or "page" in parts.kinds:
            return parts
        pages: list[PartRow] = []
        at = 0
        for number, page in enumerate(self.text.split("\f"), 1):
            if number == 1 or at < len(self.text):
                # A page ends after its form feed, so no position is between pages.
                end = min(len(self.text), at + len(page) + 1)
                pages.append(("page", at, end, str(number), {}))
            at += len(page) + 1
        return Parts.of_rows((*parts.rows(), *pages))
