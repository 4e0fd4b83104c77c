"""Histories written by hand: what SWF would have written, links and ids filled in; all else refused."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

import flowpy
from flowpy import Retry, Signal, activity, workflow
from flowpy.errors import HistoryError
from flowpy.history import ATTRIBUTES, read_history
from flowpy.history.events import attributes
from flowpy.local.engine import check_history
from flowpy.testing import HistoryBuilder, replay

approval = Signal("approval", bool)


@activity(start_to_close_timeout="5m")
def charge(order_id: str, cents: int) -> str: ...


@activity(retry=Retry(attempts=3, initial="2s"))
def ship(order_id: str) -> str: ...


@workflow
async def parcel(order_id: str) -> str: ...


@workflow
async def order(order_id: str) -> str:
    receipt = await charge(order_id, 4200)
    if not await approval.receive(timeout="3d"):
        return "declined"
    await flowpy.sleep(60)
    await ship(order_id)
    await parcel(order_id)
    return receipt


def types(history: HistoryBuilder) -> list[str]:
    return [event["eventType"] for event in history.history()]


def last(history: HistoryBuilder) -> dict[str, Any]:
    return attributes(history.history()[-1])


def test_a_whole_run_in_a_few_lines_is_one_that_the_code_goes_through() -> None:
    history = HistoryBuilder(order, "o-7")
    history.schedule(charge, "o-7", 4200).complete("r-1")
    timeout = history.start_timer("3d")
    history.signal(approval, True)
    timeout.cancel()
    history.start_timer(60).fire()
    history.schedule(ship, "o-7").complete("p-1")
    history.start_child(parcel, "o-7").complete("done")
    history.complete("r-1")

    replayed = replay(order, history, strict=True)

    assert (replayed.result, replayed.closed) == ("r-1", "WorkflowExecutionCompleted")
    assert [len(episode.decisions) for episode in replayed.episodes] == [1, 1, 2, 1, 1, 1]


def test_decisions_go_into_one_decision_task_until_something_happens() -> None:
    history = HistoryBuilder("order")
    first, second = history.schedule("a"), history.schedule("a")
    first.complete()
    history.start_timer(5)

    assert (first.id, second.id) == ("a-1", "a-2")
    assert types(history) == [
        "WorkflowExecutionStarted",
        "DecisionTaskScheduled",
        "DecisionTaskStarted",
        "DecisionTaskCompleted",
        "ActivityTaskScheduled",
        "ActivityTaskScheduled",
        "ActivityTaskStarted",
        "ActivityTaskCompleted",
        "DecisionTaskScheduled",
        "DecisionTaskStarted",
        "DecisionTaskCompleted",
        "TimerStarted",
    ]


def test_what_comes_while_a_decision_is_made_brings_the_next_decision_task() -> None:
    history = HistoryBuilder("order")
    history.begin_decision()
    history.signal("go")
    history.schedule("a")
    history.decide()

    assert types(history)[2:] == [
        "DecisionTaskStarted",
        "WorkflowExecutionSignaled",
        "DecisionTaskScheduled",
        "DecisionTaskCompleted",
        "ActivityTaskScheduled",
        "DecisionTaskStarted",
        "DecisionTaskCompleted",
    ]


def test_a_refused_decision_brings_a_decision_task_at_the_end_of_its_batch() -> None:
    history = HistoryBuilder("order")
    history.schedule("a", refused="OPEN_ACTIVITIES_LIMIT_EXCEEDED")
    history.schedule("b")

    assert types(history)[4:] == ["ScheduleActivityTaskFailed", "ActivityTaskScheduled", "DecisionTaskScheduled"]
    # Having looked changes nothing: the batch still goes on.
    history.schedule("c")
    assert types(history)[5:] == ["ActivityTaskScheduled", "ActivityTaskScheduled", "DecisionTaskScheduled"]


def test_a_declared_activity_is_recorded_with_its_options_and_its_policy() -> None:
    history = HistoryBuilder(order, "o-7")
    history.begin_decision()
    begun = history.log.now
    history.advance(1)
    history.schedule(charge.options(task_list="eu", activity_id="mine"), "o-7", 1)
    recorded = last(history)
    history.schedule(ship, "o-7")
    policy = json.loads(last(history)["control"])

    assert recorded["activityId"] == "mine"
    assert recorded["taskList"] == {"name": "eu"}
    assert recorded["startToCloseTimeout"] == "300"
    assert json.loads(recorded["input"]) == ["o-7", 1]
    assert policy["retry"]["attempts"] == 3
    assert policy["retry"]["first"] == int(begun.timestamp())


def test_keyword_arguments_are_recorded_as_flowpy_writes_them() -> None:
    @activity
    def pack(order_id: str, *, gift: bool = False) -> None: ...

    history = HistoryBuilder("order", kwargs={"n": 1})
    history.schedule(pack, "o-7", kwargs={"gift": True})

    assert json.loads(attributes(history.history()[0])["input"]) == {"args": [], "kwargs": {"n": 1}}
    assert json.loads(last(history)["input"]) == {"args": ["o-7"], "kwargs": {"gift": True}}


def test_time_goes_by_as_it_is_told_and_timers_fire_at_their_time() -> None:
    start = dt.datetime(2025, 5, 1, tzinfo=dt.UTC)
    history = HistoryBuilder("order", start=start)
    timer = history.start_timer("1h")
    history.advance("10m")
    history.signal("go")
    timer.fire()

    assert [event["eventTimestamp"] - start for event in history.history()[-3:]] == [
        dt.timedelta(minutes=10),
        dt.timedelta(minutes=10),
        dt.timedelta(hours=1),
    ]


def test_published_state_is_recorded() -> None:
    history = HistoryBuilder("order")
    history.decide(state={"step": 1})

    assert json.loads(last(history)["executionContext"])["state"] == {"step": 1}


# --- every event ------------------------------------------------------------------------------


def _begun() -> HistoryBuilder:
    return HistoryBuilder("order", "o-7", tagList=["eu"])


def activities(history: HistoryBuilder) -> None:
    one, two, three, four = (history.schedule("a", n) for n in range(4))
    late = history.schedule("late")
    history.schedule("a", refused="OPEN_ACTIVITIES_LIMIT_EXCEEDED")
    one.start("w-1")
    one.complete({"x": 1})
    two.fail(ValueError("no"))
    three.time_out("HEARTBEAT", details=5)
    late.time_out("SCHEDULE_TO_START")
    four.request_cancel()
    one.request_cancel(refused="ACTIVITY_ID_UNKNOWN")
    four.cancel("stopped")
    history.schedule("a").fail(reason="said", details="so")


def timers(history: HistoryBuilder) -> None:
    one, two = history.start_timer(5), history.start_timer(5, id="mine")
    history.start_timer(5, refused="OPEN_TIMERS_LIMIT_EXCEEDED")
    one.fire()
    two.cancel()
    one.cancel(refused="TIMER_ID_UNKNOWN")


def children(history: HistoryBuilder) -> None:
    six = [history.start_child("c", n) for n in range(6)]
    history.start_child("c", refused="OPEN_CHILDREN_LIMIT_EXCEEDED")
    six[0].start()
    six[0].complete(1)
    six[1].fail(ValueError("no"))
    six[2].cancel("stopped")
    six[3].terminate()
    six[4].time_out()
    six[5].refuse()


def external(history: HistoryBuilder) -> None:
    asked = [history.signal_external("other", approval, True), history.cancel_external("other", run_id="r")]
    child = history.start_child(parcel, "o-7")
    asked += [history.signal_external("other", "go", id="t1.signal-1"), child.request_cancel()]
    for request in asked[:2]:
        request.deliver()
    for request in asked[2:]:
        request.fail()
    assert [request.id for request in asked] == ["signal-1", "cancel-1", "t1.signal-1", "parcel-1.cancel"]


def functions(history: HistoryBuilder) -> None:
    four = [history.schedule_lambda("resize", n, startToCloseTimeout="5") for n in range(4)]
    history.schedule_lambda("resize", refused="ID_ALREADY_IN_USE")
    four[0].start()
    four[0].complete("ok")
    four[1].fail(reason="Error", details="{}")
    four[2].time_out()
    four[3].fail_to_start(message="no role")


def markers(history: HistoryBuilder) -> None:
    history.record_marker("mine", "text")
    history.record_side_effect({"n": 1})
    history.record_patch("audit")
    history.record_marker("mine", refused="OPERATION_NOT_PERMITTED")


def decision_tasks(history: HistoryBuilder) -> None:
    history.time_out_decision("SCHEDULE_TO_START")
    history.begin_decision()
    history.request_cancel()
    history.time_out_decision()
    history.decide()
    history.signal("go", text="raw")
    history.decide()


def refused_closes(history: HistoryBuilder) -> None:
    def late() -> None:
        history.begin_decision()
        history.signal("late")

    late()
    history.complete(refused="UNHANDLED_DECISION")
    late()
    history.fail(refused="UNHANDLED_DECISION")
    late()
    history.cancel(refused="UNHANDLED_DECISION")
    late()
    history.continue_as_new(refused="UNHANDLED_DECISION")


CLOSES: dict[str, Callable[[HistoryBuilder], Any]] = {
    "WorkflowExecutionCompleted": lambda history: history.complete("done"),
    "WorkflowExecutionFailed": lambda history: history.fail(ValueError("no")),
    "WorkflowExecutionCanceled": lambda history: history.cancel("stopped"),
    "WorkflowExecutionContinuedAsNew": lambda history: history.continue_as_new("o-8"),
    "WorkflowExecutionTerminated": lambda history: history.terminate("enough"),
    "WorkflowExecutionTimedOut": lambda history: history.time_out(),
}
STORIES = [activities, timers, children, external, functions, markers, decision_tasks, refused_closes]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_every_story_is_one_of_swf(story: Callable[[HistoryBuilder], None]) -> None:
    history = _begun()

    story(history)

    check_history(history.history())
    assert read_history(history.history()).workflow_type == ("order", "1.0")


@pytest.mark.parametrize("close", CLOSES)
def test_a_run_ends_in_every_way(close: str) -> None:
    history = _begun()

    CLOSES[close](history)

    assert types(history)[-1] == close
    assert read_history(history.history()).close_event is not None


def test_all_54_events_can_be_written() -> None:
    written: set[str] = set()
    for tell in (*STORIES, *CLOSES.values()):
        history = _begun()
        tell(history)
        written.update(types(history))

    assert written == set(ATTRIBUTES)


def test_a_continued_run_keeps_what_it_was_started_with() -> None:
    history = _begun()
    history.continue_as_new("o-8")

    assert last(history)["tagList"] == ["eu"]
    assert json.loads(last(history)["input"]) == ["o-8"]


# --- what cannot be ---------------------------------------------------------------------------


def _fires_twice(history: HistoryBuilder) -> None:
    timer = history.start_timer(5)
    timer.fire()
    timer.fire()


def _decides_with_nothing_to_see(history: HistoryBuilder) -> None:
    history.schedule("a").start()
    history.start_timer(5)


def _closes_over_a_signal(history: HistoryBuilder) -> None:
    history.begin_decision()
    history.signal("late")
    history.complete()


def _goes_on_after_the_close(history: HistoryBuilder) -> None:
    history.complete()
    history.signal("late")


def _same_id_twice(history: HistoryBuilder) -> None:
    history.schedule("a", id="mine")
    history.schedule("b", id="mine")


def _starts_twice(history: HistoryBuilder) -> None:
    charged = history.schedule("a")
    charged.start()
    charged.start()


def _unknown_cause(history: HistoryBuilder) -> None:
    history.schedule("a", refused="TOO_MANY")


def _unknown_attribute(history: HistoryBuilder) -> None:
    history.schedule("a", tasklist="eu")


def _refused_close_with_nothing_new(history: HistoryBuilder) -> None:
    history.complete(refused="UNHANDLED_DECISION")


def _begins_twice(history: HistoryBuilder) -> None:
    history.begin_decision()
    history.begin_decision()


def _goes_back(history: HistoryBuilder) -> None:
    history.log.advance(-1)


def _decides_after_a_refused_close(history: HistoryBuilder) -> None:
    history.begin_decision()
    history.signal("late")
    history.complete(refused="UNHANDLED_DECISION")
    history.schedule("a")


def _child_refused_after_start(history: HistoryBuilder) -> None:
    child = history.start_child("c")
    child.start()
    child.refuse()


@pytest.mark.parametrize(
    ("tell", "said"),
    [
        (_fires_twice, r"event 8 cannot be TimerFired: timer timer-1 has ended with event 6 \(TimerFired\)"),
        (_decides_with_nothing_to_see, "no decision task waits: nothing .* since event 4. Let something happen first"),
        (_closes_over_a_signal, 'decision task 5 waits, so SWF refuses every close. Give refused="UNHANDLED_DECISION"'),
        (_goes_on_after_the_close, "event 5 .WorkflowExecutionCompleted. closed the run.* Write it before the close"),
        (_same_id_twice, "activity mine is open since event 5. End that first, give another id, or say refused="),
        (_starts_twice, "activity a-1 has started with event 6. Schedule it again"),
        (_unknown_cause, "cause 'TOO_MANY' is none of ACTIVITY_TYPE_DEPRECATED, "),
        (_unknown_attribute, "tasklist is unknown; there are activityType, activityId, "),
        (
            _refused_close_with_nothing_new,
            "when something came while the decision was made, and nothing did. Write",
        ),
        (_begins_twice, "decision task 3 is being decided. Complete that first"),
        (_decides_after_a_refused_close, "event 7 refused a close, and a close is the last .* with decide"),
        (_goes_back, "time in a history never goes back"),
        (_child_refused_after_start, "has started with event 6. Leave start"),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_what_swf_would_not_write_is_refused_with_the_remedy(tell: Callable[[HistoryBuilder], None], said: str) -> None:
    with pytest.raises(HistoryError, match=said) as caught:
        tell(_begun())

    assert caught.value.event_id is not None
    assert re.match(r"event \d+ cannot be ", str(caught.value))


def test_a_refused_event_leaves_the_history_as_it_was() -> None:
    history = _begun()
    history.schedule("a")
    before = history.history()
    with pytest.raises(HistoryError):
        history.schedule("b", refused="TOO_MANY")

    assert history.history() == before


def test_events_given_out_are_copies() -> None:
    history = _begun()
    attributes(history.history()[0])["input"] = "spoiled"

    assert attributes(history.history()[0])["input"] == '["o-7"]'


@pytest.mark.parametrize(
    ("tell", "says"),
    [
        (lambda: HistoryBuilder(charge, "o-7"), "is no workflow; give what @workflow made of the function"),
        (lambda: HistoryBuilder(order, "o-7").schedule(order, "o-7"), "is no activity; give what @activity made"),
        (lambda: HistoryBuilder(order, "o-7").schedule(charge.fn, "o-7"), "is no activity"),
        (lambda: HistoryBuilder(order, "o-7").start_child(charge, "o-7"), "is no workflow"),
    ],
)
def test_what_is_told_is_of_the_kind_that_is_asked_for(tell: Callable[[], object], says: str) -> None:
    with pytest.raises(flowpy.DeclarationError, match=says):
        tell()
