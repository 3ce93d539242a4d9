"""What a line of Markdown says for certain, without the blocks that it stands in."""

from __future__ import annotations

import re

__all__ = [
    "SPACE_AND_TAB",
    "atx_title",
    "before_return",
    "certain_item",
    "front_end",
    "html_closes",
    "html_opens",
    "line_feeds",
    "opens_table",
]

SPACE_AND_TAB = " \t"
_RAW = r"(?:script|pre|style|textarea)"
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|"
    "head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|"
    "p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_ATTRIBUTE = r"[ \t]+[a-z_:][a-z0-9_.:-]*(?:[ \t]*=[ \t]*(?:[^ \t\"'=<>`]+|'[^']*'|\"[^\"]*\"))?"

# The start conditions of the seven kinds of HTML block; the empty group that is set tells the kind.
html_opens = re.compile(
    rf"<(?:{_RAW}(?![^ \t>])()|!--()|\?()|![a-z]()|!\[CDATA\[()"
    rf"|/?(?:{_BLOCK_TAGS})(?:[ \t>]|/>|\Z)()"
    rf"|(?:[a-z][a-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?>|/[a-z][a-z0-9-]*[ \t]*>)[ \t]*\Z())",
    re.IGNORECASE | re.ASCII,
).match
# What the last line of a kind holds; kinds 6 and 7 end before a blank line instead.
html_closes = {
    1: re.compile(rf"</{_RAW}>", re.IGNORECASE | re.ASCII).search,
    2: re.compile("-->").search,
    3: re.compile(r"\?>").search,
    4: re.compile(">").search,
    5: re.compile("]]>").search,
}

_front_opens = re.compile(r"\ufeff?(?:---|(\+\+\+))[ \t\r]*(?=\n)").match
_yaml_closes = re.compile(r"\n(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)").search
_toml_closes = re.compile(r"\n\+\+\+[ \t\r]*(?:\n|\Z)").search
_lone_return = re.compile(r"\r(?!\n)").sub
certain_item = re.compile(r"[-+*] [^ \t\r\n*+_-]").match
_delimiters = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?\Z").match


def line_feeds(text: str) -> str:
    """The same positions with LF for each CR that ends a line alone."""
    if "\r" not in text or text.count("\r") == text.count("\r\n"):
        return text
    return _lone_return("\n", text)


def front_end(text: str) -> int:
    """The end of front matter at the start of the text; 0 when nothing opens or closes it."""
    opens = _front_opens(text)
    if opens is None:
        return 0
    closes = (_toml_closes if opens[1] else _yaml_closes)(text, opens.end())
    return closes.end() if closes else 0


def before_return(text: str, end: int) -> int:
    """The end of a line's content, given the place of its line feed."""
    return end - 1 if text[end - 1] == "\r" else end


def atx_title(text: str, start: int, end: int) -> tuple[int, int]:
    """The title range in what follows the hashes of a heading, `[start, end)`."""
    title = text[start:end].lstrip(SPACE_AND_TAB)
    start = end - len(title)
    title = title.rstrip(SPACE_AND_TAB)
    if title.endswith("#"):
        bare = title.rstrip("#")
        if not bare or bare[-1] in SPACE_AND_TAB:
            title = bare.rstrip(SPACE_AND_TAB)
    return start, start + len(title)


def opens_table(header: str, row: str) -> bool:
    """Whether `row` is a delimiter row with as many cells as `header`."""
    header, row = header.strip(" \t\r"), row.strip(SPACE_AND_TAB)
    return "|" in header and _delimiters(row) is not None and _cells(header) == _cells(row)


def _cells(row: str) -> int:
    """How many cells a trimmed table row has; an escaped bar divides nothing."""
    bars = row.count("|") - row.count("\\|")
    return bars + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))
