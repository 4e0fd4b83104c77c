"""Declarations: what workflow authors write, and nothing of how it runs.

Everything here can be imported without boto3 and without a runtime. A bad declaration fails at import, with the fix in
the message.
"""

from __future__ import annotations

from flowpy.declare.activity import Activity, activity
from flowpy.declare.asynchronous import Asynchronous, asynchronous
from flowpy.declare.calling import Calls, calls_or_raise, current
from flowpy.declare.durations import NONE, Duration, exact_seconds, seconds, swf_duration
from flowpy.declare.markers import execute, query, signal
from flowpy.declare.names import check_id, check_name, check_signal_name, check_tag_list, check_version
from flowpy.declare.options import ActivityOptions, WorkflowOptions
from flowpy.declare.promise import ChildPromise, Promise
from flowpy.declare.retry import Retry
from flowpy.declare.signals import Signal
from flowpy.declare.signature import Parameter, Signature
from flowpy.declare.workflow import Workflow, workflow

__all__ = [
    "NONE",
    "Activity",
    "ActivityOptions",
    "Asynchronous",
    "Calls",
    "ChildPromise",
    "Duration",
    "Parameter",
    "Promise",
    "Retry",
    "Signal",
    "Signature",
    "Workflow",
    "WorkflowOptions",
    "activity",
    "asynchronous",
    "calls_or_raise",
    "check_id",
    "check_name",
    "check_signal_name",
    "check_tag_list",
    "check_version",
    "current",
    "exact_seconds",
    "execute",
    "query",
    "seconds",
    "signal",
    "swf_duration",
    "workflow",
]
