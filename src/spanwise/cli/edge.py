"""Where a verb ends: its errors as one line, what failed, and an exit status."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec

import typer

from spanwise.cli.screen import one_line, silence
from spanwise.errors import OptionError, SpanwiseError

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "UNREAD",
    "WRONG_USE",
    "as_typed",
    "complain",
    "counted",
    "edge",
    "failed",
    "name_of_verb",
    "unwritten",
]

FAILED, WRONG_USE = 1, 2
# As a shell reports the signals of Ctrl-C and of a pipe that nobody reads.
INTERRUPTED, UNREAD = 130, 141

Arguments = ParamSpec("Arguments")

# What the library says to a caller in Python, and how the same is typed; {…} is any value.
# test_cli_index.py: test_what_is_said_in_python_is_said_as_typed
_AS_TYPED = (
    ("pass rebuild=True to make", "give --rebuild to make"),
    ("with rebuild=True", "with --rebuild"),
    ("leave embedder out", "leave --embedder out"),
    ("leave splitter out", "leave the options for cutting out"),
    ("pass it as embedder=...", "give it with --embedder"),
    ("pass it as splitter=...", "give the options for cutting that it was made with"),
    ("index.documents() lists them", "spanwise documents lists them"),
    ("make it with Index.open(path), or spanwise", "make it with spanwise"),
    ("open it once without read_only", "run spanwise index on it once"),
    ("export one with index.export_bundle", "make one with spanwise export"),
    ("; run rebuild", "; run spanwise index --rebuild"),
    (
        "import it into an index that is made as it was",
        "import it with the --embedder and the options for cutting that it was made with",
    ),
    ("or index anew with one", "or index anew with --embedder"),
    (", or raise attempts={attempts}", ""),
    ("raise timeout={seconds}, lower batch_size", "try again, or give a server that is quicker"),
    ("pass api_key, or set", "set"),
    ("set a valid one, or pass api_key", "set a valid one"),
    ("cut with within(embedder) and a ceiling that fits", "cut with a smaller --chunk-size"),
    (", or pass pooling to do without", ""),
    ("pass max_tokens, such as 512", "write it as max_seq_length in sentence_bert_config.json"),
)

# The same for a verb that has not all of those options.
_OF_VERB = {
    "import": (
        (
            "pass rebuild=True to make it anew, or index into another file",
            "or import into another file",
        ),
        (", or another with rebuild=True", ""),
    ),
    "eval": (("or index anew with one", "or give --embedder"),),
}


def as_typed(message: str, verb: str = "") -> str:
    """A message of the library, with the ways out as the command line of a verb has them."""
    for python, typed in (*_OF_VERB.get(verb, ()), *_AS_TYPED):
        values = re.sub(r"\\\{\w+\\\}", r"[^\\s,;]+", re.escape(python))
        message = re.sub(values, typed, message)
    return message


def name_of_verb(verb: Callable[..., None]) -> str:
    """What a verb is called; one whose name Python has taken ends in an underscore there."""
    return verb.__name__.rstrip("_")


def complain(*lines: str) -> None:
    """Print an error, each line safe to show."""
    print(*map(one_line, lines), sep="\n", file=sys.stderr)


def edge(verb: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """A verb whose errors are one line and an exit status."""
    called = name_of_verb(verb)
    name = f"spanwise {called}"

    @wraps(verb)
    def guarded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            verb(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            silence(sys.stdout)
            raise typer.Exit(INTERRUPTED) from None
        except SpanwiseError as fault:
            complain(f"{name}: {as_typed(str(fault), called)}")
            wrong = isinstance(fault, OptionError)
            raise typer.Exit(WRONG_USE if wrong else FAILED) from None
        except OSError as fault:
            raise typer.Exit(unwritten(name, fault)) from None

    return guarded


def unwritten(name: str, fault: OSError) -> int:
    """Say that the output cannot be written, where somebody reads; the exit status."""
    silence(sys.stdout)
    if isinstance(fault, BrokenPipeError):
        return UNREAD
    where = f"{fault.filename}: " if fault.filename else "the output cannot be written: "
    complain(f"{name}: {where}{fault.strerror}")
    return FAILED


def failed(reasons: Sequence[str], indent: str = "") -> typer.Exit:
    """Print what failed; the exit that says so."""
    for reason in reasons:
        print(indent + one_line(as_typed(reason)), file=sys.stderr)
    return typer.Exit(FAILED)


def counted(number: int, thing: str) -> str:
    """A number and what it counts.

    >>> counted(1, "file"), counted(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
