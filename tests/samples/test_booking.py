"""Booking: both reservations are under way together, and are made once whatever happens."""

from __future__ import annotations

import datetime as dt

import pytest

from samples.booking import book, confirmation, reserve


@pytest.fixture
def database(tmp_path):
    return tmp_path / "trips.db"


def test_a_trip_is_booked(swf, database):
    assert swf.run(book, database, "Ann") in {"Ann: car 1, flight 2", "Ann: car 2, flight 1"}


def test_both_reservations_are_made_at_the_same_time(swf, database):
    swf.stub(reserve, returns=7, delay="30s")
    began = swf.now()
    swf.run(book, database, "Ann")

    assert swf.now() - began == dt.timedelta(seconds=30)


def test_it_is_confirmed_when_both_are_made(swf, database):
    swf.stub(reserve, returns=1, delay="10s").then(returns=2, delay="20s")
    began = swf.now()
    run = swf.start(book, database, "Ann")
    swf.advance("19s")
    assert swf.calls(confirmation) == []

    run.result()
    (confirmed,) = swf.calls(confirmation)
    assert (confirmed, confirmed.at - began) == (("Ann", 1, 2), dt.timedelta(seconds=20))


def test_a_reservation_made_twice_is_one(database):
    assert reserve.fn(database, "key", "car") == reserve.fn(database, "key", "car")
