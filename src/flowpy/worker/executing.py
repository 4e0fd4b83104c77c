"""Running one activity task: from its input to the answer SWF gets."""

from __future__ import annotations

import asyncio
from typing import Any

from attrs import frozen

from flowpy.data.arguments import decode_arguments
from flowpy.data.converter import Converter
from flowpy.data.failures import encode_failure
from flowpy.data.limits import DATA, check_length
from flowpy.declare.activity import Activity
from flowpy.errors import ActivityCancelRequested, PayloadError
from flowpy.worker.activity_context import ActivityContext, running
from flowpy.worker.event_loop import ActivityLoop

__all__ = ["Response", "execute", "unknown_type"]


@frozen
class Response:
    """How a task ends.

    Attributes:
        operation: RespondActivityTaskCompleted, …Failed or …Canceled.
        fields: Its request without the token.
    """

    operation: str
    fields: dict[str, str]


def execute(
    activity: Activity[..., Any], text: str | None, context: ActivityContext, converter: Converter, loop: ActivityLoop
) -> Response | None:
    """Run an activity to its end. Raises nothing: whatever the code raises becomes the answer.

    Args:
        activity: The declared activity.
        text: Input of the task, None if it has none.
        context: Context of the task.
        converter: Decodes the arguments and encodes the result.
        loop: Where ``async def`` activities run.

    Returns:
        The answer, or None for a manual activity that returned: somebody else completes it.
    """
    try:
        arguments = decode_arguments(text, activity.signature, converter)
        call = (arguments.args, arguments.kwargs)
    except Exception as error:
        return _failed(error, converter)
    try:
        if activity.is_async:
            result = loop.run(activity.fn, context, call)
        else:
            before = running.set(context)
            try:
                result = activity.fn(*arguments.args, **arguments.kwargs)
            finally:
                running.reset(before)
    except ActivityCancelRequested as canceled:
        return _canceled(canceled.details, converter)
    except asyncio.CancelledError as canceled:
        # One that nobody asked for comes from the activity's own tasks: a failure like any other.
        return _canceled(None, converter) if context.cancel_requested else _failed(canceled, converter)
    except BaseException as error:
        return _failed(error, converter)
    if activity.manual:
        return None
    try:
        encoded = converter.encode(result, f"result of activity {activity.name!r}")
        check_length(encoded, DATA, f"result of activity {activity.name!r}")
    except Exception as error:
        return _failed(error, converter)
    return Response("RespondActivityTaskCompleted", {"result": encoded})


def unknown_type(name: str, version: str, known: list[tuple[str, str]], task_list: str) -> Response:
    """The answer to a task of a type this worker does not run.

    Args:
        name: Name of the type.
        version: Its version.
        known: Names and versions this worker runs.
        task_list: The task list it came from.
    """
    versions = sorted(v for n, v in known if n == name)
    has = f"it has version {', '.join(versions)} of it" if versions else "it has none of that name"
    reason = f"UnknownActivityType: the worker on task list {task_list} has no activity {name} {version}"
    advice = f"{reason} ({has}); give the activity to Worker(activities=[…]) or schedule it on another task list"
    error = LookupError(advice)
    _, details = encode_failure(error)
    return Response("RespondActivityTaskFailed", {"reason": reason[:256], "details": details})


def _failed(error: BaseException, converter: Converter) -> Response:
    reason, details = encode_failure(error, converter)
    return Response("RespondActivityTaskFailed", {"reason": reason, "details": details})


def _canceled(details: Any, converter: Converter) -> Response:
    if details is None:
        return Response("RespondActivityTaskCanceled", {})
    try:
        text = converter.encode(details, "details of the cancelled activity")
        return Response("RespondActivityTaskCanceled", {"details": check_length(text, DATA, "details")})
    except PayloadError as error:
        return _failed(error, converter)
