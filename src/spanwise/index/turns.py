"""One connection that threads share: they take turns, in transactions that may be nested."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from spanwise.errors import StoreError

__all__ = ["Turns"]


class Turns:
    """Whose turn it is, and how deep in transactions: one within another is a part of it.

    Who has ``lock`` has the turn. ``faults`` makes what surrounds a transaction, to tell what the
    database raises.
    """

    __slots__ = ("_depth", "_faults", "_writes", "lock")

    def __init__(self, faults: Callable[[], AbstractContextManager[None]]) -> None:
        self.lock = threading.RLock()
        self._faults = faults
        self._depth = 0
        self._writes = False

    @property
    def depth(self) -> int:
        """How many transactions are open, one within another."""
        return self._depth

    @contextmanager
    def transaction(
        self,
        begin: Callable[[], object],
        commit: Callable[[], object],
        roll_back: Callable[[], object],
        *,
        writes: bool,
    ) -> Iterator[None]:
        """Within it all is of one transaction; only the outermost begins one and ends it.

        `StoreError` where one that ``writes`` is within one that does not.
        """
        with self.lock, self._faults():
            if self._depth == 0:
                begin()
                self._writes = writes
            elif writes and not self._writes:
                raise StoreError(
                    "the index is being read, and within that nothing can be written; write before "
                    "or after, not from a reranker or a sizer"
                )
            self._depth += 1
            try:
                yield
                if self._depth == 1:
                    commit()
            except BaseException:
                if self._depth == 1:
                    roll_back()
                raise
            finally:
                self._depth -= 1
