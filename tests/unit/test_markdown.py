"""The Markdown scanner, one rule a test."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanwise.cutting import markdown
from spanwise.cutting.block_parser import blocks, read_fully
from spanwise.cutting.markdown import scan


def headings(text):
    """Level and title of each heading."""
    found = scan(text)
    assert found == read_fully(text)[0]
    titles = [text[a:b] for a, b in zip(found.title_starts, found.title_ends, strict=True)]
    return list(zip(found.heading_levels, titles, strict=True))


def heading_texts(text):
    found = scan(text)
    return [text[a:b] for a, b in zip(found.heading_starts, found.heading_ends, strict=True)]


def atoms(text):
    """Kind and text of each atom."""
    found = scan(text)
    assert found == read_fully(text)[0]
    return [
        (kind, text[a:b])
        for kind, a, b in zip(found.atom_kinds, found.atom_starts, found.atom_ends, strict=True)
    ]


def kinds(text):
    return [block.kind for block in blocks(text)]


# Headings


def test_atx_levels_and_title_range():
    assert headings("# a\n## b c\n###### d\n####### e\n#f\n") == [(1, "a"), (2, "b c"), (6, "d")]


def test_atx_needs_a_space_a_tab_or_an_end():
    assert headings("#\ta\n#\n#b\n# \n") == [(1, "a"), (1, ""), (1, "")]


def test_atx_indented_by_up_to_three_spaces():
    assert headings(" # a\n\n   ## b\n\n    # code\n") == [(1, "a"), (2, "b")]
    assert heading_texts("x\n\n   ## b\n") == ["   ## b"]


def test_atx_closing_hashes_are_no_title():
    assert headings("# a #\n# b ### \n# c#\n# #\n## ## ##\n# d \\#\n") == [
        *((1, "a"), (1, "b"), (1, "c#"), (1, ""), (2, "##"), (1, "d \\#")),
    ]


def test_an_empty_heading_has_an_empty_range_inside_the_heading():
    found = scan("x\n\n##\n")
    assert found.title_starts == found.title_ends == [5]


def test_atx_interrupts_paragraph_and_list():
    assert headings("a\n# b\n- c\n# d\n> e\n# f\n") == [(1, "b"), (1, "d"), (1, "f")]


def test_setext_title_of_several_lines():
    text = "Title line one\ncontinued\n===\n\nbody\n\nSub\n-\n\nmore\n\n---\n\nafter the rule\n"
    assert headings(text) == [(1, "Title line one\ncontinued"), (2, "Sub")]
    assert heading_texts(text) == ["Title line one\ncontinued\n===", "Sub\n-"]


def test_setext_underline_of_any_length_with_white_ends():
    assert headings("a\n=\n\nb\n   -----  \n\nc\n    ---\n\nd\n== =\n") == [(1, "a"), (2, "b")]


def test_setext_title_begins_after_its_link_definitions():
    text = "[a]: /x\n[b]: /y 'title'\nName\n===\n"
    assert headings(text) == [(1, "Name")]
    assert scan(text).heading_starts == [24]
    assert kinds(text) == ["paragraph", "heading"]


def test_definitions_alone_are_no_title():
    assert headings("[a]: /x\n===\nb\n") == []
    assert kinds("[a]: /x\n---\n") == ["paragraph", "rule"]


def test_dashes_after_a_blank_line_are_a_rule():
    assert headings("a\n\n---\n\nb\n") == []
    assert kinds("a\n\n---\n\nb\n") == ["paragraph", "rule", "paragraph"]


def test_dashes_under_a_list_or_quote_are_a_rule():
    assert headings("- a\n---\n> b\n---\n- c\nd\n---\n") == []


def test_equals_signs_under_a_lazy_line_are_text():
    assert headings("> a\nb\n===\n") == []


def test_headings_in_lists_and_quotes_are_no_section_headings():
    assert headings("- # a\n\n  b\n  ===\n\n> # c\n\n1. d\n   # e\n\n# f\n") == [(1, "f")]


def test_an_indented_heading_after_a_list_depends_on_the_item():
    assert headings("- a\n\n # b\n") == [(1, "b")]
    assert headings("- a\n\n  # b\n") == []


@pytest.mark.parametrize(
    "block",
    [
        *("<script>\n{}\n</script>", "<!-- a\n{}\n-->", "<?php\n{}\n?>", "<!DOCTYPE\n{}\n>"),
        *("<![CDATA[\n{}\n]]>", "<div>\n{}\n</div>", "<b class='x'>\n{}\n</b>"),
    ],
)
@pytest.mark.parametrize("indent", ["", "  "])
def test_no_heading_in_any_kind_of_html_block(block, indent):
    block = indent + block.format("# a\n```\n# b")
    assert headings(f"x\n\n{block}\n\n# c\n") == [(1, "c")]
    assert atoms(f"x\n\n{block}\n\n# c\n") == [("html", block)]


def test_blank_lines_end_only_the_last_two_kinds_of_html_block():
    assert headings("<!--\n\n# a\n-->\n# b\n") == [(1, "b")]
    assert headings("<pre>\n\n# a\n</pre>\n# b\n") == [(1, "b")]
    assert headings("<div>\n\n# a\n\n</div>\n# b\n") == [(1, "a")]


def test_a_lone_tag_does_not_interrupt_a_paragraph():
    assert atoms("a\n<b>\n# c\n") == []
    assert atoms("a\n\n<b>\n# c\n") == [("html", "<b>\n# c")]
    assert atoms("a\n<p>\n# c\n") == [("html", "<p>\n# c")]


# Fences


def test_no_heading_in_fences():
    text = "# Setup\n\n```sh\n# not a heading\nrun --all\n```\n\n## Next\n\nok\n"
    assert headings(text) == [(1, "Setup"), (2, "Next")]
    assert atoms(text) == [("fence", "```sh\n# not a heading\nrun --all\n```")]


def test_a_fence_closes_by_its_own_mark_at_least_as_long_and_bare():
    inner = "```\n~~~~~\n```` x\n    ````"
    assert atoms(f"````\n{inner}\n  `````  \n# a\n") == [("fence", f"````\n{inner}\n  `````  ")]
    assert atoms("~~~ a`b ~~~\n```\n~~~\n") == [("fence", "~~~ a`b ~~~\n```\n~~~")]


def test_backticks_in_the_info_string_make_no_fence():
    text = "```" + "wide" * 30 + "```\n\n# Real heading\n\nrest\n"
    assert headings(text) == [(1, "Real heading")]
    assert atoms(text) == []


def test_an_unclosed_fence_runs_to_the_end_of_its_container():
    assert atoms("a\n```\nb\n# c\n\n") == [("fence", "```\nb\n# c\n")]
    assert atoms("- ```\n  b\n\n# c\n") == [("fence", "- ```\n  b\n")]
    assert atoms("> ```\n> b\n# c\n") == [("fence", "> ```\n> b")]


def test_fences_in_list_items_and_quotes():
    text = "1. Step\n\n   ```ts\n   const a = 1;\n   ```\n\n2. Done\n"
    assert atoms(text) == [("fence", "   ```ts\n   const a = 1;\n   ```")]
    assert atoms("a\n\n- > 1. ~~~\n  >    b\n  >    ~~~\n") == [
        ("fence", "- > 1. ~~~\n  >    b\n  >    ~~~")
    ]
    assert atoms("* a\n    * b\n\n        ```\n        c\n        ```\n") == [
        ("fence", "        ```\n        c\n        ```")
    ]


def test_indented_code_is_no_fence():
    assert atoms("a\n\n    ```\n    # b\n    ```\n") == []
    assert kinds("a\n\n    ```\n    # b\n\n    c\n") == ["paragraph", "code"]


def test_a_tab_counts_to_the_next_stop_of_four():
    assert atoms("-\t```\n\tb\n\t```\n") == [("fence", "-\t```\n\tb\n\t```")]
    assert atoms("\t```\n") == []


# Tables


def test_tables_have_a_delimiter_row_of_as_many_cells():
    assert atoms("x\n\na | b\n--|:-:\nc | d\n\ne\n") == [("table", "a | b\n--|:-:\nc | d")]
    assert atoms("| a |\n| - | - |\n\n| a \\| b |\n|--|--|\n") == []


def test_a_table_ends_at_a_blank_line_or_another_block():
    table = "| a |\n|---|\n| b |\nc"
    for after in ("\n\nd", "\n# d", "\n- d", "\n> d", "\n***", "\n<div>", "\n    d"):
        assert atoms(f"{table}{after}\n")[0] == ("table", table)


def test_a_table_may_follow_a_paragraph_line():
    assert kinds("x\n| a |\n|---|\n") == ["paragraph", "table"]


def test_tables_in_list_items_and_quotes():
    assert atoms("- x\n\n  | a |\n  |---|\n  | b |\n") == [("table", "  | a |\n  |---|\n  | b |")]
    assert atoms("> | a |\n> |---|\n") == [("table", "> | a |\n> |---|")]


def test_each_table_stays_below_its_heading():
    text = "## Red\n\n| k |\n|---|\n| a |\n\n## Blue\n\n| k |\n|---|\n| b |\n"
    assert kinds(text) == ["heading", "table", "heading", "table"]


def test_a_long_table_is_one_atom():
    text = "| id | name |\n|---|---|\n" + "".join(f"| {i} | item |\n" for i in range(12))
    assert atoms(text) == [("table", text[:-1])]


# Front matter


def test_front_matter_is_no_heading():
    text = "---\nlayout: wide\nowner: ops\n---\n# Pumps\n\ntext\n"
    assert headings(text) == [(1, "Pumps")]
    assert text[: scan(text).front] == "---\nlayout: wide\nowner: ops\n---\n"
    assert kinds(text) == ["front", "heading", "paragraph"]


@pytest.mark.parametrize(
    "front", ["---\n---\n", "---\na: 1\n...\n", "+++\na = 1\n+++\n", "\ufeff--- \na:\n---\t\n"]
)
def test_front_matter_forms(front):
    assert scan(front + "# a\n").front == len(front)
    assert scan(front[:-1]).front == len(front) - 1
    assert headings(front + "# a\n") == [(1, "a")]


@pytest.mark.parametrize(
    "text", ["a\n---\nb: 1\n---\n", "---\nb: 1\n", "----\nb\n----\n", "+++\n---\n"]
)
def test_what_is_no_front_matter(text):
    assert scan(text).front == 0


def test_front_matter_without_an_end_is_markdown():
    assert headings("---\na: b\n\n# c\n") == [(1, "c")]


# Characters


def test_a_byte_order_mark_is_skipped():
    text = "\ufeff# First\n\ntext\n\n## Second\n"
    assert headings(text) == [(1, "First"), (2, "Second")]
    assert scan(text).heading_starts == [1, 16]
    assert atoms("\ufeff- ```\n") == [("fence", "- ```")]
    assert headings("\ufeffa\n===\n") == [(1, "a")]


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_are_equal(line_end):
    text = (
        "# A\n\ntext\n\n***\n\nB\nb\n--\n\n```\nx\n```\n\n| a |\n|---|\n\n<p>\n\n- ```\n".replace(
            "\n", line_end
        )
    )
    assert headings(text) == [(1, "A"), (2, f"B{line_end}b")]
    assert [kind for kind, _ in atoms(text)] == ["fence", "table", "html", "fence"]
    assert not any(span.endswith(("\r", "\n")) for _, span in atoms(text))


def test_mixed_line_ends():
    assert headings("# a\r\r\n# b\n\r# c\r\n===\r# d") == [(1, c) for c in "abcd"]


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85", "\x1c"])
def test_other_marks_end_no_line(mark):
    assert headings(f"a{mark}# b\n") == []
    assert headings(f"# a{mark}# b\n") == [(1, f"a{mark}# b")]


@pytest.mark.parametrize(
    "text", ["", "\n", "\r", "\ufeff", "#", "```", "<", "\0", "\ud800", "---", "\n>"]
)
def test_small_texts(text):
    assert scan(text) == read_fully(text)[0]


# Blocks


def test_blocks_lists_every_kind():
    text = "---\na: 1\n---\n# h\np\n\n```\n```\n\n    c\n\n<p>\n\na|b\n-|-\n\n"
    text += "- i\n- j\n\n+ k\n\n> q\n\n***\n"
    assert kinds(text) == [
        *("front", "heading", "paragraph", "fence", "code", "html", "table"),
        *("list", "list", "quote", "rule"),
    ]
    assert [text[block.start : block.end] for block in blocks(text)][-4:] == [
        *("- i\n- j", "+ k", "> q", "***"),
    ]


# Hostile texts

_GROWTH = {
    "blank": lambda n: "\n" * n,
    "headings": lambda n: "# a\n" * n,
    "open fence": lambda n: "```\n" + "# x ```\n" * n,
    "dots": lambda n: "." * 10 * n,
    "table": lambda n: "|a|b|\n|-|-|\n" + "|c|d|\n" * n,
    "bare table": lambda n: "a|b\n-|-\n" + "c|d\n" * n,
    "no table": lambda n: "| a |\n|---|---|\n" * n,
    "quotes": lambda n: "> > > > |-|\n" * n,
    "bullets": lambda n: "- a\n" * n,
    "rules": lambda n: "---\n" * n,
    "dashes": lambda n: "-\n" * n,
    "tags": lambda n: "<a \n" * n,
    "attributes": lambda n: "<a" + " b=c" * n + " '\n",
    "lone tags": lambda n: "x\n" + "<b>\n" * n,
    "tags in items": lambda n: "- x\n<b>\n" * n,
    "comments": lambda n: "a <!--\n<!-\n" * n,
    "open comments": lambda n: "<!--\n" * n,
    "brackets": lambda n: "[\n" * n + "===\n",
    "underlined brackets": lambda n: "[a\n===\n" * n,
    "definitions": lambda n: "[a]: /b 'c\n" * n + "===\n===\n",
    "white heading": lambda n: "# a" + " " * n + "b\n",
    "hashes": lambda n: "# a" + " #" * n + " b\n",
    "dashes in a line": lambda n: "- " * n + "a\n" + "- " * n + "- b -\n",
    "marks in a line": lambda n: "- * + " * n + "```\n",
    "quotes in a line": lambda n: "> " * n + "```\n",
    "deep-then-blank": lambda n: "- " * n + "```\n" + "\n" * n,
    "deep-then-text": lambda n: "> - " * n + "```\n" + "a\n" * n,
    "fences in items": lambda n: "- a\n  ```\n  b\n  ```\n" * n,
    "fences in one list": lambda n: "1. a\n   ```\n   b\n   ```\n" * n,
    "lazy underlines": lambda n: "- a\nb\n===\n" * n,
    "indented hashes": lambda n: "a\n\n" + "    b\n #\n" * n,
    "tabs": lambda n: "\t" * n + "```\n" * n,
    "white lines": lambda n: (" " * 500 + "\n") * (n // 50),
    "open front": lambda n: "---\n" + "--- a\n" * n,
    "returns": lambda n: "# a\r" * n,
}


@pytest.mark.parametrize("text", _GROWTH.values(), ids=_GROWTH.keys())
def test_growth_is_linear(text):
    """Four times the text takes less than eight times as long, at best of several runs."""

    def seconds(n):
        hostile = text(n)
        best = 1.0
        for _ in range(3):
            start = process_time()
            scan(hostile)
            read_fully(hostile)
            best = min(best, process_time() - start)
        return best

    # A text too quick to time cannot be quadratic at this length.
    assert any(seconds(8000) < max(8 * seconds(2000), 0.004) for _ in range(3))


def test_the_full_parser_reads_no_line_twice(monkeypatch):
    """Counted work: what is in doubt is resolved once; all runs together stay within the text."""
    read = []
    run = markdown.BlockParser.run

    def counted(self, at, goal):
        end = run(self, at, goal)
        read.append((at, end))
        return end

    monkeypatch.setattr(markdown.BlockParser, "run", counted)
    for text in _GROWTH.values():
        read.clear()
        scan(text(500))
        flat = [place for pair in read for place in pair]
        assert flat == sorted(flat)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="#`~<>-=|:+*1. \t\n\ra!b[]/'\ufeff\0\x0b\u2028\ud800é😀", max_size=60))
def test_any_text_is_read_alike_by_both_tiers(text):
    assert scan(text) == read_fully(text)[0]
