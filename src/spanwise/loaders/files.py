"""Files and folders: which are documents, and one of them as a `Document`."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from spanwise.documents import Document
from spanwise.errors import LoadError
from spanwise.loaders.base import Loader, Raw

__all__ = ["find_documents", "load", "load_raw", "read_raw"]


def _registry() -> Any:
    """The loaders of this library and what they need, imported when the first file is read."""
    return import_module("spanwise.loaders.registry")


def load(
    source: str | os.PathLike[str] | bytes,
    *,
    uri: str | None = None,
    encoding: str = "",
    loaders: Sequence[Loader] = (),
    isolate: bool = False,
) -> Document:
    r"""The document in a file, or in the bytes of one.

    - ``uri``: what the document is called (unset: the path; nothing for bytes).
      Without a path, its suffix says the kind; bytes without ``uri`` that do not
      say what they are are read as Markdown, like a bare string.
    - ``encoding``: Python's name of it, for kinds that are text (unset: what the
      file or its byte order mark says, else UTF-8). What was used stands in
      ``meta["encoding"]``.
    - ``loaders``: your own, asked before those of this library; the first that
      claims the file reads it.
    - ``isolate``: kinds that are more than text are read in a process of its own, with a
      minute and 2 GB of memory at the most, so that a hostile file costs no more than itself.

    Text is what the bytes say, line ends included, without the byte order mark
    that named the encoding. Of other kinds (docs/formats.md) the text is built,
    and ``document.locate`` leads back. An empty text is an empty document.
    Raises `LoadError` for a source that is missing, unreadable or not of its kind,
    `MissingExtraError` where a library has to be installed.

    >>> load(b"# Refunds\r\n", uri="refunds.md").media_type
    'text/markdown'
    """
    if isinstance(source, bytes):
        name, uri = uri or "the bytes given", uri or ""
        suffix = PurePosixPath(uri).suffix.lower()
        raw = Raw(data=source, name=name, uri=uri, suffix=suffix, encoding=encoding)
    else:
        raw = read_raw(Path(source), uri=uri, encoding=encoding)
    return load_raw(raw, loaders, isolate=isolate)


def read_raw(path: Path, *, uri: str | None = None, encoding: str = "") -> Raw:
    """The bytes of a file and what is known of them; `LoadError` where it cannot be read."""
    return Raw(
        data=_read(path),
        name=str(path),
        uri=path.as_posix() if uri is None else uri,
        suffix=path.suffix.lower(),
        encoding=encoding,
    )


def load_raw(raw: Raw, loaders: Sequence[Loader] = (), *, isolate: bool = False) -> Document:
    """The document in bytes of which the name is known: see `load`."""
    loader = next(each for each in (*loaders, *_registry().LOADERS) if each.claims(raw))
    if isolate and not isinstance(loader, _registry().PLAIN):
        document: Document = _registry().isolated(loader.load, raw)
    else:
        document = loader.load(raw)
    return document


def find_documents(
    folder: str | os.PathLike[str],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    ignore_files: bool = True,
    most_bytes: int | None = None,
    recursive: bool = True,
    follow_links: bool = False,
    on_error: Callable[[LoadError], object] | None = None,
) -> list[Path]:
    """The documents in a folder and the folders below it, in order of their paths.

    Those with a suffix that a loader of this library names, or that ``include`` names;
    ``include`` and ``exclude`` are patterns as in ``.gitignore``. Left out are names that
    begin with a dot, what ``.gitignore`` files leave out (``ignore_files``) and, unless
    ``follow_links``, folders behind symbolic links; no loop is entered. A folder that cannot
    be listed and a file over ``most_bytes`` are a `LoadError`, given to ``on_error`` where
    that is set.
    """
    found: list[Path] = _registry().find_files(
        folder,
        include=include,
        exclude=exclude,
        suffixes=_registry().SUFFIXES,
        ignore_files=ignore_files,
        most_bytes=most_bytes,
        recursive=recursive,
        follow_links=follow_links,
        on_error=on_error,
    )
    return found


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
