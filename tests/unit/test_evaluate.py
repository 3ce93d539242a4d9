"""Evaluation: measures against brute force, questions, resizing, and what it says in the end."""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.test_cli import POSIX, command, on_terminal, unstyled

from spanwise import (
    Chunks,
    Document,
    LoadError,
    OptionError,
    SemanticChunker,
    by_heading,
    by_paragraph,
    by_record,
    by_text,
    fixed_with_overlap,
    whole_document,
)
from spanwise.cli.app import run
from spanwise.evaluate import (
    Evidence,
    Question,
    Setup,
    Step,
    evaluate,
    known_item_questions,
    measures,
    read_questions,
    write_questions,
)
from spanwise.evaluate.comparing import Difference, difference, resampled
from spanwise.evaluate.corpus import numbered
from spanwise.evaluate.quotes import quotations
from spanwise.evaluate.sizing import resized
from spanwise.evaluate.wording import sentences
from spanwise.splitters.presets import for_search

SAMPLES = Path(__file__).resolve().parents[2] / "docs" / "samples"

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command line in this process: status, standard output, standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = run([str(each) for each in arguments])
        return status, *capsys.readouterr()

    return call


# measures ------------------------------------------------------------------------------------

RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(1, 12)).map(lambda each: (each[0], sum(each))),
    max_size=6,
)
SOME = RANGES.filter(bool)


def positions(ranges: Iterable[tuple[int, int]]) -> set[int]:
    return {i for start, end in ranges for i in range(start, end)}


@given(RANGES)
def test_merged_holds_the_same_positions_in_order(ranges: list[tuple[int, int]]) -> None:
    made = measures.merged(ranges)
    assert positions(made) == positions(ranges)
    assert measures.measure(made) == len(positions(ranges))
    assert all(a[1] < b[0] for a, b in pairwise(made))


