"""What goes into a store and comes out of it: documents, passages, places, filters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from spanwise.chunks import Chunk, Chunks
from spanwise.context import join_context
from spanwise.documents import Document
from spanwise.errors import OptionError, shown
from spanwise.index.texts import bytes_of
from spanwise.index.unsearched import Unsearched

__all__ = [
    "ChunkRow",
    "DocumentRow",
    "Found",
    "Passage",
    "Scope",
    "StoredDocument",
    "canonical",
    "checksum_of",
    "chunk_of",
    "digest_of",
    "labels_of",
    "merged",
    "recipe_of",
    "rows_of",
    "scope_of",
    "space_of",
]

# Two strings share a digest of 16 bytes by chance only among some 10 ** 19.
_DIGEST_BYTES = 16

_written = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A document of an index, and how it was read and cut.

    ``source`` says where its file is and what it was like; empty for one that was given.
    ``recipe`` names everything that decides its passages. ``changes`` are what
    `update_metadata` laid over ``document.meta``.
    """

    namespace: str
    document: Document
    recipe: str
    source: Mapping[str, Any] = field(default_factory=dict)
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """What the document is called."""
        return self.document.uri

    @property
    def metadata(self) -> dict[str, Any]:
        """Its own metadata with the changes laid over."""
        return merged(self.document.meta, self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """What an index knows of a document, without its text.

    ``chunks`` and ``characters`` count its passages and code points; ``content_hash`` is that of
    its text. ``changes`` are laid over its own ``meta``. ``recipe`` and ``source`` say how it was
    cut and what its file was like.
    """

    namespace: str
    uri: str
    media_type: str
    characters: int
    chunks: int
    content_hash: str
    meta: Mapping[str, Any] = field(hash=False)
    changes: Mapping[str, Any] = field(hash=False)
    recipe: str = field(repr=False)
    source: Mapping[str, Any] = field(hash=False, repr=False)

    @property
    def metadata(self) -> dict[str, Any]:
        """Its own metadata with the changes laid over."""
        return merged(self.meta, self.changes)


class ChunkRow(NamedTuple):
    """A passage as integers into its document's text.

    ``digest`` is that of the exact string that is embedded; ``about`` is JSON.
    """

    name: str
    start: int
    body: int
    end: int
    boundary: str
    digest: bytes
    about: str

    @property
    def context(self) -> str:
        """The context that was embedded and indexed with the passage."""
        if '"context":' not in self.about:
            return ""
        said: str = json.loads(self.about).get("context", "")
        return said


class Found(NamedTuple):
    """A passage in a list of results: its key in the store, its document's, its number there.

    ``of`` is how many passages its document has; 0 where that is not known.
    """

    chunk: int
    document: int
    position: int
    score: float
    of: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is shown, with what it belongs to."""

    key: int
    document: int
    namespace: str
    digest: bytes
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Scope:
    """Which documents may be found: those of a namespace whose metadata fit.

    ``where`` holds for each key the values of which one must be there, in canonical form.
    """

    namespace: str
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()


def scope_of(namespace: str, where: Mapping[str, Any] | None) -> Scope:
    """The scope of a filter: a value must be equal, of a list any must be; an empty one is none.

    Raises `OptionError` for what is no mapping of plain values.
    """
    if not isinstance(namespace, str):
        raise OptionError(f"namespace={shown(namespace)} is no string; give a name")
    if where is None:
        return Scope(namespace)
    if not isinstance(where, Mapping) or not all(isinstance(key, str) for key in where):
        raise OptionError(
            f"where={shown(where)} is no mapping from names to values; give for example "
            "{'team': ['support', 'sales']}"
        )
    found = []
    for key, value in sorted(where.items()):
        many = value if isinstance(value, list | tuple | set | frozenset) else [value]
        found.append((key, tuple(sorted({canonical(key, each) for each in many}))))
    return Scope(namespace, tuple(found))


def canonical(key: str, value: object) -> str:
    """A plain value as text, one for values that are equal."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is not None and not isinstance(value, str | bool | int | float):
        raise OptionError(
            f"where[{key!r}] holds {shown(value)}, which is no string, number, boolean or None; "
            "compare with plain values"
        )
    return json.dumps(value)


def labels_of(metadata: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The pairs of metadata that filters compare: plain values, and those in lists."""
    pairs = [
        (key, canonical(key, each))
        for key, value in metadata.items()
        for each in (value if isinstance(value, list | tuple) else [value])
        if each is None or isinstance(each, str | bool | int | float)
    ]
    return [*dict.fromkeys(pairs)]


def merged(metadata: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata with changes laid over it; None takes a key away."""
    return {
        key: value
        for key, value in {**metadata, **changes}.items()
        if changes.get(key, 0) is not None
    }


def recipe_of(settings: Mapping[str, str]) -> str:
    """What decides the passages and vectors of a document, by the settings of an index.

    ``made`` counts how often they were changed: documents that kept those of before have lost
    their vectors, so they are cut anew when the same come back.
    """
    return json.dumps([settings.get(name, "") for name in ("splitter", "embedder", "made")])


def space_of(recipe: str) -> str:
    """The embedder's fingerprint in what `recipe_of` made; empty in anything else."""
    try:
        return str(json.loads(recipe)[1])
    except (ValueError, TypeError, IndexError, KeyError):
        return ""


def checksum_of(
    media_type: str, recipe: str, meta: str, layout: bytes, chunks: Sequence[ChunkRow]
) -> bytes:
    """What tells whether what is stored beside a document's text is what was written."""
    rows = [(*each[:5], each.digest.hex(), each.about) for each in chunks]
    said = json.dumps([media_type, recipe, meta, layout.hex(), rows])
    return blake2b(said.encode(), digest_size=_DIGEST_BYTES).digest()


def digest_of(text: str) -> bytes:
    """The digest of a string that is embedded."""
    return blake2b(bytes_of(text), digest_size=_DIGEST_BYTES).digest()


def rows_of(chunks: Chunks) -> list[ChunkRow]:
    """The rows of a document's passages, but for those that nobody searches."""
    document = chunks.document
    unsearched = Unsearched(document)
    text, named = document.text, len(document.uri) + 1
    places = zip(
        chunks.ids, chunks.starts, chunks.bodies, chunks.ends, chunks.boundaries, strict=True
    )
    rows = []
    for i, (name, start, body, end, boundary) in enumerate(places):
        if unsearched and unsearched.holds(body, end):
            continue
        said = chunks.told(i)
        if "turns" in said:
            said["turns"] = [asdict(turn) for turn in said["turns"]]
        digest = digest_of(join_context(said.get("context", ""), text[start:end]))
        rows.append(ChunkRow(name[named:], start, body, end, boundary, digest, _written(said)))
    return rows


def chunk_of(row: ChunkRow, text: str, uri: str, index: int, metadata: Mapping[str, Any]) -> Chunk:
    """The passage of a row; ``text`` is the document's from its start to its end."""
    place = {"start": row.start, "body": row.body, "end": row.end, "index": index, "lines": []}
    own = {"id": f"{uri}#{row.name}", "doc_uri": uri, "text": text, "boundary": row.boundary}
    return Chunk.from_dict({**place, **own, "meta": metadata, **json.loads(row.about)})
