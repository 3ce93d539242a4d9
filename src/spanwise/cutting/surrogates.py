"""Halves of characters that stand alone, as no encoder takes them."""

from __future__ import annotations

import re

__all__ = ["readable"]

_SURROGATES = re.compile("[\ud800-\udfff]").search


def readable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, and the character for each pair."""
    if text.isascii() or not _SURROGATES(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