@given(RANGES, RANGES)
def test_shared_counts_what_is_in_both(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    assert measures.shared(a, b) == len(positions(a) & positions(b))


@given(SOME, SOME)
def test_less_takes_away(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    left = measures.less(measures.merged(a), b[0])
    assert positions(left) == positions(a) - positions(b[:1])
    assert measures.measure(left) == len(positions(left))


@given(SOME, RANGES)
def test_chroma_measures(evidence: list[tuple[int, int]], found: list[tuple[int, int]]) -> None:
    wanted, got = positions(evidence), positions(found)
    copies = sum(end - start for start, end in found)
    both = len(wanted & got)
    assert measures.recall(evidence, found) == both / len(wanted)
    assert measures.precision(evidence, found) == (both / copies if copies else 0)
    assert measures.iou(evidence, found) == both / (len(wanted) + copies - both)
    assert measures.is_hit(evidence, found) == bool(both)


@given(SOME, RANGES, st.integers(0, 60))
def test_a_context_is_filled_in_rank_order(
    evidence: list[tuple[int, int]], found: list[tuple[int, int]], budget: int
) -> None:
    line = [i for start, end in found for i in range(start, end)][:budget]
    cut = measures.cut_to(found, budget)
    assert [i for start, end in cut for i in range(start, end)] == line
    wanted = positions(evidence)
    share = len(wanted & set(line)) / len(wanted)
    assert measures.recall_within(evidence, found, budget) == share


@given(SOME, RANGES)
def test_gains_are_the_new_share(
    evidence: list[tuple[int, int]], found: list[tuple[int, int]]
) -> None:
    wanted = positions(evidence)
    gains = measures.gains(evidence, found)
    for i, gain in enumerate(gains):
        new = wanted & positions(found[i : i + 1]) - positions(found[:i])
        assert gain == pytest.approx(len(new) / len(wanted))
    assert sum(gains) == pytest.approx(measures.recall(evidence, found))
    assert 0 <= measures.ndcg(evidence, found) <= 1


@given(SOME, st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(0, 5))
def test_kept_whole(evidence: list[tuple[int, int]], sizes: list[int], overlap: int) -> None:
    chunks, at = [], 0
    for size in sizes:
        start = max(at - overlap, (chunks[-1][0] + 1) if chunks else 0)
        chunks.append((start, at + size))
        at += size
    slow = [any(a <= start and end <= b for a, b in chunks) for start, end in evidence]
    assert measures.kept_whole(evidence, chunks) == slow


def test_measures_by_hand() -> None:
    evidence = [(100, 200), (300, 350)]
    found = [(0, 50), (150, 250), (190, 310)]
    # Of 150 characters 50 are in the second, and 10 new ones in the third: (190, 200) came before.
    assert measures.recall(evidence, found) == 60 / 150
    assert measures.precision(evidence, found) == 60 / 270
    assert measures.iou(evidence, found) == 60 / (150 + 270 - 60)
    assert measures.gains(evidence, found) == [0, 50 / 150, 10 / 150]
    # 1 / log2(3) and 1 / log2(4); one passage could have all of it.
    by_hand = 50 / 150 * 0.6309297535714575 + 10 / 150 * 0.5
    assert measures.ndcg(evidence, found) == pytest.approx(by_hand)
    assert measures.recall_within(evidence, found, 120) == 50 / 150
    assert measures.recall_within(evidence, found, 80) == 30 / 150
    assert measures.kept_whole(evidence, [(100, 180), (160, 260), (300, 350)]) == [False, True]
    assert measures.recall([], found) == measures.precision(evidence, []) == 0


def test_ndcg_is_1_where_each_document_is_found_whole() -> None:
    evidence = [(0, 30), (1000, 1070)]
    assert measures.ndcg(evidence, [(1000, 1100), (0, 40)], [0.3, 0.7]) == pytest.approx(1)
    assert measures.ndcg(evidence, [(0, 40), (1000, 1100)], [0.3, 0.7]) < 1


# the bootstrap -------------------------------------------------------------------------------


def some_scores(count: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    return [chance.random() for _ in range(count)]


def compared(a: list[float], b: list[float], seed: int = 0) -> Difference:
    means = (resampled(each, seed=seed, draws=500) for each in (a, b))
    return difference(a, b, *means)


def test_the_same_seed_draws_the_same() -> None:
    scores = some_scores(50, 1)
    assert resampled(scores) == resampled(scores)
    assert resampled(scores, seed=1) != resampled(scores)
    assert len(resampled(scores)) == 2000
    # The first draws, which no version may change.
    assert resampled([0.0, 1.0, 2.0, 3.0], draws=3) == [2.0, 1.75, 2.0]


def test_draws_are_paired() -> None:
    scores = some_scores(60, 2)
    better = [each + 0.1 for each in scores]
    found = compared(better, scores)
    assert found.mean == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    assert found.is_real
    assert not compared(scores, scores).is_real


def test_about_one_interval_in_twenty_misses() -> None:
    chance = random.Random(3)
    missed = 0
    for seed in range(200):
        a = [chance.gauss(0.5, 0.2) for _ in range(60)]
        b = [chance.gauss(0.5, 0.2) for _ in range(60)]
        missed += compared(a, b, seed).is_real
    assert 2 <= missed <= 24


# questions -----------------------------------------------------------------------------------

REFUNDS = Document(
    text="# Refunds\n\nA refund takes five\nto ten days. It goes back to the card.\n\n"
    "## Late\n\nAsk the bank. Ask the bank.\n",
    uri="docs/refunds.md",
)
SHIPPING = Document(text="A parcel takes two days.", uri="docs/shipping.md")
BOTH = [REFUNDS, SHIPPING]


def reading(tmp_path: Path, *lines: object) -> tuple[Question, ...]:
    path = tmp_path / "questions.jsonl"
    texts = [each if isinstance(each, str) else json.dumps(each) for each in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return read_questions(path, BOTH)


def test_every_form_of_evidence(tmp_path: Path) -> None:
    text = REFUNDS.text
    start = text.index("five")
    end = start + len("five\nto ten days.")
    five = Evidence("docs/refunds.md", start, end)
    found = reading(
        tmp_path,
        {"query": "a", "document": "docs/refunds.md", "start": start, "end": end},
        {"query": "b", "document": "refunds.md", "text": "five to  ten days."},
        "",
        {"question": "c", "doc": "docs/refunds.md", "evidence": "five to ten days."},
        {"query": "d", "evidence": [{"doc": "refunds.md", "start": start, "end": end}]},
        {
            "query": "e",
            "document": "docs/refunds.md",
            "evidence": ["five to ten days.", {"document": "shipping.md", "text": "two days"}],
            "id": 7,
            "group": "time",
        },
        {"query": "f", "document": "refunds.md", "text": "Ask the bank.", "start": len(text) - 14},
    )
    assert [each.evidence[0] for each in found[:5]] == [five] * 5
    assert found[4].evidence[1] == Evidence("docs/shipping.md", 15, 23)
    assert [each.id for each in found] == ["line 1", "line 2", "line 4", "line 5", "7", "line 7"]
    assert found[4].group == "time"
    last = found[5].evidence[0]
    assert (last.start, text[last.start : last.end]) == (text.rindex("Ask"), "Ask the bank.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "it is no JSON"),
        ("[1]", "[1] is no object"),
        ({"document": "refunds.md"}, '"query" is None; give the question'),
        ({"query": "a", "text": "x"}, '"document" is None; name the document'),
        ({"query": "a", "document": "x.md"}, "no document 'x.md'; name one that there is, such as"),
        ({"query": "a", "document": "refunds.md"}, '"start" is missing; give "start" and "end"'),
        ({"query": "a", "document": "refunds.md", "start": 1}, '"end" is missing'),
        ({"query": "a", "document": "refunds.md", "start": True}, '"start" is True; give a whole'),
        (
            {"query": "a", "document": "shipping.md", "start": 5, "end": 99},
            "[5, 99) is no range of 'docs/shipping.md', which has 24 characters; give 0 <= start",
        ),
        ({"query": "a", "document": "shipping.md", "text": " "}, "\"text\" is ' '; quote what"),
        (
            {"query": "a", "document": "shipping.md", "text": "Two days"},
            "the text 'Two days' is not in 'docs/shipping.md'; quote it word for word",
        ),
        (
            {"query": "a", "document": "refunds.md", "text": "Ask the bank."},
            "is 2 times in 'docs/refunds.md', at 80, 94; quote more of it, or give",
        ),
        (
            {"query": "a", "document": "refunds.md", "text": "Ask the bank.", "start": 87},
            "is 2 times",
        ),
        ({"query": "a", "evidence": []}, '"evidence" is []; give a list'),
        ({"query": "a", "evidence": [3]}, "evidence 3 is no object; give"),
        ({"query": "a", "id": [], "document": "shipping.md", "text": "two"}, '"id" is []; give'),
    ],
)
def test_a_fault_names_its_line_and_a_way_out(tmp_path: Path, line: object, said: str) -> None:
    first = {"query": "q", "document": "shipping.md", "text": "two days"}
    with pytest.raises(LoadError) as fault:
        reading(tmp_path, first, line)
    message = str(fault.value)
    assert message.startswith(f"{tmp_path / 'questions.jsonl'}, line 2: ")
    assert said in message
    assert "; " in message


def test_faults_of_a_whole_file(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="it holds no question; write one a line"):
        reading(tmp_path, "", " ")
    with pytest.raises(LoadError, match="cannot be read: No such file"):
        read_questions(tmp_path / "none.jsonl", BOTH)
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "\xe9"}')
    with pytest.raises(LoadError, match="byte 11 is not UTF-8"):
        read_questions(tmp_path / "latin.jsonl", BOTH)
    one = {"query": "q", "document": "shipping.md", "text": "two days", "id": "a"}
    with pytest.raises(LoadError, match="line 2: the id 'a' is that of line 1"):
        reading(tmp_path, one, one)
    twins = [Document(text="x", uri=f"{folder}/a.md") for folder in "pq"]
    (tmp_path / "twins.jsonl").write_text('{"query": "q", "document": "a.md", "text": "x"}')
    with pytest.raises(LoadError, match=r"2 documents end in 'a.md'; name one whole"):
        read_questions(tmp_path / "twins.jsonl", twins)
    with pytest.raises(OptionError, match="two of the uri"):
        read_questions(tmp_path / "twins.jsonl", [twins[0], twins[0]])


def test_a_range_that_is_quoted_is_read_back(tmp_path: Path) -> None:
    """Fault: one after a hundred of the same words, or with white space, was another, or none."""
    document = Document(text="the cat.  " * 300, uri="a.md")
    ranges = [(1990, 1993), (1987, 1993), (1988, 1990)]
    questions = tuple(
        Question("q", (Evidence("a.md", start, end),), str(start)) for start, end in ranges
    )
    write_questions(tmp_path / "q", questions, [document])
    assert read_questions(tmp_path / "q", [document]) == questions


def test_each_question_has_an_id_of_its_own() -> None:
    given = [Question("a", (), name) for name in ("question 2", "", "x", "x", "x 3")]
    ids = [each.id for each in numbered(given)]
    assert (ids[0], ids[4]) == ("question 2", "x 3")
    assert len(set(ids)) == len(ids)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    questions = (
        Question("a\u2028b", (Evidence("docs/refunds.md", 80, 93),), "1", "g"),
        Question("c", (Evidence("docs/refunds.md", 0, 4), Evidence("docs/shipping.md", 2, 8)), "2"),
    )
    for documents in (BOTH, []):
        write_questions(tmp_path / "q.jsonl", questions, documents)
        assert read_questions(tmp_path / "q.jsonl", BOTH) == questions
    assert '"text"' not in (tmp_path / "q.jsonl").read_text()


@given(st.text("ab \n.*", max_size=30), st.integers(0, 30), st.integers(1, 9))
def test_a_quotation_of_a_slice_is_found(text: str, start: int, size: int) -> None:
    quoted = text[start : start + size]
    found = quotations(text, "  ".join(quoted.split()))
    assert bool(found) == bool(quoted.split())
    for a, b in found:
        assert text[a:b].split() == quoted.split()
    if quoted.strip():
        first = start + len(quoted) - len(quoted.lstrip())
        assert (first, first + len(quoted.strip())) in found


# questions that are made ---------------------------------------------------------------------


def corpus(count: int = 6) -> list[Document]:
    """Documents of sections with words of their own, and a heading that all of them have."""
    chance = random.Random(5)
    letters = "bcdfghklmnprstvz"

    def word() -> str:
        size = chance.randint(2, 4)
        return "".join(chance.choice(letters) + chance.choice("aeiou") for _ in range(size))

    common = [word() for _ in range(40)]

    def sentence() -> str:
        words = [*chance.sample(common, chance.randint(5, 9)), word(), word(), word()]
        return " ".join(words).capitalize() + "."

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(chance.randint(1, 4)))

    documents = []
    for number in range(count):
        sections = [
            f"## {word()} {word()}\n\n{paragraph()}\n\n{paragraph()}\n\n{paragraph()}\n"
            for _ in range(6)
        ]
        text = f"# Guide {number}\n\n" + "\n".join(sections) + "\n## See also\n\n" + "x y " * 40
        documents.append(Document(text=text, uri=f"guide-{number}.md"))
    return documents


def test_known_items_are_slices_and_repeat_nothing() -> None:
    documents = corpus()
    known = {each.uri: each for each in documents}
    made = known_item_questions(documents, count=60)
    assert len(made) == 60
    assert [each.group for each in made] == ["heading"] * 30 + ["sentence"] * 30
    assert len({each.query.lower() for each in made}) == len({each.id for each in made}) == 60
    assert "See also" not in {each.query for each in made}
    for each in made:
        (evidence,) = each.evidence
        text = known[evidence.document].text[evidence.start : evidence.end]
        assert text == text.strip()
        assert text
        if each.group == "heading":
            before = known[evidence.document].text[: evidence.start]
            assert before.endswith(f"## {each.query}\n\n")
            assert "##" not in text
        else:
            words = re.findall(r"\w+", text.lower())
            asked = each.query.split()
            assert 5 <= len(asked) <= 8
            assert sorted(asked, key=words.index) == asked
    spread = [sum(q.evidence[0].document == uri for q in made) for uri in known]
    assert max(spread) - min(spread) <= 2


def test_known_items_are_the_same_for_one_seed() -> None:
    documents = corpus()
    assert known_item_questions(documents) == known_item_questions(documents)
    assert known_item_questions(documents, count=9) == known_item_questions(corpus(), count=9)
    assert known_item_questions(documents, seed=1) != known_item_questions(documents)


def test_a_sentence_that_repeats_often_is_looked_at_once() -> None:
    """Fault: each of them was held against all others, in quadratic time."""
    text = "The common words are always here in this sentence again. " * 20_000
    assert known_item_questions([Document(text=text, uri="a.md")]) == ()


def test_one_kind_fills_up_for_the_other() -> None:
    text = corpus(1)[0].text
    plain = Document(text=text.replace("#", ""), uri="a.txt", media_type="text/plain")
    made = known_item_questions([plain], count=10)
    assert [each.group for each in made] == ["sentence"] * 10
    code = "\n\n".join(f"# Code number {i}\n\n```\n{'x = 1' * 30}\n```" for i in "abcd")
    made = known_item_questions([Document(text=code, uri="a.md")], count=10)
    assert [each.group for each in made] == ["heading"] * 4
    assert known_item_questions([Document(text="Hello.", uri="a.md")]) == ()
    with pytest.raises(OptionError, match="count=0"):
        known_item_questions([plain], count=0)


def test_a_long_section_is_cut_at_a_paragraph() -> None:
    paragraph = "A sentence of some seven words here. " * 9
    text = "# Two words\n\n" + f"{paragraph.strip()}\n\n" * 6
    (made,) = known_item_questions([Document(text=text, uri="a.md")], count=1, seed=0)[:1]
    (evidence,) = made.evidence
    assert evidence.end - evidence.start == 3 * len(paragraph.strip()) + 4
    unbroken = Document(text="# Two words\n\n" + paragraph * 9, uri="a.md")
    (evidence,) = known_item_questions([unbroken], count=1)[0].evidence
    assert 900 < evidence.end - evidence.start <= 1000
    assert unbroken.text[evidence.end - 1] == "."


# sizing --------------------------------------------------------------------------------------

# Sections long enough that a splitter which cuts at every heading can reach each mean.
LONG = Document(text="\n\n".join(each.text.replace("## ", "") for each in corpus()), uri="long.md")


@dataclass(frozen=True)
class Foreign:
    """A splitter that a person wrote, with a size."""

    chunk_size: int = 100
    name: str = "foreign"
    version: int = 1
    fingerprint: str = "foreign"

    def split(self, source: Document | str) -> Chunks:
        assert isinstance(source, Document)
        cuts = [*range(0, len(source.text), self.chunk_size), len(source.text)]
        return Chunks.from_spans(source, pairwise(cuts))


@pytest.mark.parametrize(
    "splitter",
    [
        by_heading(),
        by_paragraph(),
        by_text(),
        SemanticChunker(),
        fixed_with_overlap(),
        for_search(),
        Foreign(),
    ],
    ids=lambda each: each.name,
)
@pytest.mark.parametrize("wanted", [120, 345, 700])
def test_equal_mean_size(splitter: Any, wanted: int) -> None:
    def mean_of(made: Any) -> float:
        chunks = made.split(LONG)
        return (sum(chunks.ends) - sum(chunks.bodies)) / len(chunks)

    made = resized(splitter, wanted, mean_of)
    assert type(made) is type(splitter)
    assert abs(mean_of(made) - wanted) <= 0.06 * wanted
    tries: list[float] = []
    resized(splitter, wanted, lambda each: tries.append(1) or mean_of(each))
    assert len(tries) <= 24


def test_what_has_no_size_or_cannot_be_resized_is_told() -> None:
    records = Document(text="\n".join(["x" * 400] * 9), uri="a.jsonl")
    asked = [Question("x", (Evidence("a.jsonl", 0, 9),))]
    setups = [whole_document(), by_record("\n"), by_paragraph(min_size=300), by_text()]
    found = evaluate(asked, [records], setups, mean_size=100)
    whole, record, paragraph = found.notes
    assert whole.startswith("whole_document has no size that can be set: its passages have a mean")
    assert record.startswith("by_record comes no nearer: its passages have a mean of 400")
    assert paragraph.startswith("by_paragraph comes no nearer")
    assert abs(found.row("by_text").mean_size - 100) <= 2


# evaluate ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted:
    """Cuts at each section, or with ``shift`` so far past each."""

    name: str
    shift: int = 0
    version: int = 1

    @property
    def fingerprint(self) -> str:
        return f"{self.name} {self.shift}"

    def split(self, source: Document | str) -> Chunks:
        assert isinstance(source, Document)
        cuts = [each.start() + self.shift for each in re.finditer("^#", source.text, re.M)]
        cuts = sorted({0, *(min(each, len(source.text)) for each in cuts), len(source.text)})
        return Chunks.from_spans(source, pairwise(cuts))


def planted() -> tuple[list[Document], list[Question]]:
    documents = corpus()
    asked = known_item_questions(documents, count=40)
    return documents, [each for each in asked if each.group == "heading"]


def test_the_best_splitter_is_found() -> None:
    documents, asked = planted()
    steps: list[Step] = []
    plants = [Planted("shifted", 300), Planted("at sections"), whole_document()]
    tried = [Setup(each.name, each, context=False, mix=0.0) for each in plants]
    found = evaluate(asked, documents, tried, watch=steps.append)
    assert found.best.name == "at sections"
    assert found.best.whole == 1
    assert found.best.means["mean_recall"] > 0.95
    assert found.best.means["hit_5"] == 1
    assert found.row("shifted").whole < 0.1
    assert found.row("whole_document").indexed == pytest.approx(1, abs=0.001)
    against = found.compare("at sections", "shifted")
    assert against.is_real
    assert against.low > 0
    assert steps[-1] == Step(3 * len(asked), 3 * len(asked), "whole_document")
    said = str(found)
    assert f"at sections is better than shifted by {against}." in said
    assert "Use at sections: it is better than every other one here." in " ".join(said.split())
    assert "characters on average, which often decides" in " ".join(said.split())
    assert max(map(len, said.splitlines())) <= 100


def test_scores_are_those_of_the_hits() -> None:
    documents, asked = planted()
    found = evaluate(asked[:3], documents, [Setup("plain", by_text(), mix=0.0)])
    from spanwise.index import Index  # noqa: PLC0415

    with Index.open(splitter=by_text()) as index:
        index.add(documents)
        for i, each in enumerate(asked[:3]):
            (evidence,) = each.evidence
            wanted = set(range(evidence.start, evidence.end))
            hits = index.search(each.query, limit=5, mix=0.0, fold=False)
            got = {
                i
                for hit in hits
                if hit.chunk.doc_uri == evidence.document
                for i in range(hit.start, hit.end)
            }
            copies = sum(hit.end - hit.start for hit in hits)
            scores = found.best.scores
            assert scores["recall_5"][i] == len(wanted & got) / len(wanted)
            assert scores["precision_5"][i] == len(wanted & got) / copies


def test_an_evaluation_is_the_same_again_and_in_plain_values() -> None:
    documents, asked = planted()
    tried = [by_heading(), by_text()]
    found, again = (evaluate(asked, documents, tried, mean_size=200) for _ in range(2))
    assert str(found) == str(again)
    plain = found.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["verdict"] == list(found.verdict)
    row = plain["rows"][0]
    assert set(row["means"]) == set(row["scores"])
    assert {"mean_recall", "recall_8000", "iou_5", "hit_5", "ndcg_10"} <= set(row["means"])
    assert len(row["scores"]["mean_recall"]) == len(plain["questions"]) == len(asked)
    assert abs(row["mean_size"] - 200) <= 10
    assert row["less_than_best"]["mean"] == 0
    means = row["means"]
    four = [means[f"recall_{budget}"] for budget in (1000, 2000, 4000, 8000)]
    assert means["mean_recall"] == pytest.approx(sum(four) / 4)


def test_without_context_the_same_ranges_are_indexed_bare() -> None:
    documents, asked = planted()
    documents = [
        Document(text=each.text, uri=each.uri, meta={"title": "A Title"}) for each in documents
    ]
    with_it, without = Setup("with", by_heading()), Setup("bare", by_heading(), context=False)
    found = evaluate(asked, documents, [with_it, without])
    one, other = found.row("with"), found.row("bare")
    assert (one.chunks, one.mean_size, one.whole) == (other.chunks, other.mean_size, other.whole)
    assert other.indexed < one.indexed
    size = sum(len(each.text) for each in documents)
    made = [chunk for each in documents for chunk in by_heading().split(each)]
    assert other.indexed == sum(len(each.text) for each in made) / size
    assert one.indexed == sum(len(each.embed_text) for each in made) / size


def with_what_nobody_searches() -> list[Document]:
    """Documents with front matter and a payload, each of which may be a passage of its own."""
    head = "---\ntitle: Page {0}\nauthor: Somebody\ntags: [alpha, beta, gamma]\n---\n\n"
    said = "Some sentence about item {0} that goes on for a while and ends here. " * 12
    data = "\n\n![](data:image/png;base64,{1})\n\n# More of number {0}\n\nWords, also of {0}.\n"
    text = f"{head}# Topic number {{0}} here\n\n{said}{data}"
    payload = "iVBORw0KGgoAAAANSUhEUgAA" * 40
    return [
        Document(text=text.format(i, payload), uri=f"p{i}.md", media_type="text/markdown")
        for i in range(12)
    ]


def test_what_no_index_takes_has_no_part_in_the_mean_size() -> None:
    """Fault: front matter counted as a passage, so that splitters were compared at 417 and 300."""
    documents = with_what_nobody_searches()
    asked = known_item_questions(documents, count=10)
    setups = [
        by_heading(overlap=0),
        by_text(overlap=0),
        Setup("bare", by_heading(overlap=0), context=False),
    ]
    found = evaluate(asked, documents, setups, mean_size=350)
    for row in found.rows:
        near = [note for note in found.notes if f"{row.name} comes no nearer" in note]
        assert (abs(row.mean_size - 350) <= 7) != bool(near), (row, near)
        assert not near or f"{row.mean_size:,.0f} characters" in near[0]


def test_without_context_the_index_takes_no_more() -> None:
    """Fault: a bare document is plain text, so its front matter was indexed as a passage."""
    documents = with_what_nobody_searches()
    asked = known_item_questions(documents, count=10)
    splitter = by_heading(overlap=0)
    setups = [Setup("with", splitter), Setup("bare", splitter, context=False)]
    one, other = evaluate(asked, documents, setups).rows
    assert (one.chunks, one.mean_size, one.whole) == (other.chunks, other.mean_size, other.whole)
    assert one.chunks < sum(len(splitter.split(each)) for each in documents)


class Letters:
    """An embedder that counts letters."""

    id = "letters"
    dimensions = 26
    ceiling = None

    def embed(self, texts: Iterable[str]) -> list[list[float]]:
        return [[each.lower().count(chr(97 + i)) + 0.01 for i in range(26)] for each in texts]


def test_an_embedder_brings_meaning_and_its_ceiling() -> None:
    pytest.importorskip("numpy")
    documents, asked = planted()
    setups = [
        Setup("both", whole_document(), embedder=Letters()),
        Setup("meaning", by_text(), embedder=Letters(), mode="meaning", mix=0.1),
        Setup("bare", by_text(), embedder=Letters(), context=False, fusion="ranks"),
        Setup("none", by_text(), embedder="none"),
    ]
    found = evaluate(asked[:4], documents, setups)
    assert {each.name: each.mode for each in found.rows} == {
        "both": "both",
        "meaning": "meaning",
        "bare": "both",
        "none": "words",
    }
    assert found.row("both").mean_size <= 2000
    assert "searched by" in str(found)


def test_wrong_use_is_refused_by_name() -> None:
    documents, asked = planted()
    for questions, setups, said in (
        ([], [by_text()], "questions is empty"),
        (asked, [], "setups is empty"),
        (asked, [by_text], "is no splitter; pass one that is made"),
        (asked, [by_text(), by_text(chunk_size=9)], "two of the name 'by_text'"),
        ([Question("q", ())], [by_text()], "has no evidence"),
        ([Question("q", (Evidence("x", 0, 1),))], [by_text()], "is no range of the documents"),
        ([Question("q", (Evidence("guide-0.md", 9, 11),))], [by_text()], "is white space"),
        (asked, by_text(), "is no list"),
        ([Question("q", (Evidence("guide-0.md", 0.0, 5),))], [by_text()], "is no range"),  # type: ignore[arg-type]
        (asked, [Setup("a", by_text(), mode="meaning")], "needs vectors"),
        (asked, [Setup("a", by_text(), embedder="nothing")], "is not known; give one of"),
    ):
        with pytest.raises(OptionError, match=re.escape(said)):
            evaluate(questions, documents, setups)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="which is no Document with a uri"):
        evaluate(asked, [Document(text="x")], [by_text()])
    found = evaluate(asked[:2], documents, [by_text()])
    with pytest.raises(OptionError, match="'x' was not compared; give one of by_text"):
        found.compare("by_text", "x")
    with pytest.raises(OptionError, match="measure='x' is unknown"):
        found.compare("by_text", "by_text", "x")
    with pytest.raises(OptionError, match="measure='x' is unknown"):
        found.by_group(found.best, "x")
    assert found.verdict[-1:] == (
        "Only by_text was measured; give a second setup to compare it with.",
    )


