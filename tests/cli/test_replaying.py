"""``flowpy replay`` and ``flowpy verify``: histories against code."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from flowpy.testing import Environment

Flowpy = Callable[..., Result]

CHEAPER = """\
from flowpy import Signal, activity, workflow


@activity
def charge(order_id: str, cents: int) -> str: ...


@workflow(version="1.0")
async def order(order_id: str, cents: int = 4200) -> str:
    await Signal("approval", bool).receive(timeout="3d")
    return await charge(order_id, cents)


@workflow(name="Parcel", version="3.0")
async def parcel() -> str:
    return ""
"""


@pytest.fixture
def stored(flowpy: Flowpy, swf: Environment, shop: Path, shop_module: Any) -> Path:
    """A folder with a history of an order that is open, and one of a parcel; ``cheaper`` is other code."""
    (shop / "cheaper.py").write_text(CHEAPER)
    swf.start(shop_module.order, "o-7", workflow_id="o-7")
    swf.start(shop_module.Parcel, workflow_id="p-1")
    flowpy("history", "o-7", "p-1", "--output", "stored")
    return shop / "stored"


def test_the_same_code(flowpy: Flowpy, stored: Path) -> None:
    done = flowpy("replay", "shop", "stored")

    lines = done.stdout.splitlines()
    assert [line.split()[:4] for line in lines] == [
        ["OUTCOME", "TYPE", "EPISODES", "HISTORY"],
        ["same", "order", "1.0", "2"],
        ["same", "Parcel", "2.0", "1"],
    ]
    assert done.exit_code == 0


def test_other_code(flowpy: Flowpy, stored: Path) -> None:
    done = flowpy("replay", "cheaper", "stored")
    as_json = flowpy("replay", "cheaper", "stored", "--json")

    assert done.exit_code == as_json.exit_code == 3
    assert "ScheduleActivityTask" in done.stdout
    order, parcel = (json.loads(line) for line in as_json.stdout.splitlines())
    assert (order["outcome"], order["divergence"]["guess"]) == ("differs", "reordered")
    assert (parcel["outcome"], parcel["workflow_type"]) == ("error", {"name": "Parcel", "version": "2.0"})


def test_one_open_history_says_what_it_waits_for(flowpy: Flowpy, stored: Path) -> None:
    file = str(next(stored.glob("p-1*")))
    done = flowpy("replay", "shop", file)

    assert 'state  {"step": "packing"}' in done.stdout
    assert "main task (Parcel) waits for signal step" in done.stdout


def test_a_history_as_it_was_at_an_event(flowpy: Flowpy, stored: Path) -> None:
    file = str(next(stored.glob("o-7*")))

    early = json.loads(flowpy("replay", "shop", file, "--up-to", "3", "--json").stdout)
    late = json.loads(flowpy("replay", "shop", file, "--json").stdout)

    assert (early["episodes"], early["pending"]["tasks"][0]["waits_for"]) == (1, ["activity charge-1"])
    assert (late["episodes"], late["pending"]["work"][0]["kind"]) == (2, "timer")
    assert flowpy("replay", "shop", file, "--up-to", "99").exit_code == 1


def test_a_history_from_standard_input(flowpy: Flowpy, stored: Path) -> None:
    downloaded = flowpy("history", "o-7")

    done = flowpy("replay", "shop", "-", input=downloaded.stdout)

    assert (done.exit_code, "same" in done.stdout) == (0, True)


def test_what_is_no_history(flowpy: Flowpy, stored: Path) -> None:
    (stored / "broken.json").write_text('{"events": [')

    done = flowpy("replay", "shop", "stored")

    assert done.exit_code == 1
    assert "it was cut off" in done.stdout
    assert flowpy("replay", "shop", "nowhere.json").exit_code == 1
    assert flowpy("replay", "shop,nowhere", "stored").exit_code == 2


def test_two_workflows_of_one_name_are_not_guessed_between(flowpy: Flowpy, stored: Path) -> None:
    done = flowpy("replay", "shop,cheaper", "stored")

    assert (done.exit_code, done.stdout) == (2, "")
    assert "order 1.0" in done.stderr


# --- verify ------------------------------------------------------------------------------------


def test_a_domain_that_the_code_goes_on_with(flowpy: Flowpy, stored: Path) -> None:
    done = flowpy("verify", "shop")

    assert done.stdout.splitlines() == [
        "workflow type  same",
        "Parcel 2.0        1",
        "order 1.0         1",
        "",
        "2 executions of domain 'test': the code here goes on with all it knows",
    ]
    assert done.exit_code == 0


@pytest.mark.parametrize("folder", [(), ("stored",)])
def test_what_a_deploy_would_break(flowpy: Flowpy, stored: Path, folder: tuple[str, ...]) -> None:
    done = flowpy("verify", "cheaper", *folder, "--json")

    told = json.loads(done.stdout)
    assert done.exit_code == 3
    assert list(told) == ["domain", "ok", "types", "findings", "unknown_types", "omitted", "calls"]
    assert told["types"] == [
        {"name": "Parcel", "version": "2.0", "outcomes": {"unknown version": 1}},
        {"name": "order", "version": "1.0", "outcomes": {"differs": 1}},
    ]


LONE = "from flowpy import workflow\n\n\n@workflow\nasync def lone() -> None: ...\n"


@pytest.mark.parametrize("folder", [(), ("stored",), ("stored/order.history.json",)])
def test_types_that_the_code_does_not_have_are_not_verified_and_told(
    flowpy: Flowpy, shop: Path, stored: Path, folder: tuple[str, ...]
) -> None:
    (shop / "lone.py").write_text(LONE)
    shutil.copy(next((shop / "stored").glob("o*.json")), shop / "stored" / "order.history.json")

    done = flowpy("verify", "lone", *folder)
    told = flowpy("verify", "lone", *folder, "--json")

    assert (done.exit_code, told.exit_code) == (4, 4)
    assert "\nNOT verified: " in done.stdout
    assert "order 1.0" in done.stdout.splitlines()[-1]
    assert done.stderr.startswith("hint: name the modules that declare them too")
    unknown = json.loads(told.stdout)["unknown_types"]
    assert {"name": "order", "version": "1.0"}.items() <= unknown[-1].items()
    assert sum(one["executions"] for one in unknown) >= 1


def test_a_type_is_not_missed_whose_executions_in_the_domain_are_all_closed(
    flowpy: Flowpy, swf: Environment, shop: Path, stored: Path
) -> None:
    (shop / "lone.py").write_text(LONE)
    for one in list(swf.client.list_open()):
        swf.find(one.workflow_id).terminate()

    done = flowpy("verify", "lone", "--closed", "10", "--json")

    told = json.loads(done.stdout)
    assert (done.exit_code, told["unknown_types"]) == (0, [])
    assert {"unknown type"} == {name for one in told["types"] for name in one["outcomes"]}


@pytest.mark.parametrize("option", [("--type", "order"), ("--open", "1"), ("--closed", "1"), ("--since", "1h")])
def test_stored_histories_are_not_chosen_among(flowpy: Flowpy, stored: Path, option: tuple[str, str]) -> None:
    done = flowpy("verify", "shop", "stored", *option)

    assert (done.exit_code, done.stderr.splitlines()[1][:20]) == (2, "hint: leave them out")


def test_a_missing_version_alone(flowpy: Flowpy, stored: Path) -> None:
    done = flowpy("verify", "cheaper", "--type", "Parcel")

    assert done.exit_code == 1
    assert "the code here has Parcel 3.0, not 2.0" in done.stdout


@pytest.mark.parametrize(
    "options",
    [
        ("--calls-per-second", "0"),
        ("no-such-folder",),
    ],
)
def test_what_cannot_be_verified(flowpy: Flowpy, stored: Path, options: tuple[str, ...]) -> None:
    assert flowpy("verify", "shop", *options).exit_code == 2


def test_closed_ones_too(flowpy: Flowpy, swf: Environment, stored: Path) -> None:
    swf.find("p-1").terminate()

    assert "1 execution of" in flowpy("verify", "shop", "--type", "Parcel", "--closed", "10").stdout


def test_all_filters_hold_together(flowpy: Flowpy, swf: Environment, stored: Path, shop_module: Any) -> None:
    for workflow_id, tags in (("eu", ["eu"]), ("big", ["eu", "big"])):
        swf.start(shop_module.order, "o", workflow_id=workflow_id, tag_list=tags)

    def found(*options: str) -> str:
        return flowpy("verify", "shop", *options).stdout.splitlines()[-1]

    assert found("--tag", "eu", "--type", "order").startswith("2 executions of")
    assert found("--tag", "eu", "--tag", "big").startswith("1 execution of")
    assert found("--tag", "eu", "--type", "order@1.0", "--open", "1").startswith("1 execution of")
    assert found("--tag", "eu", "--type", "order@2.0").startswith("0 executions of")
    assert found("--tag", "eu", "--workflow-id", "p-1").startswith("0 executions of")
