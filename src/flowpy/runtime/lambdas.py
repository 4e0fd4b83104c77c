"""AWS Lambda functions that SWF calls: ``flowpy.lambda_function("resize")(value)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from flowpy.data.limits import DATA
from flowpy.data.reading import decode_failure
from flowpy.declare.durations import Duration, swf_duration
from flowpy.declare.promise import Promise
from flowpy.errors import (
    DurationError,
    LambdaFailed,
    LambdaScheduleFailed,
    LambdaStartFailed,
    LambdaTimedOut,
    PayloadNotDecodable,
)
from flowpy.replay.entities import LambdaFunction as LambdaEntity
from flowpy.runtime.ids import LAMBDA, fitted
from flowpy.runtime.promise import Future, RunPromise
from flowpy.runtime.running import current_run
from flowpy.runtime.sites import call_site
from flowpy.runtime.values import promises_in, replaced, when_ready

if TYPE_CHECKING:
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]

R = TypeVar("R")

_LONGEST = 900


class LambdaFunction(Generic[R]):
    """A Lambda function by name; made by ``flowpy.lambda_function``."""

    def __init__(self, name: str, start_to_close_timeout: Duration | None, result_type: Any) -> None:
        self.name = name
        self.result_type = result_type
        self.attributes: dict[str, Any] | None = None
        if start_to_close_timeout is not None:
            text = swf_duration(start_to_close_timeout, "start_to_close_timeout")
            if not text.isdigit() or not 1 <= int(text) <= _LONGEST:
                raise DurationError(
                    f"start_to_close_timeout of a Lambda function is 1 to {_LONGEST} seconds, not {text}"
                )
            self.attributes = {"startToCloseTimeout": text}

    def __call__(self, value: Any = None) -> Promise[R]:
        """Schedule a call of the function.

        Args:
            value: Its one input, a JSON value; promises in it are waited for first; None is no input.

        Returns:
            The promise of its result; fails with LambdaFailed, LambdaTimedOut, LambdaScheduleFailed or
            LambdaStartFailed. A call that was sent cannot be cancelled: the run waits for it.

        Raises:
            OutsideWorkflow: No workflow code is executing here.
            PayloadError: The value has no JSON form or is over 32,768 characters of it.
        """
        run = current_run(f"Lambda function {self.name}", "call it through an AWS SDK")
        task = run.task_here(f"Lambda function {self.name}")
        id = fitted(f"{task.path}lambda-{task.take(LAMBDA)}")
        call = LambdaCall(run, self, id)
        call.shielded = task.shielded
        waiting = promises_in((value,))
        if waiting:
            when_ready(waiting, lambda failed: call.ready(failed, value))
        else:
            call.schedule(value)
        run.open_calls[call.promise._number] = call
        return call.promise


@overload
def lambda_function(name: str, *, start_to_close_timeout: Duration | None = None) -> LambdaFunction[Any]: ...


@overload
def lambda_function(
    name: str, *, start_to_close_timeout: Duration | None = None, result_type: type[R]
) -> LambdaFunction[R]: ...


@overload
def lambda_function(
    name: str, *, start_to_close_timeout: Duration | None = None, result_type: object
) -> LambdaFunction[Any]: ...


def lambda_function(
    name: str, *, start_to_close_timeout: Duration | None = None, result_type: Any = Any
) -> LambdaFunction[Any]:
    """A Lambda function that SWF calls for the workflow (decision ScheduleLambdaFunction).

    The run must have been started with the option ``lambda_role``, or its type registered with one.

    Args:
        name: Name or ARN of the function, at most 64 characters.
        start_to_close_timeout: 1 to 900 seconds; default 900.
        result_type: Type the result is read as; default what its JSON says.

    Raises:
        DurationError: The timeout is out of its range.
    """
    return LambdaFunction(name, start_to_close_timeout, result_type)


class LambdaCall:
    """One call of a Lambda function and its promise; it cannot be cancelled once it is sent."""

    detached = False
    shielded = False

    def __init__(self, run: Run, function: LambdaFunction[Any], id: str) -> None:
        self.run = run
        self.function = function
        self.entity = LambdaEntity(id, function.name, attributes=function.attributes, listener=self, site=call_site())
        self.promise: RunPromise[Any] = RunPromise.of(run.loop, self)

    def ready(self, failed: Future[Any] | None, value: Any) -> None:
        """The promises in the value are there, or one of them never will be."""
        if self.promise.done():
            return
        if failed is None:
            try:
                self.schedule(replaced(value))
            except Exception as error:
                self._fail(error)
        elif failed.cancelled():
            self.run.open_calls.pop(self.promise._number, None)
            self.promise.set_cancelled(error=failed._make_cancelled_error())
        else:
            self._fail(failed._error)

    def schedule(self, value: Any) -> None:
        """Make the decision."""
        if value is not None:
            what = f"input of Lambda function {self.function.name} ({self.entity.id})"
            self.entity.input = self.run.converter.encode_within(value, DATA, what)
        self.run.execution.make(self.entity)

    def completed(self, attributes: Attributes, event: Event) -> None:
        """LambdaFunctionCompleted."""
        try:
            value = self.run.converter.decode(attributes.get("result"), self.function.result_type)
        except PayloadNotDecodable as error:
            what = f"result of Lambda function {self.function.name} ({self.entity.id}), event {event['eventId']}"
            self._fail(PayloadNotDecodable(f"{what}: {error}"))
            return
        self.run.open_calls.pop(self.promise._number, None)
        if not self.promise.done():
            self.promise.set_result(value)

    def failed(self, attributes: Attributes, event: Event) -> None:
        """LambdaFunctionFailed."""
        reason, details = attributes.get("reason") or "", attributes.get("details")
        self._fail(
            LambdaFailed(
                f"{self._what} failed: {reason or details or 'no reason given'}",
                reason=reason,
                details=details,
                failure=decode_failure(reason, details),
                **self._where(attributes, event),
            )
        )

    def timed_out(self, attributes: Attributes, event: Event) -> None:
        """LambdaFunctionTimedOut."""
        kind = attributes.get("timeoutType", "START_TO_CLOSE")
        error = LambdaTimedOut(f"{self._what} timed out: {kind}", timeout_type=kind, **self._where(attributes, event))
        self._fail(error)

    def start_failed(self, attributes: Attributes, event: Event) -> None:
        """StartLambdaFunctionFailed."""
        cause, said = attributes.get("cause", ""), attributes.get("message", "")
        message = f"{self._what} did not start: {cause} {said}".rstrip()
        self._fail(LambdaStartFailed(message, cause=cause, id=self.entity.id, event_id=event["eventId"]))

    def refused(self, attributes: Attributes, event: Event) -> None:
        """ScheduleLambdaFunctionFailed."""
        cause = attributes["cause"]
        message = f"SWF did not schedule {self._what}: {cause}"
        self._fail(LambdaScheduleFailed(message, cause=cause, id=self.entity.id, event_id=event["eventId"]))

    @property
    def _what(self) -> str:
        return f"Lambda function {self.function.name} ({self.entity.id})"

    def _where(self, attributes: Attributes, event: Event) -> dict[str, Any]:
        scheduled = attributes.get("scheduledEventId")
        return {
            "id": self.entity.id,
            "name": self.function.name,
            "event_id": event["eventId"],
            "scheduled_event_id": scheduled,
        }

    def cancel(self) -> bool:
        """Cancel the promise; a function that was sent runs on, and the run waits for it."""
        if self.run.execution.unmake(self.entity):
            self.run.open_calls.pop(self.promise._number, None)
        return True

    def detach(self) -> None:
        """Let the run close without waiting for it."""
        self.detached = True
        self.run.open_calls.pop(self.promise._number, None)

    def _fail(self, error: BaseException) -> None:
        self.run.open_calls.pop(self.promise._number, None)
        if not self.promise.done():
            self.promise.set_exception(error)
