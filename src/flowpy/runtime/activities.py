"""Calls of activities: deferred behind promises, scheduled, retried, cancelled, ended."""

from __future__ import annotations

import json
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from flowpy.data.arguments import encode_arguments
from flowpy.data.failures import Failure
from flowpy.data.limits import DATA, check_length
from flowpy.data.reading import decode_failure
from flowpy.declare.retry import Retry
from flowpy.errors import (
    ActivityCanceled,
    ActivityError,
    ActivityFailed,
    ActivityScheduleFailed,
    ActivityTimedOut,
    FlowpyError,
    PayloadNotDecodable,
    WorkCanceled,
)
from flowpy.replay.entities import CLOSED, CREATED, ActivityTask, Timer
from flowpy.replay.matching import scheduled
from flowpy.replay.results import opened_nothing
from flowpy.runtime.ids import LONGEST, fitted
from flowpy.runtime.promise import DONE, PENDING, Future, RunPromise
from flowpy.runtime.sites import call_site, callers
from flowpy.runtime.task import Task
from flowpy.runtime.timers import timer_refused
from flowpy.runtime.values import SCALARS, promises_in, replaced, when_ready

if TYPE_CHECKING:
    from flowpy.declare.activity import Activity
    from flowpy.history.events import Event
    from flowpy.replay.execution import Execution
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]


_getframe = sys._getframe


