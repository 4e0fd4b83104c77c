"""Rows and bars, made from histories of every origin."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from flowpy.history import ATTRIBUTES
from flowpy.testing import HistoryBuilder
from flowpy.view import Kind, Outcome, Timeline, as_html, as_svg, timeline
from flowpy.view.summary import note
from flowpy.view.terminal import as_text
from flowpy.view.wording import width_of

from .histories import EVERY, hanging, made, rude, shipped

START = datetime(2026, 11, 30, tzinfo=UTC)


def outcomes(shown: Timeline) -> dict[tuple[Kind, str], Outcome]:
    return {(row.kind, row.id): row.outcome for row in shown.rows}


def row_of(shown: Timeline, id: str) -> Any:
    return next(row for row in shown.rows if row.id == id)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_every_event_stands_in_exactly_one_bar(path: Path) -> None:
    shown = timeline(path)

    found = Counter(event_id for bar in shown.bars() for event_id in bar.event_ids)

    assert found == Counter(event["eventId"] for event in shown.events)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_bars_go_forwards_and_stay_inside(path: Path) -> None:
    shown = timeline(path)

    for bar in shown.bars():
        started, closed = bar.started or bar.scheduled, bar.closed or shown.end
        assert shown.begin <= bar.scheduled <= started <= closed <= shown.end
        assert bar.outcome.is_open == (bar.closed is None)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_only_what_is_open_waits(path: Path) -> None:
    shown = timeline(path)

    assert bool(shown.open_work) == shown.execution.outcome.is_open
    assert {work.event_id for work in shown.open_work} == {
        row_bar.event_ids[0] for row in shown.rows[1:] for row_bar in row.bars if row_bar.outcome.is_open
    } or len(shown.open_work) == 1


def test_all_that_an_order_did() -> None:
    assert outcomes(made(hanging())) == {
        (Kind.EXECUTION, ""): Outcome.STARTED,
        (Kind.DECISION, ""): Outcome.SCHEDULED,
        (Kind.ACTIVITY, "reserve-1"): Outcome.COMPLETED,
        (Kind.CHILD, "fraud-o-7"): Outcome.COMPLETED,
        (Kind.TIMER, "timer-1"): Outcome.CANCELED,
        (Kind.MARKER, "flowpy.side_effect"): Outcome.COMPLETED,
        (Kind.ACTIVITY, "charge-1"): Outcome.STARTED,
        (Kind.EXTERNAL, "signal-1"): Outcome.COMPLETED,
        (Kind.LAMBDA, "lambda-1"): Outcome.FAILED,
        (Kind.SIGNAL, "approval"): Outcome.COMPLETED,
        (Kind.TIMER, "timer-2"): Outcome.STARTED,
        (Kind.ACTIVITY, "notify-1"): Outcome.REFUSED,
        (Kind.ACTIVITY, "print_card-1"): Outcome.CANCELED,
        (Kind.ACTIVITY, "wrap-1"): Outcome.SCHEDULED,
        (Kind.SIGNAL, "note"): Outcome.COMPLETED,
    }


def test_attempts_and_the_timers_between_them_stand_in_one_row() -> None:
    charge = row_of(made(hanging()), "charge-1")

    assert [(bar.id, str(bar.kind), str(bar.outcome), bar.said) for bar in charge.bars] == [
        ("charge-1", "activity", "failed", "ConnectionResetError: the bank hung up"),
        ("charge-1.w2", "timer", "completed", ""),
        ("charge-1.r2", "activity", "timed out", "START_TO_CLOSE"),
        ("charge-1.w3", "timer", "completed", ""),
        ("charge-1.r3", "activity", "started", ""),
    ]
    assert (charge.attempts, charge.name, charge.is_troubled) == (3, "charge 1.0", True)


def test_ids_used_again_stand_in_one_row() -> None:
    history = HistoryBuilder("poll")
    for _ in range(3):
        history.start_timer(5, id="tick").fire()

    assert [bar.outcome for bar in row_of(made(history), "tick").bars] == [Outcome.COMPLETED] * 3


def test_what_was_open_at_the_close_is_left_open() -> None:
    history = HistoryBuilder("order")
    history.schedule("charge")
    history.start_timer("3d")
    history.terminate("wrong customer")

    shown = made(history)

    assert outcomes(shown)[Kind.ACTIVITY, "charge-1"] is Outcome.LEFT_OPEN
    assert (shown.execution.outcome, shown.execution.said) == (Outcome.TERMINATED, "wrong customer")
    assert shown.open_work == ()


@pytest.mark.parametrize(
    ("close", "outcome", "said"),
    [
        ("complete", Outcome.COMPLETED, ""),
        ("cancel", Outcome.CANCELED, ""),
        ("time_out", Outcome.TIMED_OUT, "START_TO_CLOSE"),
        ("continue_as_new", Outcome.COMPLETED, "continued as new, in run run-1-2"),
    ],
)
def test_ends_of_the_run(close: str, outcome: Outcome, said: str) -> None:
    history = HistoryBuilder("order")
    getattr(history, close)()

    assert (made(history).execution.outcome, made(history).execution.said) == (outcome, said)


def test_refused_decisions_that_begin_nothing_stand_with_the_decision_tasks() -> None:
    history = HistoryBuilder("order")
    charge = history.schedule("charge")
    charge.request_cancel(refused="ACTIVITY_ID_UNKNOWN")
    charge.complete()

    shown = made(history)

    assert row_of(shown, "charge-1").outcome is Outcome.COMPLETED
    assert [bar.said for bar in shown.rows[1].bars if bar.outcome is Outcome.REFUSED] == [
        "RequestCancelActivityTask of charge-1: ACTIVITY_ID_UNKNOWN"
    ]


def test_event_types_that_are_not_known_have_a_row() -> None:
    events = [*shipped().history()]
    last = {**events[-1], "eventId": len(events), "eventType": "SomethingNew"}
    del last["workflowExecutionCompletedEventAttributes"]

    assert row_of(timeline([*events[:-1], last]), "SomethingNew").kind is Kind.OTHER


def test_it_says_what_to_look_at_first() -> None:
    told = made(hanging(), later=300).open_work

    assert [(str(work.kind), work.id, work.is_alarming, work.text) for work in told] == [
        (
            "decision tasks",
            "",
            True,
            "scheduled 5m ago, no worker has taken it from task list 'main'; the one before it timed out",
        ),
        (
            "activity",
            "charge-1.r3",
            True,
            (
                "charge 1.0: started 6m 5s ago by worker-2@shop-b, timeout due 5m 5s ago; "
                "2 attempts failed, the last one timed out: START_TO_CLOSE"
            ),
        ),
        (
            "activity",
            "wrap-1",
            True,
            "wrap 1.0: scheduled 7m 56s ago, no worker has taken it from task list 'gifts', no timeout",
        ),
        ("timer", "timer-2", False, "fires in 1d 23h (2025-01-03 12:00:39 UTC)"),
    ]


def test_it_says_which_timeout_an_activity_has() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    timeouts = ({"heartbeatTimeout": "60"}, {"heartbeatTimeout": "NONE"}, {"startToCloseTimeout": "90"})
    packed = [history.schedule("pack", **each) for each in timeouts]
    history.schedule("pack", heartbeatTimeout="60")
    for each in packed:
        each.start("w")
    history.advance(10)
    history.signal("go")

    assert [work.text for work in made(history).open_work if work.kind is Kind.ACTIVITY] == [
        "pack 1.0: started 10s ago by w, times out if 1m pass without a heartbeat",
        "pack 1.0: started 10s ago by w, no timeout",
        "pack 1.0: started 10s ago by w, times out in 1m 20s",
        "pack 1.0: scheduled 10s ago, no worker has taken it from task list 'main', no timeout",
    ]


def test_what_is_open_is_trouble_though_another_of_its_name_ended_later() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    history.signal_external("other", "go", id="tell")
    history.signal_external("other", "go", id="tell").deliver()
    row = next(row for row in made(history).rows if row.kind is Kind.EXTERNAL)

    assert row.outcome is Outcome.COMPLETED
    assert row.is_troubled


def test_what_was_refused_is_no_decision_task() -> None:
    history = HistoryBuilder("order", workflow_id="o")
    history.begin_decision()
    history.signal("news")
    history.complete(refused="UNHANDLED_DECISION")
    shown = made(history)

    assert (note(shown.rows[1], shown), shown.rows[1].last.outcome) == ("2, 1 refused", Outcome.REFUSED)


def test_it_says_that_a_run_is_held() -> None:
    history = HistoryBuilder("order")
    history.start_timer(60, id="flowpy.hold-1").fire()
    history.start_timer(120, id="flowpy.hold-2")

    (held,) = made(history).open_work

    assert (held.is_alarming, held.text[:45]) == (True, "held: no worker could decide the run, their l")
    assert row_of(made(history), "flowpy.hold").attempts == 2


def test_it_says_that_nothing_is_open() -> None:
    history = HistoryBuilder("order", executionStartToCloseTimeout="3600")
    history.decide()

    (waiting,) = made(history, later=600).open_work

    assert waiting.text == ("nothing is open: it waits for a signal, or its code has not decided, times out in 50m")


def test_as_plain_data() -> None:
    data = made(shipped()).to_json()

    assert {name: data[name] for name in ("workflow_id", "outcome", "begin", "end", "event_count")} == {
        "workflow_id": "order-o-8",
        "outcome": "completed",
        "begin": "2025-01-01T12:00:00.000Z",
        "end": "2025-01-01T12:00:40.000Z",
        "event_count": 22,
    }
    assert data["rows"][2] == {
        "kind": "activity",
        "id": "charge-1",
        "name": "charge 1.0",
        "outcome": "completed",
        "attempts": 1,
        "bars": [
            {
                "id": "charge-1",
                "kind": "activity",
                "outcome": "completed",
                "scheduled": "2025-01-01T12:00:00.000Z",
                "started": "2025-01-01T12:00:02.000Z",
                "closed": "2025-01-01T12:00:05.000Z",
                "due": None,
                "heartbeat": None,
                "said": "",
                "place": "worker-1@shop-a",
                "event_ids": [5, 6, 7],
                "is_alarming": False,
            }
        ],
    }


def test_every_event_type_of_swf_is_understood() -> None:
    from flowpy.view import building

    begun = {*building._BEGINNINGS, *building._STARTS, *building._ENDS, *building._REFUSALS, *building._OTHERS}
    refused = {kind for kind in ATTRIBUTES if kind.endswith("Failed") and kind not in begun}

    assert set(ATTRIBUTES) - begun == refused
    assert all(kind in building.DECISION_EVENTS for kind in refused)


def test_odd_durations_do_no_harm() -> None:
    events = shipped().history()
    for attributes in (event[key] for event in events for key in event if key.endswith("Attributes")):
        for name in attributes:
            if name.endswith("Timeout"):
                attributes[name] = "9" * 400

    assert timeline(events).execution.due is None


def test_times_that_go_back_do_no_harm() -> None:
    events = hanging().history()
    for event in events:
        event["eventTimestamp"] = START + timedelta(seconds=event["eventId"] * 37 % 101 - 50)
    shown = timeline(events)

    assert all(max(map(width_of, as_text(shown, width=width).splitlines())) <= width for width in (60, 120))
    assert as_svg(shown)
    assert as_html(shown)


def test_rude_texts_stay_what_they_are() -> None:
    text = "</script>\x1b]0;owned\x07<b>"

    assert {row.id for row in rude(text).rows} >= {text}
