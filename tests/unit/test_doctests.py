"""Every example in a docstring of the library runs and answers what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import spanwise

NAMES = [
    module.name
    for module in pkgutil.walk_packages(spanwise.__path__, "spanwise.")
    if ".cli" not in module.name
]


@pytest.mark.parametrize("name", ["spanwise", *NAMES])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert failed == 0
