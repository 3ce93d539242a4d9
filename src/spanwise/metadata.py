"""Metadata as JSON keeps it: what a person gives to be carried along may be anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

__all__ = ["json_line", "plain"]


def plain(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata as JSON keeps it: a set becomes a list, what JSON has no form for its text."""
    kept: dict[str, Any] = json.loads(json.dumps(dict(metadata), default=_formed))
    return kept


def json_line(said: Mapping[str, Any]) -> str:
    """A mapping as one line of JSON in ASCII, as `plain` has it; what is no number is null.

    >>> json_line({"tags": {"a"}, "size": float("nan")})
    '{"tags": ["a"], "size": null}'
    """
    try:
        return json.dumps(said, default=_formed, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(plain(said)))


def _formed(value: object) -> object:
    return sorted(value, key=repr) if isinstance(value, set | frozenset) else str(value)


def _finite(value: Any) -> Any:
    """A plain value without the numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not isfinite(value) else value
