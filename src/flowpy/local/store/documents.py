"""What the state looks like in the database: JSON, in which SQL need not look."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from attrs import fields

from flowpy.local.engine.event import Event, event_text
from flowpy.local.engine.state import (
    ActivityTask,
    Child,
    DecisionTask,
    Domain,
    Execution,
    LambdaFunction,
    Override,
    ParentLink,
    Registration,
)
from flowpy.local.engine.world import timestamp

__all__ = [
    "decode_domain",
    "decode_events",
    "decode_execution",
    "decode_open",
    "decode_type",
    "encode_domain",
    "encode_events",
    "encode_fixed",
    "encode_open",
    "encode_state",
    "encode_type",
    "key",
]

_SCALARS: Final = ("cancel_requested", "closing_policy", "decided", "latest_activity")


def _values(kind: type) -> Callable[[Any], Any]:
    return attrgetter(*(field.name for field in fields(kind)))


_activity: Final = _values(ActivityTask)
_child: Final = _values(Child)
_decision: Final = _values(DecisionTask)
_lambda: Final = _values(LambdaFunction)
_override: Final = _values(Override)
_parent: Final = _values(ParentLink)
_registration: Final = _values(Registration)


_OPEN: Final[dict[str, tuple[str, Callable[[Any], Any], Callable[..., Any]]]] = {
    "activity": ("activities", _activity, ActivityTask),
    "child": ("children", _child, Child),
    "lambda": ("lambdas", _lambda, LambdaFunction),
}
"""Where an execution has what is open, and how it is taken apart and put together; timers are just ids."""

_OPEN_DEADLINES: Final = (
    "activity.SCHEDULE_TO_START",
    "activity.START_TO_CLOSE",
    "activity.SCHEDULE_TO_CLOSE",
    "activity.HEARTBEAT",
    "timer",
    "lambda.START_TO_CLOSE",
)
_DECISION_DEADLINES: Final = ("decision.START_TO_CLOSE", "decision.SCHEDULE_TO_START")

_encode: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def key(text: str) -> str | bytes:
    """A name as SQL compares it; JSON can hold lone surrogates, which SQLite's text cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def encode_events(events: list[dict[str, Any]]) -> str:
    """Consecutive events of one history."""
    return f"[{','.join(map(event_text, events))}]"


def decode_events(text: str) -> list[dict[str, Any]]:
    """The events that `encode_events` was given."""
    events: list[dict[str, Any]] = [Event(event) for event in json.loads(text)]
    for event in events:
        event["eventTimestamp"] = timestamp(event["eventTimestamp"])
    return events


def encode_domain(domain: Domain) -> str:
    """A domain without its types and executions."""
    return _encode([domain.name, domain.retention, domain.description, domain.deprecated, domain.tags])


def decode_domain(text: str) -> Domain:
    """The domain that `encode_domain` was given."""
    return Domain(*json.loads(text))


def encode_type(registration: Registration) -> str:
    """A registered type."""
    return _encode(_registration(registration))


def decode_type(text: str) -> Registration:
    """The type that `encode_type` was given."""
    return Registration(*json.loads(text))


def encode_fixed(run: Execution) -> str:
    """What never changes of an execution."""
    parent = _parent(run.parent) if run.parent else None
    return _encode(
        [run.domain, run.workflow_id, run.run_id, run.workflow_type, run.config, run.started, run.tag_list, parent]
    )


def encode_state(run: Execution) -> str:
    """What changes of an execution, but for its history, its close and what is open in it."""
    state = {name: value for name in _SCALARS if (value := getattr(run, name))}
    state["task_list"] = run.task_list
    # An empty text is a context, too.
    state["context"] = run.latest_execution_context
    for name, read, value in (
        ("override", _override, run.override),
        ("decision", _decision, run.decision),
        ("queued", _decision, run.queued),
    ):
        if value is not None:
            state[name] = read(value)
    decision = run.decision.scheduled_event_id if run.decision is not None else 0
    own = [("execution.START_TO_CLOSE", 1), *((kind, decision) for kind in _DECISION_DEADLINES)]
    state["deadlines"] = _deadlines(run, own)
    return _encode(state)


def encode_open(run: Execution, event_id: int) -> str | None:
    """What one event of an execution opened, with what is due of it; None if it is closed."""
    body: Any = None
    for kind, (values, read, _) in _OPEN.items():
        if (found := getattr(run, values).get(event_id)) is not None:
            body = [kind, read(found)]
    if body is None:
        timer_id = run.attributes(event_id).get("timerId", "")
        body = ["timer", timer_id] if run.timers.get(timer_id) == event_id else None
    return _encode([*body, _deadlines(run, [(kind, event_id) for kind in _OPEN_DEADLINES])]) if body else None


def decode_open(run: Execution, event_id: int, text: str) -> None:
    """Gives an execution what `encode_open` was given; nothing is due any more if it has closed."""
    kind, body, deadlines = json.loads(text)
    if kind == "timer":
        run.timers[body] = event_id
    else:
        values, _, make = _OPEN[kind]
        getattr(run, values)[event_id] = make(*body)
    if kind == "activity":
        run.activity_ids[run.activities[event_id].activity_id] = event_id
    if run.is_open:
        _restore_deadlines(run, deadlines)


def _deadlines(run: Execution, which: list[tuple[str, int]]) -> list[tuple[Any, ...]]:
    return [(*each, *run.deadlines[each]) for each in which if each in run.deadlines]


def decode_execution(fixed: str, state: str) -> Execution:
    """The execution that `encode_fixed` and `encode_state` were given, without history, close and what is open."""
    domain, workflow_id, run_id, workflow_type, config, started, tag_list, parent = json.loads(fixed)
    found = json.loads(state)
    run = Execution(domain, workflow_id, run_id, workflow_type, config, started, found["task_list"])
    run.tag_list = tag_list
    run.parent = ParentLink(*parent) if parent else None
    for name in _SCALARS:
        if name in found:
            setattr(run, name, found[name])
    run.latest_execution_context = found["context"]
    run.override = Override(*found["override"]) if "override" in found else None
    run.decision = DecisionTask(*found["decision"]) if "decision" in found else None
    run.queued = DecisionTask(*found["queued"]) if "queued" in found else None
    _restore_deadlines(run, found["deadlines"])
    return run


def _restore_deadlines(run: Execution, deadlines: list[Any]) -> None:
    for kind, event_id, at, number in deadlines:
        run.deadlines[kind, event_id] = (at, number)
