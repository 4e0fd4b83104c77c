"""The examples in the docstrings of the kit run as written."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["environment", "activity_environment"])
def test_examples(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"flowpy.testing.{name}"))
    assert tried
    assert not failed
