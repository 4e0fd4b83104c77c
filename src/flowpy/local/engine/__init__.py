"""Amazon SWF's state transitions, on a clock that is passed in."""

from flowpy.local.engine.buckets import Bucket, Throttle
from flowpy.local.engine.clock import Clock, SystemClock, VirtualClock
from flowpy.local.engine.engine import Engine
from flowpy.local.engine.invariants import check_history
from flowpy.local.engine.quotas import Quotas

__all__ = ["Bucket", "Clock", "Engine", "Quotas", "SystemClock", "Throttle", "VirtualClock", "check_history"]
