"""The workflows that live through the chaos, and what each of them has to come to.

Every activity writes down that it began and that it is done, in a file that survives whoever runs it.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import frozen

import flowpy
from flowpy import ApplicationError, Retry, Signal, activity, current_activity, workflow

EFFECTS = "FLOWPY_CHAOS_EFFECTS"
"""Environment variable that names the file of the effects."""

ATTEMPTS = 12
RETRY = Retry(attempts=ATTEMPTS, initial="1s", coefficient=1.0)
TIMES = {"execution_start_to_close_timeout": "15m", "task_start_to_close_timeout": "2s"}

number = Signal("number", int)
note = Signal("note", str)
go = Signal("go", int)


# --- activities -------------------------------------------------------------------------------


@contextmanager
def effect() -> Iterator[None]:
    """Writes down that the activity began and that it is done; one write each, which appends as a whole."""
    context = current_activity()
    where = os.open(os.environ[EFFECTS], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tell(what: str) -> None:
        line = [context.run_id, context.activity_id, what, os.getpid()]
        os.write(where, json.dumps(line).encode() + b"\n")

    try:
        tell("began")
        yield
        tell("done")
    finally:
        os.close(where)


def attempt() -> int:
    """Which attempt this is: "work-1" is the first, "work-1.r2" the second."""
    return int(current_activity().activity_id.partition(".r")[2] or 1)


@activity(start_to_close_timeout="4s", heartbeat_timeout="NONE", retry=RETRY)
def work(x: int) -> int:
    with effect():
        # Now and then one takes long enough for its process to die under it.
        time.sleep(0.3 if x % 5 == 0 else 0.0)
        return 2 * x


@activity(start_to_close_timeout="4s", heartbeat_timeout="3s", retry=RETRY)
async def work_async(x: int) -> int:
    with effect():
        await asyncio.sleep(0.05)
        return 3 * x


@activity(start_to_close_timeout="4s", heartbeat_timeout="NONE", retry=RETRY)
def fails_at_first(x: int) -> int:
    with effect():
        if attempt() == 1:
            raise OSError("dropped it")
        return 5 * x


@activity(
    start_to_close_timeout="4s",
    heartbeat_timeout="NONE",
    retry=Retry(attempts=ATTEMPTS, initial="1s", coefficient=1.0, never_on=(LookupError,)),
)
def never(x: int) -> int:
    with effect():
        raise LookupError(f"no {x} here")


@activity(start_to_close_timeout="10m", heartbeat_timeout="3s", retry=RETRY)
def until_cancelled(x: int) -> int:
    with effect():
        while True:
            current_activity().heartbeat()
            current_activity().cancellation.wait(0.2)


ACTIVITIES: list[Any] = [work, work_async, fails_at_first, never, until_cancelled]


# --- workflows --------------------------------------------------------------------------------


@workflow(version="1.0", **TIMES)
async def gathering(n: int) -> int:
    """Several at once, one of which fails at first, and a timer."""
    results = await asyncio.gather(*[work(n + i) for i in range(3)], fails_at_first(n), work_async(n))
    await asyncio.sleep(1)
    return sum(results)


@workflow(version="1.0", **TIMES)
def plainly(n: int) -> int:
    """The same without async: promises as arguments, a timer that nothing waits for but the code."""
    parts = [work(n + i) for i in range(2)]
    merged = work_async(parts[0])
    flowpy.sleep(1).result()
    return int(merged.result() + parts[1].result() + fails_at_first(n).result())


@workflow(version="1.0", **TIMES)
async def listening(n: int) -> list[int]:
    """Signals, each with an activity, and a handler beside them."""
    notes: list[str] = []
    note.handler(notes.append)
    heard = 0
    for _ in range(3):
        heard += await work(await number.receive())
    while len(notes) < 2:
        await asyncio.sleep(1)
    return [heard + n, len(notes)]


@workflow(version="1.0", **TIMES)
async def child(n: int, *, waits: bool) -> int:
    """One of a family."""
    told = await go.receive() if waits else 0
    result = await work(n)
    await asyncio.sleep(1)
    return result + told


@workflow(version="1.0", **TIMES)
async def family(n: int) -> int:
    """Children, one of which waits for a signal from here."""
    first, second = child(n, waits=False), child(n + 1, waits=True)
    await second.started
    told = await work(n)
    await flowpy.external(second.workflow_id).signal(go, told)
    return sum(await asyncio.gather(first, second)) + told


@workflow(version="1.0", **TIMES)
async def rounds(n: int, round: int = 1, total: int = 0) -> int:
    """Three runs, one after the other; a signal that any of them may get is for the last."""
    total += await work(n + round)
    if round == 3:
        return total + await number.receive()
    return flowpy.continue_as_new(n, round + 1, total)


@workflow(version="1.0", **TIMES)
async def cancelled(n: int) -> int:
    """Waits for an activity that never ends, until it is cancelled; cleans up."""
    try:
        return await until_cancelled(n)
    finally:
        await flowpy.shield(work(n))


@workflow(version="1.0", **TIMES)
async def by_chance(n: int) -> list[int]:
    """Chance, markers and a time limit: all of it the same in every replay."""
    items = [n, n + 1, n + 2]
    flowpy.random().shuffle(items)
    results = [await work(item) for item in items]
    kept = flowpy.side_effect(lambda: os.getpid() * 0 + n)
    try:
        async with asyncio.timeout(1):
            await number.receive()
    except TimeoutError:
        results.append(kept)
    if flowpy.patched("later"):
        results.append(await work_async(n))
    return sorted(results)


@workflow(version="1.0", **TIMES)
async def failing(n: int) -> int:
    """An activity that cannot succeed: what was done is made good, and the run fails."""
    await work(n)
    try:
        await never(n)
    except flowpy.ActivityFailed as error:
        await work(n + 1)
        raise ApplicationError(f"gave up on {n}", type="GaveUp") from error
    return 0


WORKFLOWS: list[Any] = [gathering, plainly, listening, child, family, rounds, cancelled, by_chance, failing]


# --- what is to come of them ------------------------------------------------------------------


@frozen
class Story:
    """A kind of run.

    Attributes:
        workflow: What is started.
        result: Its result for an argument; None if it ends otherwise.
        signals: Names and values to send at any time.
        status: How the last of its runs ends.
        cancel: Whether to cancel it once its first activity is scheduled.
        effects: Base ids of the activities that have to be done, of the last run.
    """

    workflow: Any
    result: Callable[[int], Any] | None
    status: str = "COMPLETED"
    signals: tuple[tuple[Signal[Any], Any], ...] = ()
    cancel: bool = False


STORIES = [
    Story(gathering, lambda n: 2 * (3 * n + 3) + 5 * n + 3 * n),
    Story(plainly, lambda n: 3 * (2 * n) + 2 * (n + 1) + 5 * n),
    Story(
        listening,
        lambda n: [2 * (1 + 2 + 3) + n, 2],
        signals=((number, 1), (note, "a"), (number, 2), (number, 3), (note, "b")),
    ),
    Story(family, lambda n: 2 * n + (2 * (n + 1) + 2 * n) + 2 * n),
    Story(rounds, lambda n: 2 * (n + 1) + 2 * (n + 2) + 2 * (n + 3) + 7, signals=((number, 7),)),
    Story(cancelled, None, status="CANCELED", cancel=True),
    Story(by_chance, lambda n: sorted([2 * n, 2 * (n + 1), 2 * (n + 2), n, 3 * n])),
    Story(failing, None, status="FAILED"),
]
