"""``flowpy show``: a file or an execution, as text, SVG, a page or JSON; live ones as they go on."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

import flowpy
from flowpy import Signal, activity, workflow
from flowpy.cli.commands import flowpy as command
from flowpy.testing import Environment

CASES = Path(__file__).parents[1] / "cases" / "histories"
FILE = str(CASES / "activity_retry_backoff.json")
approval = Signal("approval", bool)


@activity(task_list="gifts")
def wrap(order_id: str) -> str:
    return f"{order_id} in paper"


@workflow
async def order(order_id: str) -> str:
    if not await approval.receive(timeout="3d"):
        return "declined"
    return await wrap(order_id)


def show(*arguments: str, connect: Callable[[Any], Any] | None = None) -> Result:
    environment = {"COLUMNS": "80", "FLOWPY_DOMAIN": "test", "NO_COLOR": "1"}
    return CliRunner().invoke(command, ["show", *arguments], obj=connect, env=environment)


def test_a_file_as_text() -> None:
    done = show(FILE)

    assert done.output.startswith("fetch_both 1.0\n✓ completed after 15.8s  2025-01-01 12:00:00 to 12:00:16 UTC, 50 ev")
    assert "activity fetch-1" in done.output
    assert done.exit_code == 0


def test_a_history_on_standard_input() -> None:
    done = CliRunner().invoke(command, ["show", "-"], input=Path(FILE).read_bytes())

    assert done.output.startswith("fetch_both 1.0\n")


def test_a_file_as_json() -> None:
    data = json.loads(show(FILE, "--json").output)

    assert (data["outcome"], data["event_count"], len(data["rows"])) == ("completed", 50, 4)


def test_fewer_rows_and_by_order() -> None:
    done = show(str(CASES / "fan_out_forty.json"), "--rows", "5", "--order")

    assert "… 43 more rows" in done.output


def test_a_terminal_shows_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "24")
    monkeypatch.setenv("FORCE_COLOR", "1")
    fanned = str(CASES / "fan_out_forty.json")

    assert 15 < len(show(fanned).output.splitlines()) < 24
    assert len(show(fanned, "--rows", "100").output.splitlines()) > 47


def test_a_file_as_svg(tmp_path: Path) -> None:
    done = show(FILE, "--svg", str(tmp_path / "order.svg"))

    assert (tmp_path / "order.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert done.stdout == ""
    assert show(FILE, "--svg", "-").output.startswith("<svg ")


def test_an_execution_of_the_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    with Environment() as swf:
        run = swf.start(order, "o-7")
        monkeypatch.setattr("flowpy.cli.show.time", SimpleNamespace(time=swf.clock))

        done = show(run.workflow_id, connect=lambda _: swf.client)

        assert done.output.splitlines()[0] == f"order 1.0  order-1  {run.run_id}"
        assert "▸ timer timer-1  fires in 3d " in done.output
        assert show("order-1", "--run-id", run.run_id, connect=lambda _: swf.client).output.startswith("order 1.0")
        run.signal(approval, False)


def test_following_goes_on_until_the_close() -> None:
    with Environment() as swf:
        run = swf.start(order, "o-7")
        looked: list[float] = []

        def sleep(seconds: float) -> None:
            looked.append(seconds)
            if len(looked) == 3:
                run.signal(approval, True)

        swf.client.sleep = sleep

        done = show("order-1", "--follow", "--json", connect=lambda _: swf.client)
        text = show("order-1", "--follow", connect=lambda _: swf.client)

    told = [json.loads(line) for line in done.output.splitlines()]
    assert [each["outcome"] for each in told] == ["started", "completed"]
    assert told[1]["event_count"] == len(run.history())
    assert len(looked) == 3
    assert all(0.5 <= seconds <= 10 for seconds in looked)
    assert "✓ completed" in text.output


def test_following_goes_on_with_the_run_that_it_continues_as() -> None:
    @workflow
    async def daily(day: int) -> int:
        await approval.receive()
        if day < 2:
            flowpy.continue_as_new(day + 1)
        return day

    with Environment() as swf:
        run = swf.start(daily, 1)
        swf.client.sleep = lambda _: swf.signal("daily-1", approval, True)
        as_text = show("daily-1", "--follow", connect=lambda _: swf.client)
        first = show("daily-1", "--run-id", run.run_id, "--follow", "--json", connect=lambda _: swf.client)

        swf.start(daily, 1)
        swf.client.sleep = lambda _: swf.signal("daily-2", approval, True)
        done = show("daily-2", "--follow", "--json", connect=lambda _: swf.client)

    told = [json.loads(line) for line in done.output.splitlines()]
    assert [each["outcome"] for each in told] == ["started", "completed", "started", "completed"]
    assert len({each["run_id"] for each in told}) == 2
    assert [json.loads(line)["outcome"] for line in first.output.splitlines()] == ["completed"]
    assert as_text.output.count("daily 1.0  daily-1  ") == 2


def test_only_what_is_new_is_read_while_following() -> None:
    from flowpy.cli.following import growing

    with Environment() as swf:
        run = swf.start(order, "o-7")
        asked: list[dict[str, Any]] = []
        service = swf.client.service

        class Watching:
            def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
                if operation == "GetWorkflowExecutionHistory":
                    asked.append(dict(request))
                return service.call(operation, request)

        swf.client.service = Watching()
        swf.client.sleep = lambda _: run.signal(approval, True)
        *_, (_, events) = growing(swf.client, "order-1", run.run_id)

    assert [event["eventId"] for event in events] == list(range(1, len(events) + 1))
    assert [request.get("reverseOrder", False) for request in asked] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "says", "exit_code"),
    [
        ((), "Missing argument", 2),
        (("nowhere.json",), "there is no file 'nowhere.json'", 2),
        (("no/where",), "there is no file 'no/where'", 2),
        (("tests/cases/histories/",), "is a folder, and show takes one file", 2),
        ((FILE, "--code", "shop:order", "--svg", "x.svg"), "--code has no place in an SVG picture", 2),
        ((FILE, "--code", "no_such_shop"), "there is no module 'no_such_shop'", 2),
        ((FILE, "--follow"), "a file does not grow", 2),
        ((FILE, "--follow", "--svg", "x.svg"), "leave out --svg", 2),
        ((str(Path(__file__)),), "Record it with get-workflow-execution-history", 1),
    ],
)
def test_what_cannot_be_shown(arguments: tuple[str, ...], says: str, exit_code: int) -> None:
    done = show(*arguments)

    assert says in done.output
    assert done.exit_code == exit_code


SHOP = """\
from flowpy import activity, sleep, workflow


