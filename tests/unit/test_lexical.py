"""Words, their ranges, and where a query matches."""

import re
import sys
import time
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spanwise import lexical as module
from spanwise.lexical import Prefixes, find_matches, lexical_spans, lexical_tokens, normal_case

HOSTILE = st.text(
    st.one_of(
        st.sampled_from(
            "aAbİßΣσςΟeé_'\"“” .,\t\r\n\0\u00ad\u0301\u0316\u0f73\u0338=<\u200d\u200c\ufeff\u0085"
            "東京都は。ｶﾞก้ำ\u1112\u1161\u11abÅ½①Ⅳ\U0001f680\U0001f1e6\ud800\udc00\u0649\u064e1"
        ),
        st.characters(),
    ),
    max_size=60,
)
seeded = settings(max_examples=300, deadline=None, derandomize=True, database=None)


def found(text: str, query: str, **options: bool) -> list[str]:
    return [text[m.start : m.end] for m in find_matches(text, query, **options)]


def plain_tokens(text: str) -> list[str]:
    """The rule read one character at a time."""
    words: list[str] = []
    inside = False
    for c in unicodedata.normalize("NFC", text).lower():
        kind = unicodedata.category(c)[0]
        if kind in "LN" and not inside:
            words.append(c)
        elif kind in "LN" or (kind == "M" and inside):
            words[-1] += c
        inside = kind in "LN" or (kind == "M" and inside)
    return words


# --- the rule -------------------------------------------------------------------------------


def test_word_class_is_the_category() -> None:
    word = module._any_word()
    for point in range(sys.maxunicode + 1):
        c = chr(point)
        kind = unicodedata.category(c)[0]
        if c != "_":
            assert (word.match(c) is not None) == (kind in "LN"), hex(point)
        assert (word.fullmatch("a" + c) is not None) == (c == "_" or kind in "LNM"), hex(point)


def test_normal_case_keeps_what_begins_and_what_continues_a_word() -> None:
    """What lets `iter_spans` read two lists side by side, for every code point and composite."""

    def shape(text: str) -> str:
        """A word as W, what is between as -; a mark counts as what it follows."""
        kinds = "".join(
            "W"
            if unicodedata.category(c)[0] in "LN"
            else "M"
            if unicodedata.category(c)[0] == "M"
            else "-"
            for c in text
        )
        return re.sub("-[-M]*|^M+", "-", re.sub("W[WM]*", "W", kinds))

    for point in range(sys.maxunicode + 1):
        c = chr(point)
        assert shape(normal_case(c)) == shape(c), hex(point)
        apart = unicodedata.decomposition(c)
        if apart and "<" not in apart:
            pair = "".join(chr(int(part, 16)) for part in apart.split())
            assert shape(normal_case(pair)) == shape(pair), hex(point)


@given(HOSTILE)
@seeded
@example("İİ ΟΔΟΣ'Α ΟΔΟΣ _a_b_ \u0301x =\u0338y 5\u212b")
def test_tokens_follow_the_rule(text: str) -> None:
    assert lexical_tokens(text) == plain_tokens(text)


@given(HOSTILE)
@seeded
@example("İzmir re\u0301sume\u0301 \u1112\u1161\u11ab")
def test_spans_are_the_tokens_in_order_and_disjoint(text: str) -> None:
    spans = lexical_spans(text)
    assert [word for word, _, _ in spans] == lexical_tokens(text)
    last = 0
    for word, start, end in spans:
        assert last <= start < end <= len(text)
        assert lexical_tokens(text[start:end])[0][:1] == word[:1]
        last = end


def test_span_of_a_letter_that_lower_case_makes_two() -> None:
    assert lexical_spans("İz a") == [("i\u0307z", 0, 2), ("a", 3, 4)]


def test_span_of_decomposed_text_is_in_the_text_as_given() -> None:
    assert lexical_spans("le re\u0301sume\u0301!") == [("le", 0, 2), ("résumé", 3, 11)]


@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD"])
@pytest.mark.parametrize("run", ["\u0301\u0316", "\u0f73\u0301", "ﾞ\u0301", "\u0344\u0316\u0d4d"])
def test_normal_form_of_many_marks_is_the_normal_form(form: str, run: str) -> None:
    text = "xe" + run * 50 + "é ｶ" + run * 40
    assert module._normal(form, text) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


@given(HOSTILE)
@seeded
def test_normal_form_is_the_normal_form(text: str) -> None:
    long = text + "e" + "\u0301\u0316" * 20 + text
    assert module._normal("NFC", long) == unicodedata.normalize("NFC", long)


# --- where a query matches ------------------------------------------------------------------


def test_a_word_matches_every_word_that_begins_with_it() -> None:
    assert found("Refunds, a prefund, REFUND", "refund") == ["Refunds", "REFUND"]


def test_a_single_ascii_letter_matches_itself_alone() -> None:
    assert found("C++ is not cold, C is", "C++") == ["C", "C"]
    assert found("4 of 40", "4") == ["4"]


def test_quotes_turn_prefixes_off() -> None:
    assert found("refunds refund", '"refund"') == ["refund"]


