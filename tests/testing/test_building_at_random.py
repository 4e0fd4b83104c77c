"""Whatever is said to a builder, in whatever order: it is refused at once, or what comes out is a history of SWF."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from flowpy.errors import HistoryError
from flowpy.history import read_history
from flowpy.history.episodes import Episodes
from flowpy.local.engine import check_history
from flowpy.testing import HistoryBuilder

CALLS: list[Callable[[HistoryBuilder], Any]] = [
    lambda history: history.begin_decision(),
    lambda history: history.decide(),
    lambda history: history.time_out_decision(),
    lambda history: history.time_out_decision("SCHEDULE_TO_START"),
    lambda history: history.signal("go"),
    lambda history: history.request_cancel(),
    lambda history: history.advance(1),
    lambda history: history.schedule("a"),
    lambda history: history.schedule("a", refused="OPEN_ACTIVITIES_LIMIT_EXCEEDED"),
    lambda history: history.start_timer(5),
    lambda history: history.start_timer(5, id="mine"),
    lambda history: history.start_child("c"),
    lambda history: history.schedule_lambda("f"),
    lambda history: history.signal_external("other", "go"),
    lambda history: history.cancel_external("other"),
    lambda history: history.record_marker("m"),
    lambda history: history.complete(refused="UNHANDLED_DECISION"),
    lambda history: history.complete(),
    lambda history: history.continue_as_new(),
    lambda history: history.terminate(),
]
ON_HANDLES = ["start", "complete", "fail", "time_out", "request_cancel", "cancel", "fire", "terminate", "deliver"]
ON_HANDLES += ["refuse", "fail_to_start"]

Said = st.lists(
    st.one_of(st.integers(0, len(CALLS) - 1), st.tuples(st.integers(0, 20), st.sampled_from(ON_HANDLES))), max_size=30
)


@given(Said)
def test_it_is_refused_or_it_is_a_history(said: list[Any]) -> None:
    history = HistoryBuilder("order")
    handles: list[Any] = []
    for each in said:
        with suppress(HistoryError):
            if isinstance(each, int):
                made = CALLS[each](history)
                if hasattr(made, "is_open"):
                    handles.append(made)
            elif each[0] < len(handles) and hasattr(handles[each[0]], each[1]):
                getattr(handles[each[0]], each[1])()
        events = history.history()
        check_history(events)
        Episodes().feed(read_history(events).events)
