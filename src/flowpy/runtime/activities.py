"""Calls of activities: deferred behind promises, scheduled, retried, cancelled, ended."""

from __future__ import annotations

import json
import sys
from threading import get_ident
from typing import TYPE_CHECKING, Any

from flowpy.data.arguments import check_arguments, encode_arguments
from flowpy.data.failures import Failure
from flowpy.data.limits import SURE
from flowpy.data.reading import decode_failure
from flowpy.errors import (
    ActivityCanceled,
    ActivityError,
    ActivityFailed,
    ActivityScheduleFailed,
    ActivityTimedOut,
    FlowpyError,
    WorkCanceled,
)
from flowpy.replay.entities import CREATED, ActivityTask, Timer, schedule_attributes
from flowpy.replay.execution import NONE
from flowpy.replay.matching import scheduled
from flowpy.runtime.attempts import back_off
from flowpy.runtime.ids import LONGEST, fitted
from flowpy.runtime.promise import PENDING, Future, RunPromise
from flowpy.runtime.sites import call_site, callers
from flowpy.runtime.task import Task
from flowpy.runtime.timers import timer_refused
from flowpy.runtime.values import promises_in, replaced, when_ready

if TYPE_CHECKING:
    from flowpy.declare.activity import Activity
    from flowpy.history.events import Event
    from flowpy.runtime.run import Run

Attributes = dict[str, Any]


_getframe = sys._getframe


