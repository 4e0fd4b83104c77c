"""Runs kept in memory, and the task list on which their decision tasks come back to this process."""

from __future__ import annotations

import logging
import os
import socket
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol
from uuid import uuid4

from attrs import define, field

from flowpy.service.paging import PolledDecisionTask
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.run_threads import PATIENCE, RunThread

__all__ = ["KeepingDecider", "Sticky", "Watched", "is_away", "sticky_task_list"]

Decide = Callable[[PolledDecisionTask], Any]
Watched = Callable[[PolledDecisionTask, Decide], Any]
"""Calls the second with the first, watched by the watchdog."""

CLOSE_WITHIN: Final = 2.0
"""Seconds that a thread gets to close the code of its runs when the worker ends."""

_log: Final = logging.getLogger("flowpy.worker")


class KeepingDecider(Protocol):
    """What one thread decides with: ``flowpy.runtime.sticky.StickyDecider``."""

    def decide(self, task: Any) -> Any:
        """The answer, or None if the whole history is needed."""
        ...

    def __contains__(self, run_id: object) -> bool:
        """Whether a run is kept."""
        ...

    def accepted(self, run_id: str, started_event_id: int) -> None:
        """The service has taken the answer to a decision task."""
        ...

    def evict(self, run_id: str, reason: str, started_event_id: int | None = None) -> None:
        """The run leaves memory, if the decision task given is the one it decided last."""
        ...

    def evict_all(self, reason: str) -> None:
        """All leave memory."""
        ...

    def __len__(self) -> int:
        """How many runs are kept."""
        ...


def sticky_task_list(task_list: str) -> str:
    """A name for the list of one worker, made from that of the shared list; no two are alike."""
    return f"{task_list[:120]}.sticky.{socket.gethostname()[:64]}.{os.getpid()}.{uuid4().hex[:12]}"


def is_away(events: list[dict[str, Any]]) -> bool:
    """Whether the decision tasks of a run are on the list of some process, and not on the shared one.

    Args:
        events: The run's history, or its end with the last DecisionTaskCompleted.
    """
    for event in reversed(events):
        if event["eventType"] == "DecisionTaskTimedOut":
            return False
        if event["eventType"] == "DecisionTaskCompleted":
            told = event["decisionTaskCompletedEventAttributes"]
            return (told.get("taskListScheduleToStartTimeout") or "NONE") != "NONE" and "taskList" in told
    return False


@define(eq=False)
class _Owner:
    """A thread and what it decides with.

    Attributes:
        accepted: Answers that the service has taken, as the decider is told before its next decision: waking the
            thread for each would cost more than all else that is done for it.
    """

    thread: RunThread
    decider: KeepingDecider
    decide: Decide
    accepted: deque[tuple[str, int]] = field(factory=deque)


@define(eq=False)
class Sticky:
    """Decides on kept runs, each always on the same thread.

    Args:
        lifecycle: The worker's: once it stops, nothing is kept any more.
        cold: Decides from the whole history and keeps nothing; for runs whose thread is stuck.
        deciders: For each thread what it decides with, and ``decide`` of that under the guard.
        task_list: Task list of this process.
        timeout: Seconds that a decision task waits on it before SWF puts it on the shared list.
        patience: Seconds until a thread is taken to be stuck.
    """

    lifecycle: Lifecycle
    cold: Decide
    deciders: list[tuple[KeepingDecider, Decide]]
    task_list: str
    timeout: int
    patience: float = PATIENCE
    _owners: list[_Owner] = field(factory=list, init=False)
    _sending: dict[str, threading.Event] = field(factory=dict, init=False)
    _given_up: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Start the threads."""
        for number, (decider, decide) in enumerate(self.deciders, 1):
            self._owners.append(_Owner(RunThread(f"flowpy-runs-{number}", self.patience), decider, decide))

    @property
    def active(self) -> bool:
        """Whether runs are kept and called back to this process."""
        return not self._given_up and not self.lifecycle.stopping.is_set()

    @property
    def kept(self) -> int:
        """How many runs are in memory."""
        return sum(len(owner.decider) for owner in self._owners)

    @property
    def override(self) -> dict[str, Any]:
        """What an answer carries that calls the run's next decision task back to this process."""
        return {"taskList": {"name": self.task_list}, "taskListScheduleToStartTimeout": str(self.timeout)}

    def give_up(self, error: BaseException) -> None:
        """This process may not have a list of its own: from now on every task is decided from its whole history."""
        if not self._given_up:
            self._given_up = True
            _log.warning(
                "task list %r of this worker is refused, so runs are not kept in memory between decisions; allow it "
                "(IAM condition swf:taskList.name), or set WorkerSettings(sticky=False): %s",
                self.task_list,
                error,
            )

    def decide(self, task: PolledDecisionTask, watched: Watched) -> tuple[Any, bool]:
        """Decide a task on the thread of its run.

        Returns:
            The answer and whether the run is kept; (None, False) if the whole history is needed.
        """
        # The next task may be here before the service's reply to the last answer is: kept runs wait for that.
        sent = self._sending.get(task.run_id)
        if sent is not None:
            sent.wait(self.patience)
        owner = self._owner(task.run_id)
        begun = owner.thread.begin(lambda: self._decide(owner, task, watched))
        if begun is not None:
            return begun.result()
        self.lifecycle.count("cache_threads_stuck")
        if task.events and task.events[0]["eventId"] == 1:
            self.lifecycle.count("replays")
            return watched(task, self.cold), False
        return None, False

    def _decide(self, owner: _Owner, task: PolledDecisionTask, watched: Watched) -> tuple[Any, bool]:
        accepted = owner.accepted
        while accepted:
            owner.decider.accepted(*accepted.popleft())
        answer = watched(task, owner.decide)
        if not self.active:
            owner.decider.evict(task.run_id, "drained")
        return answer, task.run_id in owner.decider

    @contextmanager
    def sending(self, task: PolledDecisionTask) -> Iterator[Callable[[], None]]:
        """Around the sending of an answer with which the run is kept: call what this gives when the service has it.

        Otherwise the run leaves memory: what became of the answer is not known.
        """
        sent = self._sending[task.run_id] = threading.Event()
        owner, accepted = self._owner(task.run_id), False

        def accept() -> None:
            nonlocal accepted
            accepted = True
            owner.accepted.append((task.run_id, task.started_event_id))

        try:
            yield accept
        finally:
            if not accepted:
                owner.thread.post(lambda: owner.decider.evict(task.run_id, "unanswered", task.started_event_id))
            if self._sending.get(task.run_id) is sent:
                del self._sending[task.run_id]
            sent.set()

    def let_go(self, task: PolledDecisionTask) -> None:
        """A run that was kept is not wanted any more: it leaves memory."""
        owner = self._owner(task.run_id)
        owner.thread.post(lambda: owner.decider.evict(task.run_id, "drained", task.started_event_id))

    def close(self) -> None:
        """All runs leave memory, each on its thread, and the threads end."""
        for owner in self._owners:
            owner.thread.post(lambda decider=owner.decider: decider.evict_all("drained"))  # type: ignore[misc]
        for owner in self._owners:
            if not owner.thread.close(CLOSE_WITHIN):
                _log.error("workflow code does not let go of its thread: its runs are left in memory")

    def _owner(self, run_id: str) -> _Owner:
        return self._owners[zlib.crc32(run_id.encode()) % len(self._owners)]
