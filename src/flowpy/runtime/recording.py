"""What workflow code keeps in its history: answers of ``patched``, values of ``side_effect`` (markers)."""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any, Final, TypeVar

from flowpy.data.failures import Failure, failure_of
from flowpy.data.limits import DATA
from flowpy.data.reading import decode_failure
from flowpy.errors import DeclarationError, PayloadNotDecodable, PayloadUnavailable, SideEffectFailed
from flowpy.replay.answers import PATCH, SIDE_EFFECT
from flowpy.runtime.ids import EFFECT, LONGEST, fitted
from flowpy.runtime.running import current_run
from flowpy.runtime.sites import call_site

T = TypeVar("T")

_MARKER_ID: Final = "id"


def patched(id: str) -> bool:
    """Whether this run takes the new way: the way to change code that has runs under way.

    One answer for the whole run, given at the first call: True in a run that comes here for the first time, and a
    marker is recorded; on replay True if that marker stands in the episode's batch, else False.

    Args:
        id: Name of the change, for ever; at most 256 characters.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        DeclarationError: The id is empty or too long.
    """
    run = current_run("flowpy.patched", "it is for workflow code")
    known = run.execution.patches.get(id)
    if known is not None:
        return known
    if not id or len(id) > LONGEST:
        raise DeclarationError(f"patched({id!r}): a patch id is a text of 1 to {LONGEST} characters")
    if run.read_only:
        return False
    details = json.dumps({_MARKER_ID: id}, ensure_ascii=False)
    answer = not run.replaying or run.execution.recorded_marker(PATCH, id) is not None
    if not answer:
        run.check_markers(PATCH, id)
        answer = run.execution.markers_may_wait()
    run.execution.patches[id] = answer
    if answer:
        run.execution.marker(PATCH, id, details, call_site(2))
    return answer


def side_effect(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run a plain function once and record what it returns; replays get the recorded value.

    For short things without waiting that must not run twice with another result: a random choice from elsewhere, a
    configuration value. Anything that can fail or take time is better an activity.

    Args:
        function: Plain and synchronous.
        *args: Its arguments; not recorded.
        **kwargs: The same, by name.

    Returns:
        Its value as it comes back from JSON: a tuple as a list, a dataclass as a dict.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
        DeclarationError: The function is async.
        SideEffectFailed: It raised, now or when it first ran.
        PayloadTooLarge: Its value does not fit a marker (RecordMarker): 32,768 characters of JSON.
    """
    run = current_run("flowpy.side_effect", "call the function itself")
    if iscoroutinefunction(function):
        name = function.__qualname__
        raise DeclarationError(f"side_effect runs plain functions; {name} is async: make it an activity")
    task = run.task_here("flowpy.side_effect")
    id = fitted(f"{task.path}effect-{task.take(EFFECT)}")
    details = run.execution.recorded_marker(SIDE_EFFECT, id) if run.replaying else None
    if details is None and run.replaying:
        run.check_markers(SIDE_EFFECT, id)
        if not run.execution.markers_may_wait():
            run.execution.marker(SIDE_EFFECT, id, "", call_site(2))
            run.diverged()
    if details is None:
        details = _run_once(run, id, function, args, kwargs)
    run.execution.marker(SIDE_EFFECT, id, details, call_site(2))
    value: T = _value(run, id, details)
    return value


def _run_once(run: Any, id: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    what = f"side effect {id}"
    head = f'{{"id": {json.dumps(id, ensure_ascii=False)}, '
    try:
        value = function(*args, **kwargs)
    except Exception as error:
        failure = failure_of(error, run.converter)
        record = {"type": failure.type, "module": failure.module, "message": failure.message[:1000]}
        return head + f'"failure": {json.dumps(record, ensure_ascii=False)}}}'
    text = head + f'"value": {run.converter.encode(value, what)}}}'
    checked: str = run.converter.payloads.check(text, DATA, f"the value of {what}")
    return checked


def _value(run: Any, id: str, details: str) -> Any:
    try:
        recorded = json.loads(details)
    except ValueError as error:
        raise PayloadNotDecodable(f"the marker of side effect {id} is not JSON: {error}") from error
    slot = "failure" if "failure" in recorded else "value"
    try:
        value = run.converter.unwrap(recorded.get(slot), f"{slot} of side effect {id}")
    except PayloadUnavailable as error:
        run.cannot_read(error)
    if slot == "value":
        return value
    failure: Failure = decode_failure("", json.dumps(value))
    message = f"side effect {id} failed when it first ran: {failure.type}: {failure.message}"
    raise SideEffectFailed(message, failure=failure, id=id)
