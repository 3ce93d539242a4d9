"""Texts on their way into an embedder: which are blank, and what a tokenizer can read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from spanwise.errors import OptionError, shown

__all__ = ["checked_texts", "inked", "readable"]

_INK = re.compile(r"[^\s\ufeff]").search
_SURROGATES = re.compile("[\ud800-\udfff]").search


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list; a bare string, which is a sequence too, is an `OptionError`."""
    # Read once: an iterator would be empty the second time.
    found = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, str) else [None]
    if not all(isinstance(text, str) for text in found):
        raise OptionError(f"texts={shown(texts)} is no list of strings; pass [text] for one text")
    return found  # type: ignore[return-value]  # checked one by one


def inked(texts: Sequence[str]) -> list[int]:
    r"""The places of the texts that hold more than white space and byte order marks.

    >>> inked(["a", " \n", "", "b"])
    [0, 3]
    """
    return [i for i, text in enumerate(texts) if _INK(text)]


def readable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, which tokenizers refuse."""
    if _SURROGATES(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
