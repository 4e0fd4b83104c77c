"""An event of a history."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

__all__ = ["Event", "event_text"]


def _seconds(value: datetime) -> float:
    return value.timestamp()


_encode: Final = json.JSONEncoder(separators=(",", ":"), sort_keys=True, default=_seconds).encode


class Event(dict[str, Any]):
    """An event as boto3 gives it, which never changes, with room for its text.

    Attributes:
        text: What it looks like on the wire, once somebody has needed it; "" before.
    """

    __slots__ = ("text",)

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.text = ""


def event_text(event: dict[str, Any]) -> str:
    """An event as JSON, members in order, its time as epoch seconds; an `Event` is written out once."""
    if type(event) is not Event:
        return _encode(event)
    if not event.text:
        event.text = _encode(event)
    return event.text
