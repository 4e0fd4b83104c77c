"""Every operation answers as it should, and refuses what it should in SWF's words (swf-semantics §1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.loaders import Loader

from flowpy.errors import ServiceError
from flowpy.local.engine import Engine, Throttle

from .operations import FAULTS, SUCCESSES

SHAPES = Loader().load_service_model("swf", "service-2")["shapes"]
IDENTIFIERS = {"DomainName", "Name", "Version", "WorkflowId", "ActivityId", "TimerId", "FunctionId"}


@pytest.mark.parametrize("operation", SUCCESSES)
def test_it_answers(swf, operation):
    success = SUCCESSES[operation]
    request = success.arrange(swf)
    assert set(swf.call(operation, **request)) == success.answers


@pytest.mark.parametrize("operation", SUCCESSES)
def test_nulls_and_members_unheard_of_are_ignored(swf, operation):
    request = SUCCESSES[operation].arrange(swf)
    optional = set(SHAPES[f"{operation}Input"]["members"]) - set(request)
    swf.engine.call(operation, request | dict.fromkeys(optional) | {"unheard": "of"})


@pytest.mark.parametrize(("operation", "fault", "what"), FAULTS)
def test_it_refuses(swf, operation, fault, what):
    case = FAULTS[operation, fault, what]
    request = case.arrange(swf)
    before = state(swf)
    with pytest.raises(ServiceError) as caught:
        swf.engine.call(operation, request)

    assert (caught.value.fault, caught.value.operation) == (fault, operation)
    if case.message is not None:
        runs = [run.run_id for run in swf.engine.world.runs.values()]
        assert str(caught.value) in [case.message, *(case.message.replace("RUN", run_id) for run_id in runs)]
    assert state(swf) == before, "nothing has changed"


def state(swf) -> Any:
    world = swf.engine.world
    domains = [
        (domain.name, domain.deprecated, dict(domain.tags), sorted(domain.types)) for domain in world.domains.values()
    ]
    return domains, [list(run.events) for run in world.runs.values()]


@pytest.mark.parametrize("operation", SUCCESSES)
def test_it_is_throttled_when_asked_for(swf, operation):
    request = SUCCESSES[operation].arrange(swf)
    throttle = Throttle()
    swf.engine.world.throttle = Throttle(operations={operation: throttle.operations[operation]}, executions={})
    while swf.engine.world.throttle.admits(operation, None, swf.engine.clock.now()):
        pass
    with pytest.raises(ServiceError, match=r"^Rate exceeded$") as caught:
        swf.engine.call(operation, request)
    assert caught.value.fault == "ThrottlingException"


# --- the service's model --------------------------------------------------------------------


def walk(name: str, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str, bool]]:
    """Every member a request can have: its path, its shape, whether it is required."""
    shape = SHAPES[name]
    for member, inner in shape.get("members", {}).items():
        yield (*path, member), inner["shape"], member in shape.get("required", ())
        yield from walk(inner["shape"], (*path, member))
    if shape["type"] == "list":
        yield (*path, 0), shape["member"]["shape"], False
        yield from walk(shape["member"]["shape"], (*path, 0))


def put(request: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A request with another value somewhere; what leads there is made, None takes away what is there."""
    if not path:
        return value
    first, *rest = path
    if first == 0:
        items = request if isinstance(request, list) and request else [{}]
        return [put(items[0], tuple(rest), value), *items[1:]]
    changed = dict(request) if isinstance(request, dict) else {}
    changed[first] = put(changed.get(first, {}), tuple(rest), value)
    return changed


def shown(path: tuple[Any, ...]) -> str:
    return ".".join("1.member" if step == 0 else step for step in path)


def breaks(shape_name: str, required: bool) -> Iterator[tuple[Any, str]]:
    """Values a member must not have, and what SWF says of them."""
    shape = SHAPES[shape_name]
    what = "length" if shape["type"] == "string" else "value"
    if required:
        yield None, "Member must not be null"
    if shape["type"] == "string":
        if shape.get("min"):
            yield "", f"Member must have length greater than or equal to {shape['min']}"
        if "max" in shape:
            yield "1" * (shape["max"] + 1), f"Member must have length less than or equal to {shape['max']}"
        if "enum" in shape:
            yield "FOO", f"Member must satisfy enum value set: [{', '.join(shape['enum'])}]"
        if shape_name in IDENTIFIERS:
            for name in ("a:b", "a/b", "a|b", "arn", "a\x00", "a\x9f"):
                yield name, "Member must satisfy regular expression pattern: "
        if shape_name.startswith("DurationIn"):
            yield "soon", "Member must satisfy regular expression pattern: "
    elif shape["type"] == "integer" and "max" in shape:
        yield shape["max"] + 1, f"Member must have {what} less than or equal to {shape['max']}"
        yield -1, f"Member must have {what} greater than or equal to {shape['min']}"


WRONG = {"string": 1, "integer": "1", "boolean": "true", "structure": "{}", "list": {}, "timestamp": []}


@pytest.fixture
def quick(engine):
    """The engine by itself: requests that are refused need no checked answers."""
    return engine.call


