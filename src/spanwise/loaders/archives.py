"""ZIP archives and XML from strangers: read within limits, or refused by name."""

from __future__ import annotations

import re
import struct
import zlib
from io import BytesIO
from typing import Any, Protocol
from xml.etree.ElementTree import Element, ParseError, TreeBuilder, XMLParser
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.xml_names import ShortNames

__all__ = [
    "MOST_DEPTH",
    "Archive",
    "Target",
    "feed_xml",
    "holds_member",
    "open_archive",
    "parse_xml",
]

# Bytes. The largest XML of a real office file is tens of MB; pictures come on top.
MOST_TOTAL = 1 << 30
MOST_MEMBER = 256 << 20
_MOST_MEMBERS = 100_000

# Elements inside elements. Word's own deepest, tables in tables in text boxes, stay near 100;
# the readers walk the tree by recursion, and Python stops at 1,000 calls.
MOST_DEPTH = 200
# An element costs some hundred bytes, so 4 bytes of XML may not each become one without end.
_MOST_TAGS = 20_000_000

_declares = re.compile(rb"<!(?:DOCTYPE|ENTITY)").search

_ENCRYPTED, _UTF8 = 0x1, 0x800
_END = b"PK\x05\x06"
_HEADER = 30  # bytes in front of a member's name there
_FAULTS = (
    BadZipFile,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    zlib.error,
)


class Archive:
    """An open ZIP archive: its members by their paths, and how much of it may still be read."""

    __slots__ = ("_left", "_members", "_zip", "kept", "name", "names")

    def __init__(self, zipped: ZipFile, name: str) -> None:
        self.name = name
        self.names = ShortNames()  # of the tags in all of its members
        self.kept: dict[str, Element] = {}  # members as they were parsed
        self._zip = zipped
        self._members = {info.filename: info for info in zipped.infolist()}
        self._left = MOST_TOTAL

    def __contains__(self, path: str) -> bool:
        """Whether it has a member of that path."""
        return path in self._members

    @property
    def paths(self) -> list[str]:
        """The paths of its members, in the archive's order."""
        return list(self._members)

    def read(self, path: str) -> bytes:
        """The bytes of a member, its length and its checksum compared with what is declared.

        Raises `LoadError` for one that is missing, encrypted, damaged or over the limits.
        """
        info = self._members.get(path)
        if info is None:
            raise LoadError(
                f"{self.name}: it has no {shown(path)} inside, which its kind always has; "
                "the file is damaged or of another kind: open it in its program and save it again"
            )
        self._check(info)
        try:
            with self._zip.open(info) as member:
                data = member.read(info.file_size + 1)
        except _FAULTS as fault:
            raise _damaged(self.name, path, fault) from None
        if len(data) != info.file_size:
            raise LoadError(
                f"{self.name}: {shown(path)} inside holds {len(data)} bytes where "
                f"{info.file_size} are declared; the file is damaged, get a new copy"
            )
        self._left -= len(data)
        return data

    def _check(self, info: ZipInfo) -> None:
        """Refuse what would not be read to its end."""
        if info.flag_bits & _ENCRYPTED:
            raise LoadError(
                f"{self.name}: {shown(info.filename)} inside is encrypted, and no password is "
                "asked for; save a copy without one"
            )
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise LoadError(
                f"{self.name}: {shown(info.filename)} inside is compressed by method "
                f"{info.compress_type}, and only deflate is read; save the file again"
            )
        most = min(MOST_MEMBER, self._left)
        if info.file_size > most:
            raise LoadError(
                f"{self.name}: {shown(info.filename)} inside unpacks to {info.file_size} bytes, "
                f"and at most {most} are read; if the file can be trusted, divide it"
            )


def holds_member(raw: Raw, path: str) -> bool:
    """Whether some bytes are a ZIP archive with a member of that path, not only speak of it."""
    if not raw.data.startswith(b"PK\x03\x04") or path.encode() not in raw.data:
        return False
    try:
        return path in ZipFile(BytesIO(raw.data)).namelist()
    except _FAULTS:
        return False


