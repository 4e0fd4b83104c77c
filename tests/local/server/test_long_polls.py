"""Polls over HTTP: held, answered first come first served, and never answered into a closed socket."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from flowpy.errors import UnknownResource
from flowpy.local import Engine, SystemClock
from flowpy.local.server import Application, Regions, Server

DECIDERS = {"domain": "shop", "taskList": {"name": "deciders"}}
Wait = Callable[[int], None]


def timer(seconds: int) -> dict[str, Any]:
    attributes = {"timerId": "t", "startToFireTimeout": str(seconds)}
    return {"decisionType": "StartTimer", "startTimerDecisionAttributes": attributes}


def reset(opened: socket.socket) -> None:
    """Closes a socket the hard way, as a process that dies does."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    opened.close()


# --- held -----------------------------------------------------------------------------------


def test_a_poll_waits_for_a_task(shop: Any, polls: Any, wait: Wait) -> None:
    poll = polls.decision()
    wait(1)

    run_id = shop.start()

    assert poll.result(10)["workflowExecution"] == {"workflowId": "w", "runId": run_id}


@pytest.mark.parametrize(
    ("operation", "empty"),
    [
        ("PollForDecisionTask", {"previousStartedEventId": 0, "startedEventId": 0}),
        ("PollForActivityTask", {"startedEventId": 0}),
    ],
)
def test_a_poll_that_found_nothing_says_so_when_the_hold_is_over(
    shop: Any, application: Application, engine: Engine, operation: str, empty: dict[str, int]
) -> None:
    application.polls(engine).hold = 0.2
    began = time.monotonic()

    answer = shop.call(operation, **DECIDERS)

    assert answer == empty
    assert 0.2 <= time.monotonic() - began < 5
    assert application.waiting == 0


def test_polls_are_served_in_the_order_they_came(shop: Any, read: Any, wait: Wait) -> None:
    waiting = []
    for count in range(1, 4):
        waiting.append(shop.open_poll())
        wait(count)

    for number, poll in enumerate(waiting):
        shop.start(f"w{number}")
        assert read(poll).json["workflowExecution"]["workflowId"] == f"w{number}"
        poll.close()


def test_one_task_wakes_one_poller(shop: Any, application: Application, wait: Wait, read: Any) -> None:
    first, second = shop.open_poll(), shop.open_poll()
    wait(2)

    shop.start()

    wait(1)
    shop.start("w2")
    ids = {read(poll).json["workflowExecution"]["workflowId"] for poll in (first, second)}
    assert ids == {"w", "w2"}
    first.close()
    second.close()


def test_a_poll_for_a_further_page_does_not_wait(shop: Any) -> None:
    shop.start()
    first = shop.call("PollForDecisionTask", **DECIDERS, maximumPageSize=2)

    second = shop.call("PollForDecisionTask", **DECIDERS, maximumPageSize=2, nextPageToken=first["nextPageToken"])

    assert [event["eventId"] for event in first["events"] + second["events"]] == [1, 2, 3]


def test_a_poll_of_an_unknown_domain_does_not_wait(wire: Any) -> None:
    assert wire.post("PollForDecisionTask", DECIDERS).kind == "UnknownResourceFault"


def test_a_fault_that_comes_while_a_poll_waits_is_its_answer(shop: Any, engine: Engine, wait: Wait, read: Any) -> None:
    poll = shop.open_poll()
    wait(1)
    engine.disrupt("PollForDecisionTask", UnknownResource("Unknown domain: shop", fault="UnknownResourceFault"))

    shop.start()

    assert read(poll).kind == "UnknownResourceFault"
    poll.close()


# --- time -----------------------------------------------------------------------------------


def test_what_falls_due_wakes_a_poller_though_nobody_calls(shop: Any, polls: Any) -> None:
    shop.start()
    task = shop.call("PollForDecisionTask", **DECIDERS)
    shop.call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=[timer(1)])

    events = polls.decision().result(10)["events"]

    fired = next(event for event in events if event["eventType"] == "TimerFired")
    started = next(event for event in events if event["eventType"] == "TimerStarted")
    assert fired["eventTimestamp"] - started["eventTimestamp"] == pytest.approx(1.0, abs=0.01)


