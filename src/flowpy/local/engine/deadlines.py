"""What is due when.

An execution holds the numbers of its deadlines and the heap orders them, so moving or cancelling one leaves a dead
entry behind that is skipped later, or swept out when most of the heap is dead.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from attrs import define, field, frozen

from flowpy.local.engine.state import Execution

__all__ = ["Deadline", "Deadlines", "seconds"]

# Equal deadlines fire in this order (swf-semantics U8); kinds not named come first, in the order they were set.
_RANKS: Final = {"activity.SCHEDULE_TO_CLOSE": 1, "activity.HEARTBEAT": 2, "execution.START_TO_CLOSE": 3}

_SPARE: Final = 1_000
"""As many dead entries are not worth a sweep."""


def seconds(duration: str | None) -> int | None:
    """A duration of SWF as seconds, None for "NONE", "" or absent."""
    return int(duration) if duration and duration != "NONE" else None


@frozen
class Deadline:
    """Something that happens to an execution at a time.

    Attributes:
        at: Epoch seconds.
        kind: Key into ``dispatch.DEADLINES``.
        run_id: The execution.
        event_id: The event it belongs to.
    """

    at: float
    kind: str
    run_id: str
    event_id: int


@define(eq=False)
class Deadlines:
    """The deadlines of all executions, in order."""

    _heap: list[tuple[float, int, int]] = field(factory=list)
    _live: dict[int, Deadline] = field(factory=dict)
    _count: int = 0

    def set(self, run: Execution, kind: str, event_id: int, at: float) -> None:
        """Sets a deadline, or moves the one of the same kind and event."""
        self.cancel(run, kind, event_id)
        number = self._count + 1
        run.deadlines[kind, event_id] = (at, number)
        self.restore(number, Deadline(at, kind, run.run_id, event_id))

    def restore(self, number: int, deadline: Deadline) -> None:
        """Puts a deadline in its place that its execution holds under this number already."""
        self._count = max(self._count, number)
        self._live[number] = deadline
        heappush(self._heap, (deadline.at, _RANKS.get(deadline.kind, 0), number))
        if len(self._heap) > 2 * len(self._live) + _SPARE:
            self._heap = [entry for entry in self._heap if entry[2] in self._live]
            heapify(self._heap)

    def cancel(self, run: Execution, kind: str, event_id: int) -> None:
        """Drops a deadline; nothing happens if there is none."""
        held = run.deadlines.pop((kind, event_id), None)
        if held is not None:
            del self._live[held[1]]

    def drop(self, run: Execution) -> None:
        """Drops all deadlines of an execution."""
        for _, number in run.deadlines.values():
            del self._live[number]
        run.deadlines.clear()

    def first(self) -> Deadline | None:
        """The earliest deadline that still holds."""
        while self._heap:
            deadline = self._live.get(self._heap[0][2])
            if deadline is not None:
                return deadline
            heappop(self._heap)
        return None
