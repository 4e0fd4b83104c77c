"""What an attempt gets of those before it: the details of their last heartbeat, from the history."""

from __future__ import annotations

import asyncio
import json

import pytest

from flowpy.data import Converter, Encryption, MemoryStore, Payloads, decode_failure
from flowpy.data.converter import DEFAULT
from flowpy.data.failures import encode_failure
from flowpy.data.limits import HEARTBEAT
from flowpy.data.sealing import seal_fields
from flowpy.errors import CallError, PayloadNotDecodable, ServiceUnavailable, Throttled
from flowpy.service.faults import fault
from flowpy.worker import executing
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.previous import previous_details


def failed(heartbeat=None):
    return encode_failure(ValueError("disk full"), heartbeat=heartbeat)[1]


class History:
    """A run with these activity attempts: pairs of activityId and how it ended."""

    def __init__(self, *attempts, page=100):
        self.page = page
        self.calls = []
        self.faults = []
        self.events = []
        for id, kind, details in attempts:
            self.add("ActivityTaskScheduled", activityId=id)
            scheduled = len(self.events)
            self.add("ActivityTaskStarted", scheduledEventId=scheduled)
            if kind:
                given = {} if details is None else {"details": details}
                self.add(f"ActivityTask{kind}", scheduledEventId=scheduled, **given)

    def add(self, kind, **attributes):
        key = f"{kind[0].lower()}{kind[1:]}EventAttributes"
        self.events.append({"eventId": len(self.events) + 1, "eventType": kind, key: attributes})

    def call(self, operation, request):
        assert operation == "GetWorkflowExecutionHistory"
        assert request["reverseOrder"]
        assert request["execution"] == {"workflowId": "order-7", "runId": "run-1"}
        self.calls.append(request)
        if self.faults:
            raise self.faults.pop(0)
        at = int(request.get("nextPageToken", 0))
        reply = {"events": self.events[::-1][at : at + self.page]}
        return {**reply, "nextPageToken": str(at + self.page)} if at + self.page < len(self.events) else reply


def attempt(id, history=None, converter=DEFAULT):
    task = {
        "taskToken": "token-1",
        "activityId": id,
        "activityType": {"name": "copy", "version": "1.0"},
        "workflowExecution": {"workflowId": "order-7", "runId": "run-1"},
    }
    return ActivityContext(
        task,
        "shop",
        converter=converter,
        previous=lambda context: previous_details(history, converter.payloads, context),
    )


@pytest.mark.parametrize("kind", ["HEARTBEAT", "START_TO_CLOSE"])
def test_a_timeout_brings_the_details_along(kind):
    history = History(("copy-1", "TimedOut", '{"done": 5}'), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history).last_details() == {"done": 5}


def test_a_failure_keeps_them_in_its_record():
    history = History(("copy-1", "Failed", failed('{"done": 5}')), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history).last_details() == {"done": 5}


def test_they_are_read_as_the_type_asked_for():
    history = History(("copy-1", "TimedOut", "[1, 2]"), ("copy-1.r2", None, None))
    running = attempt("copy-1.r2", history)
    assert running.last_details(set[int]) == {1, 2}
    with pytest.raises(PayloadNotDecodable):
        running.last_details(dict[str, int])


def test_an_attempt_without_details_does_not_hide_those_before_it():
    history = History(
        ("copy-1", "TimedOut", "5"),
        ("copy-1.r2", "TimedOut", "6"),
        ("copy-1.r3", "Failed", failed()),
        ("copy-1.r4", "TimedOut", None),
        ("copy-1.r5", None, None),
    )
    assert attempt("copy-1.r5", history).last_details() == 6


def test_details_of_other_activities_are_not_taken():
    history = History(
        ("copy-1", "TimedOut", None),
        ("copy-10", "TimedOut", "10"),
        ("copy-1.row", "TimedOut", "11"),
        ("copy-1.r9", "TimedOut", "12"),
        ("copy-1.r2", None, None),
    )
    assert attempt("copy-1.r2", history).last_details() is None


