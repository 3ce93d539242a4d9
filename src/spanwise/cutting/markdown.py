"""Where the headings, fences, tables and HTML blocks of a Markdown text lie.

Two tiers, one answer. A single pattern jumps from one line that may matter to the next; what such a
line says for certain at the margin is noted at once. Anything in doubt (indented, behind list or
quote marks, a paragraph of unknown depth) goes to the full parser in `block_parser`, from the last
point where surely nothing is open to the next.
"""

from __future__ import annotations

import re

from spanwise.cutting.block_parser import Block, BlockParser, Structure, blocks
from spanwise.cutting.markdown_lines import (
    atx_title,
    before_return,
    certain_item,
    front_end,
    html_closes,
    html_opens,
    line_feeds,
    opens_table,
)

__all__ = ["Block", "Structure", "blocks", "scan"]

_END = r"(?![^\n])"
_ROW = rf"[-|:][-|: \t\r]*{_END}"
_LINES = (
    r"#{1,6}(?![^ \t\r\n])"
    r"|```|~~~"
    r"|<[A-Za-z/!?]"
    rf"|=+[ \t\r]*{_END}"
    rf"|{_ROW}"
    r"|[-+*>0-9 \t][-+*>0-9.) \t]*(?:```|~~~)"
    rf"|[> \t]+{_ROW}"
    r"| {1,3}[#<=]"
)
# No groups, and a literal first: with groups, or a class in place of the line feed, it runs at
# half the speed. The look-ahead turns most lines away before any branch is tried.
_stops = re.compile(rf"\n(?=[-#`~<=|:+*>0-9 \t])(?:{_LINES})").finditer
_first_stop = re.compile(_LINES).match

_blank_line = re.compile(r"\n(?=[ \t\r]*(?:\n|\Z))")
_not_a_row = re.compile(r"\n(?!\|)").search
_run = re.compile(r"`+|~+").match
_rest = re.compile(r"[ \t\r]*").match
# What the first line of a paragraph may begin with and be nothing else, not even a link definition.
_SPECIAL = frozenset(" \t\r\n>#`~<=-_*+[0123456789")
_NOTHING, _DOUBT = -1, -2


def scan(text: str) -> Structure:
    r"""The headings and atoms of a Markdown text, as CommonMark and GFM read them.

    Only document-level headings count. Front matter is a `---` or `+++` line at the start of the
    text up to its closing line. Linear in the text. Source: CommonMark 0.31.2; GFM 0.29 for tables.

    >>> found = scan("# A\n\n    # code\n\nB\n-\n")
    >>> found.heading_starts, found.heading_levels
    ([0, 17], [1, 2])
    """
    text = line_feeds(text)
    front = front_end(text)
    found = Structure(front)
    parser = BlockParser(text, found)
    # After the line feed at `settled` surely no block is open. A byte order mark stands in for one.
    settled = front - 1 if front else text.startswith("\ufeff") - 1
    if _first_stop(text, settled + 1):
        settled = parser.run(settled + 1, settled + 1) - 1
    size = len(text)
    starts, ends, levels = found.heading_starts, found.heading_ends, found.heading_levels
    title_starts, title_ends = found.title_starts, found.title_ends
    atom_starts, atom_ends, atom_kinds = found.atom_starts, found.atom_ends, found.atom_kinds
    for match in _stops(text, max(settled, 0)):
        feed, stop = match.span()
        if feed < settled:
            continue
        start = feed + 1
        mark = text[start]
        if mark == "#":
            end = text.find("\n", stop)
            if end < 0:
                end = size
            settled = end
            if end - stop > 1 and text[end - 1] not in "# \t\r" and text[stop + 1] not in " \t":
                title_start, title_end = stop + 1, end
            else:
                end = before_return(text, end)
                title_start, title_end = atx_title(text, stop, end)
            starts.append(start)
            ends.append(end)
            levels.append(stop - start)
            title_starts.append(title_start)
            title_ends.append(title_end)
            continue
        kind = ""
        end = _DOUBT
        if mark in "`~":
            kind = "fence"
            end = _fence_end(text, start)
        elif mark == "<":
            kind = "html"
            end = _html_end(text, settled, start)
        elif mark in "=-|:" and text[stop - 1] not in "`~":
            before = _paragraph_before(text, settled, feed)
            if before == _NOTHING:
                continue
            if before >= 0:
                row = text[start:stop].rstrip(" \t\r")
                if mark in "=-" and not row.strip(mark):
                    settled = stop
                    starts.append(before)
                    ends.append(before_return(text, stop))
                    levels.append(1 if mark == "=" else 2)
                    title_starts.append(before)
                    title_ends.append(before + len(text[before:feed].rstrip(" \t\r")))
                    continue
                kind = "table"
                end = _NOTHING
                if not row.startswith(("- ", "-\t")) and opens_table(text[before:feed], row):
                    start = before
                    end = _table_end(text, stop)
        if end == _NOTHING:
            continue
        if end == _DOUBT:
            settled = parser.run(_safe_start(text, settled, feed), feed + 1) - 1
            continue
        atom_kinds.append(kind)
        atom_starts.append(start)
        atom_ends.append(before_return(text, end))
        settled = end
    return found


