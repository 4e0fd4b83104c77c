"""Workers that keep runs in memory: their own task list, and every way to be wrong about what they keep."""

from __future__ import annotations

import threading

import pytest

from flowpy import errors
from flowpy.client import Client
from flowpy.declare import Signal, activity, workflow
from flowpy.service.faults import fault
from flowpy.service.retrying import Backoff
from flowpy.worker import Worker, WorkerSettings
from flowpy.worker.deciding import decide_with, keep_with
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.quarantine import Quarantine
from flowpy.worker.sticky import Sticky, is_away, sticky_task_list

from .twin import PATIENCE, in_the_middle, lose_reply

number = Signal("number", int)


@activity(name="greet", heartbeat_timeout="NONE")
def greet(name: str) -> str:
    return f"hello {name}"


@workflow(name="adding")
async def adding(count: int) -> int:
    total = 0
    for _ in range(count):
        total += await number.receive()
    return total


@workflow(name="adding_plain")
def adding_plain(count: int) -> int:
    return sum(number.receive().result() for _ in range(count))


WORKFLOWS = [adding, adding_plain]


class Process:
    """A worker process whose polls the test makes one by one."""

    def __init__(self, twin, workflows=WORKFLOWS, **options):
        self.twin = twin
        self.lifecycle = Lifecycle(wait=lambda event, seconds: event.is_set())
        settings = WorkerSettings(threads=1, **options)
        self.sticky = keep_with(workflows, settings, self.lifecycle, "main")
        decide, quarantine = decide_with(workflows, settings), Quarantine(Backoff(initial=0.0))
        self.worker = DecisionWorker(
            twin, self.lifecycle, decide, "shop", "main", "me", sticky=self.sticky, quarantine=quarantine
        )

    def shared(self):
        """Poll the shared list."""
        return self.worker.step()

    def stops(self):
        """Have the worker stop while its next poll is in flight."""
        call = self.twin.call

        def stopping(operation, request):
            self.twin.call = call
            self.lifecycle.stopping.set()
            return call(operation, request)

        self.twin.call = stopping

    def own(self):
        """Poll the list of this process."""
        return self.worker.sticky_step()

    def counts(self, *names):
        # What the thread of the runs was told last is done when it has done one job more.
        self.sticky._owners[0].thread.post(lambda: None).result(PATIENCE)
        return [self.lifecycle.counts.get(name, 0) for name in names]

    def evictions(self):
        self.counts()
        prefix = "cache_evictions_"
        found = self.lifecycle.counts.items()
        return {name.removeprefix(prefix): count for name, count in found if name.startswith(prefix)}


@pytest.fixture
def shop(twin):
    """The twin with the types registered, which holds no polls."""
    for each in WORKFLOWS:
        named = {"name": each.name, "version": each.version}
        twin.engine.call("RegisterWorkflowType", {"domain": "shop", **named, **each.registered.defaults("main")})
    twin.hold = 0
    return twin


@pytest.fixture
def process(shop):
    made = []

    def make(**options):
        made.append(Process(shop, **options))
        return made[-1]

    yield make
    for each in made:
        each.sticky.close()


def start(shop, count=3, workflow_id="w", name="adding"):
    type_ = {"name": name, "version": "1.0"}
    request = {"domain": "shop", "workflowId": workflow_id, "workflowType": type_, "input": f"[{count}]"}
    return shop.engine.call("StartWorkflowExecution", request)["runId"]


def send(shop, value, workflow_id="w"):
    told = {"domain": "shop", "workflowId": workflow_id, "signalName": "number", "input": str(value)}
    shop.engine.call("SignalWorkflowExecution", told)


def result(shop, run_id, workflow_id="w"):
    last = shop.events(run_id, workflow_id)[-1]
    return last["workflowExecutionCompletedEventAttributes"]["result"]


def answers(shop):
    return shop.calls("RespondDecisionTaskCompleted")


# --- the way it goes --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["adding", "adding_plain"])
def test_decision_tasks_come_back_to_the_process_with_what_is_new(shop, process, name):
    run_id, one = start(shop, name=name), process()
    assert one.shared()
    for value in (1, 2, 3):
        send(shop, value)
        assert not one.shared()
        assert one.own()
    assert result(shop, run_id) == "6"
    assert one.counts("cache_hits", "cache_misses") == [3, 0]
    assert one.evictions() == {"closed": 1}
    assert shop.calls("GetWorkflowExecutionHistory") == []
    poll = shop.calls("PollForDecisionTask")[-1]
    assert (poll["taskList"], poll["startAtPreviousStartedEvent"]) == ({"name": one.sticky.task_list}, True)


