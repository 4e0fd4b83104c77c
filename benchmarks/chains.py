"""What the two libraries do with chains: the whole of one, replay only or from wire bytes; a new event; memory.

The work is a whole chain of N activities: N + 1 decision tasks, the first with 3 events, each further one with the 6
that are new. flowpy is given those, botoflow the history from event 1, as each needs it.
"""

from __future__ import annotations

import copy
import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import histories
import peers
import wire

LONG = 4_000
"""24,003 events: SWF ends a run at 25,000."""
STEPS = 16
"""Decision tasks that are measured for a new event, 6 new ones each."""
RUNS = 50
"""Runs that are measured at once for a new event, and for memory."""


class Flowpy(peers.Flowpy):
    """A decider that keeps runs; every answer is taken by the service."""

    def __init__(self) -> None:
        super().__init__()
        from flowpy.runtime.decider import Decider
        from flowpy.runtime.sticky import StickyDecider

        self._new = lambda: StickyDecider(Decider(self.workflows))
        self._chains: dict[int, list[Any]] = {}
        self._wires: dict[int, wire.Flowpy] = {}

    def tasks(self, size: int) -> list[Any]:
        """The decision tasks of a chain, each with the events since the one before it was started."""
        if size not in self._chains:
            history = histories.chain(size, histories.FLOWPY)
            self._chains[size] = [self.task(history, before, started) for before, started in wire.decisions(history)]
        return self._chains[size]

    def task(self, history: list[Any], before: int, started: int, run_id: str = "run") -> Any:
        """A decision task with the events from the DecisionTaskStarted before it on."""
        events = history[max(0, before - 1) : started]
        return self._task("bench", run_id, ("chain", "1.0"), events, started, before)

    def replay_only(self, size: int) -> None:
        """Decide a chain from its start to its end."""
        decider = self._new()
        for task in self.tasks(size):
            answer = decider.decide(task)
            decider.accepted(task.run_id, task.started_event_id)
        peers.check_swf(answer.decisions, "chain", size)

    def from_wire(self, size: int) -> None:
        """The same from wire bytes, by a decision worker."""
        if size not in self._wires:
            self._wires[size] = wire.Flowpy(self.workflows, wire.Chain(size, histories.FLOWPY))
        self._wires[size].whole()

    def new_event(self, length: int) -> float:
        """CPU seconds of a new event when a run has seen that many: RUNS runs take STEPS decision tasks each."""
        history = histories.chain(LONG, histories.FLOWPY)
        tasks_from = min(length, len(history) - 6 * STEPS - 6)
        decisions = [pair for pair in wire.decisions(history) if pair[1] >= tasks_from]
        decider, started = self._new(), decisions[0][1]
        for run in range(RUNS):
            # What a run is given belongs to it alone, as when it comes from the service.
            decider.decide(self._task("bench", str(run), ("chain", "1.0"), history[:started], started))
            decider.accepted(str(run), started)
        tasks = [
            copy.deepcopy(self.task(history, before, started, str(run)))
            for before, started in decisions[1 : STEPS + 1]
            for run in range(RUNS)
        ]
        gc.collect()
        begin = time.process_time()
        for task in tasks:
            decider.decide(task)
            decider.accepted(task.run_id, task.started_event_id)
        taken = time.process_time() - begin
        assert len(decider) == RUNS
        decider.evict_all("end")
        return taken / len(tasks) / 6

    def memory(self, size: int) -> float:
        """Bytes that a run holds which waits for the last of that many activities, decided one by one."""
        decider = self._new()
        self._one(decider, size, "first")
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for run in range(RUNS):
            self._one(decider, size, str(run))
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert len(decider) == RUNS + 1
        return held / RUNS

    def _one(self, decider: Any, size: int, run_id: str) -> None:
        history = histories.chain(size, histories.FLOWPY)
        for before, started in wire.decisions(history)[:-1]:
            decider.decide(self.task(history, before, started, run_id))
            decider.accepted(run_id, started)


class Botoflow(peers.Botoflow):
    """botoflow replays from event 1 for every decision task; it keeps nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._wires: dict[int, wire.Botoflow] = {}

    def replay_only(self, size: int) -> None:
        """Decide a chain from its start to its end."""
        history = histories.chain(size, histories.BOTOFLOW)
        for _, started in wire.decisions(history):
            decisions = self.decide("chain", history[:started])
        peers.check_swf(decisions, "chain", size)

    def from_wire(self, size: int) -> None:
        """The same from wire bytes, on a client of boto3."""
        if size not in self._wires:
            self._wires[size] = wire.Botoflow(peers.Botoflow(), wire.Chain(size, histories.BOTOFLOW))
        self._wires[size].whole()


LIBRARIES: dict[str, Callable[[], Any]] = {"flowpy": Flowpy, "botoflow": Botoflow}
