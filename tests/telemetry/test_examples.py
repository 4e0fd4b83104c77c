"""The examples in docstrings run."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "flowpy.data.traced",
        "flowpy.interceptors",
        "flowpy.telemetry.logs",
        "flowpy.telemetry.memory",
        "flowpy.telemetry.opentelemetry",
    ],
)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(name))

    assert result.attempted
    assert result.failed == 0
