"""Runs a workflow as it was, then replays its history with the code as it is now.

Both are given as text, the text of a file ``shop.py``, so that a test shows the lines its report names. The names of
``activities.py`` (ACTIVITIES) may be used as if imported.
"""

from __future__ import annotations

import json
import linecache
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import frozen

import flowpy
from flowpy.declare.activity import Activity
from flowpy.declare.workflow import Workflow
from flowpy.local.engine import Engine, VirtualClock
from flowpy.replay.divergence import Divergence
from flowpy.runtime.decider import Answer, Decider, DecisionTask
from flowpy.testing import replay

ACTIVITIES = """\
import asyncio, os, random, time, uuid
import flowpy
from flowpy import activity, workflow

@activity
def reserve(order_id: str) -> str: ...

@activity
def charge(order_id: str, cents: int) -> str: ...

@activity
def ship(order_id: str) -> str: ...

@activity
def audit(order_id: str) -> str: ...
"""

_OTHER_PYTHON = "3.10"
NOON = 1_767_268_800.0
Events = list[dict[str, Any]]


def module(text: str, file: str = "shop.py", *, process: int = 1) -> dict[str, Any]:
    """Executes the text as a file whose lines tracebacks and reports can read.

    Args:
        text: The code.
        file: Its name.
        process: Which process it is: in another one clocks, random numbers and the order of sets are other ones.
    """
    names: dict[str, Any] = {"__name__": file.removesuffix(".py")}
    if file != "activities.py":
        names |= {name: value for name, value in module(ACTIVITIES, "activities.py").items() if name[0] != "_"}
        names["time"] = SimpleNamespace(time=lambda: 1_000 * process, time_ns=lambda: 1_000 * process)
        names["uuid"] = SimpleNamespace(uuid4=lambda: f"{process:04x}")
        names["set"] = lambda values: sorted(values, reverse=process > 1)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)  # noqa: S102 - the text of a test
    return names


def history_of(
    before: str,
    *,
    decisions: int = 99,
    signals: tuple[tuple[str, Any], ...] = (),
    python: str | None = None,
    engine: Engine | None = None,
) -> Events:
    """The history of ``order("o-7")``, or of the first workflow there is: everything it calls succeeds at once.

    Args:
        before: The file.
        decisions: After how many decisions the history ends.
        signals: What is signaled after the first decision, in order.
        python: The Python that decides, as recorded; default the one that runs.
        engine: The service.
    """
    names = module(before)
    declared = list(names.values())
    workflows = [one for one in declared if isinstance(one, Workflow)]
    main = next((one for one in workflows if one.name == "order"), workflows[0])
    shop = _Shop(engine or Engine(VirtualClock(NOON)), workflows, python)
    for one in (*workflows, *(one for one in declared if isinstance(one, Activity))):
        shop.register(one)
    started = {"workflowId": "order-o-7", "input": '["o-7"]', "workflowType": _type(main)}
    shop.call("StartWorkflowExecution", domain="shop", **started)
    waiting = list(signals)
    while shop.decided.get("order-o-7", 0) < decisions:
        if shop.decide():
            while waiting:
                name, value = waiting.pop(0)
                shop.call(
                    "SignalWorkflowExecution",
                    domain="shop",
                    workflowId="order-o-7",
                    signalName=name,
                    input=json.dumps(value),
                )
        elif not shop.work() and not shop.engine.settle():
            due = shop.engine.next_due()
            if due is None or shop.closed():
                break
            shop.engine.advance_to(due)
    return shop.history()


def diverged(before: str, after: str, **history: Any) -> tuple[flowpy.NonDeterminismError, Divergence]:
    """The error of a change, and its data; ``history`` are arguments of ``history_of``."""
    events = history_of(before, **history)
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        replay(_workflows(after), events, workflow_id="order-o-7", run_id=RUN_ID)
    assert isinstance(caught.value.divergence, Divergence)
    return caught.value, caught.value.divergence


def warnings(before: str, after: str, **history: Any) -> list[str]:
    """The warnings of a harmless change."""
    events = history_of(before, **history)
    replayed = replay(_workflows(after), events, workflow_id="order-o-7", run_id=RUN_ID)
    return [str(one) for one in replayed.warnings]


def refused(before: str, after: str, **history: Any) -> tuple[flowpy.NonDeterminismError, Divergence]:
    """The error of a harmless change in strict mode, and its data."""
    events = history_of(before, **history)
    task = DecisionTask("order-o-7", RUN_ID, ("order", "1.0"), events)
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        Decider(_workflows(after), strict=True).decide(task)
    assert isinstance(caught.value.divergence, Divergence)
    return caught.value, caught.value.divergence


