"""Activities, a child and signals of the cases that are played."""

from __future__ import annotations

from typing import Any

import flowpy
from flowpy import Retry, activity, workflow

__all__ = ["flaky", "item", "ship", "slow", "step", "stop", "stubborn", "tidy"]

item = flowpy.Signal("item")
stop = flowpy.Signal("stop")


@activity
def step(value: Any = "") -> Any: ...


@activity
def tidy(value: Any = "") -> Any: ...


@activity(on_cancel="wait")
def slow(value: Any = "") -> Any: ...


@activity(retry=Retry(attempts=3, initial=10, coefficient=2, jitter=0))
def flaky(value: Any = "") -> Any: ...


@activity(on_cancel="wait", retry=Retry(attempts=3, initial=10, jitter=0))
def stubborn(value: Any = "") -> Any: ...


@workflow
async def ship(value: Any = "") -> Any: ...
