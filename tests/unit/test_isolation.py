"""Isolation: work in another process, whose end is a `LoadError` and nothing worse."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spanwise import Document, LoadError, OptionError, Part
from spanwise.loaders import isolation
from spanwise.loaders.base import Raw
from spanwise.loaders.isolation import Worker, isolated

# What a worker imports; a test module itself may have no name that can be imported.
WORK = """
import ctypes, os, signal, subprocess, sys, threading, time
from spanwise import Document, LoadError, Part

SEEN = []

def plain(*values): return values
def pid(): return os.getpid()
def loop():
    while True: pass
def stuck(path):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    open(path, "w").write(str(child.pid))
    time.sleep(600)
def room(): return len(bytearray(600 << 20))
def eat(): return len(bytearray(8 << 30))
def eat_slowly():
    kept = []
    while True: kept.append(bytearray(1 << 20))
def mortal(raw): os.kill(os.getpid(), signal.SIGSEGV)
def null(): ctypes.string_at(0)
def leave(): os._exit(3)
def leave_politely(): sys.exit(4)
def deep(n=0): return deep(n + 1)
def refuse(): raise LoadError("a.bin: it is no text; give text")
def boom(): raise KeyError("no")
class Odd(Exception):
    def __init__(self, a, b): super().__init__(a)
def odd(): raise Odd("a", "b")
def unsent(): return threading.Lock()
def noise():
    print("noise"); os.write(1, b"noise"); return "quiet"
def threads(): return threading.active_count()
def folder(): return os.getcwd()
def leak():
    SEEN.append(1)
    if len(SEEN) > 1: os.kill(os.getpid(), signal.SIGSEGV)
    return len(SEEN)
def document(raw):
    text = raw.data.decode()
    return Document(text=text, uri=raw.uri, parts=(Part(kind="page", start=0, end=2, label="1"),))
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "isolated_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("isolated_work")
    del sys.modules["isolated_work"]


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


def test_a_document_comes_back_whole(work: Any) -> None:
    raw = Raw(data="Größe\r\n🏮".encode(), name="a.md", uri="kb/a.md", suffix=".md")
    part = Part(kind="page", start=0, end=2, label="1")
    assert isolated(work.document, raw) == Document(
        text="Größe\r\n🏮", uri="kb/a.md", parts=(part,)
    )


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_001])
def test_any_size_goes_there_and_back(worker: Worker, work: Any, size: int) -> None:
    data = os.urandom(size)
    assert worker.run(work.plain, data, "x" * size) == (data, "x" * size)


def test_one_process_does_many_calls(worker: Worker, work: Any) -> None:
    assert worker.pid is None
    pids = {worker.run(work.pid) for _ in range(200)}
    assert pids == {worker.pid}
    assert os.getpid() not in pids


def test_a_process_is_renewed_in_time(
    worker: Worker, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolation, "_MOST_CALLS", 3)
    assert len({worker.run(work.pid) for _ in range(9)}) == 3


def test_a_loop_is_ended(worker: Worker, work: Any) -> None:
    with pytest.raises(LoadError, match=r"^loop: it was not read within seconds=0\.2.*; give more"):
        worker.run(work.loop, seconds=0.2)
    assert worker.pid is None
    assert worker.run(work.plain, 1) == (1,)


