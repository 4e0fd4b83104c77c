"""What is due when.

An execution holds its deadlines; the heap only orders them, so moving or cancelling one leaves a dead entry behind
that is skipped later.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Final

from attrs import define, field, frozen

from flowpy.local.engine.state import Execution

__all__ = ["Deadline", "Deadlines", "seconds"]

# Equal deadlines fire in this order (swf-semantics U8); kinds not named come first, in the order they were set.
_RANKS: Final = {"activity.SCHEDULE_TO_CLOSE": 1, "activity.HEARTBEAT": 2, "execution.START_TO_CLOSE": 3}


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

    _heap: list[tuple[float, int, int, Deadline]] = field(factory=list)
    _count: int = 0

    def set(self, run: Execution, kind: str, event_id: int, at: float) -> None:
        """Sets a deadline, or moves the one of the same kind and event."""
        run.deadlines[kind, event_id] = at
        self._count += 1
        heappush(self._heap, (at, _RANKS.get(kind, 0), self._count, Deadline(at, kind, run.run_id, event_id)))

    def cancel(self, run: Execution, kind: str, event_id: int) -> None:
        """Drops a deadline; nothing happens if there is none."""
        run.deadlines.pop((kind, event_id), None)

    def first(self, runs: dict[str, Execution]) -> Deadline | None:
        """The earliest deadline that still holds."""
        while self._heap:
            deadline = self._heap[0][3]
            run = runs.get(deadline.run_id)
            if run is not None and run.deadlines.get((deadline.kind, deadline.event_id)) == deadline.at:
                return deadline
            heappop(self._heap)
        return None
