"""The examples in the docstrings of ``flowpy.testing`` give what they show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import flowpy.testing

MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(flowpy.testing.__path__, f"{flowpy.testing.__name__}.")
]
WITH_EXAMPLES = [module for module in MODULES if any(test.examples for test in doctest.DocTestFinder().find(module))]


def test_there_are_examples() -> None:
    assert WITH_EXAMPLES


@pytest.mark.parametrize("module", WITH_EXAMPLES, ids=lambda module: module.__name__)
def test_examples_give_what_they_show(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
