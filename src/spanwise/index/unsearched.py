"""What of a document nobody searches: its front matter, and data written as Base64.

Front matter is read into the metadata, which filters see. Both would be passages that are found for
unrelated queries, and a payload is a thousand of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from spanwise.documents import Document

__all__ = ["Unsearched"]

# A payload of fewer characters is no more than a passage.
_PAYLOAD = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,[A-Za-z0-9+/=\s]{200,}")
_WORD = re.compile(r"\w").search


class Unsearched:
    """The stretches of a document that are left out of an index."""

    __slots__ = ("_ends", "_front", "_starts", "_text")

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._front = document.outline.structure.front
        payloads = _PAYLOAD.finditer(self._text) if ";base64," in self._text else ()
        spans = [found.span() for found in payloads]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __bool__(self) -> bool:
        return bool(self._front or self._starts)

    def holds(self, start: int, end: int) -> bool:
        """Whether a passage lies in one of them, but for signs at its edges."""
        if end <= self._front:
            return True
        i = bisect_right(self._starts, end - 1) - 1
        if i < 0 or self._ends[i] <= start:
            return False
        left, right = max(start, self._starts[i]), min(end, self._ends[i])
        return not (_WORD(self._text, start, left) or _WORD(self._text, right, end))
