"""Running one activity task: from its input to the answer SWF gets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from attrs import frozen

from flowpy.data.arguments import decode_arguments, encode_arguments
from flowpy.data.converter import Converter
from flowpy.data.failures import Failure, encode_failure, failure_text, not_begun
from flowpy.data.limits import DATA, HEARTBEAT
from flowpy.declare.activity import Activity
from flowpy.errors import ActivityCancelRequested, PayloadError
from flowpy.worker.activity_context import ActivityContext, running
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.intercepting import NOTHING_AROUND, AroundActivities

__all__ = ["Answered", "Response", "execute", "failed", "given_back", "in_process", "refused", "unknown_type"]

_log = logging.getLogger("flowpy.worker")


@frozen
class Response:
    """How a task ends.

    Attributes:
        operation: RespondActivityTaskCompleted, …Failed or …Canceled.
        fields: Its request without the token, payloads not yet sealed.
        is_plain: Whether it is sent as it is: it tells nothing of the user's, and the keys may be what is missing.
        counted: As what it is counted, "" for what its operation says.
    """

    operation: str
    fields: dict[str, str]
    is_plain: bool = False
    counted: str = ""


def execute(
    activity: Activity[..., Any],
    text: str | None,
    context: ActivityContext,
    converter: Converter,
    loop: ActivityLoop,
    around: AroundActivities = NOTHING_AROUND,
    function: Callable[..., Any] | None = None,
) -> Response | None:
    """Run an activity to its end. Raises nothing: whatever the code raises becomes the answer.

    Args:
        activity: The declared activity.
        text: Input of the task, opened, None if it has none.
        context: Context of the task.
        converter: Decodes the arguments and encodes the result.
        loop: Where ``async def`` activities run.
        around: Interceptors.
        function: What runs instead of the activity's own function.

    Returns:
        The answer, or None for a manual activity that returned: somebody else completes it.
    """
    try:
        arguments = decode_arguments(text, activity.signature, converter)
        call = (arguments.args, arguments.kwargs)
    except Exception as error:
        return failed(error, context, converter)
    function = around.wrapped(activity, function or activity.fn, context, text)
    try:
        if activity.is_async:
            result = loop.run(function, context, call)
        else:
            before = running.set(context)
            try:
                result = function(*arguments.args, **arguments.kwargs)
            finally:
                running.reset(before)
    except Answered as elsewhere:
        return elsewhere.response
    except ActivityCancelRequested as canceled:
        return _canceled(canceled.details, context, converter)
    except asyncio.CancelledError as canceled:
        # One that nobody asked for comes from the activity's own tasks: a failure like any other.
        return _canceled(None, context, converter) if context.cancel_requested else failed(canceled, context, converter)
    except BaseException as error:
        return failed(error, context, converter)
    if activity.manual:
        return None
    try:
        encoded = converter.encode_within(result, DATA, f"result of activity {activity.name!r}")
    except Exception as error:
        return failed(error, context, converter)
    return Response("RespondActivityTaskCompleted", {"result": encoded})


class Answered(Exception):
    """What interceptors see of an activity that ended in a process otherwise than with a result."""

    def __init__(self, response: Response | None) -> None:
        super().__init__("no answer" if response is None else response.fields.get("reason", response.operation))
        self.response = response


def in_process(
    run: Callable[..., Response | None],
    activity: Activity[..., Any],
    context: ActivityContext,
    converter: Converter,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Run an activity in a process as if it were a function here, for the interceptors around it.

    Args:
        run: Runs it: ``Processes.run``.
        activity: The declared activity.
        context: Context of the task.
        converter: Encodes the arguments and decodes the result.
        *args: Its arguments.
        **kwargs: Its arguments by name.

    Raises:
        Answered: It ended otherwise than with a result.
    """
    response = run(activity, encode_arguments(activity.signature, args, kwargs, converter), context)
    if response is None or "result" not in response.fields:
        raise Answered(response)
    return converter.decode(response.fields["result"], activity.signature.return_type)


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


def given_back(why: str) -> Response:
    """The answer to a task that could not be begun here: it is scheduled again, and costs its retries nothing.

    Args:
        why: What kept the worker from it.
    """
    reason, details = not_begun(why)
    fields = {"reason": reason, "details": details}
    return Response("RespondActivityTaskFailed", fields, is_plain=True, counted="activities_not_begun")


def refused(response: Response, error: Exception) -> Response:
    """The answer to a task whose answer the service, or what seals it, does not take.

    Args:
        response: What was refused.
        error: Why.
    """
    ended = {
        "RespondActivityTaskCompleted": "the activity returned, and its result",
        "RespondActivityTaskCanceled": "the activity was canceled, and its details",
    }.get(response.operation, f"the activity failed ({response.fields.get('reason', '').partition(':')[0]}), and that")
    message = f"{ended} cannot be recorded: {error}"
    # Whatever character was refused must not be in the next answer.
    plain = "".join(char if " " <= char <= "~" else f"\\u{ord(char):04x}" for char in message)
    reason, details = failure_text(Failure(type="ResultRefused", module="flowpy.worker", message=plain))
    return Response("RespondActivityTaskFailed", {"reason": reason, "details": details}, is_plain=True)


def failed(error: BaseException, context: ActivityContext, converter: Converter) -> Response:
    """The answer to a task whose activity raised; it carries the last heartbeat's details to the next attempt.

    Args:
        error: What it raised.
        context: Context of the task.
        converter: Encodes the data of an ApplicationError.
    """
    reason, details = encode_failure(error, converter, heartbeat=_heartbeat(context, converter))
    return Response("RespondActivityTaskFailed", {"reason": reason, "details": details})


def _heartbeat(context: ActivityContext, converter: Converter) -> str | None:
    """The last details, as short as they are in a heartbeat, since they share their place with the failure."""
    details = context.details
    if details is None or len(details) <= HEARTBEAT:
        return details
    try:
        return converter.payloads.seal(details, HEARTBEAT, "heartbeat details")
    except PayloadError as error:
        _log.warning("%r: its failure is recorded without the last heartbeat details: %s", context, error)
        return None


def _canceled(details: Any, context: ActivityContext, converter: Converter) -> Response:
    if details is None:
        return Response("RespondActivityTaskCanceled", {})
    try:
        text = converter.encode_within(details, DATA, "details of the cancelled activity")
        return Response("RespondActivityTaskCanceled", {"details": text})
    except PayloadError as error:
        return failed(error, context, converter)
