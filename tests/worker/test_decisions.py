from __future__ import annotations

import json
import logging

import pytest

from flowpy import errors
from flowpy.service.faults import fault
from flowpy.service.retrying import Backoff
from flowpy.worker.decisions import DecisionWorker
from flowpy.worker.quarantine import Quarantine

from .twin import Answer, OneActivity, complete


class Raising:
    """A decider that raises."""

    def __init__(self, error):
        self.error = error

    def decide(self, task):
        raise self.error


@pytest.fixture
def prepared(twin):
    for kind, name in (("Workflow", "order"), ("Activity", "greet")):
        request = {"domain": "shop", "name": name, "version": "1.0"}
        if kind == "Workflow":
            request |= {
                "defaultTaskStartToCloseTimeout": "30",
                "defaultExecutionStartToCloseTimeout": "3600",
                "defaultChildPolicy": "TERMINATE",
            }
        else:
            request |= {
                f"defaultTask{name}Timeout": "NONE"
                for name in ("ScheduleToStart", "ScheduleToClose", "StartToClose", "Heartbeat")
            }
        twin.engine.call(f"Register{kind}Type", request)
    twin.hold = 0
    return twin


AT_ONCE = Backoff(initial=0.0)


def worker(service, lifecycle, decider, **options):
    options.setdefault("quarantine", Quarantine(AT_ONCE))
    return DecisionWorker(service, lifecycle, decider.decide, "shop", "main", "me", **options)


def fail_decision(twin):
    """Let the open decision task time out, as SWF does with one that nobody answers."""
    twin.engine.advance(31)


def test_a_task_is_decided_and_answered(prepared, lifecycle):
    run_id = prepared.start()
    assert worker(prepared, lifecycle, OneActivity()).step() is True
    assert prepared.types(run_id)[-2:] == ["DecisionTaskCompleted", "ActivityTaskScheduled"]
    answer = prepared.calls("RespondDecisionTaskCompleted")[0]
    assert answer["executionContext"] == '{"flowpy": 1}'
    assert lifecycle.counts == {"decisions_completed": 1}


def test_an_empty_poll_is_no_task(prepared, lifecycle):
    assert worker(prepared, lifecycle, OneActivity()).step() is False


def test_a_history_is_read_in_pages_before_it_is_decided(prepared, lifecycle):
    prepared.start()
    seen = []

    class Looking:
        def decide(self, task):
            seen.extend(event["eventId"] for event in task.events)
            return Answer(complete("1"))

    worker(prepared, lifecycle, Looking(), page_size=1).step()
    assert seen == [1, 2, 3]
    assert len(prepared.calls("PollForDecisionTask")) == 3


EXPIRED = fault("ValidationException", "Specified token has exceeded its maximum lifetime", "PollForDecisionTask")


def test_after_an_expired_page_token_the_history_is_read_again_from_its_start(prepared, lifecycle, caplog):
    run_id = prepared.start()
    decisions = worker(prepared, lifecycle, OneActivity(), page_size=1)
    call = prepared.call

    def expiring(operation, request):
        if operation == "PollForDecisionTask" and "nextPageToken" in request:
            raise EXPIRED
        return call(operation, request)

    prepared.call = expiring
    assert decisions.step() is True
    assert caplog.records == []
    assert len(prepared.calls("GetWorkflowExecutionHistory")) == 1
    assert prepared.types(run_id)[-1] == "ActivityTaskScheduled"


def test_a_history_that_cannot_be_read_drops_the_task_with_one_line(prepared, lifecycle, caplog):
    prepared.start()
    decisions = worker(prepared, lifecycle, OneActivity(), page_size=1)
    call = prepared.call

    def expiring(operation, request):
        if "nextPageToken" in request or operation == "GetWorkflowExecutionHistory":
            raise EXPIRED
        return call(operation, request)

    prepared.call = expiring
    assert decisions.step() is True
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "order-7" in caplog.text
    assert prepared.calls("RespondDecisionTaskCompleted") == []
    assert lifecycle.counts == {"decisions_dropped": 1}