def test_an_id_that_was_used_before_was_another_call():
    history = History(("copy-1", "TimedOut", "5"), ("copy-1", "Failed", failed()), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history).last_details() is None


def test_a_first_attempt_asks_nobody():
    history = History()
    running = attempt("copy-1", history)
    assert (running.attempt, running.last_details(), history.calls) == (1, None, [])


def test_the_history_is_read_from_its_end_and_no_further_than_needed():
    others = [(f"other-{n}", "TimedOut", "1") for n in range(50)]
    history = History(*others, ("copy-1", "TimedOut", "5"), *others[:5], ("copy-1.r2", None, None), page=10)
    assert attempt("copy-1.r2", history).last_details() == 5
    assert len(history.calls) == 2


def test_text_of_workers_of_other_sdks_is_given_as_it_is():
    history = History(("copy-1", "TimedOut", "50 % done"), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history).last_details() == "50 % done"


def test_throttling_is_waited_out_until_the_activity_is_to_stop():
    history = History(("copy-1", "TimedOut", "5"), ("copy-1.r2", None, None))
    history.faults += [fault("ThrottlingException", "", "x"), ServiceUnavailable("down")]
    running = attempt("copy-1.r2", history)
    pauses = []
    running.cancellation.wait = pauses.append
    assert running.last_details() == 5
    assert len(pauses) == 2
    history.faults.append(fault("ThrottlingException", "", "x"))
    running.cancellation.wait = lambda seconds: True
    with pytest.raises(Throttled):
        running.last_details()


@pytest.mark.parametrize("kind", ["TimedOut", "Failed"])
def test_sealed_details_are_opened(kind):
    converter = Converter(payloads=Payloads([Encryption({"k": bytes(32)}, current="k")]))
    payloads = converter.payloads
    if kind == "TimedOut":
        details = payloads.seal('{"done": 5}', HEARTBEAT, "details")
    else:
        fields = {"reason": "x", "details": failed('{"done": 5}')}
        details = seal_fields("RespondActivityTaskFailed", fields, payloads)["details"]
    assert "done" not in details
    history = History(("copy-1", kind, details), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history, converter).last_details() == {"done": 5}


def test_details_longer_than_swf_takes_go_into_the_record_as_they_go_into_a_heartbeat():
    converter = Converter(payloads=Payloads(stores=[MemoryStore()]))
    before = attempt("copy-1", converter=converter)
    before.heartbeat("x" * 100_000)
    details = executing.failed(ValueError("disk full"), before, converter).fields["details"]
    assert len(details) < 2_000
    history = History(("copy-1", "Failed", details), ("copy-1.r2", None, None))
    assert attempt("copy-1.r2", history, converter).last_details() == "x" * 100_000


def test_an_event_loop_is_not_blocked():
    history = History(("copy-1", "TimedOut", "5"), ("copy-1.r2", None, None))
    running = attempt("copy-1.r2", history)

    async def work():
        with pytest.raises(CallError, match="to_thread"):
            running.last_details()
        return await asyncio.to_thread(running.last_details)

    assert asyncio.run(work()) == 5


def test_a_failure_record_is_as_it_was_where_there_was_no_heartbeat():
    assert "heartbeat" not in json.loads(failed())
    assert decode_failure(None, failed()).heartbeat is None


def test_a_record_that_is_too_long_drops_the_heartbeat_before_the_message():
    details = encode_failure(ValueError("x" * 32_000), heartbeat=json.dumps("y" * 2_000))[1]
    read = decode_failure(None, details)
    assert read.heartbeat is None
    assert read.message.startswith("xxx")
    assert len(details) <= 32_768
    kept = encode_failure(ValueError("x" * 20_000), heartbeat=json.dumps("y" * 2_000))[1]
    assert decode_failure(None, kept).heartbeat == "y" * 2_000
