"""Testing workflows offline."""

from flowpy.replay.divergence import Difference, Divergence
from flowpy.runtime.guard import Guard
from flowpy.runtime.pending import OpenWork, Pending, WaitingTask
from flowpy.runtime.replaying import Replay, ReplayedEpisode
from flowpy.testing.building import HistoryBuilder
from flowpy.testing.redacting import redact
from flowpy.testing.replaying import Replayer, replay
from flowpy.testing.verifying import Selection, Verification, Verified

__all__ = [
    "Difference",
    "Divergence",
    "Guard",
    "HistoryBuilder",
    "OpenWork",
    "Pending",
    "Replay",
    "ReplayedEpisode",
    "Replayer",
    "Selection",
    "Verification",
    "Verified",
    "WaitingTask",
    "redact",
    "replay",
]
