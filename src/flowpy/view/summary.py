"""The words around a picture: whose history it is, how it stands, and what is said of each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from flowpy.view.model import HOLD, Kind, Outcome, Row, Timeline
from flowpy.view.wording import clock, cut, elapsed, printable, width_of

__all__ = ["label", "note", "note_within", "shown_rows", "standing", "title", "when"]


def title(timeline: Timeline) -> str:
    """Type and version of the workflow, workflowId, runId."""
    name, version = timeline.workflow_type
    parts = [f"{name} {version}", timeline.workflow_id, timeline.run_id]
    return "  ".join(printable(part) for part in parts if part)


def standing(timeline: Timeline) -> str:
    """How the run stands, in a few words."""
    run = timeline.execution
    if run.outcome.is_open:
        return f"open for {elapsed(timeline.span)}"
    said = f": {printable(run.said)}" if run.said else ""
    return f"{run.outcome} after {elapsed(timeline.span)}{said}"


def when(timeline: Timeline) -> str:
    """From when to when the picture goes, and how many events it shows."""
    count = len(timeline.events)
    begin, end = clock(timeline.begin).removesuffix(" UTC"), clock(timeline.end)
    if begin[:10] == end[:10]:
        end = end[11:]
    return f"{begin} to {end}, {count:,} event{'' if count == 1 else 's'}"


def label(row: Row) -> str:
    """What a row is called."""
    if row.kind is Kind.EXECUTION:
        return "run"
    if row.kind is Kind.DECISION:
        return "decision tasks"
    if row.kind is Kind.EXTERNAL and row.name:
        return printable(row.name)
    if row.kind is Kind.LAMBDA:
        return printable(f"lambda {row.id} {row.name}".rstrip())
    if row.id == HOLD:
        return "held"
    kind = {Kind.CHILD: "child", Kind.OTHER: "event"}.get(row.kind, str(row.kind))
    return printable(f"{kind} {row.id}")


def note(row: Row, timeline: Timeline) -> str:
    """How a row stands, in a few words: its outcome, why, in which attempt."""
    last = row.last
    if row.kind in (Kind.SIGNAL, Kind.MARKER, Kind.OTHER) and not last.outcome.is_bad:
        return f"{len(row.bars)} times" if len(row.bars) > 1 else printable(last.said)
    if row.kind is Kind.DECISION:
        return _decisions(row)
    if row.id == HOLD:
        return f"{len(row.bars)} time{'' if len(row.bars) == 1 else 's'}, by flowpy.hold timers"
    said = f": {printable(last.said)}" if last.said else ""
    attempt = f" (attempt {row.attempts})" if row.kind is Kind.ACTIVITY and row.attempts > 1 else ""
    if last.kind is Kind.TIMER and row.kind is Kind.ACTIVITY:
        return f"waits for attempt {row.attempts + 1}" if last.outcome.is_open else f"back-off {last.outcome}"
    if row.kind is Kind.TIMER and last.outcome.is_open and last.due is not None and last.due > timeline.end:
        return f"fires in {elapsed(last.due - timeline.end)}"
    if last.outcome.is_open:
        return f"{_open(row)} {elapsed(timeline.end - (last.started or last.scheduled))}{attempt}{said}"
    outcome = "fired" if row.kind is Kind.TIMER and last.outcome is Outcome.COMPLETED else str(last.outcome)
    return f"{outcome}{attempt}{said}"


def note_within(row: Row, timeline: Timeline, width: int) -> str:
    """The note of a row, cut to a width.

    Where there is no room, the type of a timeout and the cause of a refusal are kept, and the outcome, which the symbol
    tells too, is left out: types and causes begin alike, so their ends are kept as well.
    """
    told, last = note(row, timeline), row.last
    said = printable(last.said)
    is_constant = last.outcome in (Outcome.TIMED_OUT, Outcome.REFUSED) and said and told.endswith(said)
    if is_constant and width_of(told) > width:
        return cut(said, width, middle=True)
    return cut(told, width)


def shown_rows(timeline: Timeline, most: int | None) -> Sequence[Row | int]:
    """The rows that a picture of limited height has room for.

    Args:
        timeline: The timeline.
        most: Lines at most, those that say how many rows are left out among them; None for all rows.

    Returns:
        Rows in their order; where some are left out, their number. The run, its decision tasks, and what is open or
        went wrong come before what ended well; of those alike the latest.
    """
    rows = timeline.rows
    if most is None or len(rows) <= most:
        return rows
    ranked = sorted(range(len(rows)), key=lambda at: (at > 1, not rows[at].is_troubled, -at))
    count = most
    while True:
        shown = _with_gaps(rows, sorted(ranked[: max(count, 2)]))
        if len(shown) <= most or count <= 2:
            return shown
        count -= max(1, (len(shown) - most) // 2)


def _with_gaps(rows: Sequence[Row], kept: Sequence[int]) -> list[Row | int]:
    """Those that are kept, and between them how many are not."""
    shown: list[Row | int] = []
    for before, at in zip([-1, *kept], [*kept, len(rows)], strict=True):
        if at - before > 1:
            shown.append(at - before - 1)
        if at < len(rows):
            shown.append(rows[at])
    return shown


def _decisions(row: Row) -> str:
    counts = Counter(bar.outcome for bar in row.bars)
    bad = [f"{number} {outcome}" for outcome, number in counts.items() if outcome.is_bad]
    # What was refused is one of several decisions of a task, and no task.
    return ", ".join([f"{counts.total() - counts[Outcome.REFUSED]}", *bad])


def _open(row: Row) -> str:
    return "waits for" if row.outcome is Outcome.SCHEDULED else "runs for"
