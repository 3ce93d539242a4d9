"""Words of mail: texts in the charsets that it names, encoded words, headers that are broken."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import TypeVar

from spanwise.loaders.html_encoding import codec_of, meant_encoding

__all__ = ["asked", "decoded_as", "one_line", "text_of", "words"]

_encoded_word = re.compile(r"=\?([^?\s*]{1,60})(?:\*[^?\s]{0,60})?\?([bBqQ])\?([^?]*)\?=")

# Codecs that are no charset of a text, slow, or write what is no character. ASCII says nothing.
_NO_CHARSETS = {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "ascii"}

# The library's own reading of a broken header fails in many ways; each means: it says nothing.
_FAULTS = (ValueError, LookupError, TypeError, AttributeError, OverflowError, AssertionError)

_T = TypeVar("_T")


def asked(ask: Callable[[], _T], otherwise: _T) -> _T:
    """What the library says, or ``otherwise`` where a broken header makes it fail."""
    try:
        return ask()
    except _FAULTS:
        return otherwise


def one_line(value: str) -> str:
    """A header value on one line, its encoded words read."""
    return " ".join(words(value).split())


def words(value: str) -> str:
    """A header value with its encoded words (RFC 2047) and bare bytes read.

    Blanks between encoded words say nothing, and a character may be torn between two.
    """
    if "=?" not in value and value.isascii():
        return value
    try:
        value = text_of(value.encode("utf-8", "surrogateescape"), "")
    except UnicodeEncodeError:
        value = value.encode("utf-8", "replace").decode()
    out: list[str] = []
    data, charset, at = b"", "", 0
    for word in _encoded_word.finditer(value):
        between = value[at : word.start()]
        found = _word_bytes(word.group(2), word.group(3))
        if between.strip() or not at or word.group(1).lower() != charset:
            out.append(text_of(data, charset))
            data = b""
        if between.strip() or not at:
            out.append(between)
        data, charset, at = data + found, word.group(1).lower(), word.end()
    return "".join([*out, text_of(data, charset), value[at:]])


def _word_bytes(way: str, text: str) -> bytes:
    """What an encoded word holds; its text itself where that is broken."""
    try:
        if way in "bB":
            return binascii.a2b_base64(text.rstrip("=") + "===")
        return binascii.a2b_qp(text, header=True)
    except ValueError:
        return text.encode("utf-8", "replace")


def text_of(data: bytes, charset: str) -> str:
    """Bytes as text in a charset, else UTF-8, else Windows' Western one."""
    name = "" if codec_of(charset) in _NO_CHARSETS else meant_encoding(charset)
    text = decoded_as(data, name) if name else None
    if text is None:
        text = decoded_as(data, "utf-8")
    if text is None:
        text = decoded_as(data, name or "cp1252", "replace")
    # UTF-7 can write half a pair, which no file can hold.
    text = text or ""
    return text.encode("utf-8", "replace").decode() if name not in ("", "utf-8") else text


def decoded_as(data: bytes, name: str, errors: str = "strict") -> str | None:
    """Bytes as text in an encoding; None where they are not in it."""
    try:
        return data.decode(name, errors)
    except _FAULTS:
        return None
