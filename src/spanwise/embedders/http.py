"""HttpEmbedder: vectors from a server that speaks the protocol of OpenAI."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import isfinite

from spanwise.cutting.caps import Cap
from spanwise.cutting.sizers import utf8_bytes
from spanwise.cutting.surrogates import readable
from spanwise.embedders.texts import checked_texts, inked
from spanwise.embedders.transport import PROTOCOL, Call, Server, TooLargeError
from spanwise.errors import OptionError, require, shown

__all__ = ["HttpEmbedder"]

# Published in tokens. A token of byte-level BPE is one byte or more, so a text
# of that many bytes never has more tokens.
_CEILING = Cap(8191, utf8_bytes)
_KNOWN_MODELS = ("text-embedding-3-large", "text-embedding-3-small", "text-embedding-ada-002")

# Code points a request: OpenAI takes 300,000 tokens, and one rarely is less than a code point.
_BATCH_CHARS = 200_000
# Bytes read of an answer, for each text and once: 16,384 numbers of 64 characters.
_ANSWER_BYTES = 1 << 20


class HttpEmbedder:
    """Vectors from OpenAI, Ollama, vLLM, LM Studio and others, by ``POST {url}/embeddings``.

    - ``url``: what stands before ``/embeddings``, such as ``http://localhost:11434/v1``.
      A name and a password in it are sent as basic authentication.
    - ``api_key``: unset, the environment variable ``OPENAI_API_KEY`` is read at each
      call, and sent only to the host api.openai.com or to the ``url`` that the
      variable ``OPENAI_BASE_URL`` holds; any other server needs its key here.
      ``""`` sends none.
    - ``dimensions``: sent only when given; a server that answers others is refused.
    - ``ceiling``: unset, known for the three ``text-embedding`` models of OpenAI
      as 8,191 UTF-8 bytes, which are never more than their 8,191 tokens;
      ``cap(8191, tokens("cl100k_base"))`` is the exact one. Else None.
    - ``batch_size``: the most texts a request, 1 and up; a request also ends
      before 200,000 code points.
    - ``timeout``: seconds to connect, to wait for an answer and to read it, each.
    - ``attempts``: how often a request is sent when the connection fails or the
      server is busy (429, 500, 502, 503, 504). The waits are 0.25 s, doubled up
      to 8 s, or what the server asks for, up to 60 s.
    - ``id``: unset, the model, the host and the dimensions given. Give one to
      keep vectors when the server moves, or to tell two models of one name apart.

    Redirects are not followed. Proxies come from the environment, never for this
    machine itself. Threads may share one. A call opens one connection a request.

    >>> HttpEmbedder("nomic-embed-text", url="http://localhost:11434/v1").id
    'nomic-embed-text@localhost:11434'
    """

    __slots__ = ("_asked", "_ceiling", "_id", "_learned", "_server", "batch_size", "model")

    def __init__(
        self,
        model: str,
        *,
        url: str = "https://api.openai.com/v1",
        api_key: str | None = None,
        dimensions: int | None = None,
        ceiling: Cap | None = None,
        batch_size: int = 64,
        timeout: float = 30.0,
        attempts: int = 3,
        id: str | None = None,  # noqa: A002  the word of the protocol
    ) -> None:
        for option, name in (("model", model), ("id", model if id is None else id)):
            if not isinstance(name, str) or not name.strip() or not name.isprintable():
                raise OptionError(f"{option}={shown(name)} is no name; give one of printable text")
        for option, count in (
            ("batch_size", batch_size),
            ("dimensions", 1 if dimensions is None else dimensions),
            ("attempts", attempts),
        ):
            require(option, count, 1)
        if ceiling is not None and not isinstance(ceiling, Cap):
            raise OptionError(
                f"ceiling={shown(ceiling)} is no cap; pass cap(8191, tokens(...)) or leave it unset"
            )
        self.model = model
        self.batch_size = batch_size
        self._asked = dimensions
        self._server = Server.at(url, model, api_key, timeout, attempts)
        self._learned = 0
        self._ceiling = ceiling or (_CEILING if model in _KNOWN_MODELS else None)
        own = f"{model}@{self._server.host}" + (f"?dimensions={dimensions}" if dimensions else "")
        self._id = own if id is None else id

    def __repr__(self) -> str:
        return f"HttpEmbedder({self.model!r}, url={self._server.url!r})"

    @property
    def id(self) -> str:
        """The name of the model and of all that decides its vectors, never a key."""
        return self._id

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; one short text is embedded when nobody said yet."""
        return self._asked or self._learned or len(self._ask(self._server.call(), ["a"], [0])[0])

    @property
    def ceiling(self) -> Cap | None:
        """The most the model reads of one text; None when nobody knows."""
        return self._ceiling

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order; a blank text is a vector of zeros and is not sent.

        A lone surrogate is sent as U+FFFD. A batch refused for its size is sent
        again in halves. Raises `EmbedderError`; a text too long is named.
        """
        texts = checked_texts(texts)
        found: dict[int, list[float]] = {}
        filled = inked(texts)
        if filled:
            call = self._server.call()
            for batch in self._batches(texts, filled):
                found.update(zip(batch, self._ask(call, texts, batch), strict=True))
        length = self.dimensions if len(found) < len(texts) else 0
        return [found[i] if i in found else [0.0] * length for i in range(len(texts))]

    def _batches(self, texts: Sequence[str], filled: list[int]) -> Iterator[list[int]]:
        """The places of the texts of each request."""
        batch: list[int] = []
        size = 0
        for i in filled:
            size += len(texts[i])
            if batch and (len(batch) == self.batch_size or size > _BATCH_CHARS):
                yield batch
                batch, size = [], len(texts[i])
            batch.append(i)
        yield batch

    def _ask(self, call: Call, texts: Sequence[str], batch: list[int]) -> list[list[float]]:
        """The vectors of the texts at some places."""
        content: dict[str, object] = {
            "model": self.model,
            "input": [readable(texts[i]) for i in batch],
            "encoding_format": "float",
        }
        if self._asked:
            content["dimensions"] = self._asked
        payload = json.dumps(content, ensure_ascii=False).encode()
        try:
            answer = call.post(payload, _ANSWER_BYTES * (len(batch) + 1))
        except TooLargeError as refusal:
            half = len(batch) // 2
            if half:
                first = self._ask(call, texts, batch[:half])
                return first + self._ask(call, texts, batch[half:])
            raise call.error(
                f"{refusal} to texts[{batch[0]}] of {len(texts[batch[0]]):,} characters; "
                "a text must be within what the model reads; cut with within(embedder) and a "
                "ceiling that fits, or raise the context length of the server"
            ) from None
        return self._vectors(call, answer, len(batch))

    def _vectors(self, call: Call, answer: bytes, count: int) -> list[list[float]]:
        """The vectors of an answer in order of its indexes, checked."""
        try:
            content = json.loads(answer)
        except (ValueError, RecursionError):
            content = None
        rows = content.get("data") if isinstance(content, dict) else None
        if not isinstance(rows, list):
            raise call.error(
                f'answered {call.said(answer)}; it must answer JSON with a list "data"; {PROTOCOL}'
            )
        found: dict[int, list[float]] = {}
        for row in rows:
            index = row.get("index") if isinstance(row, dict) else None
            vector = _numbers(row["embedding"]) if index is not None and "embedding" in row else []
            if type(index) is not int or not vector:
                raise call.error(
                    f'answered {call.shown(row)}; each of "data" must have an "index" and an '
                    f'"embedding" of finite numbers; {PROTOCOL}, and that the model embeds'
                )
            if index in found or not 0 <= index < count:
                again = " twice" if index in found else ""
                raise call.error(
                    f"answered index {shown(index)}{again}; each from 0 to {count - 1} must come "
                    "once; try batch_size=1, or report it to its makers"
                )
            found[index] = vector
        if len(found) != count:
            raise call.error(
                f"answered {len(found)} vectors for {count} texts; it must answer one a text; "
                f"lower batch_size={self.batch_size}, or report it to its makers"
            )
        wanted = self._asked or self._learned or len(found[0])
        for vector in found.values():
            if len(vector) != wanted:
                raise call.error(
                    f"answered a vector of {len(vector)} numbers; it must have {wanted} as "
                    f"{'dimensions says' if self._asked else 'the first one had'}; give the "
                    "dimensions of the model, and check that one model alone answers"
                )
        self._learned = wanted
        return [found[i] for i in range(count)]


def _numbers(value: object) -> list[float]:
    """The numbers of a vector; empty when it is no list of finite ones."""
    # By type: a string and a boolean would pass for numbers with float().
    if not isinstance(value, list) or not set(map(type, value)) <= {int, float}:
        return []
    try:
        numbers = list(map(float, value))
    except OverflowError:
        return []
    return numbers if all(map(isfinite, numbers)) else []
