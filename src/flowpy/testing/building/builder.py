"""``HistoryBuilder``: a history in a few lines of a test."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flowpy.data.context import encode_context
from flowpy.data.converter import DEFAULT, Converter
from flowpy.declare.durations import Duration
from flowpy.declare.durations import seconds as whole_seconds
from flowpy.declare.signals import Signal
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError
from flowpy.history.events import Event
from flowpy.runtime.eviction import PYTHON
from flowpy.testing.building.decisions import WORKFLOW, Decisions, options_of, type_of
from flowpy.testing.building.events import START, EventLog
from flowpy.testing.building.handles import failure_of
from flowpy.testing.given import of_kind

__all__ = ["HistoryBuilder"]


class HistoryBuilder(Decisions):
    """Writes the history of one run, event by event; can be replayed like a run.

    Decisions (``schedule``, ``start_timer``, ``complete`` …) go into the decision task that waits: it is started and
    completed with the first of them, and ends when something else happens. ``decide()`` begins the next one where
    there is no such thing. Ids are those that flowpy gives to calls of the main task (``charge-1``, ``timer-1``);
    others are given as ``id``. Whatever SWF would not have written is refused at the call, with the remedy.

    Args:
        workflow: The declared workflow, or the name of its type.
        *args: Its arguments.
        kwargs: Its keyword arguments.
        version: Version of a type given by name.
        input: The input as recorded, instead of the arguments.
        workflow_id: workflowId of the run; ids of children come from it.
        run_id: Its runId; ids of children, ``random`` and ``uuid4`` come from it.
        start: Time of its first event; default 2025-01-01 12:00 UTC. Time stands still until ``advance``.
        converter: Writes values; default JSON.
        **attributes: Further attributes of WorkflowExecutionStarted in SWF's names, such as ``tagList``.

    Raises:
        HistoryError: An attribute is none that SWF records.
        PayloadError: An argument has no JSON form.

    Example:
        >>> history = HistoryBuilder("order", "o-7")
        >>> charged = history.schedule("charge", "o-7", 4200)
        >>> charged.complete("r-1")
        7
        >>> history.complete("o-7 is paid")
        11
        >>> [event["eventType"] for event in history.history()][-3:]
        ['DecisionTaskStarted', 'DecisionTaskCompleted', 'WorkflowExecutionCompleted']
    """

    def __init__(
        self,
        workflow: Workflow[..., Any] | str,
        *args: Any,
        kwargs: dict[str, Any] | None = None,
        version: str = "1.0",
        input: str | None = None,
        workflow_id: str = "workflow-1",
        run_id: str = "run-1",
        start: datetime = START,
        converter: Converter = DEFAULT,
        **attributes: Any,
    ) -> None:
        of_kind(start, datetime, "HistoryBuilder: start", "give datetime(..., tzinfo=datetime.UTC)")
        if start.tzinfo is None:
            raise DeclarationError(
                "HistoryBuilder: start has no time zone", remedy="give datetime(..., tzinfo=datetime.UTC)"
            )
        self._type = type_of(workflow, version, Workflow)
        started = {**WORKFLOW, **options_of(workflow), "parentInitiatedEventId": 0, **attributes}
        started["workflowType"] = self._type
        log = EventLog(start, started["taskList"]["name"], started["taskStartToCloseTimeout"])
        super().__init__(log, workflow_id, run_id, converter)
        self._policy: str = started["childPolicy"]
        self._workflow, self._started = workflow, started
        text = self._input(workflow, args, kwargs, input)
        log.happens("WorkflowExecutionStarted", **{"input": text, **started})

    def __repr__(self) -> str:
        return f"<HistoryBuilder of {self._type['name']} {self._type['version']}, {len(self.log.events)} events>"

    def history(self) -> list[Event]:
        """The events so far in boto3's form, checked against what holds for every history of SWF.

        Raises:
            HistoryError: SWF cannot have written them.
        """
        return self.log.finished()

    @property
    def event_id(self) -> int:
        """Id of the event written last: for ``up_to`` of a replay."""
        return len(self.log.events)

    # --- time and decision tasks --------------------------------------------------------------

    def advance(self, duration: Duration) -> None:
        """Let time go by before the next event; timers do not fire by themselves.

        Args:
            duration: Seconds, a timedelta or text such as ``"1h"``.
        """
        self.log.advance(whole_seconds(duration, "advance") or 0)

    def begin_decision(self) -> int:
        """DecisionTaskStarted: what comes now comes while the decision is made; gives the event id."""
        return self.log.begin()

    def decide(self, *, state: Any = None, execution_context: str | None = None) -> int:
        """DecisionTaskCompleted: the decisions that follow are made in this decision task.

        Args:
            state: What the workflow has published, recorded as flowpy does.
            execution_context: The executionContext as recorded, instead of ``state``.

        Returns:
            The event id.
        """
        if state is not None and execution_context is None:
            execution_context = encode_context(state, PYTHON, self.converter)
        return self.log.complete(executionContext=execution_context)

    def time_out_decision(self, kind: str = "START_TO_CLOSE") -> int:
        """DecisionTaskTimedOut: the decider was not heard of again; gives the event id.

        Args:
            kind: START_TO_CLOSE, or SCHEDULE_TO_START for one that nobody took.
        """
        return self.log.time_out(kind)

    # --- what comes from outside --------------------------------------------------------------

    def signal(self, signal: Signal[Any] | str, value: Any = None, *, text: str | None = None) -> int:
        """WorkflowExecutionSignaled.

        Args:
            signal: The signal, or its name.
            value: Its value.
            text: Its input as recorded, instead of ``value``.

        Returns:
            The event id.
        """
        name = signal.name if isinstance(signal, Signal) else signal
        given = self.converter.encode(value, f"value of signal {name}") if text is None else text
        return self.log.happens("WorkflowExecutionSignaled", signalName=name, input=given, externalInitiatedEventId=0)

    def request_cancel(self, *, cause: str | None = None) -> int:
        """WorkflowExecutionCancelRequested; gives the event id.

        Args:
            cause: CHILD_POLICY_APPLIED if the parent's end asked for it.
        """
        return self.log.happens("WorkflowExecutionCancelRequested", cause=cause, externalInitiatedEventId=0)

    def terminate(self, reason: str | None = None, *, details: str | None = None, cause: str | None = None) -> int:
        """WorkflowExecutionTerminated; gives the event id."""
        said = {"reason": reason, "details": details, "cause": cause or "OPERATOR_INITIATED"}
        return self.log.happens("WorkflowExecutionTerminated", childPolicy=self._policy, **said)

    def time_out(self) -> int:
        """WorkflowExecutionTimedOut; gives the event id."""
        kind = {"timeoutType": "START_TO_CLOSE", "childPolicy": self._policy}
        return self.log.happens("WorkflowExecutionTimedOut", **kind)

    # --- the close ----------------------------------------------------------------------------

    def complete(self, result: Any = None, *, text: str | None = None, refused: str | None = None) -> int:
        """WorkflowExecutionCompleted, or CompleteWorkflowExecutionFailed.

        Args:
            result: What the workflow returned.
            text: The result as recorded, instead of ``result``.
            refused: The cause with which SWF refuses it: ``UNHANDLED_DECISION`` where a decision task waits.

        Returns:
            The event id.
        """
        given = self.converter.encode(result, "result of the workflow") if text is None else text
        return self._close("CompleteWorkflowExecution", "WorkflowExecutionCompleted", refused, result=given)

    def fail(
        self,
        error: BaseException | None = None,
        *,
        reason: str | None = None,
        details: str | None = None,
        refused: str | None = None,
    ) -> int:
        """WorkflowExecutionFailed, or FailWorkflowExecutionFailed.

        Args:
            error: What the workflow raised, recorded as flowpy does.
            reason: The reason as recorded.
            details: The details as recorded.
            refused: The cause with which SWF refuses it.

        Returns:
            The event id.
        """
        said = failure_of(self.converter, error, reason, details)
        return self._close("FailWorkflowExecution", "WorkflowExecutionFailed", refused, **said)

    def cancel(self, details: Any = None, *, refused: str | None = None) -> int:
        """WorkflowExecutionCanceled, or CancelWorkflowExecutionFailed; gives the event id.

        Args:
            details: What the decision says of it.
            refused: The cause with which SWF refuses it.
        """
        given = None if details is None else self.converter.encode(details, "details of the cancel")
        return self._close("CancelWorkflowExecution", "WorkflowExecutionCanceled", refused, details=given)

    def continue_as_new(
        self,
        *args: Any,
        kwargs: dict[str, Any] | None = None,
        input: str | None = None,
        refused: str | None = None,
        **attributes: Any,
    ) -> int:
        """WorkflowExecutionContinuedAsNew, or ContinueAsNewWorkflowExecutionFailed; gives the event id.

        Args:
            *args: Arguments of the run that follows.
            kwargs: Its keyword arguments.
            input: Its input as recorded, instead of the arguments.
            refused: The cause with which SWF refuses it.
            **attributes: Further attributes in SWF's names, such as ``newExecutionRunId`` or ``tagList``.
        """
        kept = {name: value for name, value in self._started.items() if name in WORKFLOW or name == "tagList"}
        said = {"workflowType": self._type, "newExecutionRunId": f"{self.run_id}-2", **kept, **attributes}
        said["input"] = self._input(self._workflow, args, kwargs, input)
        closing = "ContinueAsNewWorkflowExecution"
        return self._close(closing, "WorkflowExecutionContinuedAsNew", refused, **said)

    def _close(self, decision_type: str, event_type: str, refused: str | None, **attributes: Any) -> int:
        if refused is not None:
            return self.log.decided(f"{decision_type}Failed", cause=refused)
        return self.log.decided(event_type, **attributes)
