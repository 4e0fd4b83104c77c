"""No false alarm: the samples and every recorded case run under the strictest guard."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cases.harness import NAMES, load
from tests.runtime.driver import Driver

from flowpy.runtime.guard import Guard

sys.path.insert(0, str(Path(__file__).parents[3] / "samples"))


def sample(name: str) -> Any:
    import order

    return order, getattr(order, name)


@pytest.mark.parametrize("name", ["pack_and_ship", "order"])
def test_the_samples_raise_none(name: str) -> None:
    module, workflow = sample(name)
    run = Driver(workflow, "o-7", ["lamp", "rug"], uses=(module.reserve, module.release, module.charge, module.pack))
    with Guard() as found:
        run.decide()
        run.complete("reserve-1", 16900)
        run.decide()
        run.complete("pack-1", "lamp in a box")
        if name == "order":
            run.signal("approval", True)
        run.decide()
        run.complete("pack-2", "rug in a box")
        run.decide()
        run.complete("charge-1", "receipt")
        run.decide()
        run.advance(3)
        run.decide()
        result = run.finished()

    assert result["receipt"] == "receipt"
    assert found == []


@pytest.mark.parametrize("name", ["declined", "cancelled"])
def test_nor_does_the_clean_up(name: str) -> None:
    module, workflow = sample("order")
    run = Driver(workflow, "o-7", ["lamp"], uses=(module.reserve, module.release, module.charge, module.pack))
    with Guard() as found:
        run.decide()
        run.complete("reserve-1", 4900)
        run.decide()
        run.complete("pack-1", "lamp in a box")
        if name == "declined":
            run.signal("approval", False)
        else:
            run.cancel()
        run.decide()
        run.complete("release-1")
        run.decide()

    assert run.types[-1] == ("WorkflowExecutionFailed" if name == "declined" else "WorkflowExecutionCanceled")
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_the_recorded_cases_raise_none(name: str) -> None:
    with Guard() as found:
        load(name).replay()

    assert found == []
