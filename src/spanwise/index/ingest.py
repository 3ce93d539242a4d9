"""A run: documents are loaded, cut, embedded where needed, and written, each all at once."""

from __future__ import annotations

import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from spanwise.context import join_context
from spanwise.documents import Document
from spanwise.errors import CeilingWarning, OptionError, StoreError
from spanwise.index.embedding import Answer, Embedding
from spanwise.index.layout import pack_layout
from spanwise.index.making import Recipe
from spanwise.index.reports import Failure, IndexReport, Progress, Watch
from spanwise.index.rows import ChunkRow, DocumentRow, StoredDocument, rows_of
from spanwise.index.store import Store
from spanwise.metadata import plain

__all__ = ["Run"]


# What is ready is written when it is so many vectors and passages, or so many seconds have passed:
# more often is slower, less often loses more to a kill.
_GROUP, _SECONDS = 10_000, 1.0


@dataclass(slots=True)
class _Pending:
    """A document that is cut and waits for vectors."""

    row: DocumentRow
    chunks: list[ChunkRow]
    missing: set[bytes]
    fresh: set[bytes]
    kind: str


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
        self._ready: list[_Pending] = []
        self._answers: list[Answer] = []
        self._gathered = 0
        self._flushed = time.monotonic()
        self._again: list[tuple[_Pending, set[bytes]]] = []
        self._asked: set[bytes] = set()
        self._entered: set[str] = set()
        self._lost: dict[bytes, str] = {}
        self._has_lost = False
        self._counts = dict.fromkeys(_COUNTS, 0)
        self._done = 0
        self.total = 0
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
        self._entered.add(uri)
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
        load: Callable[[], tuple[Document, Mapping[str, Any]]],
        metadata: Mapping[str, Any] | None = None,
        again: bool = False,
    ) -> None:
        """Load a document, cut it and write it with what is noted of its file; or note why not.

        One that is as it was is left alone, but for ``again``. A fault of one document ends no
        run. An `OptionError` is no fault of a document.
        """
        known = self.known(uri)
        try:
            document, source = load()
            document = replace(document, meta=plain({**document.meta, **(metadata or {})}))
            self._counts["loaded"] += 1
            same = known is not None and self._is_same(document, known)
            # What came before under the same name in this run may not be written yet.
            again = again or uri in self._entered
            if known and same and not again and self.is_cut(known):
                self.keep(uri, None if source == known.source else source)
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
            source=source,
        )
        kind = "added"
        if known is not None or uri in self._entered:
            kind = "recut" if same else "changed"
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

    def recut_rest(self, stored: Iterable[StoredDocument]) -> None:
        """Cut anew what another recipe cut, from what is stored; also what could not be loaded."""
        done = self._entered.union(self.removed)
        for known in stored:
            if known.uri not in done and not self.is_cut(known):
                self.recut(known)

    def remove(self, uris: Iterable[str]) -> None:
        """Take documents out."""
        gone = sorted(uris)
        self.removed += gone
        if gone and not self._dry_run:
            with self._store.writing():
                self._store.remove(self._namespace, gone)

    def report(self) -> IndexReport:
        """What the run did, when all that waited is written."""
        self._finish()
        while self._again:
            again, self._again = self._again, []
            for pending, missing in again:
                pending.missing = missing
                pending.fresh |= missing
                self._pending.append(pending)
                self._ask(pending, missing)
            self._finish()
        made = self._store.settings().get("embedder", "")
        # Vectors of documents that failed are kept for their next time. Where another process made
        # the index anew meanwhile, its vectors are those to keep.
        if not self._dry_run and not self._has_lost and made == self._recipe.space:
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
            failed=tuple(sorted(map(self._told, self.failed), key=lambda each: each.uri)),
            clipped=tuple(self.clipped),
            splitter=self._recipe.splitter.fingerprint,
            embedder=self._recipe.space,
            notes=tuple(self.notes),
            seconds=time.monotonic() - self._begun,
            dry_run=self._dry_run,
        )

    def _told(self, failure: Failure) -> Failure:
        """A failure as it is when the run is over."""
        gone = failure.stale and failure.uri in self.removed
        return replace(failure, stale=False) if gone else failure

    # --- the way of a document --------------------------------------------------------------

    def _enter(self, row: DocumentRow, chunks: list[ChunkRow], kind: str) -> None:
        """Ask for the vectors a document lacks, and write what is complete."""
        missing: set[bytes] = set()
        if self._recipe.space:
            missing = self._store.missing(self._recipe.space, (each.digest for each in chunks))
        fresh = missing.difference(self._asked, *(each.digests for each in self._answers))
        if self._dry_run:
            self._counts["embedded"] += len(fresh)
        self._entered.add(row.uri)
        pending = _Pending(row, chunks, missing, fresh, kind)
        self._pending.append(pending)
        self._ask(pending, fresh)
        self._settle()

    def _finish(self) -> None:
        """Wait for all vectors that were asked for, and write what waited for them."""
        if self._embedding is not None:
            for answer in self._embedding.finish():
                self._take(answer)
        self._settle()
        self.flush()

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
        """Take in the vectors of an answer."""
        if answer.reason:
            self._lost.update(dict.fromkeys(answer.digests, answer.reason))
            self._has_lost = True
        else:
            for digest in answer.digests:  # it may have failed for a document before
                self._lost.pop(digest, None)
            self._answers.append(answer)
            self._counts["embedded"] += len(answer.digests)
        self._asked.difference_update(answer.digests)
        self._gathered += len(answer.digests)
        self._flush_in_time()

    def _settle(self) -> None:
        """Write the documents at the front whose vectors are all there."""
        while self._pending and (self._dry_run or self._asked.isdisjoint(self._pending[0].missing)):
            self._write(self._pending.popleft())

    def _write(self, pending: _Pending) -> None:
        uri = pending.row.uri
        lost = [digest for digest in pending.missing if digest in self._lost]
        if lost:
            stale = self.known(uri) is not None
            self.failed.append(Failure(uri, self._lost[lost[0]], stale))
            return
        self._ready.append(pending)
        self._gathered += len(pending.chunks) + 1
        self._flush_in_time()

    def _flush_in_time(self) -> None:
        """Write when there is much to write, or something to lose."""
        if self._gathered >= _GROUP or time.monotonic() - self._flushed > _SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write the vectors and documents that are ready, together: each write has its price."""
        ready, self._ready = self._ready, []
        answers, self._answers = self._answers, []
        self._gathered, self._flushed = 0, time.monotonic()
        if not ready and not answers:
            return
        with nullcontext() if self._dry_run else self._store.writing():
            for answer in answers:
                self._store.put_vectors(self._recipe.space, answer.digests, answer.vectors)
            for pending in ready:
                missing = self._put(pending)
                if missing:  # another process dropped them meanwhile, as no passage had them yet
                    self._again.append((pending, missing))
                    continue
                self._counts[pending.kind] += 1
                self._counts["chunks"] += len(pending.chunks)
                if self._recipe.space:
                    self._counts["reused"] += len(pending.chunks) - len(pending.fresh)

    def _put(self, pending: _Pending) -> set[bytes]:
        """Write a document; the digests that lack a vector where it could not be written."""
        if self._dry_run:
            return set()
        # Read now: they may have been laid over while it waited for vectors.
        known = self.known(pending.row.uri)
        row = replace(pending.row, changes={} if known is None else known.changes)
        return self._store.put(row, pending.chunks, self._recipe.space)

    def _is_same(self, document: Document, known: StoredDocument) -> bool:
        """Whether a document is the one that the index has, its parts and headings too."""
        if (document.content_hash, document.media_type) != (known.content_hash, known.media_type):
            return False
        try:
            row, _ = self._store.whole(self._namespace, known.uri)
        except StoreError:  # another process took it out meanwhile
            return False
        return document.meta == known.meta and pack_layout(document) == pack_layout(row.document)

    def _tell(self, uri: str) -> None:
        self._done += 1
        if self._watch is not None:
            total = max(self.total, self._done)  # cutting anew what was not asked for is on top
            self._watch(Progress(self._done, total, uri, self._counts["embedded"]))


_COUNTS = ("added", "changed", "unchanged", "recut", "loaded", "chunks", "embedded", "reused")
