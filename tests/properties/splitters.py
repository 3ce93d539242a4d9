"""The registry of the promises: each strategy with its legal options and its bound of SIZE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import strategies as st

from spanwise import Document, Part, Turn, cap
from spanwise.cutting.pack import RUNT
from spanwise.cutting.sizers import chars, utf8_bytes, words
from spanwise.splitters.base import Strategy
from spanwise.splitters.registry import STRATEGIES


def uneven(text: str) -> int:
    """A sizer that is not monotone: some longer texts measure less."""
    return len(text) + (3 if text[-1:] in "ab" else 0) - text.count("o")


def first_letters(texts: Any) -> list[list[float]]:
    """A tiny embedding: two counts and a constant."""
    return [[text.count("a"), text.count("o"), 0.1] for text in texts]


@dataclass(frozen=True)
class Case:
    """A splitter, a document, and what an own part may measure."""

    splitter: Strategy
    document: Document
    bound: int


SIZERS = st.sampled_from([chars, chars, chars, utf8_bytes, words, uneven])


@st.composite
def cases(draw: Any, kind: type[Strategy], texts: st.SearchStrategy[str]) -> Case:
    """A legal case of a strategy on a text."""
    options: dict[str, Any] = {"sizer": draw(SIZERS)}
    size = draw(st.integers(1, 60))
    name = kind.name
    overlap = draw(st.one_of(st.none(), st.integers(0, size - 1)))
    if draw(st.booleans()):
        # A code point may measure seven in these sizers.
        most = draw(st.integers(7, 90))
        options["max_size"] = draw(st.one_of(st.just(most), st.builds(cap, st.just(most), SIZERS)))
    bound = size
    if name == "by_structure":
        options |= {"target_size": size, "overlap": overlap}
        if isinstance(options.get("max_size"), int):
            options["max_size"] = max(options["max_size"], size)
        options["min_size"] = draw(st.one_of(st.none(), st.just(0)))
        options["respect_headings"] = draw(st.booleans())
        options["preserve_code_blocks"] = draw(st.booleans())
        options["respect_lines"] = draw(st.booleans())
        bound = options["max_size"] if isinstance(options.get("max_size"), int) else 2 * size
    elif name == "by_turn":
        options |= {"chunk_size": size, "overlap_turns": draw(st.integers(0, 3))}
    elif name != "whole_document":
        options |= {"chunk_size": size, "overlap": overlap}
    if name == "by_part":
        options["kind"] = "row"
    if name in ("by_heading", "by_paragraph"):
        options["min_size"] = floor = draw(st.one_of(st.none(), st.integers(0, size - 1)))
        floor = min(250, size // 4) if floor is None else floor
        bound = size + 2 * max(floor, RUNT)
    if name == "by_heading":
        options["max_level"] = draw(st.integers(1, 6))
    if name == "fixed_with_overlap":
        options["word_window"] = draw(st.integers(0, 12))
        bound = size + RUNT
    if name == "by_record":
        options["separator"] = draw(st.sampled_from(["\n", "\n\n", "---", " ", "a", "\r\n", "x"]))
    if name == "by_similarity":
        options |= {"embed": first_letters, "threshold": draw(st.sampled_from([-1, 0.3, 0.9, 1]))}
        bound = 2 * size
    text = draw(texts)
    if name == "by_part":
        edges = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=8)))
        pairs = zip(edges[::2], edges[1::2], strict=False)
        parts = [Part(kind="row", start=a, end=b, label=str(a)) for a, b in pairs]
        meta = {"header": draw(st.booleans())}
        document = Document(text=text, parts=tuple(parts), meta=meta, media_type="text/csv")
    elif name == "by_turn":
        pieces = text.split("a")
        document = Document.from_turns(Turn(piece, i) for i, piece in enumerate(pieces))
    else:
        media_type = draw(st.sampled_from(["", "text/plain"]))
        document = Document(text=text, media_type=media_type, uri=draw(st.sampled_from(["", "u"])))
    return Case(kind(**options), document, bound)


def each_strategy(test: Callable[..., None]) -> Callable[..., None]:
    """Parametrise a test over every strategy of the registry."""
    return pytest.mark.parametrize("kind", STRATEGIES, ids=lambda kind: kind.name)(test)
