"""The pages: what they show, how executions are found, that nothing in a name or a payload becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from flowpy.console import Console
from flowpy.console.executions import PAGE
from flowpy.local import Engine

from .conftest import Browser, Elements

Start = Callable[..., str]
ATTACK = "document.body.id='owned'"
RUDE = f'</script></title><script>{ATTACK}</script><img src=x onerror="{ATTACK}">\'"&'
SHOP = "/executions?domain=shop"


def shown(page: Elements) -> list[str]:
    """The workflowIds on a page of executions."""
    return [re.findall(r"workflow_id=([^&]*)", href)[0] for href in page.links("/execution")]


def decide(engine: Engine, *decisions: dict[str, Any]) -> None:
    task = engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": "deciders"}})
    engine.call("RespondDecisionTaskCompleted", {"taskToken": task["taskToken"], "decisions": list(decisions)})


def completed(result: str) -> dict[str, Any]:
    return {
        "decisionType": "CompleteWorkflowExecution",
        "completeWorkflowExecutionDecisionAttributes": {"result": result},
    }


def test_it_begins_with_the_domains(browser: Browser, start: Start) -> None:
    start("o-7")

    page = browser.page("/")

    assert page.links("/executions") == ["/executions?region=us-east-1&domain=shop"]
    assert "us-east-1" in page.text


def test_each_region_is_a_world_of_its_own(engine: Engine, start: Start) -> None:
    start("o-7")
    elsewhere = Engine(region="eu-west-1")
    elsewhere.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})
    browser = Browser(Console(lambda: {"us-east-1": engine, "eu-west-1": elsewhere}))

    here, there = browser.page("/").links("/executions")

    assert shown(browser.page(here)) == ["o-7"]
    assert shown(browser.page(there)) == []
    assert browser.get("/executions?domain=shop&region=nowhere").status == 404


def test_executions_are_listed_open_ones_first(browser: Browser, engine: Engine, start: Start) -> None:
    start("closed-1")
    decide(engine, completed("1"))
    engine.advance(60)
    start("open-1")
    engine.advance(60)
    start("open-2", tagList=["eu"])

    page = browser.page(SHOP)

    assert shown(page) == ["open-2", "open-1", "closed-1"]
    assert "2 open, 1 closed" in page.text


@pytest.fixture
def many(engine: Engine, start: Start) -> None:
    start("a", tagList=["eu"])
    decide(engine, completed("1"))
    start("a", version="2", tagList=["us"])
    start("b", "refund", tagList=["eu"])
    engine.advance(3_600)
    start("c", tagList=["eu"])
    engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "c"})


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=OPEN", ["b", "a"]),
        ("status=CLOSED", ["c", "a"]),
        ("status=TERMINATED", ["c"]),
        ("workflow_id=a", ["a", "a"]),
        ("workflow_id=a&status=COMPLETED", ["a"]),
        ("workflow_id=a&tag=us", ["a"]),
        ("type=order&status=OPEN", ["a"]),
        ("type=order&version=2", ["a"]),
        ("version=2", ["a"]),
        ("tag=eu&type=order", ["c", "a"]),
        ("tag=eu&status=FAILED", []),
        ("since=2026-01-01T12:30", ["c"]),
        ("until=2026-01-01T12:30&tag=eu", ["b", "a"]),
        ("workflow_id=", ["b", "a", "c", "a"]),
    ],
)
def test_filters_hold_together(browser: Browser, query: str, found: list[str]) -> None:
    assert shown(browser.page(f"{SHOP}&{query}")) == found


def test_tags_lead_to_all_that_have_them(browser: Browser, start: Start) -> None:
    start("o-7", tagList=[" two words "])
    link = next(link for link in browser.page(SHOP).links("/executions") if "tag=" in link)

    assert shown(browser.page(link)) == ["o-7"]


@pytest.mark.parametrize("query", ["status=LOST", "since=yesterday", "after=Nowhere+x", "status=OPEN&after=Closed+"])
def test_filters_that_cannot_be_read_are_told(browser: Browser, query: str) -> None:
    assert browser.get(f"{SHOP}&{query}").status == 400


@pytest.mark.parametrize("query", ["", "&tag=eu", "&tag=eu&type=order"])
def test_pages_have_everything_once(browser: Browser, engine: Engine, start: Start, query: str) -> None:
    for number in range(2 * PAGE + 7):
        start(f"w-{number}", tagList=["eu"])
        if number < PAGE:
            engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": f"w-{number}"})

    found, url, pages = [], f"{SHOP}{query}", 0
    while url:
        page = browser.page(url)
        found += shown(page)
        url = next((href for href in page.links("/executions") if "after=" in href), "")
        pages += 1

    assert sorted(found) == sorted(f"w-{number}" for number in range(2 * PAGE + 7))
    assert pages >= 2


def test_a_search_in_vain_pauses_and_goes_on(browser: Browser, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowpy.console.executions._MOST_READ", PAGE)
    start("last", tagList=["eu", "us"])
    for number in range(PAGE):
        start(f"w-{number}", version="2", tagList=["eu"])

    first = browser.page(f"{SHOP}&tag=eu&version=1")
    (after,) = (href for href in first.links("/executions") if "after=" in href)

    assert shown(first) == []
    assert "Search on" in first.text
    assert shown(browser.page(after)) == ["last"]


def test_an_execution_is_told_from_begin_to_end(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7", input='["o-7", {"cents": 4200}]')
    assert "Waits for" in browser.page(url).text

    timer = {
        "decisionType": "StartTimer",
        "startTimerDecisionAttributes": {"timerId": "t-1", "startToFireTimeout": "9"},
    }
    decide(engine, timer)
    engine.advance(3)
    opened = browser.page(url)
    assert "timer t-1 fires in 6s" in opened.text
    assert '"cents": 4200' in opened.text
    assert len(opened.all("form")) == 3

    engine.advance(7)
    decide(engine, completed('"done"'))
    closed = browser.page(url)
    assert "Waits for" not in closed.text
    assert '"done"' in closed.text
    assert closed.all("form") == []
    assert "WorkflowExecutionCompleted" in closed.text


def test_executions_that_belong_together_lead_to_each_other(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    again = {"decisionType": "ContinueAsNewWorkflowExecution"}
    decide(engine, {**again, "continueAsNewWorkflowExecutionDecisionAttributes": {}})

    (later,) = browser.page(url).links("/execution")[:1]

    assert "Continued from" in browser.page(later).text


def test_events_are_shown_a_hundred_at_a_time(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    for _ in range(130):
        engine.call("SignalWorkflowExecution", {"domain": "shop", "workflowId": "o-7", "signalName": "note"})

    first = browser.page(url)
    (earlier,) = (href for href in first.links("/execution") if "until=" in href)

    def ids(page: Elements) -> list[int]:
        return [int(each["data-key"] or 0) for each in page.all("details") if "data-key" in each]

    assert ids(first) == list(range(132, 32, -1))
    assert ids(browser.page(earlier.partition("#")[0])) == list(range(32, 0, -1))


def test_task_lists_say_how_many_tasks_wait(browser: Browser, start: Start) -> None:
    start("o-7")
    start("o-8", taskList={"name": "sticky-1"})

    text = " ".join(browser.page("/task-lists?domain=shop").text.split())

    assert "deciders decision tasks 1 order 1, order 2, refund 1" in text
    assert "sticky-1 decision tasks 1" in text


def test_payloads_that_are_long_are_cut(browser: Browser, start: Start) -> None:
    page = browser.page(start("o-7", input="p" * 32_000))

    assert "12,000 more characters are left out" in page.text


def test_what_does_not_change_is_not_sent_again(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    (seen,) = (each["data-version"] or "" for each in browser.page(url).all("div") if "data-version" in each)

    assert browser.get(url, x_seen=seen).status == 204
    engine.call("SignalWorkflowExecution", {"domain": "shop", "workflowId": "o-7", "signalName": "note"})
    assert browser.get(url, x_seen=seen).status == 200


@pytest.mark.parametrize("url", ["/nothing", "/favicon.ico", "/executions?domain=none", "/task-lists?domain=none"])
def test_what_is_not_there_is_not_found(browser: Browser, url: str) -> None:
    assert browser.get(url).status == 404


@pytest.mark.parametrize("url", ["/executions", "/execution?domain=shop", "/execution?domain=shop&workflow_id=x"])
def test_addresses_that_lack_something_are_told(browser: Browser, url: str) -> None:
    assert browser.get(url).status == 400


def rude(engine: Engine, start: Start, text: str) -> str:
    """The page of an execution that has a text wherever a client can write one."""
    name = text.replace("/", "").replace(":", "")
    kind = {"name": name, "version": name[:64]}
    engine.call(
        "RegisterWorkflowType",
        {
            "domain": "shop",
            **kind,
            "description": text,
            "defaultTaskList": {"name": name},
            "defaultChildPolicy": "TERMINATE",
            "defaultTaskStartToCloseTimeout": "30",
            "defaultExecutionStartToCloseTimeout": "86400",
        },
    )
    started = {"domain": "shop", "workflowId": name, "workflowType": kind, "tagList": [text], "input": text}
    run_id = engine.call("StartWorkflowExecution", started)["runId"]
    signal = {"domain": "shop", "workflowId": name, "signalName": text, "input": json.dumps({text: [text]})}
    engine.call("SignalWorkflowExecution", signal)
    task = engine.call("PollForDecisionTask", {"domain": "shop", "taskList": {"name": name}, "identity": text})
    marker = {"decisionType": "RecordMarker", "recordMarkerDecisionAttributes": {"markerName": text, "details": text}}
    answer = {"taskToken": task["taskToken"], "executionContext": text, "decisions": [marker]}
    engine.call("RespondDecisionTaskCompleted", answer)
    return f"/execution?domain=shop&workflow_id={quote(name)}&run_id={quote(run_id)}"


def test_nothing_in_names_and_payloads_becomes_markup(browser: Browser, engine: Engine, start: Start) -> None:
    plain, bad = (browser.page(rude(engine, start, text)) for text in ("x" * len(RUDE), RUDE))

    assert [tag for tag, _ in bad.found] == [tag for tag, _ in plain.found]
    assert [sorted(attributes) for _, attributes in bad.found] == [sorted(attributes) for _, attributes in plain.found]
    assert RUDE in bad.text
    for url in (SHOP, f"{SHOP}&tag={quote(RUDE)}", "/task-lists?domain=shop", f"/executions?domain={quote(RUDE)}"):
        reply = browser.get(url)
        assert "<img" not in reply.body
        assert f"<script>{ATTACK}" not in reply.body


def test_names_that_deceive_the_eye_are_spelled_out_and_still_reached(browser: Browser, engine: Engine) -> None:
    name = "o-7\u202egnp.exe"
    kind = {"name": "order", "version": "1"}
    started = {"domain": "shop", "workflowId": name, "workflowType": kind, "input": "\u202e"}
    run_id = engine.call("StartWorkflowExecution", started)["runId"]

    (url,) = browser.page(SHOP).links("/execution")
    page = browser.page(url)

    assert "\u202e" not in page.text
    assert "o-7\\u202egnp.exe" in page.text
    assert browser.post("/terminate", {**page.fields(), "confirmed": "yes"}).status == 303
    closed = engine.call(
        "DescribeWorkflowExecution", {"domain": "shop", "execution": {"workflowId": name, "runId": run_id}}
    )
    assert closed["executionInfo"]["closeStatus"] == "TERMINATED"


def test_the_policy_lets_in_only_what_stands_in_the_page(browser: Browser, start: Start) -> None:
    reply = browser.get(start("o-7"))
    policy = dict(reply.headers)["content-security-policy"]

    def allowed(tag: str) -> set[str]:
        inside = set(re.findall(rf"<{tag}>(.*?)</{tag}>", reply.body, re.DOTALL))
        return {f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in inside}

    told = {name: set(values) for name, *values in map(str.split, policy.split(";"))}
    assert told["style-src"] == allowed("style")
    assert told["script-src"] == allowed("script")
    assert told["default-src"] == told["frame-ancestors"] == {"'none'"}
    assert not any(name.startswith("on") or name == "style" for _, each in Elements(reply.body).found for name in each)


def test_the_large_timeline_is_a_page_of_its_own(browser: Browser, start: Start) -> None:
    reply = browser.get(start("o-7").replace("/execution", "/timeline"))

    assert "<title>order 1  o-7" in reply.body
    assert dict(reply.headers)["x-frame-options"] == "DENY"
