"""Chunks while a file is read: exactly those of the whole file, in little memory."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise import (
    Chunk,
    LoadError,
    OptionError,
    by_paragraph,
    by_record,
    by_text,
    cap,
    load,
    utf8_bytes,
    words,
)
from spanwise import streams as streams_module
from spanwise.cutting.tallies import Tally
from spanwise.loaders import records as records_module
from spanwise.loaders.base import Loader, Raw
from spanwise.loaders.records import CsvLoader, JsonLinesLoader, LogLoader
from spanwise.loaders.text import decode
from spanwise.splitters.choose import splitter_for
from spanwise.splitters.parts import by_part
from spanwise.streams import iter_chunks

# What is rare in prose and decides cuts: ends of lines and sentences, marks, wide characters.
ALPHABET = [
    *("a", "bc ", "word ", "Dr. ", "end. ", "End.\n", "\n", "\n\n", "\r\n", "\r", " \n \n", "  "),
    *("é", "e\u0301", "🏮", "🇩🇪", "👩\u200d🚀", "日本。", "語", "\ufeff"),
    *("\u0085", "\x1f", "\0", "\t", "\u2028"),
    *("x" * 30, "a, b; ", '"q" ', "12. ", "...", " . ", "[1] ", "(!) ", "\u0301", " " * 40),
]
SIZERS = {"chars": {}, "bytes": {"sizer": utf8_bytes}, "words": {"sizer": words}}


@pytest.fixture(autouse=True)
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are told from few characters, so that borders of reads lie in small files too."""
    monkeypatch.setattr(records_module, "SAMPLE", 200)
    monkeypatch.setattr(streams_module, "SAMPLE", 200)


def plain(chunk: Chunk) -> dict[str, Any]:
    said = chunk.to_dict() | {"citation": chunk.citation, "embed": chunk.embed_text}
    said["meta"] = {name: v for name, v in said["meta"].items() if not name.startswith("bad_")}
    return said


def whole(raw: bytes, uri: str, by: Any, encoding: str = "") -> list[dict[str, Any]]:
    suffix = "." + uri.rpartition(".")[2]
    given_raw = Raw(data=raw, name=uri, uri=uri, suffix=suffix, encoding=encoding)
    kinds: tuple[Loader, ...] = (CsvLoader(), JsonLinesLoader(), LogLoader())
    loader = next((each for each in kinds if each.claims(given_raw)), None)
    if loader is None:
        document = load(raw, uri=uri, encoding=encoding)
    else:
        document = loader.load(given_raw)
    return [plain(chunk) for chunk in (by or splitter_for(document)).split(document)]


def pieces(raw: bytes, size: int) -> Iterator[bytes]:
    return (raw[at : at + size] for at in range(0, len(raw), size))


def check(raw: bytes, uri: str, by: Any, window: int, encoding: str = "") -> int:
    expected = whole(raw, uri, by, encoding)
    found = iter_chunks(io.BytesIO(raw), by, uri=uri, window=window, encoding=encoding)
    assert [plain(chunk) for chunk in found] == expected
    return len(expected)


def text_of(seed: list[str], times: int) -> str:
    """A text long enough for many reads, without a period of its own."""
    return "".join(f"{''.join(seed)}{'' if i % 3 else i}" for i in range(times))


texts = st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=25)
options = st.sampled_from([(1, 0), (7, 2), (40, 0), (40, 13), (100, 99), (300, None)])
caps = st.sampled_from([None, 5, 50, cap(20, utf8_bytes), cap(3, words)])


@settings(max_examples=150, deadline=None)
@given(texts, options, st.sampled_from(sorted(SIZERS)), caps, st.integers(1, 600))
def test_windows_are_those_of_the_whole_text(
    seed: list[str], option: tuple[int, int | None], sizer: str, most: Any, window: int
) -> None:
    size, overlap = option
    by = by_text(chunk_size=size, overlap=overlap, max_size=most, **SIZERS[sizer])
    check(text_of(seed, 40).encode(), "a.txt", by, window, "utf-8")


