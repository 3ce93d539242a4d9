"""Transcripts: cues and lines are turns with their times and speakers."""

from __future__ import annotations

import io
import random
from datetime import timedelta

import pysubs2
import pytest
import srt
import webvtt

from spanwise import Document, LoadError, chunk
from spanwise.loaders.base import Raw
from spanwise.loaders.subtitles import SubRipLoader, WebVttLoader
from spanwise.loaders.transcripts import TranscriptLoader

SRT, VTT, TEXT = SubRipLoader(), WebVttLoader(), TranscriptLoader()
LOADERS = {".srt": SRT, ".vtt": VTT, ".txt": TEXT}
LINES = [
    (724_000, 726_500, "Good morning, everyone."),
    (726_500, 729_000, "Ana: The refunds 🏮\ncome first."),
    (729_000, 3_600_000, "Bo: Yes & no: 3 < 4."),
    (3_600_000, 3_725_250, "Ana: Größe?"),
    (3_725_250, 3_725_900, "Bo: 日本"),
]


def raw(data: bytes | str, suffix: str, encoding: str = "") -> Raw:
    data = data.encode() if isinstance(data, str) else data
    name = "call" + suffix
    return Raw(data=data, name=name, uri="kb/" + name, suffix=suffix, encoding=encoding)


def load(data: bytes | str, suffix: str) -> Document:
    return LOADERS[suffix].load(raw(data, suffix))


def turns(doc: Document) -> list[tuple[object, ...]]:
    keys = ("item_id", "start_ms", "end_ms", "speaker")
    return [
        (doc.text[p.start : p.end], *(p.meta[key] for key in keys))
        for p in doc.parts
        if p.kind == "turn"
    ]


def by_pysubs2(kind: str) -> str:
    subs = pysubs2.SSAFile()
    for start, end, text in LINES:
        subs.append(pysubs2.SSAEvent(start, end, text.replace("\n", "\\N")))
    return subs.to_string(kind)


def by_srt() -> str:
    cues = [
        srt.Subtitle(i, timedelta(milliseconds=start), timedelta(milliseconds=end), text)
        for i, (start, end, text) in enumerate(LINES, 1)
    ]
    return srt.compose(cues)


SAID = [
    ("Good morning, everyone.", "1", 724_000, 726_500, ""),
    ("The refunds 🏮 come first.", "2", 726_500, 729_000, "Ana"),
    ("Yes & no: 3 < 4.", "3", 729_000, 3_600_000, "Bo"),
    ("Größe?", "4", 3_600_000, 3_725_250, "Ana"),
    ("日本", "5", 3_725_250, 3_725_900, "Bo"),
]


@pytest.mark.parametrize("made", [by_srt(), by_pysubs2("srt"), by_srt().replace("\n", "\r\n")])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_subrip_as_programs_write_it(made: str, mark: str) -> None:
    doc = load(mark + made, ".srt")
    assert turns(doc) == SAID
    assert doc.media_type == "application/x-subrip"
    assert doc.text == "\n".join(said[0] for said in SAID)
    assert "problems" not in doc.meta
    assert SRT.claims(raw(mark + made, "")) and not SRT.claims(raw(made, ".md"))


def test_webvtt_as_programs_write_it() -> None:
    made = webvtt.WebVTT()
    for i, (start, end, text) in enumerate(LINES, 1):
        stamps = [str(webvtt.models.Timestamp(*clock(at))) for at in (start, end)]
        made.captions.append(webvtt.Caption(*stamps, text, identifier=str(i)))
    out = io.StringIO()
    made.write(out)
    for text in (out.getvalue(), by_pysubs2("vtt")):
        doc = load(text, ".vtt")
        assert turns(doc) == SAID
        assert doc.media_type == "text/vtt"
        assert VTT.claims(raw(text, ".txt"))


