"""Notebooks: cells are parts, Markdown in them is structure, outputs follow their code."""

from __future__ import annotations

import json
import random

import nbformat
import pytest
from nbformat import v3, v4

from spanwise import Document, LoadError, chunk
from spanwise.loaders.base import Raw
from spanwise.loaders.notebooks import NotebookLoader

LOADER = NotebookLoader()
MARKDOWN = """---
# Refunds 🏮

| a | b |
| - | - |
| 1 | 2 |

Within ten days
---------------

```python
# no heading
```
"""


def raw(data: bytes | str, suffix: str = ".ipynb") -> Raw:
    data = data.encode() if isinstance(data, str) else data
    return Raw(data=data, name="a" + suffix, uri="kb/a" + suffix, suffix=suffix)


def load(book: object) -> Document:
    return LOADER.load(raw(nbformat.writes(book)))  # type: ignore[no-untyped-call]


def notebook() -> nbformat.NotebookNode:
    traceback = ["\x1b[0;31mZeroDivisionError\x1b[0m: no", "\x1b[1;32m----> 1\x1b[0m 1/0\n"]
    outputs = [
        v4.new_output("stream", name="stdout", text="10%\r50%\rdone\r\nnext\n"),
        v4.new_output("execute_result", data={"text/plain": "42", "text/html": "<b>42</b>"}),
        v4.new_output("display_data", data={"image/png": "aGk=", "text/plain": "<Figure>"}),
        v4.new_output("display_data", data={"text/markdown": "## Shown", "text/plain": "<obj>"}),
        v4.new_output("error", ename="ZeroDivisionError", evalue="no", traceback=traceback),
    ]
    book = v4.new_notebook(
        metadata={"language_info": {"name": "python"}},
        cells=[
            v4.new_markdown_cell("\n\n" + MARKDOWN),
            v4.new_code_cell("x = '# no'\n\nprint(x)", outputs=outputs),
            v4.new_markdown_cell("![d](attachment:d.png)"),
            v4.new_code_cell(""),
            v4.new_raw_cell("# raw, no heading"),
            v4.new_markdown_cell("    # indented code\n\nEnd"),
        ],
    )
    book.cells[2]["attachments"] = {"d.png": {"image/png": "aGk="}}
    return book


def test_the_text_is_complete_and_in_order() -> None:
    book = notebook()
    nbformat.validate(book)
    doc = load(book)
    assert doc.media_type == "application/x-ipynb+json"
    assert doc.text == "\n\n".join(
        [
            MARKDOWN.rstrip(),
            "x = '# no'\n\nprint(x)",
            "done\nnext",
            "42",
            "<Figure>",
            "## Shown",
            "ZeroDivisionError: no\n----> 1 1/0",
            "![d](attachment:d.png)",
            "# raw, no heading",
            "    # indented code\n\nEnd",
        ]
    )
    assert dict(doc.meta) == {
        "language": "python",
        "images": ["cell 2: image/png", "cell 3: d.png"],
    }


def test_markdown_cells_give_structure_at_the_right_places() -> None:
    doc = load(notebook())
    found = doc.outline.structure
    titles = [doc.text[a:b] for a, b in zip(found.title_starts, found.title_ends, strict=True)]
    assert titles == ["Refunds 🏮", "Within ten days", "Shown"]
    assert found.heading_levels == [1, 2, 2]
    starts = zip(found.heading_starts, found.heading_ends, strict=True)
    assert [doc.text[a:b] for a, b in starts][:2] == [
        "# Refunds 🏮",
        "Within ten days\n---------------",
    ]
    atoms = [doc.text[a:b] for a, b in zip(found.atom_starts, found.atom_ends, strict=True)]
    assert atoms == [
        "| a | b |\n| - | - |\n| 1 | 2 |",
        "```python\n# no heading\n```",
        "x = '# no'\n\nprint(x)",
        "done\nnext",
        "42",
        "<Figure>",
        "ZeroDivisionError: no\n----> 1 1/0",
    ]
    assert found.atom_kinds == ["table", *["fence"] * 6]
    assert found.atom_starts == sorted(found.atom_starts)


def test_a_place_leads_to_its_cell() -> None:
    book = notebook()
    doc = load(book)
    assert [part.label for part in doc.parts] == ["1", "2", "3", "4", "5", "6"]
    for said in ("Within ten", "print(x)", "attachment:", "raw, no", "indented"):
        cell = doc.locate(doc.text.index(said)).parts[0]
        assert said in book.cells[int(cell.label) - 1].source
        assert cell.meta["type"] == book.cells[int(cell.label) - 1].cell_type
    assert [p.label for p in doc.locate(doc.text.index("----> 1")).parts] == ["2"]
    assert doc.parts[3].start == doc.parts[3].end
    assert chunk(doc)[0].citation.startswith("a.ipynb, cell")
    assert doc.locate(doc.text.index("Within ten")).heading_path == (
        "Refunds 🏮",
        "Within ten days",
    )


