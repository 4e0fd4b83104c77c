"""What the tables of the cases leave out: changed code, damaged histories, other forms of the same history."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import flowpy
from flowpy import activity, workflow
from flowpy.testing import replay

from .determinism_workflows import code_changed_two_timers_v2
from .harness import NAMES, Case, load, matches, reduced, told
from .versioning_workflows import imports, mirror

Events = list[dict[str, Any]]


def decisions(replayed: Any) -> list[list[dict[str, Any]]]:
    """The reduced decisions of each episode."""
    return [e["decisions"] for e in told(replayed)]


def renumbered(events: Events) -> Events:
    """The events with ids from 1 again, links kept as they are."""
    return [{**e, "eventId": i} for i, e in enumerate(events, 1)]


# --- changed code ---------------------------------------------------------------------------


def test_removed_timer_is_named_with_its_event() -> None:
    case = load("code_changed_two_timers")
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        replay(code_changed_two_timers_v2(), case.path, workflow_id="tt-1")
    assert re.search(r"\b6\b", str(caught.value))
    assert "timer-2" in str(caught.value)
    assert caught.value.divergence is not None


def test_removed_timer_is_named_when_the_run_is_still_in_its_first_answered_decision() -> None:
    case = load("code_changed_two_timers")
    with pytest.raises(flowpy.NonDeterminismError, match="timer-2"):
        replay(code_changed_two_timers_v2(), case.until(6), workflow_id="tt-1")


def order(*, first: str = "reserve", then: str = "charge", last: str = "ship", version: str = "1.0") -> Any:
    """``order`` of two_activities_then_signal, with other activities in the places of its three."""
    made = {n: activity(name=n, version=version)(_one_argument) for n in {first, then, last}}

    @workflow(name="order")
    async def order(order_id: str) -> list:
        a, b = made[first]("sku-9" if first == "reserve" else order_id), made[then](order_id)
        await a, await b
        await made[last](order_id)
        return []

    return order


def _one_argument(value: str) -> str: ...


@pytest.mark.parametrize(
    ("code", "names"),
    [
        (lambda: order(last="deliver"), ["ship-1", "deliver"]),
        (lambda: order(first="hold"), ["reserve-1", "hold"]),
        (lambda: order(version="2.0"), ["1.0", "2.0"]),
    ],
    ids=["renamed at the end", "renamed at the start", "other version"],
)
def test_another_type_is_a_divergence_that_names_both(code: Callable[[], Any], names: list[str]) -> None:
    case = load("two_activities_then_signal")
    with pytest.raises(flowpy.NonDeterminismError) as caught:
        replay(code(), case.path, workflow_id="o-1")
    for name in names:
        assert name in str(caught.value)


def test_order_of_the_calls_in_one_batch_does_not_count() -> None:
    case = load("two_activities_then_signal")
    swapped = told(replay(order(first="charge", then="reserve"), case.until(16), workflow_id="o-1"))
    assert [d["id"] for d in swapped[0]["decisions"]] == ["charge-1", "reserve-1"]
    assert [d["id"] for d in swapped[2]["decisions"]] == ["ship-1"]


# --- patches --------------------------------------------------------------------------------


def test_patch_check_removed_and_the_patched_way_kept() -> None:
    case = load("patch_absent_then_present")
    replayed = replay(imports(check=False, call=True), case.path, workflow_id="imp-2")
    assert [d for d in decisions(replayed) if d and d[0]["decisionType"] != "RecordMarker"][-2:] == [
        [{"decisionType": "ScheduleActivityTask", "id": "totals-1", "name": "totals"}],
        [{"decisionType": "CompleteWorkflowExecution", "result": 18}],
    ]


def test_patch_check_removed_and_the_old_way_kept() -> None:
    """The code completes where the recorded run waited; the patch nobody asks for is named beside it."""
    case = load("patch_absent_then_present")
    with pytest.raises(flowpy.NonDeterminismError, match="totals"):
        replay(imports(check=False, call=False), case.path, workflow_id="imp-2")


def test_patch_answers_true_in_the_decision_being_made() -> None:
    case = load("patch_absent_then_present")
    first = told(case.replay(case.until(3)))[0]["decisions"]
    assert [(d["decisionType"], d["id"]) for d in first] == [
        ("RecordMarker", "bulk"),
        ("ScheduleActivityTask", "load_bulk-1"),
    ]


# --- retry policies -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "policy",
    [
        {"attempts": 3, "initial": 2, "coefficient": 2, "jitter": 0},
        {"attempts": 1},
        {"initial": "1h", "jitter": 0.5},
    ],
    ids=["the old one", "no retry", "for ever"],
)
def test_recorded_policy_wins_whatever_the_code_says_now(policy: dict[str, Any]) -> None:
    case = load("retry_policy_edited")
    matches(told(replay(mirror(**policy), case.path, workflow_id="mirror-a")), case.episodes)


def test_next_attempt_carries_the_policy_of_the_code_and_the_time_of_the_first() -> None:
    case = load("retry_policy_edited")
    (decision,) = case.replay(case.until(25)).episodes[-1].decisions
    policy = json.loads(decision["scheduleActivityTaskDecisionAttributes"]["control"])["retry"]
    assert (policy["attempts"], policy["initial"], policy["coefficient"], policy["first"]) == (5, 10, 3, 1735732801)


# --- damaged histories ----------------------------------------------------------------------


def test_history_without_event_5_is_refused_by_name() -> None:
    case = load("two_activities_then_signal")
    without = [e for e in case.events if e["eventId"] != 5]
    with pytest.raises((flowpy.HistoryError, flowpy.NonDeterminismError), match=r"\b5\b"):
        case.replay(without)


def test_history_without_event_5_and_numbered_anew_is_refused_by_name() -> None:
    """What 8 and 12 refer to is now another event."""
    case = load("two_activities_then_signal")
    damaged = renumbered([e for e in case.events if e["eventId"] != 5])
    with pytest.raises((flowpy.HistoryError, flowpy.NonDeterminismError), match=r"event \d+|\(\d+\)"):
        case.replay(damaged)


def test_history_that_begins_on_page_two_is_refused() -> None:
    case = load("two_activities_then_signal")
    with pytest.raises(flowpy.HistoryError):
        case.replay(case.events[7:])


# --- other forms of the same history --------------------------------------------------------


def instant(stamp: Any) -> datetime:
    """A timestamp of the case files as an aware datetime."""
    return datetime.fromisoformat(stamp) if isinstance(stamp, str) else datetime.fromtimestamp(stamp, UTC)


FORMS: dict[str, Callable[[datetime], Any]] = {
    "epoch": lambda t: t.timestamp(),
    "iso": lambda t: t.isoformat(timespec="milliseconds"),
    "iso Z": lambda t: t.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "iso with an offset": lambda t: t.astimezone(timezone(timedelta(hours=-7))).isoformat(),
    "datetime": lambda t: t,
    "milliseconds": lambda t: int(t.timestamp() * 1000),
}


def with_timestamps(case: Case, form: str) -> Events:
    return [{**e, "eventTimestamp": FORMS[form](instant(e["eventTimestamp"]))} for e in case.events]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_timestamps_of_every_form_replay_alike(name: str, form: str) -> None:
    case = load(name)
    matches(told(case.replay(with_timestamps(case, form))), case.episodes)


def test_source_may_be_a_path_a_text_an_answer_or_a_list_and_is_left_as_it_was() -> None:
    case = load("two_activities_then_signal")
    before = copy.deepcopy(case.events)
    for source in (case.path, str(case.path), {"events": case.events}, case.events, list(reversed(case.events))):
        matches(told(case.replay(source)), case.episodes)
    assert case.events == before


def test_types_are_found_in_a_list_of_workflows() -> None:
    case = load("two_activities_then_signal")
    other = load("decision_timeout_retried").workflow
    matches(told(replay([other, case.workflow], case.path, workflow_id="o-1")), case.episodes)


def test_unknown_type_is_named() -> None:
    case = load("two_activities_then_signal")
    with pytest.raises(flowpy.UnknownWorkflowType, match="order"):
        replay([load("decision_timeout_retried").workflow], case.path, workflow_id="o-1")


def test_ids_of_children_come_from_the_run_id() -> None:
    case = load("child_cancel_before_started")
    ids = {reduced(d)["id"] for run in ("r-1", "r-2") for d in first_decisions(case, run)}
    assert len(ids) == 2


def first_decisions(case: Case, run_id: str) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = (
        replay(case.workflow, case.until(3), workflow_id="o-11", run_id=run_id).episodes[0].decisions
    )
    return made
