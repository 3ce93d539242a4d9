"""Snippets: the user reports by number, then what always holds."""

import gc
import html
import re
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanwise.cutting.clusters import is_border
from spanwise.cutting.spans import is_white, trim
from spanwise.errors import OptionError
from spanwise.lexical import find_matches
from spanwise.snippets import Highlight, highlight, snippet_around

CLOSING = ".,;:!?…。、，)]}»”"
LETTERS = (
    "aAbIİßeé_'\"“ .,()<>&;\t\r\n\0\x1b\u009b\u0301\u200d\ufeff\u202e"
    "東京は。、ｶﾞก้ำ\u1112\u1161\U0001f680\U0001f1e6\U0001f3fb\ud800\udc00\u0649\u064e1"
)
HOSTILE = st.text(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=80)
QUERIES = st.text(st.one_of(st.sampled_from(LETTERS), st.characters()), max_size=12)
WIDTHS = st.integers(1, 90)
seeded = settings(max_examples=400, deadline=None, derandomize=True, database=None)


def marked(shown: Highlight) -> list[str]:
    return [shown.text[m.start : m.end] for m in shown.marks]


def check(source: str, shown: Highlight, width: int) -> None:
    """What holds for every highlight of a whole document."""
    assert shown.text == source[shown.start : shown.end]
    last = 0
    for m in shown.marks:
        assert last <= m.start < m.end <= len(shown.text)
        assert source[m.source_start : m.source_end] == shown.text[m.start : m.end]
        assert is_border(source, m.source_start)
        assert is_border(source, m.source_end)
        last = m.end
    assert shown.matched == bool(shown.marks)
    assert is_border(source, shown.start)
    assert is_border(source, shown.end)
    assert shown.truncated_left == any(not is_white(c) for c in source[: shown.start])
    assert shown.truncated_right == any(not is_white(c) for c in source[shown.end :])
    first_mark = shown.marks[0] if shown.marks else None
    if len(shown.text) > width:
        if first_mark:  # one word that is longer than the width
            assert (first_mark.start, first_mark.end) == (0, len(shown.text))
        else:  # one cluster that is
            assert not any(is_border(source, i) for i in range(shown.start + 1, shown.end))
    if shown.truncated_left:
        assert not is_white(shown.text[0])
        assert shown.text[0] not in CLOSING
        assert unicodedata.category(shown.text[0]) not in ("Pe", "Pf")


# --- user reports ---------------------------------------------------------------------------


def test_ur_111_marks_hold_at_every_width() -> None:
    source = "first of all, note what follows here:\n1. paddle the canoe\n2. moor it at dusk\n"
    for width in range(6, len(source) + 1):
        shown = highlight(source, "paddle", width=width)
        assert marked(shown) == ["paddle"]
        check(source, shown, width)


@pytest.mark.parametrize("query", ["Байкал", "pilot", "夏秋"])
def test_ur_112_positions_are_code_points(query: str) -> None:
    source = "It’s the pilot’s log — «Погода» ясная, 春夏秋冬 and Байкал."
    (mark,) = highlight(source, query).marks
    assert source[mark.source_start : mark.source_end] == query
    check(source, highlight(source, query), 200)


def test_ur_114_a_word_longer_than_the_width_is_whole() -> None:
    shown = highlight("the extraordinarily long word sits here", "extraordinarily", width=8)
    assert shown.text == "extraordinarily"
    assert marked(shown) == ["extraordinarily"]


def test_ur_115_no_width_splits_a_character() -> None:
    source = "Тайник «Русского» Севера — “цена” … " * 30 + "ключ"
    for width in range(1, 201):
        shown = highlight(source, "ключ", width=width)
        assert marked(shown) == ["ключ"]
        check(source, shown, width)


def test_ur_116_marks_are_given_in_snippet_and_document() -> None:
    source = "The lamp was lit again. " * 40 + "After ninety nights it failed."
    shown = highlight(source, "nights", width=60)
    (mark,) = shown.marks
    assert source[mark.source_start : mark.source_end] == "nights"
    assert shown.text[mark.start : mark.end] == "nights"


