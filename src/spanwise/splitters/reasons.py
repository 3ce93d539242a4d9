"""explain: each cut of a splitter, its boundary and why it fell there."""

from __future__ import annotations

from dataclasses import dataclass

from spanwise.cutting.sizers import bind, chars
from spanwise.documents import Document
from spanwise.splitters.base import Splitter, as_document
from spanwise.splitters.choose import the_splitter

__all__ = ["Cut", "explain"]

_HARD = {
    "document": "the text begins here",
    "heading": "a heading opens a section",
    "fence": "code is a passage of its own",
    "table": "a table is a passage of its own",
    "page": "a form feed ends a page",
    "record": "a separator ends a record",
    "turn": "a turn ends here",
    "custom": "the splitter cut here",
}

_SOFT = {
    "block": "a blank line, or the edge of code or a table",
    "paragraph": "a blank line",
    "line": "the end of a line",
    "row": "the end of a row of a table",
    "sentence": "the end of a sentence",
    "clause": "the end of a clause",
    "word": "white space between words",
    "cluster": "no word border is in reach",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A cut before ``body``: the kind of boundary, the sizes and the reason.

    ``size`` is that of the own part, ``overlap`` that of what is borrowed from
    before, both in the splitter's unit.
    """

    index: int
    start: int
    body: int
    end: int
    boundary: str
    size: int
    overlap: int
    why: str


def explain(source: Document | str, by: Splitter | None = None) -> list[Cut]:
    """Why a splitter cut where it did: one entry a chunk, in order.

    The positions are those that ``by.split`` answers.

    >>> [cut.why for cut in explain("# A\\n\\nOne.")]
    ['the text begins here']
    """
    document = as_document(source)
    splitter = the_splitter(document, by)
    chunks = splitter.split(document)
    measure = bind(getattr(splitter, "sizer", chars), document.text)
    limit = getattr(splitter, "chunk_size", getattr(splitter, "target_size", None))
    cuts: list[Cut] = []
    for i, boundary in enumerate(chunks.boundaries):
        start, body, end = chunks.starts[i], chunks.bodies[i], chunks.ends[i]
        why = _HARD.get(boundary, "")
        if boundary in _SOFT:
            joined = measure.size(chunks.bodies[i - 1], end) if i else 0
            why = _SOFT[boundary]
            if limit is not None and joined > limit:
                why += f"; with the passage before it would measure {joined:,}, over {limit:,}"
        cuts.append(
            Cut(
                index=i,
                start=start,
                body=body,
                end=end,
                boundary=boundary,
                size=measure.size(body, end),
                overlap=measure.size(start, body) if start < body else 0,
                why=why,
            )
        )
    return cuts
