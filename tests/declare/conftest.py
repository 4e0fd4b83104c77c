from __future__ import annotations

from typing import Any

import pytest

from flowpy.declare.calling import current


class RecordedCalls:
    """A run that only writes down what is asked from it; promises are ``object()``."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []
        self.promise: Any = object()

    def call_activity(self, activity, args, kwargs):
        return self._made("activity", activity, args, kwargs)

    def call_workflow(self, workflow, args, kwargs):
        return self._made("workflow", workflow, args, kwargs)

    def call_asynchronous(self, function, args, kwargs):
        return self._made("asynchronous", function, args, kwargs)

    def receive(self, signal, timeout):
        return self._made("receive", signal, timeout)

    def set_handler(self, signal, function):
        self._made("handler", signal, function)

    def _made(self, *call: Any) -> Any:
        self.made.append(call)
        return self.promise


@pytest.fixture
def run():
    """A run whose code is executing while the test runs."""
    calls = RecordedCalls()
    token = current.set(calls)
    yield calls
    current.reset(token)
