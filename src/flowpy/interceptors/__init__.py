"""Interceptors: plain functions around what a client calls and what a worker runs.

    >>> import time
    >>> from flowpy.interceptors import ActivityCall, Interceptor, Proceed
    >>> def timed(call: ActivityCall, proceed: Proceed[ActivityCall]) -> object:
    ...     began = time.monotonic()
    ...     try:
    ...         return proceed(call)
    ...     finally:
    ...         print(f"{call.activity.name} took {time.monotonic() - began:.3f} s")
    >>> Interceptor(activity=timed)
    <Interceptor activity=timed>

``flowpy.Worker(client, ..., interceptors=[...])`` and ``flowpy.Client(domain, interceptors=[...])`` take them, the
outermost first.
"""

from __future__ import annotations

from flowpy.interceptors.calls import ActivityCall, ClientCall, DecisionCall, WorkflowCall
from flowpy.interceptors.interceptor import Around, Interceptor, Proceed, chosen, is_async, nested
from flowpy.interceptors.surrounded import surrounded

__all__ = [
    "ActivityCall",
    "Around",
    "ClientCall",
    "DecisionCall",
    "Interceptor",
    "Proceed",
    "WorkflowCall",
    "chosen",
    "is_async",
    "nested",
    "surrounded",
]
