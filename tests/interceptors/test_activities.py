"""Interceptors around activities: ``def`` and ``async def`` around ``def`` and ``async def``."""

from __future__ import annotations

import asyncio
import json
import threading
from contextvars import ContextVar

import pytest
from attrs import evolve

from flowpy.data import DEFAULT
from flowpy.declare import activity
from flowpy.errors import ActivityCancelRequested
from flowpy.worker.activity_context import ActivityContext, current_activity
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import execute
from flowpy.worker.intercepting import AroundActivities

colour: ContextVar[str] = ContextVar("colour", default="none")


@activity(name="ship")
def ship(order_id: str, by: str = "road") -> str:
    return f"{order_id} by {by}, {colour.get()}"


@activity(name="ship")
async def async_ship(order_id: str, by: str = "road") -> str:
    await asyncio.sleep(0)
    return f"{order_id} by {by}, {colour.get()}"


@activity(name="loop")
def starts_a_loop() -> str:
    return asyncio.run(async_ship.fn("o-1"))


@activity(name="fail")
def fail() -> None:
    raise KeyError("o-7")


@activity(name="fail")
async def async_fail() -> None:
    raise KeyError("o-7")


@activity(name="stop")
def stop() -> None:
    raise ActivityCancelRequested("enough")


def plain(call, proceed):
    return f"<{proceed(call)}>"


async def awaiting(call, proceed):
    await asyncio.sleep(0)
    made = await proceed(call)
    await asyncio.sleep(0)
    return f"({made})"


@pytest.fixture
def loop():
    made = ActivityLoop()
    yield made
    made.close()


@pytest.fixture
def context():
    task = {
        "taskToken": "t-1",
        "activityId": "ship-1.r2",
        "activityType": {"name": "ship", "version": "1.0"},
        "workflowExecution": {"workflowId": "order-7", "runId": "r-1"},
    }
    return ActivityContext(task, "shop", task_list="main")


def run(declared, arounds, context, loop, text='["o-7"]'):
    response = execute(declared, text, context, DEFAULT, loop, AroundActivities(arounds))
    assert response is not None
    return response


@pytest.mark.parametrize("declared", [ship, async_ship], ids=["def", "async def"])
@pytest.mark.parametrize(
    ("arounds", "expected"),
    [
        ([plain], "<o-7 by road, none>"),
        ([awaiting], "(o-7 by road, none)"),
        ([plain, awaiting], "<(o-7 by road, none)>"),
        ([awaiting, plain], "(<o-7 by road, none>)"),
        ([awaiting, awaiting, plain, plain], "((<<o-7 by road, none>>))"),
    ],
    ids=["plain", "awaiting", "plain awaiting", "awaiting plain", "four"],
)
def test_every_kind_stands_around_every_kind(declared, arounds, expected, context, loop):
    response = run(declared, arounds, context, loop)

    assert response.operation == "RespondActivityTaskCompleted"
    assert json.loads(response.fields["result"]) == expected


@pytest.mark.parametrize("declared", [ship, async_ship], ids=["def", "async def"])
def test_they_see_context_and_arguments_and_may_change_them(declared, context, loop):
    seen = {}

    def around(call, proceed):
        seen.update(call.fields, name=call.activity.name, args=call.args, kwargs=call.kwargs, trace=call.trace)
        assert current_activity() is context
        token = colour.set("red")
        try:
            return proceed(evolve(call, kwargs={"by": "air"}))
        finally:
            colour.reset(token)

    response = run(declared, [around], context, loop)

    assert json.loads(response.fields["result"]) == "o-7 by air, red"
    assert seen == {
        "domain": "shop",
        "task_list": "main",
        "workflow_id": "order-7",
        "run_id": "r-1",
        "activity_id": "ship-1.r2",
        "activity_type": "ship",
        "activity_version": "1.0",
        "attempt": 2,
        "name": "ship",
        "args": ("o-7",),
        "kwargs": {},
        "trace": {},
    }


@pytest.mark.parametrize("around", [lambda call, proceed: "other", awaiting], ids=["plain", "awaiting"])
@pytest.mark.parametrize("declared", [fail, async_fail], ids=["def", "async def"])
def test_what_they_give_takes_the_place_of_the_outcome(declared, around, context, loop):
    async def caught(call, proceed):
        try:
            return await proceed(call)
        except KeyError:
            return "caught"

    response = run(declared, [caught, around], context, loop, "[]")

    assert json.loads(response.fields["result"]) in ("caught", "other")


@pytest.mark.parametrize("declared", [fail, async_fail], ids=["def", "async def"])
@pytest.mark.parametrize("arounds", [[plain], [awaiting], [plain, awaiting, plain]], ids=["plain", "awaiting", "three"])
def test_a_failure_still_names_the_line(declared, arounds, context, loop):
    response = run(declared, arounds, context, loop, "[]")

    traceback = json.loads(response.fields["details"])["traceback"]
    assert 'raise KeyError("o-7")' in traceback


def test_what_they_raise_fails_the_activity(context, loop):
    def refuse(call, proceed):
        raise PermissionError(call.args[0])

    response = run(ship, [plain, refuse], context, loop)

    assert response.operation == "RespondActivityTaskFailed"
    assert response.fields["reason"] == "PermissionError: o-7"


@pytest.mark.parametrize("around", [plain, awaiting], ids=["plain", "awaiting"])
def test_an_activity_that_stops_is_canceled(around, context, loop):
    assert run(stop, [around], context, loop, "[]").operation == "RespondActivityTaskCanceled"


def test_a_cancel_reaches_an_async_activity_through_them(context, loop):
    begun, seen = threading.Event(), []

    @activity
    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    def watch(call, proceed):
        try:
            return proceed(call)
        except asyncio.CancelledError:
            seen.append("canceled")
            raise

    def cancel():
        begun.wait(10)
        context.request_cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    response = run(wait, [awaiting, watch], context, loop, "[]")
    thread.join()

    assert (response.operation, seen) == ("RespondActivityTaskCanceled", ["canceled"])


def test_plain_activities_may_start_a_loop_under_interceptors_that_await(context, loop):
    response = run(starts_a_loop, [awaiting], context, loop, "[]")

    assert json.loads(response.fields["result"]) == "(o-1 by road, none)"


def test_without_any_the_function_itself_runs(context):
    assert AroundActivities().wrapped(ship, ship.fn, context, "[]") is ship.fn