def clock(milliseconds: int) -> tuple[int, int, int, int]:
    seconds, rest = divmod(milliseconds, 1000)
    return seconds // 3600, seconds // 60 % 60, seconds % 60, rest


VOICES = """WEBVTT - A call
Kind: captions

STYLE
::cue(v) { color: red }

REGION
id:one

NOTE
a comment --> of two
lines

intro
12:04.000 --> 12:06.500 align:start position:0%
<v.loud Ana M&uuml;ller>Good <i.x>morning</i>,
<00:12:05.000><c>all</c> &amp; sundry &lt;3

00:12:07.000 --> 00:12:09.000
<v Bo>Hello.</v> <v Ana>Oh,
hi!</v>

00:12:10.000 --> 00:12:11.000
- Who?
- Me. a --> b
"""


def test_voices_tags_and_blocks_of_webvtt() -> None:
    doc = load(VOICES, ".vtt")
    assert turns(doc) == [
        ("Good morning, all & sundry <3", "intro", 724_000, 726_500, "Ana Müller"),
        ("Hello.", "", 727_000, 729_000, "Bo"),
        ("Oh, hi!", "", 727_000, 729_000, "Ana"),
        ("- Who?\n- Me. a --> b", "", 730_000, 731_000, ""),
    ]
    assert dict(doc.meta) == {"encoding": "utf-8"}
    assert [part.meta["seq"] for part in doc.parts] == [1, 2, 2, 3]
    assert chunk(doc)[0].citation == "call.vtt, 00:12:04, Ana Müller, Bo, Ana"


def test_captions_by_machine_hold_lines_of_a_space() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nhello<00:01.5><c> world</c>\n\n"
    assert turns(load(text, ".vtt")) == [("hello world", "", 1000, 2000, "")]


def test_a_citation_names_time_and_speaker() -> None:
    text = "WEBVTT\n\n00:12:04.000 --> 00:12:06.000\n<v Ana>Hi.\n"
    assert chunk(load(text, ".vtt"))[0].citation == "call.vtt, 00:12:04, Ana"


@pytest.mark.parametrize(
    ("text", "found", "said"),
    [
        ("1\n00:00:01,5 --> 00:00:02\nA", ("A", "1", 1500, 2000, ""), ""),
        (
            "1\n00:00:01.000 --> 00:00:02.000 X1:40\n{\\an8}<font color='red'>A</font>",
            ("A", "1", 1000, 2000, ""),
            "",
        ),
        ("00:01,000 --> 00:02,000\nA<br/>B &amp; C&D", ("A B & C&D", "", 1000, 2000, ""), ""),
        ("1\n00:99:01,000 --> 00:00:02,000\nA", ("A", "1", None, 2000, ""), "line 2: '00:99"),
        (
            "1\n00:00:03,000 --> 00:00:02,000\nA",
            ("A", "1", 3000, None, ""),
            "ends before it begins",
        ),
        (
            "1\n00:00:01,000 -> 00:00:02,000\nA\n\n2\n00:00:03 --> 00:00:04\n",
            ("A", "1", None, None, ""),
            "is no timing",
        ),
        ("1\nxx:yy --> 00:00:02,000\nA", ("A", "1", None, None, ""), "line 2: 'xx:yy"),
        (
            "A\n\n1\n00:00:01,000 --> 00:00:02,000\n",
            ("A", "", None, None, ""),
            "line 1: 'A' is outside",
        ),
        ("1\n00:00:01,000 --> 00:00:02,000\nA\n\nB\n", ("A B", "1", 1000, 2000, ""), ""),
        ("1\n-00:00:01,000 --> 00:00:02,000\nA", ("A", "1", None, None, ""), "is no timing"),
    ],
)
def test_odd_timings_keep_their_text(text: str, found: tuple[object, ...], said: str) -> None:
    doc = load(text, ".srt")
    assert turns(doc) == [found]
    assert said in str(doc.meta.get("problems", "")) and bool(said) == ("problems" in doc.meta)


