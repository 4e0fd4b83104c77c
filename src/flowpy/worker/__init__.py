"""Worker processes: they poll SWF, decide, run activities, heartbeat and drain."""

from __future__ import annotations

from flowpy.worker.activity_context import ActivityContext, current_activity
from flowpy.worker.settings import WorkerSettings
from flowpy.worker.worker import Worker

__all__ = ["ActivityContext", "Worker", "WorkerSettings", "current_activity"]
