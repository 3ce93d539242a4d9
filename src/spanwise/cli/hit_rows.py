"""Hits and candidates as a person reads them, and as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from spanwise.cli.screen import NARROWEST, Column, Rows, Screen, escaped, one_line, visible, wrap
from spanwise.cli.tables import citation_of
from spanwise.context import BETWEEN_HEADINGS
from spanwise.index import Hit, Hits, Standing
from spanwise.snippets import Highlight

__all__ = ["candidate_rows", "hit_rows", "html_of", "ranks_of"]

_MARK = "bold yellow"

# Columns of ranks in the table of candidates, and the gap between two.
_WORDS, _MEANING, _GAP = 5, 7, 2

# So many matched words are named below a snippet.
_MOST_WORDS = 6


def hit_rows(screen: Screen, hits: Hits, width: int) -> None:
    """Each hit as a few lines: where it is, what answers, why it is here, its name."""
    indent = len(str(len(hits))) + 2
    room = max(NARROWEST, screen.out.width) - indent
    for rank, hit in enumerate(hits, 1):
        if rank > 1:
            screen.out.print()
        cited = wrap(screen.out, Text(citation_of(hit.chunk, room), style="dim"), room, 2)
        shown = wrap(screen.out, _snippet(hit.snippet(width)), room, width)
        name, found = Text(one_line(hit.chunk.id), style="dim"), Text(evidence(hit), style="green")
        if found.cell_len + _GAP + name.cell_len <= room:
            last = [Text(" " * _GAP).join([found, name])]
        else:
            last = [*wrap(screen.out, found, room, 2), name]
        first = Text.assemble((f"{rank:>{indent - 2}}  ", "bold cyan"))
        for line in (*cited, *shown, *last):
            screen.out.print(first + line, soft_wrap=True)
            first = Text(" " * indent)


def evidence(hit: Hit) -> str:
    """Why a hit is where it is."""
    standing = hit.standing
    parts = []
    if standing.words_rank is not None:
        words = list({word.casefold(): word for word in reversed(hit.words)}.values())[::-1]
        more = ", …" if len(words) > _MOST_WORDS else ""
        named = f" ({one_line(', '.join(words[:_MOST_WORDS]))}{more})" if words else ""
        parts.append(f"{_ordinal(standing.words_rank)} by words{named}")
    if standing.meaning_rank is not None:
        parts.append(f"{_ordinal(standing.meaning_rank)} by meaning")
    if hit.joined:
        parts.append(f"{len(hit.joined) + 1} passages joined")
    if hit.repeats:
        parts.append(f"the same words in {len(hit.repeats)} more")
    return ", ".join(parts)


def candidate_rows(screen: Screen, hits: Hits) -> None:
    """A row a passage that was looked at: its ranks, and what became of it."""
    width = max(NARROWEST, screen.out.width)
    number = max(2, len(str(len(hits.candidates))))
    left = width - number - _WORDS - _MEANING - 4 * _GAP
    cited = left * 58 // 100
    rows = Rows(
        screen.out,
        [
            Column("#", number, right=True),
            Column("Passage", cited, lines=2),
            Column("Words", _WORDS, right=True),
            Column("Meaning", _MEANING, right=True),
            Column("Why", left - cited, lines=3),
        ],
    )
    for i, each in enumerate(hits.candidates, 1):
        rows.add(
            Text(str(i)),
            Text(_shorter(each.citation, 2 * cited - 8)),
            Text(_rank(each.standing.words_rank)),
            Text(_rank(each.standing.meaning_rank)),
            Text(one_line(each.why), style="green" if each.returned else "dim"),
        )


def html_of(hits: Hits, width: int) -> Iterator[str]:
    """The hits as lines of an HTML list, and the candidates as a table; all of it escaped."""
    yield '<ol class="hits">'
    for hit in hits:
        yield f'<li id="{_attribute(hit.chunk.id)}">'
        yield f"<cite>{escaped(hit.citation)}</cite>"
        yield f"<p>{hit.snippet(width).html()}</p>"
        yield f"<small>{escaped(evidence(hit))}</small>"
        yield "</li>"
    yield "</ol>"
    if hits.candidates:
        yield '<table class="candidates">'
        yield "<tr><th>Passage</th><th>Words</th><th>Meaning</th><th>Why</th></tr>"
        for each in hits.candidates:
            ranks = (each.standing.words_rank, each.standing.meaning_rank)
            cells = (each.citation, *map(_rank, ranks), each.why)
            yield f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in cells)}</tr>"
        yield "</table>"


def ranks_of(standing: Standing) -> dict[str, float | int | None]:
    """A standing as JSON has it."""
    return {
        "score": standing.score,
        "words_rank": standing.words_rank,
        "words_score": standing.words_score,
        "meaning_rank": standing.meaning_rank,
        "meaning_score": standing.meaning_score,
    }


def _snippet(found: Highlight) -> Text:
    """A snippet on one line, which folds; its marks in colour."""
    text, end = Text("…" if found.truncated_left else ""), 0
    for mark in found.marks:
        text.append(_flat(found.text[end : mark.start]))
        text.append(_flat(found.text[mark.start : mark.end]), style=_MARK)
        end = mark.end
    text.append(_flat(found.text[end:]))
    return text.append("…" if found.truncated_right else "")


def _flat(text: str) -> str:
    return re.sub(r"\s+", " ", visible(text))


def _attribute(text: str) -> str:
    """A value of an attribute, without white space, which an id may not have."""
    return escaped(re.sub(r"\s", "_", text))


def _shorter(citation: str, room: int) -> str:
    """A citation in so many cells, as far as that goes; headings in its middle give way."""
    first, *path = citation.split(BETWEEN_HEADINGS)
    while cell_len(citation) > room and len(path) > 1:
        del path[0]
        citation = BETWEEN_HEADINGS.join([first, "…", *path])
    return one_line(citation)


def _rank(rank: int | None) -> str:
    return "" if rank is None else str(rank)


def _ordinal(number: int) -> str:
    """A number as a rank.

    >>> _ordinal(1), _ordinal(12), _ordinal(23)
    ('1st', '12th', '23rd')
    """
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
