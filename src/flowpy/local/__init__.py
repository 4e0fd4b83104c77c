"""An embedded Amazon SWF. It knows nothing of flowpy but its error classes.

- ``python -m flowpy.local`` serves it over HTTP to the SDK of any language;
- `client` makes boto3 clients that reach an engine in this process without a socket;
- `LocalService` serves workers in this process, on a clock that jumps over the times when nothing happens;
- `Engine` is all of it without waiting.
"""

from flowpy.local.boto import client
from flowpy.local.engine import Clock, Engine, Quotas, SystemClock, VirtualClock, check_history
from flowpy.local.serving import LocalService

__all__ = [
    "Clock",
    "Engine",
    "LocalService",
    "Quotas",
    "SystemClock",
    "VirtualClock",
    "check_history",
    "client",
]
