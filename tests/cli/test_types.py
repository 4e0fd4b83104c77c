"""``flowpy types``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from flowpy.testing import Environment

Flowpy = Callable[..., Result]


def listed(flowpy: Flowpy, *options: str) -> list[tuple[str, str, str]]:
    lines = flowpy("types", "list", "--json", *options).stdout.splitlines()
    return [(told["kind"], told["name"], told["version"]) for told in map(json.loads, lines)]


def test_registering_a_module(flowpy: Flowpy) -> None:
    done = flowpy("types", "register", "shop", "--register-domain", "7", "--task-list", "eu")

    assert done.stdout.splitlines() == [
        "registered: workflow order 1.0",
        "registered: workflow Parcel 2.0",
        "registered: activity charge 1.0",
    ]
    assert listed(flowpy) == [
        ("workflow", "Parcel", "2.0"),
        ("workflow", "order", "1.0"),
        ("activity", "charge", "1.0"),
    ]
    assert listed(flowpy, "--kind", "activity") == [("activity", "charge", "1.0")]
    assert listed(flowpy, "--name", "order") == [("workflow", "order", "1.0")]
    assert len(listed(flowpy, "--limit", "2")) == 2


def test_other_defaults_are_warned_of(flowpy: Flowpy, caplog: pytest.LogCaptureFixture) -> None:
    flowpy("types", "register", "shop")
    flowpy("types", "register", "shop", "--task-list", "eu")

    assert "SWF never changes them: defaultTaskList is 'default' there and 'eu' here" in caplog.text


def test_deprecating_and_back(flowpy: Flowpy, swf: Environment, shop_module: Any) -> None:
    swf.declare(shop_module.order)

    assert flowpy("types", "deprecate", "workflow", "order", "1.0").stdout == "deprecated: workflow order 1.0\n"
    assert listed(flowpy) == []
    assert listed(flowpy, "--deprecated") == [("workflow", "order", "1.0")]
    again, start = flowpy("types", "deprecate", "workflow", "order", "1.0"), flowpy("start", "shop:order", "o-7")
    assert (again.exit_code, start.exit_code) == (6, 6)
    assert "hint: flowpy types undeprecate takes it back" in start.stderr
    assert flowpy("types", "undeprecate", "workflow", "order", "1.0").exit_code == 0
    assert listed(flowpy) == [("workflow", "order", "1.0")]


def test_types_that_are_not_there(flowpy: Flowpy) -> None:
    assert flowpy("types", "deprecate", "activity", "nothing", "1.0").exit_code == 4
    assert flowpy("types", "register", "shop", "--domain", "nowhere").exit_code == 4
    assert flowpy("types", "list").stderr == "no registered types in domain 'test'\n"