@settings(max_examples=150, deadline=None)
@given(
    texts,
    options,
    st.sampled_from(sorted(SIZERS)),
    caps,
    st.integers(1, 600),
    st.sampled_from(["\n", "\n\n", " ", "a", "word ", "\r\n", "\r", "🇩🇪", "\u0301", "no such"]),
)
def test_records_are_those_of_the_whole_text(
    seed: list[str],
    option: tuple[int, int | None],
    sizer: str,
    most: Any,
    window: int,
    separator: str,
) -> None:
    size, overlap = option
    by = by_record(separator, chunk_size=size, overlap=overlap, max_size=most, **SIZERS[sizer])
    check(text_of(seed, 40).encode(), "a.log", by, window, "utf-8")


PARTS = ["part", "part in 20", "part in 80"]

rows = st.lists(
    st.lists(
        st.sampled_from(["1", "two words", '"q, ""r"', '"on\nmore\r\nl"', "", "é", 'a"b', '"x']),
        min_size=1,
        max_size=4,
    ),
    max_size=20,
)


@settings(max_examples=150, deadline=None)
@given(
    rows,
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    st.integers(1, 500),
    st.sampled_from(
        [None, by_text(chunk_size=30, overlap=9), by_record("\n", chunk_size=60), *PARTS]
    ),
    st.sampled_from(["a.csv", "a.tsv", "a.jsonl", "a.ndjson"]),
    st.booleans(),
    st.booleans(),
)
def test_rows_are_named_alike(
    table: list[list[str]],
    delimiter: str,
    end: str,
    window: int,
    by: Any,
    uri: str,
    last: bool,
    declared: bool,
) -> None:
    if isinstance(by, str):
        most = {"part": None, "part in 20": cap(20, utf8_bytes), "part in 80": 80}[by]
        kind = "record" if uri.endswith(("l", "ndjson")) else "row"
        by = by_part(kind, chunk_size=70, overlap=25, max_size=most)
    text = end.join(delimiter.join(row) for row in table * 8) + (end if last else "")
    if declared:
        text = f"sep={delimiter}{end}{text}"
    check(text.encode(), uri, by, window)


@settings(max_examples=60, deadline=None)
@given(
    texts,
    st.sampled_from(
        ["", "utf-8", "utf-16", "utf-32", "utf-16-be", "shift_jis", "gb18030", "cp1252"]
    ),
    st.booleans(),
    st.integers(1, 300),
)
def test_characters_across_reads(seed: list[str], named: str, marked: bool, window: int) -> None:
    raw = text_of(seed, 25).encode(named or "utf-8-sig", "ignore")
    if marked and named == "utf-16":
        raw = raw[2:]  # without its mark: the machine's own order
    check(raw, "a.txt", by_text(chunk_size=60, overlap=20), window, named)


@pytest.mark.parametrize("window", [1, 3, 100, 5000])
@pytest.mark.parametrize(
    "text",
    ["", " ", "\n" * 5000, "\n" * 3000 + "a", "a" + " " * 5000, "a" * 9000, "a\n" * 2000],
)
def test_odd_files(text: str, window: int) -> None:
    for by in (by_text(chunk_size=100, overlap=30), by_record("\n", chunk_size=100)):
        check(text.encode(), "a.txt", by, window)
    for uri in ("a.csv", "a.jsonl"):
        check(text.encode(), uri, None, window)


def test_pages_are_known_before_the_first_form_feed(tmp_path: Path) -> None:
    text = "One page. " * 500 + "\f" + "Another. " * 500 + "\f"
    by = by_text(chunk_size=100, overlap=20)
    check(text.encode(), "a.txt", by, 64)
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    found = list(iter_chunks(path, by, window=64))
    assert [plain(c) for c in found] == [plain(c) for c in by.split(load(path))]
    assert found[0].pages == ("1",) and found[-1].pages == ("2",)
    with pytest.raises(LoadError, match="form feed at position 5000 makes pages"):
        list(iter_chunks(pieces(text.encode(), 64), by, window=64))


