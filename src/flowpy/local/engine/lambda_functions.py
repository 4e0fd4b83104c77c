"""Lambda functions, played by handlers in this process (swf-semantics §4.15)."""

from __future__ import annotations

import json
import traceback
from contextlib import suppress
from typing import Any, Final

from flowpy.errors import UnknownResource
from flowpy.local.engine import faults
from flowpy.local.engine.deadlines import seconds
from flowpy.local.engine.deciding import Deciding
from flowpy.local.engine.recording import record
from flowpy.local.engine.state import Execution, LambdaFunction
from flowpy.local.engine.world import World

__all__ = ["DEADLINES", "EFFECTS", "complete", "error_payload", "fail", "schedule"]

_NO_ROLE: Final = "No IAM role is attached to the current workflow execution."


def schedule(deciding: Deciding, decision: dict[str, Any]) -> None:
    """ScheduleLambdaFunction."""
    world, run = deciding.world, deciding.run
    if any(function.id == decision["id"] for function in run.lambdas.values()):
        deciding.fail("ScheduleLambdaFunction", decision, "ID_ALREADY_IN_USE")
        return
    if len(run.lambdas) >= world.quotas.open_lambda_functions:
        deciding.fail("ScheduleLambdaFunction", decision, "OPEN_LAMBDA_FUNCTIONS_LIMIT_EXCEEDED")
        return
    scheduled = deciding.record(
        "LambdaFunctionScheduled",
        id=decision["id"],
        name=decision["name"],
        control=decision.get("control"),
        input=decision.get("input"),
        startToCloseTimeout=decision.get("startToCloseTimeout") or "900",
    )
    run.lambdas[scheduled] = LambdaFunction(scheduled, decision["id"])
    world.touch(run, scheduled)
    world.later("start_lambda_function", run, scheduled)


def _start(world: World, run: Execution, scheduled_event_id: int, _cause: str) -> None:
    function = run.lambdas.get(scheduled_event_id)
    if not run.is_open or function is None:
        return
    world.touch(run, scheduled_event_id)
    cause = world.refusal("StartLambdaFunction")
    if cause or "lambdaRole" not in run.config:
        del run.lambdas[scheduled_event_id]
        message = _NO_ROLE if not cause else "Refused."
        cause = cause or "ASSUME_ROLE_FAILED"
        record(
            world, run, "StartLambdaFunctionFailed", scheduledEventId=scheduled_event_id, cause=cause, message=message
        )
        return
    function.started_event_id = record(world, run, "LambdaFunctionStarted", scheduledEventId=scheduled_event_id)
    timeout = seconds(run.attributes(scheduled_event_id)["startToCloseTimeout"])
    world.set_deadline(run, "lambda.START_TO_CLOSE", scheduled_event_id, timeout)
    world.later("run_lambda_function", run, scheduled_event_id)


def _run(world: World, run: Execution, scheduled_event_id: int, _cause: str) -> None:
    if not run.is_open or scheduled_event_id not in run.lambdas:
        return
    scheduled, handlers = run.attributes(scheduled_event_id), world.lambda_functions
    name = scheduled["name"] if scheduled["name"] in handlers else "*"
    if name not in handlers:
        message = json.dumps({"errorMessage": f"Function not found: {scheduled['name']}"})
        fail(world, run, scheduled_event_id, "ResourceNotFoundException", message)
        return
    handler = handlers[name]
    if handler is None:
        return
    try:
        result = handler(scheduled.get("input") or "{}")
        text = result if isinstance(result, str) else json.dumps(result)
    except Exception as error:
        outcome = {"reason": "UnhandledError", "details": error_payload(error)}
    else:
        outcome = {"result": text}
    event_type = "LambdaFunctionCompleted" if "result" in outcome else "LambdaFunctionFailed"
    # The handler may itself have called the engine, and in that call the function may have ended.
    with suppress(UnknownResource):
        _end(world, run, scheduled_event_id, event_type, **outcome)


def error_payload(error: Exception) -> str:
    """What Lambda reports of an exception that left a function, as JSON."""
    stack = [
        [frame.filename, frame.lineno, frame.name, frame.line] for frame in traceback.extract_tb(error.__traceback__)
    ]
    return json.dumps({"errorMessage": str(error), "errorType": type(error).__name__, "stackTrace": stack})[:32768]


def _end(world: World, run: Execution, scheduled_event_id: int, event_type: str, **attributes: str) -> None:
    function = run.lambdas.get(scheduled_event_id)
    if not run.is_open or function is None or not function.started_event_id:
        raise faults.unknown_task("Lambda function", scheduled_event_id)
    del run.lambdas[scheduled_event_id]
    world.touch(run, scheduled_event_id)
    world.deadlines.cancel(run, "lambda.START_TO_CLOSE", scheduled_event_id)
    started = function.started_event_id
    record(world, run, event_type, scheduledEventId=scheduled_event_id, startedEventId=started, **attributes)


def complete(world: World, run: Execution, scheduled_event_id: int, result: str) -> None:
    """The function returned."""
    _end(world, run, scheduled_event_id, "LambdaFunctionCompleted", result=result)


def fail(world: World, run: Execution, scheduled_event_id: int, reason: str, details: str) -> None:
    """The function raised, or does not exist."""
    _end(world, run, scheduled_event_id, "LambdaFunctionFailed", reason=reason, details=details)


def _time_out(world: World, run: Execution, scheduled_event_id: int) -> None:
    _end(world, run, scheduled_event_id, "LambdaFunctionTimedOut", timeoutType="START_TO_CLOSE")


EFFECTS: Final = {"start_lambda_function": _start, "run_lambda_function": _run}
DEADLINES: Final = {"lambda.START_TO_CLOSE": _time_out}
