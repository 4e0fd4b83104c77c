"""The decider that keeps runs: when what it keeps serves, and when it does not."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve

import flowpy
from flowpy.errors import NonDeterminismError, UnknownWorkflowType
from flowpy.runtime.decider import Decider, DecisionTask
from flowpy.runtime.sticky import StickyDecider

from .driver import Driver

number = flowpy.Signal("number", int)


@flowpy.workflow(name="adding")
async def adding(count: int) -> int:
    return sum([await number.receive() for _ in range(count)])


@flowpy.workflow(name="keeping")
async def keeping() -> None:
    held = []
    while True:
        held.append(await flowpy.Signal("text", str).receive())


class Kept:
    """One run, decided by a decider that keeps it and is told that its answers were taken."""

    def __init__(self, workflow, *args, **options):
        self.service = Driver(workflow, *args)
        self.workflow = workflow
        self.counts = Counter()
        self.decider = StickyDecider(Decider([workflow]), count=lambda what: self.counts.update([what]), **options)

    def task(self, first=1):
        """The decision task that waits, with the events from one on."""
        begun = self.service.begin()
        return DecisionTask(
            "w",
            self.service.run_id,
            (self.workflow.name, self.workflow.version),
            begun["events"][first - 1 :],
            begun["startedEventId"],
            begun["previousStartedEventId"],
            begun["taskToken"],
            "shop",
        )

    def answer(self, task, decided):
        context = {} if decided.execution_context is None else {"executionContext": decided.execution_context}
        self.service.call(
            "RespondDecisionTaskCompleted", taskToken=task.task_token, decisions=decided.decisions, **context
        )

    def decide(self, first=1):
        """Decide the task that waits, and have the answer taken."""
        task = self.task(first)
        decided = self.decider.decide(task)
        self.answer(task, decided)
        self.decider.accepted(task.run_id, task.started_event_id)
        return decided.decisions


@pytest.fixture
def kept():
    """A run that has decided once and waits for its second of three numbers."""
    made = Kept(adding, 3)
    made.decide()
    made.service.signal("number", 1)
    yield made
    made.decider.evict_all("test")


def evictions(kept):
    return {name: count for name, count in kept.counts.items() if name.startswith("cache_evictions")}


def test_a_kept_run_is_fed_what_is_new(kept):
    assert kept.decide(first=3) == []
    kept.service.signal("number", 2)
    kept.service.signal("number", 3)
    (close,) = kept.decide(first=7)
    assert close["completeWorkflowExecutionDecisionAttributes"]["result"] == "6"
    assert kept.counts == {"cache_hits": 2, "cache_evictions_closed": 1}


@pytest.mark.parametrize("first", [1, 2, 3, 4])
def test_events_seen_before_are_dropped(kept, first):
    assert kept.decide(first) == []
    assert kept.counts == {"cache_hits": 1}


def test_without_the_kept_run_the_whole_history_is_needed(kept):
    kept.decider.evict(kept.service.run_id, "test")
    task = kept.task()
    assert kept.decider.decide(evolve(task, events=task.events[2:])) is None
    assert kept.decider.decide(task).decisions == []
    assert kept.counts["cache_misses"] == 1


@pytest.mark.parametrize(
    "damaged",
    [
        lambda task: evolve(task, previous_started_event_id=2, events=task.events[2:]),
        lambda task: evolve(task, events=task.events[6:]),
        lambda task: evolve(task, events=task.events[3:-1]),
        lambda task: evolve(task, events=[*task.events[3:5], task.events[4], *task.events[6:]]),
        lambda task: evolve(task, events=[e for e in task.events[1:] if e["eventType"] != "DecisionTaskCompleted"]),
        lambda task: evolve(task, events=[]),
        lambda task: evolve(task, events=[{}, *task.events[3:]]),
    ],
    ids=["another decision before", "a gap", "no end", "one twice and one not", "no answer", "nothing", "no ids"],
)
def test_what_does_not_follow_is_not_fed(kept, damaged):
    task = kept.task()
    assert kept.decider.decide(damaged(task)) is None
    assert evictions(kept) == {"cache_evictions_stale": 1}
    assert kept.decider.decide(task).decisions == []


def test_the_answer_before_has_to_be_that_of_the_run(kept):
    """Ids alone do not tell: the decision may have been completed for another DecisionTaskStarted."""
    task = kept.task()
    completed = task.events[3]
    attributes = {**completed["decisionTaskCompletedEventAttributes"], "startedEventId": 2}
    other = {**completed, "decisionTaskCompletedEventAttributes": attributes}
    assert kept.decider.decide(evolve(task, events=[other, *task.events[4:]])) is None
    assert evictions(kept) == {"cache_evictions_stale": 1}


def test_an_answer_of_which_nothing_is_known_is_not_built_on(kept):
    task = kept.task()
    kept.answer(task, kept.decider.decide(task))
    kept.service.signal("number", 2)
    task = kept.task()
    kept.decider.accepted(task.run_id, task.previous_started_event_id - 1)
    assert kept.decider.decide(evolve(task, events=task.events[6:])) is None
    assert evictions(kept) == {"cache_evictions_unanswered": 1}


def test_what_a_kept_run_says_is_looked_up_in_the_whole_history(kept, caplog):
    kept.decider._kept[kept.service.run_id].run.episodes.broken = True
    assert kept.decide() == []
    assert kept.counts == {"cache_evictions_differed": 1, "cache_misses": 1}
    assert "does not go on" in caplog.text


def test_a_difference_that_the_whole_history_shows_too_is_raised(kept):
    @flowpy.workflow(name="adding")
    async def changed(count: int) -> None:
        await flowpy.sleep(60)

    kept.decider.decider = Decider([changed])
    kept.decider.evict_all("test")
    with pytest.raises(NonDeterminismError):
        kept.decider.decide(kept.task())
    assert len(kept.decider) == 0


def test_what_is_not_known_is_not_kept(kept):
    kept.decider.decider = Decider([])
    kept.decider.evict_all("test")
    with pytest.raises(UnknownWorkflowType):
        kept.decider.decide(kept.task())
    assert len(kept.decider) == 0


def test_the_run_decided_longest_ago_leaves_first():
    one = Kept(adding, 3, runs=2)
    events = one.task()
    for run_id in ("a", "b", "a", "c"):
        one.decider.decide(evolve(events, run_id=run_id))
    assert [run_id for run_id in "abc" if run_id in one.decider] == ["a", "c"]
    one.decider.evict_all("test")
    assert evictions(one)["cache_evictions_full"] == 1


def test_what_code_was_given_counts_and_the_length_of_the_history_does_not():
    one = Kept(keeping, bytes=100_000)
    one.decide()
    for _ in range(20):
        one.service.signal("text", "short")
        one.decide()
    assert one.decider._bytes < 16_000
    assert one.counts["cache_hits"] == 20
    one.service.signal("text", "x" * 30_000)
    one.decide()
    assert evictions(one) == {"cache_evictions_memory": 1}
    assert one.decider._bytes == 0


def test_differences_are_told_once(caplog):
    """What is kept has been warned of; it is not kept too."""

    @flowpy.activity(name="work")
    def work(x: int) -> int: ...

    async def first() -> None:
        await work(1)
        await number.receive()

    async def second() -> None:
        await work(2)
        await number.receive()
        await number.receive()

    old, new = (flowpy.workflow(name="changing")(each) for each in (first, second))
    service = Driver(old, uses=(work,))
    service.decide()
    service.complete("work-1", 1)
    one = Kept.__new__(Kept)
    one.service, one.workflow, one.counts = service, new, Counter()
    one.decider = StickyDecider(Decider([new]), count=lambda what: one.counts.update([what]))
    one.decide()
    service.signal("number", 1)
    one.decide()
    assert one.counts == {"cache_misses": 1, "cache_hits": 1}
    assert sum("work-1" in record.getMessage() for record in caplog.records) == 1
    one.decider.evict_all("test")
