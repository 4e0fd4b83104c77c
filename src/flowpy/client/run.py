"""A handle on a workflow execution: what a client can ask of it and tell it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from flowpy.client.description import Description
from flowpy.data import decode_failure
from flowpy.data.sealing import open_context, open_events
from flowpy.declare.durations import Duration, seconds
from flowpy.declare.keywords import ChildPolicy
from flowpy.declare.signals import Signal
from flowpy.declare.workflow import Workflow
from flowpy.errors import (
    CallError,
    DeclarationError,
    ExecutionError,
    PayloadUnavailable,
    ResultNotReady,
    ServiceUnavailable,
    Throttled,
    UnknownResource,
    WorkflowCanceled,
    WorkflowFailed,
    WorkflowTerminated,
    WorkflowTimedOut,
)
from flowpy.service.paging import history
from flowpy.service.retrying import Backoff

if TYPE_CHECKING:
    from flowpy.client.client import Client

__all__ = ["Run"]

R = TypeVar("R")

_POLLING: Final = Backoff(initial=0.1, maximum=10.0, factor=1.5)
_CLOSING: Final[dict[str, tuple[str, type[ExecutionError] | None]]] = {
    "WorkflowExecutionCompleted": ("completed", None),
    "WorkflowExecutionContinuedAsNew": ("continued as new", None),
    "WorkflowExecutionFailed": ("failed", WorkflowFailed),
    "WorkflowExecutionCanceled": ("was canceled", WorkflowCanceled),
    "WorkflowExecutionTerminated": ("was terminated", WorkflowTerminated),
    "WorkflowExecutionTimedOut": ("timed out", WorkflowTimedOut),
}


class Run(Generic[R]):
    """A workflow execution, made by ``Client.start`` or ``Client.run``.

    Args:
        client: The client.
        workflow_id: Its workflowId.
        run_id: Its runId; None: whichever run of that id is open, else the one that closed last.
        workflow: The declared workflow, for the type of the result and for queries.
    """

    def __init__(
        self, client: Client, workflow_id: str, run_id: str | None, workflow: Workflow[..., R] | None = None
    ) -> None:
        self._client = client
        self._workflow = workflow
        self.workflow_id = workflow_id
        self.run_id = run_id

    def __repr__(self) -> str:
        return f"<Run {self.workflow_id!r} {self.run_id or 'latest'} in domain {self._client.domain!r}>"

    def signal(self, signal: Signal[Any] | str, value: Any = None) -> None:
        """Send a signal (SignalWorkflowExecution); it reaches the current run if this one was continued as new.

        Args:
            signal: A declared signal or a name.
            value: Its value; None sends JSON null.

        Raises:
            UnknownResource: The run is not open.
            PayloadError: The value cannot be encoded, or is too large.
            DeclarationError: It is neither a signal nor a name.
        """
        if not isinstance(signal, str | Signal):
            raise DeclarationError(f"signal: {signal!r} is neither a Signal nor the name of one")
        name = signal if isinstance(signal, str) else signal.name
        text = self._client.encode(value, f"value of signal {name!r}")
        self._address("SignalWorkflowExecution", {"signalName": name, "input": text})

    def cancel(self) -> None:
        """Ask the run to stop (RequestCancelWorkflowExecution): its code gets ``CancelledError``, and decides.

        Raises:
            UnknownResource: The run is not open.
        """
        self._address("RequestCancelWorkflowExecution", {})

    def terminate(self, reason: str = "", details: Any = None, child_policy: ChildPolicy | None = None) -> None:
        """End the run at once (TerminateWorkflowExecution); its code is not asked.

        Args:
            reason: At most 256 characters.
            details: Any value the converter can encode.
            child_policy: What becomes of its children; default the policy it was started with.

        Raises:
            UnknownResource: The run is not open.
        """
        request: dict[str, Any] = {"reason": reason} if reason else {}
        if details is not None:
            request["details"] = self._client.encode(details, "details of the termination")
        if child_policy is not None:
            request["childPolicy"] = child_policy
        self._address("TerminateWorkflowExecution", request)

    def describe(self) -> Description:
        """What SWF knows about the run.

        A ``state`` that is encrypted, and whose key is not here, is given as it is recorded.

        Raises:
            UnknownResource: There is no such run.
        """
        execution = {"workflowId": self.workflow_id, "runId": self._known_run_id()}
        request = {"domain": self._client.domain, "execution": execution}
        reply = self._client.call("DescribeWorkflowExecution", request)
        with suppress(PayloadUnavailable):  # all else can be told without the key to the state
            context = open_context(reply.get("latestExecutionContext"), self._client.converter.payloads)
            reply = {**reply, "latestExecutionContext": context}
        return Description.of(reply["executionInfo"], reply)

    def history(self) -> list[dict[str, Any]]:
        """All events of the run, oldest first, as boto3 gives them: payloads as they are recorded.

        Raises:
            UnknownResource: There is no such run.
        """
        return list(history(self._client, self._client.domain, self.workflow_id, self._known_run_id()))

    def result(self, timeout: Duration | None = None) -> R:
        """Wait for the end and give the result, following runs that continue as new.

        Args:
            timeout: Longest wait: seconds, a timedelta or text such as ``"1h"``; default for ever. 0 looks once.

        Returns:
            The result, decoded as the workflow's return type.

        Raises:
            WorkflowFailed, WorkflowCanceled, WorkflowTerminated, WorkflowTimedOut: It ended otherwise.
            PayloadUnavailable: How it ended is encoded or kept elsewhere, and cannot be had here.
            ResultNotReady: It is still open after ``timeout``; it goes on.
            UnknownResource: There is no such run.
        """
        event, run_id = self._closed(timeout)
        return self._outcome(event, run_id)

    def last(self, timeout: Duration | None = None) -> Run[R]:
        """Wait for the end as ``result`` does, and give the run that came to it: another one after continue-as-new.

        Args:
            timeout: Longest wait, as ``result`` takes it.

        Returns:
            A handle on that run, which is closed.

        Raises:
            ResultNotReady: It is still open after ``timeout``; it goes on.
            UnknownResource: There is no such run.
        """
        _, run_id = self._closed(timeout)
        return Run(self._client, self.workflow_id, run_id, self._workflow)

    def _closed(self, timeout: Duration | None) -> tuple[dict[str, Any], str]:
        """Wait for the event that ends the last run, whose runId comes with it."""
        limit = None if timeout is None else seconds(timeout, "timeout")
        deadline = None if limit is None else self._client.clock() + limit
        delays, run_id = _POLLING.delays(), self._known_run_id()
        while True:
            event = self._close_event(run_id)
            following = _successor(event)
            if following is not None:
                run_id = following
            elif event is not None:
                return event, run_id
            else:
                wait = delays.next()
                left = wait if deadline is None else deadline - self._client.clock()
                if left <= 0:
                    message = f"workflow {self.workflow_id!r} run {run_id!r} is still open after {limit} s"
                    raise ResultNotReady(message, workflow_id=self.workflow_id, run_id=run_id)
                self._client.sleep(min(wait, left))

    def query(self, name: str, *args: Any) -> Any:
        """Call a ``@query`` method on the run as it is now, by replaying its history in this process.

        Args:
            name: The query's name.
            *args: Its arguments.

        Returns:
            What the method returns.

        Raises:
            CallError: The handle does not know the workflow's code.
            NonDeterminismError: The code here does not match the history.
        """
        if self._workflow is None:
            remedy = f"client.run({self.workflow_id!r}, workflow=<the declared workflow>)"
            raise CallError(
                f"query {name!r} replays the workflow's code, which this handle does not know", remedy=remedy
            )
        from flowpy.runtime.querying import query

        run_id = self._known_run_id()
        converter = self._client.converter
        return query(self._workflow, self.history(), self.workflow_id, run_id, name, args, converter=converter)

    def _known_run_id(self) -> str:
        if self.run_id is not None:
            return self.run_id
        for run in self._runs():
            return run.run_id
        raise self._unknown()

    def _runs(self) -> Iterator[Description]:
        yield from self._client.list_open(workflow_id=self.workflow_id)
        yield from self._client.list_closed(workflow_id=self.workflow_id)

    def _unknown(self) -> UnknownResource:
        message = f"no run of workflow {self.workflow_id!r} is known in domain {self._client.domain!r}"
        return UnknownResource(message, fault="UnknownResourceFault")

    def _address(self, operation: str, request: dict[str, Any]) -> None:
        request = {"domain": self._client.domain, "workflowId": self.workflow_id, **request}
        if self.run_id is None:
            self._client.call_unsent(operation, request)
            return
        try:
            self._client.call_unsent(operation, {**request, "runId": self.run_id})
        except UnknownResource:
            current = self._current_run_id(self.run_id)
            if current == self.run_id:
                raise
            self._client.call_unsent(operation, {**request, "runId": current})

    def _current_run_id(self, run_id: str) -> str:
        try:
            while following := _successor(self._close_event(run_id)):
                run_id = following
        except UnknownResource:
            pass
        return run_id

    def _close_event(self, run_id: str) -> dict[str, Any] | None:
        """The last event if it closes the run; reading it backwards costs one small call."""
        execution = {"workflowId": self.workflow_id, "runId": run_id}
        request = {"domain": self._client.domain, "execution": execution, "reverseOrder": True, "maximumPageSize": 1}
        try:
            events = self._client.call("GetWorkflowExecutionHistory", request).get("events") or ()
        except (Throttled, ServiceUnavailable):
            return None
        return next((event for event in events if event["eventType"] in _CLOSING), None)

    def _outcome(self, event: dict[str, Any], run_id: str) -> R:
        (event,) = open_events((event,), self._client.converter.payloads)
        type_ = event["eventType"]
        told = event.get(type_[0].lower() + type_[1:] + "EventAttributes", {})
        verb, error = _CLOSING[type_]
        if error is None:
            value: R = self._client.decode(told.get("result"), self._workflow)
            return value
        reason, details = told.get("reason") or "", told.get("details")
        said = reason or told.get("cause") or told.get("timeoutType") or ""
        raise error(
            f"workflow {self.workflow_id!r} run {run_id!r} {verb}" + (f": {said}" if said else ""),
            workflow_id=self.workflow_id,
            run_id=run_id,
            reason=reason,
            details=details,
            failure=decode_failure(reason, details) if error is WorkflowFailed else None,
        )


def _successor(event: dict[str, Any] | None) -> str | None:
    if event is None or event["eventType"] != "WorkflowExecutionContinuedAsNew":
        return None
    run_id: str = event["workflowExecutionContinuedAsNewEventAttributes"]["newExecutionRunId"]
    return run_id
