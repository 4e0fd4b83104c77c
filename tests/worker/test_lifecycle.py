"""What a worker's threads share: messages are waited for, and no signal is missed."""

import time
from queue import Empty

import pytest

from flowpy.worker.lifecycle import Lifecycle


def test_a_message_is_waited_for_until_the_deadline(monkeypatch):
    monkeypatch.setattr("flowpy.worker.lifecycle.WAKE", 0.001)
    lifecycle = Lifecycle()
    with pytest.raises(Empty):
        lifecycle.message(time.monotonic() + 0.005)
    lifecycle.mailbox.put(None)
    assert lifecycle.message() is None


def test_a_signal_that_comes_as_the_main_thread_begins_to_wait_is_handled(monkeypatch):
    monkeypatch.setattr("flowpy.worker.lifecycle.WAKE", 0.001)
    lifecycle, missed = Lifecycle(), []

    class Mailbox:
        """Python handles no signal while this blocks: it comes, and is seen only afterwards."""

        def get(self, timeout):
            if not missed:
                missed.append(timeout)
                raise Empty
            return "handled"

    lifecycle.mailbox = Mailbox()
    assert lifecycle.message() == "handled"
    assert missed == [0.001]


@pytest.mark.parametrize("own", [False, True])
def test_no_poll_begins_once_nobody_waits_for_it(own):
    """A thread that looked before the worker stopped, and was slow to poll: SWF's task would come to nobody."""
    lifecycle = Lifecycle()
    with lifecycle.poll(own=own) as may:
        assert (may, lifecycle.polls) == (True, 1)
    lifecycle.drain(0.0)
    with lifecycle.poll(own=own) as may:
        assert (may, lifecycle.polls) == (False, 0)


def test_the_own_list_is_polled_while_another_poll_is_waited_for():
    lifecycle = Lifecycle()
    with lifecycle.poll():
        lifecycle.stopping.set()
        with lifecycle.poll(own=True) as may:
            assert (may, lifecycle.polls) == (True, 2)
    assert lifecycle.polls == 0
