"""The same chaos without processes: one thread, a virtual clock, and every step drawn from a seed.

Deciders are the real ones, with what they keep in memory; "at the same time" is a call in the middle of which somebody
else makes a step. Nothing waits, so thousands of runs live and die in seconds, and a seed always does the same.
"""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from attrs import define, field

from flowpy.errors import ServiceError
from flowpy.local.engine import Engine, VirtualClock
from flowpy.service.faults import fault
from flowpy.worker import WorkerSettings
from flowpy.worker.answering import answer
from flowpy.worker.deciding import decide_with, keep_with
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.registration import Registrar

from .faults import Plan
from .judging import Recorded
from .stories import ACTIVITIES, STORIES, WORKFLOWS, Story

DOMAIN, TASK_LIST = "shop", "default"
ANSWERS = {"work": 2, "work_async": 3, "fails_at_first": 5}
"""Activities that succeed, and by how much they multiply."""


class Killed(BaseException):
    """The process that makes the call is gone."""


@define(eq=False)
class Wire:
    """What a process calls the service through.

    Args:
        world: Where it is.
    """

    world: World
    dead: bool = False

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """One call, and what becomes of it."""
        fate = self.world.plan.fate(operation)
        self._held_up(fate.seconds)
        if fate.kind in ("drop before", "fail"):
            raise fault("ConnectionClosedError", "", operation, status=503)
        if fate.kind == "throttle":
            raise fault("ThrottlingException", "Rate exceeded", operation)
        if fate.kind == "duplicate":
            reply = self._twice(operation, request, second=fate.second)
        else:
            reply = self.world.engine.call(operation, request)
        self._held_up(fate.after)
        if fate.kind in ("drop after", "cut"):
            raise fault("ConnectionClosedError", "", operation, status=503)
        return reply

    def _twice(self, operation: str, request: dict[str, Any], *, second: bool) -> dict[str, Any]:
        outcomes: list[dict[str, Any] | ServiceError] = []
        for _ in range(2):
            try:
                outcomes.append(self.world.engine.call(operation, request))
            except ServiceError as error:
                outcomes.append(error)
        outcome = outcomes[second]
        if isinstance(outcome, ServiceError):
            raise outcome
        return outcome

    def _held_up(self, seconds: float) -> None:
        self.world.meanwhile()
        if seconds:
            self.world.engine.advance(seconds)
            self.world.meanwhile()
        if self.dead:
            raise Killed


@define(eq=False)
class Decider:
    """A process that decides.

    Args:
        world: Where it is.
        sticky: Whether it keeps runs.
    """

    world: World
    sticky: bool
    wire: Wire = field(init=False)
    lifecycle: Lifecycle = field(init=False)
    worker: DecisionWorker = field(init=False)

    def __attrs_post_init__(self) -> None:
        world = self.world
        self.wire = Wire(world)
        self.lifecycle = world.lifecycle()
        kept = world.chance.choice([3, 100, 100])
        settings = WorkerSettings(sticky=self.sticky, sticky_timeout=2, threads=1, cached_runs=kept, guard="off")
        keeping = keep_with(WORKFLOWS, settings, self.lifecycle, TASK_LIST)
        if keeping is not None:
            # Whoever is called in the middle of a call cannot wait for its end; a busy machine is no stuck thread.
            keeping.patience, keeping._owners[0].thread._patience = 0.0, 60.0
            keeping.task_list = f"list of decider {world.made}"
        decide = decide_with(WORKFLOWS, settings)
        page = world.chance.choice([5, 1000])
        self.worker = DecisionWorker(self.wire, self.lifecycle, decide, DOMAIN, TASK_LIST, "me", page, sticky=keeping)

    def step(self) -> None:
        """Poll one of the two lists."""
        own = self.worker.sticky is not None and self.world.chance.random() < 0.6
        if self.lifecycle.stopping.is_set() and self.world.chance.random() < 0.5:
            return
        with contextlib.suppress(ServiceError):
            if own:
                self.worker.sticky_step()
            else:
                self.worker.step()

    def end(self) -> None:
        """Leave, with what is kept."""
        self.wire.dead = True
        if self.worker.sticky is not None:
            self.worker.sticky.close()


