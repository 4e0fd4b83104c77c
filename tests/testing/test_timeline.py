"""Histories as tables of text."""

from __future__ import annotations

import flowpy
from flowpy import workflow
from flowpy.testing import Environment
from flowpy.testing.timeline import timeline

from .shop import Receipt, approval, charge, order, parent


def test_it_tells_what_each_event_is_about():
    with Environment() as swf:
        swf.stub(charge, raises=OSError("no line")).then(returns=Receipt("o-7", 1))
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        run.result()

        told = [line.split(maxsplit=3) for line in timeline(run.history()).splitlines()]

    assert [each[1:] for each in told] == [
        ["00:00:00", "WorkflowExecutionStarted", 'order ["o-7"]'],
        ["00:00:00", "ActivityTaskScheduled", 'charge-1 ["o-7", 4200]'],
        ["00:00:00", "TimerStarted", "timer-1 259200"],
        ["00:00:00", "ActivityTaskStarted", "charge-1"],
        ["00:00:00", "ActivityTaskFailed", "charge-1 OSError: no line"],
        ["00:00:00", "TimerStarted", "charge-1.w2 2"],
        ["00:00:00", "WorkflowExecutionSignaled", "approval true"],
        ["00:00:00", "TimerCanceled", "timer-1"],
        ["00:00:00", "TimerStarted", "timer-2 3600"],
        ["00:00:02", "TimerFired", "charge-1.w2"],
        ["00:00:02", "ActivityTaskScheduled", 'charge-1.r2 ["o-7", 4200]'],
        ["00:00:02", "ActivityTaskStarted", "charge-1.r2"],
        ["00:00:02", "ActivityTaskCompleted", 'charge-1.r2 {"order_id": "o-7", "cents": 1}'],
        ["01:00:00", "TimerFired", "timer-2"],
        ["01:00:00", "WorkflowExecutionCompleted", '"o-7"'],
    ]


def test_children_are_told_by_their_workflow_id():
    with Environment() as swf:
        run = swf.start(parent, 1)
        told = timeline(run.history())

    assert "ChildWorkflowExecutionCompleted" in told
    assert "parent-1.child-1." in told


def test_columns_stand_below_each_other_however_many_days_pass():
    @workflow
    async def long() -> None:
        await flowpy.sleep("1h")
        await flowpy.sleep("200d")

    with Environment() as swf:
        run = swf.start(long)
        run.result()
        lines = timeline(run.history()).splitlines()

    kinds = ["WorkflowExecution", "TimerStarted", "TimerFired", "TimerStarted", "TimerFired", "WorkflowExecution"]
    assert len({line.index(kind) for line, kind in zip(lines, kinds, strict=True)}) == 1


def test_long_histories_are_cut_in_the_middle():
    @workflow
    async def long() -> None:
        for _ in range(50):
            await flowpy.sleep("1d")

    with Environment() as swf:
        run = swf.start(long)
        run.result()
        lines = timeline(run.history(), most=10).splitlines()

    assert len(lines) == 11
    assert "… 92 events left out …" in lines[5]
    assert "50d 00:00:00" in lines[-1]


def test_payloads_cannot_disturb_the_terminal():
    @workflow
    async def rude(text: str) -> None: ...

    with Environment() as swf:
        run = swf.start(rude, "\x1b[31m" + "x" * 500)
        lines = timeline(run.history(), width=80).splitlines()

    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) == 80


def test_nothing_is_no_table():
    assert timeline([]) == "(no events)"
