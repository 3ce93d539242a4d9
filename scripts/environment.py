"""The environment that `scripts/demo` and `scripts/test` run in: made once, then reused.

Only the standard library, and nothing newer than Python 3.6 can parse, so that an
old interpreter gets a message and not a syntax error.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".venv"
OLDEST = (3, 10)
NEWEST = 14  # the highest minor version looked for when `python3` is too old


def python(extras="dev"):
    """The environment's interpreter, after everything is installed that some extras name."""
    inside = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not _works(inside):
        _make(inside)
    wanted = _wanted(inside)
    stamp = ENVIRONMENT / (".spanwise-installed-" + extras)
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print("Installing spanwise and what its tests need into .venv ...", file=sys.stderr)
        _call(
            [
                *(str(inside), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
                *("--editable", "{}[{}]".format(ROOT, extras)),  # noqa: UP032
            ],
            "the packages could not be installed; the lines above say why. "
            "They come from the package index that pip is set up for, so it must be reachable",
        )
        stamp.write_text(wanted, encoding="utf-8")
    return str(inside)


def _works(inside):
    """Whether an interpreter of the environment runs, is new enough and has pip."""
    if not inside.exists():
        return False
    check = "import sys, pip; sys.exit(sys.version_info < (%d, %d))" % OLDEST  # noqa: UP031
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.call([str(inside), "-c", check], **quiet) == 0


def _make(inside):
    """Make the environment with the first interpreter that is new enough."""
    base = _base()
    print("Making the environment .venv with {} ...".format(base), file=sys.stderr)  # noqa: UP032
    again = ["--clear"] if ENVIRONMENT.exists() else []
    _call(
        [base, "-m", "venv", *again, str(ENVIRONMENT)],
        "the environment could not be made. On Debian and Ubuntu, install the package "
        "python3-venv; anywhere, remove .venv and try again",
    )
    if not _works(inside):
        sys.exit("error: the environment .venv was made but does not run; remove it and try again")


def _base():
    """An interpreter of Python 3.10 or newer."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in range(NEWEST, OLDEST[1] - 1, -1):
        found = shutil.which("python3.%d" % minor)  # noqa: UP031
        if found:
            return found
    return sys.exit(
        "error: spanwise needs Python 3.10 or newer, and this is Python %d.%d; "  # noqa: UP031
        "install a newer one and call this script with it" % sys.version_info[:2]
    )


def _wanted(inside):
    """What the stamp says when nothing has to be installed."""
    parts = [(ROOT / "pyproject.toml").read_bytes(), str(ROOT).encode(), str(inside).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _call(command, otherwise):
    """Run a command; end with a message when it fails."""
    status = subprocess.call(command)
    if status:
        sys.exit("error: " + otherwise + ".")
