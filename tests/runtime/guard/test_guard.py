"""What the guard sees while workflow code runs, and what it does not concern itself with."""

from __future__ import annotations

import asyncio
import gc
import logging
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.marks import ALLOWED, FORBIDDEN, begun, history, marks, waiting, workflows

import flowpy
from flowpy import NotDeterministic, workflow
from flowpy.rules import RULES
from flowpy.runtime.guard import Guard

SEEN = marks(FORBIDDEN, "guard")


@pytest.fixture(scope="module")
def found() -> list[NotDeterministic]:
    """All that a strict guard finds as the workflows of the fixture run, one after the other."""
    everything: list[NotDeterministic] = []
    for one in workflows(FORBIDDEN):
        try:
            with Guard() as findings:
                begun(one)
        except NotDeterministic:
            pass
        everything += findings
    return everything


def test_each_forbidden_call_is_found_at_its_line(found: list[NotDeterministic]) -> None:
    assert sorted({(error.line, error.rule) for error in found}) == SEEN


def test_a_finding_says_where_what_and_what_instead(found: list[NotDeterministic]) -> None:
    (error,) = [error for error in found if error.function == "wall_clock"]
    line, rule = SEEN[0]

    assert (error.code, error.rule, error.line, error.call) == ("FLOWPY-C4", rule, line, "time.time")
    assert Path(error.file) == FORBIDDEN
    assert error.replacement == "flowpy.now()"
    assert str(error) == (
        f"{FORBIDDEN}:{line} in wall_clock: time.time cannot be replayed, for each replay reads another time. "
        "Instead: flowpy.now() [FLOW101]"
    )


def test_every_rule_of_the_guard_has_an_example(found: list[NotDeterministic]) -> None:
    assert {error.rule for error in found} == {rule.id for rule in RULES.values() if "guard" in rule.seen_by}


@pytest.mark.parametrize("one", workflows(ALLOWED), ids=lambda one: one.name)
def test_what_is_deterministic_raises_no_alarm(one: Any) -> None:
    with Guard("error"):
        replay = begun(one)

    assert "FailWorkflowExecution" not in {decision["decisionType"] for decision in replay.decisions}


# --- policies -----------------------------------------------------------------------------------


@workflow
async def caught() -> str:
    try:
        time.time()
    except Exception:
        return "went on"
    return "not seen"


@workflow
async def twice() -> None:
    for _ in range(2):
        time.time()
    time.monotonic()


def test_the_end_of_the_block_raises_what_the_code_caught() -> None:
    with pytest.raises(NotDeterministic, match=r"time\.time") as raised, Guard("error") as found:
        assert begun(caught).result is None

    assert found == [raised.value]


def test_the_call_itself_raises_before_it_does_anything(tmp_path: Path) -> None:
    made = tmp_path / "made"

    @workflow
    async def makes() -> None:
        made.mkdir()

    with pytest.raises(NotDeterministic, match=r"test_guard\.py:\d+ in .*makes: os\.mkdir \(by pathlib"), Guard():
        begun(makes)

    assert not made.exists()


def test_warn_lets_the_call_be_and_logs_a_line_once(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard("warn")
    with guard as first:
        begun(twice)
    with guard as second:
        begun(twice)

    assert [error.call for error in first] == ["time.time", "time.monotonic"]
    assert [error.line for error in second] == [error.line for error in first]
    assert [record.getMessage() for record in caplog.records] == [str(error) for error in first]
    assert {record.name for record in caplog.records} == {"flowpy.guard"}
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_off_sees_nothing() -> None:
    with Guard("off") as found:
        begun(twice)

    assert found == []


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="policy"):
        Guard("loud")  # type: ignore[arg-type] # that is the point


def test_blocks_may_be_nested_and_each_finds_everything() -> None:
    with Guard("warn") as outer, Guard("warn", strict=False) as inner:
        begun(twice)

    assert [error.call for error in outer] == ["time.time", "time.monotonic"]
    assert inner == []