def test_arguments_of_another_kind_are_refused_by_name() -> None:
    """Fault: they raised errors of Python, such as that a dict has no attribute id."""
    documents, asked = planted()
    one, splitter = asked[0], by_text()
    evidence = one.evidence[0]
    for tried, said in (
        ((asked, None, [splitter]), "documents=None is no list"),
        ((asked, documents[0], [splitter]), "is no list; put one in a list too"),
        ((asked, ["a.md"], [splitter]), "documents holds 'a.md', which is no Document"),
        ((None, documents, [splitter]), "questions=None is no list"),
        ((one, documents, [splitter]), "is no list; put one in a list too"),
        (([{"query": "x"}], documents, [splitter]), "which is no Question; give it as Question("),
        (("text", documents, [splitter]), "questions holds 't', which is no Question"),
        (([replace(one, query=None)], documents, [splitter]), "query=None of a question"),
        (([replace(one, group=3)], documents, [splitter]), "group=3 of a question is no string"),
        (([replace(one, id=[])], documents, [splitter]), "id=[] of a question is no string"),
        (([replace(one, evidence=None)], documents, [splitter]), "is no tuple of Evidence"),
        (([replace(one, evidence=evidence)], documents, [splitter]), "is no tuple of Evidence"),
        (([replace(one, evidence=({},))], documents, [splitter]), "is no tuple of Evidence"),
        ((asked, documents, [None]), "setups holds None, which is no splitter"),
        ((asked, documents, [Setup(None, splitter)]), "name=None of a Setup is no name"),  # type: ignore[arg-type]
        ((asked, documents, [Setup(" ", splitter)]), "name=' ' of a Setup is no name"),
        ((asked, documents, [Setup("a", None)]), "setups holds None, which is no splitter"),  # type: ignore[arg-type]
        ((asked, documents, [Setup("a", by_text)]), "pass one that is made"),  # type: ignore[arg-type]
        ((asked, documents, [Setup("a", splitter, context="no")]), "context='no' of the Setup 'a'"),  # type: ignore[arg-type]
    ):
        with pytest.raises(OptionError, match=re.escape(said)):
            evaluate(*tried)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="watch=5 cannot be called"):
        evaluate(asked, documents, [splitter], watch=5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="seed='x' is not a whole number"):
        known_item_questions(documents, seed="x")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="questions holds 1, which is no Question"):
        write_questions("none", [1])  # type: ignore[list-item]


