"""Fixtures of the tests of workers."""

from __future__ import annotations

import pytest

from flowpy.worker.lifecycle import Lifecycle

from .twin import Twin


@pytest.fixture
def twin():
    return Twin()


@pytest.fixture
def lifecycle():
    """A lifecycle whose pauses pass at once."""
    return Lifecycle(wait=lambda event, seconds: event.is_set())
