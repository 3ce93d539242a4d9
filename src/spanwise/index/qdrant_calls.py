"""Qdrant as a store calls it: collections, pages, filters, its faults told, and who reads now."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from spanwise.errors import StoreError
from spanwise.extras import require_extra
from spanwise.index.qdrant_points import label_of, written
from spanwise.index.rows import Scope
from spanwise.index.texts import bytes_of

__all__ = ["MEMORY", "QdrantCalls", "Snapshot", "scope_conditions"]

# The place of an index that is in memory only.
MEMORY = ":memory:"

# Points in one request: of those that are written, of those that are read whole, of bare ones.
_WRITTEN, _READ, _BARE = 100, 256, 4096

# Seconds that one request may take: an exact search reads every vector.
_PATIENCE = 60


class Snapshot:
    """What one reading has seen of documents, or would have seen: their payload by their ids."""

    __slots__ = ("documents",)

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {}


class _Shared:
    """What all stores that use one client in this process know of each other."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.snapshots: list[Snapshot] = []
        self.postponed: list[Callable[[], object]] = []
        self.running: set[str] = set()
        self.failed: set[str] = set()
        self.users = 0


_SHARED: WeakKeyDictionary[Any, _Shared] = WeakKeyDictionary()
_SHARING = threading.RLock()

# The client of each folder that is open: a folder has one, so stores of one process share it.
_FOLDERS: WeakValueDictionary[str, Any] = WeakValueDictionary()


