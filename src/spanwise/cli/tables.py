"""Passages and cuts as rows that a person reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.text import Text

from spanwise import Chunk, Chunks, Cut, Document
from spanwise.cli.screen import NARROWEST, Column, Rows, Screen, one_line, style_of
from spanwise.cli.strategies import options_of
from spanwise.splitters.base import Strategy

__all__ = ["chunk_rows", "citation_of", "cut_rows"]

# The widths of the number and name columns, and the gap between two columns.
_SIZE, _BOUNDARY, _GAP = 6, 9, 2


def chunk_rows(screen: Screen) -> Callable[[Chunks, Chunk], None]:
    """A row a passage: where it is, its own size, what it begins at, how it opens."""
    width = max(NARROWEST, screen.out.width)
    cited = min(64, width * 42 // 100)
    opening = width - cited - _SIZE - _BOUNDARY - 3 * _GAP
    rows = Rows(
        screen.out,
        [
            Column("Passage", cited, lines=2),
            Column("Size", _SIZE, right=True),
            Column("Boundary", _BOUNDARY),
            Column("Opens with", opening, lines=2),
        ],
    )

    def show(chunks: Chunks, each: Chunk) -> None:
        if each.index == 0:
            rows.gap()
        own = each.own_text
        rows.add(
            Text(citation_of(each, 2 * cited - 8)),
            Text(f"{chunks.sizer(own):,}"),
            Text(each.boundary, style=style_of(each.boundary)),
            Text(one_line(own[: 4 * opening]) + ("…" if len(own) > 4 * opening else "")),
        )

    return show


def citation_of(each: Chunk, room: int) -> str:
    """A citation in so many cells, as far as that goes; outer headings give way."""
    citation, path = each.citation, list(each.heading_path)
    whole = " > ".join(path)
    while cell_len(citation) > room and len(path) > 1:
        del path[0]
        citation = each.citation.replace(whole, " > ".join(["…", *path]))
    return one_line(citation)


def cut_rows(screen: Screen, document: Document, splitter: Strategy, cuts: Sequence[Cut]) -> None:
    """A row a cut, under the strategy and its options."""
    options = ", ".join(f"{name} {_plain(value)}" for name, value in options_of(splitter))
    head = Text(one_line(document.uri) or "standard input", style="bold")
    screen.out.print(head.append(f", {splitter.name}: {options}", style="not bold"))
    screen.out.print()
    why = max(NARROWEST, screen.out.width) - 4 - 11 - _SIZE - 7 - _BOUNDARY - 5 * _GAP
    rows = Rows(
        screen.out,
        [
            Column("#", 4, right=True),
            Column("Lines", 11),
            Column("Size", _SIZE, right=True),
            Column("Overlap", 7, right=True),
            Column("Boundary", _BOUNDARY),
            Column("Why the cut is here", why, lines=4),
        ],
    )
    for each in cuts:
        first, last = document.line_at(each.body), document.line_at(each.end - 1)
        rows.add(
            Text(str(each.index + 1)),
            Text(str(first) if first == last else f"{first}-{last}"),
            Text(f"{each.size:,}"),
            Text(f"{each.overlap:,}" if each.overlap else ""),
            Text(each.boundary, style=style_of(each.boundary)),
            Text(each.why),
        )


def _plain(value: object) -> str:
    """A number or a name as it is typed; a separator with its escapes."""
    return repr(value) if isinstance(value, str) and not value.isidentifier() else str(value)
