"""Workflows of the cases about activities: refused schedules, retries, odd failures, an execution timeout."""

from __future__ import annotations

import asyncio
from typing import Any

import flowpy
from flowpy import activity, workflow

from .registry import case


@case
def execution_timed_out() -> Any:
    @activity
    def extract(day: str) -> int: ...
    @activity
    def load(rows: int) -> int: ...

    @workflow(execution_start_to_close_timeout="10m")
    async def nightly(day: str) -> int:
        return await load(await extract(day))

    return nightly


@case
def schedule_failed_type_missing() -> Any:
    @activity
    def render(doc: str) -> str: ...
    @activity
    def thumbnail(doc: str) -> str: ...
    @activity
    def render_fallback(doc: str) -> str: ...

    @workflow
    async def rendering(doc: str) -> list:
        page, small = render(doc), thumbnail(doc)
        try:
            text = await page
        except flowpy.ActivityScheduleFailed:  # its cause is ACTIVITY_TYPE_DOES_NOT_EXIST
            text = await render_fallback(doc)
        return [text, await small]

    return rendering


@case
def schedule_failed_open_limit() -> Any:
    @activity
    def work(i: int) -> int: ...

    @workflow
    async def fan_out() -> list:
        async def one(i):
            while True:
                try:
                    return await work(i)
                except flowpy.ActivityScheduleFailed:
                    await flowpy.sleep(5)

        return await asyncio.gather(one(1), one(2), one(3))

    return fan_out


@case
def activity_retry_backoff() -> Any:
    @activity(retry=flowpy.Retry(attempts=3, initial=2, coefficient=2, jitter=0))
    def fetch(name: str) -> str: ...

    @workflow
    async def fetch_both() -> list:
        return await asyncio.gather(fetch("a"), fetch.options(start_to_close_timeout=3)("b"))

    return fetch_both


@case
def activity_retry_without_control() -> Any:
    @activity(retry=flowpy.Retry(attempts=4, initial=0.5, coefficient=3, maximum=4, jitter=0))
    def ping(host: str) -> str: ...

    @workflow
    async def probe(host: str) -> str:
        return await ping(host)

    return probe


@case
def activity_failed_odd_payloads() -> Any:
    @activity
    def fragile(i: int) -> None: ...

    @workflow
    async def odd_failures() -> int:
        out = await asyncio.gather(*(fragile(i) for i in (1, 2, 3, 4)), return_exceptions=True)
        return len([e for e in out if isinstance(e, flowpy.ActivityFailed)])

    return odd_failures
