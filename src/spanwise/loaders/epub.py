"""EPUB: the documents of a book in reading order, each a chapter."""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote
from xml.parsers import expat

from spanwise.documents import Document
from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.html_encoding import decode_html
from spanwise.loaders.html_reader import read_html

__all__ = ["EpubLoader"]

# What is read, expanded, in bytes: far above any book of text, and low enough that what is built
# from it fits in memory. Pictures and fonts are not read. Lists are the package and its contents.
_LARGEST_MEMBER = 16 << 20
_LARGEST_LIST = 8 << 20
_LARGEST_BOOK = 128 << 20
_MOST_MEMBERS = 100_000

_CONTAINER = "META-INF/container.xml"
_PROTECTION = "META-INF/encryption.xml"
_MIMETYPE = b"application/epub+zip"
_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/xml", "image/svg+xml")
_PAGE_SUFFIXES = (".xhtml", ".html", ".htm", ".xml")

# What `zipfile` and its decompressors raise for archives that are damaged or locked.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    IndexError,  # of a name that is empty
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # a password, and with NotImplementedError a compression that is not known
    OverflowError,
)


@dataclass(slots=True)
class _Element:
    """An element of XML: its name without a prefix, its attributes, its text."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    inside: str = ""  # the name and type of the nearest `nav` around it
    pieces: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EpubLoader:
    """Reads a book: each document of its spine is a part of kind ``chapter``."""

    name: str = "EPUB"
    suffixes: tuple[str, ...] = (".epub",)

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix says so, or the first file of the archive names the type."""
        return raw.suffix in self.suffixes or (
            raw.data.startswith(b"PK\x03\x04") and raw.data[30:58] == b"mimetype" + _MIMETYPE
        )

    def load(self, raw: Raw) -> Document:
        """The document; ``meta`` says title, author and language, and what is ``missing``.

        A chapter is called what the table of contents calls it, else its first heading, its
        title or its file. Raises `LoadError` for a book that is damaged, protected or too large.
        """
        book = _Book(raw)
        package_path = book.package_path()
        package = book.xml(package_path)
        folder = posixpath.dirname(package_path)
        manifest = {
            item.attributes.get("id", ""): item.attributes
            for item in package
            if item.name == "item"
        }
        labels = _labels(book, package, manifest, folder)
        builder = Builder()
        missing: list[str] = []
        done: set[str] = set()
        for entry in package:
            if entry.name != "itemref":
                continue
            wanted = entry.attributes.get("idref", "")
            item = manifest.get(wanted)
            path = _path(folder, item.get("href", "")) if item else ""
            if item is None or not path or path not in book.members:
                missing.append(item.get("href", "") or wanted if item else wanted)
                continue
            if path in done or not _is_page(item):
                continue
            done.add(path)
            html, _ = decode_html(book.read(path), f"{raw.name}, {path}")
            page = read_html(html, lines=False)
            label = labels.get(path) or page.first_heading or page.title
            builder.apart()
            with builder.part("chapter", label or posixpath.basename(path), file=path):
                page.write(builder)
        if not done:
            raise LoadError(
                f"{raw.name}: none of the {len(missing)} documents that {package_path} lists can "
                "be read; a book needs at least one; get the file again"
            )
        meta = _said(package)
        if missing:
            meta["missing"] = tuple(missing)
        return builder.document(
            uri=raw.uri, media_type="application/epub+zip", meta=MappingProxyType(meta)
        )


