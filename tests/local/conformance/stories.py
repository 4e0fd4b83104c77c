"""One short story for every type of event: what has to happen so that SWF writes it.

A story gets the driver and whether everything optional is to be given; it ends as soon as its event is written, and
gives the runId and workflowId of the history that has it. The event is the last of its type there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flowpy.local.engine import Quotas

from .driver import CHARGE, ORDER, Driver, decision

Story = Callable[[Driver, bool], tuple[str, str]]

NOWHERE = {"name": "none", "version": "1"}
CONFIG = {
    "executionStartToCloseTimeout": "60",
    "taskList": {"name": "mine"},
    "taskStartToCloseTimeout": "9",
    "childPolicy": "ABANDON",
}
FULL_CONFIG = {**CONFIG, "taskPriority": "4", "lambdaRole": "role", "input": "i", "tagList": ["eu"]}
WORK = {
    "taskList": {"name": "workers"},
    "scheduleToStartTimeout": "11",
    "scheduleToCloseTimeout": "12",
    "startToCloseTimeout": "13",
    "heartbeatTimeout": "14",
    "input": "i",
    "control": "k",
    "taskPriority": "4",
}


def charge(activity_id: str = "a", **options: Any) -> dict[str, Any]:
    return decision("ScheduleActivityTask", activityId=activity_id, activityType=CHARGE, **options)


def timer(timer_id: str = "t", **options: Any) -> dict[str, Any]:
    return decision("StartTimer", timerId=timer_id, startToFireTimeout="5", **options)


def child(workflow_id: str = "c", **options: Any) -> dict[str, Any]:
    return decision("StartChildWorkflowExecution", workflowId=workflow_id, **({"workflowType": ORDER} | options))


def function(function_id: str = "l", **options: Any) -> dict[str, Any]:
    return decision("ScheduleLambdaFunction", id=function_id, name="resize", **options)


def decided(*decisions: dict[str, Any], everything: tuple[dict[str, Any], ...] = (), **start: Any) -> Story:
    """A run that decides, and nothing that follows from it."""

    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        swf.engine.hold_effects = True
        run_id = swf.start(**start)
        swf.decide(*(everything if full and everything else decisions))
        return run_id, "w"

    return tell


def refused(decision_type: str, cause: str, **attributes: Any) -> Story:
    """A decision that fails because SWF does not want it."""

    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        swf.engine.refuse(decision_type, cause)
        return decided(decision(decision_type, **attributes))(swf, full)

    return tell


# --- the execution --------------------------------------------------------------------------


def started(swf: Driver, full: bool) -> tuple[str, str]:
    if not full:
        return swf.start(), "w"
    swf.start()
    swf.decide(child())
    swf.engine.settle()
    while (task := swf.poll())["workflowExecution"]["workflowId"] != "c":
        swf.answer(task)
    swf.answer(task, decision("ContinueAsNewWorkflowExecution", **FULL_CONFIG))
    return swf.run_id("c"), "c"


def cancel_requested(swf: Driver, full: bool) -> tuple[str, str]:
    if not full:
        run_id = swf.start()
        swf.decide()
        swf.call("RequestCancelWorkflowExecution", domain="shop", workflowId="w")
        return run_id, "w"
    swf.start(childPolicy="REQUEST_CANCEL")
    swf.decide(child(taskList={"name": "mine"}))
    swf.engine.settle()
    swf.answer(swf.poll("mine"))
    run_id = swf.run_id("c")
    swf.terminate()
    swf.engine.settle()
    return run_id, "c"


def signaled(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start("t")
    swf.decide()
    if full:
        swf.start()
        swf.decide(decision("SignalExternalWorkflowExecution", workflowId="t", signalName="s", input="i"))
        swf.engine.settle()
    else:
        swf.signal("s", "t")
    return run_id, "t"


def unhandled(close: str) -> Story:
    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        run_id = swf.start()
        task = swf.poll()
        swf.signal()
        swf.answer(task, decision(close))
        return run_id, "w"

    return tell


def execution_timed_out(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start(executionStartToCloseTimeout="60")
    swf.engine.advance(60)
    return run_id, "w"


def terminated(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.terminate(**({"reason": "r", "details": "d"} if full else {}))
    return run_id, "w"


def terminated_with_the_parent(swf: Driver, full: bool) -> tuple[str, str]:
    swf.start()
    swf.decide(child(childPolicy="ABANDON"))
    swf.engine.settle()
    run_id = swf.run_id("c")
    swf.terminate()
    swf.engine.settle()
    return run_id, "c"


def outgrown(swf: Driver, full: bool) -> tuple[str, str]:
    swf.engine.world.quotas = Quotas(events=3)
    run_id = swf.start()
    swf.signal()
    return run_id, "w"


# --- tasks ----------------------------------------------------------------------------------


def decision_scheduled(swf: Driver, full: bool) -> tuple[str, str]:
    return swf.start(**({"taskPriority": "4"} if full else {})), "w"


def decision_started(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.poll(**({"identity": "me"} if full else {}))
    return run_id, "w"


def decision_completed(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    options = {"executionContext": "x", "taskList": {"name": "mine"}, "taskListScheduleToStartTimeout": "5"}
    swf.decide(**(options if full else {}))
    return run_id, "w"


def decision_timed_out(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.poll()
    swf.engine.advance(30)
    return run_id, "w"


def decision_never_started(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.decide(taskList={"name": "mine"}, taskListScheduleToStartTimeout="5")
    swf.signal()
    swf.engine.advance(5)
    return run_id, "w"


def activity(what: str = "", **said: Any) -> Story:
    """An activity that a worker took, and how it ended."""

    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        run_id = swf.start()
        swf.decide(charge())
        poll = {"domain": "shop", "taskList": {"name": "workers"}, **({"identity": "me"} if full else {})}
        task = swf.engine.call("PollForActivityTask", poll)
        if what:
            swf.call(f"RespondActivityTask{what}", taskToken=task["taskToken"], **(said if full else {}))
        return run_id, "w"

    return tell


def activity_canceled(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.decide(charge())
    token = swf.take()["taskToken"]
    if full:
        swf.signal()
        swf.decide(decision("RequestCancelActivityTask", activityId="a"))
    swf.call("RespondActivityTaskCanceled", taskToken=token, **({"details": "d"} if full else {}))
    return run_id, "w"


def activity_timed_out(timeout: str, taken: bool) -> Story:
    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        run_id = swf.start()
        swf.decide(charge(**{timeout: "5"}))
        if taken:
            token = swf.take()["taskToken"]
            if full:
                swf.call("RecordActivityTaskHeartbeat", taskToken=token, details="far")
        swf.engine.advance(5)
        return run_id, "w"

    return tell


# --- what others do -------------------------------------------------------------------------


def timer_fired(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.decide(timer())
    swf.engine.advance(5)
    return run_id, "w"


def child_already_running(swf: Driver, full: bool) -> tuple[str, str]:
    swf.start("c", taskList={"name": "mine"})
    run_id = swf.start()
    swf.decide(child(**({"control": "k"} if full else {})))
    swf.engine.settle()
    return run_id, "w"


def child_started(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.decide(child(taskList={"name": "mine"}, executionStartToCloseTimeout="60"))
    swf.engine.settle()
    return run_id, "w"


def child_closed(close: str, **said: Any) -> Story:
    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        story = child_started(swf, full)
        swf.decide()
        swf.answer(swf.poll("mine"), decision(close, **(said if full else {})))
        swf.engine.settle()
        return story

    return tell


def child_terminated(swf: Driver, full: bool) -> tuple[str, str]:
    story = child_started(swf, full)
    swf.decide()
    swf.terminate("c", reason="r", details="d")
    swf.engine.settle()
    return story


def child_timed_out(swf: Driver, full: bool) -> tuple[str, str]:
    story = child_started(swf, full)
    swf.decide()
    swf.engine.advance(60)
    return story


def external(kind: str, target: str = "t", **attributes: Any) -> Story:
    """A signal or cancel request to another run, all the way."""

    def tell(swf: Driver, full: bool) -> tuple[str, str]:
        named = {"runId": swf.start("t", taskList={"name": "mine"}), "control": "k"} if full else {}
        if not full and target == "t":
            swf.start("t", taskList={"name": "mine"})
        run_id = swf.start()
        swf.decide(decision(kind, workflowId=target, **attributes, **named))
        swf.engine.settle()
        return run_id, "w"

    return tell


def function_started(swf: Driver, full: bool) -> tuple[str, str]:
    swf.engine.on_lambda("resize", None)
    run_id = swf.start(lambdaRole="role")
    swf.decide(function(startToCloseTimeout="5"))
    swf.engine.settle()
    return run_id, "w"


def function_completed(swf: Driver, full: bool) -> tuple[str, str]:
    story = function_started(swf, full)
    swf.engine.complete_lambda(story[0], 5, "r")
    return story


def function_failed(swf: Driver, full: bool) -> tuple[str, str]:
    story = function_started(swf, full)
    swf.engine.fail_lambda(story[0], 5, "why", "d")
    return story


def function_timed_out(swf: Driver, full: bool) -> tuple[str, str]:
    story = function_started(swf, full)
    swf.engine.advance(5)
    return story


def function_without_a_role(swf: Driver, full: bool) -> tuple[str, str]:
    run_id = swf.start()
    swf.decide(function())
    swf.engine.settle()
    return run_id, "w"
