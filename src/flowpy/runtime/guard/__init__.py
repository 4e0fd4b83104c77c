"""The guard: names the calls of workflow code that no replay can repeat, while the code runs."""

from flowpy.runtime.guard.guard import Guard, Policy

__all__ = ["Guard", "Policy"]