def test_an_answer_calls_the_next_decision_task_back_for_a_while(shop, process):
    start(shop)
    one = process(sticky_timeout=7)
    one.shared()
    (answer,) = answers(shop)
    assert answer["taskList"] == {"name": one.sticky.task_list}
    assert answer["taskListScheduleToStartTimeout"] == "7"


def test_a_closing_answer_calls_nothing_back(shop, process):
    start(shop, count=0)
    process().shared()
    (answer,) = answers(shop)
    assert "taskList" not in answer


def test_lists_of_processes_have_names_that_swf_takes():
    name = sticky_task_list("x" * 256)
    assert len(name) <= 256
    assert not set(name) & set(":/|")
    assert name != sticky_task_list("x" * 256)


def test_it_can_be_switched_off(shop):
    settings = WorkerSettings(sticky=False)
    assert keep_with(WORKFLOWS, settings, Lifecycle(), "main") is None
    start(shop)
    off = DecisionWorker(shop, Lifecycle(), decide_with(WORKFLOWS, settings), "shop", "main", "me")
    off.step()
    assert "taskList" not in answers(shop)[0]


def test_a_decider_of_your_own_keeps_nothing():
    assert keep_with(WORKFLOWS, WorkerSettings(decider=lambda workflows: None), Lifecycle(), "main") is None


# --- misses -----------------------------------------------------------------------------------


def test_a_process_that_was_killed_is_replaced(shop, process):
    run_id, killed, other = start(shop), process(), process()
    killed.shared()
    send(shop, 1)
    assert not other.shared()
    shop.engine.advance(10)
    assert other.shared()
    for value in (2, 3):
        send(shop, value)
        assert other.own()
    assert result(shop, run_id) == "6"
    assert shop.types(run_id, "w").count("DecisionTaskTimedOut") == 1
    assert other.counts("cache_misses", "cache_hits") == [1, 2]


def test_what_was_evicted_is_read_from_event_1(shop, process):
    run_id, one = start(shop, count=2), process(cached_runs=1)
    one.shared()
    start(shop, workflow_id="other")
    one.shared()
    assert one.evictions() == {"full": 1}
    send(shop, 1)
    assert one.own()
    assert len(shop.calls("GetWorkflowExecutionHistory")) == 1
    send(shop, 2)
    assert one.own()
    assert result(shop, run_id) == "3"
    assert one.counts("cache_misses", "cache_hits") == [1, 1]


def test_the_history_is_read_up_to_the_decision_task(shop, process):
    run_id, one = start(shop, count=2), process()
    one.shared()
    one.sticky._owners[0].decider.evict_all("test")
    send(shop, 1)
    call = shop.call

    def late(operation, request):
        if operation == "GetWorkflowExecutionHistory":
            send(shop, 2)
        return call(operation, request)

    shop.call = late
    assert one.own()
    shop.call = call
    assert answers(shop)[-1]["decisions"] == []
    assert one.own()
    assert result(shop, run_id) == "3"


def test_a_history_that_cannot_be_read_drops_the_task(shop, process, caplog):
    start(shop)
    one = process()
    one.shared()
    one.sticky._owners[0].decider.evict_all("test")
    send(shop, 1)
    shop.fail("GetWorkflowExecutionHistory", fault("UnknownResourceFault", "gone", "GetWorkflowExecutionHistory"))
    assert one.own()
    assert one.counts("decisions_dropped", "decisions_held") == [1, 0]
    assert "SWF gives it out again" in caplog.text
    assert len(answers(shop)) == 1


def test_an_answer_whose_reply_was_lost_is_not_built_on(shop, process):
    run_id, one = start(shop, count=2), process()
    lose_reply(shop, "RespondDecisionTaskCompleted")
    one.shared()
    assert one.evictions() == {"unanswered": 1}
    for value in (1, 2):
        send(shop, value)
        assert one.own()
    assert result(shop, run_id) == "3"
    assert one.counts("cache_misses", "cache_hits") == [1, 1]


def test_a_decision_task_that_timed_out_is_decided_anew(shop, process):
    run_id, one = start(shop, count=2), process()
    one.shared()
    send(shop, 1)
    in_the_middle(shop, "RespondDecisionTaskCompleted", before=lambda: shop.engine.advance(30))
    assert one.own()
    assert one.evictions() == {"unanswered": 1}
    assert not one.own()
    assert one.shared()
    send(shop, 2)
    assert one.own()
    assert result(shop, run_id) == "3"


