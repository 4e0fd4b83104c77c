"""Workflows of the cases about versioning: patches and edited retry policies."""

from __future__ import annotations

from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


def imports(*, check: bool = True, call: bool = True) -> Any:
    """The patched workflow.

    Args:
        check: Ask ``flowpy.patched("totals")``; without it the code goes one way always.
        call: That way, when nothing is asked: True calls ``totals``, False returns 0.
    """
    approved = flowpy.Signal("approved", str)

    @activity
    def load(i: int) -> int: ...
    @activity
    def load_bulk(i: int) -> int: ...
    @activity
    def totals(n: int, who: str) -> int: ...

    @workflow(name="imports")
    async def imports(n: int) -> int:
        for i in range(n):
            await (load_bulk(i) if flowpy.patched("bulk") else load(i))
        if flowpy.patched("totals") if check else call:
            return await totals(n, await approved.receive())
        return 0

    return imports


@case
def patch_absent_then_present() -> Any:
    return imports()


def mirror(**policy: Any) -> Any:
    """``mirror`` with the given retry policy of its one activity."""

    @activity(retry=flowpy.Retry(**policy))
    def fetch(name: str) -> str: ...

    @workflow(name="mirror")
    async def mirror(name: str) -> str:
        return await fetch(name)

    return mirror


@case
def retry_policy_edited() -> Any:
    return mirror(attempts=5, initial=10, coefficient=3, jitter=0)
