"""Calls of child workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.data.arguments import check_arguments, encode_arguments
from flowpy.data.reading import decode_failure
from flowpy.errors import (
    ChildCanceled,
    ChildError,
    ChildFailed,
    ChildStartFailed,
    ChildTerminated,
    ChildTimedOut,
    PayloadNotDecodable,
    WorkCanceled,
)
from flowpy.replay.entities import CREATED, ChildWorkflow
from flowpy.runtime.ids import CHILD, child_workflow_id, fitted
from flowpy.runtime.promise import Future, RunChildPromise
from flowpy.runtime.sites import call_site
from flowpy.runtime.values import promises_in, replaced, when_ready

if TYPE_CHECKING:
    from flowpy.declare.workflow import Workflow
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]


def call_workflow(run: Run, workflow: Workflow[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Start a child workflow, now or when the promises among its arguments are ready."""
    task = run.task_here(f"workflow {workflow.name}")
    identity = f"{task.path}{workflow.name}-{task.take(CHILD + workflow.name)}"
    workflow_id = workflow.settings.workflow_id
    if workflow_id is None:
        workflow_id = child_workflow_id(run.info.workflow_id, run.info.run_id, identity)
    call = ChildCall(run, workflow, workflow_id, identity)
    call.shielded = task.shielded
    waiting = promises_in((*args, *kwargs.values()))
    if waiting:
        workflow.signature.bind(args, kwargs)
        when_ready(waiting, lambda failed: call.ready(failed, args, kwargs))
    else:
        call.start(args, kwargs)
    run.open_calls[call.promise._number] = call
    return call.promise


class ChildCall:
    """One child workflow and its promise."""

    detached = False
    shielded = False

    def __init__(self, run: Run, workflow: Workflow[..., Any], workflow_id: str, identity: str) -> None:
        self.run = run
        self.workflow = workflow
        self.identity = identity
        self.site = call_site(4)
        self.child: ChildWorkflow | None = None
        self.run_id = ""
        self.stopping = False
        self.promise: RunChildPromise[Any] = RunChildPromise(run.loop, workflow_id)
        self.promise._work = self

    @property
    def workflow_id(self) -> str:
        """The child's workflowId."""
        return self.promise.workflow_id

    # --- going out --------------------------------------------------------------------------

    def ready(self, failed: Future[Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The promises among the arguments are there, or one of them never will be."""
        if self.promise.done():
            return
        if failed is not None:
            error = failed._make_cancelled_error() if failed.cancelled() else failed._error
            self._finish(error, cancelled=failed.cancelled())
            return
        try:
            self.start(replaced(args), replaced(kwargs))
        except Exception as error:
            self._finish(error)

    def start(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Make the decision."""
        workflow = self.workflow
        text = encode_arguments(workflow.signature, args, kwargs, self.run.converter)
        check_arguments(text, workflow.signature, self.run.converter, f"input of child workflow {self.workflow_id}")
        child = ChildWorkflow(
            self.workflow_id,
            workflow.name,
            workflow.version,
            text,
            workflow.overrides,
            self,
            self.site,
        )
        child.cancel_control = fitted(f"{self.identity}.cancel")
        self.run.execution.make(child)
        self.child = child

    # --- coming back ------------------------------------------------------------------------

    def started_running(self, run_id: str, _event: Event) -> None:
        """ChildWorkflowExecutionStarted."""
        self.run_id = run_id
        if not self.promise._started.done():
            self.promise._started.set_result(run_id)

    def completed(self, attributes: Attributes, event: Event) -> None:
        """ChildWorkflowExecutionCompleted."""
        self.run.open_calls.pop(self.promise._number, None)
        if self.promise.done():
            return
        try:
            value = self.run.converter.decode(attributes.get("result"), self.workflow.signature.return_type)
        except PayloadNotDecodable as error:
            what = f"result of child workflow {self.workflow.name} ({self.workflow_id}), event {event['eventId']}"
            self.promise.set_exception(PayloadNotDecodable(f"{what}: {error}"))
        else:
            self.promise.set_result(value)

    def failed(self, attributes: Attributes, event: Event) -> None:
        """ChildWorkflowExecutionFailed."""
        reason, details = attributes.get("reason") or "", attributes.get("details")
        failure = decode_failure(reason, details)
        said = reason or failure.message or "no reason given"
        self._error(ChildFailed, f"failed: {said}", event, attributes, reason=reason, details=details, failure=failure)

    def timed_out(self, attributes: Attributes, event: Event) -> None:
        """ChildWorkflowExecutionTimedOut."""
        kind = attributes["timeoutType"]
        self._error(ChildTimedOut, f"timed out: {kind}", event, attributes, timeout_type=kind)

    def terminated(self, attributes: Attributes, event: Event) -> None:
        """ChildWorkflowExecutionTerminated."""
        self._error(ChildTerminated, "was terminated", event, attributes)

    def canceled(self, attributes: Attributes, event: Event) -> None:
        """ChildWorkflowExecutionCanceled."""
        details = attributes.get("details")
        if self.stopping:
            said = f"child workflow {self.workflow.name} ({self.workflow_id}) was cancelled"
            read = self.run.lenient(details)
            error = WorkCanceled(said, details=read, id=self.workflow_id, event_id=event["eventId"])
            self._finish(error, cancelled=True)
        else:
            self._error(
                ChildCanceled, "was cancelled, although this run did not ask for it", event, attributes, details=details
            )

    def refused(self, attributes: Attributes, event: Event) -> None:
        """StartChildWorkflowExecutionFailed, at once or after the start was initiated."""
        cause = attributes["cause"]
        name = f"{self.workflow.name} {self.workflow.version}"
        remedy = "; give another workflow_id or wait for its end" if cause == "WORKFLOW_ALREADY_RUNNING" else ""
        error = ChildStartFailed(
            f"SWF did not start child workflow {name} ({self.workflow_id}): {cause}{remedy}",
            cause=cause,
            id=self.workflow_id,
            event_id=event["eventId"],
        )
        self._finish(error)

    def _error(self, kind: type[ChildError], said: str, event: Event, attributes: Attributes, **more: Any) -> None:
        error = kind(
            f"child workflow {self.workflow.name} ({self.workflow_id}) {said}",
            id=self.workflow_id,
            name=self.workflow.name,
            run_id=attributes.get("workflowExecution", {}).get("runId", self.run_id),
            event_id=event["eventId"],
            scheduled_event_id=attributes.get("initiatedEventId"),
            **more,
        )
        self._finish(error)

    # --- ending -----------------------------------------------------------------------------

    def cancel(self) -> bool:
        """Cancel as ``on_cancel`` says; returns whether the promise is cancelled at once."""
        run, child, mode = self.run, self.child, self.workflow.on_cancel
        if self.stopping:
            return False
        if child is None or child.state == CREATED or mode == "abandon":
            if child is not None:
                run.execution.unmake(child)
            run.open_calls.pop(self.promise._number, None)
            self.promise._started.set_cancelled()
            return True
        self.stopping = True
        run.execution.cancel_child(child, call_site())
        return mode == "try"

    def detach(self) -> None:
        """Let the run close without waiting for the child."""
        self.detached = True
        self.run.open_calls.pop(self.promise._number, None)

    def _finish(self, error: BaseException, *, cancelled: bool = False) -> None:
        self.run.open_calls.pop(self.promise._number, None)
        for promise in (self.promise._started, self.promise):
            if promise.done():
                continue
            if cancelled:
                promise.set_cancelled(error=error)  # type: ignore[arg-type]
            else:
                promise.set_exception(error)
