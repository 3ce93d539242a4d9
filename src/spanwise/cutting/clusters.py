"""Extended grapheme clusters: what a reader takes for one character.

Source: UAX #29 revision 41 (Unicode 15.0), rules GB1 to GB999, from a table of our own, so that
every Python version cuts alike. One rule more: a surrogate pair kept as two code points is not
cut. Positions are code points.
"""

import sys
from collections.abc import Iterator

from spanwise.cutting import grapheme_table as table

_OTHER, _CONTROL, _EXTEND, _ZWJ, _FLAG, _PREPEND, _MARK, _L, _V, _T, _SYLLABLE, _EMOJI = range(12)
_HIGH, _LOW = 12, 13  # surrogates: others to UAX #29, but a pair is one character to a reader

_FIRST_SYLLABLE = 0xAC00
_TRAILING_FORMS = 28  # every 28th Hangul syllable has no trailing consonant (LV, the rest are LVT)
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_FLAG_STRIDE = 128  # characters read at a time when the letters of a flag run are counted


def _ranges(members: str) -> Iterator[tuple[int, int]]:
    """The half-open ranges of a character class such as `a-fx`."""
    i = 0
    while i < len(members):
        last = i + 2 if members[i + 1 : i + 2] == "-" else i
        yield ord(members[i]), ord(members[last]) + 1
        i = last + 1


def _kinds() -> bytes:
    """The kind of every code point: 1.1 MB, made in 1 ms, and three times as fast as `bisect`."""
    classes = {
        _CONTROL: "\n\r" + table.CONTROL,
        _EXTEND: table.EXTEND,
        _ZWJ: table.ZWJ,
        _FLAG: table.REGIONAL_INDICATOR,
        _PREPEND: table.PREPEND,
        _MARK: table.SPACING_MARK,
        _L: table.HANGUL_L,
        _V: table.HANGUL_V,
        _T: table.HANGUL_T,
        _SYLLABLE: "\uac00-\ud7a3",
        _EMOJI: table.EXTENDED_PICTOGRAPHIC,
        _HIGH: "\ud800-\udbff",
        _LOW: "\udc00-\udfff",
    }
    kinds = bytearray(sys.maxunicode + 1)
    for kind, members in classes.items():
        for start, end in _ranges(members):
            kinds[start:end] = bytes([kind]) * (end - start)
    return bytes(kinds)


def _joined() -> tuple[frozenset[int], ...]:
    """For each kind on the left, the kinds on the right that always stay with it."""
    extenders = {_EXTEND, _ZWJ, _MARK}
    after = {kind: set(extenders) for kind in range(14)}  # GB9, GB9a
    after[_CONTROL] = set()  # GB4
    after[_HIGH] |= {_LOW}  # our own rule
    after[_PREPEND] |= set(range(14)) - {_CONTROL}  # GB9b
    after[_L] |= {_L, _V, _SYLLABLE}  # GB6
    after[_V] |= {_V, _T}  # GB7
    after[_T] |= {_T}  # GB8
    after[_SYLLABLE] |= {_T}  # GB7 and GB8; LV before V is decided in `is_border`
    return tuple(frozenset(after[kind]) for kind in range(14))


_KINDS, _JOINED = _kinds(), _joined()


def is_border(text: str, i: int, lo: int = 0) -> bool:
    r"""Whether the text may be cut at `i` without splitting a cluster.

    `lo` is a known border at or before `i`; nothing before it is read. The two ends of the text
    are borders. Cost: two characters, and a run of flags or of marks on an emoji back to `lo`.

    >>> [i for i in range(5) if is_border("e\u0301\r\n", i)]
    [0, 2, 4]
    """
    if i <= lo or i >= len(text):
        return True
    before, after = text[i - 1], text[i]
    if before < "\u0300" and after < "\u0300":
        return after != "\n" or before != "\r"  # GB3
    left = _KINDS[ord(before)]
    right = _KINDS[ord(after)]
    if right in _JOINED[left]:
        return False
    if right == _EMOJI and left == _ZWJ:
        return not _ends_in_emoji(text, i - 1, lo)  # GB11
    if right == _FLAG and left == _FLAG:
        return (i - _flags_start(text, i, lo)) % 2 == 0  # GB12, GB13
    if right == _V and left == _SYLLABLE:
        return (ord(before) - _FIRST_SYLLABLE) % _TRAILING_FORMS != 0  # GB7
    return True


def border_before(text: str, i: int, lo: int = 0) -> int:
    """The last border at or before `i`, not before the known border `lo`.

    >>> border_before("ne\u0301", 2)
    1
    """
    while not is_border(text, i, lo):
        i -= 1
    return i


def border_after(text: str, i: int, hi: int | None = None, lo: int = 0) -> int:
    """The first border at or after `i`, not after `hi`; `lo` is a known border before `i`.

    >>> border_after("ne\u0301e", 2)
    3
    """
    end = len(text) if hi is None else hi
    while i < end and not is_border(text, i, lo):
        i += 1
    return i


def clusters(text: str, lo: int = 0, hi: int | None = None) -> Iterator[int]:
    """The ends of the clusters from the border `lo` on: every border in `(lo, hi]`.

    >>> list(clusters("ne\u0301e"))
    [1, 3, 4]
    """
    end = len(text) if hi is None else hi
    for i in range(lo + 1, end + 1):
        if is_border(text, i, lo):
            yield i
            lo = i


def _ends_in_emoji(text: str, i: int, lo: int) -> bool:
    """Whether an emoji, with any marks on it, ends at `i`."""
    while i > lo:
        i -= 1
        kind = _KINDS[ord(text[i])]
        if kind != _EXTEND:
            return kind == _EMOJI
    return False


def _flags_start(text: str, i: int, lo: int) -> int:
    """Where the run of flag letters that ends at `i` begins, not before `lo`."""
    while i > lo:
        piece = text[max(lo, i - _FLAG_STRIDE) : i]
        rest = len(piece.rstrip(_FLAG_LETTERS))
        i -= len(piece) - rest
        if rest:
            break
    return i
