"""The documents of a run: found, loaded and cut one at a time, with what failed."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from spanwise.cli.options import refuse_unused
from spanwise.documents import Document
from spanwise.errors import LoadError, OptionError, SpanwiseError, SpanwiseWarning
from spanwise.loaders.base import Raw
from spanwise.loaders.files import find_documents, load, load_raw
from spanwise.loaders.members import archive_members, is_archive
from spanwise.loaders.plain import TextLoader
from spanwise.loaders.records import CsvLoader, JsonLinesLoader
from spanwise.loaders.registry import SUFFIXES
from spanwise.loaders.text import media_type_of

__all__ = [
    "STANDARD_INPUT",
    "Failures",
    "Source",
    "attempt",
    "find_sources",
    "notes",
    "one_source",
    "read_standard_input",
    "remarks",
]

STANDARD_INPUT = "-"
_ARCHIVE = re.compile(r"\.zip(?![^/\\])", re.IGNORECASE)

# The suffixes that say how a document is cut before it is read.
_TELLING = (*TextLoader.suffixes, *CsvLoader.suffixes, *JsonLinesLoader.suffixes)

_HOLDS_NOTHING = (
    "it holds no documents of a kind that is read; docs/formats.md lists them, --include names "
    "others"
)

# So many files of an archive are named where one has to be chosen.
_NAMED = 5

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Source:
    """A file, or standard input."""

    path: str
    raw: Raw | None = None  # what it holds, for a file inside an archive
    isolate: bool = False

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path

    @property
    def place(self) -> str:
        """The same for two ways to one file; a link to it in another name is a file of its own."""
        if self.path == STANDARD_INPUT:
            return self.path
        folder, name = os.path.split(self.path)
        return os.path.join(os.path.realpath(folder), name)  # noqa: PTH118

    def is_file(self, path: str) -> bool:
        """Whether it is the file of a path, by whatever links."""
        return os.path.realpath(self.path) == os.path.realpath(path)

    @property
    def media_type(self) -> str:
        """What its document's media type will be, or empty where what it holds decides."""
        suffix = Path(self.path).suffix.lower()
        return media_type_of(suffix) if suffix in _TELLING else ""

    @property
    def size(self) -> int:
        """Its bytes, or 0 where they are not known."""
        if self.raw is not None:
            return len(self.raw.data)
        try:
            return 0 if self.path == STANDARD_INPUT else Path(self.path).stat().st_size
        except (OSError, ValueError):
            return 0

    def load(self, encoding: str) -> Document:
        """Its document."""
        if self.raw is not None:
            return load_raw(replace(self.raw, encoding=encoding), isolate=True)
        if self.path != STANDARD_INPUT:
            return load(self.path, encoding=encoding, isolate=self.isolate)
        data = read_standard_input()
        try:
            return load(data, encoding=encoding)
        except LoadError as fault:
            raise LoadError(self.name + str(fault).removeprefix("the bytes given")) from None


def read_standard_input() -> bytes:
    """All of standard input."""
    if sys.stdin is None:
        raise LoadError("standard input: it is closed; give a path, or pipe a text in")
    return sys.stdin.buffer.read()


@dataclass(slots=True)
class Failures:
    """What failed in a run, and why, in order."""

    reasons: list[str] = field(default_factory=list)

    def add(self, reason: object) -> None:
        """Note one more."""
        self.reasons.append(str(reason))


def find_sources(paths: Iterable[str], failures: Failures, **which: Any) -> list[Source]:
    """The sources that paths name; each once.

    A file itself, the documents in a folder (``which`` are the options of `find_documents`),
    the documents inside a ZIP archive, which ``include`` and ``exclude`` choose from too. What a
    folder or an archive holds is read in a process of its own where it is more than text.
    Raises `OptionError` for an option of those that no path leaves a choice to.
    """
    paths = list(paths)
    _check(paths, which)
    found: dict[str, Source] = {}
    for path in paths:
        if path != STANDARD_INPUT and os.path.isdir(path):  # noqa: PTH112
            before = len(failures.reasons)
            inside = find_documents(path, on_error=failures.add, **which)
            if not inside and len(failures.reasons) == before:
                failures.add(f"{path}: {_HOLDS_NOTHING}")
            sources = [Source(str(each), isolate=True) for each in inside]
        elif archive := _archive_of(path):
            if path == archive:
                sources = _inside(archive, failures, which)
            else:
                sources = _chosen(path, archive, failures, which)
        else:
            sources = [Source(path)]
        for source in sources:
            found.setdefault(source.place, source)
    return list(found.values())


