"""iter_chunks: the chunks of a file too large for memory, while it is read."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from spanwise.chunks import Chunk
from spanwise.cutting.sizers import chars, utf8_bytes, words
from spanwise.errors import LoadError, OptionError, require, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.byte_streams import Decoded
from spanwise.loaders.plain import TextLoader
from spanwise.loaders.records import (
    SAMPLE,
    first_row,
    row_header,
    rows_opening,
)
from spanwise.loaders.registry import LOADERS
from spanwise.loaders.text import media_type_of
from spanwise.passing import By, Header, Makes, Places
from spanwise.splitters.base import Splitter
from spanwise.splitters.parts import ByPart
from spanwise.splitters.steps import PartSteps, RecordSteps, Step, Steps, WindowSteps
from spanwise.splitters.text import ByRecord, ByText

__all__ = ["iter_chunks"]

# How many bytes are read at a time: cutting a megabyte takes far longer than joining the rest
# of the one before to it, and memory stays at a few times as much.
_WINDOW = 1 << 20

# How many of the first bytes are looked at for what kind of text a file is: one more than any
# loader looks at. Of what cannot be read twice, with a small window, no more than `Decoded` takes.
_HEAD = (1 << 17) + 1
_LEAST = 1 << 13

# The files whose chunks need no look at the whole: plain text and records of lines.
_ROWS = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson")
_SUFFIXES = ("", ".txt", ".text", ".log", *_ROWS, *_LINES)

# Sizers that never shrink when a text grows and never look beyond it.
_SIZERS = (chars, len, utf8_bytes, words)

_Source = str | os.PathLike[str] | bytes | BinaryIO | Iterable[bytes]


def iter_chunks(
    source: _Source,
    by: Splitter | None = None,
    *,
    uri: str | None = None,
    encoding: str = "",
    window: int = _WINDOW,
) -> Iterator[Chunk]:
    r"""The chunks of a large text or file of records, given while it is read.

    - ``source``: a path, a file opened in binary mode, the bytes, or these piece by piece.
    - ``by``: `by_text`, `by_record`, or `by_part` for the rows of CSV and TSV and the records
      of JSON Lines (which it is when unset), sized in characters, UTF-8 bytes or words.
    - ``uri``: what the document is called (unset: the path). Its suffix says what it is:
      ``.csv``, ``.tsv``, ``.jsonl``, ``.ndjson``, else plain text. So are bytes without
      a name, which `load` reads as Markdown.
    - ``encoding``: as in `load`.
    - ``window``: how many bytes are read at a time.

    They are those of `load` and the splitter's ``split``: the same texts, positions, ids and
    citations. Only ``meta`` leaves out what is known at the end, such as the bad rows of a CSV.

    Raises `OptionError` for a splitter, a sizer or a kind of file that needs the whole text,
    plain text that begins as such a kind does included; `LoadError`, with the byte, for what is
    not text. Where the source can be read twice (a path, a file that seeks, bytes), it is looked
    through once before, for form feeds, which make pages; in one that cannot, a form feed after
    chunks were given is a `LoadError`.

    Memory: a few windows, or a few times the longest record, chunk or stretch of white space;
    and for the ids, whose ordinals count repeats in the whole file, 10 to 20 bytes a chunk.

    >>> from spanwise import by_record
    >>> [c.text for c in iter_chunks([b"a=1\nb=2\n", b"c=3"], by_record("\n", chunk_size=8))]
    ['a=1\nb=2', 'c=3']
    """
    require("window", window, 1)
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if uri is None:
        uri = path.as_posix() if path is not None else ""
    suffix = PurePosixPath(uri).suffix.lower()
    if suffix not in _SUFFIXES:
        raise OptionError(
            f"{shown(uri)}: a {suffix} file cannot be cut while it is read, only plain text, "
            ".log, .csv, .tsv, .jsonl and .ndjson can; use load, or name it otherwise by uri="
        )
    kind = "row" if suffix in _ROWS else "record" if suffix in _LINES else ""
    if by is None and not kind:
        raise OptionError(
            "by=None cuts plain text by paragraph, which needs the whole text; "
            "pass by_text() or by_record(separator)"
        )
    by = ByPart(kind=kind) if by is None else by
    _check(by, kind)
    name = str(path) if path is not None else uri or "the bytes given"
    made = _Stream(name, uri, suffix, encoding, window)
    return made.chunks(source if path is None else path, cast("By", by))


def _check(by: Splitter, kind: str) -> None:
    """Refuse what cannot be cut with a bounded look ahead."""
    if type(by) not in (ByText, ByRecord, ByPart):
        raise OptionError(
            f"by={shown(by)} needs the whole text; while a file is read, by_text, by_record and "
            "by_part work; pass one of them, or use load"
        )
    assert isinstance(by, ByText | ByRecord | ByPart)
    if isinstance(by, ByPart) and by.kind != kind:
        raise OptionError(
            f"by_part({by.kind!r}): while a file is read, .csv and .tsv have parts of the kind "
            "row, .jsonl and .ndjson of the kind record, others none; use by_text or by_record"
        )
    sizers = [by.sizer, *([by.limit.sizer] if by.limit else [])]
    if not all(any(sizer is known for known in _SIZERS) for sizer in sizers):
        raise OptionError(
            f"sizer={shown(by.sizer)}, max_size={by.limit}: while a file is read, sizes count "
            "chars, utf8_bytes or words; use one of them, or load"
        )


@dataclass(frozen=True, slots=True)
class _Known:
    """What a look through the whole source told; None where there was none."""

    pages: bool | None = None
    returns: bool = False


class _Stream:
    """One source on its way from bytes to chunks."""

    def __init__(self, name: str, uri: str, suffix: str, encoding: str, window: int) -> None:
        self.name = name
        self.uri = uri
        self.suffix = suffix
        self.encoding = encoding
        self.window = window

    def chunks(self, source: Any, by: By) -> Iterator[Chunk]:
        """The chunks, in order."""
        if isinstance(source, Path):
            try:
                opened = source.open("rb")
            except (OSError, ValueError) as fault:
                reason = getattr(fault, "strerror", None) or str(fault)
                raise LoadError(
                    f"{self.name}: it cannot be read ({reason}); check the path"
                ) from None
            with closing(opened):
                yield from self.chunks(opened, by)
            return
        if isinstance(source, bytes | bytearray | memoryview):
            source = BytesIO(source)
        known, most = _Known(), _LEAST if self.window < _HEAD else _HEAD
        if hasattr(source, "read") and hasattr(source, "seekable") and source.seekable():
            start, most = source.tell(), _HEAD
            known = self._look_through(source)
            source.seek(start)
        checked = self._checked(source, most)
        yield from self._cut(Decoded(checked, self.name, self.encoding, self.window), by, known)

    def _checked(self, source: Any, most: int) -> Iterator[bytes]:
        """The pieces of a source, once its first bytes are not those of another kind."""
        readable = hasattr(source, "read")
        given = iter(lambda: source.read(self.window), b"") if readable else iter(source)
        head = bytearray()
        taken: deque[bytes] = deque()
        for piece in given:
            taken.append(piece)
            if not isinstance(piece, bytes | bytearray | memoryview):
                break  # `Decoded` refuses it
            head += piece[: most - len(head)]
            if len(head) == most:
                break
        if len(head) == most < _HEAD and 0 not in head:
            del head[head.rfind(b"\n") + 1 or most :]  # no loader knows a character that is torn
        self._check_kind(bytes(head))
        while taken:
            yield taken.popleft()
        yield from given

    def _check_kind(self, head: bytes) -> None:
        """Refuse what `load` would take for another kind by how it begins."""
        raw = Raw(
            data=head, name=self.name, uri=self.uri, suffix=self.suffix, encoding=self.encoding
        )
        loader = next(each for each in LOADERS if each.claims(raw))
        if media_type_of(self.suffix) == "text/plain" and not isinstance(loader, TextLoader):
            raise OptionError(
                f"{self.name}: it begins as {loader.name} does, and load reads it as that, which "
                "needs the whole text; use load, or read it as lines with uri='a.log'"
            )

    def _look_through(self, source: Any) -> _Known:
        pages = returns = False
        for text in Decoded(source, self.name, self.encoding, self.window):
            pages = pages or "\f" in text
            returns = returns or "\r" in text
        return _Known(pages, returns)

    def _cut(self, decoded: Decoded, by: By, known: _Known) -> Iterator[Chunk]:
        pieces = iter(decoded)
        text, final = "", False

        def grow(text: str) -> tuple[str, bool]:
            """At least a window more, and twice as much where that was not enough."""
            more, room = [text], max(self.window, len(text))
            while room > 0:
                piece = next(pieces, None)
                if piece is None:
                    return "".join(more), True
                more.append(piece)
                room -= len(piece)
            return "".join(more), False

        text, final = grow("")
        rows = self.suffix in _ROWS
        while rows and not final and len(text) <= SAMPLE:
            text, final = grow(text)
        meta: dict[str, Any] = {"encoding": decoded.encoding}
        places: Places | None = None
        header = Header()
        if rows:
            delimiter, begin = rows_opening(text, self.suffix)
            while not final and first_row(text, begin, delimiter, final) is None:
                text, final = grow(text)
            row = first_row(text, begin, delimiter)
            meta |= {"delimiter": delimiter, **row_header(text, delimiter, row)}
            if row and meta.get("header"):
                header = Header(*row, text[row[0] : row[1]])
            places = Places("row", delimiter, begin)
        elif self.suffix in _LINES:
            places = Places("record", "")
        steps: Steps
        if isinstance(by, ByText):
            steps = WindowSteps(by)
        elif isinstance(by, ByRecord):
            steps = RecordSteps(by)
        else:
            assert places is not None
            steps = PartSteps(by, places.next, header.room(by))
        # As in `Document`, form feeds part pages of plain text alone.
        plain = media_type_of(self.suffix) == "text/plain"
        paged = plain and ("\f" in text or bool(known.pages))
        makes = Makes(self.uri, meta, by, places, paged, header)
        base, returns = 0, known.returns
        waiting: deque[Step] = deque()
        while True:
            returns = returns or "\r" in text
            makes.see(text, base)
            for step in steps.take(text, final, returns):
                waiting.append(step)
                while waiting and (places is None or places.reach(text, waiting[0][2], final)):
                    yield makes.chunk(waiting.popleft())
            if final:
                while waiting:
                    yield makes.chunk(waiting.popleft())
                return
            keep = min([steps.keep, *(step[0] for step in waiting)])
            keep = makes.pass_to(keep)
            base += keep
            steps.shift(keep)
            waiting = deque((s - keep, b - keep, e - keep, name) for s, b, e, name in waiting)
            at = len(text) - keep
            text, final = grow(text[keep:])
            late = plain and not makes.paged and known.pages is None
            if late and makes.index and "\f" in text[at:]:
                raise LoadError(
                    f"{self.name}: the form feed at position {base + text.index(chr(12), at)} "
                    "makes pages, which the chunks before it should have named; give a path, or a "
                    "file that can be read twice"
                )
            makes.paged = makes.paged or (plain and "\f" in text)
