from __future__ import annotations

import asyncio
import json
import threading

import pytest

from flowpy.data.failures import is_not_begun
from flowpy.data.reading import decode_failure
from flowpy.declare import activity
from flowpy.errors import ActivityCancelRequested, ApplicationError, ServiceUnavailable
from flowpy.service.faults import fault
from flowpy.worker import current_activity
from flowpy.worker.activities import ActivityWorker
from flowpy.worker.lifecycle import Lifecycle
from flowpy.worker.slots import Slots

from .twin import PATIENCE, greet, settle


class Tasks:
    """Hands out one activity task per entry, takes answers, and answers heartbeats from a script."""

    def __init__(self, *tasks):
        self.tasks = list(tasks)
        self.answers = {}
        self.heartbeats = []
        self.beats = []
        self.faults = []
        self.polls = 0
        self.changed = threading.Condition()

    def call(self, operation, request):
        with self.changed:
            if operation == "PollForActivityTask":
                self.polls += 1
                return self.tasks.pop(0) if self.tasks else {"startedEventId": 0}
            if operation == "RecordActivityTaskHeartbeat":
                self.beats.append(request.get("details"))
                reply = self.heartbeats.pop(0) if self.heartbeats else {"cancelRequested": False}
                if isinstance(reply, Exception):
                    raise reply
                return reply
            if self.faults:
                raise self.faults.pop(0)
            fields = {key: value for key, value in request.items() if key != "taskToken"}
            self.answers[request["taskToken"]] = (operation, fields)
            self.changed.notify_all()
            return {}


def task(name="greet", text='["Ada"]', token="token-1", version="1.0"):
    made = {
        "taskToken": token,
        "activityId": f"{name}-1",
        "activityType": {"name": name, "version": version},
        "workflowExecution": {"workflowId": "order-7", "runId": "run-1"},
        "startedEventId": 6,
    }
    return made if text is None else {**made, "input": text}


def worker(lifecycle, service, *activities, slots=4):
    return ActivityWorker(service, lifecycle, activities, "shop", "main", "me", Slots(slots))


def run(lifecycle, declared, *tasks, service=None, heartbeat=False):
    """Run tasks to their end; gives the answers by token."""
    service = service or Tasks(*(tasks or (task(declared.name),)))
    activities = worker(lifecycle, service, declared)
    if heartbeat:
        activities.heartbeats.open()
    while activities.step():
        pass
    settle(lifecycle)
    activities.heartbeats.close()
    activities.loop.close()
    return service.answers


def failure(answer):
    operation, fields = answer
    assert operation == "RespondActivityTaskFailed"
    return fields["reason"], json.loads(fields["details"])


def test_a_result_is_sent_as_json(lifecycle):
    assert run(lifecycle, greet) == {"token-1": ("RespondActivityTaskCompleted", {"result": '"hello Ada"'})}
    assert lifecycle.counts == {"activities_completed": 1}


def test_async_activities_run_together_on_one_loop(lifecycle):
    loops, both = set(), []
    event: list[asyncio.Event] = []

    @activity
    async def meet(name: str) -> str:
        loops.add(asyncio.get_running_loop())
        if not event:
            event.append(asyncio.Event())
        both.append(name)
        if len(both) == 2:
            event[0].set()
        await event[0].wait()
        return name

    service = Tasks(*(task(meet.name, f'["{n}"]', f"token-{n}") for n in "ab"))
    answers = run(lifecycle, meet, service=service)
    assert answers["token-a"][1] == {"result": '"a"'}
    assert answers["token-b"][1] == {"result": '"b"'}
    assert len(loops) == 1


def test_an_exception_fails_the_task_with_its_record(lifecycle):
    @activity
    def charge(name: str) -> str:
        raise ApplicationError("card declined", type="Declined", data={"card": name})

    reason, details = failure(run(lifecycle, charge)["token-1"])
    assert reason == "Declined: card declined"
    assert details["data"] == {"card": "Ada"}


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration()])
def test_whatever_leaves_the_code_the_thread_and_the_loop_survive(lifecycle, error):
    @activity
    async def odd(name: str) -> str:
        raise error

    @activity
    def plain(name: str) -> str:
        raise error

    service = Tasks(task(odd.name, token="1"), task(odd.name, token="2"), task(plain.name, token="3"))
    activities = worker(lifecycle, service, odd, plain)
    while activities.step():
        pass
    settle(lifecycle)
    assert [operation for operation, _ in service.answers.values()] == ["RespondActivityTaskFailed"] * 3


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_a_task_of_an_async_activity_does_not_take_the_loop_along(lifecycle, error):
    begun = threading.Event()

    @activity
    async def bystander(name: str) -> str:
        begun.set()
        while not ended.is_set():
            await asyncio.sleep(0.001)
        return name

    @activity
    async def quits(name: str) -> None:
        async def part():
            raise error

        await asyncio.gather(part(), asyncio.sleep(0))

    ended = threading.Event()
    service = Tasks(task("bystander", token="1"), task("quits", token="2"))
    activities = worker(lifecycle, service, bystander, quits)
    assert activities.step()
    assert begun.wait(PATIENCE)
    assert activities.step()
    with service.changed:
        assert service.changed.wait_for(lambda: "2" in service.answers, PATIENCE)
    ended.set()
    settle(lifecycle)
    activities.close()

    assert failure(service.answers["2"])[0].startswith(type(error).__name__)
    assert service.answers["1"] == ("RespondActivityTaskCompleted", {"result": '"Ada"'})


