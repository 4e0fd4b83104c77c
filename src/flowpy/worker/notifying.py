"""Telling whoever started this process how it is: systemd's protocol, which flowpy's own supervisor speaks too.

One datagram of lines ``NAME=value`` to the socket that ``NOTIFY_SOCKET`` names; see sd_notify(3).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

__all__ = ["SUPERVISOR", "Notifier", "is_supervised"]

SUPERVISOR = "FLOWPY_SUPERVISOR_PID"
"""Environment variable with the process id of the supervisor; a worker stops when that is not its parent any more."""


def is_supervised(environment: Mapping[str, str]) -> bool:
    """Whether this process is one of those that a supervisor of flowpy's started.

    What a worker starts inherits its environment, and may be a worker too: that one has another parent, and is none of
    the supervisor's. If the supervisor is gone already, it was this process's, which is to notice.

    Args:
        environment: Variables of the process.
    """
    supervisor = environment.get(SUPERVISOR, "")
    if not supervisor.isdecimal():
        return False
    return int(supervisor) == os.getppid() or not _exists(int(supervisor))


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


class Notifier:
    """Sends states to the socket in the environment; does nothing without one.

    Args:
        environment: Default that of the process.
    """

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        self._supervisor = environment.get(SUPERVISOR, "") if is_supervised(environment) else ""
        is_inherited = SUPERVISOR in environment and not self._supervisor
        self._address = "" if is_inherited else environment.get("NOTIFY_SOCKET", "")
        watched = environment.get("WATCHDOG_USEC", "")
        meant = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watchdog = int(watched) / 1e6 if watched.isdigit() and meant else None
        """Seconds after which silence is taken for death, None if nobody listens."""

    def send(self, **states: str) -> None:
        """Tell states, such as ``READY="1"``; who does not listen is no reason to fail.

        Args:
            **states: Names and values, each a line of text.
        """
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        text = "\n".join(f"{name}={value}" for name, value in states.items())
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.setblocking(False)
                out.sendto(text.encode(), address)
        except OSError:
            pass

    @property
    def is_orphan(self) -> bool:
        """Whether the supervisor that started this process is gone."""
        return bool(self._supervisor) and str(os.getppid()) != self._supervisor