def test_a_piece_may_be_of_any_size() -> None:
    raw = ("Größe 日本 🏮. Another sentence here.\r\n" * 300).encode()
    by = by_text(chunk_size=80, overlap=20)
    expected = whole(raw, "a.txt", by)
    for size in (1, 2, 7, 1000, len(raw)):
        found = iter_chunks(pieces(raw, size), by, uri="a.txt", window=50)
        assert [plain(chunk) for chunk in found] == expected
    assert [plain(c) for c in iter_chunks(raw, by, uri="a.txt", window=50)] == expected


def test_chunks_come_while_the_source_is_read() -> None:
    taken = 0

    def source() -> Iterator[bytes]:
        nonlocal taken
        for i in range(1000):
            taken += 1
            yield f"{i} a line of the log\n".encode() * 20

    chunks = iter_chunks(source(), by_record("\n"), window=1000)
    assert next(chunks).index == 0
    assert taken < 50


def test_repeats_have_the_same_ordinals() -> None:
    raw = b"same\n" * 3000 + b"other\n" * 70_000 + b"same\n"
    by = by_record("\n", chunk_size=5, overlap=0)
    expected = whole(raw, "a.log", by)
    assert expected[-1]["id"].endswith("-3001")
    found = iter_chunks(io.BytesIO(raw), by, uri="a.log", window=4000)
    assert [chunk.id for chunk in found] == [chunk["id"] for chunk in expected]


@given(st.lists(st.integers(0, 30), max_size=300))
def test_the_table_of_ids_counts_like_a_dict(names: list[int]) -> None:
    table, seen = Tally(), dict[int, int]()
    for name in [*names, *range(1000, 3000), *names]:
        spread = name << 30
        seen[spread] = seen.get(spread, 0) + 1
        assert table.count(spread) == seen[spread]


@pytest.mark.parametrize("window", [16, 10_000, 1 << 20])
def test_bytes_that_are_no_text_are_named_by_their_place(window: int) -> None:
    good = ("é" * 20 + "\n").encode() * 1000
    by = by_record("\n")
    for at in (1, 17, 9001, 40_999):
        place = at if at % 2 else at + 1
        for raw in (good[:at] + b"\xff" + good[at:], good[:at]):
            try:
                raw.decode()
            except UnicodeDecodeError as fault:
                place = fault.start
            else:
                continue
            for source in (io.BytesIO(raw), pieces(raw, 100)):
                with pytest.raises(LoadError, match=rf"^a\.log: byte {place}\b"):
                    list(iter_chunks(source, by, uri="a.log", window=window))


@pytest.mark.parametrize(
    "raw", [b"%PDF-1.7\n", b"PK\x03\x04\x14\0\0\0", b"\x1f\x8b\x08\0", b"a\0b", b"\xff\xfea"]
)
def test_what_is_no_text_is_refused_as_by_decode(raw: bytes) -> None:
    with pytest.raises(LoadError) as one:
        decode(raw, "a.txt")
    with pytest.raises(LoadError) as other:
        list(iter_chunks(io.BytesIO(raw), by_text(), uri="a.txt"))
    assert str(one.value).split(";")[0] == str(other.value).split(";")[0] or raw[:1] == b"\xff"


