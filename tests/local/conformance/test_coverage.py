"""The tables of this folder against the service's own model: a row that is missing is a failure."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest
from botocore.loaders import Loader

from flowpy.local.engine.recording import WAKES

from . import decisions, operations
from .events import EVENTS, VALUES
from .rules import RULES
from .test_pages import PAGED

MODEL = Loader().load_service_model("swf", "service-2")
SHAPES = MODEL["shapes"]
TESTS = Path(__file__).parents[1]

NEVER = {"OperationNotPermittedFault"}
"""Faults that only IAM causes."""

ELSEWHERE = {
    ("PollForDecisionTask", "LimitExceededFault"): "the server's: test_a_thousand_pollers_wait_at_once",
    ("PollForActivityTask", "LimitExceededFault"): "the server's: test_a_thousand_pollers_wait_at_once",
    ("ListTagsForResource", "LimitExceededFault"): "no limit is published",
    ("TagResource", "LimitExceededFault"): "no limit is published but that of tags, which has its own fault",
    ("UntagResource", "LimitExceededFault"): "no limit is published",
}
"""Faults that no case here has, and why."""

NOT_PERMITTED = "OPERATION_NOT_PERMITTED"
"""The cause that only IAM has; RecordMarker has no other, so there it has a case."""


def attributes_of(event_type: str) -> dict:
    return SHAPES[f"{event_type}EventAttributes"]


def test_every_operation_has_a_good_request():
    assert set(operations.SUCCESSES) == set(MODEL["operations"])


def test_every_fault_of_every_operation_has_a_case():
    listed = {
        (name, error["shape"]) for name, operation in MODEL["operations"].items() for error in operation["errors"]
    }
    cases = {(operation, fault) for operation, fault, _ in operations.FAULTS}
    assert {each for each in listed if each[1] not in NEVER} - cases == set(ELSEWHERE)
    beyond = {fault for operation, fault in cases - listed if fault != "ValidationException"}
    assert beyond <= {"UnknownResourceFault", "DomainDeprecatedFault"}, "what the model does not list is stated"


def test_every_answer_s_members_are_those_of_the_model():
    for operation, success in operations.SUCCESSES.items():
        output = MODEL["operations"][operation].get("output")
        members = SHAPES[output["shape"]] if output else {"members": {}}
        assert success.answers >= set(members.get("required", ())), operation
        assert success.answers <= set(members["members"]), operation


def test_every_list_is_paged():
    paginators = Loader().load_service_model("swf", "paginators-1")["pagination"]
    assert {operation: paged.key for operation, paged in PAGED.items()} == {
        operation: paginator["result_key"] for operation, paginator in paginators.items()
    }


def test_every_decision_has_a_success():
    assert set(decisions.SUCCESSES) == set(SHAPES["DecisionType"]["enum"])


def test_every_cause_has_a_case():
    causes = {
        (decision_type, cause)
        for decision_type in SHAPES["DecisionType"]["enum"]
        for cause in SHAPES[attributes_of(f"{decision_type}Failed")["members"]["cause"]["shape"]]["enum"]
    }
    excepted = {each for each in causes if each[1] == NOT_PERMITTED and each[0] != "RecordMarker"}
    assert set(decisions.FAILURES) == causes - excepted


def test_every_event_has_a_row_with_every_attribute():
    assert set(EVENTS) == set(SHAPES["EventType"]["enum"])
    assert len(EVENTS) == 54
    for event_type, row in EVENTS.items():
        assert set(row.full) == set(attributes_of(event_type)["members"]), event_type
        assert not row.optional & set(attributes_of(event_type).get("required", ())), event_type


def test_every_value_of_every_enumeration_is_seen():
    wanted = {
        (event_type, name, value)
        for event_type in EVENTS
        for name, member in attributes_of(event_type)["members"].items()
        if name in ("cause", "timeoutType")
        for value in SHAPES[member["shape"]]["enum"]
    }
    rows = {
        (event_type, name, row.full[name])
        for event_type, row in EVENTS.items()
        for name in ("cause", "timeoutType")
        if name in row.full
    }
    failed = {(f"{decision_type}Failed", "cause", cause) for decision_type, cause in decisions.FAILURES}
    missing = wanted - rows - failed - set(VALUES)
    assert {value for _, _, value in missing} == {NOT_PERMITTED}


def test_the_engine_wakes_for_the_events_of_the_table():
    assert {event_type for event_type, row in EVENTS.items() if row.wakes == "Y"} == set(WAKES)
    assert Counter(row.wakes for row in EVENTS.values()) == {"Y": 31, "N": 14, "close": 6, "pending": 3}


# --- rules ----------------------------------------------------------------------------------


def cases_of(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return [node for node in found if node.name.startswith("test_")]


@pytest.fixture(scope="module")
def written():
    return [test for path in sorted(TESTS.rglob("test_*.py")) for test in cases_of(path)]


def test_every_rule_has_a_test(written):
    names = {test.name for test in written}
    named = {(section, rule): test for section, rules in RULES.items() for rule, test in rules.items()}
    assert {rule: test for rule, test in named.items() if test not in names} == {}
    sections = {section.split()[0] for section in RULES}
    assert sections >= {f"4.{number}" for number in range(1, 17)} | {"5"}
    choices = {rule.split(",")[0] for rule in RULES["9 choices"]}
    assert choices == {f"U{number}" for number in range(1, 18)}


def test_choices_that_are_rows_are_there():
    rows = {what.split(":")[0] for _, _, what in operations.FAULTS if what.startswith("U")}
    in_rows = {choice for choice, test in RULES["9 choices"].items() if test == "test_it_refuses"}
    assert rows == in_rows


def test_no_case_is_a_copy():
    """Of another case: what two tests do alike belongs into a table."""
    folder = Path(inspect.getfile(operations)).parent
    cases = [case for path in sorted(folder.glob("test_*.py")) for case in cases_of(path)]
    bodies = Counter("\n".join(ast.unparse(statement) for statement in case.body) for case in cases)
    assert [body for body, times in bodies.items() if times > 1] == []
    assert [name for name, times in Counter(case.name for case in cases).items() if times > 1] == []