@frozen
class Example:
    """A change and its report, as a document shows them.

    Attributes:
        title: The heading it stands under.
        before: The code that decided the run.
        after: The code that replays it; the same code in another process if the document shows one block only.
        report: What is said: a report, one in strict mode, or the text of a warning.
        notes: ``key: value`` pairs of a comment in the section, such as ``guess`` and ``python``.
    """

    title: str
    before: str
    after: str
    report: str
    notes: dict[str, str]

    def says(self) -> tuple[str, str]:
        """What is said now, with the Python here called 3.13, and the guess, "" for a warning."""
        history = {key: int(value) if value.isdigit() else value for key, value in self.notes.items() if key != "guess"}
        # The Python that decided may be the one that runs; for the report it is another one.
        decided_by = str(history.get("python", ""))
        if decided_by:
            history["python"] = _OTHER_PYTHON
        if not self.report.startswith("workflow "):
            return "\n".join(warnings(self.before, self.after, **history)) + "\n", ""
        strict = "strict mode" in self.report.partition("\n")[0]
        error, divergence = (refused if strict else diverged)(self.before, self.after, **history)
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        said = re.sub(rf"this is (Python )?{re.escape(here)}\b", r"this is \g<1>3.13", f"{error}\n")
        return said.replace(_OTHER_PYTHON, decided_by), divergence.guess


def examples(document: Path) -> list[Example]:
    """The changes a document shows: under a heading, one or two blocks of Python, then a block of text."""
    found = []
    for section in re.split(r"^#+ ", document.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        blocks = re.findall(r"^```(python|text)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
        code = [text for language, text in blocks if language == "python"]
        said = [text for language, text in blocks if language == "text"]
        if code and said:
            notes = dict(re.findall(r"(\w+): ([^;>]+?)(?:;| -->)", "".join(re.findall(r"<!-- .*? -->", section))))
            found.append(Example(section.partition("\n")[0], code[0], code[-1], said[0], notes))
    return found


RUN_ID = "the-run"
"""Ids of children depend on it; the code that is run first is given the same."""


def _workflows(text: str) -> list[Workflow[..., Any]]:
    return [one for one in module(text, process=2).values() if isinstance(one, Workflow)]


def _type(declared: Any) -> dict[str, str]:
    return {"name": declared.name, "version": declared.version}


class _Shop:
    def __init__(self, engine: Engine, workflows: list[Workflow[..., Any]], python: str | None) -> None:
        self.engine = engine
        self.decider = Decider(workflows)
        self.python = python
        self.decided: dict[str, int] = {}
        engine.on_lambda("resize", lambda _input: "{}")
        self.call("RegisterDomain", name="shop", workflowExecutionRetentionPeriodInDays="7")

    def call(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.engine.call(operation, request)

    def register(self, declared: Any) -> None:
        kind = "Workflow" if isinstance(declared, Workflow) else "Activity"
        self.call(f"Register{kind}Type", domain="shop", **_type(declared), **declared.registered.defaults("main"))

    def decide(self) -> bool:
        polled = self.call("PollForDecisionTask", domain="shop", taskList={"name": "main"}, maximumPageSize=1000)
        if not polled["startedEventId"]:
            return False
        workflow_id = polled["workflowExecution"]["workflowId"]
        kind = polled["workflowType"]
        answer = self.decider.decide(
            DecisionTask(workflow_id, RUN_ID, (kind["name"], kind["version"]), list(polled["events"]))
        )
        self.decided[workflow_id] = self.decided.get(workflow_id, 0) + 1
        context = self._context(answer)
        self.call("RespondDecisionTaskCompleted", taskToken=polled["taskToken"], decisions=answer.decisions, **context)
        return True

    def _context(self, answer: Answer) -> dict[str, str]:
        if answer.execution_context is None:
            return {}
        read = json.loads(answer.execution_context)
        return {"executionContext": json.dumps({**read, "python": self.python or read["python"]})}

    def work(self) -> bool:
        task = self.call("PollForActivityTask", domain="shop", taskList={"name": "main"})
        if not task["startedEventId"]:
            return False
        self.call("RespondActivityTaskCompleted", taskToken=task["taskToken"], result=json.dumps(task["activityId"]))
        return True

    def closed(self) -> bool:
        kinds = {event["eventType"] for event in self.history()}
        return "WorkflowExecutionCompleted" in kinds or "WorkflowExecutionFailed" in kinds

    def history(self) -> Events:
        execution = {"workflowId": "order-o-7", "runId": self._run_id()}
        events: Events = self.call("GetWorkflowExecutionHistory", domain="shop", execution=execution)["events"]
        return events

    def _run_id(self) -> str:
        since = {"oldestDate": 0}
        for which in ("Open", "Closed"):
            listed = self.call(f"List{which}WorkflowExecutions", domain="shop", startTimeFilter=since)
            for info in listed["executionInfos"]:
                if info["execution"]["workflowId"] == "order-o-7":
                    return str(info["execution"]["runId"])
        raise AssertionError("order-o-7 was never started")
