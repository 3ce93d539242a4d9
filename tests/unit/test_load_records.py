"""Files of records: the text is the file's own, the parts lead to rows, lines and items."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise import Document, LoadError, by_part
from spanwise.loaders.base import Raw
from spanwise.loaders.records import (
    CsvLoader,
    JsonLinesLoader,
    JsonLoader,
    LogLoader,
    next_row,
    rows_opening,
)

LOADERS = (CsvLoader(), JsonLinesLoader(), JsonLoader(), LogLoader())


def read(raw: bytes | str, uri: str, encoding: str = "") -> Document:
    data = raw.encode() if isinstance(raw, str) else raw
    suffix = "." + uri.rpartition(".")[2].lower()
    given_raw = Raw(data=data, name=uri, uri=uri, suffix=suffix, encoding=encoding)
    (loader,) = [each for each in LOADERS if each.claims(given_raw)]
    return loader.load(given_raw)


def parts(document: Document) -> list[tuple[str, str, str]]:
    return [(p.kind, p.label, document.text[p.start : p.end]) for p in document.parts]


@pytest.mark.parametrize(
    ("uri", "media_type"),
    [
        ("a.csv", "text/csv"),
        ("a.TSV", "text/tab-separated-values"),
        ("a.jsonl", "application/jsonl"),
        ("a.ndjson", "application/x-ndjson"),
        ("a.json", "application/json"),
        ("a.log", "text/x-log"),
    ],
)
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_text_is_the_files_own(uri: str, media_type: str, codec: str) -> None:
    text = '[1, "Größe 🏮"]\r\n{"b": 2}\r\n'
    raw = text.encode(codec)
    document = read(raw, uri)
    assert (document.text, document.media_type, document.uri) == (text, media_type, uri)
    assert document.meta["encoding"] == document.encoding == codec
    for position in (0, 10, text.index('{"b"'), len(text)):
        byte = document.locate(position).byte
        assert raw[byte:] == text[position:].encode({"utf-16": "utf-16-le"}.get(codec, "utf-8"))


cells = st.text(st.sampled_from('abé🏮,;\t|"\n\r '), max_size=8)


@given(
    st.lists(st.lists(cells, min_size=2, max_size=5), min_size=1, max_size=12),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\r\n", "\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_rows_are_those_that_python_wrote(
    table: list[list[str]], delimiter: str, end: str, quoting: Any
) -> None:
    if end == "\n" and quoting == csv.QUOTE_MINIMAL:
        # Python leaves a carriage return bare there, which its own reader refuses.
        table = [[cell.replace("\r", "") for cell in row] for row in table]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(table)
    # The file kind names the delimiter for a TSV; a CSV must be told from its rows.
    document = read(out.getvalue(), "a.tsv" if delimiter == "\t" else "a.csv")
    if document.meta["delimiter"] != delimiter:
        return
    found = [document.text[p.start : p.end] for p in document.parts]
    assert document.text == out.getvalue()
    again = [next(csv.reader([row], delimiter=delimiter)) for row in found]
    assert len(found) == len(table)
    assert [p.meta["fields"] for p in document.parts] == [len(row) for row in table]
    assert again == table
    assert document.meta["header"] == tuple(table[0])


def test_rows_of_several_lines() -> None:
    text = 'id,note\r\n1,"two\r\nlines, ""quoted"""\r\n\r\n2,\u2028\r\n3,x'
    document = read(text, "a.csv")
    assert parts(document) == [
        ("row", "1", "id,note"),
        ("row", "2", '1,"two\r\nlines, ""quoted"""'),
        ("row", "4", "2,\u2028"),
        ("row", "5", "3,x"),
    ]
    assert document.meta["header"] == ("id", "note")
    assert "bad_rows" not in document.meta
    found = document.locate(text.index("lines")).part("row")
    assert found is not None and found.label == "2"


def test_bad_rows_are_kept_and_reported() -> None:
    text = 'a,b\n1\n"open,2\n1,2,3\n4,5\n' + "x\n" * 100
    document = read(text, "a.csv")
    assert document.text == text
    assert parts(document)[2:5] == [
        ("row", "3", '"open,2'),
        ("row", "4", "1,2,3"),
        ("row", "5", "4,5"),
    ]
    bad = document.meta["bad_rows"]
    assert bad[:3] == (
        (2, "fields: 1, in the header: 2"),
        (3, "a quote is not closed"),
        (4, "fields: 3, in the header: 2"),
    )
    assert len(bad) == 20 and document.meta["bad_rows_count"] == 103


