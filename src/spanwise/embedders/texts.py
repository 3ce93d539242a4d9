"""Texts on their way into an embedder: checked, and which of them are blank."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from spanwise.errors import OptionError, shown

__all__ = ["checked_texts", "inked"]

_INK = re.compile(r"[^\s\ufeff]").search


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
