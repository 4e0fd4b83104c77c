"""Whatever code does and whatever the service does meanwhile: runs end, and replays decide what was decided."""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowpy.history.episodes import HOLD_PREFIX
from flowpy.runtime.replaying import replay_history

from . import interpreter, seeded
from .corpus import played, untraced
from .programs import PLAIN_PROGRAMS, PROGRAMS
from .shop import WORKFLOWS, Kept, marker_lost

ACTIONS = (
    *("poll", "respond", "take", "complete") * 3,
    *("lose", "hold", "garble", "fail", "cancel", "finish_lambda", "signal", "request_cancel", "terminate"),
    *("pass_time", "fall_due", "hold_effects", "run_effect", "settle", "refuse"),
    *("signal", "fail", "run_effect", "fall_due"),
)
STEPS = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 14)), max_size=60)

CLASHES = {"ACTIVITY_ID_ALREADY_IN_USE", "TIMER_ID_ALREADY_IN_USE", "ID_ALREADY_IN_USE", "WORKFLOW_ALREADY_RUNNING"}
UNKNOWN = {"ACTIVITY_ID_UNKNOWN", "TIMER_ID_UNKNOWN"}
IDS = {
    "ActivityTaskScheduled": "activityId",
    "TimerStarted": "timerId",
    "StartChildWorkflowExecutionInitiated": "workflowId",
    "LambdaFunctionScheduled": "id",
    "SignalExternalWorkflowExecutionInitiated": "control",
    "RequestCancelExternalWorkflowExecutionInitiated": "control",
}


@given(program=PROGRAMS, steps=STEPS, between=st.booleans())
def test_any_program_with_any_service(program: list[Any], steps: list[Any], between: bool) -> None:
    shop = played(program, steps, between=between, workflow=interpreter.walk)
    for run, kept in shop.histories():
        check_run(run, kept, steps)


@given(seed=st.integers(0, 2**32), between=st.booleans())
def test_large_programs_with_long_stories(seed: int, between: bool) -> None:
    rng = random.Random(seed)
    program, steps = seeded.program(rng), seeded.story(rng)
    shop = played(program, steps, between=between, workflow=interpreter.walk)
    for run, kept in shop.histories():
        check_run(run, kept, steps)


@given(program=PLAIN_PROGRAMS, steps=STEPS)
def test_plain_and_async_code_decide_alike(program: list[Any], steps: list[Any]) -> None:
    check_alike(program, steps)


@given(seed=st.integers(0, 2**32))
def test_large_plain_programs_decide_as_async_ones(seed: int) -> None:
    rng = random.Random(seed)
    check_alike(seeded.program(rng, plain=True), seeded.story(rng))


def check_alike(program: list[Any], steps: list[Any]) -> None:
    shop = played(program, steps, between=False, workflow=interpreter.walk_plain)
    for run, kept in shop.histories():
        check_run(run, kept, steps)
        if run.workflow_id == "main" and not marker_lost(run.events):
            as_async = replay_history(interpreter.walk, run.events, run.workflow_id, run.run_id).check()
            assert untraced(decisions_of(as_async)) == untraced(sent(kept))


# --- what holds for each run ----------------------------------------------------------------


def check_run(run: Any, kept: Kept, steps: list[Any]) -> None:
    check_ids(run.events, refused=any(name == "refuse" for name, _ in steps))
    check_closes(run.events, kept)
    if marker_lost(run.events):
        # What was to be recorded is lost, so no replay can see it again: the run fails.
        assert attributes_of(run.events[-1]).get("reason", "MarkerFailed").startswith("MarkerFailed")
    else:
        check_replays(run, kept)


def check_replays(run: Any, kept: Kept) -> None:
    workflow = WORKFLOWS.find(run.workflow_type["name"], run.workflow_type["version"])
    for warm in (False, True):
        trace: list[Any] = []
        interpreter.sink = trace
        interpreter.ran.clear()
        replay = replay_history(workflow, run.events, run.workflow_id, run.run_id, warm=warm).check()
        interpreter.sink = None
        if replay.episodes and replay.episodes[-1].open:
            # The run was terminated while it was decided.
            replay.episodes.pop()
        assert decisions_of(replay) == sent(kept), "a replay decides what was sent"
        assert not replay.warnings
        assert [e.handles for e in replay.episodes] == handled(run.events)
        last = kept.accepted[-1].trace if kept.accepted else []
        assert trace[: len(last)] == last, "a replay sees what the first run saw"
        assert not interpreter.ran, "a side effect runs once"


