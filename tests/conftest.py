"""What all tests share."""

from __future__ import annotations

import os
from importlib.metadata import entry_points

from hypothesis import settings

# Bounded and repeatable: a failure seen once is seen again. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# The plugin, also where what is installed does not name it yet; pytester, to run pytest in tests of the plugin.
_installed = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))
pytest_plugins = ["pytester"] if _installed else ["pytester", "flowpy_pytest"]
