"""What a worker measures, and where it says so: a meter of whatever kind."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol, runtime_checkable

from attrs import define, field

from flowpy.errors import ActivityCancelRequested, Throttled
from flowpy.history.events import Event, seconds
from flowpy.interceptors import ActivityCall, DecisionCall, Interceptor, Proceed
from flowpy.service.paging import PolledDecisionTask
from flowpy.service.protocol import Service

__all__ = ["Measures", "Meter"]

Labels = Mapping[str, str]

_log: Final = logging.getLogger("flowpy.worker")
_EVICTIONS: Final = "cache_evictions_"
_POLLS: Final = {"PollForDecisionTask": "decision", "PollForActivityTask": "activity"}
_WAITING: Final = 10_000
"""Scheduled activities that are remembered until they start; beyond them the longest wait is not measured."""


@runtime_checkable
class Meter(Protocol):
    """Takes what is measured; called from many threads. docs/telemetry.md lists the names."""

    def count(self, name: str, number: int, labels: Labels) -> None:
        """So many more of something happened."""
        ...

    def record(self, name: str, value: float, labels: Labels) -> None:
        """One value of something that is measured each time, in seconds."""
        ...

    def observe(self, name: str, read: Callable[[], int], labels: Labels) -> Callable[[], None]:
        """Something goes up and down, and ``read`` says where it is; calling what this gives ends that."""
        ...


@define(eq=False)
class Measures:
    """What one worker measures.

    Args:
        meter: Takes it.
        domain: SWF domain, a label of everything.
        task_list: Task list, the same.
    """

    meter: Meter
    domain: str
    task_list: str
    _labels: dict[str, str] = field(init=False)
    _waiting: OrderedDict[tuple[str, int], Event] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _observed: list[Callable[[], None]] = field(factory=list, init=False)
    _is_broken: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Join the labels of everything."""
        self._labels = {"domain": self.domain, "task_list": self.task_list}

    # --- counters and gauges ------------------------------------------------------------------

    def count(self, what: str, **labels: str) -> None:
        """One more of what ``Worker.counts`` counts, or of something else."""
        if what.startswith(_EVICTIONS):
            what, labels = _EVICTIONS.rstrip("_"), {"reason": what.removeprefix(_EVICTIONS)}
        self._tell(self.meter.count, what, 1, {**self._labels, **labels})

    def observe(self, name: str, read: Callable[[], int]) -> None:
        """Observe something until ``close``."""
        self._tell(lambda: self._observed.append(self.meter.observe(name, read, self._labels)))

    def close(self) -> None:
        """Observe nothing any more."""
        while self._observed:
            self._tell(self._observed.pop())

    def on(self, service: Service) -> Service:
        """The service, its polls and its throttling counted."""
        return _Counted(service, self)

    # --- times ------------------------------------------------------------------------------

    @property
    def interceptor(self) -> Interceptor:
        """Measures how long activities and decisions take, and how long their tasks waited."""
        return Interceptor(activity=self._activity, decision=self._decision)

    def _record(self, name: str, value: float, **labels: str) -> None:
        self._tell(self.meter.record, name, value, {**self._labels, **labels})

    def _tell(self, take: Callable[..., None], *told: Any) -> None:
        """Tell the meter; what is wrong with it must not keep the worker from its work, and is said once."""
        try:
            take(*told)
        except Exception:
            if not self._is_broken:
                self._is_broken = True
                _log.exception("the meter does not take what is measured; the worker goes on without")

    def _activity(self, call: ActivityCall, proceed: Proceed[ActivityCall]) -> Any:
        began, outcome = time.monotonic(), "failed"
        try:
            result = proceed(call)
            outcome = "completed"
        except (ActivityCancelRequested, asyncio.CancelledError):
            outcome = "canceled"
            raise
        finally:
            took = time.monotonic() - began
            self._record("activity_duration", took, activity_type=call.activity.name, outcome=outcome)
        return result

    def _decision(self, call: DecisionCall, proceed: Proceed[DecisionCall]) -> Any:
        began, outcome = time.monotonic(), "held"
        workflow_type = call.task.workflow_type[0]
        try:
            decided = proceed(call)
            outcome = "decided"
        finally:
            took = time.monotonic() - began
            self._record("decision_duration", took, workflow_type=workflow_type, outcome=outcome)
        self._tell(self._record_waits, call.task)
        return decided

    def _record_waits(self, task: PolledDecisionTask) -> None:
        for name, waited, labels in self._waits(task):
            self._record(name, waited, **labels)

    def _waits(self, task: PolledDecisionTask) -> Iterator[tuple[str, float, dict[str, str]]]:
        """How long tasks waited for a worker, of those that started since the decision task before."""
        first = task.events[0]["eventId"] if task.events else 0
        for event in task.events[max(0, task.previous_started_event_id + 1 - first) :]:
            kind, id = event["eventType"], event["eventId"]
            if kind == "ActivityTaskScheduled":
                self._wait_for(task.run_id, event)
            elif kind == "ActivityTaskStarted":
                scheduled_id = event["activityTaskStartedEventAttributes"]["scheduledEventId"]
                scheduled = self._waited_for(task, scheduled_id, first)
                if scheduled is not None:
                    type_ = scheduled["activityTaskScheduledEventAttributes"]["activityType"]["name"]
                    waited = max(0.0, seconds(event) - seconds(scheduled))
                    yield "activity_schedule_to_start", waited, {"activity_type": type_}
            elif kind == "DecisionTaskStarted" and id == task.started_event_id:
                scheduled_id = event["decisionTaskStartedEventAttributes"]["scheduledEventId"]
                if scheduled_id >= first:
                    waited = max(0.0, seconds(event) - seconds(task.events[scheduled_id - first]))
                    yield "decision_schedule_to_start", waited, {"workflow_type": task.workflow_type[0]}

    def _wait_for(self, run_id: str, scheduled: Event) -> None:
        with self._lock:
            self._waiting[run_id, scheduled["eventId"]] = scheduled
            if len(self._waiting) > _WAITING:
                self._waiting.popitem(last=False)

    def _waited_for(self, task: PolledDecisionTask, scheduled_id: int, first: int) -> Event | None:
        """The event that scheduled an activity; a run in memory brings only the end of its history."""
        with self._lock:
            scheduled = self._waiting.pop((task.run_id, scheduled_id), None)
        return task.events[scheduled_id - first] if scheduled is None and scheduled_id >= first else scheduled


@define(eq=False)
class _Counted:
    """A service whose polls and throttling are counted."""

    service: Service
    measures: Measures

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Perform one operation of SWF."""
        polled = _POLLS.get(operation) if "nextPageToken" not in request else None
        try:
            reply = self.service.call(operation, request)
        except Throttled:
            self.measures.count("throttled", operation=operation)
            raise
        finally:
            if polled is not None:
                self.measures.count("polls", kind=polled)
        if polled is not None and not reply.get("taskToken"):
            self.measures.count("polls_empty", kind=polled)
        return reply
