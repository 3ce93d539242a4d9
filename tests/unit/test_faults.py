"""The smallest failing text of each fault that was found here, by the kind of the fault."""

from __future__ import annotations

import warnings

import pytest

from spanwise import (
    EmptyDocumentWarning,
    by_heading,
    by_layout,
    by_paragraph,
    by_record,
    by_structure,
    by_text,
)


@pytest.mark.parametrize("text", ["## b", "# A\n\n## b", "x\n\n## b\n### c", "\ufeff## b"])
@pytest.mark.parametrize("max_level", [1, 2, 5])
def test_a_deeper_heading_at_the_end_does_not_hang(text: str, max_level: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentWarning)
        chunks = by_heading(max_level=max_level, chunk_size=3, overlap=0).split(text)
    assert "".join("".join(chunks.texts).split()) in ("", "".join(text.strip("\ufeff").split()))


def test_a_line_end_of_windows_is_no_blank_line() -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"a b c{end}d e f{end}{end}ggg hhh"
        chunks = by_paragraph(chunk_size=14, overlap=0, min_size=0).split(text)
        assert chunks.boundaries == ["document", "paragraph"], text


def test_an_unclosed_fence_of_one_line_is_not_its_own_closing_line() -> None:
    assert by_structure(target_size=4, overlap=0).split("```abcdefgh ij").texts[0] != "`"


def test_a_heading_with_spaces_after_it_stays_with_its_text() -> None:
    assert by_layout(chunk_size=40, overlap=0).split("# B  \n```\nx\n```").texts == [
        "# B  \n```\nx\n```"
    ]


def test_a_section_may_lose_its_type_but_not_its_floor() -> None:
    chunks = by_structure(target_size=10, max_size=60, min_size=20, overlap=0).split(
        "# A\n\nfirst words\n\nsecond"
    )
    assert len(chunks) == 1


def test_records_of_many_empty_windows_lines_are_linear() -> None:
    chunks = by_record("\n", overlap=0).split("a" + "\r\n" * 50_000 + "b")
    assert chunks.texts == ["a" + "\r\n" * 50_000 + "b"] or len(chunks) == 2


def test_overlap_is_never_white_space_alone() -> None:
    chunks = by_text(chunk_size=40, overlap=22).split(
        "internationalisation internationalisation requires a internationalisation"
    )
    assert all(text == text.strip() for text in chunks.texts)


def test_a_heading_too_deep_to_cut_goes_with_its_text_all_the_same() -> None:
    text = "# A\n\nText of A.\n\n## B\n\nText of B goes on."
    chunks = by_heading(chunk_size=30, overlap=0, min_size=0, max_level=1).split(text)
    assert chunks.texts == ["# A\n\nText of A.", "## B\n\nText of B goes on."]
