"""What the tests of the runtime share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .driver import MADE


@pytest.fixture(autouse=True)
def _runs_leave_memory() -> Iterator[None]:
    """As a worker does: what is left to the collector would act at a random moment."""
    yield
    while MADE:
        MADE.pop().forget()