def open_archive(raw: Raw) -> Archive:
    """The ZIP archive in some bytes, its list of members checked.

    Unpacked, all members together may have 1 GB, as declared and as read, and one that is read
    256 MB. Raises `LoadError` for what is no ZIP archive, has no end, or declares more.
    """
    try:
        zipped = ZipFile(BytesIO(raw.data))
        members = zipped.infolist()
        end = raw.data.rfind(_END)
        (listed,) = struct.unpack_from("<H", raw.data, end + 10)
    except _FAULTS as fault:
        if raw.data.startswith(b"\xd0\xcf\x11\xe0"):
            raise LoadError(
                f"{raw.name}: it is an old Office file, or one with a password, and neither is "
                "read; save it without a password in the current format"
            ) from None
        if not raw.data:
            raise LoadError(f"{raw.name}: it is empty; get a new copy") from None
        if not raw.data.startswith(b"PK"):
            raise LoadError(
                f"{raw.name}: it is no ZIP archive, as files of this kind are "
                f"(it begins with {shown(raw.data[:8])}); check its suffix"
            ) from None
        raise _damaged(raw.name, "", fault) from None
    # A damaged length in the list would pass over members; 65,535 stands for any more.
    if listed not in (len(members), 0xFFFF):
        differ = BadZipFile(f"{listed} members are announced and {len(members)} listed")
        raise _damaged(raw.name, "", differ)
    for info in members:
        if not _is_named_twice(raw.data, info):
            raise _damaged(raw.name, info.filename, ValueError("its names in the file differ"))
    declared = sum(info.file_size for info in members)
    if declared > MOST_TOTAL:
        raise LoadError(
            f"{raw.name}: it unpacks to {declared} bytes, and at most {MOST_TOTAL} are read; "
            "if the file can be trusted, divide it"
        )
    if len(members) > _MOST_MEMBERS:
        raise LoadError(
            f"{raw.name}: it has {len(members)} members, and at most {_MOST_MEMBERS} are read; "
            "divide the file"
        )
    return Archive(zipped, raw.name)


class Target(Protocol):
    """What is told of an XML text as it is read: each tag, each piece of text, each end."""

    def start(self, tag: str, attributes: dict[str, str], /) -> object:
        """An element begins."""

    def data(self, text: str, /) -> object:
        """Text, in one piece or several."""

    def end(self, tag: str, /) -> object:
        """An element ends."""


def feed_xml(data: bytes, name: str, target: Target) -> Any:
    """What a target makes of an XML text that declares no entities.

    ``name`` is what messages call it. A document type is refused before anything is parsed, so
    no entity is ever expanded. Raises `LoadError` for that, and for what is not well-formed.
    """
    # Every encoding that is read but UTF-16 writes these as ASCII does.
    plain = data.replace(b"\0", b"") if b"\0" in data[:4] or data[:2] in _UTF16 else data
    if _declares(plain):
        raise LoadError(
            f"{name}: it declares a document type, which could hide an entity bomb; "
            "files of this kind need none, save it again"
        )
    if len(plain) > _MOST_TAGS and plain.count(b"<") > _MOST_TAGS:
        raise LoadError(f"{name}: it has over {_MOST_TAGS} tags, more than is read; divide it")
    parser = XMLParser(target=target)
    try:
        parser.feed(data)
        return parser.close()
    except (ParseError, LookupError, ValueError) as fault:
        raise LoadError(
            f"{name}: it is not well-formed XML ({fault}); the file is damaged, get a new copy"
        ) from None


def parse_xml(data: bytes, name: str) -> Element:
    """The root of an XML text that nests at most `MOST_DEPTH` deep; else as `feed_xml`."""
    root: Element = feed_xml(data, name, TreeBuilder())
    level, depth = [root], 1
    while level:
        if depth > MOST_DEPTH:
            raise LoadError(
                f"{name}: its XML nests over {MOST_DEPTH} deep, more than is read; "
                "the file is damaged or made to do harm"
            )
        level = [child for element in level for child in element]
        depth += 1
    return root


def _is_named_twice(data: bytes, info: ZipInfo) -> bool:
    """Whether a member has the same name in front of it as in the list at the end.

    Else a name that was damaged would be a member that is not there, and its text left out.
    """
    start = info.header_offset + _HEADER
    name = info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
    return data[start - 4 : start - 2] == struct.pack("<H", len(name)) and data.startswith(
        name, start
    )


_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def _damaged(name: str, path: str, fault: Exception) -> LoadError:
    """The error for an archive that cannot be read; where in it, and why."""
    place = f"{shown(path)} inside" if path else "the ZIP archive it is"
    return LoadError(
        f"{name}: {place} cannot be read ({fault}); the file is damaged, get a new copy"
    )
