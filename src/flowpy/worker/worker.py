"""The worker process: pollers, signals, draining."""

from __future__ import annotations

import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Iterable
from queue import Empty
from types import TracebackType
from typing import Any, Final, Self

from flowpy.client import Client
from flowpy.data.converter import DEFAULT
from flowpy.data.limits import IDENTIFIER
from flowpy.declare.activity import Activity
from flowpy.declare.names import check_text
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, ServiceUnavailable, Throttled
from flowpy.interceptors import Interceptor
from flowpy.service.protocol import WRAP, Service
from flowpy.service.rates import RateLimited, TokenBucket
from flowpy.worker.activities import ActivityWorker
from flowpy.worker.child import refuse_to_start_here
from flowpy.worker.deciding import decide_with, keep_with
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.giving_back import OpenActivities
from flowpy.worker.health import Health
from flowpy.worker.lifecycle import Lifecycle, Stop
from flowpy.worker.polling import Pollers, PollLoop, end_polls
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.registration import Registrar
from flowpy.worker.settings import WorkerSettings
from flowpy.worker.signals import stop_signals
from flowpy.worker.slots import Slots
from flowpy.worker.sticky import Sticky
from flowpy.worker.surroundings import surroundings

__all__ = ["Worker"]

GIVE_BACK: Final = 6.0
"""Seconds in which what was left is given back: with what follows less than a supervisor waits after the grace."""

_log = logging.getLogger("flowpy.worker")


class _NotYet(BaseException):
    """Asked to stop while the types are registered: raised in the signal handler, wherever that call waits."""


