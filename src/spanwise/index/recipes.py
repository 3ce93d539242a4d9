"""A splitter as JSON and back, so that an index can be opened without saying how it was made."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from spanwise.cutting.sizers import Sizer, chars, utf8_bytes, words
from spanwise.splitters.base import Splitter, Strategy
from spanwise.splitters.presets import ForSearch
from spanwise.splitters.registry import STRATEGIES

__all__ = ["read_splitter", "write_splitter"]

_SIZERS: dict[str, Sizer] = {"chars": chars, "words": words, "utf8_bytes": utf8_bytes}
_KINDS: tuple[type[Strategy | ForSearch], ...] = (ForSearch, *STRATEGIES)


def write_splitter(splitter: Splitter) -> str:
    """A splitter of this library with plain options as JSON; empty for any other."""
    if type(splitter) not in _KINDS:
        return ""
    options: dict[str, Any] = {}
    for each in fields(splitter):  # type: ignore[arg-type]  # all of them are dataclasses
        value = getattr(splitter, each.name)
        if each.name == "sizer":
            names = [name for name, sizer in _SIZERS.items() if sizer is value]
            if not names:
                return ""
            value = names[0]
        elif value is not None and not isinstance(value, str | int | float):
            return ""
        options[each.name] = value
    return json.dumps({"name": splitter.name, "options": options})


def read_splitter(written: str) -> Splitter | None:
    """The splitter that `write_splitter` wrote; None for what this version does not know."""
    if not written:
        return None
    said = json.loads(written)
    kind = next((each for each in _KINDS if each.name == said["name"]), None)
    if kind is None:
        return None
    options = dict(said["options"])
    if "sizer" in options:
        options["sizer"] = _SIZERS.get(options["sizer"])
    known = {each.name for each in fields(kind)}
    if not set(options) <= known or options.get("sizer", chars) is None:
        return None
    splitter: Splitter = kind(**options)
    return splitter
