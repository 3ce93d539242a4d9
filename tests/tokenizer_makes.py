"""Tokenizers to test with: real ones, and small ones of every make, trained on the spot."""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_DATA = Path(__file__).parent / "data"

_TEXT = (
    "The refund takes five to ten days. Of the parcels that came back, most were whole. "
    "New York, 12345 and 3.14 are written in the list; don't lose (any) of them! "
    "Été naïve Straße 日本語 中文 한국어 ไทย नमस्ते مرحبا foo_bar x = [1, 2]\n\n    return y\n"
) * 20

# Every make of tokenizer that counts by units, by the library that it needs.
MAKES = ("minilm", "byte-level", "metaspace", "prepend", "cl100k_base", "o200k_base")


def minilm_json() -> str:
    """The tokenizer.json of all-MiniLM-L6-v2 as it ships: truncation and padding on."""
    return lzma.open(_DATA / "minilm_tokenizer.json.xz", "rt", encoding="utf-8").read()


@cache
def tokenizer(make: str) -> Any:
    """A tokenizer of a make; the test is skipped where its library is missing."""
    if make.endswith("_base"):
        return pytest.importorskip("bpe_openai").get_encoding(make)
    library = pytest.importorskip("tokenizers")
    if make == "minilm":
        return library.Tokenizer.from_str(minilm_json())
    return {"byte-level": _byte_level, "metaspace": _metaspace, "prepend": _prepend}[make](library)


def _byte_level(library: Any) -> Any:
    """As GPT-2: BPE over bytes, a prefix space, specials around each text."""
    made = library.Tokenizer(library.models.BPE())
    made.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=True)
    alphabet = library.pre_tokenizers.ByteLevel.alphabet()
    trainer = library.trainers.BpeTrainer(
        vocab_size=600, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet
    )
    made.train_from_iterator([_TEXT], trainer)
    made.post_processor = library.processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return made


def _metaspace(library: Any) -> Any:
    """As T5 and XLM-R: Unigram over words that begin with a mark for the space."""
    made = library.Tokenizer(library.models.Unigram())
    made.normalizer = library.normalizers.NFKC()
    made.pre_tokenizer = library.pre_tokenizers.Metaspace()
    trainer = library.trainers.UnigramTrainer(
        vocab_size=300, special_tokens=["<unk>"], unk_token="<unk>"
    )
    made.train_from_iterator([_TEXT], trainer)
    return made


def _prepend(library: Any) -> Any:
    """As Llama 2: BPE without a split at words, a mark put before each text."""
    words = library.Tokenizer(library.models.BPE(unk_token="<unk>"))
    words.pre_tokenizer = library.pre_tokenizers.Metaspace()
    trainer = library.trainers.BpeTrainer(
        vocab_size=500, special_tokens=["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]
    )
    words.train_from_iterator([_TEXT], trainer)
    state = json.loads(words.to_str())
    state["model"]["byte_fallback"] = True
    state["pre_tokenizer"] = None
    made = library.Tokenizer.from_str(json.dumps(state))
    made.normalizer = library.normalizers.Sequence(
        [library.normalizers.Prepend("▁"), library.normalizers.Replace(" ", "▁")]
    )
    return made
