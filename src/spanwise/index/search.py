"""From a ranking to hits: folded, widened, within a budget, each explained."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isnan

from spanwise.chunks import Chunk
from spanwise.errors import OptionError, shown
from spanwise.index.around import Around, outward
from spanwise.index.hits import Candidate, Hit, Hits, Standing
from spanwise.index.rows import Found, Passage
from spanwise.index.store import Store
from spanwise.index.wishes import Rerank, Wishes

__all__ = ["choose_hits"]

# More passages than a document has; a larger number is one that no store can be asked with.
_FAR = 1 << 30


@dataclass(slots=True, eq=False)
class _Kept:
    """A hit on its way: what it was widened to, and what was folded into it."""

    passage: Passage
    standing: Standing
    place: int
    start: int
    end: int
    size: int
    into: _Kept | None = None
    joined: list[str] = field(default_factory=list)
    repeats: list[str] = field(default_factory=list)


def choose_hits(
    store: Store, ranked: Sequence[tuple[Found, Standing]], wishes: Wishes, *, is_all: bool
) -> Hits | None:
    """The hits among ranked passages with what became of the others.

    None where repeats took places, so that there may be more hits further down; but for ``is_all``.
    """
    choice = _Choice(store, wishes, is_all)
    hits = choice.of(ranked)
    return None if choice.is_starved else hits


class _Choice:
    """Goes down a ranking and notes the fate of each passage."""

    def __init__(self, store: Store, wishes: Wishes, is_all: bool) -> None:
        self._store = store
        self._wishes = wishes
        self._is_all = is_all
        self._kept: dict[int, _Kept] = {}  # by the keys of their passages, best first
        # Only where hits are folded: who has these words, and whose ranges are in a document, in
        # order and disjoint.
        self._holding: dict[bytes | str, _Kept] = {}
        self._ranges: dict[int, list[_Kept]] = {}
        # What was read once: the sections of a document by their path, each its first and last
        # passage and its range; and what ranges measure.
        self._sections: dict[tuple[int, tuple[str, ...] | None], list[tuple[int, ...]]] = {}
        self._sizes: dict[tuple[int, int, int], int] = {}
        self._around = Around(store)
        self._fates: dict[int, tuple[Passage, Standing, str]] = {}
        self._spent = self._lacking = self._places = 0
        self._is_spent = False  # whether the budget had no room for a passage
        self._is_short = False  # whether a reranker would be asked about more texts

    @property
    def is_starved(self) -> bool:
        """Whether hits are fewer than asked for since they stand for others too."""
        if self._is_all or self._wishes.rerank is not None:
            return self._is_short
        repeated = any(each.repeats or each.joined for each in self._kept.values())
        return repeated and len(self._kept) < self._wishes.limit and not self._is_spent

    def of(self, ranked: Sequence[tuple[Found, Standing]]) -> Hits:
        wishes = self._wishes
        for passage, standing, reason in self._read(ranked):
            full = len(self._kept) >= wishes.limit
            if full and not wishes.explain:
                break
            over = f"over limit={wishes.limit}" if full else ""
            why = reason or over or self._fate(passage, standing)
            if wishes.explain:
                self._fates[passage.key] = (passage, standing, why)
        candidates = [
            Candidate(
                id=passage.chunk.id,
                citation=passage.chunk.citation,
                standing=standing,
                returned=not why,
                why=why or "returned",
            )
            for passage, standing, why in self._fates.values()
        ]
        hits = [self._hit(each) for each in self._kept.values()]
        return Hits(wishes.query, wishes.mode, hits, candidates)

    def _read(
        self, ranked: Sequence[tuple[Found, Standing]]
    ) -> Iterator[tuple[Passage, Standing, str]]:
        """The passages of a ranking, or of its top in the order of a reranker.

        The others follow where all are asked for, each with the reason that it is left out.
        """
        wishes = self._wishes
        rest, why = list(ranked), ""
        if wishes.rerank is not None:
            reranked = self._reranked(rest, wishes.rerank)
            for passage, standing in reranked:
                yield passage, standing, ""
            if not wishes.explain:
                return
            done = {passage.key for passage, _ in reranked}
            rest = [each for each in rest if each[0].chunk not in done]
            why = f"below rerank_depth={wishes.rerank_depth}"
        step = max(2, 2 * wishes.limit)
        for i in range(0, len(rest), step):
            part = {found.chunk: standing for found, standing in rest[i : i + step]}
            for passage in self._store.passages(part):
                yield passage, part[passage.key], why

    def _reranked(
        self, ranked: Sequence[tuple[Found, Standing]], rerank: Rerank
    ) -> list[tuple[Passage, Standing]]:
        """The best passages of a ranking in the order of a reranker; it sees each text once.

        So it is asked when the ranking has as many texts as it is to see, or all there are.
        """
        standings = {found.chunk: standing for found, standing in ranked}
        passages, texts = self._distinct(list(standings))
        few = self._wishes.fold and len(texts) < self._wishes.rerank_depth
        self._is_short = few and not self._is_all
        if self._is_short or not texts:  # a model has no answer for nothing
            return []
        answer = rerank(self._wishes.query, list(texts))
        scores = dict(zip(texts, _scores(answer, len(texts)), strict=True))
        made = [
            (each, replace(standings[each.key], score=scores[each.chunk.embed_text]))
            for each in passages
        ]
        # What is no number would leave the others in no order.
        return sorted(made, key=lambda each: (isnan(each[1].score), -each[1].score))

    def _distinct(self, keys: list[int]) -> tuple[list[Passage], dict[str, None]]:
        """The first passages that hold so many texts as are reranked, and those texts."""
        depth = self._wishes.rerank_depth
        passages: list[Passage] = []
        texts: dict[str, None] = {}
        for i in range(0, len(keys), depth):
            for passage in self._store.passages(keys[i : i + depth]):
                text = passage.chunk.embed_text
                if len(texts) == depth and text not in texts:
                    return passages, texts
                texts[text] = None
                passages.append(passage)
            if not self._wishes.fold:
                break
        return passages, texts

    def _fate(self, passage: Passage, standing: Standing) -> str:
        """Keep a passage, or say why not."""
        wishes = self._wishes
        if wishes.rerank is not None and isnan(standing.score):
            return "the reranker gave no number"
        if wishes.min_score is not None and standing.score < wishes.min_score:
            return f"its score {standing.score:.4g} is below min_score={wishes.min_score:g}"
        chunk = passage.chunk
        alone = chunk.start, chunk.end
        is_inside = False
        if wishes.fold:
            same = self._holding.get(passage.digest) or self._holding.get(chunk.own_text)
            while same is not None and same.into is not None:
                same = same.into
            if same is not None:
                same.repeats.append(chunk.id)
                return f"repeats {same.passage.chunk.id}"
            # Then its section is in there too, and is not read again for each of its passages.
            around = self._overlapping(passage.document, *alone)
            is_inside = (
                isinstance(wishes.expand, str)
                and len(around) == 1
                and around[0].start <= chunk.start
                and chunk.end <= around[0].end
            )
        # For what is too much with its surroundings there may be room alone.
        wanted = (alone,) if is_inside else dict.fromkeys((self._widened(passage), alone))
        for start, end in wanted:
            around = self._overlapping(passage.document, start, end) if wishes.fold else []
            if around:
                placed = self._join(around, passage, start, end)
            else:
                placed = self._keep(passage, standing, start, end)
            if placed is not None:
                return placed
        self._is_spent = True
        return (
            f"{self._lacking:,} more would be over the budget of {wishes.budget}; "
            f"{self._spent:,} are spent"
        )

    def _keep(self, passage: Passage, standing: Standing, start: int, end: int) -> str | None:
        """Make a range a hit of its own; None where that is over the budget."""
        size = self._size(passage.document, start, end)
        if not self._has_room(size):
            return None
        self._spent += size
        kept = _Kept(passage, standing, self._places, start, end, size)
        self._places += 1
        self._kept[passage.key] = kept
        if self._wishes.fold:
            self._note(passage, kept)
            ranges = self._ranges.setdefault(passage.document, [])
            insort(ranges, kept, key=lambda each: each.start)
        return ""

    def _has_room(self, size: int) -> bool:
        budget = self._wishes.budget
        self._lacking = size
        return budget is None or self._spent + size <= budget.limit

    def _note(self, passage: Passage, kept: _Kept) -> None:
        """The words of a passage are in a hit."""
        self._holding[passage.digest] = self._holding[passage.chunk.own_text] = kept

    def _overlapping(self, document: int, start: int, end: int) -> list[_Kept]:
        """The hits that overlap a range of a document, in order of their starts."""
        ranges = self._ranges.get(document, [])
        first = bisect_right(ranges, start, key=lambda each: each.end)
        return ranges[first : bisect_left(ranges, end, key=lambda each: each.start)]

    def _join(self, around: list[_Kept], passage: Passage, start: int, end: int) -> str | None:
        """Make one hit of all that a passage overlaps; None where that is over the budget."""
        document = passage.document
        start, end = min(start, around[0].start), max(end, around[-1].end)
        before = sum(each.size for each in around)
        size = before
        if len(around) > 1 or (start, end) != (around[0].start, around[0].end):
            size = self._size(document, start, end)
        if not self._has_room(size - before):
            return None
        self._spent += size - before
        best = min(around, key=lambda each: each.place)
        for each in around:
            if each is not best:
                self._absorb(best, each)
        ranges = self._ranges[document]
        first = bisect_left(ranges, around[0].start, key=lambda each: each.start)
        ranges[first : first + len(around)] = [best]
        best.start, best.end, best.size = start, end, size
        best.joined.append(passage.chunk.id)
        self._note(passage, best)
        return self._joined_with(best)

    def _absorb(self, best: _Kept, other: _Kept) -> None:
        """Fold a hit into a better one that now overlaps it."""
        del self._kept[other.passage.key]
        best.joined += [other.passage.chunk.id, *other.joined]
        best.repeats += other.repeats
        other.into = best
        if self._wishes.explain:
            passage, standing, _ = self._fates[other.passage.key]
            self._fates[passage.key] = (passage, standing, self._joined_with(best))

    def _joined_with(self, kept: _Kept) -> str:
        return f"joined with {kept.passage.chunk.id}"

    def _size(self, document: int, start: int, end: int) -> int:
        budget, place = self._wishes.budget, (document, start, end)
        if budget is None:
            return 0
        if place not in self._sizes:
            self._sizes[place] = budget.sizer(self._store.text(*place))
        return self._sizes[place]

    def _widened(self, passage: Passage) -> tuple[int, int]:
        """The range of a passage with what was asked for around it."""
        expand, chunk = self._wishes.expand, passage.chunk
        start, end = chunk.start, chunk.end
        if expand == 0:
            return start, end
        if isinstance(expand, int):
            return self._around.range_of(passage, min(expand, _FAR))
        path = chunk.heading_path if expand == "section" else None
        known = self._sections.setdefault((passage.document, path), [])
        at = bisect_right(known, chunk.index, key=lambda each: each[0])
        if not at or known[at - 1][1] < chunk.index:
            first, last = self._edge(passage, path, -1), self._edge(passage, path, 1)
            known.insert(at, (first.index, last.index, first.start, last.end))
            at += 1
        _, _, start, end = known[at - 1]
        return start, end

    def _edge(self, passage: Passage, path: tuple[str, ...] | None, step: int) -> Chunk:
        """The furthest passage before or after one, as far as all are below a heading path.

        What stands below no heading ends where the first one begins; without a path all are meant.
        """
        edge = passage.chunk
        for near in outward(self._store, passage.document, edge.index, step, _FAR):
            under = near.heading_path
            if path is not None and (under[: len(path)] != path or (under and not path)):
                break
            # Another section may have the same name.
            if path and _opens(near if step > 0 else edge, path):
                break
            edge = near
        return edge

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


def _scores(answer: object, count: int) -> list[float]:
    """What a reranker answered, as so many numbers."""
    try:
        scores = [*map(float, answer)]  # type: ignore[call-overload]  # it may answer anything
    except (TypeError, ValueError):
        scores = []
    if len(scores) != count:
        raise OptionError(
            f"rerank answered {shown(answer)} for {count} passages; it must answer one number a "
            "passage, in order"
        )
    return scores


def _opens(chunk: Chunk, path: tuple[str, ...]) -> bool:
    """Whether a passage begins with the heading of a path."""
    return chunk.boundary == "heading" and chunk.heading_path == path
