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

_huge = re.compile(r"&#(?=[0-9]{20})[0-9]+;?")
_tag_name = re.compile(r"/?[a-zA-Z][^ \t\n\r\f/>]*").match
_attribute = re.compile(
    r"[ \t\n\r\f/]*(?:(=?[^ \t\n\r\f/>=]+)(?:[ \t\n\r\f]*(=)[ \t\n\r\f]*)?|=)?"
).match
_bare_value = re.compile(r"[^ \t\n\r\f>]*").match
_comment_end = re.compile(r"--!?>").search
_closing = {name: re.compile(rf"</{name}(?=[ \t\n\r\f/>])", re.I).search for name in _RAW}

_Token = tuple[str, int, str, dict[str, str]]  # kind, position, name or text, attributes


def unescape(raw: str) -> str:
    """A text with its entities read; `html.unescape` fails on numbers of thousands of digits."""
    return _unescape(_huge.sub("\ufffd", raw) if "&#" in raw else raw)


def tokens(html: str, xml: bool) -> Iterator[_Token]:
    """Text, tags and their ends, as browsers part them; what is no markup stays text."""
    start = at = 0  # of the text before the next token; of what is looked at
    last = html.rfind(">")
    whole = True  # no quote has run to the end of the text yet
    unclosed: set[str] = set()
    while (at := html.find("<", at)) >= 0:
        named = _tag_name(html, at + 1) if at < last else None
        if not named and not _is_markup(html[at + 1 : at + 3]):
            at += 1
            continue
        if start < at:
            text = html[start:at]
            yield "text", start, unescape(text) if "&" in text else text, {}
        if not named:
            text = ""
            cdata = html.startswith("<![CDATA[", at)
            if cdata:
                end = html.find("]]>", at)
                text = html[at + 9 : end if end >= 0 else None]
                end = end + 3 if end >= 0 else len(html)
            elif html.startswith("<!--", at):
                short = re.match(r"<!---?>", html[at : at + 6])
                found = None if short else _comment_end(html, at + 4)
                end = at + short.end() if short else found.end() if found else len(html)
            else:
                end = html.find(">", at) + 1 or len(html)
            if text:
                yield "text", at + 9, text, {}
            start = at = end
            continue
        attributes: dict[str, str] = {}
        end = named.end() + 1
        if not html.startswith(">", end - 1):
            attributes, end = _attributes(html, end - 1) if whole else ({}, -1)
            if end < 0:
                whole, attributes = False, {}
                end = html.find(">", at) + 1
        name = named[0].lower()
        local = name.rsplit(":", 1)[-1] if xml else name
        tag, at, start = at, end, end
        if name[0] == "/":
            yield "end", tag, local.lstrip("/"), {}
            continue
        alone = xml and html[end - 2] == "/"
        if local in _RAW and name == local and not alone:
            found = None if local in unclosed else _closing[local](html, end)
            if found:
                at = start = found.start()
                yield "raw", end, html[end : found.start()], {"": local}
            elif local in ("script", "style"):
                return
            else:
                unclosed.add(local)
            continue
        yield "start", tag, local, attributes
        if alone and local not in VOID:
            yield "end", tag, local, {}
    if start < len(html):
        yield "text", start, unescape(html[start:]), {}


def _is_markup(begin: str) -> bool:
    """Whether the two characters behind a ``<`` open what is no tag: a comment, an instruction."""
    sign, letter = begin[:1], begin[1:]
    return begin in ("![", "/>") or (sign in ("!", "?") and (letter == "-" or letter.isalpha()))


def _attributes(html: str, at: int) -> tuple[dict[str, str], int]:
    """The attributes of a tag and where it ends, or -1 where the text ends before."""
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
