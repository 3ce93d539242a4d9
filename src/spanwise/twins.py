"""Readers of tiktoken's encodings, by twins that find the same tokens in half the time.

A pattern that looks ahead, as theirs do, is matched step by step, and threads that share it wait
for one another; one that does not is matched by a table of states, each thread's own. They look
ahead for one thing alone: of several spaces before ink the last one goes with the ink. So a twin
has the pattern without that, and is given a mark between those two spaces, a digit that the text
has not: it is a token of its own, and left out again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from spanwise.cutting.encodings import by_lists, by_tables
from spanwise.cutting.reading import Reader
from spanwise.cutting.surrogates import readable

__all__ = ["tiktoken_reader"]

_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|"
)

# Patterns of tiktoken 0.9 and newer, and what matches the same where no mark is missing.
_WITHOUT_LOOKING_AHEAD = {
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
        r"\s+$|\s*[\r\n]|\s+"
    ),
    _O200K + r"\s+(?!\S)|\s+": _O200K + r"\s+",
}

# Digits to those patterns, and one token each.
_MARKS = "²³¹¼½¾"

# White space to those patterns that ends no line, but for the space.
_ODD = "\t\x0b\x0c\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_ODD_IN_ASCII = _ODD[:3]

# Between the last two of several before ink: where there are only spaces, and where others are.
_LAST_SPACES = re.compile(r"  (?=[^ \r\n])")
_LAST_WHITE = re.compile(rf"(?<=[ {_ODD}])(?=[ {_ODD}][^ {_ODD}\r\n])")

# By these a twin shows that it finds the same: ink of all kinds after white space of each.
_INK = ("", "a", "The", "don't", "WE'LL", "12345", "3.5", "(x)", "#", "é", "日本", "🤖", "'s", "")
_WHITE = ("  ", "   \n ", "\t", " \t", "\t ", "\xa0 ", "\u3000", "\r\n  ", " \n \n", "\n\t")
_PROBES = tuple(white.join(_INK) for white in _WHITE)

Encode = Callable[[str], Any]


def tiktoken_reader(encoding: Any, lengths: Sequence[int]) -> Reader:
    """What reads as an encoding does whose tokens have so many bytes; by a twin where it can.

    A twin costs 40 ms and 20 MB.
    """
    has_tables = hasattr(encoding, "encode_to_numpy") and find_spec("numpy") is not None
    encode = _encoder(encoding, has_tables)
    pattern = _WITHOUT_LOOKING_AHEAD.get(encoding._pat_str)
    if pattern is not None:
        twin = type(encoding)(
            encoding.name,
            pat_str=pattern,
            mergeable_ranks=encoding._mergeable_ranks,
            special_tokens=encoding._special_tokens,
        )
        fast = _with_marks(_encoder(twin, has_tables), encode)
        if all([*fast(probe)] == [*encode(probe)] for probe in _PROBES):
            encode = fast
    if has_tables:
        return by_tables(encode, lengths, import_module("numpy"))
    return by_lists(encode, lengths)


def _encoder(encoding: Any, to_tables: bool) -> Encode:
    """What encodes plain text, to tables of numpy or to lists."""
    if not to_tables:
        return encoding.encode_ordinary  # type: ignore[no-any-return]

    def encode(text: str) -> Any:
        try:
            return encoding.encode_to_numpy(text, disallowed_special=())
        except UnicodeEncodeError:
            return encoding.encode_to_numpy(readable(text), disallowed_special=())

    return encode


def _with_marks(fast: Encode, ordinary: Encode) -> Encode:
    """What encodes as ``ordinary`` does by a twin that does not look ahead."""
    tokens = {mark: int(fast(mark)[0]) for mark in _MARKS if len(fast(mark)) == 1}

    def encode(text: str) -> Any:
        odd = any(map(text.__contains__, _ODD_IN_ASCII if text.isascii() else _ODD))
        if not odd and "  " not in text:
            return fast(text)
        mark = next((mark for mark in tokens if mark not in text), None)
        if mark is None:
            return ordinary(text)
        if odd:
            found = fast(_LAST_WHITE.sub(mark, text))
        else:
            found = fast(_LAST_SPACES.sub(f" {mark} ", text))
        token = tokens[mark]
        if isinstance(found, list):
            return [each for each in found if each != token]
        return found[found != token]

    return encode
