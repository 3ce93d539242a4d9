"""Files and folders: which are documents, and one of them as a `Document`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.text import decode, media_type_of

__all__ = ["SUFFIXES", "find_documents", "load"]

# What a folder is searched for. A file that is named is read whatever its suffix.
SUFFIXES = (
    ".adoc",
    ".csv",
    ".jsonl",
    ".log",
    ".markdown",
    ".md",
    ".mdx",
    ".ndjson",
    ".org",
    ".rst",
    ".text",
    ".tsv",
    ".txt",
)


def load(
    source: str | os.PathLike[str] | bytes, *, uri: str | None = None, encoding: str = ""
) -> Document:
    r"""The document in a file of text or Markdown, or in the bytes of one.

    - ``uri``: what the document is called (unset: the path; nothing for bytes).
      Without a path, its suffix says the media type; bytes without ``uri`` have
      none and are read as Markdown, like a bare string.
    - ``encoding``: Python's name of it (unset: what a byte order mark says, else
      UTF-8). What was used stands in ``meta["encoding"]``.

    The text is what the bytes say, line ends included, without the byte order
    mark that named the encoding. An empty file is an empty document. Raises
    `LoadError` for a source that is missing, unreadable or not text.

    >>> load(b"# Refunds\r\n", uri="refunds.md").media_type
    'text/markdown'
    """
    if isinstance(source, bytes):
        raw, name = source, uri or "the bytes given"
        kind = media_type_of(PurePosixPath(uri).suffix) if uri else ""
    else:
        path = Path(source)
        raw, name = _read(path), str(path)
        kind = media_type_of(path.suffix)
        uri = path.as_posix() if uri is None else uri
    text, used = decode(raw, name, encoding)
    meta = MappingProxyType({"encoding": used})
    return Document(text=text, uri=uri or "", media_type=kind, meta=meta)


def find_documents(
    folder: str | os.PathLike[str], *, on_error: Callable[[LoadError], object] | None = None
) -> list[Path]:
    """The text files in a folder and the folders below it, in order of their paths.

    Those with a suffix of ``SUFFIXES``. Left out are names that begin with a
    dot, and folders behind symbolic links, so no loop is entered. A folder that
    cannot be listed is a `LoadError`, given to ``on_error`` where that is set.
    """
    found: list[Path] = []
    waiting = [(Path(folder), True)]
    while waiting:
        here, is_folder = waiting.pop()
        if not is_folder:
            found.append(here)
            continue
        try:
            with os.scandir(here) as listed:
                entries = sorted(listed, key=lambda entry: entry.name, reverse=True)
        except OSError as fault:
            error = LoadError(
                f"{here}: the folder cannot be listed ({fault.strerror}); "
                "check the path and its permissions"
            )
            if on_error is None:
                raise error from None
            on_error(error)
            continue
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append((here / entry.name, True))
            elif _is_document(entry):
                waiting.append((here / entry.name, False))
    return found


def _is_document(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a text file; a broken link is one, so that it is reported."""
    if Path(entry.name).suffix.lower() not in SUFFIXES:
        return False
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir())
    except OSError:
        return True


def _read(path: Path) -> bytes:
    """The bytes of a file or a pipe."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise LoadError(
                f"{path}: it is a folder; give a file, or find_documents for the files in it"
            )
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
            raise LoadError(f"{path}: it is a device or a socket; give a file")
        return path.read_bytes()
    except FileNotFoundError:
        raise LoadError(f"{path}: there is no such file; check the path") from None
    except PermissionError:
        raise LoadError(f"{path}: reading it is not allowed; check its permissions") from None
    except (OSError, ValueError) as fault:
        if isinstance(fault, LoadError):
            raise
        reason = getattr(fault, "strerror", None) or str(fault)
        raise LoadError(f"{path}: it cannot be read ({reason}); check the path") from None