class QdrantCalls:
    """The calls of one client. Threads and stores may share it; calls take turns."""

    def __init__(self, place: Any, prefix: str, *, read_only: bool) -> None:
        qdrant = require_extra("qdrant_client", "qdrant", "an index in Qdrant")
        exceptions = require_extra("qdrant_client.http.exceptions", "qdrant", "an index in Qdrant")
        grpc = require_extra("grpc", "qdrant", "an index in Qdrant")
        self.models = require_extra("qdrant_client.models", "qdrant", "an index in Qdrant")
        self.read_only = read_only
        self._api_fault, self._no_answer = (
            exceptions.ApiException,
            (exceptions.ResponseHandlingException),
        )
        self._call_fault = grpc.RpcError
        self.is_own = isinstance(place, str | Path)
        self.name = _name_of(place, prefix)
        self._closed = False
        with _SHARING, self._faults():
            self.client = self._made(qdrant, str(place)) if self.is_own else place
            self.shared = _SHARED.setdefault(self.client, _Shared())
            self.shared.users += self.is_own
        options = self.client.init_options
        self.is_local = options.get("location") == MEMORY or options.get("path") is not None
        self.prefix = prefix
        self.documents, self.passages = f"{prefix}_documents", f"{prefix}_passages"
        self.texts, self.words = f"{prefix}_texts", f"{prefix}_words"

    def _made(self, qdrant: Any, place: str) -> Any:
        if place == MEMORY:
            return qdrant.QdrantClient(location=MEMORY)
        if re.match("https?://", place):
            return qdrant.QdrantClient(url=place, timeout=_PATIENCE, check_compatibility=False)
        if self.read_only and not Path(place, "meta.json").is_file():
            raise self.absent()
        folder = os.path.realpath(place)
        client = _FOLDERS.get(folder)
        if client is None:
            client = _FOLDERS[folder] = qdrant.QdrantClient(path=place)
        return client

    def absent(self) -> StoreError:
        """There is no index, and none is to be made."""
        return StoreError(
            f"{self.name}: there is no such index; open it once without read_only to make it"
        )

    def close(self) -> None:
        """End the use of the client, and close one of our own."""
        with self.shared.lock, _SHARING:
            if self.is_own and not self._closed:
                self.shared.users -= 1
                if not self.shared.users:
                    for folder in [key for key, each in _FOLDERS.items() if each is self.client]:
                        del _FOLDERS[folder]
                    self.client.close()
            self._closed = True

    # --- calls ------------------------------------------------------------------------------

    def run(self, call: str, *values: Any, **named: Any) -> Any:
        """The answer of a method of the client."""
        if self._closed:
            raise StoreError(f"{self.name}: it is closed; open the index again")
        with self.shared.lock, self._faults():
            return getattr(self.client, call)(*values, **named)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """What the client raises, told as what to do."""
        try:
            yield
        except StoreError:
            raise
        except self._no_answer as fault:
            raise StoreError(
                f"{self.name}: it cannot be reached ({fault.source}); check that Qdrant runs there"
            ) from fault
        except (self._api_fault, self._call_fault) as fault:
            raise StoreError(
                f"{self.name}: Qdrant refused it ({fault}); check the address and the key"
            ) from fault
        except RuntimeError as fault:
            way_out = "open the index again"
            if "already accessed" in str(fault):
                way_out = "another client has the folder; share that client, or use a Qdrant server"
            raise StoreError(f"{self.name}: {fault}; {way_out}") from fault
        except OSError as fault:
            raise StoreError(f"{self.name}: {fault}; check the path and its permissions") from fault
        except (ValueError, KeyError, sqlite3.Error) as fault:
            raise StoreError(
                f"{self.name}: {fault}; it is damaged or no index: index anew into another place"
            ) from fault

    def get(
        self, collection: str, ids: Iterable[str], payload: Any = True, vectors: Any = False
    ) -> dict[str, Any]:
        """Points by their ids; those that are not there are left out."""
        found: dict[str, Any] = {}
        step = _READ if payload or vectors else _BARE
        wanted = list(dict.fromkeys(ids))
        for i in range(0, len(wanted), step):
            for point in self.run(
                "retrieve",
                collection,
                ids=wanted[i : i + step],
                with_payload=payload,
                with_vectors=vectors,
            ):
                found[point.id] = point
        return found

    def all(
        self, collection: str, conditions: Sequence[Any] = (), payload: Any = True
    ) -> Iterator[Any]:
        """All points that conditions fit, in order of their ids."""
        start = None
        while True:
            points, start = self.run(
                "scroll",
                collection,
                scroll_filter=self.filter(conditions),
                limit=_READ if payload is True else _BARE,
                offset=start,
                with_payload=payload,
                with_vectors=False,
            )
            yield from points
            if start is None:
                return

    def count(self, collection: str, conditions: Sequence[Any] = ()) -> int:
        """How many points conditions fit."""
        answer = self.run("count", collection, count_filter=self.filter(conditions), exact=True)
        found: int = answer.count
        return found

    def nearest(
        self,
        collection: str,
        query: Any,
        conditions: Sequence[Any],
        limit: int,
        start: int,
        *,
        payload: Any = False,
        using: str | None = None,
    ) -> list[Any]:
        """The points of the largest products with a vector, largest first; none is left out."""
        # The index of sparse vectors is exact anyhow, and so is the local mode, which would warn.
        exact = None
        if using is None and not self.is_local:
            exact = self.models.SearchParams(exact=True)
        points: list[Any] = self.run(
            "query_points",
            collection,
            query=query,
            using=using,
            query_filter=self.filter(conditions),
            search_params=exact,
            limit=limit,
            offset=start,
            with_payload=payload,
        ).points
        return points

    def put(self, collection: str, points: Iterable[tuple[str, Any, dict[str, Any]]]) -> None:
        """Write points: id, vectors, payload."""
        made = [
            self.models.PointStruct(id=point_id, vector=vector, payload=payload)
            for point_id, vector, payload in points
        ]
        for i in range(0, len(made), _WRITTEN):
            self.run("upsert", collection, points=made[i : i + _WRITTEN])

    def set(self, collection: str, ids: Sequence[str], payload: dict[str, Any]) -> None:
        """Set these keys of the payload of points that are there."""
        for i in range(0, len(ids), _READ):
            self.run("set_payload", collection, payload=payload, points=list(ids[i : i + _READ]))

    def drop(self, collection: str, ids: Sequence[str]) -> None:
        """Delete points; those that are gone are no fault."""
        if self.is_local:  # where older clients do not find those that are gone
            ids = [*self.get(collection, ids, False)]
        for i in range(0, len(ids), _BARE):
            selector = self.models.PointIdsList(points=list(ids[i : i + _BARE]))
            self.run("delete", collection, points_selector=selector)

    # --- filters ----------------------------------------------------------------------------

    def filter(self, conditions: Sequence[Any]) -> Any:
        """A filter that all conditions fit; None without any."""
        return self.models.Filter(must=list(conditions)) if conditions else None

    def equals(self, key: str, value: Any) -> Any:
        """That a payload has a value, or has it in a list."""
        models = self.models
        return models.FieldCondition(key=key, match=models.MatchValue(value=value))

    def is_any(self, key: str, values: Iterable[Any]) -> Any:
        """That a payload has any of some values."""
        models = self.models
        return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))

    def has_id(self, ids: Iterable[str]) -> Any:
        """That a point has one of some ids."""
        return self.models.HasIdCondition(has_id=list(ids))

    # --- collections ------------------------------------------------------------------------

    def space(self, fingerprint: str) -> str:
        """The collection of the vectors of an embedder."""
        hashed = blake2b(bytes_of(fingerprint), digest_size=16)
        return f"{self.prefix}_vectors_{hashed.hexdigest()}"

    def spaces(self) -> list[str]:
        """The collections of vectors that there are."""
        ours = re.compile(re.escape(self.prefix) + "_vectors_[0-9a-f]{32}")
        names = [each.name for each in self.run("get_collections").collections]
        return sorted(name for name in names if ours.fullmatch(name))

    def exists(self, collection: str) -> bool:
        """Whether there is a collection."""
        found: bool = self.run("collection_exists", collection)
        return found

    def make(self, collection: str, indexes: dict[str, Any], **how: Any) -> None:
        """Make a collection where there is none."""
        if not self.exists(collection):
            try:
                self.run("create_collection", collection, **({"vectors_config": {}} | how))
            except StoreError:  # another process may have made it meanwhile
                if not self.exists(collection):
                    raise
        if not self.is_local:  # where an index does nothing, and is warned of
            for key, schema in indexes.items():
                self.run("create_payload_index", collection, field_name=key, field_schema=schema)

    def make_all(self) -> None:
        """Make the collections of an index."""
        models = self.models
        number = models.IntegerIndexParams(
            type=models.IntegerIndexType.INTEGER, lookup=True, range=False
        )
        self.make(
            self.passages,
            {
                **dict.fromkeys(("namespace", "labels", "digest", "key"), "keyword"),
                "terms": number,
            },
            sparse_vectors_config={"words": models.SparseVectorParams()},
        )
        self.make(self.texts, {})
        self.make(self.words, {"heads": "keyword"})
        # The last one, since it is the one that is looked for.
        kept = dict.fromkeys(("kind", "namespace", "labels"), "keyword")
        self.make(self.documents, {**kept, "number": number})

    def make_space(self, fingerprint: str, dimensions: int) -> str:
        """Make the collection of an embedder's vectors; they are only ever searched exactly.

        Vectors have length 1, so that their product is the cosine, and stay as they were given.
        """
        models = self.models
        name = self.space(fingerprint)
        self.make(
            name,
            {},
            vectors_config=models.VectorParams(
                size=dimensions,
                distance=models.Distance.DOT,
                hnsw_config=models.HnswConfigDiff(m=0),
            ),
        )
        return name

    # --- who reads --------------------------------------------------------------------------

    def enter(self, snapshot: Snapshot) -> None:
        """A reading begins."""
        with self.shared.lock:
            self.shared.snapshots.append(snapshot)

    def leave(self, snapshot: Snapshot) -> None:
        """A reading ends; with the last one goes what was kept for it."""
        shared = self.shared
        with shared.lock:
            shared.snapshots.remove(snapshot)
            while shared.postponed and not shared.snapshots:
                # What cannot be deleted now is found and deleted by a later run.
                with suppress(StoreError):
                    shared.postponed.pop(0)()

    def hold(self, point_id: str, payload: Any, own: Snapshot | None) -> None:
        """A document is about to change: those who read see it as it was, but for the writer."""
        for snapshot in self.shared.snapshots:
            if snapshot is not own:
                snapshot.documents.setdefault(point_id, payload)
        if own is not None:
            own.documents.pop(point_id, None)

    def when_unread(self, work: Callable[[], object]) -> None:
        """Do what takes away from readers, now or when the last one ends."""
        if self.shared.snapshots:
            self.shared.postponed.append(work)
        else:
            work()


def scope_conditions(calls: QdrantCalls, scope: Scope) -> list[Any]:
    """The conditions of a scope, on a document or a passage."""
    return [
        calls.equals("namespace", written(scope.namespace)),
        *(
            calls.is_any("labels", [label_of(key, value) for value in wanted])
            for key, wanted in scope.where
        ),
    ]


def _name_of(place: Any, prefix: str) -> str:
    """What messages call an index: no key and no password is in it."""
    if not isinstance(place, str | Path):
        options = place.init_options
        given = [options.get(key) for key in ("path", "url", "location", "host")]
        place = next((each for each in given if each), "localhost")
    bare = re.sub("//[^/@]*@", "//", str(place))
    return f"{bare} ({json.dumps(prefix)})" if prefix != "spanwise" else bare
