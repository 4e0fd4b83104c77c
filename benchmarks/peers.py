"""One adapter for flowpy and each of its peers: builds a history in the peer's form, and replays it in full.

Every replay checks that the run ended as it must, so that one that was cut short cannot look fast.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
from collections.abc import Callable
from typing import Any, Protocol

import histories

SHAPES: dict[str, Callable[[int, histories.Form], list[histories.Event]]] = {
    "chain": histories.chain,
    "fan-out": histories.fanout,
}


def result_of(shape: str, size: int) -> int:
    """What the workflow of a shape returns."""
    return size if shape == "chain" else size * (size + 1) // 2


class Peer(Protocol):
    """What is measured. The constructor imports the library: ImportError if it is not installed."""

    def build(self, shape: str, size: int) -> Any:
        """The history, parsed: what the library is given by its own transport."""
        ...

    def replay(self, shape: str, size: int, history: Any) -> None:
        """Run the code through the whole history and check the result."""
        ...


class Flowpy:
    """flowpy as its decision worker runs it: from a decision task with all its events to the answer."""

    def __init__(self) -> None:
        import flowpy
        from flowpy.runtime.decider import Decider, DecisionTask

        @flowpy.activity(name="step")
        def step(x: int) -> int:
            raise AssertionError(x)  # a replay runs no activity

        @flowpy.workflow(name="chain")
        async def chain(length: int) -> int:
            x = 0
            for _ in range(length):
                x = await step(x)
            return x

        @flowpy.workflow(name="fan-out")
        async def fanout(width: int) -> int:
            promises = [step(i) for i in range(width)]
            return sum([await promise for promise in promises])

        self._task = DecisionTask
        self.workflows = [chain, fanout]
        self._decide = Decider(self.workflows).decide

    def build(self, shape: str, size: int) -> Any:
        return SHAPES[shape](size, histories.FLOWPY)

    def replay(self, shape: str, size: int, history: Any) -> None:
        task = self._task("bench", "run", (shape, "1.0"), history, started_event_id=history[-1]["eventId"])
        check_swf(self._decide(task).decisions, shape, size)


class Botoflow:
    """botoflow's decider on a client that hands it one decision task and keeps the answer."""

    def __init__(self) -> None:
        from botoflow import WorkflowDefinition, activities, activity, execute, return_, workflow
        from botoflow.decider import Decider
        from botoflow.utils import extract_workflows_dict

        @activities(schedule_to_start_timeout=300, start_to_close_timeout=300)
        class Steps:
            @activity("1.0", name="step")
            def step(self, x: Any) -> Any:
                raise AssertionError(x)

        @workflow(name="chain")
        class Chain(WorkflowDefinition):
            @execute("1.0", execution_start_to_close_timeout=86400)
            def run(self, length: int) -> Any:
                x = 0
                for _ in range(length):
                    x = yield Steps.step(x)
                return_(x)

        @workflow(name="fan-out")
        class Fanout(WorkflowDefinition):
            @execute("1.0", execution_start_to_close_timeout=86400)
            def run(self, width: int) -> Any:
                futures = [Steps.step(i) for i in range(width)]
                total = 0
                for future in futures:
                    total += yield future
                return_(total)

        self._client: Any = _OneTask()
        known = extract_workflows_dict([Chain, Fanout])
        self._decider = Decider(self, "domain", "bench", lambda name, version: known[name, version], "bench")

    def on(self, client: Any) -> Callable[[], None]:
        """What polls for one decision task of a client of SWF, and answers it."""
        self._client = client
        return self._decider.decide

    @property
    def client(self) -> Any:
        """The decider takes its client from the worker it belongs to, which is this object."""
        return self._client

    def build(self, shape: str, size: int) -> Any:
        return SHAPES[shape](size, histories.BOTOFLOW)

    def replay(self, shape: str, size: int, history: Any) -> None:
        check_swf(self.decide(shape, history), shape, size)

    def decide(self, shape: str, history: Any) -> Any:
        """The decisions of the decision task that a history ends in."""
        self._client.task = {
            "taskToken": "token",
            "startedEventId": history[-1]["eventId"],
            "previousStartedEventId": 0,
            "workflowExecution": {"workflowId": "bench", "runId": "run"},
            "workflowType": {"name": shape, "version": "1.0"},
            "events": history,
        }
        self._decider.decide()
        return self._client.decisions


class _OneTask:
    """The two operations of SWF that a decider needs."""

    task: Any = None
    decisions: Any = None

    def poll_for_decision_task(self, **_request: Any) -> Any:
        return self.task

    def respond_decision_task_completed(self, *, decisions: Any, **_request: Any) -> None:
        self.decisions = decisions


class Durabletask:
    """The executor of Azure's durabletask, on its own events: 3 for a chained activity, 2 for a fanned out one."""

    def __init__(self) -> None:
        from durabletask import task, worker
        from durabletask.internal import helpers
        from durabletask.serialization import JsonDataConverter

        def step(_context: Any, x: int) -> int:
            raise AssertionError(x)

        def chain(context: Any, length: int) -> Any:
            x = 0
            for _ in range(length):
                x = yield context.call_activity(step, input=x)
            return x

        def fanout(context: Any, width: int) -> Any:
            results = yield task.when_all([context.call_activity(step, input=i) for i in range(width)])
            return sum(results)

        self._events = helpers
        registry = worker._Registry()  # noqa: SLF001 - its replayer is private
        self._names = {
            "chain": registry.add_orchestrator(chain),
            "fan-out": registry.add_orchestrator(fanout),
        }
        executor = worker._OrchestrationExecutor  # noqa: SLF001
        self._new = lambda: executor(registry, logging.getLogger("bench"), JsonDataConverter())

    def build(self, shape: str, size: int) -> Any:
        make = self._events
        turn = make.new_orchestrator_started_event(dt.datetime(2026, 1, 1))  # noqa: DTZ001 - theirs are naive
        scheduled = [make.new_task_scheduled_event(i + 1, "step", json.dumps(i)) for i in range(size)]
        completed = [make.new_task_completed_event(i + 1, json.dumps(i + 1)) for i in range(size)]
        begin = [turn, make.new_execution_started_event(self._names[shape], "bench", encoded_input=json.dumps(size))]
        if shape == "chain":
            steps = zip(scheduled, completed, strict=True)
            return [*begin, *(event for asked, ended in steps for event in (asked, turn, ended))]
        return [*begin, *scheduled, turn, *completed]

    def replay(self, shape: str, size: int, history: Any) -> None:
        actions = self._new().execute("bench", history[:-1], history[-1:]).actions
        result = actions[-1].completeOrchestration.result.value
        assert json.loads(result) == result_of(shape, size), actions


def check_swf(decisions: list[dict[str, Any]], shape: str, size: int) -> None:
    """A run of SWF ended as it must."""
    assert [decision["decisionType"] for decision in decisions] == ["CompleteWorkflowExecution"], decisions
    result = decisions[0]["completeWorkflowExecutionDecisionAttributes"]["result"]
    assert json.loads(result) == result_of(shape, size), decisions


PEERS: dict[str, Callable[[], Peer]] = {"flowpy": Flowpy, "durabletask": Durabletask, "botoflow": Botoflow}
