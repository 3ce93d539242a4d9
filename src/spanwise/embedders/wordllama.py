"""WordLlamaEmbedder: small static vectors that come with a package and run offline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spanwise.cutting.caps import Cap
from spanwise.cutting.surrogates import readable
from spanwise.embedders.base import EVERYTHING, Vectors
from spanwise.embedders.texts import checked_texts, inked
from spanwise.errors import EmbedderError, MissingExtraError, OptionError, shown
from spanwise.extras import require_extra

__all__ = ["WordLlamaEmbedder"]

# The model that the package carries, and the lengths its vectors may be cut to: it was trained
# so that their first numbers stand for the whole.
_MODEL = "l2_supercat"
_STORED = 256
_DIMENSIONS = (64, 128, 256)

_WHAT = "the embedder wordllama"


class WordLlamaEmbedder:
    """The static embedder of the package wordllama: each token has a vector, a text their mean.

    - ``dimensions``: 64, 128 or 256; a shorter vector is the beginning of the longer.
    - ``normalize``: vectors of length 1, as by wordllama's ``embed(..., norm=True)``;
      False gives the plain mean, which is wordllama's own default.

    Weights (16 MB) and tokenizer are read from the files of the package, without
    importing it: its import takes a second, sets up logging, and its ``load()``
    goes to the network unless ``cache_dir`` is its own folder. A blank text is
    zeros (wordllama scales it to NaN). Every token of a text counts, however long
    it is.

    Raises `MissingExtraError` without the extra ``local``. Cost: 0.3 s to load and
    32 MB; then some 10,000 texts of 400 characters a second on one core.
    """

    __slots__ = ("_dimensions", "_normalize", "_numpy", "_table", "_tokenizer")

    def __init__(self, *, dimensions: int = _STORED, normalize: bool = True) -> None:
        if not isinstance(dimensions, int) or dimensions not in _DIMENSIONS:
            raise OptionError(
                f"dimensions={shown(dimensions)} is not one of 64, 128 and 256; "
                "leave it out for 256"
            )
        self._numpy = require_extra("numpy", "local", _WHAT)
        tokenizers = require_extra("tokenizers", "local", _WHAT)
        tokenizer, weights = _files()
        self._dimensions = dimensions
        self._normalize = normalize
        self._table = _table(weights, self._numpy)[:, :dimensions].astype(self._numpy.float32)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def id(self) -> str:
        """The model, the length of its vectors, and whether they are left unscaled."""
        return f"wordllama/{_MODEL}/{self._dimensions}{'' if self._normalize else '/mean'}"

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return self._dimensions

    @property
    def ceiling(self) -> Cap:
        """A million characters, which stands for everything: nothing of a text is cut."""
        return EVERYTHING

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of a numpy table a text, in order; a blank text is a row of zeros."""
        numpy = self._numpy
        texts = checked_texts(texts)
        out = numpy.zeros((len(texts), self._dimensions), dtype=numpy.float32)
        places = inked(texts)
        encoded = self._tokenizer.encode_batch_fast(
            [readable(texts[i]) for i in places], add_special_tokens=False
        )
        for i, found in zip(places, encoded, strict=True):
            if found.ids:
                # Each token once, in double precision: a long text needs no more room, and its
                # mean does not drift.
                ids, counts = numpy.unique(found.ids, return_counts=True)
                out[i] = (self._table[ids] * counts[:, None]).sum(axis=0) / len(found.ids)
        if self._normalize:
            lengths = numpy.linalg.norm(out, axis=1, keepdims=True)
            numpy.divide(out, lengths, out=out, where=lengths > 0)
        return out  # type: ignore[no-any-return]  # a numpy table is as good as lists


def _files() -> tuple[Path, Path]:
    """The tokenizer and the weights in the folder of the package, which is not imported."""
    found = find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            f"{_WHAT} needs the package wordllama, which is not installed; "
            'pip install "spanwise[local]"'
        )
    folder = Path(found.submodule_search_locations[0])
    tokenizer = folder / "tokenizers" / f"{_MODEL}_tokenizer_config.json"
    weights = folder / "weights" / f"{_MODEL}_{_STORED}.safetensors"
    for path in (tokenizer, weights):
        if not path.is_file():
            raise EmbedderError(
                f"wordllama: {path.parent.name}/{path.name} is not in the installed package; "
                'pip install --force-reinstall "wordllama==0.4.0.post1", which carries it'
            )
    return tokenizer, weights


def _table(path: Path, numpy: Any) -> Any:
    """The one matrix of a safetensors file: a length, a header in JSON, then the numbers."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            begin = file.tell()
        entry = header["embedding.weight"]
        if entry["dtype"] != "F16" or len(entry["shape"]) != 2:
            raise ValueError(entry)
        at = begin + entry["data_offsets"][0]
        return numpy.memmap(path, dtype="<f2", mode="r", offset=at, shape=tuple(entry["shape"]))
    except (ValueError, KeyError) as fault:
        raise EmbedderError(
            f"wordllama: {path.name} is damaged or of another make ({shown(str(fault))}); it must "
            "hold a table of half-precision numbers; "
            'pip install --force-reinstall "wordllama==0.4.0.post1"'
        ) from fault
