"""``flowpy run``: a workflow from start to end, here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from flowpy.history import read_history

Flowpy = Callable[..., Result]


def test_it_prints_the_result_and_beside_it_how_long_it_took(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:order", "o-7", "--signal", "approval", "true")

    assert (done.stdout, done.exit_code) == ("r-o-7-4200\n", 0)
    assert done.stderr == "order-1 completed after 0:00:00 of virtual time, 17 events\n"


def test_as_json(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:Parcel", "--signal", "step", "sent", "--workflow-id", "p-1", "--json")

    told = json.loads(done.stdout)
    assert list(told) == [
        "workflow_id", "run_id", "workflow_type", "status", "result", "events", "virtual_seconds",
    ]  # fmt: skip
    assert (told["workflow_id"], told["status"], told["result"], told["virtual_seconds"]) == (
        "p-1",
        "COMPLETED",
        "sent",
        600.0,
    )


def test_a_module_with_one_workflow_needs_no_name(flowpy: Flowpy, shop: Path) -> None:
    (shop / "alone.py").write_text(
        "from flowpy import workflow\n\n\n@workflow\nasync def one() -> int:\n    return 1\n"
    )

    assert flowpy("run", "alone").stdout == "1\n"
    assert flowpy("run", "alone.py").stdout == "1\n"
    assert "which workflow of module shop?\nhint: there are shop:order, shop:Parcel" in flowpy("run", "shop").stderr


def test_the_same_workflow_with_other_options_is_no_second_one(flowpy: Flowpy, shop: Path) -> None:
    (shop / "eu.py").write_text("from shop import order\n\neu_order = order.options(task_list='eu')\n")

    assert "receipt" not in flowpy("run", "eu", "o-7", "--signal", "approval", "true").stderr
    assert flowpy("run", "eu:eu_order", "o-7", "--signal", "approval", "true").stdout == "r-o-7-4200\n"


def test_a_failure_names_the_line_and_the_history_is_stored_all_the_same(flowpy: Flowpy, shop: Path) -> None:
    done = flowpy("run", "shop:order", "o-7", "-1", "--save", "failed.json")

    assert done.exit_code == 2  # -1 looks like an option
    done = flowpy("run", "shop:order", "--save", "failed.json", "--", "o-7", "-1")
    assert done.exit_code == 1
    assert "less than nothing" in done.stderr
    assert "shop.py:10 in charge" in done.stderr
    close = read_history("failed.json").close_event
    assert close is not None
    assert close["eventType"] == "WorkflowExecutionFailed"


def test_a_failure_in_a_library_names_the_line_that_called_it(flowpy: Flowpy, shop: Path) -> None:
    done = flowpy("run", "shop:order", "o-7", "--signal", "approval", "perhaps")

    assert "value does not fit its type bool" in done.stderr
    assert "hint: it was raised at " in done.stderr
    assert "shop.py:21 in order" in done.stderr

    (shop / "opening.py").write_text(
        "import flowpy\nfrom pathlib import Path\n\n\n@flowpy.activity\ndef size(name: str) -> int:\n"
        "    return len(Path(name).read_text())\n\n\n@flowpy.workflow\nasync def opening(name: str) -> int:\n"
        "    return await size(name)\n"
    )
    assert "opening.py:7 in size" in flowpy("run", "opening", "nowhere").stderr


def test_a_stub_of_what_is_never_called_is_told(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:order", "o-7", "--stub", "chrge", "r-1", "--signal", "approval", "true")

    assert (done.stdout, done.exit_code) == ("r-o-7-4200\n", 0)
    assert done.stderr.splitlines()[0] == "--stub chrge: nothing of that name was called; did you mean 'charge'?"


def test_a_signal_of_nearly_a_declared_name_is_told_and_sent(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:order", "o-7", "--signal", "aproval", "true")
    other = flowpy("run", "shop:order", "o-7", "--signal", "weather", "1", "--signal", "approval", "true")

    assert done.stderr.splitlines()[0] == (
        "signal 'aproval': nothing declares it where workflow order is; did you mean 'approval'?"
    )
    assert done.exit_code == 1
    assert "did you mean" not in other.stderr
    assert other.exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["--signal", "approval"], "Option '--signal' requires 2 arguments", "flowpy run --signal NAME VALUE; "),
        (["--signal", "approval", "--verbose"], "--signal approval: --verbose is an option and no value", "flowpy run"),
        (["--stub", "charge"], "Option '--stub' requires 2 arguments", "flowpy run --stub NAME RESULT"),
    ],
)
def test_a_value_that_was_forgotten(flowpy: Flowpy, arguments: list[str], message: str, hint: str) -> None:
    done = flowpy("run", "shop:order", "o-7", *arguments)

    first, second = done.stderr.splitlines()
    assert first.startswith(f"error: {message}")
    assert second.startswith(f"hint: {hint}")
    assert done.exit_code == 2


def test_the_nearest_workflow_is_named(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:ordr", "o-7")

    assert "has no workflow 'ordr'; did you mean 'order'?\nhint: there are shop:order" in done.stderr


def test_from_another_folder(flowpy: Flowpy, shop: Path) -> None:
    (shop / "inner").mkdir()

    told = "inner is a folder, no module with code of its own\nhint: name a module in it, as in inner.orders,"
    assert told in flowpy("run", "inner:order", "o-7").stderr


def test_a_workflow_that_waits_for_what_never_comes(flowpy: Flowpy) -> None:
    done = flowpy("run", "shop:Parcel")

    assert done.exit_code == 8
    assert "main task (Parcel) waits for signal step" in done.stderr
    assert "hint: flowpy run --signal NAME VALUE sends a signal" in done.stderr


SHIPPING = """\
from flowpy import activity, workflow


@activity(external=True)
def ship(order_id: str) -> str: ...


@workflow
async def order(order_id: str) -> str:
    return await ship(order_id)
"""


def test_what_cannot_run_here_is_stubbed(flowpy: Flowpy, shop: Path) -> None:
    (shop / "shipping.py").write_text(SHIPPING)

    done = flowpy("run", "shipping", "o-7")
    stubbed = flowpy("run", "shipping", "o-7", "--stub", "ship", "p-7")

    assert done.exit_code == 1
    assert done.stderr.splitlines()[1].startswith("hint: --stub NAME RESULT says what it gives")
    assert "swf.stub" not in done.stderr
    assert (stubbed.stdout, stubbed.exit_code) == ("p-7\n", 0)


def test_what_no_replay_can_repeat_is_found(flowpy: Flowpy, shop: Path) -> None:
    (shop / "lucky.py").write_text(
        "import time\nimport flowpy\n\n\n@flowpy.workflow\nasync def lucky() -> float:\n    return time.time()\n"
    )

    assert flowpy("run", "lucky:lucky", "--strict").exit_code == 1
    assert "FLOW101" in flowpy("run", "lucky:lucky", "--strict").stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("def broken(:\n", "SyntaxError: invalid syntax"),
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\n", "declares no workflow\nhint: mark a function with @flowpy.workflow"),
        ("from flowpy import workflow\n\n\n@workflow\ndef w(*a): ...\n", "*a is not possible"),
    ],
)
def test_a_module_that_is_none(flowpy: Flowpy, shop: Path, text: str, told: str) -> None:
    (shop / "odd.py").write_text(text)

    done = flowpy("run", "odd:w")

    assert told in done.stderr
    assert (done.exit_code, len(done.stderr.splitlines())) == (2, 2)
