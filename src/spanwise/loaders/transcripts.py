"""Transcripts: SubRip, WebVTT and text with speakers, as turns with their times."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from spanwise.documents import Document, Turn
from spanwise.errors import LoadError, OptionError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.text import decode, own_encoding
from spanwise.parts import PartRow, Parts

__all__ = ["SubRipLoader", "TranscriptLoader", "WebVttLoader"]

SUBRIP = "application/x-subrip"
WEBVTT = "text/vtt"
TRANSCRIPT = "text/x-transcript"

# A file whose kind is told by how it begins must not have a suffix that says otherwise.
_OPEN_SUFFIXES = ("", ".txt", ".text")

_CLOCK = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,3}))?(?![\d:])"
_line_end = re.compile(r"\r\n?|\n")
_timing = re.compile(rf"[ \t]*{_CLOCK}[ \t]*-->[ \t]*{_CLOCK}").match
# A timing with its arrow gone wrong.
_loose = re.compile(r"[ \t]*\d+:[\d:.,]+[ \t]*[-–—=]*>[ \t]*\d").match
_number = re.compile(r"[ \t]*\d+[ \t]*\Z").match
_header = re.compile(r"WEBVTT(?![^ \t])").match
_not_a_cue = re.compile(r"(?:NOTE(?![^ \t])|(?:STYLE|REGION)[ \t]*\Z)").match
_vtt_begins = re.compile(rb"(?:\xef\xbb\xbf)?WEBVTT(?![^ \t\r\n])").match
_srt_begins = re.compile(
    rb"(?:\xef\xbb\xbf)?\s{0,99}\d+[ \t]*(?:\r\n?|\n)\d+:\d+:\d+[,.]\d+ *--> *\d+:"
).match

# WebVTT drops whatever stands between angle brackets; here it must look like a tag, for the
# sake of `3 < 4`. SubRip has no rule: players know these names, and braces with a backslash.
_vtt_tag = re.compile(r"</?[A-Za-z][^<>]*>|<\d+:[\d:.]*>|</>")
_srt_tag = re.compile(r"</?(?:font|span|em|strong|br|[ibusc])(?=[ />.])[^<>]*>|\{\\[^{}]*\}", re.I)
_voice = re.compile(r"<v(?:\.[^<>\s]*)?(?:[ \t\n]([^<>]*))?>")
_break = re.compile(r"<br[ /]*>", re.I)
_entity = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")

# A name begins with a letter, is short, and a blank parts its colon from what is said.
_NAME = r"([^\W\d_][\w.'’&/ -]{0,39}?(?: ?\([\w .'’-]{1,30}\))?)"
_cue_label = re.compile(rf"(?:[-–—>]+ ?)?{_NAME} ?[::](?:(?<=:)|\s)\s*(?=\S)").match
_STAMP = rf"[\[(]?{_CLOCK}(?:[ \t]*(?:-->|[-–—])[ \t]*{_CLOCK})?[\])]?"
_line_label = re.compile(
    rf"[ \t\ufeff]*(?:{_STAMP}[ \t]{{0,9}}[-–—]?[ \t]{{0,9}})?{_NAME}[ \t]{{0,9}}"
    rf"(?:[\[(]{_CLOCK}[\])][ \t]*)?[::](?:(?<=:)|[ \t]+|(?=[\r\n]|\Z))"
).match
_line = re.compile(r"[^\r\n]+")

# Fields and log levels stand before colons like names do.
_NO_NAMES = {
    *("info", "debug", "warn", "warning", "error", "fatal", "trace", "critical", "notice", "note"),
    *("notes", "tip", "example", "from", "to", "cc", "bcc", "date", "subject", "sent", "title"),
    *("name", "author", "url", "http", "https", "version", "usage", "todo"),
}
_LEAST_TURNS = 3
# What is read of a file to tell what it is: some hundreds of lines.
_HEAD = 65536
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # where a line end is more than one byte
# Meta goes with every passage, so the list of a ruined file must end.
_MOST_PROBLEMS = 20
_CLOSERS = tuple(".?!…\"'”’)]。?!」-–—")


@dataclass(frozen=True, slots=True)
class SubRipLoader:
    """Reads SubRip subtitles: a cue is a turn with its number and times."""

    name: str = "SubRip"
    suffixes: tuple[str, ...] = (".srt",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is SubRip, by its suffix or a first cue."""
        return raw.suffix in self.suffixes or (
            raw.suffix in _OPEN_SUFFIXES and _srt_begins(raw.data) is not None
        )

    def load(self, raw: Raw) -> Document:
        """The cues as turns; lines of a cue are joined by a space, or kept before a dash.

        ``meta["problems"]`` names the cues whose times cannot be read; their text is kept.
        """
        return _load_cues(raw, SUBRIP)


