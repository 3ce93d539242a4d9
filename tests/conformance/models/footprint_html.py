"""agentfootprint's `stripTags`: markup blanked, every other character at its place."""

from __future__ import annotations

from .white import NONE, On, js_skip

ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&nbsp;": " "}


def strip_tags(text: str, *, on: On = NONE) -> str:
    """Markup blanked, every other character at its place."""
    for ranges in (comment_ranges, raw_ranges, tag_ranges):
        text = blank(text, ranges(text, on=on))
    return decode_entities(text, on=on)


def blank(text: str, ranges: list[tuple[int, int]]) -> str:
    """Spaces in the ranges, their LFs kept."""
    chars = list(text)
    for start, end in ranges:
        for place in range(start, end):
            if chars[place] != "\n":
                chars[place] = " "
    return "".join(chars)


def comment_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    return pair_ranges(text, "<!--", "-->")


def tag_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """From a `<` to the next `>`, whatever stands between, at least one character."""
    found: list[tuple[int, int]] = []
    start = text.find("<")
    while start >= 0:
        end = text.find(">", start + 1)
        if end == start + 1:
            end = -1
            following = start + 1
        elif end < 0:
            break
        else:
            found.append((start, end + 1))
            following = end + 1
        start = text.find("<", following)
    return found


def pair_ranges(text: str, opening: str, closing: str) -> list[tuple[int, int]]:
    """From each opening mark to the first closing mark after it."""
    found: list[tuple[int, int]] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        found.append((start, end + len(closing)))
        start = text.find(opening, end + len(closing))
    return found


def raw_ranges(text: str, *, on: On = NONE) -> list[tuple[int, int]]:
    """Scripts and styles with what they hold; an unclosed one is no range."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = raw_end(text, start)
        if end > start:
            found.append((start, end))
        start = max(end, start + 1)
    return found


def raw_end(text: str, start: int) -> int:
    """One past the element that opens at `start`; -1 when none does or it is not closed."""
    for name in ("script", "style"):
        after = start + 1 + len(name)
        if text[start:after].lower() != f"<{name}" or is_word(text[after : after + 1]):
            continue
        for place in range(after, len(text)):
            end = closing_end(text, place, name)
            if end > 0:
                return end
    return -1


def closing_end(text: str, start: int, name: str) -> int:
    """One past `</name`, white space, `>` at `start`, else -1."""
    after = start + 2 + len(name)
    if text[start:after].lower() != f"</{name}":
        return -1
    after = js_skip(text, after, len(text))
    return after + 1 if text[after : after + 1] == ">" else -1


def is_word(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


def decode_entities(text: str, *, on: On = NONE) -> str:
    """The few known entities as one character, padded to the length they had; read once."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        name = next((name for name in ENTITIES if text.startswith(name, place)), None)
        if name is None:
            parts.append(text[place])
            place += 1
        else:
            parts.append(ENTITIES[name].ljust(len(name)))
            place += len(name)
    return "".join(parts)
