"""Setup: a splitter and the way its passages are indexed and searched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from spanwise.embedders.base import Embedder
from spanwise.embedders.registry import find_embedder
from spanwise.errors import OptionError, shown
from spanwise.index.making import NO_EMBEDDER
from spanwise.index.wishes import Rerank
from spanwise.splitters.base import Splitter
from spanwise.splitters.capped import within

__all__ = ["Setup", "checked"]


@dataclass(frozen=True, slots=True)
class Setup:
    """One configuration to compare with others.

    - ``embedder``: as in `Index.open`; the splitter is brought under what it reads.
    - ``context``: whether passages are indexed with their heading path and title, as an index
      does. Without, the same ranges are indexed bare.
    - ``mode``, ``mix``, ``fusion``, ``weights``, ``rerank``: as in `Index.search`, unset as there.
    """

    name: str
    splitter: Splitter
    embedder: Embedder | str | None = field(default=None, kw_only=True)
    mode: str = field(default="auto", kw_only=True)
    mix: float | None = field(default=None, kw_only=True)
    fusion: str | None = field(default=None, kw_only=True)
    weights: tuple[float, float] | None = field(default=None, kw_only=True)
    rerank: Rerank | None = field(default=None, kw_only=True)
    context: bool = field(default=True, kw_only=True)

    @property
    def search_options(self) -> dict[str, Any]:
        """The options of `Index.search` that are set."""
        options = {name: getattr(self, name) for name in ("mix", "fusion", "weights", "rerank")}
        set_ones = {name: value for name, value in options.items() if value is not None}
        return {"mode": self.mode, **set_ones}

    @property
    def capped_splitter(self) -> Splitter:
        """The splitter under what the embedder reads, as an index cuts with it."""
        return self.splitter if self.embedder is None else within(self.splitter, self.embedder)


def checked(setups: Iterable[Setup | Splitter]) -> list[Setup]:
    """Setups with names of their own; a bare splitter by its name, embedders by name made once."""
    if not isinstance(setups, Iterable):
        raise OptionError(f"setups={shown(setups)} is no list; put one in a list too")
    made: list[Setup] = []
    embedders: dict[str, Embedder] = {}
    for each in setups:
        setup = _whole(each) if isinstance(each, Setup) else Setup(_made(each).name, each)
        if any(setup.name == other.name for other in made):
            raise OptionError(
                f"setups holds two of the name {shown(setup.name)}; give each a name of its own "
                "with Setup(name, splitter)"
            )
        named = setup.embedder
        if isinstance(named, str):
            if named != NO_EMBEDDER and named not in embedders:
                embedders[named] = find_embedder(named)
            setup = replace(setup, embedder=embedders.get(named))
        made.append(setup)
    if not made:
        raise OptionError("setups is empty; give at least one splitter")
    return made


def _whole(setup: Setup) -> Setup:
    """A setup whose own fields are of their kinds; the index looks at those of a search."""
    if not isinstance(setup.name, str) or not setup.name.strip():
        raise OptionError(f"name={shown(setup.name)} of a Setup is no name; give one to show")
    if not isinstance(setup.context, bool):
        raise OptionError(
            f"context={shown(setup.context)} of the Setup {shown(setup.name)} is neither True nor "
            "False; give one of them"
        )
    _made(setup.splitter)
    return setup


def _made(splitter: Splitter) -> Splitter:
    if isinstance(splitter, type) or not (hasattr(splitter, "split") and hasattr(splitter, "name")):
        raise OptionError(
            f"setups holds {shown(splitter)}, which is no splitter; pass one that is made, such "
            "as by_paragraph(), or a Setup"
        )
    return splitter
