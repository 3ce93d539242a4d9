"""Where a quotation stands in a text: word for word, but for its white space."""

from __future__ import annotations

import re

__all__ = ["quotations"]


def quotations(text: str, quoted: str) -> list[tuple[int, int]]:
    """The ranges where a text has the words of a quotation in order.

    Runs of white space may differ, also be line ends; everything else is the same. A blank
    quotation is nowhere.

    >>> quotations("It takes five\\nto ten days.", "five to ten  days")
    [(9, 25)]
    """
    words = quoted.split()
    if not words:
        return []
    found: list[tuple[int, int]] = []
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    at = 0
    while match := pattern.search(text, at):
        found.append(match.span())
        at = match.start() + 1
    return found
