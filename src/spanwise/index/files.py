"""The files of a folder as an index knows them: their names, whether they changed, what is gone."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from spanwise.documents import Document
from spanwise.errors import LoadError, OptionError
from spanwise.index.rows import StoredDocument
from spanwise.loaders.files import find_documents, load_raw, read_raw

__all__ = ["FileState", "FolderRun", "Selection"]

# Raised when a loader reads some file into another text or other places than before.
_READING = 1

# A file whose time is as near as this to the moment it was looked at may have changed since
# without its time showing it: clocks of file systems are coarse.
_TOO_NEW_NS = 2_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files of a folder are meant, and how they are read."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    ignore_files: bool = True
    recursive: bool = True
    follow_links: bool = False
    encoding: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self, root: str) -> dict[str, Any]:
        """What is noted with each document, so that a later run or a check can look again."""
        return {
            "root": root,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "ignore_files": self.ignore_files,
            "recursive": self.recursive,
            "follow_links": self.follow_links,
            "encoding": self.encoding,
            "metadata": dict(self.metadata),
            "reading": _READING,
        }

    @property
    def key(self) -> str:
        """What tells two selections of files apart."""
        return json.dumps(self.to_dict(""), sort_keys=True)

    @classmethod
    def from_dict(cls, noted: Mapping[str, Any]) -> Selection:
        """The selection that `to_dict` noted."""
        return cls(
            include=tuple(noted["include"]),
            exclude=tuple(noted["exclude"]),
            ignore_files=noted["ignore_files"],
            recursive=noted["recursive"],
            follow_links=noted["follow_links"],
            encoding=noted["encoding"],
            metadata=noted["metadata"],
        )


@dataclass(frozen=True, slots=True)
class FileState:
    """What says whether a file changed: its place and times, and the hash of its bytes."""

    stat: tuple[int, ...]
    settled: bool
    sha256: str = ""

    @classmethod
    def of(cls, path: Path) -> FileState:
        """The state of a file, without reading it; `LoadError` where it cannot be looked at."""
        try:
            found = path.stat()
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            raise LoadError(f"{path}: it cannot be read ({reason}); check the path") from None
        # The change time cannot be set back, so an edit shows even where the other was.
        state = (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        newest = max(found.st_mtime_ns, found.st_ctime_ns)
        return cls(state, newest < time.time_ns() - _TOO_NEW_NS)

    def hashed(self, path: Path) -> FileState:
        """The same with the hash of the bytes."""
        digest = sha256()
        try:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
        except OSError as fault:
            raise LoadError(
                f"{path}: it cannot be read ({fault.strerror}); check its permissions"
            ) from None
        return FileState(self.stat, self.settled, digest.hexdigest())


class FolderRun:
    """The files of one folder in one run.

    A file is called by its path from ``base``, the folder of the index, where it is below that,
    else by its absolute path; so the same folder has the same names wherever a run is started, and
    by whichever links its path leads there.
    """

    def __init__(self, folder: str | os.PathLike[str], selection: Selection, base: Path) -> None:
        if not os.fspath(folder):
            raise OptionError("folder='' names no folder; give its path, or . for this one")
        self.base = base
        self.root = _placed(Path(os.path.abspath(folder)), base)  # noqa: PTH100
        self.selection = selection
        self.faults: list[LoadError] = []
        if not self.root.is_dir():
            raise LoadError(
                f"{self.root}: there is no such folder, and nothing was changed; check the path"
            )
        self.paths: dict[str, Path] = {
            self.name_of(path): path
            for path in find_documents(
                self.root,
                include=selection.include,
                exclude=selection.exclude,
                ignore_files=selection.ignore_files,
                recursive=selection.recursive,
                follow_links=selection.follow_links,
                on_error=self.faults.append,
            )
        }
        self.noted = selection.to_dict(self.name_of(self.root))

    def name_of(self, path: Path) -> str:
        """What the document of a file is called."""
        try:
            return path.relative_to(self.base).as_posix()
        except ValueError:
            return path.as_posix()

    def load(self, uri: str, state: FileState) -> tuple[Document, dict[str, Any]]:
        """The document of a file and what is noted of it: the hash is that of what was loaded.

        What is more than text is read in a process of its own.
        """
        raw = read_raw(self.paths[uri], uri=uri, encoding=self.selection.encoding)
        loaded = replace(state, sha256=sha256(raw.data).hexdigest())
        return load_raw(raw, isolate=True), self.source(loaded)

    def source(self, state: FileState) -> dict[str, Any]:
        """What is noted of a file with its document."""
        settled = list(state.stat) if state.settled else []
        return {**self.noted, "stat": settled, "sha256": state.sha256}

    def adopted(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """What is noted of a file that did not change: now it is of this selection."""
        return {**known, **self.noted}

    def is_same(self, state: FileState, known: Mapping[str, Any]) -> bool:
        """Whether a file is surely as it was, by its place and times."""
        return bool(
            self._read_alike(known) and state.settled and known.get("stat") == list(state.stat)
        )

    def has_same_bytes(self, state: FileState, known: Mapping[str, Any]) -> bool:
        """Whether a file has the bytes it had."""
        return self._read_alike(known) and known.get("sha256") == state.sha256

    def gone(self, stored: Iterable[StoredDocument]) -> list[str]:
        """The documents below this folder to take out.

        Those whose file is gone, and those that a run of the same selection found before and this
        one did not. None where the folder holds nothing at all: it may be one that is not mounted.
        """
        if not self.paths:
            return []
        return [each.uri for each in stored if self._is_gone(each)]

    def kept(self, stored: Iterable[StoredDocument]) -> int:
        """How many documents below this folder other options chose, which this run leaves."""
        return sum(
            each.source.get("root") is not None
            and each.uri not in self.paths
            and self.root in (self.base / each.uri).parents
            and not self._is_selected(each)
            and _may_be_there(self.base / each.uri)
            for each in stored
        )

    def _is_gone(self, stored: StoredDocument) -> bool:
        root = stored.source.get("root")
        path = self.base / stored.uri
        if root is None or self.root not in path.parents:
            return False
        if not _may_be_there(path):
            return True
        if stored.uri in self.paths:
            return False
        # A folder that could not be listed hides what is in it.
        return not self.faults and self._is_selected(stored)

    def _is_selected(self, stored: StoredDocument) -> bool:
        """Whether a run of the same selection found a document."""
        return all(stored.source.get(name) == self.noted[name] for name in _SELECTING)

    def _read_alike(self, known: Mapping[str, Any]) -> bool:
        return all(known.get(name) == self.noted[name] for name in _READ_BY)


def _placed(root: Path, base: Path) -> Path:
    """A folder by its path from the base, where some path leads there; else as it was given.

    The folder itself may be a link, by whose name it is then called.
    """
    if not base.is_absolute():
        return root
    real = Path(os.path.realpath(base))
    for path in (
        root,
        Path(os.path.realpath(root.parent), root.name),
        Path(os.path.realpath(root)),
    ):
        for start in (base, real):
            if path.is_relative_to(start):
                return base / path.relative_to(start)
    return root


# What decides which files are found, and what decides what is read from one.
_SELECTING = ("root", "include", "exclude", "ignore_files", "recursive", "follow_links")
_READ_BY = ("encoding", "metadata", "reading")


def _may_be_there(path: Path) -> bool:
    """Whether there is a file; where that cannot be told, it is taken to be.

    A folder of its name and a link that leads nowhere are no file.
    """
    try:
        return not stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True
