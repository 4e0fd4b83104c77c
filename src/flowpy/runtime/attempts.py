"""Whether, and when, an attempt of an activity is followed by another one (contract §2)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from flowpy.data.failures import Failure, is_not_begun
from flowpy.declare.retry import Retry
from flowpy.errors import ActivityError, ActivityTimedOut

if TYPE_CHECKING:
    from flowpy.runtime.activities import ActivityPromise

__all__ = ["back_off"]

_NOT_BEGUN: Final = Retry(initial="10s", maximum="1h")
"""When a task is scheduled again that a worker gave back without beginning it: no attempt of the user's."""


def back_off(call: ActivityPromise, error: ActivityError, failure: Failure | None) -> int | None:
    """Seconds until the next attempt; None if there is none.

    Args:
        call: The call; how many of its attempts were not begun is kept with it.
        error: What its attempt ended with.
        failure: What is recorded of that, if the activity failed.
    """
    (retry, call.first), run_id = _policy(call), call.run.info.run_id
    if is_not_begun(failure):
        call.not_begun += 1
        delay = _NOT_BEGUN.delay(call.not_begun + 1, run_id, call.task.id)
    elif retry is None or not retry.matches(_names(error, failure)):
        return None
    else:
        delay = retry.delay(call.attempt - call.not_begun + 1, run_id, call.id)
    allowed = retry is None or retry.allows(call.attempt - call.not_begun, call.first, call.run.clock, delay)
    return delay if allowed else None


def _policy(call: ActivityPromise) -> tuple[Retry | None, int]:
    """What is recorded with the attempt decides; the code's policy where nothing is."""
    code = call.activity.retry
    recorded = getattr(call.task, "recorded_control", None)
    if recorded:
        try:
            form = json.loads(recorded)["retry"]
            return Retry.from_control(form, code), int(form.get("first") or call.first or call.run.clock)
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
    return code, call.first or int(call.run.clock)


def _names(error: ActivityError, failure: Failure | None) -> list[str]:
    """The names an error is known by to a Retry."""
    names = [name for kind in type(error).__mro__ for name in (kind.__name__, f"{kind.__module__}.{kind.__qualname__}")]
    if isinstance(error, ActivityTimedOut):
        names.append(error.timeout_type)
    if failure is not None and failure.type:
        names.append(failure.type)
        if failure.module:
            names.append(f"{failure.module}.{failure.type}")
    return names