def test_a_quote_far_away_does_not_close_one() -> None:
    text = 'a,b\n"1,2\n' + "3,4\n" * 50_000 + '5,"6"\n'
    document = read(text, "a.csv")
    assert len(document.parts) == 50_003
    assert document.meta["bad_rows"] == ((2, "a quote is not closed"),)
    near = 'a,b\n"1' + "\n" * 1000 + '",2\n'
    assert len(read(near, "a.csv").parts) == 2


pieces = st.sampled_from(
    [
        *'ab,"\n\r|;\t ',
        '"',
        '""',
        '"a"',
        ',"',
        '",',
        "\r\n",
        "\u2028",
        "\x85",
        "\v",
        "\x1c",
        "\ufeff",
        "🏮",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join), st.sampled_from(["", '"a,b\n', "x" * 140_000]))
def test_rows_read_together_are_those_read_one_by_one(text: str, more: str) -> None:
    document = read(text + more, "a.csv")
    text = document.text
    at, number, expected = 0, 0, []
    while at < len(text):
        row = next_row(text, at, document.meta["delimiter"])
        assert row is not None
        number += 1
        if at < row[0]:
            expected.append((str(number), at, row[0], row[2]))
        at = row[1]
    assert [(p.label, p.start, p.end, p.meta["fields"]) for p in document.parts] == expected


@pytest.mark.parametrize("inside", ["x" * 131_071, 'x""' * 43_690, "x\n" * 65_535])
def test_the_longest_field(inside: str) -> None:
    text = f'a,b\n1,"{inside}"\n3,4\n'
    assert [label for _, label, _ in parts(read(text, "a.csv"))] == ["1", "2", "3"]
    longer = read(text.replace(inside, inside + "xx"), "a.csv")
    assert (2, "a quote is not closed") in longer.meta["bad_rows"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_python_alone_are_no_line_ends(end: str) -> None:
    rows = ["a,\u2028b", "\v,\f", "\x1c\x1d\x1e,\x85", '"\u2029",1']
    assert [s for _, _, s in parts(read(end.join(rows), "a.csv"))] == rows
    lines = ['"\x85\u2028"', '"\f"', "[\v1]", "\x1c", "\u2028"]
    document = read(end.join(lines), "a.jsonl")
    assert [s for _, _, s in parts(document)] == lines[:4]
    assert [number for number, _ in document.meta["bad_records"]] == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n3,5;4\n", ";"),
        ("a\tb, c\n1\t2\n", "\t"),
        ("a|b|c\n1|2|3,4\n", "|"),
        ('"a;b","c;d"\n"1;2","3"\n', ","),
        ("one column\nonly\n", ","),
        ("", ","),
        ("a,b;c\n", ","),
    ],
)
def test_the_delimiter(text: str, delimiter: str) -> None:
    assert rows_opening(text, ".csv") == (delimiter, 0)
    assert rows_opening(text + "x" * 70_000, ".csv")[0] in (delimiter, ",")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_excel_says_the_delimiter_above_the_header(end: str) -> None:
    text = end.join(["sep=;", "name;note", "Ana;a, b, c", "Bo;d, e, f", ""])
    document = read(text, "a.csv")
    assert document.text == text
    assert document.meta["delimiter"] == ";"
    assert document.meta["header"] == ("name", "note")
    assert "bad_rows" not in document.meta
    assert [label for _, label, _ in parts(document)] == ["2", "3", "4"]
    last = by_part("row", chunk_size=12, overlap=0).split(document)[-1]
    assert (last.context, last.text, last.places) == ("name;note", "Bo;d, e, f", ("row 4",))


def test_lines_of_json() -> None:
    lines = ['{"a": 1}', "", "[2]", '{"cut": ', "[" * 100_000, "1" * 5000, '"\u2028"']
    text = "\r\n".join(lines) + "\n"
    document = read(text, "a.jsonl")
    assert document.text == text
    assert parts(document) == [("record", str(i), s) for i, s in enumerate(lines, 1) if s]
    assert [number for number, _ in document.meta["bad_records"]] == [4, 5]
    assert document.meta["bad_records_count"] == 2
    assert document.locate(text.index("[2]")).parts[0].label == "3"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.lists(json_values, max_size=6), st.sampled_from([None, 2]), st.booleans(), st.booleans())
