"""Task lists: higher priority first, then first in, first out."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Final

from attrs import define, field

__all__ = ["Task", "TaskLists"]

Task = tuple[str, int]
"""runId and scheduledEventId."""

_SPARE: Final = 100
"""As many dead entries are not worth a sweep."""


@define(eq=False)
class _TaskList:
    heap: list[tuple[int, int, Task]] = field(factory=list)
    waiting: dict[Task, int] = field(factory=dict)


@define(eq=False)
class TaskLists:
    """All task lists of one kind (decision or activity), by domain and name; one that was never used is empty."""

    _lists: dict[tuple[str, str], _TaskList] = field(factory=dict)
    _count: int = 0

    def put(self, domain: str, name: str, task: Task, priority: int, place: int = 0) -> int:
        """Adds a task.

        Args:
            domain: Name of the domain.
            name: Name of the list.
            task: The task, which is on no list.
            priority: Higher comes first.
            place: Its place among those of its priority, as this method gave it once; 0 for the end.

        Returns:
            Its place.
        """
        place = place or self._count + 1
        self._count = max(self._count, place)
        tasks = self._lists.setdefault((domain, name), _TaskList())
        tasks.waiting[task] = place
        heappush(tasks.heap, (-priority, place, task))
        return place

    def remove(self, domain: str, name: str, task: Task) -> None:
        """Takes a task off its list; nothing happens if it is not there."""
        tasks = self._lists.get((domain, name))
        if tasks is None or tasks.waiting.pop(task, None) is None:
            return
        # Deciders give lists names of their own, so one that is empty is not kept.
        if not tasks.waiting:
            del self._lists[domain, name]
        elif len(tasks.heap) > 2 * len(tasks.waiting) + _SPARE:
            tasks.heap = [entry for entry in tasks.heap if tasks.waiting.get(entry[2]) == entry[1]]
            heapify(tasks.heap)

    def take(self, domain: str, name: str) -> Task | None:
        """The next task, taken off the list."""
        tasks = self._lists.get((domain, name))
        while tasks is not None:
            _, place, task = heappop(tasks.heap)
            # A task that was removed, or removed and put again, leaves its old entry in the heap.
            if tasks.waiting.get(task) == place:
                self.remove(domain, name, task)
                return task
        return None

    def counts(self, domain: str) -> dict[str, int]:
        """How many tasks wait on each list of a domain, for lists that have any."""
        return {name: len(tasks.waiting) for (of, name), tasks in self._lists.items() if of == domain}

    def count(self, domain: str, name: str) -> int:
        """How many tasks wait on the list."""
        tasks = self._lists.get((domain, name))
        return len(tasks.waiting) if tasks is not None else 0
