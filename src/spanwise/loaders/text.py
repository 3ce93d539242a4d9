"""Text files: from bytes to a text that is never altered, its encoding recorded."""

from __future__ import annotations

import codecs
import sys

from spanwise.errors import LoadError, OptionError, shown
from spanwise.loaders.encodings import guess

__all__ = ["decode", "marked_encoding", "media_type_of", "own_encoding"]

# The marks that name an encoding, with Python's name for the one that reads the
# mark too: `raw.decode(encoding)` is the text. UTF-32 LE begins like UTF-16 LE.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig", "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32", "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16", "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16", "utf-16-be"),
)

# The name that asks for a guess where nothing says the encoding.
_GUESS = "guess"

# Where a NUL makes a file binary; git and grep look as far.
_HEAD = 8192

# How files begin that are often given by mistake, to name them in the message.
_KNOWN = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive, as .docx, .xlsx, .odt and .epub are"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"SQLite format 3\0", "an SQLite database"),
)
_PDF = _KNOWN[0][0]  # these may be all ASCII

_TYPES = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".mdx": "text/markdown",
    ".jsonl": "application/jsonl",
    ".ndjson": "application/x-ndjson",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".log": "text/x-log",
}


def media_type_of(suffix: str) -> str:
    """The media type of a file's suffix; plain text for one that names no type.

    >>> media_type_of(".MD"), media_type_of("")
    ('text/markdown', 'text/plain')
    """
    return _TYPES.get(suffix.lower(), "text/plain")


def decode(raw: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    r"""The text of some bytes, and the encoding it was read in.

    Without ``encoding``: the one that a byte order mark names, else UTF-8;
    ``guess`` asks charset-normalizer where that does not fit. The
    mark that named it is not part of the text; nothing else is changed, line
    ends included. ``raw.decode(encoding)`` gives the text again. ``name`` is
    what messages call the source. Raises `LoadError` for what is not text.

    >>> decode(b"\xef\xbb\xbfA\r\n", "a.txt")
    ('A\r\n', 'utf-8-sig')
    """
    if encoding == _GUESS:
        return _guessed(raw, name)
    if encoding:
        return _decode_as(raw, name, encoding), encoding
    for mark, found, bare in _MARKS:
        if raw.startswith(mark):
            skip = len(mark)
            try:
                return str(memoryview(raw)[skip:], bare), found
            except UnicodeDecodeError as fault:
                at = skip + fault.start
                raise LoadError(
                    f"{name}: its byte order mark says {bare.upper()}, but byte {at} is not "
                    f"({fault.reason}); save it again as UTF-8, or name its encoding"
                ) from None
    kind = next((kind for start, kind in _KNOWN if raw.startswith(start)), "")
    nul = raw.find(b"\0", 0, _HEAD)
    if nul >= 0 or raw.startswith(_PDF):
        because = kind or f"binary: byte {nul} is NUL"
        way = (
            "extract its text first"
            if kind
            else ("give a text file; if it is UTF-16 without a byte order mark, name its encoding")
        )
        raise LoadError(f"{name}: it is {because}, and only text is read; {way}")
    try:
        return str(raw, "utf-8"), "utf-8"
    except UnicodeDecodeError as fault:
        if kind:
            raise LoadError(
                f"{name}: it is {kind}, and only text is read; extract its text first"
            ) from None
        raise LoadError(
            f"{name}: byte {fault.start}, {raw[fault.start]:#04x}, is not UTF-8 "
            f"({fault.reason}), and no byte order mark says what it is; "
            "name its encoding (such as cp1252), or save it as UTF-8"
        ) from None


def marked_encoding(raw: bytes) -> str:
    """The encoding that a byte order mark names, or nothing; it reads the mark too."""
    return next((found for mark, found, _ in _MARKS if raw.startswith(mark)), "")


def own_encoding(raw: bytes, encoding: str) -> str:
    """The encoding that some bytes are in, as one without a mark where they have none."""
    named = codecs.lookup(encoding).name
    for mark, found, _ in _MARKS:
        if named == found and raw.startswith(mark):
            return encoding
    order = "le" if sys.byteorder == "little" else "be"
    bare = {"utf-8-sig": "utf-8", "utf-16": f"utf-16-{order}", "utf-32": f"utf-32-{order}"}
    return bare.get(named, encoding)


def _guessed(raw: bytes, name: str) -> tuple[str, str]:
    """The text by what is sure, else by what charset-normalizer takes it for."""
    try:
        return decode(raw, name)
    except LoadError as fault:
        found = guess(raw)
        if found is None:
            raise LoadError(
                f"{fault}. Nothing could be guessed either; guessing needs charset-normalizer "
                '(pip install "spanwise[encoding]") and a text long enough'
            ) from None
    encoding = found[0]
    return _decode_as(raw, name, encoding), encoding


def _decode_as(raw: bytes, name: str, encoding: str) -> str:
    """The text in an encoding that a person named."""
    try:
        return raw.decode(encoding)
    except LookupError:
        raise OptionError(
            f"encoding={shown(encoding)} is no text encoding that Python knows; "
            "give for example utf-8, utf-16, cp1252, shift_jis or gb18030"
        ) from None
    except UnicodeError as fault:
        at = f"byte {fault.start} " if isinstance(fault, UnicodeDecodeError) else ""
        reason = fault.reason if isinstance(fault, UnicodeDecodeError) else str(fault)
        raise LoadError(
            f"{name}: {at}is not {encoding} ({reason}); name the right encoding, "
            "or leave it out for UTF-8"
        ) from None
