"""What is said when code and history differ: the whole report of every kind of change stands in ``reports.md``."""

from __future__ import annotations

import json
import linecache
import re
from pathlib import Path
from typing import Any, get_args

import pytest

import flowpy
from flowpy.replay import Difference, render
from flowpy.replay.divergence import Decided, Divergence, Guess, paired
from flowpy.replay.guessing import Evidence, guess
from flowpy.testing import replay

from .changes import RUN_ID, Example, diverged, examples, history_of, module

REPORTS = examples(Path(__file__).with_name("reports.md"))

BEFORE = """\
@workflow
async def order(order_id: str) -> str:
    await reserve(order_id)
    return await charge(order_id, 4200)
"""
AFTER = """\
@workflow
async def order(order_id: str) -> str:
    await reserve(order_id)
    return await audit(order_id)
"""


@pytest.mark.parametrize("example", REPORTS, ids=lambda example: example.title)
def test_the_report_of(example: Example) -> None:
    said, guessed = example.says()

    assert said == example.report
    assert guessed == example.notes.get("guess", "")


def test_every_kind_of_guess_has_a_report() -> None:
    assert {example.notes.get("guess") for example in REPORTS} - {None} == {*get_args(Guess)} - {"unknown"}


@pytest.mark.parametrize("example", REPORTS, ids=lambda example: example.title)
def test_reports_fit_in_a_hundred_columns(example: Example) -> None:
    if example.report.startswith("workflow "):
        assert max(map(len, example.report.splitlines())) <= 100


# --- as data --------------------------------------------------------------------------------


def test_a_divergence_is_data() -> None:
    error, divergence = diverged(BEFORE, AFTER)

    data = json.loads(json.dumps(divergence.to_json()))

    line = {"file": "shop.py", "line": 4, "function": "order"}
    assert data["code"] == [
        {
            "what": "ScheduleActivityTask(audit-1: audit 1.0)",
            "decision_type": "ScheduleActivityTask",
            "id": "audit-1",
            "name": "audit",
            "event_id": None,
            "line": line,
        }
    ]
    (recorded,) = data["history"]
    assert (recorded["event_id"], recorded["id"], recorded["line"]) == (11, "charge-1", None)
    assert [(one["event_id"], one["line"]["line"]) for one in data["matched"]] == [(5, 3)]
    assert (data["decision_task"], data["completed_event_id"], data["workflow"]) == (9, 10, ["order", "1.0"])
    assert (data["guess"], data["likely"] in str(error), data["ends_here"]) == ("renamed", True, False)


def test_a_divergence_holds_the_run() -> None:
    error, _ = diverged(BEFORE, AFTER)

    assert isinstance(error, flowpy.RunHeld)
    assert error.code == flowpy.NonDeterminismError.code


def test_differences_in_a_decision_task_that_diverges_are_part_of_the_report() -> None:
    _, divergence = diverged(
        BEFORE.replace("await reserve(order_id)", "reserve(order_id)"),
        BEFORE.replace("await reserve(order_id)", 'reserve("o-8"); audit(order_id)'),
    )

    assert [(one.what, one.recorded, one.made) for one in divergence.differences] == [
        ("argument 1 (order_id)", "o-7", "o-8")
    ]
    assert [one.id for one in divergence.code] == ["audit-1"]


def test_what_stands_in_one_place_is_side_by_side() -> None:
    def decided(kind: str, id: str) -> Decided:
        return Decided(f"{kind}({id})", kind, id, id)

    a, b, c = (decided("ScheduleActivityTask", id) for id in "abc")
    timer, other = decided("StartTimer", "b"), decided("StartTimer", "t")

    assert paired((a, b), (timer, c)) == [(a, c), (b, timer)]
    assert paired((a,), (other, c)) == [(None, other), (a, c)]
    assert paired((a, b), ()) == [(a, None), (b, None)]
    assert paired((), (a, b)) == [(None, a), (None, b)]


# --- as text --------------------------------------------------------------------------------


def test_colours_are_those_of_a_diff_and_change_no_word() -> None:
    error, divergence = diverged(BEFORE, AFTER)

    painted = render(divergence, colour=True)

    assert re.sub(r"\x1b\[\d+m", "", painted) == str(error)
    assert "\x1b[31m- event 11   ScheduleActivityTask(charge-1: charge 1.0)\x1b[0m" in painted
    assert "\x1b[32m+            ScheduleActivityTask(audit-1: audit 1.0)\x1b[0m" in painted


def test_a_hundred_lost_decisions_are_twenty_lines_and_a_count() -> None:
    code = BEFORE.replace("await reserve(order_id)", "await asyncio.gather(*[reserve(str(n)) for n in range({})])")

    error, divergence = diverged(code.format(90), code.format(30))

    assert len(divergence.history) == 60
    lines = str(error).splitlines()
    assert len([line for line in lines if line.startswith("- ")]) == 20
    assert "  and 40 more" in lines


def test_ids_of_any_length_fit() -> None:
    long = "x" * 200
    name = f'@activity(name="{long}")\ndef audit(order_id: str) -> str: ...\n\n'

    error, _ = diverged(BEFORE, name + AFTER)

    assert max(map(len, str(error).splitlines())) <= 100
    assert str(error).replace(" ", "").replace("\n", "").count(long) >= 2


def test_code_without_source_is_reported_without_its_text() -> None:
    events = history_of(BEFORE)
    names = module(AFTER, "gone.py")
    del linecache.cache["gone.py"]

    with pytest.raises(flowpy.NonDeterminismError) as caught:
        replay(names["order"], events, workflow_id="order-o-7", run_id=RUN_ID)

    assert "gone.py:4 in order" in str(caught.value)
    assert "charge was renamed to audit, or replaced by it" in str(caught.value)


