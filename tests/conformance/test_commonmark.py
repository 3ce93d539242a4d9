"""Headings, fences, tables and HTML blocks beside markdown-it-py, a full CommonMark parser.

Compared by line ranges: document-level headings with their level, fences and tables at any depth,
document-level HTML blocks. Where the two differ, the difference must vanish once the matter of a
rule below is taken out of the text, so a rule excuses nothing else.
"""

import json
import lzma
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spanwise.cutting.block_parser import blocks, read_fully
from spanwise.cutting.markdown import scan

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = json.loads((DATA / "commonmark.json").read_text(encoding="utf-8"))
CORPUS = [
    json.loads(row)
    for row in lzma.decompress((DATA / "markdown_corpus.jsonl.xz").read_bytes()).split(b"\n")
    if row
]
REFERENCE = MarkdownIt("commonmark", {"maxNesting": 1000}).enable("table")
CONTAINERS = ("bullet_list", "ordered_list", "blockquote")

EXPLAINED = {
    # A text that opens with `---` or `+++` and holds a matching line later is front matter; what
    # markdown-it makes of those lines (rules, headings) is none.
    "front": lambda text: "\n" + text if scan(text).front else text,
    # Where the specification names spaces and tabs, markdown-it also takes other white space.
    "space": lambda text: re.sub(r"[\v\f\x1c-\x1f\x85\xa0\u2028\u2029]", "x", text),
    # Behind `>>2. ` markdown-it counts a tab one column short. Spaces in its place mean the same.
    "tab": lambda text: text.expandtabs(4),
    # Within a quote markdown-it takes a quote mark however far it is indented; four columns make it
    # code or the text of a paragraph.
    "indented-mark": lambda text: re.sub(r"(?<=    ) *>", "x", text.expandtabs(4)),
    # markdown-it takes a link definition out before it looks at the next line: the line after it
    # may then open an HTML block of kind 7, and an underline may be a link target. The parsers of
    # the specification read definitions when their paragraph ends, as we do.
    "definition": lambda text: text.replace("]:", "] "),
    # markdown-it tries a table before any other block, so a heading, item, quote or fence whose
    # line holds a bar becomes a header row, and dashes without a bar a delimiter row rather than
    # an underline. GitHub's parser looks for the other blocks first, as we do.
    "table-first": lambda text: text.replace("|", "x"),
}
DIFFERENT_EXAMPLES = {96: ["front"]}
PIECES = [
    *("#", "##", "-", "*", "+", "1.", "2.", ">", "===", "=", "---", "***", "```", "````", "~~~"),
    *("a", "b", "<div>", "<b>", "<!--", "-->", "<pre>", "</pre>"),
    *("# ", "## ", "- ", "* ", "+ ", "1. ", "2. ", "> ", " ", "  ", "    ", "\t", "\n\n", "\r\n"),
    *("|", "|-|", "| a |", "a|b", ":-:", "[a]: /u", "[a]:", "'t'", "\\", "\v", "\u2028", "\x00"),
]
MARKUP = st.lists(st.sampled_from(PIECES) | st.just("\n"), max_size=24).map("".join)


def read_by_markdown_it(text):
    headings, atoms, depth = [], [], 0
    for token in REFERENCE.parse(text):
        if token.type.removesuffix("_open") in CONTAINERS:
            depth += 1
        elif token.type.removesuffix("_close") in CONTAINERS:
            depth -= 1
        elif token.type == "heading_open" and not depth:
            headings.append((*token.map, int(token.tag[1])))
        elif token.type == "fence":
            atoms.append(("fence", *token.map))
        elif token.type == "table_open":
            atoms.append(("table", *token.map))
        elif token.type == "html_block" and not depth:
            atoms.append(("html", *token.map))
    return headings, atoms


def read_by_scan(text):
    found = scan(text)

    def lines(start, end):
        return text.count("\n", 0, start), text.count("\n", 0, end) + 1

    return (
        [
            (*lines(start, end), level)
            for start, end, level in zip(
                found.heading_starts, found.heading_ends, found.heading_levels, strict=True
            )
        ],
        [
            (kind, *lines(start, end))
            for kind, start, end in zip(
                found.atom_kinds, found.atom_starts, found.atom_ends, strict=True
            )
        ],
    )


def explanation(text):
    """The rules that explain how the two readings of `text` differ; empty when they agree."""
    rules = []
    for rule, take_out in [("", str), *EXPLAINED.items()]:
        changed = take_out(text)
        if rule and changed == text:
            continue
        rules.append(rule)
        text = changed
        if read_by_scan(text) == read_by_markdown_it(text):
            return [rule for rule in rules if rule]
    raise AssertionError((text, read_by_scan(text), read_by_markdown_it(text)))


def outline(text):
    """All of a structure that does not depend on how line ends are spelled."""
    found = scan(text)

    def texts(starts, ends):
        return [
            text[start:end].replace("\r\n", "\n").replace("\r", "\n")
            for start, end in zip(starts, ends, strict=True)
        ]

    return (
        texts([0], [found.front]),
        texts(found.heading_starts, found.heading_ends),
        found.heading_levels,
        texts(found.title_starts, found.title_ends),
        texts(found.atom_starts, found.atom_ends),
        found.atom_kinds,
        [(block.kind, block.level, *texts([block.start], [block.end])) for block in blocks(text)],
    )


def assert_line_ends_do_not_matter(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    expected = outline(text)
    assert outline(text.replace("\n", "\r\n")) == expected
    assert outline(text.replace("\n", "\r")) == expected


def assert_tiers_agree(text):
    """The quick path finds what the full parser finds; blocks cover all but white space."""
    found, whole = read_fully(text)
    assert scan(text) == found
    at = 0
    for block in whole:
        assert not text[at : block.start].strip(" \t\r\n\ufeff")
        assert at <= block.start < block.end
        at = block.end
    assert not text[at:].strip(" \t\r\n\ufeff")
    assert [block.start for block in whole if block.kind == "heading"] == found.heading_starts
    for starts, ends in (
        (found.heading_starts, found.heading_ends),
        (found.atom_starts, found.atom_ends),
    ):
        flat = [place for pair in zip(starts, ends, strict=True) for place in pair]
        assert flat == sorted(set(flat))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example["example"]))
def test_examples_of_the_specification(example):
    text = example["markdown"]
    assert explanation(text) == DIFFERENT_EXAMPLES.get(example["example"], [])
    assert_line_ends_do_not_matter(text)
    assert_tiers_agree(text)


def test_the_corpus_is_large():
    assert len(CORPUS) >= 100


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file["name"])
def test_real_files(file):
    text = file["text"].replace("\r\n", "\n")
    assert explanation(text) == []
    assert_line_ends_do_not_matter(text)
    assert_tiers_agree(text)


@settings(max_examples=400, deadline=None)
@given(MARKUP)
def test_random_markup(text):
    assert_line_ends_do_not_matter(text)
    assert_tiers_agree(text)
    # markdown-it leaves a white last line without line end out of an open fence.
    explanation(text.replace("\r\n", "\n").replace("\r", "\n") + "\n")
