"""Histories: event tables, and a reader for every recorded shape. Pure: no network, neither boto3 nor asyncio."""

from __future__ import annotations

from flowpy.history.events import (
    ATTRIBUTES,
    CLOSE_EVENTS,
    DECISION_EVENTS,
    LINKS,
    OPTIONAL_LINKS,
    Event,
    attributes,
    attributes_key,
    seconds,
)
from flowpy.history.links import check_links
from flowpy.history.reader import History, read_history

__all__ = [
    "ATTRIBUTES",
    "CLOSE_EVENTS",
    "DECISION_EVENTS",
    "LINKS",
    "OPTIONAL_LINKS",
    "Event",
    "History",
    "attributes",
    "attributes_key",
    "check_links",
    "read_history",
    "seconds",
]
