"""`LocalService`: polls that wait in this process, and a clock that jumps when nothing else can happen."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from attrs import define, field

from flowpy.errors import UnknownResource
from flowpy.local import Engine, LocalService, SystemClock, VirtualClock, check_history

NOON = 1_767_268_800.0
DAY = 86_400.0
DECIDERS = {"domain": "shop", "taskList": {"name": "deciders"}}
WORKERS = {"domain": "shop", "taskList": {"name": "workers"}}
COMPLETE = {"decisionType": "CompleteWorkflowExecution"}

Decide = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def timer(number: int, seconds: float = DAY) -> dict[str, Any]:
    attributes = {"timerId": str(number), "startToFireTimeout": str(int(seconds))}
    return {"decisionType": "StartTimer", "startTimerDecisionAttributes": attributes}


def activity(**options: str) -> dict[str, Any]:
    attributes = {"activityId": "a", "activityType": {"name": "charge", "version": "1"}} | options
    return {"decisionType": "ScheduleActivityTask", "scheduleActivityTaskDecisionAttributes": attributes}


def last(events: list[dict[str, Any]], *kinds: str) -> str:
    return next((event["eventType"] for event in reversed(events) if event["eventType"] in kinds), "")


def register(call: Callable[[str, dict[str, Any]], Any]) -> None:
    call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "90"})
    workflow = {
        "defaultTaskList": {"name": "deciders"},
        "defaultChildPolicy": "TERMINATE",
        "defaultTaskStartToCloseTimeout": "30",
        "defaultExecutionStartToCloseTimeout": str(int(300 * DAY)),
    }
    call("RegisterWorkflowType", {"domain": "shop", "name": "order", "version": "1"} | workflow)
    timeouts = ("Heartbeat", "ScheduleToStart", "ScheduleToClose", "StartToClose")
    defaults: dict[str, Any] = {f"defaultTask{name}Timeout": "NONE" for name in timeouts}
    defaults["defaultTaskList"] = {"name": "workers"}
    call("RegisterActivityType", {"domain": "shop", "name": "charge", "version": "1"} | defaults)


@define
class Shop:
    """A service, and threads that decide and work for it until the test ends."""

    service: LocalService
    threads: list[threading.Thread] = field(factory=list)
    over: threading.Event = field(factory=threading.Event)

    @property
    def passed(self) -> float:
        """Seconds since noon."""
        return self.service.now() - NOON

    def start(self, workflow_id: str = "w") -> str:
        request = {"domain": "shop", "workflowId": workflow_id, "workflowType": {"name": "order", "version": "1"}}
        run_id: str = self.service.call("StartWorkflowExecution", request)["runId"]
        return run_id

    def signal(self, name: str, workflow_id: str = "w") -> None:
        request = {"domain": "shop", "workflowId": workflow_id, "signalName": name}
        self.service.call("SignalWorkflowExecution", request)

    def history(self, run_id: str, workflow_id: str = "w") -> list[dict[str, Any]]:
        request = {"domain": "shop", "execution": {"workflowId": workflow_id, "runId": run_id}}
        events: list[dict[str, Any]] = self.service.call("GetWorkflowExecutionHistory", request)["events"]
        check_history(events)
        return events

    def decider(self, decide: Decide) -> None:
        self.loop("PollForDecisionTask", DECIDERS, lambda task: self.answer(task, decide))

    def worker(self, work: Callable[[dict[str, Any]], str]) -> None:
        def answer(task: dict[str, Any]) -> None:
            self.service.call("RespondActivityTaskCompleted", {"taskToken": task["taskToken"], "result": work(task)})

        self.loop("PollForActivityTask", WORKERS, answer)

    def answer(self, task: dict[str, Any], decide: Decide) -> None:
        request = {"taskToken": task["taskToken"], "decisions": decide(task["events"])}
        self.service.call("RespondDecisionTaskCompleted", request)

    def loop(self, operation: str, request: dict[str, Any], handle: Callable[[dict[str, Any]], None]) -> None:
        def polling() -> None:
            while not self.over.is_set():
                task = self.service.call(operation, request)
                if "taskToken" in task:
                    handle(task)

        self.threads.append(threading.Thread(target=polling))
        self.threads[-1].start()

    def wait_for_end(self, run_id: str, workflow_id: str = "w", seconds: float = 20.0) -> list[dict[str, Any]]:
        """The history of a run when it has closed, waited for on the machine's clock."""
        deadline, nap = time.monotonic() + seconds, threading.Event()
        while not (events := self.history(run_id, workflow_id))[-1]["eventType"].startswith("WorkflowExecutionCompl"):
            assert time.monotonic() < deadline, [event["eventType"] for event in events]
            nap.wait(0.002)
        return events