def test_names_that_differ_look_different_at_any_width() -> None:
    """Fault: long names were cut at their end, and no table was narrower than 100 characters."""
    documents, asked = planted()
    names = [
        *(f"engine-hierarchical:{size}" for size in (1000, 1001)),
        *(f"a setup of ours, its {number} kind, and long" for number in ("first", "other")),
        "two  spaces",
        "two spaces",
    ]
    asked = [replace(each, group=f"a long group {i % 3}, {i}"[:-3]) for i, each in enumerate(asked)]
    found = evaluate(asked, documents, [Setup(name, by_text(), mix=0.0) for name in names])
    for width in (60, 80, 100):
        said = found.to_text(width)
        assert max(map(len, said.splitlines())) <= width
        blocks = [block.splitlines() for block in said.split("\n\n")]
        tables = [block for block in blocks if block[0].startswith(("Setup", "Recall by group"))]
        for table in tables:
            assert len(table) == len({re.split("  +", line)[0] for line in table}) == 7
        titles = " ".join(table[0] for table in tables if table[0].startswith("Setup")).split()
        assert " ".join(each for each in titles if each != "Setup") == (
            "Recall to best R@5 P@5 IoU@5 Hit@5 nDCG@10 Whole Chunks Size Index"
        )
    assert str(found) == found.to_text(100)
    assert len(re.findall("^Setup", str(found), re.M)) == 1
    with pytest.raises(OptionError, match="width=0 is below 1"):
        found.to_text(0)