def test_a_type_this_worker_does_not_have_fails_at_once(lifecycle):
    reason, details = failure(run(lifecycle, greet, task("bill"))["token-1"])
    assert reason == "UnknownActivityType: the worker on task list main has no activity bill 1.0"
    assert "activities=" in details["message"]


def test_another_version_is_another_type(lifecycle):
    _, details = failure(run(lifecycle, greet, task("greet", version="2.0"))["token-1"])
    assert "version 1.0" in details["message"]


def test_input_that_does_not_fit_fails_naming_the_argument(lifecycle):
    reason, _ = failure(run(lifecycle, greet, task("greet", "[7]"))["token-1"])
    assert "name" in reason


def test_a_missing_argument_fails_naming_it(lifecycle):
    reason, _ = failure(run(lifecycle, greet, task("greet", None))["token-1"])
    assert "name" in reason


def test_a_result_too_large_fails_with_the_size(lifecycle):
    @activity
    def long(name: str) -> str:
        return "x" * 40_000

    reason, _ = failure(run(lifecycle, long)["token-1"])
    assert reason.startswith("PayloadTooLarge: result of activity")
    assert "40,002" in reason


def test_a_result_without_json_form_fails(lifecycle):
    @activity
    def lock(name: str) -> object:
        return threading.Lock()

    reason, _ = failure(run(lifecycle, lock)["token-1"])
    assert reason.startswith("PayloadNotEncodable")


def test_a_manual_activity_that_returned_is_completed_elsewhere(lifecycle):
    tokens = []

    @activity(manual=True)
    def approve(name: str) -> None:
        tokens.append(current_activity().task_token)

    service = Tasks(task(approve.name))
    assert run(lifecycle, approve, service=service) == {}
    assert tokens == ["token-1"]
    assert service.beats == []


def test_a_manual_activity_that_raised_has_failed(lifecycle):
    @activity(manual=True)
    def approve(name: str) -> None:
        raise ValueError("no address")

    assert failure(run(lifecycle, approve)["token-1"])[0] == "ValueError: no address"


def test_a_cancel_is_raised_at_the_next_heartbeat_of_plain_code(lifecycle):
    @activity(heartbeat_timeout=3)
    def copy(name: str) -> None:
        running = current_activity()
        running.heartbeat({"done": 1})
        assert running.cancellation.wait(PATIENCE)
        running.heartbeat({"done": 2})

    service = Tasks(task(copy.name))
    service.heartbeats.append({"cancelRequested": True})
    assert run(lifecycle, copy, service=service, heartbeat=True)["token-1"] == ("RespondActivityTaskCanceled", {})
    assert lifecycle.counts == {"activities_canceled": 1}


def test_details_of_a_cancel_are_told(lifecycle):
    @activity
    def copy(name: str) -> None:
        raise ActivityCancelRequested(details={"done": 5})

    assert run(lifecycle, copy)["token-1"] == ("RespondActivityTaskCanceled", {"details": '{"done": 5}'})


def test_a_cancel_reaches_async_code_at_its_await(lifecycle):
    cleaned = []

    @activity
    async def copy(name: str) -> None:
        current_activity().heartbeat("begun")
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append(current_activity().cancel_requested)

    service = Tasks(task(copy.name))
    service.heartbeats.append({"cancelRequested": True})
    assert run(lifecycle, copy, service=service, heartbeat=True)["token-1"] == ("RespondActivityTaskCanceled", {})
    assert cleaned == [True]


def test_a_cancelled_error_that_nobody_asked_for_is_a_failure(lifecycle):
    @activity
    async def copy(name: str) -> None:
        raise asyncio.CancelledError

    assert failure(run(lifecycle, copy)["token-1"])[0].startswith("CancelledError")


