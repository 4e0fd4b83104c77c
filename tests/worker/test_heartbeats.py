from __future__ import annotations

from itertools import pairwise

import pytest

from flowpy.errors import ActivityCancelRequested, CallError, PayloadTooLarge
from flowpy.service.faults import fault
from flowpy.worker.activity_context import ActivityContext, current_activity
from flowpy.worker.heartbeats import Heartbeats, interval


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Scripted:
    """Answers heartbeats from a list, then with {"cancelRequested": False}."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.details = []

    def call(self, operation, request):
        assert operation == "RecordActivityTaskHeartbeat"
        self.details.append(request.get("details"))
        reply = self.replies.pop(0) if self.replies else {"cancelRequested": False}
        if isinstance(reply, Exception):
            raise reply
        return reply


def context(wake=None):
    task = {
        "taskToken": "token-1",
        "activityId": "charge-1",
        "activityType": {"name": "charge", "version": "1.0"},
        "workflowExecution": {"workflowId": "order-7", "runId": "run-1"},
    }
    return ActivityContext(task, "shop", wake=wake)


def beating(*replies, every=20.0):
    heartbeats = Heartbeats(Scripted(*replies), clock=Clock())
    running = context(wake=heartbeats.soon)
    heartbeats.start(running, every)
    return heartbeats, running


def sent_until(heartbeats, seconds):
    """Let the clock run; gives the times, from 0, at which heartbeats went out."""
    times, begin = [], heartbeats.clock.now
    while True:
        wait = heartbeats.beat_due()
        if wait == 0.0:
            times.append(heartbeats.clock.now - begin)
        elif wait is None or heartbeats.clock.now + wait > begin + seconds:
            return times
        else:
            heartbeats.clock.now += wait


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [("60", 20.0), ("300", 100.0), ("3", 1.0), ("1", 1 / 3), ("0", 0.25), ("NONE", 20.0), (None, 20.0)],
)
def test_the_interval_is_a_third_of_the_timeout(timeout, seconds):
    assert interval(timeout) == seconds


@pytest.mark.parametrize("timeout", ["1", "2", "3"])
def test_the_shortest_timeouts_are_kept(timeout):
    heartbeats, _ = beating(every=interval(timeout))
    times = [0.0, *sent_until(heartbeats, 10)]
    assert max(later - earlier for earlier, later in pairwise(times)) < int(timeout) / 2


def test_a_running_activity_is_heartbeated_on_schedule():
    heartbeats, _ = beating(every=20.0)
    assert sent_until(heartbeats, 65) == [20.0, 40.0, 60.0]


def test_an_activity_that_ended_is_not():
    heartbeats, running = beating()
    heartbeats.stop(running)
    assert sent_until(heartbeats, 65) == []


def test_two_activities_keep_their_own_schedules():
    heartbeats, _ = beating(every=20.0)
    heartbeats.start(context(), 15.0)
    assert sent_until(heartbeats, 45) == [15.0, 20.0, 30.0, 40.0, 45.0]


def test_throttled_heartbeats_still_come_in_time():
    throttled = fault("ThrottlingException", "Rate exceeded", "x")
    heartbeats, running = beating(throttled, throttled, throttled)
    assert sent_until(heartbeats, 60) == [20.0, 25.0, 30.0, 35.0, 55.0]
    assert not running.cancel_requested


def test_a_lost_connection_is_tried_again_soon():
    lost = fault("EndpointConnectionError", "", "x", status=503)
    heartbeats, running = beating(lost, lost)
    assert sent_until(heartbeats, 45) == [20.0, 22.0, 24.0, 44.0]
    assert not running.cancel_requested


def test_a_refused_heartbeat_is_told_once_and_tried_again(caplog):
    refused = fault("AccessDeniedException", "no", "x")
    heartbeats, _ = beating(refused, refused, ZeroDivisionError())
    assert sent_until(heartbeats, 85) == [20.0, 40.0, 60.0, 80.0]
    assert len(caplog.records) == 1


def test_a_cancel_request_reaches_the_activity():
    heartbeats, running = beating({"cancelRequested": True})
    sent_until(heartbeats, 20)
    assert running.cancel_requested
    assert running.cancellation.is_set()
    assert not running.gone
    with pytest.raises(ActivityCancelRequested):
        running.heartbeat()


def test_an_activity_that_swf_has_closed_is_told_so_and_no_longer_heartbeated():
    heartbeats, running = beating(fault("UnknownResourceFault", "Unknown activity", "x"))
    assert sent_until(heartbeats, 65) == [20.0]
    assert running.gone
    with pytest.raises(ActivityCancelRequested, match="gone"):
        running.heartbeat()


def test_details_go_out_at_once_and_then_at_most_every_second():
    heartbeats, running = beating()
    running.heartbeat({"done": 1})
    assert sent_until(heartbeats, 0) == [0.0]
    for done in range(2, 12):
        running.heartbeat({"done": done})
        sent_until(heartbeats, 0.1)
        heartbeats.clock.now += 0.1
    sent_until(heartbeats, 1)
    assert heartbeats.service.details[0] == '{"done": 1}'
    assert heartbeats.service.details[-1] == '{"done": 11}'
    assert len(heartbeats.service.details) <= 3


def test_automatic_heartbeats_carry_the_newest_details():
    heartbeats, running = beating()
    running.heartbeat(7)
    sent_until(heartbeats, 45)
    assert set(heartbeats.service.details) == {"7"}


def test_details_that_were_not_received_are_unsent():
    heartbeats, running = beating(fault("ThrottlingException", "", "x"))
    running.heartbeat("half")
    assert running.has_unsent_details
    sent_until(heartbeats, 0)
    assert running.has_unsent_details
    sent_until(heartbeats, 20)
    assert not running.has_unsent_details


def test_details_over_the_limit_are_refused_where_they_are_given():
    with pytest.raises(PayloadTooLarge, match=r"2,048"):
        context().heartbeat("x" * 2048)


def test_a_context_names_its_task():
    running = context()
    assert (running.domain, running.workflow_id, running.run_id) == ("shop", "order-7", "run-1")
    assert (running.activity_id, running.task_token, running.name, running.version) == (
        "charge-1",
        "token-1",
        "charge",
        "1.0",
    )


def test_a_cancel_action_runs_once_also_when_it_comes_late():
    running, calls = context(), []
    running.request_cancel()
    running.when_canceled(lambda: calls.append(1))
    running.request_cancel(gone=True)
    assert calls == [1]
    assert running.gone


def test_outside_activities_there_is_no_context():
    with pytest.raises(CallError, match="current_activity"):
        current_activity()


def test_threads_send_what_is_due_and_end_when_closed():
    import threading

    sent = threading.Event()

    class Signalling:
        def call(self, operation, request):
            sent.set()
            return {}

    heartbeats = Heartbeats(Signalling(), threads=2)
    before = threading.active_count()
    heartbeats.open()
    running = context(wake=heartbeats.soon)
    heartbeats.start(running, 20.0)
    running.heartbeat("now")
    assert sent.wait(10)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("flowpy-heartbeat")]
    heartbeats.close()
    for thread in threads:
        thread.join(10)
    assert threading.active_count() <= before
