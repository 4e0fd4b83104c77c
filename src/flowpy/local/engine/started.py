"""Tasks that were handed out and not answered yet."""

from __future__ import annotations

from flowpy.errors import InvalidRequest, UnknownResource
from flowpy.local.engine.tokens import read_task_token
from flowpy.local.engine.world import World

__all__ = ["is_started"]


def is_started(world: World, task_token: str) -> bool:
    """Whether the task of a token is still to be answered; False for what is no token."""
    for kind in ("activity", "decision task"):
        try:
            run, scheduled_event_id = read_task_token(world, kind, task_token)
        except InvalidRequest:
            continue
        except UnknownResource:
            return False
        if kind == "activity":
            activity = run.activities.get(scheduled_event_id)
            return activity is not None and activity.started_event_id > 0
        decision = run.decision
        return decision is not None and decision.scheduled_event_id == scheduled_event_id
    return False
