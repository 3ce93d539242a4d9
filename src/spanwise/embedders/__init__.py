"""Embedders: what turns texts into vectors, and how much of a text each one reads.

The names below are imported when they are first asked for, so that none costs anything unused.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spanwise.embedders.base import Embedder, Vectors, ceiling_of

if TYPE_CHECKING:
    from spanwise.embedders.ceilings import MeasuredCeiling, measured_ceiling
    from spanwise.embedders.function import FunctionEmbedder
    from spanwise.embedders.http import HttpEmbedder
    from spanwise.embedders.onnx import OnnxEmbedder
    from spanwise.embedders.registry import find_embedder
    from spanwise.embedders.sentence_transformers import SentenceTransformerEmbedder
    from spanwise.embedders.wordllama import WordLlamaEmbedder

__all__ = [
    "Embedder",
    "FunctionEmbedder",
    "HttpEmbedder",
    "MeasuredCeiling",
    "OnnxEmbedder",
    "SentenceTransformerEmbedder",
    "Vectors",
    "WordLlamaEmbedder",
    "ceiling_of",
    "find_embedder",
    "measured_ceiling",
]

_HOMES = {
    "FunctionEmbedder": "function",
    "HttpEmbedder": "http",
    "MeasuredCeiling": "ceilings",
    "OnnxEmbedder": "onnx",
    "SentenceTransformerEmbedder": "sentence_transformers",
    "WordLlamaEmbedder": "wordllama",
    "find_embedder": "registry",
    "measured_ceiling": "ceilings",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
