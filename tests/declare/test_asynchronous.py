from __future__ import annotations

import pytest

from flowpy.declare import Asynchronous, Promise, asynchronous
from flowpy.errors import DeclarationError, OutsideWorkflow


@asynchronous
async def combined(left: int, right: int) -> int:
    return left + right


@asynchronous
def chosen(left: int) -> Promise[str]: ...


class Order:
    def __init__(self, name: str) -> None:
        self.name = name

    @asynchronous
    def label(self, number: int) -> str:
        return f"{self.name}-{number}"


def test_it_keeps_the_plain_function():
    assert isinstance(combined, Asynchronous)
    assert (combined.name, combined.is_async, chosen.is_async) == ("combined", True, False)
    assert chosen.signature.return_type is str
    assert repr(combined) == "<asynchronous combined>"


def test_calling_it_in_workflow_code_asks_the_run(run):
    assert combined(1, right=2) is run.promise
    assert run.made == [("asynchronous", combined, (1,), {"right": 2})]


def test_calling_it_elsewhere_names_the_plain_function():
    with pytest.raises(OutsideWorkflow, match=r"'combined' was called outside workflow code; call combined\.fn"):
        combined(1, 2)


def test_a_method_is_bound_to_its_object(run):
    Order("o").label(7)
    ((_, bound, args, _),) = run.made
    assert args == (7,)
    assert bound.fn(*args) == "o-7"
    assert bound.name == "Order.label"
    assert bound.signature.bind((7,), {}) == ((7,), {})
    assert isinstance(Order.label, Asynchronous)
    assert Order("a").label.signature is Order("b").label.signature


def test_any_number_of_arguments_is_possible_because_nothing_is_recorded(run):
    @asynchronous
    def total(*parts: int) -> int:
        return sum(parts)

    total(1, 2, 3)
    assert run.made[0][2] == (1, 2, 3)


def test_a_static_method_is_taken_as_the_function_it_is():
    assert asynchronous(staticmethod(lambda_like)).fn() == 1


def lambda_like() -> int:
    return 1


async def generated():
    yield 1


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: asynchronous(generated), "@asynchronous generated: an async generator"),
        (lambda: asynchronous(combined), "declared with @asynchronous already"),
        (lambda: asynchronous(Order), "a class cannot be declared so"),
        (lambda: asynchronous(lambda: 1), "it has no name of its own"),
    ],
)
def test_what_cannot_be_a_function_of_the_run_is_refused(declare, says):
    with pytest.raises(DeclarationError) as caught:
        declare()
    assert says in str(caught.value)
