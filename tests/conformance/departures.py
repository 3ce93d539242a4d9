"""Every departure from the references: what differs, and on which ground.

A ground is a promise of docs/strategies.md (in capitals) that the reference breaks, "documented"
where the reference breaks its own documentation, "listed" where a rule of
docs/strategies.md or this list sets the behaviour.
Each has an entry in `docs/differences.md`. The models take these names in `on`.
"""

from __future__ import annotations

from typing import NamedTuple


class Departure(NamedTuple):
    """One line on what differs, and the ground it stands on."""

    what: str
    ground: str


DEPARTURES: dict[str, Departure] = {
    "refused": Departure("options that hang, lose or repeat text are refused", "LINEAR, COVER"),
    "order": Departure("the strongest boundary wins, not the right-most", "documented"),
    "boundaries": Departure(
        "`!`, `?`, CJK, Arabic and Devanagari marks end sentences, line ends and tabs count; "
        "abbreviations do not",
        "listed",
    ),
    "line-ends": Departure(
        "LF, CRLF and CR end lines and make blank lines; U+2028 and U+2029 do not", "NEWLINE"
    ),
    "clusters": Departure("no grapheme cluster, CRLF or surrogate pair is cut", "CLUSTER"),
    "whole-words": Departure(
        "a word border anywhere in the window is taken before a word is cut", "WORD"
    ),
    "word-overlap": Departure("overlap begins at a paragraph, sentence or word", "WORD"),
    "soft-cut": Departure(
        "an over-long paragraph is cut at lines, sentences, clauses, words before clusters",
        "WORD, listed",
    ),
    "local": Departure(
        "an over-long block or section is cut at the locally best boundary", "LOCAL"
    ),
    "one-overlap": Departure("no second overlap after a cut inside a paragraph", "listed"),
    "no-repeats": Departure("no chunk that adds nothing to the one before", "listed"),
    "small-sizes": Departure(
        "the fixed runt floor and the default overlap shrink with a small size", "listed"
    ),
    "bound": Departure("no floor merge goes over the bound of SIZE", "SIZE"),
    "equal-labels": Departure(
        "folding goes by section, not by equal heading text",
        "listed: a heading is a hard boundary",
    ),
    "first-label": Departure(
        "leading white space or front matter does not take the first section's label", "listed"
    ),
    "last-label": Departure("a last short section stays under its own heading", "listed"),
    "bare": Departure("bare headings join what follows, in every strategy", "listed"),
    "commonmark": Departure(
        "headings, fences, HTML and front matter as CommonMark reads them, tables as GFM", "listed"
    ),
    "once": Departure("an unclosed fence comes out once", "listed"),
    "pages": Departure(
        "a form feed ends a page and always cuts plain text",
        "listed: a form feed is a hard boundary",
    ),
    "own-label": Departure(
        "the label is that of the heading above the first own text, of any level",
        "listed: `heading_path`",
    ),
    "own-page": Departure("the page is the one where the own text begins", "listed"),
    "slices": Departure("a passage is a trimmed slice; nothing is joined or left out", "SLICE"),
    "cap-whole": Departure("merges and overlap stay within `max_size`", "SIZE"),
    "cut-long": Departure("a similarity group over the bound is cut, even one sentence", "SIZE"),
}

ALL = frozenset(DEPARTURES)
