"""Bundles: an index, or a namespace of one, as one file of JSON lines, and back.

The first line says what it is and how it was made; each further one is a document with its
passages, and their vectors as half-precision numbers in Base64. Each line ends with a digest of the
rest of it.
"""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

from spanwise.context import join_context
from spanwise.errors import OptionError, StoreError, shown
from spanwise.extras import require_extra
from spanwise.index.files import Selection
from spanwise.index.layout import document_of, pack_layout
from spanwise.index.making import Making, Recipe
from spanwise.index.matrix import half
from spanwise.index.recipes import read_ceiling, read_splitter
from spanwise.index.rows import ChunkRow, DocumentRow, Scope, chunk_of, digest_of
from spanwise.index.store import Store
from spanwise.metadata import plain

__all__ = ["read_bundle", "write_bundle"]

_FORMAT, _VERSION = "spanwise bundle", 2

# The first version whose lines have digests and whose header says whether there are stems.
_SEALED = 2
_DIGEST_BYTES = 16

_NO_BUNDLE = "{}: it is no bundle; export one with index.export_bundle"

# What a document is made of, as JSON has it; its chunks and vectors are looked at one by one.
_KINDS = {"uri": str, "media_type": str, "meta": dict, "changes": dict, "source": dict}

# What a passage is by its place, and cannot say of itself.
_PLACED = frozenset(("id", "doc_uri", "index", "start", "body", "end", "text", "boundary", "meta"))

_LISTED = (
    *("heading_path", "headings", "pages", "lines", "places"),
    *("speakers", "item_ids", "turns"),
)

# What a line raises that is not as it was written.
_DAMAGE = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError),
    *(RecursionError, zlib.error),
)


def write_bundle(store: Store, making: Making, path: Path, namespace: str) -> int:
    """Write the documents of a namespace; the file is there whole or not at all."""
    if not path.name or "\0" in str(path) or path.is_dir() or not path.parent.is_dir():
        raise StoreError(f"{path}: it is no name of a file in a folder that is there; give one")
    if path.exists() and not _is_bundle(path):
        raise StoreError(
            f"{path}: it is there and is no bundle, so it is not written over; give another "
            "path, or take it away first"
        )
    # Beside it, so that it can take its place at once; a name that no other file has.
    beside = path.with_name(f"{path.name}.{token_hex(4)}.part")
    count = 0
    try:
        with store.reading(), beside.open("x", encoding="ascii", newline="\n") as file:
            stored = store.documents(Scope(namespace))
            if not stored:
                raise StoreError(
                    f"{store.name}: the namespace {namespace!r} holds no documents to export"
                )
            made = {**making.recorded, **making.remade}
            header = {"format": _FORMAT, "version": _VERSION, **made}
            file.write(_sealed({**header, "documents": len(stored)}))
            for each in stored:
                if each.recipe != making.recorded_recipe:
                    raise StoreError(
                        f"{store.name}: {each.uri} was cut by other options; run rebuild first"
                    )
                row, chunks = store.whole(namespace, each.uri)
                file.write(_sealed(_written(store, making.space, row, chunks)))
                count += 1
        os.replace(beside, path)  # noqa: PTH105
    except OSError as fault:
        if isinstance(fault, StoreError):
            raise
        raise StoreError(f"{path}: it cannot be written ({fault.strerror}); check it") from None
    finally:
        with suppress(OSError):  # its name may be too long
            beside.unlink()
    return count


def _sealed(said: dict[str, Any]) -> str:
    """A line, with the digest of what it says."""
    return json.dumps({**said, "digest": _digest(said)}) + "\n"


