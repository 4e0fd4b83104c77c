"""What a held run is answered with (contract §6)."""

from __future__ import annotations

import platform
from typing import Any

__all__ = ["first_context", "hold_decision", "hold_state"]


def hold_decision(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The StartTimer decision that makes a held run wait, once enough attempts went unanswered.

    Args:
        events: The run's history.

    Returns:
        The decision, or None: leave the task unanswered for now.
    """
    from flowpy.replay import hold

    return hold.hold_decision(events)


def hold_state(events: list[dict[str, Any]]) -> Any:
    """What decides how a held run is answered, to be kept until its next decision task.

    Args:
        events: The run's history.

    Returns:
        A ``flowpy.replay.hold.HoldState``; None if the history cannot be read.
    """
    from flowpy.errors import HistoryError
    from flowpy.replay.hold import HoldState

    try:
        return HoldState.of(events)
    except HistoryError:
        return None


def first_context(events: list[dict[str, Any]]) -> str | None:
    """The executionContext that the first completed decision of a run carries, a held one too.

    Args:
        events: The run's history.

    Returns:
        The context, or None if a decision of the run was completed before.
    """
    from flowpy.data.context import encode_context

    if any(event["eventType"] == "DecisionTaskCompleted" for event in events):
        return None
    return encode_context(None, ".".join(platform.python_version_tuple()[:2]))
