"""The lines of a page as PDFium gives them, and where on the page each lies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ctypes import byref, c_double
from typing import Any

__all__ = ["HYPHEN", "Box", "box_on", "lines_of", "text_of"]

# PDFium ends lines with CR LF. Where a line ends within a word it writes this mark instead of
# the hyphen and the line end.
HYPHEN = "\ufffe"
_LINE_END = re.compile(f"\r\n|{HYPHEN}")

# In points from the top left of the page as it is shown: x0, y0, x1, y1.
Box = tuple[float, float, float, float]


def text_of(api: Any, textpage: Any) -> str:
    """The text as PDFium gives it, a lone surrogate kept so that positions hold."""
    count = textpage.count_chars()
    # Characters without text at either end are left out here: pypdfium2 leaves them out one call
    # inside another, and a thousand of them are too deep.
    index = api.FPDFText_GetTextIndexFromCharIndex
    first = next((i for i in range(count) if index(textpage, i) >= 0), count)
    last = next((i for i in range(count - 1, first, -1) if index(textpage, i) >= 0), first)
    if first == count:
        return ""
    found: str = textpage.get_text_range(first, last + 1 - first, errors="surrogatepass")
    return found


def lines_of(api: Any, page: Any, textpage: Any, found: str) -> Iterator[tuple[int, int, Box]]:
    """Of each line with ink its positions and its box, from the top left of the page shown."""
    shown = box_on(page)
    corners = [c_double() for _ in range(4)]
    x0, y1, x1, y0 = corners
    into = [byref(corner) for corner in corners]
    handle, count_rects, get_rect = textpage.raw, api.FPDFText_CountRects, api.FPDFText_GetRect
    index = api.FPDFText_GetCharIndexFromTextIndex
    wide = not found.isascii() and max(found) > "\uffff"
    # The text leaves out characters that have none. Without such, and they are rare, each is
    # where it stands in the text; the last one tells.
    whole = _units(found) if wide else len(found)
    shifted = index(handle, whole - 1) != whole - 1
    unit = before = start = 0
    for source, source_end in _line_spans(found):
        first, count = source, source_end - source
        end = start + count
        if wide:  # PDFium counts in UTF-16
            unit += _units(found[before:source])
            before, first, count = source, unit, _units(found[source:source_end])
        if shifted and count:
            last = index(handle, first + count - 1)
            first = index(handle, first)
            count = last + 1 - first
        rects = count_rects(handle, first, count) if count > 0 <= first else 0
        opened, start = start, end + 1
        if rects < 1:
            continue
        get_rect(handle, 0, *into)
        a, b, c, d = x0.value, y0.value, x1.value, y1.value
        for i in range(1, rects):
            get_rect(handle, i, *into)
            a, b = min(a, x0.value), min(b, y0.value)
            c, d = max(c, x1.value), max(d, y1.value)
        yield opened, end, shown(a, b, c, d)


def _line_spans(found: str) -> Iterator[tuple[int, int]]:
    """Where PDFium's lines lie in its text, the mark of a hyphen included."""
    start = 0
    for match in _LINE_END.finditer(found):
        yield start, match.end() if match[0] == HYPHEN else match.start()
        start = match.end()
    yield start, len(found)


def _units(text: str) -> int:
    """How many UTF-16 units a text has."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def box_on(page: Any) -> Callable[[float, float, float, float], Box]:
    """What turns left, bottom, right and top in the page's own measures into a box on it."""
    left, bottom, right, top = page.get_bbox()
    turned = page.get_rotation() // 90 % 4

    def shown(a: float, b: float, c: float, d: float) -> Box:
        if turned == 0:
            a, b, c, d = a - left, top - d, c - left, top - b
        elif turned == 1:
            a, b, c, d = b - bottom, a - left, d - bottom, c - left
        elif turned == 2:
            a, b, c, d = right - c, b - bottom, right - a, d - bottom
        else:
            a, b, c, d = top - d, right - c, top - b, right - a
        return round(a, 2), round(b, 2), round(c, 2), round(d, 2)

    return shown
