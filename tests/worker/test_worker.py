from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flowpy import errors
from flowpy.declare import activity
from flowpy.service.faults import fault
from flowpy.worker import Worker, WorkerSettings, current_activity

from .twin import PATIENCE, OneActivity, greet, order

ROOT = Path(__file__).parents[2]


def settings(**options):
    return WorkerSettings(decider=lambda workflows: OneActivity(), **options)


def make(twin, *activities, **options):
    return Worker(
        twin,
        domain="shop",
        workflows=[order],
        activities=activities or [greet],
        task_list="main",
        settings=settings(**options),
    )


def closed(twin, times=1):
    """Wait for a completed run; gives its result."""
    number = 0
    while times:
        number += 1
        for decision in twin.wait_for("RespondDecisionTaskCompleted", number)["decisions"]:
            if decision["decisionType"] == "CompleteWorkflowExecution":
                times -= 1
                result = decision["completeWorkflowExecutionDecisionAttributes"]["result"]
    return result


def test_a_worker_takes_a_run_from_start_to_end(twin):
    with make(twin) as worker:
        run_id = twin.start()
        assert closed(twin) == '"hello o-7"'
    assert twin.types(run_id)[-1] == "WorkflowExecutionCompleted"
    assert worker.counts["decisions_completed"] == 2
    assert worker.counts["activities_completed"] == 1


def test_identity_is_recorded(twin):
    worker = Worker(
        twin,
        domain="shop",
        activities=[greet],
        workflows=[order],
        task_list="main",
        settings=settings(),
        identity="i-1",
    )
    with worker:
        run_id = twin.start()
        closed(twin)
    started = next(e for e in twin.events(run_id) if e["eventType"] == "ActivityTaskStarted")
    assert started["activityTaskStartedEventAttributes"]["identity"] == "i-1"


def test_fifty_runs(twin):
    with make(twin, activity_slots=8):
        for number in range(50):
            twin.start(f"order-{number}", f'["o-{number}"]')
        closed(twin, 50)


def test_without_workflows_no_decision_tasks_are_taken(twin):
    with Worker(twin, domain="shop", activities=[greet], task_list="main"):
        twin.wait_for("PollForActivityTask")
    assert twin.calls("PollForDecisionTask") == []


def test_without_activities_no_activity_tasks_are_taken(twin):
    with Worker(twin, domain="shop", workflows=[order], task_list="main", settings=settings()):
        twin.wait_for("PollForDecisionTask")
    assert twin.calls("PollForActivityTask") == []


def test_stopping_lets_a_running_activity_finish_and_report(twin):
    begun, release = threading.Event(), threading.Event()

    @activity(name="greet")
    def slow(name: str) -> str:
        begun.set()
        assert release.wait(PATIENCE)
        return name

    worker = make(twin, slow)
    worker.start()
    run_id = twin.start()
    assert begun.wait(PATIENCE)
    stopper = threading.Thread(target=worker.stop)
    stopper.start()
    assert worker._lifecycle.stopping.wait(PATIENCE)
    release.set()
    stopper.join(PATIENCE)
    assert "ActivityTaskCompleted" in twin.types(run_id)


def test_heartbeats_go_on_while_the_worker_drains(twin):
    begun, canceled = threading.Event(), threading.Event()

    @activity(name="greet", heartbeat_timeout=3)
    def slow(name: str) -> str:
        begun.set()
        if current_activity().cancellation.wait(PATIENCE):
            canceled.set()
        return "stopped"

    worker = make(twin, slow)
    worker.start()
    run_id = twin.start()
    assert begun.wait(PATIENCE)
    stopper = threading.Thread(target=worker.stop)
    stopper.start()
    assert worker._lifecycle.stopping.wait(PATIENCE)
    beats = len(twin.calls("RecordActivityTaskHeartbeat"))
    twin.fail("RecordActivityTaskHeartbeat", fault("UnknownResourceFault", "closed", "x"))
    stopper.join(PATIENCE)
    assert canceled.is_set()
    assert len(twin.calls("RecordActivityTaskHeartbeat")) > beats
    assert "ActivityTaskCompleted" not in twin.types(run_id)


def test_what_does_not_end_within_the_grace_is_abandoned_by_name(twin, caplog):
    begun, release = threading.Event(), threading.Event()

    @activity(name="greet")
    def stuck(name: str) -> None:
        begun.set()
        release.wait(PATIENCE)

    worker = make(twin, stuck, grace=0)
    worker.start()
    twin.start()
    assert begun.wait(PATIENCE)
    worker.stop()
    release.set()
    assert "abandoned" in caplog.text
    assert "greet-1" in caplog.text


