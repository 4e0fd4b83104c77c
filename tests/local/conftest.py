"""An engine in memory and one on SQLite, and a driver for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from flowpy.local.engine import Engine, Quotas, VirtualClock
from flowpy.local.store import SQLiteStore

from .conformance.driver import Driver, decision

NOON = 1_767_268_800.0


@pytest.fixture
def quotas() -> Quotas:
    return Quotas()


@pytest.fixture(params=["memory", "SQLite"])
def engine(request: pytest.FixtureRequest, quotas: Quotas) -> Iterator[Engine]:
    store = SQLiteStore(":memory:") if request.param == "SQLite" else None
    engine = Engine(VirtualClock(NOON), quotas, store=store)
    yield engine
    engine.close()


@pytest.fixture
def swf(engine: Engine) -> Iterator[Driver]:
    driver = Driver(engine)
    yield driver
    driver.check()


@pytest.fixture(scope="session")
def make() -> Any:
    """Makes the dict of a decision: ``make("StartTimer", timerId=…)``."""
    return decision


@pytest.fixture(scope="session")
def new_driver() -> Any:
    """Makes drivers of their own, for tests that need several."""
    return Driver
