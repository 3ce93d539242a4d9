"""Sizes in tokens: never below the true count, read once, whatever the tokenizer hides."""

from __future__ import annotations

import gc
import json
import os
import pickle
import random
import signal
import string
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hostile import hostile
from hypothesis import given
from hypothesis import strategies as st
from tokenizer_makes import MAKES, minilm_json, tokenizer

from spanwise import (
    MissingExtraError,
    OptionError,
    TokenizerWarning,
    by_layout,
    by_paragraph,
    by_text,
    cap,
    explain,
    fixed_with_overlap,
    tokens,
    twins,
)
from spanwise.cutting import encodings, reading, sums, token_ends, units, utf8
from spanwise.cutting.sizers import Counted
from spanwise.tokenizing import Tokens

PROSE = "The refund takes five to ten days, of which two are ours. Ask again after that!\n\n" * 30
FOREIGN = "Café « über » naïve 🤖 words, “quoted” 東京 and नमस्ते — then plain ones again.\n" * 30

# The lengths from which on texts are read in parts, so small that every text is.
SHORT = (
    (sums, "STRETCH", 5),
    (sums, "_REMEMBERED", 3),
    (token_ends, "STRETCH", 5),
    (token_ends, "_RUN", 20),
    (token_ends, "_WINDOW", 6),
    (utf8, "_BLOCK_BITS", 2),
    (reading, "_AHEAD", 3),
    (units, "STRETCH", 5),
    (units, "_PART", 20),
    (units, "_LONGEST", 12),
    (units, "_GROUP", 2),
)


def sizer_of(make: str) -> Tokens:
    return tokens(tokenizer(make), quiet=True)


@cache
def kept_sizer(make: str, use: str = "") -> Tokens:
    """The same sizer for all examples of a test: to make one takes longer than to use it."""
    return sizer_of(make)


@cache
def counted(make: str) -> Callable[[str], int]:
    """The count by the tokenizer's own call, without this library."""
    made = tokenizer(make)
    if make.endswith("_base"):
        return lambda text: len(made.encode_ordinary(text))
    library = pytest.importorskip("tokenizers")
    whole = library.Tokenizer.from_str(made.to_str())
    whole.no_truncation()
    whole.no_padding()
    return lambda text: len(whole.encode(text).ids)


# --- true counts ----------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKES)
@given(text=hostile, data=st.data())
def test_no_range_measures_less_than_it_is(make: str, text: str, data: st.DataObject) -> None:
    """What is added up is never below the count of the exact string."""
    assert_never_less(kept_sizer(make), text, data)


@pytest.mark.parametrize("make", MAKES)
@given(text=hostile, data=st.data())
def test_no_range_of_a_text_read_in_parts_measures_less(
    make: str, text: str, data: st.DataObject
) -> None:
    """Groups, runs, blocks and stretches: texts too short for them are as if they were long."""
    with pytest.MonkeyPatch.context() as patched:
        for module, name, value in SHORT:
            patched.setattr(module, name, value)
        assert_never_less(kept_sizer(make, "short"), text, data)


