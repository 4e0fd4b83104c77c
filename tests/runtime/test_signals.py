"""Signals that reach a handler."""

from __future__ import annotations

import flowpy
from flowpy import Signal, workflow

from .driver import Driver

AMOUNT = Signal("amount", int)
DONE = Signal("done")


@workflow
async def adds() -> list[int]:
    amounts: list[int] = []
    AMOUNT.handler(amounts.append)
    await DONE.receive()
    return [*amounts, flowpy.info().undecodable_signals]


def test_a_payload_that_does_not_fit_a_handler_is_dropped_and_counted() -> None:
    run = Driver(adds)
    for value in (1, "two", 3, {"four": 4}):
        run.signal("amount", value)
    run.signal("done")
    run.decide()
    assert run.finished() == [1, 3, 2]
