"""What all tests share."""

from __future__ import annotations

import os
import signal
from importlib.metadata import entry_points

from hypothesis import settings

# What is printed, and where calls go, must not depend on the shell that the tests are started in: on CI pytest cuts no
# line of its summary (variables CI and BUILD_NUMBER), rich colours and wraps by others, botocore goes by profiles
# and proxies, and a worker reads its settings.
_KNOBS = ("FLOWPY_CHAOS_", "FLOWPY_CHROMIUM", "FLOWPY_DEPLOYS", "FLOWPY_KILLS", "FLOWPY_PYTHONS", "FLOWPY_RECORDED_")
_SHELLS = ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS", "COLUMNS", "LINES", "TERM", "COLORTERM")
_COLOURS = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS")
for _name in list(os.environ):
    if _name in (*_SHELLS, *_COLOURS) or (_name.startswith(("AWS_", "FLOWPY_")) and not _name.startswith(_KNOBS)):
        del os.environ[_name]
os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1,localhost"

# What tests start must end by Ctrl-C also where a script runs them behind an "&": shells have that ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Bounded and repeatable: a failure seen once is seen again. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# The plugin, also where what is installed does not name it yet; pytester, to run pytest in tests of the plugin.
_installed = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))
pytest_plugins = ["pytester"] if _installed else ["pytester", "flowpy_pytest"]
