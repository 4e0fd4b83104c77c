"""Wait for a signal or a timer: the last change counts, and the time runs from there."""

from __future__ import annotations

import datetime as dt

import pytest

from samples.table import count
from samples.wait_for_signal import amend, order, place, withdraw


@pytest.fixture
def orders(tmp_path):
    return tmp_path / "orders.csv"


def test_the_timer_is_first(swf, orders):
    began = swf.now()
    assert swf.run(order, orders, "tea", 3) == "tea,3"
    assert swf.now() - began == dt.timedelta(minutes=30)


def test_a_signal_is_first_and_the_time_begins_again(swf, orders):
    began = swf.now()
    run = swf.start(order, orders, "tea", 3)
    for amount in (4, 5):
        swf.advance("20m")
        run.signal(amend, amount)

    assert run.result() == "tea,5"
    assert swf.now() - began == dt.timedelta(minutes=20 + 20 + 30)
    assert orders.read_text() == "tea,5\n"
    assert count(run.history(), "TimerCanceled") == 2


def test_signals_that_come_together_all_count(swf, orders):
    with swf.paused():
        run = swf.start(order, orders, "tea", 3)
        for amount in (4, 5, 6):
            run.signal(amend, amount)

    assert run.result() == "tea,6"


def test_a_withdrawn_order_is_not_placed(swf, orders):
    run = swf.start(order, orders, "tea", 3)
    run.signal(amend, 4)
    run.signal(withdraw)

    assert run.result() is None
    assert swf.calls(place) == []