def test_an_activity_may_complete_although_its_cancel_was_requested(lifecycle):
    @activity
    def copy(name: str) -> str:
        running = current_activity()
        running.heartbeat(1)
        assert running.cancellation.wait(PATIENCE)
        return "finished all the same"

    service = Tasks(task(copy.name))
    service.heartbeats.append({"cancelRequested": True})
    answers = run(lifecycle, copy, service=service, heartbeat=True)
    assert answers["token-1"][0] == "RespondActivityTaskCompleted"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_cancel_between_return_and_answer_harms_nobody(lifecycle, is_async):
    contexts = []

    @activity(name="copy")
    def plain(name: str) -> str:
        contexts.append(current_activity())
        return name

    @activity(name="copy")
    async def coroutine(name: str) -> str:
        contexts.append(current_activity())
        return name

    class Late(Tasks):
        def call(self, operation, request):
            if operation.startswith("Respond"):
                contexts[-1].request_cancel()
            return super().call(operation, request)

    service = Late(task("copy", token="1"), task("copy", token="2"))
    answers = run(lifecycle, coroutine if is_async else plain, service=service)
    assert [operation for operation, _ in answers.values()] == ["RespondActivityTaskCompleted"] * 2


def test_the_result_of_a_task_that_swf_closed_is_not_sent(lifecycle, caplog):
    @activity
    def copy(name: str) -> str:
        running = current_activity()
        running.heartbeat(1)
        assert running.cancellation.wait(PATIENCE)
        assert running.gone
        return "late"

    service = Tasks(task(copy.name))
    service.heartbeats.append(fault("UnknownResourceFault", "Unknown activity, scheduledEventId = 5", "x"))
    assert run(lifecycle, copy, service=service, heartbeat=True) == {}
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert lines[0].startswith("result dropped, task closed")
    assert "copy" in lines[0]


def test_a_task_that_timed_out_meanwhile_costs_one_line_and_no_retry(lifecycle, caplog):
    service = Tasks(task("greet"))
    service.faults.append(fault("UnknownResourceFault", "Unknown activity, scheduledEventId = 5", "x"))
    assert run(lifecycle, greet, service=service) == {}
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 1
    assert lines[0].startswith("result dropped, task closed")


def test_a_result_is_sent_again_until_the_service_has_it(lifecycle):
    service = Tasks(task("greet"))
    service.faults += [fault("ThrottlingException", "", "x"), ServiceUnavailable("down"), ServiceUnavailable("down")]
    assert run(lifecycle, greet, service=service)["token-1"][0] == "RespondActivityTaskCompleted"


@pytest.mark.parametrize("error", ["ThrottlingException", "EndpointConnectionError", "ExpiredTokenException"])
def test_a_result_outlasts_an_outage_of_an_hour_also_while_the_worker_drains(error):
    clock = [0.0]

    def wait(event, seconds):
        clock[0] += seconds
        return event.is_set()

    class Down(Tasks):
        def call(self, operation, request):
            if operation.startswith("Respond") and clock[0] < 3600:
                raise fault(error, "", operation, status=503)
            lifecycle.stopping.set()
            return super().call(operation, request)

    lifecycle = Lifecycle(wait=wait)
    assert run(lifecycle, greet, service=Down(task("greet")))["token-1"][0] == "RespondActivityTaskCompleted"
    assert lifecycle.counts == {"activities_completed": 1}


def test_a_result_that_swf_refuses_fails_the_task_and_says_why(lifecycle, caplog):
    service = Tasks(task("greet"))
    service.faults.append(fault("ValidationException", "character \ud83d at 'result'", "RespondActivityTaskCompleted"))
    reason, details = failure(run(lifecycle, greet, service=service)["token-1"])
    assert reason == (
        "ResultRefused: the activity returned, and its result cannot be recorded: RespondActivityTaskCompleted: "
        "ValidationException: character \\ud83d at 'result'"
    )
    assert (details["type"], details["module"]) == ("ResultRefused", "flowpy.worker")
    assert "its result is refused, the task is failed instead" in caplog.text
    assert lifecycle.counts == {"results_refused": 1, "activities_failed": 1}


def test_a_failure_that_swf_refuses_is_told_by_its_type(lifecycle):
    @activity
    def charge(name: str) -> str:
        raise ApplicationError("card declined", type="Declined")

    service = Tasks(task(charge.name))
    service.faults.append(fault("ValidationException", "no", "RespondActivityTaskFailed"))
    reason, _ = failure(run(lifecycle, charge, service=service)["token-1"])
    assert reason.startswith("ResultRefused: the activity failed (Declined), and that cannot be recorded: ")


