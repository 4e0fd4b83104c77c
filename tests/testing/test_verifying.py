"""``Replayer.verify``: which executions of a domain the code here would not go on with; nothing is written."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import pytest

from flowpy import Client, Signal, activity, workflow
from flowpy.errors import CallError, DeclarationError, Throttled, UnknownResource
from flowpy.testing import HistoryBuilder, Replayer, Selection, Verified
from flowpy.testing.service import ReadingService

NOON = dt.datetime(2025, 1, 1, 12, tzinfo=dt.UTC)


@activity
def charge(order_id: str) -> str: ...


@activity
def ship(order_id: str) -> str: ...


@workflow
async def order(order_id: str) -> str:
    await charge(order_id)
    await Signal("go").receive()
    return order_id


@workflow(name="order")
async def changed_order(order_id: str) -> str:
    await charge(f"{order_id}!")
    await ship(order_id)
    return order_id


def open_order(order_id: str = "o-7", **ids: str) -> HistoryBuilder:
    history = HistoryBuilder(order, order_id, **ids)
    history.schedule(charge, order_id).complete("r-1")
    history.decide()
    return history


def closed_order(**ids: str) -> HistoryBuilder:
    history = open_order(**ids)
    history.signal("go")
    history.complete("o-7")
    return history


class Domain:
    """A service double: holds runs, gives them out in pages, refuses every operation that writes."""

    def __init__(self, *runs: HistoryBuilder, page: int = 2) -> None:
        self.runs = list(runs)
        self.page = page
        self.asked: list[str] = []
        self.pages_of_events = 5
        self.before: dict[str, Callable[[], None]] = {}

    def call(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(operation)
        if operation in self.before:
            self.before.pop(operation)()
        answers = {
            "ListOpenWorkflowExecutions": self.list_open,
            "ListClosedWorkflowExecutions": self.list_closed,
            "GetWorkflowExecutionHistory": self.get_history,
            "DescribeWorkflowExecution": self.describe,
        }
        assert operation in answers, f"{operation} writes"
        return answers[operation](request)

    def list_open(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._listed(request, open=True)

    def list_closed(self, request: dict[str, Any]) -> dict[str, Any]:
        return self._listed(request, open=False)

    def get_history(self, request: dict[str, Any]) -> dict[str, Any]:
        run = self._run(request["execution"])
        begin = int(request.get("nextPageToken", 0))
        events = run.history()
        end = begin + self.pages_of_events
        return {"events": events[begin:end], **({"nextPageToken": str(end)} if end < len(events) else {})}

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"executionInfo": _told(self._run(request["execution"]))}

    def _run(self, execution: dict[str, str]) -> HistoryBuilder:
        for run in self.runs:
            if (run.workflow_id, run.run_id) == (execution["workflowId"], execution["runId"]):
                return run
        raise UnknownResource("no such execution", operation="", fault="UnknownResourceFault")

    def _listed(self, request: dict[str, Any], *, open: bool) -> dict[str, Any]:
        told = [_told(run) for run in self.runs]
        wanted = request.get("typeFilter", {}).get("name")
        found = [
            each
            for each in told
            if (each["executionStatus"] == "OPEN") is open and wanted in (None, each["workflowType"]["name"])
        ]
        begin = int(request.get("nextPageToken", 0))
        end = begin + self.page
        return {"executionInfos": found[begin:end], **({"nextPageToken": str(end)} if end < len(found) else {})}


def _told(run: HistoryBuilder) -> dict[str, Any]:
    events = run.history()
    closed = any(name in events[-1]["eventType"] for name in ("Completed", "ContinuedAsNew", "Terminated"))
    closed = closed and events[-1]["eventType"].startswith("WorkflowExecution")
    return {
        "execution": {"workflowId": run.workflow_id, "runId": run.run_id},
        "workflowType": events[0]["workflowExecutionStartedEventAttributes"]["workflowType"],
        "executionStatus": "CLOSED" if closed else "OPEN",
        "startTimestamp": NOON,
    }


class Watch:
    """A clock that goes on only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def client_of(domain: Any, watch: Watch | None = None) -> Client:
    watch = watch or Watch()
    return Client("shop", domain, sleep=watch.sleep, clock=lambda: watch.now)


def test_code_that_goes_on_with_all_open_runs() -> None:
    domain = Domain(*(open_order(workflow_id=f"order-{n}", run_id=f"run-{n}") for n in range(5)))

    verification = Replayer([order]).verify(client_of(domain))

    assert verification.ok
    assert verification.counts == {("order", "1.0"): {"same": 5}}
    assert verification.findings == []
    assert set(domain.asked) == {"ListOpenWorkflowExecutions", "GetWorkflowExecutionHistory"}
    assert str(verification).splitlines() == [
        "workflow type  same",
        "order 1.0         5",
        "",
        "5 executions of domain 'shop': the code here goes on with all it knows",
    ]


