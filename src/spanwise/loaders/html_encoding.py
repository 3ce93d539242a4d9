"""What encoding a page of HTML is in, by its mark, by its own word, else UTF-8."""

from __future__ import annotations

import re

from spanwise.errors import LoadError
from spanwise.loaders.text import decode

__all__ = ["declared_encoding", "decode_html", "meant_encoding"]

# Browsers read these names as others. Source: the WHATWG Encoding Standard.
_LABELS = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "iso8859-1": "cp1252",
    "latin1": "cp1252", "l1": "cp1252", "iso-8859-9": "cp1254", "latin5": "cp1254",
    "iso-8859-11": "cp874", "tis-620": "cp874", "shift_jis": "cp932", "shift-jis": "cp932",
    "x-sjis": "cp932", "sjis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "utf-16": "", "utf-16le": "", "utf-16be": "", "utf8": "",
    "utf-8": "", "x-x-big5": "big5", "macintosh": "mac_roman", "windows-31j": "cp932",
}  # fmt: skip
_SAFE = re.compile(
    r"(?:windows-|cp)(?:125[0-8]|8[67]\d|9\d\d)|iso-?8859-\d+|koi8-[ru]|big5(?:-hkscs)?"
    r"|euc-jp|iso-2022-jp|gb18030|mac_roman"
)
_declared = re.compile(
    rb"<meta[ \t\r\n/][^>]*?charset[ \t\r\n]*=[ \t\r\n]*[\"']?[ \t]*([\w.:-]+)"
    rb"|\A\s*<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*[\"']([\w.:-]+)",
    re.I,
)
_HEAD = 4096  # where an encoding is looked for; browsers look at 1024 bytes
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")


def decode_html(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """The text of HTML and what it was read in: named, by byte order mark, or as it says itself.

    Where it says an encoding that it is not in, and where it says none, it is read as UTF-8.
    """
    if encoding or data.startswith(_MARKS):
        return decode(data, name, encoding)
    label = declared_encoding(data)
    if label:
        try:
            return decode(data, name, label)
        except LookupError:
            pass
        except LoadError:
            try:
                return decode(data, name)
            except LoadError:
                pass
            raise
    return decode(data, name)


def declared_encoding(data: bytes) -> str:
    """The encoding that HTML says it is in, or nothing."""
    head = re.sub(rb"<!--.*?(?:-->|\Z)", b"", data[:_HEAD], flags=re.S)
    found = _declared.search(head)
    label = meant_encoding((found[1] or found[2]).decode("ascii", "replace")) if found else ""
    return label if _SAFE.fullmatch(label) else ""


def meant_encoding(label: str) -> str:
    """What is meant by the name of an encoding, in Python's words; empty for UTF-8 and UTF-16."""
    label = label.strip().lower()
    return _LABELS.get(label, label)
