"""Task tokens and page tokens: opaque text that survives a restart of the engine."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any, TypeVar

from flowpy.local.engine import faults
from flowpy.local.engine.state import Execution
from flowpy.local.engine.world import World

__all__ = ["listed", "page", "read_page_token", "read_task_token", "run_id_of", "task_token"]

Item = TypeVar("Item")


def _seal(parts: list[Any]) -> str:
    return base64.b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode()


def _unseal(token: str) -> list[Any]:
    try:
        parts = json.loads(base64.b64decode(token, validate=True))
    except (binascii.Error, ValueError):
        raise faults.invalid_token() from None
    if not isinstance(parts, list):
        raise faults.invalid_token()
    return parts


def task_token(kind: str, run: Execution, scheduled_event_id: int, offset: int = 0) -> str:
    """A token for a started task.

    Args:
        kind: "activity" or "decision task".
        run: The execution.
        scheduled_event_id: The event that scheduled the task.
        offset: Where the page begins that carries the token; each page has another, and each is good.
    """
    return _seal([kind, run.workflow_id, run.run_id, scheduled_event_id, offset])


def read_task_token(world: World, kind: str, token: str) -> tuple[Execution, int]:
    """The open execution and the scheduledEventId a token stands for.

    Raises:
        InvalidRequest: It is no token for this kind of task.
        UnknownResource: The execution has closed.
    """
    parts = _unseal(token)
    if [type(part) for part in parts] != [str, str, str, int, int] or parts[0] != kind:
        raise faults.invalid_token()
    _, workflow_id, run_id, scheduled_event_id, _ = parts
    run = world.runs.get_open(run_id)
    if run is None:
        raise faults.unknown_execution(workflow_id, run_id)
    return run, scheduled_event_id


def run_id_of(token: str) -> str:
    """The runId in a task token, open or not; "" if there is none.

    Raises:
        InvalidRequest: It is no token.
    """
    parts = _unseal(token)
    return str(parts[2]) if len(parts) > 2 else ""


def page(
    world: World, scope: list[Any], read: Callable[[int, int], list[Item]], request: dict[str, Any], *, offset: int = 0
) -> tuple[list[Item], dict[str, str]]:
    """One page of a list.

    Args:
        world: The engine's state.
        scope: What the next page's token must be used for.
        read: Gives the items from one position to before another, in the order asked for.
        request: Has ``maximumPageSize`` (0 or absent: as many as a page holds).
        offset: Where the page begins.

    Returns:
        The items, and ``{"nextPageToken": ...}``, which is empty on the last page.
    """
    size = request.get("maximumPageSize") or world.quotas.page_size
    end = offset + size
    items = read(offset, end + 1)
    if len(items) <= size:
        return items, {}
    return items[:size], {"nextPageToken": _seal([*scope, end, world.now])}


def read_page_token(world: World, scope: list[Any], request: dict[str, Any]) -> tuple[list[Any], int]:
    """The scope and offset of the page asked for; offset 0 without a token.

    Args:
        world: The engine's state.
        scope: The first elements of the scope that the token must have been made with.
        request: Has ``nextPageToken`` or not.

    Raises:
        InvalidRequest: The token is not for this list, or too old.
    """
    token = request.get("nextPageToken")
    if not token:
        return scope, 0
    parts = _unseal(token)
    if parts[: len(scope)] != scope or len(parts) < len(scope) + 2:
        raise faults.invalid_token()
    *found, offset, made = parts
    if type(offset) is not int or offset < 0 or not isinstance(made, int | float):
        raise faults.invalid_token()
    if world.now - made > world.quotas.page_token_life:
        raise faults.invalid("Specified token has exceeded its maximum lifetime")
    return found, offset


def listed(world: World, scope: list[Any], key: str, infos: list[Any], request: dict[str, Any]) -> dict[str, Any]:
    """The answer of a list operation.

    Args:
        world: The engine's state.
        scope: What the next page's token must be used for.
        key: Where the answer has the items.
        infos: The whole list, ascending.
        request: Has ``maximumPageSize``, ``nextPageToken`` and ``reverseOrder`` or not.
    """
    _, offset = read_page_token(world, scope, request)
    ordered = infos[::-1] if request.get("reverseOrder") else infos
    items, token = page(world, scope, lambda start, stop: ordered[start:stop], request, offset=offset)
    return {key: items, **token}
