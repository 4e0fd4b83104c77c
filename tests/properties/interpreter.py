"""Two workflows that run any program: an async one and a plain ``def`` one, over one interpreter.

A program is a block: a JSON list of statements, each a list whose first item names it. What starts something puts its
promise into a *slot*; other statements name slots by number, modulo how many there are. Blocks that run in tasks of
their own get a copy of the slots there are, so a task only ever waits for what is older than itself: no program can
deadlock, and every wait is for the service, a timer or a signal.

Everything that the code sees goes into a log. Its digest is the result of the run, so a difference in what code sees is
a difference in what it decides.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Coroutine, Generator
from typing import Any

import flowpy
from flowpy import Promise, Retry, Signal, activity, asynchronous, workflow
from flowpy.declare.calling import current

Block = list[Any]
Step = Generator[Awaitable[Any], Any, Any]

SIGNALS = {name: Signal(name, int) for name in ("a", "b")}
ROUNDS = 2
"""How often a program that asks for it is continued as new."""

HANDLED = 4
"""How many signals handlers act on in one run."""

sink: list[Any] | None = None
"""Where everything that code sees is written too, for tests."""


@activity
def work(value: Any) -> int:
    raise NotImplementedError


work_wait = work.options(on_cancel="wait")
work_abandon = work.options(on_cancel="abandon")


@activity(retry=Retry(attempts=3, initial="2s", jitter=0.5), start_to_close_timeout="40s")
def retried(value: Any) -> int:
    raise NotImplementedError


@activity(retry=Retry(attempts=4, initial=0.5, expiration="9s", never_on=("Fatal",)), schedule_to_start_timeout="20s")
def expiring(value: Any) -> int:
    raise NotImplementedError


ACTIVITIES = {
    "try": work,
    "wait": work_wait,
    "abandon": work_abandon,
    "retry": retried,
    "retry_wait": retried.options(on_cancel="wait"),
    "expiring": expiring,
}


class Oops(Exception):
    """What programs raise; its module is recorded, so it must not depend on how tests are imported."""

    __module__ = "programs"


class Seen:
    """What all frames of a run share."""

    def __init__(self, program: Block, round_: int) -> None:
        self.program = program
        self.round = round_
        self.log: list[Any] = []
        self.lock = asyncio.Lock()
        self.handled = 0

    def bounded(self, block: Block) -> Block:
        """The block of a handler, or nothing after some: handlers that signal their own run would never end."""
        self.handled += 1
        return block if self.handled <= HANDLED else []


class Frame:
    """Where a block runs: its slots, what the run has seen, and whether it is the main task's."""

    def __init__(self, run: Seen, slots: list[Any], *, main: bool = False) -> None:
        self.run = run
        self.slots = slots
        self.main = main

    @property
    def log(self) -> list[Any]:
        return self.run.log

    def fork(self) -> Frame:
        return Frame(self.run, list(self.slots))

    def slot(self, number: int) -> Any:
        return self.slots[number % len(self.slots)] if self.slots else None

    def several(self, numbers: list[int]) -> list[Any]:
        return [self.slot(number) for number in numbers] if self.slots else []

    def value(self, value: Any, dependency: int | None) -> Any:
        """A value, or one with a promise in it."""
        promise = None if dependency is None else self.slot(dependency)
        return value if promise is None else [value, {"of": promise}]

    def saw(self, *what: Any) -> None:
        # Dying code sees nothing (law L10): the run says whether it is dead.
        if not current.get().dead:
            self.log.append(what)
            if sink is not None:
                sink.append(json.loads(json.dumps(what)))


# --- statements -----------------------------------------------------------------------------


def _act(frame: Frame, kind: str, value: int, dependency: int | None) -> None:
    frame.slots.append(ACTIVITIES[kind](frame.value(value, dependency)))


def _sleep(frame: Frame, seconds: int) -> None:
    frame.slots.append(flowpy.sleep(seconds))


def _child(frame: Frame, on_cancel: str, block: Block, dependency: int | None) -> None:
    promise = None if dependency is None else frame.slot(dependency)
    frame.slots.append(walk.options(on_cancel=on_cancel)(block, ROUNDS, promise))


def _send(frame: Frame, target: str, name: str, value: int, dependency: int | None) -> None:
    promise = None if dependency is None else frame.slot(dependency)
    frame.slots.append(_external(target).signal(name, value if promise is None else promise))


def _kill(frame: Frame, target: str) -> None:
    frame.slots.append(_external(target).cancel())


def _external(target: str) -> Any:
    mine = flowpy.info()
    meant = {"parent": mine.parent_workflow_id or "nobody", "self": mine.workflow_id}
    return flowpy.external(meant.get(target, target))


def _lambda(frame: Frame, value: int, dependency: int | None) -> None:
    frame.slots.append(flowpy.lambda_function("resize")(frame.value(value, dependency)))


def _recv(frame: Frame, name: str, timeout: int | None) -> None:
    frame.slots.append(SIGNALS[name].receive(timeout))


def _async(frame: Frame, block: Block, dependency: int | None) -> None:
    promise = None if dependency is None else frame.slot(dependency)
    frame.slots.append(flows(frame.fork(), block, promise))


