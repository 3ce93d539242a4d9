"""From a ranking to hits: folded, widened, within a budget, each explained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from spanwise.chunks import Chunk
from spanwise.cutting.caps import Cap
from spanwise.errors import OptionError
from spanwise.index.hits import Candidate, Hit, Hits, Standing
from spanwise.index.rows import Found, Passage
from spanwise.index.store import Store

__all__ = ["Rerank", "Wishes", "choose_hits"]

# So many passages on each side are read at a time to find the ends of a section.
_REACH = 64

# A function from a query and passages to a score each, higher for better.
Rerank = Callable[[str, list[str]], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is asked of the hits: see `Index.search`."""

    query: str
    mode: str
    limit: int
    min_score: float | None
    rerank: Rerank | None
    rerank_depth: int
    budget: Cap | None
    expand: int | str
    fold: bool
    explain: bool


@dataclass(slots=True)
class _Kept:
    """A hit on its way: what it was widened to, and what was folded into it."""

    passage: Passage
    standing: Standing
    start: int
    end: int
    size: int
    joined: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)


def choose_hits(store: Store, ranked: Sequence[tuple[Found, Standing]], wishes: Wishes) -> Hits:
    """The hits among ranked passages, and what became of the others."""
    return _Choice(store, wishes).of(ranked)


class _Choice:
    """Goes down a ranking and notes the fate of each passage."""

    def __init__(self, store: Store, wishes: Wishes) -> None:
        self._store = store
        self._wishes = wishes
        self._kept: list[_Kept] = []
        self._candidates: list[Candidate] = []
        self._spent = 0

    def of(self, ranked: Sequence[tuple[Found, Standing]]) -> Hits:
        wishes = self._wishes
        for passage, standing in self._read(ranked):
            full = len(self._kept) >= wishes.limit
            if full and not wishes.explain:
                break
            why = f"over limit={wishes.limit}" if full else self._fate(passage, standing)
            if wishes.explain:
                self._candidates.append(
                    Candidate(
                        id=passage.chunk.id,
                        citation=passage.chunk.citation,
                        standing=standing,
                        returned=not why,
                        why=why or "returned",
                    )
                )
        hits = [self._hit(each) for each in self._kept]
        return Hits(wishes.query, wishes.mode, hits, self._candidates)

    def _read(self, ranked: Sequence[tuple[Found, Standing]]) -> Iterator[tuple[Passage, Standing]]:
        """The passages of a ranking, or of its top in the order of a reranker."""
        wishes = self._wishes
        rest = list(ranked)
        if wishes.rerank is not None:
            top, rest = rest[: wishes.rerank_depth], rest[wishes.rerank_depth :]
            yield from self._reranked(top, wishes.rerank)
            if not wishes.explain:
                return
        step = max(2, 2 * wishes.limit)
        for i in range(0, len(rest), step):
            part = {found.chunk: standing for found, standing in rest[i : i + step]}
            for passage in self._store.passages(part):
                yield passage, part[passage.key]

    def _reranked(
        self, ranked: Sequence[tuple[Found, Standing]], rerank: Rerank
    ) -> list[tuple[Passage, Standing]]:
        standings = {found.chunk: standing for found, standing in ranked}
        passages = self._store.passages(standings)
        scores = rerank(self._wishes.query, [each.chunk.embed_text for each in passages])
        if len(scores) != len(passages):
            raise OptionError(
                f"rerank answered {len(scores)} scores for {len(passages)} passages; it must "
                "answer one a passage, in order"
            )
        made = [
            (passage, replace(standings[passage.key], score=float(score)))
            for passage, score in zip(passages, scores, strict=True)
        ]
        return sorted(made, key=lambda each: -each[1].score)

    def _fate(self, passage: Passage, standing: Standing) -> str:
        """Keep a passage, or say why not."""
        wishes = self._wishes
        if wishes.rerank is not None and standing.score != standing.score:
            return "the reranker gave no number"
        if wishes.min_score is not None and standing.score < wishes.min_score:
            return f"its score {standing.score:.4g} is below min_score={wishes.min_score:g}"
        chunk = passage.chunk
        if wishes.fold:
            for each in self._kept:
                if (
                    passage.digest == each.passage.digest
                    or chunk.own_text == each.passage.chunk.own_text
                ):
                    each.repeats.append(chunk.id)
                    return f"repeats {each.passage.chunk.id}"
        start, end = self._widened(passage)
        if wishes.fold:
            for each in self._kept:
                if each.passage.document == passage.document and (
                    start < each.end and each.start < end
                ):
                    return self._join(each, passage, min(start, each.start), max(end, each.end))
        size = self._size(passage.document, start, end)
        if wishes.budget is not None and self._spent + size > wishes.budget.limit:
            return self._over(size)
        self._spent += size
        self._kept.append(_Kept(passage, standing, start, end, size))
        return ""

    def _join(self, kept: _Kept, passage: Passage, start: int, end: int) -> str:
        """Widen a hit by a passage that overlaps it, as far as the budget allows."""
        size = self._size(passage.document, start, end)
        budget = self._wishes.budget
        if budget is not None and self._spent + size - kept.size > budget.limit:
            return self._over(size - kept.size)
        self._spent += size - kept.size
        kept.start, kept.end, kept.size = start, end, size
        kept.joined.append(passage.chunk.id)
        return f"joined with {kept.passage.chunk.id}"

    def _size(self, document: int, start: int, end: int) -> int:
        budget = self._wishes.budget
        return 0 if budget is None else budget.sizer(self._store.text(document, start, end))

    def _over(self, size: int) -> str:
        budget = self._wishes.budget
        return f"{size:,} more would be over the budget of {budget}; {self._spent:,} are spent"

    def _widened(self, passage: Passage) -> tuple[int, int]:
        """The range of a passage with what was asked for around it."""
        expand, chunk = self._wishes.expand, passage.chunk
        start, end = chunk.start, chunk.end
        if expand == 0:
            return start, end
        if isinstance(expand, int):
            around = self._store.passages_of(
                passage.document, chunk.index - expand, chunk.index + expand
            )
            return around[0].chunk.start, around[-1].chunk.end
        path = chunk.heading_path if expand == "section" else ()
        for near in self._from(passage, path, -1):
            start = near.start
        for near in self._from(passage, path, 1):
            end = near.end
        return start, end

    def _from(self, passage: Passage, path: tuple[str, ...], step: int) -> Iterator[Chunk]:
        """The passages before or after one, as far as they are below a heading path."""
        at = passage.chunk.index + step
        while True:
            first, last = (at, at + _REACH) if step > 0 else (max(0, at - _REACH), at)
            found = self._store.passages_of(passage.document, first, last) if last >= 0 else []
            for near in found[::step]:
                if near.chunk.heading_path[: len(path)] != path:
                    return
                yield near.chunk
            if not found:
                return
            at = last + 1 if step > 0 else first - 1

    def _hit(self, kept: _Kept) -> Hit:
        chunk = kept.passage.chunk
        text = chunk.text
        if (kept.start, kept.end) != (chunk.start, chunk.end):
            text = self._store.text(kept.passage.document, kept.start, kept.end)
        return Hit(
            chunk=chunk,
            standing=kept.standing,
            start=kept.start,
            end=kept.end,
            text=text,
            joined=tuple(kept.joined),
            repeats=tuple(kept.repeats),
            query=self._wishes.query,
            stems=self._store.stems,
        )
