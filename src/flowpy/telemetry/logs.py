"""Logging with any logger: replayed workflow code is silent, and records say which run or activity they are of."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

from flowpy.runtime.logs import is_silent, log_fields

__all__ = ["ContextFilter", "add_context"]


class ContextFilter(logging.Filter):
    """For handlers: drops what replayed workflow code says, and puts what is known here into the record as attributes.

    Put it on each handler, so that it sees the records of all loggers, libraries' included. What a record has already
    stays; records made elsewhere than in workflow or activity code are let through as they are.

    >>> handler = logging.StreamHandler()
    >>> handler.addFilter(ContextFilter())
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written, its fields added."""
        if is_silent():
            return False
        for name, value in log_fields().items():
            record.__dict__.setdefault(name, value)
        return True


def add_context(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor for structlog: the same for its event dictionaries.

    Args:
        event: What is logged; it keeps what it has already.

    Returns:
        The same with the fields of the run or activity whose code logs.

    Raises:
        structlog.DropEvent: Replayed workflow code says it.
    """
    if is_silent():
        from structlog import DropEvent

        raise DropEvent
    for name, value in log_fields().items():
        event.setdefault(name, value)
    return event
