"""Starting, listing, describing and steering executions."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from flowpy.testing import Environment

Flowpy = Callable[..., Result]


@pytest.fixture
def orders(swf: Environment, shop_module: Any) -> Environment:
    """Five orders, the first of them a day older: failed, completed, terminated, open, open; and an open parcel."""
    swf.declare(shop_module.order, shop_module.Parcel)
    first = swf.start(shop_module.order, "o-1", -1, workflow_id="o-1", tag_list=["eu"])
    assert first.describe().close_status == "FAILED"
    swf.advance("1d")
    for number, tags in ((2, ["eu", "gift"]), (3, ["eu"]), (4, ["us"]), (5, ["eu", "gift"])):
        swf.advance("1m")
        swf.start(shop_module.order, f"o-{number}", workflow_id=f"o-{number}", tag_list=tags)
    swf.start(shop_module.Parcel, workflow_id="p-1")
    swf.signal("o-2", "approval", True)
    swf.find("o-3").terminate("no more")
    return swf


def ids(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [json.loads(line)["workflow_id"] for line in result.stdout.splitlines()]


DAILY = """\
import flowpy
from flowpy import Signal, workflow


@workflow
async def daily(day: int) -> int:
    await Signal("on", bool).receive()
    if day < 3:
        flowpy.continue_as_new(day + 1)
    return day
