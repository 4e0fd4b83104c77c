"""Which executions are listed: SWF applies one filter, the narrowest that is given, and the others are applied here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeAlias

from attrs import field, frozen

from flowpy.client.description import Description
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError

__all__ = ["Filters", "Tags", "Type"]

Type: TypeAlias = Workflow[..., Any] | str | tuple[str, str] | None
"""A declared workflow, the name of a type in all its versions, a name and a version; None: any."""

Tags: TypeAlias = str | Iterable[str] | None
"""A tag, or several of which an execution has to have all; None: any."""


def _type(given: Type) -> dict[str, str]:
    match given:
        case None:
            return {}
        case str():
            return {"name": given}
        case Workflow():
            return {"name": given.name, "version": given.version}
        case (str() as name, str() as version):
            return {"name": name, "version": version}
    raise DeclarationError(
        f"workflow={given!r} is no type", remedy="give a declared workflow, a name, or (name, version)"
    )


def _tags(given: Tags) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


@frozen(kw_only=True)
class Filters:
    """What is looked for; all of it holds together.

    Attributes:
        workflow_id: The workflowId.
        type: The workflow type.
        tags: Tags that it has all of.
        status: The close status.
        since: Started then or later, of those that are asked for by the time of their close.
        until: Started then or before, likewise.
    """

    workflow_id: str | None = None
    type: dict[str, str] = field(default=None, converter=_type)
    tags: tuple[str, ...] = field(default=None, converter=_tags)
    status: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def request(self) -> dict[str, Any]:
        """The one filter that SWF is to apply, as a member of the request."""
        if self.workflow_id is not None:
            return {"executionFilter": {"workflowId": self.workflow_id}}
        if self.tags:
            return {"tagFilter": {"tag": self.tags[0]}}
        if self.type:
            return {"typeFilter": self.type}
        return {} if self.status is None else {"closeStatusFilter": {"status": self.status}}

    def fit(self, one: Description) -> bool:
        """Whether an execution that SWF listed is one of those."""
        (asked,) = self.request() or ("",)
        return (
            (asked == "typeFilter" or not self.type or self._is_of_type(one))
            and (asked == "closeStatusFilter" or self.status in (None, one.close_status))
            and set(self.tags[1:] if asked == "tagFilter" else self.tags) <= set(one.tag_list)
            and (self.since is None or self.since <= one.start_time)
            and (self.until is None or one.start_time <= self.until)
        )

    def _is_of_type(self, one: Description) -> bool:
        name, version = one.workflow_type
        return self.type["name"] == name and self.type.get("version", version) == version
