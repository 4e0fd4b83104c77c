"""Activities in processes of their own: what crosses, what a death costs, and that nothing is left over."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import pytest

from flowpy.data.converter import DEFAULT, Converter
from flowpy.data.reading import decode_failure
from flowpy.declare import Retry, activity
from flowpy.errors import ActivityProcessDied, DeclarationError, ServiceError
from flowpy.worker import Worker, WorkerSettings
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Answered, execute, in_process
from flowpy.worker.intercepting import AroundActivities
from flowpy.worker.processes import Processes

from .twin import OneActivity, order

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LONG = 60.0  # seconds a test waits for a process before it fails


@pytest.fixture(scope="module")
def crunching():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(HERE)
        yield import_module("crunching")


@pytest.fixture(scope="module")
def pool(crunching):
    made = Processes([], DEFAULT, lambda context: '{"done": 5}', grace=0.2)
    yield made
    made.close()


class Running(ActivityContext):
    """A task, and an event for its first heartbeat."""

    def __init__(self, name="copy", id="copy-1", token="token-1"):
        self.began = threading.Event()
        task = {
            "taskToken": token,
            "activityId": id,
            "activityType": {"name": name, "version": "1.0"},
            "workflowExecution": {"workflowId": "order-7", "runId": "run-1"},
        }
        super().__init__(task, "shop", wake=lambda context: self.began.set())


def ends(pool, declared, *args, context=None):
    return pool.run(declared, json.dumps(args), context or Running())


def result(response):
    assert response.operation == "RespondActivityTaskCompleted", response.fields.get("details")
    return json.loads(response.fields["result"])


def failure(response):
    assert response.operation == "RespondActivityTaskFailed"
    return decode_failure(response.fields["reason"], response.fields["details"])


@contextmanager
def begun(pool, declared, folder):
    """Run an activity on another thread, from its first heartbeat to its end."""
    context, responses = Running(), []
    thread = threading.Thread(target=lambda: responses.append(ends(pool, declared, str(folder), context=context)))
    thread.start()
    assert context.began.wait(LONG)
    yield context, responses
    thread.join(LONG)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def until(condition, what):
    deadline = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.02)


# --- running --------------------------------------------------------------------------------------


def test_an_activity_runs_in_a_process_that_is_kept_for_the_next(pool, crunching):
    first, parent, year = result(ends(pool, crunching.where, "2026-11-30"))
    assert (parent, year) == (os.getpid(), 2026)
    assert first != os.getpid()
    assert result(ends(pool, crunching.where, "2026-11-30"))[0] == first
    assert result(ends(pool, crunching.threads, "x")) is True


def test_what_it_raises_is_recorded_as_ever(pool, crunching):
    told = failure(ends(pool, crunching.broken, "x"))
    assert (told.type, told.message, told.data) == ("NoSuchDay", "no such day", {"name": "x"})
    assert "crunching.py" in told.traceback
    assert failure(ends(pool, crunching.leave, "x")).type == "SystemExit"
    assert failure(ends(pool, crunching.where, "no date")).type == "PayloadNotDecodable"


def test_functions_are_found_wherever_they_were_declared(pool, crunching):
    assert result(ends(pool, crunching.declared_elsewhere, 1)) == 2
    assert result(ends(pool, crunching.Shop.count, ["a", "b"])) == 2


def test_a_manual_activity_hands_its_token_over(pool, crunching, tmp_path):
    assert ends(pool, crunching.hand_over, str(tmp_path)) is None
    assert (tmp_path / "token").read_text() == "token-1"


def test_details_of_the_attempt_before_cross_the_pipe(pool, crunching):
    assert result(ends(pool, crunching.resume, "x")) == [1, None]
    assert result(ends(pool, crunching.resume, "x", context=Running(id="copy-1.r3"))) == [3, {"done": 5}]


def test_a_history_that_is_not_given_is_the_activitys_failure(pool, crunching, monkeypatch):
    def refuse(context):
        raise ServiceError("no swf:GetWorkflowExecutionHistory")

    monkeypatch.setattr(pool, "previous", refuse)
    told = failure(ends(pool, crunching.resume, "x", context=Running(id="copy-1.r2")))
    assert "no swf:GetWorkflowExecutionHistory" in told.message


def test_a_converter_of_ones_own_is_imported_by_its_name(crunching):
    pool = Processes([crunching.double], crunching.converter, lambda context: None, grace=0.2)
    assert result(ends(pool, crunching.double, 21)) == 42
    told = failure(ends(pool, crunching.where, "4242-4242"))
    assert told.type == "PayloadNotDecodable"
    assert "4242" not in told.message, "its payloads are secret"
    pool.close()


# --- dying ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("way", "says"), [("exit", "exit code 7"), ("SIGSEGV", "killed by SIGSEGV")])
def test_a_process_that_dies_fails_its_task_and_keeps_the_last_details(pool, crunching, way, says):
    told = failure(ends(pool, crunching.end, way))

    assert (told.type, told.heartbeat) == ("ActivityProcessDied", {"way": way})
    assert says in told.message
    assert Retry(retry_on=ActivityProcessDied).matches([told.type, f"{told.module}.{told.type}"])


def test_no_other_task_suffers_and_the_next_gets_a_new_process(pool, crunching, tmp_path):
    with begun(pool, crunching.patient, tmp_path) as (context, responses):
        assert "killed by SIGKILL" in failure(ends(pool, crunching.end, "SIGKILL")).message
        assert responses == []
        context.request_cancel()
    assert responses[0].operation == "RespondActivityTaskCanceled"
    assert result(ends(pool, crunching.where, "2026-11-30"))[2] == 2026


def test_a_process_that_died_while_idle_costs_nothing(pool, crunching):
    pid = result(ends(pool, crunching.where, "2026-11-30"))[0]
    os.kill(pid, signal.SIGKILL)
    # The first of its threads is gone a moment before all are.
    until(lambda: not any(process.is_alive for process in pool._idle), "the death")
    assert result(ends(pool, crunching.where, "2026-11-30"))[0] != pid


def test_deaths_leave_nothing_open(pool, crunching):
    def crash():
        assert failure(ends(pool, crunching.end, "SIGKILL")).type == "ActivityProcessDied"
        return len(list(Path("/proc/self/fd").iterdir())), len(multiprocessing.active_children())

    assert crash() == crash()


# --- cancelling -----------------------------------------------------------------------------------


def test_a_cancel_is_raised_at_the_next_heartbeat(pool, crunching, tmp_path):
    with begun(pool, crunching.patient, tmp_path) as (context, responses):
        context.request_cancel()
    (response,) = responses
    assert (response.operation, response.fields) == ("RespondActivityTaskCanceled", {})
    assert (tmp_path / "stopped").exists()
    assert context.details == '"stopping"'


def test_a_cancel_that_comes_after_the_end_does_not_reach_the_next(pool, crunching, tmp_path):
    late = Running(token="token-0")
    result(ends(pool, crunching.where, "2026-11-30", context=late))
    with begun(pool, crunching.patient, tmp_path) as (context, responses):
        late.request_cancel(gone=True)
        assert not context.cancel_requested
        assert result(ends(pool, crunching.where, "2026-11-30"))
        assert responses == []
        context.request_cancel()


def test_what_an_activity_forks_can_be_ended_as_ever(pool, crunching):
    assert result(ends(pool, crunching.fork, "x")) == -signal.SIGTERM


def test_one_that_does_not_stop_within_the_grace_is_terminated(pool, crunching, tmp_path):
    with begun(pool, crunching.deaf, tmp_path) as (context, responses):
        context.request_cancel()
    assert responses[0].operation == "RespondActivityTaskCanceled"
    assert (tmp_path / "terminated").exists()


def test_one_that_resists_is_killed(pool, crunching, tmp_path, monkeypatch):
    monkeypatch.setattr("flowpy.worker.processes._KILL_AFTER", 0.2)
    with begun(pool, crunching.stubborn, tmp_path) as (context, responses):
        context.request_cancel(gone=True)
    assert responses[0].operation == "RespondActivityTaskCanceled"
    assert (tmp_path / "terminated").exists()


def test_closing_terminates_what_still_runs_and_answers_nothing(crunching, tmp_path):
    pool = Processes([], DEFAULT, lambda context: None, grace=0.2)
    with begun(pool, crunching.deaf, tmp_path) as (_, responses):
        pool.close()
    assert responses == [None]
    assert (tmp_path / "terminated").exists()
    assert ends(pool, crunching.where, "2026-11-30") is None


# --- with a worker --------------------------------------------------------------------------------


def test_at_the_drain_a_worker_terminates_what_the_grace_was_too_short_for(twin, crunching, tmp_path, caplog):
    worker = Worker(
        twin,
        domain="shop",
        workflows=[order],
        activities=[crunching.deaf],
        task_list="main",
        settings=WorkerSettings(decider=lambda workflows: OneActivity("deaf"), sticky=False, grace=0),
    )
    worker.start()
    run_id = twin.start(text=json.dumps([str(tmp_path)]))
    twin.wait_for("RecordActivityTaskHeartbeat", patience=LONG)
    call, was_over = twin.call, []

    def given_back(operation, request):
        if operation == "RespondActivityTaskFailed":
            was_over.append((tmp_path / "terminated").exists())
        return call(operation, request)

    twin.call = given_back
    worker.stop()
    assert was_over == [True]  # retries begin at once, and must not meet it
    assert worker.abandoned == ["<activity deaf 1.0 'deaf-1' of workflow 'order-7'>"]
    assert "abandoned" in caplog.text
    assert "ActivityTaskFailed" in twin.types(run_id)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"__qualname__": "missing"}, "has no attribute 'missing'"),
        ({"__qualname__": "plain"}, "something else has that name"),
        ({"__module__": "no_such_module"}, "No module named"),
    ],
)
def test_a_worker_does_not_start_with_what_no_process_could_import(crunching, monkeypatch, change, says):
    def lost(name: str) -> None: ...

    lost.__module__, lost.__qualname__ = "crunching", "lost"
    for key, value in change.items():
        monkeypatch.setattr(lost, key, value)
    with pytest.raises(DeclarationError, match=says):
        Processes([activity(executor="process")(lost)], DEFAULT, lambda context: None, grace=0.2)


def test_a_converter_without_a_name_is_refused(crunching):
    with pytest.raises(DeclarationError, match="top level of a module"):
        Processes([crunching.where], Converter(), lambda context: None, grace=0.2)


PROGRAM = """
import sys, threading
sys.path.insert(0, {here!r})
import crunching
from flowpy.data.converter import DEFAULT
from flowpy.worker.activity_context import ActivityContext
from flowpy.worker.event_loop import ActivityLoop
from flowpy.worker.executing import Answered, execute, in_process
from flowpy.worker.intercepting import AroundActivities
from flowpy.worker.processes import Processes
from flowpy.worker.child import refuse_to_start_here

