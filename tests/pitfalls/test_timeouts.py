"""Timeouts of activities and the options that set them (rows O*)."""

from __future__ import annotations

import pytest

import flowpy
from flowpy import activity, workflow

from .build import Run, attributes_of


@activity(retry=flowpy.Retry(attempts=3, initial=2, jitter=0))
def flaky() -> str: ...


@activity
def step(name: str) -> str: ...


@pytest.mark.parametrize("timeout", ["START_TO_CLOSE", "SCHEDULE_TO_START", "SCHEDULE_TO_CLOSE", "HEARTBEAT"])
def test_o01_timeout_is_retried_like_a_failure(timeout: str) -> None:
    @workflow
    async def trying() -> str:
        return await flaky()

    run = Run(trying)
    run.decide()
    run.times_out("flaky-1", timeout)
    assert run.decide() == ["StartTimer flaky-1.w2 2"]
    run.fires("flaky-1.w2")
    run.decide()
    run.completes("flaky-1.r2", "A")
    assert run.decide() == ['CompleteWorkflowExecution "A"']
    run.replays()


def test_o01_timeout_tells_its_type_and_the_last_heartbeat() -> None:
    @workflow
    async def trying() -> list:
        try:
            return [await step("a")]
        except flowpy.ActivityTimedOut as error:
            return [error.timeout_type, error.details, error.id, error.event_id]

    run = Run(trying)
    run.decide()
    event_id = run.times_out("step-1", "HEARTBEAT", details="row 7")
    assert run.decide() == [f'CompleteWorkflowExecution ["HEARTBEAT", "row 7", "step-1", {event_id}]']
    run.replays()


def test_o04_registered_timeouts_are_not_repeated_in_the_decision() -> None:
    @activity(heartbeat_timeout=120, start_to_close_timeout="5m")
    def beating() -> str: ...

    @workflow
    async def calling() -> str:
        return await beating()

    (decision,) = Run(calling).offered()
    assert set(attributes_of(decision)) - {"input"} == {"activityId", "activityType"}


def test_o07_exhausted_retry_raises_the_last_error_where_it_is_awaited() -> None:
    @workflow
    async def enduring() -> str:
        try:
            return await flaky()
        except flowpy.ActivityTimedOut as error:
            return await step(f"failed {error.id}")

    run = Run(enduring)
    run.decide()
    for activity_id, attempt in (("flaky-1", 2), ("flaky-1.r2", 3)):
        run.times_out(activity_id)
        run.decide()
        run.fires(f"flaky-1.w{attempt}")
        run.decide()
    run.times_out("flaky-1.r3")
    assert run.decide() == ["ScheduleActivityTask step-1"]
    run.completes("step-1", "Task failed")
    assert run.decide() == ['CompleteWorkflowExecution "Task failed"']
    run.replays()


def test_o09_timeouts_are_overridden_by_call_and_their_names_checked() -> None:
    @workflow
    async def calling() -> str:
        return await step.options(start_to_close_timeout=90)("a")

    (decision,) = Run(calling).offered()
    assert attributes_of(decision)["startToCloseTimeout"] == "90"
    with pytest.raises(TypeError, match="start_to_close_timeout"):
        step.options(startToCloseTimeout=90)
