"""What has to be true when the chaos is over."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from attrs import define, field

from flowpy.local.engine import check_history
from flowpy.testing import Replayer
from table import attributes

from .stories import ACTIVITIES, WORKFLOWS, Story

POLICIES = {each.name: each.retry.attempts for each in ACTIVITIES}
REPLAYER = Replayer(WORKFLOWS)
UNIQUE = {
    "ActivityTaskScheduled": "activityId",
    "TimerStarted": "timerId",
    "StartChildWorkflowExecutionInitiated": "workflowId",
    "SignalExternalWorkflowExecutionInitiated": "control",
    "RequestCancelExternalWorkflowExecutionInitiated": "control",
    "MarkerRecorded": "details",
}
"""What is decided, and by what it is told apart in its run."""

TROUBLE = re.compile(r" ERROR | CRITICAL |Traceback|is held|refuse|differ")
EXPECTED = re.compile(
    "result dropped, the worker stopped|abandoned, SWF gives it out again"
    # A drain whose last decisions do not get through: SWF gives these tasks to others.
    "|flowpy.worker: abandoned: workflow "
    # On a machine that is busy with other things.
    "|without blocking|does not let go of its thread"
)
"""Errors that workers tell of, and those that chaos is allowed to bring about."""


@define
class Recorded:
    """A run as the service has it in the end.

    Attributes:
        workflow_id: Its workflowId.
        run_id: Its runId.
        events: Its history.
        began: How often an attempt at an activity began, by activityId.
        done: How often one came to its end.
    """

    workflow_id: str
    run_id: str
    events: list[dict[str, Any]]
    began: Counter[str] = field(factory=Counter)
    done: Counter[str] = field(factory=Counter)

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        """Attributes of its events of a type."""
        return [attributes(event) for event in self.events if event["eventType"] == kind]

    @property
    def end(self) -> str:
        """How it ended, such as COMPLETED."""
        how = self.events[-1]["eventType"].removeprefix("WorkflowExecution")
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", how).upper()


def add_effects(runs: Iterable[Recorded], file: Path) -> None:
    """What the activities wrote down, by run."""
    by_id = {run.run_id: run for run in runs}
    for line in file.read_text().splitlines():
        run_id, activity_id, what, _ = json.loads(line)
        counted = by_id[run_id].began if what == "began" else by_id[run_id].done
        counted[activity_id] += 1


def judge(run: Recorded) -> None:
    """Everything that holds for every run, however it ended."""
    check_history(run.events)
    _nothing_twice(run)
    _no_activity_lost(run)
    _effects_within_policy(run)
    replayed = REPLAYER.replay(run.events, workflow_id=run.workflow_id, run_id=run.run_id)
    assert replayed.closed == run.events[-1]["eventType"]


def _nothing_twice(run: Recorded) -> None:
    for kind, name in UNIQUE.items():
        ids = Counter(str(each.get(name)) for each in run.of_type(kind))
        twice = [id for id, times in ids.items() if times > 1]
        assert not twice, f"{kind} more than once: {twice}"
    held = [each["timerId"] for each in run.of_type("TimerStarted") if each["timerId"].startswith("flowpy.hold")]
    assert not held, f"it was held: {held}"
    failed = [event["eventType"] for event in run.events if _refused(event)]
    assert not failed, f"decisions were refused: {failed}"


def _refused(event: dict[str, Any]) -> bool:
    kind = event["eventType"]
    # A close is refused if something came meanwhile; what was to be cancelled may have ended.
    return attributes(event).get("cause") not in (None, "UNHANDLED_DECISION", "ACTIVITY_ID_UNKNOWN") and kind.endswith(
        "Failed"
    )


def _no_activity_lost(run: Recorded) -> None:
    scheduled = {
        event["eventId"]: attributes(event)["activityId"]
        for event in run.events
        if event["eventType"] == "ActivityTaskScheduled"
    }
    ended = Counter(
        each["scheduledEventId"]
        for how in ("Completed", "Failed", "TimedOut", "Canceled")
        for each in run.of_type(f"ActivityTask{how}")
    )
    lost = [activity_id for event_id, activity_id in scheduled.items() if ended[event_id] != 1]
    assert not lost, f"activities without an end: {lost}"
    for each in run.of_type("ActivityTaskCompleted"):
        activity_id = scheduled[each["scheduledEventId"]]
        assert run.done[activity_id] == 1, f"{activity_id} is completed and was done {run.done[activity_id]} times"


def _effects_within_policy(run: Recorded) -> None:
    scheduled = {each["activityId"]: each["activityType"]["name"] for each in run.of_type("ActivityTaskScheduled")}
    attempts = Counter(activity_id.partition(".r")[0] for activity_id in scheduled)
    for activity_id, times in attempts.items():
        assert times <= POLICIES[scheduled[activity_id]], f"{activity_id} was tried {times} times"
    assert run.began.keys() <= scheduled.keys()
    more = {activity_id: times for activity_id, times in run.began.items() if times > 1}
    assert not more, f"attempts that ran more than once: {more}"


def judge_end(runs: list[Recorded], story: Story, argument: int) -> None:
    """The runs of one workflowId, one after the other, have come to what the story says."""
    last = runs[-1]
    assert [run.end for run in runs[:-1]] == ["CONTINUED_AS_NEW"] * (len(runs) - 1)
    assert last.end == story.status, attributes(last.events[-1])
    if story.result is not None:
        result = json.loads(attributes(last.events[-1])["result"])
        assert result == story.result(argument)


def judged(runs: Iterable[Recorded], started: dict[str, tuple[Story, int]]) -> list[str]:
    """What is wrong with all that was recorded, in words."""
    found: list[str] = []
    by_id: dict[str, list[Recorded]] = {}
    for run in runs:
        by_id.setdefault(run.workflow_id, []).append(run)
        found += _wrong(f"{run.workflow_id} {run.run_id}", judge, run)
    for workflow_id, (story, argument) in started.items():
        found += _wrong(f"{workflow_id} {story.workflow.name}", judge_end, by_id[workflow_id], story, argument)
    return found


def _wrong(what: str, judge_it: Callable[..., None], *given: Any) -> list[str]:
    try:
        judge_it(*given)
    except Exception as error:
        return [f"{what}: {type(error).__name__}: {error}"]
    return []


def complaints(logs: Iterable[Path]) -> Iterator[str]:
    """What workers told of that should not have happened."""
    for log in logs:
        lines = log.read_text(errors="replace").splitlines()
        for at, line in enumerate(lines):
            if TROUBLE.search(line) and not EXPECTED.search(line):
                yield f"{log.name}: " + "\n    ".join(lines[at : at + 25])
