"""The tokens of HTML: text, tags and their ends, as browsers part them.

They are read here and not by `html.parser`: in Python 3.11.7 that takes 5 seconds for 10,000
unclosed tags and four times as long for twice as many, loses tags within titles, and what it makes
of an unclosed tag differs between patch releases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape as _unescape

__all__ = ["VOID", "tokens", "unescape"]

VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track")
) | {"wbr"}
_RAW = frozenset(("script", "style", "iframe", "title", "textarea", "xmp"))
# The elements of which attributes are asked for; of any other only whether it is hidden.
_ASKED = frozenset(("html", "img", "li", "meta", "ol", "table", "td", "th"))

_huge = re.compile(r"&#(?=[0-9]{20})[0-9]+;?")
_markup = re.compile(r"<(?:(/?[a-zA-Z][^ \t\n\r\f/>]*)(>)?|[!?/])").search
_nameless = re.compile(r"<()[!?/]").search
_usual_attributes = re.compile(
    r"(?:[ \t\n\r\f]+[a-zA-Z][a-zA-Z0-9:_-]*=\"[^\"]*\")*[ \t\n\r\f]*/?>"
).match
_usual_pairs = re.compile(r"([a-zA-Z0-9:_-]+)=\"([^\"]*)\"").findall
_attribute = re.compile(
    r"[ \t\n\r\f/]*(?:(=?[^ \t\n\r\f/>=]+)(?:[ \t\n\r\f]*(=)[ \t\n\r\f]*)?|=)?"
).match
_bare_value = re.compile(r"[^ \t\n\r\f>]*").match
_comment_end = re.compile(r"--!?>").search
_closing = {name: re.compile(rf"</{name}(?=[ \t\n\r\f/>])", re.I).search for name in _RAW}
_script_sign = re.compile(r"<!--|-->|</?script(?=[ \t\n\r\f/>])", re.I).search

# Where the text before a tag begins, that text; the kind of the tag, its place, its name and its
# attributes. Of a raw element the text is what is inside it; without a tag the kind is empty.
_Token = tuple[int, str, str, int, str, dict[str, str]]
_NONE: dict[str, str] = {}


def unescape(raw: str) -> str:
    """A text with its entities read; `html.unescape` fails on numbers of thousands of digits."""
    return _unescape(_huge.sub("\ufffd", raw) if "&#" in raw else raw)


class _Names(dict[str, tuple[str, str]]):
    """For each name as it is written: ``start``, ``end`` or ``raw``, the name that is meant."""

    def __init__(self, xml: bool) -> None:
        super().__init__()
        self._xml = xml

    def __missing__(self, written: str) -> tuple[str, str]:
        name = written.lower()
        local = name.rsplit(":", 1)[-1] if self._xml else name
        if name[0] == "/":
            found = "end", local.lstrip("/")
        else:
            found = "raw" if local in _RAW and name == local else "start", local
        self[written] = found
        return found


def tokens(html: str, xml: bool) -> Iterator[_Token]:
    """Tags and their ends, each with the text before it, as browsers part them.

    What is no markup stays text. Attributes are left out where nobody asks for them.
    """
    start = at = 0  # of the text before the next token; of what is looked at
    last = html.rfind(">")
    whole = True  # no quote has run to the end of the text yet
    unclosed: set[str] = set()
    has_scripts = True  # no script has hidden its end in what looks like a comment yet
    names = _Names(xml)
    while found := _markup(html, at) if at < last else _nameless(html, at):
        at, end = found.span()
        named = found[1] if at < last else ""
        if not named and not _is_markup(html[at + 1 : at + 3]):
            at += 1
            continue
        text = html[start:at]
        if "&" in text:
            text = unescape(text)
        if not named:
            yield start, text, "", at, "", _NONE
            text, end = _nameless_end(html, at)
            if text:
                yield at + 9, text, "", at, "", _NONE
            start = at = end
            continue
        kind, name = names[named]
        attributes = _NONE
        if not found[2]:
            attributes, end = _attributes(html, end, name) if whole else (_NONE, -1)
            if end < 0:
                whole, attributes = False, _NONE
                end = html.find(">", at) + 1
        before, tag = start, at
        start = at = end
        alone = xml and html[end - 2] == "/"
        if kind == "end":
            yield before, text, kind, tag, name, _NONE
        elif kind == "start" or alone:
            yield before, text, "start", tag, name, attributes
            if alone and name not in VOID:
                yield end, "", "end", tag, name, _NONE
        else:
            yield before, text, "", tag, "", _NONE
            closed = None if name in unclosed else _closing[name](html, end)
            if closed and name == "script" and html.find("<!--", end, closed.start()) >= 0:
                whole_script = _script_end(html, end) if has_scripts else None
                has_scripts = whole_script is not None
                closed = whole_script or closed
            if closed:
                at = start = closed.start()
                yield end, html[end:at], kind, tag, name, _NONE
            elif name in ("script", "style"):
                return
            else:
                unclosed.add(name)
    if start < len(html):
        yield start, unescape(html[start:]), "", at, "", _NONE


def _script_end(html: str, at: int) -> re.Match[str] | None:
    """Where a script ends that holds ``<!--``: behind that, a script inside has an end of its own.

    Source: the script data states of the HTML standard.
    """
    escaped = inside = False
    while found := _script_sign(html, at):
        sign, at = found[0], found.end()
        if sign == "<!--":
            at -= 0 if escaped else 2  # `<!-->` ends at once
            escaped = True
        elif sign == "-->":
            escaped = inside = False
        elif sign[1] != "/":
            inside = inside or escaped
        elif inside:
            inside = False
        else:
            return found
    return None


def _nameless_end(html: str, at: int) -> tuple[str, int]:
    """The text in markup that is no tag, such as a comment, and where that ends."""
    if html.startswith("<![CDATA[", at):
        end = html.find("]]>", at)
        return html[at + 9 : end if end >= 0 else None], end + 3 if end >= 0 else len(html)
    if html.startswith("<!--", at):
        short = re.match(r"<!---?>", html[at : at + 6])
        found = None if short else _comment_end(html, at + 4)
        return "", at + short.end() if short else found.end() if found else len(html)
    return "", html.find(">", at) + 1 or len(html)


def _is_markup(begin: str) -> bool:
    """Whether the two characters behind a ``<`` open what is no tag: a comment, an instruction."""
    sign, letter = begin[:1], begin[1:]
    return begin in ("![", "/>") or (sign in ("!", "?") and (letter == "-" or letter.isalpha()))


def _attributes(html: str, at: int, name: str) -> tuple[dict[str, str], int]:
    """The attributes of a tag and where it ends, or -1 where the text ends before."""
    usual = _usual_attributes(html, at)
    if usual:
        if name not in _ASKED and "hidden" not in usual[0].lower():
            return _NONE, usual.end()
        # Of two with one name the first counts.
        pairs = reversed(_usual_pairs(usual[0]))
        return {key.lower(): unescape(value) for key, value in pairs}, usual.end()
    found: dict[str, str] = {}
    while at < len(html):
        if html[at] == ">":
            return found, at + 1
        match = _attribute(html, at)
        at = match.end() if match else at
        if not match or not match[1]:
            continue
        value = ""
        if match[2]:
            quote = html[at : at + 1]
            if quote and quote in "\"'":
                end = html.find(quote, at + 1)
                if end < 0:
                    break
                value, at = html[at + 1 : end], end + 1
            else:
                bare = _bare_value(html, at)
                value, at = (bare[0], bare.end()) if bare else ("", at)
        found.setdefault(match[1].lower(), unescape(value))
    return found, -1
