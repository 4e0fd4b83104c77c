"""How a worker works; all of it has a default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from attrs import Attribute, field, frozen, validators

from flowpy.data.converter import Converter
from flowpy.service.paging import PAGE_SIZE
from flowpy.worker.metering import Meter

__all__ = ["WorkerSettings"]

_LONGEST: Final = 99_999_999
"""Seconds that SWF takes: eight digits."""


def _is_within(least: int, most: int | None = None, kind: str = "whole number") -> Callable[..., None]:
    """A whole number; attrs' own messages are for those who know attrs."""

    def check(_settings: Any, attribute: Attribute[int], value: object) -> None:
        if type(value) is not int or value < least or (most is not None and value > most):
            allowed = f" of {least} or more" if most is None else f", {least} to {most}"
            raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is no {kind}{allowed}")

    return check


_is_whole: Final = _is_within(1)
_is_port: Final = _is_within(0, 65_535, "port")


def _is_number(_settings: Any, attribute: Attribute[float], value: object) -> None:
    """Seconds to wait, perhaps none or for ever."""
    if type(value) not in (int, float) or not value >= 0:  # type: ignore[operator]
        raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is no number of 0 or more")


def _is_over_zero(_settings: Any, attribute: Attribute[float], value: object) -> None:
    if not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is no number over 0")


def _is_a(kind: Any, what: str) -> Callable[..., None]:
    def check(_settings: Any, attribute: Attribute[Any], value: object) -> None:
        if isinstance(value, type) or not isinstance(value, kind):
            raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is no {what}")  # noqa: TRY004 - as all others

    return check


_is_bool: Final = _is_a(bool, "bool, True or False")


def _is_one_of(*known: str) -> Callable[[Any, Attribute[str], object], None]:
    def check(_settings: Any, attribute: Attribute[str], value: object) -> None:
        if value not in known:
            words = ", ".join(map(repr, known))
            raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is none of {words}")

    return check


@frozen(kw_only=True)
class WorkerSettings:
    """Settings of a worker that few need to change.

    Args:
        threads: Threads that poll for and make decisions; default 2.
        activity_pollers: Threads that poll for activity tasks; default 2.
        activity_slots: Activities that run at once, ``def`` on threads, ``async def`` on one event loop, those with
            ``executor="process"`` in processes; default 16. Nothing is polled while all are taken.
        grace: Seconds that work in progress gets to end when the worker stops; default 30.
        cancel_grace: Seconds that an activity with ``executor="process"`` gets to stop by itself when it is cancelled,
            before its process is terminated; default 10.
        on_abandon: What becomes of activities that have not ended by then: ``"fail"`` (default): SWF is told that
            they failed (``WorkerStopped``), so that retries begin at once; ``"time_out"``: they are left to their
            timeouts, for which an activity with none is never missed.
        on_divergence: ``"hold"`` (default): a run that does not match the code waits for the right code;
            ``"fail"``: it is failed.
        guard: What is done if workflow code opens files or sockets, starts programs, asks for input: ``"warn"``
            (default): log the line, once; ``"error"``: raise ``NotDeterministic`` at the call and hold the run;
            ``"off"``. The guard's strict form, which finds clocks and chance too, is for tests.
        strict: Hold a run also for differences that are only warned of otherwise; default False.
        register: Register the types at the start; default True.
        register_domain: Register the domain too, with that many days of retention; default None, do not.
        page_size: Events per page of a history, 1 to 1000; default 1000.
        sticky: Keep runs in memory between their decision tasks, and have these come back to this process; default
            True. Without it, and with a ``decider`` of your own, every decision task is decided from event 1.
        sticky_timeout: Seconds that a decision task waits for this process before SWF gives it to any; default 10.
        cached_runs: Runs that are kept at most; default 1,000.
        cached_bytes: Memory that they may take together, as estimated; default 256 MiB.
        polls_per_second: Polls that this worker makes at most, on average; default None, no limit.
        calls_per_second: Other calls that it makes at most, heartbeats aside; default None, no limit.
        health_port: Port on which ``/healthz`` and ``/readyz`` are answered, 0 for a free one; default None, none.
        health_host: Address to answer on; default the loopback interface, which Kubernetes' probes cannot reach.
        health_after: Seconds without an answered poll after which the worker is not well; default 180.
        converter: Encodes and decodes values; default that of the client, JSON if there is none.
        decider: Makes the decider from the workflows; default flowpy's own.
        meter: Takes what the worker measures, such as ``flowpy.telemetry.OpenTelemetry().meter``; default nothing is
            measured.
    """

    threads: int = field(default=2, validator=_is_whole)
    activity_pollers: int = field(default=2, validator=_is_whole)
    activity_slots: int = field(default=16, validator=_is_whole)
    grace: float = field(default=30.0, validator=_is_number)
    cancel_grace: float = field(default=10.0, validator=_is_number)
    on_abandon: Literal["fail", "time_out"] = field(default="fail", validator=_is_one_of("fail", "time_out"))
    on_divergence: Literal["hold", "fail"] = field(default="hold", validator=_is_one_of("hold", "fail"))
    guard: Literal["warn", "error", "off"] = field(default="warn", validator=_is_one_of("warn", "error", "off"))
    strict: bool = field(default=False, validator=_is_bool)
    register: bool = field(default=True, validator=_is_bool)
    register_domain: int | None = field(default=None, validator=validators.optional(_is_within(0, 90)))
    page_size: int = field(default=PAGE_SIZE, validator=_is_within(1, 1000))
    sticky: bool = field(default=True, validator=_is_bool)
    sticky_timeout: int = field(default=10, validator=_is_within(1, _LONGEST))
    cached_runs: int = field(default=1_000, validator=_is_whole)
    cached_bytes: int = field(default=256 * 2**20, validator=_is_whole)
    polls_per_second: float | None = field(default=None, validator=validators.optional(_is_over_zero))
    calls_per_second: float | None = field(default=None, validator=validators.optional(_is_over_zero))
    health_port: int | None = field(default=None, validator=validators.optional(_is_port))
    health_host: str = "127.0.0.1"
    health_after: float = field(default=180.0, validator=_is_over_zero)
    converter: Converter | None = field(default=None, validator=validators.optional(_is_a(Converter, "Converter")))
    decider: Callable[[list[Any]], Any] | None = None
    meter: Meter | None = field(default=None, validator=validators.optional(_is_a(Meter, "meter")))