def test_a_task_that_a_poll_in_flight_brings_is_still_handled(twin):
    """SWF may give a task to a poll that began before the worker stopped."""
    polling, arrive = threading.Event(), threading.Event()
    call = twin.call

    def held(operation, request):
        if operation == "PollForDecisionTask":
            polling.set()
            assert arrive.wait(PATIENCE)
        return call(operation, request)

    twin.call = held
    worker = make(twin, threads=1)
    worker.start()
    assert polling.wait(PATIENCE)
    run_id = twin.start()
    stopper = threading.Thread(target=worker.stop)
    stopper.start()
    assert worker._lifecycle.stopping.wait(PATIENCE)
    arrive.set()
    stopper.join(PATIENCE)
    assert "DecisionTaskCompleted" in twin.types(run_id)


def test_stopping_twice_is_stopping_once(twin):
    worker = make(twin)
    worker.start()
    worker.stop()
    worker.stop()


def test_a_stopped_worker_is_not_started_again(twin):
    worker = make(twin)
    worker.start()
    worker.stop()
    with pytest.raises(RuntimeError, match="make a new one"):
        worker.start()


@pytest.mark.parametrize("operation", ["PollForDecisionTask", "PollForActivityTask"])
def test_run_raises_promptly_when_polls_are_denied(twin, operation):
    twin.fail(operation, fault("AccessDeniedException", "no swf:Poll", operation))
    with pytest.raises(errors.AccessDenied, match="no swf:Poll"):
        make(twin).run()


def test_a_worker_started_in_the_background_tells_at_stop_why_it_ended(twin):
    twin.fail("PollForActivityTask", fault("UnrecognizedClientException", "bad token", "PollForActivityTask"))
    worker = make(twin)
    worker.start()
    twin.wait_for("PollForActivityTask")
    with pytest.raises(errors.AccessDenied):
        worker.stop()


def test_throttled_polls_and_lost_connections_do_not_end_the_worker(twin):
    twin.fail("PollForDecisionTask", fault("ThrottlingException", "Rate exceeded", "x"))
    twin.fail("PollForActivityTask", fault("EndpointConnectionError", "", "x", status=503))
    with make(twin):
        twin.start()
        assert closed(twin) == '"hello o-7"'


def test_run_may_be_stopped_from_another_thread(twin):
    worker = make(twin)
    runner = threading.Thread(target=worker.run)
    runner.start()
    twin.wait_for("PollForDecisionTask")
    worker.stop()
    runner.join(PATIENCE)
    assert not runner.is_alive()


def test_a_worker_may_be_stopped_while_its_registrations_are_throttled(twin):
    twin.fail("RegisterWorkflowType", *[fault("ThrottlingException", "Rate exceeded", "x")] * 1000)
    worker = make(twin)
    runner = threading.Thread(target=worker.run)
    runner.start()
    twin.wait_for("RegisterWorkflowType")
    worker.stop()
    runner.join(PATIENCE)
    assert not runner.is_alive()
    assert twin.calls("PollForDecisionTask") == []


def test_an_unknown_domain_ends_the_start(twin):
    worker = Worker(twin, domain="nowhere", activities=[greet])
    with pytest.raises(errors.UnknownResource, match="register_domain"):
        worker.run()


def test_a_worker_can_register_its_domain(twin):
    worker = Worker(twin, domain="new", activities=[greet], settings=WorkerSettings(register_domain=7))
    with worker:
        twin.wait_for("PollForActivityTask")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing to run"),
        ({"activities": [greet, greet]}, "two activity types greet 1.0"),
        ({"workflows": [order, order]}, "two workflow types order 1.0"),
        ({"workflows": [order.fn]}, "as workflow; give what @workflow made"),
        ({"activities": [order]}, "as activity; give what @activity made"),
        ({"activities": greet}, r"activities=<activity greet 1.0> is one; give a list, activities=\[…\]"),
        ({"workflows": order}, r"is one; give a list, workflows=\[…\]"),
        ({"activities": [greet], "identity": 3}, "Worker: identity: 3 is an int"),
        ({"activities": [greet], "task_list": ""}, "Worker: task_list: it is empty"),
        ({"activities": [greet], "settings": {"threads": 2}}, "is no WorkerSettings"),
    ],
)
def test_bad_workers_are_refused_at_once(twin, options, message):
    with pytest.raises(errors.DeclarationError, match=message):
        Worker(twin, domain="shop", **options)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"grace": "x"}, "grace='x' is no number of 0 or more"),
        ({"grace": float("nan")}, "grace=nan is no number of 0 or more"),
        ({"threads": True}, "threads=True is no whole number of 1 or more"),
        ({"register_domain": "7"}, "register_domain='7' is no whole number, 0 to 90"),
        ({"page_size": 1001}, "page_size=1001 is no whole number, 1 to 1000"),
        ({"sticky_timeout": 10**8}, "sticky_timeout=100000000 is no whole number, 1 to 99999999"),
        ({"sticky": "no"}, "sticky='no' is no bool"),
        ({"health_port": True}, "health_port=True is no port, 0 to 65535"),
        ({"converter": 3}, "converter=3 is no Converter"),
        ({"meter": 3}, "meter=3 is no meter"),
    ],
)
def test_bad_settings_are_refused_at_once(options, said):
    with pytest.raises(ValueError, match=f"WorkerSettings: {said}"):
        WorkerSettings(**options)


