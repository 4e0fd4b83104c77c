"""What an open run waits for, and what keeps it from going on, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

from flowpy.view.model import HOLD, Bar, Kind, OpenWork, Outcome, Row
from flowpy.view.wording import clock, elapsed, printable

__all__ = ["open_work_of"]

_PATIENCE: Final = 60.0
"""Seconds after which a task that no worker has begun is worth a look."""
_LATE: Final = 5.0
"""Seconds by which a timeout may be late: SWF's own need a moment."""


def open_work_of(rows: Sequence[Row], end: float) -> tuple[OpenWork, ...]:
    """Tell what is open.

    Args:
        rows: The rows of a timeline.
        end: The time it is told for, in epoch seconds.

    Returns:
        The alarming first, each group in the order of its beginning; empty for a run that is closed.
    """
    if not rows[0].outcome.is_open:
        return ()
    found = [work for row in rows[1:] for work in _of(row, end)]
    if not found:
        found = [_nothing(rows[0].last, end)]
    return tuple(sorted(found, key=lambda work: not work.is_alarming))


def _of(row: Row, end: float) -> Iterator[OpenWork]:
    if row.kind is Kind.DECISION:
        yield from _decisions(row, end)
        return
    for bar in row.bars:
        if bar.outcome.is_open:
            text, is_alarming = _told(row, bar, end)
            yield OpenWork(kind=bar.kind, id=bar.id, text=text, event_id=bar.event_ids[0], is_alarming=is_alarming)


def _decisions(row: Row, end: float) -> Iterator[OpenWork]:
    """A decision task that waits or is worked on, and those before it that nobody answered."""
    tasks = [bar for bar in row.bars if bar.outcome is not Outcome.REFUSED]
    ended = [bar for bar in reversed(tasks) if not bar.outcome.is_open]
    unanswered = len(list(takewhile(lambda bar: bar.outcome is Outcome.TIMED_OUT, ended)))
    before = f"; the {unanswered} before it timed out" if unanswered > 1 else ""
    before = "; the one before it timed out" if unanswered == 1 else before
    last = tasks[-1] if tasks else None
    if last is not None and last.outcome.is_open:
        text, is_alarming = _task(last, end)
        yield OpenWork(
            kind=Kind.DECISION,
            id="",
            text=text + before,
            event_id=last.event_ids[0],
            is_alarming=is_alarming or unanswered > 0,
        )


def _told(row: Row, bar: Bar, end: float) -> tuple[str, bool]:
    if bar.kind is Kind.TIMER:
        return _timer(row, bar, end)
    if bar.kind in (Kind.ACTIVITY, Kind.LAMBDA):
        text, is_alarming = _task(bar, end)
        named = f"{printable(row.name)}: " if row.name else ""
        failed = [each for each in row.bars if each.outcome.is_bad]
        return f"{named}{text}{_before(failed)}", is_alarming or bool(failed)
    since = elapsed(end - (bar.scheduled if bar.started is None else bar.started))
    named = f"{printable(row.name)}: " if row.name else ""
    if bar.kind is Kind.CHILD and bar.started is None:
        return f"{named}asked for {since} ago, not started", end - bar.scheduled > _PATIENCE
    verb = "started" if bar.kind is Kind.CHILD else "sent"
    return f"{named}{verb} {since} ago{_due(bar, end)}", _is_late(bar, end)


def _task(bar: Bar, end: float) -> tuple[str, bool]:
    if bar.started is None:
        place = f" from task list {printable(bar.place)!r}" if bar.place else ""
        waited = end - bar.scheduled
        nobody = "not started" if bar.kind is Kind.LAMBDA else f"no worker has taken it{place}"
        return f"scheduled {elapsed(waited)} ago, {nobody}{_due(bar, end)}", waited > _PATIENCE
    by = f" by {printable(bar.place)}" if bar.place else ""
    asked = f", {bar.said}" if bar.said else ""
    return f"started {elapsed(end - bar.started)} ago{by}{asked}{_due(bar, end)}", _is_late(bar, end)


def _timer(row: Row, bar: Bar, end: float) -> tuple[str, bool]:
    when = "never fires" if bar.due is None else f"fires in {elapsed(bar.due - end)} ({clock(bar.due)})"
    if bar.due is not None and bar.due <= end:
        when = f"should have fired {elapsed(end - bar.due)} ago"
    if row.id == HOLD:
        return f"held: no worker could decide the run, their logs say why; to be tried again, {when}", True
    if row.kind is Kind.ACTIVITY:
        failed = [each for each in row.bars if each.outcome.is_bad]
        return f"back-off before another attempt; {when}{_before(failed)}", bool(failed)
    return when, _is_late(bar, end)


def _before(failed: Sequence[Bar]) -> str:
    if not failed:
        return ""
    said = f": {printable(failed[-1].said)}" if failed[-1].said else ""
    count = f"{len(failed)} attempts failed, the last one" if len(failed) > 1 else "the attempt before it"
    return f"; {count} {failed[-1].outcome}{said}"


def _due(bar: Bar, end: float) -> str:
    if bar.due is None and bar.heartbeat is not None:
        return f", times out if {elapsed(bar.heartbeat)} pass without a heartbeat"
    if bar.due is None:
        return "" if bar.kind in (Kind.DECISION, Kind.EXTERNAL) else ", no timeout"
    if bar.due <= end:
        return f", timeout due {elapsed(end - bar.due)} ago"
    return f", times out in {elapsed(bar.due - end)}"


def _is_late(bar: Bar, end: float) -> bool:
    return bar.due is not None and end - bar.due > _LATE


def _nothing(run: Bar, end: float) -> OpenWork:
    text = f"nothing is open: it waits for a signal, or its code has not decided{_due(run, end)}"
    return OpenWork(kind=Kind.EXECUTION, id="", text=text, event_id=run.event_ids[0], is_alarming=_is_late(run, end))