@pytest.mark.parametrize("operation", SUCCESSES)
def test_it_holds_what_the_model_says(swf, quick, operation):
    good = SUCCESSES[operation].arrange(swf)
    tried = 0
    for path, shape_name, required in walk(f"{operation}Input"):
        for value, constraint in breaks(shape_name, required):
            with pytest.raises(ServiceError) as caught:
                quick(operation, put(good, path, value))
            printed = "null" if value is None else f"'{value}'"
            assert caught.value.fault == "ValidationException"
            assert f"Value {printed} at '{shown(path)}' failed to satisfy constraint: {constraint}" in str(caught.value)
            assert " validation error" in str(caught.value)
            tried += 1
    assert tried
    quick(operation, good)


@pytest.mark.parametrize("operation", SUCCESSES)
def test_it_takes_no_other_json_types(swf, quick, operation):
    good = SUCCESSES[operation].arrange(swf)
    for path, shape_name, _ in walk(f"{operation}Input"):
        with pytest.raises(ServiceError) as caught:
            quick(operation, put(good, path, WRONG[SHAPES[shape_name]["type"]]))
        assert caught.value.fault == "SerializationException"
    quick(operation, good)


def test_several_errors_are_told_at_once():
    with pytest.raises(ServiceError) as caught:
        Engine().call("RegisterDomain", {"name": "arn"})
    pattern = r"(?!\s)(?!arn$)[^:/|\u0000-\u001f\u007f-\u009f]*(?<!\s)"
    assert str(caught.value) == (
        "2 validation errors detected: "
        "Value null at 'workflowExecutionRetentionPeriodInDays' failed to satisfy constraint: Member must not be null; "
        f"Value 'arn' at 'name' failed to satisfy constraint: Member must satisfy regular expression pattern: {pattern}"
    )


# --- what the model does not say ------------------------------------------------------------

ENDLESS = {
    ("StartWorkflowExecution", "executionStartToCloseTimeout"): False,
    ("StartWorkflowExecution", "taskStartToCloseTimeout"): True,
    ("RegisterWorkflowType", "defaultExecutionStartToCloseTimeout"): False,
    ("RegisterWorkflowType", "defaultTaskStartToCloseTimeout"): True,
    ("RegisterActivityType", "defaultTaskStartToCloseTimeout"): True,
    ("RegisterActivityType", "defaultTaskHeartbeatTimeout"): True,
    ("RegisterActivityType", "defaultTaskScheduleToStartTimeout"): True,
    ("RegisterActivityType", "defaultTaskScheduleToCloseTimeout"): True,
    ("RegisterDomain", "workflowExecutionRetentionPeriodInDays"): True,
}


@pytest.mark.parametrize(("operation", "name"), ENDLESS)
def test_where_a_duration_may_be_none(swf, operation, name):
    request = SUCCESSES[operation].arrange(swf) | {name: "NONE"}
    if ENDLESS[operation, name]:
        swf.call(operation, **request)
    else:
        with pytest.raises(ServiceError, match=f"Value 'NONE' at '{name}' failed to satisfy constraint"):
            swf.call(operation, **request)


PRIORITIES = {"0": True, "-2147483648": True, "2147483647": True, "2147483648": False, "-2147483649": False, "x": False}


@pytest.mark.parametrize("priority", PRIORITIES)
def test_a_task_priority_is_a_32_bit_number(swf, priority):
    request = {"domain": "shop", "workflowId": "w", "workflowType": {"name": "order", "version": "1"}}
    if PRIORITIES[priority]:
        swf.call("StartWorkflowExecution", **request, taskPriority=priority)
    else:
        with pytest.raises(ServiceError, match="at 'taskPriority' failed to satisfy constraint"):
            swf.call("StartWorkflowExecution", **request, taskPriority=priority)


@pytest.mark.parametrize(
    ("operation", "member"),
    [
        ("RegisterDomain", "name"),
        ("PollForActivityTask", "taskList"),
    ],
)
@pytest.mark.parametrize("name", [" a", "a ", "\ta"])
def test_names_do_not_begin_or_end_with_blanks(swf, operation, member, name):
    request = SUCCESSES[operation].arrange(swf) | {member: {"name": name} if member == "taskList" else name}
    with pytest.raises(ServiceError) as caught:
        swf.call(operation, **request)
    assert caught.value.fault == "ValidationException"


@pytest.mark.parametrize("name", ["a:b", "a/b", "a|b", "arn", " a"])
def test_names_of_signals_and_markers_are_free(swf, make, name):
    swf.start()
    swf.call("SignalWorkflowExecution", domain="shop", workflowId="w", signalName=name)
    swf.decide(make("RecordMarker", markerName=name))
    assert swf.last("MarkerRecorded")["markerName"] == swf.last("WorkflowExecutionSignaled")["signalName"] == name


TAGS = {"a B9_.:/=+-@": True, "é": True, "a,b": False, "": False, "x" * 129: False}


@pytest.mark.parametrize("key", TAGS)
def test_what_tags_are_made_of(swf, key):
    request = {"resourceArn": "arn:aws:swf:us-east-1:123456789012:/domain/shop", "tags": [{"key": key}]}
    if TAGS[key]:
        swf.call("TagResource", **request)
    else:
        with pytest.raises(ServiceError) as caught:
            swf.call("TagResource", **request)
        assert caught.value.fault == "ValidationException"
