"""docs/determinism-guard.md: what it shows is what is said, and its table is that of the rules."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.docs.pages import PAGES, fences
from tests.fixtures.marks import history

from flowpy import NotDeterministic
from flowpy.cli.commands import flowpy as command
from flowpy.rules import RULES

PAGE = "docs/determinism-guard.md"
TEXT = PAGES[PAGE]
SHOP, GUARD, IGNORED = (fence.text for fence in fences(PAGE, "python"))
((CHECKED,), (RAISED,)) = ([fence.text for fence in fences(PAGE, kind)] for kind in ("console", "text"))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The module of the page, in a folder where its code and a history are."""
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text(SHOP, encoding="utf-8")
    module: dict[str, Any] = {"__name__": "shop"}
    exec(compile(SHOP, "shop.py", "exec", dont_inherit=True), module)  # noqa: S102 - our own file
    return module


def test_the_check_says_what_is_shown(shop: dict[str, Any]) -> None:
    line, _, shown = CHECKED.partition("\n")
    _, name, *arguments = line.removeprefix("$ ").split()

    assert CliRunner().invoke(command, [name, *arguments]).output == shown


def test_the_guard_says_what_is_shown(shop: dict[str, Any]) -> None:
    events = history(shop["order"])
    events[0]["workflowExecutionStartedEventAttributes"]["input"] = '["o-7"]'
    Path("order-o-7.history.json").write_text(json.dumps({"events": done(events)}), encoding="utf-8")

    with pytest.raises(NotDeterministic) as raised:
        exec(GUARD, shop)  # noqa: S102 - our own file

    assert f"NotDeterministic: {raised.value}\n" == RAISED


def done(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A history of both charges, in the order in which this process walks the set."""
    for number, region in enumerate({"eu", "us"}, 1):
        completed, id = len(events) + 1, f"charge-{number}"
        tasks = {"scheduledEventId": completed - 2, "startedEventId": completed - 1}
        scheduled = {"activityId": id, "activityType": {"name": "charge", "version": "1.0"}}
        given = {"input": f'["o-7-{region}"]', "decisionTaskCompletedEventId": completed}
        charged = {"scheduledEventId": completed + 1, "startedEventId": completed + 2}
        for kind, attributes in (
            ("DecisionTaskCompleted", tasks),
            ("ActivityTaskScheduled", {**scheduled, **given, "taskList": {"name": "list"}}),
            ("ActivityTaskStarted", {"scheduledEventId": completed + 1}),
            ("ActivityTaskCompleted", {**charged, "result": '"r"'}),
            ("DecisionTaskScheduled", {"taskList": {"name": "list"}}),
            ("DecisionTaskStarted", {"scheduledEventId": completed + 4}),
        ):
            key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
            at = 1_767_268_801.0 + len(events)
            events.append({"eventId": len(events) + 1, "eventType": kind, "eventTimestamp": at, key: attributes})
    return events


def test_the_comment_it_shows_is_heeded(shop: dict[str, Any]) -> None:
    body = f"import os\nimport flowpy\n\n\n@flowpy.workflow\nasync def order() -> None:\n    {IGNORED}"
    Path("shop.py").write_text(body, encoding="utf-8")

    assert CliRunner().invoke(command, ["check", "shop.py"]).exit_code == 0


def test_the_table_is_that_of_the_rules() -> None:
    rows = [
        (
            rule.id,
            rule.name + (" (warning)" if rule.severity == "warning" else ""),
            rule.why,
            rule.replacement,
            rule.seen_by,
        )
        for rule in RULES.values()
    ]
    shown = re.findall(r"^\| (FLOW\d+) \| (.*?) \| (.*?) \| (.*?) \| (.*?) \|$", TEXT, re.MULTILINE)

    assert shown == rows
