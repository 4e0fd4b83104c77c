from __future__ import annotations

import pytest

from flowpy.declare import activity, execute, query, signal
from flowpy.errors import DeclarationError


def two_values(self, a, b): ...


def two_needed_by_name(self, a, *, b): ...


async def waits(self): ...


async def generates(self):
    yield 1


def no_self(): ...


def variadic(self, *values): ...


def fine(self, value=None): ...


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        (lambda: signal(two_values), "@signal two_values: a signal carries one value, the method needs 2"),
        (lambda: signal(two_needed_by_name), "the method needs 2"),
        (lambda: signal(variadic), "@signal variadic: *values is not possible"),
        (lambda: execute(variadic), "@execute variadic: *values is not possible"),
        (lambda: signal("flowpy.x")(fine), "keeps for itself"),
        (lambda: signal(name="")(fine), "it is empty"),
        (lambda: query(waits), "@query waits: a query cannot wait, it only reads; make it a plain def"),
        (lambda: execute(generates), "@execute generates: an async generator"),
        (lambda: execute(no_self), "add self"),
        (lambda: execute(staticmethod(fine)), "goes on a method that takes self"),
        (lambda: execute(classmethod(fine)), "a classmethod cannot be declared"),
        (lambda: execute(5), "@execute goes on a function"),
        (lambda: signal(activity(no_self)), "declared with @activity already"),
        (lambda: execute(query(lambda self: 1)), "marked @query already; a method has one role"),
    ],
)
def test_a_method_that_cannot_be_what_it_is_marked_as_is_refused(mark, says):
    with pytest.raises(DeclarationError) as caught:
        mark()
    assert says in str(caught.value)


def test_a_mark_leaves_the_function_as_it_is():
    def close(self): ...

    assert execute(close) is close


def test_names_may_be_given_in_every_way():
    def make():
        return lambda self: None

    for marked in (signal()(make()), signal("x")(make()), signal(name="x")(make()), query("x")(make())):
        assert callable(marked)
