"""The worker process: pollers, signals, draining."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty
from types import TracebackType
from typing import Any, Self

from flowpy.client import Client
from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, ServiceUnavailable, Throttled
from flowpy.service.protocol import WRAP, Service
from flowpy.worker.activities import ActivityWorker
from flowpy.worker.deciding import decide_with
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.lifecycle import Lifecycle, Stop
from flowpy.worker.polling import PollLoop
from flowpy.worker.registration import Registrar
from flowpy.worker.settings import WorkerSettings
from flowpy.worker.signals import stop_signals
from flowpy.worker.slots import Slots

__all__ = ["Worker"]

_log = logging.getLogger("flowpy.worker")


class Worker:
    """Runs workflows and activities: polls one task list of one domain until it is stopped.

    A decision task given to a process that died comes back after the type's ``task_start_to_close_timeout`` (30 s
    by default), an activity task after its heartbeat timeout (60 s): a worker started meanwhile waits as long.

    Args:
        service: A ``flowpy.Client``, or any ``Service`` (then give ``domain``).
        domain: SWF domain; default the client's.
        workflows: What it decides; without any it does not poll for decision tasks.
        activities: What it runs; without any it does not poll for activity tasks.
        task_list: Task list it polls, and default task list of the types it registers; default ``"default"``.
        identity: Who it is, recorded in the histories (256 characters); default ``<process id>@<host>``.
        settings: Everything else.

    Raises:
        DeclarationError: Nothing to run, two types alike, no domain, or an ``external`` activity.
    """

    def __init__(
        self,
        service: Client | Service,
        *,
        domain: str | None = None,
        workflows: Iterable[Workflow[..., Any]] = (),
        activities: Iterable[Activity[..., Any]] = (),
        task_list: str = "default",
        identity: str | None = None,
        settings: WorkerSettings | None = None,
    ) -> None:
        self.service, self.domain = _target(service, domain)
        self.workflows = list(workflows)
        self.activities = list(activities)
        _check(self.workflows, self.activities)
        self.task_list = task_list
        self.identity = (identity or f"{os.getpid()}@{socket.gethostname()}")[:256]
        self.settings = settings or WorkerSettings()
        self._lifecycle = Lifecycle()
        self._slots = Slots(self.settings.activity_slots)
        self._activity_worker: ActivityWorker | None = None
        self._started = False
        self._running = False
        self._ended = threading.Event()

    @property
    def counts(self) -> dict[str, int]:
        """How many of what so far: decisions_completed, decisions_held, activities_failed, results_dropped ..."""
        return self._lifecycle.counts

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or ``stop()``; then drain, and return.

        Draining: no new polls; running decisions and activities get ``settings.grace`` seconds to end and
        report, with heartbeats meanwhile; polls in flight are waited for as long, since a task given to a
        closed connection is lost until it times out. A second signal stops at once.

        Raises:
            AccessDenied, UnknownResource, InvalidRequest: A poll was refused for good.
            ServiceError: Registration failed.
        """
        self._running = True
        try:
            with stop_signals(lambda: self._lifecycle.mailbox.put(Stop())):
                try:
                    self.start()
                except (Throttled, ServiceUnavailable):
                    if self._lifecycle.mailbox.empty():
                        raise
                    _log.info("worker stops: types are not registered yet")
                error = self._wait()
                self._drain(error)
        finally:
            self._ended.set()
        if error is not None:
            raise error

    def start(self) -> None:
        """Register the types and start the threads; ``run`` without the waiting."""
        if self._started:
            raise RuntimeError("this worker was started before: make a new one")
        self._started = True
        self._register()
        if self.workflows:
            decisions = self._decision_worker()
            self._poll("decisions", self.settings.threads, decisions.step)
        if self.activities:
            worker = self._activity_worker = self._make_activity_worker()
            worker.heartbeats.open()
            self._poll("activities", self.settings.activity_pollers, worker.step)
        _log.info(
            "worker %s polls task list %r of domain %r: %d workflow types, %d activity types",
            self.identity,
            self.task_list,
            self.domain,
            len(self.workflows),
            len(self.activities),
        )

    def stop(self) -> None:
        """Drain and stop, from any thread but the worker's own.

        Raises:
            ServiceError: The error of a poll that had ended a worker started with ``start``.
        """
        self._lifecycle.mailbox.put(Stop())
        if self._running:
            self._ended.wait()
        elif self._started and not self._ended.is_set():
            error = self._wait()
            self._drain(error)
            self._ended.set()
            if error is not None:
                raise error

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Drain and stop."""
        self.stop()

    def _register(self) -> None:
        registrar = Registrar(self.service, self.domain, self.task_list, self._pause_registration)
        if self.settings.register_domain is not None:
            registrar.register_domain(self.settings.register_domain)
        if self.settings.register:
            registrar.register(self.workflows, self.activities)

    def _pause_registration(self, seconds: float) -> bool:
        try:
            message = self._lifecycle.message(time.monotonic() + seconds)
        except Empty:
            return False
        self._lifecycle.mailbox.put(message)
        return True

    def _decision_worker(self) -> DecisionWorker:
        return DecisionWorker(
            self.service,
            self._lifecycle,
            decide_with(self.workflows, self.settings),
            self.domain,
            self.task_list,
            self.identity,
            self.settings.page_size,
            self.settings.on_divergence,
        )

    def _make_activity_worker(self) -> ActivityWorker:
        return ActivityWorker(
            self.service,
            self._lifecycle,
            self.activities,
            self.domain,
            self.task_list,
            self.identity,
            self._slots,
            self.settings.converter,
        )

    def _poll(self, what: str, threads: int, step: Callable[[], bool]) -> None:
        for number in range(1, threads + 1):
            loop = PollLoop(f"flowpy-{what}-{number}", step, self._lifecycle)
            # Daemons: an activity or a poll that never ends must not keep the process alive.
            threading.Thread(target=loop.run, name=loop.name, daemon=True).start()

    def _wait(self) -> BaseException | None:
        while True:
            message = self._lifecycle.message()
            if isinstance(message, Stop):
                return None
            if message is not None:
                return message

    def _drain(self, error: BaseException | None) -> None:
        self._slots.close()
        # An error of a poll is reported promptly: the other polls would only meet it again.
        self._lifecycle.drain(self.settings.grace, wait_for_polls=error is None)
        if self._activity_worker is not None:
            self._activity_worker.heartbeats.close()
            self._activity_worker.loop.close()


def _target(service: Client | Service, domain: str | None) -> tuple[Service, str]:
    if isinstance(service, Client):
        return service.service, domain or service.domain
    if not isinstance(service, Service):
        raise DeclarationError(f"Worker needs a flowpy.Client or a Service, not {service!r}: {WRAP}")
    if domain is None:
        raise DeclarationError("Worker needs a domain: give domain=…, or a flowpy.Client that has one")
    return service, domain


def _check(workflows: list[Workflow[..., Any]], activities: list[Activity[..., Any]]) -> None:
    if not workflows and not activities:
        raise DeclarationError("Worker has nothing to run: give workflows=[…], activities=[…] or both")
    for kind, items, declared in (("workflow", workflows, Workflow), ("activity", activities, Activity)):
        seen: set[tuple[str, str]] = set()
        for item in items:
            if not isinstance(item, declared):
                raise DeclarationError(f"Worker got {item!r} as {kind}: give what @{kind} made of the function")
            key = (item.name, item.version)
            if key in seen:
                raise DeclarationError(f"Worker got two {kind} types {key[0]} {key[1]}: change name or version of one")
            seen.add(key)
    external = [activity.name for activity in activities if activity.external]
    if external:
        raise DeclarationError(f"external activities are run by other workers, leave them out: {', '.join(external)}")
