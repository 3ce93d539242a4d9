"""evaluate: each setup cut, indexed and asked every question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from spanwise.documents import Document
from spanwise.errors import OptionError, require, shown
from spanwise.evaluate.comparing import DRAWS
from spanwise.evaluate.corpus import Corpus, numbered
from spanwise.evaluate.evaluation import MAIN, Evaluation, Row
from spanwise.evaluate.measures import (
    Range,
    iou,
    is_hit,
    kept_whole,
    ndcg,
    precision,
    recall,
    recall_within,
)
from spanwise.evaluate.questions import Question, checked_questions
from spanwise.evaluate.retrieval import finding, taken
from spanwise.evaluate.setups import Setup, checked
from spanwise.evaluate.sizing import CLOSE, resized, size_field
from spanwise.splitters.base import Splitter

__all__ = ["BUDGETS", "Step", "evaluate"]

# Contexts of some 250 to 2,000 tokens.
BUDGETS = (1000, 2000, 4000, 8000)

# The passages that a model is given, as Chroma counts them; and a page of results.
_GIVEN, _PAGE = 5, 10

# Mean sizes that differ by more than this are no comparison of boundaries.
_APART = 1.1


@dataclass(frozen=True, slots=True)
class Step:
    """How far an evaluation is: so many questions of all setups are asked."""

    done: int
    total: int
    setup: str


def evaluate(
    questions: Iterable[Question],
    documents: Iterable[Document],
    setups: Iterable[Setup | Splitter],
    *,
    mean_size: int | None = None,
    seed: int = 0,
    draws: int = DRAWS,
    watch: Callable[[Step], None] | None = None,
) -> Evaluation:
    """How well each setup finds the evidence of the questions, and which differences are real.

    Each setup is cut, indexed in memory and searched by `Index`; what its hits cover of the
    evidence is measured in characters.

    - ``setups``: each a `Setup`, or a splitter by its own name and the defaults of an index.
    - ``mean_size``: resize every splitter that has a size until the passages' own parts have this
      mean size in characters, within 2 % where that is possible; where not, a note says so. Without
      it, splitters are compared as they are, and size often decides.
    - ``seed``, ``draws``: of the paired bootstrap.
    - ``watch``: called with a `Step` after each question.

    Raises `OptionError`, and what the splitters and the embedder raise.
    """
    corpus = Corpus(documents)
    asked = numbered(checked_questions(questions))
    if not asked:
        raise OptionError("questions is empty; give some, or make them with known_item_questions")
    require("draws", draws, 1)
    require("seed", seed, 0)
    if watch is not None and not callable(watch):
        raise OptionError(f"watch={shown(watch)} cannot be called; pass a function of a Step")
    if mean_size is not None:
        require("mean_size", mean_size, 1)
    wanted = [corpus.evidence(each) for each in asked]
    notes: list[str] = []
    rows = []
    tried = checked(setups)
    for i, given in enumerate(tried):

        def tell(number: int, name: str = given.name, before: int = i * len(asked)) -> None:
            if watch is not None:
                watch(Step(before + number, len(tried) * len(asked), name))

        tell(0)
        setup = given
        if mean_size is not None:
            setup = _at_mean_size(given, corpus, mean_size, notes)
        rows.append(_row(setup, corpus, [each.query for each in asked], wanted, tell))
    rows.sort(key=lambda row: -row.means[MAIN])
    sizes = [row.mean_size for row in rows if row.chunks]
    if mean_size is None and len(sizes) > 1 and max(sizes) > _APART * min(sizes):
        notes.append(
            f"The passages differ in size, {min(sizes):,.0f} to {max(sizes):,.0f} characters on "
            "average, which often decides more than where the cuts fall; at one mean size the "
            "cuts alone decide."
        )
    return Evaluation(
        rows=tuple(rows),
        questions=tuple(asked),
        documents=len(corpus.documents),
        characters=corpus.size,
        notes=tuple(notes),
        seed=seed,
        draws=draws,
    )


def _at_mean_size(setup: Setup, corpus: Corpus, wanted: int, notes: list[str]) -> Setup:
    """The setup with its splitter resized; a note where it is not equal then."""

    def mean_of(splitter: Splitter) -> float:
        capped = replace(setup, splitter=splitter).capped_splitter
        count = own = 0
        for each in corpus.documents.values():
            spans = taken(capped.split(each))
            count += len(spans)
            own += sum(end - body for _, body, end in spans)
        return own / count if count else 0.0

    made = replace(setup, splitter=resized(setup.splitter, wanted, mean_of))
    mean = mean_of(made.splitter)
    if abs(mean - wanted) > CLOSE * wanted:
        why = "comes no nearer" if size_field(setup.splitter) else "has no size that can be set"
        notes.append(
            f"{setup.name} {why}: its passages have a mean of {mean:,.0f} characters, not {wanted}."
        )
    return made


def _row(
    setup: Setup,
    corpus: Corpus,
    queries: Sequence[str],
    wanted: Sequence[tuple[list[Range], list[float]]],
    tell: Callable[[int], None],
) -> Row:
    scores: list[dict[str, float]] = []
    with finding(setup, corpus, BUDGETS[-1]) as passages:
        for number, (query, (evidence, shares)) in enumerate(zip(queries, wanted, strict=True), 1):
            scores.append(_scores(evidence, shares, passages.find(query)))
            tell(number)
        kept = kept_whole([each for ranges, _ in wanted for each in ranges], passages.ranges)
        field = size_field(setup.splitter)
        return Row(
            name=setup.name,
            splitter=setup.splitter.fingerprint,
            mode=passages.mode,
            size=getattr(setup.splitter, field) if field else None,
            chunks=passages.count,
            mean_size=passages.mean_size,
            indexed=passages.indexed,
            whole=sum(kept) / len(kept),
            scores={name: tuple(each[name] for each in scores) for name in scores[0]},
        )


def _scores(evidence: list[Range], shares: list[float], found: list[Range]) -> dict[str, float]:
    """Every measure of one question."""
    within = {f"recall_{budget}": recall_within(evidence, found, budget) for budget in BUDGETS}
    given = found[:_GIVEN]
    return {
        MAIN: sum(within.values()) / len(within),
        **within,
        f"recall_{_GIVEN}": recall(evidence, given),
        f"precision_{_GIVEN}": precision(evidence, given),
        f"iou_{_GIVEN}": iou(evidence, given),
        f"hit_{_GIVEN}": float(is_hit(evidence, given)),
        f"ndcg_{_PAGE}": ndcg(evidence, found[:_PAGE], shares),
    }
