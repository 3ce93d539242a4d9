"""Texts on their way through an embedder: batches, a bound on how many at once, retries."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from spanwise.embedders.base import Embedder
from spanwise.errors import EmbedderError, MissingExtraError, OptionError, shown
from spanwise.index.matrix import unit_rows

__all__ = ["Answer", "Embedding", "fingerprint_of", "unit_vectors"]

# Seconds before the second attempt, doubled for each further one up to the longest.
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0

# After so many calls in a row that failed the embedder is given a plain word, and where it fails on
# that too, it is taken to be down. A text that it cannot take is found by halves: of a batch of 64
# in 7 calls, and in several batches there may be one.
_MOST_FAILURES, _PLAIN = 8, "text"

# What another attempt does not mend; adapters of this library have made theirs already.
_FINAL = (EmbedderError, OptionError, MissingExtraError, TypeError, AttributeError)


def fingerprint_of(embedder: Embedder) -> str:
    """What decides the vectors of an embedder: its id and their length."""
    return f"{embedder.id}@{embedder.dimensions}"


def unit_vectors(numpy: Any, embedder: Embedder, answer: Any, count: int) -> Any:
    """What an embedder answered as rows of length 1; `EmbedderError` for what is no such table."""
    wanted = (count, embedder.dimensions)
    try:
        table = numpy.asarray(answer, dtype=numpy.float32)
    except (TypeError, ValueError):
        raise EmbedderError(
            f"{embedder.id} answered {shown(answer)}; it must be a table of {wanted} finite "
            "numbers, one row a text"
        ) from None
    if table.shape != wanted or not numpy.isfinite(table).all():
        raise EmbedderError(
            f"{embedder.id} answered a table of {table.shape}; it must be {wanted} of "
            "finite numbers, one row a text"
        )
    return unit_rows(numpy, table)


@dataclass(frozen=True, slots=True)
class Answer:
    """The vectors of digests, a row each; or why there are none."""

    digests: tuple[bytes, ...]
    vectors: Any = None
    reason: str = ""


class Embedding:
    """Texts are asked for one by one and answered in batches, in no order.

    Threads: `embed` runs in up to ``concurrency`` threads, everything else in the caller's.
    """

    def __init__(
        self, numpy: Any, embedder: Embedder, *, batch_size: int, concurrency: int, attempts: int
    ) -> None:
        self._numpy = numpy
        self._embedder = embedder
        self._batch_size = batch_size
        self._concurrency = concurrency
        self._attempts = attempts
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="spanwise-embed")
        self._waiting: list[tuple[bytes, str]] = []
        self._running: dict[Future[Any], list[tuple[bytes, str]]] = {}
        self._failures = 0
        self._down = ""

    def ask(self, digest: bytes, text: str) -> Iterator[Answer]:
        """Ask for the vector of a text; what is answered meanwhile."""
        self._waiting.append((digest, text))
        if len(self._waiting) >= self._batch_size:
            yield from self._send()

    def finish(self) -> Iterator[Answer]:
        """Wait for all that was asked for."""
        yield from self._send()
        while self._running:
            yield from self._collect()

    def close(self) -> None:
        """End the threads; what still runs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _send(self) -> Iterator[Answer]:
        batch, self._waiting = self._waiting, []
        if batch:
            yield from self._submit(batch)

    def _submit(self, batch: list[tuple[bytes, str]]) -> Iterator[Answer]:
        if self._down:
            yield Answer(tuple(digest for digest, _ in batch), reason=self._down)
            return
        self._running[self._pool.submit(self._embed, [text for _, text in batch])] = batch
        while len(self._running) >= self._concurrency + 1:
            yield from self._collect()

    def _collect(self) -> Iterator[Answer]:
        """The answers of the calls that are done, at least of one."""
        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        # All at once: what one of them leads to may collect others.
        for future, batch in [(each, self._running.pop(each)) for each in done]:
            fault = future.exception()
            digests = tuple(digest for digest, _ in batch)
            if fault is None:
                self._failures = 0
                yield Answer(digests, future.result())
                continue
            if not isinstance(fault, Exception):
                raise fault
            self._failures += 1
            reason = f"embedding failed: {type(fault).__name__}: {fault}"
            if self._failures >= _MOST_FAILURES and not self._down and self._fails_always():
                self._down = (
                    f"{reason} ({self._failures} calls in a row failed; none were made since)"
                )
            if len(batch) == 1:
                yield Answer(digests, reason=reason)
            else:
                half = len(batch) // 2
                yield from self._submit(batch[:half])
                yield from self._submit(batch[half:])

    def _fails_always(self) -> bool:
        """Whether the embedder fails on a plain word too, so that it is not for the texts."""
        if self._pool.submit(self._embed, [_PLAIN]).exception() is not None:
            return True
        self._failures = 0
        return False

    def _embed(self, texts: Sequence[str]) -> Any:
        """The vectors of a batch; runs in a thread of its own."""
        for attempt in range(self._attempts):
            if attempt:
                time.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1)))
            try:
                answer = self._embedder.embed(list(texts))
                return unit_vectors(self._numpy, self._embedder, answer, len(texts))
            except _FINAL:
                raise
            except Exception:
                if attempt == self._attempts - 1:
                    raise
        raise AssertionError("unreachable: attempts is at least 1")
