"""chunk: the right strategy for a document's media type."""

from __future__ import annotations

from spanwise.chunks import Chunks
from spanwise.documents import MARKDOWN, RECORDS, Document
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Splitter, as_document
from spanwise.splitters.heading import by_heading
from spanwise.splitters.paragraph import by_paragraph
from spanwise.splitters.parts import by_part
from spanwise.splitters.text import by_record
from spanwise.splitters.turns import by_turn

__all__ = ["RECORDS", "chunk", "splitter_for", "the_splitter"]

# Parts that hold together where a loader found them and no headings.
_WHOLE = ("row", "record", "message")


def splitter_for(document: Document) -> Splitter:
    """The splitter for a document: by its turns, its records, its headings, its paragraphs."""
    if "turn" in document.kinds:
        return by_turn()
    kind = next((kind for kind in document.kinds if kind in _WHOLE), "")
    if kind and document.structure is None:
        return by_part(kind)
    if document.essence in RECORDS:
        return by_record("\r" if "\r" in document.text and "\n" not in document.text else "\n")
    if document.essence in MARKDOWN or document.structure is not None:
        return by_heading()
    return by_paragraph()


def chunk(source: Document | str, by: Splitter | None = None) -> Chunks:
    """The chunks of a document or a string.

    Without ``by``, Markdown, bare strings and every loaded kind with headings are
    cut by heading, tables and data by whole rows or records, transcripts by turn,
    the rest by paragraph. Raises `OptionError` for what is no splitter.

    >>> chunk("# Refunds\\n\\nFive to ten days.").texts
    ['# Refunds\\n\\nFive to ten days.']
    """
    document = as_document(source)
    return the_splitter(document, by).split(document)


def the_splitter(document: Document, by: Splitter | None) -> Splitter:
    """The splitter given, checked, or the one for the document."""
    if by is None:
        return splitter_for(document)
    if isinstance(by, type) or not (hasattr(by, "split") and hasattr(by, "name")):
        raise OptionError(
            f"by={shown(by)} is no splitter; pass one that is made, such as by_paragraph()"
        )
    return by
