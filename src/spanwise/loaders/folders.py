"""Which files of a folder, and which members of a ZIP archive, are to be read."""

from __future__ import annotations

import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

from spanwise.errors import LoadError
from spanwise.loaders.base import Raw
from spanwise.loaders.ignore import Rule, compile_rule, last_match, read_rules

__all__ = ["archive_members", "find_sources", "is_archive"]

try:
    from lzma import LZMAError
except ImportError:  # a Python built without it cannot read such members, and says so
    LZMAError = EOFError  # type: ignore[assignment,misc]

_OnError = Callable[[LoadError], object]

# Prose shrinks 3 to 5 times, logs up to 50; a bomb a thousand times. Small members are no bomb.
_MOST_RATIO = 200
_RATIO_FROM = 1 << 20
# What the members of an archive may come to, those of archives inside it included.
_MOST_BYTES = 1 << 30
_MOST_MEMBERS = 100_000
_DEEPEST = 2
# Names in a path inside an archive: what patterns cost grows with their square.
_MOST_NAMES = 100
_READ = 1 << 20

_ENCRYPTED = 0x1
_IS_UTF8 = 0x800
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
# What Office files, OpenDocument files and e-books hold.
_MARKERS = frozenset({"[Content_Types].xml", "mimetype", "META-INF/container.xml"})
_DRIVE = re.compile(r"[A-Za-z]:")

# What the standard library raises for a damaged archive or member.
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, LZMAError, struct.error, NotImplementedError),
    *(EOFError, OSError, ValueError, RuntimeError, IndexError, OverflowError, MemoryError),
)


