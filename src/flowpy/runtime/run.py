"""One live execution of a workflow: its code on a deterministic loop, driven event by event through the kernel.

This class only connects: the kernel (``execution``) knows what is open, the loop steps the code, ``outcome`` decides
when the run may close, ``signals`` and ``timers`` keep their own books.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterable
from contextvars import Context
from functools import partial
from threading import get_ident
from typing import Any, Final, NoReturn

from attrs import evolve

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.decoders import Decoder
from flowpy.data.redaction import hidden
from flowpy.data.sealing import open_events, seal_context, seal_decision
from flowpy.declare.calling import current
from flowpy.declare.signature import Signature
from flowpy.declare.workflow import Workflow
from flowpy.errors import (
    FlowpyError,
    HistoryError,
    MarkerFailed,
    NotDeterministic,
    NotInTask,
    PayloadError,
    PayloadUnavailable,
    ReadOnly,
)
from flowpy.history.episode import Episode
from flowpy.history.episodes import Episodes
from flowpy.history.events import Event, seconds
from flowpy.history.malformed import MALFORMED
from flowpy.replay.entities import Close
from flowpy.replay.execution import Execution
from flowpy.runtime.activities import ActivityPromise
from flowpy.runtime.activities import call_activity as schedule_activity
from flowpy.runtime.asynchronous import call_asynchronous as spawn_asynchronous
from flowpy.runtime.children import ChildCall
from flowpy.runtime.children import call_workflow as start_child
from flowpy.runtime.driving import run_through
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
        readers: What reads the results of activities, by their signatures.
        open_calls: Activities, children and Lambda functions the close waits for, by the numbers of their promises;
            without those activities that were matched with their answers as they were made.
        tasks: Tasks the close waits for, in order of creation.
        detached: Tasks that run on without the close waiting for them.
        unmatched: The one decided here whose recorded answers have not come yet.
        observer: Told of every episode.
        replaying: Whether an episode that is decided already is being re-run.
        quiet: Whether it decides once more what was decided before, and so logs nothing.
        read_only: Whether a query is looking at it.
        dead: Whether it has left memory.
    """

    __slots__ = (
        "_refused_calls",
        "base_context",
        "cancel_requests",
        "closing",
        "converter",
        "dead",
        "detached",
        "episodes",
        "execution",
        "generators",
        "ghost",
        "halted",
        "info",
        "instance",
        "loop",
        "lost",
        "main",
        "observer",
        "open_calls",
        "outcome",
        "published",
        "quiet",
        "read_only",
        "readers",
        "replaying",
        "signals",
        "started",
        "stopped",
        "tasks",
        "timers",
        "unknown",
        "unmatched",
        "unreadable",
        "workflow",
    )

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
        self.open_calls: dict[int, ActivityPromise | ChildCall | LambdaCall] = {}
        self.tasks: dict[Task[Any], None] = {}
        self.detached: dict[Task[Any], None] = {}
        self.execution.where = lambda: waiting_sites(self.tasks)
        self.readers: dict[Signature, tuple[type | None, Decoder]] = {}
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
        self.quiet = False
        self.read_only = False
        self.dead = False
        self.stopped = False
        self.lost = False
        self.halted = False
        self._refused_calls = 0
        self.closing: Close | None = None
        self.published = Published(self)
        self.observer = observer
        self.unmatched: Episode | None = None
        self.unknown: set[str] = set()
        self.unreadable: PayloadUnavailable | None = None
        self.base_context = Context()
        self.base_context.run(current.set, self)
        if hidden.get():
            self.base_context.run(hidden.set, True)

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
            PayloadUnavailable: A payload is encoded or kept elsewhere, and cannot be had here.
        """
        if not self.converter.payloads.is_plain:
            # Before any code runs: what cannot be read now must not look like a failure to the code.
            events = open_events(events, self.converter.payloads)
        try:
            run_through(self, events, decide=decide)
        except FlowpyError:
            raise
        except (ValueError, *MALFORMED) as error:
            # Code's own errors stay in its tasks: what comes out here is about the events, whichever it is.
            raise HistoryError(
                f"the history is malformed near event {self.episodes.last_event_id} ({type(error).__name__}: {error}); "
                "nothing was sent"
            ) from error

    def answer(self) -> tuple[list[dict[str, Any]], str | None]:
        """The decisions of the open episode as boto3 takes them, and the executionContext to send or None.

        Raises:
            PayloadError: The result or the published state cannot be sent, or a payload cannot be encoded or kept.
        """
        episode: Any = self.execution.current
        if episode is None or type(episode) is tuple or episode.answers is not None:
            return [], None
        if self.outcome.refusal is not None:
            self.outcome.check_refusal()
        payloads = self.converter.payloads
        if payloads.is_plain:
            return self.execution.answer(self.closing), self.published.to_send()
        decisions = self.execution.answer(self.closing, partial(seal_decision, payloads=payloads))
        context = self.published.to_send()
        return decisions, None if context is None else seal_context(context, payloads)

    def diverged(self) -> NoReturn:
        """Stop code that asks for something the recorded batch does not have; the episode is matched as it is."""
        self.stopped = self.halted = True
        raise Stopped

    def cannot_read(self, error: PayloadUnavailable) -> NoReturn:
        """Stop code that asks for a recorded value that cannot be opened here: the run is held."""
        self.unreadable = error
        self.stopped = self.halted = True
        raise Stopped

    def check_markers(self, name: str, id: str) -> None:
        """Fail the run if SWF refused a marker of this name in the batch being re-run, when code asks for this one."""
        cause = self.execution.recorded_marker(name, "")
        if cause is not None:
            self._lose(name, cause, None, id)
            raise Stopped

    def _lose(self, name: str, cause: str, event_id: int | None, id: str = "") -> None:
        """A value that code has seen was not recorded: no replay can go on, so the run fails with what it has."""
        message = f"SWF did not record marker {name}: {cause}; the value it should have kept is lost"
        self.lost = self.halted = True
        self.outcome.lose(MarkerFailed(message, cause=cause, id=id, event_id=event_id))
        self.execution.unsent.clear()

    # --- what the parts tell each other -----------------------------------------------------

    def task_ended(self, task: Task[Any]) -> None:
        """A task has ended."""
        self.tasks.pop(task, None)
        self.detached.pop(task, None)
        # Nobody can ask for it again: no other task ever has this path.
        self.generators.pop(task.path, None)
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
        started = self.execution.started
        return seconds(started) if started is not None else 0.0

    def current_info(self) -> RunInfo:
        """What is known of the run now."""
        started = self.execution.started
        return evolve(
            self.info,
            cancel_requests=self.cancel_requests,
            undecodable_signals=self.signals.undecodable,
            history_length=started["eventId"] if started is not None else 0,
        )

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
        if not self.replaying and not self.quiet and not self.dead:
            _log.warning("%s (%s): %s", self.info.workflow_id, self.info.workflow_type, message)

    def forget_seen(self) -> list[Event]:
        """Let go of events, which a report only needs of a run that is kept; returns those of the last episode."""
        matched = self.execution.matched
        while matched:
            matched.pop()  # clear would keep a block of memory more
        episode: Any = self.execution.current
        if type(episode) is tuple:
            episode = self.execution.episode
        if episode is None:
            return []
        seen: list[Event] = episode.events
        episode.events = []
        return seen

    def evict(self) -> None:
        """Leave memory: suspended code is closed and decides nothing more (law L10)."""
        evict(self)