def assert_never_less(sizer: Tokens, text: str, data: st.DataObject) -> None:
    assert sizer.proved
    measure = sizer.bind(text)
    lo = data.draw(st.integers(0, len(text)))
    hi = data.draw(st.integers(lo, len(text)))
    true = sizer.whole(text[lo:hi])
    if lo < hi:
        assert measure.size(lo, hi) >= true
    assert sizer(text[lo:hi]) >= true
    for limit in (1, 3, 8, 21):
        end = measure.fit(lo, hi, limit)
        assert lo <= end <= hi
        assert end == lo or sizer.whole(text[lo:end]) <= limit
        start = measure.back(lo, hi, limit)
        assert lo <= start <= hi
        assert start == hi or sizer.whole(text[start:hi]) <= limit


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("text", [PROSE, FOREIGN], ids=["prose", "foreign"])
@given(data=st.data())
def test_passages_of_usual_text_measure_exactly(make: str, text: str, data: st.DataObject) -> None:
    """From ink to ink the sum is the count, specials included; what fits is all that does."""
    sizer, count = kept_sizer(make), counted(make)
    measure = sizer.bind(text)
    words = [i for i in range(len(text)) if text[i - 1 : i].isspace() and text[i].isalpha()]
    lo = data.draw(st.sampled_from(words))
    hi = min(len(text), lo + data.draw(st.integers(1, 700)))
    hi = lo + len(text[lo:hi].rstrip())
    size = measure.size(lo, hi)
    assert size == sizer(text[lo:hi]) == sizer.whole(text[lo:hi])
    # Only a character that is unknown to the tokenizer may count more than it makes of it.
    assert size == count(text[lo:hi]) or (text == FOREIGN and make == "metaspace")
    end = measure.fit(lo, len(text), size)
    assert count(text[lo:end]) <= size
    assert end >= lo + len(text[lo:hi].rpartition(" ")[0])


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize(
    "text",
    [
        "x" * 5000,
        "漢字文章" * 900,
        "\U0001f469\u200d\U0001f4bb" * 700,
        "word " * 2000,
        "a b" + " " * 3000 + "c d",
        "\n" * 2000 + "end",
        '{"a":[1,2,3],"b":"c"},' * 300,
        "    indented = line\n" * 200,
        "\U00012000\U00012001\U00012002 " * 300,
        "\ud800 " * 200,
        "\ud83d\ude00 word" * 200,
        "[MASK] <|endoftext|> </s> " * 100,
    ],
    ids=lambda text: repr(text[:9]),
)
def test_no_passage_is_over_the_cap(make: str, text: str) -> None:
    """One endless word, scripts without spaces, control tokens: all within, all slices."""
    sizer = sizer_of(make)
    for splitter in (
        fixed_with_overlap(chunk_size=60, overlap=9, sizer=sizer, max_size=64),
        by_text(max_size=cap(64, sizer)),
    ):
        chunks = splitter.split(text)
        assert all(sizer.whole(each.embed_text) <= 64 for each in chunks)
        assert all(text[each.start : each.end] == each.text for each in chunks)
        held = sum(len(each.own_text.split()) > 0 for each in chunks)
        assert held == len(chunks)


def test_what_the_model_adds_is_counted() -> None:
    """[CLS] and [SEP] are two of MiniLM's 256."""
    sizer = sizer_of("minilm")
    assert sizer.added == 2
    assert sizer("house") == 3
    assert sizer("") == sizer.whole("") == 2


# --- what tokenizers hide -------------------------------------------------------------------


def test_truncation_and_padding_are_off_in_a_copy_and_said(tmp_path: Path) -> None:
    """The file that ships with MiniLM counts every text as 128 tokens."""
    made = tokenizer("minilm")
    before = made.to_str()
    text = "word " * 1000
    assert len(made.encode(text).ids) == len(made.encode("word").ids) == 128
    (tmp_path / "tokenizer.json").write_text(minilm_json(), "utf-8")
    for given_as in (made, tmp_path, tmp_path / "tokenizer.json", str(tmp_path)):
        with pytest.warns(TokenizerWarning, match="truncation to 128 tokens and padding") as said:
            sizer = tokens(given_as)
        assert len(said) == 1
        assert said[0].filename == __file__
        assert sizer(text) == 1002
        assert sizer("word") == 3
    assert made.to_str() == before
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokens(made, quiet=True)


def test_a_word_given_up_on_counts_by_its_characters() -> None:
    """300,000 characters without a space are one [UNK] for WordPiece."""
    made, sizer = counted("minilm"), sizer_of("minilm")
    for word in ("x" * 300_000, "x" * 101, "\U00012000" * 30):
        assert made(word) == 3
        assert sizer.whole(word) == len(word) + 2
    assert sizer.whole("\uac00" * 120) > 122  # each syllable is read as two letters
    assert sizer("x" * 100) == made("x" * 100)


@pytest.mark.parametrize("make", MAKES)
def test_control_tokens_count_as_plain_text(make: str) -> None:
    """A text that quotes a control token is no error and no shorter for it."""
    sizer = sizer_of(make)
    text = "The marker <|endoftext|> ends a document, [MASK] hides </s> a word."
    assert sizer(text) == sizer.whole(text)
    assert sizer.whole("<|endoftext|>") - sizer.added > 1
    assert sizer.whole("[MASK]") - sizer.added > 1


