"""Text of HTML as a browser sets it, and the lines of the source that it stands on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["BREAK", "Line", "lines_of_code", "lines_of_text", "squeezed"]

BREAK = "\0"  # a <br>; the source holds no NUL once it is read

_white = re.compile(r"[\t\n\r\f][ \t\n\r\f]*| [ \t\n\r\f]+")  # a space alone stays
_broken = re.compile(f" ?{BREAK} ?")


@dataclass(slots=True)
class Line:
    """What stands on a line of the HTML, and whether a line feed is before it."""

    number: int
    text: str
    fed: bool


def squeezed(text: str) -> str:
    """A text as a browser sets it: white space is one space, breaks are line ends."""
    if "  " in text or not text.isprintable():
        text = _white.sub(" ", text)
    if BREAK in text:
        text = _broken.sub("\n", text)
    return text.strip()


def lines_of_text(text: str, lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Where each line begins in the text that was squeezed, and its number."""
    found: list[tuple[int, int]] = []
    at = 0
    for line in lines:
        inked = squeezed(line.text)
        if inked:
            # White space of any kind, and breaks that stand alone on lines between.
            while text[at : at + 1].isspace():
                at += 1
            found.append((at, line.number))
            at += len(inked)
    return found if len(found) > 1 else []


def lines_of_code(code: str, lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Where each line begins in code, without the empty ones at its ends."""
    inked = code.lstrip("\r\n")
    at, length = len(inked) - len(code), len(inked.rstrip())
    found: list[tuple[int, int]] = []
    for line in lines:
        at += line.fed
        found.append((max(at, 0), line.number))
        at += len(line.text)
    found = [each for each, (after, _) in pairwise([*found, (length, 0)]) if each[0] < after]
    return found if len(found) > 1 else []
