"""An engine that ends at any moment and is made again on the same file goes on where it was."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing, suppress

import pytest

from flowpy.errors import ServiceError, UnknownResource
from flowpy.local.engine import Engine, Quotas, VirtualClock, check_history
from flowpy.local.store import SQLiteStore

NOON = 1_767_268_800.0
CHARGE = {"name": "charge", "version": "1"}
ORDER = {"name": "order", "version": "1"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "swf.sqlite"


def opened(path, now=NOON, **options):
    return Engine(VirtualClock(now), store=SQLiteStore(path), **options)


def killed(path, number=0):
    """The file as a process leaves it that is killed now: nothing is closed, nothing moved out of the log."""
    copy = path.with_name(f"killed-{number}.sqlite")
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{path}{suffix}", f"{copy}{suffix}")
    return copy


def seen(engine):
    due = engine.next_due()
    engine.tick()
    runs = list(engine.world.runs.values())
    return (
        due,
        [engine.call("DescribeWorkflowExecution", {"domain": "shop", "execution": run.reference}) for run in runs],
        [list(run.events) for run in runs],
    )


def script(swf, make):
    """A day in the shop, one step at a time."""
    swf.call("TagResource", resourceArn="arn:aws:swf:us-east-1:123456789012:/domain/shop", tags=[{"key": "a"}])
    yield
    run_id = swf.start(tagList=["eu", "vip"], taskPriority="3")
    yield
    task = swf.poll()
    yield
    swf.answer(
        task,
        make("ScheduleActivityTask", activityId="a", activityType=CHARGE, heartbeatTimeout="60", taskPriority="7"),
        make("ScheduleActivityTask", activityId="b", activityType=CHARGE, scheduleToStartTimeout="90"),
        make("StartTimer", timerId="t", startToFireTimeout="50"),
        make("StartChildWorkflowExecution", workflowId="child", workflowType=ORDER),
        make("ScheduleLambdaFunction", id="l", name="f"),
        executionContext="",
    )
    yield
    activity = swf.take()
    yield
    swf.call("RecordActivityTaskHeartbeat", taskToken=activity["taskToken"], details="half")
    yield
    swf.engine.advance(55)
    yield
    task = swf.poll()
    swf.signal("meanwhile")
    yield
    swf.answer(task, make("RequestCancelActivityTask", activityId="a"), taskList={"name": "other"})
    yield
    swf.engine.advance(10)
    yield
    swf.call("RegisterActivityType", domain="shop", name="gone", version="1")
    swf.call("DeprecateActivityType", domain="shop", activityType={"name": "gone", "version": "1"})
    yield
    swf.call("DeleteActivityType", domain="shop", activityType={"name": "gone", "version": "1"})
    yield
    swf.answer(swf.poll(), make("ContinueAsNewWorkflowExecution", tagList=["eu"]))
    yield
    swf.terminate("w")
    yield
    swf.engine.advance(1)
    assert swf.types(run_id)[-1] == "WorkflowExecutionContinuedAsNew"
    yield


def test_reopened_after_every_step_all_is_the_same(path, new_driver, make):
    with closing(opened(path)) as engine:
        for number, _ in enumerate(script(new_driver(engine), make)):
            copy, expected = killed(path, number), seen(engine)
            with closing(opened(copy, engine.clock.now())) as again:
                assert seen(again) == expected
                assert (
                    again.call("ListDomains", {"registrationStatus": "REGISTERED"}),
                    again.call("ListActivityTypes", {"domain": "shop", "registrationStatus": "REGISTERED"}),
                ) == (
                    engine.call("ListDomains", {"registrationStatus": "REGISTERED"}),
                    engine.call("ListActivityTypes", {"domain": "shop", "registrationStatus": "REGISTERED"}),
                )


def test_what_fell_due_meanwhile_happened_at_its_time(path, new_driver, make):
    with closing(opened(path)) as engine:
        swf = new_driver(engine)
        run_id = swf.start(executionStartToCloseTimeout="3600")
        swf.decide(make("StartTimer", timerId="t", startToFireTimeout="50"))
    with closing(opened(path, NOON + 86_400)) as engine:
        assert engine.next_due() == NOON + 50
        engine.tick()
        events = list(engine.world.runs[run_id].events)
        check_history(events)
        happened = [(event["eventType"], event["eventTimestamp"].timestamp() - NOON) for event in events[5:]]
        assert happened == [("TimerFired", 50), ("DecisionTaskScheduled", 50), ("WorkflowExecutionTimedOut", 3600)]


def test_tasks_keep_their_order(path, new_driver):
    with closing(opened(path)) as engine:
        swf = new_driver(engine)
        for workflow_id, priority in (("a", "0"), ("b", "5"), ("c", "0"), ("d", "5")):
            swf.start(workflow_id, taskPriority=priority)
    request = {"domain": "shop", "taskList": {"name": "deciders"}}
    with closing(opened(path)) as engine:
        polled = [engine.call("PollForDecisionTask", request)["workflowExecution"]["workflowId"] for _ in range(4)]
    assert polled == ["b", "d", "a", "c"]


def test_tokens_outlive_the_engine(path, new_driver, make):
    with closing(opened(path)) as engine:
        swf = new_driver(engine)
        run_id = swf.start()
        swf.decide(make("ScheduleActivityTask", activityId="a", activityType=CHARGE))
        token = swf.take()["taskToken"]
        execution = {"workflowId": "w", "runId": run_id}
        request = {"domain": "shop", "execution": execution, "maximumPageSize": 2}
        page = engine.call("GetWorkflowExecutionHistory", request)
    with closing(opened(path)) as engine:
        engine.call("RespondActivityTaskCompleted", {"taskToken": token, "result": "done"})
        rest = engine.call("GetWorkflowExecutionHistory", request | {"nextPageToken": page["nextPageToken"]})
        assert [event["eventId"] for event in rest["events"]] == [3, 4]


def test_run_ids_are_never_given_twice(path, new_driver):
    with closing(opened(path)) as engine:
        first = new_driver(engine).start()
        engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "w"})
        engine.advance(8 * 86_400)
    request = {"domain": "shop", "workflowId": "w", "workflowType": ORDER}
    with closing(opened(path)) as engine:
        assert engine.call("StartWorkflowExecution", request)["runId"] != first


def test_effects_that_were_held_happen_after_reopening(path, new_driver, make):
    with closing(opened(path)) as engine:
        swf = new_driver(engine)
        engine.hold_effects = True
        swf.start()
        swf.decide(make("StartChildWorkflowExecution", workflowId="child", workflowType=ORDER))
    with closing(opened(path)) as engine:
        assert [effect.kind for effect in engine.pending_effects] == ["start_child"]
        engine.settle()
        assert set(engine.world.domains["shop"].open_runs) == {"w", "child"}


class Broken:
    """A connection that fails at one statement."""

    def __init__(self, database, fails_at):
        self.database = database
        self.left = fails_at

    def execute(self, statement, *values):
        self.left -= 1
        if self.left == 0:
            raise sqlite3.OperationalError("disk I/O error")
        return self.database.execute(statement, *values)

    def __getattr__(self, name):
        return getattr(self.database, name)


@pytest.mark.parametrize("fails_at", range(1, 9))
def test_a_call_that_cannot_be_kept_changes_nothing(path, new_driver, make, fails_at):
    store = SQLiteStore(path)
    with closing(Engine(VirtualClock(NOON), store=store)) as engine:
        swf = new_driver(engine)
        swf.start(tagList=["eu"])
        task = swf.poll()
        before, sound = seen(engine), store._database
        store._database = Broken(sound, fails_at)
        decisions = [
            make("StartTimer", timerId="t", startToFireTimeout="50"),
            make("SignalExternalWorkflowExecution", workflowId="w", signalName="s"),
        ]
        request = {"taskToken": task["taskToken"], "decisions": decisions}
        try:
            with suppress(sqlite3.OperationalError):
                engine.call("RespondDecisionTaskCompleted", request)
            failed = store._database.left <= 0
        finally:
            store._database = sound
        with closing(opened(killed(path), NOON)) as again:
            assert (seen(again) == before) == failed
        if failed:
            assert seen(engine) == before
            engine.call("RespondDecisionTaskCompleted", request)
        assert swf.types()[4] == "TimerStarted"
        swf.check()


@pytest.mark.parametrize("seed", range(5))
def test_wherever_it_is_dropped_an_answered_call_has_happened(path, new_driver, make, seed):
    """Calls at random; now and then the engine is left as a kill would leave it, and another goes on."""
    chance = random.Random(seed)
    engine = opened(path)
    swf, started, signals = new_driver(engine), {}, {}
    for number in range(150):
        what = chance.choice(["start", "signal", "decide", "work", "later", "drop"])
        name = f"w{number}" if what == "start" else chance.choice(sorted(started) or ["none"])
        with suppress(ServiceError):
            if what == "start":
                started[name] = swf.start(name)
            elif what == "signal":
                swf.signal(str(number), name)
                signals[number] = name
            elif what == "decide" and (task := swf.poll())["startedEventId"]:
                swf.answer(task, make("ScheduleActivityTask", activityId=str(number), activityType=CHARGE))
            elif what == "work" and (task := swf.take())["startedEventId"]:
                swf.complete(task)
            elif what == "later":
                engine.advance(chance.choice([1, 31, 4000]))
        if what == "drop":
            swf.engine.close()
            engine = swf.engine = opened(path, engine.clock.now())
    for name, run_id in started.items():
        events = swf.events(run_id, name)
        check_history(events)
        said = [
            event["workflowExecutionSignaledEventAttributes"]["signalName"]
            for event in events
            if "Signaled" in event["eventType"]
        ]
        assert said == [str(number) for number, target in signals.items() if target == name]
    engine.close()


def test_a_file_has_one_engine(path):
    with closing(opened(path)), pytest.raises(OSError, match="another engine has it open: stop that one"):
        SQLiteStore(path)


def test_a_file_that_holds_something_else_is_refused(path, tmp_path):
    path.write_text("no database at all" * 100)
    with pytest.raises(OSError, match="is it an SQLite database"):
        SQLiteStore(path)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as database:
        database.execute("PRAGMA user_version = 7")
    with pytest.raises(OSError, match="it has format 7, not 1; give another path"):
        SQLiteStore(other)
    with pytest.raises(OSError, match="does its directory exist"):
        SQLiteStore(tmp_path / "nowhere" / "swf.sqlite")


def test_names_need_not_be_valid_unicode(path, new_driver):
    names = ["caf\u00e9", "\ud800", "\udc00"]
    with closing(opened(path)) as engine:
        for name in names:
            new_driver(engine).start(name, tagList=[name]) if name == names[0] else engine.call(
                "StartWorkflowExecution",
                {"domain": "shop", "workflowId": name, "workflowType": ORDER, "tagList": [name]},
            )
    with closing(opened(path)) as engine:
        request = {"domain": "shop", "startTimeFilter": {"oldestDate": 0}}
        for name in names:
            found = engine.call("ListOpenWorkflowExecutions", request | {"tagFilter": {"tag": name}})["executionInfos"]
            assert [info["execution"]["workflowId"] for info in found] == [name]


def test_a_history_that_outgrew_its_quota_is_closed_all_the_same(path, new_driver):
    with closing(opened(path, quotas=Quotas(events=5))) as engine:
        swf = new_driver(engine)
        run_id = swf.start()
        with suppress(UnknownResource):
            for _ in range(9):
                swf.signal()
    with closing(opened(path)) as engine:
        assert engine.world.runs[run_id].events[-1]["eventType"] == "WorkflowExecutionTerminated"
