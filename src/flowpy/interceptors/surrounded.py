"""A workflow as a worker with interceptors runs it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, TypeVar

from flowpy.declare.workflow import Workflow
from flowpy.interceptors.interceptor import Interceptor, chosen

__all__ = ["surrounded"]

W = TypeVar("W", bound=Workflow[..., Any])


def surrounded(workflow: W, interceptors: Iterable[Interceptor]) -> W:
    """A workflow with interceptors around its function, for replays and queries of runs that a worker ran with them.

    Args:
        workflow: The declared workflow.
        interceptors: As the worker has them, outermost first; those of them that stand around workflows are used.

    Raises:
        DeclarationError: One is no interceptor.
    """
    (arounds,) = chosen(interceptors, "surrounded", "workflow", strict=False)
    if not arounds:
        return workflow
    made = copy.copy(workflow)
    made.arounds = tuple(arounds)
    return made