@dataclass(frozen=True)
class Said:
    name: str
    indexed: float = 1.0
    recall: float = 0.8

    @property
    def means(self) -> dict[str, float]:
        return {"mean_recall": self.recall}


def test_what_is_not_shown_is_said_so() -> None:
    rows: Any = [Said("a", 1.2), Said("b"), Said("c"), Said("d")]
    found = [
        Difference(0.02, 0.003, 0.042),
        Difference(0.01, -0.02, 0.04),
        Difference(0.0, 0.0, 0.0),
    ]
    assert list(sentences(rows, found, 64)) == [
        "a is better than b by +0.020 [+0.003, +0.042].",
        "Between a and c no difference is shown (+0.010 [-0.020, +0.040]): 64 questions are too "
        "few to tell less than about 0.030.",
        "a and d are equal to within 0.001.",
        "Use a; c, d may be as good, which more questions could tell. c indexes the least of "
        "them, 1.00 characters for each of the documents against 1.20.",
    ]
    easy = list(sentences([Said("a", recall=0.98), *rows[1:2]], found[1:2], 1))
    assert easy[0].endswith("1 question cannot tell whether that is chance; ask 20 or more.")
    assert easy[1].startswith("Nearly all of the evidence is found: harder questions")


# the command line ----------------------------------------------------------------------------


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    for each in corpus(3):
        (tmp_path / "docs" / each.uri).write_text(each.text, encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("work")
def test_questions_are_json_lines_that_eval_reads(cli: Cli) -> None:
    status, out, err = cli("questions", "docs", "--count", 12)
    assert (status, err) == (0, "12 questions on 3 documents\n")
    lines = [json.loads(line) for line in out.splitlines()]
    assert len(lines) == 12
    for each in lines:
        text = Path(each["document"]).read_text(encoding="utf-8")
        assert text[each["start"] : each["end"]] == each["text"]
    # Also where the questions lie among the documents.
    Path("docs/questions.jsonl").write_text(out, encoding="utf-8")
    status, out, err = cli(
        "eval", "docs/questions.jsonl", "docs", "--by", "heading:400", "--by", "search"
    )
    (found,) = map(json.loads, out.splitlines())
    assert (status, err) == (0, "")
    assert (found["documents"], len(found["questions"])) == (3, 12)
    assert {each["name"] for each in found["rows"]} == {"heading:400", "search"}
    assert found["rows"][0]["size"] in (400, for_search().chunk_size)
    assert not any("were made" in note for note in found["notes"])


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
@pytest.mark.parametrize("typed", ["docs/../docs/q.jsonl", "link.jsonl"])
def test_questions_are_no_document_by_whatever_path(cli: Cli, work: Path, typed: str) -> None:
    """Fault: questions among the documents were one of them where the two paths differed."""
    _, out, _ = cli("questions", "docs", "--count", 4)
    (work / "docs" / "q.jsonl").write_text(out, encoding="utf-8")
    (work / "link.jsonl").symlink_to("docs/q.jsonl")
    status, out, _ = cli("eval", typed, "docs", "--by", "search")
    assert (status, json.loads(out)["documents"]) == (0, 3)


@pytest.mark.usefixtures("work")
def test_questions_come_from_standard_input_too() -> None:
    """Fault: ``questions docs | eval - docs`` looked for a file of the name -."""
    _, asked, _ = command("questions", "docs", "--count", 4)
    status, out, err = command("eval", "-", "docs", "--by", "search", stdin=asked)
    assert (status, len(json.loads(out)["questions"]), err) == (0, 4, b"")
    status, _, err = command("eval", "-", "docs", stdin=b"{")
    assert status == 1
    assert err.startswith(b"spanwise eval: standard input, line 1: it is no JSON")
    Path("q.jsonl").write_bytes(asked)
    for same in ("-", "q.jsonl"):
        status, _, err = command("eval", same, same, stdin=asked)
        assert status == 1
        assert err.decode() == f"{same}: it holds the questions alone; give documents too\n"


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "ascii"])
def test_questions_are_read_back_whatever_the_output_writes(encoding: str) -> None:
    """Fault: with an output of another encoding than UTF-8 eval could not read the questions."""
    Path("docs/ru.md").write_text("# Возврат “денег”\n\n" + "Деньги за пять дней. " * 9, "utf-8")
    status, out, err = command("questions", "docs/ru.md", PYTHONIOENCODING=encoding)
    assert status == 0, err
    assert ("Возврат".encode() in out) == (encoding == "utf-8")  # a person edits them
    Path("q.jsonl").write_bytes(out)
    assert command("eval", "q.jsonl", "docs", "--by", "search")[0] == 0


