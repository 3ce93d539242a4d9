"""Which files of a folder are to be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

from spanwise.errors import LoadError
from spanwise.loaders.choice import Choice, OnError, path_shown, reporter
from spanwise.loaders.ignore import Rule, last_match, read_rules

__all__ = ["find_files"]


def find_files(
    folder: str | os.PathLike[str],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    suffixes: Collection[str] | None = None,
    ignore_files: bool = True,
    most_bytes: int | None = None,
    recursive: bool = True,
    follow_links: bool = False,
    on_error: OnError | None = None,
) -> list[Path]:
    """The files in a folder and the folders below it, in order of their paths.

    - ``include``, ``exclude``: patterns as in a `.gitignore` file, from this folder on:
      ``*.md`` at any depth, ``docs/**`` in one place, ``!`` for an exception; the last that
      matches holds. Without ``include`` every file is asked for; ``exclude`` goes first.
    - ``suffixes``: in small letters with their dots (unset: any). A pattern of ``include`` that
      names files, such as ``*.foo``, takes them whatever their suffix; one that says where,
      such as ``docs/**`` or the name of a folder, does not.
    - ``ignore_files``: leave out what `.gitignore` files say: those in the folder, below it,
      and above it up to the root of its git repository.
    - ``most_bytes``: a larger file is a `LoadError`.
    - ``follow_links``: enter folders behind symbolic links; each folder once, by its own path
      where that is inside. Files behind links are found either way, and broken links too, so
      that they are reported when they are read.

    Names that begin with a dot are left out, unless a part of an ``include`` pattern begins
    with one and matches them. A folder that cannot be listed, an ignore file that cannot be
    read and a file that is too large go to ``on_error``; where that is unset they are raised.
    """
    root = Path(folder)
    choice, report = Choice.of(include, exclude, suffixes), reporter(on_error)
    found: list[tuple[str, ...]] = []
    # Each folder with its names from here and the ignore files that hold in it.
    waiting: list[tuple[tuple[str, ...], _Ignores]] = [
        ((), _ignores_above(root, report) if ignore_files else ())
    ]
    links: list[tuple[tuple[str, ...], _Ignores]] = []
    seen: set[tuple[int, int]] = set()
    while waiting or links:
        if waiting:
            names, ignores = waiting.pop()
        else:
            # Only when all real folders are done, so that a link never takes their place.
            links.sort(key=lambda link: link[0], reverse=True)
            names, ignores = links.pop()
        here = root.joinpath(*names)
        if follow_links and not _is_new(here, seen):
            continue
        entries = _listed(here, report)
        if ignore_files:
            ignores = _with_own(here, names, ignores, entries, report)
        folders = []
        for entry in entries:
            path = (*names, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and follow_links and entry.is_symlink() and _leads_to_folder(entry):
                if recursive and choice.enters(path) and not _ignored(ignores, path, True):
                    links.append((path, ignores))
            elif is_folder:
                if recursive and choice.enters(path) and not _ignored(ignores, path, True):
                    folders.append((path, ignores))
            elif (
                choice.asks(path)
                and _is_file(entry)
                and not _ignored(ignores, path, False)
                and _is_small(here / entry.name, entry, most_bytes, report)
            ):
                found.append(path)
        waiting += reversed(folders)
    return [root.joinpath(*names) for names in sorted(found)]


# The folders that hold an ignore file: how many names lead there from the folder asked about
# (less than 0 above it, whose names then stand first), and its rules.
_Ignores = tuple[tuple[int, tuple[str, ...], tuple[Rule, ...]], ...]


def _ignored(ignores: _Ignores, names: tuple[str, ...], is_folder: bool) -> bool:
    """Whether the ignore files leave a path out; the nearest file that has a rule decides."""
    if not ignores:
        return False
    # Git compares bytes; Latin-1 makes each byte one character.
    latin = tuple(os.fsencode(name).decode("latin-1") for name in names)
    for depth, above, rules in reversed(ignores):
        rule = last_match(rules, (*above, *latin[depth:]), is_folder)
        if rule is not None:
            return not rule.negated
    return False


def _ignores_above(root: Path, report: OnError) -> _Ignores:
    """The ignore files above a folder, from the root of its git repository on."""
    whole = Path(os.path.abspath(root))  # noqa: PTH100 - links in the path stay as they are
    chain = [whole, *whole.parents]
    # Unlike the method of a path, this answers for folders that may not be looked into.
    depth = next((i for i, each in enumerate(chain) if os.path.exists(each / ".git")), 0)  # noqa: PTH110
    ignores: _Ignores = ()
    for each in reversed(chain[1 : depth + 1]):
        rules = _read_ignores(each / ".gitignore", report)
        above = tuple(os.fsencode(n).decode("latin-1") for n in whole.relative_to(each).parts)
        ignores += ((0, above, rules),) if rules else ()
    return ignores


def _with_own(
    here: Path,
    names: tuple[str, ...],
    ignores: _Ignores,
    entries: list[os.DirEntry[str]],
    report: OnError,
) -> _Ignores:
    """The ignore files that hold in a folder: those above, and its own."""
    if not any(entry.name == ".gitignore" for entry in entries):
        return ignores
    rules = _read_ignores(here / ".gitignore", report)
    return (*ignores, (len(names), (), rules)) if rules else ignores


def _read_ignores(path: Path, report: OnError) -> tuple[Rule, ...]:
    """The rules of an ignore file; none where it is missing or, as for git, a link."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return ()
        return read_rules(path.read_bytes().decode("latin-1"))
    except FileNotFoundError:
        return ()
    except OSError as fault:
        report(
            LoadError(
                f"{path_shown(path)}: the ignore file cannot be read ({fault.strerror}); check its "
                "permissions, or pass ignore_files=False"
            )
        )
        return ()


def _listed(here: Path, report: OnError) -> list[os.DirEntry[str]]:
    """The entries of a folder in order of their names; none where it cannot be listed."""
    try:
        with os.scandir(here) as listed:
            return sorted(listed, key=lambda entry: entry.name)
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        report(
            LoadError(
                f"{path_shown(here)}: the folder cannot be listed ({reason}); "
                "check the path and its permissions"
            )
        )
        return []


def _is_new(folder: Path, seen: set[tuple[int, int]]) -> bool:
    """Whether a folder was not met before, by this or another path."""
    try:
        found = folder.stat()
    except OSError:
        return True  # listing it says why
    known = (found.st_dev, found.st_ino)
    if known in seen:
        return False
    seen.add(known)
    return True


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, a link to one or a broken link."""
    try:
        return entry.is_file() or (entry.is_symlink() and not entry.is_dir())
    except OSError:
        return True


def _is_small(path: Path, entry: os.DirEntry[str], most_bytes: int | None, report: OnError) -> bool:
    """Whether a file has at most so many bytes; one that has more is reported."""
    if most_bytes is None:
        return True
    try:
        size = entry.stat().st_size
    except OSError:  # a broken link: reading it says so
        return True
    if size > most_bytes:
        report(
            LoadError(
                f"{path_shown(path)}: it has {size:,} bytes, more than most_bytes={most_bytes}; "
                "raise most_bytes, or exclude it"
            )
        )
        return False
    return True


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
