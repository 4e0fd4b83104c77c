"""An idle worker stops at once where its polls can be ended, and waits for them where they cannot."""

from __future__ import annotations

import http.server
import logging
import threading
import time

import pytest

from flowpy import Client
from flowpy.local import Engine, SystemClock
from flowpy.local.server import Application, Regions, Server
from flowpy.service import BotoService
from flowpy.service.ending import end_polls
from flowpy.service.sessions import boto_session
from flowpy.worker import Worker, WorkerSettings

from .twin import PATIENCE, greet, order

HOLD = 30.0


@pytest.fixture
def application():
    engine = Engine(SystemClock())
    return Application(Regions(lambda _: engine), HOLD)


@pytest.fixture
def server(application):
    with Server(application) as server:
        yield server


def client_of(url):
    return Client("shop", BotoService(session=boto_session(None, url), endpoint_url=url))


def until(condition):
    deadline, nap = time.monotonic() + PATIENCE, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        nap.wait(0.005)


def test_an_idle_worker_of_the_embedded_service_stops_at_once(server, application, caplog):
    worker = Worker(
        client_of(server.url), workflows=[order], activities=[greet], settings=WorkerSettings(register_domain=1)
    )
    with caplog.at_level(logging.INFO, "flowpy.worker"):
        worker.start()
        until(lambda: application.waiting == 6)  # two threads each for decisions, those of its own list, activities
        began = time.monotonic()
        worker.stop()

    assert time.monotonic() - began < HOLD / 3
    assert "6 polls in flight, which SWF may hold for a minute and still give a task to" in caplog.text
    assert "abandoned: a task" not in caplog.text
    assert worker.abandoned == []


def test_only_the_polls_of_that_identity_end_and_they_say_that_they_found_nothing(server, application):
    client = client_of(server.url)
    client.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
    answers = {}

    def poll(identity):
        request = {"domain": "shop", "taskList": {"name": "main"}, "identity": identity}
        answers[identity] = client.service.call("PollForDecisionTask", request)

    threads = [threading.Thread(target=poll, args=(name,), daemon=True) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    until(lambda: application.waiting == 2)

    assert client.service.end_polls("one")
    threads[0].join(PATIENCE)
    assert answers == {"one": {"previousStartedEventId": 0, "startedEventId": 0}}
    assert application.waiting == 1
    assert client.service.end_polls("other")
    threads[1].join(PATIENCE)
    assert answers["other"] == answers["one"]


def test_polls_of_nobody_end_and_no_name_is_refused(server):
    assert client_of(server.url).service.end_polls("nobody")
    assert not end_polls(server.url, None)


def test_what_is_no_embedded_service_is_left_alone():
    class Other(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(400)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        assert not end_polls(f"http://127.0.0.1:{other.server_port}", "me")
        other.shutdown()
    assert not end_polls(f"http://127.0.0.1:{other.server_port}", "me")  # nobody listens any more
    assert not end_polls("https://swf.eu-west-1.amazonaws.com", "me")
    assert not end_polls("http://swf.internal:8042", "me")
