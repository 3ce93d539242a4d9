"""What an option is called in a fingerprint: the same in every process, other where it differs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from re import Pattern
from types import CodeType, ModuleType
from zlib import crc32

__all__ = ["named"]

# Objects inside objects are told apart so deep: one may hold itself.
_DEEPEST = 8


def named(value: object, depth: int = 0) -> str:
    """An option as a fingerprint shows it.

    A callable may name itself by a string ``fingerprint``. Else a function of a
    module is its name, a lambda or closure a checksum of its code and what it
    holds, any other object its type and its attributes.
    """
    own = getattr(value, "fingerprint", None)
    if isinstance(own, str):
        return own
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return repr(value)
    if depth > _DEEPEST:
        return type(value).__qualname__
    depth += 1
    if isinstance(value, tuple | list):
        return f"({', '.join(named(each, depth) for each in value)})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(named(each, depth) for each in value))}}}"
    if isinstance(value, Mapping):
        pairs = (f"{named(key, depth)}: {named(each, depth)}" for key, each in value.items())
        return f"{type(value).__qualname__}{{{', '.join(sorted(pairs))}}}"
    if isinstance(value, Pattern):
        return f"re.compile{named((value.pattern, value.flags), depth)}"
    if isinstance(value, partial):
        keywords = sorted(value.keywords.items())
        return f"partial{named((value.func, value.args, keywords), depth)}"
    bound = getattr(value, "__self__", None)
    name = f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    if bound is not None and not isinstance(bound, ModuleType):
        return f"{named(bound, depth)}.{name}"
    if isinstance(value, CodeType):
        return named((value.co_code, value.co_names, value.co_consts), depth)
    code = getattr(value, "__code__", None)
    if code is None:
        if hasattr(value, "__qualname__"):
            return name
        state = sorted(_attributes(value).items())
        return f"{type(value).__module__}.{type(value).__qualname__}{named(state, depth)}"
    if "<" not in name:
        return name
    cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    defaults = (getattr(value, "__defaults__", None), getattr(value, "__kwdefaults__", None))
    held = named((code, cells, defaults[0], sorted((defaults[1] or {}).items())), depth)
    return f"{name}#{crc32(held.encode('utf-8', 'surrogatepass')):08x}"


def _attributes(value: object) -> dict[str, object]:
    """What an object holds, in its dictionary and in its slots."""
    held = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                held[name] = getattr(value, name)
    return held
