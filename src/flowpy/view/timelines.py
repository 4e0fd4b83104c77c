"""``flowpy.view.timeline``: any recorded history as rows of bars."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from flowpy.history import read_history, seconds
from flowpy.history.sources import HistorySource
from flowpy.view.building import rows_of
from flowpy.view.model import OpenWork, Row, Timeline
from flowpy.view.waiting import open_work_of

__all__ = ["timeline"]


def timeline(
    source: HistorySource, *, now: float | None = None, workflow_id: str | None = None, run_id: str | None = None
) -> Timeline:
    """Make the timeline of a history.

    >>> from flowpy.testing import HistoryBuilder
    >>> history = HistoryBuilder("order", "o-7")
    >>> _ = history.schedule("charge", 4200).fail(OSError("no line"))
    >>> made = timeline(history.history())
    >>> [(str(row.kind), row.id, str(row.outcome)) for row in made.rows if row.kind == "activity"]
    [('activity', 'charge-1', 'failed')]

    Args:
        source: Whatever ``flowpy.history.read_history`` takes: a path, text, pages, events.
        now: For a run that is open, where the picture ends, in epoch seconds; default its last event. Bars that are
            open reach to it, and what is said of them (how long, what is due) is said for this time.
        workflow_id: The workflowId where the source does not say it.
        run_id: The runId, likewise.

    Raises:
        HistoryError: The source is no history.
    """
    history = read_history(source, workflow_id=workflow_id, run_id=run_id)
    begin = seconds(history.events[0])
    end = max(begin, *(seconds(event) for event in history.events))
    if now is not None and history.close_event is None:
        end = max(end, now)
    rows = rows_of(history)
    open_work = open_work_of(rows, end)
    return Timeline(
        workflow_id=history.workflow_id or "",
        run_id=history.run_id or "",
        workflow_type=history.workflow_type,
        begin=begin,
        end=end,
        rows=_marked(rows, open_work),
        open_work=open_work,
        events=tuple(history.events),
    )


def _marked(rows: Iterable[Row], open_work: Iterable[OpenWork]) -> tuple[Row, ...]:
    """The rows with the bars marked that a person should look at."""
    alarming = {work.event_id for work in open_work if work.is_alarming}
    return tuple(
        evolve(row, bars=tuple(evolve(bar, is_alarming=bar.event_ids[0] in alarming) for bar in row.bars))
        if not alarming.isdisjoint(row.event_ids)
        else row
        for row in rows
    )
