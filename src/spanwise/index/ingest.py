"""A run: documents are loaded, cut, embedded where needed, and written, each all at once."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spanwise.chunks import join_context
from spanwise.documents import Document
from spanwise.errors import CeilingWarning, OptionError
from spanwise.index.embedding import Answer, Embedding
from spanwise.index.making import Recipe
from spanwise.index.reports import Failure, IndexReport, Progress, Watch
from spanwise.index.rows import ChunkRow, DocumentRow, StoredDocument, plain, rows_of
from spanwise.index.store import Store

__all__ = ["Run"]


@dataclass(slots=True)
class _Pending:
    """A document that is cut and waits for vectors."""

    row: DocumentRow
    chunks: list[ChunkRow]
    missing: set[bytes]
    kind: str
    is_known: bool


class Run:
    """One run over documents. Give each to `add`, then ask for the `report`.

    ``embedding`` is None for an index of words alone and for a dry run.
    """

    def __init__(
        self,
        store: Store,
        namespace: str,
        recipe: Recipe,
        embedding: Embedding | None,
        *,
        total: int = 0,
        watch: Watch | None = None,
        dry_run: bool = False,
    ) -> None:
        self._store = store
        self._namespace = namespace
        self._recipe = recipe
        self._embedding = embedding
        self._watch = watch
        self._dry_run = dry_run
        self._begun = time.monotonic()
        self._pending: deque[_Pending] = deque()
        self._asked: set[bytes] = set()
        self._lost: dict[bytes, str] = {}
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._done = 0
        self.total = total
        self.failed: list[Failure] = []
        self.clipped: list[str] = []
        self.removed: list[str] = []
        self.notes: list[str] = []

    # --- documents --------------------------------------------------------------------------

    def known(self, uri: str) -> StoredDocument | None:
        """What the index knows of a document."""
        return self._store.document(self._namespace, uri)

    def is_cut(self, known: StoredDocument) -> bool:
        """Whether a document is cut and embedded by the recipe of this run."""
        return known.recipe == self._recipe.fingerprint

    def keep(self, uri: str, source: Mapping[str, Any] | None = None) -> None:
        """A document is as it was; note what its file is like now."""
        if source is not None and not self._dry_run:
            self._store.note_source(self._namespace, uri, source)
        self._counts["unchanged"] += 1
        self._tell(uri)

    def fail(self, uri: str, reason: object) -> None:
        """A document could not be indexed."""
        stale = self.known(uri) is not None
        self.failed.append(Failure(uri, str(reason), stale))
        self._tell(uri)

    def add(
        self,
        uri: str,
        load: Callable[[], Document],
        source: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Load a document, cut it and write it; or note why not.

        A fault of one document ends no run. An `OptionError` is no fault of a document.
        """
        known = self.known(uri)
        try:
            document = load()
            if metadata:
                document = replace(document, meta={**document.meta, **metadata})
            self._counts["loaded"] += 1
            if known and self.is_cut(known) and _is_same(document, known):
                self.keep(uri, source)
                return
            chunks = rows_of(self._recipe.splitter.split(document))
        except OptionError:
            raise
        except Exception as fault:
            self.fail(uri, fault if str(fault) else type(fault).__name__)
            return
        row = DocumentRow(
            namespace=self._namespace,
            document=document,
            recipe=self._recipe.fingerprint,
            source={} if source is None else source,
            changes={} if known is None else known.changes,
        )
        kind = "added"
        if known is not None:
            kind = "changed" if self.is_cut(known) or not _is_same(document, known) else "recut"
        self._enter(row, chunks, kind)
        self._tell(uri)

    def recut(self, known: StoredDocument) -> None:
        """Cut and embed a document of the index by this recipe, from what was last loaded."""
        row, _ = self._store.whole(self._namespace, known.uri)
        try:
            chunks = rows_of(self._recipe.splitter.split(row.document))
        except OptionError:
            raise
        except Exception as fault:
            self.fail(known.uri, fault if str(fault) else type(fault).__name__)
            return
        self._enter(replace(row, recipe=self._recipe.fingerprint), chunks, "recut")
        self._tell(known.uri)

    def recut_rest(self, stored: Iterable[StoredDocument], done: Collection[str]) -> None:
        """Cut anew the documents that another recipe cut, but for those that are done."""
        for known in stored:
            if known.uri not in done and not self.is_cut(known):
                self.recut(known)

    def remove(self, uris: Iterable[str]) -> None:
        """Take documents out."""
        gone = sorted(uris)
        self.removed += gone
        if not self._dry_run:
            self._store.remove(self._namespace, gone)

    def report(self) -> IndexReport:
        """What the run did, when all that waited is written."""
        if self._embedding is not None:
            for answer in self._embedding.finish():
                self._take(answer)
        self._settle()
        if not self._dry_run and self._recipe.space and not self._lost:
            self._store.drop_vectors(self._recipe.space)
        if self.clipped:
            warnings.warn(
                f"{len(self.clipped):,} passages are longer than {self._recipe.ceiling}, which is "
                "what the embedder reads: the rest of each is not found by meaning; leave the "
                "splitter's max_size to the index, or choose an embedder that reads more",
                CeilingWarning,
                stacklevel=4,
            )
        return IndexReport(
            discovered=self.total,
            **self._counts,
            removed=tuple(self.removed),
            failed=tuple(sorted(self.failed, key=lambda each: each.uri)),
            clipped=tuple(self.clipped),
            splitter=self._recipe.splitter.fingerprint,
            embedder=self._recipe.space,
            notes=tuple(self.notes),
            seconds=time.monotonic() - self._begun,
            dry_run=self._dry_run,
        )

    # --- the way of a document --------------------------------------------------------------

    def _enter(self, row: DocumentRow, chunks: list[ChunkRow], kind: str) -> None:
        """Ask for the vectors a document lacks, and write what is complete."""
        missing: set[bytes] = set()
        if self._recipe.space:
            missing = self._store.missing(self._recipe.space, (each.digest for each in chunks))
        fresh = missing - self._asked
        self._counts["chunks"] += len(chunks)
        self._counts["embedded"] += len(fresh)
        self._counts["reused"] += len(chunks) - len(fresh) if self._recipe.space else 0
        pending = _Pending(row, chunks, missing, kind, kind != "added")
        self._pending.append(pending)
        self._ask(pending, fresh)
        self._settle()

    def _ask(self, pending: _Pending, digests: set[bytes]) -> None:
        """Ask for the vectors of some of a document's passages, in their order."""
        text = pending.row.document.text
        wanted = set(digests)
        for chunk in pending.chunks:
            if chunk.digest not in wanted:
                continue
            wanted.discard(chunk.digest)
            self._asked.add(chunk.digest)
            whole = join_context(chunk.context, text[chunk.start : chunk.end])
            ceiling = self._recipe.ceiling
            if ceiling is not None and not ceiling.allows(whole):
                self.clipped.append(f"{pending.row.uri}#{chunk.name}")
            if self._embedding is not None:
                for answer in self._embedding.ask(chunk.digest, whole):
                    self._take(answer)

    def _take(self, answer: Answer) -> None:
        """Keep the vectors of an answer at once, so that a kill does not lose them."""
        if answer.reason:
            self._lost.update(dict.fromkeys(answer.digests, answer.reason))
        else:
            self._store.put_vectors(self._recipe.space, answer.digests, answer.vectors)
        self._asked.difference_update(answer.digests)

    def _settle(self) -> None:
        """Write the documents at the front whose vectors are all there."""
        while self._pending and (self._dry_run or self._asked.isdisjoint(self._pending[0].missing)):
            self._write(self._pending.popleft())

    def _write(self, pending: _Pending) -> None:
        uri = pending.row.uri
        lost = [digest for digest in pending.missing if digest in self._lost]
        if lost:
            self.failed.append(Failure(uri, self._lost[lost[0]], pending.is_known))
            return
        if not self._dry_run:
            missing = self._store.put(pending.row, pending.chunks, self._recipe.space)
            if missing:  # another process dropped them meanwhile, as no passage had them yet
                pending.missing = missing
                self._pending.appendleft(pending)
                self._ask(pending, missing)
                return
        self._counts[pending.kind] += 1

    def _tell(self, uri: str) -> None:
        self._done += 1
        if self._watch is not None:
            self._watch(Progress(self._done, self.total, uri, self._counts["embedded"]))


_COUNTS = ("added", "changed", "unchanged", "recut", "loaded", "chunks", "embedded", "reused")


def _is_same(document: Document, known: StoredDocument) -> bool:
    """Whether a document is the one that the index has."""
    return document.content_hash == known.content_hash and plain(document.meta) == known.meta