# --- work -----------------------------------------------------------------------------------


class Recorder:
    """An encoding of single bytes that keeps what it was given."""

    name = "recorder"
    _pat_str = r"\S+"
    _mergeable_ranks: ClassVar = {bytes([byte]): byte for byte in range(256)}

    def __init__(self) -> None:
        self.given: list[str] = []

    def encode_ordinary(self, text: str) -> list[int]:
        self.given.append(text)
        return list(text.encode())


def test_a_text_is_read_once() -> None:
    """Runs are encoded once; beside that only the ends of what is asked about."""
    encoding = Recorder()
    sizer = tokens(encoding)
    assert sizer.proved
    text = " ".join(f"word{i % 700}" for i in range(20_000))
    encoding.given.clear()
    sizer.bind(text).size(0, len(text))
    assert sum(map(len, encoding.given)) == len(text)
    for make in (by_paragraph, fixed_with_overlap, by_text):
        encoding.given.clear()
        assert len(make(chunk_size=600, overlap=60, sizer=sizer).split(text)) >= 200
        ends = [len(each) for each in encoding.given if len(each) < 2000]
        assert sum(map(len, encoding.given)) == len(text) + sum(ends)
        assert max(ends) < 20
        assert sum(ends) < len(text) // 5


@pytest.mark.parametrize("make", ["cl100k_base", "o200k_base"])
def test_a_long_text_is_counted_in_runs(make: str) -> None:
    """An encoder that refuses a million characters at once counts them all the same."""
    sizer = sizer_of(make)
    text = "word " * 300_000
    assert sizer(text) == sizer.whole(text) == sizer.bind(text).size(0, len(text)) == 300_001
    text = "x" * 1_200_000
    assert sizer(text) == sizer.whole(text) >= 1_200_000 // 8
    assert sizer.bind(text).size(0, len(text)) >= sizer.whole(text)
    text = "\U00012000" * 100_000  # four tokens each, and 200,000 are refused
    assert sizer.bind(text).size(0, len(text)) >= 400_000
    assert 400_000 <= sizer(text) <= 400_000 + 2 * encodings._SEAM


def test_one_endless_word_is_never_counted_short() -> None:
    """Parts of it may have fewer tokens than the whole has."""
    encoding = tokenizer("cl100k_base")
    sizer = tokens(encoding)
    for seed in range(12):
        text = "".join(random.Random(seed).choices(string.ascii_lowercase, k=48_100))
        assert sizer(text) >= len(encoding.encode(text))


def test_what_fits_is_not_given_up_for_the_space_after_it() -> None:
    """Windows that hold the white space after a cut would leave out the last word that fits."""
    encoding = tokenizer("cl100k_base")
    text = "การคืนเงินใช้เวลาห้าถึงสิบวัน โปรดส่งหมายเลขคำสั่งซื้อและใบเสร็จทางอีเมล " * 25
    mine = by_text(chunk_size=128, overlap=0, sizer=tokens(encoding)).split(text)
    whole = by_text(chunk_size=128, overlap=0, sizer=lambda s: len(encoding.encode(s))).split(text)
    assert len(mine) <= len(whole) + 1


@pytest.mark.parametrize("make", [by_layout, by_text])
def test_the_last_window_is_measured_as_it_ships(make: Any) -> None:
    """A word may be more tokens without the space before it."""
    encoding = tokenizer("cl100k_base")
    sizer = tokens(encoding)
    for chunk_size in range(3, 9):
        chunks = make(chunk_size=chunk_size, overlap=0, sizer=sizer).split(
            "One two three founder sold it. Founder\nfounder founder"
        )
        assert max(len(encoding.encode(each)) for each in chunks.texts) <= chunk_size


def test_counting_functions_have_fingerprints_of_their_own() -> None:
    class Encoder:
        def __init__(self, times: int) -> None:
            self.times = times
            self.itself = self

        def encode(self, text: str) -> list[int]:
            return [0] * (len(text) * self.times)

    sizers = [
        tokens(lambda text: len(text) * 2),
        tokens(lambda text: len(text) * 3),
        tokens(Encoder(1)),
        tokens(Encoder(5)),
    ]
    assert len({each.fingerprint for each in sizers}) == 4
    assert tokens(Encoder(5)).fingerprint == sizers[3].fingerprint


