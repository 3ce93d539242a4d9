"""stem: English words without their endings, as SQLite's word index compares them.

Source: Porter, "An algorithm for suffix stripping", Program 14(3), 1980. SQLite's FTS5 has it as
its tokenizer `porter`; `tests/unit/test_stemming.py` holds the two equal, so that a word that was
found by its stem is also marked in a snippet.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

__all__ = ["stem"]

# Shorter words have no ending; longer ones SQLite leaves as they are. In bytes, as all here.
_SHORTEST, _LONGEST = 3, 64

# Each ending with what replaces it; of several that fit, the first counts.
# fmt: off
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize",
    "logi": "log", "bli": "ble", "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous",
    "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "iveness": "ive",
    "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}
_STEP_4 = {
    "al": "", "ance": "", "ence": "", "er": "", "ic": "", "able": "", "ible": "", "ant": "",
    "ement": "", "ment": "", "ent": "", "sion": "s", "tion": "t", "ou": "", "ism": "", "ate": "",
    "iti": "", "ous": "", "ive": "", "ize": "",
}
# fmt: on


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """A word in small letters without its English ending.

    SQLite may end inside a character of another script; U+FFFD stands for such a part here.

    >>> stem("installation"), stem("installing"), stem("任务")
    ('instal', 'instal', '任务')
    """
    raw = word.encode("utf-8", "surrogatepass")
    if not _SHORTEST <= len(raw) <= _LONGEST:
        return word
    # One character a byte: what is no ASCII letter is a run of consonants.
    left = _without_plural(raw.decode("latin-1"))
    left = _without_past(left)
    if left[-1:] == "y" and _has_vowel(left[:-1]):
        left = left[:-1] + "i"
    left = _replaced(left, _STEP_2, 1)
    left = _replaced(left, _STEP_3, 1)
    left = _replaced(left, _STEP_4, 2)
    if left[-1:] == "e":
        count = _measure(left[:-1])
        if count > 1 or (count == 1 and not _is_short(left[:-1])):
            left = left[:-1]
    if left.endswith("ll") and _measure(left[:-1]) > 1:
        left = left[:-1]
    found = left.encode("latin-1")
    try:
        return found.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return found.decode("utf-8", "replace")


def _without_plural(word: str) -> str:
    if word.endswith(("sses", "ies")) and len(word) > (4 if word[-4:] == "sses" else 3):
        return word[:-2]
    return word[:-1] if word[-1] == "s" and word[-2] != "s" else word


def _without_past(word: str) -> str:
    """Without `ed` and `ing`, the `e` that they took put back."""
    if word.endswith("eed") and len(word) > 3:
        return word[:-1] if _measure(word[:-3]) else word
    for ending in ("ed", "ing"):
        if word.endswith(ending) and _has_vowel(word[: -len(ending)]):
            left = word[: -len(ending)]
            break
    else:
        return word
    if left.endswith(("at", "bl", "iz")) and len(left) > 2:
        return left + "e"
    if left[-2:-1] == left[-1] and left[-1] not in "aeioulsz":
        return left[:-1]
    return left + "e" if _measure(left) == 1 and _is_short(left) else left


def _replaced(word: str, endings: Mapping[str, str], least: int) -> str:
    """The word with its ending replaced where what is before measures enough."""
    for ending, new in endings.items():
        if word.endswith(ending) and len(word) > len(ending):
            left = word[: -len(ending)] + (new if least > 1 else "")
            if _measure(left) < least:
                return word
            return left if least > 1 else left + new
    return word


def _shape(word: str) -> str:
    """The letters as vowels and consonants; a `y` after a consonant is a vowel."""
    shape, consonant = [], False
    for letter in word:
        consonant = letter not in "aeiou" and not (letter == "y" and consonant)
        shape.append("c" if consonant else "v")
    return "".join(shape)


def _measure(word: str) -> int:
    """How often consonants follow vowels."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "y" in word[1:] or not {*"aeiou"}.isdisjoint(word)


def _is_short(word: str) -> bool:
    """Whether it ends in a consonant, a vowel and a consonant, such as `hop`."""
    return word[-1] not in "wxy" and _shape(word)[-3:] == "cvc"