def test_items_are_those_that_python_wrote(
    items: list[Any], indent: int | None, ascii_only: bool, inside: bool
) -> None:
    value: Any = {"n": {"x": [1]}, "rows": items, "z": None} if inside else items
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    document = read(text.encode("utf-8", "surrogatepass"), "a.json", "utf-8")
    assert document.text == text
    assert "problem" not in document.meta
    assert [part.label for part in document.parts] == [str(i + 1) for i in range(len(items))]
    found = [json.loads(document.text[part.start : part.end]) for part in document.parts]
    assert json.dumps(found) == json.dumps(items)


def test_items_however_they_are_parted() -> None:
    for text in ("[1, 2, 3,4 , 5,\n  6,\n  7, \t8]", '{"a":[ 1,2,3 ,4,5,6 , 7, 8\n]}'):
        assert [s for _, _, s in parts(read(text, "a.json"))] == list("12345678")
    problem = read("[1, 2,   ]", "a.json").meta["problem"]
    assert problem == "not JSON: Expecting value, line 1, column 10"


@pytest.mark.parametrize(
    "text", ['{"a": [1], "b": [2]}', "{}", '{"a": 1}', "3", '"[1, 2]"', "[]", '{"a": []}', "null"]
)
def test_json_without_one_list(text: str) -> None:
    document = read(text, "a.json")
    assert document.parts == () and "problem" not in document.meta


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON: Expecting value, line 1, column 1"),
        ("[1,\n 2,,3]", "not JSON: Expecting value, line 2, column 4"),
        ('[{"a": 1}\n', "not JSON: ',' or ']' expected, line 2, column 1"),
        ("[1] [2]", "not JSON: text after the value, line 1, column 5"),
        ('{"a" 1}', "not JSON: ':' expected, line 1, column 6"),
        ("{1: 2}", "not JSON: a name in quotes expected, line 1, column 2"),
        ('["open', "not JSON: Unterminated string starting at, line 1, column 2"),
    ],
)
def test_text_that_is_no_json_is_loaded(text: str, problem: str) -> None:
    document = read(text, "a.json")
    assert document.text == text and document.parts == ()
    assert document.meta["problem"] == problem


@pytest.mark.parametrize("depth", [900, 5000, 1_000_000])
def test_any_depth(depth: int) -> None:
    nested = "[" * depth + '"]"' + "]" * depth
    document = read(f"[1, {nested}, 2]", "a.json")
    assert [len(s) for _, _, s in parts(document)] == [1, 2 * depth + 3, 1]
    assert "problem" not in document.meta
    assert "problem" not in read('{"a":' * depth + "1" + "}" * depth, "a.json").meta
    for broken in (nested[:-1], nested + "]", nested.replace('"]"', '"]" 1'), "[" * depth + "}"):
        document = read(broken, "a.json")
        assert document.text == broken and "not JSON" in document.meta["problem"]


def test_logs_have_no_parts() -> None:
    document = read("2026-01-01 started\n# not a heading\n", "a.log")
    assert document.parts == () and document.outline.paths == []


def loads_or_refuses(data: bytes, uri: str) -> None:
    try:
        document = read(data, uri)
    except LoadError as fault:
        assert str(fault).startswith(f"{uri}: ")
    else:
        assert document.text.encode(document.encoding) == data


def test_damaged_files_are_loaded_or_refused() -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["id", "text"], *([i, 'a "b",\n' * 3] for i in range(20))])
    good = {
        "a.csv": out.getvalue().encode(),
        "a.tsv": b"a\tb\n1\t2\n" * 9,
        "a.jsonl": b'{"a": "\xc3\xa9", "b": [1, 2]}\n' * 9,
        "a.json": json.dumps({"rows": [{"a": "é", "b": [1, None]}] * 9}, indent=1).encode(),
        "a.log": b"line\n" * 9,
    }
    draw = random.Random(7)
    for uri, raw in good.items():
        broken = [raw[:at] for at in range(0, len(raw), 7)]
        for _ in range(300):
            flipped = bytearray(raw)
            for _ in range(draw.randint(1, 4)):
                flipped[draw.randrange(len(raw))] = draw.randrange(256)
            broken.append(bytes(flipped))
        for data in broken:
            loads_or_refuses(data, uri)
    for data in (b"%PDF-1.7\n", b"PK\x03\x04\x14\0\0\0", b"\x89PNG\r\n\x1a\n\0"):
        for uri in good:
            with pytest.raises(LoadError, match=rf"^{uri}: it is "):
                read(data, uri)
