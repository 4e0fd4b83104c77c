"""The kernel: entities, matching and divergence. Pure: no I/O, no clock, neither boto3 nor asyncio."""

from flowpy.replay.divergence import CodeLine, Decided, Difference, Divergence
from flowpy.replay.hold import hold_decision
from flowpy.replay.report import render

__all__ = ["CodeLine", "Decided", "Difference", "Divergence", "hold_decision", "render"]