def test_a_token_that_goes_on_behind_a_line_end_forbids_to_part_there() -> None:
    """o200k_base has tokens such as ``;\\n//``, which lines counted apart do not have."""
    sizer = sizer_of("o200k_base")
    text = 'a = b,\n"a"\n/usr/bin/env\nrm -rf\n//'
    measure = sizer.bind(text)
    for lo in range(len(text)):
        for hi in range(lo + 1, len(text) + 1):
            assert measure.size(lo, hi) >= sizer.whole(text[lo:hi])
    chunks = by_paragraph(chunk_size=8, overlap=0, sizer=sizer, max_size=8).split(text)
    assert max(map(sizer.whole, chunks.texts)) <= 8


@pytest.mark.parametrize("make", MAKES)
def test_a_word_just_short_enough_to_be_remembered(make: str) -> None:
    """Fault: with the space after it the cut word was too long, and a KeyError."""
    sizer = sizer_of(make)
    text = ("ab cd ef " + "x" * 256 + " ") * 4
    for end in range(250, 300):
        assert 0 <= sizer.bind(text).fit(0, end, 6) <= end
    splitter = by_text(chunk_size=9, overlap=0, sizer=sizer, max_size=cap(266, len))
    assert all(sizer.whole(each) <= 9 for each in splitter.split(text).texts)


