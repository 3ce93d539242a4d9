"""The command line: thin verbs over the Python API. Needs the extra ``cli``."""

from __future__ import annotations

import sys
from collections.abc import Callable

from spanwise.errors import MissingExtraError

__all__ = ["main"]

_NEEDS = ("rich", "typer")

_WRONG_USE = 2
_INTERRUPTED = 130  # as a shell reports the signal of Ctrl-C


def main() -> None:
    """Run the command line and end the process with its exit status."""
    try:
        sys.exit(_runner()())
    except MissingExtraError as missing:
        print(missing, file=sys.stderr)
        sys.exit(_WRONG_USE)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)


def _runner() -> Callable[[], int]:
    """`app.run`, which needs the extra."""
    try:
        from spanwise.cli.app import run  # noqa: PLC0415 - an optional dependency
    except ModuleNotFoundError as missing:
        needed = (missing.name or "").partition(".")[0]
        if needed not in _NEEDS:
            raise
        raise MissingExtraError(
            f"the command line needs {needed}, which is not installed; "
            "install it with: pip install 'spanwise[cli]'"
        ) from None
    return run
