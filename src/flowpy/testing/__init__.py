"""Testing workflows offline."""

from flowpy.replay.divergence import Difference, Divergence
from flowpy.runtime.guard import Guard
from flowpy.runtime.pending import OpenWork, Pending, WaitingTask
from flowpy.runtime.replaying import Replay, ReplayedEpisode
from flowpy.testing.activity_environment import ActivityEnvironment
from flowpy.testing.calls import Call
from flowpy.testing.environment import Environment
from flowpy.testing.replaying import replay
from flowpy.testing.run import EnvironmentRun
from flowpy.testing.stubs import Stub

__all__ = [
    "ActivityEnvironment",
    "Call",
    "Environment",
    "EnvironmentRun",
    "Replay",
    "ReplayedEpisode",
    "Stub",
    "replay",
]
