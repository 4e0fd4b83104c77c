"""How many tests of workflows run in a second, on one core, with every history replayed up to each decision.

    python benchmarks/testing.py [--check] [--rounds N]

A test is a new environment, a workflow of three activities from start to end, an assertion, and the check. It runs
alone, and in pytest with the fixture ``swf``; a workflow that sleeps for a year, and one that wakes on each day of it,
show what time costs. CPU seconds, best of the rounds; ``--check`` exits with 1 below 200 tests a second.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from timing import cpu, table

import flowpy
from flowpy import activity, workflow
from flowpy.testing import Environment

BUDGET = 200
TESTS = 400


@activity
def reserve(item: str) -> int:
    """Take it from the shelf; gives the price."""
    return len(item)


@activity
def charge(cents: int) -> str:
    """Charge the card; gives the receipt."""
    return f"receipt over {cents}"


@activity
def ship(receipt: str) -> str:
    """Send it."""
    return f"shipped with {receipt}"


@workflow
async def order(item: str) -> str:
    """Three activities, one after the other."""
    return await ship(await charge(await reserve(item)))


@workflow
async def year() -> str:
    """One timer."""
    await flowpy.sleep("364d")  # an execution lives for a year at most, so its last day ends it
    return "over"


@workflow
async def days() -> int:
    """A timer for each day."""
    for _ in range(364):
        await flowpy.sleep("1d")
    return 364


def test_order() -> None:
    """What a test with the fixture does."""
    with Environment() as swf:
        assert swf.run(order, "lamp") == "shipped with receipt over 4"


def test_strict_order() -> None:
    """The same in strict mode."""
    with Environment(strict=True) as swf:
        assert swf.run(order, "lamp") == "shipped with receipt over 4"


def test_year() -> None:
    """Time costs nothing."""
    with Environment() as swf:
        assert swf.run(year) == "over"


def test_days() -> None:
    """Events do."""
    with Environment() as swf:
        assert swf.run(days) == 364


def best(test: Callable[[], None], times: int, rounds: int) -> float:
    """CPU seconds of one test, once everything is imported and warm."""
    test()
    return min(cpu(test, times) for _ in range(rounds))


def in_pytest(rounds: int) -> float:
    """CPU seconds of one test in pytest: what a run with many costs beyond a run with one."""
    with tempfile.TemporaryDirectory() as many, tempfile.TemporaryDirectory() as one:
        write_tests(Path(many), TESTS)
        write_tests(Path(one), 1)
        run_pytest(Path(many))  # compiles them, once and for all
        samples = [run_pytest(Path(many)) - run_pytest(Path(one)) for _ in range(rounds)]
    return min(samples) / (TESTS - 1)


def write_tests(folder: Path, tests: int) -> None:
    """A module with so many tests."""
    code = "from testing import order\n" + "".join(
        f"\ndef test_{number}(swf):\n    assert swf.run(order, 'lamp') == 'shipped with receipt over 4'\n"
        for number in range(tests)
    )
    (folder / "test_orders.py").write_text(code, encoding="utf-8")


def run_pytest(folder: Path) -> float:
    """CPU seconds of a run of pytest."""
    installed = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))
    path = [str(Path(__file__).parent), str(Path(flowpy.__file__).parents[1])]
    program = f"import sys; sys.path[:0] = {path}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    plugin = [] if installed else ["-p", "flowpy_pytest"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", program, *plugin, "-q", "-p", "no:cacheprovider", str(folder)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    """Measure, print, and check if asked to."""
    parser = argparse.ArgumentParser(description="Tests of workflows in a second.")
    parser.add_argument("--check", action="store_true", help=f"exit with 1 below {BUDGET} tests a second")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each, default 5")
    given = parser.parse_args()
    alone = best(test_order, 100, given.rounds)
    rows = [
        ("three activities", alone),
        ("three activities, in pytest", in_pytest(min(given.rounds, 3))),
        ("three activities, strict", best(test_strict_order, 100, given.rounds)),
        ("a year in one sleep", best(test_year, 50, given.rounds)),
        ("a year, woken each day", best(test_days, 1, given.rounds)),
    ]
    shown = [(name, f"{seconds * 1000:.2f}", f"{1 / seconds:.0f}") for name, seconds in rows]
    print(table(("test of", "ms", "tests/s"), shown))
    if given.check and 1 / alone < BUDGET:
        print(f"below {BUDGET} tests a second", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
