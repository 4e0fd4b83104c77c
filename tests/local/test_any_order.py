"""Whatever deciders, workers, operators and the clock do, in any order: every history is one that SWF could write."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from botocore.loaders import Loader
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from flowpy.errors import AlreadyExists, TypeDeprecated
from flowpy.local.engine import check_history
from flowpy.local.store import SQLiteStore

from .chance import ANSWERS, CLOSE, CONFIG, IDS, OVERRIDES, PAGES, PARENTS, Chance, some

NUMBERS = st.integers(0, 5)
HOW = st.sampled_from(["Completed", "Failed", "Canceled", "Heartbeat"])
LISTS = ("deciders", "other")
DISTURBANCES = st.sampled_from(
    [
        ("outside",),
        ("retire", "Activity"),
        ("retire", "Workflow"),
        ("refuse", "RecordMarker", "OPERATION_NOT_PERMITTED"),
        ("refuse", "StartTimer", "TIMER_CREATION_RATE_EXCEEDED"),
        ("refuse", "SignalExternalWorkflowExecution", "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_RATE_EXCEEDED"),
        ("refuse", "StartChildWorkflowExecution", "WORKFLOW_ALREADY_RUNNING"),
        ("refuse", "StartLambdaFunction", "ASSUME_ROLE_FAILED"),
    ]
)


class AnyOrder(RuleBasedStateMachine):
    """One engine; what can be done is done in any order."""

    reached: Counter[str]

    @initialize(held=st.booleans(), between=st.booleans(), options=CONFIG)
    def begin(self, held, between, options):
        self.held = held
        self.judged = {}
        self.players = self.enter(held, between)
        self.all_do("start", "w", options)

    def enter(self, held, between):
        return [Chance(held=held, between=between)]

    def all_do(self, what, *arguments):
        for player in self.players:
            getattr(player, what)(*arguments)
            # What is due by now happens before anybody looks what there is to do.
            player.engine.tick()

    @property
    def first(self):
        return self.players[0]

    # --- deciders ---------------------------------------------------------------------------

    @precondition(lambda self: self.first.waiting("PollForDecisionTask", LISTS))
    @rule(which=NUMBERS, options=PAGES)
    def poll(self, which, options):
        lists = self.first.waiting("PollForDecisionTask", LISTS)
        self.all_do("poll", lists[which % len(lists)], options)

    @precondition(lambda self: self.first.decisions)
    @rule(which=NUMBERS, decisions=ANSWERS, options=OVERRIDES)
    def answer(self, which, decisions, options):
        self.all_do("answer", which, decisions, options)

    @precondition(lambda self: self.first.waiting("PollForDecisionTask", LISTS))
    @rule(which=NUMBERS, decisions=ANSWERS, options=OVERRIDES)
    def decide(self, which, decisions, options):
        lists = self.first.waiting("PollForDecisionTask", LISTS)
        self.all_do("poll", lists[which % len(lists)], {})
        self.all_do("answer", -1, decisions, options)

    @precondition(lambda self: self.first.children())
    @rule(which=NUMBERS, close=CLOSE)
    def close_child(self, which, close):
        self.all_do("close_child", which, close)

    # --- workers ----------------------------------------------------------------------------

    @precondition(lambda self: self.first.waiting("PollForActivityTask", ("workers",)))
    @rule()
    def take(self):
        self.all_do("take")

    @precondition(lambda self: self.first.activities)
    @rule(which=NUMBERS, how=HOW, details=some(details=IDS))
    def work(self, which, how, details):
        self.all_do("work", which, how, details)

    @precondition(lambda self: self.first.waiting("PollForActivityTask", ("workers",)))
    @rule(how=HOW, details=some(details=IDS))
    def take_and_work(self, how, details):
        self.all_do("take")
        self.all_do("work", -1, how, details)

    @precondition(lambda self: self.first.running())
    @rule(which=NUMBERS, well=st.booleans())
    def end_function(self, which, well):
        self.all_do("end_function", which, well)

    # --- operators --------------------------------------------------------------------------

    @rule(workflow_id=PARENTS, options=CONFIG)
    def start(self, workflow_id, options):
        for player in self.players:
            with suppress(AlreadyExists, TypeDeprecated):
                player.start(workflow_id, options)
            player.engine.tick()

    @precondition(lambda self: self.first.open_ids())
    @rule(what=st.sampled_from(["Signal", "RequestCancel"]), which=NUMBERS, named=st.booleans())
    def ask(self, what, which, named):
        ids = self.first.open_ids()
        self.all_do("outside", what, ids[which % len(ids)], named)

    @rule(disturb=DISTURBANCES, which=NUMBERS)
    def disturb(self, disturb, which):
        what, *arguments = disturb
        ids = self.first.open_ids()
        if what != "outside":
            self.all_do(what, *arguments)
        elif ids:
            self.all_do("outside", "Terminate", ids[which % len(ids)], False)

    # --- time -------------------------------------------------------------------------------

    @rule(seconds=st.sampled_from([0.5, 1, 2, 4]))
    def advance(self, seconds):
        self.all_do("advance", seconds)

    @precondition(lambda self: not self.first.waiting("PollForDecisionTask", LISTS))
    @rule()
    def fall_due(self):
        self.all_do("fall_due")

    @precondition(lambda self: self.held and self.first.engine.pending_effects)
    @rule(which=NUMBERS)
    def effect(self, which):
        self.all_do("effect", which)

    # --- what always holds ------------------------------------------------------------------

    @invariant()
    def every_history_is_one_that_swf_could_write(self):
        for run in self.first.engine.world.runs.values():
            if self.judged.get(run.run_id) != len(run.events):
                check_history(list(run.events))
                self.judged[run.run_id] = len(run.events)

    @invariant()
    def what_is_kept_beside_the_histories_agrees_with_them(self):
        check_state(self.first.engine)

    def teardown(self):
        if not hasattr(self, "players"):
            return
        for player in self.players:
            player.end()
        self.every_history_is_one_that_swf_could_write()
        for run in self.first.engine.world.runs.values():
            self.reached.update(event["eventType"] for event in run.events)
        for player in self.players:
            player.engine.close()


OPENS = {
    "activities": ("ActivityTaskScheduled", ["Completed", "Failed", "Canceled", "TimedOut"], "ActivityTask"),
    "timers": ("TimerStarted", ["Fired", "Canceled"], "Timer"),
    "lambdas": ("LambdaFunctionScheduled", ["Completed", "Failed", "TimedOut"], "LambdaFunction"),
    "children": (
        "StartChildWorkflowExecutionInitiated",
        ["Completed", "Failed", "Canceled", "TimedOut", "Terminated"],
        "ChildWorkflowExecution",
    ),
}


def check_state(engine):
    """What the engine knows of open runs is what their histories say."""
    waiting = started = 0
    for run in engine.world.runs.values():
        types = Counter(event["eventType"] for event in run.events)
        ended = types["DecisionTaskCompleted"] + types["DecisionTaskTimedOut"]
        if not run.is_open:
            assert not run.deadlines
            continue
        assert types["DecisionTaskScheduled"] - ended == (run.decision is not None) + (run.queued is not None)
        for name, (opens, closes, prefix) in OPENS.items():
            closed = sum(types[f"{prefix}{how}"] for how in closes)
            assert len(getattr(run, name)) == types[opens] - closed - failed_later(run, name), name
        waiting += run.decision is not None and not run.decision.started_event_id
        started += sum(task.started_event_id > 0 for task in run.activities.values())
    world = engine.world
    assert sum(world.decision_lists.count("shop", name) for name in LISTS) == waiting
    assert world.activity_lists.count("shop", "workers") + started == sum(
        len(run.activities) for run in world.runs.values() if run.is_open
    )


def failed_later(run, name):
    """How many of what was opened never began."""
    event_type = {"children": "StartChildWorkflowExecutionFailed", "lambdas": "StartLambdaFunctionFailed"}.get(name)
    found = [event for event in run.events if event["eventType"] == event_type]
    bodies = [next(value for key, value in event.items() if key.endswith("EventAttributes")) for event in found]
    return sum(body.get("initiatedEventId", 1) > 0 for body in bodies)


class Forgetful(AnyOrder):
    """Two engines: one remembers, the other reads all again after each step, and nobody can tell."""

    def enter(self, held, between):
        store = SQLiteStore(":memory:")
        return [Chance(held=held, between=between), Chance(held=held, between=between, store=store)]

    @invariant()
    def both_are_the_same(self):
        if hasattr(self, "players"):
            remembers, reads = self.players
            forget(reads.engine)
            assert seen(reads.engine) == seen(remembers.engine)


def seen(engine):
    """All that can be seen of an engine, and what it will do next."""
    effects = [(effect.kind, effect.run_id, effect.event_id, effect.cause) for effect in engine.pending_effects]
    coming = engine.next_due(), effects
    engine.tick()
    runs = list(engine.world.runs.values())
    return (
        coming,
        [engine.call("DescribeWorkflowExecution", {"domain": "shop", "execution": run.reference}) for run in runs],
        [list(run.events) for run in runs],
        [engine.world.decision_lists.count("shop", name) for name in LISTS],
        engine.world.activity_lists.count("shop", "workers"),
    )


def forget(engine):
    with engine._exclusively():
        # The time is kept with what changes, and a call that changes nothing may have seen a later one.
        engine.world.changes.domains["shop"] = engine.world.domains["shop"]
    engine._stale = True


def play(machine, examples):
    machine.reached = Counter()
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=60))
    return machine.reached


def test_every_history_is_one_that_swf_could_write():
    reached = play(AnyOrder, max(200, settings.default.max_examples))
    known = set(Loader().load_service_model("swf", "service-2")["shapes"]["EventType"]["enum"])
    assert len(known & set(reached)) > 45, "chance comes across most of the 54 types of events"


def test_an_engine_that_reads_all_again_after_each_step_goes_on_like_one_that_remembers():
    play(Forgetful, 20)
