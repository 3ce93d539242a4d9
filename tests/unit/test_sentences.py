"""Sentence and clause ends: one example a rule, and the promises of the module on any text."""

import re
from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.cutting.sentences import (
    clause_cuts,
    last_clause_cut,
    last_sentence_cut,
    sentence_cuts,
)


def _pieces(cuts, text):
    ends = [0, *cuts(text, 0, len(text)), len(text)]
    return [text[a:b] for a, b in pairwise(ends)]


def _last_words(text):
    return [piece.split()[-1] for piece in _pieces(sentence_cuts, text)]


def test_ur_132_dots_in_addresses_versions_and_paths_end_nothing():
    text = (
        "Mail crew@ship.example on r2.0.1 of docs/map.md now. Then stop. "
        "See https://a.example/b?c=d.e today."
    )
    assert _last_words(text) == ["now.", "stop.", "today."]


def test_ur_133_abbreviations_initials_and_ordinals_end_nothing():
    text = (
        "Dr. Lee met K. L. Berg at 9 a.m. near St. Anne, e.g. for tea. "
        "Am 3. Mai kamen sie usw. zurück. They left."
    )
    assert _last_words(text) == ["tea.", "zurück.", "left."]


def test_ur_034_a_cut_keeps_the_full_stop_before_it():
    assert _pieces(sentence_cuts, "第一条规定。第二条规定。第三条规定。") == [
        "第一条规定。",
        "第二条规定。",
        "第三条规定。",
    ]


def test_ur_075_chinese_sentences_and_clauses():
    text = "今天的会议讨论了三个问题。第一是预算；第二是人员安排！第三是时间表？请回复。谢谢。"
    assert [word[-1] for word in _last_words(text)] == list("。！？。。")
    assert _pieces(clause_cuts, text)[0].endswith("第一是预算；")


@pytest.mark.parametrize("mark", "।؟۔։።។")
def test_ur_076_marks_of_other_scripts(mark):
    text = "यह पहला वाक्य है। यह दूसरा वाक्य है। यह तीसरा वाक्य है।".replace("।", mark)
    assert [word[-1] for word in _last_words(text)] == [mark] * 3


@pytest.mark.parametrize(
    "text",
    [
        # white space and marks
        "It ran.| It fell.",
        "It ran.|\nIt fell.",
        "It ran!?| It fell.",
        "It ran‼| It fell.",
        "all of this is small.| so is this.",
        "Is it so?| yes, it is.",
        "The dog ran .| The cat sat .",
        # closers
        "(It ran.)| It fell.",
        "“It ran.”| It fell.",
        '"Stop!" he said.| "Stop!"| She left.',
        "**It ran.**| It fell.",
        "It ran.[1]| It fell.[2][3]| It rose.[^4]| It sank.",
        "He saw it (!) there.| It [...] Ran.| So.",
        # ellipsis
        "Wait... what?| Wait...| What?",
        "Wait… what?| Wait…| What?",
        "Wait . . . what?| Yes.",
        # abbreviations
        "Mr. Lee and Mrs. Roe met Prof. Kim.| They ran.",
        "See Fig. 3, Eq. (4) and Vol. 2.3.| Then stop.",
        "See No. 5 and Sec. 12b.| He said no.| Then he left.",
        "Apples, pears etc. are sold.| He sold pears etc.| She did not.",
        "Smith et al. (2020) and Roe et al. Showed it.| Right.",
        "At 5 p.m. the bell rang.| It rang at 5 p.m.| We left.",
        "The U.S. economy grew.| He left the U.S.| She stayed.",
        "Acme Inc. was sold.| He sold Acme Inc.| She left.",
        "In Jan. 2020 it was z.B. so, d. h. Gut.| Dann Nr. 4.2.| Ende.",
        "M. Lebrun et Mme. Roy, p.ex. Anne, viennent.| La Sra. Gil en la pág. 12a.| Fin.",
        "It was e.g. Green or i.e. Blue.| Right.",
        # initials and numbers
        "J. R. R. Tolkien and J.R.R. Tolkien wrote.| We read.",
        "Am 3. Mai war es so.| Am 31. Mai nicht.",
        "3. Then stop.| Now.",
        "2.1. Aims and means.| It was 2.1.| It was 1990.| It was 12%.| It was $5.| So.",
        "네.| 그래.| 좋다.",
        # scripts without spaces
        "「行け。」|次だ！？|終わり。",
        "「行け！」と言った。|そう（！）だ。|値は３．１４です．|次。[1]|後",
        "ဟုတ်တယ်။|မဟုတ်ဘူး။",
    ],
)
def test_sentences(text):
    assert "|".join(_pieces(sentence_cuts, text.replace("|", ""))) == text


