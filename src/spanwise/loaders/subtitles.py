"""Subtitles: SubRip and WebVTT, as turns with their times."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from spanwise.documents import Document, Turn
from spanwise.errors import LoadError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.speech import CLOCK, NAME, NO_NAMES, OPEN_SUFFIXES, milliseconds
from spanwise.loaders.text import decode

__all__ = ["SubRipLoader", "WebVttLoader"]

SUBRIP = "application/x-subrip"
WEBVTT = "text/vtt"

# A file that was converted twice has `\r\r\n`, which is one line end.
_line_end = re.compile(r"\r{0,2}\n|\r")
_timing = re.compile(rf"[ \t]*{CLOCK}[ \t]*-->[ \t]*{CLOCK}").match
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

_cue_label = re.compile(rf"(?:[-–—>]+ ?)?{NAME} ?[::](?:(?<=:)|\s)\s*(?=\S)").match

# Meta goes with every passage, so the list of a ruined file must end.
_MOST_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class SubRipLoader:
    """Reads SubRip subtitles: a cue is a turn with its number and times."""

    name: str = "SubRip"
    suffixes: tuple[str, ...] = (".srt",)

    def claims(self, raw: Raw) -> bool:
        """Whether it is SubRip, by its suffix or a first cue."""
        return raw.suffix in self.suffixes or (
            raw.suffix in OPEN_SUFFIXES and _srt_begins(raw.data) is not None
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
            raw.suffix in OPEN_SUFFIXES and _vtt_begins(raw.data) is not None
        )

    def load(self, raw: Raw) -> Document:
        """The cues as turns, as `SubRipLoader` gives them; a cue of two voices is two turns."""
        return _load_cues(raw, WEBVTT)


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
        titled = self._vtt and not self.found and bool(head) and _header(head[-1]) is not None
        if timings and head and not titled and (timings[0] == 1 or self._is_id(head[-1])):
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
        start = milliseconds(found.group(1, 2, 3, 4)) if found else None
        end = milliseconds(found.group(5, 6, 7, 8)) if found else None
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
        if label and counts[name] > 1 and name.split()[0].lower() not in NO_NAMES:
            out.append(replace(turn, text=turn.text[label.end() :], speaker=name))
        else:
            out.append(turn)
    return out