def test_an_error_of_the_block_is_the_cause_of_the_finding() -> None:
    def fails() -> None:
        begun(caught)
        raise LookupError("no such order")

    with pytest.raises(NotDeterministic) as raised, Guard("error"):
        fails()

    assert isinstance(raised.value.__cause__, LookupError)


# --- whose code it is ---------------------------------------------------------------------------


def test_code_outside_of_runs_is_not_watched() -> None:
    with Guard("error") as found:
        time.time()
        Path(__file__).read_text(encoding="utf-8")

    assert found == []


def test_what_the_collector_calls_is_nobodys() -> None:
    def timed(_phase: str, _info: dict[str, int]) -> None:
        time.perf_counter()

    @workflow
    async def collects() -> None:
        gc.collect()

    gc.callbacks.insert(0, timed)
    try:
        with Guard() as found:
            begun(collects)
    finally:
        gc.callbacks.remove(timed)

    assert found == []


def test_a_query_is_workflow_code_too() -> None:
    from flowpy.runtime.querying import query

    @workflow
    class Asked:
        @flowpy.execute
        async def run(self) -> None:
            await flowpy.sleep(60)

        @flowpy.query
        def since(self) -> float:
            return time.time()

    with pytest.raises(NotDeterministic, match="since"), Guard():
        query(Asked, [*history(Asked), *waiting()], "w", "r", "since")
    replayed = begun(Asked)
    with pytest.raises(NotDeterministic, match="since"), Guard():
        replayed.query("since")


def test_what_a_library_does_is_named_with_the_line_that_calls_it() -> None:
    from email.utils import make_msgid

    @workflow
    async def mails() -> None:
        make_msgid(domain="shop")

    with Guard("warn") as found:
        begun(mails)

    assert [(error.rule, error.function.rpartition(".")[2]) for error in found] == [
        ("FLOW101", "mails"),
        ("FLOW106", "mails"),
        ("FLOW103", "mails"),
    ]
    assert "time.time (by email.utils.make_msgid) cannot be replayed" in str(found[0])


def test_an_installed_library_is_named_by_its_own_line_if_nobody_called_it() -> None:
    file = Path(sysconfig.get_path("purelib")) / "clocks" / "api.py"
    clocks: dict[str, Any] = {"time": time}
    source = "async def ask():\n    return time.time()\n"
    exec(compile(source, str(file), "exec"), clocks)  # noqa: S102 - our own text

    @workflow
    async def asks() -> None:
        await clocks["ask"]()

    @workflow
    async def spawns() -> None:
        await asyncio.create_task(clocks["ask"]())

    with Guard("warn") as found:
        begun(asks)
        begun(spawns)

    assert [(error.file == str(file), error.function.rpartition(".")[2]) for error in found] == [
        (False, "asks"),
        (True, "ask"),
    ]


def test_a_folder_whose_name_begins_like_flowpys_is_the_users() -> None:
    file = f"{Path(flowpy.__file__).parent}_shop/orders.py"
    shop: dict[str, Any] = {"time": time}
    exec(compile("async def order():\n    time.time()\n", file, "exec"), shop)  # noqa: S102 - our own text

    with Guard("warn") as found:
        begun(workflow(shop["order"]))

    assert [error.file for error in found] == [file]


def test_a_comment_without_a_reason_does_not_let_a_call_through() -> None:
    @workflow
    async def ignores() -> None:
        time.time()  # flowpy: ignore[FLOW101]
        # flowpy: ignore[FLOW102] only told, never decided upon
        time.monotonic()

    with Guard("warn") as found:
        begun(ignores)

    assert [error.rule for error in found] == ["FLOW101"]


@pytest.fixture
def suspended() -> Iterator[Any]:
    """A run that waits, with a clean-up that reads the clock."""
    from flowpy.runtime.run import Run

    @workflow
    async def waits() -> None:
        try:
            await flowpy.sleep(60)
        finally:
            time.time()

    one = Run(waits, "w", "r")
    one.feed(history(waits))
    yield one
    one.evict()


def test_code_that_is_cleared_away_may_do_what_it_likes(suspended: Any) -> None:
    with Guard() as found:
        suspended.evict()

    assert found == []
