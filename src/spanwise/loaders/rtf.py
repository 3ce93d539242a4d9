"""RTF files: headings, paragraphs, lists, tables and notes in order."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from spanwise.documents import Document
from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.builder import Builder
from spanwise.loaders.rtf_flow import Flow, Paragraph

__all__ = ["RtfLoader"]

_MEDIA_TYPE = "application/rtf"
_BEGINS = b"{\\rtf"
_MOST_DEPTH = 2000

_TOKEN = re.compile(
    r"\\([A-Za-z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9A-Fa-f]{2})|\\(.)|([{}])|[\r\n\0]+"
    r"|([^\\{}\r\n\0]+)",
    re.DOTALL,
)

# The groups of a token, of which the last one that is set says its kind.
_WORD, _NUMBER, _CODE, _SIGN, _BRACE, _PLAIN = range(1, 7)

# Python's names of the encodings that fonts name by number.
_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    78: "shift_jis",
    79: "euc_kr",
    80: "gb2312",
    81: "big5",
    84: "mac_arabic",
    85: "mac_greek",
    86: "mac_turkish",
    87: "tis_620",
    88: "mac_latin2",
    89: "mac_cyrillic",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
# Python's names of the code pages of the Mac, which it does not know by number.
_MAC_PAGES = {
    10000: "mac_roman",
    10001: "shift_jis",
    10002: "big5",
    10003: "euc_kr",
    10004: "mac_arabic",
    10006: "mac_greek",
    10007: "mac_cyrillic",
    10008: "gb2312",
    10010: "mac_romanian",
    10017: "mac_cyrillic",
    10021: "tis_620",
    10029: "mac_latin2",
    10079: "mac_iceland",
    10081: "mac_turkish",
    10082: "mac_croatian",
}
_SIGNS = {
    "line": "\n",
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "emspace": "\u2003",
    "enspace": "\u2002",
    "qmspace": "\u2005",
    "~": "\N{NO-BREAK SPACE}",
    "_": "\N{NON-BREAKING HYPHEN}",
    "\\": "\\",
    "{": "{",
    "}": "}",
    "page": "\n",
    "column": "\n",
}
# Groups that hold no text of the page. One marked `\*` is skipped too unless it is known here.
_SKIPPED = frozenset(
    (
        *("colortbl", "filetbl", "pict", "nonshppict", "header", "headerl", "headerr", "headerf"),
        *("footer", "footerl", "footerr", "footerf", "sp", "shprslt", "nonesttables", "xe", "tc"),
        *("ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "fldinst", "objdata"),
    )
)
_KNOWN = frozenset(("footnote", "shpinst", "shptxt", "do", "dptxbxtext", "nesttableprops"))
_TAKEN = {"title": "title", "author": "author", "creatim": "created", "revtim": "modified"}
_DATE = ("yr", "mo", "dy", "hr", "min")
_CHARACTERS = frozenset(
    ("f", "uc", "v", "deleted", "plain", "ansicpg", "mac", "pc", "fcharset", "deff")
)
# The words that are acted on; two of three in a file of LibreOffice's only say how it looks.
_MEANT = frozenset(
    (
        *("u", "s", "outlinelevel", "fonttbl", "stylesheet", "info", "listtext", "pntext", "ilvl"),
        *("footnote", "shptxt", "dptxbxtext", "par", "sect", "row", "pard", "intbl"),
        *("cell", "nestcell"),
        *(*_CHARACTERS, *_SIGNS, *_SKIPPED, *_TAKEN, *_DATE),
    )
)


@dataclass(frozen=True, slots=True)
class RtfLoader:
    """Reads RTF files; page headers, comments, pictures and hidden or deleted text are left out."""

    name: str = "RTF"
    suffixes: tuple[str, ...] = (".rtf",)

    def claims(self, raw: Raw) -> bool:
        """Whether the suffix or the first bytes say so."""
        return raw.suffix in self.suffixes or raw.data.startswith(_BEGINS)

    def load(self, raw: Raw) -> Document:
        """The text with its headings; footnotes and endnotes stand at its end, as ``[1]``.

        Tables inside tables are written into the cell that holds them.
        """
        if not raw.data.startswith(_BEGINS):
            raise LoadError(
                f"{raw.name}: it begins with {shown(raw.data[:8])}, not as RTF does; "
                "check its suffix"
            )
        reader = _Reader(raw.name)
        reader.read(raw.data.decode("latin-1"))
        builder = Builder()
        for write in reader.flows[0].blocks:
            write(builder)
        builder.apart()
        for number, text in enumerate(reader.notes, 1):
            start = builder.paragraph(f"[{number}] {text}")
            builder.note("footnote", str(number), start, builder.position)
        return builder.document(uri=raw.uri, media_type=_MEDIA_TYPE, meta=reader.meta)


_USUAL = Paragraph()


@dataclass(slots=True)
class _Group:
    """What ends with a group: where its text goes and how its characters are read."""

    place: str = "text"
    font: int = -1
    skip: int = 1  # characters for old programs behind each `\u`
    hidden: bool = False
    deleted: bool = False
    opens: str = ""  # the flow that this group began
    note: int = 0  # the note that this flow is
    before: Paragraph = _USUAL  # what was said of the paragraph where the group began

    def inner(self, now: Paragraph) -> _Group:
        """A group inside this one."""
        return _Group(
            self.place, self.font, self.skip, self.hidden, self.deleted, "", self.note, now
        )


class _Reader:
    """Reads one file, token by token."""

    def __init__(self, name: str) -> None:
        self.flows = [Flow()]
        self.notes: list[str] = []
        self.meta: dict[str, str] = {}
        self._name = name
        self._group = _Group()
        self._outer: list[_Group] = []
        self._starred = False
        self._bytes = bytearray()
        self._skip = 0
        self._encoding = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = self._style = 0
        self._usual_font = 0
        self._outlines: dict[int, int] = {}
        self._taken: list[str] = []
        self._date: dict[str, int] = {}

    def read(self, text: str) -> None:
        """Read to the end of the outermost group."""
        tokens = _TOKEN.finditer(text)
        while found := next(tokens, None):
            kind = found.lastindex
            if kind is None:
                continue  # a line end
            if kind <= _NUMBER:
                word = found[_WORD]
                if word == "bin":
                    tokens = _TOKEN.finditer(text, found.end() + max(0, int(found[_NUMBER] or 0)))
                elif self._skip and word != "u":
                    self._skip -= 1
                elif word in _MEANT or self._starred:
                    self._word(word, int(found[_NUMBER]) if kind == _NUMBER else None)
                elif self._bytes:
                    self._flush()
            elif kind == _PLAIN:
                self._read_bytes(found[_PLAIN].encode("latin-1"))
            elif kind == _CODE:
                self._read_bytes(bytes.fromhex(found[_CODE]))
            elif kind == _BRACE:
                if found[_BRACE] == "{":
                    self._open()
                    continue
                self._close()
                if not self._outer:
                    self.flows[0].end(self._outlines)
                    return
            elif self._skip:
                self._skip -= 1
            elif found[_SIGN] == "*":
                self._starred = True
            else:
                sign = found[_SIGN]
                self._word("par" if sign in "\r\n" else sign, None)
        raise LoadError(
            f"{self._name}: it ends inside a group, at byte {len(text)}; the file was cut off, "
            "get a new copy"
        )

    def _read_bytes(self, data: bytes) -> None:
        """Keep bytes of text, save those that stand in for a `\\u`."""
        passed = min(self._skip, len(data))
        self._skip -= passed
        self._bytes += data[passed:]
        self._starred = False

    def _open(self) -> None:
        self._flush()
        self._skip = 0
        if len(self._outer) >= _MOST_DEPTH:
            raise LoadError(
                f"{self._name}: its groups nest over {_MOST_DEPTH} deep, more than is read; "
                "the file is damaged or made to do harm"
            )
        self._outer.append(self._group)
        self._group = self._group.inner(self.flows[-1].now)

    def _close(self) -> None:
        self._flush()
        self._skip = 0
        ended, self._group = self._group, self._outer.pop()
        if ended.opens:
            flow = self.flows.pop()
            flow.end(self._outlines)
            if ended.opens == "footnote":
                inner = Builder()
                for write in flow.blocks:
                    write(inner)
                written = inner.document(uri="", media_type="", meta={}).text
                self.notes[ended.note] = written
            else:
                self.flows[-1].boxes += flow.blocks
        self.flows[-1].now = ended.before
        if ended.place in _TAKEN and self._group.place != ended.place:
            said = "".join(self._taken).strip()
            if len(self._date) >= 3 and 0 < self._date.get("yr", 0) < 10_000:
                year, month, day, hour, minute = (self._date.get(key, 0) for key in _DATE)
                said = f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:00"
            if said:
                self.meta.setdefault(_TAKEN[ended.place], said)
            self._taken, self._date = [], {}

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if word == "u":
            self._unicode(number or 0)
            return
        self._flush()
        group, flow = self._group, self.flows[-1]
        if word in _CHARACTERS:
            self._characters(word, number)
        elif group.place == "stylesheet" and word in ("s", "outlinelevel"):
            if word == "s":
                self._style = number or 0
            else:
                self._outlines[self._style] = number or 0
        elif word in ("fonttbl", "stylesheet", "info", *_TAKEN):
            if word not in _TAKEN or group.place == "info":
                group.place = word
        elif group.place in _TAKEN and word in _DATE:
            self._date[word] = number or 0
        elif word in _SKIPPED or (starred and word not in _KNOWN):
            group.place = "skip"
        elif group.place != "text" and (group.place != "label" or word not in _SIGNS):
            return  # a label has paragraph settings too, and they are its own
        elif word in ("footnote", "shptxt", "dptxbxtext"):
            if word == "footnote":
                self.notes.append("")
                self._put(f"[{len(self.notes)}]")
            group.opens, group.note = word, len(self.notes) - 1
            self.flows.append(Flow())
        elif word in ("listtext", "pntext"):
            group.place = "label"
            flow.label = ""
        elif word in ("par", "sect"):
            flow.end_paragraph(self._outlines)
        elif word == "nestcell":
            flow.end_line()
        elif word == "cell":
            flow.end_cell()
        elif word == "row":
            flow.end_row()
        elif word == "pard":
            flow.now = _USUAL  # the label stays: Word writes it first
        elif word == "s":
            flow.now = replace(flow.now, style=number or 0)
        elif word == "outlinelevel":
            flow.now = replace(flow.now, outline=number or 0)
        elif word == "ilvl":
            flow.now = replace(flow.now, depth=max(0, min(number or 0, 8)))
        elif word == "intbl":
            flow.now = replace(flow.now, in_table=True)
        elif word in _SIGNS:
            self._put(_SIGNS[word])

    def _characters(self, word: str, number: int | None) -> None:
        """How the characters that follow are read."""
        if word == "f" and self._group.place == "fonttbl":
            self._font = number or 0
        elif word == "fcharset":
            if number in _CHARSETS:
                self._fonts[self._font] = _CHARSETS[number]
        elif word == "f":
            self._group.font = number or 0
        elif word == "uc":
            self._group.skip = max(0, number if number is not None else 1)
        elif word == "v":
            self._group.hidden = number != 0
        elif word == "deleted":
            self._group.deleted = number != 0
        elif word == "plain":
            self._group.hidden = self._group.deleted = False
            self._group.font = -1
        elif word == "deff":
            self._usual_font = number or 0
        elif word == "ansicpg":
            self._encoding = _code_page(number or 0, self._encoding)
        else:
            self._encoding = "mac_roman" if word == "mac" else "cp437"

    def _unicode(self, number: int) -> None:
        self._flush()
        if number:
            self._put(chr(number & 0xFFFF))
        self._skip = self._group.skip

    def _flush(self) -> None:
        """Put the bytes read so far, in the encoding of their font."""
        if self._bytes:
            font = self._group.font if self._group.font >= 0 else self._usual_font
            encoding = self._fonts.get(font, self._encoding)
            data, self._bytes = bytes(self._bytes), bytearray()
            self._put(data.decode(encoding, "replace"))

    def _put(self, text: str) -> None:
        place = self._group.place
        if place in _TAKEN:
            self._taken.append(text)
        elif place == "label":
            self.flows[-1].label += text
        elif place == "text" and not (self._group.hidden or self._group.deleted):
            self.flows[-1].pieces.append(text)


def _code_page(number: int, otherwise: str) -> str:
    """Python's name of a code page; ``otherwise`` where it has none."""
    try:
        return codecs.lookup(_MAC_PAGES.get(number, f"cp{number}")).name
    except LookupError:
        return otherwise
