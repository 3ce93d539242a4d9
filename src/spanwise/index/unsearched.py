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
_LEAST = 200

# The lines of a payload are longer than words; a short last one is known by its padding alone, for
# prose that follows has to stay (test_prose_after_a_payload_is_found).
_PAYLOAD = re.compile(
    r"data:[\w.+-]+/[\w.+-]+(?:;[\w.=-]+)*;base64,"
    r"(\s*[A-Za-z0-9+/]{24,}(?:\s+[A-Za-z0-9+/]{40,})*(?:\s+[A-Za-z0-9+/]+(?==))?={0,2})"
)
_WORD = re.compile(r"\w").search


class Unsearched:
    """The stretches of a document that are left out of an index."""

    __slots__ = ("_ends", "_front", "_starts", "_text")

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._front = document.outline.structure.front
        payloads = _PAYLOAD.finditer(self._text) if ";base64," in self._text else ()
        spans = [found.span() for found in payloads if len(found[1]) >= _LEAST]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def __bool__(self) -> bool:
        return bool(self._front or self._starts)

    def holds(self, start: int, end: int) -> bool:
        """Whether a passage lies in them, but for signs between and at its edges."""
        if end <= self._front:
            return True
        at, i = start, bisect_right(self._ends, start)
        while i < len(self._starts) and self._starts[i] < end:
            if _WORD(self._text, at, self._starts[i]):
                return False
            at, i = self._ends[i], i + 1
        return at > start and not _WORD(self._text, at, end)