@pytest.mark.parametrize("make", MAKES)
def test_passages_go_into_a_piece_that_is_long(make: str) -> None:
    """Fault: what follows the last place that fits was left out, however long it was."""
    sizer = sizer_of(make)
    text = ("漢字文章の例です" * 31 + "\n") * 40
    for size in (60, 150):
        plain = fixed_with_overlap(chunk_size=size, overlap=0, sizer=sizer.whole).split(text)
        passages = fixed_with_overlap(chunk_size=size, overlap=0, sizer=sizer).split(text)
        assert len(passages) <= 1.35 * len(plain) + 1
    padded = ("| xxx " + " " * 60 + " |\n") * 50
    assert sizer.whole(padded[: sizer.bind(padded).fit(0, len(padded), 60)]) >= 50


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("letters", ["漢字文章の例です。", "การคืนเงินใช้เวลา", "{a:[b,c]};"])
@pytest.mark.parametrize("between", ["\n", "\n\n", "\r\n\r\n"])
def test_what_fits_is_found_beside_a_line_end(make: str, letters: str, between: str) -> None:
    """Fault: in a paragraph without spaces one character was said to fit where a hundred do."""
    sizer = sizer_of(make)
    text = between.join(letters * k for k in (3, 14, 30, 5, 20))
    measure, plain = sizer.bind(text), Counted(text, sizer.whole)
    for place in range(0, len(text), 11):
        for limit in (25, 80):
            end, far = (each.fit(place, len(text), limit) for each in (measure, plain))
            assert far - end <= max(50, (end - place) // 2)
            start, early = (each.back(0, place, limit) for each in (measure, plain))
            assert start - early <= max(50, (place - start) // 2)


def test_a_long_word_is_counted_whole_however_long() -> None:
    """Fault: above 100,000 characters the sum of stretches was taken, half the true count."""
    sizer = sizer_of("minilm")
    text = "x" * 150_000
    assert sizer.bind(text).size(0, len(text)) == sizer.whole(text) == 150_002


@pytest.mark.parametrize("parting", ["SPACES", "SPACES_AND_LINES", "WORDS", "MARKS"])
@given(text=hostile.filter(bool))
def test_pieces_are_the_text(parting: str, text: str) -> None:
    """Keys stand for pieces that are the text, each from a place where it may be parted."""
    parted = getattr(units, parting)
    keys = parted.keys(text)
    pieces = parted.pieces(keys)
    assert "".join(pieces) == text
    assert all(pieces)
    assert len(set(keys)) == len(set(pieces))
    if parting.startswith("SPACES"):
        places = [0, *(found.start() for found in parted.border.finditer(text, 1))]
        assert [*accumulate(map(len, pieces[:-1]), initial=0)] == places


def test_a_word_is_counted_once_by_a_slow_tokenizer() -> None:
    """Each distinct word goes through the tokenizer once, in this text and the next."""
    given: list[str] = []

    def count_all(texts: list[str]) -> list[int]:
        given.extend(texts)
        return [len(text) for text in texts]

    text = " ".join(f"word{i % 700}" for i in range(20_000))
    for parting in (units.WORDS, units.MARKS, units.SPACES, units.SPACES_AND_LINES):
        counter = units.Counter(count_all, parting, 2)
        given.clear()
        measure = counter.bind(text)
        assert measure.size(0, len(text)) >= 20_000
        assert len(given) <= 701
        given.clear()
        counter.bind(text[len("word0 ") :])
        assert len(given) <= 1


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"normalizer": None},
        {"lowercase": False},
        {"max_input_chars_per_word": 5},
        {"unk_token": "house"},
        {"added": "ous"},
    ],
    ids=str,
)
def test_a_word_of_the_vocabulary_is_one_token_unasked(change: dict[str, Any]) -> None:
    """Of BERT's kind, and only where the tokenizer would say the same."""
    state = json.loads(minilm_json())
    state["truncation"] = state["padding"] = None
    for name, value in change.items():
        part = {"normalizer": state, "lowercase": state["normalizer"]}.get(name, state["model"])
        if name == "added":
            kept = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            state["added_tokens"].append(
                {"id": len(state["model"]["vocab"]), "content": value, "special": False, **kept}
            )
        else:
            part[name] = value
    made = pytest.importorskip("tokenizers").Tokenizer.from_str(json.dumps(state))
    sizer = tokens(made)
    is_one = sizer._counter._is_one  # type: ignore[union-attr]
    if "added" in change:
        assert is_one is None
        return
    rng = random.Random(1)
    words = rng.sample(sorted(state["model"]["vocab"]), 3000)
    words += ["house", "House", "HOUSE", "houses", "\u212ahouse", "hou\u0301se", "[UNK]", "[CLS]"]
    words += [word.title() for word in words[:500]] + [f"\n \t{word}" for word in words[:500]]
    ones = [*filter(is_one, words)]
    assert all(len(made.encode(word, add_special_tokens=False).ids) == 1 for word in ones)
    assert len(ones) > len(words) // 5
    assert all(sizer(word) == sizer.whole(word) for word in words)


def test_a_run_without_spaces_is_given_in_bounded_pieces() -> None:
    """A tokenizer that is slow on long words never sees one much above the cap."""
    encoding = Recorder()
    sizer = tokens(encoding)
    for text in ("a" * 40_000, "漢字文章" * 10_000):
        encoding.given.clear()
        fixed_with_overlap(chunk_size=1, overlap=0, max_size=cap(400, len)).split(text)
        by_text(chunk_size=400, max_size=cap(900, sizer)).split(text)
        assert max(map(len, encoding.given)) <= 2000


@pytest.fixture
def shared_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs, each text of several read by four threads."""
    monkeypatch.setattr(token_ends, "_RUN", 200)
    monkeypatch.setattr(encodings, "_FEW", 1)
    monkeypatch.setattr(encodings, "cores", lambda: 4)


def tiktoken_of(name: str) -> Any:
    """An encoding of tiktoken, from the tables that bpe-openai carries."""
    tables = pytest.importorskip("bpe_openai").get_encoding(name)
    return pytest.importorskip("tiktoken").Encoding(
        name,
        pat_str=tables._pat_str,
        mergeable_ranks=tables._mergeable_ranks,
        special_tokens=tables._special_tokens,
    )


@pytest.mark.parametrize("with_numpy", [True, False])
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_an_encoding_of_tiktoken_read_by_threads_measures_as_one_by_one(
    name: str, with_numpy: bool, shared_reading: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With control tokens, pieces that are too long and surrogates, with numpy and without."""
    if not with_numpy:
        monkeypatch.setattr(twins, "find_spec", lambda module: None)
    text = (PROSE + FOREIGN + "a" * 2000 + "\n\ud83d\ude00 <|endoftext|> \ud800 b ") * 3
    ours = tokens(tiktoken_of(name))
    found = []
    for sizer in (sizer_of(name), ours, ours):
        measure = sizer.bind(text)
        assert isinstance(measure, token_ends.TokenEnds)
        found.append([measure.size(at, at + 300) for at in range(0, len(text) - 300, 100)])
        found[-1] += by_text(chunk_size=50, sizer=sizer).split(text).starts
    assert found[0] == found[1] == found[2]
    assert isinstance(ours._counter, encodings.Encoding)
    assert len(ours._counter._helpers) == 3