@pytest.mark.usefixtures("work")
def test_questions_cannot_drive_the_terminal() -> None:
    """Fault: control characters of a document were written raw."""
    said = "# Some heading\n\n" + "One of many refunds \x9b5m with \u202e and \x7f in it. " * 9
    Path("docs/bad.md").write_text(said, "utf-8")
    _, out, _ = command("questions", "docs/bad.md")
    assert "refunds" in out.decode()
    assert not re.search("[\x9b\u202e\x7f]", out.decode())


@pytest.mark.usefixtures("work")
def test_eval_of_a_folder_makes_questions_and_says_so(cli: Cli) -> None:
    status, out, err = cli("eval", "docs", "--format", "text", "--no-context", "--mix", "0")
    assert (status, err) == (0, "")
    text = " ".join(out.split())
    assert "questions (18 heading, " in text
    assert "18 are headings, which favours passages that keep their heading" in text
    for name in ("heading", "paragraph", "text", "structure", "fixed"):
        assert re.search(rf"^{name} +0\.\d", out, re.M)
    assert max(map(len, out.splitlines())) <= 100
    assert "Use " in out


@POSIX
@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("columns", [60, 80, 200])
def test_eval_keeps_to_the_screen(columns: int) -> None:
    status, sent = on_terminal("eval", "docs", columns=columns)
    lines = unstyled(sent).splitlines()
    assert status == 0
    assert any(line.startswith("Setup") for line in lines)
    assert max(map(len, lines)) <= min(columns, 100)


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["eval", "a", "b", "c"], "3 paths are given; give QUESTIONS and FOLDER"),
        (["eval", "docs", "--by", "text:x"], "'x' is no size; give for example --by text:500"),
        (["eval", "docs", "--by", "text:0"], "chunk_size=0 is below 1"),
        (["eval", "docs", "--by", "nothing"], "--by 'nothing' is unknown; give one of"),
        (["eval", "docs", "--by", "text", "--by", "text"], "--by text is given twice"),
        (["eval", "docs", "--by", ":5"], "has no name"),
        (["eval", "docs", "--by", "text:9", "--mean-size", "9"], "contradict each other"),
        (["eval", "docs", "--mode", "both"], "needs vectors"),
        (["eval", "docs", "--mean-size", "0"], "mean_size=0 is below 1"),
        (["questions", "docs", "--count", "0"], "count=0 is below 1"),
    ],
)
def test_wrong_use_ends_with_2(cli: Cli, arguments: list[str], said: str) -> None:
    status, out, err = cli(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith(f"spanwise {arguments[0]}: ")


def test_what_fails_ends_with_1(cli: Cli, work: Path) -> None:
    assert cli("eval", "nowhere")[0] == 1
    status, _, err = cli("eval", "none.jsonl", "docs")
    assert (status, err) == (
        1,
        "spanwise eval: none.jsonl: it cannot be read: No such file or directory; check the path\n",
    )
    (work / "docs" / "bad.md").write_bytes(b"caf\xe9")
    status, out, err = cli("questions", "docs", "--count", 2)
    assert (status, len(out.splitlines())) == (1, 2)
    assert "1 failed:\n  docs/bad.md: byte 3" in err
    (work / "empty").mkdir()
    (work / "empty" / "a.md").write_text("Hello.")
    status, _, err = cli("questions", "empty")
    assert (status, err) == (
        1,
        "empty: no questions can be made from it: they are made from headings with text below, "
        "and from sentences in scripts with spaces; write some yourself (docs/evaluate.md)\n",
    )


@pytest.mark.parametrize("count", [1, 2, 5, 19, 20])
def test_few_questions_show_no_difference(count: int) -> None:
    """A bootstrap of one or two questions has no width."""
    found = compared([1.0] * count, [0.5] * count)
    assert found.is_real is (count >= 20)


def test_made_questions_can_be_read_and_edited(tmp_path: Path) -> None:
    text = "# Возврат денег клиенту\n\n" + "Деньги приходят за пять дней \u2028 или десять. " * 9
    document = Document(text=text, uri="ru.md", media_type="text/markdown")
    made = known_item_questions([document])
    assert made
    write_questions(tmp_path / "q.jsonl", made, [document])
    assert "Возврат" in (tmp_path / "q.jsonl").read_text(encoding="utf-8")
    assert read_questions(tmp_path / "q.jsonl", [document]) == made


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("退款政策与运输时间", "客户在收到商品后十天内可以申请退款。"),
        ("นโยบายการคืนเงิน", "การคืนเงินใช้เวลาห้าถึงสิบวันทำการ "),
    ],
)
def test_headings_without_spaces_are_asked_for(title: str, sentence: str) -> None:
    text = f"# {title}\n\n{sentence * 20}"
    made = known_item_questions([Document(text=text, uri="a.md", media_type="text/markdown")])
    assert [each.query for each in made] == [title]


