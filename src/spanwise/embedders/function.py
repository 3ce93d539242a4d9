"""FunctionEmbedder: any function from a list of texts to a list of vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from spanwise.cutting.caps import Cap
from spanwise.embedders.base import Vectors
from spanwise.embedders.texts import checked_texts, inked
from spanwise.errors import EmbedderError, OptionError, require, shown
from spanwise.vectors import checked_vectors

__all__ = ["FunctionEmbedder"]

# What is embedded when the number of dimensions is asked for before any text came.
_SHORT = "text"


class FunctionEmbedder:
    """An embedder made of a function from a list of texts to one vector a text, in order.

    - ``id``: the name of the model and of all that decides its vectors. Vectors
      kept under one id are taken to be comparable.
    - ``dimensions``: how many numbers a vector has; unset, it is learned from the
      first answer, and one short text is embedded when it is asked for before.
    - ``ceiling``: the most the function reads of one text; unset, nobody knows.

    A blank text never reaches the function: its vector is zeros. Answers are
    checked: one vector a text, all of one length, finite numbers; else
    `EmbedderError`. A numpy table of two axes is checked at once and handed on as
    it is; anything else becomes lists. What the function raises goes through.

    >>> lengths = FunctionEmbedder(lambda texts: [[len(text), 1] for text in texts], id="lengths")
    >>> lengths.embed(["four", " "])
    [[4.0, 1.0], [0.0, 0.0]]
    """

    __slots__ = ("_ceiling", "_dimensions", "_function", "_id")

    def __init__(
        self,
        function: Callable[[list[str]], object],
        *,
        id: str,  # noqa: A002 (the word of the protocol)
        dimensions: int | None = None,
        ceiling: Cap | None = None,
    ) -> None:
        if not callable(function):
            raise OptionError(
                f"function={shown(function)} cannot be called; "
                "pass a function from a list of texts to a list of vectors"
            )
        if not isinstance(id, str) or not id.strip():
            raise OptionError(
                f"id={shown(id)} names nothing; give the name of the model, such as 'my-model/v2'"
            )
        if dimensions is not None:
            require("dimensions", dimensions, 1, "leave it out to learn it from the first answer")
        if ceiling is not None and not isinstance(ceiling, Cap):
            raise OptionError(
                f"ceiling={shown(ceiling)} is no cap; pass cap(limit, sizer), "
                "such as cap(8000, utf8_bytes), or None when it is not known"
            )
        self._function = function
        self._id = id
        self._dimensions = dimensions or 0
        self._ceiling = ceiling

    @property
    def id(self) -> str:
        """The name that was given."""
        return self._id

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; embeds one short text when that is not known yet."""
        if not self._dimensions:
            self._ask([_SHORT])
        return self._dimensions

    @property
    def ceiling(self) -> Cap | None:
        """The most the function reads of one text; None when that was not given."""
        return self._ceiling

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector a text, in order; a blank text is a vector of zeros."""
        texts = checked_texts(texts)
        places = inked(texts)
        if len(places) == len(texts):
            return self._ask(texts) if texts else []
        answer = self._ask([texts[i] for i in places]) if places else []
        vectors: list[Sequence[float]] = [[0.0] * self.dimensions for _ in texts]
        for i, vector in zip(places, answer, strict=True):
            vectors[i] = vector
        return vectors

    def _ask(self, texts: list[str]) -> Vectors:
        """What the function answers, checked."""
        count = len(texts)  # asked before: the function may take texts off its list
        answer = self._function(texts)
        vectors: Any = answer
        if not _is_sound_table(answer, count, self._dimensions):
            vectors = checked_vectors(answer, count, self._dimensions, name=self._id)
        if len(vectors[0]) == 0:
            raise EmbedderError(
                f"{self._id} answered vectors of no numbers; it must answer at least one a vector"
            )
        self._dimensions = len(vectors[0])
        return vectors  # type: ignore[no-any-return]  # a numpy table is as good as lists


def _is_sound_table(answer: object, count: int, dimensions: int) -> bool:
    """Whether an answer is a numpy table of that many vectors of finite numbers."""
    numpy = sys.modules.get("numpy")  # whoever answers a table has imported it
    if numpy is None or not isinstance(answer, numpy.ndarray):
        return False
    return bool(
        answer.ndim == 2
        and answer.dtype.kind in "fiu"
        and len(answer) == count
        and dimensions in (0, answer.shape[1])
        and numpy.isfinite(answer).all()
    )