"""

# --- start, result -----------------------------------------------------------------------------


def test_the_result_is_told_with_the_run_that_it_is_of(flowpy: Flowpy, swf: Environment, shop: Path) -> None:
    (shop / "daily.py").write_text(DAILY)
    swf.declare(importlib.import_module("daily").daily)
    first = json.loads(flowpy("start", "daily:daily", "1", "--workflow-id", "d", "--json").stdout)["run_id"]
    for _ in range(3):
        flowpy("signal", "d", "on", "true")
    last = swf.find("d").describe().run_id

    told = [json.loads(flowpy("result", "d", *named, "--json").stdout) for named in ((), ("--run-id", first))]

    assert first != last
    assert told == [{"workflow_id": "d", "run_id": last, "result": 3}] * 2


def test_waiting_has_a_limit_wherever_one_waits(flowpy: Flowpy, swf: Environment, shop_module: Any) -> None:
    swf.declare(shop_module.order)

    started = flowpy("start", "shop:order", "o-7", "--workflow-id", "o 7", "--wait", "--timeout", "1h")
    waited = flowpy("result", "o 7", "--timeout", "1h")

    assert (started.exit_code, waited.exit_code) == (8, 8)
    assert started.stderr.splitlines()[0] == waited.stderr.splitlines()[0]
    assert started.stderr.splitlines()[1] == "hint: it is started and goes on: flowpy result 'o 7' waits for it"


@pytest.mark.parametrize("options", [("--timeout", "1h"), ("--wait", "--timeout", "soon")])
def test_nothing_is_started_with_a_timeout_that_is_none(
    flowpy: Flowpy, swf: Environment, shop_module: Any, options: tuple[str, ...]
) -> None:
    swf.declare(shop_module.order)

    done = flowpy("start", "shop:order", "o-7", "--workflow-id", "o-7", *options)

    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 2)
    assert flowpy("describe", "o-7").exit_code == 4


def test_start_by_code_reads_arguments_as_the_signature_says(
    flowpy: Flowpy, swf: Environment, shop_module: Any
) -> None:
    swf.declare(shop_module.order)

    started = flowpy("start", "shop:order", "17", "cents=5", "--workflow-id", "o-17", "--tag", "eu", "--json")
    flowpy("signal", "o-17", "approval", "true")
    result = flowpy("result", "o-17")

    assert started.exit_code == 0
    assert json.loads(started.stdout) == {
        "workflow_id": "o-17",
        "run_id": swf.find("o-17").describe().run_id,
        "workflow_type": {"name": "order", "version": "1.0"},
    }
    assert swf.calls(shop_module.charge) == [("17", 5)]
    assert (result.stdout, result.exit_code) == ("r-17-5\n", 0)


def test_start_by_name_imports_nothing(flowpy: Flowpy, swf: Environment, shop_module: Any) -> None:
    swf.declare(shop_module.order)

    assert flowpy("start", "order", "--input", '["o-7", 2]', "--workflow-id", "o-7").exit_code == 0
    assert flowpy("start", "order", '"o-8"', "3", "--version", "1.0").exit_code == 0

    assert swf.calls(shop_module.charge) == [("o-7", 2), ("o-8", 3)]


def test_start_wait_prints_the_result(flowpy: Flowpy, swf: Environment, shop_module: Any) -> None:
    swf.declare(shop_module.Parcel)
    flowpy("start", "shop:Parcel", "--workflow-id", "p")
    flowpy("signal", "p", "step", "sent")

    done = flowpy("start", "shop:Parcel", "--workflow-id", "p", "--attach", "--wait")

    assert (done.stdout, done.exit_code) == ("sent\n", 0)


@pytest.mark.parametrize(
    ("arguments", "told", "code"),
    [
        (("shop:order",), "order() is missing argument 'order_id'", 2),
        (("shop:order", "o", "x"), "argument 'cents' of order() does not fit its type int", 2),
        (("shop:order", "o", "1", "2"), "order() takes 2 positional arguments, 3 were given", 2),
        (("shop:order", "o", "--input", "[]"), "not both", 2),
        (("shop:order", "--input", "{"), "--input is no list of arguments", 2),
        (("shop:nothing",), "module shop has no workflow 'nothing'\nhint: there are shop:order, shop:Parcel", 2),
        (("nowhere:order",), "there is no module 'nowhere' in", 2),
        (("shop:order", "o", "--execution-start-to-close-timeout", "soon"), "cannot read 'soon' as a duration", 2),
        (("shop:order", "o", "--version", "2"), "--version is for a type given by its name", 2),
        (("unheard-of",), "Unknown type", 4),
    ],
)
def test_start_says_what_is_wrong_in_two_lines(
    flowpy: Flowpy, arguments: tuple[str, ...], told: str, code: int
) -> None:
    done = flowpy("start", *arguments)

    assert told in done.stderr
    assert (done.exit_code, done.stdout) == (code, "")
    assert len(done.stderr.splitlines()) <= 2


def test_an_open_workflow_id_is_taken(flowpy: Flowpy, orders: Environment) -> None:
    assert flowpy("start", "shop:order", "o", "--workflow-id", "o-4").exit_code == 5


def test_result_of_what_did_not_complete(flowpy: Flowpy, orders: Environment) -> None:
    failed, terminated = flowpy("result", "o-1"), flowpy("result", "o-3")
    waiting, unknown = flowpy("result", "p-1", "--timeout", "1m"), flowpy("result", "o-99")

    assert (failed.exit_code, terminated.exit_code, waiting.exit_code, unknown.exit_code) == (1, 1, 8, 4)
    assert "failed: ActivityFailed: activity charge (charge-1) failed: ValueError: less than nothing" in failed.stderr
    assert "hint: it was raised at " in failed.stderr
    assert "shop.py:10 in charge" in failed.stderr
    assert "was terminated: no more" in terminated.stderr
    assert "hint: it goes on; wait longer with --timeout" in waiting.stderr
    assert "no run of workflow 'o-99'" in unknown.stderr


# --- list --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ((), ["p-1", "o-5", "o-4"]),
        (("--status", "closed"), ["o-3", "o-2", "o-1"]),
        (("--status", "FAILED"), ["o-1"]),
        (("--status", "failed", "--status", "open"), ["p-1", "o-5", "o-4", "o-1"]),
        (("--status", "all"), ["p-1", "o-5", "o-4", "o-3", "o-2", "o-1"]),
        (("--status", "all", "--limit", "2"), ["p-1", "o-5"]),
        (("--status", "all", "--tag", "eu", "--tag", "gift"), ["o-5", "o-2"]),
        (("--status", "all", "--type", "order", "--tag", "us"), ["o-4"]),
        (("--type", "Parcel@2.0"), ["p-1"]),
        (("--type", "Parcel@1.0"), []),
        (("--status", "all", "--workflow-id", "o-2", "--tag", "us"), []),
        (("--status", "all", "--since", "2023-11-15T12:00"), ["p-1", "o-5", "o-4", "o-3", "o-2"]),
        (("--status", "all", "--until", "2023-11-15T12:00"), ["o-1"]),
        (("--closed-since", "2023-11-15T12:00+00:00"), ["o-3", "o-2"]),
        (("--closed-until", "2023-11-15T12:00"), ["o-1"]),
        (("--closed-since", "2023-11-15", "--status", "completed", "--since", "2023-11-15"), ["o-2"]),
        (("--since", "2h"), []),
    ],
)
def test_list_applies_all_filters_together(
    flowpy: Flowpy, orders: Environment, filters: tuple[str, ...], expected: list[str]
) -> None:
    listed = ids(flowpy("list", "--json", *filters))

    # o-2 and o-3 closed at the same second, so those of a span of closing may come in either order.
    assert sorted(listed) == sorted(expected)
    if "--closed-since" not in filters:
        assert listed == expected


def test_list_for_people_fits_80_columns(flowpy: Flowpy, orders: Environment) -> None:
    done = flowpy("list", "--status", "all")

    assert done.stdout.splitlines() == [
        "STATUS      STARTED (UTC)        TYPE        WORKFLOW ID",
        "OPEN        2023-11-15 22:17:20  Parcel 2.0  p-1",
        "OPEN        2023-11-15 22:17:20  order 1.0   o-5",
        "OPEN        2023-11-15 22:16:20  order 1.0   o-4",
        "TERMINATED  2023-11-15 22:15:20  order 1.0   o-3",
        "COMPLETED   2023-11-15 22:14:20  order 1.0   o-2",
        "FAILED      2023-11-14 22:13:20  order 1.0   o-1",
    ]


def test_how_many_there_are(flowpy: Flowpy, orders: Environment) -> None:
    assert flowpy("list", "--status", "all", "--tag", "eu", "--count").stdout == "4\n"
    assert json.loads(flowpy("list", "--count", "--json").stdout) == {"count": 3}


def test_list_of_nothing_says_so_beside_the_output(flowpy: Flowpy, swf: Environment) -> None:
    done = flowpy("list")

    assert (done.stdout, done.exit_code) == ("", 0)
    assert done.stderr == "no open executions in domain 'test' that fit; closed ones: --status closed\n"


def test_list_streams(flowpy: Flowpy, orders: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    call = orders.client.service.call

    def in_small_pages(operation: str, request: dict[str, Any]) -> dict[str, Any]:
        asked.append(operation)
        return call(operation, {**request, "maximumPageSize": 1} if operation.startswith("List") else request)

    monkeypatch.setattr(orders.client.service, "call", in_small_pages)

    assert ids(flowpy("list", "--json", "--limit", "2")) == ["p-1", "o-5"]
    assert asked == ["ListOpenWorkflowExecutions"] * 2


def test_list_says_which_domain_is_missing(flowpy: Flowpy) -> None:
    missing = flowpy("list", "--domain", "")
    unknown = flowpy("list", "--domain", "nowhere", "--json")

    assert (missing.exit_code, unknown.exit_code) == (2, 4)
    assert missing.stderr == "error: which domain?\nhint: give --domain NAME, or set FLOWPY_DOMAIN\n"
    assert json.loads(unknown.stderr) == {
        "error": "UnknownResource",
        "code": "FLOWPY-X1",
        "exit": 4,
        "message": "Unknown domain: nowhere",
        "remedy": "flowpy types register MODULE --register-domain DAYS makes it",
    }


def test_a_time_that_is_none(flowpy: Flowpy) -> None:
    done = flowpy("list", "--since", "yesterday")

    assert (done.exit_code, "'yesterday' is neither so long ago" in done.stderr) == (2, True)


# --- describe, query ---------------------------------------------------------------------------


def test_describe(flowpy: Flowpy, orders: Environment) -> None:
    told = json.loads(flowpy("describe", "o-3", "--json").stdout)
    parcel = flowpy("describe", "p-1")

    assert list(told) == [
        "workflow_id", "run_id", "workflow_type", "status", "start_time", "close_time", "tag_list",
        "cancel_requested", "parent", "task_list", "open_counts", "state", "python", "input", "reason", "cause",
    ]  # fmt: skip
    assert (told["status"], told["reason"], told["input"]) == ("TERMINATED", "no more", ["o-3"])
    assert told["start_time"] == "2023-11-15T22:15:20.000Z"
    assert 'state             {"step": "packing"}' in parcel.stdout
    assert flowpy("describe", "o-99").exit_code == 4


def test_query_replays_the_code_here(flowpy: Flowpy, orders: Environment) -> None:
    flowpy("signal", "p-1", "step", "loaded")

    assert flowpy("query", "shop", "p-1", "status").stdout == "loaded\n"
    assert json.loads(flowpy("query", "shop:Parcel", "p-1", "status", "2", "--json").stdout)["result"] == "loadedloaded"

    broken = flowpy("query", "shop", "p-1", "broken")
    assert (broken.exit_code, "query 'broken' raised KeyError: 'no'" in broken.stderr) == (1, True)
    missing, other = flowpy("query", "shop", "p-1", "size"), flowpy("query", "shop:order", "p-1", "status")
    assert (missing.exit_code, "has no query 'size'\nhint: it has broken, status" in missing.stderr) == (2, True)
    assert (other.exit_code, "hint: name the module that declares it" in other.stderr) == (4, True)


# --- signal, cancel, terminate -----------------------------------------------------------------


def test_signal_tells_how_it_was_read(flowpy: Flowpy, orders: Environment) -> None:
    told = flowpy("signal", "o-5", "approval", "false", "--json")

    assert json.loads(told.stdout) == {"workflow_id": "o-5", "signal": "approval", "value": False}
    assert orders.find("o-5").describe().close_status == "FAILED"
    assert flowpy("signal", "o-5", "approval").exit_code == 4


def test_a_signal_is_compared_with_what_code_declares(flowpy: Flowpy, orders: Environment) -> None:
    done = flowpy("signal", "o-5", "aproval", "true", "--code", "shop:order")
    same = flowpy("signal", "o-5", "approval", "true", "--code", "shop:order")

    assert done.stderr == "signal 'aproval': nothing declares it where workflow order is; did you mean 'approval'?\n"
    assert done.stdout == "signal aproval sent to o-5\n"
    assert same.stderr == ""


def test_cancel_and_terminate_several(flowpy: Flowpy, orders: Environment) -> None:
    canceled = flowpy("cancel", "o-4", "o-99", "o-5")
    terminated = flowpy("terminate", "p-1", "--reason", "no more", "--details", '{"a": 1}', "--json")

    assert canceled.stdout.splitlines() == ["cancel requested: o-4", "cancel requested: o-5"]
    assert "o-99" in canceled.stderr
    assert (canceled.exit_code, terminated.exit_code) == (4, 0)
    assert json.loads(terminated.stdout) == {"workflow_id": "p-1", "done": "terminated"}
    assert [orders.find(each).describe().close_status for each in ("o-4", "o-5", "p-1")] == [
        "CANCELED",
        "CANCELED",
        "TERMINATED",
    ]
    assert flowpy("cancel", "o-4", "o-5", "--run-id", "x").exit_code == 2


def test_what_list_prints_is_canceled(flowpy: Flowpy, orders: Environment) -> None:
    listed = flowpy("list", "--type", "order", "--json")

    assert flowpy("cancel", "-", input=listed.stdout).stdout.splitlines() == [
        "cancel requested: o-5",
        "cancel requested: o-4",
    ]
    assert flowpy("cancel", "-", input="o-5\n").exit_code == 2
    assert flowpy("cancel", "-", "--run-id", "x", input="").exit_code == 2


# --- history -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["object", "events", "pages", "lines"])
@pytest.mark.parametrize("times", ["iso", "seconds", "milliseconds"])
def test_every_form_of_a_history_is_read_again(
    flowpy: Flowpy, orders: Environment, shop: Path, form: str, times: str
) -> None:
    from flowpy.history import read_history

    done = flowpy("history", "o-2", "--form", form, "--times", times)

    assert read_history(done.stdout).events == orders.find("o-2").history()


def test_histories_into_a_folder_are_what_replay_and_verify_take(
    flowpy: Flowpy, orders: Environment, shop: Path
) -> None:
    written = flowpy("history", "o-2", "o-5", "--output", "stored", "--json")

    files = [json.loads(line) for line in written.stdout.splitlines()]
    assert [(file["workflow_id"], file["events"]) for file in files] == [("o-2", 17), ("o-5", 11)]
    assert sorted(str(path) for path in Path("stored").iterdir()) == sorted(file["file"] for file in files)
    assert flowpy("replay", "shop", "stored").exit_code == 0
    assert flowpy("verify", "shop", "stored").exit_code == 0


def test_a_redacted_history_replays_and_tells_nothing(flowpy: Flowpy, orders: Environment, shop: Path) -> None:
    flowpy("history", "o-4", "--redact", "--key", "k", "--output", "o-4.json")

    assert "r-o-4-4200" not in Path("o-4.json").read_text()
    assert flowpy("replay", "shop", "o-4.json").exit_code == 0


def test_the_histories_of_what_list_prints(flowpy: Flowpy, orders: Environment, shop: Path) -> None:
    listed = flowpy("list", "--status", "closed", "--json")

    assert flowpy("history", "-", "--output", "stored", input=listed.stdout).exit_code == 0
    assert len(list(Path("stored").iterdir())) == 3

    done = flowpy("history", "o-99", "o-1", "--output", "more")
    assert (done.exit_code, "o-99" in done.stderr, len(list(Path("more").iterdir()))) == (4, True, 1)


def test_several_histories_need_a_folder(flowpy: Flowpy, orders: Environment) -> None:
    assert flowpy("history", "o-2", "o-5").exit_code == 2
