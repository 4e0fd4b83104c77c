from __future__ import annotations

import pytest

from flowpy import errors
from flowpy.declare import activity, workflow
from flowpy.service.faults import fault
from flowpy.service.retrying import Backoff
from flowpy.worker.registration import Registrar

from .twin import greet, order


def registrar(twin, pauses=None, **options):
    pauses = [] if pauses is None else pauses

    def pause(seconds):
        pauses.append(seconds)
        return len(pauses) > 50

    return Registrar(twin, "shop", "main", pause, Backoff(random=lambda: 1.0), **options)


def described(twin, kind, name):
    request = {"domain": "shop", f"{kind.lower()}Type": {"name": name, "version": "1.0"}}
    return twin.engine.call(f"Describe{kind}Type", request)["configuration"]


def test_types_are_registered_with_their_defaults_and_the_workers_task_list(twin):
    registrar(twin).register([order], [greet])
    assert described(twin, "Workflow", "order") == {
        "defaultTaskList": {"name": "main"},
        "defaultTaskStartToCloseTimeout": "30",
        "defaultExecutionStartToCloseTimeout": "31536000",
        "defaultChildPolicy": "TERMINATE",
    }
    assert described(twin, "Activity", "greet") == {
        "defaultTaskList": {"name": "main"},
        "defaultTaskHeartbeatTimeout": "60",
        "defaultTaskScheduleToCloseTimeout": "NONE",
        "defaultTaskScheduleToStartTimeout": "NONE",
        "defaultTaskStartToCloseTimeout": "NONE",
    }


def test_a_declared_task_list_wins(twin):
    @activity(name="render", task_list="gpu")
    def render() -> None: ...

    registrar(twin).register([], [render])
    assert described(twin, "Activity", "render")["defaultTaskList"] == {"name": "gpu"}


def test_registering_again_is_silent(twin, caplog):
    registrar(twin).register([order], [greet])
    registrar(twin).register([order], [greet])
    assert caplog.records == []


def test_changed_defaults_are_one_warning_that_names_each(twin, caplog):
    registrar(twin).register([order], [])

    @workflow(name="order", task_start_to_close_timeout=60, child_policy="ABANDON")
    async def changed(order_id: str) -> str:
        return order_id

    Registrar(twin, "shop", "other", lambda _: False).register([changed], [])
    (record,) = caplog.records
    text = record.getMessage()
    assert record.levelname == "WARNING"
    assert "defaultTaskStartToCloseTimeout is '30' there and '60' here" in text
    assert "defaultChildPolicy is 'TERMINATE' there and 'ABANDON' here" in text
    assert "defaultTaskList is 'main' there and 'other' here" in text
    assert "defaultExecutionStartToCloseTimeout" not in text


def test_a_default_that_swf_lacks_is_named(twin, caplog):
    twin.engine.call("RegisterActivityType", {"domain": "shop", "name": "greet", "version": "1.0"})
    registrar(twin).register([], [greet])
    assert "defaultTaskHeartbeatTimeout is unset there and '60' here" in caplog.text


def test_a_deprecated_type_is_told(twin, caplog):
    registrar(twin).register([order], [])
    type_ = {"domain": "shop", "workflowType": {"name": "order", "version": "1.0"}}
    twin.engine.call("DeprecateWorkflowType", type_)
    registrar(twin).register([order], [])
    assert "deprecated" in caplog.text


def test_throttled_registrations_wait_and_go_on(twin):
    throttled = [fault("ThrottlingException", "Rate exceeded", "RegisterActivityType") for _ in range(3)]
    twin.fail("RegisterActivityType", *throttled)
    pauses = []
    registrar(twin, pauses).register([order], [greet])
    assert pauses == [0.25, 0.5, 1.0]
    assert described(twin, "Activity", "greet")


def test_a_service_that_nobody_runs_is_told_at_once_and_with_its_address(twin, caplog):
    def refused():
        message = 'Could not connect to the endpoint URL: "http://127.0.0.1:9/"'
        return errors.ServiceUnavailable(message, operation="RegisterActivityType", fault="EndpointConnectionError")

    twin.fail("RegisterActivityType", refused(), refused())
    with caplog.at_level("INFO", "flowpy.worker"):
        registrar(twin).register([], [greet])
    first, second = caplog.records
    assert (first.levelname, second.levelname) == ("WARNING", "INFO")
    assert first.getMessage().startswith("not registered yet: greet, again in 0.2 s: ")
    assert "http://127.0.0.1:9/" in first.getMessage()


def test_twenty_types_each_throttled_once_are_all_registered(twin):
    def declare(number):
        @activity(name=f"step-{number}")
        def step() -> None: ...

        return step

    steps = [declare(number) for number in range(20)]
    call = twin.call
    seen = set()

    def throttling(operation, request):
        if operation == "RegisterActivityType" and request["name"] not in seen:
            seen.add(request["name"])
            raise fault("ThrottlingException", "Rate exceeded", operation)
        return call(operation, request)

    twin.call = throttling
    registrar(twin).register([], steps)
    assert all(described(twin, "Activity", step.name) for step in steps)


def test_an_unknown_domain_says_how_to_get_it(twin):
    with pytest.raises(errors.UnknownResource, match=r"--register-domain DAYS.*register_domain=DAYS"):
        Registrar(twin, "nowhere", "main", lambda _: True).register([order], [])


def test_a_domain_is_registered_once(twin):
    made = Registrar(twin, "new", "main", lambda _: True)
    made.register_domain(3)
    made.register_domain(3)
    reply = twin.engine.call("DescribeDomain", {"name": "new"})
    assert reply["configuration"] == {"workflowExecutionRetentionPeriodInDays": "3"}
