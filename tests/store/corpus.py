"""What the tests of the index share: a counting embedder, an index told whole, a fresh build."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import shake_256
from pathlib import Path
from typing import Any

import numpy

from spanwise import Document
from spanwise.embedders.base import Embedder
from spanwise.embedders.function import FunctionEmbedder
from spanwise.index import Index, SqliteStore
from spanwise.splitters.base import Splitter

# Words of one document, of many, of none; a phrase, a beginning, an accent, letters without spaces.
QUERIES = (
    *("refund", "refunds are paid", '"the late fee"', "pay*", "creme", "東京", "zzz", "a"),
    *("Terms", "the café in 東京都 pays refunds to Zoë", "Ünder*", "payi* paid*", "refun* term*"),
)


class Counting:
    """Vectors from a hash of the text. It notes what it embeds, and fails when it is told to."""

    def __init__(self, name: str = "hash", dimensions: int = 16) -> None:
        self.name = name
        self.dimensions = dimensions
        self.embedded: list[str] = []
        self.calls = 0
        self.poison = ""
        self.failing: frozenset[int] = frozenset()

    def __call__(self, texts: Sequence[str]) -> Any:
        self.calls += 1
        if self.calls in self.failing:
            raise ConnectionError("the line is dead")
        if self.poison and any(self.poison in text for text in texts):
            raise ValueError(f"it cannot take {self.poison!r}")
        self.embedded += texts
        return numpy.array([self.vector(text) for text in texts])

    def vector(self, text: str) -> Any:
        """The numbers of a text."""
        seed = f"{self.name}\0{text}".encode("utf-8", "surrogatepass")
        raw = numpy.frombuffer(shake_256(seed).digest(self.dimensions), dtype=numpy.uint8)
        return raw.astype(numpy.float32) - 127.5

    @property
    def embedder(self) -> FunctionEmbedder:
        """As an index takes it."""
        return FunctionEmbedder(self, id=self.name, dimensions=self.dimensions)

    def begin(self) -> None:
        """Forget what was embedded so far."""
        self.embedded, self.calls = [], 0


@dataclass(frozen=True)
class Known:
    """What a plain model knows of a document: as it was last loaded, and how it was cut."""

    document: Document
    changes: Mapping[str, Any] = field(default_factory=dict)
    owner: tuple[Any, ...] | None = None
    recipe: Any = None
    strings: frozenset[str] = frozenset()


def told(index: Index, namespace: str = "") -> dict[str, Any]:
    """Everything that an index says of the documents of a namespace."""
    found = {}
    with index._store.reading():
        for each in index.documents(namespace=namespace):
            document = index.document(each.uri, namespace=namespace)
            chunks = index.chunks(each.uri, namespace=namespace)
            _, rows = index._store.whole(namespace, each.uri)
            space = index._making.space
            vectors = index._store.vectors(space, [row.digest for row in rows]) if space else {}
            assert each.chunks == len(chunks)
            assert each.characters == len(document.text)
            assert each.content_hash == document.content_hash
            for chunk in chunks:
                assert document.text[chunk.start : chunk.end] == chunk.text
            found[each.uri] = {
                "document": document,
                "own": dict(each.meta),
                "changes": dict(each.changes),
                "chunks": chunks,
                "rows": rows,
                "vectors": [bytes(vectors.get(row.digest, b"")) for row in rows] if space else [],
            }
    return found


def fresh(
    documents: Mapping[str, Mapping[str, Known]],
    *,
    splitter: Splitter,
    embedder: Embedder | None,
    stems: bool,
) -> Index:
    """An empty index into which these documents were put, by namespace and uri."""
    index = Index(
        SqliteStore(":memory:"),
        splitter=splitter,
        embedder="none" if embedder is None else embedder,
        stems=stems,
    )
    for namespace, known in documents.items():
        index.add([known[uri].document for uri in sorted(known)], namespace=namespace)
        for uri, each in known.items():
            if each.changes:
                index._store.change_metadata(namespace, uri, each.changes)
    return index


def damage(index: Index) -> list[str]:
    """What a check finds inside."""
    found = index.verify(files=False).differences
    return [f"{each.uri}: {each.what}" for each in found if each.kind == "damage"]


def found(index: Index, query: str, mode: str, namespace: str = "") -> dict[str, float]:
    """The score of each passage that is found, by its id."""
    hits = index.search(query, mode=mode, namespace=namespace, limit=400, fold=False)
    return {hit.chunk.id: hit.score for hit in hits}


def assert_equal(
    index: Index, other: Index, namespaces: Iterable[str], queries: Iterable[str] = QUERIES
) -> None:
    """Two indexes hold the same and find the same."""
    assert index._store.namespaces() == other._store.namespaces()
    modes = ("words", "meaning", "both") if index._making.space else ("words",)
    queries = list(queries)
    for namespace in namespaces:
        mine, theirs = told(index, namespace), told(other, namespace)
        assert list(mine) == list(theirs)
        for uri in mine:
            assert mine[uri] == theirs[uri], uri
        for mode in modes:
            for query in queries:
                one = found(index, query, mode, namespace)
                two = found(other, query, mode, namespace)
                assert set(one) == set(two), (mode, query)
                # Sums of single precision end otherwise for another row of a table.
                slack = 1e-9 if mode == "words" else 1e-5
                assert all(abs(one[key] - two[key]) < slack for key in one), (mode, query)


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Have these files, and the folders they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
