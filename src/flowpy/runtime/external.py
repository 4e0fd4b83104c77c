"""Other executions: ``flowpy.external(workflow_id).signal(…)`` and ``.cancel()``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.data.limits import DATA
from flowpy.declare.names import check_id
from flowpy.declare.promise import Promise
from flowpy.declare.signals import Signal
from flowpy.errors import ExternalCancelFailed, ExternalSignalFailed
from flowpy.replay.entities import ExternalCancel, ExternalRequest, ExternalSignal
from flowpy.runtime.ids import CANCEL, SIGNAL, fitted
from flowpy.runtime.promise import Future, RunPromise
from flowpy.runtime.running import current_run
from flowpy.runtime.sites import call_site
from flowpy.runtime.values import promises_in, replaced, when_ready

if TYPE_CHECKING:
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]


class External:
    """An execution that is not a child of this run; made by ``flowpy.external``."""

    def __init__(self, workflow_id: str, run_id: str | None = None) -> None:
        self.workflow_id = check_id(workflow_id, "workflow_id")
        self.run_id = run_id

    def signal(self, signal: Signal[Any] | str, value: Any = None) -> Promise[None]:
        """Send a signal (decision SignalExternalWorkflowExecution).

        Args:
            signal: The Signal, or its name.
            value: Its value; promises in it are waited for first; None is no input.

        Returns:
            Ready when SWF has passed the signal on; fails with ExternalSignalFailed if it could not. The run may
            close before: a request is sent, but not waited for.

        Raises:
            OutsideWorkflow: No workflow code is executing here.
            PayloadError: The value has no JSON form or is over 32,768 characters of it.
        """
        run = current_run("flowpy.external(...).signal", "use client.run(workflow_id).signal(...)")
        task = run.task_here("flowpy.external(...).signal")
        control = fitted(f"{task.path}signal-{task.take(SIGNAL)}")
        name = signal.name if isinstance(signal, Signal) else signal
        call = ExternalCall(run, ExternalSignal(control, name, self.workflow_id, attributes=self._attributes()))
        waiting = promises_in((value,))
        if waiting:
            when_ready(waiting, lambda failed: call.ready(failed, value))
        else:
            call.send(value)
        return call.promise

    def cancel(self) -> Promise[None]:
        """Ask the execution to cancel itself (decision RequestCancelExternalWorkflowExecution).

        Returns:
            Ready when SWF has passed the request on, which says nothing about whether the other run stops; fails with
            ExternalCancelFailed if it could not.

        Raises:
            OutsideWorkflow: No workflow code is executing here.
        """
        run = current_run("flowpy.external(...).cancel", "use client.run(workflow_id).cancel()")
        task = run.task_here("flowpy.external(...).cancel")
        control = fitted(f"{task.path}cancel-{task.take(CANCEL)}")
        call = ExternalCall(run, ExternalCancel(control, version=self.workflow_id, attributes=self._attributes()))
        call.make()
        return call.promise

    def _attributes(self) -> dict[str, Any] | None:
        return {"runId": self.run_id} if self.run_id else None


def external(workflow_id: str, run_id: str | None = None) -> External:
    """Another execution in this domain, to signal or to cancel it.

    Args:
        workflow_id: Its workflowId.
        run_id: Its runId; default the run that is open.

    Raises:
        DeclarationError: The workflow_id is none that SWF takes.
    """
    return External(workflow_id, run_id)


class ExternalCall:
    """A request to another execution and its promise. The run's close does not wait for it."""

    def __init__(self, run: Run, request: ExternalRequest) -> None:
        self.run = run
        self.request = request
        self.promise: RunPromise[None] = RunPromise.of(run.loop, self)
        request.listener = self
        request.site = call_site()

    def ready(self, failed: Future[Any] | None, value: Any) -> None:
        """The promises in the value are there, or one of them never will be."""
        if self.promise.done():
            return
        if failed is None:
            try:
                self.send(replaced(value))
            except Exception as error:
                self.promise.set_exception(error)
        elif failed.cancelled():
            self.promise.set_cancelled(error=failed._make_cancelled_error())
        else:
            self.promise.set_exception(failed._error)

    def send(self, value: Any) -> None:
        """Encode the value and make the decision; no value is no input."""
        if value is not None:
            what = f"value of signal {self.request.name}"
            self.request.input = self.run.converter.encode_within(value, DATA, what)
        self.make()

    def make(self) -> None:
        """Make the decision."""
        self.run.execution.make(self.request)

    def passed_on(self, _attributes: Attributes, _event: Event) -> None:
        """ExternalWorkflowExecutionSignaled or ExternalWorkflowExecutionCancelRequested."""
        if not self.promise.done():
            self.promise.set_result(None)

    def refused(self, attributes: Attributes, event: Event) -> None:
        """SignalExternalWorkflowExecutionFailed or RequestCancelExternalWorkflowExecutionFailed."""
        if self.promise.done():
            return
        kind = ExternalSignalFailed if isinstance(self.request, ExternalSignal) else ExternalCancelFailed
        cause, target = attributes["cause"], self.request.workflow_id
        what = "signal" if kind is ExternalSignalFailed else "cancel request"
        message = f"the {what} to execution {target} ({self.request.id}) did not arrive: {cause}"
        self.promise.set_exception(kind(message, cause=cause, id=self.request.id, event_id=event["eventId"]))

    def cancel(self) -> bool:
        """Drop the request if it was not sent; a sent one cannot be called back."""
        self.run.execution.unmake(self.request)
        return True

    def detach(self) -> None:
        """Nothing: the close does not wait for it."""