def test_ur_117_a_phrase_is_one_mark() -> None:
    source = "Cold hands, they said. She drank cold water. Water here stays cold."
    assert marked(highlight(source, '"cold water"')) == ["cold water"]


def test_ur_118_the_width_is_used() -> None:
    source = (
        "Ready. Now measure the lake. Later we compare its depth, so that context can be shown."
    )
    for width in range(12, 100):
        shown = highlight(source, "lake", width=width)
        assert 0.5 * min(width, len(source)) <= len(shown.text) <= width
        assert shown.text == shown.text.strip()
        assert shown.text[0] not in CLOSING
        assert not (shown.truncated_right and shown.text[-1] in ",;:")
        assert shown.start == 0 or source[shown.start - 1] == " "
        assert shown.end == len(source) or source[shown.end] in " ,."
    assert highlight(source, "lake", width=50).text == (
        "Now measure the lake. Later we compare its depth"
    )


def test_ur_119_a_stem_marks_the_whole_word() -> None:
    source = "Filler words go here. " * 30 + "Installation of the pumps is described below."
    shown = highlight(source, "install", width=80)
    assert marked(shown) == ["Installation"]
    check(source, shown, 80)


def test_ur_120_the_passage_that_matched_is_shown() -> None:
    source = (
        "# Daily note\n\n"
        + "Standup was short. " * 40
        + "\n\nBoat hire costs forty crowns per hour.\n"
    )
    shown = highlight(source, "boat hire costs", width=120)
    assert "Boat hire costs forty crowns" in shown.text
    assert marked(shown) == ["Boat", "hire", "costs"]
    missed = highlight(source, "zebra", width=120)
    assert not missed.matched
    assert missed.text.startswith("# Daily note")


def test_ur_121_an_ellipsis_only_where_text_was_cut() -> None:
    shown = highlight("alpha beta gamma", "alpha", width=12)
    assert shown.plain() == "alpha beta…"
    assert not shown.truncated_left
    assert highlight("alpha beta gamma", "gamma", width=12).plain() == "…beta gamma"
    assert highlight("  alpha beta gamma \n", "gamma", width=16).plain() == "alpha beta gamma"


def test_ur_122_html_escapes_everything_but_its_own_tags() -> None:
    source = (
        "<script>alert(1)</script> kiwi &amp; <img src=x onerror=alert(2)> kiwi <mark>fake</mark>"
    )
    shown = highlight(source, "kiwi")
    out = shown.html()
    assert out.count("<mark>") == out.count("</mark>") == len(shown.marks) == 2
    assert "<" not in re.sub("</?mark>", "", out)
    assert html.unescape(re.sub("</?mark>", "", out)) == source
    assert shown.plain() == source


@pytest.mark.parametrize("query", ["任务", "sync", "检查", "步"])
def test_ur_123_marks_are_exactly_the_query(query: str) -> None:
    shown = highlight("第三步 启动job-sync后20个任务恢复正常，检查完成", query)
    assert marked(shown) == [query]


# --- the choice of the window ---------------------------------------------------------------


def test_most_words_win_over_most_matches() -> None:
    source = "red red red red. " + "filler " * 30 + "red blue."
    assert marked(highlight(source, "red blue", width=30)) == ["red", "blue"]


def test_most_matches_then_tightest_then_first() -> None:
    gap = " filler" * 20 + " "
    assert highlight("red one" + gap + "red two red", "red", width=40).start > 100
    tight = "red a b c blue" + gap + "red blue" + gap + "red blue"
    assert highlight(tight, "red blue", width=40).marks[0].source_start == tight.index("red blue")


def test_a_snippet_of_a_text_without_spaces() -> None:
    source = "今日は天気がいい。" * 30 + "東京都は大きい。" + "明日は雨が降る。" * 30
    shown = highlight(source, "東京", width=40)
    check(source, shown, 40)
    assert marked(shown) == ["東京"]
    assert len(shown.text) > 36


def test_a_cut_ends_with_no_comma_and_no_opening_sign() -> None:
    assert highlight("alpha beta, (gamma delta", "alpha", width=11).text == "alpha beta"
    assert highlight("alpha beta (gamma delta", "alpha", width=12).text == "alpha beta"


