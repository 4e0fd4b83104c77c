"""Tracebacks keep the lines of those who test, and everything that may be a mistake of flowpy's own."""

from __future__ import annotations

import traceback

import pytest

import flowpy
from flowpy.declare.durations import seconds
from flowpy.testing.tracebacks import shorten


def frames(error: BaseException) -> list[str]:
    shorten(error)
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_frames_of_flowpy_are_left_out():
    with pytest.raises(flowpy.DurationError) as refused:
        seconds("soon", "delay")
    assert len(refused.traceback) > 1
    assert frames(refused.value) == ["test_frames_of_flowpy_are_left_out"]


def test_another_error_from_flowpys_code_is_left_alone():
    with pytest.raises(AttributeError) as broken:
        flowpy.Retry.matches(None, [])  # as if it were a mistake in it
    before = len(broken.traceback)
    assert before > 1
    assert len(frames(broken.value)) == before


def test_causes_are_shortened_too():
    with pytest.raises(flowpy.DurationError) as refused:
        seconds("soon", "delay")
    failed = RuntimeError()
    failed.__cause__ = refused.value
    shorten(failed)
    assert len(traceback.extract_tb(refused.value.__traceback__)) == 1
