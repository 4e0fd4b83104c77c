"""Which executions a list or count asks for, whoever looks them up."""

from __future__ import annotations

from attrs import frozen

from flowpy.local.engine.state import Execution

__all__ = ["Query"]


@frozen
class Query:
    """The executions of one domain, open or closed, of a span of time; all other criteria are None for any.

    Attributes:
        domain: Name of the domain.
        closed: True for closed executions, False for open ones.
        by_close: Whether the span is of the close; False, of the start.
        oldest: Epoch seconds, inclusive.
        latest: Epoch seconds, inclusive.
        newest_first: The order; equal times by the order in which they were started.
        workflow_id: Their workflowId.
        type_name: Name of their type.
        type_version: Version of their type.
        tag: One of their tags.
        close_status: COMPLETED and so on.
    """

    domain: str
    closed: bool
    by_close: bool
    oldest: float
    latest: float | None = None
    newest_first: bool = True
    workflow_id: str | None = None
    type_name: str | None = None
    type_version: str | None = None
    tag: str | None = None
    close_status: str | None = None

    def at(self, run: Execution) -> float:
        """The time of an execution that counts."""
        return (run.closed or 0.0) if self.by_close else run.started

    def matches(self, run: Execution) -> bool:
        """Whether it asks for this execution."""
        return (
            run.domain == self.domain
            and run.is_open != self.closed
            and self.oldest <= self.at(run)
            and (self.latest is None or self.at(run) <= self.latest)
            and self.workflow_id in (None, run.workflow_id)
            and self.type_name in (None, run.workflow_type["name"])
            and self.type_version in (None, run.workflow_type["version"])
            and (self.tag is None or self.tag in run.tag_list)
            and self.close_status in (None, run.close_status)
        )
