"""Testing workflows offline."""

from flowpy.replay.divergence import Difference, Divergence
from flowpy.runtime.guard import Guard
from flowpy.runtime.pending import OpenWork, Pending, WaitingTask
from flowpy.runtime.replaying import Replay, ReplayedEpisode
from flowpy.testing.activity_environment import ActivityEnvironment
from flowpy.testing.building import HistoryBuilder
from flowpy.testing.calls import Call
from flowpy.testing.environment import Environment
from flowpy.testing.redacting import redact
from flowpy.testing.replaying import Replayer, replay
from flowpy.testing.run import EnvironmentRun
from flowpy.testing.stacking import stacks
from flowpy.testing.stubs import Stub
from flowpy.testing.verifying import Selection, Verification, Verified

__all__ = [
    "ActivityEnvironment",
    "Call",
    "Difference",
    "Divergence",
    "Environment",
    "EnvironmentRun",
    "Guard",
    "HistoryBuilder",
    "OpenWork",
    "Pending",
    "Replay",
    "ReplayedEpisode",
    "Replayer",
    "Selection",
    "Stub",
    "Verification",
    "Verified",
    "WaitingTask",
    "redact",
    "replay",
    "stacks",
]
