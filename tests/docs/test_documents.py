"""The Python examples of the documents run, and what they name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import spanwise
from spanwise.splitters.registry import STRATEGIES

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("docs/*.md")))]


@pytest.mark.parametrize("name", PAGES)
def test_python_blocks_run(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", page, re.M | re.S):
        exec(compile(block, name, "exec"), {})


@pytest.mark.parametrize("name", PAGES)
def test_pages_and_scripts_that_are_named_exist(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    for path in re.findall(r"`((?:docs|scripts|benchmarks|tests|src)/[\w./-]+?)`", page):
        assert (ROOT / path).exists(), path


def test_every_strategy_is_described() -> None:
    page = (ROOT / "docs/strategies.md").read_text(encoding="utf-8")
    for kind in STRATEGIES:
        name = kind.name.removeprefix("engine_")
        assert name in page, kind.name


def test_every_public_function_is_named_in_the_readme_or_a_page() -> None:
    pages = "".join((ROOT / name).read_text(encoding="utf-8") for name in PAGES)
    pages += (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    missing = [
        name
        for name in spanwise.__all__
        if not isinstance(getattr(spanwise, name), type) and name not in pages
    ]
    assert set(missing) <= {"__version__", "Sizer"}
