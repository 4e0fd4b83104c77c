"""What a timeline shows: rows of bars, made from the events of a history."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from attrs import asdict, field, frozen

__all__ = ["HOLD", "Bar", "Kind", "OpenWork", "Outcome", "Row", "Timeline", "iso"]

HOLD: Final = "flowpy.hold"
"""The row of the timers that hold a run which no worker could decide (CONTRACTS §6)."""


class Kind(StrEnum):
    """What a row is about."""

    EXECUTION = "execution"
    DECISION = "decision tasks"
    ACTIVITY = "activity"
    LAMBDA = "Lambda function"
    CHILD = "child workflow"
    TIMER = "timer"
    EXTERNAL = "external request"
    SIGNAL = "signal"
    MARKER = "marker"
    OTHER = "other"


class Outcome(StrEnum):
    """How far something has come, or how it ended."""

    SCHEDULED = "scheduled"
    """Open: asked for, and nobody has begun it."""
    STARTED = "started"
    """Open: somebody works on it, or it runs by itself."""
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    CANCELED = "canceled"
    TERMINATED = "terminated"
    REFUSED = "refused"
    """SWF did not do what was decided."""
    LEFT_OPEN = "left open"
    """The run closed before it ended."""

    @property
    def is_open(self) -> bool:
        """Whether it may still end."""
        return self in (Outcome.SCHEDULED, Outcome.STARTED)

    @property
    def is_bad(self) -> bool:
        """Whether it ended as nobody wishes."""
        return self in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.TERMINATED, Outcome.REFUSED)


@frozen(kw_only=True)
class Bar:
    """One attempt, one timer, one signal: a stretch of a row, or a point where it began and ended at once.

    Attributes:
        id: Its activityId, timerId, workflowId, Lambda id, control, signal or marker name.
        kind: What it is; the timer before another attempt stands in the row of its activity.
        scheduled: When it was asked for, in epoch seconds.
        started: When somebody began it; None if nobody has. Timers and signals begin when they are asked for.
        closed: When it ended; None while it is open.
        outcome: How it ended, or how far it has come.
        said: Reason of a failure, type of a timeout, cause of a refusal; "" if there is none.
        due: When the next timeout strikes, or the timer fires, in epoch seconds; None if nothing is due.
        heartbeat: Of an activity that somebody works on: the seconds without a heartbeat after which it times out; None
            if there is no such timeout.
        place: Task list of a task that nobody has begun, else who works on it; "" if not recorded.
        event_ids: The events it was made from, ascending.
        is_alarming: Whether it is open and a person should look: see ``OpenWork``.
    """

    id: str
    kind: Kind
    scheduled: float
    started: float | None = None
    closed: float | None = None
    outcome: Outcome = Outcome.SCHEDULED
    said: str = ""
    due: float | None = None
    heartbeat: int | None = None
    place: str = ""
    event_ids: tuple[int, ...] = ()
    is_alarming: bool = False


@frozen(kw_only=True)
class Row:
    """Everything with one identity: an activity with all its attempts, a timer, all signals of a name.

    Attributes:
        kind: What it is.
        id: What identifies it in the history.
        name: Name and version of its type, name of the function; "" where there is none.
        bars: At least one, in the order in which they began.
    """

    kind: Kind
    id: str
    name: str = ""
    bars: tuple[Bar, ...]

    @property
    def last(self) -> Bar:
        """The bar that tells how it stands."""
        return self.bars[-1]

    @property
    def outcome(self) -> Outcome:
        """How it stands: the last bar's outcome."""
        return self.last.outcome

    @property
    def is_troubled(self) -> bool:
        """Whether any of its bars is open, or ended as nobody wishes."""
        return any(bar.outcome.is_open or bar.outcome.is_bad for bar in self.bars)

    @property
    def attempts(self) -> int:
        """How many bars it has, timers between attempts not counted."""
        return sum(bar.kind is self.kind for bar in self.bars)

    @property
    def event_ids(self) -> tuple[int, ...]:
        """The events of all its bars, ascending."""
        return tuple(sorted({id for bar in self.bars for id in bar.event_ids}))


@frozen(kw_only=True)
class OpenWork:
    """Something the run waits for, or that keeps it from going on.

    Attributes:
        kind: What it is.
        id: As in its row; "" for what has none.
        text: Since when, for whom it waits and what comes next, in words.
        event_id: The event since which it is so.
        is_alarming: Whether a person should look: nobody begins it, it is overdue, or it has failed before.
    """

    kind: Kind
    id: str
    text: str
    event_id: int
    is_alarming: bool = False


@frozen(kw_only=True)
class Timeline:
    """A history as rows of bars.

    Attributes:
        workflow_id: workflowId of the run; "" where the source does not say it.
        run_id: Its runId; "" likewise.
        workflow_type: Name and version of its type.
        begin: Time of the first event, in epoch seconds.
        end: Where the picture ends: the close of the run, else the time it was asked for, in epoch seconds.
        rows: The run itself, its decision tasks, then everything else in the order in which it began.
        open_work: What the run waits for, the alarming first; empty if it is closed.
        events: The events, as ``read_history`` gives them.
    """

    workflow_id: str
    run_id: str
    workflow_type: tuple[str, str]
    begin: float
    end: float
    rows: tuple[Row, ...]
    open_work: tuple[OpenWork, ...] = ()
    events: tuple[dict[str, Any], ...] = field(repr=False, default=())

    @property
    def execution(self) -> Bar:
        """The run itself."""
        return self.rows[0].last

    @property
    def span(self) -> float:
        """Seconds from the beginning to the end of the picture."""
        return self.end - self.begin

    def bars(self) -> Iterator[Bar]:
        """All bars of all rows."""
        return (bar for row in self.rows for bar in row.bars)

    def to_json(self) -> dict[str, Any]:
        """The same as plain dicts, lists and scalars, fields as named here, times as ISO 8601 text; no events."""
        return {
            "workflow_id": self.workflow_id,
            "run_id": self.run_id,
            "workflow_type": {"name": self.workflow_type[0], "version": self.workflow_type[1]},
            "outcome": str(self.execution.outcome),
            "begin": iso(self.begin),
            "end": iso(self.end),
            "event_count": len(self.events),
            "open_work": [{**asdict(work), "kind": str(work.kind)} for work in self.open_work],
            "rows": [_row_as_json(row) for row in self.rows],
        }


def iso(seconds: float) -> str:
    """A time as ISO 8601 text in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _row_as_json(row: Row) -> dict[str, Any]:
    return {
        "kind": str(row.kind),
        "id": row.id,
        "name": row.name,
        "outcome": str(row.outcome),
        "attempts": row.attempts,
        "bars": [_bar_as_json(bar) for bar in row.bars],
    }


def _bar_as_json(bar: Bar) -> dict[str, Any]:
    times = {name: getattr(bar, name) for name in ("scheduled", "started", "closed", "due")}
    return {
        "id": bar.id,
        "kind": str(bar.kind),
        "outcome": str(bar.outcome),
        **{name: None if value is None else iso(value) for name, value in times.items()},
        "heartbeat": bar.heartbeat,
        "said": bar.said,
        "place": bar.place,
        "event_ids": list(bar.event_ids),
        "is_alarming": bar.is_alarming,
    }
