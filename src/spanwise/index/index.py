"""Index: documents kept so that they are found, by words and by meaning, and never stale."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from spanwise.chunks import Chunk
from spanwise.cutting.caps import Cap
from spanwise.documents import Document
from spanwise.embedders.base import Embedder
from spanwise.errors import LoadError, OptionError, StoreError, require, shown
from spanwise.extras import require_extra
from spanwise.index.bundle import read_bundle, write_bundle
from spanwise.index.embedding import Embedding, unit_vectors
from spanwise.index.files import FileState, FolderRun, Selection
from spanwise.index.fusion import best, by_score, fused, mixed
from spanwise.index.hits import Hits
from spanwise.index.ingest import Run
from spanwise.index.making import Making
from spanwise.index.queries import read_query
from spanwise.index.reports import IndexReport, VerifyReport, Watch
from spanwise.index.rows import Scope, StoredDocument, chunk_of, merged, scope_of
from spanwise.index.search import choose_hits
from spanwise.index.sqlite_file import MEMORY
from spanwise.index.sqlite_store import SqliteStore
from spanwise.index.store import Store
from spanwise.index.verify import verify
from spanwise.index.wishes import MIX, RERANK_DEPTH, Rerank, wishes_of
from spanwise.metadata import plain
from spanwise.splitters.base import Splitter

__all__ = ["Index"]

# Where repeats take all places, so many times more passages are looked at, once or up to so many.
_DEEPER, _DEEPEST = 8, 10_000

# Among how many passages found by words their neighbours are looked for; benchmarks/quality.py.
_MIX_DEPTH = 1000

# So far the scores of words reach: those beyond the neighbours count by the square of the weight.
_WORDS_REACH = 2


class Index:
    """Documents, their passages, words and vectors, in one place that stays equal to its sources.

    `Index.open` opens one in a file; ``Index(store)`` one in another store. The options are those
    of `open`, and ``base``: the folder that the names of files begin at. Unset, it is that of an
    SQLite file; in other stores files are called by their absolute paths. What is found, cut and
    embedded is said in `open`, `add_folder` and `search`.
    """

    def __init__(
        self,
        store: Store,
        *,
        splitter: Splitter | None = None,
        embedder: Embedder | str | None = None,
        ceiling: Cap | int | None = None,
        stems: bool | None = None,
        rebuild: bool = False,
        batch_size: int = 64,
        concurrency: int = 1,
        attempts: int = 3,
        base: Path | None = None,
    ) -> None:
        for name, value in (
            ("batch_size", batch_size),
            ("concurrency", concurrency),
            ("attempts", attempts),
        ):
            require(name, value, 1)
        self._store = store
        self._base = _base_of(store) if base is None else base.absolute()
        self._batch_size = batch_size
        self._concurrency = concurrency
        self._attempts = attempts
        self._making = Making(
            store,
            splitter=splitter,
            embedder=embedder,
            ceiling=ceiling,
            stems=stems,
            rebuild=rebuild,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = MEMORY,
        *,
        splitter: Splitter | None = None,
        embedder: Embedder | str | None = None,
        ceiling: Cap | int | None = None,
        stems: bool | None = None,
        read_only: bool = False,
        create: bool = True,
        rebuild: bool = False,
        batch_size: int = 64,
        concurrency: int = 1,
        attempts: int = 3,
    ) -> Index:
        """The index in a file, made where there is none; in memory without a path.

        - ``splitter``: unset, that of the index, of a new one `for_search`. It is brought under
          what the embedder reads.
        - ``embedder``: an embedder, or its name as on the command line, such as ``wordllama``.
          Unset, that of the index where it has a name, of a new one none: words alone.
          ``"none"`` says so.
        - ``ceiling``: what the embedder reads, where it does not say; a number of characters or
          `cap`.
        - ``stems``: whether English words of one stem are one word (unset: yes).
        - ``read_only``: nothing is written, not even by another program's mistake.
        - ``create``: whether a file is made where there is none.
        - ``rebuild``: take other options than the index was made with. Documents are cut and
          embedded anew by the next runs, or by `rebuild`. Without it, other options are refused.
        - ``batch_size``: texts in one call of the embedder; ``concurrency``: calls at once, more
          than 1 for an embedder that threads may share; ``attempts``: of a call that fails.

        Raises `StoreError`, `OptionError`, and what the embedder raises when it is made.
        """
        name = os.fspath(path)
        if not name:
            raise OptionError("path='' names no file; give the path of the index, or leave it out")
        store = SqliteStore(name, read_only=read_only, create=create)
        try:
            return cls(
                store,
                splitter=splitter,
                embedder=embedder,
                ceiling=ceiling,
                stems=stems,
                rebuild=rebuild,
                batch_size=batch_size,
                concurrency=concurrency,
                attempts=attempts,
            )
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Index: {self._store.name}>"

    def close(self) -> None:
        """End the use of the index; closing twice does nothing."""
        self._store.close()

    # --- documents in -----------------------------------------------------------------------

    def add_folder(
        self,
        folder: str | os.PathLike[str],
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        ignore_files: bool = True,
        recursive: bool = True,
        follow_links: bool = False,
        encoding: str = "",
        metadata: Mapping[str, Any] | None = None,
        namespace: str = "",
        remove_missing: bool = True,
        reload: bool = False,
        dry_run: bool = False,
        watch: Watch | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the documents of a folder.

        A file that did not change is not read: its size, times and place say so; where they do
        not, its bytes are read and compared. What changed is cut anew, and only passages that no
        document had are embedded. Each document changes all at once; a run that was killed goes on
        where it ended.

        - ``include``, ``exclude``, ``ignore_files``, ``recursive``, ``follow_links``: which files,
          as in `find_documents`. ``encoding``: as in `load`.
        - ``metadata``: laid over that of each document.
        - ``remove_missing``: take out documents below the folder whose file is gone, or that this
          selection found before and does not find now. Never where the folder is missing (a
          `LoadError`) or holds no document at all; of what another folder found last, only those
          whose file is gone.
        - ``reload``: read and cut every file again.
        - ``dry_run``: write and embed nothing; say what would be done.
        - ``watch``: called with a `Progress` after each document.

        A document that fails keeps what was known of it and is listed in the report.
        """
        selection = Selection(
            include=_patterns("include", include),
            exclude=_patterns("exclude", exclude),
            ignore_files=ignore_files,
            recursive=recursive,
            follow_links=follow_links,
            encoding=encoding,
            metadata=_metadata("metadata", metadata),
        )
        files = FolderRun(folder, selection, self._base)
        with self._run(namespace, dry_run, watch) as run:
            run.total = len(files.paths)
            for fault in files.faults:
                run.fail(files.noted["root"], fault)
            for uri in files.paths:
                self._file(run, files, uri, reload)
            stored = self._store.documents(Scope(namespace))
            if remove_missing:
                run.remove(files.gone(stored))
            kept = files.kept(stored) if files.paths else 0
            if kept:
                run.notes.append(
                    f"{folder}: documents that a run with other options chose are kept "
                    f"({kept:,}); remove takes them out"
                )
            if not files.paths:
                chosen = " and that the patterns choose" if include or exclude else ""
                run.notes.append(
                    f"{folder}: it holds no document of a kind that is read{chosen}, so nothing "
                    "was taken out; docs/formats.md lists the kinds"
                )
            run.recut_rest(stored)
            report = run.report()
        return self._caught_up(report, namespace, dry_run, watch)

    def add(
        self,
        documents: Document | Iterable[Document],
        *,
        metadata: Mapping[str, Any] | None = None,
        namespace: str = "",
        dry_run: bool = False,
        watch: Watch | None = None,
    ) -> IndexReport:
        """Add documents, each in the place of the one of its uri; nothing is taken out.

        Raises `OptionError` for a document without a uri.
        """
        given = [documents] if isinstance(documents, Document) else documents
        if not isinstance(given, Iterable):
            raise OptionError(f"documents={shown(documents)} is no document; give one, or several")
        laid = _metadata("metadata", metadata)
        with self._run(namespace, dry_run, watch) as run:
            for document in given:
                if not isinstance(document, Document) or not document.uri:
                    raise OptionError(
                        f"documents holds {shown(document)}, which is no Document with a uri; give "
                        "it a name with Document(text=..., uri=...)"
                    )
                run.total += 1
                run.add(document.uri, partial(_given, document), laid)
            if self._making.is_behind:
                run.recut_rest(self._store.documents(Scope(namespace)))
            report = run.report()
        return self._caught_up(report, namespace, dry_run, watch)

    def rebuild(self, *, watch: Watch | None = None) -> IndexReport:
        """Cut and embed by the options of now what was cut by others, from what is stored.

        Files are not read. Documents of all namespaces; the report is that of all.
        """
        reports = []
        for namespace in self._store.namespaces() or [""]:
            stored = self._store.documents(Scope(namespace))
            with self._run(namespace, False, watch) as run:
                run.total = len(stored)
                run.recut_rest(stored)
                reports.append(run.report())
        self._making.catch_up()
        return IndexReport.of_all(reports)

    def _caught_up(
        self, report: IndexReport, namespace: str, dry_run: bool, watch: Watch | None
    ) -> IndexReport:
        """The report with what was cut anew in the other namespaces, as they are behind too."""
        if not self._making.is_behind:
            return report
        reports = [report]
        for other in self._store.namespaces():
            if other != namespace:
                with self._run(other, dry_run, watch) as run:
                    run.recut_rest(self._store.documents(Scope(other)))
                    reports.append(run.report())
        if not dry_run:
            self._making.catch_up()
        return IndexReport.of_all(reports)

    @contextmanager
    def _run(self, namespace: str, dry_run: bool, watch: Watch | None) -> Iterator[Run]:
        scope_of(namespace, None)  # refuses what is no name
        recipe = self._making.recipe(dry_run)
        embedding = None
        if recipe.space and not dry_run:
            embedding = Embedding(
                require_extra("numpy", "index", "an index with an embedder"),
                self._making.embedder(),
                batch_size=self._batch_size,
                concurrency=self._concurrency,
                attempts=self._attempts,
            )
        run = Run(self._store, namespace, recipe, embedding, watch=watch, dry_run=dry_run)
        try:
            yield run
        except StoreError:
            raise
        except (KeyboardInterrupt, Exception):
            run.flush()
            raise
        finally:
            if embedding is not None:
                embedding.close()

    def _file(self, run: Run, files: FolderRun, uri: str, reload: bool) -> None:
        """Bring one file up to date."""
        path = files.paths[uri]
        known = run.known(uri)
        is_cut = known is not None and run.is_cut(known) and not reload
        try:
            state = FileState.of(path)
            source = None
            if is_cut and known and files.is_same(state, known.source):
                source = files.adopted(known.source)
            elif is_cut and known:
                state = state.hashed(path)
                if files.has_same_bytes(state, known.source):
                    source = files.source(state)
        except LoadError as fault:
            run.fail(uri, fault)
            return
        if known and source is not None:
            run.keep(uri, None if source == known.source else source)
            return
        run.add(uri, lambda: files.load(uri, state), files.selection.metadata, again=reload)

    # --- documents that are there -----------------------------------------------------------

    def documents(
        self, *, where: Mapping[str, Any] | None = None, namespace: str = ""
    ) -> list[StoredDocument]:
        """What is known of the documents, in order of their uris; those that a filter fits."""
        return self._store.documents(scope_of(namespace, where))

    def namespaces(self) -> list[str]:
        """The namespaces that hold a document, in order."""
        return self._store.namespaces()

    def document(self, uri: str, *, namespace: str = "") -> Document:
        """A document as it was last loaded; `StoreError` where there is none."""
        row, _ = self._store.whole(namespace, uri)
        return replace(row.document, meta=row.metadata)

    def chunks(self, uri: str, *, namespace: str = "") -> list[Chunk]:
        """The passages of a document, in order; `StoreError` where there is none."""
        row, chunks = self._store.whole(namespace, uri)
        text, metadata = row.document.text, row.metadata
        return [
            chunk_of(each, text[each.start : each.end], uri, i, metadata)
            for i, each in enumerate(chunks)
        ]

    def chunk(self, id: str, *, namespace: str = "") -> Chunk:  # noqa: A002 - what it is called
        """The passage of an id; `StoreError` where there is none."""
        uri, _, _ = id.rpartition("#")
        found = [each for each in self.chunks(uri, namespace=namespace) if each.id == id]
        if not found:
            raise StoreError(
                f"{self._store.name}: it has no passage {id!r}; the document may have changed, "
                "search again"
            )
        return found[0]

    def update_metadata(
        self, uri: str, changes: Mapping[str, Any], *, namespace: str = ""
    ) -> Mapping[str, Any]:
        """Lay changes over a document's metadata (None takes a key away); all of it as it is now.

        They stay when the document changes. `StoreError` where there is no such document.
        """
        given = _metadata("changes", changes)
        with self._store.writing():
            known = self._store.document(namespace, uri)
            if known is None:
                raise StoreError(
                    f"{self._store.name}: it has no document {uri!r}; index.documents() lists them"
                )
            laid = {**known.changes, **given}
            self._store.change_metadata(namespace, uri, laid)
        return merged(known.meta, laid)

    def remove(self, uris: str | Iterable[str], *, namespace: str = "") -> tuple[str, ...]:
        """Take documents out; the uris of those that were there."""
        wanted = [uris] if isinstance(uris, str) else [*dict.fromkeys(uris)]
        there = tuple(uri for uri in wanted if self._store.document(namespace, uri))
        self._making.refresh()
        self._store.remove(namespace, there)
        self._store.drop_vectors(self._making.space)
        return there

    def remove_where(self, where: Mapping[str, Any], *, namespace: str = "") -> tuple[str, ...]:
        """Take out the documents that a filter fits; their uris. An empty filter is refused."""
        if not where:
            raise OptionError(
                f"where={shown(where)} would take out every document; give a filter, or remove "
                "them by their uris"
            )
        fitting = self._store.documents(scope_of(namespace, where))
        return self.remove([each.uri for each in fitting], namespace=namespace)

    # --- search -----------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: str = "auto",
        where: Mapping[str, Any] | None = None,
        namespace: str = "",
        fusion: str = "scores",
        weights: tuple[float, float] | None = None,
        mix: float = MIX,
        min_score: float | None = None,
        rerank: Rerank | None = None,
        rerank_depth: int = RERANK_DEPTH,
        budget: Cap | int | None = None,
        expand: int | str = 0,
        fold: bool = True,
        explain: bool = False,
    ) -> Hits:
        """The passages that answer a query, best first. Any string is a legal query.

        Words are looked for as `find_matches` reads them: any of them counts, a ``"phrase"`` as a
        whole, ``refund*`` every word that begins so; what is rarer counts more (BM25), twice as
        much in the headings above. Meaning is the cosine of vectors, of all of them where there is
        no graph.

        - ``mode``: ``words``, ``meaning``, ``both``, or ``auto``: both where the index has an
          embedder.
        - ``where``: only documents whose metadata fit: a value must be equal, of a list any, an
          empty list none. A list in the metadata fits by any of its values.
        - ``fusion``: how both become one: ``scores`` adds each list's scores over its best one,
          ``ranks`` is reciprocal rank fusion, weight / (60 + rank). ``weights``: of words and of
          meaning (unset: 1 and 0.3 for scores, 1 and 1 for ranks).
        - ``mix``: the weight of both neighbours' scores in the mean that a passage is ranked by,
          in each list, before they are fused; by words its square for those beyond them. 0 for
          none.
        - ``min_score``: on `Hit.score`: BM25 for words, the cosine for meaning, what the fusion
          gives for both, the reranker's where there is one.
        - ``rerank``: a function from the query and a list of passages to a score each; asked about
          the ``rerank_depth`` best, once about each text. The others are left out.
        - ``budget``: the most that all texts together may measure, in characters or a `Cap`. A
          passage that has no room with what ``expand`` adds stands alone.
        - ``expand``: passages to add on each side, as far as they adjoin, or ``"section"`` or
          ``"document"``. What stands above the first heading is a section of its own.
        - ``fold``: join hits that overlap, and leave out those with the same words as a better one.
        - ``explain``: also tell of every passage that was looked at.
        """
        self._making.refresh()
        wishes = wishes_of(
            query,
            has_vectors=bool(self._making.space),
            limit=limit,
            mode=mode,
            fusion=fusion,
            weights=weights,
            mix=mix,
            min_score=min_score,
            rerank=rerank,
            rerank_depth=rerank_depth,
            budget=budget,
            expand=expand,
            fold=fold,
            explain=explain,
        )
        scope, depth = scope_of(namespace, where), wishes.depth
        deepest = max(_DEEPEST, depth * _DEEPER)
        vector = None
        if wishes.mode != "words" and query.strip():
            numpy = require_extra("numpy", "index", "search by meaning")
            embedder = self._making.embedder()
            vector = unit_vectors(numpy, embedder, embedder.embed([query]), 1)[0]
            self._making.refuse_other_vectors(embedder)
        asked, uris = read_query(query), self._store.uris
        with self._store.reading():
            while True:
                words = meaning = []
                if wishes.mode != "meaning":
                    reach = max(depth, _MIX_DEPTH) if mix else depth
                    found = best(partial(self._store.find_words, asked, scope), reach, uris)
                    words = by_score(mixed(found, mix, _WORDS_REACH), uris)[:depth]
                if vector is not None:
                    space = self._making.space
                    near = partial(self._store.find_near, space, vector, scope, mix=mix)
                    meaning = best(near, depth, uris)
                ranked = fused(words, meaning, wishes.mode, wishes.fusion, wishes.weights, uris)
                is_all = max(len(words), len(meaning)) < depth or depth >= deepest
                hits = choose_hits(self._store, ranked, wishes, is_all=is_all)
                if hits is not None:
                    return hits
                # Repeats of one passage may have taken all places: look further down.
                depth *= _DEEPER

    # --- the whole --------------------------------------------------------------------------

    def verify(self, *, files: bool = True) -> VerifyReport:
        """Every difference between the files, the documents, passages, words and vectors.

        Cost: every text is hashed and indexed again in memory, and with ``files`` every file
        that was indexed from a folder is read.
        """
        self._making.refresh()
        return verify(self._store, self._making, self._base, files=files)

    def export_bundle(self, path: str | os.PathLike[str], *, namespace: str = "") -> int:
        """Write the documents of a namespace with their passages and vectors; how many.

        One file of JSON lines. `StoreError` where there is nothing to write.
        """
        self._making.refresh()
        return write_bundle(self._store, self._making, Path(path), namespace)

    def import_bundle(self, path: str | os.PathLike[str], *, namespace: str = "") -> int:
        """Read the documents of a bundle, each in the place of the one of its uri; how many.

        A new index is made as the bundle was, where its splitter and embedder have names.
        `StoreError` for a bundle of another splitter or embedder, and for a damaged one; nothing
        is read from that.
        """
        return read_bundle(self._store, self._making, Path(path), namespace)

    def index_vectors(self) -> None:
        """Make a graph of the vectors, which searches by meaning of the whole index go by then.

        They are quick and nearly exact: what the graph proposes is compared exactly, and so is
        every vector that is newer than it. Called again, it learns those. Searches that are
        filtered stay exact. Cost: some 0.5 ms a vector, in memory and file a byte a number and
        280 more; worth it above half a million passages (docs/index.md). Extra ``ann``.

        `StoreError` where there are no vectors.
        """
        self._making.refresh()
        self._store.index_vectors(self._making.space)

    def vacuum(self) -> None:
        """Drop vectors that no passage has, and give their room back."""
        self._making.refresh()
        self._store.drop_vectors(self._making.space)
        self._store.vacuum()


def _base_of(store: Store) -> Path:
    """The folder that names of files begin at; the empty path is none, so they are absolute."""
    if not isinstance(store, SqliteStore):
        return Path()
    if store.name == MEMORY:
        return Path.cwd()
    return Path(os.path.abspath(store.name)).parent  # noqa: PTH100 - keeps symbolic links


def _patterns(name: str, given: Iterable[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    found = tuple(given) if isinstance(given, Iterable) else (given,)
    if not all(isinstance(each, str) for each in found):
        raise OptionError(f"{name}={shown(given)} is no pattern; give strings such as '*.md'")
    return found


def _metadata(name: str, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Metadata of a caller as JSON keeps it; `OptionError` for what it cannot."""
    try:
        if given is None or isinstance(given, Mapping):
            return plain(given or {})
        reason = "it is no mapping"
    except (TypeError, ValueError, RecursionError) as fault:
        reason = str(fault)
    raise OptionError(
        f"{name}={shown(given)} is no metadata ({reason}); give a mapping of names to values, such "
        "as {'team': 'support'}"
    )


def _given(document: Document) -> tuple[Document, dict[str, Any]]:
    """A document as a run loads it: no file is noted with it."""
    return document, {}
