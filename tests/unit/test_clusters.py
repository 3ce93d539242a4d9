"""Grapheme clusters against the vectors of UAX #29, a second implementation and brute force."""

import gzip
import re
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.cutting import grapheme_table as table
from spanwise.cutting.clusters import border_after, border_before, clusters, is_border

VECTORS = Path(__file__).parent.parent / "data" / "GraphemeBreakTest.txt.gz"
FLAGS = "\U0001f1e6\U0001f1f7"
FAMILY = "\U0001f468\u200d\U0001f469\ufe0f\u200d\U0001f467"
HOSTILE = [
    *"ae \t\n\r\x00\f\u00a9\u00ad\ufeff\u200b",
    *("\u0301", "\u0903", "\u0600", "\u200d", "\ufe0f", "\u0e33", "\u0e01"),
    *("\u1100", "\u1161", "\u11a8", "\uac00", "\uac01"),
    *("\U0001f1e6", "\U0001f1f7", "\U0001f468", "\U0001f3fd"),
    *("\ud83d", "\ude00", "\ud83d\ude00", "\r\n", FLAGS, FAMILY),
]
HOSTILE_TEXT = st.lists(st.sampled_from(HOSTILE), max_size=30).map("".join)


def _vectors():
    for row in gzip.decompress(VECTORS.read_bytes()).decode().splitlines():
        if not row.startswith("#"):
            text, ends = "", []
            for word in row.split()[1:]:
                if word == "÷":
                    ends.append(len(text))
                elif word != "×":
                    text += chr(int(word, 16))
            yield row, text, ends


def _second_implementation():
    """Table 1c of UAX #29 as a regular expression, which is how the standard states it."""
    extend, emoji = f"[{table.EXTEND}]", f"[{table.EXTENDED_PICTOGRAPHIC}]"
    letter = f"[{table.REGIONAL_INDICATOR}]"
    lv = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
    lead, vowel, trail = f"[{table.HANGUL_L}]", f"[{table.HANGUL_V}]", f"[{table.HANGUL_T}]"
    core = (
        rf"{lead}*(?:{vowel}+|[{lv}]{vowel}*|(?![{lv}])[\uac00-\ud7a3]){trail}*|{lead}+|{trail}+"
        rf"|{letter}{letter}|{emoji}(?:{extend}*[{table.ZWJ}]{emoji})*"
        rf"|[\ud800-\udbff][\udc00-\udfff]|[^\r\n{table.CONTROL}]"
    )
    post = f"[{table.EXTEND}{table.ZWJ}{table.SPACING_MARK}]"
    prepend = f"[{table.PREPEND}]"
    return re.compile(rf"\r\n|[\r\n{table.CONTROL}]|{prepend}*(?:{core}){post}*|{prepend}+{post}*")


CLUSTER = _second_implementation()


def _by_pattern(text):
    return [match.end() for match in CLUSTER.finditer(text)]


def test_the_table_and_the_vectors_are_of_one_unicode_version():
    first = gzip.decompress(VECTORS.read_bytes()).decode().splitlines()[0]
    assert first == f"# GraphemeBreakTest-{table.UNICODE_VERSION}.txt"


def test_every_row_of_the_unicode_vectors():
    rows = list(_vectors())
    assert len(rows) == 602
    for row, text, ends in rows:
        assert list(clusters(text)) == ends, row
        assert [i for i in range(1, len(text) + 1) if is_border(text, i)] == ends, row
        assert _by_pattern(text) == ends, row


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", []),
        ("ab", [1, 2]),
        ("\r\n\r\n\n\r", [2, 4, 5, 6]),
        ("\ud83d\ude00\ud83d", [2, 3]),
        ("\ude00\ud83d", [1, 2]),
        ("\ud83d\ude00\u0301a", [3, 4]),
        (FLAGS + FLAGS[0], [2, 3]),
        ("a" + FLAGS + FLAGS, [1, 3, 5]),
        (FAMILY, [len(FAMILY)]),
        ("a\u200d\U0001f469", [2, 3]),
        ("\u0600a", [2]),
        ("\u0600\n", [1, 2]),
        ("\uac00\u1161\u11a8", [3]),
        ("\uac01\u1161", [1, 2]),
    ],
)
def test_named_clusters(text, ends):
    assert list(clusters(text)) == ends


def test_look_back_ends_at_lo():
    run = FLAGS * 3
    assert [i for i in range(7) if is_border(run, i, 2)] == [0, 1, 2, 4, 6]
    assert border_before(run, 5, 2) == 4
    assert border_before("a" + "\u0301" * 9, 8, 4) == 4


def test_a_long_flag_run_is_counted_from_its_start():
    text = "ab" + FLAGS * 200
    assert [i for i in range(300, 310) if is_border(text, i)] == [300, 302, 304, 306, 308]


@settings(derandomize=True, max_examples=500)
@given(HOSTILE_TEXT)
def test_clusters_and_is_border_and_the_pattern_of_the_standard_agree(text):
    ends = list(clusters(text))
    assert ends == [i for i in range(1, len(text) + 1) if is_border(text, i)]
    assert ends == _by_pattern(text)


@settings(derandomize=True, max_examples=300)
@given(HOSTILE_TEXT, st.data())
def test_a_known_border_changes_no_answer(text, data):
    borders = [0, *clusters(text)]
    lo = data.draw(st.sampled_from(borders))
    hi = data.draw(st.sampled_from([b for b in borders if b >= lo]))
    assert list(clusters(text, lo, hi)) == [b for b in borders if lo < b <= hi]
    for i in range(lo, hi + 1):
        assert is_border(text, i, lo) == (i in borders)
        assert border_before(text, i, lo) == max(b for b in borders if b <= i)
        assert border_after(text, i, hi, lo) == min(b for b in borders if b >= i)


def _seconds_to_cut(text):
    start, lo = process_time(), 0
    while lo < len(text):
        cut = border_before(text, min(lo + 1000, len(text)), lo)
        lo = cut if cut > lo else lo + 1000
    return process_time() - start


@pytest.mark.parametrize("unit", [FLAGS, FAMILY, "a" + "\u0301" * 999, "\u0301", "\r\n"])
def test_cutting_is_linear(unit):
    text = unit * (50_000 // len(unit))
    small = min(_seconds_to_cut(text) for _ in range(5))
    large = min(_seconds_to_cut(text * 4) for _ in range(3))
    assert large < 8 * small + 0.01
