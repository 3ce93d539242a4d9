"""Which files of a ZIP archive are to be read."""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from io import BytesIO
from pathlib import PurePosixPath

from spanwise.errors import LoadError
from spanwise.loaders.base import Raw
from spanwise.loaders.choice import Choice, OnError, path_shown, reporter

__all__ = ["archive_members", "is_archive"]

try:
    from lzma import LZMAError
except ImportError:  # a Python built without it cannot read such members, and says so
    LZMAError = EOFError  # type: ignore[assignment,misc]

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
    on_error: OnError | None = None,
) -> Iterator[Raw]:
    """The files in a ZIP archive, in order of their paths, named ``archive.zip/inner/path``.

    - ``include``, ``exclude``, ``suffixes``: as in `find_files`, of the paths inside the
      archive. An archive inside is a folder to them, and is entered two deep.
    - ``most_bytes``: what all members together may come to.

    Left out, as in folders, are links and paths with a name that begins with a dot. A member
    that is damaged, encrypted, named by an absolute path or with ``..``, or that grows more
    than 200-fold, is a `LoadError` given to ``on_error``, and the rest goes on; where that is
    unset it is raised. Raises `LoadError` for bytes that are no archive. Members are read one
    at a time, as they are asked for.
    """
    choice = Choice.of(include, exclude, suffixes)
    yield from _members(raw, choice, reporter(on_error), [most_bytes], most_bytes, 0, ())


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
    choice: Choice,
    report: OnError,
    left: list[int],
    most_bytes: int,
    depth: int,
    above: tuple[str, ...],
) -> Iterator[Raw]:
    """The files in an archive that lies ``depth`` archives deep; ``left`` is shared by all.

    ``above`` are the names that lead to it.
    """
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
                or choice.asks_member(names, may_be_archive=suffix == ".zip")
            ):
                continue
            name = f"{raw.name}/{path}"
            wrong = _refusal(path, info, left[0], most_bytes)
            if not wrong and last[path] is not info:
                wrong = "a later member has the same name; only the last is read"
            if wrong:
                report(LoadError(f"{path_shown(name)}: {wrong}"))
                continue
            try:
                with archive.open(info) as stream:
                    data = b"".join(iter(lambda: stream.read(_READ), b""))
                if len(data) != info.file_size:
                    raise EOFError(f"{len(data):,} bytes instead of {info.file_size:,}")
            except _DAMAGE as fault:
                report(
                    LoadError(
                        f"{path_shown(name)}: the member cannot be unpacked ({_reason(fault)}); "
                        "make the archive again, or unpack it first"
                    )
                )
                continue
            left[0] -= len(data)
            member = Raw(
                data=data,
                name=path_shown(name),
                uri=f"{raw.uri}/{path}",
                suffix=suffix,
                encoding=raw.encoding,
            )
            if not is_archive(member):
                if choice.asks(names):
                    yield member
                continue
            if not choice.enters(names):
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
                yield from _members(member, choice, report, left, most_bytes, depth + 1, names)
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
