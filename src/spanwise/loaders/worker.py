"""What runs in the process that `isolation` starts: calls are answered one after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from spanwise.loaders.pipes import receive, send

if sys.platform != "win32":
    import resource

__all__ = ["READY", "current_folder", "serve"]

# What is sent first, when calls can be answered.
READY = b"."

# Where the parent has died, the worker ends itself so much later than it would be ended.
_GRACE = 5


def serve() -> None:
    """Answer calls until the pipe ends."""
    inlet, outlet = os.dup(0), os.dup(1)
    # What the work prints must not get between the answers.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    os.write(outlet, READY)
    while True:
        settings, packed = receive(inlet), receive(inlet)
        if settings is None or packed is None:
            return
        seconds, megabytes, paths, folder = pickle.loads(settings)
        sys.path[:] = paths
        if folder and folder != current_folder():
            os.chdir(folder)
        with _limits(seconds, megabytes):
            answer = _answer(packed)
        send(outlet, answer)


@contextmanager
def _limits(seconds: float, megabytes: int) -> Iterator[None]:
    """The limits of one call, taken off for the answer to be sent."""
    if sys.platform == "win32":
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    caps = [megabytes << 20, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY)]
    signal.alarm(ceil(seconds) + _GRACE)
    if megabytes:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (min(caps), hard))
        except (ValueError, OSError):  # macOS has the name but not the limit
            pass
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.alarm(0)


def _answer(packed: bytes) -> bytes:
    """Do the work; how it ended, pickled."""
    stage = "unknown"
    try:
        work, args = pickle.loads(packed)
        stage = "raised"
        value = work(*args)
        stage = "unsent"
        return pickle.dumps(("done", value, ""), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        answer: tuple[str, object, str] = ("memory", None, "")
    except RecursionError:
        answer = ("recursion", None, traceback.format_exc(limit=-8))
    except Exception as fault:  # any error of the work is the caller's to see
        where = traceback.format_exc()
        said = f"{type(fault).__name__}: {fault}"
        if stage == "raised":
            try:
                sent = pickle.dumps(("raised", fault, where))
                pickle.loads(sent)
                return sent
            except Exception:  # an error that does not come through whole is told in words
                answer = ("failed", said, where)
        else:
            answer = (stage, said, where)
    return pickle.dumps(answer)


def current_folder() -> str:
    """The current folder, from which relative paths lead; empty where it is gone."""
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:
        return ""
