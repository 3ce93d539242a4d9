"""A splitter as JSON and back, so that an index can be opened without saying how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import Sizer, chars, utf8_bytes, words
from spanwise.splitters.base import Splitter
from spanwise.splitters.presets import Preset, for_answers, for_search
from spanwise.splitters.registry import STRATEGIES

__all__ = ["read_ceiling", "read_splitter", "write_ceiling", "write_splitter"]

_SIZERS: dict[str, Sizer] = {"chars": chars, "words": words, "utf8_bytes": utf8_bytes}

_MAKERS: dict[str, Callable[..., Splitter]] = {
    "for_search": for_search,
    "for_answers": for_answers,
    **{kind.name: kind for kind in STRATEGIES},
}


def write_splitter(splitter: Splitter) -> str:
    """A splitter of this library with plain options as JSON; empty for any other."""
    if isinstance(splitter, Preset):
        options: dict[str, Any] = {"chunk_size": splitter.chunk_size}
        if splitter.limit is not None:
            return ""
    elif type(splitter) in STRATEGIES:
        options = {each.name: getattr(splitter, each.name) for each in fields(splitter)}  # type: ignore[arg-type]
    else:
        return ""
    if "sizer" in options:
        options["sizer"] = _name_of(options["sizer"])
        if not options["sizer"]:
            return ""
    if not all(value is None or isinstance(value, str | int | float) for value in options.values()):
        return ""
    return json.dumps({"name": splitter.name, "options": options})


def read_splitter(written: str) -> Splitter | None:
    """The splitter that `write_splitter` wrote; None for what this version does not know."""
    if not written:
        return None
    said = json.loads(written)
    maker, options = _MAKERS.get(said["name"]), dict(said["options"])
    if "sizer" in options:
        options["sizer"] = _SIZERS.get(options["sizer"])
    if maker is None or options.get("sizer", chars) is None:
        return None
    try:
        return maker(**options)
    except TypeError:  # an option of another version
        return None


def write_ceiling(ceiling: Cap | int | None) -> str:
    """A ceiling as text, such as ``150 words``; empty for none, and for a sizer without a name."""
    if isinstance(ceiling, Cap):
        name = _name_of(ceiling.sizer)
        return f"{ceiling.limit} {name}" if name else ""
    return "" if ceiling is None else str(ceiling)


def read_ceiling(written: str) -> Cap | int | None:
    """The ceiling that `write_ceiling` wrote; `ValueError` for what it did not."""
    limit, _, name = written.partition(" ")
    if not name:
        return int(limit) if limit else None
    if name not in _SIZERS:
        raise ValueError(f"{name} is no sizer")
    return Cap(int(limit), _SIZERS[name])


def _name_of(sizer: Sizer) -> str:
    return next((name for name, each in _SIZERS.items() if each is sizer), "")
