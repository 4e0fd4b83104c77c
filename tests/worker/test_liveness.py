"""A worker that cannot poll says so."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request

import pytest

from flowpy import errors
from flowpy.worker import Worker, WorkerSettings
from flowpy.worker.health import Health
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.liveness import Liveness
from flowpy.worker.notifying import Notifier
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.slots import Slots

from .twin import PATIENCE, greet


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def counted():
    return []


@pytest.fixture
def liveness(clock, counted):
    return Liveness(limit=180, clock=clock, count=counted.append)


def fail(liveness, error):
    with pytest.raises(type(error)), liveness.poll():
        raise error


def test_a_worker_without_pollers_is_well(liveness):
    assert liveness.is_well
    assert not liveness.has_polled


def test_a_poll_in_flight_and_an_answered_one_are_fine(liveness, clock):
    with liveness.poller("p-1", "decisions"):
        with liveness.poll():
            clock.now = 60
            assert liveness.is_well
        assert liveness.has_polled
        clock.now = 200
        assert liveness.is_well
        assert liveness.unanswered_seconds == 140


def test_a_wait_for_the_turn_of_a_poll_is_no_stall(liveness, clock):
    """As with polls_per_second=0.001: a poll each quarter of an hour."""
    with liveness.poller("p-1", "decisions"):
        for _ in range(3):
            with liveness.poll():
                with liveness.resting():
                    clock.now += 900
                    assert liveness.check()
                    assert liveness.unanswered_seconds == 0
                clock.now += 60
                assert liveness.is_well
        with liveness.poll():
            with liveness.resting():
                clock.now += 900
            clock.now += 181
            assert liveness.reasons() == ["p-1: a poll has been without an answer for 181 s"]
        clock.now += 181
        fail(liveness, errors.Throttled("no"))
        with liveness.poll(), liveness.resting():
            clock.now += 900
            assert liveness.reasons() == ["p-1: no poll was answered for 181 s, the last one ended with Throttled: no"]


def test_a_worker_that_polls_seldom_is_well(twin):
    twin.hold = 0
    worker = Worker(
        twin, domain="shop", activities=[greet], task_list="main", settings=WorkerSettings(polls_per_second=0.001)
    )
    lifecycle, rests = worker.health.lifecycle, []

    def wait(event, seconds):
        rests.append((round(seconds, -2), [one.rests is not None for one in lifecycle.liveness._pollers.values()]))
        return False

    lifecycle.wait = wait
    poll = {"domain": "shop", "taskList": {"name": "main"}}
    with lifecycle.liveness.poller("p-1", "activities"):
        for _ in range(2):
            with lifecycle.poll():
                worker._service.call("PollForActivityTask", poll)

    assert rests == [(1000, [True])]


def test_a_poll_that_is_never_answered_is_told_by_name(liveness, clock):
    with liveness.poller("p-1", "decisions"), liveness.poll():
        clock.now = 181
        assert liveness.reasons() == ["p-1: a poll has been without an answer for 181 s"]
        assert not liveness.is_well


def test_polls_that_fail_for_long_are_told_with_their_error(liveness, clock):
    with liveness.poller("p-1", "activities"):
        fail(liveness, errors.ServiceUnavailable("no answer"))
        assert liveness.is_well
        clock.now = 200
        fail(liveness, errors.ServiceUnavailable("no answer"))
        expected = "p-1: no poll was answered for 200 s, the last one ended with ServiceUnavailable: no answer"
        assert liveness.reasons() == [expected]
        with liveness.poll():
            pass
        assert liveness.is_well


def test_a_thread_that_is_busy_with_one_decision_for_ever_is_told(liveness, clock):
    with liveness.poller("p-1", "decisions"):
        with liveness.poll():
            pass
        clock.now = 200
        assert liveness.reasons() == ["p-1: busy with one decision task for 200 s"]


def test_waiting_for_a_place_of_an_activity_is_no_trouble(liveness, clock):
    with liveness.poller("p-1", "activities"):
        clock.now = 10_000
        assert liveness.is_well


def test_one_thread_in_trouble_does_not_make_the_worker_unwell(liveness, clock):
    begun, end = threading.Event(), threading.Event()

    def stuck():
        with liveness.poller("p-2", "decisions"), liveness.poll():
            begun.set()
            end.wait(PATIENCE)

    thread = threading.Thread(target=stuck)
    thread.start()
    assert begun.wait(PATIENCE)
    with liveness.poller("p-1", "decisions"):
        clock.now = 200
        with liveness.poll():
            pass
        assert len(liveness.reasons()) == 1
        assert liveness.is_well
    assert not liveness.is_well
    liveness.forget(thread.ident)
    assert liveness.is_well
    end.set()
    thread.join(PATIENCE)


def test_it_is_said_once_and_again_after_a_while_and_when_it_is_over(liveness, clock, counted, caplog):
    with liveness.poller("p-1", "decisions"):
        with liveness.poll():
            clock.now = 200
            assert [liveness.check(), liveness.check()] == [False, False]
            clock.now = 520
            assert liveness.check() is False
        assert liveness.check() is True
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR", "WARNING"]
    assert "p-1" in caplog.text
    assert counted == ["polls_stalled"]


# --- what can be asked --------------------------------------------------------------------------


def ask(port, path="/healthz"):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


@pytest.fixture
def health(clock):
    lifecycle = Lifecycle()
    lifecycle.liveness.clock = clock
    made = Health(lifecycle, Slots(3), Quarantine(), notifier=Notifier({}))
    made.open("127.0.0.1", 0)
    yield made
    made.close()


def test_a_probe_is_answered_with_reasons(health, clock):
    with health.lifecycle.liveness.poller("p-1", "decisions"):
        with health.lifecycle.liveness.poll():
            status, body = ask(health.port)
            assert (status, body["status"], body["reasons"]) == (200, "ok", [])
            assert ask(health.port, "/readyz")[0] == 200
            clock.now = 500
            health.quarantine.failed("r")
            status, body = ask(health.port)
        assert (status, body["status"]) == (503, "stalled")
        assert body["reasons"] == ["p-1: a poll has been without an answer for 500 s"]
        assert (body["quarantined_runs"], body["free_activity_slots"], body["tasks"]) == (1, 3, 0)


def test_a_worker_that_drains_is_alive_and_not_ready(health, clock):
    with health.lifecycle.liveness.poller("p-1", "decisions"):
        health.drains()
        clock.now = 500
        assert ask(health.port)[0] == 200
        assert ask(health.port)[1]["status"] == "draining"
        assert ask(health.port, "/readyz")[0] == 503


class Listening:
    watchdog = None

    def __init__(self):
        self.told = []

    def send(self, **states):
        self.told.append(states)


def test_what_is_told_to_the_supervisor(health):
    health.notifier = Listening()
    health.look()
    with health.lifecycle.liveness.poller("p-1", "decisions"), health.lifecycle.liveness.poll():
        health.look()
        health.drains()
        health.look()
    assert [each.get("READY") for each in health.notifier.told] == [None, "1", None, None]
    assert [each.get("STOPPING") for each in health.notifier.told] == [None, None, "1", None]
    reports = [json.loads(each["X_FLOWPY"])["status"] for each in health.notifier.told if "X_FLOWPY" in each]
    assert reports == ["starting", "ok", "draining"]


def test_a_worker_that_does_not_poll_yet_is_alive_and_not_ready(health):
    assert ask(health.port)[0] == 200
    assert ask(health.port)[1]["status"] == "starting"
    assert ask(health.port, "/readyz")[0] == 503


def test_there_are_no_other_pages(health):
    assert ask(health.port, "/metrics")[0] == 404


def test_a_worker_answers_probes_from_its_start_to_its_end(twin):
    settings = WorkerSettings(health_port=0)
    with Worker(twin, domain="shop", activities=[greet], task_list="main", settings=settings) as worker:
        twin.wait_for("PollForActivityTask")
        port = worker.health.port
        assert ask(port)[0] == 200
        assert ask(port, "/readyz")[0] == 200
    assert worker.health.port is None
    with pytest.raises(OSError, match="refused"):
        ask(port)


def test_without_a_port_nothing_listens(twin):
    with Worker(twin, domain="shop", activities=[greet], task_list="main") as worker:
        assert worker.health.port is None
