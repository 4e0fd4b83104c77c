"""Any program meets any outside world: decided cold, warm and on replay alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import flowpy
from flowpy import activity, workflow

from .build import CLOSES, Run, start_timer

item = flowpy.Signal("item", str)


@activity
def step() -> str: ...


@activity(retry=flowpy.Retry(attempts=2, initial=3, jitter=0))
def flaky() -> str: ...


@workflow
async def ship() -> str: ...


Program = list[Any]


def nested(inner: st.SearchStrategy[Program]) -> st.SearchStrategy[Program]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.sampled_from(["in turn", "gather", "group", "race"])
    bounded = st.sampled_from(["timeout", "wait_for"])
    wrapped = st.sampled_from(["clean up", "task", "shield"])
    return st.one_of(
        st.tuples(named, several).map(list),
        st.tuples(bounded, st.integers(1, 9), inner).map(list),
        st.tuples(wrapped, inner).map(list),
    )


PROGRAMS = st.recursive(
    st.sampled_from(
        [
            ["step"],
            ["flaky"],
            ["waiting step"],
            ["child"],
            ["sleep"],
            ["receive"],
            ["wake"],
            ["fail"],
            ["patch"],
            ["tell"],
        ]
    ),
    nested,
    max_leaves=8,
)


class Interpreter:
    """Runs a program, and logs in which order its parts ended."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def run(self, program: Program) -> None:
        name, *rest = program
        await getattr(self, "do_" + name.replace(" ", "_"))(*rest)
        self.log.append(name)

    async def do_step(self) -> None:
        self.log.append(await step())

    async def do_flaky(self) -> None:
        self.log.append(await flaky())

    async def do_waiting_step(self) -> None:
        self.log.append(await step.options(on_cancel="wait")())

    async def do_child(self) -> None:
        self.log.append(await ship())

    async def do_sleep(self) -> None:
        await asyncio.sleep(5)

    async def do_receive(self) -> None:
        self.log.append(await item.receive(timeout=7))

    async def do_wake(self) -> None:
        await asyncio.sleep(0)

    async def do_fail(self) -> None:
        raise flowpy.ApplicationError("planned")

    async def do_patch(self) -> None:
        if flowpy.patched("new way"):
            self.log.append(str(flowpy.uuid4()))
        else:
            self.log.append(await step())

    async def do_tell(self) -> None:
        await flowpy.external("other").signal(item, str(flowpy.random().randint(1, 6)))

    async def do_in_turn(self, programs: list[Program]) -> None:
        for each in programs:
            await self.run(each)

    async def do_gather(self, programs: list[Program]) -> None:
        ended = await asyncio.gather(*(self.run(each) for each in programs), return_exceptions=True)
        self.log.append(",".join(type(each).__name__ for each in ended))

    async def do_group(self, programs: list[Program]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for each in programs:
                    group.create_task(self.run(each))
        except* flowpy.FlowpyError as errors:
            self.log.append(str(len(errors.exceptions)))

    async def do_race(self, programs: list[Program]) -> None:
        tasks = [asyncio.create_task(self.run(each)) for each in programs]
        done, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for each in late:
            each.cancel()
        self.log.extend(str(each.exception()) for each in done if not each.cancelled())

    async def do_timeout(self, seconds: int, program: Program) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.run(program)
        except TimeoutError:
            self.log.append("late")

    async def do_wait_for(self, seconds: int, program: Program) -> None:
        try:
            await asyncio.wait_for(self.run(program), seconds)
        except TimeoutError:
            self.log.append("late")

    async def do_clean_up(self, program: Program) -> None:
        try:
            await self.run(program)
        except asyncio.CancelledError:
            self.log.append(await step())
            raise

    async def do_task(self, program: Program) -> None:
        await asyncio.create_task(self.run(program))

    async def do_shield(self, program: Program) -> None:
        await flowpy.shield(self.run(program))


@workflow
async def interpreted(program: list) -> list:
    interpreter = Interpreter()

    @flowpy.Signal("note", str).handler
    async def noted(text: str) -> None:
        interpreter.log.append(await step())

    await interpreter.run(program)
    return interpreter.log


def outside(run: Run) -> dict[str, Callable[[], Any]]:
    """What may happen next, by name: the names stand in hypothesis's report."""
    can: dict[str, Callable[[], Any]] = {
        "signal item": lambda: run.signaled("item", "x"),
        "signal note": lambda: run.signaled("note", "y"),
        "cancel": run.cancel_requested,
    }
    for (kind, id), links in run._links.items():
        if kind == "activity":
            can[f"{id} completes"] = lambda id=id: run.completes(id)
            can[f"{id} fails"] = lambda id=id: run.fails(id)
            can[f"{id} times out"] = lambda id=id: run.times_out(id)
            can[f"{id} is canceled"] = lambda id=id: run.canceled(id)
        elif kind == "timer":
            can[f"{id} fires"] = lambda id=id: run.fires(id)
        elif kind == "child":
            if "startedEventId" not in links:
                can[f"{id} starts"] = lambda id=id: run.child_starts(id)
            can[f"{id} completes"] = lambda id=id: run.child_completes(id, "c")
            can[f"{id} fails"] = lambda id=id: run.child_ends(id, "Failed", reason="no")
            can[f"{id} is canceled"] = lambda id=id: run.child_ends(id, "Canceled")
        else:
            can[f"{id} is passed on"] = lambda id=id: run.passed_on(id)
            can[f"{id} is not passed on"] = lambda id=id: run.not_passed_on(id)
    if run._begun is not None or run._waiting is not None:
        can["decide"] = can["decide again"] = run.decide
        can["decision times out"] = run.decision_times_out
        can["other code holds"] = lambda: hold(run)
    if run._begun is None and run._waiting is not None:
        can["begin"] = run.begin
    return can


def hold(run: Run) -> None:
    number = 1 + sum("flowpy.hold" in json.dumps(e) for e in run.events if e["eventType"] == "TimerStarted")
    run.decided_elsewhere(start_timer(f"flowpy.hold-{number}", 60))


def closed(run: Run) -> bool:
    return run.events[-1]["eventType"] in CLOSES.values()


@given(program=PROGRAMS, data=st.data())
def test_any_program_decides_alike_cold_and_warm(program: Program, data: st.DataObject) -> None:
    run = Run(interpreted, program)
    for _ in range(25):
        can = outside(run)
        can[data.draw(st.sampled_from(sorted(can)))]()
        if closed(run):
            break
    if not closed(run) and (run._begun is not None or run._waiting is not None):
        run.decide()
    run.replays()
