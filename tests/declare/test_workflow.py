from __future__ import annotations

import pytest

from flowpy.declare import Workflow, activity, execute, query, signal, workflow
from flowpy.errors import DeclarationError, OutsideWorkflow


@workflow
async def order(order_id: str, cents: int = 1) -> str:
    return f"{order_id}-{cents}"


@workflow(version="2.0", execution_start_to_close_timeout="30d", task_list="eu", tag_list=["a"], on_cancel="wait")
def nightly(day: str) -> int:
    return len(day)


def test_a_workflow_is_a_function_plain_or_async():
    assert isinstance(order, Workflow)
    assert (order.name, order.version, order.is_async, order.is_class) == ("order", "1.0", True, False)
    assert (nightly.name, nightly.version, nightly.is_async) == ("nightly", "2.0", False)
    assert nightly.fn("monday") == 6
    assert (order.cls, order.execute_name, order.signal_handlers, order.queries) == (None, "", {}, {})
    assert repr(order) == "<workflow order 1.0>"


def test_without_options_it_may_run_for_a_year():
    assert order.registered.defaults("shop") == {
        "defaultTaskList": {"name": "shop"},
        "defaultExecutionStartToCloseTimeout": "31536000",
        "defaultTaskStartToCloseTimeout": "30",
        "defaultChildPolicy": "TERMINATE",
    }
    assert order.on_cancel == "try"


def test_declared_options_are_registered_but_tags_go_with_each_start():
    assert nightly.registered.execution_start_to_close_timeout == "2592000"
    assert nightly.overrides == {"tagList": ["a"]}
    assert nightly.on_cancel == "wait"
    assert nightly.options(tag_list=["b", "c"]).overrides == {"tagList": ["b", "c"]}
    assert nightly.options(tag_list=[]).overrides == {"tagList": []}


def test_calling_it_in_workflow_code_starts_a_child(run):
    assert order("o", cents=5) is run.promise
    child = order.options(workflow_id="order-o", child_policy="ABANDON")
    child("o")
    assert run.made == [("workflow", order, ("o",), {"cents": 5}), ("workflow", child, ("o",), {})]
    assert child.settings.workflow_id == "order-o"
    assert child.overrides == {"childPolicy": "ABANDON"}


def test_calling_it_elsewhere_says_how_to_start_it():
    with pytest.raises(OutsideWorkflow, match=r"client\.start\(order, \.\.\.\)"):
        order("o")


class Subscription:
    def __init__(self) -> None:
        self.open = True

    @execute
    async def run(self, customer: str, months: int = 12) -> int:
        return months

    @signal
    def close(self) -> None:
        self.open = False

    @signal("plan")
    async def change_plan(self, plan: str) -> None: ...

    @signal(name="price")
    async def change_price(self, cents: int = 1) -> None: ...

    @query
    def is_open(self) -> bool:
        return self.open

    @query("state")
    def current_state(self, deep: bool = False) -> str:
        return ""


def test_a_class_has_one_execute_and_any_handlers():
    subscription = workflow(version="3.0")(Subscription)
    assert (subscription.name, subscription.version) == ("Subscription", "3.0")
    assert subscription.is_class
    assert subscription.is_async
    assert subscription.cls is subscription.fn is Subscription
    assert subscription.execute_name == "run"
    assert subscription.signal_handlers == {"close": "close", "plan": "change_plan", "price": "change_price"}
    assert subscription.queries == {"is_open": "is_open", "state": "current_state"}
    assert [p.name for p in subscription.signature.positional] == ["customer", "months"]
    assert subscription.signatures["change_plan"].type_of("plan") is str
    assert subscription.signatures["current_state"].return_type is str


def test_marked_methods_stay_what_they_are():
    plain = Subscription()
    plain.close()
    assert not plain.is_open()


def test_a_class_is_called_like_a_function(run):
    subscription = workflow(Subscription)
    assert subscription("c", months=1) is run.promise
    assert run.made == [("workflow", subscription, ("c",), {"months": 1})]


def test_calling_a_class_elsewhere_names_the_plain_class():
    with pytest.raises(OutsideWorkflow, match=r"the plain class is Subscription\.fn"):
        workflow(Subscription)("c")


def test_handlers_of_base_classes_are_inherited_and_overridden():
    class Yearly(Subscription):
        def run(self, customer: str) -> int:  # overrides a marked method, so it is the one that runs
            return 12

        @signal("stop")
        def close(self) -> None: ...

        is_open = None

        @query
        def more(self) -> int:
            return 1

    yearly = workflow(Yearly)
    assert yearly.execute_name == "run"
    assert not yearly.is_async
    assert [p.name for p in yearly.signature.positional] == ["customer"]
    assert yearly.signal_handlers == {"stop": "close", "plan": "change_plan", "price": "change_price"}
    assert yearly.queries == {"state": "current_state", "more": "more"}


class Nothing: ...


class Two:
    @execute
    async def one(self) -> None: ...

    @execute
    async def two(self) -> None: ...


class Needy:
    def __init__(self, database: str, *, host: str) -> None: ...

    @execute
    async def run(self) -> None: ...


class Clashing:
    @execute
    async def run(self) -> None: ...

    @signal("a")
    def one(self) -> None: ...

    @signal("a")
    def two(self) -> None: ...


def plain() -> None: ...


def variadic(*orders: str) -> None: ...


async def generated():
    yield 1


def method(self) -> None: ...


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: workflow(Nothing), "@workflow Nothing: a workflow class needs exactly one @execute method"),
        (lambda: workflow(Two), "it has one, two; unmark all but one"),
        (lambda: workflow(Needy), "__init__ needs database, host; take them in the @execute method"),
        (lambda: workflow(Clashing), "one and two both answer signal 'a'; rename one"),
        (lambda: workflow(variadic), "@workflow variadic: *orders is not possible"),
        (lambda: workflow(generated), "an async generator has no result"),
        (lambda: workflow(method), "drop self"),
        (lambda: workflow(lambda: 1), "give one: @workflow(name=...)"),
        (lambda: workflow(order), "declared with @workflow already"),
        (lambda: workflow(activity(plain)), "declared with @activity already"),
        (lambda: workflow("plain"), "options are given by name"),
        (lambda: workflow(name="s1.x")(plain), "looks like the path of a task"),
        (lambda: workflow(version="v" * 65)(plain), "@workflow plain: version: 65 characters"),
        (lambda: workflow(tag_list=list("abcdef"))(plain), "@workflow plain: tag_list: 6 tags"),
        (lambda: workflow(workflow_id="x")(plain), ".options(workflow_id=...)"),
        (lambda: workflow(executionStartToCloseTimeout=5)(plain), "did you mean 'execution_start_to_close_timeout'"),
        (lambda: workflow(execution_start_to_close_timeout="NONE")(plain), 'give "365d"'),
        (lambda: workflow(retry=None)(plain), "unknown option 'retry'"),
    ],
)
def test_a_declaration_that_can_never_work_fails_at_once_with_the_fix(declare, says):
    with pytest.raises(DeclarationError) as caught:
        declare()
    assert says in str(caught.value)
