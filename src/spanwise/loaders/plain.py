"""Text and Markdown: the file's own text, front matter also as metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spanwise.documents import Document
from spanwise.loaders.base import Raw
from spanwise.loaders.front_matter import front_matter
from spanwise.loaders.html_encoding import decode_xml
from spanwise.loaders.text import decode, media_type_of, own_encoding

__all__ = ["TextLoader"]

# What loaders note under these names is acted on, so fields of front matter have others.
_OWN = {
    name: f"front_matter.{name}"
    for name in (
        *("bad_records", "bad_records_count", "bad_rows", "bad_rows_count", "encoding", "header"),
        *("missing", "pages_without_text", "problem", "problems"),
    )
}


@dataclass(frozen=True, slots=True)
class TextLoader:
    """Reads any text; the last of the loaders, which refuses what is none."""

    name: ClassVar[str] = "text"
    suffixes: ClassVar[tuple[str, ...]] = (
        *(".adoc", ".markdown", ".md", ".mdx", ".org", ".rst", ".text", ".txt"),
    )

    def claims(self, raw: Raw) -> bool:
        """Every file: what is no text is refused by name when it is read."""
        return True

    def load(self, raw: Raw) -> Document:
        """The document of a text file, unaltered."""
        # A text of another suffix may be XML, which says its encoding.
        read = decode if raw.suffix in ("", *self.suffixes) else decode_xml
        text, encoding = read(raw.data, raw.name, raw.encoding)
        # Bytes without a name are read as Markdown, like a bare string.
        kind = media_type_of(raw.suffix) if raw.uri else ""
        marked = kind in ("", "text/markdown")
        fields = front_matter(text) if marked else {}
        meta = {_OWN.get(name, name): value for name, value in fields.items()}
        meta["encoding"] = encoding
        own = own_encoding(raw.data, encoding)
        return Document(text=text, uri=raw.uri, media_type=kind, meta=meta, encoding=own)
