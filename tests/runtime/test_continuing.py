"""Law L7: runs that continue as new, closes that are refused and sent again, markers that are lost."""

from __future__ import annotations

import json
from typing import Any

import pytest

import flowpy
from flowpy import Signal, activity, workflow

from .driver import Driver

GO = Signal("go", int)


@activity
def work(value: Any = None) -> int: ...


@workflow(lambda_role="arn:role")
async def continues(round_: int = 0) -> int:
    if round_ == 0:
        await work("late")
        flowpy.continue_as_new(1)
    return await GO.receive() + await GO.receive()


def test_signals_that_nobody_received_go_along() -> None:
    run = Driver(continues, uses=(work,))
    run.decide()
    run.signal("go", 4)
    run.signal("other")
    assert run.decide() == []
    run.complete("work-1", 1)
    task = run.begin()
    assert task is not None
    run.signal("go", 5)
    assert run.answer(task) == ["ContinueAsNewWorkflowExecution"]
    assert run.types[-1] == "ContinueAsNewWorkflowExecutionFailed"
    assert run.decide() == ["ContinueAsNewWorkflowExecution"]
    made = run.last("WorkflowExecutionContinuedAsNew")
    assert [each["name"] for each in json.loads(made["input"])["signals"]] == ["go", "other", "go"]
    run.forget()
    run.run_id = made["newExecutionRunId"]
    assert run.decide() == ["CompleteWorkflowExecution 9"]
    run.finished()


def test_the_options_of_the_run_are_kept() -> None:
    options = {
        "taskList": {"name": "list"}, "taskPriority": "7", "childPolicy": "ABANDON", "tagList": ["eu"],
        "executionStartToCloseTimeout": "5000", "taskStartToCloseTimeout": "44", "lambdaRole": "arn:other",
    }  # fmt: skip
    run = Driver(continues, uses=(work,), **options)
    run.decide()
    run.complete("work-1", 1)
    run.decide()
    made = run.last("WorkflowExecutionContinuedAsNew")
    assert {name: made[name] for name in options} == options


def test_given_options_replace_them() -> None:
    @workflow
    async def moves() -> None:
        flowpy.continue_as_new.options(execution_start_to_close_timeout="2h", tag_list=["us"])()

    run = Driver(moves, tagList=["eu"])
    run.decide()
    made = run.last("WorkflowExecutionContinuedAsNew")
    assert (made["executionStartToCloseTimeout"], made["tagList"]) == ("7200", ["us"])


def test_only_the_main_task_may_continue_the_run() -> None:
    @workflow
    async def tries() -> str:
        async def inner() -> None:
            flowpy.continue_as_new()

        try:
            await flowpy.shield(inner())
        except flowpy.CallError as error:
            return str(error)
        return ""

    assert "only the workflow function itself" in Driver(tries).to_the_end()


@workflow
async def handles(result: str) -> str:
    seen: list[int] = []

    @GO.handler
    async def go(value: int) -> None:
        seen.append(await work(value))

    await work("first")
    if result == "fail":
        raise ValueError(result)
    return f"{result} {len(seen)}"


@pytest.mark.parametrize(
    ("result", "close"), [("done", 'CompleteWorkflowExecution "done 0"'), ("fail", "FailWorkflowExecution ValueError")]
)
def test_a_refused_close_is_sent_again_when_what_came_is_handled(result: str, close: str) -> None:
    run = Driver(handles, result, uses=(work,))
    run.decide()
    run.complete("work-1", 1)
    for number in (1, 2):
        task = run.begin()
        assert task is not None
        run.signal("go", number)
        assert run.answer(task) == [close]
        # The handler runs although the function has returned, and the close waits for it.
        assert run.decide() == [f"ScheduleActivityTask s{number}.work-1"]
        run.complete(f"s{number}.work-1", 1)
    assert run.decide() == [close]


@pytest.mark.parametrize("plain", [False, True])
def test_a_lost_marker_fails_the_run_and_sends_nothing_else(plain: bool) -> None:
    @workflow
    async def cleans_up() -> None:
        try:
            flowpy.side_effect(int)
            await flowpy.sleep(30)
        finally:
            await work("clean up")

    @workflow
    def cleans_up_plainly() -> None:
        try:
            flowpy.side_effect(int)
            flowpy.sleep(30).result()
        finally:
            work("clean up").result()

    run = Driver(cleans_up_plainly if plain else cleans_up, uses=(work,))
    run.engine.refuse("RecordMarker", "OPERATION_NOT_PERMITTED")
    assert [each.split()[0] for each in run.decide()] == ["RecordMarker", "StartTimer"]
    assert run.decide() == ["FailWorkflowExecution MarkerFailed"]
