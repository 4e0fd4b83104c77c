"""Activity tasks that a worker gave back without beginning them: scheduled again, at no attempt's cost."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from flowpy import Retry, activity, workflow
from flowpy.data.failures import not_begun

from .driver import Driver


@activity
def charge() -> str: ...


@activity(retry=Retry(attempts=2, initial="1s", coefficient=10, jitter=0, never_on=Exception))
def strict() -> str: ...


@activity(retry=Retry(attempts=2, initial="1s", coefficient=10, jitter=0))
def twice() -> str: ...


@activity(retry=Retry(expiration="1m"))
def briefly() -> str: ...


def calling(declared: Any) -> Driver:
    @workflow
    async def caller() -> str:
        return await declared()

    run = Driver(caller, uses=(declared,))
    assert run.decide() == [f"ScheduleActivityTask {declared.name}-1"]
    return run


def give_back(run: Driver, id: str) -> int:
    """A worker gives a task back; gives the seconds until it is scheduled again."""
    reason, details = not_begun("input cannot be opened: no key")
    run._respond("Failed", id, reason=reason, details=details)
    (decision,) = run.decide()
    what, _, seconds = decision.split(" ")
    assert what == "StartTimer"
    run.advance(int(seconds))
    return int(seconds)


def test_it_is_scheduled_again_whatever_the_policy() -> None:
    for declared in (charge, strict):
        run = calling(declared)
        assert 9 <= give_back(run, f"{declared.name}-1") <= 11
        assert run.decide() == [f"ScheduleActivityTask {declared.name}-1.r2"]
        run.complete(f"{declared.name}-1.r2", "done")
        assert run.decide() == ['CompleteWorkflowExecution "done"']
        run.finished()


def test_the_waits_grow_to_an_hour() -> None:
    run, waits = calling(charge), []
    for attempt in range(1, 12):
        waits.append(give_back(run, "charge-1" if attempt == 1 else f"charge-1.r{attempt}"))
        assert run.decide() == [f"ScheduleActivityTask charge-1.r{attempt + 1}"]
    for number, wait in enumerate(waits):
        expected = min(10 * 2**number, 3600)
        assert expected * 0.89 <= wait <= expected * 1.11 + 1


def test_attempts_that_were_not_begun_do_not_count() -> None:
    run = calling(twice)
    give_back(run, "twice-1")
    run.decide()
    run.fail("twice-1.r2")
    assert run.decide() == ["StartTimer twice-1.w3 1"]
    run.advance(1)
    run.decide()
    give_back(run, "twice-1.r3")
    run.decide()
    run.fail("twice-1.r4", "Busy: still")
    (closed,) = run.decide()
    assert closed.startswith("FailWorkflowExecution ActivityFailed")
    with pytest.raises(RuntimeError, match="WorkflowExecutionFailed"):
        run.finished()


def test_an_expiration_holds_for_them_too() -> None:
    run, ended = calling(briefly), ""
    for attempt in range(1, 6):
        id = "briefly-1" if attempt == 1 else f"briefly-1.r{attempt}"
        reason, details = not_begun("no key")
        run._respond("Failed", id, reason=reason, details=details)
        (ended,) = run.decide()
        if not ended.startswith("StartTimer"):
            break
        run.advance(int(ended.rpartition(" ")[2]))
        run.decide()
    assert ended.startswith("FailWorkflowExecution ActivityFailed")
    assert attempt == 3  # after 0, 10 and 30 seconds; the next would be after 70


def test_code_can_stop_waiting_for_one() -> None:
    @workflow
    async def impatient() -> str:
        try:
            async with asyncio.timeout(5):
                return await charge()
        except TimeoutError:
            return "no worker has the key"

    run = Driver(impatient, uses=(charge,))
    run.decide()
    reason, details = not_begun("no key")
    run._respond("Failed", "charge-1", reason=reason, details=details)
    assert run.decide()[-1].startswith("StartTimer charge-1.w2")
    run.advance(5)
    assert run.decide()[-1] == 'CompleteWorkflowExecution "no worker has the key"'
    run.finished()


def test_an_error_of_that_name_from_users_code_is_a_failure() -> None:
    run = calling(charge)
    details = {"type": "ActivityNotBegun", "module": "flowpy", "message": "mine"}
    run._respond("Failed", "charge-1", reason="ActivityNotBegun: mine", details=json.dumps(details))
    (closed,) = run.decide()
    assert closed.startswith("FailWorkflowExecution ActivityFailed")
    with pytest.raises(RuntimeError, match="WorkflowExecutionFailed"):
        run.finished()
