"""Whatever deciders, workers, operators and the clock do, in any order: every history is one that SWF could write."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from flowpy.errors import AlreadyExists, UnknownResource
from flowpy.local.engine import Engine, Quotas, VirtualClock
from flowpy.local.store import SQLiteStore

IDS = st.sampled_from(["a", "b", "c"])
WORKFLOWS = st.sampled_from(["w", "x", "y"])
SECONDS = st.sampled_from(["0", "1", "3", "NONE"])
FINITE = st.sampled_from(["0", "1", "3"])
TYPES = st.sampled_from(["order", "none"]).map(lambda name: {"name": name, "version": "1"})
ACTIVITIES = st.sampled_from(["charge", "none"]).map(lambda name: {"name": name, "version": "1"})
POLICIES = st.sampled_from(["TERMINATE", "REQUEST_CANCEL", "ABANDON"])

WORK: dict[str, dict[str, Any]] = {
    "ScheduleActivityTask": {
        "activityId": IDS,
        "activityType": ACTIVITIES,
        "heartbeatTimeout": SECONDS,
        "startToCloseTimeout": SECONDS,
        "scheduleToStartTimeout": SECONDS,
        "scheduleToCloseTimeout": SECONDS,
    },
    "RequestCancelActivityTask": {"activityId": IDS},
    "StartTimer": {"timerId": IDS, "startToFireTimeout": FINITE},
    "CancelTimer": {"timerId": IDS},
    "RecordMarker": {"markerName": IDS},
    "StartChildWorkflowExecution": {
        "workflowId": WORKFLOWS,
        "workflowType": TYPES,
        "childPolicy": POLICIES,
        "executionStartToCloseTimeout": FINITE,
    },
    "SignalExternalWorkflowExecution": {"workflowId": WORKFLOWS, "signalName": IDS},
    "RequestCancelExternalWorkflowExecution": {"workflowId": WORKFLOWS},
    "ScheduleLambdaFunction": {"id": IDS, "name": IDS, "startToCloseTimeout": st.sampled_from(["1", "3"])},
}
CLOSES: dict[str, dict[str, Any]] = {
    "CompleteWorkflowExecution": {},
    "FailWorkflowExecution": {},
    "CancelWorkflowExecution": {},
    "ContinueAsNewWorkflowExecution": {"childPolicy": POLICIES},
}


def decisions_of(kinds):
    return st.one_of(
        *(
            st.fixed_dictionaries(
                {
                    "decisionType": st.just(kind),
                    f"{kind[0].lower()}{kind[1:]}DecisionAttributes": st.fixed_dictionaries(attributes),
                }
            )
            for kind, attributes in kinds.items()
        )
    )


ANSWERS = st.tuples(
    st.lists(decisions_of(WORK), max_size=5), st.one_of(st.just([]), decisions_of(CLOSES).map(lambda close: [close]))
).map(lambda parts: parts[0] + parts[1])

OVERRIDES = st.one_of(
    st.just({}),
    st.just({"taskList": {"name": "other"}}),
    st.just({"taskList": {"name": "deciders"}}),
    st.just({"taskList": {"name": "other"}, "taskListScheduleToStartTimeout": "2"}),
)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("poll"), st.sampled_from(["deciders", "other"])),
        st.tuples(st.just("answer"), ANSWERS, OVERRIDES),
        st.tuples(st.just("take")),
        st.tuples(
            st.just("work"),
            st.sampled_from(["Completed", "Failed", "Canceled", "Heartbeat"]),
        ),
        st.tuples(st.just("start"), WORKFLOWS),
        st.tuples(st.just("outside"), st.sampled_from(["Signal", "RequestCancel", "Terminate"]), WORKFLOWS),
        st.tuples(st.just("advance"), st.sampled_from([0.5, 1, 2, 40])),
        st.tuples(st.just("effect"), st.integers(0, 5)),
    ),
    min_size=10,
    max_size=80,
)


class Chance:
    """Plays one list of steps; what SWF refuses is left out."""

    def __init__(self, swf):
        self.swf = swf
        self.decisions: list[dict[str, Any]] = []
        self.activities: list[dict[str, Any]] = []

    def poll(self, task_list):
        task = self.swf.poll(task_list)
        if task["startedEventId"]:
            assert task["events"][-1]["eventId"] == task["startedEventId"]
            self.decisions.append(task)

    def answer(self, decisions, options):
        if self.decisions:
            self.swf.answer(self.decisions.pop(0), *decisions, **options)

    def take(self):
        task = self.swf.take()
        if task["startedEventId"]:
            self.activities.append(task)

    def work(self, how):
        if self.activities:
            operation = "RecordActivityTaskHeartbeat" if how == "Heartbeat" else f"RespondActivityTask{how}"
            self.swf.call(operation, taskToken=self.activities[0]["taskToken"])
            if how != "Heartbeat":
                del self.activities[0]

    def start(self, workflow_id):
        self.swf.start(workflow_id, **({"lambdaRole": "role"} if workflow_id == "w" else {}))

    def outside(self, what, workflow_id):
        said = {"signalName": "s"} if what == "Signal" else {}
        self.swf.call(f"{what}WorkflowExecution", domain="shop", workflowId=workflow_id, **said)

    def advance(self, seconds):
        self.swf.engine.advance(seconds)

    def effect(self, position):
        pending = self.swf.engine.pending_effects
        if pending:
            self.swf.engine.run_effect(position % len(pending))


def check_state(engine):
    """What is kept beside the histories agrees with them."""
    waiting = started = 0
    for run in engine.world.runs.values():
        types = [event["eventType"] for event in run.events]
        ended = types.count("DecisionTaskCompleted") + types.count("DecisionTaskTimedOut")
        if run.is_open:
            assert types.count("DecisionTaskScheduled") - ended == (run.decision is not None) + (run.queued is not None)
            waiting += run.decision is not None and not run.decision.started_event_id
            started += sum(task.started_event_id > 0 for task in run.activities.values())
        else:
            assert not run.deadlines
    world = engine.world
    assert sum(world.decision_lists.count("shop", name) for name in ("deciders", "other")) == waiting
    assert world.activity_lists.count("shop", "workers") + started == sum(
        len(run.activities) for run in world.runs.values() if run.is_open
    )


QUOTAS = Quotas(open_activities=2, open_timers=2, open_children=2, open_lambda_functions=2, events=60)


def begun(new_driver, *, held, between=False, store=None):
    """One to play the steps, on an engine of his own."""
    engine = Engine(VirtualClock(), QUOTAS, wake_between=between, store=store)
    engine.on_lambda("a", lambda text: text)
    engine.on_lambda("b", None)
    engine.hold_effects = held
    swf = new_driver(engine)
    swf.start("w", lambdaRole="role")
    return Chance(swf)


def play(chance, name, arguments):
    # What comes too late is refused, and nothing else is.
    with suppress(UnknownResource, AlreadyExists):
        getattr(chance, name)(*arguments)


@pytest.mark.parametrize("held", [False, True], ids=["effects at once", "effects held"])
@pytest.mark.parametrize("between", [False, True], ids=["woken after", "woken between"])
@given(steps=STEPS)
def test_every_history_is_one_that_swf_could_write(new_driver, held, between, steps):
    chance = begun(new_driver, held=held, between=between)
    swf, engine = chance.swf, chance.swf.engine

    for name, *arguments in steps:
        play(chance, name, arguments)
        swf.check()
        check_state(engine)

    engine.hold_effects = False
    while (due := engine.next_due()) is not None:
        engine.advance_to(due)
    swf.check()
    assert not any(run.is_open for run in engine.world.runs.values()), "all that was open has timed out"


def seen(chance):
    """All that can be seen of an engine, and what it will do next."""
    engine = chance.swf.engine
    # Effects are numbered anew once there are none; only their order means something.
    coming = engine.next_due(), [evolve(effect, number=0) for effect in engine.pending_effects]
    engine.tick()
    runs = list(engine.world.runs.values())
    return (
        coming,
        [engine.call("DescribeWorkflowExecution", {"domain": "shop", "execution": run.reference}) for run in runs],
        [list(run.events) for run in runs],
        [engine.world.decision_lists.count("shop", name) for name in ("deciders", "other")],
        engine.world.activity_lists.count("shop", "workers"),
    )


def forget(engine):
    with engine._exclusively():
        # The time is kept with what changes, and a call that changes nothing may have seen a later one.
        engine.world.changes.domains["shop"] = engine.world.domains["shop"]
    engine._stale = True


@pytest.mark.parametrize("held", [False, True], ids=["effects at once", "effects held"])
@settings(max_examples=20)
@given(steps=STEPS)
def test_an_engine_that_reads_all_again_after_each_step_goes_on_like_one_that_remembers(new_driver, held, steps):
    with closing(SQLiteStore(":memory:")) as store:
        remembers, reads = begun(new_driver, held=held), begun(new_driver, held=held, store=store)
        for name, *arguments in steps:
            for chance in (remembers, reads):
                play(chance, name, arguments)
            forget(reads.swf.engine)
            assert seen(reads) == seen(remembers)
        check_state(reads.swf.engine)
