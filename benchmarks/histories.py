"""Histories of two shapes, as boto3 gives them: a chain of activities one after another, and a fan-out of all at once.

Each history ends in an open decision task, whose decision is the close. A chained activity takes 6 events, a fanned
out one 3. Activity ``i`` (from 0) is given ``i`` and returns ``i + 1``.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

from attrs import field, frozen

Event = dict[str, Any]

_BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
_TICK = dt.timedelta(milliseconds=40)


@frozen
class Form:
    """How an SDK spells what it writes into histories.

    Attributes:
        activity_id: Its id for the n-th activity, from 1.
        input: Its input for one argument.
    """

    activity_id: Callable[[int], str]
    input: Callable[[int], str]


FLOWPY = Form(activity_id=lambda number: f"step-{number}", input=lambda value: f"[{value}]")
BOTOFLOW = Form(activity_id=str, input=lambda value: json.dumps([[value], {}]))


def chain(length: int, form: Form) -> list[Event]:
    """A history of ``length`` activities, each scheduled when the one before has completed."""
    history = _History(form)
    decision = history.begin("chain", length)
    for number in range(1, length + 1):
        scheduled = history.scheduled(number, history.decided(decision))
        history.completed(number, scheduled, history.started(scheduled))
        decision = history.decision()
    return history.events


def fanout(width: int, form: Form) -> list[Event]:
    """A history of ``width`` activities scheduled by one decision and all completed before the next."""
    history = _History(form)
    completed = history.decided(history.begin("fan-out", width))
    scheduled = [history.scheduled(number, completed) for number in range(1, width + 1)]
    started = [history.started(one) for one in scheduled]
    for number in range(1, width + 1):
        history.completed(number, scheduled[number - 1], started[number - 1])
    history.decision()
    return history.events


@frozen
class _History:
    form: Form
    events: list[Event] = field(factory=list)

    def add(self, kind: str, **attributes: Any) -> int:
        number = len(self.events) + 1
        key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
        at = _BEGIN + number * _TICK
        self.events.append({"eventTimestamp": at, "eventType": kind, "eventId": number, key: attributes})
        return number

    def begin(self, name: str, size: int) -> tuple[int, int]:
        self.add(
            "WorkflowExecutionStarted",
            input=self.form.input(size),
            executionStartToCloseTimeout="86400",
            taskStartToCloseTimeout="30",
            childPolicy="TERMINATE",
            taskList={"name": "bench"},
            workflowType={"name": name, "version": "1.0"},
            parentInitiatedEventId=0,
        )
        return self.decision()

    def decision(self) -> tuple[int, int]:
        scheduled = self.add("DecisionTaskScheduled", taskList={"name": "bench"}, startToCloseTimeout="30")
        return scheduled, self.add("DecisionTaskStarted", identity="decider", scheduledEventId=scheduled)

    def decided(self, decision: tuple[int, int]) -> int:
        return self.add("DecisionTaskCompleted", scheduledEventId=decision[0], startedEventId=decision[1])

    def scheduled(self, number: int, completed: int) -> int:
        return self.add(
            "ActivityTaskScheduled",
            activityType={"name": "step", "version": "1.0"},
            activityId=self.form.activity_id(number),
            input=self.form.input(number - 1),
            scheduleToStartTimeout="NONE",
            scheduleToCloseTimeout="NONE",
            startToCloseTimeout="300",
            heartbeatTimeout="60",
            taskList={"name": "bench"},
            decisionTaskCompletedEventId=completed,
        )

    def started(self, scheduled: int) -> int:
        return self.add("ActivityTaskStarted", identity="worker", scheduledEventId=scheduled)

    def completed(self, number: int, scheduled: int, started: int) -> int:
        return self.add("ActivityTaskCompleted", result=str(number), scheduledEventId=scheduled, startedEventId=started)
