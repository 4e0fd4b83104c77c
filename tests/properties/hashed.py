"""Workflows whose decisions would follow the order of sets, if that order were left to chance.

``python -m properties.hashed`` decides each until it has ended and prints all decisions; test_hash_seeds.py compares
what is printed under several hash seeds.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from flowpy import activity, workflow
from flowpy.local.engine import Engine, VirtualClock
from flowpy.runtime.decider import Decider, DecisionTask

MANY = 13
"""More than fits a set of the smallest size."""


@activity
def work(step: str) -> int:
    raise NotImplementedError


async def step(name: str, fails: bool = False) -> str:
    try:
        await work(name)
        if fails:
            raise ValueError(name)
    except asyncio.CancelledError:
        await work(f"clean up {name}")
        raise
    return name


@workflow
async def set_of_tasks() -> list[str]:
    tasks = {asyncio.create_task(step(str(number))) for number in range(MANY)}
    return [await work(await task) for task in tasks]  # type: ignore[misc]


@workflow
async def set_of_promises() -> list[int]:
    promises = {work(str(number)) for number in range(MANY)}
    await asyncio.sleep(1)
    for promise in promises:
        promise.cancel()
    return [promise.cancelled() for promise in promises]


@workflow
async def waited_promises() -> str:
    pending = {work(str(number)) for number in range(MANY)}
    while pending:
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        for promise in done:
            await work(f"after {await promise}")
    return "done"


@workflow
async def waited_tasks() -> list[str]:
    tasks = [asyncio.create_task(step(str(number))) for number in range(MANY)]
    done, pending = await asyncio.wait(tasks, timeout=1)
    for task in pending:
        task.cancel()
    await asyncio.wait(pending)
    return [task.get_name() for task in done | pending]


@workflow
async def failing_group() -> str:
    for number in range(MANY):
        await work(f"before {number}")
    try:
        async with asyncio.TaskGroup() as group:
            for number in range(MANY):
                group.create_task(step(str(number), fails=number % 4 == 1))
    except* ValueError as errors:
        await work(f"{len(errors.exceptions)} failed")
    return "done"


@workflow
async def completed() -> list[Any]:
    promises = {work(str(number)) for number in range(MANY)}
    tasks = {asyncio.create_task(step(str(number))) for number in range(MANY)}
    seen = []
    for future in asyncio.as_completed(promises | tasks):
        seen.append(await future)
        if len(seen) % 7 == 0:
            await work(f"seen {seen[-1]}")
    return seen


@workflow
async def gathered() -> str:
    everything = asyncio.gather(*{asyncio.create_task(step(str(number))) for number in range(MANY)})
    await asyncio.sleep(1)
    everything.cancel()
    try:
        await everything
    except asyncio.CancelledError:
        await work("cancelled")
    return "done"


WORKFLOWS = [
    set_of_tasks, set_of_promises, waited_promises, waited_tasks, failing_group, completed, gathered,
]  # fmt: skip


def decided(workflow: Any) -> list[list[str]]:
    """What a workflow decides, task by task, while its work is done in an order of its own."""
    engine = Engine(VirtualClock(1_767_268_800.0))

    def call(operation: str, **request: Any) -> dict[str, Any]:
        return engine.call(operation, request)

    call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
    for kind, each in (("Workflow", workflow), ("Activity", work)):
        defaults = each.registered.defaults("list")
        call(f"Register{kind}Type", domain="shop", name=each.name, version=each.version, **defaults)
    type_ = {"name": workflow.name, "version": workflow.version}
    call("StartWorkflowExecution", domain="shop", workflowId="w", workflowType=type_)
    told: list[list[str]] = []
    taken: list[str] = []
    for turn in range(400):
        if not engine.world.domains["shop"].open_runs:
            return told
        told += _decide(call, workflow)
        while token := call("PollForActivityTask", domain="shop", taskList={"name": "list"}).get("taskToken"):
            taken.append(token)
        if taken and (turn > 2 or engine.next_due() is None):
            for _ in range(3):
                if taken:
                    call("RespondActivityTaskCompleted", taskToken=taken.pop(turn * 5 % len(taken)), result=str(turn))
        else:
            engine.advance(1)
    raise AssertionError(f"{workflow.name} does not end: {told[-3:]}")


def _decide(call: Any, workflow: Any) -> list[list[str]]:
    task = call("PollForDecisionTask", domain="shop", taskList={"name": "list"})
    if not task["startedEventId"]:
        return []
    run_id, type_ = task["workflowExecution"]["runId"], (workflow.name, workflow.version)
    decision_task = DecisionTask("w", run_id, type_, task["events"])
    decisions = Decider([workflow]).decide(decision_task).decisions
    call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=decisions)
    return [[json.dumps(decision) for decision in decisions]]


if __name__ == "__main__":
    json.dump({workflow.name: decided(workflow) for workflow in WORKFLOWS}, sys.stdout)
