"""A text as bytes and back: UTF-8 with the lone surrogates that databases do not take."""

from __future__ import annotations

__all__ = ["bytes_of", "legible", "text_of"]


def bytes_of(text: str) -> bytes:
    """A text as bytes, lone surrogates too."""
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes | str) -> str:
    """The text of bytes; a text is one already."""
    return data if isinstance(data, str) else data.decode("utf-8", "surrogatepass")


def legible(data: bytes | str) -> str:
    """The text of bytes as far as it can be read, whatever damage did to them."""
    try:
        return text_of(data)
    except UnicodeDecodeError as fault:
        return fault.object.decode("utf-8", "replace")
