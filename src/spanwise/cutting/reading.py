"""A text read in runs, in order, while helpers read ahead."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Condition
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

__all__ = ["Reader", "Reading", "Run"]

# Helpers are at most so many runs ahead.
_AHEAD = 128

# A text, where in UTF-8 it begins, the type of an array: where each token ends.
Reader = Callable[[str, int, str], "array[int]"]


class Run(NamedTuple):
    """A stretch of a text, where it begins in UTF-8, and its text, or none where it is long."""

    start: int
    stop: int
    begin: int
    text: str


class Reading:
    """Runs and where their tokens end, in order.

    It belongs to one thread of one process. Helpers, a thread each, know it weakly: they stop when
    it is dropped.
    """

    __slots__ = (
        *("__weakref__", "_fault", "_found", "_helpers", "_helping", "_kind", "_left", "_read"),
        *("_turn", "_wanted", "process"),
    )

    def __init__(
        self, runs: Iterable[Run], kind: str, read: Reader, helpers: Sequence[Executor]
    ) -> None:
        self.process = os.getpid()
        self._left: Iterator[tuple[int, Run]] = enumerate(runs)
        self._kind = kind
        self._read = read
        self._helpers = helpers
        self._helping: list[Future[None] | None] = [None] * len(helpers)
        self._turn = Condition()
        self._found: dict[int, tuple[Run, array[int]]] = {}
        self._wanted = 0
        self._fault: BaseException | None = None

    def next(self) -> tuple[Run, array[int]]:
        """The next run; what a helper raised is raised."""
        if self._helpers and len(self._found) < _AHEAD // 2:
            self._call_helpers()
        while self._wanted not in self._found:
            if self._fault is not None:
                raise self._fault
            if not self._step():
                with self._turn:
                    self._turn.wait_for(lambda: self._wanted in self._found or self._fault)
        self._wanted += 1
        return self._found.pop(self._wanted - 1)

    def ahead(self) -> bool:
        """Read one run more; whether to go on."""
        try:
            return len(self._found) < _AHEAD and self._step()
        except BaseException as fault:
            with self._turn:
                self._fault = fault
                self._turn.notify()
            return False

    def _step(self) -> bool:
        """Read the next run that nobody has taken, if there is one."""
        with self._turn:
            number, run = next(self._left, (-1, None))
        if run is None:
            return False
        ends = self._read(run.text, run.begin, self._kind)
        with self._turn:
            self._found[number] = run, ends
            self._turn.notify()
        return True

    def _call_helpers(self) -> None:
        """Have each helper read ahead that does not."""
        for i, (helper, helping) in enumerate(zip(self._helpers, self._helping, strict=True)):
            if helping is None or helping.done():
                with suppress(RuntimeError):  # no more threads: at a limit, or at the end
                    self._helping[i] = helper.submit(_help, ref(self))


def _help(known: ref[Reading]) -> None:
    """Read ahead while there is something to, and somebody who asks for it."""
    goes_on = True
    while goes_on:
        reading = known()
        goes_on = reading is not None and reading.ahead()
        del reading