class _Book:
    """The archive, read within bounds."""

    def __init__(self, raw: Raw) -> None:
        self.name = raw.name
        self.read_so_far = 0
        try:
            self.archive = zipfile.ZipFile(io.BytesIO(raw.data))
            infos = self.archive.infolist()
        except _DAMAGE as fault:
            raise LoadError(
                f"{raw.name}: it is no whole ZIP archive ({fault}), as an EPUB is; "
                "get the file again"
            ) from None
        if len(infos) > _MOST_MEMBERS:
            raise LoadError(
                f"{raw.name}: it holds {len(infos)} files, more than the {_MOST_MEMBERS} that are "
                "read; take out what is no part of the book"
            )
        self.members = {
            info.filename: info for info in infos if info.filename[-1:] not in ("", "/")
        }

    def read(self, path: str, largest: int = _LARGEST_MEMBER) -> bytes:
        """The bytes of a member, refused before they are expanded where they are too many."""
        info = self.members.get(path)
        if info is None:
            raise LoadError(
                f"{self.name}: {shown(path)} is not in the archive, and an EPUB cannot be read "
                "without it; get the file again"
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise LoadError(
                f"{self.name}: {shown(path)} is compressed by method {info.compress_type}, and an "
                "EPUB may use only deflate; make the book again"
            )
        if info.file_size > largest:
            raise LoadError(
                f"{self.name}: {shown(path)} says it expands to {info.file_size:,} bytes, and such "
                f"a file of a book may have {largest:,}; split it, or extract its text first"
            )
        self.read_so_far += info.file_size
        if self.read_so_far > _LARGEST_BOOK:
            raise LoadError(
                f"{self.name}: with {shown(path)} its text expands to {self.read_so_far:,} bytes, "
                f"and a book may have {_LARGEST_BOOK:,}; split it, or extract its text first"
            )
        try:
            # The size may be a lie; asked for a number of bytes, zipfile expands no more.
            with self.archive.open(info) as member:
                return member.read(info.file_size + 1)
        except _DAMAGE as fault:
            raise LoadError(
                f"{self.name}: {shown(path)} cannot be expanded ({fault}): the archive is damaged "
                "or locked; get the file again, without a password"
            ) from None

    def xml(self, path: str) -> list[_Element]:
        """The elements of an XML member, in order of their starts."""
        found: list[_Element] = []
        collecting: list[_Element] = []
        open_: list[tuple[_Element, str]] = []

        def start(name: str, attributes: dict[str, str]) -> None:
            element = _Element(_local(name), {_local(k): v for k, v in attributes.items()})
            around = open_[-1][1] if open_ else ""
            element.inside = around
            if element.name == "nav":
                around = element.attributes.get("type", "nav")
            if element.name in _WANTED:
                found.append(element)
            open_.append((element, around))
            if element.name in _WITH_TEXT:
                collecting.append(element)

        def end(name: str) -> None:
            element, _ = open_.pop()
            if collecting and collecting[-1] is element:
                collecting.pop()
                element.text = " ".join("".join(element.pieces).split())

        def text(piece: str) -> None:
            if collecting:
                collecting[-1].pieces.append(piece)

        def refuse(name: str, *_: object) -> None:
            raise LoadError(
                f"{self.name}: {path} declares the XML entity {shown(name)}, which may expand "
                "without bound, and no book needs one; take the declaration out"
            )

        data = self.read(path, _LARGEST_LIST)
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = text
        parser.EntityDeclHandler = refuse
        try:
            parser.Parse(data, True)
        except (expat.ExpatError, ValueError, LookupError) as fault:
            raise LoadError(
                f"{self.name}: {path} is no well-formed XML ({fault}), as an EPUB needs; "
                "repair the book, or get the file again"
            ) from None
        return found

    def package_path(self) -> str:
        """Where the list of the book's files is; `LoadError` for a book that is protected."""
        root = next(
            (item for item in self.xml(_CONTAINER) if item.attributes.get("full-path")), None
        )
        if root is None:
            raise LoadError(
                f"{self.name}: {_CONTAINER} names no package file, as an EPUB needs; "
                "get the file again"
            )
        path = _path("", root.attributes["full-path"])
        if _PROTECTION in self.members:
            for item in self.xml(_PROTECTION):
                locked = _path("", item.attributes.get("URI", ""))
                if item.name == "CipherReference" and locked.lower().endswith(_PAGE_SUFFIXES):
                    raise LoadError(
                        f"{self.name}: {shown(locked)} is encrypted, and only books without copy "
                        "protection are read; get one without it"
                    )
        return path


_WITH_TEXT = frozenset(("title", "creator", "language", "text", "a"))
_WANTED = _WITH_TEXT | {"rootfile", "item", "itemref", "content", "CipherReference"}


def _local(name: str) -> str:
    return name.rsplit(" ", 1)[-1]


def _path(folder: str, href: str) -> str:
    """The name of a member that a file in ``folder`` points to; nothing for what is outside."""
    target = unquote(href.split("#", 1)[0])
    if not target or "://" in target:
        return ""
    path = posixpath.normpath(posixpath.join(folder, target))
    return "" if path.startswith(("/", "..")) else path


def _is_page(item: dict[str, str]) -> bool:
    kind = item.get("media-type", "").strip().lower()
    return kind in _PAGES or item.get("href", "").lower().endswith(_PAGE_SUFFIXES)


def _labels(
    book: _Book, package: list[_Element], manifest: dict[str, dict[str, str]], folder: str
) -> dict[str, str]:
    """What the table of contents calls each file; nothing where it cannot be read."""
    named = [
        item.get("href", "")
        for item in manifest.values()
        if "nav" in item.get("properties", "").split()
    ] + [
        item.get("href", "")
        for item in manifest.values()
        if item.get("media-type", "") == "application/x-dtbncx+xml"
    ]
    labels: dict[str, str] = {}
    for href in named:
        path = _path(folder, href)
        try:
            elements = book.xml(path) if path in book.members else []
        except LoadError:
            continue  # only the names of chapters are lost; the text is read with its own checks
        here, text = posixpath.dirname(path), ""
        for element in elements:
            target = ""
            if element.name == "text":
                text = element.text
            elif element.name == "content":
                target = element.attributes.get("src", "")
            elif element.name == "a" and element.inside == "toc":
                target, text = element.attributes.get("href", ""), element.text
            if target and text:
                labels.setdefault(_path(here, target), text)
    return labels


def _said(package: list[_Element]) -> dict[str, Any]:
    """Title, author and language, as the package says them."""
    meta: dict[str, Any] = {}
    for key, name in (("title", "title"), ("author", "creator"), ("language", "language")):
        said = [item.text for item in package if item.name == name and item.text]
        if said:
            meta[key] = ", ".join(said) if name == "creator" else said[0]
    return meta