def _async_plain(frame: Frame, block: Block, dependency: int | None) -> None:
    promise = None if dependency is None else frame.slot(dependency)
    frame.slots.append(flows_plain(frame.fork(), block, promise))


def _all(frame: Frame, numbers: list[int]) -> None:
    frame.slots.append(flowpy.all_of(frame.several(numbers)))


def _any(frame: Frame, numbers: list[int]) -> None:
    if promises := frame.several(numbers):
        frame.slots.append(flowpy.any_of(promises))


def _cancel(frame: Frame, number: int) -> None:
    if promise := frame.slot(number):
        frame.saw("cancel", promise.cancel())


def _detach(frame: Frame, number: int) -> None:
    promise = frame.slot(number)
    if isinstance(promise, Promise):
        promise.detach()


def _effect(frame: Frame, fails: bool) -> None:
    def tick() -> int:
        ran.append(len(ran))
        if fails:
            raise Oops(f"effect {epoch}.{len(ran)}")
        return epoch * 1000 + len(ran)

    try:
        frame.saw("effect", flowpy.side_effect(tick))
    except flowpy.SideEffectFailed as error:
        frame.saw("effect", _told(error))


epoch = 0
"""Number of the decision task being decided: a side effect has another value in each."""

ran: list[int] = []
"""Side effects that ran since this list was cleared."""


def _patch(frame: Frame, id: str) -> None:
    frame.saw("patched", flowpy.patched(id))


def _state(frame: Frame, value: Any) -> None:
    flowpy.set_state(value)
    frame.saw("state", value)


def _facts(frame: Frame) -> None:
    frame.saw("facts", flowpy.now().timestamp(), flowpy.random().random(), str(flowpy.uuid4()))


def _raise(_frame: Frame) -> None:
    raise Oops("raised")


def _continue(frame: Frame) -> None:
    if frame.main and frame.run.round < ROUNDS:
        flowpy.continue_as_new(frame.run.program, frame.run.round + 1)


def _handler(frame: Frame, name: str, block: Block) -> None:
    forked = frame.fork()

    async def handle(value: int) -> None:
        forked.saw("handled", name, value)
        await _drive(_walk(forked, forked.run.bounded(block)))

    SIGNALS[name].handler(handle)


def _handler_plain(frame: Frame, name: str, block: Block) -> None:
    forked = frame.fork()

    def handle(value: int) -> None:
        forked.saw("handled", name, value)
        _drive_plain(_walk(forked, forked.run.bounded(block)))

    SIGNALS[name].handler(handle)


def _spawn(frame: Frame, block: Block) -> None:
    frame.slots.append(asyncio.create_task(_task(frame, block)))


def _shield(frame: Frame, block: Block) -> None:
    frame.slots.append(flowpy.shield(_task(frame, block)))


DO: dict[str, Callable[..., None]] = {
    "act": _act, "sleep": _sleep, "child": _child, "send": _send, "kill": _kill, "lambda": _lambda, "recv": _recv,
    "async": _async, "async_plain": _async_plain, "all": _all, "any": _any, "cancel": _cancel, "detach": _detach,
    "effect": _effect, "patch": _patch, "state": _state, "facts": _facts, "raise": _raise, "continue": _continue,
    "handler": _handler, "handler_plain": _handler_plain, "spawn": _spawn, "shield": _shield,
}  # fmt: skip
"""Statements that do not wait."""


# --- statements that wait -------------------------------------------------------------------


def _await(frame: Frame, number: int) -> Step:
    awaited = frame.slot(number)
    if awaited is not None:
        frame.saw("got", _shown(frame, (yield awaited)))


def _many(frame: Frame, count: int) -> Step:
    everything = flowpy.all_of([work(number) for number in range(count)])
    frame.saw("many", len((yield everything)))


def _caught(frame: Frame, block: Block, block_if: Block, also_cancelled: bool) -> Step:
    kinds: tuple[type[BaseException], ...] = (Exception, asyncio.CancelledError) if also_cancelled else (Exception,)
    try:
        yield from _walk(frame, block)
    except flowpy.ContinueAsNew:
        raise
    except kinds as error:
        frame.saw("caught", _told(error))
        yield from _walk(frame, block_if)


def _finally(frame: Frame, block: Block, block_after: Block) -> Step:
    try:
        yield from _walk(frame, block)
    finally:
        frame.saw("finally")
        # Awaiting while the run leaves memory would only make noise; tests/runtime/test_eviction.py shows what happens.
        if not current.get().dead:
            yield from _walk(frame, block_after)


def _aio_sleep(frame: Frame, seconds: int) -> Step:
    yield asyncio.sleep(seconds)
    frame.saw("slept", flowpy.now().timestamp())


def _gather(frame: Frame, blocks: list[Block], return_exceptions: bool) -> Step:
    results = yield asyncio.gather(*(_task(frame, block) for block in blocks), return_exceptions=return_exceptions)
    frame.saw("gathered", [_shown(frame, result) for result in results])


