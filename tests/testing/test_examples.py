"""The examples in the docstrings of ``testing``, ``view`` and ``console`` give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import flowpy.console
import flowpy.testing
import flowpy.view

MODULES = [
    importlib.import_module(found.name)
    for package in (flowpy.testing, flowpy.view, flowpy.console)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
WITH_EXAMPLES = [module for module in MODULES if any(test.examples for test in doctest.DocTestFinder().find(module))]


def test_there_are_examples() -> None:
    assert WITH_EXAMPLES


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=lambda module: module.__name__)
def test_examples_give_what_they_show(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
