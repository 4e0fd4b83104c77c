from __future__ import annotations

import asyncio
import functools
import inspect

import pytest

from flowpy.declare import NONE, Activity, Retry, activity, asynchronous, workflow
from flowpy.errors import DeclarationError, OutsideWorkflow


@activity
def charge(order_id: str, cents: int = 100) -> str:
    """Takes the money."""
    return f"{order_id}-{cents}"


@activity(version="2.0", start_to_close_timeout="5m", retry=Retry(attempts=5), on_cancel="wait", task_list="eu")
async def refund(order_id: str) -> str:
    return order_id


def test_an_activity_keeps_the_function_and_its_documentation():
    assert isinstance(charge, Activity)
    assert (charge.name, charge.version) == ("charge", "1.0")
    assert charge.fn("o", 1) == "o-1"
    assert charge.__doc__ == "Takes the money."
    assert charge.__module__ == __name__
    assert list(inspect.signature(charge).parameters) == ["order_id", "cents"]
    assert repr(charge) == "<activity charge 1.0>"
    assert not charge.is_async
    assert refund.is_async
    assert asyncio.run(refund.fn("o")) == "o"


def test_it_runs_on_a_thread_unless_it_asks_for_a_process():
    assert (charge.executor, refund.executor) == ("thread", "thread")
    assert activity(executor="process")(many_orders).options(task_list="cpu").executor == "process"


def test_calling_it_in_workflow_code_asks_the_run(run):
    assert charge("o", cents=5) is run.promise
    assert run.made == [("activity", charge, ("o",), {"cents": 5})]


def test_calling_it_elsewhere_names_the_plain_function():
    with pytest.raises(OutsideWorkflow, match=r"activity 'charge' was called outside .* call charge\.fn\(\.\.\.\)"):
        charge("o")


def test_without_options_only_the_heartbeat_is_set_and_the_rest_never_times_out():
    assert charge.registered.defaults("shop") == {
        "defaultTaskList": {"name": "shop"},
        "defaultTaskScheduleToStartTimeout": "NONE",
        "defaultTaskScheduleToCloseTimeout": "NONE",
        "defaultTaskStartToCloseTimeout": "NONE",
        "defaultTaskHeartbeatTimeout": "60",
    }
    assert charge.retry is None
    assert charge.on_cancel == "try"


@pytest.mark.parametrize("elsewhere", ["manual", "external"])
def test_what_no_worker_of_ours_completes_has_no_heartbeat(elsewhere):
    @activity(**{elsewhere: True})
    def sign(document: str) -> str: ...

    assert sign.registered.heartbeat_timeout == NONE
    assert getattr(sign, elsewhere)

    @activity(**{elsewhere: True}, heartbeat_timeout="1h")
    def sign_soon(document: str) -> str: ...

    assert sign_soon.registered.heartbeat_timeout == "3600"


def test_options_of_the_declaration_are_registered_and_not_sent_with_each_call():
    assert refund.registered.start_to_close_timeout == "300"
    assert refund.registered.defaults("shop")["defaultTaskList"] == {"name": "eu"}
    assert refund.overrides == {}
    assert refund.retry == Retry(attempts=5)
    assert refund.on_cancel == "wait"


def test_options_of_a_call_are_sent_and_add_up():
    eu = charge.options(task_list="eu", start_to_close_timeout="1h")
    both = eu.options(heartbeat_timeout="5m", start_to_close_timeout=60)
    assert eu.overrides == {"taskList": {"name": "eu"}, "startToCloseTimeout": "3600"}
    assert both.overrides == {"taskList": {"name": "eu"}, "startToCloseTimeout": "60", "heartbeatTimeout": "300"}
    assert both.settings.heartbeat_timeout == "300"
    assert both.registered == charge.registered
    assert charge.overrides == {}
    assert (both.name, both.version, both.fn) == (charge.name, charge.version, charge.fn)


def test_a_call_with_options_asks_the_run_with_them(run):
    other = charge.options(activity_id="charge-eu", retry=Retry(attempts=1), on_cancel="abandon")
    other("o")
    ((_, called, args, _),) = run.made
    assert args == ("o",)
    assert called.settings.activity_id == "charge-eu"
    assert called.retry == Retry(attempts=1)
    assert called.on_cancel == "abandon"
    assert called.overrides == {}


def test_an_unknown_option_of_a_call_names_call_and_option():
    with pytest.raises(DeclarationError, match=r"charge\.options: .*did you mean 'start_to_close_timeout'"):
        charge.options(startToCloseTimeout=90)


