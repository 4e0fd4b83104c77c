"""Service, decider and activity worker in one thread, one step at a time, on a clock that moves when all is done.

Workers in threads on a `flowpy.local.LocalService` would do too; a single thread was chosen because every run of a test
then is the same, event for event, because a step that fails raises in the test that caused it, and because no thread
is started, woken or waited for.

Payloads, failures, heartbeats and answers are made by the code of the worker itself. What can happen now happens in
this order: decisions, then activities begin, then work ends whose time is over; one at a time, and after each it is
looked anew. Strict mode leaves the order to chance, seeded.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from typing import Any, Final, TypeVar

import greenlet

from flowpy.data.sealing import open_decision
from flowpy.errors import CallError, FlowpyError, ServiceUnavailable, Throttled
from flowpy.interceptors import surrounded
from flowpy.service.paging import PAGE_SIZE, PagesLost, PolledDecisionTask, decision_task
from flowpy.testing.known import DOMAIN
from flowpy.testing.live import Live
from flowpy.testing.sending import Sending, played
from flowpy.testing.stage import Stage
from flowpy.testing.working import Work

__all__ = ["Driver", "apart"]

T = TypeVar("T")

MOST_STEPS: Final = 100_000
"""Steps that may be taken at one moment; beyond them something goes round in a circle."""

MOST_RUNS: Final = 1_000
"""Times that a run may continue as new: at one moment, or while its result is waited for without a limit."""

_PAGES: Final = (1, 2, 7, PAGE_SIZE)


class Driver:
    """Takes the steps.

    Args:
        stage: What the parts of the environment share.
        watched: Makes the context in which workflow code runs.

    Attributes:
        lives: The executions that came to be decided, by runId, in order.
        page_size: Events of a page of the history that a decision task brings.
        lost_decisions: How many decisions are made and never sent.
        is_paused: Whether nothing happens.
        is_closed: Whether nothing may happen any more.
    """

    def __init__(self, stage: Stage, watched: Callable[[], AbstractContextManager[object]]) -> None:
        self.stage = stage
        self.work = Work(stage)
        self.lives: dict[str, Live] = {}
        self.page_size = PAGE_SIZE
        self.lost_decisions = 0
        self.is_paused = False
        self.is_closed = False
        self._is_settling = False
        self._begun: Counter[str] = Counter()
        self._watched = watched

    # --- time ---------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let all happen that can happen now.

        Raises:
            BaseException: What a step raises: a run that cannot be decided, a stub that asserts.
            CallError: The environment is closed.
        """
        if self.is_closed:
            raise CallError("the environment is closed: its histories were checked, and what happens now would not be")
        if self.is_paused or self._is_settling:
            return
        self._is_settling = True
        try:
            apart(self._settle)
        finally:
            self._is_settling = False

    def _settle(self) -> None:
        self._begun.clear()
        for _ in range(MOST_STEPS):
            if not self._step():
                # Timers of no seconds are due at once, and then there may be a decision to make.
                self.stage.engine.tick()
                if not self._step():
                    return
            self.stage.stubs.raise_failures()
        raise FlowpyError(
            f"after {MOST_STEPS:,} steps without any time passing there is still something to do: something goes round "
            "in a circle, such as workflows that signal each other for ever"
        )

    def next_due(self) -> float:
        """Epoch seconds of what happens next by itself, infinity if nothing will."""
        due = self.stage.engine.next_due()
        return min(math.inf if due is None else due, self.stage.agenda.next_due())

    def jump(self, at: float) -> None:
        """Let time pass until epoch second ``at``; what happens then happens.

        Raises:
            CallError: Nothing may happen now: in ``paused()``, or in the code of an activity or a stub.
        """
        if self.is_paused:
            raise CallError("time does not pass inside of swf.paused()", remedy="wait after it")
        if self._is_settling:
            raise CallError(
                "time does not pass inside of an activity or a stub", remedy="give the stub a delay instead"
            )
        self.stage.engine.advance_to(at)
        self.settle()

    def _step(self) -> bool:
        """Let one thing happen; gives whether there was one."""
        steps = [self._decide, self.work.begin, self._end]
        if self.stage.random is not None:
            self.stage.random.shuffle(steps)
        return any(step() for step in steps)

    def _end(self) -> bool:
        action = self.stage.agenda.take(self.stage.now())
        if action is None:
            return False
        action()
        return True

    # --- decisions ----------------------------------------------------------------------------

    def _decide(self) -> bool:
        task = self._poll()
        if task is None:
            return False
        live = self.lives.get(task.run_id)
        if live is None:
            live = self.lives[task.run_id] = self._live(task)
        with self._watched():
            decisions, context = live.decide(task.events)
        if self.lost_decisions > 0:
            # Nobody will ever see them: the next decision task of the run is decided from event 1.
            self.lost_decisions -= 1
            live.leave()
            return True
        plain = [open_decision(decision, live.converter.payloads) for decision in decisions]
        try:
            sending = Sending(self.stage, live, plain)
        except BaseException:
            # What was decided is not sent: should the test go on, the task times out and is decided anew.
            live.leave()
            raise
        request: dict[str, Any] = {"taskToken": task.task_token, "decisions": decisions}
        if context is not None:
            request["executionContext"] = context
        live.answers[task.started_event_id] = plain
        self.stage.answer("RespondDecisionTaskCompleted", request)
        events = live.events[task.started_event_id :]
        # The history knows, also where the answer to the answer was lost.
        if any(event["eventType"] == "DecisionTaskCompleted" for event in events):
            sending.sent(events)
        else:
            # The task timed out while its answer was kept away: what was decided never happened.
            del live.answers[task.started_event_id]
            live.leave()
        if sending.stops_something:
            self.work.notice_cancels()
        return True

    def _poll(self) -> PolledDecisionTask | None:
        stage = self.stage
        while (name := stage.decides()) is not None:
            size = self.page_size if stage.random is None else stage.random.choice(_PAGES)
            try:
                task = decision_task(stage.service, DOMAIN, name, "decider", size, pause=stage.pause)
            except (Throttled, ServiceUnavailable, PagesLost):
                # A worker polls again; a task that was handed out meanwhile comes back by its timeout.
                stage.pause(0.0)
            else:
                if task is not None:
                    return task
        return None

    def _live(self, task: PolledDecisionTask) -> Live:
        stage = self.stage
        self._begun[task.workflow_id] += 1
        if self._begun[task.workflow_id] > MOST_RUNS:
            raise FlowpyError(
                f"workflow {task.workflow_id!r} has begun {MOST_RUNS:,} runs without any time passing: it continues as "
                "new at once, and goes round in a circle",
                remedy="let it wait for something, or end",
            )
        workflow = stage.known.workflow(task.workflow_type)
        outcome = stage.drawn.pop(("child", task.workflow_id), None)
        if outcome is not None:
            workflow = played(workflow, outcome, stage.stubs)
        else:
            workflow = surrounded(workflow, stage.interceptors)
        return Live(
            workflow,
            task.workflow_id,
            task.run_id,
            stage.converter,
            stage.engine.events(task.run_id),
            is_stubbed=outcome is not None,
        )

    def close(self) -> None:
        """Let all code leave memory, and nothing happen any more."""
        self.is_closed = True
        for live in self.lives.values():
            live.leave()
        self.work.close()


def apart(function: Callable[[], T]) -> T:
    """Call a function as if no exception were being handled here.

    What a test does in an ``except`` block would else become the context of all that workflow code raises, and so
    stand in the histories.
    """
    if sys.exception() is None:
        return function()
    aside = greenlet.greenlet(function)
    aside.gr_context = copy_context()
    made: T = aside.switch()
    return made
