"""One live execution of a workflow: its code on a deterministic loop, driven event by event through the kernel.

This class only connects: the kernel (``execution``) knows what is open, the loop steps the code, ``outcome`` decides
when the run may close, ``signals`` and ``timers`` keep their own books.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from itertools import chain
from threading import get_ident
from typing import Any, Final, NoReturn

from attrs import evolve

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.decoders import Decoder
from flowpy.declare.calling import current
from flowpy.declare.signature import Signature
from flowpy.declare.workflow import Workflow
from flowpy.errors import FlowpyError, HistoryError, MarkerFailed, NotDeterministic, NotInTask, PayloadError, ReadOnly
from flowpy.history.episodes import MALFORMED, Episode, Episodes, malformed, text_of, time_of
from flowpy.history.events import Event, seconds
from flowpy.replay.answers import CLOSES
from flowpy.replay.entities import Close
from flowpy.replay.execution import NONE, Execution
from flowpy.replay.explaining import diverged
from flowpy.replay.matching import match
from flowpy.replay.results import HANDLERS
from flowpy.runtime.activities import ActivityCall, activity_completed
from flowpy.runtime.activities import call_activity as schedule_activity
from flowpy.runtime.asynchronous import call_asynchronous as spawn_asynchronous
from flowpy.runtime.beginning import begin
from flowpy.runtime.children import ChildCall
from flowpy.runtime.children import call_workflow as start_child
from flowpy.runtime.eviction import evict, sleep_for_ever
from flowpy.runtime.facts import RunInfo
from flowpy.runtime.lambdas import LambdaCall
from flowpy.runtime.loop import COLLECTING, Loop
from flowpy.runtime.outcome import Outcome
from flowpy.runtime.published import Published
from flowpy.runtime.signals import SignalBox
from flowpy.runtime.sites import waiting_sites
from flowpy.runtime.task import Task
from flowpy.runtime.timers import Timers
from flowpy.runtime.undead import REFUSED_CALLS

_log: Final = logging.getLogger("flowpy.run")

_HANDLERS: Final[dict[str, tuple[Any, str]]] = {
    **HANDLERS,
    "ActivityTaskCompleted": (activity_completed, "activityTaskCompletedEventAttributes"),
}
"""Event type → (what it does, key of its attributes); what it does may return a task, which is to be stepped at once."""

Observer = Callable[[Episode, list[dict[str, Any]]], None]
"""Called after each episode with the decisions that the code made in it."""


class Stopped(BaseException):
    """Raised in workflow code that can only go on wrongly; the run is held."""


class Run:
    """A run in memory.

    Attributes:
        workflow: The declared workflow whose code it runs.
        info: What is known of the run.
        execution: The kernel's state.
        loop: The loop its code runs on.
        decoders: Decoders of the results of activities, by their signatures.
        open_calls: Activities, children and Lambda functions the close waits for, in order of creation.
        tasks: Tasks the close waits for, in order of creation.
        detached: Tasks that run on without the close waiting for them.
        replaying: Whether an episode that is decided already is being re-run.
        read_only: Whether a query is looking at it.
        dead: Whether it has left memory.
    """

    def __init__(
        self,
        workflow: Workflow[..., Any],
        workflow_id: str,
        run_id: str,
        *,
        domain: str = "",
        converter: Converter = DEFAULT,
        observer: Observer | None = None,
    ) -> None:
        self.workflow = workflow
        self.converter = converter
        self.info = RunInfo(workflow_id, run_id, workflow.name, workflow.version, domain)
        self.execution = Execution()
        self.execution.workflow = (workflow.name, workflow.version)
        self.execution.marker_listener = self
        self.episodes = Episodes(brief=observer is None)
        self.loop = Loop(self)
        self.open_calls: dict[ActivityCall | ChildCall | LambdaCall, None] = {}
        self.tasks: dict[Task[Any], None] = {}
        self.detached: dict[Task[Any], None] = {}
        self.execution.where = lambda: waiting_sites(self.tasks)
        self.decoders: dict[Signature, Decoder] = {}
        self.generators: dict[str, random.Random] = {}
        self.timers = Timers(self)
        self.signals = SignalBox(self)
        self.outcome = Outcome(self)
        self.started: dict[str, Any] = {}
        self.instance: Any = None
        self.main: Task[Any] | None = None
        self.ghost: Task[Any] | None = None
        self.cancel_requests = 0
        self.replaying = False
        self.read_only = False
        self.dead = False
        self.stopped = False
        self.lost = False
        self.halted = False
        self._refused_calls = 0
        self.closing: Close | None = None
        self.published = Published(self)
        self._observer = observer
        self._episode: Episode | None = None
        self._unknown: set[str] = set()
        self.base_context = Context()
        self.base_context.run(current.set, self)

    # --- history in, decisions out ----------------------------------------------------------

    def feed(self, events: Iterable[Event], *, decide: bool = True) -> None:
        """Take recorded events and run the code through the episodes that they bring.

        Args:
            events: Events in order, following those fed before.
            decide: Whether to run the open episode, whose decisions ``answer`` then gives.

        Raises:
            NonDeterminismError: History and code differ.
            HistoryError: The history contradicts itself.
            WorkflowBlocked: The code spins.
        """
        try:
            self._feed(events, decide=decide)
        except FlowpyError:
            raise
        except (ValueError, *MALFORMED) as error:
            # Code's own errors stay in its tasks: what comes out here is about the events, whichever it is.
            raise HistoryError(
                f"the history is malformed near event {self.episodes.last_event_id} ({type(error).__name__}: {error}); "
                "nothing was sent"
            ) from error

    def _feed(self, events: Iterable[Event], *, decide: bool) -> None:
        some = self.episodes.some(events)
        with self.loop.running():
            first = self._match_previous(some)
            self.execution.begin(chain((first,), some))
            while self.execution.cut_more():
                self._check_history()
                self._run_episodes(decide=decide)

    def _match_previous(self, some: Iterator[list[Episode]]) -> list[Episode]:
        """Match the episode that was decided here with its answers, once all of them are cut.

        Returns:
            The episodes cut meanwhile.
        """
        previous, cut = self._episode, []
        if previous is not None and not self.replaying:
            for each in some:
                cut += each
                if not self.episodes.is_last(previous):
                    break
            self._check_history()
            if previous.answers is not None:
                self._match(previous)
        return cut

    def _check_history(self) -> None:
        if self.episodes.broken:
            raise HistoryError("the decision task that was decided here never counted: start again from event 1")
        if not self.execution.python:
            self.published.check_contract()

    def answer(self) -> tuple[list[dict[str, Any]], str | None]:
        """The decisions of the open episode as boto3 takes them, and the executionContext to send or None.

        Raises:
            PayloadError: The result or the published state cannot be sent.
        """
        if self._episode is None or self._episode.answers is not None:
            return [], None
        self.outcome.check_refusal()
        return self.execution.answer(self.closing), self.published.to_send()

    def _run_episodes(self, *, decide: bool) -> None:
        """Run the code through the episodes that are cut: those that were decided, and last the one to decide now."""
        execution, outcome, unsent, ready = self.execution, self.outcome, self.execution.unsent, self.loop.ready
        handler_of, observed = _HANDLERS.get, self._observer is not None
        self.replaying = True
        # More may be cut meanwhile, when a marker is looked for: the iteration comes to them too.
        for execution.index, episode in enumerate(execution.episodes):
            answers = episode.answers
            if answers is None and not decide:
                break
            self._episode, execution.at = episode, 0
            unusual = observed or answers is None
            execution.answers = NONE if unusual else answers
            if answers is None or self.lost:
                self.replaying = answers is not None
                if self.lost:
                    self.closing = outcome.close()
                    continue
                # The clock must be readable before code asks for it: code cannot answer for the history.
                time_of(episode.started)
            for event in episode.events:
                try:
                    entry = handler_of(event["eventType"])
                    if entry is None:
                        woken = None
                        self._about_the_run(event)
                    elif entry[0] is None:
                        continue
                    else:
                        woken = entry[0](execution, event[entry[1]], event)
                except MALFORMED as error:
                    raise malformed(event, error) from error
                if woken is not None:
                    woken.step()
                if ready:
                    self.loop.run_until_blocked()
                if self.halted:
                    break
            if unusual or self.halted or outcome.kind:
                self._end_episode(episode)
                execution.passed.append(episode)
            elif unsent or execution.at < len(answers):
                self._match(episode)
                execution.passed.append(episode)
        execution.pass_by()

    def _end_episode(self, episode: Episode) -> None:
        """The code has seen all of an episode: see whether the run may close, and match what it decided."""
        if self.outcome.lost:
            # Clean-up that ran as the code was stopped would decide the same again in every decision task.
            self.execution.unsent.clear()
        if self.outcome.kind:
            self.closing = None if self.stopped else self.outcome.close()
        if self._observer is not None and not self.stopped:
            self._observer(episode, self.execution.answer(self.closing))
        if episode.answers is not None and not self.outcome.lost:
            self._match(episode)

    def _match(self, episode: Episode) -> None:
        if self.lost:
            return
        ends_here = self.episodes.ends_in_a_transaction and self.episodes.is_last(episode)
        match(self.execution, episode, self.closing, ends_here=ends_here)
        if self.stopped:
            raise diverged(self.execution, episode, [], list(self.execution.unsent.values()), "", ends_here)

    def diverged(self) -> NoReturn:
        """Stop code that asks for something the recorded batch does not have; the episode is matched as it is."""
        self.stopped = self.halted = True
        raise Stopped

    def check_markers(self, name: str) -> None:
        """Fail the run if SWF refused a marker of this name in the batch being re-run."""
        cause = self.execution.recorded_marker(name, "")
        if cause is not None:
            self._lose(name, cause, None)
            raise Stopped

    def _lose(self, name: str, cause: str, event_id: int | None) -> None:
        """A value that code has seen was not recorded: no replay can go on, so the run fails with what it has."""
        message = f"SWF did not record marker {name}: {cause}; the value it should have kept is lost"
        self.lost = self.halted = True
        self.outcome.lose(MarkerFailed(message, cause=cause, event_id=event_id))
        self.execution.unsent.clear()

    # --- events about the run ---------------------------------------------------------------

    def _about_the_run(self, event: Event) -> None:
        kind = event["eventType"]
        if kind not in CLOSES:
            self.outcome.refusal = None
        if kind == "WorkflowExecutionSignaled":
            attributes = event["workflowExecutionSignaledEventAttributes"]
            self.signals.arrive(attributes["signalName"], text_of(attributes, "input"), event["eventId"])
        elif kind == "WorkflowExecutionCancelRequested":
            self._cancel_requested()
        elif kind == "WorkflowExecutionStarted":
            self.base_context.run(begin, self, event)
        elif kind in CLOSES:
            attributes = event[f"{kind[0].lower()}{kind[1:]}EventAttributes"]
            self.outcome.refused(CLOSES[kind][0], attributes["cause"], event)
        elif kind not in self._unknown:
            self._unknown.add(kind)
            self.log_warning(f"event {event['eventId']} is of type {kind}, which flowpy does not know: ignored")

    def _cancel_requested(self) -> None:
        self.cancel_requests += 1
        if self.cancel_requests > 1:
            return
        if self.main is not None and not self.main.done():
            self.main.cancel()
        elif self.outcome.kind:
            self.outcome.cancel_open()

    # --- what the parts tell each other -----------------------------------------------------

    def task_ended(self, task: Task[Any]) -> None:
        """A task has ended."""
        self.tasks.pop(task, None)
        self.detached.pop(task, None)
        if task is self.main:
            self.outcome.main_ended(task)

    def task_detached(self, task: Task[Any]) -> None:
        """The close does not wait for a task any more; leaving memory still has to close its code."""
        if task in self.tasks and task is not self.main:
            del self.tasks[task]
            self.detached[task] = None

    def handler_ended(self, task: Task[Any]) -> None:
        """A signal handler has ended: an error leaving it fails the run at once, for nobody can await it."""
        if not task.cancelled() and task.exception() is not None:
            self.outcome.fail(task._error)

    def fail(self, error: BaseException) -> None:
        """Something failed that nobody can await."""
        self.outcome.fail(error)

    def refused(self, attributes: dict[str, Any], event: Event) -> None:
        """RecordMarkerFailed: the value it should have kept is lost."""
        self._lose(attributes["markerName"], attributes["cause"], event["eventId"])

    def task_here(self, what: str) -> Task[Any]:
        """The task being stepped, whose path begins the id of a call.

        Raises:
            ReadOnly: A query, or code of a run that has left memory, made the call.
            NotDeterministic: Another thread than the one stepping the run made the call.
            NotInTask: No task runs: a callback, a finalizer or a constructor made the call.
        """
        task = self.loop.task
        if self.dead or self.read_only:
            self._refused_calls += 1
            if self.dead and self._refused_calls > REFUSED_CALLS:
                return self._ghost
            why = "a query only reads" if self.read_only else "this run has left memory and is only cleaning up"
            raise ReadOnly(f"{what} cannot be called here: {why}")
        if self.loop.thread == COLLECTING:
            raise NotInTask(
                f"{what} was called by code that the garbage collector runs, whenever it comes by, so its ids would "
                "differ from replay to replay: make the call where the object is used"
            )
        if get_ident() != self.loop.thread:
            raise NotDeterministic(
                f"{what} was called on a thread of its own: decisions of a run come only from the code it steps; do "
                "what the thread does in an activity"
            )
        if task is None:
            raise NotInTask(
                f"{what} was called where no task runs (a callback, a finalizer, or __init__ of a workflow class), so "
                "it has no place to take its id from: await it in a task"
            )
        return task

    @property
    def _ghost(self) -> Task[Any]:
        """A task that is never stepped, for calls of code that refuses to die."""
        if self.ghost is None:
            self.ghost = Task(self.loop, sleep_for_ever(), "", context=self.base_context)
            self.loop.ready.clear()
        return self.ghost

    # --- declare.Calls ----------------------------------------------------------------------

    call_activity = schedule_activity

    call_workflow = start_child
    call_asynchronous = spawn_asynchronous

    def receive(self, signal: Any, timeout: int | None) -> Any:
        """The promise of the next value of a signal."""
        self.task_here(f"receive of signal {signal.name}")
        return self.signals.receive(signal, timeout)

    def set_handler(self, signal: Any, function: Callable[..., Any]) -> None:
        """Call a function for every value of a signal."""
        if self.dead or self.read_only:
            self.task_here(f"handler of signal {signal.name}")
        self.signals.set_handler(signal, function)

    # --- facts ------------------------------------------------------------------------------

    @property
    def clock(self) -> float:
        """Epoch seconds of the DecisionTaskStarted event of the episode being run."""
        return seconds(self._episode.started) if self._episode is not None else 0.0

    def current_info(self) -> RunInfo:
        """What is known of the run now."""
        seen = self._episode.started_event_id if self._episode is not None else 0
        return evolve(self.info, cancel_requests=self.cancel_requests, history_length=seen)

    def set_state(self, state: Any) -> None:
        """Publish the state of the run."""
        self.task_here("flowpy.set_state")
        self.published.set(state)

    def lenient(self, text: str | None) -> Any:
        """A payload of unknown origin: its JSON value, or the text itself."""
        if text is None:
            return None
        try:
            return self.converter.decode(text)
        except PayloadError:
            return text

    def log_warning(self, message: str) -> None:
        """Say something once, when the run is decided and not when it is replayed."""
        if not self.replaying and not self.dead:
            _log.warning("%s (%s): %s", self.info.workflow_id, self.info.workflow_type, message)

    def evict(self) -> None:
        """Leave memory: suspended code is closed and decides nothing more (law L10)."""
        evict(self)
