"""From the words of a command line to a splitter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from spanwise.cutting.caps import name_of
from spanwise.documents import Document
from spanwise.embedders.base import Embedder
from spanwise.errors import OptionError, shown
from spanwise.splitters.base import Splitter, Strategy
from spanwise.splitters.choose import RECORDS, splitter_for
from spanwise.splitters.engine import BySize, ByTitle
from spanwise.splitters.fixed import FixedWithOverlap, WholeDocument
from spanwise.splitters.heading import ByHeading
from spanwise.splitters.layout import ByLayout
from spanwise.splitters.paragraph import ByParagraph
from spanwise.splitters.parts import ByPart
from spanwise.splitters.presets import for_search
from spanwise.splitters.structure import SemanticChunker
from spanwise.splitters.text import ByRecord, ByText
from spanwise.splitters.turns import ByTurn

__all__ = ["INDEX_NAMES", "NAMES", "Chooser", "index_splitter", "options_of", "unescape"]

# The names here, each with the strategy and a second name that it has in Python, if any.
_KINDS: tuple[tuple[str, type[Strategy], str], ...] = (
    ("heading", ByHeading, ""),
    ("paragraph", ByParagraph, ""),
    ("text", ByText, "chunk_text"),
    ("record", ByRecord, ""),
    ("fixed", FixedWithOverlap, ""),
    ("whole", WholeDocument, ""),
    ("structure", SemanticChunker, "SemanticChunker"),
    ("layout", ByLayout, ""),
    ("engine-fixed", BySize, ""),
    ("engine-hierarchical", ByTitle, ""),
)

NAMES = tuple(name for name, *_ in _KINDS)

# What an index cuts by where nothing is said; and all that it can cut by.
_OF_INDEX = "search"
INDEX_NAMES = (*NAMES, _OF_INDEX)

# Strategies that no command line can give what they need.
_PYTHON_ONLY = {
    "similarity": "by_similarity needs an embedder; call it from Python",
    "semantic": "by_similarity needs an embedder; call it from Python",
    "turn": "by_turn needs a transcript's turns; call it from Python",
    "part": "by_part needs the kind of part; call it from Python, or leave --by out",
    "turns": "by_turn needs a transcript's turns; call it from Python",
}

# What `splitter_for` may answer for a document of a type that says as much; any of them for others.
_ANY: tuple[type[Strategy], ...] = (ByHeading, ByParagraph, ByPart, ByRecord, ByTurn)
_ROWS = (ByRecord, ByPart)
_CHOSEN: dict[str, tuple[type[Strategy], ...]] = {
    "text/markdown": (ByHeading,),
    **dict.fromkeys(RECORDS, _ROWS),
    "text/plain": (ByParagraph, ByTurn),
}

# The size that packing fills to has another name in one reference.
_TARGET = "target_size"

_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "\\": "\\"}


class Chooser:
    """What answers a document's splitter, with the options given, within an embedder.

    Without a name it depends on the document, and each option is for those documents whose
    strategy takes it; a separator alone means records. Raises `OptionError` for a name or an
    option that does not fit.
    """

    def __init__(self, by: str, given: Mapping[str, Any], embedder: Embedder | None = None) -> None:
        if not by and "separator" in given:
            by = "record"
        self._given = given
        self._embedder = embedder
        self._made = _with_options(_kind(by)(), given) if by else None
        self._unused = set() if by else set(given)

    def __call__(self, document: Document) -> Strategy:
        """The splitter of a document."""
        splitter = self._made
        if splitter is None:
            fitting = splitter_for(document)
            assert isinstance(fitting, Strategy)
            taken = {name: self._given[name] for name in self._given if _field(fitting, name)}
            self._unused.difference_update(taken)
            splitter = _with_options(fitting, taken)
        return splitter if self._embedder is None else splitter.within(self._embedder)

    def check(self, media_types: Iterable[str]) -> None:
        """Refuse an option that no document of these types can take, before one is read."""
        if self._made is not None:
            return
        kinds = [_CHOSEN.get(each, _ANY) for each in sorted({*media_types})]
        for name in self._given:
            if kinds and not any(_field(kind, name) for each in kinds for kind in each):
                _with_options(kinds[0][0](), {name: self._given[name]})

    @property
    def unused(self) -> list[str]:
        """The options given that no document asked for took, as typed."""
        return [_flag(name) for name in self._given if name in self._unused]


def index_splitter(by: str, given: Mapping[str, Any]) -> Splitter | None:
    """The splitter of an index, with the options given; None where nothing was said.

    Without a name it is `for_search`, which chooses by each document's kind and takes a size
    alone; a separator alone means records.
    """
    if by != _OF_INDEX and (by or "separator" in given):
        return _with_options(_kind(by or "record", INDEX_NAMES)(), given)
    others = [name for name in given if name != "chunk_size"]
    if others:
        raise OptionError(
            f"{_flag(others[0])} has no effect without a strategy in --by: an index cuts each "
            "document by its kind and takes --chunk-size; leave it out, or choose a --by"
        )
    return for_search(**given) if given or by else None


def options_of(splitter: Strategy) -> list[tuple[str, Any]]:
    """The options of a splitter that are set, by name, in order of their fields."""
    last = ("sizer", "max_size")
    names = [each.name for each in fields(splitter) if each.name not in last]
    values = [(name, getattr(splitter, name)) for name in (*names, *last)]
    return [
        (name, name_of(value) if callable(value) else value)
        for name, value in values
        if value is not None
    ]


def unescape(separator: str) -> str:
    r"""A separator as typed, with ``\n``, ``\r``, ``\t``, ``\f`` and ``\\`` read.

    >>> unescape(r"\n---\n")
    '\n---\n'
    """
    out, marked = [], False
    for character in separator:
        if marked:
            out.append(_ESCAPES.get(character, "\\" + character))
            marked = False
        elif character == "\\":
            marked = True
        else:
            out.append(character)
    return "".join(out) + "\\" * marked


def _kind(by: str, names: Sequence[str] = NAMES) -> type[Strategy]:
    """The strategy of a name, short or as in Python; ``names`` are what may be given."""
    wanted = by.lower().replace("-", "_").removeprefix("by_")
    for name, kind, second in _KINDS:
        if wanted in (name.replace("-", "_"), kind.name.removeprefix("by_"), second.lower()):
            return kind
    if wanted in _PYTHON_ONLY:
        raise OptionError(f"--by {by}: {_PYTHON_ONLY[wanted]}")
    raise OptionError(f"--by {shown(by)} is unknown; give one of {', '.join(names)}")


def _with_options(splitter: Strategy, given: Mapping[str, Any]) -> Strategy:
    """The splitter with the options given, each of which it must take."""
    changes = {}
    for name, value in given.items():
        field = _field(splitter, name)
        if not field:
            takes = {each.name for each in fields(splitter)}
            known = ["chunk_size" if each == _TARGET else each for each in _ORDER if each in takes]
            raise OptionError(
                f"{_flag(name)} has no effect on {splitter.name}, which takes "
                f"{', '.join(map(_flag, known))}; leave it out, or choose another --by"
            )
        changes[field] = value
    return replace(splitter, **changes)


def _field(strategy: Strategy | type[Strategy], option: str) -> str:
    """What a strategy calls an option, empty where it has none: a size has two names."""
    names = {each.name for each in fields(strategy)}
    field = _TARGET if option == "chunk_size" and _TARGET in names else option
    return field if field in names else ""


_ORDER = (
    "chunk_size",
    _TARGET,
    "overlap",
    "min_size",
    "max_size",
    "max_level",
    "separator",
    "sizer",
)


def _flag(option: str) -> str:
    return "--" + option.replace("_", "-")
