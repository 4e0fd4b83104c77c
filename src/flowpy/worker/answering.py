"""Sending the answer to a task, until the service has it or says that the task is gone."""

from __future__ import annotations

import logging
from typing import Any

from flowpy.errors import ServiceError, UnknownResource
from flowpy.service.protocol import Service
from flowpy.service.retrying import PASSING, Backoff, persist
from flowpy.worker.lifecycle import Lifecycle

__all__ = ["answer"]

_BACKOFF = Backoff(initial=0.25, maximum=10.0)
_log = logging.getLogger("flowpy.worker")


def answer(
    service: Service,
    lifecycle: Lifecycle,
    operation: str,
    request: dict[str, Any],
    label: str,
    passing: tuple[type[ServiceError], ...] = PASSING,
) -> bool:
    """Send an answer, waiting out lost connections and throttling for as long as they last.

    Args:
        service: The service.
        lifecycle: The worker's; its grace bounds the waiting once it stops.
        operation: RespondDecisionTaskCompleted or a RespondActivityTask….
        request: Its request, with the taskToken.
        label: The task, for the log.
        passing: What is waited out; default ``PASSING``.

    Returns:
        True if the service has it; False if the task was closed, or the worker gave up: one line is logged.

    Raises:
        ServiceError: The service refused the answer; the task is still open.
    """
    try:
        persist(service, operation, request, pause=lifecycle.pause_answer, backoff=_BACKOFF, passing=passing)
    except UnknownResource as error:
        lifecycle.count("results_dropped")
        _log.warning("result dropped, task closed: %s (%s)", label, error)
        return False
    except passing as error:
        lifecycle.count("results_dropped")
        _log.error("result dropped, the worker stopped before the service took it: %s (%s)", label, error)
        return False
    return True
