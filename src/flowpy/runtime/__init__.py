"""The runtime: workflow code on a deterministic event loop, driven by the kernel."""

from flowpy.runtime.decider import Answer, Decider, DecisionTask, Workflows
from flowpy.runtime.replaying import Replay, ReplayedEpisode, replay_history

__all__ = ["Answer", "Decider", "DecisionTask", "Replay", "ReplayedEpisode", "Workflows", "replay_history"]
