"""How a worker works; all of it has a default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from attrs import Attribute, field, frozen, validators

from flowpy.data.converter import DEFAULT, Converter
from flowpy.service.paging import PAGE_SIZE

__all__ = ["WorkerSettings"]


def _is_whole(_settings: Any, attribute: Attribute[int], value: object) -> None:
    """A whole number of 1 or more; attrs' own messages are for those who know attrs."""
    if not isinstance(value, int) or value < 1:
        raise ValueError(f"WorkerSettings: {attribute.name}={value!r} is no whole number of 1 or more")


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
        activity_slots: Activities that run at once, ``def`` on threads and ``async def`` on one event loop;
            default 16. Nothing is polled while all are taken.
        grace: Seconds that work in progress gets to end when the worker stops; default 30.
        on_divergence: ``"hold"`` (default): a run that does not match the code waits for the right code;
            ``"fail"``: it is failed.
        guard: What is done if workflow code opens files or sockets, starts programs, asks for input: ``"warn"``
            (default): log the line, once; ``"error"``: raise ``NotDeterministic`` at the call and hold the run;
            ``"off"``. The guard's strict form, which finds clocks and chance too, is for tests.
        strict: Hold a run also for differences that are only warned of otherwise; default False.
        register: Register the types at the start; default True.
        register_domain: Register the domain too, with that many days of retention; default None, do not.
        page_size: Events per page of a history, 1 to 1000; default 1000.
        converter: Encodes and decodes values; default JSON.
        decider: Makes the decider from the workflows; default flowpy's own.
    """

    threads: int = field(default=2, validator=_is_whole)
    activity_pollers: int = field(default=2, validator=_is_whole)
    activity_slots: int = field(default=16, validator=_is_whole)
    grace: float = field(default=30.0, validator=validators.ge(0))
    on_divergence: Literal["hold", "fail"] = field(default="hold", validator=_is_one_of("hold", "fail"))
    guard: Literal["warn", "error", "off"] = field(default="warn", validator=_is_one_of("warn", "error", "off"))
    strict: bool = False
    register: bool = True
    register_domain: int | None = field(
        default=None, validator=validators.optional([validators.ge(0), validators.le(90)])
    )
    page_size: int = field(default=PAGE_SIZE, validator=[_is_whole, validators.le(1000)])
    converter: Converter = DEFAULT
    decider: Callable[[list[Any]], Any] | None = None
