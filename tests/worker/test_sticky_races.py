"""Answers, polls and ends that meet a run in memory at the worst moment. Nothing here waits for time to pass."""

from __future__ import annotations

import threading

import pytest

from flowpy.declare import workflow
from flowpy.errors import ServiceError
from flowpy.service.faults import fault
from flowpy.service.paging import decision_task

from . import test_sticky
from .test_sticky import answers, number, result, send, start
from .twin import PATIENCE, in_the_middle, lose_reply

shop, process = test_sticky.shop, test_sticky.process

LOST = fault("ConnectionClosedError", "", "RespondDecisionTaskCompleted", status=503)


def kept(process):
    return process.sticky._owners[0].decider


def polled(shop, process):
    """A task as the worker polls it from its own list, not handled yet."""
    task = decision_task(
        shop, "shop", process.sticky.task_list, "me", pause=process.lifecycle.pause, since_previous=True
    )
    assert task is not None
    return task


# --- answers ----------------------------------------------------------------------------------


def test_what_is_heard_late_of_an_answer_does_not_cost_the_run_that_went_on(shop, process):
    """The first answer hangs until its task has timed out and the next was decided, here, and accepted."""
    run_id, one = start(shop, count=2), process()

    def goes_on():
        shop.engine.advance(30)
        send(shop, 1)
        assert one.shared()

    in_the_middle(shop, "RespondDecisionTaskCompleted", before=goes_on)
    assert one.shared()
    assert one.counts("results_dropped") == [1]
    assert run_id in kept(one)
    send(shop, 2)
    assert one.own()
    assert result(shop, run_id) == "3"
    assert one.counts("cache_hits") == [1]


def test_a_task_that_came_twice_is_answered_once(shop, process):
    run_id, one = start(shop, count=2), process()
    one.shared()
    send(shop, 1)
    task = polled(shop, one)
    one.worker.handle(task)
    one.worker.handle(task)
    assert one.counts("decisions_completed", "results_dropped", "decisions_held") == [2, 1, 0]
    send(shop, 2)
    assert one.own()
    assert result(shop, run_id) == "3"


def test_a_task_that_came_twice_at_once_is_answered_once(shop, process):
    """Two threads decide the same task; the one whose answer comes second is refused."""
    run_id, one = start(shop, count=2), process()
    one.shared()
    send(shop, 1)
    task = polled(shop, one)
    one.sticky.patience = 0.0
    in_the_middle(shop, "RespondDecisionTaskCompleted", before=lambda: one.worker.handle(task))
    one.worker.handle(task)
    assert one.counts("decisions_completed", "results_dropped", "decisions_held") == [2, 1, 0]
    send(shop, 2)
    assert one.own()
    assert result(shop, run_id) == "3"


def test_an_answer_that_was_lost_on_the_way_is_sent_again_and_the_run_stays(shop, process):
    run_id, one = start(shop, count=1), process()
    shop.fail("RespondDecisionTaskCompleted", LOST, LOST)
    assert one.shared()
    send(shop, 4)
    assert one.own()
    assert result(shop, run_id) == "4"
    assert one.counts("cache_hits", "results_dropped") == [1, 0]


def test_an_answer_of_which_nothing_is_heard_until_the_worker_ends_is_not_built_on(shop, process):
    start(shop, count=1)
    one = process()
    shop.fail("RespondDecisionTaskCompleted", LOST)
    one.lifecycle.abandoned.set()
    assert one.shared()
    assert one.evictions() == {"unanswered": 1}


@pytest.mark.parametrize("request_", ["TerminateWorkflowExecution", "a time-out"])
def test_a_run_that_is_closed_while_it_is_decided_leaves_memory(shop, process, request_):
    def close():
        if request_ == "a time-out":
            shop.engine.advance(366 * 86_400)
        else:
            shop.engine.call(request_, {"domain": "shop", "workflowId": "w"})

    start(shop)
    one = process()
    in_the_middle(shop, "RespondDecisionTaskCompleted", before=close)
    assert one.shared()
    assert one.evictions() == {"unanswered": 1}
    assert one.counts("decisions_held") == [0]


# --- tasks ------------------------------------------------------------------------------------


def test_a_task_that_times_out_while_it_is_decided_costs_no_second_thread_and_no_answer(shop, process):
    """The thread of the run is still busy with the first task when the second comes; the third is decided."""
    entered, release = threading.Event(), threading.Event()

    @workflow(name="adding")
    async def slow(count: int) -> int:
        if not entered.is_set():
            entered.set()
            assert release.wait(PATIENCE)
        return sum([await number.receive() for _ in range(count)])

    one = process(workflows=[slow], guard="off")
    run_id = start(shop, count=1)
    first = threading.Thread(target=one.shared)
    first.start()
    assert entered.wait(PATIENCE)
    # Only now: on a busy machine the thread would not even have taken the first task in that time.
    one.sticky._owners[0].thread._patience = 0.01
    shop.engine.advance(30)
    assert one.shared()
    assert one.lifecycle.counts["decisions_quarantined"] == 1
    release.set()
    first.join(PATIENCE)
    assert one.counts("results_dropped") == [1]
    assert run_id not in kept(one)
    assert answers(shop)[1:] == []
    shop.engine.advance(30)
    assert one.shared()
    send(shop, 4)
    assert one.own()
    assert result(shop, run_id) == "4"


