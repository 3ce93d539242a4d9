"""What the folder of an ONNX model says: its files, how much it reads, how it pools."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from spanwise.errors import EmbedderError, shown

__all__ = ["OnnxFolder"]

_GRAPHS = ("model.onnx", "onnx/model.onnx")

# A model_max_length from here on is the library's way to say "not set".
_UNSET = 1_000_000

# How a graph names a file that holds weights: the key, the length of the name, the name.
_WEIGHTS = re.compile(rb"location\x12([\x01-\x7f])")

# These number their positions from the padding token on, so the first ones of the table are lost.
_POSITIONS_AFTER_PADDING = frozenset(
    [
        "camembert",
        "data2vec-text",
        "ibert",
        "longformer",
        "luke",
        "mpnet",
        "roberta",
        "roberta-prelayernorm",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    ]
)

# What they take when config.json does not say.
_ROBERTA_PADDING = 1

# The parts of a sentence-transformers model that the embedder itself stands in for.
_PARTS = frozenset(("Transformer", "Pooling", "Normalize"))


@dataclass(frozen=True, slots=True)
class OnnxFolder:
    """The files of a model and its settings; missing settings are left out."""

    path: Path
    graph: Path
    tokenizer: Path
    config: dict[str, Any]

    @classmethod
    def opened(cls, folder: str | os.PathLike[str]) -> OnnxFolder:
        """The folder, when graph and tokenizer are in it; else `EmbedderError`."""
        path = Path(folder)
        if not path.is_dir():
            raise EmbedderError(
                f"folder={shown(str(path))} is no folder; give the local folder that holds "
                "model.onnx and tokenizer.json"
            )
        graphs = [path / name for name in _GRAPHS if (path / name).is_file()]
        if not graphs:
            raise EmbedderError(
                f"folder={shown(str(path))} holds neither {' nor '.join(_GRAPHS)}; export the "
                "model to ONNX, or rename the graph that is there"
            )
        tokenizers = [each for each in (path, graphs[0].parent) if _has_tokenizer(each)]
        if not tokenizers:
            raise EmbedderError(
                f"folder={shown(str(path))} holds no tokenizer.json; save the fast tokenizer of "
                "the model there"
            )
        config = _settings(path / "config.json") or _settings(graphs[0].parent / "config.json")
        return cls(path, graphs[0], tokenizers[0] / "tokenizer.json", config)

    @property
    def digest(self) -> str:
        """A hash of the graph, the files of weights it names and the tokenizer, each read once."""
        graph = self.graph.read_bytes()
        found = blake2b(graph, digest_size=6)
        names = {graph[each.end() : each.end() + each[1][0]] for each in _WEIGHTS.finditer(graph)}
        weights = [self.graph.parent / os.fsdecode(name) for name in sorted(names)]
        for path in (*(each for each in weights if each.is_file()), self.tokenizer):
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    found.update(block)
        return found.hexdigest()

    @property
    def positions(self) -> int | None:
        """How many positions the model has by config.json, None when it does not say."""
        most = _whole(self.config.get("max_position_embeddings"))
        if most and self.config.get("model_type") in _POSITIONS_AFTER_PADDING:
            padding = self.config.get("pad_token_id")
            most -= (padding if isinstance(padding, int) else _ROBERTA_PADDING) + 1
        return most

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the model is said to read, specials included, or None.

        What sentence_bert_config.json says, else tokenizer_config.json; never more
        than the positions there are.
        """
        said = _whole(_settings(self.path / "sentence_bert_config.json").get("max_seq_length"))
        if said is None:
            said = _whole(
                _settings(self.tokenizer.parent / "tokenizer_config.json").get("model_max_length")
            )
            said = said if said and said < _UNSET else None
        known = [most for most in (said, self.positions) if most]
        return min(known) if known else None

    @property
    def pooling(self) -> str | None:
        """How 1_Pooling/config.json makes one vector of many: "mean", "cls" or another word."""
        found = _settings(self.path / "1_Pooling" / "config.json")
        if "pooling_mode" in found:
            return str(found["pooling_mode"])
        modes = [
            name.removeprefix("pooling_mode_").removesuffix("_tokens").removesuffix("_token")
            for name, is_on in found.items()
            if name.startswith("pooling_mode_") and is_on is True
        ]
        return "+".join(modes) or None

    @property
    def other_parts(self) -> list[str]:
        """The parts that modules.json names beyond transformer, pooling and scaling."""
        path = self.path / "modules.json"
        parts = _read(path) if path.is_file() else []
        if not isinstance(parts, list):
            return []
        names = [str(part.get("type", "")).rpartition(".")[2] for part in parts]
        return [name for name in names if name not in _PARTS]


def _has_tokenizer(folder: Path) -> bool:
    return (folder / "tokenizer.json").is_file()


def _settings(path: Path) -> dict[str, Any]:
    """The settings in a file of JSON; none when there is no such file."""
    found = _read(path) if path.is_file() else {}
    return found if isinstance(found, dict) else {}


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise EmbedderError(
            f"{path}: it is no JSON ({fault}); save the model's settings again"
        ) from fault


def _whole(value: object) -> int | None:
    """A number of at least 1, None for anything else."""
    return int(value) if isinstance(value, int | float) and 1 <= value < float("inf") else None
