"""The peers, each made for one size, answering text and start of every chunk.

blazechunk counts starts in bytes of UTF-8, the others in code points. None adds overlap. Those of
`counting` size chunks in the tokens of a tokenizer; the start is None where the peer gives none.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
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
    "llama-index-core",
)

BLAZECHUNK = "blazechunk.RecursiveChunker"
DOCUMENT = "blazechunk.DocumentChunker"
STS_TEXT = "sts.TextSplitter"
STS_MARKDOWN = "sts.MarkdownSplitter"
SEMCHUNK = "semchunk"
CHONKIE = "chonkie.RecursiveChunker"
CHONKIE_SENTENCE = "chonkie.SentenceChunker"
LLAMA = "llama_index.SentenceSplitter"
LANGCHAIN_SENTENCES = "langchain, separators of sentences"
LANGCHAIN_TEXT = "langchain.RecursiveCharacterTextSplitter"
LANGCHAIN_MARKDOWN = "langchain.MarkdownTextSplitter"
TOKEN_CHUNKER = "chonkie.TokenChunker"
LANGCHAIN_TOKENS = "langchain.split_text_on_tokens"
STS_OPENAI = "sts.TextSplitter.from_tiktoken_model"

# A model whose encoding is cl100k_base, by the name that semantic-text-splitter knows it under.
_CL100K_MODEL = "gpt-4"


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


def _semchunk(size: int, tokenizer: Any = len) -> Run:
    chunker = import_module("semchunk").chunkerify(tokenizer, size)

    def run(text: str) -> list[tuple[str, int]]:
        texts, offsets = chunker(text, offsets=True)
        return [(each, start) for each, (start, _) in zip(texts, offsets, strict=True)]

    return run


def _chonkie(kind: str) -> Callable[..., Run]:
    def make(size: int, tokenizer: Any = "character") -> Run:
        chunker = getattr(import_module("chonkie"), kind)(tokenizer=tokenizer, chunk_size=size)
        return lambda text: [(chunk.text, chunk.start_index) for chunk in chunker.chunk(text)]

    return make


def _langchain(kind: str) -> Callable[..., Run]:
    def make(size: int, tokenizer: Any = None) -> Run:
        ids_of = None if tokenizer is None else _ids_of(tokenizer)
        chunker = getattr(import_module("langchain_text_splitters"), kind)(
            chunk_size=size,
            chunk_overlap=0,
            add_start_index=True,
            length_function=len if ids_of is None else lambda text: len(ids_of(text)),
        )
        return lambda text: [
            (each.page_content, each.metadata["start_index"])
            for each in chunker.create_documents([text])
        ]

    return make


# What people give LangChain so that it cuts between sentences.
_SEPARATORS = ["\n\n", "\n", ". ", "? ", "! ", "; ", ": ", ", ", " ", ""]


def _langchain_sentences(size: int) -> Run:
    chunker = import_module("langchain_text_splitters").RecursiveCharacterTextSplitter(
        chunk_size=size,
        chunk_overlap=0,
        add_start_index=True,
        separators=_SEPARATORS,
        keep_separator="end",
    )
    return lambda text: [
        (each.page_content, each.metadata["start_index"])
        for each in chunker.create_documents([text])
    ]


def _llama(size: int) -> Run:
    """Sizes in characters: a text's tokens are its characters."""
    chunker = import_module("llama_index.core.node_parser").SentenceSplitter(
        chunk_size=size, chunk_overlap=0, tokenizer=list
    )
    return lambda text: [(each, None) for each in chunker.split_text(text)]


def _ids_of(tokenizer: Any) -> Callable[[str], list[int]]:
    """The tokens of a text alone, by a tiktoken encoding or a `tokenizers.Tokenizer`."""
    if hasattr(tokenizer, "encode_ordinary"):
        ids_of: Callable[[str], list[int]] = tokenizer.encode_ordinary
        return ids_of
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _langchain_tokens(size: int, tokenizer: Any) -> Run:
    """What TokenTextSplitter runs, which itself takes only the name of an encoding it fetches."""
    base = import_module("langchain_text_splitters.base")
    given = base.Tokenizer(
        chunk_overlap=0,
        tokens_per_chunk=size,
        decode=tokenizer.decode,
        encode=_ids_of(tokenizer),
    )
    return lambda text: [
        (each, None) for each in base.split_text_on_tokens(text=text, tokenizer=given)
    ]


def _sts_tokens(size: int, tokenizer: Any) -> Run:
    kind = import_module("semantic_text_splitter").TextSplitter
    if hasattr(tokenizer, "encode_ordinary"):
        ids_of = _ids_of(tokenizer)
        chunker = kind.from_callback(lambda text: len(ids_of(text)), size)
    else:
        chunker = kind.from_huggingface_tokenizer(tokenizer, size)
    return lambda text: [(each, start) for start, each in chunker.chunk_indices(text)]


def _sts_openai(size: int, _: Any) -> Run:
    """The peer's own build of cl100k_base, which it calls without going through Python."""
    kind = import_module("semantic_text_splitter").TextSplitter
    chunker = kind.from_tiktoken_model(_CL100K_MODEL, size)
    return lambda text: [(each, start) for start, each in chunker.chunk_indices(text)]


_MAKERS: dict[str, Callable[[int], Run]] = {
    BLAZECHUNK: _blazechunk,
    DOCUMENT: _document,
    STS_TEXT: _sts("TextSplitter"),
    STS_MARKDOWN: _sts("MarkdownSplitter"),
    SEMCHUNK: _semchunk,
    CHONKIE: _chonkie("RecursiveChunker"),
    CHONKIE_SENTENCE: _chonkie("SentenceChunker"),
    LLAMA: _llama,
    LANGCHAIN_TEXT: _langchain("RecursiveCharacterTextSplitter"),
    LANGCHAIN_SENTENCES: _langchain_sentences,
    LANGCHAIN_MARKDOWN: _langchain("MarkdownTextSplitter"),
}

_COUNTING: dict[str, Callable[[int, Any], Run]] = {
    TOKEN_CHUNKER: _chonkie("TokenChunker"),
    CHONKIE: _chonkie("RecursiveChunker"),
    LANGCHAIN_TOKENS: _langchain_tokens,
    LANGCHAIN_TEXT: _langchain("RecursiveCharacterTextSplitter"),
    STS_TEXT: _sts_tokens,
    STS_OPENAI: _sts_openai,
    SEMCHUNK: _semchunk,
}


def installed(names: Iterable[str], size: int) -> dict[str, Run]:
    """The peers that can be made; the others are named on standard error."""
    made = {name: _made(name, partial(_MAKERS[name], size)) for name in names}
    return {name: run for name, run in made.items() if run}


def counting(names: Iterable[str], size: int, tokenizer: Any) -> dict[str, Callable[[], Run]]:
    """Makers of the peers that can be made for a size in the tokens of a tokenizer.

    Some remember what they have counted, so that each run asks for a new one.
    """
    makers = {name: partial(_COUNTING[name], size, tokenizer) for name in names}
    return {name: make for name, make in makers.items() if _made(name, make)}


def _made(name: str, make: Callable[[], Run]) -> Run | None:
    try:
        return make()
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


def versions(*more: str) -> str:
    """Versions of the peers and of ``more`` packages, as one line."""
    return ", ".join(map(_version, (*PACKAGES, *more)))


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"
