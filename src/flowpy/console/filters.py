"""Which executions a list shows, as the form above it says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from attrs import frozen

from flowpy.console.requests import Refused

__all__ = ["CLOSE_STATUSES", "FIELDS", "Filters", "filters_of"]

CLOSE_STATUSES: Final = ("COMPLETED", "FAILED", "CANCELED", "TERMINATED", "CONTINUED_AS_NEW", "TIMED_OUT")
FIELDS: Final = ("status", "workflow_id", "type", "version", "tag", "since", "until")
"""The names of the form's fields."""


@frozen(kw_only=True)
class Filters:
    """What is looked for; all criteria hold together, and those that are "" or None for any.

    Attributes:
        status: ``OPEN``, ``CLOSED`` or one of `CLOSE_STATUSES`.
        workflow_id: The workflowId.
        type: Name of the type.
        version: Version of the type.
        tag: One of the tags.
        since: Started then or later.
        until: Started then or earlier.
    """

    status: str = ""
    workflow_id: str = ""
    type: str = ""
    version: str = ""
    tag: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def states(self) -> tuple[str, ...]:
        """The lists of SWF to go through, open executions first."""
        if not self.status:
            return ("Open", "Closed")
        return ("Open",) if self.status == "OPEN" else ("Closed",)

    def request(self, domain: str) -> dict[str, Any]:
        """The members of a request to list or count: the times, and of the rest the narrowest, for SWF takes one."""
        span: dict[str, Any] = {"oldestDate": self.since or datetime.fromtimestamp(0, UTC)}
        if self.until:
            span["latestDate"] = self.until
        request: dict[str, Any] = {"domain": domain, "startTimeFilter": span}
        if self.workflow_id:
            request["executionFilter"] = {"workflowId": self.workflow_id}
        elif self.tag:
            request["tagFilter"] = {"tag": self.tag}
        elif self.type:
            request["typeFilter"] = {"name": self.type} | ({"version": self.version} if self.version else {})
        elif self.status in CLOSE_STATUSES:
            request["closeStatusFilter"] = {"status": self.status}
        return request

    def match(self, info: Mapping[str, Any]) -> bool:
        """Whether an execution of the answer fits the criteria that SWF was not asked for too."""
        return (
            self.workflow_id in {"", info["execution"]["workflowId"]}
            and self.type in {"", info["workflowType"]["name"]}
            and self.version in {"", info["workflowType"]["version"]}
            and (not self.tag or self.tag in info.get("tagList", []))
            and (self.status not in CLOSE_STATUSES or self.status == info.get("closeStatus"))
        )


def filters_of(query: Mapping[str, str]) -> Filters:
    """The filters that an address names.

    Raises:
        Refused: A status or a time is none.
    """
    # Names may be pasted with a space too much; a tag that has one is linked to with it.
    given = {name: query.get(name, "") if name == "tag" else query.get(name, "").strip() for name in FIELDS}
    if given["status"] not in {"", "OPEN", "CLOSED", *CLOSE_STATUSES}:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{given['status']} is no status of executions.")
    since, until = (_time(given.pop(name)) for name in ("since", "until"))
    return Filters(**given, since=since, until=until)


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        found.timestamp()
    except (ValueError, OverflowError):
        raise Refused(HTTPStatus.BAD_REQUEST, f"{text} is no time; one is 2026-11-30T08:15, in UTC.") from None
    return found