def test_cues_without_a_blank_line_between_them() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\nA\n2\n00:00:03,000 --> 00:00:04,000\nB\n\n3\nC\n"
    doc = load(text, ".srt")
    assert [turn[:3] for turn in turns(doc)] == [
        ("A", "1", 1000),
        ("B", "2", 3000),
        ("C", "3", None),
    ]
    assert doc.meta["problems"] == ["line 8: cue '3' has no timing"]


def test_a_name_is_a_speaker_only_where_it_recurs() -> None:
    cues = [
        "Once: upon a time",
        "Ana: yes",
        "at 10:30: no",
        "Ana: http://a.b",
        "Note: a",
        "Note: b",
    ]
    made = srt.compose(
        srt.Subtitle(i, timedelta(seconds=i), timedelta(seconds=i + 1), cue)
        for i, cue in enumerate(cues, 1)
    )
    assert [(turn[0], turn[4]) for turn in turns(load(made, ".srt"))] == [
        ("Once: upon a time", ""),
        ("yes", "Ana"),
        ("at 10:30: no", ""),
        ("http://a.b", "Ana"),
        ("Note: a", ""),
        ("Note: b", ""),
    ]


def test_the_problems_of_a_ruined_file_end() -> None:
    doc = load("a\n\n" * 100 + "1:00 --> 2:00", ".vtt")
    assert len(doc.text.split("\n")) == 100
    assert doc.meta["problems"][-1] == "and 81 more"
    assert doc.meta["problems"][0] == "line 1: it is not WEBVTT"


def test_empty_files_are_empty_documents() -> None:
    for suffix in LOADERS:
        assert load("", suffix).text == "" and not load(" \n", suffix).parts
    assert load("WEBVTT", ".vtt").text == ""


@pytest.mark.parametrize("data", [b"Just a text.", b"%PDF-1.7\n\0", b"PK\x03\x04\0", b"caf\xe9"])
@pytest.mark.parametrize("suffix", LOADERS)
def test_what_has_no_turns_is_refused_by_name(data: bytes, suffix: str) -> None:
    with pytest.raises(LoadError, match=rf"^call\{suffix}: "):
        load(data, suffix)


def test_an_encoding_may_be_named() -> None:
    data = by_srt().replace("🏮", "").replace("日本", "x").encode("cp1252")
    assert turns(SRT.load(raw(data, ".srt", "cp1252")))[3][0] == "Größe?"


TIMED = """\
Board call, 5 March

[00:12:04] Ana: Good morning, 🏮.
We begin.

[00:12:09 - 00:12:11] Bo Lee: Yes?
(01:00:00.5) Ana: Go on.
Bo Lee (1:02): Good: very good.
"""


