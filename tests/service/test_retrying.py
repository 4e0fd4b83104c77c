from __future__ import annotations

import pytest

from flowpy import errors
from flowpy.service import Backoff
from flowpy.service.faults import fault
from flowpy.service.retrying import persist, retry_unsent


class Pauses(list):
    """Remembers the waits; gives up after ``patience`` of them."""

    def __init__(self, patience=100):
        super().__init__()
        self.patience = patience

    def __call__(self, seconds):
        self.append(seconds)
        return len(self) > self.patience


class Failing:
    """Answers with these errors first, then {"ok": True}."""

    def __init__(self, *codes):
        self.codes = list(codes)
        self.calls = 0

    def call(self, operation, request):
        self.calls += 1
        if self.codes:
            raise fault(self.codes.pop(0), "", operation, status=503)
        return {"ok": True}


STEADY = Backoff(initial=1.0, maximum=8.0, random=lambda: 1.0)


def test_waits_double_up_to_the_maximum():
    delays = STEADY.delays()
    assert [delays.next() for _ in range(5)] == [1.0, 2.0, 4.0, 8.0, 8.0]
    delays.reset()
    assert delays.next() == 1.0


def test_half_of_a_wait_is_jitter():
    assert Backoff(initial=1.0, random=lambda: 0.0).delays().next() == 0.5


def test_a_thousand_failures_do_not_overflow():
    delays = STEADY.delays()
    assert [delays.next() for _ in range(2000)][-1] == 8.0


def test_an_answer_is_sent_until_the_service_has_it():
    service, pauses = Failing("ThrottlingException", "ReadTimeoutError", "InternalFailure"), Pauses()
    assert persist(service, "RespondDecisionTaskCompleted", {}, pause=pauses, backoff=STEADY) == {"ok": True}
    assert pauses == [1.0, 2.0, 4.0]


def test_an_answer_is_given_up_when_told_to():
    with pytest.raises(errors.Throttled):
        persist(
            Failing(*["ThrottlingException"] * 9), "RespondDecisionTaskCompleted", {}, pause=Pauses(2), backoff=STEADY
        )


def test_a_fault_is_not_tried_again():
    service = Failing("UnknownResourceFault")
    with pytest.raises(errors.UnknownResource):
        persist(service, "RespondDecisionTaskCompleted", {}, pause=Pauses(), backoff=STEADY)
    assert service.calls == 1


def test_a_signal_is_sent_again_only_if_it_certainly_was_not_received():
    service = Failing("ThrottlingException", "EndpointConnectionError")
    assert retry_unsent(service, "SignalWorkflowExecution", {}, pause=Pauses(), backoff=STEADY) == {"ok": True}
    service = Failing("ReadTimeoutError")
    with pytest.raises(errors.ServiceUnavailable):
        retry_unsent(service, "SignalWorkflowExecution", {}, pause=Pauses(), backoff=STEADY)
    assert service.calls == 1


def test_a_limit_is_not_waited_for():
    for call in (persist, retry_unsent):
        service = Failing("LimitExceededFault")
        with pytest.raises(errors.Throttled):
            call(service, "RegisterDomain", {}, pause=Pauses(), backoff=STEADY)
        assert service.calls == 1


def test_a_signal_is_not_tried_for_ever():
    service = Failing(*["ThrottlingException"] * 99)
    with pytest.raises(errors.Throttled):
        retry_unsent(service, "SignalWorkflowExecution", {}, pause=Pauses(), backoff=STEADY, attempts=3)
    assert service.calls == 3