def test_a_task_that_waited_on_the_shared_list_goes_to_whoever_polls(shop, process):
    run_id, one, two = start(shop, count=2), process(), process()
    in_the_middle(shop, "RespondDecisionTaskCompleted", before=lambda: send(shop, 1))
    one.shared()
    # It was scheduled before the answer named the list of the process.
    assert two.shared()
    send(shop, 2)
    assert two.own()
    assert result(shop, run_id) == "3"
    assert one.counts("cache_hits") == [0]


def test_a_run_that_others_went_on_with_is_stale(shop, process):
    run_id, one, two = start(shop), process(), process()
    one.shared()
    send(shop, 1)
    shop.engine.advance(10)
    two.shared()
    send(shop, 2)
    shop.engine.advance(10)
    assert one.shared()
    assert one.evictions() == {"stale": 1}
    send(shop, 3)
    one.own()
    assert result(shop, run_id) == "6"


def test_the_next_task_may_be_here_before_the_reply_to_the_answer(shop, process):
    """SWF schedules it when it has the answer, and another thread may be given it at once."""
    run_id, one = start(shop, count=1), process()
    call, helpers = shop.call, []

    def overtaken(operation, request):
        reply = call(operation, request)
        if operation == "RespondDecisionTaskCompleted" and not helpers:
            send(shop, 5)
            other = threading.Thread(target=one.own)
            helpers.append(other)
            other.start()
            shop.until(lambda: len(shop._calls("PollForDecisionTask")) == 2)
        return reply

    shop.call = overtaken
    one.shared()
    helpers[0].join(PATIENCE)
    assert result(shop, run_id) == "5"
    assert one.counts("cache_hits", "cache_misses") == [1, 0]


# --- what cannot be decided -------------------------------------------------------------------


def test_what_a_kept_run_says_is_believed_only_if_the_whole_history_says_so(shop, process, caplog):
    run_id, one = start(shop, count=2), process()
    one.shared()
    kept = one.sticky._owners[0].decider._kept[run_id]
    kept.run.episodes.broken = True
    for value in (1, 2):
        send(shop, value)
        assert one.own()
    assert result(shop, run_id) == "3"
    assert one.evictions() == {"differed": 1, "closed": 1}
    assert one.counts("decisions_held") == [0]
    assert "a replay from the whole history decides" in caplog.text


def test_a_held_run_waits_at_home(shop, process):
    """The code here is wrong: the answer that holds the run gives it back to the shared list."""
    run_id, right = start(shop, count=2), process()

    @workflow(name="adding")
    async def changed(count: int) -> str:
        return await greet("x")

    right.shared()
    wrong = process(workflows=[changed])
    send(shop, 1)
    shop.engine.advance(10)
    for _ in range(3):
        assert wrong.shared()
        shop.engine.advance(30)
    assert wrong.shared()
    hold = answers(shop)[-1]
    assert hold["decisions"][0]["startTimerDecisionAttributes"]["timerId"] == "flowpy.hold-1"
    assert "taskListScheduleToStartTimeout" not in hold
    send(shop, 2)
    assert right.shared()
    assert result(shop, run_id) == "3"


def test_a_kept_run_that_becomes_undecidable_is_held_with_its_whole_history(shop, process, monkeypatch):
    run_id, one = start(shop), process()
    one.shared()
    kept = one.sticky._owners[0].decider._kept[run_id]
    send(shop, 1)

    def spin(*args, **options):
        raise errors.WorkflowBlocked("it spins")

    monkeypatch.setattr(type(kept.run), "feed", spin)
    assert one.own()
    monkeypatch.undo()
    assert one.counts("decisions_held") == [1]
    assert one.evictions() == {"failed": 1}
    assert len(shop.calls("GetWorkflowExecutionHistory")) == 1
    shop.engine.advance(30)
    assert one.shared()
    assert one.counts("decisions_completed") == [2]


# --- draining ---------------------------------------------------------------------------------


