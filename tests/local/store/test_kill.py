"""kill -9 in a loop under load: nothing that was answered is lost, and no history breaks a rule.

`FLOWPY_KILLS` says how often; 10 times unless it does.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path

from flowpy.local.engine import Engine, SystemClock, check_history
from flowpy.local.store import SQLiteStore

KILLS = int(os.environ.get("FLOWPY_KILLS", "10"))
SOURCE = Path(__file__).parents[3] / "src"

# Serves an engine over its standard input and output: a line is a call, and its line is written once it is answered.
SERVER = """
import json, sys
from flowpy.errors import ServiceError
from flowpy.local.engine import Engine, SystemClock
from flowpy.local.store import SQLiteStore

engine = Engine(SystemClock(), store=SQLiteStore(sys.argv[1]))
for line in sys.stdin:
    operation, request = json.loads(line)
    try:
        answer = engine.call(operation, request)
    except ServiceError as error:
        answer = {"fault": error.fault}
    print(json.dumps(answer, default=str), flush=True)
"""

ORDER = {"name": "order", "version": "1"}
CHARGE = {"name": "charge", "version": "1"}


class Killed(Exception):
    """The server is gone; whether the last call took effect is not known."""


class Server:
    """One process that serves the engine of a file."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(SOURCE)},
        )

    def call(self, operation, **request):
        try:
            self.process.stdin.write(json.dumps([operation, request]).encode() + b"\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            raise Killed from None
        # Half a line was never an answer.
        if not line.endswith(b"\n"):
            raise Killed
        return json.loads(line)

    def kill_later(self, seconds):
        timer = threading.Timer(seconds, self.process.send_signal, [signal.SIGKILL])
        timer.start()
        return timer

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        # What was not sent yet has nobody to go to.
        with suppress(BrokenPipeError):
            self.process.stdin.close()


class Load:
    """A client that does all that clients do, and remembers what it was told."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        self.number = 0
        self.started: dict[str, str] = {}
        self.closed: set[str] = set()
        self.signaled: dict[str, list[str]] = {}
        self.scheduled: dict[str, set[str]] = {}
        self.worked: dict[str, set[str]] = {}

    def step(self, server):
        self.number += 1
        step = self.chance.choice(
            [self.start, self.signal, self.decide, self.decide, self.decide, self.work, self.work]
        )
        step(server.call)

    def start(self, call):
        name = f"w{self.number}"
        answer = call("StartWorkflowExecution", domain="shop", workflowId=name, workflowType=ORDER, tagList=["eu"])
        self.started[answer["runId"]] = name

    def signal(self, call):
        run_id = self.chance.choice(list(self.started) or [""])
        if run_id and run_id not in self.closed:
            text = str(self.number)
            request = {"domain": "shop", "workflowId": self.started[run_id], "runId": run_id, "signalName": text}
            # A run that an unanswered call closed takes no signal.
            if "fault" not in call("SignalWorkflowExecution", **request):
                self.signaled.setdefault(run_id, []).append(text)

    def decide(self, call):
        task = call("PollForDecisionTask", domain="shop", taskList={"name": "deciders"})
        if not task["startedEventId"]:
            return
        run_id, activity_id = task["workflowExecution"]["runId"], str(self.number)
        self.started.setdefault(run_id, task["workflowExecution"]["workflowId"])
        if len(task["events"]) < 30:
            decisions = [
                decision("ScheduleActivityTask", activityId=activity_id, activityType=CHARGE),
                decision("StartTimer", timerId=activity_id, startToFireTimeout="0"),
            ]
        else:
            decisions = [decision("CompleteWorkflowExecution", result=activity_id)]
        answer = call("RespondDecisionTaskCompleted", taskToken=task["taskToken"], decisions=decisions)
        if "fault" not in answer and len(decisions) == 2:
            self.scheduled.setdefault(run_id, set()).add(activity_id)

    def work(self, call):
        task = call("PollForActivityTask", domain="shop", taskList={"name": "workers"})
        if task["startedEventId"]:
            answer = call("RespondActivityTaskCompleted", taskToken=task["taskToken"], result=str(self.number))
            if "fault" not in answer:
                self.worked.setdefault(task["workflowExecution"]["runId"], set()).add(str(self.number))

    def check(self, engine):
        """Everything that was answered is in the histories, and every history is one."""
        runs = {run.run_id: list(run.events) for run in engine.world.runs.values()}
        for events in runs.values():
            check_history(events)
        assert set(self.started) <= set(runs)
        for run_id in self.started:
            assert told(runs[run_id], "WorkflowExecutionSignaled", "signalName") >= set(self.signaled.get(run_id, ()))
            assert told(runs[run_id], "ActivityTaskScheduled", "activityId") >= self.scheduled.get(run_id, set())
            assert told(runs[run_id], "TimerStarted", "timerId") >= self.scheduled.get(run_id, set())
            assert told(runs[run_id], "ActivityTaskCompleted", "result") >= self.worked.get(run_id, set())


def decision(kind, **attributes):
    return {"decisionType": kind, f"{kind[0].lower()}{kind[1:]}DecisionAttributes": attributes}


def told(events, event_type, name):
    key = f"{event_type[0].lower()}{event_type[1:]}EventAttributes"
    return {event[key][name] for event in events if event["eventType"] == event_type}


def register(path):
    with closing(Engine(SystemClock(), store=SQLiteStore(path))) as engine:
        engine.call("RegisterDomain", {"name": "shop", "workflowExecutionRetentionPeriodInDays": "7"})
        workflow = {
            "defaultTaskList": {"name": "deciders"},
            "defaultChildPolicy": "TERMINATE",
            "defaultTaskStartToCloseTimeout": "1",
            "defaultExecutionStartToCloseTimeout": "86400",
        }
        engine.call("RegisterWorkflowType", {"domain": "shop", **ORDER, **workflow})
        none = ("ScheduleToStart", "ScheduleToClose", "Heartbeat")
        activity = {f"defaultTask{timeout}Timeout": "NONE" for timeout in none} | {
            "defaultTaskList": {"name": "workers"},
            "defaultTaskStartToCloseTimeout": "1",
        }
        engine.call("RegisterActivityType", {"domain": "shop", **CHARGE, **activity})


def test_nothing_that_was_answered_is_lost(tmp_path):
    path = tmp_path / "swf.sqlite"
    register(path)
    load, chance, calls = Load(seed=1), random.Random(2), 0
    for _ in range(KILLS):
        server = Server(path)
        # The first answer comes when the engine is up, so that the kill finds it at work.
        server.call("ListDomains", registrationStatus="REGISTERED")
        timer = server.kill_later(chance.uniform(0.02, 0.4))
        with suppress(Killed):
            while True:
                load.step(server)
                calls += 1
        timer.join()
        server.end()
        assert server.process.returncode == -signal.SIGKILL, "the server ended by itself"
        with closing(Engine(SystemClock(), store=SQLiteStore(path))) as engine:
            load.check(engine)
    assert calls > KILLS

    # No timer is lost either: after a second, all that the load started has fired.
    with closing(Engine(SystemClock(), store=SQLiteStore(path))) as engine:
        deadline = time.time() + 3
        while (due := engine.next_due()) is not None and due <= time.time() < deadline:
            engine.tick()
        for run in engine.world.runs.values():
            fired = told(list(run.events), "TimerFired", "timerId")
            assert not run.is_open or fired >= load.scheduled.get(run.run_id, set())
        load.check(engine)
