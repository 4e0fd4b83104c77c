"""What all tests share."""

from __future__ import annotations

import os

from hypothesis import settings

# Bounded and repeatable: a failure seen once is seen again. HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile("search", max_examples=2_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
