"""SentenceTransformerEmbedder: a model of the package sentence-transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from math import isfinite
from pathlib import Path
from typing import Any

from spanwise.cutting.caps import Cap
from spanwise.cutting.surrogates import readable
from spanwise.embedders.base import EVERYTHING, Vectors
from spanwise.embedders.texts import checked_texts, inked
from spanwise.errors import EmbedderError, OptionError, require, shown
from spanwise.extras import require_extra
from spanwise.tokenizing import tokens

__all__ = ["SentenceTransformerEmbedder"]

_EXTRA = "sentence-transformers"
_WHAT = "a model of sentence-transformers"


class SentenceTransformerEmbedder:
    """A model of sentence-transformers, given as an object, a folder, or a name.

    - ``model``: a ``SentenceTransformer``; or what one is made of, a local folder or
      the name of a model that was downloaded before: nothing is ever fetched.
    - ``id``: unset, the name of the model, a hash of its weights and settings, and its
      ceiling. Cost: reads the weights once when it is asked for.
    - ``batch_size``: the most texts a run.

    The model decides about pooling, scaling and its default prompt; the tokens of
    that prompt are taken off the ceiling. Raises `EmbedderError` for a model that
    is not there, `MissingExtraError` without the extra ``sentence-transformers``.
    """

    __slots__ = ("_batch_size", "_ceiling", "_dimensions", "_id", "_model", "_name", "_numpy")

    def __init__(
        self,
        model: Any,
        *,
        id: str | None = None,  # noqa: A002 (the word of the protocol)
        batch_size: int = 32,
    ) -> None:
        require("batch_size", batch_size, 1)
        if id is not None and (not isinstance(id, str) or not id.strip()):
            raise OptionError(f"id={shown(id)} names nothing; leave it out, or name the model")
        self._numpy = require_extra("numpy", _EXTRA, _WHAT)
        self._name = ""
        if isinstance(model, str | os.PathLike):
            self._name = os.fspath(model)
            model = _opened(self._name)
        if not hasattr(model, "encode") or not hasattr(model, "max_seq_length"):
            raise OptionError(
                f"model={shown(model)} is no SentenceTransformer; pass one, or a folder or a name"
            )
        self._model = model
        self._id = id
        self._batch_size = batch_size
        self._dimensions = 0
        self._ceiling = _ceiling(model)

    @property
    def id(self) -> str:
        """The name given; else the model's, a hash of weights and settings, and its ceiling."""
        if self._id is None:
            name = self._name or _name_of(self._model)
            path = Path(name)
            label = path.resolve().name if path.is_absolute() or path.is_dir() else name
            limit = f"/{self._ceiling.limit}" if self._ceiling else ""
            self._id = f"sentence-transformers/{label}@{_digest(self._model)}{limit}"
        return self._id

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; runs one short text when that is not known yet."""
        if not self._dimensions:
            self._run(["text"])
        return self._dimensions

    @property
    def ceiling(self) -> Cap | None:
        """The tokens it reads of one text, specials included; None when it does not say."""
        return self._ceiling

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of a numpy table a text, in order; a blank text is a row of zeros."""
        numpy = self._numpy
        texts = checked_texts(texts)
        places = inked(texts)
        found = self._run([readable(texts[i]) for i in places]) if places else None
        out = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        if found is not None:
            out[places] = found
        return out  # type: ignore[no-any-return]  # a numpy table is as good as lists

    def _run(self, texts: list[str]) -> Any:
        """What the model answers, checked."""
        numpy = self._numpy
        found = numpy.asarray(
            self._model.encode(
                texts,
                batch_size=self._batch_size,
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        )
        if found.ndim != 2 or len(found) != len(texts) or not numpy.isfinite(found).all():
            raise EmbedderError(
                f"the model answered an array of shape {found.shape} for {len(texts)} texts; it "
                "must be one vector of finite numbers a text; use a model of dense vectors"
            )
        self._dimensions = found.shape[1]
        return found


def _opened(name: str) -> Any:
    """The model of a folder or a name, from what is on this machine."""
    library = require_extra("sentence_transformers", _EXTRA, _WHAT)
    try:
        return library.SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as fault:
        raise EmbedderError(
            f"model={shown(name)} cannot be loaded from this machine ({shown(str(fault))}); give a "
            "folder with its files, or download it once while online: "
            f"hf download {name}"
        ) from fault


def _ceiling(model: Any) -> Cap | None:
    """What the model reads of one text, less its default prompt."""
    limit = model.max_seq_length
    if limit is not None and not isfinite(limit):
        return EVERYTHING
    tokenizer = getattr(model.tokenizer, "backend_tokenizer", model.tokenizer)
    if limit is None or not hasattr(tokenizer, "encode_batch"):
        return None
    sizer = tokens(tokenizer, quiet=True)
    prompt = _prompt(model)
    return Cap(int(limit) - (sizer(prompt) - sizer.added if prompt else 0), sizer)


def _prompt(model: Any) -> str:
    """What the model puts before each text."""
    prompts = getattr(model, "prompts", None) or {}
    return str(prompts.get(getattr(model, "default_prompt_name", None) or "", ""))


def _name_of(model: Any) -> str:
    """The name a loaded model was made from, as far as it still knows."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_name_or_path", "") or "model")


def _digest(model: Any) -> str:
    """A hash of the names and numbers of all weights, and of what else decides vectors."""
    bytes_of = require_extra("torch", _EXTRA, _WHAT).uint8
    parts = [type(each).__name__ + _pooling(each) for each in model]
    settings = (parts, _prompt(model), getattr(model, "truncate_dim", None))
    found = blake2b(repr(settings).encode("utf-8", "surrogatepass"), digest_size=6)
    for name, weights in sorted(model.state_dict().items()):
        found.update(f"{name}{tuple(weights.shape)}{weights.dtype}".encode())
        plain = weights.detach().cpu().contiguous().flatten()
        found.update(plain.view(bytes_of).numpy().data)
    return found.hexdigest()


def _pooling(part: Any) -> str:
    """How a part makes one vector of many; older versions of the library say it by a method."""
    say = getattr(part, "get_pooling_mode_str", None)
    return str(say() if say else getattr(part, "pooling_mode", ""))
