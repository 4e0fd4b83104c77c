"""How the guard lives with others that watch the same interpreter, and what it leaves behind: nothing."""

from __future__ import annotations

import cProfile
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest
from tests.fixtures.marks import begun

from flowpy import CallError, NotDeterministic, workflow
from flowpy.runtime.guard import Guard

monitored = pytest.mark.skipif(sys.version_info < (3, 12), reason="Python 3.11 has no sys.monitoring")
profiled = pytest.mark.skipif(sys.version_info >= (3, 12), reason="sys.monitoring is used instead")


@workflow
async def reads_the_clock() -> None:
    time.time()


@workflow
async def catches() -> None:
    for _ in range(2):
        with suppress(NotDeterministic):
            time.time()
    time.monotonic()


def test_nothing_is_installed_before_it_is_switched_on() -> None:
    program = """
import sys
events = []
add = sys.addaudithook
sys.addaudithook = lambda hook: (events.append(hook), add(hook))
import flowpy, flowpy.worker, flowpy.testing
from flowpy.runtime.loop import Loop
running = Loop.running
from flowpy.runtime.guard import Guard
with Guard("off"):
    pass
assert not events
assert Loop.running is running
with Guard(), Guard():
    pass
with Guard():
    pass
assert len(events) == 1
assert Loop.running is running
assert sys.getprofile() is None
if sys.version_info >= (3, 12):
    assert [sys.monitoring.get_tool(id) for id in range(6)] == [None] * 6
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_zoneinfo_can_be_imported_once_the_hook_is_there() -> None:
    program = """
import sys
from flowpy.runtime.guard import Guard
with Guard(strict=False):
    assert "zoneinfo" not in sys.modules
    import zoneinfo
zoneinfo.ZoneInfo("UTC")
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_other_threads_are_not_watched() -> None:
    failed: list[BaseException] = []

    def elsewhere() -> None:
        try:
            begun(reads_the_clock)
        except BaseException as error:
            failed.append(error)

    with Guard("warn") as found:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()

    assert (found, failed) == ([], [])


def test_one_guard_serves_several_threads_at_once() -> None:
    guard = Guard("warn")
    found: list[int] = []
    together = threading.Barrier(2, timeout=10)

    def work() -> None:
        with guard as mine:
            together.wait()
            begun(reads_the_clock)
            found.append(len(mine))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [1, 1]


def test_a_tracer_goes_on_tracing() -> None:
    lines: list[int] = []

    def tracer(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any] | None:
        if frame.f_code is reads_the_clock.fn.__code__ and event == "line":
            lines.append(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with Guard("warn") as found:
            begun(reads_the_clock)
    finally:
        sys.settrace(before)

    assert lines == [found[0].line]


def test_a_profile_function_goes_on_profiling() -> None:
    calls: list[str] = []

    def profile(frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code is reads_the_clock.fn.__code__:
            calls.append(frame.f_code.co_name)

    sys.setprofile(profile)
    try:
        with Guard("warn") as found:
            begun(reads_the_clock)
        with pytest.raises(NotDeterministic), Guard("error"):
            begun(reads_the_clock)
        after = sys.getprofile()
    finally:
        sys.setprofile(None)

    assert after is profile
    assert calls == ["reads_the_clock"] * 2
    assert len(found) == 1


@monitored
def test_cprofile_and_the_guard_do_not_meet() -> None:
    with cProfile.Profile(), Guard("warn") as found:
        begun(reads_the_clock)

    assert len(found) == 1


@profiled
def test_cprofile_has_the_only_place_and_that_is_said() -> None:
    with (
        pytest.warns(RuntimeWarning, match="Profile profiles this thread"),
        cProfile.Profile() as other,
        Guard("warn") as found,
    ):
        begun(reads_the_clock)

    assert found == []
    assert other.getstats()


@monitored
def test_the_tool_id_is_given_back_and_others_are_left_alone() -> None:
    monitoring = sys.monitoring
    monitoring.use_tool_id(4, "another tool")
    try:
        with Guard():
            assert monitoring.get_tool(4) == "another tool"
            assert monitoring.get_tool(3) == "flowpy.guard"
        assert monitoring.get_tool(3) is None
    finally:
        monitoring.free_tool_id(4)


@monitored
def test_that_no_tool_id_is_free_is_said() -> None:
    monitoring = sys.monitoring
    taken = [id for id in range(6) if monitoring.get_tool(id) is None]
    for id in taken:
        monitoring.use_tool_id(id, f"tool {id}")
    try:
        with pytest.raises(CallError, match=r"all six tool ids of sys\.monitoring are taken"):
            Guard().__enter__()
        with Guard(strict=False):
            pass
    finally:
        for id in taken:
            monitoring.free_tool_id(id)
    with pytest.raises(NotDeterministic), Guard():
        begun(reads_the_clock)


def test_code_that_catches_the_error_is_watched_on() -> None:
    with pytest.raises(NotDeterministic), Guard() as found:
        begun(catches)

    assert [error.call for error in found] == ["time.time", "time.monotonic"]
