"""Encodings by the names that HTML, XML and mail use, and which one HTML or XML is in."""

from __future__ import annotations

import codecs
import re

from spanwise.errors import LoadError
from spanwise.loaders.text import decode, marked_encoding

__all__ = ["codec_of", "declared_encoding", "decode_html", "decode_xml", "meant_encoding"]

# The names that Python does not know; and the codecs in place of which a larger one is read,
# since that is what is written under their names. Source: the WHATWG Encoding Standard.
_UNKNOWN = {
    "big5": "cn-big5 x-x-big5",
    "cp874": "dos-874 windows-874",
    "cp932": "windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
    "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
    "gb18030": "csgb2312 gb_2312 gb_2312-80 x-gbk",
    "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i",
    "iso8859-7": "sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i logical visual",
    "iso8859-15": "csisolatin9",
    "koi8-r": "koi koi8",
    "koi8-u": "koi8-ru",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "mac-roman": "csmacintosh mac x-mac-roman",
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
}
_LABELS = {label: codec for codec, labels in _UNKNOWN.items() for label in labels.split()}
_LABELS |= {f"iso8859{part}": f"iso8859-{part}" for part in range(1, 17)}
_LABELS |= {f"x-cp{page}": f"cp{page}" for page in range(1250, 1259)}
_MEANT = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
    "euc_kr": "cp949",
}  # fmt: skip

# What a page may say of itself: an encoding in which that can be read as ASCII.
_may_say = re.compile(
    r"cp(?:125\d|8(?:6\d|74)|9\d\d)|iso8859-\d+|koi8-[ru]|mac-(?:cyrillic|roman)|big5(?:hkscs)?"
    r"|euc_jp|iso2022_jp|gb18030"
).fullmatch
_metas = re.compile(rb"<meta(?=[\s/])((?:\"[^\"]*\"|'[^']*'|[^>\"'])*)", re.I).finditer
_attributes = re.compile(
    rb"([^\s/>=\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+)))?"
).findall
_in_content = re.compile(rb"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I).search
_declaration = re.compile(
    rb"\s*<\?xml[^>]*?encoding[ \t\r\n]*=[ \t\r\n]*[\"']([\w.:-]+)", re.I
).match
_without_meaning = re.compile("[\udc80-\udcff]").sub
_HEAD = 4096  # where an encoding is looked for; browsers look at 1024 bytes


def decode_html(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """The text of HTML and what it was read in: named, by byte order mark, or as it says itself.

    Where it says an encoding that it is not in, and where it says none, it is read as UTF-8.
    """
    return _decode(data, name, encoding, declared_encoding(data))


def decode_xml(data: bytes, name: str, encoding: str = "") -> tuple[str, str]:
    """The text of XML, as `decode_html`."""
    declaration = _declaration(data, 0, _HEAD)
    return _decode(data, name, encoding, _said(declaration[1]) if declaration else "")


def declared_encoding(data: bytes) -> str:
    """The encoding that HTML says it is in, or nothing."""
    head = re.sub(rb"<!--.*?(?:-->|\Z)", b"", data[:_HEAD], flags=re.S)
    declaration = _declaration(head)
    labels = [declaration[1]] if declaration else map(_label, _metas(head))
    return next(filter(None, map(_said, labels)), "")


def _label(meta: re.Match[bytes]) -> bytes:
    """The name of an encoding in a ``<meta>``, as browsers look for one, or nothing."""
    said = {name.lower(): b"".join(values) for name, *values in reversed(_attributes(meta[1]))}
    if b"charset" in said:
        return said[b"charset"].strip()
    if said.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return b""
    found = _in_content(said.get(b"content", b""))
    return found[1] if found else b""


def _said(label: bytes) -> str:
    """The encoding that a page may say by a name, or nothing."""
    codec = meant_encoding(label.decode("ascii", "replace"))
    return codec if _may_say(codec) else ""


def _decode(data: bytes, name: str, encoding: str, said: str) -> tuple[str, str]:
    """The text of some bytes which say an encoding, if no person and no mark says another."""
    if encoding or not said or marked_encoding(data):
        return decode(data, name, encoding)
    try:
        return decode(data, name, said)
    except LoadError:
        try:
            return decode(data, name)
        except LoadError:
            pass
        if not said.startswith("cp125"):
            raise
        # On the web its bytes without a meaning are control characters.
        return _without_meaning(_control, data.decode(said, "surrogateescape")), said


def _control(byte: re.Match[str]) -> str:
    return chr(ord(byte[0]) & 0xFF)


def meant_encoding(label: str) -> str:
    """The codec that is meant by the name of an encoding; nothing for one that nobody knows."""
    codec = codec_of(label)
    return _MEANT.get(codec, codec)


def codec_of(label: str) -> str:
    """Python's own name of the codec that the name of an encoding says, or nothing."""
    label = label.strip().lower()
    if not label:
        return ""
    try:
        label = _LABELS.get(label, label)
        "".encode(label)  # what is no encoding of text has no such thing
        return codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
