"""What the console asks: the operations of an SWF, its clock, and which task lists have tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

__all__ = ["Clock", "Service", "all_of", "history_of"]


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> float:
        """Epoch seconds."""
        ...


class Service(Protocol):
    """One region of an SWF on this machine; `flowpy.local.Engine` is one."""

    @property
    def clock(self) -> Clock:
        """The clock that its events have their times from."""
        ...

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request, as boto3 does.

        Raises:
            ServiceError: SWF's fault.
        """
        ...

    def task_lists(self, domain: str) -> list[tuple[str, str, int]]:
        """The task lists with tasks that nobody has taken yet: ``"decision"`` or ``"activity"``, name, how many."""
        ...


def all_of(service: Service, operation: str, key: str, **request: Any) -> Iterator[dict[str, Any]]:
    """The items of all pages of an answer.

    Args:
        service: Who is asked.
        operation: SWF's name of it.
        key: The member of the answer that has the items.
        request: Its members.

    Raises:
        ServiceError: SWF's fault.
    """
    while True:
        answer = service.call(operation, request)
        yield from answer.get(key, [])
        if not answer.get("nextPageToken"):
            return
        request = {**request, "nextPageToken": answer["nextPageToken"]}


def history_of(service: Service, domain: str, execution: dict[str, str]) -> list[dict[str, Any]]:
    """All events of an execution, ascending.

    Raises:
        ServiceError: UnknownResource, if there is no such execution any more.
    """
    return list(all_of(service, "GetWorkflowExecutionHistory", "events", domain=domain, execution=execution))
