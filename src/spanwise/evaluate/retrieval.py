"""What a setup finds: its passages in a real index, and the ranges of its hits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from spanwise.chunks import Chunks
from spanwise.documents import Document
from spanwise.errors import EmbedderError
from spanwise.evaluate.corpus import Corpus
from spanwise.evaluate.measures import Range, measure
from spanwise.evaluate.setups import Setup
from spanwise.index import Index
from spanwise.index.unsearched import Unsearched
from spanwise.index.wishes import RERANK_DEPTH
from spanwise.splitters.base import as_document

__all__ = ["Passages", "finding", "taken"]

# More than enough for the measures that count passages.
_FEWEST_HITS = 20


class Passages:
    """The passages of a setup in an index: their ranges and sizes, and what a query finds."""

    def __init__(self, index: Index, setup: Setup, corpus: Corpus, most: int) -> None:
        self._index, self._setup, self._corpus, self._most = index, setup, corpus, most
        self.ranges: list[Range] = []
        own = shipped = 0
        for uri in corpus.documents:
            for chunk in index.chunks(uri):
                self.ranges.append(corpus.place(uri, chunk.start, chunk.end))
                own += chunk.end - chunk.body
                shipped += len(chunk.embed_text)
        self.count = len(self.ranges)
        self.mean_size = own / self.count if self.count else 0.0
        self.indexed = shipped / corpus.size if corpus.size else 0.0
        self._limit = max(_FEWEST_HITS, 2 * ceil(most / max(1.0, self.mean_size)))
        self.mode = ""

    def find(self, query: str) -> list[Range]:
        """The ranges of the hits, best first: enough for ``most`` characters, or all."""
        limit, options = self._limit, self._setup.search_options
        while True:
            # A reranker is asked about all that the longest context may hold.
            depth = max(limit, RERANK_DEPTH)
            hits = self._index.search(query, limit=limit, rerank_depth=depth, fold=False, **options)
            self.mode = hits.mode
            found = [self._corpus.place(hit.chunk.doc_uri, hit.start, hit.end) for hit in hits]
            if len(found) < limit or measure(found) >= self._most:
                return found
            limit *= 2


@contextmanager
def finding(setup: Setup, corpus: Corpus, most: int) -> Iterator[Passages]:
    """The passages of a setup, in an index in memory as long as the block runs."""
    documents = list(corpus.documents.values())
    made = {each.uri: setup.capped_splitter.split(each) for each in documents}
    if not setup.context:
        documents = corpus.bare()
        made = {each.uri: Chunks.from_spans(each, taken(made[each.uri])) for each in documents}
    with Index.open(splitter=_Cut(made), embedder=setup.embedder) as index:
        report = index.add(documents)
        if report.failed:
            first = report.failed[0]
            raise EmbedderError(f"{setup.name}: {first.uri}: {first.reason}")
        yield Passages(index, setup, corpus, most)


def taken(chunks: Chunks) -> list[tuple[int, int, int]]:
    """The start, body and end of those passages that an index takes."""
    unsearched = Unsearched(chunks.document)
    spans = zip(chunks.starts, chunks.bodies, chunks.ends, strict=True)
    return [each for each in spans if not unsearched.holds(*each[1:])]


class _Cut:
    """A splitter that answers what was cut before."""

    name = "cut"
    version = 1
    fingerprint = "cut/1"

    def __init__(self, made: dict[str, Chunks]) -> None:
        self._made = made

    def split(self, source: Document | str) -> Chunks:
        return self._made[as_document(source).uri]