def _check(paths: Sequence[str], which: Mapping[str, Any]) -> None:
    """Refuse a choice among files where each path names one."""
    if not all(path == STANDARD_INPUT or os.path.isfile(path) for path in paths):  # noqa: PTH113
        return
    in_folders = {
        "--no-ignore": not which.get("ignore_files", True),
        "--no-recursive": not which.get("recursive", True),
    }
    anywhere = {"--include": which.get("include"), "--exclude": which.get("exclude")}
    refuse_unused(in_folders, "without a folder; give one, or leave it out")
    if not any(map(_archive_of, paths)):
        refuse_unused(anywhere, "on a file that is named; give a folder, or leave it out")


def one_source(path: str, failures: Failures) -> Source | None:
    """The one source that a path names, as `find_sources` finds it; of others it is said why."""
    if path != STANDARD_INPUT and os.path.isdir(path):  # noqa: PTH112
        failures.add(f"{path}: it is a folder; give a file")
        return None
    found = find_sources([path], failures)
    if len(found) > 1:
        failures.add(f"{path}: it holds {len(found):,} documents; name one: {_names(found)}")
    return found[0] if len(found) == 1 else None


def remarks(document: Document) -> list[str]:
    """What a loader noted of a document that a person should know."""
    meta = document.meta
    said = [str(meta["problem"])] if meta.get("problem") else []
    said += map(str, meta.get("problems", ()))
    for key, kind in (("bad_rows", "row"), ("bad_records", "record")):
        said += [f"{kind} {number}: {reason}" for number, reason in meta.get(key, ())]
        more = meta.get(f"{key}_count", 0) - len(meta.get(key, ()))
        said += [f"and {more:,} more {kind}s"] if more > 0 else []
    if meta.get("pages_without_text"):
        said.append(f"no text on pages {', '.join(meta['pages_without_text'])}; are they scans?")
    if meta.get("missing"):
        said.append(f"missing inside: {', '.join(map(str, meta['missing']))}")
    return said


def _archive_of(path: str) -> str:
    """The ZIP archive that a path names, or names a file in; empty without one."""
    archives = (path[: found.end()] for found in _ARCHIVE.finditer(path))
    return next(filter(os.path.isfile, archives), "")


def _chosen(path: str, archive: str, failures: Failures, which: dict[str, Any]) -> list[Source]:
    """The source of a file named in an archive; what the others are like does not matter."""
    others = Failures()
    inside = _inside(archive, others, which)
    found = [source for source in inside if Path(source.path) == Path(path)]
    own = [reason for reason in others.reasons if reason.startswith(f"{path}: ")]
    if not found and inside and not own:
        failures.add(f"{path}: {archive} holds no such document; it holds {_names(inside)}")
    elif not found:
        failures.reasons += own or others.reasons
    return found


def _names(sources: list[Source]) -> str:
    more = len(sources) - _NAMED
    names = ", ".join(source.path for source in sources[:_NAMED])
    return names + (f" and {more:,} more" if more > 0 else "")


def _inside(path: str, failures: Failures, which: dict[str, Any]) -> list[Source]:
    """The documents in a ZIP archive; the file itself where it is none, which then says why."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return [Source(path)]  # which says why when it is read
    raw = Raw(data=data, name=path, uri=Path(path).as_posix(), suffix=".zip")
    if not is_archive(raw):
        return [Source(path)]
    before = len(failures.reasons)
    sources: list[Source] = []
    try:
        patterns = {name: which.get(name, ()) for name in ("include", "exclude")}
        members = archive_members(raw, suffixes=SUFFIXES, on_error=failures.add, **patterns)
        sources += (Source(member.name, raw=member) for member in members)
    except LoadError as fault:
        failures.add(fault)
    if not sources and len(failures.reasons) == before:
        failures.add(f"{path}: {_HOLDS_NOTHING}")
    return sources


def attempt(
    source: Source, failures: Failures, note: Callable[[str], object], work: Callable[[], Result]
) -> Result | None:
    """What ``work`` answers on a source; a failure is noted and answers nothing.

    An `OptionError` is no matter of one source and passes. Warnings of this
    library go to ``note``.
    """
    with notes(lambda message: note(named(source, message))):
        try:
            return work()
        except OptionError:
            raise
        except SpanwiseError as fault:
            failures.add(named(source, str(fault)))
        except Exception as fault:  # one document must not end a batch
            failures.add(named(source, f"{type(fault).__name__}: {fault}"))
    return None


@contextmanager
def notes(note: Callable[[str], object]) -> Iterator[None]:
    """Warnings of this library inside go to ``note``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpanwiseWarning)
        try:
            yield
        finally:
            for warning in caught:
                if issubclass(warning.category, SpanwiseWarning):
                    note(str(warning.message))


def named(source: Source, message: str) -> str:
    """A message that begins with the source it is about."""
    return message if message.startswith(source.name) else f"{source.name}: {message}"
