from __future__ import annotations

import pytest

from flowpy.declare import ChildPromise, Promise
from flowpy.declare.calling import calls_or_raise, current
from flowpy.errors import OutsideWorkflow


@pytest.mark.parametrize(
    "use",
    [
        lambda promise: promise.result(),
        lambda promise: promise.exception(),
        lambda promise: promise.done(),
        lambda promise: promise.cancelled(),
        lambda promise: promise.cancel(),
        lambda promise: promise.detach(),
        lambda promise: promise.add_done_callback(print),
        lambda promise: promise.__await__(),
        lambda promise: promise.started,
        lambda promise: promise.workflow_id,
    ],
)
def test_a_promise_nobody_made_says_where_they_come_from(use):
    with pytest.raises(NotImplementedError, match="promises are made by calls in workflow code"):
        use(ChildPromise())


def test_a_runtime_may_add_slots_and_keep_promises_small():
    class Small(Promise[int]):
        __slots__ = ("value",)

    assert not hasattr(Small(), "__dict__")


def test_outside_workflow_code_there_is_no_run():
    assert current.get() is None
    with pytest.raises(OutsideWorkflow, match=r"flowpy\.sleep was called outside workflow code; use time\.sleep"):
        calls_or_raise("flowpy.sleep", "use time.sleep")


def test_inside_it_is_the_run(run):
    assert calls_or_raise("flowpy.sleep", "use time.sleep") is run
