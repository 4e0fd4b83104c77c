"""The kernel's state for one run: what is open, what waits to be sent, and how recorded answers are matched.

Pure: no I/O, no clock, no event loop. The runtime calls the methods that make and unmake decisions while workflow code
runs, and feeds recorded events through ``apply``; listeners carry the outcomes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from flowpy.errors import DuplicateId, NotInTask
from flowpy.history.episode import Cut, Episode
from flowpy.history.events import Event
from flowpy.replay.answers import markers_may_wait, recorded_markers
from flowpy.replay.divergence import Difference
from flowpy.replay.entities import (
    CLOSED,
    CREATED,
    SENT,
    ActivityTask,
    CancelActivity,
    CancelTimer,
    ChildWorkflow,
    Close,
    Entity,
    ExternalCancel,
    ExternalRequest,
    LambdaFunction,
    Marker,
    Site,
    Timer,
)
from flowpy.replay.outbox import MAX_OPEN, Key, Outbox, Seal, key_of

NONE: Final[list[Event]] = []
"""No answers, or none that decisions are matched with as the code makes them."""

KEPT: Final = 3
"""How many of the last matched decisions a divergence report shows."""


class Execution:
    """What the kernel knows of one run.

    Attributes:
        outbox: Decisions made and not yet recorded.
        unsent: They by their keys: the outbox's own dict.
        activities, timers, children, requests, lambdas: What the service has open, by the id of the event that
            answered its decision.
        marker_listener: Told when SWF refuses a marker.
        episodes: The episodes being run, a few at a time, in the form in which they were cut.
        passed: Those run before that had other answers than activities scheduled as the code does.
        before: Id of the DecisionTaskStarted of the last episode run before these.
        current: The one being run now, or run last.
        answers: The recorded answers that decisions are matched with as the code makes them: ActivityTaskScheduled.
        all_noted: Whether ``open_ids`` has all activities, also those matched as the code made them.
        at: How many answers of the episode were matched so.
        refused: Decisions the service refused, by event id, until that event is applied.
        own_timers: Event ids of open ``flowpy.again`` timers.
        again: How many ``flowpy.again`` timers the run has had.
        warnings: Harmless differences between history and code, in order.
        matched: The last decisions that matched.
        patches: Answers of ``patched`` by id, for the whole run (CONTRACTS §5).
        python: The Python version that decided the run first, "" if unknown.
        workflow: (name, version) of the workflow type.
        recorded_workflow: The same as history has it.
        where: Tells where the code waits now, for a report.
    """

    __slots__ = (
        "_looked_up",
        "_markers",
        "_more",
        "activities",
        "again",
        "all_noted",
        "answers",
        "at",
        "before",
        "children",
        "current",
        "episodes",
        "lambdas",
        "marker_listener",
        "matched",
        "open_ids",
        "outbox",
        "own_timers",
        "passed",
        "patches",
        "python",
        "recorded_workflow",
        "refused",
        "requests",
        "timers",
        "unsent",
        "warnings",
        "where",
        "workflow",
    )

    def __init__(self) -> None:
        self.outbox = Outbox()
        self.unsent = self.outbox.unsent
        self.activities: dict[int, ActivityTask] = {}
        self.timers: dict[int, Timer] = {}
        self.children: dict[int, ChildWorkflow] = {}
        self.requests: dict[int, ExternalRequest] = {}
        self.lambdas: dict[int, LambdaFunction] = {}
        self._markers: dict[tuple[str, str], str] = {}
        self._looked_up: Episode | None = None
        self.marker_listener: Any = None
        self.episodes: list[Cut] = []
        self.passed: list[Episode] = []
        self.before = 0
        self._more: Iterator[list[Cut]] = iter(())
        self.current: Cut | None = None
        self.answers = NONE
        self.at = 0
        self.all_noted = True
        self.refused: dict[int, Entity] = {}
        self.open_ids: dict[Key, Entity] = {}
        self.own_timers: set[int] = set()
        self.again = 0
        self.warnings: list[Difference] = []
        self.patches: dict[str, bool] = {}
        self.python = ""
        self.where: Callable[[], list[Site]] | None = None
        self.workflow = self.recorded_workflow = ("", "")
        self.matched: deque[Entity] = deque(maxlen=KEPT)

    @property
    def episode(self) -> Episode | None:
        """The episode being run now, or run last."""
        current = self.current
        if type(current) is not tuple:
            return current  # type: ignore[return-value] # mypy does not narrow by exact types
        self.current = made = Episode.from_cut(current)
        for at, each in enumerate(self.episodes):
            if each is current:
                self.episodes[at] = made  # in place: these are being run
        return made

    @property
    def started(self) -> Event | None:
        """The DecisionTaskStarted of that episode: its time is the run's clock."""
        current = self.current
        return current[2] if type(current) is tuple else current and current.started  # type: ignore[union-attr, return-value]

    # --- decisions that code makes ----------------------------------------------------------

    def make(self, entity: Entity) -> None:
        """Take a new entity whose decision is to be sent.

        Raises:
            DuplicateId: One of its kind with this id is open in the run.
            NotInTask: A finalizer made the call.
        """
        site = entity.site
        if site is not None and site[0].co_name == "__del__":
            raise NotInTask(
                f"{site[0].co_qualname} made a call that decides: when a finalizer runs is up to the collector, so its "
                "ids would differ from replay to replay; make the call where the object is used"
            )
        decision_type = entity.decision_type
        key = key_of(decision_type, entity.id)
        if not self.all_noted:
            self._note_activities()
        if self.open_ids.setdefault(key, entity) is not entity:
            raise DuplicateId(
                f"{entity.decision_type} {entity.id!r}: one with this id is open in this run; "
                "wait for its end, or give another id"
            )
        self.outbox.unsent[key] = entity

    def _note_activities(self) -> None:
        """Note the ids of activities that were matched as they were made, and go on without that in this episode."""
        self.answers, self.all_noted = NONE, True
        for task in self.activities.values():
            if task.state == SENT:
                self.open_ids.setdefault(task.id, task)

    def close(self, entity: Entity) -> None:
        """The entity has ended; its id is free again."""
        entity.state = CLOSED
        key = key_of(entity.decision_type, entity.id)
        if self.open_ids.get(key) is entity:
            del self.open_ids[key]

    def unmake(self, entity: Entity) -> bool:
        """Drop an entity whose decision was not sent yet. Returns False if it was sent or has ended."""
        if entity.state != CREATED:
            return False
        self.outbox.drop(entity.decision_type, entity.id)
        self.close(entity)
        return True

    def cancel_activity(self, task: ActivityTask, site: Site = None) -> None:
        """Cancel an activity: drop it, ask it to stop, or nothing if it has ended or was asked."""
        if not self.unmake(task) and task.state == SENT:
            request = CancelActivity(task.id, task.name, task.version, site=site)
            self.outbox.unsent.setdefault(key_of(request.decision_type, request.id), request)

    def cancel_timer(self, timer: Timer, site: Site = None) -> None:
        """Cancel a timer; from now on its id is free."""
        if not self.unmake(timer) and timer.state == SENT:
            self.close(timer)
            cancel = CancelTimer(timer.id, site=site)
            cancel.event_id = timer.event_id
            self.outbox.add(cancel)

    def cancel_child(self, child: ChildWorkflow, site: Site = None) -> None:
        """Cancel a child by its workflowId, so that a child that continued as new is reached as well."""
        if not self.unmake(child) and child.state == SENT:
            request = ExternalCancel(child.cancel_control, version=child.id, site=site)
            key = key_of(request.decision_type, request.id)
            if key not in self.open_ids:
                self.make(request)

    def forget_requests(self, entity: Entity) -> None:
        """What has ended need not be asked to stop: drop a request that was not sent yet."""
        if isinstance(entity, ActivityTask):
            self.outbox.drop(CancelActivity.decision_type, entity.id)
        elif isinstance(entity, Timer):
            cancel = self.outbox.unsent.get(key_of(CancelTimer.decision_type, entity.id))
            if cancel is not None and cancel.event_id == entity.event_id:
                self.outbox.drop(CancelTimer.decision_type, entity.id)
        elif isinstance(entity, ChildWorkflow):
            request = self.outbox.drop(ExternalCancel.decision_type, entity.cancel_control)
            if request is not None:
                self.close(request)

    # --- markers ----------------------------------------------------------------------------

    def begin(self, episodes: Iterator[list[Cut]]) -> None:
        """Episodes are about to be run one after the other, as they are cut; ``episode`` says which."""
        self.episodes, self.passed = [], []
        self._more = episodes
        self._looked_up = None

    def cut_more(self) -> bool:
        """Add a few episodes to those being run; returns whether there were any left to cut."""
        for some in self._more:
            self.episodes.extend(some)
            return True
        return False

    def pass_by(self) -> None:
        """All episodes that are cut have been run. Most are never asked for again, and kept they would cost a lot."""
        if self.episodes:
            last = self.episodes[-1]
            started = last[2] if type(last) is tuple else last.started  # type: ignore[union-attr]
            self.before = started["eventId"]
            self.episodes = []

    def cut_all(self) -> list[Episode]:
        """All episodes of the history, for a report."""
        while self.cut_more():
            pass
        return self.cut_now()

    def cut_now(self) -> list[Episode]:
        """The episodes that are cut."""
        return [Episode.from_cut(each) for each in self.episodes]

    def _from_here(self) -> Iterator[Episode]:
        """The episode being run and those after it, as far as they are asked for."""
        here = self.episode
        at = next((at for at, each in enumerate(self.episodes) if each is here), 0)
        while at < len(self.episodes) or self.cut_more():
            yield from map(Episode.from_cut, self.episodes[at:])
            at = len(self.episodes)

    def recorded_marker(self, name: str, id: str) -> str | None:
        """Details of a marker in the recorded batch of the episode being re-run, or None.

        A batch that overflowed goes on in the batches after it, as long as each ends with a ``flowpy.again`` timer.
        """
        if self._looked_up is not self.episode:
            self._looked_up = self.episode
            self._markers = recorded_markers(self._from_here())
        return self._markers.get((name, id))

    def markers_may_wait(self) -> bool:
        """Whether a marker that is not recorded may just not have been sent, because the batches were full."""
        return markers_may_wait(self._from_here())

    def marker(self, name: str, id: str, details: str, site: Site = None) -> None:
        """Record a marker; an already recorded one is matched like any other decision."""
        entity = Marker(f"{name}\0{id}", name, input=details, listener=self.marker_listener, site=site)
        self.outbox.unsent.setdefault(key_of(entity.decision_type, entity.id), entity)

    # --- the answer -------------------------------------------------------------------------

    def open_now(self) -> dict[str, int]:
        """How many of each limited kind the service has open."""
        return {
            "ScheduleActivityTask": len(self.activities),
            "StartTimer": len(self.timers) + len(self.own_timers),
            "StartChildWorkflowExecution": len(self.children),
        }

    def answer(self, close: Close | None, seal: Seal | None = None) -> list[dict[str, Any]]:
        """The decisions to send for the decision task being decided, their payloads sealed if it is said how."""
        unsent = self.unsent
        if len(unsent) == 1 and close is None and seal is None:
            (entity,) = unsent.values()
            if entity.decision_type == "ScheduleActivityTask" and len(self.activities) < MAX_OPEN:
                return [entity.decision()]  # what batch gives
        return self.outbox.batch(self.open_now(), close, self.again + 1, seal)