def test_a_task_whose_every_answer_is_refused_is_left_to_its_timeouts(lifecycle, caplog):
    service = Tasks(task("greet"))
    service.faults += [fault("ValidationException", "no", "x"), fault("ValidationException", "never", "x")]
    assert run(lifecycle, greet, service=service) == {}
    assert "that is refused too, the task is left to its timeouts: x: ValidationException: never" in caplog.text


def test_a_task_for_which_there_is_no_thread_is_given_back(lifecycle, monkeypatch):
    def no_more(self):
        raise RuntimeError("can't start new thread")

    service = Tasks(task("greet"))
    activities = worker(lifecycle, service, greet, slots=1)
    monkeypatch.setattr(threading.Thread, "start", no_more)
    with pytest.raises(RuntimeError, match="new thread"):
        activities.step()
    monkeypatch.undo()

    reason, details = failure(service.answers["token-1"])
    assert reason.startswith("ActivityNotBegun: it cannot be begun, the worker has no thread for it: can't start")
    assert is_not_begun(decode_failure(reason, json.dumps(details)))
    assert (activities.slots.free, lifecycle.tasks) == (1, [])


def test_the_last_heartbeat_details_go_out_before_the_failure(lifecycle):
    @activity
    def copy(name: str) -> None:
        for done in range(25):
            current_activity().heartbeat(done)
        raise ValueError("disk full")

    service = Tasks(task(copy.name))
    assert failure(run(lifecycle, copy, service=service)["token-1"])[0] == "ValueError: disk full"
    assert service.beats[-1] == "24"


def test_nothing_is_polled_while_all_places_are_taken(lifecycle):
    release = threading.Event()

    @activity
    def wait(name: str) -> None:
        assert release.wait(PATIENCE)

    service = Tasks(task(wait.name, token="1"), task(wait.name, token="2"))
    activities = worker(lifecycle, service, wait, slots=1)
    assert activities.step()
    poller = threading.Thread(target=activities.step)
    poller.start()
    assert service.polls == 1
    release.set()
    poller.join(PATIENCE)
    settle(lifecycle)
    assert service.polls == 2
    assert len(service.answers) == 2


def test_a_failed_poll_gives_its_place_back(lifecycle):
    class Down:
        def call(self, operation, request):
            raise ServiceUnavailable("down")

    activities = worker(lifecycle, Down(), greet, slots=1)
    for _ in range(2):
        with pytest.raises(ServiceUnavailable):
            activities.step()


def test_waiting_for_a_place_ends_when_the_worker_stops(lifecycle):
    activities = worker(lifecycle, Tasks(), greet, slots=1)
    assert activities.slots.take()
    poller = threading.Thread(target=activities.step)
    poller.start()
    activities.slots.close()
    poller.join(PATIENCE)
    assert not poller.is_alive()


def test_many_activities_heartbeat_while_others_start(lifecycle):
    @activity
    def busy(name: str) -> str:
        for done in range(50):
            current_activity().heartbeat(done)
        return name

    service = Tasks(*(task(busy.name, token=str(n)) for n in range(40)))
    assert len(run(lifecycle, busy, service=service, heartbeat=True)) == 40


def test_an_answer_is_given_up_once_the_worker_no_longer_waits(lifecycle, caplog):
    lifecycle.abandoned.set()
    service = Tasks(task("greet"))
    service.faults += [ServiceUnavailable("down")] * 5
    assert run(lifecycle, greet, service=service) == {}
    assert "the worker stopped before the service took it" in caplog.text
    assert "greet-1" in caplog.text
    assert len(service.faults) == 4


def test_details_that_cannot_be_sent_do_not_stand_in_the_way_of_the_failure(lifecycle):
    @activity
    def copy(name: str) -> None:
        current_activity().heartbeat("half")
        raise ValueError("disk full")

    service = Tasks(task(copy.name))
    service.heartbeats.append(ServiceUnavailable("down"))
    assert failure(run(lifecycle, copy, service=service)["token-1"])[0] == "ValueError: disk full"


def test_a_bug_in_the_worker_costs_one_task_and_no_place(lifecycle, caplog):
    service = Tasks(task("greet", token="1"), task("greet", token="2"))
    activities = worker(lifecycle, service, greet, slots=1)

    class Broken(type(activities.heartbeats)):
        def start(self, context, every):
            if context.task_token == "1":
                raise ZeroDivisionError

    activities.heartbeats = Broken(service)
    while activities.step():
        pass
    settle(lifecycle)
    assert failure(service.answers["1"])[0] == "ZeroDivisionError"
    assert service.answers["2"][0] == "RespondActivityTaskCompleted"
    assert "unexpected error, its task is failed" in caplog.text