def _text_end(text: str) -> int:
    """The end of the last line, without its line end."""
    return len(text) - text.endswith("\n")


def _paragraph_before(text: str, settled: int, feed: int) -> int:
    """Where the line that ends at `feed` starts, if surely a paragraph of its own."""
    if feed <= settled:
        return _NOTHING
    head = max(text.rfind("\n", settled + 1, feed), settled)
    if text[head + 1] in _SPECIAL:
        return _DOUBT if text[head + 1 : feed].strip(" \t\r") else _NOTHING
    if head > settled and text[head - 1] != "\n":
        line = max(text.rfind("\n", settled + 1, head), settled) + 1
        if text[line:head].strip(" \t\r"):
            return _DOUBT
    return head + 1


def _safe_start(text: str, settled: int, feed: int) -> int:
    """The last line start up to the one after `feed` where surely no block is open."""
    while feed > settled:
        if text[feed + 1] not in " \t\r\n" and (
            text[feed - 1] == "\n"
            or text.startswith("\n\r", feed - 2)
            or certain_item(text, feed + 1)
        ):
            break
        feed = max(text.rfind("\n", settled + 1, feed), settled)
    return feed + 1


def _fence_end(text: str, start: int) -> int:
    """The end of the last line of a fence at the margin."""
    size = len(text)
    run = start + 3
    if text.startswith(text[start], run):
        run = _run(text, start).end()  # type: ignore[union-attr]  # a fence opens there
    fence = text[start:run]
    at = text.find("\n", run)
    if at < 0:
        at = size
    if text[start] == "`" and text.find("`", run, at) >= 0:
        return _NOTHING
    while (at := text.find(fence, at)) >= 0:
        end = at + run - start
        if text[at - 1] == "\n" and (end == size or text[end] == "\n"):
            return end
        line = at
        while text[line - 1] == " " and line > at - 3:
            line -= 1
        at = _run(text, at).end()  # type: ignore[union-attr]
        if text[line - 1] == "\n":
            at = _rest(text, at).end()  # type: ignore[union-attr]
            if at == size or text[at] == "\n":
                return at
    return _text_end(text)


def _html_end(text: str, settled: int, start: int) -> int:
    """The end of the last line of an HTML block at the margin."""
    line_end = text.find("\n", start)
    if line_end < 0:
        line_end = len(text)
    tag = html_opens(text, start, before_return(text, line_end))
    if tag is None:
        return _NOTHING
    kind = tag.lastindex or 0
    if kind < 6:
        close = html_closes[kind](text, start)
        if close is None:
            return _text_end(text)
        line_end = text.find("\n", close.end())
        return len(text) if line_end < 0 else line_end
    if kind == 7 and _paragraph_before(text, settled, start - 1) != _NOTHING:
        return _DOUBT
    blank = _blank_line.search(text, line_end)
    return blank.start() if blank else len(text)


def _table_end(text: str, at: int) -> int:
    """The end of the last row; in doubt when what follows the rows is not a blank line."""
    other = _not_a_row(text, at)
    if other is None:
        return len(text)
    return other.start() if _blank_line.match(text, other.start()) else _DOUBT
