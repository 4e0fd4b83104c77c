"""Where executions are found: all in memory, or the open ones only and the closed ones in a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Protocol

from attrs import define, field

from flowpy.local.engine.query import Query
from flowpy.local.engine.state import Execution

__all__ = ["MemoryRuns", "Runs"]


class Runs(Protocol):
    """The executions by runId. Within one transaction the same runId gives the same object."""

    def __getitem__(self, run_id: str, /) -> Execution:
        """The execution; KeyError if there is none."""
        ...

    def get(self, run_id: str, /) -> Execution | None:
        """The execution, open or closed, None if there is none."""
        ...

    def get_open(self, run_id: str, /) -> Execution | None:
        """The execution if it is open; the closed ones are not looked through."""
        ...

    def values(self) -> Iterable[Execution]:
        """All of them, in the order of their start; for tests."""
        ...

    def add(self, run: Execution) -> None:
        """One more, which has just been started."""
        ...

    def retain(self, run: Execution, until: float) -> None:
        """An execution has closed and is to be kept until that epoch second."""
        ...

    def forget(self, now: float, needed: Callable[[str], bool]) -> None:
        """Drops what need not be kept any more.

        Args:
            now: Epoch seconds.
            needed: Whether an execution is needed all the same.
        """
        ...

    def select(self, query: Query, start: int, stop: int) -> list[Execution]:
        """The executions asked for, from one position to before another."""
        ...

    def count(self, query: Query) -> int:
        """How many executions are asked for."""
        ...


@define(eq=False)
class MemoryRuns(Runs):
    """All executions in memory."""

    _runs: dict[str, Execution] = field(factory=dict)
    _retained: list[tuple[float, str]] = field(factory=list)

    def __getitem__(self, run_id: str, /) -> Execution:
        return self._runs[run_id]

    def get(self, run_id: str, /) -> Execution | None:
        return self._runs.get(run_id)

    def get_open(self, run_id: str, /) -> Execution | None:
        run = self._runs.get(run_id)
        return run if run is not None and run.is_open else None

    def values(self) -> Iterable[Execution]:
        return self._runs.values()

    def add(self, run: Execution) -> None:
        self._runs[run.run_id] = run

    def retain(self, run: Execution, until: float) -> None:
        heappush(self._retained, (until, run.run_id))

    def forget(self, now: float, needed: Callable[[str], bool]) -> None:
        while self._retained and self._retained[0][0] <= now and not needed(self._retained[0][1]):
            del self._runs[heappop(self._retained)[1]]

    def select(self, query: Query, start: int, stop: int) -> list[Execution]:
        found = sorted(filter(query.matches, self._runs.values()), key=query.at)
        return (found[::-1] if query.newest_first else found)[start:stop]

    def count(self, query: Query) -> int:
        return sum(map(query.matches, self._runs.values()))