refuse_to_start_here() if {bare} else None

def main():
    task = {{"taskToken": "t", "activityId": "a", "activityType": {{"name": "a", "version": "1.0"}},
            "workflowExecution": {{"workflowId": "w", "runId": "r"}}}}
    pool = Processes([], DEFAULT, lambda context: None, grace=0.2)
    response = pool.run(crunching.speak, '["Ada"]', ActivityContext(task, "shop"))
    print(response.operation, response.fields.get("reason"), flush=True)
    if not {bare}:
        pool.run(crunching.locked, sys.argv[1], ActivityContext(task, "shop"))

if __name__ == "__main__":
    main()
"""


def program(tmp_path, *, bare):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(here=str(HERE), bare=bare))
    return subprocess.Popen(
        [sys.executable, str(path), json.dumps([str(tmp_path)])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src")},
    )


def test_processes_speak_for_themselves_and_die_with_the_worker(tmp_path):
    worker = program(tmp_path, bare=False)
    assert worker.stdout.readline() == "out Ada\n"
    assert worker.stdout.readline() == "RespondActivityTaskCompleted None\n"
    until((tmp_path / "began").exists, "the activity's beginning")
    process, its_own = map(int, (tmp_path / "began").read_text().split())
    assert is_alive(process)
    worker.kill()
    until(lambda: not is_alive(process), "the end of the process")
    until(lambda: not is_alive(its_own), "the end of what it started")
    assert worker.communicate(timeout=LONG)[1] == "err Ada\n"


def test_a_program_that_starts_a_worker_when_it_is_imported_is_told_so(tmp_path):
    out, told = program(tmp_path, bare=True).communicate(timeout=60)
    assert "RespondActivityTaskFailed ActivityProcessDied" in out
    assert 'under if __name__ == "__main__":' in told


# --- interceptors stand around the process, not in it -------------------------------------------


def test_interceptors_see_what_comes_of_a_process(pool, crunching):
    seen = []

    def watch(call, proceed):
        try:
            seen.append(proceed(call))
        except Answered as answered:
            seen.append(str(answered))
            raise
        return seen[-1]

    def run(declared, text):
        context = Running(declared.name)
        function = partial(in_process, pool.run, declared, context, DEFAULT)
        return execute(declared, text, context, DEFAULT, ActivityLoop(), AroundActivities([watch]), function)

    done, broken = run(crunching.where, '["2025-01-31"]'), run(crunching.broken, '["Monday"]')

    assert seen[0] == json.loads(done.fields["result"])
    assert seen[0][1:] == [os.getpid(), 2025]
    assert broken.operation == "RespondActivityTaskFailed"
    assert seen[1] == broken.fields["reason"] == "NoSuchDay: no such day"
