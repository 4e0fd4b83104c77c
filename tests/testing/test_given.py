"""What is given and is not of the kind that is meant: an error of flowpy's, at the call, that says what to give."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import flowpy
from flowpy.errors import DeclarationError
from flowpy.testing import ActivityEnvironment, Environment, HistoryBuilder, Replayer, redact, stacks

from .shop import call, charge

HISTORY = HistoryBuilder(call, "o-7").history()


@pytest.fixture(scope="module")
def swf():
    with Environment() as swf:
        yield swf


REFUSED: dict[str, tuple[Any, str]] = {
    "up_to": (lambda _: Replayer(call).replay(HISTORY, up_to="5"), "up_to='5' is no event id; give a whole number"),
    "up_to of many": (lambda _: list(Replayer(call).replay_all([HISTORY], up_to=2.5)), "up_to=2.5 is no event id"),
    "up_to=True": (lambda _: Replayer(call).replay(HISTORY, up_to=True), "up_to=True is no event id"),
    "converter": (lambda _: Replayer(call, converter="json"), "converter: 'json' is no Converter; give"),
    "sources": (lambda _: list(Replayer(call).replay_all(5)), "sources: 5 is no list; give a folder, or a list"),
    "verified": (lambda _: Replayer(call).verify_all(None), "sources: None is no list"),
    "client": (lambda _: Replayer(call).verify("shop"), "client: 'shop' is no Client; give flowpy.Client"),
    "selection": (lambda swf: Replayer(call).verify(swf.client, {"tag": "a"}), "selection: {'tag': 'a'} is no Sel"),
    "workflows": (lambda _: Environment(workflows=call), "Environment: workflows: .* is no list; give"),
    "a workflow": (lambda _: Environment(workflows=["call"]), "declare: 'call' is no Workflow; give what @workflow"),
    "interceptors": (lambda _: Environment(interceptors=5), "Environment: interceptors: 5 is no list"),
    "its converter": (lambda _: Environment(converter="x"), "Environment: converter: 'x' is no Converter"),
    "kwargs": (lambda swf: swf.start(call, kwargs=["o-7"]), r"start: kwargs: \['o-7'\] is no dict; give the arg"),
    "a run": (lambda swf: swf.signal(5, "approval"), "run: 5 is no EnvironmentRun; give a workflowId, or what start"),
    "a signal": (lambda swf: swf.signal("order-1", 5), "signal: 5 is neither a Signal nor the name of one"),
    "times": (lambda swf: swf.stub(charge, returns="r", times="2"), "stub of charge: times='2' is no number of calls"),
    "heartbeats": (lambda swf: swf.stub(charge, returns="r", heartbeats=5), "heartbeats: 5 is no list of details"),
    "faults": (lambda swf: swf.faults.time_out_decision_task("3"), "time_out_decision_task: times='3' is no number"),
    "a page": (lambda swf: swf.faults.page("3"), "page: size='3' is no number of events"),
    "an attempt": (lambda _: ActivityEnvironment(attempt="2"), "attempt='2' is no number of an attempt"),
    "a cancel": (lambda _: ActivityEnvironment().cancel(after="1"), "cancel: after='1' is no number of heartbeats"),
    "what to keep": (lambda _: redact(HISTORY, keep=5), "redact: keep=5 is no set of names"),
    "a time": (lambda _: HistoryBuilder("order", start="today"), "HistoryBuilder: start: 'today' is no datetime"),
    "stacks": (lambda _: stacks("order", HISTORY), "stacks: 'order' is no Workflow"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_an_error_that_says_what_to_give(swf, what):
    call, message = REFUSED[what]
    with pytest.raises(DeclarationError, match=message):
        call(swf)


def forget(left: list[Environment]) -> None:
    left.clear()
    gc.collect()


def test_an_environment_that_nobody_closes_says_that_it_checked_nothing():
    @flowpy.workflow
    async def nothing() -> None: ...

    left = [Environment()]
    left[0].run(nothing)
    with pytest.warns(ResourceWarning, match="not closed, so no history of it was checked: with Environment"):
        forget(left)


def test_one_that_was_closed_or_never_used_says_nothing():
    left = [Environment(), Environment()]
    left[0].close()
    forget(left)