@pytest.fixture
def shop() -> Iterator[Shop]:
    engine = Engine(VirtualClock(NOON))
    register(engine.call)
    shop = Shop(LocalService(engine))
    yield shop
    shop.over.set()
    shop.service.close()
    for thread in shop.threads:
        thread.join(10)
        assert not thread.is_alive()


# --- polls ----------------------------------------------------------------------------------


def test_a_poll_waits_for_a_task(shop: Shop) -> None:
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(shop.service.call, "PollForDecisionTask", DECIDERS)

        run_id = shop.start()

        assert poll.result(10)["workflowExecution"]["runId"] == run_id


def test_a_poll_that_found_nothing_says_so_when_the_hold_is_over() -> None:
    engine = Engine(VirtualClock(NOON))
    register(engine.call)

    assert LocalService(engine, hold=0.02).call("PollForActivityTask", WORKERS) == {"startedEventId": 0}


def test_closing_ends_every_wait(shop: Shop) -> None:
    shop.service.hold = 60.0
    with ThreadPoolExecutor(2) as pool, shop.service.attending():
        poll = pool.submit(shop.service.call, "PollForDecisionTask", DECIDERS)
        sleep = pool.submit(shop.service.sleep, DAY)

        shop.service.close()

        assert poll.result(10) == {"previousStartedEventId": 0, "startedEventId": 0}
        sleep.result(10)
    assert shop.service.call("PollForActivityTask", WORKERS) == {"startedEventId": 0}
    assert shop.passed == 0


def test_a_fault_is_raised_and_a_poll_of_an_unknown_domain_does_not_wait(shop: Shop) -> None:
    with pytest.raises(UnknownResource):
        shop.service.call("PollForDecisionTask", DECIDERS | {"domain": "nowhere"})


def test_on_the_machine_s_clock_a_timer_wakes_a_poller() -> None:
    engine = Engine(SystemClock())
    register(engine.call)
    shop = Shop(LocalService(engine, hold=20.0))
    shop.start()
    task = shop.service.call("PollForDecisionTask", DECIDERS)
    request = {"taskToken": task["taskToken"], "decisions": [timer(1, 1)]}
    shop.service.call("RespondDecisionTaskCompleted", request)

    began = time.monotonic()
    events = shop.service.call("PollForDecisionTask", DECIDERS)["events"]

    assert last(events, "TimerFired")
    assert 0.5 < time.monotonic() - began < 10


# --- the clock jumps ------------------------------------------------------------------------


def test_a_month_of_timers_takes_no_time(shop: Shop) -> None:
    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        fired = sum(event["eventType"] == "TimerFired" for event in events)
        return [timer(fired)] if fired < 30 else [COMPLETE]

    shop.decider(decide)
    began = time.monotonic()

    events = shop.wait_for_end(shop.start())

    assert sum(event["eventType"] == "TimerFired" for event in events) == 30
    assert events[-1]["eventTimestamp"].timestamp() == NOON + 30 * DAY
    assert time.monotonic() - began < 10