def test_what_needs_the_whole_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="by_text, by_record and by_part work"):
        iter_chunks(b"", by_paragraph())
    with pytest.raises(OptionError, match=r"by=None .* pass by_text\(\)"):
        iter_chunks(b"")
    with pytest.raises(OptionError, match="chars, utf8_bytes or words"):
        iter_chunks(b"", by_text(sizer=str.__len__))
    with pytest.raises(OptionError, match=r"a \.md file cannot be cut while it is read"):
        iter_chunks(tmp_path / "a.md", by_text())
    with pytest.raises(OptionError, match=r"by_part\('page'\)"):
        iter_chunks(b"", by_part("page"), uri="a.csv")
    with pytest.raises(OptionError, match="window=0 is below 1"):
        iter_chunks(b"", by_text(), window=0)
    with pytest.raises(OptionError, match="no text encoding"):
        list(iter_chunks(b"", by_text(), encoding="nonsense"))
    with pytest.raises(OptionError, match="binary mode"):
        list(iter_chunks(io.StringIO("a"), by_text()))  # type: ignore[arg-type]
    with pytest.raises(LoadError, match="cannot be read"):
        list(iter_chunks(tmp_path / "none.txt", by_text()))


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"<html><p>Hello</p></html>", "HTML"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n", "WebVTT"),
        (b"{\\rtf1 hello}", "RTF"),
        ("".join(f"Ana: Größe {i}.\nBo: É {i}.\n" for i in range(9000)).encode(), "transcript"),
        ("".join(f"Ana: {i}.\nBo: {i}.\n" for i in range(9)).encode("utf-16"), "transcript"),
    ],
)
@pytest.mark.parametrize("uri", ["a.txt", ""])
@pytest.mark.parametrize("window", [7, 9000, 1 << 20])
def test_what_load_reads_as_another_kind_is_refused(
    raw: bytes, kind: str, uri: str, window: int, tmp_path: Path
) -> None:
    """Fault: of bytes, of pieces of them and of a pipe the raw markup was given as text."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    sources = (path, raw, bytearray(raw), io.BytesIO(raw), Pipe(raw), pieces(raw, 5))
    for source in sources:
        with pytest.raises(OptionError, match=f"it begins as {kind} does"):
            next(iter_chunks(source, by_text(), uri=uri, window=window))  # type: ignore[arg-type]


def test_a_first_look_is_taken_at_no_more_than_was_asked_for() -> None:
    """What cannot be read twice is looked at as far as it would be read anyway."""
    raw = b"A line of a text: it is no transcript.\n" * 4000
    given = 0

    def source() -> Iterator[bytes]:
        nonlocal given
        for piece in pieces(raw, 100):
            given += len(piece)
            yield piece

    assert next(iter_chunks(source(), by_text(), uri="a.txt", window=100)).start == 0
    assert given < 20_000


def test_bytes_can_be_read_twice() -> None:
    """Fault: a form feed in bytes that were all there was refused."""
    raw = b"One page. " * 500 + b"\f" + b"Another. " * 500
    found = [*iter_chunks(raw, by_text(), uri="a.txt", window=64)]
    assert [plain(chunk) for chunk in found] == whole(raw, "a.txt", by_text())


_MEASURED = """
import resource, sys
from spanwise import by_record, by_text
from spanwise.streams import iter_chunks

def log():
    for i in range(1000 * int(sys.argv[2])):
        lines = (f"2026-01-01T00:00:{i % 60:02d}Z INFO request {i}.{j} took {j * 7} ms\\n"
                 for j in range(20))
        yield "".join(lines).encode()

by = by_record("\\n") if sys.argv[1] == "record" else by_text()
count = sum(1 for _ in iter_chunks(log(), by, uri="a.log"))
print(count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.parametrize("kind", ["record", "text"])
def test_memory_stays_small(kind: str, request: pytest.FixtureRequest) -> None:
    pytest.importorskip("resource")
    # 1 MB a unit; a log of 200 MB takes about a minute on each path.
    size = "200" if request.config.getoption("--deep", default=False) else "20"
    answer = subprocess.run(
        # By a shell: a process begins with what the one that started it held at the most.
        ["sh", "-c", '"$0" "$@"; exit $?', sys.executable, "-c", _MEASURED, kind, size],
        capture_output=True,
        text=True,
        check=True,
    )
    count, most = map(int, answer.stdout.split())
    most //= 1024 if sys.platform != "darwin" else 1 << 20
    assert count > 1000 * int(size)
    assert most < 100, f"{most} MB"
