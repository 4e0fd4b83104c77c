"""The seam to SWF: one small protocol, a tuned boto3 client, faults, paging and back-off."""

from __future__ import annotations

from flowpy.service.boto import BotoService
from flowpy.service.faults import fault
from flowpy.service.protocol import Service
from flowpy.service.replies import read_replies
from flowpy.service.retrying import Backoff

__all__ = ["Backoff", "BotoService", "Service", "fault", "read_replies"]
