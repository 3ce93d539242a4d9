"""Stems are those of SQLite's word index, so that what is found by a stem is also marked."""

import sqlite3
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise import highlight
from spanwise.stemming import stem

# fmt: off
ENDINGS = [
    "", "s", "es", "ies", "sses", "ed", "eed", "ing", "y", "e", "ll", "ion", "sion", "tion",
    "ational", "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli", "ousli",
    "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti",
    "biliti", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er",
    "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti", "ous", "ive",
    "ize",
]
# fmt: on


def stems_of_sqlite(words: list[str]) -> list[str]:
    """What the tokenizer `porter` of FTS5 makes of words of letters and digits."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE w USING fts5(t, content='', tokenize='porter ascii')")
    connection.executemany("INSERT INTO w (rowid, t) VALUES (?, ?)", enumerate(words, 1))
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(w, 'instance')")
    found = dict(connection.execute("SELECT doc, term FROM v"))
    connection.close()
    return [found[i] for i in range(1, len(words) + 1)]


def test_stems_are_those_of_sqlite() -> None:
    beginnings = ["".join(letters) for letters in product("aybst", repeat=3)]
    beginnings += [
        "controll",
        "hopp",
        "fil",
        "fizz",
        "é",
        "naïv",
        "中",
        "1",
        "a1",
        "relat",
        "condi",
    ]
    words = [beginning + ending for beginning in beginnings for ending in ENDINGS]
    words += ["y", "sky", "syzygy", "oed", "ing", "a" * 63 + "s", "a" * 64 + "s", "任务", "ß"]
    assert list(map(stem, words)) == stems_of_sqlite(words)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("abcdeilnostuyzé1", min_size=1, max_size=12), min_size=1, max_size=20))
def test_stems_of_any_letters_are_those_of_sqlite(words: list[str]) -> None:
    assert list(map(stem, words)) == stems_of_sqlite(words)


def test_a_lone_surrogate_is_a_consonant_like_others() -> None:
    assert stem("a\ud800ing") == "a\ud800"


def test_a_stem_may_end_inside_a_character() -> None:
    """Fault: of a letter whose last two bytes are equal SQLite takes one, and this raised."""
    letters = [chr(code) for code in range(0x800, 0xD800) if chr(code).isalpha()]
    doubled = [letter for letter in letters if len(set(letter.encode()[-2:])) == 1]
    assert len(doubled) > 400
    for letter in doubled:
        assert stem(f"a{letter}ing") == stem(f"a{letter}ed") == "a\ufffd"


def test_words_of_one_stem_are_marked_also_in_a_phrase() -> None:
    found = highlight("The Installation of pumps.", "installing pump", stem=stem)
    assert found.plain("[", "]") == "The [Installation] of [pumps]."
    found = highlight("The Installation of pumps.", '"installed of pump"', stem=stem)
    assert found.plain("[", "]") == "The [Installation of pumps]."
    assert not highlight("The Installation of pumps.", "installing").matched
