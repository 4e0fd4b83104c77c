"""The judge is judged: a good history, broken in one way, is found out at the event that is broken."""

from __future__ import annotations

from copy import deepcopy

import pytest
from botocore.loaders import Loader

from flowpy.errors import HistoryError
from flowpy.local.engine import check_history
from flowpy.local.engine.invariants import CLOSES, LINKS
from flowpy.local.engine.recording import WAKES

CHARGE = {"name": "charge", "version": "1"}


@pytest.fixture
def events(swf, make):
    run_id = swf.start()
    swf.decide(
        make("ScheduleActivityTask", activityId="a", activityType=CHARGE),
        make("StartTimer", timerId="t", startToFireTimeout="5"),
        make("CancelTimer", timerId="none"),
    )
    swf.decide()
    swf.complete(swf.take())
    swf.engine.advance(5)
    swf.decide(make("CompleteWorkflowExecution"))
    return swf.events(run_id)


def body(event):
    return next(value for name, value in event.items() if name.endswith("EventAttributes"))


def find(events, event_type):
    return next(event for event in events if event["eventType"] == event_type)


def lose_an_event(events):
    del events[4]


def begin_in_the_middle(events):
    del events[0]
    for number, event in enumerate(events, 1):
        event["eventId"] = number


def go_back_in_time(events):
    events[9]["eventTimestamp"] = events[0]["eventTimestamp"].replace(year=2020)


def carry_foreign_attributes(events):
    find(events, "TimerFired")["timerStartedEventAttributes"] = {}


def point_forward(events):
    body(find(events, "TimerFired"))["startedEventId"] = len(events)


def point_at_another_kind(events):
    body(find(events, "TimerFired"))["startedEventId"] = 5


def point_at_an_older_decision(events):
    body(events[-1])["decisionTaskCompletedEventId"] = 4


def end_twice(events):
    fired = deepcopy(find(events, "TimerFired"))
    events.insert(fired["eventId"], fired)
    events[:] = events[: fired["eventId"] + 1]
    fired["eventId"] += 1


def schedule_twice(events):
    events[:] = [*events[:2], deepcopy(events[1]) | {"eventId": 3}]


def start_twice(events):
    events[:] = [*events[:3], deepcopy(events[2]) | {"eventId": 4}]


def open_an_id_twice(events):
    timer = find(events, "TimerStarted")
    events[:] = [*events[: timer["eventId"]], deepcopy(timer) | {"eventId": timer["eventId"] + 1}]


def forget_to_wake(events):
    woken = next(event for event in events[5:] if event["eventType"] == "DecisionTaskScheduled")
    events[:] = [
        *events[: woken["eventId"] - 1],
        {
            "eventId": woken["eventId"],
            "eventTimestamp": woken["eventTimestamp"],
            "eventType": "ActivityTaskStarted",
            "activityTaskStartedEventAttributes": {"scheduledEventId": 5},
        },
    ]


def close_too_early(events):
    close = events[-1]
    events[-1:] = [
        deepcopy(find(events, "DecisionTaskScheduled"))
        | {"eventId": close["eventId"], "eventTimestamp": close["eventTimestamp"]},
        close | {"eventId": close["eventId"] + 1},
    ]


def go_on_after_the_close(events):
    close = events[-1]
    events.append(deepcopy(find(events, "DecisionTaskScheduled")))
    events[-1] |= {"eventId": close["eventId"] + 1, "eventTimestamp": close["eventTimestamp"]}


BREAKS = {
    lose_an_event: "should have id 5",
    begin_in_the_middle: "begins with its only WorkflowExecutionStarted",
    go_back_in_time: "is earlier than the event before",
    carry_foreign_attributes: "should have timerFiredEventAttributes and no other",
    point_forward: "is not earlier",
    point_at_another_kind: "is an ActivityTaskScheduled, not a TimerStarted",
    point_at_an_older_decision: "but the last DecisionTaskCompleted is",
    end_twice: "what event 6 opened is closed",
    schedule_twice: "decision task 2 waits already",
    start_twice: "but 0 waits and 3 runs",
    open_an_id_twice: "timerId 't' is open already",
    forget_to_wake: "no decision task was scheduled for it",
    close_too_early: "closed by a decision although decision task",
    go_on_after_the_close: "follows the close",
}


def test_a_good_history_passes_whole_and_in_part(events):
    for length in range(len(events) + 1):
        check_history(events[:length])


@pytest.mark.parametrize(("broken", "why"), BREAKS.items(), ids=[broken.__name__ for broken in BREAKS])
def test_a_broken_history_is_found_out(events, broken, why):
    broken(events)
    with pytest.raises(HistoryError) as caught:
        check_history(events)
    assert why in str(caught.value)
    assert caught.value.event_id is not None


def test_the_tables_name_no_event_that_does_not_exist():
    known = set(Loader().load_service_model("swf", "service-2")["shapes"]["EventType"]["enum"])
    assert len(known) == 54
    named = {target for links in LINKS.values() for target in links.values()}
    assert (set(WAKES) | set(LINKS) | set(CLOSES) | named) <= known
