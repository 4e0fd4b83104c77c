"""``flowpy check``: what workflow code must not do, found in its text without running it."""

from flowpy.check.checking import check_paths
from flowpy.check.finding import Finding

__all__ = ["Finding", "check_paths"]
