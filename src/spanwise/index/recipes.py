"""A splitter as JSON and back, so that an index can be opened without saying how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from spanwise.cutting.sizers import Sizer, chars, utf8_bytes, words
from spanwise.splitters.base import Splitter
from spanwise.splitters.presets import Preset, for_answers, for_search
from spanwise.splitters.registry import STRATEGIES

__all__ = ["read_splitter", "write_splitter"]

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
        names = [name for name, sizer in _SIZERS.items() if sizer is options["sizer"]]
        if not names:
            return ""
        options["sizer"] = names[0]
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
