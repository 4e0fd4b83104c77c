"""Who may look, and who may act."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
from collections.abc import Callable, Iterator
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from flowpy.console import Console
from flowpy.local import Engine
from flowpy.local.server import Application, Regions, Server

from .conftest import HOST, Browser, Elements

Start = Callable[..., str]
FORM = "application/x-www-form-urlencoded"


def status(engine: Engine) -> str:
    """How the execution o-7 stands."""
    wanted = {"executionFilter": {"workflowId": "o-7"}, "startTimeFilter": {"oldestDate": 0}, "domain": "shop"}
    open_ones = engine.call("ListOpenWorkflowExecutions", wanted)["executionInfos"]
    return "cancel requested" if open_ones and open_ones[0]["cancelRequested"] else "open" if open_ones else "closed"


@pytest.mark.parametrize("host", ["localhost:8042", "127.0.0.1", "127.9.9.9:1", "[::1]:8042", "localhost."])
def test_it_answers_to_names_of_this_machine(browser: Browser, host: str) -> None:
    assert browser.get("/", host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example:8042", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.1.7:8042", "[::", "a b"],
)
def test_a_name_that_was_bound_to_this_machine_sees_nothing(browser: Browser, host: str) -> None:
    reply = browser.get("/", host=host)

    assert reply.status == 421
    assert "shop" not in reply.body


@pytest.mark.parametrize("client", [None, "", "192.168.1.7", "10.0.0.1", "2001:db8::1", "::ffff:10.0.0.1"])
def test_other_machines_see_nothing(browser: Browser, client: str | None) -> None:
    reply = browser.ask(path="/", headers={}, client=client)

    assert reply.status == 403
    assert "shop" not in reply.body


@pytest.mark.parametrize("client", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_machine_is_answered_over_either_protocol(browser: Browser, client: str) -> None:
    assert browser.ask(path="/", headers={}, client=client).status == 200


@pytest.mark.parametrize(
    ("action", "more", "after"),
    [
        ("signal", {"name": "approval", "input": "true"}, "open"),
        ("cancel", {}, "cancel requested"),
        ("terminate", {"confirmed": "yes", "reason": "wrong", "child_policy": "ABANDON"}, "closed"),
    ],
)
def test_buttons_do_what_they_say(
    browser: Browser, engine: Engine, start: Start, action: str, more: dict[str, str], after: str
) -> None:
    url = start("o-7")
    reply = browser.post(f"/{action}", {**browser.page(url).fields(), **more})

    assert reply.status == 303
    assert status(engine) == after
    page = browser.page(dict(reply.headers)["location"])
    assert page.text.count("has been") == 1
    if action == "signal":
        assert "approval" in page.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": ""},
        {"origin": "null"},
        {"origin": "https://evil.example"},
        {"origin": f"https://{HOST}"},
        {"origin": "http://127.0.0.1:8043"},
        {"origin": "http://localhost:8042"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
        {"sec_fetch_site": "none"},
    ],
)
def test_other_sites_cannot_act(browser: Browser, engine: Engine, start: Start, headers: dict[str, str]) -> None:
    url = start("o-7")
    form = {**browser.page(url).fields(), "confirmed": "yes"}

    assert browser.post("/terminate", form, **headers).status == 403
    assert status(engine) == "open"


@pytest.mark.parametrize("token", ["", "guessed", "\u00fc", "\ud800"])
def test_forms_without_the_token_do_nothing(browser: Browser, engine: Engine, start: Start, token: str) -> None:
    url = start("o-7")
    form = {**browser.page(url).fields(), "confirmed": "yes", "token": token}

    assert browser.post("/terminate", form).status == 403
    assert status(engine) == "open"


def test_the_token_is_of_one_console(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    before = Browser(Console(lambda: {"us-east-1": engine})).page(url).fields()

    reply = browser.post("/cancel", before)

    assert reply.status == 403
    assert "go back and load it anew" in reply.body


def test_terminating_wants_to_be_confirmed(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")

    assert browser.post("/terminate", browser.page(url).fields()).status == 400
    assert status(engine) == "open"


def test_nothing_is_done_by_asking_for_a_page(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    query = urlencode({**browser.page(url).fields(), "confirmed": "yes"})

    assert browser.get(f"/terminate?{query}").status == 404
    assert browser.ask(method="DELETE", path="/execution", headers={}).status == 405
    assert browser.post("/execution", browser.page(url).fields()).status == 404
    assert status(engine) == "open"


def test_what_the_service_refuses_is_said(browser: Browser, engine: Engine, start: Start) -> None:
    url = start("o-7")
    fields = browser.page(url).fields()
    engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "o-7"})

    reply = browser.post("/cancel", fields)

    assert reply.status == 404
    assert "Unknown execution" in Elements(reply.body).text


def test_an_error_of_ours_is_logged_and_not_shown(browser: Browser, caplog: pytest.LogCaptureFixture) -> None:
    def services() -> Any:
        raise ZeroDivisionError("secret")

    with caplog.at_level(logging.ERROR):
        reply = Browser(Console(services)).get("/")

    assert reply.status == 500
    assert "secret" not in reply.body
    assert "secret" in caplog.text


def test_no_answer_sets_a_cookie_or_may_be_framed(browser: Browser, start: Start) -> None:
    for url in ("/", start("o-7"), "/nothing"):
        headers = dict(browser.get(url).headers)

        assert "set-cookie" not in headers
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


# --- over HTTP ------------------------------------------------------------------------------


@pytest.fixture
def server(engine: Engine) -> Iterator[Server]:
    regions = Regions(lambda _: engine)
    with Server(Application(regions, 0, Console(regions.by_name))) as server:
        yield server


def asked(server: Server, method: str, path: str, body: str = "", **headers: str) -> tuple[HTTPResponse, bytes]:
    parts = urlsplit(server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    read = reply.read()
    connection.close()
    return reply, read


def test_the_service_beside_it_answers_as_ever(server: Server) -> None:
    target = "SimpleWorkflowService.ListDomains"
    request = json.dumps({"registrationStatus": "REGISTERED"})

    for path in ("/", "/signal"):
        reply, body = asked(server, "POST", path, request, x_amz_target=target, host="any.example")
        assert (reply.status, len(json.loads(body)["domainInfos"])) == (200, 1)
    reply, body = asked(server, "POST", "/", request)
    assert (reply.status, b"UnknownOperationException" in body) == (400, True)


def test_browsers_get_pages(server: Server) -> None:
    reply, body = asked(server, "GET", "/")
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert b"shop" in body

    reply, body = asked(server, "HEAD", "/")
    assert (reply.status, body) == (200, b"")
    reply, body = asked(server, "GET", "/", host="evil.example")
    assert (reply.status, b"shop" in body) == (421, False)


def test_forms_are_read_as_browsers_send_them(server: Server, engine: Engine, start: Start) -> None:
    url = start("o-7")
    page = Elements(asked(server, "GET", url)[1].decode())
    form = urlencode({**page.fields(), "name": "ünï", "input": "a&b=c"})

    reply, _ = asked(server, "POST", "/signal", form, content_type=FORM, origin=server.url)

    assert reply.status == 303
    page = Elements(asked(server, "GET", reply.headers["location"])[1].decode())
    assert "ünï" in page.text
    assert "a&b=c" in page.text


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        ("token=x", "text/plain", 415),
        ("token=x", "application/json", 415),
        ("token=%ff", FORM, 400),
        ("&".join(f"f{number}=" for number in range(60)), FORM, 400),
        ("token=x", FORM, 403),
    ],
)
def test_what_is_no_form_is_refused(server: Server, body: str, content_type: str, expected: int) -> None:
    reply, _ = asked(server, "POST", "/cancel", body, content_type=content_type, origin=server.url)

    assert reply.status == expected


def answered(scope: dict[str, Any], *messages: dict[str, Any]) -> list[Any]:
    sent: list[Any] = []
    left = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(left)

    async def send(message: Any) -> None:
        sent.append(message)

    whole = {"type": "http", "method": "GET", "path": "/", "headers": [], "client": ("127.0.0.1", 1), **scope}
    asyncio.run(Console(dict)(whole, receive, send))
    return sent


def test_two_host_headers_are_none() -> None:
    hosts = [(b"host", b"localhost"), (b"host", b"evil.example")]

    assert answered({"headers": hosts}, {"type": "http.request"})[0]["status"] == 400


def test_a_browser_that_has_gone_and_a_form_without_end() -> None:
    assert answered({}, {"type": "http.disconnect"}) == []
    endless = [{"type": "http.request", "body": b"x" * 1_000_000, "more_body": True}] * 2
    assert answered({"method": "POST"}, *endless)[0]["status"] == 413
