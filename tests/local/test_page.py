"""The page about the embedded service: what it names exists."""

from __future__ import annotations

import re
from pathlib import Path

from flowpy.local import Engine
from flowpy.local.engine import Throttle
from flowpy.local.engine.quotas import Quotas

PAGE = (Path(__file__).parents[2] / "docs" / "embedded-service.md").read_text(encoding="utf-8")


def test_what_it_names_exists():
    engine = Engine(quotas=Quotas(open_timers=2), throttle=Throttle(), wake_between=True)
    for name in re.findall(r"engine\.(\w+)", PAGE):
        assert hasattr(engine, name)
