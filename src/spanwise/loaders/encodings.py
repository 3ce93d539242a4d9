"""A guess of what encoding some bytes are in, for the person who asks for one."""

from __future__ import annotations

from spanwise.errors import MissingExtraError
from spanwise.extras import require_extra

__all__ = ["guess"]

# Above this share of what looks like noise, the text is not one that a person wrote.
_MOST_NOISE = 0.1
# Of the others that fit, so many are named.
_MOST_NAMED = 4
# The names for the same text that are met most; the first that fits is given.
_USUAL = (
    *("ascii", "utf_8", "cp1252", "cp1251", "cp1250", "cp932", "gb18030", "cp949", "big5"),
    *("euc_jp", "koi8_r", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
)


def guess(data: bytes) -> tuple[str, str] | None:
    """The likeliest encoding of text without a mark, and how sure that is in words.

    None without the package charset-normalizer (extra ``encoding``), and for bytes that fit no
    encoding well. The bytes can be decoded in the encoding given; the same bytes give the same
    answer with the same version of the package.

    What it gets wrong: the single-byte encodings differ in few letters, so French, German or
    Spanish in cp1252 and Turkish in cp1254 may come out as cp1250 or cp1257, with some letters
    replaced by others (the words then name the other encodings that fit); texts of a few words
    may come out as anything. Right in tests on UTF-16 without a mark, Russian in cp1251 and
    KOI8-R, Japanese in cp932 and EUC, and Chinese in gb18030, from about 350 bytes on.
    """
    try:
        found = require_extra("charset_normalizer", "encoding", "guessing an encoding")
    except MissingExtraError:
        return None
    matches = found.from_bytes(data)
    best = matches.best()
    if best is None or best.chaos > _MOST_NOISE:
        return None
    text = str(best)
    same = [best.encoding, *best.could_be_from_charset]
    for name in (*_USUAL, best.encoding):
        if name in same and _fits(data, name, text):
            others = {match.encoding for match in matches} - {*same, name}
            if not others:
                return name, "likely: no other fits"
            usual = [other for other in _USUAL if other in others]
            listed = usual + sorted(others.difference(usual))
            more = " and more" if len(listed) > _MOST_NAMED else ""
            return name, (
                f"not sure: {', '.join(listed[:_MOST_NAMED])}{more} would fit as well, "
                "with other letters"
            )
    return None


def _fits(data: bytes, encoding: str, text: str) -> bool:
    """Whether the bytes are this text in an encoding; a sample alone may have been looked at."""
    try:
        return data.decode(encoding) == text
    except (UnicodeError, LookupError):
        return False