def test_values_are_cut_where_they_get_long() -> None:
    said = str(Difference(7, "ScheduleActivityTask(a-1: a 1.0)", "argument 1 (text)", "x" * 5_000, None))

    assert len(said) < 250
    assert "is 'xxx" in said
    assert said.endswith("… in the history and None in the code")


def test_files_are_named_as_seen_from_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def place(names: dict[str, Any]) -> str:
        with pytest.raises(flowpy.NonDeterminismError) as caught:
            replay(names["order"], history_of(BEFORE), workflow_id="order-o-7", run_id=RUN_ID)
        (one,) = caught.value.divergence.code
        return str(one.line)

    monkeypatch.chdir(tmp_path)
    deep = "/srv/" + "very-long-folder/" * 8 + "orders/shop.py"

    assert place(module(AFTER, str(tmp_path / "flows" / "shop.py"))) == "flows/shop.py:4 in order"
    assert place(module(AFTER, deep)) == "…/orders/shop.py:4 in order"


# --- guesses --------------------------------------------------------------------------------


def in_a_row(calls: str) -> str:
    return "".join(f"    await {name}({number})\n" for name, number in zip(calls[::2], calls[1::2], strict=True))


def together(calls: str) -> str:
    made = ", ".join(f"{name}({number})" for name, number in zip(calls[::2], calls[1::2], strict=True))
    return f"    await asyncio.gather({made})\n"


@pytest.mark.parametrize("written", [in_a_row, together])
@pytest.mark.parametrize(
    ("guessed", "edits"),
    [
        ("inserted", ["z9a1b2c3d4", "a1z9b2c3d4", "a1b2z9c3d4", "a1b2c3z9d4", "a1b2c3d4z9"]),
        ("removed", ["b2c3d4", "a1c3d4", "a1b2d4", "a1b2c3"]),
        ("renamed", ["z1b2c3d4", "a1z2c3d4", "a1b2z3d4", "a1b2c3z4"]),
        ("reordered", ["b2a1c3d4", "a1c3b2d4", "a1b2d4c3"]),
    ],
)
def test_one_edit_is_guessed_wherever_it_is_made(written: Any, guessed: str, edits: list[str]) -> None:
    code = "".join(f"@activity\ndef {name}(x: int) -> str: ...\n\n" for name in "abcdz")
    code += "@workflow\nasync def order(order_id: str) -> str:\n"
    if (written, guessed) == (together, "reordered"):
        return  # no difference at all

    for edit in edits:
        before, after = (f"{code}{written(calls)}    return order_id\n" for calls in ("a1b2c3d4", edit))
        _, divergence = diverged(before, after)
        assert (edit, divergence.guess) == (edit, guessed)


@pytest.mark.parametrize(
    ("guessed", "edits"),
    [
        ("inserted", ["a9a1a2a3", "a1a9a2a3", "a1a2a9a3", "a1a2a3a9"]),
        ("removed", ["a2a3", "a1a3", "a1a2"]),
    ],
)
def test_one_edit_among_calls_of_one_name_is_guessed(guessed: str, edits: list[str]) -> None:
    code = "@activity\ndef a(x: int) -> str: ...\n\n@workflow\nasync def order(order_id: str) -> str:\n"

    for edit in edits:
        before, after = (f"{code}{together(calls)}    return order_id\n" for calls in ("a1a2a3", edit))
        _, divergence = diverged(before, after)
        assert (edit, divergence.guess) == (edit, guessed)


def test_cold_and_warm_runs_differ_in_the_same_place() -> None:
    events = history_of(BEFORE)
    found = []
    for warm in (False, True):
        with pytest.raises(flowpy.NonDeterminismError) as caught:
            replay(module(AFTER)["order"], events, workflow_id="order-o-7", run_id=RUN_ID, warm=warm)
        found.append(caught.value.divergence)

    assert found[0].history == found[1].history
    assert found[0].code == found[1].code
    assert found[0].completed_event_id == found[1].completed_event_id == 10


def test_a_guess_needs_neither_source_nor_other_evidence() -> None:
    timer = Decided("StartTimer(timer-2)", "StartTimer", "timer-2", "", 7)

    assert guess(Evidence((timer,), ()))[:2] == ("removed", "timer timer-2 (event 7) was removed")
    assert guess(Evidence((), ())).guess == "unknown"


def test_a_run_that_decides_nothing_says_where_it_waits() -> None:
    _, divergence = diverged(BEFORE, BEFORE.replace("await reserve(order_id)", 'await flowpy.Signal("go").receive()'))

    assert [(one.file, one.line, one.function) for one in divergence.waiting] == [("shop.py", 3, "order")]


def test_a_cancel_that_the_end_of_the_run_sets_off_has_no_line() -> None:
    """The runtime made it, below whose frames only the caller of the replay stands."""
    code = """\
@workflow
async def order(order_id: str) -> str:
    first = reserve(order_id)
    audit(order_id)
    await first
    {}
"""
    error, divergence = diverged(code.format("await ship(order_id)"), code.format('raise ValueError("no")'))

    assert [(one.id, one.line) for one in divergence.code] == [("audit-1", None)]
    assert "+            RequestCancelActivityTask(audit-1: audit 1.0)\n\n" in str(error)


def test_the_history_ends_with_the_batch_that_lacks_a_decision() -> None:
    _, whole = diverged(BEFORE, BEFORE.replace("await reserve", "audit(order_id); await reserve"))
    _, cut = diverged(BEFORE, BEFORE.replace("await reserve", "audit(order_id); await reserve"), decisions=1)

    assert (whole.ends_here, cut.ends_here) == (False, True)
    assert isinstance(cut, Divergence)
