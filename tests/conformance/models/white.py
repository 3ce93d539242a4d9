"""White space and line ends as JavaScript means them, and what every model shares.

Every model function takes `on`, the names of the departures that are switched on, as its last
keyword (`departures.py`): an empty set is the reference itself.
"""

from __future__ import annotations

On = frozenset[str]
NONE: On = frozenset()

JS_SPACE = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `trim()` removes and `\\s` matches."""

JS_LINE_END = "\n\r\u2028\u2029"
"""What ends a line for `^`, `$` and the dot."""


class Hang(Exception):  # noqa: N818 - it is no error of the model, the reference never answers
    """The reference never returns on this input."""


class Refused(Exception):  # noqa: N818 - it is no error of the model, our code refuses too
    """Our code refuses these options (departure `refused`)."""


def js_is_space(char: str) -> bool:
    return char in JS_SPACE


def js_trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Both ends moved inward over white space; `start == end` when nothing is left."""
    while end > start and js_is_space(text[end - 1]):
        end -= 1
    while start < end and js_is_space(text[start]):
        start += 1
    return start, end


def js_skip(text: str, start: int, end: int) -> int:
    """The first place at or after `start` that holds no white space, at most `end`."""
    while start < end and js_is_space(text[start]):
        start += 1
    return start


def js_is_blank(text: str) -> bool:
    return all(js_is_space(char) for char in text)


def js_line_end(text: str, start: int) -> int:
    """The place of the first JavaScript line end at or after `start`, else the text's end."""
    while start < len(text) and text[start] not in JS_LINE_END:
        start += 1
    return start


def js_slice(length: int, start: int, end: int) -> tuple[int, int]:
    """The places `slice(start, end)` means: negative ones count from the end."""
    start, end, _ = slice(start, end).indices(length)
    return start, max(start, end)
