"""Booking: two reservations at the same time, and a confirmation once both are made.

A call of an activity schedules it and gives a promise, so two calls in a row run side by side. A promise may be an
argument of another call, which is then scheduled as soon as the promise has its value.

The key makes the reservations harmless to repeat: an activity may run twice, if its worker dies before it can tell.

Flow's sample: Booking.

    flowpy run samples.booking:book trips.db Ann
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

import flowpy
from flowpy import activity, workflow


@activity(start_to_close_timeout="1m")
def reserve(database: Path, key: str, what: Literal["car", "flight"]) -> int:
    """Reserve a car or a flight; gives the number of the reservation, the same one for the same key."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS reservation (number INTEGER PRIMARY KEY, key UNIQUE, what)")
        connection.execute("INSERT OR IGNORE INTO reservation (key, what) VALUES (?, ?)", (key, what))
        number: int = connection.execute("SELECT number FROM reservation WHERE key = ?", (key,)).fetchone()[0]
    return number


@activity(start_to_close_timeout="1m")
def confirmation(customer: str, car: int, flight: int) -> str:
    """What the customer gets to read."""
    return f"{customer}: car {car}, flight {flight}"


@workflow
async def book(database: Path, customer: str) -> str:
    """Book a trip."""
    car = reserve(database, str(flowpy.uuid4()), "car")
    flight = reserve(database, str(flowpy.uuid4()), "flight")
    return await confirmation(customer, car, flight)
