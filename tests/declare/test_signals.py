from __future__ import annotations

from typing import Any

import pytest

from flowpy.declare import NONE, Signal
from flowpy.errors import DeclarationError, DurationError, OutsideWorkflow

approval = Signal("approval", bool)
stop = Signal("stop")


def test_a_signal_has_a_name_and_perhaps_a_type():
    assert (approval.name, approval.type) == ("approval", bool)
    assert (stop.name, stop.type) == ("stop", Any)
    assert Signal("items", list[int]).type == list[int]
    assert repr(approval) == "Signal('approval', <class 'bool'>)"


@pytest.mark.parametrize(("timeout", "whole"), [(None, None), (NONE, None), (0, 0), (1.5, 2), ("3d", 259_200)])
def test_receiving_asks_the_run_with_whole_seconds(run, timeout, whole):
    assert approval.receive(timeout=timeout) is run.promise
    assert run.made == [("receive", approval, whole)]


def test_a_handler_is_given_to_the_run_and_stays_a_function(run):
    @approval.handler
    def approved(value: bool) -> str:
        return "yes"

    @stop.handler
    async def stopped() -> None: ...

    assert approved(True) == "yes"
    assert run.made == [("handler", approval, approved), ("handler", stop, stopped)]


def test_a_handler_that_needs_two_values_is_refused(run):
    with pytest.raises(DeclarationError, match="handler of signal 'approval': a signal carries one value"):
        approval.handler(lambda value, other: None)
    assert run.made == []


def test_a_timeout_swf_would_refuse_is_refused(run):
    with pytest.raises(DurationError, match="receive timeout"):
        approval.receive(timeout="400d")


def test_elsewhere_nothing_can_be_received_or_handled():
    with pytest.raises(OutsideWorkflow, match=r"Signal\('approval'\)\.receive was called outside"):
        approval.receive()
    with pytest.raises(OutsideWorkflow, match="inside a @workflow function"):
        approval.handler(lambda value: None)


@pytest.mark.parametrize("name", ["", "x" * 257, "flowpy.wake", 5])
def test_a_name_swf_or_flowpy_refuses_is_refused(name):
    with pytest.raises(DeclarationError, match="Signal"):
        Signal(name)
