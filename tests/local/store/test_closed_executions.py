"""Closed executions are in the database and nowhere else."""

from __future__ import annotations

import sys
from contextlib import closing

import pytest

from flowpy.errors import UnknownResource
from flowpy.local.engine import Engine, VirtualClock
from flowpy.local.store import SQLiteStore

NOON = 1_767_268_800.0
EVER = {"oldestDate": 0}


@pytest.fixture
def store():
    with closing(SQLiteStore(":memory:")) as store:
        yield store


@pytest.fixture
def swf(store, new_driver):
    return new_driver(Engine(VirtualClock(NOON), store=store))


def run_to_end(swf, make, workflow_id, **options):
    run_id = swf.start(workflow_id, **options)
    swf.decide(make("RecordMarker", markerName="m"), make("CompleteWorkflowExecution", result="r"))
    return run_id


def size(value, seen=None):
    """Bytes of a value and of all that hangs on it."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, type):
        return 0
    seen.add(id(value))
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    elif isinstance(value, list | tuple | set | frozenset) or type(value).__name__ == "deque":
        parts = list(value)
    else:
        parts = [getattr(value, name, None) for name in getattr(type(value), "__slots__", ()) if name != "__weakref__"]
        parts += list(getattr(value, "__dict__", {}).values())
    return sys.getsizeof(value) + sum(size(part, seen) for part in parts)


def test_memory_does_not_grow_with_what_has_closed(swf, make):
    for number in range(20):
        run_to_end(swf, make, f"first-{number}")
    before = size(swf.engine.world)
    for number in range(400):
        run_to_end(swf, make, f"then-{number}", tagList=["eu"])
    assert size(swf.engine.world) < before + 20_000


def test_pages_of_a_long_history_are_read_alone(swf, make, store):
    run_id = swf.start()
    for number in range(300):
        swf.signal(str(number))
    swf.terminate()
    statements = []
    store._database.set_trace_callback(statements.append)
    request = {"domain": "shop", "execution": {"workflowId": "w", "runId": run_id}, "maximumPageSize": 10}
    first = swf.call("GetWorkflowExecutionHistory", **request)
    last = swf.call("GetWorkflowExecutionHistory", **request, reverseOrder=True)
    assert [event["eventId"] for event in first["events"]] == list(range(1, 11))
    assert [event["eventId"] for event in last["events"]] == list(range(303, 293, -1))
    reads = [statement for statement in statements if statement.startswith("SELECT first, body")]
    assert len(reads) == 2
    assert sum(len(store._database.execute(read).fetchall()) for read in reads) < 25


def test_what_is_kept_long_enough_is_deleted(swf, make, store):
    run_ids = [run_to_end(swf, make, f"w{number}", tagList=["eu"]) for number in range(250)]
    open_id = swf.start("open", tagList=["eu"], executionStartToCloseTimeout="31536000")
    swf.engine.advance(7 * 86_400 - 1)
    assert swf.describe(run_ids[0], "w0")["executionInfo"]["closeStatus"] == "COMPLETED"
    swf.engine.advance(1)
    with pytest.raises(UnknownResource):
        swf.describe(run_ids[0], "w0")
    # A call deletes some, so that none has to pay for all.
    for _ in range(3):
        swf.engine.tick()
    tables = ("executions", "tags", "events")
    left = {table: len(store._database.execute(f"SELECT * FROM {table}").fetchall()) for table in tables}  # noqa: S608
    assert left == {"executions": 1, "tags": 1, "events": 1}
    assert swf.types(open_id, "open") == ["WorkflowExecutionStarted", "DecisionTaskScheduled"]


LOOKUPS = [
    ("Closed", {"startTimeFilter": EVER}),
    ("Closed", {"closeTimeFilter": EVER}),
    ("Closed", {"closeTimeFilter": EVER, "executionFilter": {"workflowId": "w1"}}),
    ("Closed", {"startTimeFilter": EVER, "typeFilter": {"name": "order"}}),
    ("Closed", {"closeTimeFilter": EVER, "tagFilter": {"tag": "eu"}}),
    ("Closed", {"closeTimeFilter": EVER, "closeStatusFilter": {"status": "FAILED"}}),
    ("Open", {"startTimeFilter": EVER}),
    ("Open", {"startTimeFilter": EVER, "typeFilter": {"name": "order", "version": "1"}}),
]


@pytest.mark.parametrize(("state", "filters"), LOOKUPS)
@pytest.mark.parametrize("operation", ["List", "Count"])
def test_lists_and_counts_are_looked_up_in_an_index(swf, make, store, state, filters, operation):
    run_to_end(swf, make, "w1", tagList=["eu"])
    statements = []
    store._database.set_trace_callback(statements.append)
    swf.call(f"{operation}{state}WorkflowExecutions", domain="shop", **filters)
    store._database.set_trace_callback(None)
    (query,) = [statement for statement in statements if "FROM executions WHERE domain" in statement]
    plan = [row[3] for row in store._database.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert not any(step.startswith("SCAN") for step in plan), plan
    assert any("INDEX" in step or "PRIMARY KEY" in step for step in plan), plan
