"""Every error flowpy raises, as one tree.

One module because the tree is one: who catches by class, alerts by code or reads the drawing finds it in one place. It
is long for its docstrings; there is no logic in it.

::

    FlowpyError
    ├── DeclarationError (TypeError)             a bad @activity, @workflow, Signal, Retry or option
    │   └── DurationError (ValueError)           a duration SWF would refuse
    ├── ConfigurationError (ValueError)          a setting of a worker process that is unknown or wrong
    ├── CallError (RuntimeError)                 a call that cannot be made here
    │   ├── OutsideWorkflow                      an activity or workflow called outside workflow code
    │   ├── NotInTask                            a call that needs an id where no task runs
    │   ├── DuplicateId (ValueError)             an id that is open already in this run
    │   ├── NotDeterministic                     threads, sockets, subprocesses ... in workflow code
    │   ├── ReadOnly                             a query tried to decide
    │   ├── AwaitNeeded                          .result() of an unfinished promise in async code
    │   └── NotStubbed (LookupError)             a test calls what only a stub can answer
    ├── PayloadError (ValueError)                data that does not fit JSON, a type or a limit
    │   ├── PayloadTooLarge
    │   ├── PayloadNotEncodable (TypeError)
    │   ├── PayloadNotDecodable
    │   └── PayloadUnavailable (RuntimeError)    encoded or kept elsewhere, and out of reach: the run is held
    │       ├── PayloadCodecUnknown (LookupError)  PayloadKeyUnknown (LookupError)  PayloadCorrupt
    │       └── PayloadMissing (LookupError)  PayloadStoreUnavailable (ConnectionError)
    ├── HistoryError (ValueError)                a history that cannot be read
    ├── RunHeld (RuntimeError)                   the run waits for the right code, nothing is lost
    │   ├── NonDeterminismError                  the code does not match the history
    │   ├── UnknownWorkflowType (LookupError)    no workflow of that name and version here
    │   └── WorkflowBlocked                      the code never let go of the decision task
    ├── ApplicationError                         raised by users: a failure with a type and data of its own
    ├── ActivityProcessDied (ChildProcessError)  the process that ran an activity was killed or crashed
    ├── DecisionFailed                           the service refused a decision; see .cause
    │   ├── ActivityScheduleFailed  ActivityCancelFailed
    │   ├── TimerStartFailed        TimerCancelFailed
    │   ├── ChildStartFailed        ContinueAsNewFailed
    │   ├── ExternalSignalFailed    ExternalCancelFailed
    │   ├── LambdaScheduleFailed    LambdaStartFailed
    │   └── MarkerFailed
    ├── WorkError                                work that was scheduled and did not end well
    │   ├── ActivityError
    │   │   ├── ActivityFailed  ActivityCanceled  ActivityTimedOut (TimeoutError)
    │   ├── ChildError
    │   │   ├── ChildFailed  ChildCanceled  ChildTerminated  ChildTimedOut (TimeoutError)
    │   ├── LambdaError
    │   │   ├── LambdaFailed  LambdaTimedOut (TimeoutError)
    │   └── SideEffectFailed                     a recorded failure of flowpy.side_effect
    ├── ExecutionError                           what Run.result() raises for a run that did not complete
    │   ├── WorkflowFailed  WorkflowCanceled  WorkflowTerminated  WorkflowTimedOut (TimeoutError)
    │   └── ResultNotReady (TimeoutError)
    │       └── RunBlocked                       in a test: nothing can happen any more
    └── ServiceError                             an answer of SWF, or none
        ├── UnknownResource (LookupError)  AlreadyExists  TypeDeprecated  DefaultUndefined
        ├── Throttled  InvalidRequest (ValueError)  AccessDenied (PermissionError)
        └── ServiceUnavailable (ConnectionError)

    asyncio.CancelledError
    └── WorkCanceled                             the acknowledgement of a cancel, with its details

    BaseException                                control flow, never caught by ``except Exception``
    ├── ContinueAsNew                            raised by flowpy.continue_as_new
    └── ActivityCancelRequested                  raised in activity code that was asked to stop

Each class has a ``code`` that never changes, to search for and to alert on. Each error says what happened (``what``)
and, where there is something to do about it, what (``remedy``); its text is both.
"""

