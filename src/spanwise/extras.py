"""Optional dependencies, imported where they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from spanwise.errors import MissingExtraError

__all__ = ["require_extra"]


def require_extra(module: str, extra: str, purpose: str) -> Any:
    """The module of an optional dependency; `MissingExtraError` with the command without it."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingExtraError(
            f"{purpose} needs the package {module.replace('_', '-')}, which is not installed; "
            f'pip install "spanwise[{extra}]"'
        ) from missing
