"""What a passage stands under and its text does not say, for an embedder and a word index."""

from __future__ import annotations

from spanwise.cutting.caps import Cap
from spanwise.documents import Document

__all__ = ["BETWEEN_HEADINGS", "LONGEST_HEADER", "LONGEST_TITLE", "context_of", "join_context"]

# A context helps an embedder only while it is short beside the text: a longer
# title is cut, a longer table header left out.
LONGEST_TITLE = 200
LONGEST_HEADER = 2000

_BETWEEN_CONTEXT = "\n\n"
BETWEEN_HEADINGS = " > "


def context_of(
    document: Document, start: int, body: int, heading: int, text: str, limit: Cap | None
) -> str:
    """What the own part stands under and its text does not say, within a cap.

    Shortened outermost first: the document's title, the headings, the header
    of a table that was cut.
    """
    outline = document.outline
    found = outline.structure
    path: list[str] = []
    if heading >= 0:
        path = [
            outline.paths[i][-1][:LONGEST_TITLE]
            for i in outline.ancestors(heading)
            if found.title_starts[i] < min(start, found.title_ends[i])
        ]
    title = document.meta.get("title")
    if isinstance(title, str):
        title = " ".join(title.split())[:LONGEST_TITLE]
        if title and title not in path and title not in text:
            path.insert(0, title)
    header = document.header_at(body)
    shown_header = header[0] < start and header[1] - header[0] <= LONGEST_HEADER
    header_text = document.text[header[0] : header[1]] if shown_header else ""
    while path or header_text:
        context = "\n".join(filter(None, (BETWEEN_HEADINGS.join(path), header_text)))
        whole = join_context(context, text)
        if limit is None or limit.allows(whole):
            return context
        if path:
            del path[0]
        else:
            header_text = ""
    return ""


def join_context(context: str, text: str) -> str:
    """The string that an embedder reads."""
    return f"{context}{_BETWEEN_CONTEXT}{text}" if context else text
