"""Logging of workflow and activity code: each thing is said once, with who says it as fields."""

from __future__ import annotations

import logging
from collections.abc import MutableMapping
from typing import Any

from flowpy.declare.calling import current, running

__all__ = ["RunLogger", "is_silent", "log_fields", "logger"]


def log_fields() -> dict[str, Any]:
    """What log records made here carry.

    Returns:
        In workflow code ``domain``, ``task_list``, ``workflow_id``, ``run_id``, ``workflow_type``, ``workflow_version``
        and ``task_path``; in activity code ``domain``, ``task_list``, ``workflow_id``, ``run_id``, ``activity_id``,
        ``activity_type``, ``activity_version`` and ``attempt``; elsewhere nothing.
    """
    run: Any = current.get()
    if run is not None:
        return {
            "domain": run.info.domain,
            "task_list": run.info.task_list,
            "workflow_id": run.info.workflow_id,
            "run_id": run.info.run_id,
            "workflow_type": run.info.workflow_type,
            "workflow_version": run.info.workflow_version,
            "task_path": run.loop.task.path if run.loop.task is not None else "",
        }
    activity = running.get()
    return {} if activity is None else activity.fields


def is_silent() -> bool:
    """Whether what is said here was said before: decided episodes are re-run, for a test the open one too."""
    run: Any = current.get()
    return run is not None and bool(run.replaying or run.quiet or run.dead)


class RunLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger that says each thing once: silent while decided episodes are re-run.

    Records carry the fields of the run or of the activity whose code makes them, and what is given as ``extra``.
    """

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802 - logging's name
        """Whether a record of this level is to be made now."""
        return not is_silent() and super().isEnabledFor(level)

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """Add the fields."""
        fields = log_fields()
        if fields:
            kwargs["extra"] = {**fields, **(kwargs.get("extra") or {})}
        return msg, kwargs


logger = RunLogger(logging.getLogger("flowpy.workflow"), {})
"""The logger for workflow and activity code."""