def test_a_cut_ends_with_no_bullet_of_what_follows() -> None:
    assert highlight("alpha beta\n\n## Gamma delta", "alpha", width=14).text == "alpha beta"


def test_a_long_run_is_cut_inside() -> None:
    source = "x" * 500 + " lake " + "y" * 500
    shown = highlight(source, "lake", width=200)
    assert len(shown.text) == 200
    check(source, shown, 200)


def test_marks_take_in_the_joiners_of_their_clusters() -> None:
    source = "go\u200d now, ✋"
    assert marked(highlight(source, "go")) == ["go\u200d"]


def test_origin_moves_document_positions_alone() -> None:
    document = "Preface. The refund is late."
    shown = highlight(document[9:], "refund", origin=9)
    (mark,) = shown.marks
    assert document[shown.start : shown.end] == shown.text
    assert document[mark.source_start : mark.source_end] == "refund"


@pytest.mark.parametrize("query", ["", " ", '"', '""', "++", "\0", "\ud800", "«»", "'", "%*(^"])
def test_a_query_without_words_matches_nothing(query: str) -> None:
    shown = highlight("  Some text here.", query, width=9)
    assert (shown.matched, shown.text, shown.truncated_left) == (False, "Some text", False)


def test_empty_and_white_texts() -> None:
    for source in ("", " \n\t\ufeff"):
        shown = highlight(source, "a")
        assert (shown.text, shown.truncated_left, shown.truncated_right) == ("", False, False)


# --- rendering ------------------------------------------------------------------------------


def test_ansi_disarms_the_document() -> None:
    source = "\x1b[31mred\x9b2J \ue000 a\rb\r\nc \x7f \u202e \ud800 refund\t."
    out = highlight(source, "refund").ansi()
    assert out == "␛[31mred\ufffd2J \ue000 a␍b\nc ␡ \ufffd \ufffd \x1b[1mrefund\x1b[0m\t."
    out.encode()


@pytest.mark.parametrize("tag", ["", "mark x", "b onclick=alert(1)", "<b>", "b\n", "1"])
def test_html_refuses_what_is_no_tag(tag: str) -> None:
    with pytest.raises(OptionError, match=r"^tag="):
        highlight("a", "a").html(tag)


@pytest.mark.parametrize("style", ["", "1m\x1b[2J", "1;", "١", "1\n"])
def test_ansi_refuses_what_is_no_style(style: str) -> None:
    with pytest.raises(OptionError, match=r"^style="):
        highlight("a", "a").ansi(style)


def test_option_errors_name_the_way_out() -> None:
    with pytest.raises(OptionError, match=r"^before=-1 is below 0; .*starts at the word"):
        snippet_around("a", ["a"], before=-1)
    with pytest.raises(OptionError, match=r"^after=-1 is below 0"):
        snippet_around("a", ["a"], after=-1)
    with pytest.raises(OptionError, match=r"is one string; give a list"):
        snippet_around("a", "a")
    with pytest.raises(OptionError, match=r"^width=0 is below 1"):
        highlight("a", "a", width=0)
    with pytest.raises(OptionError, match=r"^origin=-1 is below 0"):
        highlight("a", "a", origin=-1)


# --- what always holds ----------------------------------------------------------------------


@given(HOSTILE, QUERIES, WIDTHS, st.booleans())
@seeded
@example(" \u0301abc", "abc", 2, False)
@example(" \u0301", "", 1, False)
@example(".\u0301. ab", "ab", 5, False)
@example("a\u200d\u200d b", "a b", 3, False)
def test_slices_borders_width_and_flags(text: str, query: str, width: int, fold: bool) -> None:
    shown = highlight(text, query, width=width, fold_accents=fold)
    check(text, shown, width)
    assert shown.matched == bool(find_matches(text, query, fold_accents=fold))


@given(HOSTILE, st.data(), WIDTHS)
@seeded
def test_a_part_of_the_text_as_query(text: str, data: st.DataObject, width: int) -> None:
    start = data.draw(st.integers(0, len(text)))
    query = text[start : data.draw(st.integers(start, len(text)))]
    check(text, highlight(text, query, width=width), width)


