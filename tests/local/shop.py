"""What the service has registered where an order goes through it: a domain, a workflow type and an activity type."""

from __future__ import annotations

from typing import Any

from botocore import xform_name

__all__ = ["CHARGE", "DECIDERS", "ORDER", "REGISTRATIONS", "WORKERS", "register"]

ORDER = {"name": "order", "version": "1"}
CHARGE = {"name": "charge", "version": "1"}
DECIDERS = {"domain": "shop", "taskList": {"name": "deciders"}}
WORKERS = {"domain": "shop", "taskList": {"name": "workers"}}

_TIMEOUTS = ("Heartbeat", "ScheduleToStart", "ScheduleToClose", "StartToClose")
REGISTRATIONS: dict[str, dict[str, Any]] = {
    "RegisterDomain": {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"},
    "RegisterWorkflowType": {
        "domain": "shop",
        **ORDER,
        "defaultTaskList": DECIDERS["taskList"],
        "defaultChildPolicy": "TERMINATE",
        "defaultTaskStartToCloseTimeout": "30",
        "defaultExecutionStartToCloseTimeout": "86400",
    },
    "RegisterActivityType": {
        "domain": "shop",
        **CHARGE,
        "defaultTaskList": WORKERS["taskList"],
        **{f"defaultTask{name}Timeout": "NONE" for name in _TIMEOUTS},
    },
}
"""Requests by operation, in order."""


def register(swf: Any, *operations: str) -> None:
    """Registers all, or what some operations do, through a client of boto3."""
    for operation in operations or REGISTRATIONS:
        getattr(swf, xform_name(operation))(**REGISTRATIONS[operation])
