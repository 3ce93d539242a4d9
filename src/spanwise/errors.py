"""The one tree of errors and warnings.

SpanwiseError
├── OptionError (ValueError)      an option that contradicts another or has no effect
├── SizeError (ValueError)        a single code point larger than max_size
├── SplitterError (ValueError)    spans that break SLICE or ORDER, refused by name
├── LoadError (OSError)           a source that cannot be read as text
├── StoreError (RuntimeError)      an index that cannot be opened, read or written
├── EmbedderError (RuntimeError)  an embedder that failed or answered no vectors
└── MissingExtraError (ImportError)  an optional dependency that is not installed

SpanwiseWarning (UserWarning)
├── CeilingWarning                passages longer than what an embedder reads
├── EmptyDocumentWarning          a document that gives no chunk although it holds text
└── TokenizerWarning              a tokenizer whose own settings would hide a length
"""

from __future__ import annotations

__all__ = [
    "CeilingWarning",
    "EmbedderError",
    "EmptyDocumentWarning",
    "LoadError",
    "MissingExtraError",
    "OptionError",
    "SizeError",
    "SpanwiseError",
    "SpanwiseWarning",
    "SplitterError",
    "StoreError",
    "TokenizerWarning",
    "shown",
]


class SpanwiseError(Exception):
    """The root of every error this library raises on purpose."""


class OptionError(SpanwiseError, ValueError):
    """An option that is out of range, contradicts another or has no effect."""


class SizeError(SpanwiseError, ValueError):
    """A single code point that is larger than ``max_size`` in the sizer's unit."""


class SplitterError(SpanwiseError, ValueError):
    """Spans from a splitter that are no slices of the text or out of order."""


class LoadError(SpanwiseError, OSError):
    """A source that is missing, unreadable or not text."""


class EmbedderError(SpanwiseError, RuntimeError):
    """An embedder that cannot be reached, failed or answered something else than vectors."""


class StoreError(SpanwiseError, RuntimeError):
    """An index that cannot be opened, read or written, or was made in another way."""


class MissingExtraError(SpanwiseError, ImportError):
    """An optional dependency is missing; the message holds the install command."""


class SpanwiseWarning(UserWarning):
    """The root of every warning this library gives."""


class CeilingWarning(SpanwiseWarning):
    """Passages are longer than what an embedder reads."""


class EmptyDocumentWarning(SpanwiseWarning):
    """A document of bare headings gave no chunk."""


class TokenizerWarning(SpanwiseWarning):
    """A tokenizer cuts, pads or drops text by its own settings."""


def shown(value: object, limit: int = 80) -> str:
    """The ``repr`` of a value for a message, cut at ``limit`` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def require(name: str, value: object, least: int, way_out: str = "") -> None:
    """Refuse an option that is not a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise OptionError(
            f"{name}={shown(value)} is not a whole number; give an int of at least {least}"
        )
    if value < least:
        way_out = way_out or f"give at least {least}"
        raise OptionError(f"{name}={shown(value)} is below {least}; {way_out}")
