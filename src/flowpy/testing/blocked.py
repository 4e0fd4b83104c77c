"""The report on a run that waits for what never comes: who waits for what, and where."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator

from flowpy.errors import RunBlocked
from flowpy.history.events import seconds
from flowpy.runtime.pending import Pending, pending
from flowpy.testing.live import Live

__all__ = ["blocked"]


def blocked(lives: list[Live], now: float, run_id: str) -> RunBlocked:
    """The error that says why a run is still open and will be until its timeout.

    Args:
        lives: The executions that are open, the one asked for first.
        now: The virtual time in epoch seconds.
        run_id: The runId of the one asked for, which is not among them if it was never decided.
    """
    lines = [f"nothing can happen any more at {_moment(now)} (virtual time), and the run is still open"]
    end = next((live.times_out_at for live in lives if live.run_id == run_id), math.inf)
    for live in lives:
        lines.append(f"workflow {live.workflow.name} ({live.workflow_id!r}):")
        with live.seen() as run:
            waits = pending(run)
        lines += [f"  {line}" for line in str(waits).splitlines()]
        lines += [f"  {line}" for line in _too_late(live, waits, end)]
    workflow_id = lives[0].workflow_id if lives else ""
    remedy = "send what it waits for, have a stub end, or let its own timeout end it: swf.advance(...)"
    return RunBlocked("\n".join(lines), workflow_id=workflow_id, run_id=run_id, remedy=remedy)


def _too_late(live: Live, waits: Pending, end: float) -> Iterator[str]:
    """The timers that the timeout of the run asked for forestalls."""
    for work in waits.work:
        if work.kind == "timer" and work.event_id:
            started = live.events[work.event_id - 1]
            at = seconds(started) + int(started["timerStartedEventAttributes"]["startToFireTimeout"])
            if at >= end:
                yield f"timer {work.id} would fire at {_moment(at)}, and the run times out at {_moment(end)}"


def _moment(at: float) -> str:
    return f"{dt.datetime.fromtimestamp(at, dt.UTC):%Y-%m-%d %H:%M:%S}"
