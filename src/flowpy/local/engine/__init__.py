"""Amazon SWF's state transitions in memory, on a clock that is passed in."""

from flowpy.local.engine.clock import Clock, SystemClock, VirtualClock
from flowpy.local.engine.engine import Engine
from flowpy.local.engine.invariants import check_history
from flowpy.local.engine.quotas import Quotas

__all__ = ["Clock", "Engine", "Quotas", "SystemClock", "VirtualClock", "check_history"]
