"""The border between runs and histories: which fields are payloads, sealed on the way out and opened on the way in.

Ids, names, tags, task lists, timers, ``control`` and the ids inside markers are never payloads: SWF and the kernel
read them, and whoever looks at a history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeGuard

from flowpy.data.failures import failure_text
from flowpy.data.jsontext import dump, parse
from flowpy.data.limits import CONTEXT, DATA, DETAILS, HEARTBEAT, check_length
from flowpy.data.payloads import Payloads, is_sealed
from flowpy.data.reading import decode_failure
from flowpy.errors import PayloadCorrupt, PayloadNotDecodable, PayloadTooLarge

__all__ = [
    "EVENT_FIELDS",
    "SEALED",
    "open_context",
    "open_decision",
    "open_events",
    "seal_context",
    "seal_decision",
    "seal_fields",
]

SEALED: Final = "$sealed"
"""Key of an opened event under which the recorded one stands."""

EVENT_FIELDS: Final[dict[str, str]] = {
    "WorkflowExecutionStarted": "input",
    "WorkflowExecutionCompleted": "result",
    "WorkflowExecutionFailed": "details",
    "WorkflowExecutionCanceled": "details",
    "WorkflowExecutionContinuedAsNew": "input",
    "WorkflowExecutionTerminated": "details",
    "WorkflowExecutionSignaled": "input",
    "DecisionTaskCompleted": "executionContext",
    "ActivityTaskScheduled": "input",
    "ActivityTaskCompleted": "result",
    "ActivityTaskFailed": "details",
    "ActivityTaskTimedOut": "details",
    "ActivityTaskCanceled": "details",
    "MarkerRecorded": "details",
    "StartChildWorkflowExecutionInitiated": "input",
    "ChildWorkflowExecutionCompleted": "result",
    "ChildWorkflowExecutionFailed": "details",
    "ChildWorkflowExecutionCanceled": "details",
    "SignalExternalWorkflowExecutionInitiated": "input",
    "LambdaFunctionScheduled": "input",
    "LambdaFunctionCompleted": "result",
    "LambdaFunctionFailed": "details",
}
"""Event type → the one field of its attributes that holds a payload."""

_KEYS: Final = {kind: (f"{kind[0].lower()}{kind[1:]}EventAttributes", field) for kind, field in EVENT_FIELDS.items()}
_SLOTS: Final = {"MarkerRecorded": ("value", "failure"), "DecisionTaskCompleted": ("state",)}
"""What stands inside a JSON object of flowpy's own, whose other fields must stay readable."""

_FAILURES: Final = frozenset(("FailWorkflowExecution", "RespondActivityTaskFailed"))
_RECORDED: Final = {"RecordMarker": "MarkerRecorded", "FailWorkflowExecution": "WorkflowExecutionFailed"}
"""Decisions whose payloads stand in them as in the event that records them, and not alone in their field."""

_MARK: Final = "$flowpy"
_WRAPPED: Final = {_MARK, "value"}
_SIDE_EFFECT: Final = "flowpy.side_effect"
_FIELDS: Final = ("input", "result", "details")
_OBJECT: Final = ("{", " ", "\n", "\r", "\t")
_LEAST: Final = 1_024
_CLIP: Final = 40


# --- out --------------------------------------------------------------------------------------


def seal_decision(decision: dict[str, Any], payloads: Payloads) -> dict[str, Any]:
    """Seal the payloads of a decision.

    Args:
        decision: As boto3 takes it.
        payloads: What is done to them.

    Raises:
        PayloadTooLarge: One does not fit.
        PayloadUnavailable: The key or the store cannot be had now.
    """
    kind = decision["decisionType"]
    key = f"{kind[0].lower()}{kind[1:]}DecisionAttributes"
    return {**decision, key: seal_fields(kind, decision[key], payloads)} if key in decision else decision