def test_a_worker_that_waits_for_an_activity_takes_its_runs_and_hands_them_back(twin):
    begun, release = threading.Event(), threading.Event()

    @activity(name="pack")
    def pack() -> str:
        begun.set()
        assert release.wait(PATIENCE)
        return "packed"

    @workflow(name="packing")
    async def packing() -> str:
        return await pack()

    client = Client("shop", twin)
    worker = Worker(client, workflows=[adding, packing], activities=[pack], task_list="main")
    worker.start()
    kept, busy = client.start(adding, 2, workflow_id="w"), client.start(packing)
    twin.until(lambda: "DecisionTaskCompleted" in twin.types(kept.run_id, "w"))
    kept.signal(number, 1)
    # Not only decided but answered: an answer given while the worker drains would hand the run back already.
    twin.until(lambda: twin.types(kept.run_id, "w").count("DecisionTaskCompleted") == 2)
    assert begun.wait(PATIENCE)
    stopper = threading.Thread(target=worker.stop)
    stopper.start()
    assert worker._lifecycle.stopping.wait(PATIENCE)
    seen = len(twin.calls("PollForDecisionTask"))
    # More polls of its own list than were in flight.
    twin.until(lambda: len(twin.calls("PollForDecisionTask")) > seen + 4)
    kept.signal(number, 2)
    twin.until(lambda: twin.types(kept.run_id, "w")[-1] == "WorkflowExecutionCompleted")
    assert not worker._lifecycle.leaving.is_set()
    release.set()
    stopper.join(PATIENCE)
    assert "ActivityTaskCompleted" in {event["eventType"] for event in busy.history()}
    assert "DecisionTaskTimedOut" not in twin.types(kept.run_id, "w")
    started = len(twin.calls("PollForDecisionTask"))
    assert [poll["taskList"]["name"] for poll in twin.calls("PollForDecisionTask")[seen:started]].count("main") <= 2


def test_a_process_that_drains_hands_its_runs_back(shop, process):
    run_id, one, two = start(shop, count=3), process(), process()
    one.shared()
    send(shop, 1)
    one.lifecycle.stopping.set()
    assert one.own()
    answer = answers(shop)[-1]
    assert answer["taskList"] == {"name": "main"}
    assert "taskListScheduleToStartTimeout" not in answer
    assert one.evictions() == {"drained": 1}
    send(shop, 2)
    assert two.shared()
    send(shop, 3)
    assert two.own()
    assert result(shop, run_id) == "6"
    assert "DecisionTaskTimedOut" not in shop.types(run_id, "w")


def test_a_process_that_begins_to_drain_while_it_decides_calls_nothing_back(shop, process, monkeypatch):
    start(shop)
    one, decide = process(), Sticky.decide

    def draining(sticky, task, watched):
        decided = decide(sticky, task, watched)
        one.lifecycle.stopping.set()
        return decided

    monkeypatch.setattr(Sticky, "decide", draining)
    one.shared()
    assert "taskList" not in answers(shop)[0]
    assert one.evictions() == {"drained": 1}


def test_what_is_kept_at_the_end_leaves_memory_on_its_thread(shop, process):
    ended = []

    @workflow(name="adding_plain")
    def careful(count: int) -> None:
        try:
            number.receive().result()
        finally:
            ended.append(threading.current_thread().name)

    start(shop, name="adding_plain")
    one = process(workflows=[careful])
    one.shared()
    one.sticky.close()
    assert ended == ["flowpy-runs-1"]
    assert one.lifecycle.counts["cache_evictions_drained"] == 1


# --- bounds -----------------------------------------------------------------------------------


def test_memory_is_bounded(shop, process):
    one = process(cached_bytes=64_000)
    for number_ in range(10):
        start(shop, workflow_id=f"w{number_}")
        one.shared()
    decider = one.sticky._owners[0].decider
    assert one.evictions()["memory"] == 10 - len(decider)
    assert 1 <= len(decider) < 10
    assert decider._bytes <= 64_000


def test_a_run_too_large_to_keep_is_decided_all_the_same(shop, process):
    run_id, one = start(shop, count=1), process(cached_bytes=1)
    one.shared()
    assert "taskList" not in answers(shop)[0]
    send(shop, 4)
    one.shared()
    assert result(shop, run_id) == "4"


# --- trouble ----------------------------------------------------------------------------------


def test_runs_of_a_thread_that_is_stuck_are_decided_without_it(shop, process):
    entered, release = threading.Event(), threading.Event()

    @workflow(name="adding_plain")
    def stuck(count: int) -> None:
        entered.set()
        release.wait(PATIENCE)

    one = process(workflows=[adding, stuck], guard="off")
    one.sticky._owners[0].thread._patience = 0.01
    start(shop, workflow_id="stuck", name="adding_plain")
    other = threading.Thread(target=one.shared)
    other.start()
    assert entered.wait(PATIENCE)
    run_id = start(shop, count=1)
    assert one.shared()
    send(shop, 4)
    assert one.shared()
    assert result(shop, run_id) == "4"
    assert one.lifecycle.counts["cache_threads_stuck"] >= 2
    release.set()
    other.join(PATIENCE)


