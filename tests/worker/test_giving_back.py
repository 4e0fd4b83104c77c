"""Activities that do not end within the grace are given back."""

from __future__ import annotations

import threading
from functools import partial

import pytest

from flowpy import errors
from flowpy.data import Converter, Encryption, Payloads
from flowpy.service.faults import fault
from flowpy.worker import Worker, WorkerSettings, current_activity
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.giving_back import OpenActivities
from flowpy.worker.lifecycle import Stop
from flowpy.worker.previous import previous_details

from .twin import PATIENCE, OneActivity, Twin, activity, greet, order


def task(token="t-1", name="greet"):
    return {
        "taskToken": token,
        "activityId": f"{name}-1",
        "activityType": {"name": name, "version": "1.0"},
        "workflowExecution": {"workflowId": "order-7", "runId": "r"},
    }


class Service:
    def __init__(self):
        self.tasks, self.faults, self.asked = [], {}, []

    def call(self, operation, request):
        self.asked.append((operation, request))
        if operation in self.faults:
            raise self.faults[operation]
        return self.tasks.pop(0) if operation == "PollForActivityTask" and self.tasks else {}

    def failed(self):
        return [request["taskToken"] for name, request in self.asked if name == "RespondActivityTaskFailed"]


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def open_activities(service):
    return OpenActivities(service)


def take(service, open_activities, *tasks):
    service.tasks.extend(tasks)
    for _ in tasks:
        open_activities.call("PollForActivityTask", {})


def test_what_was_not_answered_is_failed_with_a_reason(service, open_activities):
    take(service, open_activities, task())
    assert open_activities.fail_all() == 1
    _, request = service.asked[-1]
    assert request["taskToken"] == "t-1"
    assert request["reason"].startswith("WorkerStopped: the worker stopped before activity greet 1.0 'greet-1'")
    assert open_activities.fail_all() == 0


@pytest.mark.parametrize(
    "operation", ["RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled"]
)
def test_what_was_answered_is_not_failed(service, open_activities, operation):
    take(service, open_activities, task("t-1"), task("t-2"))
    open_activities.call(operation, {"taskToken": "t-1"})
    service.asked.clear()
    open_activities.fail_all()
    assert service.failed() == ["t-2"]


@pytest.mark.parametrize(
    "operation", ["RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled"]
)
@pytest.mark.parametrize("name", ["ThrottlingException", "ConnectionClosedError"])
def test_an_answer_that_did_not_get_through_is_what_is_given_and_no_failure(service, open_activities, operation, name):
    take(service, open_activities, task())
    answer = {"taskToken": "t-1", "result": '"done"'}
    service.faults[operation] = fault(name, "", operation, status=503)
    with pytest.raises((errors.Throttled, errors.ServiceUnavailable)):
        open_activities.call(operation, answer)
    service.faults.clear()
    service.asked.clear()

    assert open_activities.fail_all() == 1
    assert service.asked == [(operation, answer)]


def test_an_answer_that_was_refused_is_not_given_again(service, open_activities):
    take(service, open_activities, task())
    service.faults["RespondActivityTaskCompleted"] = fault("ValidationException", "no", "RespondActivityTaskCompleted")
    with pytest.raises(errors.InvalidRequest):
        open_activities.call("RespondActivityTaskCompleted", {"taskToken": "t-1"})
    assert open_activities.fail_all() == 1
    assert service.failed() == ["t-1"]


def test_a_lost_heartbeat_is_no_answer(service, open_activities):
    take(service, open_activities, task())
    service.faults["RecordActivityTaskHeartbeat"] = errors.ServiceUnavailable("no answer")
    with pytest.raises(errors.ServiceUnavailable):
        open_activities.call("RecordActivityTaskHeartbeat", {"taskToken": "t-1"})
    assert open_activities.fail_all() == 1
    assert service.failed() == ["t-1"]


@pytest.mark.parametrize("operation", ["RecordActivityTaskHeartbeat", "RespondActivityTaskCompleted"])
def test_a_task_that_is_gone_is_forgotten(service, open_activities, operation):
    take(service, open_activities, task())
    service.faults[operation] = fault("UnknownResourceFault", "gone", operation)
    with pytest.raises(errors.UnknownResource):
        open_activities.call(operation, {"taskToken": "t-1"})
    assert open_activities.fail_all() == 0


