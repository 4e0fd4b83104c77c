"""Markers."""

from __future__ import annotations

from typing import Any

from flowpy.local.engine.deciding import Deciding

__all__ = ["record"]


def record(deciding: Deciding, decision: dict[str, Any]) -> None:
    """RecordMarker."""
    deciding.record("MarkerRecorded", markerName=decision["markerName"], details=decision.get("details"))
