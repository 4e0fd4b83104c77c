"""The decision worker: polls for decision tasks, decides them, answers; holds what it cannot decide."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, Protocol, cast

from attrs import define, field

from flowpy.data.failures import encode_failure
from flowpy.data.payloads import PLAIN, Payloads
from flowpy.data.sealing import seal_decision
from flowpy.errors import AccessDenied, DeclarationError, FlowpyError, InvalidRequest, NonDeterminismError
from flowpy.interceptors import Around, DecisionCall, nested
from flowpy.service.paging import PagesLost, PolledDecisionTask, decision_task, newest, whole
from flowpy.service.protocol import Service
from flowpy.worker.answering import answer
from flowpy.worker.holding import first_context, hold_decision, hold_state
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.slots import Slots
from flowpy.worker.sticky import Sticky, Watched, is_away
from flowpy.worker.watchdog import Watchdog, decision_timeout

__all__ = ["Decided", "DecisionWorker"]

_log = logging.getLogger("flowpy.worker")


class Decided(Protocol):
    """What the decider gives: ``flowpy.runtime.decider.Answer``."""

    @property
    def decisions(self) -> list[dict[str, Any]]:
        """The decisions, as boto3 takes them."""
        ...

    @property
    def execution_context(self) -> str | None:
        """The context to store, None to keep the one SWF has."""
        ...


@define(eq=False)
class DecisionWorker:
    """Handles decision tasks of one task list, one at a time in each thread that calls ``step``.

    Args:
        service: The service.
        lifecycle: The worker's.
        decide: Decides a task; raises for a run that is to be held.
        domain: SWF domain.
        task_list: Task list to poll.
        identity: Who polls.
        page_size: Events per page.
        on_divergence: ``"hold"`` or ``"fail"``.
        hold: Gives the decision that makes a held run wait, or None to leave the task unanswered.
        sticky: Keeps runs in memory; None to decide each task from its whole history with ``decide``.
        arounds: Interceptors around the deciding, outermost first.
        payloads: What is done to the failure of a run that is failed because it diverged.
        slots: Places for decisions being made; the shared list is not polled while all are taken.
        quarantine: The runs that failed lately.
        replace: Told of a polling thread (its identity) in which workflow code is stuck.
    """

    service: Service
    lifecycle: Lifecycle
    decide: Callable[[PolledDecisionTask], Decided]
    domain: str
    task_list: str
    identity: str
    page_size: int = 1000
    on_divergence: Literal["hold", "fail"] = "hold"
    hold: Callable[[list[dict[str, Any]]], dict[str, Any] | None] = hold_decision
    sticky: Sticky | None = None
    arounds: list[Around[DecisionCall]] = field(factory=list)
    payloads: Payloads = PLAIN
    slots: Slots = field(factory=lambda: Slots(1_000))
    quarantine: Quarantine = field(factory=Quarantine)
    replace: Callable[[int], None] = field(default=lambda _: None)
    _watchdog: Watchdog = field(init=False)

    @_watchdog.default
    def _watch(self) -> Watchdog:
        return Watchdog(report=lambda: self.lifecycle.count("decisions_blocked"))

    @property
    def held(self) -> int:
        """How many runs are held, of those that came here lately."""
        return len(self.quarantine)

    def step(self) -> bool:
        """Poll the shared list once, when a place is free, and handle the task.

        Returns:
            True if there was one.

        Raises:
            ServiceError: The poll failed.
        """
        return self.slots.wait() and self._step(self.task_list)

    def sticky_step(self) -> bool:
        """The same with the list of this process, on which decision tasks of kept runs come."""
        assert self.sticky is not None
        return self._step(self.sticky.task_list, since_previous=True)

    def _step(self, task_list: str, *, since_previous: bool = False) -> bool:
        with ExitStack() as work:
            with self.lifecycle.poll(own=since_previous) as may:
                if not may:
                    return False
                try:
                    task = decision_task(
                        self.service,
                        self.domain,
                        task_list,
                        self.identity,
                        self.page_size,
                        pause=self.lifecycle.pause_answer,
                        since_previous=since_previous,
                        first_page_only=self.quarantine.__contains__,
                    )
                except PagesLost as lost:
                    self._dropped(lost)
                    return True
                if task is None:
                    return False
                work.enter_context(self.lifecycle.task(_label(task)))
            self.handle(task)
        return True

    def handle(self, task: PolledDecisionTask) -> None:
        """Decide a task and answer it, or hold its run. Raises nothing that user code raised."""
        if task.run_id in self.quarantine:
            self.lifecycle.count("decisions_quarantined")
            self._hold(task, None)
            return
        call, give_back = DecisionCall(task, self.task_list), self.slots.occupy()
        try:
            with self.quarantine.deciding(task.run_id):
                late = partial(self._late, threading.get_ident(), give_back)
                decided = nested(self.arounds, partial(self._decided, partial(self._watched, late)))(call)
                _check_decided(decided)
            sent = self._send(call.task, decided, kept=call.is_kept)
        except PagesLost as lost:
            self._dropped(lost)
        except BaseException as error:
            self._hold(call.task, error)
        else:
            if sent:
                self._sent(call.task)
        finally:
            give_back()

    def _decided(self, watched: Watched, call: DecisionCall) -> Decided:
        """What the task of a call is to be answered with."""
        if self.sticky is None or (call.task.events and call.task.events[0]["eventId"] == 1):
            call.task = self._whole(call.task)
        if self.sticky is None:
            if call.task.previous_started_event_id:
                self.lifecycle.count("replays")
            return cast("Decided", watched(call.task, self.decide))
        decided, call.is_kept = self.sticky.decide(call.task, watched)
        if decided is None:
            call.task = self._whole(call.task)
            decided, call.is_kept = self.sticky.decide(call.task, watched)
        return cast("Decided", decided)

    def _sent(self, task: PolledDecisionTask) -> None:
        self.lifecycle.count("decisions_completed")
        if self.quarantine.cured(task.run_id):
            _log.warning("%s goes on again", _label(task))

    def _watched(
        self, late: Callable[[], None], task: PolledDecisionTask, decide: Callable[[PolledDecisionTask], Decided]
    ) -> Decided:
        with self._watchdog.watching(_label(task), decision_timeout(task.events), late):
            return decide(task)

    def _late(self, thread: int, give_back: Callable[[], None]) -> None:
        """Workflow code does not let go of a thread: the others' work must not wait for it."""
        give_back()
        self.replace(thread)

    def _whole(self, task: PolledDecisionTask) -> PolledDecisionTask:
        return task if task.is_whole else whole(self.service, task, pause=self.lifecycle.pause_answer)

    def _dropped(self, lost: PagesLost) -> None:
        self.lifecycle.count("decisions_dropped")
        _log.warning("decision task dropped, SWF gives it out again: %s", lost)

    def _hold(self, task: PolledDecisionTask, error: BaseException | None) -> None:
        """Answer the task of a run that cannot be decided, or that is not tried because it could not lately."""
        self.lifecycle.count("decisions_held")
        if isinstance(error, NonDeterminismError):
            self.lifecycle.count("divergences")
        if error is not None:
            self._report(task, error)
        try:
            if self.on_divergence == "fail" and isinstance(error, NonDeterminismError):
                self._answer(
                    task, [seal_decision(_failed(error), self.payloads)], first_context(task.events), self._home(task)
                )
            elif error is None and not task.is_whole and self._held_again(task):
                return
            else:
                task = self._whole(task)
                self.quarantine.saw(task.run_id, hold_state(task.events))
                decision = self.hold(task.events)
                if decision is not None:
                    self._answer(task, [decision], first_context(task.events), self._home(task))
        except Exception as second:
            # An unanswered task comes back by itself; a thread that died does not.
            _log.error("%s is left unanswered: %s", _label(task), second, exc_info=True)

    def _held_again(self, task: PolledDecisionTask) -> bool:
        """Hold a run from the end of its history and what was read of it before; False if that does not tell."""
        state = self.quarantine.state(task.run_id)
        if state is None:
            return False
        events = newest(self.service, task, state.last_event_id, pause=self.lifecycle.pause_answer)
        state = None if events is None else state.after(events)
        if state is None:
            return False
        self.quarantine.saw(task.run_id, state)
        decision = state.decision()
        if decision is not None:
            context = None if state.decided else first_context(task.events)
            self._answer(task, [decision], context, {"taskList": {"name": self.task_list}})
        return True

    def _report(self, task: PolledDecisionTask, error: BaseException) -> None:
        if self.quarantine.failed(task.run_id):
            return
        expected = isinstance(error, FlowpyError)
        code = getattr(error, "code", type(error).__name__)
        _log.error("%s is held [%s]: %s", _label(task), code, error, exc_info=None if expected else error)

    def _send(self, task: PolledDecisionTask, decided: Decided, *, kept: bool) -> bool:
        """Send what was decided; the next decision task of a kept run is to come back to this process."""
        decisions, context = decided.decisions, decided.execution_context
        if kept and self.sticky is not None:
            if self.sticky.active:
                return self._send_kept(self.sticky, task, decisions, context)
            self.sticky.let_go(task)
        return self._answer(task, decisions, context, self._home(task))

    def _send_kept(
        self, sticky: Sticky, task: PolledDecisionTask, decisions: list[dict[str, Any]], context: str | None
    ) -> bool:
        with sticky.sending(task) as accept:
            try:
                sent = self._answer(task, decisions, context, sticky.override)
            except (AccessDenied, InvalidRequest) as error:
                # Perhaps it is the task list that is refused. If it is not, the answer is refused again.
                sent = self._answer(task, decisions, context, self._home(task))
                sticky.give_up(error)
                return sent
            if sent:
                accept()
            return sent

    def _home(self, task: PolledDecisionTask) -> dict[str, Any]:
        """What an answer carries so that the next decision task comes to all workers: nothing, if it does so anyway."""
        return {"taskList": {"name": self.task_list}} if is_away(task.events) else {}

    def _answer(
        self, task: PolledDecisionTask, decisions: list[dict[str, Any]], context: str | None, task_list: dict[str, Any]
    ) -> bool:
        request: dict[str, Any] = {"taskToken": task.task_token, "decisions": decisions, **task_list}
        if context is not None:
            request["executionContext"] = context
        return answer(self.service, self.lifecycle, "RespondDecisionTaskCompleted", request, _label(task))


def _check_decided(decided: Any) -> None:
    if not hasattr(decided, "decisions"):
        raise DeclarationError(
            f"an interceptor around decisions gave {decided!r}", remedy="give what proceed(call) gave"
        )


def _failed(error: NonDeterminismError) -> dict[str, Any]:
    reason, details = encode_failure(error)
    return {
        "decisionType": "FailWorkflowExecution",
        "failWorkflowExecutionDecisionAttributes": {"reason": reason, "details": details},
    }


def _label(task: PolledDecisionTask) -> str:
    name, version = task.workflow_type
    return f"workflow {name} {version} {task.workflow_id!r} run {task.run_id!r} decision {task.started_event_id}"