@dataclass(frozen=True, slots=True)
class WebVttLoader:
    """Reads WebVTT captions: a cue is a turn, with its voice as the speaker."""

    name: str = "WebVTT"
    suffixes: tuple[str, ...] = (".vtt",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is WebVTT, by its suffix or first line."""
        return raw.suffix in self.suffixes or (
            raw.suffix in _OPEN_SUFFIXES and _vtt_begins(raw.data) is not None
        )

    def load(self, raw: Raw) -> Document:
        """The cues as turns, as `SubRipLoader` gives them; a cue of two voices is two turns."""
        return _load_cues(raw, WEBVTT)


@dataclass(frozen=True, slots=True)
class TranscriptLoader:
    """Reads text whose lines name their speakers, as in ``[00:12:04] Ana: Good morning``."""

    name: str = "transcript"
    suffixes: tuple[str, ...] = ()

    def claims(self, raw: Raw) -> bool:
        """Whether it is surely a transcript: at least 3 turns, most lines, names that recur."""
        if raw.suffix not in _OPEN_SUFFIXES or b":" not in raw.data:
            return False
        # The head in whole lines: a large file is not decoded for a look.
        head = raw.data[: 2 * _HEAD]
        if len(head) < len(raw.data) and not head.startswith(_WIDE):
            head = head[: head.rfind(b"\n") + 1] or raw.data
        try:
            text = decode(head, raw.name, raw.encoding)[0]
        except (LoadError, OptionError):
            return False
        return _is_transcript(text[:_HEAD])

    def load(self, raw: Raw) -> Document:
        """The text as it is, with a part for each turn, its speaker's name included."""
        text, encoding = decode(raw.data, raw.name, raw.encoding)
        found = list(_said(text))
        if text.strip() and not any(each.speaker for each in found):
            raise LoadError(
                f"{raw.name}: it begins with {shown(text.strip(), 40)}, and no line names its "
                "speaker as in 'Ana: Good morning.'; load it as plain text"
            )
        rows: list[PartRow] = []
        for seq, each in enumerate(found, 1):
            meta = {
                "seq": seq,
                "item_id": "",
                "start_ms": each.start_ms,
                "end_ms": each.end_ms,
                "speaker": each.speaker,
            }
            rows.append(("turn", each.start, each.end, each.speaker or str(seq), meta))
        return Document(
            text=text,
            uri=raw.uri,
            media_type=TRANSCRIPT,
            parts=Parts.of_rows(rows),
            meta=MappingProxyType({"encoding": encoding}),
            encoding=own_encoding(raw.data, encoding),
        )


class _Said(NamedTuple):
    """A turn of a text: where its line begins, where its words do, and where it ends."""

    start: int
    said: int
    end: int
    speaker: str = ""
    start_ms: int | None = None
    end_ms: int | None = None


def _labels(text: str) -> tuple[list[_Said], int]:
    """The lines that name a speaker, and how many lines have ink."""
    found, inked = [], 0
    for line in _line.finditer(text):
        if not line.group().strip():
            continue
        inked += 1
        label = _line_label(text, line.start(), line.end())
        if label is None or label.group(9).split()[0].lower() in _NO_NAMES:
            continue
        clock = label.group(1, 2, 3, 4) if label.group(2) else label.group(10, 11, 12, 13)
        said = label.end()
        while said < line.end() and text[said] in " \t":
            said += 1
        found.append(
            _Said(
                line.start(),
                said,
                line.end(),
                label.group(9),
                _milliseconds(clock),
                _milliseconds(label.group(5, 6, 7, 8)),
            )
        )
    return found, inked


def _said(text: str) -> Iterator[_Said]:
    """The turns of a text in order, each up to the last ink before the next."""
    found, inked = _labels(text)
    if len(found) * 2 < inked:
        counts = Counter(each.speaker for each in found)
        found = [each for each in found if each.start_ms is not None or counts[each.speaker] > 1]
    first = found[0].start if found else len(text)
    if text[:first].strip():
        lead = first - len(text[:first].lstrip())
        yield _Said(lead, lead, len(text[:first].rstrip()))
    for i, each in enumerate(found):
        following = found[i + 1].start if i + 1 < len(found) else len(text)
        end = each.start + len(text[each.start : following].rstrip())
        yield each._replace(said=min(each.said, end), end=end)


def _is_transcript(text: str) -> bool:
    """Whether a text is surely what people said."""
    # Each label has a colon, and more than half of the lines must have one; most texts end here.
    colons = text.count(":") + text.count("：")
    if colons * 2 <= sum(not line.isspace() for line in text.split("\n") if line):
        return False
    found, inked = _labels(text)
    if len(found) < _LEAST_TURNS or len(found) * 2 <= inked:
        return False
    counts = Counter(each.speaker for each in found)
    if not any(count > 1 for count in counts.values()):
        return False
    if sum(each.start_ms is not None for each in found) * 2 > len(found):
        return True
    # Without times, records of fields look alike: speech has sentences and more than one voice.
    closed = sum(text[: each.end].rstrip().endswith(_CLOSERS) for each in _ends(text, found))
    return (
        len(counts) > 1
        and len(found) * 2 >= len(counts) * 3
        and closed * 2 > len(found)
        and not any(name[0].islower() for name in counts)
    )


def _ends(text: str, found: list[_Said]) -> Iterator[_Said]:
    """The labelled lines that say something."""
    return (each for each in found if text[each.said : each.end].strip())


def _milliseconds(clock: tuple[str | None, ...]) -> int | None:
    """A time of hours, minutes, seconds and a fraction; None where it is none."""
    hours, minutes, seconds, fraction = clock
    if minutes is None or seconds is None or int(seconds) > 59 or (hours and int(minutes) > 59):
        return None
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * 1000 + int((fraction or "").ljust(3, "0"))


class _Cue(NamedTuple):
    """A cue as it stands in the file."""

    item_id: str
    start_ms: int | None
    end_ms: int | None
    lines: list[str]


def _load_cues(raw: Raw, media_type: str) -> Document:
    """The document of a file of cues."""
    text, encoding = decode(raw.data, raw.name, raw.encoding)
    vtt = media_type == WEBVTT
    headed = vtt and text.removeprefix("\ufeff").startswith("WEBVTT")
    if text.strip() and not headed and "-->" not in text:
        raise LoadError(
            f"{raw.name}: it begins with {shown(text.strip(), 40)}, and no line is a timing "
            "as in '00:00:01,000 --> 00:00:02,000'; load it as plain text"
        )
    problems: list[str] = []
    if vtt and text.strip() and not headed:
        problems.append("line 1: it is not WEBVTT")
    cues = _Cues(vtt, problems)
    for number, block in _blocks(text, vtt):
        cues.read(number, block)
    meta: dict[str, object] = {"encoding": encoding}
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        meta["problems"] = problems[:_MOST_PROBLEMS] + [f"and {more} more"] * (more > 0)
    turns = [turn for seq, cue in enumerate(cues.found, 1) for turn in _turns(cue, seq, vtt)]
    made = Document.from_turns(_named(turns), uri=raw.uri, media_type=media_type)
    return replace(made, meta=MappingProxyType(meta))


def _blocks(text: str, vtt: bool) -> Iterator[tuple[int, list[str]]]:
    """The runs of lines between blank ones, each with the number of its first line.

    In WebVTT only an empty line is blank: captions made by machines hold lines of one space.
    """
    block: list[str] = []
    for number, line in enumerate([*_line_end.split(text.removeprefix("\ufeff")), ""], 1):
        if line if vtt else line.strip():
            block.append(line)
        elif block:
            yield number - len(block), block
            block = []


def _is_timing(line: str, *, near: bool) -> bool:
    """Whether a line is meant as a timing, right or wrong; ``near``: where one should stand."""
    before, arrow, after = line.partition("-->")
    if not arrow:
        return near and _loose(line) is not None
    return _clocks(before) or (near and _clocks(after))


def _clocks(text: str) -> bool:
    """Whether a text is a time, be it wrong."""
    return ":" in text and not text.strip(" \t0123456789:.,;-") and any(map(str.isdigit, text))


class _Cues:
    """Collects the cues of a file block by block."""

    def __init__(self, vtt: bool, problems: list[str]) -> None:
        self.found: list[_Cue] = []
        self._vtt = vtt
        self._problems = problems

    def read(self, number: int, block: list[str]) -> None:
        """Take the cues of a block; ``number`` is that of its first line."""
        timings = [i for i, line in enumerate(block) if _is_timing(line, near=i < 2)]
        if timings[:2] == [0, 1] and not _timing(block[1]):
            del timings[1]  # the words of a cue may hold an arrow
        head = block[: timings[0]] if timings else block
        item_id = ""
        if timings and head and (timings[0] == 1 or self._is_id(head[-1])):
            item_id = head.pop().strip()
        if head:
            self._stray(number, head)
        for k, i in enumerate(timings):
            end = timings[k + 1] if k + 1 < len(timings) else len(block)
            lines = block[i + 1 : end]
            following = ""
            if k + 1 < len(timings) and lines and self._is_id(lines[-1]):
                following = lines.pop().strip()
            start_ms, end_ms = self._times(number + i, block[i])
            self.found.append(_Cue(item_id, start_ms, end_ms, lines))
            item_id = following

    def _is_id(self, line: str) -> bool:
        return not self._vtt and _number(line) is not None

    def _times(self, number: int, line: str) -> tuple[int | None, int | None]:
        """When a cue begins and ends; what cannot be read is a problem."""
        found = _timing(line)
        start = _milliseconds(found.group(1, 2, 3, 4)) if found else None
        end = _milliseconds(found.group(5, 6, 7, 8)) if found else None
        if start is None or end is None:
            self._problems.append(f"line {number}: {shown(line.strip())} is no timing")
        elif end < start:
            self._problems.append(f"line {number}: {shown(line.strip())} ends before it begins")
            end = None
        return start, end

    def _stray(self, number: int, lines: list[str]) -> None:
        """Lines outside a cue: a header, a comment, or text that must not be lost."""
        if self._vtt and (_not_a_cue(lines[0]) or (not self.found and _header(lines[0]))):
            return
        last = self.found[-1] if self.found else None
        follows = last is not None and last.item_id.isdecimal() and self._is_id(lines[0])
        if last and follows and int(lines[0]) == int(last.item_id) + 1:
            self._problems.append(f"line {number}: cue {shown(lines[0].strip())} has no timing")
            self.found.append(_Cue(lines[0].strip(), None, None, lines[1:]))
        elif last and not self._vtt:
            last.lines.extend(lines)  # a cue with a blank line inside
        else:
            self._problems.append(f"line {number}: {shown(lines[0].strip())} is outside a cue")
            self.found.append(_Cue("", None, None, lines))


def _turns(cue: _Cue, seq: int, vtt: bool) -> Iterator[Turn]:
    """The turns of a cue: one, or one for each voice."""
    voices = [("", "\n".join(cue.lines))]
    if vtt:
        pieces = _voice.split(voices[0][1])
        voices = [("", pieces[0]), *zip(pieces[1::2], pieces[2::2], strict=True)]
    for speaker, words in voices:
        plain = _vtt_tag.sub("", words) if vtt else _srt_tag.sub("", _break.sub("\n", words))
        text = _joined(_unescaped(plain))
        if text:
            yield Turn(
                text,
                seq,
                cue.item_id,
                start_ms=cue.start_ms,
                end_ms=cue.end_ms,
                speaker=" ".join(_unescaped(speaker or "").split()),
            )


def _unescaped(text: str) -> str:
    """The text with its character references read; a bare ampersand stays."""
    return _entity.sub(lambda found: html.unescape(found.group()), text)


def _joined(text: str) -> str:
    """The lines of a cue as one, but for lines that begin with a dash: someone else speaks."""
    out = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        between = "\n" if line[0] in "-–—" else " "
        out += (between if out else "") + line
    return out


def _named(turns: list[Turn]) -> list[Turn]:
    """The turns with the names that begin their texts as speakers, where a name recurs."""
    labels = [None if turn.speaker else _cue_label(turn.text) for turn in turns]
    counts = Counter(label.group(1) for label in labels if label)
    out = []
    for turn, label in zip(turns, labels, strict=True):
        name = label.group(1) if label else ""
        if label and counts[name] > 1 and name.split()[0].lower() not in _NO_NAMES:
            out.append(replace(turn, text=turn.text[label.end() :], speaker=name))
        else:
            out.append(turn)
    return out
