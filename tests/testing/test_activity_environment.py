"""Activities alone: heartbeats, cancellation, what they know of their task, and that values make the round trip."""

from __future__ import annotations

import asyncio
import threading

import pytest

import flowpy
from flowpy import activity, current_activity
from flowpy.testing import ActivityEnvironment

from .shop import Receipt, ask, charge, label, ship


@activity
def convert(pages: int) -> int:
    for page in range(pages):
        current_activity().heartbeat({"page": page})
    return pages


@activity
async def wait() -> str:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        return "stopped"
    return "not reached"


@activity
def who() -> list[str]:
    context = current_activity()
    return [context.activity_id, context.workflow_id, context.run_id, context.task_token, context.name]


def test_it_runs_the_function():
    assert ActivityEnvironment().run(charge, "o-7", cents=5) == Receipt("o-7", 5)
    assert ActivityEnvironment().run(label, "o-7", colour="red") == "red o-7"
    assert ActivityEnvironment().run(ship, "o-7") == "o-7 is on its way"
    assert ActivityEnvironment().run(ask, "why?") is None


def test_heartbeats_are_kept_in_order():
    alone = ActivityEnvironment()
    assert alone.run(convert, 3) == 3
    assert alone.heartbeats == [{"page": 0}, {"page": 1}, {"page": 2}]
    assert alone.details == {"page": 2}


def test_a_heartbeat_without_details_is_counted():
    @activity
    def beat() -> None:
        current_activity().heartbeat("first")
        current_activity().heartbeat()

    alone = ActivityEnvironment()
    alone.run(beat)
    assert (alone.beats, alone.heartbeats) == (2, ["first"])


def test_details_that_are_too_long_are_refused():
    @activity
    def talkative() -> None:
        current_activity().heartbeat("x" * 3000)

    with pytest.raises(flowpy.PayloadTooLarge):
        ActivityEnvironment().run(talkative)


def test_a_cancel_stops_it_at_a_heartbeat():
    alone = ActivityEnvironment()
    alone.cancel()
    with pytest.raises(flowpy.ActivityCancelRequested, match="asked to stop"):
        alone.run(convert, 3)


def test_a_cancel_may_come_in_the_middle():
    alone = ActivityEnvironment()
    alone.cancel(after=2)
    with pytest.raises(flowpy.ActivityCancelRequested):
        alone.run(convert, 5)
    assert alone.heartbeats == [{"page": 0}, {"page": 1}]


def test_a_task_that_is_gone_says_so():
    alone = ActivityEnvironment()
    alone.cancel(gone=True)
    with pytest.raises(flowpy.ActivityCancelRequested, match="the task is gone"):
        alone.run(convert, 1)


def test_a_cancel_reaches_async_code():
    alone = ActivityEnvironment()
    alone.cancel()
    assert alone.run(wait) == "stopped"


def test_a_cancel_comes_from_another_thread():
    @activity
    def patient() -> bool:
        threading.Thread(target=alone.cancel).start()
        return current_activity().cancellation.wait(60)

    alone = ActivityEnvironment()
    assert alone.run(patient) is True


def test_it_knows_its_task():
    alone = ActivityEnvironment(attempt=3, workflow_id="order-7", run_id="r", task_token="secret")
    assert alone.run(who) == ["who-1.r3", "order-7", "r", "secret", "who"]


def test_what_it_raises_is_raised():
    @activity
    def broken() -> None:
        raise OSError("no line")

    with pytest.raises(OSError, match="no line"):
        ActivityEnvironment().run(broken)


def test_values_make_the_round_trip():
    @activity
    def wrong() -> int:
        return "seven"

    with pytest.raises(flowpy.PayloadNotDecodable, match="result of activity 'wrong'"):
        ActivityEnvironment().run(wrong)
    with pytest.raises(flowpy.PayloadNotEncodable, match="order_id"):
        ActivityEnvironment().run(charge, object(), 1)
    with pytest.raises(flowpy.PayloadNotDecodable, match="cents"):
        ActivityEnvironment().run(charge, "o-7", "much")


def test_nothing_is_left_behind():
    ActivityEnvironment().run(who)
    with pytest.raises(flowpy.CallError):
        current_activity()


def test_a_plain_function_is_refused():
    with pytest.raises(flowpy.DeclarationError, match="is no activity"):
        ActivityEnvironment().run(charge.fn, "o-7", 1)


@activity
def go_on(items: list[str]) -> list[str]:
    running = current_activity()
    done = running.last_details(list[str]) or []
    for item in items[len(done) :]:
        running.heartbeat([*done, item])
        done.append(f"{item}, attempt {running.attempt}")
    return done


def test_a_later_attempt_gets_what_those_before_had_recorded():
    assert ActivityEnvironment(attempt=3, last_details=["a"]).run(go_on, ["a", "b"]) == ["a", "b, attempt 3"]
    assert ActivityEnvironment(attempt=2).run(go_on, ["a"]) == ["a, attempt 2"]
    assert ActivityEnvironment(last_details=["a"]).run(go_on, ["a"]) == ["a, attempt 1"]