def test_two_versions_of_a_name_are_two_activities():
    new = activity(name="charge", version="2.0")(charge.fn)
    assert (new.name, new.version) == ("charge", "2.0")


def test_the_name_is_the_qualified_one_within_module_or_function():
    class Bank:
        @staticmethod
        @activity
        def transfer(cents: int) -> int:
            return cents

        @activity
        @staticmethod
        def pay(cents: int) -> int:
            return cents

    assert Bank.transfer.name.endswith("Bank.transfer")
    assert "<locals>" not in Bank.transfer.name
    assert Bank.transfer.fn(1) == Bank().pay.fn(1) == 1


def test_a_bound_method_and_a_partial_can_be_declared():
    class Bank:
        def pay(self, cents: int) -> int:
            return cents

    assert activity(Bank().pay).fn(5) == 5
    assert [p.name for p in activity(Bank().pay).signature.positional] == ["cents"]
    fixed = activity(name="fixed")(functools.partial(Bank().pay, 7))
    assert (fixed.name, fixed.fn()) == ("fixed", 7)
    with pytest.raises(OutsideWorkflow, match="fixed"):
        fixed()


def test_a_callable_object_may_be_async():
    class Work:
        async def __call__(self, cents: int) -> int:
            return cents

    assert activity(name="work")(Work()).is_async


def a_generator():
    yield 1


async def an_async_generator():
    yield 1


def many(*orders): ...


def keywords(**orders): ...


def method(self, order): ...


def class_method(cls, order): ...


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: activity(a_generator), "@activity a_generator: a generator has no result"),
        (lambda: activity(an_async_generator), "@activity an_async_generator: an async generator has no result"),
        (lambda: activity(many), "@activity many: *orders is not possible, because promises"),
        (lambda: activity(keywords), "@activity keywords: **orders is not possible"),
        (lambda: activity(method), "drop self and put @staticmethod above @activity"),
        (lambda: activity(class_method), "drop cls"),
        (lambda: activity(classmethod(class_method)), "a classmethod cannot be declared"),
        (lambda: activity(int), "@activity int: a class cannot be declared so"),
        (lambda: activity("charge"), "options are given by name"),
        (lambda: activity(lambda: 1), "give one: @activity(name=...)"),
        (lambda: activity(functools.partial(many)), "give one: @activity(name=...)"),
        (lambda: activity(charge), "@activity charge: it is declared with @activity already"),
        (lambda: activity(workflow(many_orders)), "declared with @workflow already"),
        (lambda: activity(asynchronous(many_orders)), "declared with @asynchronous already"),
        (lambda: activity(startToCloseTimeout=5)(many_orders), "@activity many_orders: unknown option"),
        (
            lambda: activity(start_to_close_timeout="366d")(many_orders),
            "@activity many_orders: start_to_close_timeout: ",
        ),
        (lambda: activity(name="a:b")(many_orders), "@activity a:b: name: 'a:b' has ':'"),
        (lambda: activity(name="")(many_orders), "name: it is empty"),
        (lambda: activity(name="t1.x")(many_orders), "looks like the path of a task"),
        (lambda: activity(name="flowpy.x")(many_orders), "keeps for itself"),
        (lambda: activity(version="v" * 65)(many_orders), "version: 65 characters"),
        (lambda: activity(version=2)(many_orders), "version: 2 is an int; give text in quotes"),
        (lambda: activity(activity_id="a")(many_orders), ".options(activity_id=...)"),
        (lambda: activity(manual=True, external=True)(many_orders), "give one of the two"),
        (lambda: activity(tag_list=["a"])(many_orders), "unknown option 'tag_list'"),
        (lambda: activity(executor="processes")(many_orders), "executor: 'processes' is none of 'thread', 'process'"),
        (lambda: activity(executor="process")(refund.fn), "is for a plain def"),
        (lambda: activity(executor="process", external=True)(many_orders), "leave it out with external"),
        (lambda: activity(executor="process", name="local")(lambda: None), "top level of a module"),
        (
            lambda: activity(executor="process", name="part")(functools.partial(many_orders, [])),
            "top level of a module",
        ),
        (lambda: activity(retry=3)(many_orders), "give flowpy.Retry"),
    ],
)
def test_a_declaration_that_can_never_work_fails_at_once_with_the_fix(declare, says):
    with pytest.raises(DeclarationError) as caught:
        declare()
    assert says in str(caught.value)


def many_orders(orders: list[str]) -> None: ...
