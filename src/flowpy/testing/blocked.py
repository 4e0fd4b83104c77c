"""The report on a run that waits for what never comes: who waits for what, and where."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from flowpy.errors import RunBlocked
from flowpy.runtime.pending import pending
from flowpy.runtime.run import Run
from flowpy.testing.live import Live

__all__ = ["blocked"]


def blocked(lives: list[Live], now: float, run_id: str) -> RunBlocked:
    """The error that says why a run is still open and will be until its timeout.

    Args:
        lives: The executions that are open, the one asked for first.
        now: The virtual time in epoch seconds.
        run_id: The runId of the one asked for, which is not among them if it was never decided.
    """
    moment = dt.datetime.fromtimestamp(now, dt.UTC)
    lines = [f"nothing can happen any more at {moment:%Y-%m-%d %H:%M:%S} (virtual time), and the run is still open"]
    for live in lives:
        lines.append(f"workflow {live.workflow.name} ({live.workflow_id!r}):")
        with live.seen() as run:
            lines.extend(_standing(run))
    lines.append("send what it waits for, have a stub end, or let its own timeout end it: swf.advance(...)")
    workflow_id = lives[0].workflow_id if lives else ""
    return RunBlocked("\n".join(lines), workflow_id=workflow_id, run_id=run_id)


def _standing(run: Run) -> Iterator[str]:
    return (f"  {line}" for line in str(pending(run)).splitlines())