def _digest(said: dict[str, Any]) -> str:
    return blake2b(json.dumps(said).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _opened(line: str) -> dict[str, Any]:
    """What a line says, which must be what was written."""
    said: dict[str, Any] = json.loads(line)
    if said.pop("digest") != _digest(said):
        raise ValueError("it is not as it was written")
    return said


def _is_bundle(path: Path) -> bool:
    """Whether a file begins as a bundle does."""
    try:
        with _open(path, "rb") as file:
            start: bytes = file.read(len(_FORMAT) + 20)
    except (OSError, ValueError):
        return False
    return _FORMAT.encode() in start


def _written(
    store: Store, space: str, row: DocumentRow, chunks: Sequence[ChunkRow]
) -> dict[str, Any]:
    document = row.document
    vectors = store.vectors(space, (each.digest for each in chunks)) if space else {}
    if space and len(vectors) < len({each.digest for each in chunks}):
        raise StoreError(
            f"{store.name}: passages of {row.uri} have no vector; run verify, and index it again"
        )
    return {
        "uri": row.uri,
        "media_type": document.media_type,
        "text": document.text,
        "meta": plain(document.meta),
        "changes": dict(row.changes),
        "source": dict(row.source),
        "layout": b64encode(pack_layout(document)).decode(),
        "chunks": [
            [each.name, each.start, each.body, each.end, each.boundary, json.loads(each.about)]
            for each in chunks
        ],
        "vectors": [
            b64encode(vectors[each.digest].astype("<f2").tobytes()).decode() for each in chunks
        ]
        if space
        else [],
    }


def read_bundle(store: Store, making: Making, path: Path, namespace: str) -> int:
    """Read a bundle: checked whole before anything of it is written, settings included.

    A new index is made as the bundle was, as far as nothing else was asked for.
    """
    with making.adopted(_remade(path)):
        recipe = making.recipe(True)
        uris = [row.uri for row, _, _ in _documents(store, making, recipe, path, namespace)]
        if len(set(uris)) < len(uris):
            raise StoreError(f"{path}: it holds two documents of one uri; export it again")
    making.recipe(False)
    for row, chunks, vectors in _documents(store, making, recipe, path, namespace):
        with store.writing():
            if recipe.space:
                store.put_vectors(recipe.space, [each.digest for each in chunks], vectors)
            # Where writing is no lock, another process may drop what no passage has yet.
            while store.put(row, chunks, recipe.space):
                store.put_vectors(recipe.space, [each.digest for each in chunks], vectors)
    return len(uris)


def _remade(path: Path) -> dict[str, str]:
    """How a bundle was made; nothing where that cannot be read, which is told later."""
    try:
        with _open(path, "r", "ascii") as file:
            header = json.loads(file.readline())
        made = {name: value for name, value in header.items() if isinstance(value, str)}
        read_splitter(made.get("splitter_made", ""))
        read_ceiling(made.get("ceiling", ""))
        _ = int(made.get("stems") or 0)
    except (OSError, *_DAMAGE):
        return {}
    return made


def _open(path: Path, mode: str, encoding: str | None = None) -> IO[Any]:
    """A bundle, which is read more than once; so a pipe is none, and is not waited for."""
    if path.exists() and not path.is_file():
        raise ValueError("it is no file")
    return path.open(mode, encoding=encoding)


def _documents(
    store: Store, making: Making, recipe: Recipe, path: Path, namespace: str
) -> Iterator[tuple[DocumentRow, list[ChunkRow], Any]]:
    """The documents of a bundle, each checked."""
    try:
        file = _open(path, "r", "ascii")
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise StoreError(f"{path}: it cannot be read ({reason}); check the path") from None
    with file:
        number = 0
        try:
            first = file.readline() or "{}"
            header = _header(json.loads(first), path, store, making, recipe)
            is_sealed = header["version"] >= _SEALED
            if is_sealed:
                _opened(first)
            for line in file:
                number += 1
                said = _opened(line) if is_sealed else json.loads(line)
                yield _read(said, namespace, recipe)
        except _DAMAGE as fault:
            if isinstance(fault, OptionError) and number == 0:
                raise
            if not _is_bundle(path):
                raise StoreError(_NO_BUNDLE.format(path)) from None
            raise StoreError(
                f"{path}: line {number + 1} is damaged ({type(fault).__name__}: {fault}); export "
                "it again"
            ) from None
        if number != header.get("documents"):
            raise StoreError(
                f"{path}: it holds {number} of {header.get('documents')} documents; export it again"
            )


def _header(
    header: Any, path: Path, store: Store, making: Making, recipe: Recipe
) -> dict[str, Any]:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise StoreError(_NO_BUNDLE.format(path))
    if header["version"] > _VERSION:
        raise StoreError(
            f"{path}: it has version {header['version']}, and this library reads up to {_VERSION}; "
            "install a newer spanwise"
        )
    made = {"splitter": recipe.splitter.fingerprint, "embedder": recipe.space}
    if header["version"] >= _SEALED:
        made["stems"] = making.stems
    for name, value in made.items():
        if header[name] != value:
            raise StoreError(
                f"{path}: it was made with {name} {header[name] or 'none'}, and {store.name} with "
                f"{value or 'none'}; import it into an index that is made as it was"
            )
    return header


def _read(
    said: dict[str, Any], namespace: str, recipe: Recipe
) -> tuple[DocumentRow, list[ChunkRow], Any]:
    document = document_of(
        said["text"], said["uri"], said["media_type"], said["meta"], b64decode(said["layout"])
    )
    if not document.uri:
        raise ValueError("a document has no uri")
    for name, kind in _KINDS.items():
        if not isinstance(said[name], kind):
            raise ValueError(f"{name} is {shown(said[name])}")
    if "root" in said["source"]:
        Selection.from_dict(said["source"])
    text = document.text
    chunks: list[ChunkRow] = []
    names: set[str] = set()
    last_start, last_end = -1, 0
    for name, start, body, end, boundary, about in said["chunks"]:
        if not isinstance(name, str) or not isinstance(boundary, str):
            raise ValueError(f"passage {shown(name)} has no name or no boundary")
        if not {*map(type, (start, body, end))} == {int} or not (
            last_start < start <= body < end <= len(text) and body >= last_end
        ):
            raise ValueError(f"passage {name} is outside the text or out of order")
        last_start, last_end = start, end
        if name in names:
            raise ValueError(f"two passages are called {name}")
        names.add(name)
        if (
            _PLACED.intersection(about)
            or not isinstance(about.get("context", ""), str)
            or not all(isinstance(about.get(key, []), list) for key in _LISTED)
        ):
            raise ValueError(f"passage {name} says of itself {shown(about)}")
        written = json.dumps(about, separators=(",", ":"))
        digest = digest_of(join_context(about.get("context", ""), text[start:end]))
        row = ChunkRow(name, start, body, end, boundary, digest, written)
        # Raises where it could not be shown once it is found.
        _ = chunk_of(row, text[start:end], document.uri, len(chunks), {}).citation
        chunks.append(row)
    vectors = None
    if recipe.space:
        numpy = require_extra("numpy", "index", "a bundle with vectors")
        dimensions = int(recipe.space.rpartition("@")[2])
        raw = [b64decode(each) for each in said["vectors"]]
        if len(raw) != len(chunks) or any(len(each) != 2 * dimensions for each in raw):
            raise ValueError("it has not one vector of the right length a passage")
        vectors = half(numpy, b"".join(raw), dimensions)
        if not numpy.isfinite(vectors).all():
            raise ValueError("a vector holds what is no number")
    read = DocumentRow(
        namespace=namespace,
        document=document,
        recipe=recipe.fingerprint,
        source=said["source"],
        changes=said["changes"],
    )
    return read, chunks, vectors
