"""Testing workflows offline."""

from flowpy.runtime.replaying import Replay, ReplayedEpisode
from flowpy.testing.replaying import replay

__all__ = ["Replay", "ReplayedEpisode", "replay"]