def test_phrase_words_may_have_punctuation_between_them() -> None:
    assert found("cold — water; cold_water, cold hot water", '"cold water"') == [
        "cold — water",
        "cold_water",
    ]


def test_a_word_with_an_apostrophe_is_one_match_or_its_parts() -> None:
    assert found("I can't, cannot, can’t", "can't") == ["can't", "can’t"]
    assert found("the pilots", "pilot's") == ["pilots"]


def test_an_open_quote_is_no_phrase() -> None:
    assert found("cold hot water", '"cold water') == ["cold", "water"]


def test_a_phrase_wins_over_its_words() -> None:
    assert found("cold water, cold", '"cold water" cold') == ["cold water", "cold"]


@pytest.mark.parametrize("query", ["任务", "sync", "检查", "步"])
def test_ur_123_words_inside_chinese(query: str) -> None:
    assert found("第三步 启动job-sync后20个任务恢复正常，检查完成", query) == [query]


def test_spaceless_scripts_match_anywhere() -> None:
    assert found("大東京都", "東京") == ["東京"]
    assert found("ภาษาไทยง่าย", "ไทย") == ["ไทย"]
    assert found("スーパーコンピュータ", "コンピュータ") == ["コンピュータ"]
    assert found("使用sync后", "sync后") == ["sync后"]


def test_korean_marks_the_word_with_its_particle() -> None:
    assert found("대서울 서울에서 왔다", "서울") == ["서울에서"]


def test_a_run_found_nowhere_is_looked_for_by_pairs() -> None:
    assert found("今天北京天气晴朗", "北京的天气") == ["北京", "天气"]
    assert found("他说天气预报", "明天气预") == ["天气预"]
    assert found("北京的天气，天气", "北京的天气") == ["北京的天气"]


def test_width_and_voicing_forms_are_one() -> None:
    assert found("ｶﾞｽ と ＡＢＣ", "ガス abc") == ["ｶﾞｽ", "ＡＢＣ"]


def test_case_folds_beyond_lower_case() -> None:
    assert found("Straße ΟΔΟΣ", "STRASSE οδοσ") == ["Straße", "ΟΔΟΣ"]


def test_accents_fold_only_when_asked() -> None:
    text = "un re\u0301sume\u0301, Résumé"
    assert found(text, "resume") == []
    assert found(text, "resume", fold_accents=True) == ["re\u0301sume\u0301", "Résumé"]
    assert found("مَرْحَبًا", "مرحبا", fold_accents=True) == ["مَرْحَبًا"]
    assert found("हिन्दी", "हिनदी", fold_accents=True) == []  # a virama is no accent


def test_sequences_that_share_beginnings_and_ends() -> None:
    assert found("一一一二", "一一二 一二") == ["一一二"]
    assert found("東京都庁", "京都 東京都") == ["東京都"]


@given(HOSTILE, HOSTILE, st.booleans())
@seeded
def test_matches_are_in_order_and_disjoint(text: str, query: str, fold_accents: bool) -> None:
    last = 0
    for match in find_matches(text, query, fold_accents=fold_accents):
        assert last <= match.start < match.end <= len(text)
        last = match.end


@given(HOSTILE)
@seeded
def test_a_text_finds_its_own_words(text: str) -> None:
    quoted = '"' + re.sub('["“”„«»]', " ", text) + '"'
    if lexical_tokens(text) and not re.search('["“”„«»]', text):
        assert len(find_matches(text, quoted)) == 1
    assert bool(find_matches(text, text)) == bool(lexical_tokens(text))


@given(st.lists(st.text("ab", max_size=4)), st.text("ab", min_size=1, max_size=6))
@seeded
def test_prefixes_find_the_longest(beginnings: list[str], word: str) -> None:
    fitting = [b for b in beginnings if b and word.startswith(b)]
    number = Prefixes((b, len(b)) for b in beginnings).find(word)
    assert number == max(map(len, fitting), default=None)


# --- cost -----------------------------------------------------------------------------------

N = 15_000
LONG_QUERY = " ".join(["東" * 40 + "京", *("ab" * k for k in range(1, 80)), '"a a a b"'])


@pytest.mark.parametrize(
    "piece",
    ["x", "東", "東京都。", "a ", "e\u0301\u0316", "\u0301\u0316", "ﾞ\u0301", "a\u200d", "İ"],
)
def test_time_grows_with_the_text(piece: str) -> None:
    def fastest(size: int) -> float:
        text = "a" + piece * size
        times = []
        for _ in range(3):
            begun = time.process_time()
            lexical_spans(text)
            find_matches(text, LONG_QUERY)
            times.append(time.process_time() - begun)
        return min(times)

    fastest(10)
    assert fastest(4 * N) < 8 * max(fastest(N), 0.002)


def test_normal_form_of_many_marks_is_linear() -> None:
    assert len(lexical_tokens("a" + "\u0301\u0316" * 500_000)) == 1  # minutes when quadratic


def test_a_query_may_be_long() -> None:
    query = " ".join(f"w{k}" for k in range(20_000)) + " " + "東" * 20_000
    assert found("w19999 東東", query) == ["w19999", "東東"]
