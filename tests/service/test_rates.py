from __future__ import annotations

import threading

import pytest

from flowpy.service.rates import RateLimited, TokenBucket


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Remembering:
    def __init__(self):
        self.asked = []

    def call(self, operation, request):
        self.asked.append(operation)
        return {"reply": operation}


@pytest.fixture
def clock():
    return Clock()


def test_what_was_not_used_for_a_second_may_come_at_once(clock):
    bucket = TokenBucket(4, clock)
    assert [bucket.take() for _ in range(6)] == [0, 0, 0, 0, 0.25, 0.5]


def test_it_fills_again_but_not_without_bound(clock):
    bucket = TokenBucket(2, clock)
    assert [bucket.take(), bucket.take()] == [0, 0]
    clock.now = 0.5
    assert [bucket.take(), bucket.take()] == [0, 0.5]
    clock.now = 1_000
    assert [bucket.take() for _ in range(3)] == [0, 0, 0.5]


def test_less_than_one_a_second_begins_with_one(clock):
    bucket = TokenBucket(0.1, clock)
    assert bucket.take() == 0
    assert bucket.take() == pytest.approx(10)


def test_a_second_of_many_threads_holds_as_many_calls_as_allowed(clock):
    """However many callers, what they are told to wait spreads their calls evenly."""
    bucket, waits, lock = TokenBucket(50, clock), [], threading.Lock()

    def take():
        for _ in range(50):
            wait = bucket.take()
            with lock:
                waits.append(wait)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(waits) == pytest.approx([0.0] * 50 + [number / 50 for number in range(1, 151)])


def limited(clock, **options):
    waits, service = [], Remembering()

    def pause(seconds):
        waits.append(seconds)
        return options.get("stopping", False)

    buckets = [TokenBucket(rate, clock) if rate else None for rate in (options.get("polls"), options.get("calls"))]
    return RateLimited(service, *buckets, pause, pause), service, waits


def test_polls_and_other_calls_are_counted_apart(clock):
    service, _, waits = limited(clock, polls=1, calls=2)
    for operation in ("PollForActivityTask", "RespondActivityTaskCompleted", "RespondActivityTaskCompleted"):
        service.call(operation, {})
    assert waits == []
    service.call("PollForDecisionTask", {})
    service.call("RespondDecisionTaskCompleted", {})
    assert waits == [1.0, 0.5]


def test_pages_and_heartbeats_are_not_polls(clock):
    service, under, waits = limited(clock, polls=1)
    for _ in range(5):
        service.call("PollForDecisionTask", {"nextPageToken": "p"})
    assert waits == []
    service, under, waits = limited(clock, calls=1)
    for _ in range(5):
        service.call("RecordActivityTaskHeartbeat", {})
    assert waits == []
    assert len(under.asked) == 5


def test_a_worker_that_stops_makes_no_late_poll_and_all_its_answers(clock):
    service, under, waits = limited(clock, polls=1, calls=1, stopping=True)
    assert service.call("PollForActivityTask", {}) == {"reply": "PollForActivityTask"}
    assert service.call("PollForActivityTask", {}) == {}
    for _ in range(2):
        assert service.call("RespondActivityTaskFailed", {})
    assert under.asked == ["PollForActivityTask", *["RespondActivityTaskFailed"] * 2]
    assert waits == [1.0, 1.0]