def test_format_3_keeps_cells_in_worksheets() -> None:
    sheet = v3.new_worksheet(
        cells=[
            v3.new_heading_cell("Title", level=2),
            v3.new_text_cell("markdown", source="Some *text*\n\n### Deep"),
            v3.new_code_cell(
                input="1 + 1",
                language="python",
                outputs=[
                    v3.new_output("pyout", output_text="2", output_png="aGk="),
                    v3.new_output("stream", output_text="said\n"),
                    v3.new_output("pyerr", ename="E", evalue="v", traceback=["E: v"]),
                ],
            ),
        ]
    )
    book = v3.new_notebook(name="old", worksheets=[sheet])
    doc = LOADER.load(raw(v3.nbjson.writes(book)))
    assert doc.text == "Title\n\nSome *text*\n\n### Deep\n\n1 + 1\n\n2\n\nsaid\n\nE: v"
    assert doc.outline.structure.heading_levels == [2, 3]
    assert doc.meta == {"language": "python", "images": ["cell 3: image/png"]}
    assert [part.label for part in doc.parts] == ["1", "2", "3"]


def test_what_it_claims() -> None:
    data = nbformat.writes(notebook())
    assert LOADER.claims(raw(b"")) and LOADER.claims(raw(data, ""))
    assert not LOADER.claims(raw(data, ".json")) and not LOADER.claims(raw('{"a": 1}', ""))


def test_an_empty_file_is_an_empty_document() -> None:
    assert LOADER.load(raw(b"")).text == "" == LOADER.load(raw('{"cells": []}')).text


@pytest.mark.parametrize(
    "data",
    [
        "no json",
        "[1]",
        '"a"',
        '{"a": 1}',
        '{"cells": {"a": 1}}',
        '{"worksheets": [{"cells": 3}]}',
        '{"worksheets": [4]}',
        "[" * 100_000,
        '{"cells": ' + "9" * 10_000 + "}",
        b"%PDF-1.7",
        b"\x89PNG\r\n\x1a\n\0",
        b"caf\xe9",
    ],
)
def test_what_is_no_notebook_is_refused_by_name(data: bytes | str) -> None:
    with pytest.raises(LoadError, match=r"^a\.ipynb: "):
        LOADER.load(raw(data))


def test_odd_cells_do_not_stop_the_rest() -> None:
    odd = [
        None,
        {},
        {"cell_type": "code", "source": 3, "outputs": {"a": 1}},
        {"cell_type": "code", "source": ["a\n", 4, "b"], "outputs": [5, {"data": []}, {}]},
        {"cell_type": "code", "outputs": [{"output_type": "error", "traceback": 3, "ename": "E"}]},
        {"cell_type": "heading", "level": "x", "source": "H"},
        {"cell_type": "markdown", "source": "half a pair \ud800", "attachments": [1]},
    ]
    doc = LOADER.load(raw(json.dumps({"metadata": 1, "cells": odd})))
    assert doc.text == "a\nb\n\nE\n\nH\n\nhalf a pair ?"
    assert doc.meta["problems"] == ["cell 1 is NoneType, not an object"]


def survives(data: bytes) -> None:
    try:
        doc = LOADER.load(raw(data))
    except LoadError as fault:
        assert str(fault).startswith("a.ipynb: ")
    else:
        assert isinstance(doc.outline.paths, list)
        doc.text.encode()


def test_damage_is_an_error_or_a_document() -> None:
    data = nbformat.writes(notebook()).encode()
    source = random.Random(7)
    damaged = [data[:n] for n in range(0, len(data), 37)]
    for _ in range(300):
        flipped = bytearray(data)
        for _ in range(source.randint(1, 9)):
            flipped[source.randrange(len(data))] = source.randrange(256)
        damaged.append(bytes(flipped))
    for each in damaged:
        survives(each)


def test_an_output_of_html_alone_is_read() -> None:
    forms = [
        {"text/html": "<b>Bold</b> said", "text/plain": "<IPython.core.display.HTML object>"},
        {"text/html": "<p>Only HTML"},
        {"text/html": "<table>", "text/plain": "a  b\n1  2"},
        {"text/latex": "$x^2$"},
        {"text/latex": "$y$", "text/plain": "<IPython.core.display.Math object>"},
    ]
    outputs = [v4.new_output("display_data", data=form) for form in forms]
    book = v4.new_notebook(cells=[v4.new_code_cell("show()", outputs=outputs)])
    text = LOADER.load(raw(nbformat.writes(book))).text
    assert text.split("\n\n") == ["show()", "Bold said", "Only HTML", "a  b\n1  2", "$x^2$", "$y$"]
