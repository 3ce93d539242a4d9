"""Whether what a tokenizer counts adds up at white space, tried on strings that would show it."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["adds_up", "adds_up_by_lines", "adds_up_by_words"]

# Strings by which a tokenizer shows how it treats a space between two units.
_PROBES = (
    ("a", "b"),
    ("New", "York"),
    ("of", "the"),
    ("end.", "Then"),
    ("(x)", "[y]"),
    ("12", "345"),
    ("été", "ñu"),
    ("日本", "語"),
    ("don't", "'quoted'"),
    ("foo;\n\nbar", "baz"),
    ("#", "-"),
    ("naïve", "🤖"),
    ("x", "refund"),
    ("a", "´b"),  # a space and a mark to NFKC and NFKD
    ("it", "´s"),
    (".", "¨"),
    ("´", "¨x"),
    ("};", "//x"),  # of a line end and a slash
    ("a", "\\b"),
)

# White space of several kinds, and line ends, between the same strings.
_WHITE = (" ", "\n", "\r\n", " \t\n\n  ")
_LINE_ENDS = ("\n", "\n\n", "\r\n", "\n\n\n", " \n", "\n \n")

IdsOf = Callable[[str], list[int]]


def adds_up(ids_of: IdsOf, before: str) -> bool:
    """Whether a unit after a space counts like ``before`` and the unit alone."""
    return all(
        ids_of(f"{left} {right}") == ids_of(left) + ids_of(before + right)
        for left, right in _PROBES
    )


def adds_up_by_lines(ids_of: IdsOf) -> bool:
    """Whether lines that begin with ink count like each alone."""
    return all(
        ids_of(left + end + right) == ids_of(left + end) + ids_of(right)
        for left, right in _PROBES
        for end in _LINE_ENDS
    )


def adds_up_by_words(ids_of: IdsOf) -> bool:
    """Whether what any white space parts counts like each part alone."""
    return all(
        ids_of(left + white + right) == ids_of(left) + ids_of(right)
        for left, right in _PROBES
        for white in _WHITE
    )
