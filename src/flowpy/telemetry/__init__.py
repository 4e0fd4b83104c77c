"""Telemetry: what workers and clients tell about themselves.

Logging needs nothing else: ``flowpy.logger`` says each thing once, with the run or activity as fields of the record;
``ContextFilter`` and ``add_context`` do the same for all other loggers and for structlog. A ``Meter`` takes what a
worker measures (``WorkerSettings(meter=...)``), ``MemoryMeter`` keeps it for tests. ``OpenTelemetry`` makes spans and
metrics of it all and needs the extra ``otel``. docs/telemetry.md tells the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.telemetry.logs import ContextFilter, add_context
from flowpy.telemetry.memory import MemoryMeter
from flowpy.worker.metering import Meter

if TYPE_CHECKING:
    from flowpy.telemetry.opentelemetry import OpenTelemetry

__all__ = ["ContextFilter", "MemoryMeter", "Meter", "OpenTelemetry", "add_context"]


def __getattr__(name: str) -> Any:
    """OpenTelemetry is imported when it is first asked for."""
    if name != "OpenTelemetry":
        raise AttributeError(f"module 'flowpy.telemetry' has no attribute {name!r}")
    from flowpy.telemetry.opentelemetry import OpenTelemetry

    return OpenTelemetry
