"""A driver that plays decider, worker and operator against one engine, and checks all that the engine says."""

from __future__ import annotations

from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator

from flowpy.local.engine import Engine, check_history

MODEL = ServiceModel(Loader().load_service_model("swf", "service-2"))

WORKFLOW = {
    "defaultTaskList": {"name": "deciders"},
    "defaultChildPolicy": "TERMINATE",
    "defaultTaskStartToCloseTimeout": "30",
    "defaultExecutionStartToCloseTimeout": "86400",
}
ACTIVITY = {
    "defaultTaskList": {"name": "workers"},
    "defaultTaskScheduleToStartTimeout": "NONE",
    "defaultTaskScheduleToCloseTimeout": "NONE",
    "defaultTaskStartToCloseTimeout": "NONE",
    "defaultTaskHeartbeatTimeout": "NONE",
}
ORDER = {"name": "order", "version": "1"}
CHARGE = {"name": "charge", "version": "1"}


def decision(decision_type: str, **attributes: Any) -> dict[str, Any]:
    key = f"{decision_type[0].lower()}{decision_type[1:]}DecisionAttributes"
    return {"decisionType": decision_type, **({key: attributes} if attributes else {})}


def attributes_of(event: dict[str, Any]) -> dict[str, Any]:
    return next(value for name, value in event.items() if name.endswith("EventAttributes"))


class Driver:
    """One domain with the workflow type ``order`` and the activity type ``charge``, both version 1."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
        self.call("RegisterWorkflowType", domain="shop", **ORDER, **WORKFLOW)
        self.call("RegisterActivityType", domain="shop", **CHARGE, **ACTIVITY)

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        answer = self.engine.call(operation, request)
        output = MODEL.operation_model(operation).output_shape
        empty_poll = operation.startswith("Poll") and "taskToken" not in answer
        if output is None:
            assert answer == {}
        elif not empty_poll:
            report = ParamValidator().validate(answer, output)
            assert not report.has_errors(), report.generate_report()
        return answer

    # --- the operator -----------------------------------------------------------------------

    def start(self, workflow_id: str = "w", **options: Any) -> str:
        options = {"workflowType": ORDER} | options
        return self.call("StartWorkflowExecution", domain="shop", workflowId=workflow_id, **options)["runId"]

    def signal(self, name: str = "go", workflow_id: str = "w") -> None:
        self.call("SignalWorkflowExecution", domain="shop", workflowId=workflow_id, signalName=name)

    def terminate(self, workflow_id: str = "w", **options: Any) -> None:
        self.call("TerminateWorkflowExecution", domain="shop", workflowId=workflow_id, **options)

    # --- the decider ------------------------------------------------------------------------

    def poll(self, task_list: str = "deciders", **options: Any) -> dict[str, Any]:
        return self.call("PollForDecisionTask", domain="shop", taskList={"name": task_list}, **options)

    def answer(self, task: dict[str, Any], *decisions: dict[str, Any], **options: Any) -> None:
        token = task["taskToken"]
        self.call("RespondDecisionTaskCompleted", taskToken=token, decisions=list(decisions), **options)

    def decide(self, *decisions: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Polls and answers; gives the task that was answered."""
        task = self.poll()
        self.answer(task, *decisions, **options)
        return task

    # --- the worker -------------------------------------------------------------------------

    def take(self, task_list: str = "workers") -> dict[str, Any]:
        return self.call("PollForActivityTask", domain="shop", taskList={"name": task_list})

    def complete(self, task: dict[str, Any], result: str = "done") -> None:
        self.call("RespondActivityTaskCompleted", taskToken=task["taskToken"], result=result)

    # --- what can be seen -------------------------------------------------------------------

    def run_id(self, workflow_id: str = "w") -> str:
        return self.engine.world.domains["shop"].open_runs[workflow_id]

    def events(self, run_id: str | None = None, workflow_id: str = "w") -> list[dict[str, Any]]:
        execution = {"workflowId": workflow_id, "runId": run_id or self.run_id(workflow_id)}
        return self.call("GetWorkflowExecutionHistory", domain="shop", execution=execution)["events"]

    def types(self, run_id: str | None = None, workflow_id: str = "w") -> list[str]:
        return [event["eventType"] for event in self.events(run_id, workflow_id)]

    def last(self, event_type: str, run_id: str | None = None, workflow_id: str = "w") -> dict[str, Any]:
        """The attributes of the last event of a type."""
        found = [event for event in self.events(run_id, workflow_id) if event["eventType"] == event_type]
        assert found, f"no {event_type} in {self.types(run_id, workflow_id)}"
        return attributes_of(found[-1])

    def describe(self, run_id: str, workflow_id: str = "w") -> dict[str, Any]:
        execution = {"workflowId": workflow_id, "runId": run_id}
        return self.call("DescribeWorkflowExecution", domain="shop", execution=execution)

    def check(self) -> None:
        for run in self.engine.world.runs.values():
            check_history(list(run.events))
