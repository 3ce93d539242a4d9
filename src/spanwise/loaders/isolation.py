"""Work in a process of its own, so that a file that hangs or crashes harms only itself."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import IO, Any, TypeVar

from spanwise.errors import LoadError, OptionError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.pipes import read, receive, send
from spanwise.loaders.worker import READY, current_folder

__all__ = ["Worker", "isolated"]

_T = TypeVar("_T")

# A page of a scanned book takes seconds, a whole file of text less than one.
_SECONDS = 60
# Python and a library for PDF take 100 MB of addresses; the rest is for the file, whose text and
# tree may take ten times its bytes.
_MEGABYTES = 2048
_LONGEST = 1_000_000
# What a library leaks adds up: after so many calls a new process is started.
_MOST_CALLS = 1_000
# Processes that wait for the next call of `isolated`, at about 20 MB each.
_MOST_IDLE = 4
# How long a process may take to start, on a busy machine.
_START_SECONDS = 60
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from spanwise.loaders.worker import serve; serve()"


class _TracebackError(Exception):
    """The traceback in the worker, as the cause of an error that came back from it."""

    def __str__(self) -> str:
        return "\n" + str(self.args[0])


def isolated(
    work: Callable[..., _T], *args: Any, seconds: float = _SECONDS, megabytes: int = _MEGABYTES
) -> _T:
    """What ``work(*args)`` returns, run in another process within limits.

    - ``seconds``: of the clock; then the process and those it started are ended.
    - ``megabytes``: of addresses of that process, what Python takes included (0: no limit).
      Kept on Linux; macOS and Windows have no such limit.

    ``work`` is a function of a module that can be imported; it, its arguments and its result
    are pickled. An error it raises is raised here, with its traceback as the cause. Raises
    `LoadError` for a call that takes too long, too much memory, recurses too deeply or ends
    its process, and `OptionError` for what cannot be pickled. Processes are kept for the next
    call, at most four; what they print goes to the standard error. It guards against accidents
    and is no sandbox: the work may read and write what the caller may.
    """
    # A list's pop and append are whole, so threads need no lock, nor does a fork.
    try:
        worker = _idle.pop()
    except IndexError:
        worker = Worker()
    try:
        return worker.run(work, *args, seconds=seconds, megabytes=megabytes)
    finally:
        if len(_idle) < _MOST_IDLE:
            _idle.append(worker)
        else:
            worker.close()


class Worker:
    """One process for many calls, started by the first and again after a crash.

    For one thread at a time. It ends with `close`, with the ``with`` block, when nothing holds
    it any more, and when the interpreter ends. After a fork the child starts its own.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._calls = 0
        self._end: Callable[[], object] = int

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """The number of the process, or None where none runs."""
        return self._process.pid if self._process and self._owner == os.getpid() else None

    def close(self) -> None:
        """End the process; the next call starts another."""
        self._end()
        self._process, self._end, self._calls = None, int, 0

    def run(
        self,
        work: Callable[..., _T],
        *args: Any,
        seconds: float = _SECONDS,
        megabytes: int = _MEGABYTES,
    ) -> _T:
        """What ``work(*args)`` returns; see `isolated`.

        Where a process that did other work before crashes or runs out of memory, the work is
        done once more in a fresh one, so the answer never depends on what came before.
        """
        if not 0 < seconds <= _LONGEST:
            raise OptionError(
                f"seconds={shown(seconds)} is not above 0 and at most {_LONGEST:,}; give "
                f"for example {_SECONDS}"
            )
        if megabytes < 0:
            raise OptionError(
                f"megabytes={shown(megabytes)} is below 0; give for example {_MEGABYTES}, "
                "or 0 for no limit"
            )
        try:
            packed = pickle.dumps((work, args), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError) as fault:
            raise OptionError(
                f"work={shown(work)} or an argument of it cannot be pickled ({fault}); give a "
                "function of a module and plain values"
            ) from None
        name = _name_of(work, args)
        fresh = self._ready(name)
        kind, value, where = self._once(packed, seconds, megabytes)
        if kind in ("memory", "died") and not fresh:
            self._ready(name)
            kind, value, where = self._once(packed, seconds, megabytes)
        if kind == "done":
            result: _T = value
            return result
        if kind == "raised":
            raise value from _TracebackError(where)
        if kind in ("unknown", "unsent"):
            what = "work or an argument" if kind == "unknown" else "what the work returned"
            raise OptionError(
                f"{name}: {what} cannot be passed between processes ({value}); define it in a "
                "module that can be imported, not in __main__, and of plain values"
            )
        cause = _TracebackError(where) if where else None
        raise LoadError(f"{name}: {_failure(kind, value, seconds, megabytes)}") from cause

    def _ready(self, name: str) -> bool:
        """Have a process that waits for work; whether it is a new one."""
        if self._owner != os.getpid():
            self._forget()
        alive = self._process is not None and self._process.poll() is None
        if alive and self._calls < _MOST_CALLS:
            return False
        self.close()
        if not sys.executable or getattr(sys, "frozen", False):
            raise LoadError(
                f"{name}: sys.executable={shown(sys.executable)} is no Python that can be started "
                "as a worker; read the file without isolation"
            )
        flags = ["-X", "utf8"] if sys.flags.utf8_mode else []
        # A session of its own, so that what it starts is ended with it. It inherits no threads
        # and does not import the caller's main module.
        process = subprocess.Popen(
            [sys.executable, *flags, "-c", _BOOT, *_paths()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._process, self._owner = process, os.getpid()
        self._end = weakref.finalize(self, _end, process, self._owner)
        if sys.platform != "win32":  # so that a write takes what fits and the clock is looked at
            os.set_blocking(_fd(process.stdin), False)
        late, answer = self._timed(
            _START_SECONDS, lambda until: read(_fd(process.stdout), 1, until)
        )
        if answer != READY:
            self.close()
            why = "in time" if late else f"(it ended with code {process.returncode})"
            raise LoadError(
                f"{name}: its worker process did not start {why}; see the standard error, or "
                "read the file without isolation"
            )
        return True

    def _once(self, packed: bytes, seconds: float, megabytes: int) -> tuple[str, Any, str]:
        """What became of the work: how it ended, with what, and where in the worker."""
        process = self._process
        assert process is not None
        settings = pickle.dumps((seconds, megabytes, _paths(), current_folder()))
        self._calls += 1

        def exchange(until: float | None) -> bytes | None:
            try:
                send(_fd(process.stdin), settings, until)
                send(_fd(process.stdin), packed, until)
            except BrokenPipeError:  # it died before it read all
                return None
            return receive(_fd(process.stdout), until)

        late, answer = self._timed(seconds, exchange)
        if answer is None:
            self.close()
            code = process.returncode
            if late or (sys.platform != "win32" and code == -signal.SIGALRM):
                return "late", None, ""
            return "died", code, ""
        if late:  # the answer came as the time ran out
            self.close()
        try:
            kind, value, where = pickle.loads(answer)
        except Exception as fault:  # whatever the classes of a result do
            return "unsent", f"{type(fault).__name__}: {fault}", ""
        if kind == "memory":
            self.close()
        return kind, value, where

    def _timed(
        self, seconds: float, exchange: Callable[[float | None], bytes | None]
    ) -> tuple[bool, bytes | None]:
        """Whether the process was ended for the time, and what the exchange gave."""
        process = self._process
        assert process is not None
        late = threading.Event()

        def end() -> None:
            late.set()
            _kill(process)

        timer = None
        if sys.platform == "win32":  # pipes cannot be waited for: ending it ends the wait
            timer = threading.Timer(seconds, end)
            timer.daemon = True
            timer.start()
        try:
            answer = exchange(None if timer else monotonic() + seconds)
        except TimeoutError:
            end()
            answer = None
        except BaseException:  # Ctrl-C above all: half a message is of no use
            self.close()
            raise
        finally:
            if timer:
                timer.cancel()
                timer.join()  # so that it cannot end a process that comes later
        return late.is_set(), answer

    def _forget(self) -> None:
        """Let go of the process of the parent, after a fork."""
        process = self._process
        if process is not None:
            _close(process)
            process.returncode = 0  # it is no child of this process, and not to be waited for
        self._process, self._end, self._calls = None, int, 0


_idle: list[Worker] = []


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    """End a process, unless it is that of a parent."""
    if os.getpid() == owner:
        if process.returncode is None:
            _kill(process)
            process.wait()
        _close(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that has not been waited for, and those it started."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone; macOS says the latter
        process.kill()


def _close(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes to a process."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _name_of(work: Callable[..., object], args: tuple[object, ...]) -> str:
    """What messages call the work: its source where an argument is one, else its name."""
    for arg in args:
        if isinstance(arg, Raw):
            return arg.name
        if isinstance(arg, os.PathLike):
            return str(arg)
        if isinstance(arg, str) and arg:
            return arg if len(arg) <= 200 else shown(arg)
    return getattr(work, "__qualname__", "") or shown(work)


def _failure(kind: str, value: Any, seconds: float, megabytes: int) -> str:
    """What happened and the way out, for a message."""
    if kind == "late":
        return (
            f"it was not read within seconds={seconds:g}, so its worker was ended; "
            "give more seconds, or leave it out"
        )
    if kind == "memory":
        return (
            f"reading it takes more memory than megabytes={megabytes}; "
            "give more megabytes, or leave it out"
        )
    if kind == "recursion":
        return (
            "reading it recursed too deeply (RecursionError), as damaged files and those nested "
            "thousands deep do; save it again with less nesting, or leave it out"
        )
    if kind == "failed":
        return f"reading it failed ({value}); it may be damaged, so save it again, or leave it out"
    if value < 0:
        try:
            how = signal.Signals(-value).name
        except ValueError:
            how = f"signal {-value}"
        if how == "SIGKILL":
            how += ", as the system does when its memory runs out"
    else:
        how = f"exit code {value}"
    within = f" or needs more than megabytes={megabytes}" if megabytes else ""
    return (
        f"reading it ended its worker ({how}); it may be damaged{within}: save it again, "
        "give more megabytes, or leave it out"
    )


def _paths() -> list[str]:
    """Where modules are looked for."""
    return [path for path in sys.path if isinstance(path, str)]


def _fd(pipe: IO[bytes] | None) -> int:
    assert pipe is not None
    return pipe.fileno()