def test_code_that_differs_is_told_with_the_run_and_the_place() -> None:
    verification = Replayer([changed_order]).verify(client_of(Domain(open_order(), closed_order(run_id="old"))))

    (finding,) = verification.findings
    assert not verification.ok
    assert (finding.outcome, finding.workflow_id, finding.run_id, finding.is_open) == (
        "differs",
        "workflow-1",
        "run-1",
        True,
    )
    assert finding.divergence is not None
    assert [one.id for one in finding.divergence.code] == ["ship-1"]
    assert [each.made for each in finding.differences] == ["o-7!"]
    text = str(verification)
    assert "differs: order 1.0, workflow 'workflow-1' run 'run-1'" in text
    assert "test_verifying.py" in text
    assert "1 execution of domain 'shop': the code here does NOT go on with all" in text
    plain = json.loads(json.dumps(verification.to_json()))
    assert plain["ok"] is False
    assert plain["types"] == [{"name": "order", "version": "1.0", "outcomes": {"differs": 1}}]
    assert plain["findings"][0]["divergence"]["code"][0]["id"] == "ship-1"


def test_closed_runs_are_sampled_when_asked_for() -> None:
    runs = [closed_order(workflow_id=f"order-{n}", run_id=f"run-{n}") for n in range(5)]
    domain = Domain(*runs, open_order(run_id="open"))

    verification = Replayer([order]).verify(client_of(domain), Selection(closed=3))

    assert verification.counts == {("order", "1.0"): {"same": 4}}


def test_open_runs_are_limited_lazily() -> None:
    domain = Domain(*(open_order(workflow_id=f"order-{n}", run_id=f"run-{n}") for n in range(9)))

    verification = Replayer([order]).verify(client_of(domain), Selection(open=2))

    assert verification.total() == 2
    assert domain.asked.count("ListOpenWorkflowExecutions") == 1


def test_the_selection_filters_by_type_tag_and_time() -> None:
    requests = []

    class Listening(Domain):
        def list_open(self, request: dict[str, Any]) -> dict[str, Any]:
            requests.append(request)
            return super().list_open(request)

    client = client_of(Listening())
    for selection in (Selection(workflow=order, since=NOON), Selection(tag="eu"), Selection(workflow_id="w")):
        Replayer([order]).verify(client, selection)
    Replayer([order]).verify(client, Selection(tag=["eu", "big"], workflow=("order", "1.0")))

    assert requests[0]["typeFilter"] == {"name": "order", "version": "1.0"}
    assert requests[0]["startTimeFilter"] == {"oldestDate": NOON}
    assert requests[1]["tagFilter"] == {"tag": "eu"}
    assert requests[2]["executionFilter"] == {"workflowId": "w"}
    assert requests[3]["tagFilter"] == {"tag": "eu"}  # the rest is applied here


def test_unknown_types_are_reported_and_unknown_versions_are_not_ok() -> None:
    other = HistoryBuilder("elsewhere", workflow_id="e")
    old = HistoryBuilder("order", version="0.9", run_id="old")
    verifying = Replayer([order])

    alone = verifying.verify(client_of(Domain(other)))
    both = verifying.verify(client_of(Domain(other, old)))

    assert alone.ok
    assert alone.counts == {("elsewhere", "1.0"): {"unknown type": 1}}
    assert not both.ok
    assert [each.outcome for each in both.findings] == ["unknown version"]
    assert "keep 0.9 declared" in both.findings[0].message


def test_a_run_that_ended_meanwhile_is_replayed_as_it_ended() -> None:
    run = open_order()
    domain = Domain(run)

    def ends() -> None:
        run.signal("go")
        run.complete("o-7")

    domain.before["GetWorkflowExecutionHistory"] = ends
    seen: list[Verified] = []
    verification = Replayer([order]).verify(client_of(domain), progress=seen.append)

    assert verification.ok
    assert [each.is_open for each in seen] == [False]


def test_a_run_that_continued_as_new_meanwhile_is_followed() -> None:
    run = HistoryBuilder("order", "o-7")
    following = open_order(run_id="run-1-2")
    domain = Domain(run)

    @workflow(name="order")
    async def continuing(order_id: str) -> str:
        if order_id == "o-7":
            import flowpy

            flowpy.continue_as_new("o-8")
        return await charge(order_id)

    def continues() -> None:
        run.continue_as_new("o-8")
        domain.runs.append(following)

    domain.before["GetWorkflowExecutionHistory"] = continues
    seen: list[Verified] = []
    Replayer([continuing]).verify(client_of(domain), progress=seen.append)

    assert [(each.run_id, each.is_open) for each in seen] == [("run-1", False), ("run-1-2", True)]


