"""Task lists: higher priority first, then first in, first out."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from attrs import define, field

__all__ = ["Task", "TaskLists"]

Task = tuple[str, int]
"""runId and scheduledEventId."""


@define(eq=False)
class _TaskList:
    heap: list[tuple[int, int, Task]] = field(factory=list)
    waiting: dict[Task, int] = field(factory=dict)


@define(eq=False)
class TaskLists:
    """All task lists of one kind (decision or activity), by domain and name; one that was never used is empty."""

    _lists: dict[tuple[str, str], _TaskList] = field(factory=dict)
    _numbers: count[int] = field(factory=count)

    def put(self, domain: str, name: str, task: Task, priority: int) -> None:
        """Adds a task."""
        tasks = self._lists.setdefault((domain, name), _TaskList())
        number = next(self._numbers)
        tasks.waiting[task] = number
        heappush(tasks.heap, (-priority, number, task))

    def remove(self, domain: str, name: str, task: Task) -> None:
        """Takes a task off its list; nothing happens if it is not there."""
        if (tasks := self._lists.get((domain, name))) is not None:
            tasks.waiting.pop(task, None)

    def take(self, domain: str, name: str) -> Task | None:
        """The next task, taken off the list."""
        tasks = self._lists.get((domain, name))
        while tasks is not None and tasks.heap:
            _, number, task = heappop(tasks.heap)
            # A task that was removed, or removed and put again, leaves its old entry in the heap.
            if tasks.waiting.get(task) == number:
                del tasks.waiting[task]
                return task
        return None

    def count(self, domain: str, name: str) -> int:
        """How many tasks wait on the list."""
        tasks = self._lists.get((domain, name))
        return len(tasks.waiting) if tasks is not None else 0