@pytest.mark.skipif(os.name == "nt", reason="no groups of processes")
def test_what_the_work_started_is_ended_too(worker: Worker, work: Any, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    with pytest.raises(LoadError, match="seconds=3"):
        worker.run(work.stuck, str(note), seconds=3)
    started = int(note.read_text())
    for _ in range(100):
        if not _runs(started):
            break
        time.sleep(0.05)
    assert not _runs(started)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux keeps the limit")
@pytest.mark.parametrize("name", ["eat", "eat_slowly"])
def test_memory_is_limited(worker: Worker, work: Any, name: str) -> None:
    with pytest.raises(LoadError, match=rf"^{name}: .* more memory than megabytes=400; give more"):
        worker.run(getattr(work, name), megabytes=400)
    # The limit was of that call alone.
    assert worker.run(work.room, megabytes=0) == 600 << 20


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_a_crash_is_named(worker: Worker, work: Any) -> None:
    raw = Raw(data=b"A", name="a.pdf", uri="a.pdf", suffix=".pdf")
    for _ in range(2):
        with pytest.raises(LoadError, match=r"^a\.pdf: .* its worker \(SIGSEGV\); .* leave it out"):
            worker.run(work.mortal, raw)
        assert worker.run(work.plain, 1) == (1,)
    with pytest.raises(LoadError, match=r"null: .*\(SIG(SEGV|BUS)\)"):
        worker.run(work.null)


def test_an_exit_is_named(worker: Worker, work: Any) -> None:
    with pytest.raises(LoadError, match="exit code 3"):
        worker.run(work.leave)
    with pytest.raises(LoadError, match="exit code 4"):
        worker.run(work.leave_politely)


def test_recursion_is_named(worker: Worker, work: Any) -> None:
    with pytest.raises(LoadError, match=r"^deep: .*RecursionError"):
        worker.run(work.deep)
    assert worker.pid is not None


def test_an_error_of_the_work_comes_back(worker: Worker, work: Any) -> None:
    with pytest.raises(LoadError, match=r"^a\.bin: it is no text; give text$"):
        worker.run(work.refuse)
    with pytest.raises(KeyError, match="no") as caught:
        worker.run(work.boom)
    assert "in boom" in str(caught.value.__cause__)
    with pytest.raises(LoadError, match=r"^odd: reading it failed \(Odd: a\)"):
        worker.run(work.odd)
    assert worker.pid is not None


def test_what_cannot_be_passed_is_refused(worker: Worker, work: Any, monkeypatch: Any) -> None:
    with pytest.raises(OptionError, match="cannot be pickled"):
        worker.run(lambda: 1)
    with pytest.raises(OptionError, match="unsent: what the work returned cannot be passed"):
        worker.run(work.unsent)
    monkeypatch.setattr(work.plain, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "plain", work.plain, raising=False)
    with pytest.raises(OptionError, match="in a module that can be imported, not in __main__"):
        worker.run(work.plain)


@pytest.mark.parametrize("option", [{"seconds": 0}, {"seconds": float("nan")}, {"megabytes": -1}])
def test_limits_are_checked(option: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=f"^{next(iter(option))}="):
        isolated(len, "a", **option)


def test_what_the_work_prints_harms_nothing(worker: Worker, work: Any) -> None:
    assert worker.run(work.noise) == "quiet"


def test_a_crash_that_earlier_work_caused_is_no_verdict(worker: Worker, work: Any) -> None:
    assert [worker.run(work.leak) for _ in range(4)] == [1, 1, 1, 1]


def test_the_folder_and_the_modules_are_the_callers(
    worker: Worker, work: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker.run(work.plain)
    monkeypatch.chdir(tmp_path)
    assert Path(worker.run(work.folder)).samefile(tmp_path)


def test_no_threads_are_inherited_and_threads_may_call(work: Any) -> None:
    answers: list[int] = []
    callers = [
        threading.Thread(target=lambda: answers.append(isolated(work.threads))) for _ in range(6)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert answers == [1] * 6
    assert len(isolation._idle) <= isolation._MOST_IDLE


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_after_a_fork_the_child_has_its_own(worker: Worker, work: Any) -> None:
    mine = worker.run(work.pid)
    child = os.fork()
    if not child:
        code = 1
        try:
            code = 0 if worker.run(work.pid) != mine else 2
            worker.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert worker.run(work.pid) == mine


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_ctrl_c_ends_the_worker(worker: Worker, work: Any) -> None:
    pid = worker.run(work.pid)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        worker.run(work.loop)
    timer.join()
    assert worker.pid is None
    assert not _runs(pid)


def test_a_worker_ends_with_what_holds_it(work: Any) -> None:
    worker = Worker()
    pid = worker.run(work.pid)
    del worker
    gc.collect()
    assert not _runs(pid)


def test_a_script_needs_no_guard_and_leaves_nothing(tmp_path: Path) -> None:
    """Unlike with multiprocessing, the worker does not run the caller's script again."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os\nfrom spanwise.loaders.isolation import isolated\nprint(isolated(os.getpid))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert not _runs(int(done.stdout))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_worker_whose_parent_was_killed_ends(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal\nfrom spanwise.loaders.isolation import isolated\n"
        "print(isolated(os.getpid), flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    for _ in range(100):
        if not _runs(int(done.stdout)):
            break
        time.sleep(0.05)
    assert not _runs(int(done.stdout))


def test_a_python_that_cannot_start_is_named(
    worker: Worker, work: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(LoadError, match="no Python that can be started"):
        worker.run(work.plain)
    monkeypatch.undo()
    monkeypatch.setattr(isolation, "_BOOT", "import sys; sys.exit(7)")
    with pytest.raises(LoadError, match=r"did not start \(it ended with code 7\)"):
        worker.run(len, "a")