def test_what_is_completed_elsewhere_is_left_alone(service, open_activities):
    take(service, open_activities, task())
    open_activities.hand_over("t-1")
    assert open_activities.fail_all() == 0


def test_a_service_that_is_away_is_not_asked_for_ever(service, open_activities, caplog):
    take(service, open_activities, *[task(f"t-{number}") for number in range(10)])
    service.faults["RespondActivityTaskFailed"] = errors.ServiceUnavailable("no answer")
    assert open_activities.fail_all() == 0
    assert len(service.failed()) == 3
    assert caplog.text.count("left to its timeouts") == 3


class Flaky(Service):
    """Refuses every other call."""

    def call(self, operation, request):
        reply = super().call(operation, request)
        if operation == "RespondActivityTaskFailed" and len(self.failed()) % 2:
            raise errors.ServiceUnavailable("no answer")
        return reply


def test_only_calls_that_fail_in_a_row_end_it():
    service = Flaky()
    open_activities = OpenActivities(service)
    take(service, open_activities, *[task(f"t-{number}") for number in range(10)])
    assert open_activities.fail_all() == 5
    assert len(service.failed()) == 10


def test_throttling_is_waited_out(service, open_activities):
    take(service, open_activities, task())
    service.faults["RespondActivityTaskFailed"] = fault("ThrottlingException", "", "RespondActivityTaskFailed")
    assert open_activities.fail_all(lambda _seconds: service.faults.clear()) == 1
    assert service.failed() == ["t-1", "t-1"]


# --- the worker ---------------------------------------------------------------------------------


class History:
    """A history to which a second attempt was added, from its end."""

    def __init__(self, events):
        scheduled = {"activityId": "greet-1.r2"}
        again = {"eventId": len(events) + 1, "eventType": "ActivityTaskScheduled"}
        self.events = [*events, {**again, "activityTaskScheduledEventAttributes": scheduled}]

    def call(self, operation, request):
        return {"events": self.events[::-1]}


def abandoned(twin, details=None, **options):
    """Stop a worker whose activity does not end; gives the run and the worker, which the service knows too."""
    begun, release = threading.Event(), threading.Event()

    @activity(name="greet")
    def stuck(name: str) -> None:
        if details is not None:
            current_activity().heartbeat(details)
            twin.wait_for("RecordActivityTaskHeartbeat")
        begun.set()
        release.wait(PATIENCE)

    settings = WorkerSettings(decider=lambda workflows: OneActivity(), grace=0, **options)
    worker = Worker(twin, domain="shop", workflows=[order], activities=[stuck], task_list="main", settings=settings)
    twin.worker = worker
    worker.start()
    run_id = twin.start()
    assert begun.wait(PATIENCE)
    worker.stop()
    release.set()
    return run_id, worker


def test_a_worker_fails_what_it_abandons(twin, caplog):
    run_id, worker = abandoned(twin)
    failed = next(event for event in twin.events(run_id) if event["eventType"] == "ActivityTaskFailed")
    assert failed["activityTaskFailedEventAttributes"]["reason"].startswith("WorkerStopped: ")
    assert "given back as failed" in caplog.text
    assert worker.abandoned == ["<activity greet 1.0 'greet-1' of workflow 'order-7'>"]


@pytest.mark.parametrize("codecs", [[], [Encryption({"k": bytes(32)}, current="k")]])
def test_what_it_recorded_last_reaches_the_next_attempt(twin, codecs):
    converter = Converter(payloads=Payloads(codecs))
    run_id, _ = abandoned(twin, converter=converter, details={"done": 5})
    again = {
        "taskToken": "t-2",
        "activityId": "greet-1.r2",
        "activityType": {"name": "greet", "version": "1.0"},
        "workflowExecution": {"workflowId": "order-7", "runId": run_id},
    }
    second = History(twin.events(run_id))
    previous = partial(previous_details, second, converter.payloads)
    assert ActivityContext(again, "shop", converter=converter, previous=previous).last_details() == {"done": 5}


def test_a_worker_may_leave_it_to_its_timeouts(twin):
    run_id, worker = abandoned(twin, on_abandon="time_out")
    assert "ActivityTaskFailed" not in twin.types(run_id)
    assert len(worker.abandoned) == 1