@define(eq=False)
class World:
    """Service, processes, customers.

    Args:
        seed: What everything is drawn from.
        count: How many runs the customers start.
        rate: Share of calls that something happens to.
        sticky: "on", "off", or "mixed".
    """

    seed: int
    count: int = 16
    rate: float = 0.1
    sticky: str = "mixed"
    chance: random.Random = field(init=False)
    plan: Plan = field(init=False)
    engine: Engine = field(init=False)
    deciders: list[Decider] = field(factory=list, init=False)
    started: dict[str, tuple[Story, int]] = field(factory=dict, init=False)
    errands: list[Callable[[], bool]] = field(factory=list, init=False)
    effects: list[tuple[str, str, str]] = field(factory=list, init=False)
    counts: Counter[str] = field(factory=Counter, init=False)
    made: int = field(default=0, init=False)
    _depth: int = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.plan = Plan(self.seed, self.rate)
        self.engine = Engine(VirtualClock(), seed=str(self.seed))
        self.engine.call("RegisterDomain", {"name": DOMAIN, "workflowExecutionRetentionPeriodInDays": "1"})
        Registrar(self.engine, DOMAIN, TASK_LIST, pause=lambda _: True).register(WORKFLOWS, ACTIVITIES)
        for _ in range(3):
            self._add()

    def live(self) -> None:
        """Let everything happen until all runs have ended."""
        for _ in range(60 * self.count):
            self.step()
            if len(self.started) == self.count and not self.errands and not self._open():
                break
        self._calm_down()
        for decider in self.deciders:
            self._count(decider)
            decider.end()

    def step(self) -> None:
        """Somebody does something."""
        steps = [self._start, self._errand, self._decide, self._work, self._pass, self._replace, self._drain]
        weights = [2, 4, 12, 6, 3, 0.3, 0.3]
        (step,) = self.chance.choices(steps, weights)
        step()

    def meanwhile(self) -> None:
        """In the middle of a call others do something, now and then."""
        if self._depth < 2 and self.rate and self.chance.random() < 0.15:
            self._depth += 1
            try:
                self.step()
            finally:
                self._depth -= 1

    def lifecycle(self) -> Lifecycle:
        """Of a process in which waiting takes time on the virtual clock, time in which decision tasks time out."""

        def wait(event: threading.Event, _seconds: float) -> bool:
            # Not what was asked for, which is drawn by chance of its own.
            self.engine.advance(self.chance.uniform(0.1, 2))
            return event.is_set()

        return Lifecycle(wait=wait)

    def recorded(self) -> list[Recorded]:
        """All runs, in the order of their starts, and what the activities did."""
        runs = [Recorded(run.workflow_id, run.run_id, list(run.events)) for run in self.engine.world.runs.values()]
        by_id = {run.run_id: run for run in runs}
        for run_id, activity_id, what in self.effects:
            (by_id[run_id].began if what == "began" else by_id[run_id].done)[activity_id] += 1
        return sorted(runs, key=lambda run: run.events[0]["eventTimestamp"])

    def _pass(self) -> None:
        self.engine.advance(self.chance.choice([0.1, 0.5, 1, 2]))

    def _calm_down(self) -> None:
        """Nothing goes wrong any more: what is left has to come to its end."""
        self.plan.rate = self.rate = 0.0
        while len(self.started) < self.count:
            self._start()
        for _ in range(200):
            self.errands = [errand for errand in self.errands if not errand()]
            if not self._open():
                return
            for _ in range(12):
                for decider in self.deciders:
                    decider.step()
                self._work()
            self.engine.advance(1)
        raise AssertionError(f"still open: {self._open()}")

    def _open(self) -> list[str]:
        return [run.workflow_id for run in self.engine.world.runs.values() if run.is_open]

    # --- processes ----------------------------------------------------------------------------

    def _add(self) -> None:
        keeps = self.sticky == "on" or (self.sticky == "mixed" and self.chance.random() < 0.7)
        self.made += 1
        self.deciders.append(Decider(self, keeps))

    def _decide(self) -> None:
        with contextlib.suppress(Killed):
            self.chance.choice(self.deciders).step()

    def _replace(self) -> None:
        victim = self.deciders.pop(self.chance.randrange(len(self.deciders)))
        self._count(victim)
        victim.end()
        self._add()

    def _drain(self) -> None:
        # It goes on for a few steps, and is replaced some time.
        self.chance.choice(self.deciders).lifecycle.stopping.set()
        if all(decider.lifecycle.stopping.is_set() for decider in self.deciders):
            self._replace()

    def _count(self, decider: Decider) -> None:
        self.counts.update(decider.lifecycle.counts)

    # --- customers ----------------------------------------------------------------------------

    def _start(self) -> None:
        number = len(self.started)
        if number == self.count:
            return
        story, workflow_id = STORIES[number % len(STORIES)], f"w{number}"
        type_ = {"name": story.workflow.name, "version": story.workflow.version}
        request = {"domain": DOMAIN, "workflowId": workflow_id, "workflowType": type_, "input": f"[{number}]"}
        self.engine.call("StartWorkflowExecution", request)
        self.started[workflow_id] = (story, number)
        for signal, value in story.signals:
            self.errands.append(lambda signal=signal, value=value: self._signal(workflow_id, signal.name, value))
        if story.cancel:
            self.errands.append(lambda: self._cancel(workflow_id))

    def _errand(self) -> None:
        if self.errands:
            errand = self.errands.pop(self.chance.randrange(len(self.errands)))
            if not errand():
                self.errands.append(errand)

    def _signal(self, workflow_id: str, name: str, value: Any) -> bool:
        request = {"domain": DOMAIN, "workflowId": workflow_id, "signalName": name, "input": json.dumps(value)}
        self.engine.call("SignalWorkflowExecution", request)
        return True

    def _cancel(self, workflow_id: str) -> bool:
        (run,) = (each for each in self.engine.world.runs.values() if each.workflow_id == workflow_id)
        if not any(event["eventType"] == "ActivityTaskScheduled" for event in run.events):
            return False
        self.engine.call("RequestCancelWorkflowExecution", {"domain": DOMAIN, "workflowId": workflow_id})
        return True

    # --- activities ---------------------------------------------------------------------------

    def _work(self) -> None:
        wire = Wire(self)
        with contextlib.suppress(ServiceError):
            task = wire.call("PollForActivityTask", {"domain": DOMAIN, "taskList": {"name": TASK_LIST}})
            if task.get("taskToken"):
                self._handle(wire, task)

    def _handle(self, wire: Wire, task: dict[str, Any]) -> None:
        name, (argument,) = task["activityType"]["name"], json.loads(task["input"])
        run_id, activity_id = task["workflowExecution"]["runId"], task["activityId"]
        self.effects.append((run_id, activity_id, "began"))
        if self.rate and self.chance.random() < 0.1:
            # Its process dies.
            return
        if name == "until_cancelled":
            asked = wire.call("RecordActivityTaskHeartbeat", {"taskToken": task["taskToken"]})["cancelRequested"]
            if not asked:
                return
            outcome = ("RespondActivityTaskCanceled", {})
        elif name == "never" or (name == "fails_at_first" and ".r" not in activity_id):
            kind = "LookupError" if name == "never" else "OSError"
            details = {
                "type": kind,
                "module": "builtins",
                "message": "no",
                "traceback": "",
                "cause": None,
                "data": None,
            }
            outcome = ("RespondActivityTaskFailed", {"reason": f"{kind}: no", "details": json.dumps(details)})
        else:
            self.effects.append((run_id, activity_id, "done"))
            outcome = ("RespondActivityTaskCompleted", {"result": str(ANSWERS[name] * argument)})
        answer(wire, self.lifecycle(), outcome[0], {"taskToken": task["taskToken"], **outcome[1]}, activity_id)
