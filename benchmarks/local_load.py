"""What is done to a service under measurement: chains of activities, all roles played by one client."""

from __future__ import annotations

import contextlib
import itertools
import time
from typing import Any, Final

from attrs import frozen
from local_clients import Call

DOMAIN: Final = "bench"
TYPE: Final = {"name": "t", "version": "1"}
DECIDERS: Final = {"name": "deciders"}
WORKERS: Final = {"name": "workers"}

_ids = itertools.count()


@frozen
class Load:
    """So many workflows one after the other, each a chain of so many activities."""

    name: str
    workflows: int
    chain: int

    @property
    def activities(self) -> int:
        return self.workflows * self.chain

    @property
    def requests(self) -> int:
        return self.workflows * (4 * self.chain + 3)


FIRST: Final = Load("10 × chain of 1", 10, 1)
LOADS: Final = {load.name: load for load in (Load("10 × chain of 20", 10, 20), Load("2 × chain of 100", 2, 100))}
"""The loads that ratios are taken of."""


def prepare(call: Call) -> None:
    """Registers the domain and the types, unless a service that was aged has them."""
    with contextlib.suppress(Exception):
        call("RegisterDomain", {"name": DOMAIN, "workflowExecutionRetentionPeriodInDays": "7"})
    with contextlib.suppress(Exception):
        call(
            "RegisterWorkflowType",
            {
                "domain": DOMAIN,
                **TYPE,
                "defaultTaskList": DECIDERS,
                "defaultChildPolicy": "TERMINATE",
                "defaultTaskStartToCloseTimeout": "30",
                "defaultExecutionStartToCloseTimeout": "3600",
            },
        )
    timeouts = ("Heartbeat", "ScheduleToStart", "ScheduleToClose", "StartToClose")
    with contextlib.suppress(Exception):
        defaults = {f"defaultTask{name}Timeout": "300" for name in timeouts}
        call("RegisterActivityType", {"domain": DOMAIN, **TYPE, "defaultTaskList": WORKERS, **defaults})


def run(call: Call, load: Load) -> float:
    """Wall-clock seconds of a load."""
    begin = time.perf_counter()
    for _ in range(load.workflows):
        start = {"domain": DOMAIN, "workflowId": f"w{next(_ids)}", "workflowType": TYPE, "input": "[1, 2]"}
        call("StartWorkflowExecution", start)
        for step in range(load.chain):
            _decide(call, _schedule(step), 6 * step + 3)
            task = call("PollForActivityTask", {"domain": DOMAIN, "taskList": WORKERS})
            call("RespondActivityTaskCompleted", {"taskToken": task["taskToken"], "result": str(step)})
        done = {"decisionType": "CompleteWorkflowExecution", "completeWorkflowExecutionDecisionAttributes": {}}
        _decide(call, done, 6 * load.chain + 3)
    return time.perf_counter() - begin


def _schedule(step: int) -> dict[str, Any]:
    attributes = {"activityId": str(step), "activityType": TYPE, "input": f"[{step}]"}
    return {"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": attributes}


def _decide(call: Call, decision: dict[str, Any], events: int) -> None:
    task = call("PollForDecisionTask", {"domain": DOMAIN, "taskList": DECIDERS})
    assert len(task["events"]) == events, f"{len(task['events'])} events where {events} belong"
    call("RespondDecisionTaskCompleted", {"taskToken": task["taskToken"], "decisions": [decision]})