def test_text_with_speakers_stays_as_it_is() -> None:
    for text in (TIMED, TIMED.replace("\n", "\r\n"), TIMED.replace("\n", "\r")):
        given = raw("\ufeff" + text, ".txt")
        assert TEXT.claims(given)
        doc = TEXT.load(given)
        assert doc.text == text and doc.encoding == "utf-8-sig"
        assert doc.media_type == "text/x-transcript"
        assert [(p.label, p.meta["start_ms"], p.meta["end_ms"]) for p in doc.parts] == [
            ("1", None, None),
            ("Ana", 724_000, None),
            ("Bo Lee", 729_000, 731_000),
            ("Ana", 3_600_500, None),
            ("Bo Lee", 62_000, None),
        ]
        for part in doc.parts[1:]:
            byte = doc.locate(part.start).byte
            own = doc.text[part.start : part.end].encode()
            assert byte is not None and given.data[byte : byte + len(own)] == own
            assert part.label in doc.text[part.start : part.end].partition(": ")[0]
        inked = "".join(doc.text[p.start : p.end] for p in doc.parts)
        assert "".join(inked.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("Ana: Hi there.\nBo: Hello.\nAna: Fine.\nBo: Good.\n", True),
        ("安娜:你好。\n小明:好。\n安娜:走吧。\n小明:好。\n", True),
        ("[00:01] Ana: a\n[00:02] Bo: b\n[00:03] Ana: c\n", True),
        ("Ana: Hi there.\nBo: Hello.\n", False),
        ("Ana: Hi.\nBo: Hello.\nCy: Fine.\nDi: Good.\n", False),
        ("name: x\nage: 3\n\nname: y\nage: 4\n", False),
        ("Name: X.\nPlace: Y.\n\nName: Z.\nPlace: A.\n", False),
        ("Item: bolt\nPrice: 3\n\nItem: nut\nPrice: 4\n", False),
        ("[00:12:04] INFO: up.\n[00:12:05] ERROR: down.\n[00:12:06] INFO: up.\n", False),
        ("From: a\nTo: b\nSubject: c\n\nFrom: a\nTo: b\nSubject: c\n", False),
        ("A text of prose.\nMore of it.\nAna: Hi.\nAna: Ho.\nAnd so on.\nAna: Hm.\nEnd.\n", False),
        ("http://a.b\nhttp://a.b\nhttp://a.b\n", False),
    ],
)
def test_only_what_is_surely_a_transcript_is_claimed(text: str, claimed: bool) -> None:
    assert TEXT.claims(raw(text, ".txt")) is claimed
    assert not TEXT.claims(raw(text, ".md"))
    assert not TEXT.claims(raw(text.encode("utf-16-le"), ".txt"))


def survives(data: bytes, suffix: str) -> None:
    given = raw(data, suffix)
    try:
        TEXT.claims(given)
        doc = LOADERS[suffix].load(given)
    except LoadError as fault:
        assert str(fault).startswith("call" + suffix)
    else:
        assert isinstance(chunk(doc).texts, list)


@pytest.mark.parametrize(
    ("made", "suffix"), [(by_srt(), ".srt"), (VOICES, ".vtt"), (TIMED, ".txt")]
)
def test_damage_is_an_error_or_a_document(made: str, suffix: str) -> None:
    data = made.encode()
    source = random.Random(7)
    for n in range(0, len(data), 5):
        survives(data[:n], suffix)
    for _ in range(300):
        flipped = bytearray(data)
        for _ in range(source.randint(1, 9)):
            flipped[source.randrange(len(data))] = source.randrange(128)
        survives(bytes(flipped), suffix)


@pytest.mark.parametrize("suffix", LOADERS)
def test_long_runs_of_anything_end(suffix: str) -> None:
    begin = "WEBVTT\n\n1\n00:00:01,000 --> 00:00:02,000\n"
    for run in ("<v" + " " * 10**6, "<i" * 10**5, "[00:01]" + " " * 10**6, "1:" * 10**6):
        survives((begin + run).encode(), suffix)
    for run in ("a " * 10**5, ">" * 10**6, "\n" * 10**6, "-" * 10**6, "&a" * 10**5):
        survives((begin + run).encode(), suffix)


def test_the_header_of_webvtt_is_no_id() -> None:
    """Fault: right above the first timing it was."""
    for header in ("WEBVTT", "WEBVTT A title"):
        doc = load(f"{header}\n00:01.000 --> 00:02.000\nx\n", ".vtt")
        assert turns(doc) == [("x", "", 1000, 2000, "")]
    assert turns(load("WEBVTT\n\nWEBVTT\n00:01.000 --> 00:02.000\nx\n", ".vtt"))[0][1] == ""


def test_line_ends_that_were_converted_twice_are_line_ends() -> None:
    """Fault: each was two, and the number of a cue was text of the one before."""
    cues = "1\n00:00:01,000 --> 00:00:02,000\nhello\n\n2\n00:00:03,000 --> 00:00:04,000\nworld\n"
    for end in ("\r\n", "\r\r\n"):
        assert load(cues.replace("\n", end), ".srt").text == "hello\nworld"
