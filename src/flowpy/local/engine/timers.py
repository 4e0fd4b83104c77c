"""Timers (swf-semantics §4.9)."""

from __future__ import annotations

from typing import Any

from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import record
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["cancel", "fire", "start"]


def start(deciding: Deciding, decision: dict[str, Any]) -> None:
    """StartTimer."""
    run, timer_id = deciding.run, decision["timerId"]
    if timer_id in run.timers:
        deciding.fail("StartTimer", decision, "TIMER_ID_ALREADY_IN_USE")
        return
    if len(run.timers) >= deciding.world.quotas.open_timers:
        deciding.fail("StartTimer", decision, "OPEN_TIMERS_LIMIT_EXCEEDED")
        return
    run.timers[timer_id] = started = deciding.record(
        "TimerStarted",
        timerId=timer_id,
        control=decision.get("control"),
        startToFireTimeout=decision["startToFireTimeout"],
    )
    deciding.world.touch(run, started)
    deciding.world.set_deadline(run, "timer", started, seconds(decision["startToFireTimeout"]))


def cancel(deciding: Deciding, decision: dict[str, Any]) -> None:
    """CancelTimer."""
    run, timer_id = deciding.run, decision["timerId"]
    if timer_id not in run.timers:
        deciding.fail("CancelTimer", decision, "TIMER_ID_UNKNOWN")
        return
    started = run.timers.pop(timer_id)
    deciding.world.touch(run, started)
    deciding.world.deadlines.cancel(run, "timer", started)
    deciding.record("TimerCanceled", timerId=timer_id, startedEventId=started)


def fire(world: World, run: Execution, started_event_id: int) -> None:
    """A timer's time has come."""
    timer_id = run.attributes(started_event_id)["timerId"]
    del run.timers[timer_id]
    world.touch(run, started_event_id)
    record(world, run, "TimerFired", timerId=timer_id, startedEventId=started_event_id)
