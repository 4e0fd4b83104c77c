"""SWF's quotas, which tests can turn down."""

from __future__ import annotations

from attrs import frozen

__all__ = ["Quotas"]


@frozen
class Quotas:
    """The published limits of SWF.

    Attributes:
        domains: Domains, deprecated ones included.
        types: Workflow types, and activity types, of one domain; deprecated ones included.
        open_executions: Open executions of one domain, children included.
        open_activities: Open activity tasks of one execution.
        open_timers: Open timers of one execution.
        open_children: Open child executions of one execution.
        open_lambda_functions: Open Lambda functions of one execution (a guess; AWS publishes none).
        events: Events of one history; the execution that reaches them is terminated.
        page_size: Items of one page of a list or history.
        run_time: Seconds an execution may be open.
        page_token_life: Seconds a nextPageToken is good for.
    """

    domains: int = 100
    types: int = 10_000
    open_executions: int = 100_000
    open_activities: int = 1_000
    open_timers: int = 1_000
    open_children: int = 1_000
    open_lambda_functions: int = 1_000
    events: int = 25_000
    page_size: int = 1_000
    run_time: float = 31_536_000.0
    page_token_life: float = 86_400.0
