"""Events that cannot be read as what they say they are, and reading what may be so."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from flowpy.errors import HistoryError
from flowpy.history.events import Event, seconds

__all__ = ["MALFORMED", "check_time", "malformed", "text_of", "time_of"]

MALFORMED: Final = (KeyError, TypeError, AttributeError, IndexError)
"""What reading an event raises that lacks a member, or holds one of another type."""

_zones: Final[set[type]] = set()
"""Classes of time zones that have told a time: boto3's is slow to do so, and code seldom asks for it."""


def malformed(event: Event, error: BaseException) -> HistoryError:
    """The error of an event that cannot be read as what it says it is."""
    id, kind = event.get("eventId"), event.get("eventType")
    return HistoryError(
        f"event {id} ({kind}) is malformed ({type(error).__name__}: {error}): the history is corrupt; nothing was sent",
        event_id=id if isinstance(id, int) else None,
    )


def text_of(attributes: dict[str, Any], name: str) -> str | None:
    """A payload of an event, None if it is absent.

    Raises:
        TypeError: It is no text.
    """
    value = attributes.get(name)
    if value is None or isinstance(value, str):
        return value
    raise TypeError(f"{name} is no text but {type(value).__name__}")


def check_time(event: Event) -> None:
    """See that the time of an event can be read.

    Raises:
        HistoryError: Its timestamp cannot be read.
    """
    stamp = event.get("eventTimestamp")
    if type(stamp) is not datetime:
        time_of(event)
    elif type(stamp.tzinfo) not in _zones:
        time_of(event)
        _zones.add(type(stamp.tzinfo))


def time_of(event: Event) -> float:
    """Epoch seconds of an event.

    Raises:
        HistoryError: Its timestamp cannot be read.
    """
    try:
        return seconds(event)
    except (ValueError, *MALFORMED) as error:
        raise malformed(event, error) from error