def find_sources(
    folder: str | os.PathLike[str],
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    suffixes: Collection[str] | None = None,
    ignore_files: bool = True,
    most_bytes: int | None = None,
    recursive: bool = True,
    follow_links: bool = False,
    on_error: _OnError | None = None,
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
    walk = _Walk(
        include=_rules(include, "include", dots=False),
        exclude=_rules(exclude, "exclude", dots=True),
        suffixes=None if suffixes is None else frozenset(suffixes),
        most_bytes=most_bytes,
        report=_reporter(on_error),
    )
    found: list[tuple[str, ...]] = []
    # Each folder with its names from here and the ignore files that hold in it.
    waiting: list[tuple[tuple[str, ...], _Ignores]] = [
        ((), _ignores_above(root, walk.report) if ignore_files else ())
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
        entries = _listed(here, walk.report)
        if ignore_files:
            ignores = _with_own(here, names, ignores, entries, walk.report)
        folders = []
        for entry in entries:
            path = (*names, entry.name)
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and follow_links and entry.is_symlink() and _leads_to_folder(entry):
                if recursive and walk.enters(path) and not _ignored(ignores, path, True):
                    links.append((path, ignores))
            elif is_folder:
                if recursive and walk.enters(path) and not _ignored(ignores, path, True):
                    folders.append((path, ignores))
            elif (
                walk.takes(path, entry)
                and not _ignored(ignores, path, False)
                and walk.is_small(here / entry.name, entry)
            ):
                found.append(path)
        waiting += reversed(folders)
    return [root.joinpath(*names) for names in sorted(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """What is asked for."""

    include: tuple[Rule, ...]
    exclude: tuple[Rule, ...]
    suffixes: frozenset[str] | None
    most_bytes: int | None
    report: _OnError

    def enters(self, names: tuple[str, ...]) -> bool:
        """Whether a folder may hold what is asked for."""
        if _excluded(self.exclude, names, True):
            return False
        if not self.include:
            return not names[-1].startswith(".")
        for rule in reversed(self.include):
            covers = _reach(rule, names, True) > 0
            if covers or (rule.leads(names) and not rule.negated):
                return not rule.negated
        return False

    def asks(self, names: tuple[str, ...]) -> bool:
        """Whether a file is asked for, if the folder it lies in is entered."""
        by_suffix = (
            self.suffixes is None or PurePosixPath(names[-1]).suffix.lower() in self.suffixes
        )
        if self.include:
            named = self._included(names)
            if named is None or not (by_suffix or named):
                return False
        elif not by_suffix or names[-1].startswith("."):
            return False
        return not _excluded(self.exclude, names, False)

    def asks_member(self, names: tuple[str, ...], *, may_be_archive: bool) -> bool:
        """Whether a file of an archive is asked for, or a folder if that is what it is."""
        if not self.include and any(name.startswith(".") for name in names[:-1]):
            return False
        ends = range(1, len(names)) if self.exclude else ()
        if any(_excluded(self.exclude, names[:end], True) for end in ends):
            return False
        return self.asks(names) or (may_be_archive and self.enters(names))

    def takes(self, names: tuple[str, ...], entry: os.DirEntry[str]) -> bool:
        """Whether a file, a link to one or a broken link is asked for."""
        if not self.asks(names):
            return False
        try:
            return entry.is_file() or (entry.is_symlink() and not entry.is_dir())
        except OSError:
            return True

    def is_small(self, path: Path, entry: os.DirEntry[str]) -> bool:
        """Whether a file has at most so many bytes; one that has more is reported."""
        if self.most_bytes is None:
            return True
        try:
            size = entry.stat().st_size
        except OSError:  # a broken link: reading it says so
            return True
        if size > self.most_bytes:
            self.report(
                LoadError(
                    f"{_shown(path)}: it has {size:,} bytes, more than "
                    f"most_bytes={self.most_bytes}; raise most_bytes, or exclude it"
                )
            )
            return False
        return True

    def _included(self, names: tuple[str, ...]) -> bool | None:
        """Whether a pattern names this file itself, None where none takes it.

        A pattern that matches a folder takes what is below it; the last that does decides.
        """
        for rule in reversed(self.include):
            reach = _reach(rule, names, False)
            if reach:
                return None if rule.negated else reach == len(names) and not rule.place
        return None


def _reach(rule: Rule, names: tuple[str, ...], is_folder: bool) -> int:
    """How many of the names lead to what the rule matches: the path or a folder above it, or 0.

    What is below that folder counts too, but for names that begin with a dot.
    """
    for end in range(len(names), 0, -1):
        if rule.fits(names[:end], is_folder or end < len(names)):
            return end
        if names[end - 1].startswith(".") and not rule.negated:
            break
    return 0


def _excluded(rules: tuple[Rule, ...], names: tuple[str, ...], is_folder: bool) -> bool:
    rule = last_match(rules, names, is_folder)
    return rule is not None and not rule.negated


def _rules(patterns: Iterable[str], option: str, *, dots: bool) -> tuple[Rule, ...]:
    """The patterns of an option; a single one may stand alone."""
    given = (patterns,) if isinstance(patterns, str) else patterns
    return tuple(compile_rule(pattern, option=option, dots=dots) for pattern in given)


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


def _ignores_above(root: Path, report: _OnError) -> _Ignores:
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
    report: _OnError,
) -> _Ignores:
    """The ignore files that hold in a folder: those above, and its own."""
    if not any(entry.name == ".gitignore" for entry in entries):
        return ignores
    rules = _read_ignores(here / ".gitignore", report)
    return (*ignores, (len(names), (), rules)) if rules else ignores


def _read_ignores(path: Path, report: _OnError) -> tuple[Rule, ...]:
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
                f"{_shown(path)}: the ignore file cannot be read ({fault.strerror}); check its "
                "permissions, or pass ignore_files=False"
            )
        )
        return ()


def _listed(here: Path, report: _OnError) -> list[os.DirEntry[str]]:
    """The entries of a folder in order of their names; none where it cannot be listed."""
    try:
        with os.scandir(here) as listed:
            return sorted(listed, key=lambda entry: entry.name)
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        report(
            LoadError(
                f"{_shown(here)}: the folder cannot be listed ({reason}); "
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


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _reporter(on_error: _OnError | None) -> _OnError:
    """What is done with an error: given to the caller, or raised."""

    def report(error: LoadError) -> None:
        if on_error is None:
            raise error
        on_error(error)

    return report


def _shown(path: object) -> str:
    """A path for a message: bytes of a name that are no text are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def is_archive(raw: Raw) -> bool:
    """Whether the bytes are a ZIP archive of files, and no Office file or e-book."""
    if raw.suffix not in ("", ".zip") or not raw.data.startswith(_ZIP_STARTS):
        return False
    try:
        with zipfile.ZipFile(BytesIO(raw.data)) as archive:
            return _MARKERS.isdisjoint(archive.namelist())
    except _DAMAGE:
        return True  # reading it says what is wrong


def archive_members(
    raw: Raw,
    *,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    suffixes: Collection[str] | None = None,
    most_bytes: int = _MOST_BYTES,
    on_error: _OnError | None = None,
) -> Iterator[Raw]:
    """The files in a ZIP archive, in order of their paths, named ``archive.zip/inner/path``.

    - ``include``, ``exclude``, ``suffixes``: as in `find_sources`, of the paths inside the
      archive. An archive inside is a folder to them, and is entered two deep.
    - ``most_bytes``: what all members together may come to.

    Left out, as in folders, are links and paths with a name that begins with a dot. A member
    that is damaged, encrypted, named by an absolute path or with ``..``, or that grows more
    than 200-fold, is a `LoadError` given to ``on_error``, and the rest goes on; where that is
    unset it is raised. Raises `LoadError` for bytes that are no archive. Members are read one
    at a time, as they are asked for.
    """
    walk = _Walk(
        include=_rules(include, "include", dots=False),
        exclude=_rules(exclude, "exclude", dots=True),
        suffixes=None if suffixes is None else frozenset(suffixes),
        most_bytes=None,
        report=_reporter(on_error),
    )
    yield from _members(raw, walk, [most_bytes], most_bytes, 0, ())


def _is_inner(archive: zipfile.ZipFile, data: bytes) -> bool:
    """Whether what was opened lies inside of an archive of which the end is missing."""
    first = next(iter(archive.infolist()), None)
    if first is None or not data.startswith(_ZIP_STARTS):
        return False
    # Where the list of members says that the first one is, and where it was found.
    said = int.from_bytes(data[archive.start_dir + 42 : archive.start_dir + 46], "little")
    return said not in (first.header_offset, 0xFFFFFFFF)


def _members(
    raw: Raw,
    walk: _Walk,
    left: list[int],
    most_bytes: int,
    depth: int,
    above: tuple[str, ...],
) -> Iterator[Raw]:
    """The files in an archive that lies ``depth`` archives deep; ``left`` is shared by all.

    ``above`` are the names that lead to it.
    """
    report = walk.report
    try:
        archive = zipfile.ZipFile(BytesIO(raw.data))
    except _DAMAGE as fault:
        raise LoadError(
            f"{raw.name}: it is no ZIP archive that can be read ({_reason(fault)}); "
            "make it again, or unpack it first"
        ) from None
    with archive:
        infos = archive.infolist()
        if _is_inner(archive, raw.data):
            raise LoadError(
                f"{raw.name}: it is cut off, so that only an archive inside it is found; get "
                "the file again"
            )
        if not _MARKERS.isdisjoint(info.filename for info in infos):
            raise LoadError(
                f"{raw.name}: it is an Office file or an e-book, not an archive of files; "
                "load it as a document"
            )
        if len(infos) > _MOST_MEMBERS:
            raise LoadError(
                f"{raw.name}: it has {len(infos):,} members, more than {_MOST_MEMBERS:,}; "
                "unpack it first"
            )
        named = [(_name_in(info), info) for info in infos if not info.filename.endswith("/")]
        last = dict(named)
        for path, info in sorted(named, key=lambda pair: pair[0].split("/")):
            suffix = PurePosixPath(path).suffix.lower()
            names = (*above, *_names_in(path))
            if stat.S_ISLNK(info.external_attr >> 16) or not (
                path.count("/") >= _MOST_NAMES  # it is refused unseen
                or walk.asks_member(names, may_be_archive=suffix == ".zip")
            ):
                continue
            name = f"{raw.name}/{path}"
            wrong = _refusal(path, info, left[0], most_bytes)
            if not wrong and last[path] is not info:
                wrong = "a later member has the same name; only the last is read"
            if wrong:
                report(LoadError(f"{_shown(name)}: {wrong}"))
                continue
            try:
                with archive.open(info) as stream:
                    data = b"".join(iter(lambda: stream.read(_READ), b""))
                if len(data) != info.file_size:
                    raise EOFError(f"{len(data):,} bytes instead of {info.file_size:,}")
            except _DAMAGE as fault:
                report(
                    LoadError(
                        f"{_shown(name)}: the member cannot be unpacked ({_reason(fault)}); "
                        "make the archive again, or unpack it first"
                    )
                )
                continue
            left[0] -= len(data)
            member = Raw(
                data=data,
                name=_shown(name),
                uri=f"{raw.uri}/{path}",
                suffix=suffix,
                encoding=raw.encoding,
            )
            if not is_archive(member):
                if walk.asks(names):
                    yield member
                continue
            if not walk.enters(names):
                continue
            if depth == _DEEPEST:
                report(
                    LoadError(
                        f"{member.name}: it lies more than {_DEEPEST} archives deep; "
                        "unpack the outer ones first"
                    )
                )
                continue
            try:
                yield from _members(member, walk, left, most_bytes, depth + 1, names)
            except LoadError as error:
                report(error)


def _names_in(path: str) -> tuple[str, ...]:
    """The names of a member's path, as patterns see them."""
    return tuple(name for name in path.split("/") if name not in ("", ".", "..")) or ("",)


def _name_in(info: zipfile.ZipInfo) -> str:
    """The path of a member; old programs wrote UTF-8 without saying so, or backslashes."""
    name = info.filename
    if not info.flag_bits & _IS_UTF8:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/")


def _refusal(path: str, info: zipfile.ZipInfo, left: int, most_bytes: int) -> str:
    """Why a member is not to be read, with the way out; empty where it is."""
    if not path:
        return "a member has no name; make the archive again"
    if path.count("/") >= _MOST_NAMES:
        return f"its path has more than {_MOST_NAMES} names; make the archive again, less deep"
    if path.startswith("/") or _DRIVE.match(path) or ".." in path.split("/"):
        return "its path leads out of the archive; make the archive again with relative paths"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted; unpack it with its password first"
    size, packed = info.file_size, info.compress_size
    if size > _RATIO_FROM and size > _MOST_RATIO * packed:
        return (
            f"it grows from {packed:,} to {size:,} bytes, more than {_MOST_RATIO}-fold, as bombs "
            "do; unpack it first if it is trusted"
        )
    if size > left:
        return (
            f"with its {size:,} bytes the members come to more than most_bytes={most_bytes}; "
            "raise most_bytes, or unpack the archive first"
        )
    return ""


def _reason(fault: BaseException) -> str:
    """What is wrong, in a few words."""
    return getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
