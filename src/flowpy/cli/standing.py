"""Where code stands in a timeline, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from flowpy.cli.importing import import_workflow
from flowpy.cli.printing import Output

if TYPE_CHECKING:
    from flowpy.testing import Pending
    from flowpy.view import Timeline

__all__ = ["standings"]

_MOST: Final = 20
"""Tasks, and things that are open, told of at once: nobody reads a thousand, at each of a thousand events."""


def standings(made: Timeline, code: str, output: Output, *, every: bool) -> dict[int, str]:
    """Run code through the history of a timeline, and tell where it stands.

    Args:
        made: The timeline.
        code: ``MODULE:WORKFLOW``.
        output: Shows the progress, and notes where the code does not go with the history.
        every: Whether after every decision task, or after the last one alone.

    Returns:
        Texts by the id of the DecisionTaskStarted event from which on they hold; where code and history differ, the
        report. Empty if no decision task was started yet.

    Raises:
        click.UsageError: There is no such workflow.
    """
    from flowpy.errors import FlowpyError
    from flowpy.testing import stacks

    workflow = import_workflow(code)
    at = None if every else [len(made.events)]
    given = stacks(workflow, made.events, event_ids=at, workflow_id=made.workflow_id, run_id=made.run_id)
    found: dict[int, str] = {}
    with output.progress("replaying") as step:
        try:
            for event_id, pending in given:
                found[event_id] = _told(pending)
                step(1)
        except FlowpyError as error:
            last = max(found, default=0)
            after = next((event["eventId"] for event in made.events if _is_next(event, last)), last + 1)
            found[after] = f"The code of {code} does not go on here.\n{error}"
            known = f" after event {last}" if found.keys() - {after} else ""
            output.note(f"{code} does not go with the history{known}: {type(error).__name__}")
    return found


def _is_next(event: dict[str, Any], last: int) -> bool:
    return bool(event["eventId"] > last) and event["eventType"] == "DecisionTaskStarted"


def _told(pending: Pending) -> str:
    """As much of it as anybody reads."""
    text = str(evolve(pending, tasks=pending.tasks[:_MOST], work=pending.work[:_MOST]))
    counts = {"tasks that wait": len(pending.tasks) - _MOST, "that are open": len(pending.work) - _MOST}
    return "\n".join([text, *(f"and {count:,} more {what}" for what, count in counts.items() if count > 0)])