@pytest.mark.parametrize(
    "error",
    [
        errors.NonDeterminismError("the code calls charge, the history has bill"),
        errors.UnknownWorkflowType("no workflow order 1.0 here"),
        errors.PayloadTooLarge("result is 40,000 characters long"),
        ZeroDivisionError("a bug of flowpy"),
        SystemExit("user code"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_run_that_cannot_be_decided_is_left_unanswered_and_told_once(prepared, lifecycle, caplog, error):
    run_id = prepared.start()
    decisions = worker(prepared, lifecycle, Raising(error))
    decisions.step()
    fail_decision(prepared)
    decisions.step()
    assert prepared.calls("RespondDecisionTaskCompleted") == []
    counts = lifecycle.counts
    assert counts.pop("divergences", 0) == 2 * isinstance(error, errors.NonDeterminismError)
    assert counts == {"decisions_held": 2}
    lines = [record for record in caplog.records if "is held" in record.getMessage()]
    assert len(lines) == 1
    assert run_id in lines[0].getMessage()
    assert str(error) in lines[0].getMessage()


def test_other_runs_go_on_beside_a_held_one(prepared, lifecycle):
    class Picky(OneActivity):
        def decide(self, task):
            if task.workflow_id == "bad":
                raise errors.NonDeterminismError("no match")
            return super().decide(task)

    prepared.start("bad")
    good = prepared.start("good")
    decisions = worker(prepared, lifecycle, Picky())
    decisions.step()
    decisions.step()
    assert prepared.types(good, "good")[-1] == "ActivityTaskScheduled"


def test_after_three_unanswered_attempts_a_held_run_waits_on_a_timer(prepared, lifecycle):
    run_id = prepared.start()
    decisions = worker(prepared, lifecycle, Raising(errors.UnknownWorkflowType("no workflow order 1.0 here")))
    for _ in range(4):
        decisions.step()
        fail_decision(prepared)
    (answer,) = prepared.calls("RespondDecisionTaskCompleted")
    (decision,) = answer["decisions"]
    assert decision["startTimerDecisionAttributes"] == {"timerId": "flowpy.hold-1", "startToFireTimeout": "60"}
    # The first completed decision of a run says which contract it keeps to, also when it is held.
    assert json.loads(answer["executionContext"])["flowpy"] == 1
    assert prepared.types(run_id).count("TimerStarted") == 1


def test_a_held_run_goes_on_when_the_right_code_arrives(prepared, lifecycle, caplog):
    prepared.start()
    decisions = worker(prepared, lifecycle, Raising(errors.NonDeterminismError("no match")))
    decisions.step()
    fail_decision(prepared)
    decisions.decide = OneActivity().decide
    decisions.step()
    assert lifecycle.counts == {"decisions_held": 1, "divergences": 1, "decisions_completed": 1}
    assert "goes on again" in caplog.text


def test_a_divergence_fails_the_run_if_the_policy_says_so(prepared, lifecycle):
    run_id = prepared.start()
    error = errors.NonDeterminismError("the code calls charge, the history has bill")
    worker(prepared, lifecycle, Raising(error), on_divergence="fail").step()
    closed = prepared.events(run_id)[-1]
    assert closed["eventType"] == "WorkflowExecutionFailed"
    assert closed["workflowExecutionFailedEventAttributes"]["reason"].startswith("NonDeterminismError: the code calls")


def test_the_policy_fails_nothing_but_divergence(prepared, lifecycle):
    run_id = prepared.start()
    worker(prepared, lifecycle, Raising(errors.UnknownWorkflowType("not here")), on_divergence="fail").step()
    assert prepared.types(run_id)[-1] == "DecisionTaskStarted"


def test_an_answer_that_swf_refuses_is_told_and_held(prepared, lifecycle, caplog):
    prepared.start()
    prepared.fail(
        "RespondDecisionTaskCompleted", fault("ValidationException", "too large", "RespondDecisionTaskCompleted")
    )
    worker(prepared, lifecycle, OneActivity()).step()
    assert lifecycle.counts == {"decisions_held": 1}
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "too large" in caplog.text


def test_an_answer_that_swf_refuses_twice_does_not_kill_the_worker(prepared, lifecycle, caplog):
    prepared.start()
    refused = fault("ValidationException", "no", "RespondDecisionTaskCompleted")
    prepared.fail("RespondDecisionTaskCompleted", refused, refused)
    worker(prepared, lifecycle, OneActivity(), hold=lambda events: {"decisionType": "StartTimer"}).step()
    assert "is left unanswered" in caplog.text


def test_an_answer_is_sent_again_until_the_service_has_it(prepared, lifecycle):
    run_id = prepared.start()
    prepared.fail(
        "RespondDecisionTaskCompleted",
        fault("ThrottlingException", "Rate exceeded", "x"),
        fault("ConnectionClosedError", "", "x", status=503),
    )
    worker(prepared, lifecycle, OneActivity()).step()
    assert prepared.types(run_id)[-1] == "ActivityTaskScheduled"
    assert len(prepared.calls("RespondDecisionTaskCompleted")) == 3


def test_an_answer_to_a_closed_task_is_dropped_with_one_line(prepared, lifecycle, caplog):
    prepared.start()

    class Slow(OneActivity):
        def decide(self, task):
            fail_decision(prepared)
            return super().decide(task)

    worker(prepared, lifecycle, Slow()).step()
    lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(lines) == 1
    assert lines[0].getMessage().startswith("result dropped, task closed")
    assert len(prepared.calls("RespondDecisionTaskCompleted")) == 1
    assert lifecycle.counts == {"results_dropped": 1}