@pytest.mark.parametrize(
    "text",
    [
        "First,| second;| third:| fourth",
        "It is 1,000 at 12:30,| or so",
        'Say "yes,"| now',
        "He –| who ran –| fell",
        "He —| who ran —| fell",
        "a well-known pre–war, or- word".replace(",", ",|"),
        "أولا،| ثانيا؛| ثالثا",
        "一，|二、|三；|四：|１，０００",
        "ဟုတ်၊|မဟုတ်",
    ],
)
def test_clauses(text):
    assert "|".join(_pieces(clause_cuts, text.replace("|", ""))) == text


def test_white_space_must_lie_inside_the_window():
    assert sentence_cuts("It ran. It fell.", 0, 7) == []
    assert sentence_cuts("It ran. It fell.", 0, 8) == [7]
    assert sentence_cuts("走。走。", 0, 2) == [2]
    assert sentence_cuts("走。」走。", 0, 2) == []
    assert sentence_cuts("It ran.) It fell.", 7, 17) == [8]


def test_the_end_of_the_text_is_no_cut():
    assert sentence_cuts("It ran. ", 0, 8) == [7]
    assert sentence_cuts("It ran.", 0, 7) == sentence_cuts("走。", 0, 2) == []
    assert clause_cuts("one,", 0, 4) == clause_cuts("一，", 0, 2) == []


PARTS = [
    *"aB1 .!?…,;:)\"'*]–—\n\r\t。，．」と１。।؟၊[^",
    *(". ", ".. ", ", ", "Dr. ", "etc. ", "e.g. ", "[12]", "He ran. ", ").", "\r\n", "\ud800"),
    *(")" * 39, ")" * 40, ")" * 41, "." * 50, " " * 41, "x" * 60, "[1]" * 4),
]
HOSTILE_TEXT = st.lists(st.sampled_from(PARTS), max_size=25).map("".join)
BARE = "。！？｡．။，、；：､၊"
TAIL = r"[\"'”’»›)\]}*_`」』】〉》〕）］｝｣]*(?:\[\^?[0-9]{1,3}\])*$"


@settings(derandomize=True, max_examples=1500)
@given(HOSTILE_TEXT, st.data())
def test_a_window_gives_the_cuts_of_the_whole_text_that_lie_in_it(text, data):
    lo = data.draw(st.integers(0, len(text)))
    hi = data.draw(st.integers(lo, len(text)))
    for cuts, last in ((sentence_cuts, last_sentence_cut), (clause_cuts, last_clause_cut)):
        seen = [c for c in cuts(text, 0, len(text)) if lo < c <= hi]
        # At `hi` only a mark that needs no white space makes a cut: read back over its closers.
        if seen and seen[-1] == hi and re.sub(TAIL, "", text[:hi])[-1] not in BARE:
            seen.pop()
        assert cuts(text, lo, hi) == seen
        assert last(text, lo, hi) == (seen[-1] if seen else -1)


@settings(derandomize=True, max_examples=300)
@given(HOSTILE_TEXT, HOSTILE_TEXT, HOSTILE_TEXT)
def test_text_far_away_changes_no_cut(before, text, after):
    before, after = before + "x " * 60, "x " * 60 + after
    whole = before + text + after
    alone = "x " * 60 + text + "x " * 60
    shift = len(before) - 120
    for cuts in (sentence_cuts, clause_cuts):
        near = cuts(alone, 120, 120 + len(text))
        assert cuts(whole, len(before), len(before) + len(text)) == [c + shift for c in near]


def test_windows_longer_than_one_reading_from_the_right():
    for filler in ("x" * 700, "x. " * 300, ") " * 400, "」" * 700):
        text = "He ran, she fell. " + filler
        assert last_sentence_cut(text, 0, len(text)) == sentence_cuts(text, 0, len(text))[-1]
        assert last_clause_cut(text, 0, len(text)) == 7


def _seconds(text):
    start = process_time()
    for cuts in (sentence_cuts, last_sentence_cut, clause_cuts, last_clause_cut):
        cuts(text, 0, len(text))
    for lo in range(0, len(text), 1000):
        last_sentence_cut(text, lo, min(lo + 1000, len(text)))
        last_clause_cut(text, lo, min(lo + 1000, len(text)))
    return process_time() - start


@pytest.mark.parametrize(
    "unit",
    [*".),。x ", ". ", "!?", ".)", "。」", "a. ", "1. ", "— ", "[1]", ".[1", ".\n"],
)
def test_time_grows_with_the_text(unit):
    text = unit * (20_000 // len(unit))
    small = min(_seconds(text) for _ in range(5))
    large = min(_seconds(text * 4) for _ in range(3))
    assert large < 8 * small + 0.01
