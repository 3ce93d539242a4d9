"""Bytes that come in pieces, decoded as `decode` would decode them together."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Iterator
from itertools import chain
from typing import Any

from spanwise.errors import LoadError, OptionError, shown
from spanwise.loaders.text import decode

__all__ = ["Decoded"]

# As much of a file is looked at before it is taken for text, as in `decode`.
_HEAD = 8192

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Decoded:
    """The text of a binary file or of pieces of bytes, once; ``encoding`` is known by the first."""

    def __init__(self, source: Any, name: str, encoding: str, window: int) -> None:
        self.source = source
        self.name = name
        self.named = encoding
        self.encoding = encoding
        self.window = window

    def __iter__(self) -> Iterator[str]:
        pieces = self._pieces()
        head = b""
        for piece in pieces:
            head += piece
            if len(head) >= _HEAD:
                break
        decoder = self._decoder(head)
        # The head goes in windows too: what is read ahead is no more than was asked for.
        starts = range(0, len(head), self.window)
        pieces = chain((head[at : at + self.window] for at in starts), pieces)
        fed = 0
        while True:
            piece = next(pieces, b"")
            fed += len(piece)
            try:
                text = decoder.decode(piece)
                if not piece:
                    text += decoder.decode(b"", True)
            except UnicodeError as fault:
                self._refuse(fault, fed, head)
            if text or not piece:
                yield text
            if not piece:
                return

    def _pieces(self) -> Iterator[bytes]:
        """The bytes, in pieces of a window at the most, none of them empty."""
        source = self.source
        if isinstance(source, bytes | bytearray | memoryview):
            source = (source,)
        try:
            if hasattr(source, "read"):
                given = iter(lambda: source.read(self.window), b"")
            else:
                given = iter(source)
            for piece in given:
                if not isinstance(piece, bytes | bytearray | memoryview):
                    raise OptionError(
                        f"{self.name}: it gives {shown(piece)}, not bytes; open the file in "
                        "binary mode, or give pieces of bytes"
                    )
                for at in range(0, len(piece), self.window):
                    yield bytes(piece[at : at + self.window])
        except OSError as fault:
            if isinstance(fault, LoadError):
                raise
            reason = fault.strerror or str(fault)
            raise LoadError(f"{self.name}: it cannot be read ({reason}); check the path") from None

    def _decoder(self, head: bytes) -> codecs.IncrementalDecoder:
        """The decoder of the encoding that was named, or that the first bytes say."""
        if not self.named:
            self.encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")
            binary = b"\0" in head[:_HEAD] or head.startswith(b"%PDF-")
            if self.encoding == "utf-8" and binary:
                decode(head, self.name)  # raises the fitting LoadError
        try:
            "".encode(self.encoding)
            name = codecs.lookup(self.encoding).name
        except LookupError:
            decode(b"a", self.name, self.encoding)  # raises the fitting OptionError
            raise
        if name in ("utf-16", "utf-32") and not head.startswith(tuple(m for m, _ in _MARKS[1:])):
            # Together they are read in the machine's own order; a decoder would want a mark.
            name += "-le" if sys.byteorder == "little" else "-be"
        try:
            return codecs.getincrementaldecoder(name)("strict")
        except LookupError:
            raise OptionError(
                f"encoding={shown(self.encoding)} cannot be read piece by piece; use load"
            ) from None

    def _refuse(self, fault: UnicodeError, fed: int, head: bytes) -> None:
        """Raise the error that names the byte of the file."""
        if not isinstance(fault, UnicodeDecodeError):
            reason = str(fault)
            raise LoadError(
                f"{self.name}: it is not {self.encoding} ({reason}); name the right encoding"
            ) from None
        # What a decoder was given ends where what it was fed does.
        at = fed - len(fault.object) + fault.start
        if at < len(head):
            decode(head, self.name, self.named)  # raises, and knows what such bytes begin
        way = (
            "name the right encoding, or leave it out for UTF-8"
            if self.named
            else "name its encoding (such as cp1252), or save it as UTF-8"
        )
        raise LoadError(
            f"{self.name}: byte {at} is not {self.encoding} ({fault.reason}); {way}"
        ) from None
