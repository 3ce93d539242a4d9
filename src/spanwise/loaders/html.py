"""HTML: headings, paragraphs, lists, tables and code, in the order a browser shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from spanwise.documents import Document
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.html_encoding import decode_html
from spanwise.loaders.html_reader import read_html
from spanwise.loaders.speech import OPEN_SUFFIXES

__all__ = ["HtmlLoader", "write_html"]


def write_html(builder: Builder, html: str, *, lines: bool = True) -> str:
    """Write the blocks of a page of HTML; its title, or nothing.

    With ``lines`` each block notes the line of the HTML it begins on, as a part of kind
    ``source line``.
    """
    page = read_html(html, lines=lines)
    page.write(builder)
    return page.title


@dataclass(frozen=True, slots=True)
class HtmlLoader:
    """Reads HTML as a browser without scripts shows it.

    Left out are scripts, styles, templates, comments and what has the attribute ``hidden``;
    ``noscript`` is kept. Images are there by their alternative text.
    """

    name: str = "HTML"
    suffixes: tuple[str, ...] = (".html", ".htm", ".xhtml", ".xht", ".shtml")

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix says so, or the bytes begin with a doctype of HTML or its tag.

        How they begin is asked only where the suffix is none or that of a text. Any other one,
        also one that nobody knows, may be of a template, whose code would be lost: its file is
        read as what it says, else as text. ``uri="page.html"`` reads it as HTML.
        """
        if raw.suffix not in OPEN_SUFFIXES:
            return raw.suffix in self.suffixes
        head = raw.data[:1024].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
        return re.match(rb"<!doctype\s+html\b|<html[\s>]", head) is not None

    def load(self, raw: Raw) -> Document:
        """The document; ``meta`` says its title, language and description where it has them."""
        html, used = decode_html(raw.data, raw.name, raw.encoding)
        builder = Builder()
        page = read_html(html)
        page.write(builder)
        meta: dict[str, Any] = {"encoding": used}
        for key in ("title", "lang", "description"):
            if getattr(page, key):
                meta[key] = getattr(page, key)
        return builder.document(uri=raw.uri, media_type="text/html", meta=MappingProxyType(meta))
