"""Ending polls of the embedded service, which SWF itself has no word for."""

from __future__ import annotations

import http.client
import json
from typing import Final
from urllib.parse import urlsplit

from flowpy.service.sessions import is_local

__all__ = ["end_polls"]

_TARGET: Final = "FlowpyLocal.EndPolls"
"""As ``flowpy.local.server`` has it."""

_PATIENCE: Final = 2.0


def end_polls(url: str, identity: str) -> bool:
    """Have the embedded service on this machine answer the polls of somebody at once: that they found nothing.

    To cut a poll off is no way to end it, since a task may be on its way. The answer comes on the poll's own
    connection, with the task if there is one.

    Args:
        url: Address of a service; one that is on no loopback interface is left alone.
        identity: The ``identity`` of the polls.

    Returns:
        Whether it is the embedded service, and did so.
    """
    parts = urlsplit(url)
    if parts.scheme != "http" or not is_local(url):
        return False
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_PATIENCE)
    try:
        connection.request("POST", "/", json.dumps({"identity": identity}), {"X-Amz-Target": _TARGET})
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