def test_a_run_that_vanished_is_gone() -> None:
    domain = Domain(open_order())
    domain.before["GetWorkflowExecutionHistory"] = domain.runs.clear

    verification = Replayer([order]).verify(client_of(domain))

    assert verification.ok
    assert [each.outcome for each in verification.findings] == ["gone"]


def test_a_history_that_was_cut_between_two_pages_is_read_again() -> None:
    run = HistoryBuilder(order, "o-7")
    run.decide()
    cut, whole = run.history(), open_order().history()
    answers = iter([cut, whole])

    class Growing(Domain):
        def get_history(self, request: dict[str, Any]) -> dict[str, Any]:
            return {"events": next(answers)}

    assert Replayer([order]).verify(client_of(Growing(open_order()))).ok


def test_a_history_that_cannot_be_read_is_an_error_and_stops_no_other() -> None:
    class Corrupt(Domain):
        def get_history(self, request: dict[str, Any]) -> dict[str, Any]:
            if request["execution"]["runId"] == "bad":
                return {"events": open_order().history()[1:]}
            return super().get_history(request)

    domain = Corrupt(open_order(run_id="bad"), open_order(run_id="good"))
    verification = Replayer([order]).verify(client_of(domain))

    assert verification.counts == {("order", "1.0"): {"error": 1, "same": 1}}
    assert not verification.ok
    assert "event 1 is missing" in verification.findings[0].message


def test_an_execution_listed_twice_is_replayed_once() -> None:
    run = closed_order()
    domain = Domain(run, run)

    assert Replayer([order]).verify(client_of(domain), Selection(closed=5)).total() == 1


def test_calls_are_spaced_out_and_throttling_is_waited_out() -> None:
    watch = Watch()
    throttled = iter([True, True, False])

    class Busy(Domain):
        def get_history(self, request: dict[str, Any]) -> dict[str, Any]:
            if next(throttled, False):
                raise Throttled("slow down", operation="", fault="ThrottlingException")
            return super().get_history(request)

    domain = Busy(*(open_order(workflow_id=f"order-{n}", run_id=f"run-{n}") for n in range(4)))
    verification = Replayer([order]).verify(client_of(domain, watch), calls_per_second=2)

    assert verification.ok
    # Two calls for each history of 9 events in pages of 5, two for the list.
    assert verification.calls == 10
    assert watch.now >= 9 / 2


def test_nothing_is_written() -> None:
    service = ReadingService(Domain(), 5, Watch().sleep, lambda: 0.0)

    for operation in ("SignalWorkflowExecution", "PollForDecisionTask", "RegisterDomain", "TagResource", "AnythingNew"):
        with pytest.raises(CallError, match="nothing is to be written"):
            service.call(operation, {})


def test_many_findings_are_counted_on_and_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flowpy.testing.verifying.KEPT", 2)
    domain = Domain(*(open_order(workflow_id=f"order-{n}", run_id=f"run-{n}") for n in range(5)))

    verification = Replayer([changed_order]).verify(client_of(domain))

    assert verification.total("differs") == 5
    assert (len(verification.findings), verification.omitted) == (2, 3)
    assert "\nand 3 more\n" in str(verification)


def test_recorded_histories_are_verified_without_a_service() -> None:
    seen: list[Verified] = []
    other = HistoryBuilder("parcel", workflow_id="p-1")
    sources = [open_order(workflow_id="o-7"), closed_order(workflow_id="o-8"), "no-such-file.json", other]

    good = Replayer([order]).verify_all(sources[:2])
    bad = Replayer([changed_order]).verify_all(sources, progress=seen.append)

    assert good.ok
    assert str(good).splitlines()[-1] == "2 recorded histories: the code here goes on with all it knows"
    assert [(one.workflow_id, one.outcome, one.is_open) for one in seen] == [
        ("o-7", "differs", True),
        ("o-8", "differs", False),
        ("", "error", True),
        ("p-1", "unknown type", True),
    ]
    assert (bad.ok, bad.total(), bad.domain) == (False, 4, "")
    assert "no-such-file.json: HistoryError: no-such-file.json: cannot be read" in str(bad)


@pytest.mark.parametrize("rate", [0, -1])
def test_a_rate_is_more_than_nothing(rate: float) -> None:
    with pytest.raises(DeclarationError, match=f"calls_per_second={rate} is no rate"):
        Replayer([changed_order]).verify(client_of(Domain()), calls_per_second=rate)


@pytest.mark.parametrize("counts", [{"open": -1}, {"closed": -5}])
def test_less_than_no_executions_are_not_looked_at(counts: dict[str, int]) -> None:
    with pytest.raises(DeclarationError, match="is no number of executions"):
        Selection(**counts)