def test_the_clock_stands_still_while_an_activity_runs(shop: Shop) -> None:
    """Its timeout of a second would end it, were the clock to move."""
    times = []

    def work(task: dict[str, Any]) -> str:
        for _ in range(20):
            times.append(shop.passed)
            threading.Event().wait(0.01)
        return "done"

    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        begun = last(events, "ActivityTaskCompleted", "ActivityTaskTimedOut", "ActivityTaskScheduled")
        return [COMPLETE] if begun == "ActivityTaskCompleted" else [activity(startToCloseTimeout="1")]

    shop.decider(decide)
    shop.worker(work)

    events = shop.wait_for_end(shop.start())

    assert set(times) == {0.0}
    assert last(events, "ActivityTaskTimedOut") == ""


def test_no_activity_times_out_between_being_scheduled_and_being_polled(shop: Shop) -> None:
    """One that nobody polls for does. The tightest of timeouts, many times, many threads: no jump comes between."""

    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        done = sum(event["eventType"] == "ActivityTaskCompleted" for event in events)
        if done == 10:
            return [COMPLETE]
        return [activity(scheduleToStartTimeout="1", startToCloseTimeout="1", heartbeatTimeout="1")]

    for _ in range(3):
        shop.decider(decide)
        shop.worker(lambda _: "done")

    with shop.service.attending():
        runs = {f"w{number}": shop.start(f"w{number}") for number in range(10)}
    for workflow_id, run_id in runs.items():
        events = shop.wait_for_end(run_id, workflow_id)
        assert last(events, "ActivityTaskTimedOut", "DecisionTaskTimedOut") == ""


def test_what_nobody_polls_for_times_out(shop: Shop) -> None:
    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [COMPLETE] if last(events, "ActivityTaskTimedOut") else [activity(scheduleToStartTimeout="3600")]

    shop.decider(decide)

    shop.wait_for_end(shop.start())

    assert shop.passed >= 3_600


def test_a_task_that_is_given_up_does_not_hold_the_clock(shop: Shop) -> None:
    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [COMPLETE] if last(events, "ActivityTaskTimedOut") else [activity(heartbeatTimeout="60")]

    shop.decider(decide)
    with shop.service.attending():
        run_id = shop.start()
        task = shop.service.call("PollForActivityTask", WORKERS)
        assert shop.passed == 0
        shop.service.release(task["taskToken"])

    events = shop.wait_for_end(run_id)

    assert last(events, "ActivityTaskTimedOut") == "ActivityTaskTimedOut"
    assert shop.passed >= 60


def test_a_decision_left_without_an_answer_is_left_to_its_timeout(shop: Shop) -> None:
    """So a decider holds a run: its thread polls again, and the clock must go on to the task's timeout."""
    seen: list[int] = []

    def hold(task: dict[str, Any]) -> None:
        seen.append(task["startedEventId"])
        if len(seen) > 1:
            shop.answer(task, lambda _events: [COMPLETE])

    shop.loop("PollForDecisionTask", DECIDERS, hold)

    shop.wait_for_end(shop.start())

    assert len(seen) == 2
    assert shop.passed >= 30


def test_advance_moves_the_clock_whoever_is_busy(shop: Shop) -> None:
    with shop.service.attending():
        shop.start()
        task = shop.service.call("PollForDecisionTask", DECIDERS)

        shop.service.advance(31)

        assert not shop.service.engine.awaits(task["taskToken"])
        assert shop.service.call("PollForDecisionTask", DECIDERS)["startedEventId"] == 6


# --- threads that attend --------------------------------------------------------------------


def test_a_thread_that_attends_has_its_calls_at_one_time(shop: Shop) -> None:
    """The run waits a day for a signal: it is not over before the signal is sent."""

    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        seen = last(events, "WorkflowExecutionSignaled", "TimerFired")
        if seen:
            return [COMPLETE]
        return [] if last(events, "TimerStarted") else [timer(1)]

    shop.decider(decide)
    with shop.service.attending():
        run_id = shop.start()
        threading.Event().wait(0.05)
        shop.signal("go")
        assert shop.passed == 0

    assert last(shop.wait_for_end(run_id), "TimerFired", "WorkflowExecutionSignaled") == "WorkflowExecutionSignaled"