def _wait(frame: Frame, numbers: list[int], first: bool, timeout: int | None) -> Step:
    if futures := frame.several(numbers):
        when = asyncio.FIRST_COMPLETED if first else asyncio.ALL_COMPLETED
        done, pending = yield asyncio.wait(futures, timeout=timeout, return_when=when)
        # The order of the sets, too, is the same in every replay.
        frame.saw("waited", [frame.slots.index(f) for f in done], [frame.slots.index(f) for f in pending])


def _group(frame: Frame, blocks: list[Block]) -> Step:
    async def grouped() -> list[Any]:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_task(frame, block)) for block in blocks]
        return [task.result() for task in tasks]

    frame.saw("group", (yield grouped()))


def _timeout(frame: Frame, seconds: int, block: Block) -> Step:
    async def limited() -> None:
        async with asyncio.timeout(seconds):
            await _drive(_walk(frame, block))

    yield limited()


def _wait_for(frame: Frame, seconds: int, number: int) -> Step:
    awaited = frame.slot(number)
    if awaited is not None:
        frame.saw("in time", _shown(frame, (yield asyncio.wait_for(awaited, seconds))))


def _wait_for_task(frame: Frame, seconds: int, block: Block) -> Step:
    yield asyncio.wait_for(_task(frame, block), seconds)


def _completed(frame: Frame, numbers: list[int], timeout: int | None) -> Step:
    futures = frame.several(numbers)

    async def in_order() -> list[Any]:
        seen = []
        for future in asyncio.as_completed(futures, timeout=timeout):
            try:
                seen.append(_shown(frame, await future))
            except Exception as error:
                seen.append(_told(error))
                if isinstance(error, TimeoutError):
                    break
        return seen

    frame.saw("completed", (yield in_order()))


def _locked(frame: Frame, seconds: int) -> Step:
    async def critical() -> None:
        async with frame.run.lock:
            frame.saw("locked")
            await asyncio.sleep(seconds)

    yield critical()


WAIT: dict[str, Callable[..., Step]] = {
    "await": _await, "many": _many, "try": _caught, "finally": _finally,
    "aio_sleep": _aio_sleep, "gather": _gather, "wait": _wait, "group": _group, "timeout": _timeout,
    "wait_for": _wait_for, "wait_for_task": _wait_for_task, "completed": _completed, "locked": _locked,
}  # fmt: skip
"""Statements that wait: they yield what is to be awaited."""


def _walk(frame: Frame, block: Block) -> Step:
    for name, *arguments in block:
        if name in DO:
            DO[name](frame, *arguments)
        else:
            yield from WAIT[name](frame, *arguments)


async def _drive(steps: Step) -> None:
    try:
        awaited = next(steps)
        while True:
            try:
                value = await awaited
            except BaseException as error:
                awaited = steps.throw(error)
            else:
                awaited = steps.send(value)
    except StopIteration:
        return


def _drive_plain(steps: Step) -> None:
    try:
        awaited: Any = next(steps)
        while True:
            try:
                value = awaited.result()
            except BaseException as error:
                awaited = steps.throw(error)
            else:
                awaited = steps.send(value)
    except StopIteration:
        return


def _task(frame: Frame, block: Block) -> Coroutine[Any, Any, int]:
    """The coroutine of a task; its slots are those there are now, without the task itself."""
    forked = frame.fork()

    async def run() -> int:
        await _drive(_walk(forked, block))
        return len(forked.log)

    return run()


def _shown(frame: Frame, value: Any) -> Any:
    """A value as text that is the same in every replay."""
    if isinstance(value, BaseException):
        return _told(value)
    if isinstance(value, Promise):
        return f"slot {frame.slots.index(value)}"
    if isinstance(value, list | tuple):
        return [_shown(frame, each) for each in value]
    return value


def _told(error: BaseException) -> str:
    inner = getattr(error, "exceptions", ())
    return f"{type(error).__name__}({', '.join(map(_told, inner)) if inner else error})"


def _digest(log: list[Any]) -> str:
    return f"{len(log)} {hashlib.sha256(json.dumps(log).encode()).hexdigest()[:12]}"


@asynchronous
async def flows(frame: Frame, block: Block, value: Any) -> int:
    frame.saw("began", _shown(frame, value))
    await _drive(_walk(frame, block))
    return len(frame.log)


@asynchronous
def flows_plain(frame: Frame, block: Block, value: Any) -> int:
    frame.saw("began", _shown(frame, value))
    _drive_plain(_walk(frame, block))
    return len(frame.log)


@workflow(task_start_to_close_timeout="30s", lambda_role="arn:role", child_policy="ABANDON")
async def walk(program: Block, round_: int = 0, value: Any = None) -> str:
    frame = Frame(Seen(program, round_), [], main=True)
    frame.saw("round", round_, value)
    await _drive(_walk(frame, program))
    return _digest(frame.log)


@workflow(task_start_to_close_timeout="30s", lambda_role="arn:role", child_policy="ABANDON")
def walk_plain(program: Block, round_: int = 0, value: Any = None) -> str:
    frame = Frame(Seen(program, round_), [], main=True)
    frame.saw("round", round_, value)
    _drive_plain(_walk(frame, program))
    return _digest(frame.log)
