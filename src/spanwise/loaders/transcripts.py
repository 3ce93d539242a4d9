"""Transcripts: text whose lines name their speakers, as turns with their times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from spanwise.documents import Document
from spanwise.errors import LoadError, OptionError, shown
from spanwise.loaders.base import Raw
from spanwise.loaders.speech import CLOCK, NAME, NO_NAMES, OPEN_SUFFIXES, milliseconds
from spanwise.loaders.text import decode, own_encoding
from spanwise.parts import PartRow, Parts

__all__ = ["TranscriptLoader"]

TRANSCRIPT = "text/x-transcript"

_STAMP = rf"[\[(]?{CLOCK}(?:[ \t]*(?:-->|[-–—])[ \t]*{CLOCK})?[\])]?"
_line_label = re.compile(
    rf"[ \t\ufeff]*(?:{_STAMP}[ \t]{{0,9}}[-–—]?[ \t]{{0,9}})?{NAME}[ \t]{{0,9}}"
    rf"(?:[\[(]{CLOCK}[\])][ \t]*)?[::](?:(?<=:)|[ \t]+|(?=[\r\n]|\Z))"
).match
_line = re.compile(r"[^\r\n]+")

_LEAST_TURNS = 3
# What is read of a file to tell what it is: some hundreds of lines.
_HEAD = 65536
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # where a line end is more than one byte
_CLOSERS = tuple(".?!…\"'”’)]。?!」-–—")


@dataclass(frozen=True, slots=True)
class TranscriptLoader:
    """Reads text whose lines name their speakers, as in ``[00:12:04] Ana: Good morning``."""

    name: str = "transcript"
    suffixes: tuple[str, ...] = ()

    def claims(self, raw: Raw) -> bool:
        """Whether it is surely a transcript: at least 3 turns, most lines, names that recur."""
        if raw.suffix not in OPEN_SUFFIXES or b":" not in raw.data:
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
        if label is None or label.group(9).split()[0].lower() in NO_NAMES:
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
                milliseconds(clock),
                milliseconds(label.group(5, 6, 7, 8)),
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
