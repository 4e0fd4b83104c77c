"""A service with a domain, and the console on it as a browser of this machine asks it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from attrs import define

from flowpy.console import Console
from flowpy.console.replies import Reply
from flowpy.console.requests import Request
from flowpy.local import Engine, VirtualClock

NOON = 1_767_268_800.0
HOST = "127.0.0.1:8042"


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] not in {"style", "script"}:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]

    def links(self, path: str) -> list[str]:
        found = (attributes.get("href") or "" for attributes in self.all("a"))
        return [href for href in found if urlsplit(href).path == path]

    def fields(self) -> dict[str, str]:
        """The hidden fields of its forms."""
        hidden = (each for each in self.all("input") if each.get("type") == "hidden")
        return {each["name"] or "": each["value"] or "" for each in hidden}


@define
class Browser:
    """A browser on the service's own machine."""

    console: Console

    def get(self, url: str, **headers: str) -> Reply:
        parts = urlsplit(url)
        return self.ask(method="GET", path=parts.path, query=dict(parse_qsl(parts.query)), headers=headers)

    def page(self, url: str) -> Elements:
        reply = self.get(url)
        assert reply.status == 200, reply.body[:2_000]
        return Elements(reply.body)

    def post(self, path: str, form: Mapping[str, str], **headers: str) -> Reply:
        sent = {"origin": f"http://{HOST}", "sec_fetch_site": "same-origin", **headers}
        return self.ask(method="POST", path=path, form=form, headers=sent)

    def ask(self, *, headers: Mapping[str, str], client: str | None = "127.0.0.1", **request: Any) -> Reply:
        told = {"host": HOST, **headers}
        named = {name.replace("_", "-"): (value,) for name, value in told.items() if value}
        return self.console.answer(Request(headers=named, client=client, **request))


@pytest.fixture
def engine() -> Engine:
    engine = Engine(VirtualClock(NOON))
    engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})
    for name, version in (("order", "1"), ("order", "2"), ("refund", "1")):
        engine.call(
            "RegisterWorkflowType",
            {
                "domain": "shop",
                "name": name,
                "version": version,
                "defaultTaskList": {"name": "deciders"},
                "defaultChildPolicy": "TERMINATE",
                "defaultTaskStartToCloseTimeout": "30",
                "defaultExecutionStartToCloseTimeout": "86400",
            },
        )
    return engine


@pytest.fixture
def start(engine: Engine) -> Callable[..., str]:
    """Starts an execution; gives the address of its page."""

    def start(workflow_id: str, type: str = "order", version: str = "1", **more: Any) -> str:
        started = engine.call(
            "StartWorkflowExecution",
            {
                "domain": "shop",
                "workflowId": workflow_id,
                "workflowType": {"name": type, "version": version},
                **more,
            },
        )
        run_id = re.sub(r"[+=]", lambda match: f"%{ord(match[0]):02X}", started["runId"])
        return f"/execution?domain=shop&workflow_id={workflow_id}&run_id={run_id}"

    return start


@pytest.fixture
def browser(engine: Engine) -> Browser:
    return Browser(Console(lambda: {"us-east-1": engine}))
