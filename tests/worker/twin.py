"""The twin of SWF behind a service that holds polls and fails on request, and a tiny order to run on it."""

from __future__ import annotations

import threading
from collections import defaultdict, deque

from flowpy.declare import activity, workflow
from flowpy.local.engine import Engine
from flowpy.service.faults import fault
from flowpy.worker.lifecycle import Lifecycle

PATIENCE = 10.0  # seconds a test waits for another thread before it fails


class Twin:
    """The engine as a service: long polls are held for a moment, calls are remembered, faults come on request."""

    def __init__(self):
        self.engine = Engine()
        self.engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
        self.faults = defaultdict(deque)
        self.called = []
        self.changed = threading.Condition()
        self.hold = 0.05

    def fail(self, operation, *errors):
        self.faults[operation].extend(errors)

    def call(self, operation, request):
        with self.changed:
            self.called.append((operation, request))
            self.changed.notify_all()
            if self.faults[operation]:
                raise self.faults[operation].popleft()
        reply = self.engine.call(operation, request)
        if operation.startswith("Poll") and "taskToken" not in reply and self.hold:
            with self.changed:
                self.changed.wait(self.hold)
            return self.engine.call(operation, request)
        with self.changed:
            self.changed.notify_all()
        return reply

    def calls(self, operation):
        with self.changed:
            return [request for name, request in self.called if name == operation]

    def wait_for(self, operation, times=1, patience=PATIENCE):
        """Wait until an operation was called that often; gives the last request."""
        with self.changed:
            seen = self.changed.wait_for(lambda: len(self._calls(operation)) >= times, patience)
            assert seen, f"{operation} was called {len(self._calls(operation))} times, not {times}"
            return self._calls(operation)[times - 1]

    def until(self, condition):
        """Wait until a condition holds, looked at whenever somebody calls."""
        with self.changed:
            assert self.changed.wait_for(condition, PATIENCE)

    def _calls(self, operation):
        return [request for name, request in self.called if name == operation]

    def start(self, workflow_id="order-7", text='["o-7"]'):
        return self.engine.call(
            "StartWorkflowExecution",
            {
                "domain": "shop",
                "workflowId": workflow_id,
                "workflowType": {"name": "order", "version": "1.0"},
                "taskList": {"name": "main"},
                "input": text,
            },
        )["runId"]

    def events(self, run_id, workflow_id="order-7"):
        execution = {"workflowId": workflow_id, "runId": run_id}
        return self.engine.call("GetWorkflowExecutionHistory", {"domain": "shop", "execution": execution})["events"]

    def types(self, run_id, workflow_id="order-7"):
        return [event["eventType"] for event in self.events(run_id, workflow_id)]


class Answer:
    def __init__(self, *decisions, execution_context=None):
        self.decisions = list(decisions)
        self.execution_context = execution_context


class OneActivity:
    """A tiny decider: schedules one activity with the run's input, and ends as it ends."""

    def __init__(self, name="greet"):
        self.name = name

    def decide(self, task):
        for event in task.events:
            match event["eventType"]:
                case "ActivityTaskCompleted":
                    told = event["activityTaskCompletedEventAttributes"]
                    return Answer(complete(told.get("result")))
                case "ActivityTaskFailed" | "ActivityTaskCanceled" | "ActivityTaskTimedOut":
                    return Answer(complete(event["eventType"]))
                case "WorkflowExecutionCancelRequested":
                    return Answer(cancel_activity())
        if any(event["eventType"] == "ActivityTaskScheduled" for event in task.events):
            return Answer()
        started = task.events[0]["workflowExecutionStartedEventAttributes"]
        return Answer(schedule(self.name, started.get("input")), execution_context='{"flowpy": 1}')


def complete(result):
    attributes = {} if result is None else {"result": result}
    return {
        "decisionType": "CompleteWorkflowExecution",
        "completeWorkflowExecutionDecisionAttributes": attributes,
    }


def schedule(name, text):
    return {
        "decisionType": "ScheduleActivityTask",
        "scheduleActivityTaskDecisionAttributes": {
            "activityId": f"{name}-1",
            "activityType": {"name": name, "version": "1.0"},
            "taskList": {"name": "main"},
            "input": text,
        },
    }


def cancel_activity():
    return {
        "decisionType": "RequestCancelActivityTask",
        "requestCancelActivityTaskDecisionAttributes": {"activityId": "greet-1"},
    }


@workflow(name="order")
async def order(order_id: str) -> str:
    return order_id


@activity(name="greet")
def greet(name: str) -> str:
    return f"hello {name}"


def settle(lifecycle: Lifecycle):
    """Wait until the running tasks have ended."""
    lifecycle.stopping.set()
    while lifecycle.tasks:
        lifecycle.mailbox.get(timeout=PATIENCE)


def in_the_middle(shop, operation, *, before=None, after=None):
    """Have something happen while the next call of an operation is under way."""
    call = shop.call

    def interrupted(name, request):
        if name != operation:
            return call(name, request)
        shop.call = call
        if before is not None:
            before()
        try:
            return call(name, request)
        finally:
            if after is not None:
                after()

    shop.call = interrupted


def lose_reply(shop, operation):
    """Have the reply to the next call of an operation lost: the service has done it, and nobody hears."""

    def lose():
        raise fault("ConnectionClosedError", "", operation, status=503)

    in_the_middle(shop, operation, after=lose)