def call_activity(run: Run, activity: Activity[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Schedule an activity, now or when the promises among its arguments are ready."""
    loop = run.loop
    task = loop.task
    if task is None or get_ident() != loop.thread:
        task = run.task_here(f"activity {activity.name}")
    name, counts = activity.name, task._counts
    counts[name] = number = counts.get(name, 0) + 1
    settings = activity.settings
    activity_id = settings.activity_id
    if has_own_id := activity_id is None:
        activity_id = f"{task.path}{name}-{number}"
        if len(activity_id) > LONGEST:
            activity_id = fitted(activity_id)
    # The most likely frame is looked at here: user code, which called Activity.__call__, which called this.
    frame = _getframe(2)
    code = frame.f_code
    is_known = id(code) in callers
    # Both have no __init__, which in CPython 3.11 would cost more than all else that is done here.
    call, promise = ActivityCall(), RunPromise()
    call.run, call.activity, call.promise = run, activity, promise
    call.id, call.type = activity_id, activity.type
    call.site = (code, frame.f_lasti) if is_known else call_site()
    call.attributes = activity.overrides
    promise.loop, promise._work, promise._state, promise._waiting = loop, call, PENDING, None
    loop.number = promise._number = loop.number + 1
    if task.shielded:
        call.shielded = True
    only = type(args[0]) if len(args) == 1 and not kwargs else None
    if only is int and 1 in activity.signature.fits:
        try:
            text = f"[{args[0]}]"  # what encode_arguments would write
        except ValueError:
            text = encode_arguments(activity.signature, args, kwargs, run.converter)  # says what is wrong
    else:
        waiting = promises_in((*args, *kwargs.values())) if only not in SCALARS else None
        if waiting:
            activity.signature.bind(args, kwargs)
            when_ready(waiting, lambda failed: call.ready(failed, args, kwargs))
            run.open_calls[call] = None
            return promise
        text = encode_arguments(activity.signature, args, kwargs, run.converter)
    if len(text) > DATA:
        check_length(text, DATA, f"input of activity {activity_id}")
    call.input = text
    if settings.retry is not None:
        call.record_policy(call)
    execution = run.execution
    if not (has_own_id and is_known and scheduled(execution, call)):
        execution.make(call)
    run.open_calls[call] = None
    return promise


class ActivityCall(ActivityTask):
    """One call of an activity: one promise, one attempt at a time; the call itself is its first attempt's task."""

    __init__ = object.__init__  # call_activity sets everything
    run: Run
    activity: Activity[..., Any]
    promise: RunPromise[Any]
    input: str | None = None
    attempt = 1
    retried: ActivityTask | None = None
    timer: Timer | None = None
    first = 0
    stopping = False
    shielded = False
    detached = False

    @property
    def task(self) -> ActivityTask:
        """The task of the attempt under way, or of the last one."""
        return self if self.retried is None else self.retried

    # --- going out --------------------------------------------------------------------------

    def ready(self, failed: Future[Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The promises among the arguments are there, or one of them never will be."""
        if self.promise.done():
            return
        if failed is not None:
            self._end()
            if failed.cancelled():
                self.promise.set_cancelled(error=failed._make_cancelled_error())
            else:
                self.promise.set_exception(failed._error)
            return
        try:
            values, named = replaced(args), replaced(kwargs)
            text = encode_arguments(self.activity.signature, values, named, self.run.converter)
            self.schedule(check_length(text, DATA, f"input of activity {self.id}"))
        except Exception as error:
            self._end()
            self.promise.set_exception(error)

    def schedule(self, text: str) -> None:
        """Make the decision for the first attempt, whose input is there."""
        self.input = text
        self.record_policy(self)
        self.run.execution.make(self)

    def record_policy(self, task: ActivityTask) -> None:
        """What follows an attempt is decided from the policy recorded with it."""
        retry = self.activity.settings.retry
        if retry is not None:
            self.first = self.first or int(self.run.clock)
            task.control = json.dumps({"retry": retry.control(self.first)})

    # --- coming back ------------------------------------------------------------------------

    def failed(self, attributes: Attributes, event: Event) -> None:
        """ActivityTaskFailed."""
        reason, details = attributes.get("reason") or "", attributes.get("details")
        failure = decode_failure(reason, details)
        error = ActivityFailed(
            f"activity {self.activity.name} ({self.id}) failed: {reason or failure.message or 'no reason given'}",
            reason=reason,
            details=details,
            failure=failure,
            **self._where(attributes, event),
        )
        self._attempt_failed(error, failure)

    def timed_out(self, attributes: Attributes, event: Event) -> None:
        """ActivityTaskTimedOut."""
        kind = attributes["timeoutType"]
        error = ActivityTimedOut(
            f"activity {self.activity.name} ({self.id}) timed out: {kind}",
            timeout_type=kind,
            details=attributes.get("details"),
            **self._where(attributes, event),
        )
        self._attempt_failed(error, None)

    def canceled(self, attributes: Attributes, event: Event) -> None:
        """ActivityTaskCanceled."""
        self._end()
        if self.promise.done():
            return
        details = attributes.get("details")
        if self.stopping:
            self.promise.set_cancelled(
                error=WorkCanceled(
                    f"activity {self.activity.name} ({self.id}) was cancelled",
                    details=self.run.lenient(details),
                    id=self.id,
                    event_id=event["eventId"],
                )
            )
            return
        self.promise.set_exception(
            ActivityCanceled(
                f"activity {self.activity.name} ({self.id}) was cancelled, although this run did not ask for it",
                details=details,
                **self._where(attributes, event),
            )
        )

    def refused(self, attributes: Attributes, event: Event) -> None:
        """ScheduleActivityTaskFailed: nothing is sent again by itself."""
        cause = attributes["cause"]
        self._fail(
            ActivityScheduleFailed(
                f"SWF did not schedule activity {self.activity.name} {self.activity.version} ({self.id}): {cause}",
                cause=cause,
                id=self.id,
                event_id=event["eventId"],
            )
        )

    def _where(self, attributes: Attributes, event: Event) -> dict[str, Any]:
        return {
            "id": self.task.id,
            "name": self.activity.name,
            "event_id": event["eventId"],
            "scheduled_event_id": attributes.get("scheduledEventId"),
        }

    # --- retry ------------------------------------------------------------------------------

    def _attempt_failed(self, error: ActivityError, failure: Failure | None) -> None:
        if self.stopping:
            self._fail(error)
            return
        retry, first = self._policy()
        if retry is None or not retry.matches(_names(error, failure)):
            self._fail(error)
            return
        delay = retry.delay(self.attempt + 1, self.run.info.run_id, self.id)
        if not retry.allows(self.attempt, first, self.run.clock, delay):
            self._fail(error)
            return
        self.attempt += 1
        self.first = first
        self.timer = Timer(fitted(f"{self.id}.w{self.attempt}"), input=str(delay), listener=_BackOff(self))
        self.timer.site = self.site
        self._make(self.timer)

    def _policy(self) -> tuple[Retry | None, int]:
        """What is recorded with the attempt decides; the code's policy where nothing is."""
        code = self.activity.retry
        recorded = getattr(self.task, "recorded_control", None)
        if recorded:
            try:
                form = json.loads(recorded)["retry"]
                return Retry.from_control(form, code), int(form.get("first") or self.first or self.run.clock)
            except (ValueError, KeyError, TypeError, AttributeError):
                pass
        return code, self.first or int(self.run.clock)

    def next_attempt(self) -> None:
        """The back-off is over."""
        self.timer = None
        id = fitted(f"{self.id}.r{self.attempt}")
        task = ActivityTask(id, self.type, self.input, self.attributes, self, self.site)
        self.record_policy(task)
        try:
            self.run.execution.make(task)
        except FlowpyError as error:
            self._fail(error)
        else:
            self.retried = task

    def _make(self, timer: Timer) -> None:
        try:
            self.run.execution.make(timer)
        except FlowpyError as error:
            self._fail(error)

    # --- ending -----------------------------------------------------------------------------

    def cancel(self) -> bool:
        """Cancel as ``on_cancel`` says; returns whether the promise is cancelled at once."""
        run, task = self.run, self.task
        if self.stopping:
            return False
        if self.timer is not None:
            run.execution.cancel_timer(self.timer, call_site())
            self._end()
            return True
        if task.state == CREATED or self.activity.on_cancel == "abandon":
            if self.input is not None:
                run.execution.unmake(task)
            self.stopping = True
            self._end()
            return True
        self.stopping = True
        run.execution.cancel_activity(task, call_site())
        return self.activity.on_cancel == "try"

    def detach(self) -> None:
        """Let the run close without waiting for it."""
        self.detached = True
        self._end()

    def _end(self) -> None:
        self.run.open_calls.pop(self, None)

    def _fail(self, error: FlowpyError) -> None:
        self._end()
        if not self.promise.done():
            self.promise.set_exception(error)


def activity_completed(execution: Execution, attributes: Attributes, event: Event) -> Task[Any] | None:
    """ActivityTaskCompleted, the event that replays have most of: the entity ends and its promise has its value.

    Returns:
        The task that waited for it, if only one did and nothing else is ready: to be stepped at once.
    """
    ended = execution.activities.pop(attributes["scheduledEventId"], None)
    if ended is None:
        raise opened_nothing(attributes["scheduledEventId"], event)
    # What execution.close does: a recorded activity always holds its id, if that is noted at all.
    ended.state = CLOSED
    if execution.open_ids:
        execution.open_ids.pop(ended.id, None)
    if execution.unsent:
        execution.forget_requests(ended)
    call: Any = ended if type(ended) is ActivityCall else ended.listener
    run, promise = call.run, call.promise
    run.open_calls.pop(call, None)
    # Call and promise hold each other: apart, they need not wait for the collector.
    promise._work = None
    if promise._state is not PENDING:
        return None
    signature = call.activity.signature
    decode = run.decoders.get(signature)
    try:
        if decode is None:
            decode = run.decoders[signature] = run.converter.decoder(signature.return_type)
        promise._value = decode(attributes.get("result"))
    except PayloadNotDecodable as error:
        message = f"result of activity {call.activity.name} ({call.id}), event {event['eventId']}: {error}"
        promise.set_exception(PayloadNotDecodable(message))
        return None
    promise._state = DONE
    waiting = promise._waiting
    if type(waiting) is Task:
        # What _wake does, for the one task that mostly waits.
        promise._waiting = None
        return waiting
    if waiting is not None:
        promise._wake()
    return None


class _BackOff:
    """Listens to the timer between two attempts."""

    __slots__ = ("call",)

    def __init__(self, call: ActivityCall) -> None:
        self.call = call

    def fired(self, _attributes: Attributes, _event: Event) -> None:
        """TimerFired."""
        self.call.next_attempt()

    def refused(self, attributes: Attributes, event: Event) -> None:
        """StartTimerFailed: the retry cannot go on."""
        self.call._fail(timer_refused(attributes, event))


def _names(error: ActivityError, failure: Failure | None) -> list[str]:
    """The names an error is known by to a Retry."""
    names = [name for kind in type(error).__mro__ for name in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}")]
    if isinstance(error, ActivityTimedOut):
        names.append(error.timeout_type)
    if failure is not None and failure.type:
        names.append(failure.type)
        if failure.module:
            names.append(f"{failure.module}.{failure.type}")
    return names
