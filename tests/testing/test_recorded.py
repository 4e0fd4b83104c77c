"""What the real service wrote loads, and is replayed by a workflow that decides what is recorded.

The histories lie beside the checkout and are no part of it; without them nothing is tested here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flowpy.errors import NonDeterminismError
from flowpy.history import read_history
from flowpy.testing import Replayer

from .generic import generic, without_input
from .recordings import FILES, FOLDER

pytestmark = pytest.mark.skipif(
    not FILES, reason="no recorded histories: set FLOWPY_RECORDED_HISTORIES to a folder of them"
)

# Those whose shape is known; a folder of one's own may hold others, which have to load.
KNOWN = [path for path in FILES if path.stem.partition("-")[0] in ("boto", "fl", "ga", "sf", "st")]

_MARKERS = "markers of another framework, which no call of flowpy records"
NOT_OURS = {
    "fl-02-TestWorkflowW": "ids with a colon, which SWF refuses today",
    "sf-test_with_replays": _MARKERS,
    "sf-test_without_replays": _MARKERS,
}
"""Histories of shapes that flowpy's code cannot have, with the reason."""


@pytest.mark.parametrize("path", KNOWN, ids=lambda path: path.stem)
def test_a_recorded_history_is_replayed_by_the_generic_workflow(path: Path) -> None:
    history = without_input(read_history(path))
    if path.stem in NOT_OURS:
        with pytest.raises(NotImplementedError):
            generic(history)
        return

    replayed = Replayer(generic(history)).replay(history)

    ended = history.close_event
    assert replayed.closed == (None if ended is None else ended["eventType"])
    # What the service had open at the end is open in the replay too, unless it is closed.
    assert ended is not None or all(work.event_id for work in replayed.pending.work)


@pytest.mark.parametrize("path", [path for path in KNOWN if path.stem not in NOT_OURS], ids=lambda path: path.stem)
def test_it_can_be_stopped_at_every_event(path: Path) -> None:
    history = without_input(read_history(path))
    replayer = Replayer(generic(history))

    decided = [len(replayer.replay(history, up_to=event["eventId"]).episodes) for event in history.events]

    assert decided == sorted(decided)
    assert decided[-1] == len(replayer.replay(history).episodes)


def test_the_whole_folder_loads() -> None:
    results = list(Replayer([generic(read_history(FILES[0]))]).replay_all(FOLDER))

    assert len(results) == len(FILES)
    assert {type(each.error).__name__ for each in results} <= {"NoneType", "UnknownWorkflowType"}


def test_code_that_decides_otherwise_is_told_apart() -> None:
    (path,) = (path for path in FILES if path.stem == "sf-test_chain_send_result")
    history = without_input(read_history(path))
    other = read_history(next(path for path in FILES if path.stem == "sf-test_timer_and_cancel"))

    with pytest.raises(NonDeterminismError):
        Replayer(generic(other)).replay(history)
