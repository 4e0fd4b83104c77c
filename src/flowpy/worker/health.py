"""What a worker says of itself: ``/healthz``, ``/readyz``, and what it tells systemd or its supervisor."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from attrs import define, field

from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.notifying import Notifier
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.slots import Slots

__all__ = ["Health", "HealthServer"]

LOOK_EVERY: Final = 5.0
"""Seconds between two looks at the polling threads."""

_log = logging.getLogger("flowpy.worker")


@define(eq=False)
class Health:
    """The health of one worker.

    Args:
        lifecycle: The worker's.
        slots: Places for activities.
        quarantine: Runs that failed lately.
        grace: Seconds that it takes to drain at most.
        notifier: Told of it.
        troubles: What else is to be looked at, and does not make the worker unwell.
    """

    lifecycle: Lifecycle
    slots: Slots
    quarantine: Quarantine
    grace: float = 30.0
    notifier: Notifier = field(factory=Notifier)
    troubles: Callable[[], list[str]] = field(default=list)
    _server: HealthServer | None = field(default=None, init=False)
    _draining: bool = field(default=False, init=False)
    _ready: bool = field(default=False, init=False)

    @property
    def is_well(self) -> bool:
        """Whether it can poll, or does not want to."""
        return self._draining or self.lifecycle.liveness.is_well

    @property
    def is_ready(self) -> bool:
        """Whether it takes tasks: its types are registered and it polls."""
        return not self._draining and self.lifecycle.liveness.has_polled

    @property
    def port(self) -> int | None:
        """Port that it is answered on; None if it is not."""
        return None if self._server is None else self._server.port

    def report(self) -> dict[str, Any]:
        """All of it, as ``/healthz`` has it."""
        liveness = self.lifecycle.liveness
        status = "draining" if self._draining else "ok" if self.is_well else "stalled"
        if status == "ok" and not self.is_ready:
            status = "starting"
        return {
            "status": status,
            "reasons": [] if self._draining else [*liveness.reasons(), *self.troubles()],
            "unanswered_seconds": round(liveness.unanswered_seconds, 1),
            "grace_seconds": self.grace,
            "tasks": len(self.lifecycle.tasks),
            "free_activity_slots": self.slots.free,
            "quarantined_runs": len(self.quarantine),
            "counts": self.lifecycle.counts,
        }

    def answer(self, path: str) -> tuple[int, dict[str, Any]] | None:
        """The HTTP status and body for a path; None if there is no such page."""
        if path not in ("/healthz", "/readyz"):
            return None
        fine = self.is_well if path == "/healthz" else self.is_ready
        return 200 if fine else 503, self.report()

    def open(self, host: str, port: int | None) -> None:
        """Answer probes.

        Args:
            host: Address.
            port: Port, 0 for a free one; None: do not.

        Raises:
            OSError: The port is taken.
        """
        if port is not None:
            self._server = HealthServer(self.answer, host, port)
            self._server.start()
            _log.info("health is at http://%s:%d/healthz", host, self._server.port)

    def watch(self, orphaned: Callable[[], None]) -> None:
        """Look at the polling threads from now on until the worker has ended.

        Args:
            orphaned: Called when the supervisor is gone.
        """
        threading.Thread(target=self._watch, args=(orphaned,), name="flowpy-health", daemon=True).start()

    def look(self) -> None:
        """Say what has changed, in the log and to systemd or the supervisor."""
        well = self._draining or self.lifecycle.liveness.check()
        told = {"WATCHDOG": "1", "STATUS": "polling" if well else "cannot poll", "X_FLOWPY": json.dumps(self.report())}
        self._ready = self._ready or self.is_ready
        if self._ready and not self._draining:
            told["READY"] = "1"
        self.notifier.send(**told)

    def drains(self) -> None:
        """The worker stops."""
        self._draining = True
        self.notifier.send(STOPPING="1", STATUS="draining")

    def close(self) -> None:
        """Answer no probes any more."""
        server, self._server = self._server, None
        if server is not None:
            server.close()

    def _watch(self, orphaned: Callable[[], None]) -> None:
        # The first look comes at once, so that whoever waits for the worker to be ready does not wait long.
        every, wait = min(LOOK_EVERY, (self.notifier.watchdog or LOOK_EVERY * 2) / 2), 0.05
        while not self.lifecycle.abandoned.wait(wait):
            self.look()
            wait = every if self._ready else min(every, wait * 1.2)
            if self.notifier.is_orphan:
                _log.error("the supervisor of this worker is gone: the worker stops")
                orphaned()
                return


class HealthServer:
    """A tiny HTTP server that answers GET with JSON.

    Args:
        answer: Gives status and body for a path, or None.
        host: Address to listen on.
        port: Port, 0 for a free one.

    Raises:
        OSError: The port is taken.
    """

    def __init__(self, answer: Callable[[str], tuple[int, dict[str, Any]] | None], host: str, port: int) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = 5
            server_version = "flowpy"
            sys_version = ""

            def do_GET(self) -> None:
                status, body = answer(self.path.partition("?")[0]) or (404, {"error": "see /healthz and /readyz"})
                data = (json.dumps(body, indent=2) + "\n").encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                _log.debug("probe: " + format, *args)

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            # Of itself it does not say which port is taken.
            said = f"probes cannot be answered on {host}:{port} (health_host, health_port): {error.strerror}"
            raise OSError(error.errno, said) from error
        self._server.daemon_threads = True

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Answer from now on, on a thread of its own."""
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="flowpy-probes", daemon=True).start()

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
