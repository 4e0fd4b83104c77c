"""Many runs in one process: threads, interleaving, and a loop of the caller's."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tests.pitfalls.build import Run, told

from flowpy import activity, workflow
from flowpy.history import read_history
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.runtime.run import Run as LiveRun


@activity
def step(value: Any = "") -> str: ...


async def one(value: int) -> str:
    return await step(value)


@workflow
async def fanning() -> list[str]:
    values = await asyncio.gather(*[step(i) for i in range(20)])
    async with asyncio.timeout(50), asyncio.TaskGroup() as group:
        for i in range(5):
            group.create_task(one(i))
    return list(values)


@workflow
def plain() -> list[str]:
    return [step(i).result() for i in range(4)]


def played(workflow: Any) -> tuple[Run, list[tuple[int, list[str]]]]:
    """A run to its end, and what was decided in the decision task that started at each event."""
    run, decided = Run(workflow), []
    while True:
        started = run.begin()
        decided.append((started, run.decide()))
        open_now = [text.split()[1] for text in decided[-1][1] if text.startswith("ScheduleActivityTask")]
        if not open_now:
            return run, decided
        for activity_id in open_now:
            run.completes(activity_id)


def test_decider_serves_many_threads() -> None:
    runs = [played(fanning), played(plain)]
    decider, wrong = Decider([fanning, plain]), []

    def decide() -> None:
        for run, decided in runs * 5:
            key = (run.workflow.name, run.workflow.version)
            for started, expected in decided:
                answer = decider.decide(DecisionTask("w-1", "r-1", key, run.events[:started], started))
                if [told(decision) for decision in answer.decisions] != expected:
                    wrong.append(expected)

    threads = [threading.Thread(target=decide) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_two_live_runs_are_stepped_in_turn_on_one_thread() -> None:
    run, decided = played(fanning)
    events, before = read_history(run.events).events, 0
    live = [LiveRun(fanning, "w-1", "r-1") for _ in range(2)]
    for started, expected in decided:
        for each in live:
            each.feed(events[before:started])
            assert [told(decision) for decision in each.answer()[0]] == expected
        before = started
    for each in live:
        each.evict()


def test_replay_inside_a_running_loop_leaves_that_loop_alone() -> None:
    async def caller() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        run, _ = played(fanning)
        run.replays()
        assert (asyncio.get_running_loop(), asyncio.current_task()) == (loop, task)
        async with asyncio.timeout(5):
            assert await asyncio.wait_for(asyncio.sleep(0.001, "slept"), 5) == "slept"

    asyncio.run(caller())