from __future__ import annotations

from asyncio.exceptions import CancelledError
from typing import Any, ClassVar

__all__ = [
    "AccessDenied",
    "ActivityCancelFailed",
    "ActivityCancelRequested",
    "ActivityCanceled",
    "ActivityError",
    "ActivityFailed",
    "ActivityProcessDied",
    "ActivityScheduleFailed",
    "ActivityTimedOut",
    "AlreadyExists",
    "ApplicationError",
    "AwaitNeeded",
    "CallError",
    "ChildCanceled",
    "ChildError",
    "ChildFailed",
    "ChildStartFailed",
    "ChildTerminated",
    "ChildTimedOut",
    "ConfigurationError",
    "ContinueAsNew",
    "ContinueAsNewFailed",
    "DecisionFailed",
    "DeclarationError",
    "DefaultUndefined",
    "DuplicateId",
    "DurationError",
    "ExecutionError",
    "ExternalCancelFailed",
    "ExternalSignalFailed",
    "FlowpyError",
    "HistoryError",
    "InvalidRequest",
    "LambdaError",
    "LambdaFailed",
    "LambdaScheduleFailed",
    "LambdaStartFailed",
    "LambdaTimedOut",
    "MarkerFailed",
    "NonDeterminismError",
    "NotDeterministic",
    "NotInTask",
    "NotStubbed",
    "OutsideWorkflow",
    "PayloadCodecUnknown",
    "PayloadCorrupt",
    "PayloadError",
    "PayloadKeyUnknown",
    "PayloadMissing",
    "PayloadNotDecodable",
    "PayloadNotEncodable",
    "PayloadStoreUnavailable",
    "PayloadTooLarge",
    "PayloadUnavailable",
    "ReadOnly",
    "ResultNotReady",
    "RunBlocked",
    "RunHeld",
    "ServiceError",
    "ServiceUnavailable",
    "SideEffectFailed",
    "Throttled",
    "TimerCancelFailed",
    "TimerStartFailed",
    "TypeDeprecated",
    "UnknownResource",
    "UnknownWorkflowType",
    "WorkCanceled",
    "WorkError",
    "WorkflowBlocked",
    "WorkflowCanceled",
    "WorkflowFailed",
    "WorkflowTerminated",
    "WorkflowTimedOut",
]


class FlowpyError(Exception):
    """The root of all errors of flowpy.

    Args:
        message: What happened, where and why.
        remedy: What to do about it; the text of the error ends with it.

    Attributes:
        remedy: The same, "" if there is none to tell.
    """

    code: ClassVar[str] = "FLOWPY"
    remedy: str = ""

    def __init__(self, message: str = "", *, remedy: str = "") -> None:
        if remedy:
            message = f"{message}{_before_remedy(message)}{remedy}"
            self.remedy = remedy
        super().__init__(message)

    @property
    def what(self) -> str:
        """The text of the error without the remedy."""
        text = str(self)
        return text.removesuffix(self.remedy).rstrip("; \n") if self.remedy else text


def _before_remedy(message: str) -> str:
    if "\n" in message:
        return "\n"
    return " " if message.endswith((".", "?")) else "; "


# --- declarations ---------------------------------------------------------------------------


class DeclarationError(FlowpyError, TypeError):
    """A declaration that can never work; raised at import, with the fix in the message."""

    code = "FLOWPY-D1"


class DurationError(DeclarationError, ValueError):
    """A duration that is negative, unreadable, over a year or of more than seven digits."""

    code = "FLOWPY-D2"


class ConfigurationError(FlowpyError, ValueError):
    """A setting of a worker process is unknown or wrong: in a file, the environment or the options of a command."""

    code = "FLOWPY-D3"


# --- calls in workflow code -----------------------------------------------------------------


class CallError(FlowpyError, RuntimeError):
    """A call that cannot be made where it was made."""

    code = "FLOWPY-C0"


class OutsideWorkflow(CallError):
    """An activity, workflow or other workflow call was made outside workflow code."""

    code = "FLOWPY-C1"


