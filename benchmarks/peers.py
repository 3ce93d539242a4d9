"""The peers, each made for one size, answering text and start of every chunk.

blazechunk counts starts in bytes of UTF-8, the others in code points. None adds overlap.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

Run = Callable[[str], Iterable[tuple[Any, ...]]]

PACKAGES = (
    "blazechunk",
    "semantic-text-splitter",
    "semchunk",
    "chonkie",
    "langchain-text-splitters",
)

BLAZECHUNK = "blazechunk.RecursiveChunker"
DOCUMENT = "blazechunk.DocumentChunker"
STS_TEXT = "sts.TextSplitter"
STS_MARKDOWN = "sts.MarkdownSplitter"
SEMCHUNK = "semchunk"
CHONKIE = "chonkie.RecursiveChunker"
LANGCHAIN_TEXT = "langchain.RecursiveCharacterTextSplitter"
LANGCHAIN_MARKDOWN = "langchain.MarkdownTextSplitter"


def _blazechunk(size: int) -> Run:
    chunker = import_module("blazechunk").RecursiveChunker(chunk_size=size)
    return lambda text: [(chunk.text, chunk.start_index) for chunk in chunker.chunk(text)]


def _document(size: int) -> Run:
    blazechunk = import_module("blazechunk")
    chunker = import_module("blazechunk.loaders").DocumentChunker(
        blazechunk.RecursiveChunker(chunk_size=size),
        code_chunker=blazechunk.CodeChunker(chunk_size=size),
    )
    return lambda text: [
        (chunk.text, chunk.md_start, chunk.heading_path)
        for chunk in chunker.chunk_markdown(text).chunks
    ]


def _sts(kind: str) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        chunker = getattr(import_module("semantic_text_splitter"), kind)(size)
        return lambda text: [(each, start) for start, each in chunker.chunk_indices(text)]

    return make


def _semchunk(size: int) -> Run:
    chunker = import_module("semchunk").chunkerify(len, size)

    def run(text: str) -> list[tuple[str, int]]:
        texts, offsets = chunker(text, offsets=True)
        return [(each, start) for each, (start, _) in zip(texts, offsets, strict=True)]

    return run


def _chonkie(size: int) -> Run:
    chunker = import_module("chonkie").RecursiveChunker(tokenizer="character", chunk_size=size)
    return lambda text: [(chunk.text, chunk.start_index) for chunk in chunker.chunk(text)]


def _langchain(kind: str) -> Callable[[int], Run]:
    def make(size: int) -> Run:
        chunker = getattr(import_module("langchain_text_splitters"), kind)(
            chunk_size=size, chunk_overlap=0, add_start_index=True
        )
        return lambda text: [
            (each.page_content, each.metadata["start_index"])
            for each in chunker.create_documents([text])
        ]

    return make


_MAKERS: dict[str, Callable[[int], Run]] = {
    BLAZECHUNK: _blazechunk,
    DOCUMENT: _document,
    STS_TEXT: _sts("TextSplitter"),
    STS_MARKDOWN: _sts("MarkdownSplitter"),
    SEMCHUNK: _semchunk,
    CHONKIE: _chonkie,
    LANGCHAIN_TEXT: _langchain("RecursiveCharacterTextSplitter"),
    LANGCHAIN_MARKDOWN: _langchain("MarkdownTextSplitter"),
}


def installed(names: Iterable[str], size: int) -> dict[str, Run]:
    """The peers that can be made; the others are named on standard error."""
    made = {name: _made(name, size) for name in names}
    return {name: run for name, run in made.items() if run}


def _made(name: str, size: int) -> Run | None:
    try:
        return _MAKERS[name](size)
    except ImportError as error:
        print(f"left out: {name} ({error})", file=sys.stderr)
        return None


def spans(name: str, run: Run, text: str) -> list[tuple[int, int]]:
    """What a peer answers as ranges of code points."""
    made: list[tuple[int, int]] = []
    raw = text.encode() if name.startswith("blazechunk") else b""
    at = count = 0
    for each, place, *_ in run(text):
        start = place
        if raw:
            count += len(raw[at:place].decode())
            at, start = place, count
        made.append((start, start + len(each)))
    return made


def versions() -> str:
    """Versions of the peers, as one line."""
    return ", ".join(map(_version, PACKAGES))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"