def test_what_another_thread_does_to_the_engine_wakes_a_poller(
    shop: Any, engine: Engine, wait: Wait, read: Any
) -> None:
    poll = shop.open_poll()
    wait(1)

    request = {"domain": "shop", "workflowId": "w", "workflowType": {"name": "order", "version": "1"}}
    engine.call("StartWorkflowExecution", request)

    assert read(poll).json["workflowExecution"]["workflowId"] == "w"
    poll.close()


# --- closed sockets -------------------------------------------------------------------------


@pytest.mark.parametrize("close", [socket.socket.close, reset], ids=["closed", "reset"])
def test_a_closed_socket_swallows_no_task(shop: Any, polls: Any, wait: Wait, close: Any) -> None:
    for number in range(30):
        gone = shop.open_poll()
        wait(1)
        close(gone)
        shop.start(f"w{number}")

        task = shop.call("PollForDecisionTask", **DECIDERS)

        assert task["workflowExecution"]["workflowId"] == f"w{number}"
        assert [event["eventType"] for event in task["events"]].count("DecisionTaskStarted") == 1


def test_a_task_goes_past_the_closed_sockets_to_the_one_that_is_open(shop: Any, wait: Wait, read: Any) -> None:
    waiting = []
    for count in range(1, 22):
        waiting.append(shop.open_poll())
        wait(count)
    for gone in waiting[:20]:
        gone.close()

    shop.start()

    assert read(waiting[20]).json["workflowExecution"]["workflowId"] == "w"
    waiting[20].close()
    wait(0)


def test_a_client_that_left_before_its_poll_was_read_gets_no_task(shop: Any, application: Application) -> None:
    shop.start()
    for _ in range(20):
        shop.open_poll().close()

    task = shop.call("PollForDecisionTask", **DECIDERS)

    # Each poll was read when its socket was closed, or had been answered before it was.
    assert task["startedEventId"] in {0, 3}


def test_a_poller_that_left_is_forgotten(shop: Any, wait: Wait) -> None:
    polls = [shop.open_poll() for _ in range(5)]
    wait(5)

    for poll in polls:
        poll.close()

    wait(0)


def test_under_traffic_no_task_is_lost_to_pollers_that_come_and_go(shop: Any) -> None:
    """Pollers leave while tasks are given out; each task is in an answer that was sent, or still there."""
    answers: list[bytes] = []
    over = threading.Event()

    def flit() -> None:
        while not over.is_set():
            poll = shop.open_poll()
            over.wait(0.001)
            # To the server this is the end, but what it had sent before can be read, and so be counted.
            poll.shutdown(socket.SHUT_WR)
            with poll, poll.makefile("rb") as answer:
                answers.append(answer.read())

    flitters = [threading.Thread(target=flit) for _ in range(3)]
    for flitter in flitters:
        flitter.start()
    for number in range(60):
        shop.start(f"w{number}")
    over.set()
    for flitter in flitters:
        flitter.join()

    given = sum(b"taskToken" in answer for answer in answers)
    left = shop.call("CountPendingDecisionTasks", **DECIDERS)["count"]
    assert given + left == 60
    assert given < len(answers)


# --- many -----------------------------------------------------------------------------------


def test_a_thousand_pollers_wait_at_once_and_the_next_is_one_too_many(shop: Any, wait: Wait, read: Any) -> None:
    waiting = [shop.open_poll() for _ in range(1_000)]
    wait(1_000)

    assert shop.post("PollForDecisionTask", DECIDERS).kind == "LimitExceededFault"
    other = shop.open_poll({"domain": "shop", "taskList": {"name": "others"}})
    wait(1_001)

    began = time.monotonic()
    shop.start()
    assert read(waiting[0]).json["workflowExecution"]["workflowId"] == "w"
    assert time.monotonic() - began < 5
    for poll in [*waiting, other]:
        poll.close()
    wait(0)
    assert shop.call("ListDomains", registrationStatus="REGISTERED")


# --- the end --------------------------------------------------------------------------------


def test_a_server_that_stops_answers_the_polls_that_wait(new_wire: Any, read: Any, wait_until: Any) -> None:
    engine = Engine(SystemClock())
    application = Application(Regions(lambda _: engine), 60.0)
    with Server(application) as server:
        wire = new_wire(server.url)
        wire.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")
        poll = wire.open_poll()
        wait_until(lambda: application.waiting == 1)
        began = time.monotonic()

    assert json.loads(read(poll).body) == {"previousStartedEventId": 0, "startedEventId": 0}
    assert time.monotonic() - began < 3
    poll.close()