@activity
def pack(item: str) -> None: ...


@workflow
async def order() -> None:
    await pack("lamp")
    await sleep("1h")


@workflow
async def other() -> None:
    await pack("lamp")
    await pack("rug")
"""


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A file with the history of a workflow of the module shown_shop."""
    (tmp_path / "shown_shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with Environment() as swf:
        run = swf.start(importlib.import_module("shown_shop").order)
        run.result()
        Path("order.json").write_text(json.dumps({"events": run.history()}, default=str), encoding="utf-8")
    yield "order.json"
    del sys.modules["shown_shop"]


def test_a_page_with_the_code_at_each_event(recorded: str) -> None:
    done = show(recorded, "--html", "order.html", "--code", "shown_shop:order")
    page = Path("order.html").read_text(encoding="utf-8")

    assert (done.exit_code, done.stdout) == (0, "")
    assert "main task (order) waits for activity pack-1" in page
    assert 'shown_shop.py:10 in order: await pack(\\"lamp\\")' in page
    assert "main task (order) waits for timer timer-1" in page


def test_where_the_code_stands_as_text_and_json(recorded: str) -> None:
    events = json.loads(Path(recorded).read_text(encoding="utf-8"))["events"]
    Path("early.json").write_text(json.dumps(events[:8]), encoding="utf-8")

    text = show("early.json", "--code", "shown_shop:order").output

    assert text.endswith(
        "Where shown_shop:order stands:\n"
        "main task (order) waits for activity pack-1\n"
        '    shown_shop.py:10 in order: await pack("lamp")\n'
        "open: activity pack-1 (pack 1.0), event 5, made at shown_shop.py:10 in order\n"
    )
    assert json.loads(show("early.json", "--code", "shown_shop:order", "--json").output)["code"].startswith("main task")


def test_a_page_with_code_that_differs_says_where(recorded: str) -> None:
    done = show(recorded, "--html", "order.html", "--code", "shown_shop:other")
    page = Path("order.html").read_text(encoding="utf-8")

    assert "shown_shop:other does not go with the history after event 3: NonDeterminismError" in done.stderr
    assert "main task (other) waits for activity pack-1" in page
    assert "The code of shown_shop:other does not go on here." in page
    assert done.exit_code == 0


def test_an_execution_that_is_not_there() -> None:
    with Environment() as swf:
        done = show("order-9", connect=lambda _: swf.client)

    assert "no run of workflow 'order-9' is known" in done.output
    assert done.exit_code == 4


def test_a_folder_is_told_with_what_is_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("stored").mkdir()
    Path("bare").mkdir()
    for name in ("a", "b b", "c", "d"):
        Path(f"stored/{name}.history.json").write_text("{}", encoding="utf-8")

    stored, bare = show("stored"), show("bare/")

    assert (stored.exit_code, bare.exit_code) == (2, 2)
    assert stored.stderr.splitlines() == [
        "error: 'stored' is a folder, and show takes one file",
        "hint: in it are stored/a.history.json, 'stored/b b.history.json', stored/c.history.json and 1 more",
    ]
    assert bare.stderr.splitlines()[1] == "hint: no history is in it: flowpy history --output downloads one"


def test_a_folder_without_histories_may_have_the_name_of_an_execution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("order-1").mkdir()
    with Environment() as swf:
        swf.start(order, "o-7")
        done = show("order-1", connect=lambda _: swf.client)

    assert (done.exit_code, "  order-1  " in done.output) == (0, True)
