"""One event, as other tools dumped it, in boto3's form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from flowpy.errors import HistoryError
from flowpy.history.events import ATTRIBUTES, Event, attributes_key
from flowpy.history.timestamps import instant
from flowpy.words import an

__all__ = ["lower_keys", "normal_event"]

# SWF's own structures are four deep; what users nest is text inside them.
_DEEPEST: Final = 16


def normal_event(event: object, position: int) -> Event:
    """Give an event in boto3's form.

    Args:
        event: The event as found: an event that has boto3's form already is given back itself, not a copy.
        position: Which event of the source this is, from 1, for messages about events without an id.

    Returns:
        A dict with an int ``eventId``, an aware datetime ``eventTimestamp``, ``eventType`` and the attributes as dict;
        members that were null, such as the 53 other attributes members of Java dumps, are gone.

    Raises:
        HistoryError: Something else than an event, or an event with a member missing or of a wrong kind.
    """
    if type(event) is dict and _is_normal(event):
        return event
    if not isinstance(event, Mapping):
        message = f"entry {position} of the events is {an(type(event).__name__)}, not an event ({event!r:.60})"
        raise HistoryError(f"{message}.", remedy=_REMEDY)
    normal = {key: value for key, value in event.items() if value is not None}
    if "eventId" not in normal and "EventId" in normal:
        normal = lower_keys(normal)
    normal["eventId"] = event_id = _event_id(normal, position)
    normal["eventType"] = event_type = _event_type(normal, event_id)
    try:
        normal["eventTimestamp"] = instant(normal.get("eventTimestamp"))
    except ValueError as error:
        message = f"event {event_id} ({event_type}) has no readable eventTimestamp: {error}."
        raise HistoryError(message, remedy=_REMEDY, event_id=event_id) from error
    _set_attributes(normal, event_id, event_type)
    return normal


_REMEDY: Final = "Record the history again: each event needs eventId, eventTimestamp, eventType and its attributes."


def _is_normal(event: Event) -> bool:
    stamp = event.get("eventTimestamp")
    return (
        type(event.get("eventId")) is int
        and isinstance(stamp, datetime)
        and stamp.tzinfo is not None
        and type(event.get(ATTRIBUTES.get(event.get("eventType", ""), ""))) is dict
    )


def _event_id(event: Mapping[str, Any], position: int) -> int:
    value: Any = event.get("eventId")
    whole = isinstance(value, float) and value.is_integer()
    digits = isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10
    if whole or digits:
        value = int(value)
    if type(value) is int and value > 0:
        return value
    there = "no eventId" if value is None else f"the eventId {value!r:.60}"
    message = f"entry {position} of the events has {there}; ids are 1, 2, 3 and so on."
    raise HistoryError(message, remedy=_REMEDY)


def _event_type(event: Mapping[str, Any], event_id: int) -> str:
    value = event.get("eventType")
    if isinstance(value, str) and value:
        return value
    message = f"event {event_id} has {'no eventType' if value is None else f'the eventType {value!r:.60}'}."
    raise HistoryError(message, remedy=_REMEDY, event_id=event_id)


def _set_attributes(event: Event, event_id: int, event_type: str) -> None:
    key = attributes_key(event_type)
    value = event.get(key)
    if value is None and event_type not in ATTRIBUTES:
        return
    if not isinstance(value, Mapping):
        there = f"no {key}" if value is None else f"{an(type(value).__name__)} as {key}"
        message = f"event {event_id} ({event_type}) has {there}."
        raise HistoryError(message, remedy=_REMEDY, event_id=event_id)
    if None in value.values():
        value = {name: member for name, member in value.items() if member is not None}
    event[key] = value if type(value) is dict else dict(value)


def lower_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    """Give an object of a Java or .NET dump SWF's own member names.

    Args:
        value: A page or an event with names such as ``EventId``; enumerations may be objects ``{"Value": "…"}``.

    Returns:
        A new dict with ``eventId`` and so on at every level, without the members that were null.

    Raises:
        HistoryError: Nested deeper than any structure of SWF.
    """
    lowered: dict[str, Any] = _lower(value, 0)
    return lowered


def _lower(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        message = f"objects nested over {_DEEPEST} deep are no SWF history."
        raise HistoryError(message, remedy=_REMEDY)
    if isinstance(value, list):
        return [_lower(item, depth + 1) for item in value]
    if not isinstance(value, Mapping):
        return value
    if value.keys() == {"Value"}:
        return value["Value"]
    return {_lower_first(name): _lower(item, depth + 1) for name, item in value.items() if item is not None}


def _lower_first(name: Any) -> Any:
    return name[:1].lower() + name[1:] if isinstance(name, str) else name
