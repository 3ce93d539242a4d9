"""Messages through a pipe to another process, with an end to the waiting."""

from __future__ import annotations

import os
import select
import struct
from time import monotonic

__all__ = ["read", "receive", "send"]

_LENGTH = struct.Struct("<Q")
_READ = 1 << 20


def _wait(fd: int, event: int, until: float) -> None:
    """Wait until a pipe is ready; `TimeoutError` when that takes too long."""
    poll = select.poll()
    poll.register(fd, event)
    left = until - monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TimeoutError


def read(fd: int, size: int, until: float | None = None) -> bytes:
    """So many bytes from a pipe, fewer where it ends."""
    pieces = []
    while size:
        if until is not None:
            _wait(fd, select.POLLIN, until)
        piece = os.read(fd, min(size, _READ))
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def send(fd: int, message: bytes, until: float | None = None) -> None:
    """Write a message into a pipe, its length first."""
    for piece in (_LENGTH.pack(len(message)), message):
        left = memoryview(piece)
        while left:
            if until is not None:
                _wait(fd, select.POLLOUT, until)
            left = left[os.write(fd, left) :]


def receive(fd: int, until: float | None = None) -> bytes | None:
    """The next message of a pipe, or None where the pipe ends before the message does."""
    head = read(fd, _LENGTH.size, until)
    if len(head) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(head)
    message = read(fd, size, until)
    return message if len(message) == size else None
