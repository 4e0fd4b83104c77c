"""Registering types, and warning when SWF knows them with other defaults."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.errors import AlreadyExists, Throttled, UnknownResource
from flowpy.service.protocol import Service
from flowpy.service.retrying import Backoff, Pause, persist

__all__ = ["Registrar"]

_log = logging.getLogger("flowpy.worker")


@frozen
class Registrar:
    """Registers what a worker runs.

    Args:
        service: The service.
        domain: SWF domain.
        task_list: Default task list of types that name none.
        pause: Waits when SWF throttles registrations; True gives up.
        backoff: How long to wait.
    """

    service: Service
    domain: str
    task_list: str
    pause: Pause
    backoff: Backoff = field(factory=lambda: Backoff(initial=0.5, maximum=20.0))

    def register_domain(self, retention_days: int) -> None:
        """Register the domain unless it exists.

        Args:
            retention_days: Days that closed runs are kept, 0 to 90.
        """
        request = {"name": self.domain, "workflowExecutionRetentionPeriodInDays": str(retention_days)}
        with contextlib.suppress(AlreadyExists):
            self._call("RegisterDomain", request)

    def register(self, workflows: Iterable[Workflow[..., Any]], activities: Iterable[Activity[..., Any]]) -> None:
        """Register types; for those that exist, warn where their defaults differ from the code's.

        Args:
            workflows: Workflow types.
            activities: Activity types.

        Raises:
            UnknownResource: The domain does not exist.
            ServiceError: Another fault; throttling and lost connections are waited out.
        """
        for workflow in workflows:
            self._register("Workflow", workflow.name, workflow.version, workflow.registered.defaults(self.task_list))
        for activity in activities:
            self._register("Activity", activity.name, activity.version, activity.registered.defaults(self.task_list))

    def _register(self, kind: str, name: str, version: str, defaults: dict[str, Any]) -> None:
        request = {"domain": self.domain, "name": name, "version": version, **defaults}
        try:
            self._call(f"Register{kind}Type", request)
        except AlreadyExists:
            self._compare(kind, name, version, defaults)
        except UnknownResource as error:
            remedy = (
                "create it, or let the worker: flowpy worker --register-domain DAYS, in Python "
                "WorkerSettings(register_domain=DAYS), the days that closed runs are kept"
            )
            raise UnknownResource(str(error), operation=error.operation, fault=error.fault, remedy=remedy) from error

    def _compare(self, kind: str, name: str, version: str, defaults: dict[str, Any]) -> None:
        type_ = {"name": name, "version": version}
        known = self._call(f"Describe{kind}Type", {"domain": self.domain, f"{kind.lower()}Type": type_})
        label = f"{kind.lower()} type {name} {version}"
        if known.get("typeInfo", {}).get("status") == "DEPRECATED":
            _log.warning("%s is deprecated: SWF starts no new ones; undeprecate it or use a new version", label)
        there = known.get("configuration", {})
        drift = [
            f"{key} is {_text(there.get(key))} there and {_text(defaults.get(key))} here"
            for key in sorted(there.keys() | defaults.keys())
            if there.get(key) != defaults.get(key)
        ]
        if drift:
            _log.warning(
                "%s is registered with other defaults, and SWF never changes them: %s; declare a new version, "
                "or give the options at the calls",
                label,
                "; ".join(drift),
            )

    def _call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        level = logging.WARNING

        def pause(delay: float) -> bool:
            nonlocal level
            # Called while the error is handled. Nothing is polled before this is done, so people look here.
            name, error = request.get("name"), sys.exception()
            told = logging.INFO if isinstance(error, Throttled) else level
            _log.log(told, "not registered yet: %s, again in %.1f s: %s", name, delay, error)
            level = logging.INFO
            return self.pause(delay)

        return persist(self.service, operation, request, pause=pause, backoff=self.backoff)


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return repr(value.get("name"))
    return "unset" if value is None else repr(value)