class Silent(Twin):
    """Does not answer when something is given back, as behind a network that drops packets."""

    def __init__(self):
        super().__init__()
        self.released = threading.Event()
        self.asked = lambda: None

    def call(self, operation, request):
        if operation == "RespondActivityTaskFailed":
            self.asked()
            self.released.wait(PATIENCE)
        return super().call(operation, request)


@pytest.fixture
def silent():
    twin = Silent()
    yield twin
    twin.released.set()


def test_a_service_that_does_not_answer_does_not_keep_a_worker_that_stops(silent, monkeypatch, caplog):
    monkeypatch.setattr("flowpy.worker.worker.GIVE_BACK", 0.05)
    _, worker = abandoned(silent)
    assert "the rest is left to its timeouts" in caplog.text
    assert worker.abandoned == ["<activity greet 1.0 'greet-1' of workflow 'order-7'>"]


def test_a_second_signal_ends_the_giving_back_too(silent, monkeypatch):
    monkeypatch.setattr("flowpy.worker.worker.GIVE_BACK", float("inf"))
    silent.asked = lambda: silent.worker._lifecycle.mailbox.put(Stop())
    _, worker = abandoned(silent)
    assert len(worker.abandoned) == 1


def begun_manually(twin, returns):
    """Stop a worker that has begun a manual activity; gives the run and the activity's token."""
    begun, release, tokens = threading.Event(), threading.Event(), []

    @activity(name="greet", manual=True)
    def ask(name: str) -> str:
        current_activity().heartbeat({"asked": name})
        tokens.append(current_activity().task_token)
        begun.set()
        if not returns:
            release.wait(PATIENCE)
        return ""

    settings = WorkerSettings(decider=lambda workflows: OneActivity(), grace=PATIENCE if returns else 0)
    worker = Worker(twin, domain="shop", workflows=[order], activities=[ask], task_list="main", settings=settings)
    worker.start()
    run_id = twin.start()
    assert begun.wait(PATIENCE)
    worker.stop()
    release.set()
    return run_id, tokens[0]


def test_a_manual_activity_that_has_not_returned_is_given_back(twin):
    run_id, _ = begun_manually(twin, returns=False)
    failed = next(event for event in twin.events(run_id) if event["eventType"] == "ActivityTaskFailed")
    assert failed["activityTaskFailedEventAttributes"]["reason"].startswith("WorkerStopped: ")


def test_a_manual_activity_that_has_returned_is_left_to_who_has_its_token(twin):
    run_id, token = begun_manually(twin, returns=True)
    assert "ActivityTaskFailed" not in twin.types(run_id)
    twin.call("RespondActivityTaskCompleted", {"taskToken": token, "result": '"yes"'})


def test_what_a_manual_activity_recorded_last_is_sent_when_it_returns(twin):
    begun_manually(twin, returns=True)
    assert [beat["details"] for beat in twin.calls("RecordActivityTaskHeartbeat")][-1] == '{"asked": "o-7"}'


def test_a_worker_that_a_poll_had_ended_still_gives_its_work_the_grace(twin):
    begun = threading.Event()

    @activity(name="greet")
    def slow(name: str) -> None:
        begun.set()
        worker._lifecycle.stopping.wait(PATIENCE)

    settings = WorkerSettings(decider=lambda workflows: OneActivity(), grace=PATIENCE)
    worker = Worker(twin, domain="shop", workflows=[order], activities=[slow], task_list="main", settings=settings)
    worker.start()
    run_id = twin.start()
    assert begun.wait(PATIENCE)
    polled = len(twin.calls("PollForActivityTask"))
    twin.fail("PollForActivityTask", fault("AccessDeniedException", "", "PollForActivityTask"))
    twin.wait_for("PollForActivityTask", polled + 1)
    twin.until(lambda: not worker._lifecycle.mailbox.empty())
    with pytest.raises(errors.AccessDenied):
        worker.stop()
    assert worker.abandoned == []
    assert "ActivityTaskCompleted" in twin.types(run_id)


def test_a_worker_that_ended_its_work_abandoned_nothing(twin):
    settings = WorkerSettings(decider=lambda workflows: OneActivity())
    with Worker(
        twin, domain="shop", workflows=[order], activities=[greet], task_list="main", settings=settings
    ) as worker:
        run_id = twin.start()
        twin.until(lambda: twin.types(run_id)[-1] == "WorkflowExecutionCompleted")
    assert worker.abandoned == []
