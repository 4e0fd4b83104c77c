"""What a history being written has open: handles on which its further life can be told."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from flowpy.data.converter import Converter
from flowpy.data.failures import encode_failure
from flowpy.runtime.ids import fitted
from flowpy.testing.building.events import EventLog

__all__ = ["Built", "BuiltActivity", "BuiltChild", "BuiltLambdaFunction", "BuiltRequest", "BuiltTimer", "failure_of"]


class Built:
    """What all handles share.

    Attributes:
        id: Its activityId, timerId, workflowId, Lambda id or control.
        event_id: The event that answered its decision: recorded, or refused.
    """

    kind: ClassVar[str]

    def __init__(self, log: EventLog, converter: Converter, id: str, event_id: int, *, refused: bool = False) -> None:
        self._log = log
        self._converter = converter
        self._started = 0
        self._ended = f"refused with event {event_id}" if refused else ""
        self.id = id
        self.event_id = event_id

    def __repr__(self) -> str:
        return f"<{self.kind} {self.id}, {self._ended or 'open'}>"

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return not self._ended

    def _check_open(self, event_type: str) -> None:
        if self._ended:
            self._log.refuse(event_type, f"{self.kind} {self.id} has {self._ended}", "What has ended ends once")

    def _happens(self, event_type: str, **attributes: Any) -> int:
        self._check_open(event_type)
        return self._log.happens(event_type, **attributes)

    def _ends(self, event_type: str, **attributes: Any) -> int:
        event_id = self._happens(event_type, **attributes)
        self._close(event_type, event_id)
        return event_id

    def _close(self, event_type: str, event_id: int) -> None:
        self._ended = f"ended with event {event_id} ({event_type})"

    def _payload(self, value: Any, text: str | None, what: str) -> str:
        return text if text is not None else self._converter.encode(value, f"{what} of {self.kind} {self.id}")


class BuiltTimer(Built):
    """A timer that was started, made by ``HistoryBuilder.start_timer``."""

    kind = "timer"

    def __init__(
        self,
        log: EventLog,
        converter: Converter,
        id: str,
        event_id: int,
        *,
        due: datetime | None = None,
        refused: bool = False,
    ) -> None:
        super().__init__(log, converter, id, event_id, refused=refused)
        self._due = due or log.now

    def fire(self) -> int:
        """TimerFired, at its time if that is still to come; gives the event id."""
        self._check_open("TimerFired")
        self._log.now = max(self._log.now, self._due)
        return self._ends("TimerFired", timerId=self.id, startedEventId=self.event_id)

    def cancel(self, *, refused: str | None = None) -> int:
        """TimerCanceled, the answer to a CancelTimer decision, or CancelTimerFailed.

        Args:
            refused: The cause with which SWF refuses it, such as ``TIMER_ID_UNKNOWN``.

        Returns:
            The event id.
        """
        if refused is not None:
            return self._log.decided("CancelTimerFailed", timerId=self.id, cause=refused)
        self._check_open("TimerCanceled")
        event_id = self._log.decided("TimerCanceled", timerId=self.id, startedEventId=self.event_id)
        self._close("TimerCanceled", event_id)
        return event_id


class BuiltActivity(Built):
    """An activity that was scheduled, made by ``HistoryBuilder.schedule``; ends start it if it has not started."""

    kind = "activity"
    _requested = 0

    def start(self, identity: str = "worker") -> int:
        """ActivityTaskStarted: a worker takes it; gives the event id."""
        self._check_open("ActivityTaskStarted")
        if self._started:
            why = f"activity {self.id} has started with event {self._started}"
            self._log.refuse("ActivityTaskStarted", why, "Schedule it again for another attempt")
        self._started = self._happens("ActivityTaskStarted", scheduledEventId=self.event_id, identity=identity)
        return self._started

    def complete(self, result: Any = None, *, text: str | None = None) -> int:
        """ActivityTaskCompleted.

        Args:
            result: What it returned.
            text: The result as recorded, instead of ``result``.

        Returns:
            The event id.
        """
        return self._ended_by("ActivityTaskCompleted", result=self._payload(result, text, "result"))

    def fail(self, error: BaseException | None = None, *, reason: str | None = None, details: str | None = None) -> int:
        """ActivityTaskFailed.

        Args:
            error: What it raised, recorded as a worker does.
            reason: The reason as recorded, instead of ``error``.
            details: The details as recorded, instead of ``error``.

        Returns:
            The event id.
        """
        return self._ended_by("ActivityTaskFailed", **failure_of(self._converter, error, reason, details))

    def time_out(self, kind: str = "START_TO_CLOSE", *, details: Any = None) -> int:
        """ActivityTaskTimedOut.

        Args:
            kind: START_TO_CLOSE, HEARTBEAT, SCHEDULE_TO_START or SCHEDULE_TO_CLOSE; the first two start it if it has
                not started.
            details: Those of its last heartbeat.

        Returns:
            The event id.
        """
        given = None if details is None else self._payload(details, None, "heartbeat details")
        if kind == "SCHEDULE_TO_START" and self._started:
            why = f"activity {self.id} has started with event {self._started}"
            self._log.refuse("ActivityTaskTimedOut", f"{kind}, but {why}", "Give START_TO_CLOSE or HEARTBEAT")
        if kind.startswith("SCHEDULE_TO_") and not self._started:
            links = {"scheduledEventId": self.event_id, "startedEventId": 0}
            return self._ends("ActivityTaskTimedOut", **links, timeoutType=kind, details=given)
        return self._ended_by("ActivityTaskTimedOut", timeoutType=kind, details=given)

    def request_cancel(self, *, refused: str | None = None) -> int:
        """ActivityTaskCancelRequested, the answer to RequestCancelActivityTask, or RequestCancelActivityTaskFailed.

        An activity that has not started is cancelled by SWF itself: say ``cancel()`` after it.

        Args:
            refused: The cause with which SWF refuses it, such as ``ACTIVITY_ID_UNKNOWN``.

        Returns:
            The event id.
        """
        if refused is not None:
            return self._log.decided("RequestCancelActivityTaskFailed", activityId=self.id, cause=refused)
        self._check_open("ActivityTaskCancelRequested")
        self._requested = self._log.decided("ActivityTaskCancelRequested", activityId=self.id)
        return self._requested

    def cancel(self, details: Any = None) -> int:
        """ActivityTaskCanceled: it acknowledges the request, or SWF drops it before it started.

        Args:
            details: What it said of it.

        Returns:
            The event id.
        """
        given = None if details is None else self._payload(details, None, "details")
        links = {"scheduledEventId": self.event_id, "startedEventId": self._started}
        requested = self._requested or None
        return self._ends("ActivityTaskCanceled", **links, latestCancelRequestedEventId=requested, details=given)

    def _ended_by(self, event_type: str, **attributes: Any) -> int:
        self._check_open(event_type)
        started = self._started or self.start()
        return self._ends(event_type, scheduledEventId=self.event_id, startedEventId=started, **attributes)


class BuiltLambdaFunction(Built):
    """A Lambda function that was scheduled, made by ``HistoryBuilder.schedule_lambda``."""

    kind = "Lambda function"

    def start(self) -> int:
        """LambdaFunctionStarted; gives the event id."""
        self._check_open("LambdaFunctionStarted")
        if self._started:
            why = f"Lambda function {self.id} has started with event {self._started}"
            self._log.refuse("LambdaFunctionStarted", why, "Schedule another one")
        self._started = self._happens("LambdaFunctionStarted", scheduledEventId=self.event_id)
        return self._started

    def complete(self, result: Any = None, *, text: str | None = None) -> int:
        """LambdaFunctionCompleted, with a value or with the text recorded; gives the event id."""
        return self._ended_by("LambdaFunctionCompleted", result=self._payload(result, text, "result"))

    def fail(self, *, reason: str | None = None, details: str | None = None) -> int:
        """LambdaFunctionFailed, with reason and details as Lambda gives them; gives the event id."""
        return self._ended_by("LambdaFunctionFailed", reason=reason, details=details)

    def time_out(self) -> int:
        """LambdaFunctionTimedOut; gives the event id."""
        return self._ended_by("LambdaFunctionTimedOut", timeoutType="START_TO_CLOSE")

    def fail_to_start(self, cause: str = "ASSUME_ROLE_FAILED", message: str | None = None) -> int:
        """StartLambdaFunctionFailed; gives the event id."""
        return self._ends("StartLambdaFunctionFailed", scheduledEventId=self.event_id, cause=cause, message=message)

    def _ended_by(self, event_type: str, **attributes: Any) -> int:
        self._check_open(event_type)
        started = self._started or self.start()
        return self._ends(event_type, scheduledEventId=self.event_id, startedEventId=started, **attributes)


class BuiltChild(Built):
    """A child workflow whose start was initiated, made by ``HistoryBuilder.start_child``; ``id`` is its workflowId.

    Attributes:
        run_id: Its runId once it has started.
        identity: Its place in the parent's code, such as ``ship-1``.
    """

    kind = "child workflow"

    def __init__(
        self,
        log: EventLog,
        converter: Converter,
        id: str,
        event_id: int,
        *,
        identity: str,
        type_: dict[str, str],
        refused: bool = False,
    ) -> None:
        super().__init__(log, converter, id, event_id, refused=refused)
        self.identity = identity
        self.run_id = f"run-of-{id}"
        self._type = type_

    def start(self) -> int:
        """ChildWorkflowExecutionStarted; gives the event id."""
        self._check_open("ChildWorkflowExecutionStarted")
        if self._started:
            why = f"child workflow {self.id} has started with event {self._started}"
            self._log.refuse("ChildWorkflowExecutionStarted", why, "Start another child")
        self._started = self._happens("ChildWorkflowExecutionStarted", **self._links())
        return self._started

    def refuse(self, cause: str = "WORKFLOW_ALREADY_RUNNING") -> int:
        """StartChildWorkflowExecutionFailed, after the start was initiated.

        Args:
            cause: SWF's cause. One that is known at once is given as ``start_child(..., refused=...)``.

        Returns:
            The event id.
        """
        self._check_open("StartChildWorkflowExecutionFailed")
        if self._started:
            why = f"child workflow {self.id} has started with event {self._started}"
            self._log.refuse("StartChildWorkflowExecutionFailed", why, "Leave start() out")
        decided = self._log.events[self.event_id - 1]["startChildWorkflowExecutionInitiatedEventAttributes"]
        return self._ends(
            "StartChildWorkflowExecutionFailed",
            workflowId=self.id,
            workflowType=self._type,
            cause=cause,
            initiatedEventId=self.event_id,
            decisionTaskCompletedEventId=decided["decisionTaskCompletedEventId"],
        )

    def complete(self, result: Any = None, *, text: str | None = None) -> int:
        """ChildWorkflowExecutionCompleted, with a value or with the text recorded; gives the event id."""
        return self._ended_by("Completed", result=self._payload(result, text, "result"))

    def fail(self, error: BaseException | None = None, *, reason: str | None = None, details: str | None = None) -> int:
        """ChildWorkflowExecutionFailed, with what it raised or with the texts recorded; gives the event id."""
        return self._ended_by("Failed", **failure_of(self._converter, error, reason, details))

    def cancel(self, details: Any = None) -> int:
        """ChildWorkflowExecutionCanceled; gives the event id."""
        return self._ended_by("Canceled", details=None if details is None else self._payload(details, None, "details"))

    def terminate(self) -> int:
        """ChildWorkflowExecutionTerminated; gives the event id."""
        return self._ended_by("Terminated")

    def time_out(self) -> int:
        """ChildWorkflowExecutionTimedOut; gives the event id."""
        return self._ended_by("TimedOut", timeoutType="START_TO_CLOSE")

    def request_cancel(self) -> BuiltRequest:
        """RequestCancelExternalWorkflowExecutionInitiated, as flowpy cancels a child; gives the request."""
        control, target = fitted(f"{self.identity}.cancel"), {"workflowId": self.id}
        event_id = self._log.decided(
            "RequestCancelExternalWorkflowExecutionInitiated", workflowId=self.id, control=control
        )
        done = "ExternalWorkflowExecutionCancelRequested"
        return BuiltRequest(self._log, self._converter, control, event_id, target=target, done=done)

    def _links(self) -> dict[str, Any]:
        execution = {"workflowId": self.id, "runId": self.run_id}
        return {"workflowExecution": execution, "workflowType": self._type, "initiatedEventId": self.event_id}

    def _ended_by(self, how: str, **attributes: Any) -> int:
        event_type = f"ChildWorkflowExecution{how}"
        self._check_open(event_type)
        started = self._started or self.start()
        return self._ends(event_type, **self._links(), startedEventId=started, **attributes)


class BuiltRequest(Built):
    """A signal to, or a cancel of, another execution; made by ``signal_external`` and ``cancel_external``."""

    kind = "external request"

    def __init__(
        self, log: EventLog, converter: Converter, id: str, event_id: int, *, target: dict[str, str], done: str
    ) -> None:
        super().__init__(log, converter, id, event_id)
        self._target = target
        self._done = done

    def deliver(self) -> int:
        """ExternalWorkflowExecutionSignaled, or …CancelRequested: SWF has passed it on; gives the event id."""
        execution = {"runId": f"run-of-{self._target['workflowId']}", **self._target}
        return self._ends(self._done, workflowExecution=execution, initiatedEventId=self.event_id)

    def fail(self, cause: str = "UNKNOWN_EXTERNAL_WORKFLOW_EXECUTION") -> int:
        """SignalExternalWorkflowExecutionFailed, or RequestCancelExternal…: it was not passed on.

        Args:
            cause: SWF's cause.

        Returns:
            The event id.
        """
        event = self._log.events[self.event_id - 1]
        initiated: str = event["eventType"]
        attributes = event[f"{initiated[0].lower()}{initiated[1:]}EventAttributes"]
        return self._ends(
            f"{initiated.removesuffix('Initiated')}Failed",
            **self._target,
            cause=cause,
            initiatedEventId=self.event_id,
            control=self.id,
            decisionTaskCompletedEventId=attributes["decisionTaskCompletedEventId"],
        )


def failure_of(
    converter: Converter, error: BaseException | None, reason: str | None, details: str | None
) -> dict[str, Any]:
    """The reason and details of a failure: of an exception as flowpy records it, or as they are given."""
    if error is not None:
        made = encode_failure(error, converter)
        return {"reason": reason or made[0], "details": details or made[1]}
    return {"reason": reason, "details": details}