def seal_fields(kind: str, fields: dict[str, Any], payloads: Payloads) -> dict[str, Any]:
    """Seal the payloads among the fields of a decision or of a request.

    Args:
        kind: The decisionType, or the operation.
        fields: The decision's attributes, or the request.
        payloads: What is done to them.

    Returns:
        Other fields, or the same if nothing is done.

    Raises:
        PayloadTooLarge: One does not fit.
        PayloadUnavailable: The key or the store cannot be had now.
    """
    if payloads.is_plain:
        return fields
    if not payloads.clear.isdisjoint(_names(fields)):
        for field in _FIELDS:
            check_length(fields.get(field) or "", DATA, f"{field} of {kind}, which is sent in clear,")
        return fields
    made = dict(fields)
    if kind in _FAILURES:
        made.update(_sealed_failure(fields, payloads))
    elif kind == "RecordMarker":
        if fields.get("markerName") == _SIDE_EFFECT:
            made["details"] = _with_slots(fields["details"], _SLOTS["MarkerRecorded"], payloads, DATA)
    else:
        limit = HEARTBEAT if kind == "RecordActivityTaskHeartbeat" else DATA
        for field in _FIELDS:
            if fields.get(field) is not None:
                made[field] = payloads.seal(fields[field], limit, f"{field} of {kind}")
    return made


def seal_context(text: str, payloads: Payloads) -> str:
    """Seal the state in an executionContext; versions stay readable.

    A state that itself begins with the key ``$flowpy`` is wrapped first, so that it is not taken for a sealed one.

    Raises:
        PayloadTooLarge: It does not fit.
        PayloadUnavailable: The key or the store cannot be had now.
    """
    if payloads.is_plain:
        return text
    form = parse(text)
    state = form.get("state")
    if _is_marked(state):
        text = dump({**form, "state": {_MARK: "value", "value": state}})
    return _with_slots(text, _SLOTS["DecisionTaskCompleted"], payloads, CONTEXT)


def _is_marked(plain: Any) -> TypeGuard[dict[str, Any]]:
    return type(plain) is dict and next(iter(plain), None) == _MARK


def _names(fields: dict[str, Any]) -> list[str]:
    """What the reader of an input is called: a type, a signal, a Lambda function."""
    types = [fields.get(key) for key in ("activityType", "workflowType")]
    names = [type_.get("name") for type_ in types if isinstance(type_, dict)]
    return [name for name in (*names, fields.get("signalName"), fields.get("name")) if isinstance(name, str)]


def _sealed_failure(fields: dict[str, Any], payloads: Payloads) -> dict[str, Any]:
    """Seal the details of a failure, shortened until they fit; a reason too tells secrets, but for its type."""
    reason, details = fields.get("reason") or "", fields.get("details")
    made = {"reason": _type_only(reason)} if payloads.is_secret and reason else {}
    if details is None:
        return made
    failure, room = decode_failure(reason, details), DETAILS
    while True:
        try:
            return {**made, "details": payloads.seal(details, DETAILS, "details of the failure")}
        except PayloadTooLarge:
            if room < _LEAST:
                raise
            room = room * 2 // 3
            details = failure_text(failure, room)[1]


def _type_only(reason: str) -> str:
    return decode_failure(reason, None).type or "failure"


def _with_slots(text: str, slots: tuple[str, ...], payloads: Payloads, limit: int) -> str:
    form = parse(text)
    for slot in slots:
        if form.get(slot) is not None:
            inner = dump(form[slot])
            room = limit - (len(text) - len(inner))
            form[slot] = parse(payloads.seal(inner, room, f"the {slot} in {text[:_CLIP]}"))
    return dump(form)


# --- in ---------------------------------------------------------------------------------------