class NotInTask(CallError):
    """A call that needs an id was made where no task runs: a callback or a finalizer."""

    code = "FLOWPY-C2"


class DuplicateId(CallError, ValueError):
    """Two open activities, timers or children of one run would share an id; nothing is sent."""

    code = "FLOWPY-C3"


class NotDeterministic(CallError):
    """Workflow code asked for something that cannot be replayed; the message names the replacement.

    Attributes:
        rule: Id of the rule it breaks, such as ``FLOW101`` (``flowpy.rules``); "" if the run's loop refused the call.
        call: What was called, such as ``time.time``.
        file: File of the line of workflow code, "" if unknown.
        line: Its number.
        function: The function it stands in.
        replacement: What to write instead.
    """

    code = "FLOWPY-C4"

    def __init__(
        self,
        message: str,
        *,
        rule: str = "",
        call: str = "",
        file: str = "",
        line: int = 0,
        function: str = "",
        replacement: str = "",
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.call = call
        self.file = file
        self.line = line
        self.function = function
        self.replacement = replacement


class ReadOnly(CallError):
    """A query, or code of a run that has left memory, tried to decide, await or record."""

    code = "FLOWPY-C5"


class AwaitNeeded(CallError):
    """``.result()`` of an unfinished promise was read in ``async`` code: await the promise."""

    code = "FLOWPY-C6"


class NotStubbed(CallError, LookupError):
    """A test's workflow called what cannot run here: an external or manual activity or a Lambda function, no stub."""

    code = "FLOWPY-C7"


# --- payloads -------------------------------------------------------------------------------


class PayloadError(FlowpyError, ValueError):
    """Data that cannot be written to, or read from, a history."""

    code = "FLOWPY-P0"


class PayloadTooLarge(PayloadError):
    """A value is longer than SWF takes (32,768 characters; heartbeat details 2,048)."""

    code = "FLOWPY-P1"


class PayloadNotEncodable(PayloadError, TypeError):
    """A value has no JSON form."""

    code = "FLOWPY-P2"


class PayloadNotDecodable(PayloadError):
    """A recorded value does not fit the type it is read as."""

    code = "FLOWPY-P3"


class PayloadUnavailable(PayloadError, RuntimeError):
    """A payload that is encoded or kept in a store, and cannot be opened (or kept) by this process now.

    Nothing is lost: a run that needs it is held, an activity's task is given back and scheduled again.
    """

    code = "FLOWPY-P4"


class PayloadCodecUnknown(PayloadUnavailable, LookupError):
    """A payload was encoded by a codec that this process has not."""

    code = "FLOWPY-P5"


class PayloadKeyUnknown(PayloadUnavailable, LookupError):
    """A payload is encrypted with a key that this process has not.

    Attributes:
        key_id: Id of the key.
    """

    code = "FLOWPY-P6"

    def __init__(self, message: str, *, key_id: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.key_id = key_id


class PayloadCorrupt(PayloadUnavailable):
    """A payload is not what was written: its checksum or its authentication is wrong, or it exceeds a bound."""

    code = "FLOWPY-P7"


class PayloadMissing(PayloadUnavailable, LookupError):
    """A payload's object is not in its store.

    Attributes:
        uri: Where it should be.
    """

    code = "FLOWPY-P8"

    def __init__(self, message: str, *, uri: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.uri = uri


class PayloadStoreUnavailable(PayloadUnavailable, ConnectionError):
    """A store is not configured here, cannot be reached, or refuses."""

    code = "FLOWPY-P9"


# --- histories and replay -------------------------------------------------------------------


class HistoryError(FlowpyError, ValueError):
    """A history that is malformed, truncated or contradicts itself; names the event.

    Attributes:
        event_id: Id of the event that does not fit, or None.
    """

    code = "FLOWPY-H1"

    def __init__(self, message: str, *, event_id: int | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.event_id = event_id


class RunHeld(FlowpyError, RuntimeError):
    """The run cannot be decided by this worker now: it is held, not failed, and nothing is sent."""

    code = "FLOWPY-R0"


class NonDeterminismError(RunHeld):
    """The code here does not make the decisions that the history records: it is held, and the message is a report.

    Attributes:
        divergence: The report as data (``flowpy.replay.divergence.Divergence``).
    """

    code = "FLOWPY-R1"

    def __init__(self, message: str, *, divergence: Any = None) -> None:
        super().__init__(message)
        self.divergence = divergence


class UnknownWorkflowType(RunHeld, LookupError):
    """No workflow of this name and version is known to this worker."""

    code = "FLOWPY-R2"


class WorkflowBlocked(RunHeld):
    """Workflow code did not block within the bound on loop turns of one event: it spins."""

    code = "FLOWPY-R3"


# --- failures that users raise --------------------------------------------------------------


class ApplicationError(FlowpyError):
    """A failure of the application itself, with data for whoever handles it.

    Args:
        message: What happened.
        type: Name by which the other side knows this failure; default ``ApplicationError``.
        data: Anything the converter can encode; arrives as ``failure.data``.
    """

    code = "FLOWPY-A1"

    def __init__(self, message: str = "", *, type: str | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.type = type
        self.data = data


class ActivityProcessDied(FlowpyError, ChildProcessError):
    """The process of an ``@activity(executor="process")`` was killed or crashed; only this task fails by it.

    Workflow code gets ``ActivityFailed`` with this type; ``Retry(retry_on=…)`` and ``never_on`` know it.
    """

    code = "FLOWPY-A2"


# --- decisions the service refused ----------------------------------------------------------


class DecisionFailed(FlowpyError):
    """SWF recorded a ``…Failed`` event for a decision of this run.

    Attributes:
        cause: SWF's cause, such as ``ACTIVITY_TYPE_DOES_NOT_EXIST``.
        id: The id the decision carried.
        event_id: The event that says so.
    """

    code = "FLOWPY-S0"

    def __init__(self, message: str, *, cause: str, id: str = "", event_id: int | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.id = id
        self.event_id = event_id


class ActivityScheduleFailed(DecisionFailed):
    """ScheduleActivityTaskFailed."""

    code = "FLOWPY-S1"


class ActivityCancelFailed(DecisionFailed):
    """RequestCancelActivityTaskFailed."""

    code = "FLOWPY-S2"


class TimerStartFailed(DecisionFailed):
    """StartTimerFailed."""

    code = "FLOWPY-S3"


class TimerCancelFailed(DecisionFailed):
    """CancelTimerFailed."""

    code = "FLOWPY-S4"


class ChildStartFailed(DecisionFailed):
    """StartChildWorkflowExecutionFailed."""

    code = "FLOWPY-S5"


class ContinueAsNewFailed(DecisionFailed):
    """ContinueAsNewWorkflowExecutionFailed for a cause other than UNHANDLED_DECISION."""

    code = "FLOWPY-S6"


class ExternalSignalFailed(DecisionFailed):
    """SignalExternalWorkflowExecutionFailed."""

    code = "FLOWPY-S7"


class ExternalCancelFailed(DecisionFailed):
    """RequestCancelExternalWorkflowExecutionFailed."""

    code = "FLOWPY-S8"


class LambdaScheduleFailed(DecisionFailed):
    """ScheduleLambdaFunctionFailed."""

    code = "FLOWPY-S9"


class LambdaStartFailed(DecisionFailed):
    """StartLambdaFunctionFailed."""

    code = "FLOWPY-S10"


class MarkerFailed(DecisionFailed):
    """RecordMarkerFailed: the value that should have been kept is lost, so the run fails."""

    code = "FLOWPY-S11"


# --- work that did not end well -------------------------------------------------------------


class _Failed:
    """What an error tells of the exception that was raised elsewhere."""

    failure: Any

    @property
    def type(self) -> str:
        """Name of the exception type on the other side, "" if unknown."""
        return self.failure.type if self.failure is not None else ""

    @property
    def data(self) -> Any:
        """The ``data`` of an ApplicationError on the other side, or None."""
        return self.failure.data if self.failure is not None else None


class WorkError(_Failed, FlowpyError):
    """An activity, child or Lambda function that ended without a result.

    Attributes:
        reason: The ``reason`` recorded (at most 256 characters), or "".
        details: The ``details`` as recorded, unread, or None.
        failure: The failure record read from the details (``flowpy.data.Failure``), or None.
        id: activityId, child workflowId or Lambda id.
        name: Name of the type or function.
        event_id: The closing event.
        scheduled_event_id: The event that scheduled or initiated it.
    """

    code = "FLOWPY-W0"

    def __init__(
        self,
        message: str,
        *,
        reason: str = "",
        details: str | None = None,
        failure: Any = None,
        id: str = "",
        name: str = "",
        event_id: int | None = None,
        scheduled_event_id: int | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.details = details
        self.failure = failure
        self.id = id
        self.name = name
        self.event_id = event_id
        self.scheduled_event_id = scheduled_event_id


class ActivityError(WorkError):
    """An activity that ended without a result."""

    code = "FLOWPY-W1"


class ActivityFailed(ActivityError):
    """ActivityTaskFailed: the activity raised."""

    code = "FLOWPY-W2"


class ActivityCanceled(ActivityError):
    """ActivityTaskCanceled although this run did not ask for it."""

    code = "FLOWPY-W3"


class _TimedOut(WorkError, TimeoutError):
    """Shared by the timeouts: adds SWF's ``timeout_type``."""

    def __init__(self, message: str, *, timeout_type: str, **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.timeout_type = timeout_type


class ActivityTimedOut(_TimedOut, ActivityError):
    """ActivityTaskTimedOut.

    Attributes:
        timeout_type: START_TO_CLOSE, SCHEDULE_TO_START, SCHEDULE_TO_CLOSE or HEARTBEAT.
        details: Details of the last heartbeat as recorded, unread, or None.
    """

    code = "FLOWPY-W4"

    def __init__(self, message: str, *, heartbeat: Any = None, **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self._heartbeat = heartbeat

    @property
    def data(self) -> Any:
        """Details of the last heartbeat, decoded, or None."""
        return self._heartbeat


class ChildError(WorkError):
    """A child workflow that ended without a result.

    Attributes:
        workflow_id: The child's workflowId.
        run_id: Its runId, "" if it never started.
    """

    code = "FLOWPY-W5"

    def __init__(self, message: str, *, run_id: str = "", **keywords: Any) -> None:
        super().__init__(message, **keywords)
        self.run_id = run_id

    @property
    def workflow_id(self) -> str:
        """The child's workflowId."""
        return self.id


class ChildFailed(ChildError):
    """ChildWorkflowExecutionFailed."""

    code = "FLOWPY-W6"


class ChildCanceled(ChildError):
    """ChildWorkflowExecutionCanceled although this run did not ask for it."""

    code = "FLOWPY-W7"


class ChildTerminated(ChildError):
    """ChildWorkflowExecutionTerminated."""

    code = "FLOWPY-W8"


class ChildTimedOut(_TimedOut, ChildError):
    """ChildWorkflowExecutionTimedOut."""

    code = "FLOWPY-W9"


class LambdaError(WorkError):
    """A Lambda function that ended without a result."""

    code = "FLOWPY-W10"


class LambdaFailed(LambdaError):
    """LambdaFunctionFailed."""

    code = "FLOWPY-W11"


class LambdaTimedOut(_TimedOut, LambdaError):
    """LambdaFunctionTimedOut."""

    code = "FLOWPY-W12"


class SideEffectFailed(WorkError):
    """The function given to ``side_effect`` raised when it first ran; recorded, raised again on replay."""

    code = "FLOWPY-W13"


# --- results of executions ------------------------------------------------------------------


class ExecutionError(_Failed, FlowpyError):
    """A workflow execution has no result to give.

    Attributes:
        workflow_id: Its workflowId.
        run_id: Its runId.
        reason: The reason recorded at the close, or "".
        details: The details as recorded, or None.
        failure: The failure record read from the details (``flowpy.data.Failure``), or None.
    """

    code = "FLOWPY-E0"

    def __init__(
        self,
        message: str,
        *,
        workflow_id: str = "",
        run_id: str = "",
        reason: str = "",
        details: str | None = None,
        failure: Any = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.workflow_id = workflow_id
        self.run_id = run_id
        self.reason = reason
        self.details = details
        self.failure = failure


class WorkflowFailed(ExecutionError):
    """WorkflowExecutionFailed: its code raised; ``type`` and ``data`` are those of what it raised."""

    code = "FLOWPY-E1"


class WorkflowCanceled(ExecutionError):
    """WorkflowExecutionCanceled."""

    code = "FLOWPY-E2"


class WorkflowTerminated(ExecutionError):
    """WorkflowExecutionTerminated."""

    code = "FLOWPY-E3"


class WorkflowTimedOut(ExecutionError, TimeoutError):
    """WorkflowExecutionTimedOut."""

    code = "FLOWPY-E4"


class ResultNotReady(ExecutionError, TimeoutError):
    """The run did not close within the time given to ``result(timeout=…)``; it goes on."""

    code = "FLOWPY-E5"


class RunBlocked(ResultNotReady):
    """In a test, nothing can happen any more and the run is still open; names who waits for what, and where."""

    code = "FLOWPY-E6"


# --- the service ----------------------------------------------------------------------------


class ServiceError(FlowpyError):
    """SWF answered a call with a fault.

    Attributes:
        operation: SWF operation, such as ``PollForDecisionTask``.
        fault: SWF's or AWS's error code, such as ``UnknownResourceFault``.
    """

    code = "FLOWPY-X0"

    def __init__(self, message: str, *, operation: str = "", fault: str = "", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.operation = operation
        self.fault = fault


class UnknownResource(ServiceError, LookupError):
    """UnknownResourceFault: no such domain, type or execution, or a task that is closed."""

    code = "FLOWPY-X1"


class AlreadyExists(ServiceError):
    """DomainAlreadyExistsFault, TypeAlreadyExistsFault, WorkflowExecutionAlreadyStartedFault."""

    code = "FLOWPY-X2"


class TypeDeprecated(ServiceError):
    """TypeDeprecatedFault or DomainDeprecatedFault."""

    code = "FLOWPY-X3"


class DefaultUndefined(ServiceError):
    """DefaultUndefinedFault: neither the call nor the type gives a required value."""

    code = "FLOWPY-X4"


class Throttled(ServiceError):
    """ThrottlingException or LimitExceededFault: try again later."""

    code = "FLOWPY-X5"


class InvalidRequest(ServiceError, ValueError):
    """ValidationException or SerializationException: the request is wrong, trying again does not help."""

    code = "FLOWPY-X6"


class AccessDenied(ServiceError, PermissionError):
    """OperationNotPermittedFault, AccessDeniedException, or credentials that are missing or wrong."""

    code = "FLOWPY-X7"


class ServiceUnavailable(ServiceError, ConnectionError):
    """No answer, or a 5xx: whether the call took effect is not known."""

    code = "FLOWPY-X8"


# --- control flow ---------------------------------------------------------------------------


class WorkCanceled(CancelledError):
    """The acknowledgement of a cancel that was waited for (``on_cancel="wait"``).

    Attributes:
        details: What the activity or child said as it stopped, decoded, or None.
        id: activityId or child workflowId.
        event_id: The closing event.
    """

    def __init__(self, message: str, *, details: Any = None, id: str = "", event_id: int | None = None) -> None:
        super().__init__(message)
        self.details = details
        self.id = id
        self.event_id = event_id


class ContinueAsNew(BaseException):
    """Raised by ``flowpy.continue_as_new`` to leave the workflow function; never catch it."""

    def __init__(self, call: Any) -> None:
        super().__init__("the run continues as new")
        self.call = call


class ActivityCancelRequested(BaseException):
    """Raised inside activity code when its cancellation was requested (or its task is gone).

    Let it pass after cleaning up: the worker answers RespondActivityTaskCanceled. Give ``details``
    (JSON) by raising a new one.
    """

    def __init__(self, message: str = "the activity was asked to stop", *, details: Any = None) -> None:
        super().__init__(message)
        self.details = details
