"""Which bucket a call takes its token from (swf-semantics §5)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final

from flowpy.local.engine import faults
from flowpy.local.engine.tokens import run_id_of
from flowpy.local.engine.world import World

__all__ = ["admit"]

_EXECUTIONS: Final[Mapping[str, Callable[[dict[str, Any]], Hashable]]] = {
    "GetWorkflowExecutionHistory": lambda request: request["execution"]["runId"],
    "SignalWorkflowExecution": lambda request: (request["domain"], request["workflowId"]),
    "RecordActivityTaskHeartbeat": lambda request: run_id_of(request["taskToken"]),
    "RequestCancelWorkflowExecution": lambda request: (request["domain"], request["workflowId"]),
}
"""The execution a request is for."""


def admit(world: World, operation: str, request: dict[str, Any]) -> None:
    """Lets a request through that has been checked.

    Raises:
        Throttled: ThrottlingException, if a bucket is empty.
    """
    if world.throttle is not None:
        named = _EXECUTIONS.get(operation)
        if not world.throttle.admits(operation, named(request) if named else None, world.now):
            raise faults.throttled()
