"""The arrows of the design: who may import whom, and what the package shows."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import spanwise

ROOT = Path(spanwise.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))

# Each part may import itself, `errors`, and what stands to its right.
ARROWS = {
    "errors": set(),
    "cutting": set(),
    "parts": set(),
    "metadata": set(),
    "documents": {"cutting", "parts"},
    "context": {"cutting", "documents"},
    "chunks": {"cutting", "parts", "documents", "metadata", "context"},
    "lexical": {"cutting"},
    "snippets": {"cutting", "lexical"},
    "vectors": set(),
    "extras": set(),
    "twins": {"cutting"},
    "tokenizing": {"cutting", "extras", "twins"},
    "clips": {"cutting", "chunks", "embedders"},
    "splitters": {
        *("cutting", "parts", "documents", "context", "chunks", "vectors", "embedders"),
    },
    "embedders": {"cutting", "extras", "tokenizing", "vectors"},
    "loaders": {"parts", "documents", "cutting", "extras"},
    "passing": {"cutting", "context", "chunks", "splitters", "loaders"},
    "streams": {"cutting", "documents", "chunks", "splitters", "loaders", "passing"},
    "stemming": set(),
    "index": {
        *("cutting", "parts", "documents", "chunks", "lexical", "snippets", "stemming", "extras"),
        *("embedders", "splitters", "loaders", "metadata", "context"),
    },
    "evaluate": {
        *("cutting", "documents", "chunks", "lexical", "embedders", "splitters", "index"),
    },
    "cli": {"*"},
    "__init__": {"*"},
}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import"
            names.append(node.module or "")
    return names


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_follow_the_arrows(path: Path) -> None:
    part = part_of(path)
    allowed = ARROWS[part] | {part, "errors"}
    for name in imports_of(path):
        if name.split(".")[0] == "spanwise":
            target = name.split(".")[1] if "." in name else "__init__"
            assert "*" in allowed or target in allowed, f"{part} imports {name}"
        elif part != "cli":  # the base install has no dependencies
            assert name.split(".")[0] in sys.stdlib_module_names, f"{part} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_import_inside_a_function(path: Path) -> None:
    if part_of(path) == "cli":
        pytest.skip("the command line imports its extra where it is used")
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            kinds = ast.Import | ast.ImportFrom
            inner = [each for each in ast.walk(node) if isinstance(each, kinds)]
            assert not inner, f"{path.name}: {node.name}"


def test_all_is_sorted_and_complete() -> None:
    assert spanwise.__all__ == sorted(spanwise.__all__)
    shown = {
        name
        for name, value in vars(spanwise).items()
        if not name.startswith("_") and not isinstance(value, type(sys))
    }
    assert shown == set(spanwise.__all__) - {"__version__"}


def test_no_module_has_the_name_of_a_public_function() -> None:
    stems = {path.stem for path in MODULES}
    functions = {name for name in spanwise.__all__ if not isinstance(getattr(spanwise, name), type)}
    assert not stems & (functions - {"__version__"})


def test_the_version_is_the_one_of_the_package() -> None:
    assert spanwise.__version__ == version("spanwise")


def test_import_stays_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import spanwise; "
        "new = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(new & {'numpy', 'typer', 'rich', 'asyncio', 'logging', 'unittest'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_stay_short() -> None:
    for path in MODULES:
        if path.stem != "grapheme_table":
            assert len(path.read_text().splitlines()) <= 600, path.name


def test_every_embedder_is_found_where_it_is_asked_for() -> None:
    embedders = importlib.import_module("spanwise.embedders")
    assert embedders.__all__ == sorted(embedders.__all__)
    for name in embedders.__all__:
        assert getattr(embedders, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = embedders.nothing
