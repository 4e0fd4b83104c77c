"""Reads the cases and turns what a replay did into the form of ``*.expected.json``."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session
from attrs import frozen
from botocore.validate import ParamValidator

from flowpy.testing import replay

from .registry import workflow_of

HISTORIES = Path(__file__).parent / "histories"

NAMES = sorted(path.name.removesuffix(".expected.json") for path in HISTORIES.glob("*.expected.json"))

# Attributes of a ContinueAsNew decision that are compared under keys of their own.
_CONTINUED = ("input",)


@frozen
class Case:
    """One history and what must be decided on it."""

    name: str
    events: list[dict[str, Any]]
    expected: dict[str, Any]

    @property
    def path(self) -> Path:
        """The history file."""
        return HISTORIES / f"{self.name}.json"

    @property
    def workflow(self) -> Any:
        """The workflow that wrote the history."""
        return workflow_of(self.name)

    @property
    def episodes(self) -> list[dict[str, Any]]:
        """The expected episodes, in the form that ``told`` gives."""
        return [_episode(e) for e in self.expected["episodes"]]

    def until(self, event_id: int) -> list[dict[str, Any]]:
        """The events up to and including ``event_id``."""
        return self.events[:event_id]

    def cold(self, count: int) -> list[dict[str, Any]] | None:
        """The first ``count`` episodes as a decider sees them that is offered the last of these, or None.

        None means that the last one was decided by older code than the one shown.
        """
        raw = self.expected["episodes"][:count]
        if raw and raw[-1].get("older_code"):
            return None
        return [*(_episode(e) for e in raw[:-1]), {**_episode(raw[-1]), "open": True}] if raw else []

    def replay(self, source: Any = None, **options: Any) -> Any:
        """Replays ``source`` (default: the whole file) with the case's workflow and ids."""
        ids = {"workflow_id": self.expected["workflow_id"], "run_id": self.expected["run_id"]}
        return replay(self.workflow, self.path if source is None else source, **ids, **options)


@cache
def load(name: str) -> Case:
    """The case ``name``."""
    events = json.loads((HISTORIES / f"{name}.json").read_text(encoding="utf-8"))["events"]
    expected = json.loads((HISTORIES / f"{name}.expected.json").read_text(encoding="utf-8"))
    return Case(name, events, expected)


def told(replayed: Any) -> list[dict[str, Any]]:
    """What a replay did, episode by episode, in the form of ``Case.episodes``."""
    return [
        {
            "started_event_id": e.started_event_id,
            "handles": list(e.handles),
            "decisions": [reduced(d) for d in e.decisions],
            "open": bool(e.open),
        }
        for e in replayed.episodes
    ]


def matches(actual: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Asserts that episodes are equal; a close is compared in the keys the case fixes."""
    assert _without_free_keys(actual, expected) == expected


def reduced(decision: dict[str, Any]) -> dict[str, Any]:
    """A boto3 Decision dict in the reduced form of the cases; checked against SWF's own service model."""
    validated(decision)
    kind = decision["decisionType"]
    return {"decisionType": kind, **_REDUCERS[kind](_attributes(decision))}


def validated(decision: dict[str, Any]) -> None:
    """Asserts that botocore would send this decision."""
    report = ParamValidator().validate({"taskToken": "t", "decisions": [decision]}, _answer_shape())
    assert not report.has_errors(), report.generate_report()
    assert [k for k in decision if k != "decisionType"] == [_attributes_key(decision["decisionType"])]


def pages(events: list[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """The events as GetWorkflowExecutionHistory or PollForDecisionTask gives them in pages of ``size``."""
    chunks = [events[i : i + size] for i in range(0, len(events), size)]
    last = len(chunks) - 1
    return [{"events": c} if i == last else {"events": c, "nextPageToken": f"token-{i}"} for i, c in enumerate(chunks)]


@cache
def _answer_shape() -> Any:
    model = botocore.session.get_session().get_service_model("swf")
    return model.operation_model("RespondDecisionTaskCompleted").input_shape


def _episode(raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "started_event_id": raw["started_event_id"],
        "handles": raw["handles"],
        "decisions": [_expected(d) for d in raw["decisions"]],
        "open": raw.get("open", False),
    }


def _expected(decision: dict[str, Any]) -> dict[str, Any]:
    return {**decision, "input": _arguments(decision["input"])} if "input" in decision else decision


def _arguments(value: Any) -> Any:
    """An input with an empty ``kwargs`` is the same as one without."""
    if isinstance(value, dict) and value.get("kwargs") == {}:
        value = {k: v for k, v in value.items() if k != "kwargs"}
    return value


def _without_free_keys(actual: list[dict[str, Any]], expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    result = []
    for i, episode in enumerate(actual):
        wanted = expected[i]["decisions"] if i < len(expected) else []
        result.append({**episode, "decisions": [_fixed(d, wanted, n) for n, d in enumerate(episode["decisions"])]})
    return result


def _fixed(decision: dict[str, Any], wanted: list[dict[str, Any]], n: int) -> dict[str, Any]:
    """Without the keys that a case leaves open: the reason of a failure, the options of a continued run."""
    free = {"reason", "result", "options"} - set(wanted[n] if n < len(wanted) else ())
    return {k: v for k, v in decision.items() if k not in free}


def _attributes_key(kind: str) -> str:
    return f"{kind[0].lower()}{kind[1:]}DecisionAttributes"


def _attributes(decision: dict[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = decision[_attributes_key(decision["decisionType"])]
    return attributes


def _json(text: str | None) -> Any:
    return json.loads(text) if text else None


_REDUCERS: dict[str, Any] = {
    "ScheduleActivityTask": lambda a: {"id": a["activityId"], "name": a["activityType"]["name"]},
    "RequestCancelActivityTask": lambda a: {"id": a["activityId"]},
    "StartTimer": lambda a: {"id": a["timerId"], "seconds": a["startToFireTimeout"]},
    "CancelTimer": lambda a: {"id": a["timerId"]},
    "StartChildWorkflowExecution": lambda a: {"id": a["workflowId"], "name": a["workflowType"]["name"]},
    "SignalExternalWorkflowExecution": lambda a: {
        "id": a["control"],
        "name": a["signalName"],
        "workflowId": a["workflowId"],
    },
    "RequestCancelExternalWorkflowExecution": lambda a: {"id": a["control"], "workflowId": a["workflowId"]},
    "ScheduleLambdaFunction": lambda a: {"id": a["id"], "name": a["name"]},
    "RecordMarker": lambda a: {"id": _json(a["details"])["id"], "name": a["markerName"]},
    "CompleteWorkflowExecution": lambda a: {"result": _json(a.get("result"))},
    "FailWorkflowExecution": lambda a: {"reason": a.get("reason")},
    "CancelWorkflowExecution": lambda a: {},
    "ContinueAsNewWorkflowExecution": lambda a: {
        "input": _arguments(_json(a.get("input"))),
        "options": {k: v for k, v in a.items() if k not in _CONTINUED},
    },
}
