"""The console in a real browser: its own policy lets its script and style work, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from playwright.sync_api import Page, sync_playwright
from tests.view.chromium import PROGRAM, document_at, needs_chromium
from tests.view.looks import flaws_of

from flowpy.console import Console
from flowpy.local import Engine
from flowpy.local.server import Application, Regions, Server

from .conftest import Browser, Elements
from .test_pages import ATTACK, RUDE, rude

Start = Callable[..., str]


@define(eq=False)
class Busy:
    """A service in which something happens whenever somebody has looked."""

    engine: Engine
    looks: int = 0

    @property
    def clock(self) -> Any:
        return self.engine.clock

    def task_lists(self, domain: str) -> list[tuple[str, str, int]]:
        return self.engine.task_lists(domain)

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        answer = self.engine.call(operation, request)
        if operation == "DescribeWorkflowExecution":
            self.looks += 1
            signal = {"domain": "shop", "workflowId": "o-7", "signalName": f"look-{self.looks}"}
            self.engine.call("SignalWorkflowExecution", signal)
        return answer


@pytest.fixture
def url(engine: Engine) -> Iterator[str]:
    regions = Regions(lambda _: engine)
    with Server(Application(regions, 0, Console(regions.by_name))) as server:
        yield server.url


@pytest.fixture
def tab() -> Iterator[Page]:
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox"])
        yield browser.new_page()
        browser.close()


@needs_chromium
def test_a_page_goes_on_by_itself(engine: Engine, start: Start, tmp_path: Path) -> None:
    address, busy = start("o-7"), Busy(engine)
    with Server(Application(Regions(lambda _: engine), 0, Console(lambda: {"us-east-1": busy}))) as server:
        page = Elements(document_at(server.url + address, tmp_path))

    assert "live" in next(attributes["class"] or "" for _, attributes in page.found if attributes.get("id") == "pulse")
    # The first answer had one signal.
    assert "look-2" in page.text


@needs_chromium
def test_rude_names_and_payloads_do_nothing(url: str, engine: Engine, start: Start, tmp_path: Path) -> None:
    page = Elements(document_at(url + rude(engine, start, RUDE), tmp_path))

    assert ATTACK in page.text
    assert [attributes for tag, attributes in page.found if attributes.get("id") == "owned" or tag == "img"] == []


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_and_fit(
    browser: Browser, engine: Engine, start: Start, tmp_path: Path, scheme: str
) -> None:
    addresses = {
        "domains": "/",
        "execution": rude(engine, start, "long" * 30),
        "open": start("o-8", tagList=["eu"] * 5),
        "executions": "/executions?domain=shop",
        "task-lists": "/task-lists?domain=shop",
        "failure": "/executions?domain=none",
    }
    for name, address in addresses.items():
        text = browser.get(address).body.replace("<details", "<details open")
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8", errors="replace")
    pages = [f"{name}.html" for name in addresses]

    assert flaws_of(tmp_path, pages, scheme=scheme) == []


@needs_chromium
def test_buttons_are_pressed(tab: Page, url: str, engine: Engine, start: Start) -> None:
    tab.goto(url + start("o-7"))
    tab.get_by_text("Signal", exact=True).click()
    tab.get_by_label("Name").fill("approval")
    tab.get_by_label("Input").last.fill("true")
    tab.get_by_text("Send the signal").click()
    tab.get_by_text("The signal has been sent.").wait_for()
    tab.get_by_text("Cancel", exact=True).click()
    tab.get_by_text("Request the cancel").click()
    tab.get_by_text("cancel requested").first.wait_for()
    tab.get_by_text("Terminate", exact=True).click()
    tab.get_by_text("Terminate it").click()  # does nothing: it is not confirmed
    tab.get_by_label("End this execution now").check()
    tab.get_by_text("Terminate it").click()
    tab.get_by_text("The execution has been terminated.").wait_for()
    signal, cancel, terminated = [
        event["eventType"] for event in engine.events(next(iter(engine.world.runs.values())).run_id)[2:]
    ]
    assert (signal, cancel, terminated) == (
        "WorkflowExecutionSignaled",
        "WorkflowExecutionCancelRequested",
        "WorkflowExecutionTerminated",
    )


@needs_chromium
def test_what_somebody_writes_is_not_lost_when_something_happens(
    tab: Page, url: str, engine: Engine, start: Start
) -> None:
    execution = {"domain": "shop", "workflowId": "o-7"}
    tab.goto(url + start("o-7"))
    tab.get_by_text("Signal", exact=True).click()
    tab.get_by_label("Input").last.fill("a long letter")
    engine.call("RequestCancelWorkflowExecution", execution)
    tab.locator("h1").get_by_text("cancel requested").wait_for()
    written, may_be_sent = (
        tab.get_by_label("Input").last.input_value(),
        tab.get_by_text("Send the signal").is_enabled(),
    )
    engine.call("TerminateWorkflowExecution", execution)
    tab.locator("h1").get_by_text("terminated").wait_for()
    tab.locator(".actions button:disabled").first.wait_for(state="attached")
    kept, may_still = tab.get_by_label("Input").last.input_value(), tab.get_by_text("Send the signal").is_enabled()
    title = tab.title()

    assert (written, may_be_sent) == (kept, not may_still) == ("a long letter", True)
    assert title.startswith("o-7: terminated")


@needs_chromium
def test_an_execution_that_ends_loses_its_buttons(tab: Page, url: str, engine: Engine, start: Start) -> None:
    tab.goto(url + start("o-7"))
    engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "o-7"})
    tab.locator("h1").get_by_text("terminated").wait_for()
    buttons = tab.locator(".actions").count()

    assert buttons == 0
