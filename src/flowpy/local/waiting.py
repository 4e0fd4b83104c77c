"""Pollers that wait for a task: first come, first served, and only while they can still be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from flowpy.errors import ServiceError, Throttled
from flowpy.local.engine import Engine

__all__ = ["EMPTY", "Key", "Waiter", "Waiting", "key_of", "listen"]

EMPTY: Final[dict[str, dict[str, Any]]] = {
    "PollForDecisionTask": {"previousStartedEventId": 0, "startedEventId": 0},
    "PollForActivityTask": {"startedEventId": 0},
}
"""What a poll answers that found nothing in time (swf-semantics §1.7)."""

_MOST: Final = 1_000

Call = Callable[[str, dict[str, Any]], dict[str, Any]]

Key = tuple[str, str, str]
"""Operation, domain and task list of a poll."""


def key_of(operation: str, request: dict[str, Any]) -> Key | None:
    """What a valid poll waits for; None for a call that does not wait, such as one for a further page."""
    if operation not in EMPTY or request.get("nextPageToken"):
        return None
    return operation, request["domain"], request["taskList"]["name"]


def listen(engine: Engine, callback: Callable[[], None]) -> None:
    """Adds a listener to ``engine.on_change`` and keeps those that are there."""
    before = engine.on_change

    def both() -> None:
        if before is not None:
            before()
        callback()

    engine.on_change = both


class Waiter(Protocol):
    """A poll that found nothing yet."""

    @property
    def request(self) -> dict[str, Any]:
        """The poll."""
        ...

    def is_there(self) -> bool:
        """Whether somebody would still receive the answer."""
        ...

    def give(self, outcome: dict[str, Any] | ServiceError) -> None:
        """Ends the wait."""
        ...


class Waiting:
    """The polls that wait on one engine. Whoever calls makes sure that nobody else does at the same time.

    Args:
        engine: Where the tasks come from.
        call: The engine's ``call`` or ``call_shared``.
        on_task: Told the taskToken of each task that a waiter is given, before the waiter learns of it.
    """

    def __init__(self, engine: Engine, call: Call, on_task: Callable[[str], None] | None = None) -> None:
        self._engine = engine
        self._call = call
        self._on_task = on_task
        # Dicts serve as queues that can lose members in the middle.
        self._queues: dict[Key, dict[Waiter, None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def park(self, key: Key, waiter: Waiter) -> None:
        """Adds a waiter behind those that wait for the same.

        Raises:
            Throttled: LimitExceededFault, at 1,000 pollers of one task list (swf-semantics §5).
        """
        queue = self._queues.setdefault(key, {})
        if len(queue) >= _MOST:
            raise Throttled(f"Limit exceeded: {_MOST} pollers of task list {key[2]}", fault="LimitExceededFault")
        queue[waiter] = None

    def leave(self, key: Key, waiter: Waiter) -> None:
        """Removes a waiter; nothing happens if it is not there."""
        queue = self._queues.get(key)
        if queue is not None:
            queue.pop(waiter, None)
            if not queue:
                del self._queues[key]

    def hand_out(self) -> int:
        """Gives waiters the tasks there are; gives how many it gave."""
        given = 0
        for key in list(self._queues):
            while self._queues.get(key) and self._engine.has_task(*key):
                given += self._serve(key, next(iter(self._queues[key])))
        return given

    def _serve(self, key: Key, waiter: Waiter) -> int:
        """The oldest waiter is served, or dropped if it cannot be reached any more."""
        self.leave(key, waiter)
        if not waiter.is_there():
            return 0
        try:
            answer = self._call(key[0], waiter.request)
        except ServiceError as error:
            waiter.give(error)
            return 0
        if "taskToken" not in answer:
            # Between the look and the poll the task was closed by a timeout.
            waiting = self._queues.get(key, {})
            self._queues[key] = {waiter: None, **waiting}
            return 0
        if self._on_task is not None:
            self._on_task(answer["taskToken"])
        waiter.give(answer)
        return 1

    def release(self, identity: str | None = None) -> int:
        """Answers every poll, or those of one identity, that it found nothing; gives how many."""
        found = [
            (key, waiter)
            for key, queue in self._queues.items()
            for waiter in queue
            if identity in (None, waiter.request.get("identity"))
        ]
        for key, waiter in found:
            self.leave(key, waiter)
            waiter.give(dict(EMPTY[key[0]]))
        return len(found)