def call_activity(run: Run, activity: Activity[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Schedule an activity, now or when the promises among its arguments are ready.

    The calls that replays have most of are made here: one short argument, and the next recorded answer is theirs.
    """
    loop = run.loop
    task = loop.task
    if task is None or get_ident() != loop.thread:
        task = run.task_here(f"activity {activity.name}")
    name, counts = activity.name, task._counts
    try:
        counts[name] = number = counts[name] + 1
    except KeyError:
        counts[name] = number = 1
    call = ActivityPromise()
    # Line by line: CPython makes a tuple of more than three.
    call.activity = activity
    call.loop = loop
    call._state = PENDING
    call._waiting = None
    loop.number = call._number = loop.number + 1
    call.id = f"{task.path}{name}-{number}"
    if activity.is_plain and len(args) == 1 and type(args[0]) is int and not (kwargs or task.shielded):
        # The most likely frame is looked at here: user code, which called Activity.__call__, which called this.
        frame = _getframe(2)
        code = frame.f_code
        if id(code) in callers:
            call.site = (code, frame.f_lasti)
            try:
                call.input = f"[{args[0]}]"  # what encode_arguments would write
            except ValueError:
                return _call(run, task, call, args, kwargs)  # encode_arguments will say what is wrong
            execution = run.execution
            if execution.answers is not NONE:
                if scheduled(execution, call, activity.type):
                    return call
            elif len(call.id) <= LONGEST:
                # No answers are recorded: what _call does for such a call.
                execution.make(call)
                run.open_calls[call._number] = call
                return call
    return _call(run, task, call, args, kwargs)


def _call(
    run: Run, task: Task[Any], call: ActivityPromise, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ActivityPromise:
    """Schedule an activity with all that may be asked of it."""
    activity = call.activity
    settings = activity.settings
    call.shielded = task.shielded
    if settings.activity_id is not None:
        call.id = settings.activity_id
    elif len(call.id) > LONGEST:
        call.id = fitted(call.id)
    call.site = call_site(4)
    waiting = promises_in((*args, *kwargs.values()))
    if waiting:
        activity.signature.bind(args, kwargs)
        when_ready(waiting, lambda failed: call.ready(failed, args, kwargs))
    else:
        text = encode_arguments(activity.signature, args, kwargs, run.converter)
        if len(text) > SURE:
            check_arguments(text, activity.signature, run.converter, f"input of activity {call.id}")
        call.input = text
        call.record_policy(call)
        execution = run.execution
        # A finalizer is in no table of callers: what it decides is refused.
        known = call.site is not None and id(call.site[0]) in callers
        at_once = known and settings.activity_id is None and not activity.overrides
        if not (at_once and scheduled(execution, call, activity.type)):
            execution.make(call)
    run.open_calls[call._number] = call
    return call


class ActivityPromise(RunPromise[Any], ActivityTask):
    """One call of an activity: its promise, its entity, and the task of its first attempt."""

    # No __init__, which in CPython 3.11 would cost more than all else that a call does: call_activity sets everything.
    activity: Activity[..., Any]
    input: str | None = None
    attempt = 1
    not_begun = 0
    retried: ActivityTask | None = None
    timer: Timer | None = None
    first = 0
    stopping = False
    shielded = False
    detached = False
    let_go = False

    @property
    def run(self) -> Run:
        """The run that made it."""
        return self.loop.run

    @property
    def promise(self) -> ActivityPromise:
        """Itself: one object is cheaper than two that hold each other."""
        return self

    _work = promise

    @property
    def type(self) -> dict[str, str]:  # type: ignore[override] # read only: it is the activity's
        """Name and version as SWF writes them."""
        return self.activity.type

    @property
    def attributes(self) -> dict[str, Any]:  # type: ignore[override] # read only: they are the activity's
        """SWF's attributes that the call sets explicitly."""
        return self.activity.overrides

    @property
    def task(self) -> ActivityTask:
        """The task of the attempt under way, or of the last one."""
        return self if self.retried is None else self.retried

    # --- going out --------------------------------------------------------------------------

    def decision_attributes(self) -> dict[str, Any]:
        # What the entity does, without asking the properties above, which takes longer than all else.
        activity = self.activity
        return schedule_attributes(self.id, activity.type, self.control, self.input, activity.overrides)

    def mismatch(self, recorded: dict[str, Any]) -> str | None:
        return None if recorded["activityType"] == self.activity.type else super().mismatch(recorded)

    def ready(self, failed: Future[Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The promises among the arguments are there, or one of them never will be."""
        if self.done():
            return
        if failed is not None:
            self._end()
            if failed.cancelled():
                self.set_cancelled(error=failed._make_cancelled_error())
            else:
                self.set_exception(failed._error)
            return
        try:
            values, named = replaced(args), replaced(kwargs)
            text = encode_arguments(self.activity.signature, values, named, self.run.converter)
            what = f"input of activity {self.id}"
            self.schedule(check_arguments(text, self.activity.signature, self.run.converter, what))
        except Exception as error:
            self._end()
            self.set_exception(error)

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
        kind, details = attributes["timeoutType"], attributes.get("details")
        error = ActivityTimedOut(
            f"activity {self.activity.name} ({self.id}) timed out: {kind}",
            timeout_type=kind,
            details=details,
            heartbeat=self.run.lenient(details),
            **self._where(attributes, event),
        )
        self._attempt_failed(error, None)

    def canceled(self, attributes: Attributes, event: Event) -> None:
        """ActivityTaskCanceled."""
        self._end()
        if self.done():
            return
        details = attributes.get("details")
        if self.stopping:
            self.set_cancelled(
                error=WorkCanceled(
                    f"activity {self.activity.name} ({self.id}) was cancelled",
                    details=self.run.lenient(details),
                    id=self.id,
                    event_id=event["eventId"],
                )
            )
            return
        self.set_exception(
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
                id=self.task.id,
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
        delay = None if self.stopping else back_off(self, error, failure)
        if delay is None:
            self._fail(error)
            return
        self.attempt += 1
        if not self.let_go:
            self.run.open_calls[self._number] = self  # between attempts the kernel does not have it
        self.timer = Timer(fitted(f"{self.id}.w{self.attempt}"), input=str(delay), listener=_BackOff(self))
        self.timer.site = self.site
        self._make(self.timer)

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

    def cancel(self, msg: Any | None = None) -> bool:
        if self._state is not PENDING:
            return False
        self._cancel_message = msg
        if self._stop():
            self.set_cancelled(msg)
        return True

    def _stop(self) -> bool:
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
        self._observed = self.detached = True
        self._end()

    def _end(self) -> None:
        """The close does not wait for it any more."""
        self.let_go = True
        self.run.open_calls.pop(self._number, None)

    def _fail(self, error: FlowpyError) -> None:
        self._end()
        if not self.done():
            self.set_exception(error)


class _BackOff:
    """Listens to the timer between two attempts."""

    __slots__ = ("call",)

    def __init__(self, call: ActivityPromise) -> None:
        self.call = call

    def fired(self, _attributes: Attributes, _event: Event) -> None:
        """TimerFired."""
        self.call.next_attempt()

    def refused(self, attributes: Attributes, event: Event) -> None:
        """StartTimerFailed: the retry cannot go on."""
        self.call._fail(timer_refused(attributes, event))
