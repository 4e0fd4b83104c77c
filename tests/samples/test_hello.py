"""Hello: one activity, and its result is the run's."""

from __future__ import annotations

from samples.hello import greeting, hello


def test_somebody_is_greeted(swf):
    assert swf.run(hello, "World") == "Hello, World!"
    assert swf.calls(greeting) == [("World",)]


def test_the_activity_is_a_plain_function_too():
    assert greeting.fn("World") == "Hello, World!"