def test_html_holds_no_control_character() -> None:
    """Fault: U+001B, which no HTML may hold, was written as it is, also to a terminal."""
    shown = highlight("late \x1b[2J \x9b5m\x7f \ud800 refund\r\nand \u202e more", "refund")
    # What turns the direction of writing is legal.
    said = "late ␛[2J \ufffd5m␡ \ufffd <mark>refund</mark>\r\nand \u202e more"
    assert shown.html() == said


@given(HOSTILE, QUERIES, WIDTHS)
@seeded
def test_html_round_trip(text: str, query: str, width: int) -> None:
    shown = highlight(text, query, width=width)
    out = shown.html(ellipsis="")
    assert out.count("<mark>") == out.count("</mark>") == len(shown.marks)
    bare = out.replace("<mark>", "").replace("</mark>", "")
    assert not set(bare) & set("<>\"'")
    assert re.fullmatch(r"[\t\n\f\r -~\xa0-\ud7ff\ue000-\U0010ffff]*", out)
    back = html.unescape(bare)
    assert len(back) == len(shown.text)
    for one, other in zip(back, shown.text, strict=True):
        assert one == other or (one in "␡\ufffd" or "␀" <= one <= "␟")
    assert shown.plain(ellipsis="") == shown.text


@given(HOSTILE, QUERIES)
@seeded
def test_ansi_holds_no_escape_but_ours(text: str, query: str) -> None:
    shown = highlight(text, query)
    out = shown.ansi()
    out.encode()
    bare = out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert out.count("\x1b") == 2 * len(shown.marks)
    assert all(c in "\n\t" or unicodedata.category(c) != "Cc" for c in bare)


@given(
    st.lists(st.text("abcdefg", min_size=1, max_size=6), min_size=1, max_size=60),
    st.integers(24, 200),
    st.data(),
)
@seeded
def test_prose_fills_half_the_width_with_whole_words(
    words: list[str], width: int, data: st.DataObject
) -> None:
    source = " ".join(words)
    shown = highlight(source, '"' + data.draw(st.sampled_from(words)) + '"', width=width)
    assert 0.5 * min(width, len(source)) <= len(shown.text) <= width
    assert shown.start == 0 or source[shown.start - 1] == " "
    assert shown.end == len(source) or source[shown.end] == " "


@given(HOSTILE, st.lists(QUERIES, max_size=4), WIDTHS, WIDTHS)
@seeded
def test_snippet_around_takes_any_text(
    text: str, words: list[str], before: int, after: int
) -> None:
    snippet = snippet_around(text, words, before=before, after=after)
    assert -1 <= snippet.at < max(1, len(text))
    assert len(snippet.text) <= len(text)


def test_the_text_edges_are_those_of_trim() -> None:
    source = "\ufeff  .NET runtime\n "
    shown = highlight(source, "net")
    assert (shown.start, shown.end) == trim(source, 0, len(source))
    assert shown.text == ".NET runtime"  # what the text itself starts with is no cut


N = 15_000


@pytest.mark.parametrize("query", ["a", "東京", "cold water"])
@pytest.mark.parametrize("piece", ["x", "東", "a ", "\u0301", "\U0001f1e6", " ", ".", "a\u200d"])
def test_time_grows_with_the_text(piece: str, query: str) -> None:
    def fastest(size: int) -> float:
        text = "a" + piece * size + " a"
        times = []
        # The collector would walk what other tests have imported, more often for a longer text.
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                begun = time.process_time()
                highlight(text, query).html()
                snippet_around(text, [query])
                times.append(time.process_time() - begun)
        finally:
            gc.enable()
        return min(times)

    fastest(10)
    assert fastest(4 * N) < 8 * max(fastest(N), 0.002)


@pytest.mark.parametrize("wrong", ["10", 2.5, True, None])
def test_lengths_are_whole_numbers(wrong: Any) -> None:
    with pytest.raises(OptionError, match=r"width=.* is not a whole number"):
        highlight("a b c", "b", width=wrong)
    with pytest.raises(OptionError, match=r"before=.* is not a whole number"):
        snippet_around("abc", ["a"], before=wrong)
