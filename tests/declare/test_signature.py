from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowpy.declare.promise import ChildPromise, Promise
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError

if TYPE_CHECKING:
    from somewhere import Unknown


def charge(order_id: str, cents: int = 100, currency: str = "EUR") -> str:
    return f"{order_id} {cents} {currency}"


def refund(order_id: str, /, cents: int = 1, *, reason: str, urgent: bool = False) -> None: ...


def test_parameters_are_told_apart():
    signature = Signature.of(refund)
    assert [p.name for p in signature.positional] == ["order_id", "cents"]
    assert list(signature.keyword_only) == ["reason", "urgent"]
    assert signature.required == 1
    assert signature.needs == 2
    assert [p.has_default for p in signature.positional] == [False, True]
    assert repr(signature) == "<Signature of refund>"


@pytest.mark.parametrize(
    ("args", "kwargs", "bound"),
    [
        (("o",), {}, (("o",), {})),
        (("o", 1), {}, (("o", 1), {})),
        (("o", 1, "USD"), {}, (("o", 1, "USD"), {})),
        ((), {"order_id": "o"}, (("o",), {})),
        (("o",), {"cents": 1}, (("o", 1), {})),
        (("o",), {"currency": "USD", "cents": 1}, (("o", 1, "USD"), {})),
        (("o",), {"currency": "USD"}, (("o",), {"currency": "USD"})),
    ],
)
def test_values_go_into_the_array_up_to_a_gap_and_defaults_stay_in_the_code(args, kwargs, bound):
    assert Signature.of(charge).bind(args, kwargs) == bound


def test_keyword_only_values_keep_their_names():
    assert Signature.of(refund).bind(("o", 2), {"reason": "late"}) == (("o", 2), {"reason": "late"})


def test_binding_leaves_the_callers_arguments_alone():
    given_by_name = {"cents": 1}
    Signature.of(charge).bind(("o",), given_by_name)
    assert given_by_name == {"cents": 1}


@pytest.mark.parametrize(
    ("fn", "args", "kwargs", "says"),
    [
        (charge, (), {}, "charge() is missing argument 'order_id'"),
        (charge, (), {"cents": 1}, "charge() is missing argument 'order_id'"),
        (charge, (1, 2, 3, 4), {}, "charge() takes 3 positional arguments, 4 were given"),
        (
            charge,
            ("o",),
            {"amount": 1},
            "charge() takes no argument 'amount'; its arguments: order_id, cents, currency",
        ),
        (charge, ("o",), {"order_id": "p"}, "charge() got argument 'order_id' twice"),
        (refund, ("o",), {}, "refund() is missing argument 'reason'"),
        (refund, (), {}, "refund() is missing arguments 'order_id', 'reason'"),
        (refund, ("o", 1, "late"), {}, "refund() takes 2 positional arguments, 3 were given; give 'reason', 'urgent'"),
        (refund, (), {"order_id": "o", "reason": ""}, "refund() takes no argument 'order_id'"),
    ],
)
def test_a_wrong_call_names_function_and_argument(fn, args, kwargs, says):
    with pytest.raises(TypeError) as caught:
        Signature.of(fn).bind(args, kwargs)
    assert says in str(caught.value)


NAMES = ["order_id", "cents", "currency"]


@given(st.lists(st.integers(), max_size=4), st.dictionaries(st.sampled_from([*NAMES, "other"]), st.integers()))
def test_binding_accepts_what_python_accepts_and_means_the_same(args, kwargs):
    try:
        direct = charge(*args, **kwargs)
    except TypeError:
        with pytest.raises(TypeError):
            Signature.of(charge).bind(tuple(args), kwargs)
    else:
        values, named = Signature.of(charge).bind(tuple(args), kwargs)
        assert charge(*values, **named) == direct


def test_a_method_leaves_self_out():
    class Order:
        def run(self, order_id: str) -> int: ...

    signature = Signature.of(Order.run, skip_first=True)
    assert [p.name for p in signature.positional] == ["order_id"]
    assert signature.bind(("o",), {}) == (("o",), {})
    assert signature.type_of("order_id") is str


def test_a_method_without_self_is_refused():
    with pytest.raises(DeclarationError, match="add self"):
        Signature.of(lambda: None, skip_first=True)


@dataclass
class Item:
    sku: str


def ship(item: Item, unknown: Unknown, plain, many: list[Item]) -> Item | None: ...


def test_types_are_resolved_one_by_one_and_what_cannot_be_is_any():
    signature = Signature.of(ship)
    assert signature.type_of("item") is Item
    assert signature.type_of("many") == list[Item]
    assert signature.type_of("unknown") is Any
    assert signature.type_of("plain") is Any
    assert signature.type_of("no_such_parameter") is Any
    assert signature.return_type == Item | None


def test_types_are_resolved_at_first_use_so_that_modules_may_refer_to_what_comes_later():
    signature = Signature.of(refers_to_later)
    assert signature.returns == "Later"
    assert signature.return_type is Later


def refers_to_later() -> Later: ...


class Later: ...


def promised() -> Promise[int]: ...


def child_promised() -> ChildPromise[list[str]]: ...


def promised_anything() -> Promise: ...


def promised_nothing() -> None: ...


def test_the_type_of_a_promised_result_is_that_of_its_value():
    assert Signature.of(promised).return_type is int
    assert Signature.of(child_promised).return_type == list[str]
    assert Signature.of(promised_anything).return_type is Any
    assert Signature.of(promised_nothing).return_type is type(None)
    assert Signature.of(lambda: 1).return_type is Any


def test_wrapped_functions_and_callable_objects_are_read_through():
    @functools.wraps(charge)
    def wrapper(*args: Any, **kwargs: Any) -> Any: ...

    class Callable:
        def __call__(self, order_id: str) -> int: ...

    assert Signature.of(wrapper).type_of("cents") is int
    assert Signature.of(Callable()).type_of("order_id") is str
    assert Signature.of(functools.partial(charge, "o")).type_of("cents") is int


def test_what_has_no_signature_is_refused():
    with pytest.raises(DeclarationError, match="wrap it in a def"):
        Signature.of(type("NoSignature", (), {"__signature__": 5, "__call__": print})())


def many(*orders: str, **others: int) -> None: ...


def test_variadic_functions_are_read_and_bound_but_can_be_refused():
    signature = Signature.of(many)
    assert (signature.var_positional, signature.var_keyword) == ("orders", "others")
    assert signature.bind(("a", "b"), {}) == (("a", "b"), {})
    assert signature.bind(("a",), {"x": 1}) == (("a",), {"x": 1})
    with pytest.raises(DeclarationError, match=r"\*orders .* orders: list"):
        signature.refuse_variadic()
    with pytest.raises(DeclarationError, match=r"\*\*others .* others: dict"):
        Signature.of(lambda **others: None).refuse_variadic()
