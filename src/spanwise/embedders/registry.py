"""find_embedder: the embedder that a name on the command line means."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from spanwise.embedders.base import Embedder
from spanwise.embedders.http import HttpEmbedder
from spanwise.embedders.onnx import OnnxEmbedder
from spanwise.embedders.sentence_transformers import SentenceTransformerEmbedder
from spanwise.embedders.wordllama import WordLlamaEmbedder
from spanwise.errors import OptionError, shown

__all__ = ["FORMS", "find_embedder", "lasting_name"]

# The forms of a name, each with what it means.
FORMS = (
    ("wordllama", "small static vectors, offline"),
    ("onnx:FOLDER", "a local ONNX model"),
    ("sentence-transformers:NAME", "a folder, or a model that was downloaded before"),
    ("openai:MODEL", "the API of OpenAI"),
    ("http://HOST/v1#MODEL", "a server that speaks the same protocol; https:// too"),
)

_MAKERS: tuple[tuple[str, Callable[[str], Embedder]], ...] = (
    ("onnx", OnnxEmbedder),
    ("sentence-transformers", SentenceTransformerEmbedder),
    ("openai", HttpEmbedder),
)


def find_embedder(name: str) -> Embedder:
    """The embedder of a name: see `FORMS`.

    Raises `OptionError` for any other name, and what the embedder raises when it is
    made: `MissingExtraError`, `EmbedderError`.

    >>> find_embedder("http://localhost:11434/v1#nomic-embed-text").id
    'nomic-embed-text@localhost:11434'
    """
    if name == "wordllama":
        return WordLlamaEmbedder()
    kind, _, rest = name.partition(":")
    if kind in ("http", "https"):
        url, _, model = name.partition("#")
        if model:
            return HttpEmbedder(model, url=url)
    for prefix, maker in _MAKERS:
        if kind == prefix and rest:
            return maker(rest)
    masked = re.sub("(?s)//.*@", "//***@", name)
    raise OptionError(
        f"embedder={shown(masked)} is not known; give one of "
        + ", ".join(form for form, _ in FORMS)
    )


def lasting_name(name: str) -> str:
    """The same name from every folder: that of a model in a folder is its absolute path."""
    kind, colon, rest = name.partition(":")
    if kind in ("onnx", "sentence-transformers") and os.path.isdir(rest):  # noqa: PTH112
        return f"{kind}{colon}{os.path.abspath(rest)}"  # noqa: PTH100 - keeps symbolic links
    return name
