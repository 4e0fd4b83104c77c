"""The decision worker: polls for decision tasks, decides them, answers; holds what it cannot decide."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Literal, Protocol

from attrs import define, field

from flowpy.data.failures import encode_failure
from flowpy.errors import FlowpyError, NonDeterminismError, ServiceError
from flowpy.service.paging import PagesLost, PolledDecisionTask, decision_task
from flowpy.service.protocol import Service
from flowpy.worker.answering import answer
from flowpy.worker.holding import first_context, hold_decision
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.watchdog import Watchdog, decision_timeout

__all__ = ["Decided", "DecisionWorker"]

_REMEMBERED = 10_000
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
    _watchdog: Watchdog = field(init=False)
    _held: OrderedDict[str, None] = field(factory=OrderedDict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)

    @_watchdog.default
    def _watch(self) -> Watchdog:
        return Watchdog(report=lambda: self.lifecycle.count("decisions_blocked"))

    def step(self) -> bool:
        """Poll once and handle the task.

        Returns:
            True if there was one.

        Raises:
            ServiceError: The poll failed.
        """
        with ExitStack() as work:
            with self.lifecycle.poll():
                try:
                    task = decision_task(
                        self.service,
                        self.domain,
                        self.task_list,
                        self.identity,
                        self.page_size,
                        pause=self.lifecycle.pause_answer,
                    )
                except PagesLost as lost:
                    self.lifecycle.count("decisions_dropped")
                    _log.warning("decision task dropped, SWF gives it out again: %s", lost)
                    return True
                if task is None:
                    return False
                work.enter_context(self.lifecycle.task(_label(task)))
            self.handle(task)
        return True

    def handle(self, task: PolledDecisionTask) -> None:
        """Decide a task and answer it, or hold its run. Raises nothing that user code raised."""
        try:
            with self._watchdog.watching(_label(task), decision_timeout(task.events)):
                decided = self.decide(task)
        except BaseException as error:
            self._hold(task, error)
            return
        try:
            sent = self._answer(task, decided.decisions, decided.execution_context)
        except ServiceError as error:
            self._hold(task, error)
            return
        if sent:
            self.lifecycle.count("decisions_completed")
            with self._lock:
                known = task.run_id in self._held
                self._held.pop(task.run_id, None)
            if known:
                _log.warning("%s goes on again", _label(task))

    def _hold(self, task: PolledDecisionTask, error: BaseException) -> None:
        self.lifecycle.count("decisions_held")
        self._report(task, error)
        try:
            if self.on_divergence == "fail" and isinstance(error, NonDeterminismError):
                decision: dict[str, Any] | None = _failed(error)
            else:
                decision = self.hold(task.events)
            if decision is not None:
                self._answer(task, [decision], first_context(task.events))
        except Exception as second:
            # An unanswered task comes back by itself; a thread that died does not.
            _log.error("%s is left unanswered: %s", _label(task), second, exc_info=True)

    def _report(self, task: PolledDecisionTask, error: BaseException) -> None:
        with self._lock:
            known = task.run_id in self._held
            self._held[task.run_id] = None
            if len(self._held) > _REMEMBERED:
                self._held.popitem(last=False)
        if known:
            return
        expected = isinstance(error, FlowpyError)
        code = getattr(error, "code", type(error).__name__)
        _log.error("%s is held [%s]: %s", _label(task), code, error, exc_info=None if expected else error)

    def _answer(self, task: PolledDecisionTask, decisions: list[dict[str, Any]], context: str | None) -> bool:
        request: dict[str, Any] = {"taskToken": task.task_token, "decisions": decisions}
        if context is not None:
            request["executionContext"] = context
        return answer(self.service, self.lifecycle, "RespondDecisionTaskCompleted", request, _label(task))


def _failed(error: NonDeterminismError) -> dict[str, Any]:
    reason, details = encode_failure(error)
    return {
        "decisionType": "FailWorkflowExecution",
        "failWorkflowExecutionDecisionAttributes": {"reason": reason, "details": details},
    }


def _label(task: PolledDecisionTask) -> str:
    name, version = task.workflow_type
    return f"workflow {name} {version} {task.workflow_id!r} run {task.run_id!r} decision {task.started_event_id}"