@pytest.mark.parametrize("with_numpy", [True, False])
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_a_twin_reads_the_same_tokens(
    name: str, with_numpy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With white space of every kind before ink of every kind, and with the marks themselves."""
    if not with_numpy:
        monkeypatch.setattr(twins, "find_spec", lambda module: None)
    encoding = tiktoken_of(name)
    assert encoding._pat_str in twins._WITHOUT_LOOKING_AHEAD
    lengths = dict.fromkeys(range(encoding.n_vocab), 0)
    lengths |= {rank: len(token) for token, rank in encoding._mergeable_ranks.items()}
    fast = twins.tiktoken_reader(encoding, [*lengths.values()])
    reader = encodings.by_lists(encoding.encode_ordinary, [*lengths.values()])
    pieces = [*"abXY sdmtlrve''ſ0123.,;/-_#|", *" " * 9, "\n", "\r\n", "   ", "\n\n", " \n"]
    pieces += [*twins._ODD, *"\x1c\x1f\x00\u200b\ufeff\u180e", *"éñ日本語नि\u0301ʼ٣Ⅷ🤖\u200dß"]
    pieces += ["'s", "'LL", " ²", "<|endoftext|>", "\ud800", twins._MARKS]
    rng = random.Random(name)
    texts = ["".join(rng.choices(pieces, k=rng.choice((3, 8, 20, 60)))) for _ in range(4000)]
    for text in [*texts, PROSE, FOREIGN]:
        assert fast(text, 7, "Q") == reader(text, 7, "Q"), text


def test_a_twin_that_reads_other_tokens_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a pattern that matches without looking ahead, but something else."""
    encoding = tiktoken_of("cl100k_base")
    for wrong in (r"\S+|\s+", r"'(?i:[sdmt]|ll|ve|re)|\p{L}+|\p{N}|[^\p{L}\p{N}]"):
        monkeypatch.setitem(twins._WITHOUT_LOOKING_AHEAD, encoding._pat_str, wrong)
        measure = tokens(encoding).bind(FOREIGN)
        assert measure.size(0, len(FOREIGN)) == len(encoding.encode_ordinary(FOREIGN))


def bytes_read(threads: set[int]) -> encodings.Encoding:
    """An encoding of bytes that notes the threads in which it is read."""

    def encode(text: str) -> list[int]:
        threads.add(threading.get_ident())
        time.sleep(0.001)  # as an encoder would, others may run meanwhile
        if "bad" in text:
            raise ValueError("no token for bad")
        return list(text.encode())

    read = encodings.by_lists(encode, [1] * 256)
    return encodings.Encoding(encode, read, units.SPACES, in_threads=True)


def test_what_an_encoder_raises_while_threads_read_is_raised(shared_reading: None) -> None:
    threads: set[int] = set()
    encoding = bytes_read(threads)
    assert encoding.bind(PROSE).size(0, len(PROSE)) == len(PROSE)
    assert len(threads) > 1
    with pytest.raises(ValueError, match="no token for bad"):
        encoding.bind(PROSE + PROSE + "bad ").holds(0, len(PROSE) * 2, len(PROSE) * 2 - 1)


def test_where_no_thread_can_be_started_one_reads(
    shared_reading: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    threads: set[int] = set()
    assert bytes_read(threads).bind(PROSE).size(0, len(PROSE)) == len(PROSE)
    assert threads == {threading.get_ident()}


def test_a_text_that_nobody_asks_about_any_more_is_read_no_further(
    shared_reading: None,
) -> None:
    """Fault: helpers read it to its end and kept it, and those after it waited in their queue."""

    def waiting(helper: Any) -> bool:
        return bool(helper._work_queue.qsize())

    threads: set[int] = set()
    encoding = bytes_read(threads)
    gc.disable()
    try:
        for _ in range(50):
            measure = encoding.bind(PROSE * 50)
            assert not measure.holds(0, len(PROSE) * 50, 100)
            gone = weakref.ref(measure._reading)  # type: ignore[arg-type]
            del measure
        assert len(threads) > 1
        until = time.monotonic() + 20
        while gone() is not None or any(map(waiting, encoding._helpers)):
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        gc.enable()


def test_helpers_are_a_bounded_way_ahead(shared_reading: None) -> None:
    encoding = bytes_read(set())
    measure = encoding.bind(PROSE * 50)
    assert not measure.holds(0, len(PROSE) * 50, 100)
    time.sleep(0.3)
    assert measure._reading is not None
    assert len(measure._reading._found) <= reading._AHEAD + len(encoding._helpers)
    assert measure.size(0, len(PROSE) * 50) == len(PROSE) * 50
    assert measure._reading is None


def test_threads_may_ask_one_measure(shared_reading: None) -> None:
    """Fault: the generator that read on for one of them was running already."""
    measure = bytes_read(set()).bind(PROSE * 4)
    found: list[int] = []

    def ask(first: int) -> None:
        found.extend(measure.size(at, at + 50) for at in range(first, len(PROSE) * 4 - 50, 97))

    asking = [threading.Thread(target=ask, args=(7 * i,)) for i in range(4)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert len(found) > 300
    assert set(found) == {50}


def test_a_text_is_read_on_after_what_an_encoder_raised() -> None:
    """Fault: it raised StopIteration from then on, as did places beyond the text."""
    failing = [False]

    def encode(text: str) -> list[int]:
        if failing[0]:
            failing[0] = False
            raise MemoryError
        return list(text.encode())

    read = encodings.by_lists(encode, [1] * 256)
    measure = encodings.Encoding(encode, read, units.SPACES, in_threads=False).bind(PROSE * 200)
    assert measure.size(0, 100) == 100
    failing[0] = True
    with pytest.raises(MemoryError):
        measure.size(0, len(PROSE) * 200)
    assert measure.size(0, len(PROSE) * 200 + 5) == len(PROSE) * 200


def test_an_encoding_of_tiktoken_is_pickled_as_it_is() -> None:
    """Fault: one with the name of another was pickled as that name, and measured less then."""
    usual = tiktoken_of("cl100k_base")
    other = type(usual)(
        "cl100k_base",
        pat_str=r" ?\S+|\s+",
        mergeable_ranks=usual._mergeable_ranks,
        special_tokens=usual._special_tokens,
    )
    text = "a\r\n\r\nb 123456789012 DON'T"
    for encoding in (usual, other):
        sizer = tokens(encoding)
        again = pickle.loads(pickle.dumps(sizer))
        assert sizer(text) == again(text) == len(encoding.encode_ordinary(text))
        assert sizer.fingerprint == again.fingerprint
    assert tokens(other).fingerprint != tokens(usual).fingerprint
    assert tokens(usual).fingerprint == sizer_of("cl100k_base").fingerprint


def test_a_fork_reads_with_threads_of_its_own(shared_reading: None) -> None:
    """Threads do not live on in a fork: it would wait for ever for theirs."""
    encoding = bytes_read(set())
    measure = encoding.bind(PROSE)
    assert measure.size(0, 400) == 400
    if not hasattr(os, "fork"):
        pytest.skip("no forks here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if not child:
        signal.alarm(20)
        sizes = [each.size(0, len(PROSE)) for each in (measure, encoding.bind(PROSE))]
        os._exit(sizes != [len(PROSE)] * 2)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("most", [50, 700])
def test_what_is_remembered_is_bounded(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More distinct words than are kept give the same sizes."""
    text = " ".join(f"w{i}" for i in range(3000))
    sizer = sizer_of("minilm")
    whole = sizer.bind(text)
    monkeypatch.setattr(units, "_REMEMBERED", most)
    small = sizer_of("minilm")
    measure = small.bind(text)
    for lo, hi in ((0, len(text)), (3, 900), (1200, 9000)):
        assert measure.size(lo, hi) == whole.size(lo, hi)
        assert measure.fit(lo, hi, 90) == whole.fit(lo, hi, 90)
    assert isinstance(small._counter, units.Counter)
    assert len(small._counter._known) <= most


# --- every other tokenizer ------------------------------------------------------------------


class Encodes:
    """A tokenizer of which nothing is known but that it encodes."""

    def encode(self, text: str) -> list[str]:
        # Joins words, so counts of parts do not add up.
        return [text[i : i + 7] for i in range(0, len(text), 7)]


def quarter(text: str) -> int:
    return len(text) // 4 + 1


@pytest.mark.parametrize("given_as", [Encodes(), quarter], ids=["object", "function"])
def test_any_other_tokenizer_is_counted_whole(given_as: Any) -> None:
    sizer = tokens(given_as)
    assert not sizer.proved
    count = (lambda text: len(given_as.encode(text))) if isinstance(given_as, Encodes) else given_as
    chunks = by_paragraph(max_size=cap(30, sizer)).split(PROSE)
    assert max(count(each.embed_text) for each in chunks) <= 30
    assert len({tokens(Encodes()).fingerprint, tokens(quarter).fingerprint}) == 2


def test_a_tokenizer_whose_tokens_cross_spaces_is_not_added_up() -> None:
    """A vocabulary that holds "of the" counts less for both words than for each."""
    library = pytest.importorskip("tokenizers")
    state = json.loads(tokenizer("prepend").to_str())
    state["model"]["vocab"]["▁of▁the"] = len(state["model"]["vocab"])
    assert not tokens(library.Tokenizer.from_str(json.dumps(state))).proved


def test_random_merges_are_not_added_up() -> None:
    library = pytest.importorskip("tokenizers")
    state = json.loads(tokenizer("byte-level").to_str())
    state["model"]["dropout"] = 0.1
    assert not tokens(library.Tokenizer.from_str(json.dumps(state))).proved


def test_a_fast_tokenizer_of_transformers_is_read_through() -> None:
    class Fast:
        backend_tokenizer = tokenizer("minilm")

    assert tokens(Fast(), quiet=True)("house") == 3


def test_names_and_fingerprints() -> None:
    pytest.importorskip("bpe_openai")
    named, made = tokens("cl100k_base"), sizer_of("cl100k_base")
    assert named.fingerprint == made.fingerprint != tokens("o200k_base").fingerprint
    assert by_text(sizer=named).fingerprint == by_text(sizer=made).fingerprint
    assert (
        by_text(max_size=cap(9, named)).fingerprint != by_text(max_size=cap(8, named)).fingerprint
    )
    assert (
        "9 tokens of cl100k_base" in explain("word " * 40, by_text(max_size=cap(9, named)))[1].why
    )


@pytest.mark.parametrize(
    ("given_as", "said"),
    [
        (7, "is no tokenizer"),
        ("no/such/tokenizer.json", "neither a file nor one of cl100k_base"),
        ("gpt2", "neither a file nor one of cl100k_base"),
        (None, "is no tokenizer"),
    ],
)
def test_what_is_no_tokenizer_is_refused(given_as: Any, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        tokens(given_as)


def test_a_file_that_is_no_tokenizer_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": 1}')
    with pytest.raises(OptionError, match="cannot be read"):
        tokens(path)


def test_a_missing_library_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(MissingExtraError, match=r'pip install "spanwise\[tokenizers\]"'):
        tokens(tmp_path)
    with pytest.raises(MissingExtraError, match=r'pip install "spanwise\[bpe\]"'):
        tokens("cl100k_base")


def test_a_splitter_with_a_token_sizer_can_be_pickled() -> None:
    splitter = by_text(chunk_size=20, overlap=0, sizer=sizer_of("minilm"))
    again = pickle.loads(pickle.dumps(splitter))
    assert again.split(PROSE).starts == splitter.split(PROSE).starts
