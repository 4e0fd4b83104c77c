"""Interceptors as they are made and given: what is refused, and in which order they stand."""

from __future__ import annotations

import pytest

from flowpy.client import Client
from flowpy.declare import activity, workflow
from flowpy.errors import DeclarationError
from flowpy.interceptors import Interceptor, chosen, nested
from flowpy.worker import Worker, WorkerSettings


@activity
def charge() -> None: ...


@workflow
async def order() -> None: ...


class Silent:
    def call(self, operation, request):
        return {}


def through(call, proceed):
    return proceed(call)


async def awaiting(call, proceed):
    return await proceed(call)


class Object:
    async def __call__(self, call, proceed):
        return await proceed(call)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give workflow=, activity=, decision= or client=, a function each"),
        ({"activity": 3}, "activity=3 cannot be called"),
        ({"client": awaiting}, "client=awaiting is async def: nothing awaits it there"),
        ({"decision": Object()}, "is async def: nothing awaits it there"),
    ],
)
def test_what_cannot_work_is_refused(given, message):
    with pytest.raises(DeclarationError, match=message):
        Interceptor(**given)


def test_it_says_what_it_is():
    assert repr(Interceptor(workflow=through, client=through)) == "<Interceptor workflow=through client=through>"


def test_an_interceptor_without_use_there_is_refused():
    with pytest.raises(DeclarationError, match=r"Client uses client of an interceptor"):
        Client("shop", Silent(), interceptors=[Interceptor(activity=through)])
    with pytest.raises(DeclarationError, match=r"Worker uses workflow, activity, decision of an interceptor"):
        Worker(Silent(), domain="shop", activities=[charge], interceptors=[Interceptor(client=through)])
    with pytest.raises(DeclarationError, match=r"Worker: <function through .* is no flowpy.interceptors.Interceptor"):
        Worker(Silent(), domain="shop", activities=[charge], interceptors=[through])


def test_a_decider_of_ones_own_knows_nothing_of_them():
    settings = WorkerSettings(decider=lambda workflows: None, register=False)
    given = [Interceptor(workflow=through)]
    worker = Worker(Silent(), domain="shop", workflows=[order], settings=settings, interceptors=given)

    with pytest.raises(DeclarationError, match="leave out decider="):
        worker.start()


def test_the_first_is_the_outermost():
    said = []

    def saying(name):
        def around(call, proceed):
            said.append(f"{name} before")
            made = proceed(f"{call}{name}")
            said.append(f"{name} after")
            return made

        return around

    made = nested([saying("a"), saying("b")], said.append)("call ")

    assert made is None
    assert said == ["a before", "b before", "call ab", "b after", "a after"]


def test_functions_are_chosen_by_kind_in_order():
    first, second = Interceptor(workflow=through, activity=awaiting), Interceptor(activity=through)

    assert chosen([first, second], "Worker", "workflow", "activity") == ([through], [awaiting, through])