def test_a_kept_run_that_another_process_decided_is_not_gone_on_with_from_its_own_list(shop, process):
    """One has the run, two decides it and hands it back to nobody in particular; then one gets it again."""
    run_id, one, two = start(shop), process(), process()
    one.shared()
    send(shop, 1)
    shop.engine.advance(10)
    two.stops()
    assert two.shared()
    send(shop, 2)
    assert one.shared()
    assert one.evictions() == {"stale": 1}
    send(shop, 3)
    assert one.own()
    assert result(shop, run_id) == "6"


def test_a_task_lost_on_its_way_here_leaves_the_run_in_memory_usable(shop, process):
    """SWF gave the task out and nobody heard; what it recorded about that is part of what is new."""
    run_id, one = start(shop, count=1), process()
    one.shared()
    send(shop, 4)
    lose_reply(shop, "PollForDecisionTask")
    with pytest.raises(ServiceError):
        one.own()
    shop.engine.advance(30)
    assert not one.own()
    assert one.shared()
    assert result(shop, run_id) == "4"
    assert one.counts("cache_hits", "cache_misses") == [1, 0]


def test_a_history_that_is_not_up_to_date_is_read_again(shop, process):
    """GetWorkflowExecutionHistory is eventually consistent."""
    run_id, one = start(shop, count=1), process()
    one.shared()
    kept(one).evict_all("test")
    send(shop, 4)
    call, seen = shop.call, []

    def behind(operation, request):
        reply = call(operation, request)
        if operation == "GetWorkflowExecutionHistory":
            seen.append(operation)
            if len(seen) < 3:
                return {**reply, "events": reply["events"][:-2]}
        return reply

    shop.call = behind
    assert one.own()
    assert len(seen) == 3
    assert result(shop, run_id) == "4"


def test_a_history_that_never_is_drops_the_task(shop, process):
    start(shop, count=1)
    one = process()
    one.shared()
    kept(one).evict_all("test")
    send(shop, 4)
    call = shop.call

    def behind(operation, request):
        reply = call(operation, request)
        return {**reply, "events": reply["events"][:-2]} if operation.startswith("GetWorkflow") else reply

    shop.call = behind
    assert one.own()
    assert one.counts("decisions_dropped", "decisions_held") == [1, 0]


# --- runs -------------------------------------------------------------------------------------


def test_the_same_workflow_id_started_again_is_another_run(shop, process):
    first, one = start(shop, count=2), process()
    one.shared()
    send(shop, 10)
    one.own()
    shop.engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "w"})
    second = start(shop, count=2)
    one.shared()
    for value in (1, 2):
        send(shop, value)
        assert one.own()
    assert result(shop, second) == "3"
    # Nobody tells a worker that a run was terminated: it leaves when room is needed.
    assert first in kept(one)
    assert second not in kept(one)


def test_runs_of_which_nothing_is_heard_again_make_room(shop, process):
    one = process(cached_runs=3)
    for _ in range(10):
        start(shop)
        one.shared()
        shop.engine.call("TerminateWorkflowExecution", {"domain": "shop", "workflowId": "w"})
    assert len(kept(one)) == 3
    assert one.evictions() == {"full": 7}
    assert one.sticky._sending == {}


# --- the end ----------------------------------------------------------------------------------


def test_closing_while_a_decision_is_made_ends_that_run_on_its_thread(shop, process):
    entered, release, ended = threading.Event(), threading.Event(), []

    @workflow(name="adding")
    async def slow(count: int) -> None:
        entered.set()
        assert release.wait(PATIENCE)
        try:
            await number.receive()
        finally:
            ended.append(threading.current_thread().name)

    one = process(workflows=[slow], guard="off")
    start(shop)
    deciding = threading.Thread(target=one.shared)
    deciding.start()
    assert entered.wait(PATIENCE)
    one.lifecycle.stopping.set()
    closing = threading.Thread(target=one.sticky.close)
    closing.start()
    release.set()
    deciding.join(PATIENCE)
    closing.join(PATIENCE)
    assert ended == ["flowpy-runs-1"]
    assert one.lifecycle.counts["cache_evictions_drained"] == 1
    assert "taskList" not in answers(shop)[0]


def test_a_task_that_comes_after_the_end_is_decided_all_the_same(shop, process):
    """A poll that was abandoned may bring one while the process still lives."""
    run_id, one = start(shop, count=0), process()
    one.stops()
    one.sticky.close()
    one.sticky._owners[0].thread._patience = 0.01
    assert one.shared()
    assert result(shop, run_id) == "0"
    assert "taskList" not in answers(shop)[0]
