"""What a call writes is what it changed, however long the history and however much is open."""

from __future__ import annotations

from contextlib import closing

import pytest

from flowpy.local.engine import Engine, VirtualClock
from flowpy.local.store import SQLiteStore

CHARGE = {"name": "charge", "version": "1"}


@pytest.fixture
def store():
    with closing(SQLiteStore(":memory:")) as store:
        yield store


@pytest.fixture
def swf(store, new_driver):
    return new_driver(Engine(VirtualClock(), store=store))


def written(store, call):
    """The statements of a call, with their values."""
    statements = []
    store._database.set_trace_callback(statements.append)
    call()
    store._database.set_trace_callback(None)
    return statements


def test_completing_one_of_many_tasks_writes_one_of_them(swf, make, store):
    sizes = []
    for width in (2, 400):
        workflow_id = f"w{width}"
        swf.start(workflow_id)
        decisions = [
            make("ScheduleActivityTask", activityId=str(number), activityType=CHARGE, heartbeatTimeout="60")
            for number in range(width)
        ]
        swf.decide(*decisions)
        task = swf.take()
        statements = written(store, lambda task=task: swf.complete(task))
        sizes.append(sum(map(len, statements)))
        while (task := swf.take())["startedEventId"]:
            swf.complete(task)
    assert sizes[1] < sizes[0] + 50


def test_a_signal_writes_no_old_event_again(swf, store):
    swf.start(input="the input" * 100)
    for number in range(50):
        swf.signal(f"before {number}")
    statements = "".join(written(store, lambda: swf.signal("last")))
    assert "last" in statements
    assert "before" not in statements
    assert "the input" not in statements


def test_a_poll_that_finds_nothing_writes_nothing(swf, store):
    assert written(store, swf.poll) == []


def test_a_refused_call_keeps_what_fell_due_before_it(swf, make, store):
    swf.start()
    swf.decide(make("StartTimer", timerId="t", startToFireTimeout="5"))
    swf.engine.clock.move_to(swf.engine.clock.now() + 5)
    refused = {"domain": "shop", "workflowId": "none", "signalName": "s"}
    with pytest.raises(LookupError):
        swf.engine.call("SignalWorkflowExecution", refused)
    assert not store._database.in_transaction
    assert swf.types()[5] == "TimerFired"
