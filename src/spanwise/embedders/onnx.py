"""OnnxEmbedder: a local folder with an ONNX graph and a tokenizer.json."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from spanwise.cutting.caps import Cap
from spanwise.cutting.surrogates import readable
from spanwise.embedders.base import Vectors
from spanwise.embedders.onnx_folder import OnnxFolder
from spanwise.embedders.texts import checked_texts, inked
from spanwise.errors import EmbedderError, OptionError, require, shown
from spanwise.extras import require_extra
from spanwise.tokenizing import tokens

__all__ = ["OnnxEmbedder"]

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_NUMBERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_POOLINGS = ("mean", "cls")

# The output that sentence-transformers gives the finished vectors.
_SENTENCE = "sentence_embedding"

_PADDING = ("[PAD]", "<pad>", "<|endoftext|>")

_WHAT = "an ONNX model"


class OnnxEmbedder:
    """A model in ONNX form, run by onnxruntime on the processor, without torch.

    - ``folder``: holds ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``;
      ``config.json``, ``tokenizer_config.json``, ``sentence_bert_config.json`` and
      ``1_Pooling/config.json`` are read where they are there.
    - ``pooling``: ``"mean"`` of the vectors of all tokens, or ``"cls"``, the vector of
      the first. Unset: the graph's own ``sentence_embedding``, or its only output
      when that is one vector a text; else what ``1_Pooling`` says; else mean.
    - ``normalize``: vectors of length 1.
    - ``max_tokens``: how much of a text is read, specials included. Unset: what the
      settings say. One of the two is needed. Longer texts are cut to it here, so
      ``ceiling`` is what is really read and no length makes the graph fail.
    - ``batch_size``: the most texts a run. Texts of like length run together; a
      vector depends on its company by float noise alone, but in 8-bit graphs that
      scale by batch: there ``batch_size=1`` makes it the same every time.

    Control tokens that a text quotes are read as plain text. Raises
    `EmbedderError` for a folder, file or graph that does not fit,
    `MissingExtraError` without the extra ``onnx``.
    """

    __slots__ = (
        "_batch_size",
        "_ceiling",
        "_dimensions",
        "_id",
        "_inputs",
        "_normalize",
        "_numpy",
        "_output",
        "_padding",
        "_pooling",
        "_session",
        "_tokenizer",
    )

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        pooling: str | None = None,
        normalize: bool = True,
        max_tokens: int | None = None,
        batch_size: int = 32,
    ) -> None:
        if pooling is not None and pooling not in _POOLINGS:
            raise OptionError(
                f"pooling={shown(pooling)} is neither 'mean' nor 'cls'; "
                "leave it out for what the folder says"
            )
        require("batch_size", batch_size, 1)
        if max_tokens is not None:
            require("max_tokens", max_tokens, 1)
        self._numpy = require_extra("numpy", "onnx", _WHAT)
        runtime = require_extra("onnxruntime", "onnx", _WHAT)
        tokenizers = require_extra("tokenizers", "onnx", _WHAT)
        found = OnnxFolder.opened(folder)
        self._session = _session(runtime, found)
        self._inputs = _inputs(self._session, found)
        self._output, self._pooling = _output(self._session, found, pooling)
        self._tokenizer = _tokenizer(tokenizers, found)
        self._padding = _padding(self._tokenizer, found)
        limit = _limit(max_tokens, found)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        added = self._tokenizer.num_special_tokens_to_add(False)
        if limit <= added:
            raise OptionError(
                f"max_tokens={limit} leaves no room beside the {added} tokens that the model adds "
                "to each text; raise it"
            )
        self._ceiling = Cap(limit, tokens(self._tokenizer, quiet=True))
        self._tokenizer.enable_truncation(limit)
        self._normalize = normalize
        self._batch_size = batch_size
        self._dimensions = 0
        self._id = (
            f"onnx/{found.path.resolve().name}@{found.digest}/{self._pooling}/{limit}"
            f"{'' if normalize else '/unscaled'}"
        )

    @property
    def id(self) -> str:
        """The folder's name, a hash of the model, and what else decides its vectors."""
        return self._id

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; runs one short text when that is not known yet."""
        if not self._dimensions:
            self._run([self._tokenizer.encode("text").ids])
        return self._dimensions

    @property
    def ceiling(self) -> Cap:
        """The tokens it reads of one text, specials included."""
        return self._ceiling

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of a numpy table a text, in order; a blank text is a row of zeros."""
        numpy = self._numpy
        texts = checked_texts(texts)
        out = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        places = inked(texts)
        encoded = self._tokenizer.encode_batch_fast([readable(texts[i]) for i in places])
        rows = [(i, found.ids) for i, found in zip(places, encoded, strict=True) if found.ids]
        rows.sort(key=lambda row: len(row[1]))
        for batch in self._batches(rows):
            out[[i for i, _ in batch]] = self._run([ids for _, ids in batch])
        return out  # type: ignore[no-any-return]  # a numpy table is as good as lists

    def _batches(self, rows: list[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
        """The rows in runs; a graph without a mask cannot tell padding, so it gets none."""
        takes_padding = "attention_mask" in self._inputs
        batch: list[tuple[int, list[int]]] = []
        for row in rows:
            differs = bool(batch) and not takes_padding and len(row[1]) != len(batch[0][1])
            if differs or len(batch) == self._batch_size:
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch

    def _run(self, rows: list[list[int]]) -> Any:
        """The vectors of texts given as token ids, padded to the longest."""
        numpy = self._numpy
        longest = max(map(len, rows))
        ids = numpy.full((len(rows), longest), self._padding, dtype=numpy.int64)
        mask = numpy.zeros((len(rows), longest), dtype=numpy.int64)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
        feed = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        try:
            answer = self._session.run([self._output], feed)[0]
        except Exception as fault:  # onnxruntime's errors have no root but Exception
            raise EmbedderError(
                f"{self._id}: the graph failed on {len(rows)} texts of up to {longest} tokens "
                f"({shown(str(fault))}); lower max_tokens if it reads fewer"
            ) from fault
        if answer.shape[:2] == mask.shape and answer.ndim == 3 and self._pooling == "mean":
            kept = numpy.where(mask[:, :, None] > 0, answer, 0)
            answer = kept.sum(axis=1, dtype=numpy.float32) / mask.sum(axis=1, keepdims=True)
        elif answer.ndim == 3 and self._pooling == "cls":
            answer = answer[:, 0]
        if answer.ndim != 2 or len(answer) != len(rows) or not numpy.isfinite(answer).all():
            raise EmbedderError(
                f"{self._id}: output {self._output} answered shape {answer.shape} for {len(rows)} "
                "texts; it must be one vector of finite numbers a text or a token; export again"
            )
        answer = answer.astype(numpy.float32)
        self._dimensions = answer.shape[1]
        if self._normalize:
            lengths = numpy.linalg.norm(answer, axis=1, keepdims=True)
            numpy.divide(answer, lengths, out=answer, where=lengths > 0)
        return answer


def _session(runtime: Any, folder: OnnxFolder) -> Any:
    """The graph, ready to run."""
    options = runtime.SessionOptions()
    options.log_severity_level = 3  # errors: its warnings are about the export, not the texts
    try:
        return runtime.InferenceSession(
            str(folder.graph), options, providers=["CPUExecutionProvider"]
        )
    except Exception as fault:  # onnxruntime's errors have no root but Exception
        raise EmbedderError(
            f"{folder.graph}: onnxruntime cannot load it ({shown(str(fault))}); "
            "export the model again, with the weights beside the graph"
        ) from fault


def _inputs(session: Any, folder: OnnxFolder) -> dict[str, str]:
    """The inputs of the graph that are fed, each with the kind of its numbers."""
    found = {each.name: each for each in session.get_inputs()}
    if "input_ids" not in found or not set(found) <= set(_INPUTS):
        raise EmbedderError(
            f"{folder.graph}: the graph takes {', '.join(found) or 'nothing'}; it must take "
            f"input_ids and may take {' and '.join(_INPUTS[1:])}; export it as a text encoder"
        )
    for each in found.values():
        if each.type not in _NUMBERS or any(isinstance(size, int) for size in each.shape):
            raise EmbedderError(
                f"{folder.graph}: input {each.name} is {each.type} of shape {each.shape}; it must "
                "be whole numbers of any number of texts and tokens; export with dynamic axes"
            )
    return {name: _NUMBERS[each.type] for name, each in found.items()}


def _output(session: Any, folder: OnnxFolder, pooling: str | None) -> tuple[str, str]:
    """The output that is read, and how it becomes one vector a text: "own" is as it is."""
    found = {each.name: len(each.shape or ()) for each in session.get_outputs()}
    by_token = [name for name, axes in found.items() if axes == 3]
    if pooling is None and (_SENTENCE in found or not by_token):
        if _SENTENCE not in found and len(found) > 1:
            raise EmbedderError(
                f"{folder.graph}: the graph answers {', '.join(found)}; one of several must be "
                f"named {_SENTENCE}, or hold a vector a token; export with that name"
            )
        return (_SENTENCE if _SENTENCE in found else next(iter(found))), "own"
    if not by_token:
        raise OptionError(
            f"pooling={shown(pooling)} has no effect: the graph answers {', '.join(found)} and no "
            "vector a token; leave pooling out"
        )
    if pooling is None and folder.other_parts:
        raise EmbedderError(
            f"folder={shown(str(folder.path))}: modules.json names {', '.join(folder.other_parts)} "
            f"beyond the graph; export the whole model, with the output {_SENTENCE}, or "
            "pass pooling to do without"
        )
    pooling = pooling or folder.pooling or "mean"
    if pooling not in _POOLINGS:
        raise EmbedderError(
            f"folder={shown(str(folder.path))}: 1_Pooling asks for {shown(pooling)}; only mean and "
            f"cls are known; export the whole model, with the output {_SENTENCE}"
        )
    return by_token[0], pooling


def _tokenizer(tokenizers: Any, folder: OnnxFolder) -> Any:
    """The tokenizer, which reads what a text quotes as text."""
    try:
        found = tokenizers.Tokenizer.from_file(str(folder.tokenizer))
    except Exception as fault:  # the library raises bare Exception
        raise EmbedderError(
            f"{folder.tokenizer}: it cannot be read ({shown(str(fault))}); save it as Hugging "
            "Face tokenizers write it"
        ) from fault
    found.encode_special_tokens = True
    return found


def _padding(tokenizer: Any, folder: OnnxFolder) -> int:
    """The token that fills a batch; some graphs number their positions by it."""
    said = folder.config.get("pad_token_id")
    if isinstance(said, int):
        return said
    if tokenizer.padding:
        return int(tokenizer.padding["pad_id"])
    known = [tokenizer.token_to_id(name) for name in _PADDING]
    return next((found for found in known if found is not None), 0)


def _limit(max_tokens: int | None, folder: OnnxFolder) -> int:
    """How many tokens of a text are read."""
    positions = folder.positions
    if max_tokens and positions and max_tokens > positions:
        raise OptionError(
            f"max_tokens={max_tokens} is above the {positions} positions that config.json gives "
            "the model; lower it"
        )
    limit = max_tokens or folder.max_tokens
    if limit is None:
        raise OptionError(
            f"max_tokens is not given and the settings in {shown(str(folder.path))} do not say how "
            "much the model reads; pass max_tokens, such as 512"
        )
    return limit
