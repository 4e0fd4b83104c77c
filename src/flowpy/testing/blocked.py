"""The report on a run that waits for what never comes: who waits for what, and where."""

from __future__ import annotations

import datetime as dt
import linecache
from collections.abc import Iterator

from flowpy.errors import RunBlocked
from flowpy.history.events import Event
from flowpy.replay.divergence import CodeLine
from flowpy.runtime.run import Run
from flowpy.runtime.waits import Wait, waits

__all__ = ["blocked"]


def blocked(runs: list[Run], now: float, events: list[Event]) -> RunBlocked:
    """The error that says why a run is still open and will be until its timeout.

    Args:
        runs: The run, and after it all others that are open, as they are in memory.
        now: The virtual time.
        events: The history of the first.
    """
    run = runs[0]
    moment = dt.datetime.fromtimestamp(now, dt.UTC)
    lines = [
        f"nothing can happen any more at {moment:%Y-%m-%d %H:%M:%S} (virtual time), and workflow "
        f"{run.info.workflow_type} ({run.info.workflow_id!r}) is still open",
        *_standing(run),
    ]
    for other in runs[1:]:
        lines.append(f"open too: workflow {other.info.workflow_type} ({other.info.workflow_id!r})")
        lines.extend(_standing(other))
    lines.append(_remedy(events))
    return RunBlocked("\n".join(lines), workflow_id=run.info.workflow_id, run_id=run.info.run_id)


def _standing(run: Run) -> Iterator[str]:
    for wait in waits(run):
        yield f"  {wait.task} waits for {wait.awaits}"
        yield from (f"    {line}" for line in _stack(wait))
    unreceived = sorted({received.name for received in run.signals.unreceived()})
    if unreceived:
        yield f"  signals came that nobody received: {', '.join(unreceived)}"


def _stack(wait: Wait) -> Iterator[str]:
    for line in wait.stack:
        yield f"{line}{_source(line)}"


def _source(line: CodeLine) -> str:
    text = linecache.getline(line.file, line.line).strip()
    return f": {text}" if text else ""


def _remedy(events: list[Event]) -> str:
    timeout = events[0]["workflowExecutionStartedEventAttributes"]["executionStartToCloseTimeout"]
    return (
        "send what it waits for (run.signal, a stub that ends), or let its own timeout end it: "
        f"swf.advance({timeout}) or more"
    )