def open_events(events: Iterable[dict[str, Any]], payloads: Payloads) -> list[dict[str, Any]]:
    """Open the payloads of recorded events.

    Args:
        events: Events as boto3 gives them; not changed.
        payloads: Knows the codecs, keys and stores.

    Returns:
        The events; those that had a sealed payload as copies, with the recorded one under ``SEALED``.

    Raises:
        PayloadUnavailable: One cannot be opened; the message names the event.
    """
    recorded = events if type(events) is list else list(events)
    found, room = _objects(recorded), payloads.largest_history
    opened = list(recorded) if found else recorded
    for at, text in found:
        event = opened[at]
        attributes, field = _KEYS[event["eventType"]]
        made = _opened(event["eventType"], field, text, f"{field} of event {event.get('eventId')}", payloads)
        if made:
            room -= sum(map(len, made.values()))
            if room < 0:
                raise PayloadCorrupt(
                    f"{field} of event {event.get('eventId')} cannot be opened beside those before it: together they "
                    f"are larger than Payloads(largest_history=…) allows, {payloads.largest_history:,} characters"
                )
            opened[at] = {**event, attributes: _replaced(event[attributes], made), SEALED: event}
    return opened


def _objects(events: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """Where a payload is an object, as all that are sealed are. Every event of every replay comes by here."""
    found: list[tuple[int, str]] = []
    add, place_of = found.append, _KEYS.get
    try:
        for at, event in enumerate(events):
            place = place_of(event["eventType"])
            if place is not None:
                text = event[place[0]].get(place[1])
                if text and text.startswith(_OBJECT):
                    add((at, text))
    except (LookupError, AttributeError, TypeError):
        pass  # no replay gets beyond an event that is malformed
    return found


def open_decision(decision: dict[str, Any], payloads: Payloads) -> dict[str, Any]:
    """Open the payloads of a decision that was sealed: what ``seal_decision`` was given.

    Raises:
        PayloadUnavailable: One cannot be opened.
    """
    kind = decision["decisionType"]
    key = f"{kind[0].lower()}{kind[1:]}DecisionAttributes"
    attributes = decision.get(key) or {}
    made: dict[str, str] = {}
    for field in _FIELDS:
        text = attributes.get(field)
        if text is not None:
            made.update(_opened(_RECORDED.get(kind, kind), field, text, f"{field} of {kind}", payloads))
    return {**decision, key: _replaced(attributes, made)} if made else decision


def _replaced(attributes: dict[str, Any], made: dict[str, str]) -> dict[str, Any]:
    if ": " in (attributes.get("reason") or ""):
        made.pop("reason", None)  # it tells all by itself
    return {**attributes, **made}


def open_context(text: str | None, payloads: Payloads) -> str | None:
    """Open the state in an executionContext.

    Raises:
        PayloadUnavailable: It cannot be opened.
    """
    if text is None:
        return None
    return _opened("DecisionTaskCompleted", "executionContext", text, "executionContext", payloads).get(
        "executionContext", text
    )


def _opened(kind: str, field: str, text: str, what: str, payloads: Payloads) -> dict[str, str]:
    """The fields that change when a payload is opened, none if it was not sealed."""
    if kind in _SLOTS:
        return _opened_slots(kind, field, text, what, payloads) if '"$flowpy"' in text else {}
    if not is_sealed(text):
        return {}
    plain = payloads.open(text, what)
    if plain is text:
        return {}
    if kind.endswith("Failed"):
        # The reason of a secret failure is told in full only in its details.
        return {"reason": failure_text(decode_failure(None, plain))[0], field: plain}
    return {field: plain}


def _opened_slots(kind: str, field: str, text: str, what: str, payloads: Payloads) -> dict[str, str]:
    try:
        form = parse(text)
    except PayloadNotDecodable:
        return {}
    if not isinstance(form, dict):
        return {}
    made = {}
    for slot in _SLOTS[kind]:
        plain = form.get(slot)
        if not _is_marked(plain):
            continue
        inner = dump(plain)
        if is_sealed(inner):
            made[slot] = plain = parse(payloads.open(inner, f"{slot} in the {what}"))
        if slot == "state" and not payloads.is_plain and _is_marked(plain) and plain.keys() == _WRAPPED:
            made[slot] = plain["value"]
    return {field: dump({**form, **made})} if made else {}