def test_an_answer_refused_for_its_task_list_is_sent_without(shop, process, caplog):
    run_id, one = start(shop, count=1), process()
    shop.fail("RespondDecisionTaskCompleted", fault("OperationNotPermittedFault", "taskList", "x"))
    one.shared()
    assert "taskList" not in answers(shop)[-1]
    assert "sticky=False" in caplog.text
    send(shop, 4)
    assert one.shared()
    assert "taskList" not in answers(shop)[-1]
    assert result(shop, run_id) == "4"
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 1


def test_an_answer_refused_for_another_reason_is_held(shop, process):
    start(shop)
    one = process()
    refused = fault("ValidationException", "no", "RespondDecisionTaskCompleted")
    shop.fail("RespondDecisionTaskCompleted", refused, refused)
    one.shared()
    assert one.counts("decisions_held") == [1]
    assert one.evictions() == {"unanswered": 1}
    assert one.sticky.active


def test_a_worker_that_may_not_poll_its_own_list_works_on(shop, caplog):
    call = shop.call

    def denied(operation, request):
        if ".sticky." in str(request.get("taskList")) and operation == "PollForDecisionTask":
            shop.call = call
            raise fault("AccessDeniedException", "swf:taskList.name", operation)
        return call(operation, request)

    shop.call, shop.hold = denied, 0.02
    client = Client("shop", shop, sleep=lambda seconds: shop.until(lambda: True))
    with Worker(client, workflows=WORKFLOWS, task_list="main", settings=WorkerSettings(threads=1)) as worker:
        shop.until(lambda: worker._sticky is not None and not worker._sticky.active)
        run_id = start(shop, count=1)
        send(shop, 4)
        shop.until(lambda: shop.types(run_id, "w")[-1] == "WorkflowExecutionCompleted")
    assert "is refused" in caplog.text


# --- whole workers ----------------------------------------------------------------------------


def test_workers_one_after_the_other(shop):
    """A rolling restart: what each hands back, the next goes on with."""
    shop.hold = 0.02
    runs = [start(shop, count=4, workflow_id=f"w{n}", name=WORKFLOWS[n % 2].name) for n in range(10)]
    hits = 0
    for value in range(4):
        with Worker(shop, domain="shop", workflows=WORKFLOWS, task_list="main") as worker:
            shop.until(lambda: all(decided(shop, run_id, n) for n, run_id in enumerate(runs)))
            for n in range(10):
                send(shop, value, f"w{n}")
            shop.engine.advance(10)
            shop.until(lambda: all(decided(shop, run_id, n) for n, run_id in enumerate(runs)))
        hits += worker.counts.get("cache_hits", 0)
    assert [result(shop, run_id, f"w{n}") for n, run_id in enumerate(runs)] == ["6"] * 10
    assert hits


def decided(shop, run_id, n):
    """Whether the code has seen all that happened to a run."""
    types = shop.types(run_id, f"w{n}")
    counted = [types.count(f"DecisionTask{what}") for what in ("Scheduled", "Completed", "TimedOut")]
    return counted[0] == counted[1] + counted[2]


@pytest.mark.parametrize(
    ("attributes", "away"),
    [
        ({}, False),
        ({"taskList": {"name": "a"}}, False),
        ({"taskList": {"name": "a"}, "taskListScheduleToStartTimeout": "NONE"}, False),
        ({"taskList": {"name": "a"}, "taskListScheduleToStartTimeout": "10"}, True),
    ],
)
def test_where_a_run_is(attributes, away):
    completed = {"eventType": "DecisionTaskCompleted", "decisionTaskCompletedEventAttributes": attributes}
    assert is_away([completed, {"eventType": "DecisionTaskScheduled"}]) is away
    assert not is_away([completed, {"eventType": "DecisionTaskTimedOut"}])


@pytest.mark.parametrize("options", [{"sticky_timeout": 0}, {"cached_runs": 0}, {"cached_bytes": 0}])
def test_bad_settings_are_refused(options):
    with pytest.raises(ValueError):
        WorkerSettings(**options)
