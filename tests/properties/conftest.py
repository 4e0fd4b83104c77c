"""Histories are cut in small blocks here, so that even short ones have borders between them."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

from flowpy.history import episodes


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    with mock.patch.object(episodes, "BLOCK", 5):
        yield
