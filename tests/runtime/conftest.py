"""What the tests of the runtime share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from flowpy.history import episodes

from .driver import MADE


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Histories are cut in small blocks here, so that even short ones have borders between them."""
    monkeypatch.setattr(episodes, "BLOCK", 5)


@pytest.fixture(autouse=True)
def _runs_leave_memory() -> Iterator[None]:
    """As a worker does: what is left to the collector would act at a random moment."""
    yield
    while MADE:
        MADE.pop().forget()
