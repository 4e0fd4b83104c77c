"""Starting workflows and talking to their runs, from any program."""

from __future__ import annotations

from flowpy.client.client import Client
from flowpy.client.description import Description, OpenCounts
from flowpy.client.run import Run
from flowpy.client.task import ActivityTask

__all__ = ["ActivityTask", "Client", "Description", "OpenCounts", "Run"]
