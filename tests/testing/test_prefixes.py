"""Every test is a replay test: code that two runs of decide differently fails it."""

from __future__ import annotations

import asyncio
import itertools
import random
import time

import pytest

import flowpy
from flowpy import workflow
from flowpy.testing import Environment
from flowpy.testing.prefixes import replay_prefixes

from .shop import add, approval, charge, count, order, parent


def checked(declared, *args):
    """What the check at the end of a test says of a workflow."""
    environment = Environment()
    try:
        environment.run(declared, *args)
        with pytest.raises(flowpy.NonDeterminismError) as found:
            environment.check()
    finally:
        environment.close()
    return "\n".join([str(found.value), *found.value.__notes__])


def test_another_call_is_found_and_shown_as_a_diff():
    numbers = itertools.count()

    @workflow
    async def fickle() -> int:
        return await (add if next(numbers) == 0 else charge)(1, 2)

    said = checked(fickle)

    assert "the same code decided two things" in said
    assert "ScheduleActivityTask(add-1: add 1.0)" in said
    assert "ScheduleActivityTask(charge-1: charge 1.0)" in said
    assert "ActivityTaskCompleted" in said
    assert "where the replay stands:\nmain task (fickle) waits for activity charge-1" in said


def test_another_argument_is_found():
    @workflow
    async def clocked() -> int:
        return await add(time.perf_counter_ns())

    assert "number" in checked(clocked)


def test_another_result_is_found():
    @workflow
    async def lucky() -> float:
        return random.random()

    assert "CompleteWorkflowExecution" in checked(lucky)


def test_what_a_first_run_left_behind_is_found():
    seen: list[int] = []

    @workflow
    async def forgetful() -> int:
        seen.append(1)
        return await add(len(seen))

    checked(forgetful)


def test_what_only_a_later_decision_shows_is_found():
    numbers = itertools.count()

    @workflow
    async def late() -> None:
        await flowpy.sleep(1)
        await flowpy.sleep(1 + next(numbers))

    assert "seconds" in checked(late)


def test_flowpys_own_chance_and_time_are_no_difference():
    @workflow
    async def careful() -> float:
        lot = flowpy.random().random()
        await add(int(lot * 1000))
        await add(int(flowpy.now().timestamp()))
        return len(str(flowpy.uuid4()))

    with Environment() as swf:
        assert swf.run(careful) == 36


def test_side_effects_and_patches_are_no_difference():
    @workflow
    async def effective() -> int:
        number = flowpy.side_effect(lambda: random.randrange(1_000_000))
        if number % 2:
            await add(number)
        else:
            await flowpy.sleep(number + 1)
        return number if flowpy.patched("new") else 0

    with Environment() as swf:
        for _ in range(5):
            swf.run(effective)


def test_errors_that_are_raised_again_are_no_difference():
    mine = flowpy.ApplicationError("always the same object")

    @workflow
    async def failing() -> None:
        await flowpy.sleep(1)
        raise mine

    with Environment() as swf, pytest.raises(flowpy.WorkflowFailed):
        swf.run(failing)


def test_what_a_test_handles_meanwhile_is_no_difference():
    @workflow
    async def failing() -> None:
        raise flowpy.ApplicationError("mine")

    with Environment() as swf:
        try:
            raise ValueError("of the test")
        except ValueError:
            run = swf.start(failing)
            with pytest.raises(flowpy.WorkflowFailed) as failed:
                run.result()
        assert failed.value.failure.cause is None


def test_plain_code_goes_on_where_a_test_handles_something():
    with Environment() as swf:
        run = swf.start(plain_order)
        try:
            raise ValueError("of the test")
        except ValueError:
            swf.advance(1)
        swf.advance(1)
        assert run.result() == 2


@workflow
def plain_order() -> int:
    flowpy.sleep(1).result()
    return add(1).result()


def test_every_kind_of_run_of_a_test_is_replayed(monkeypatch):
    replayed = []

    def counting(live, **options):
        replayed.append((live.workflow.name, replay_prefixes(live, **options)))

    monkeypatch.setattr("flowpy.testing.environment.replay_prefixes", counting)
    with Environment() as swf:
        swf.run(parent, 1)
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        run.result()

    assert replayed == [("parent", 3), ("child", 2), ("order", 4)]


def test_of_a_long_history_as_many_prefixes_as_fit(monkeypatch):
    monkeypatch.setattr("flowpy.testing.prefixes.MOST_EVENTS", 100)

    @workflow
    async def long() -> None:
        for _ in range(20):
            await asyncio.sleep(86_400)

    with Environment() as swf:
        swf.run(long)
        (live,) = swf.executions()
        assert len(live.answers) == 21
        assert replay_prefixes(live) < 5
        assert replay_prefixes(live, every=True) == 21


class TestStrict:
    def test_chance_is_repeated_by_its_seed(self):
        def histories(seed):
            with Environment(strict=True, seed=seed) as swf:
                swf.run(fan_out)
                return swf.histories()

        assert histories(3) == histories(3)
        assert any(histories(seed) != histories(3) for seed in range(10))

    def test_it_names_every_call_that_no_replay_can_repeat(self):
        @workflow
        async def clocked() -> float:
            return time.time()

        with Environment(strict=True) as swf, pytest.raises(flowpy.NotDeterministic, match=r"time\.time"):
            swf.start(clocked)

    def test_without_one_it_is_new_each_time(self):
        seeds = {Environment(strict=True).seed for _ in range(20)}
        assert len(seeds) > 1
        assert Environment().seed is None

    def test_results_do_not_depend_on_it(self):
        for seed in range(10):
            with Environment(strict=True, seed=seed) as swf:
                assert swf.run(fan_out) == [1, 2, 3]
                assert swf.run(count) == 3


@workflow
async def fan_out() -> list[int]:
    return await asyncio.gather(*[add(number) for number in range(3)])


def test_what_was_logged_is_not_logged_again(caplog):
    @workflow
    async def talking() -> None:
        flowpy.logger.warning("begun")
        await flowpy.sleep(1)
        flowpy.logger.warning("done")

    with caplog.at_level("WARNING"), Environment() as swf:
        run = swf.start(talking)
        run.signal("nobody takes it")
        run.result()
        said = [record.message for record in caplog.records]

    assert [record.message for record in caplog.records] == said
    assert said[:2] == ["begun", "done"]
    assert len(said) == 3