def test_a_quotation_is_found_however_often_it_is_there(tmp_path: Path) -> None:
    text = "".join(f"{i:3} It works.\n{'x' * 87}\n" for i in range(150))
    document = Document(text=text, uri="a")
    start = text.index("It works.", text.index("120 It"))
    line = {"query": "q", "document": "a", "text": "It works.", "start": start}
    (tmp_path / "q.jsonl").write_text(json.dumps(line), encoding="utf-8")
    (found,) = read_questions(tmp_path / "q.jsonl", [document])
    assert found.evidence == (Evidence("a", start, start + 9),)


def test_a_reranker_that_changes_nothing_is_not_worse() -> None:
    """Fault: what it was not asked about was missing where a context holds more than that."""
    chance = random.Random(1)
    lines = [f"The refund of order {chance.randint(0, 9)} is paid on day {i}." for i in range(300)]
    document = Document(text="\n\n".join(lines), uri="a.txt")
    starts = [document.text.index(line) for line in lines]
    asked = [
        Question("refund order paid", (Evidence("a.txt", at, at + len(line)),), str(at))
        for at, line in zip(starts[::9], lines[::9], strict=True)
    ]
    splitter = by_text(chunk_size=45, overlap=0)
    setups = [
        Setup("plain", splitter),
        Setup("same", splitter, rerank=lambda _, texts: [-i for i in range(len(texts))]),
    ]
    plain, same = evaluate(asked, [document], setups).rows
    assert plain.means == same.means