def test_a_worker_that_cannot_start_registers_nothing_and_takes_no_tasks(twin):
    def nowhere(name: str) -> None: ...

    nowhere.__qualname__ = "nowhere"  # as if it stood at the top level, where it is not
    lost, settings = activity(executor="process")(nowhere), WorkerSettings(health_port=0)
    before = set(threading.enumerate())
    worker = Worker(twin, domain="shop", workflows=[order], activities=[lost], task_list="main", settings=settings)
    with pytest.raises(errors.DeclarationError, match="cannot import"):
        worker.start()

    assert twin.called == []
    assert worker.health.port is None
    assert set(threading.enumerate()) <= before


def test_a_worker_that_cannot_answer_probes_registers_nothing_and_leaves_nothing(twin):
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = WorkerSettings(health_port=taken.getsockname()[1])
        worker = Worker(twin, domain="shop", workflows=[order], activities=[greet], settings=settings)
        with pytest.raises(OSError, match="probes cannot be answered"):
            worker.start()
    assert twin.called == []
    assert set(threading.enumerate()) <= before


def test_a_service_needs_a_domain(twin):
    with pytest.raises(errors.DeclarationError, match="domain"):
        Worker(twin, activities=[greet])


def test_a_boto3_client_is_to_be_wrapped():
    with pytest.raises(errors.DeclarationError, match=r"BotoService\(client\)"):
        Worker(object(), domain="shop", activities=[greet])


def test_polls_that_outlast_the_grace_are_told(twin, caplog):
    polling, release = threading.Event(), threading.Event()
    call = twin.call

    def held(operation, request):
        if operation == "PollForActivityTask":
            polling.set()
            release.wait(PATIENCE)
        return call(operation, request)

    twin.call = held
    worker = Worker(twin, domain="shop", activities=[greet], settings=WorkerSettings(grace=0, activity_pollers=1))
    worker.start()
    assert polling.wait(PATIENCE)
    worker.stop()
    release.set()
    assert "1 polls abandoned" in caplog.text


def test_external_activities_are_run_by_others(twin):
    @activity(external=True, name="java")
    def java(name: str) -> None: ...

    with pytest.raises(errors.DeclarationError, match="java"):
        Worker(twin, domain="shop", activities=[java])


@pytest.mark.parametrize("options", [{"threads": 0}, {"on_divergence": "ignore"}, {"page_size": 1001}, {"grace": -1}])
def test_bad_settings_are_refused(options):
    with pytest.raises(ValueError):
        WorkerSettings(**options)


PROGRAM = """
import sys, threading
from flowpy.declare import activity
from flowpy.local.engine import Engine
from flowpy.worker import Worker, WorkerSettings

engine = Engine()
engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "1"})
release = threading.Event()
TASK = {"taskToken": "t", "activityId": "stuck-1", "activityType": {"name": "stuck", "version": "1.0"},
        "workflowExecution": {"workflowId": "w", "runId": "r"}}
tasks = [TASK] if "busy" in sys.argv else []

@activity(name="stuck")
def stuck() -> None:
    say("busy")
    release.wait()

def say(text):
    print(text, flush=True)

class Service:
    def call(self, operation, request):
        if operation == "PollForActivityTask":
            if tasks:
                return tasks.pop()
            say("polling")
            worker._lifecycle.stopping.wait()
            say("stopping")
            return {}
        if "silent" in sys.argv:
            say("registering")
            release.wait()
        return engine.call(operation, request)

worker = Worker(Service(), domain="shop", activities=[stuck], settings=WorkerSettings(activity_pollers=1, grace=300))
worker.run()
say("ended")
"""


class Process:
    """A worker process that says what it does, line by line."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(ROOT / "src")},
        )
        self.guard = threading.Timer(60, self.process.kill)
        self.guard.daemon = True
        self.guard.start()

    def says(self, text):
        for line in self.process.stdout:
            if line.strip() == text:
                return True
        raise AssertionError(f"the process ended without saying {text!r}: {self.process.stderr.read()}")

    def signal(self, number):
        self.process.send_signal(number)

    def end(self):
        code = self.process.wait(60)
        self.guard.cancel()
        rest = self.process.stdout.read(), self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code, *rest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_an_idle_worker(number):
    process = Process()
    process.says("polling")
    process.signal(number)
    code, out, _ = process.end()
    assert (code, out) == (0, "stopping\nended\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_that_still_waits_for_the_service_to_register_its_types(number):
    process = Process("silent")
    process.says("registering")
    process.signal(number)
    code, out, _ = process.end()
    assert (code, out) == (0, "ended\n")


def test_a_second_signal_ends_a_busy_worker_at_once():
    process = Process("busy")
    process.says("busy")
    process.says("polling")
    process.signal(signal.SIGTERM)
    process.says("stopping")  # two signals sent at once may arrive as one
    process.signal(signal.SIGTERM)
    code, out, told = process.end()
    assert code == 0
    assert out.endswith("ended\n")
    assert "abandoned" in told
    assert "stuck-1" in told