class Worker:
    """Runs workflows and activities: polls one task list of one domain until it is stopped.

    A decision task given to a process that died comes back after the type's ``task_start_to_close_timeout`` (30 s
    by default), an activity task after its heartbeat timeout (60 s): a worker started meanwhile waits as long. Runs
    that the process kept in memory are given to others ``settings.sticky_timeout`` (10 s) later than otherwise.

    Args:
        service: A ``flowpy.Client``, or any ``Service`` (then give ``domain``).
        domain: SWF domain; default the client's.
        workflows: What it decides; without any it does not poll for decision tasks.
        activities: What it runs; without any it does not poll for activity tasks.
        task_list: Task list it polls, and default task list of the types it registers; default ``"default"``.
        identity: Who it is, recorded in the histories (256 characters); default ``<process id>@<host>``.
        settings: Everything else.
        interceptors: What stands around workflows, activities and decisions, the outermost first.

    Raises:
        DeclarationError: Nothing to run, two types alike, no domain, one or a task list that SWF does not take, or an
            ``external`` activity.
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
        interceptors: Iterable[Interceptor] = (),
    ) -> None:
        target, self.domain = _target(service, domain)
        for what, text in (("domain", self.domain), ("task_list", task_list)):
            check_text(text, f"Worker: {what}", IDENTIFIER)
        if identity is not None:
            check_text(identity, "Worker: identity", sys.maxsize, shortest=0)
        self.workflows = _listed("workflows", workflows)
        self.activities = _listed("activities", activities)
        _check(self.workflows, self.activities)
        self.task_list = task_list
        self.identity = (identity or f"{os.getpid()}@{socket.gethostname()}")[:256]
        if not isinstance(settings, (WorkerSettings, type(None))):
            raise DeclarationError(
                f"Worker: settings={settings!r} is no WorkerSettings", remedy="give WorkerSettings(…)"
            )
        self.settings = settings or WorkerSettings()
        self._around = surroundings(interceptors, self.settings, self.domain, task_list)
        self.service = target
        own = service.converter if isinstance(service, Client) else DEFAULT
        self._converter = self.settings.converter or own
        self._lifecycle = Lifecycle(counted=self._around.counted)
        self._lifecycle.liveness.limit = self.settings.health_after
        self._service = self._around.on(_limited(self.service, self.settings, self._lifecycle))
        self._pollers = Pollers(self._lifecycle)
        self._slots = Slots(self.settings.activity_slots)
        self._decision_slots = Slots(self.settings.threads)
        self._quarantine = Quarantine()
        self._open = OpenActivities(self._service)
        self._health = Health(self._lifecycle, self._slots, self._quarantine, self.settings.grace)
        self._abandoned: list[str] = []
        self._decisions: DecisionWorker | None = None
        self._activity_worker: ActivityWorker | None = None
        self._sticky: Sticky | None = None
        self._started = False
        self._running = False
        self._is_registering = False
        self._ended = threading.Event()

    @property
    def counts(self) -> dict[str, int]:
        """How many of what so far: decisions_completed, decisions_held, activities_failed, results_dropped ..."""
        return self._lifecycle.counts

    @property
    def health(self) -> Health:
        """Whether it can poll, and what is wrong; what ``/healthz`` answers."""
        return self._health

    @property
    def abandoned(self) -> list[str]:
        """What had not ended when it stopped, one text each."""
        return list(self._abandoned)

    def run(self) -> None:
        """Work until SIGTERM, SIGINT or ``stop()``; then drain, and return.

        Draining: no new polls; running decisions and activities get ``settings.grace`` seconds to end and
        report, with heartbeats meanwhile; polls in flight are waited for as long, since a task given to a
        closed connection is lost until it times out. What has not ended by then is given back as
        ``settings.on_abandon`` says, and told in the log. A second signal stops at once.

        Raises:
            AccessDenied, UnknownResource, InvalidRequest: A poll was refused for good.
            ServiceError: Registration failed.
        """
        self._running = True
        try:
            with stop_signals(self._asked):
                try:
                    self.start()
                except (_NotYet, Throttled, ServiceUnavailable):
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
        refuse_to_start_here()
        self._started = True
        try:
            # What cannot be run is found before types are registered, for ever, and tasks are taken.
            self._decisions = self._decision_worker() if self.workflows else None
            self._activity_worker = self._make_activity_worker() if self.activities else None
            self._health.open(self.settings.health_host, self.settings.health_port)
            self._register()
        except BaseException:
            self._close()
            raise
        self._start_polling()
        self._health.watch(lambda: self._lifecycle.mailbox.put(Stop()))
        _log.info(
            "worker %s polls task list %r of domain %r: %d workflow types, %d activity types",
            self.identity,
            self.task_list,
            self.domain,
            len(self.workflows),
            len(self.activities),
        )

    def _start_polling(self) -> None:
        lifecycle, settings = self._lifecycle, self.settings
        decisions, activities = self._decisions, self._activity_worker
        if decisions is not None:
            self._around.observe("held_runs", lambda: decisions.held)
            self._pollers.start("decisions", settings.threads, PollLoop("", decisions.step, lifecycle))
            if self._sticky is not None:
                sticky = self._sticky
                self._around.observe("cached_runs", lambda: sticky.kept)
                step, fail = decisions.sticky_step, self._sticky.give_up
                loop = PollLoop("", step, lifecycle, fail=fail, until=lifecycle.leaving)
                self._pollers.start("sticky", settings.threads, loop)
        if activities is not None:
            activities.heartbeats.open()
            self._health.troubles = lambda: activities.inputs.reasons
            self._around.observe("activity_slots_used", lambda: self._slots.used)
            self._pollers.start("activities", settings.activity_pollers, PollLoop("", activities.step, lifecycle))

    def stop(self) -> None:
        """Drain and stop, from any thread but the worker's own.

        Raises:
            ServiceError: The error of a poll that had ended a worker started with ``start``.
        """
        self._lifecycle.mailbox.put(Stop())
        if self._running:
            self._ended.wait()
        elif self._started and not self._ended.is_set():
            error = self._stopped_by()
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

    def _asked(self) -> None:
        self._lifecycle.mailbox.put(Stop())
        if self._is_registering:
            # Nothing is under way yet, and a service that does not answer keeps a call for minutes.
            self._is_registering = False
            raise _NotYet

    def _register(self) -> None:
        self._is_registering = True
        try:
            self._register_all()
        finally:
            self._is_registering = False

    def _register_all(self) -> None:
        registrar = Registrar(self._service, self.domain, self.task_list, self._pause_registration)
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
        interceptors = self._around.interceptors
        self._sticky = keep_with(
            self.workflows, self.settings, self._lifecycle, self.task_list, self._converter, interceptors
        )
        return DecisionWorker(
            self._service,
            self._lifecycle,
            decide_with(self.workflows, self.settings, self._converter, interceptors),
            self.domain,
            self.task_list,
            self.identity,
            self.settings.page_size,
            self.settings.on_divergence,
            sticky=self._sticky,
            arounds=self._around.decision,
            payloads=self._converter.payloads,
            slots=self._decision_slots,
            quarantine=self._quarantine,
            replace=self._pollers.replace,
        )

    def _make_activity_worker(self) -> ActivityWorker:
        return ActivityWorker(
            self._open,
            self._lifecycle,
            self.activities,
            self.domain,
            self.task_list,
            self.identity,
            self._slots,
            self._converter,
            self.settings.cancel_grace,
            self._around.activity,
            self._open.hand_over,
        )

    def _stopped_by(self) -> BaseException | None:
        """The error that ended the worker before it was asked to stop, which is no second request then."""
        error: BaseException | None = None
        while not isinstance(message := self._lifecycle.message(), Stop):
            error = error or message
        return error

    def _wait(self) -> BaseException | None:
        while True:
            message = self._lifecycle.message()
            if isinstance(message, Stop):
                return None
            if message is not None:
                return message

    def _drain(self, error: BaseException | None) -> None:
        self._health.drains()
        self._slots.close()
        self._around.close()
        self._decision_slots.close()
        keeps = self._sticky is not None and self._sticky.kept > 0
        end_polls(self.service, self.identity, self._lifecycle, keeps)
        # An error of a poll is reported promptly: the other polls would only meet it again.
        patient = self._lifecycle.drain(self.settings.grace, wait_for_polls=error is None)
        left = self._lifecycle.tasks
        if self._activity_worker is not None:
            self._activity_worker.end_processes()
        if patient and self.settings.on_abandon == "fail":
            self._lifecycle.attend(lambda: self._open.fail_all(self._lifecycle.pause_answer), GIVE_BACK)
        self._abandoned = self._lifecycle.abandon(left)
        self._close()
        _log.info("worker stopped, %d tasks abandoned", len(self._abandoned))

    def _close(self) -> None:
        if self._sticky is not None:
            self._sticky.close()
        if self._activity_worker is not None:
            self._activity_worker.close()
        self._health.close()


def _target(service: Client | Service, domain: str | None) -> tuple[Service, str]:
    if isinstance(service, Client):
        return service.service, domain or service.domain
    if not isinstance(service, Service):
        raise DeclarationError(f"Worker needs a flowpy.Client or a Service, not {service!r}", remedy=WRAP)
    if domain is None:
        raise DeclarationError("Worker needs a domain", remedy="give domain=…, or a flowpy.Client that has one")
    return service, domain


def _limited(service: Service, settings: WorkerSettings, lifecycle: Lifecycle) -> Service:
    """The service, called no more often than ``settings`` allow."""
    polls, calls = settings.polls_per_second, settings.calls_per_second
    if polls is None and calls is None:
        return service
    return RateLimited(
        service,
        None if polls is None else TokenBucket(polls),
        None if calls is None else TokenBucket(calls),
        lifecycle.pause_poll,
        lifecycle.pause_answer,
    )


def _listed(what: str, given: Iterable[Any]) -> list[Any]:
    if isinstance(given, (Workflow, Activity)):
        raise DeclarationError(f"Worker: {what}={given!r} is one", remedy=f"give a list, {what}=[…]")
    return list(given)


def _check(workflows: list[Workflow[..., Any]], activities: list[Activity[..., Any]]) -> None:
    if not workflows and not activities:
        raise DeclarationError("Worker has nothing to run", remedy="give workflows=[…], activities=[…] or both")
    for kind, items, declared in (("workflow", workflows, Workflow), ("activity", activities, Activity)):
        seen: set[tuple[str, str]] = set()
        for item in items:
            if not isinstance(item, declared):
                raise DeclarationError(
                    f"Worker got {item!r} as {kind}", remedy=f"give what @{kind} made of the function"
                )
            key = (item.name, item.version)
            if key in seen:
                raise DeclarationError(
                    f"Worker got two {kind} types {key[0]} {key[1]}", remedy="change name or version of one"
                )
            seen.add(key)
    external = [activity.name for activity in activities if activity.external]
    if external:
        raise DeclarationError(f"external activities are run by other workers, leave them out: {', '.join(external)}")