def decisions_of(replay: Any) -> list[list[dict[str, Any]]]:
    return [episode.decisions for episode in replay.episodes]


def sent(kept: Kept) -> list[list[dict[str, Any]]]:
    return [each.answer.decisions for each in kept.accepted]


def attributes_of(event: dict[str, Any]) -> dict[str, Any]:
    return next(value for name, value in event.items() if name.endswith("EventAttributes"))


def check_ids(events: list[dict[str, Any]], *, refused: bool) -> None:
    """Nothing is decided twice, and nothing that had ended when it was decided is cancelled."""
    seen: set[tuple[str, str]] = set()
    for event in events:
        attributes = attributes_of(event)
        cause = attributes.get("cause")
        if name := IDS.get(event["eventType"]):
            key = (event["eventType"], attributes[name])
            assert key not in seen, f"decided twice: {key}"
            seen.add(key)
        elif event["eventType"] == "MarkerRecorded":
            key = (attributes["markerName"], json.loads(attributes["details"])["id"])
            assert key not in seen, f"recorded twice: {key}"
            seen.add(key)
        elif cause in UNKNOWN:
            assert raced(events, event, attributes), f"cancelled what had ended: {event}"
        elif cause in CLASHES:
            assert refused
            assert event["eventType"] == "StartChildWorkflowExecutionFailed", event


def raced(events: list[dict[str, Any]], event: dict[str, Any], attributes: dict[str, Any]) -> bool:
    """Whether what a decision wanted to cancel ended while that was decided."""
    completed = events[attributes["decisionTaskCompletedEventId"] - 1]
    started = attributes_of(completed)["startedEventId"]
    for ended in events[started : completed["eventId"]]:
        about = attributes_of(ended)
        if ended["eventType"] == "TimerFired" and about["timerId"] == attributes.get("timerId"):
            return True
        if ended["eventType"].startswith("ActivityTask") and ended["eventType"] != "ActivityTaskStarted":
            scheduled = attributes_of(events[about["scheduledEventId"] - 1])
            if scheduled["activityId"] == attributes.get("activityId"):
                return True
    return False


CLOSES = tuple(f"{how}WorkflowExecution" for how in ("Complete", "Fail", "Cancel", "ContinueAsNew"))


def check_closes(events: list[dict[str, Any]], kept: Kept) -> None:
    """At most one close in an answer, the last decision of it; one that was refused is sent again (L7)."""
    for each in kept.accepted:
        kinds = [decision["decisionType"] for decision in each.answer.decisions]
        assert not any(kind in CLOSES for kind in kinds[:-1])
    closing = [bool(e.answer.decisions) and e.answer.decisions[-1]["decisionType"] in CLOSES for e in kept.accepted]
    ended = events[-1]["eventType"]
    if "decisionTaskCompletedEventId" in attributes_of(events[-1]):
        assert closing[-1], f"{ended} came from the last answer"


def handled(events: list[dict[str, Any]]) -> list[list[int]]:
    """Law L1, written once more and plainly: the ids that each accepted decision task handles, in order."""
    own: dict[int, list[int]] = {}
    accepted: list[tuple[int, int]] = []
    later = set()
    for event in events:
        attributes = attributes_of(event)
        if event["eventType"] == "DecisionTaskCompleted":
            accepted.append((attributes["startedEventId"], event["eventId"]))
        elif str(attributes.get("timerId")).startswith(HOLD_PREFIX):
            # A held decision task never happened: its events join the next.
            later.add(event["eventId"])
            accepted = [each for each in accepted if each[1] != attributes.get("decisionTaskCompletedEventId")]
            continue
        decided = attributes.get("decisionTaskCompletedEventId")
        if event["eventType"].startswith("DecisionTask"):
            later.add(event["eventId"])
        elif decided and not attributes.get("initiatedEventId"):
            own.setdefault(decided, []).append(event["eventId"])
            later.add(event["eventId"])
    episodes: list[list[int]] = []
    before = (0, 0)
    for started, completed in accepted:
        rest = [id for id in range(before[0] + 1, started) if id not in later]
        episodes.append([*own.get(before[1], []), *rest])
        before = (started, completed)
    return episodes