def test_sleep_is_woken_at_its_time_among_the_timers(shop: Shop) -> None:
    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        fired = sum(event["eventType"] == "TimerFired" for event in events)
        return [timer(fired)] if fired < 5 else [COMPLETE]

    shop.decider(decide)
    with shop.service.attending():
        run_id = shop.start()
        for day in (1, 2, 3):
            shop.service.sleep(DAY)
            assert shop.passed == day * DAY
            fired = [event for event in shop.history(run_id) if event["eventType"] == "TimerFired"]
            assert len(fired) in {day - 1, day}

    assert len(shop.wait_for_end(run_id)) > 3
    assert shop.passed >= 5 * DAY


def test_sleep_alone_moves_the_clock(shop: Shop) -> None:
    with shop.service.attending():
        shop.service.sleep(3 * DAY)
        assert shop.passed == 3 * DAY
        shop.service.sleep(-1)
        assert shop.passed == 3 * DAY


def test_a_thread_that_ended_while_it_was_busy_holds_the_clock_no_longer(shop: Shop) -> None:
    shop.service.hold = 20.0

    def crash() -> None:
        shop.service.call("PollForDecisionTask", DECIDERS)

    crashing = threading.Thread(target=crash)
    with shop.service.attending():
        crashing.start()
        shop.start()
        crashing.join()
        began = time.monotonic()
        shop.service.advance(31)
        shop.service.sleep(DAY)

    assert shop.passed == DAY + 31
    assert time.monotonic() - began < 10


def test_without_autojump_time_stands_still(shop: Shop) -> None:
    shop.service.autojump = False
    shop.service.hold = 0.05
    shop.start()
    task = shop.service.call("PollForDecisionTask", DECIDERS)
    request = {"taskToken": task["taskToken"], "decisions": [timer(1)]}
    shop.service.call("RespondDecisionTaskCompleted", request)

    assert "taskToken" not in shop.service.call("PollForDecisionTask", DECIDERS)
    assert shop.passed == 0


def test_the_same_engine_can_be_served_twice(shop: Shop) -> None:
    """What one of two services is told wakes the pollers of the other."""
    other = LocalService(shop.service.engine, hold=20.0)
    with ThreadPoolExecutor(1) as pool:
        poll = pool.submit(other.call, "PollForDecisionTask", DECIDERS)

        run_id = shop.start()

        assert poll.result(10)["workflowExecution"]["runId"] == run_id


def test_wait_until_ends_at_the_moment_when_it_is_so(shop: Shop) -> None:
    def decide(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        fired = sum(event["eventType"] == "TimerFired" for event in events)
        return [timer(fired)] if fired < 30 else [COMPLETE]

    def is_closed() -> bool:
        return shop.history(run_id)[-1]["eventType"] == "WorkflowExecutionCompleted"

    shop.decider(decide)
    with shop.service.attending():
        run_id = shop.start()

        assert not shop.service.wait_until(is_closed, 10 * DAY)
        assert shop.passed == 10 * DAY
        assert shop.service.wait_until(is_closed)
        assert shop.passed == 30 * DAY
        assert shop.service.wait_until(is_closed)
        assert shop.passed == 30 * DAY


def test_what_a_condition_raises_is_raised_where_it_was_waited_for(shop: Shop) -> None:
    def broken() -> bool:
        if shop.passed:
            raise RuntimeError("broken")
        return False

    shop.decider(lambda events: [] if last(events, "TimerStarted") else [timer(1)])
    with shop.service.attending():
        shop.start()
        with pytest.raises(RuntimeError, match="broken"):
            shop.service.wait_until(broken)
