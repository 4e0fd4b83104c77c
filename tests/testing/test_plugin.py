"""The pytest plugin, in runs of pytest of its own: fixtures, options, collected histories, what a failure shows."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import flowpy.testing.collecting  # noqa: F401 - once for all the runs below
from flowpy.testing.session import file_name

INSTALLED = any(entry.name == "flowpy" for entry in entry_points(group="pytest11"))

SHOP = """
    import flowpy
    from flowpy import Signal, activity, workflow

    approval = Signal("approval", bool)

    @activity
    def charge(order_id: str) -> str:
        return "charged " + order_id

    @workflow
    async def order(order_id: str) -> str:
        receipt = await charge(order_id)
        await approval.receive()
        return receipt
"""

TEST = """
    from shop import approval, charge, order

    def test_order(swf):
        swf.stub(charge, returns="r-1")
        run = swf.start(order, "o-7")
        run.signal(approval, True)
        assert run.result() == "r-1"
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch):
    """Runs pytest on files of a shop."""
    monkeypatch.syspath_prepend(str(pytester.path))

    def run(*options, shop=SHOP, **files):
        pytester.makepyfile(shop=shop, **files)
        for name in [name for name in sys.modules if name in {"shop", *files}]:
            del sys.modules[name]
        plugin = [] if INSTALLED else ["-p", "flowpy_pytest"]
        return pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *options)

    return run


def test_the_fixture_swf(run):
    run(test_shop=TEST).assert_outcomes(passed=1)


def test_the_entry_point_is_declared():
    declared = (Path(__file__).parents[2] / "setup.cfg").read_text(encoding="utf-8")
    assert "pytest11 =\n    flowpy = flowpy_pytest\n" in declared


def test_pytest_loads_nothing_of_flowpy_before_a_test_asks_for_it(pytester: pytest.Pytester):
    pytester.makepyfile("import sys\ndef test_it():\n    assert 'flowpy' not in sys.modules")
    plugin = [] if INSTALLED else ["-p", "flowpy_pytest"]
    environment = [sys.executable, "-m", "pytest", *plugin, "-q", "-p", "no:cacheprovider"]
    path = str(Path(__file__).parents[2] / "src")

    done = subprocess.run(environment, capture_output=True, text=True, check=False, env={"PYTHONPATH": path})

    assert done.returncode == 0, done.stdout


def test_what_is_not_deterministic_fails_the_test_and_shows_why(run):
    shop = """
        import itertools
        from flowpy import activity, workflow

        numbers = itertools.count()

        @activity
        def add(number: int) -> int:
            return number + 1

        @activity
        def double(number: int) -> int:
            return 2 * number

        @workflow
        async def fickle() -> int:
            return await (add if next(numbers) == 0 else double)(1)
    """
    test = "from shop import fickle\ndef test_it(swf):\n    assert swf.run(fickle) == 2"

    result = run(shop=shop, test_shop=test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*NonDeterminismError*",
            "*ScheduleActivityTask(add-1: add 1.0)*",
            "*shop.py:16 in fickle*",
            "*WorkflowExecutionStarted*fickle*",
            "*ActivityTaskScheduled*add-1*",
        ]
    )


def test_what_is_decided_by_a_clock_fails_the_test(run):
    shop = """
        import time
        from flowpy import activity, workflow

        @activity
        def add(at: float) -> int:
            return 1

        @workflow
        async def clocked() -> int:
            return await add(time.perf_counter())
    """
    test = "from shop import clocked\ndef test_it(swf):\n    swf.run(clocked)"

    result = run(shop=shop, test_shop=test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*NonDeterminismError*", "*at*"])


def test_a_failed_test_is_not_replayed_on_top(run):
    test = "from shop import order\ndef test_it(swf):\n    swf.start(order, 'o-7')\n    assert False, 'mine'"

    result = run(test_shop=test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*AssertionError: mine*"])


class TestWhatAFailureShows:
    SHOP = """
        from flowpy import activity, workflow

        @activity
        def find(name: str) -> str:
            return {"lamp": "shelf 1"}[name]

        @workflow
        async def order(name: str) -> str:
            return await find(name)
    """
    TEST = "from shop import order\ndef test_it(swf):\n    assert swf.run(order, 'rug') == 'shelf 2'"

    def test_the_lines_of_the_test_the_workflow_and_the_activity(self, run):
        result = run(shop=self.SHOP, test_shop=self.TEST)

        result.stdout.fnmatch_lines(
            [
                ">       return await find(name)",
                "E       flowpy.errors.ActivityFailed: activity find (find-1) failed: KeyError: 'rug'",
                ">       assert swf.run(order, 'rug') == 'shelf 2'",
                "E       flowpy.errors.WorkflowFailed: *",
                '*return {"lamp": "shelf 1"}[[]name[]]',
            ]
        )
        result.stdout.no_fnmatch_line("*flowpy/runtime/*: *")
        result.stdout.no_fnmatch_line("> *_environment*")

    def test_all_frames_if_they_are_asked_for(self, run):
        result = run("--full-trace", shop=self.SHOP, test_shop=self.TEST)
        result.stdout.fnmatch_lines([">*current.result(timeout=0)"])


def test_recording_stores_one_file_for_each_run(run, pytester):
    run("--flowpy-record", test_shop=TEST).assert_outcomes(passed=1)

    (file,) = (pytester.path / "histories").iterdir()
    assert file.name == "test_shop.test_order.history.json"
    recorded = json.loads(file.read_text())
    assert recorded["workflowExecution"]["workflowId"] == "order-1"
    assert recorded["events"][-1]["eventType"] == "WorkflowExecutionCompleted"


def test_recording_twice_gives_the_same_files(run, pytester):
    run("--flowpy-record", test_shop=TEST)
    first = (pytester.path / "histories" / "test_shop.test_order.history.json").read_text()
    run("--flowpy-record", test_shop=TEST)
    assert (pytester.path / "histories" / "test_shop.test_order.history.json").read_text() == first


def test_recorded_histories_are_tests(run, pytester):
    pytester.makeini("[pytest]\nflowpy_workflows = shop")
    run("--flowpy-record", test_shop=TEST).assert_outcomes(passed=1)

    run().assert_outcomes(passed=2)


def test_a_recorded_history_that_does_not_replay_shows_report_and_timeline(run, pytester):
    pytester.makeini("[pytest]\nflowpy_workflows = shop")
    run("--flowpy-record", test_shop=TEST)

    result = run("histories", shop=SHOP.replace("await charge(order_id)", '"free"'))

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*NonDeterminismError:*", "*charge-1*", "*ActivityTaskCompleted*charge-1*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_module_that_is_not_there_is_named_without_a_traceback(run, pytester):
    run("--flowpy-record", test_shop=TEST)
    pytester.makeini("[pytest]\nflowpy_workflows = shops.workflows")

    result = run("histories")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*no module 'shops', which flowpy_workflows names*"])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_histories_are_left_alone_where_no_workflows_are_named(run, pytester):
    run("--flowpy-record", test_shop=TEST)

    run().assert_outcomes(passed=1)
    result = run("histories/test_shop.test_order.history.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*flowpy_workflows = *"])


def test_the_fixture_replay(run, pytester):
    run("--flowpy-record", test_shop=TEST)
    test = """
        from shop import order

        def test_old(replay):
            assert replay(order, "histories/test_shop.test_order.history.json").result == "r-1"
    """
    run(test_shop=test).assert_outcomes(passed=1)


def test_both_fixtures_take_the_converter_of_the_tests(run):
    shop = """
        from fractions import Fraction

        from flowpy import workflow
        from flowpy.data import Converter

        converter = Converter()
        converter.register(Fraction, encode=str, decode=Fraction)

        @workflow
        async def half(number: Fraction) -> Fraction:
            return number / 2
    """
    conftest = """
        import pytest
        from shop import converter

        @pytest.fixture
        def flowpy_converter():
            return converter
    """
    test = """
        from fractions import Fraction
        from shop import half

        def test_half(swf, replay):
            run = swf.start(half, Fraction(1, 3))
            assert run.result() == replay(half, run).result == Fraction(1, 6)
    """
    run(shop=shop, conftest=conftest, test_half=test).assert_outcomes(passed=1)


def test_strict_says_its_seed_and_repeats_it(run):
    test = TEST.replace('== "r-1"', '== "r-2"')
    result = run("--flowpy-strict", "--flowpy-seed=7", test_shop=test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*flowpy: strict, --flowpy-seed=7*", "*strict, --flowpy-seed=7*"])


def test_the_order_of_a_set_is_found_under_other_hash_seeds(run):
    shop = """
        import asyncio
        from flowpy import activity, workflow

        @activity
        def greet(name: str) -> str:
            return name

        @workflow
        async def greetings() -> int:
            names = {"ann", "bob", "cid", "dora", "eve"}
            return len(await asyncio.gather(*[greet(name) for name in names]))

        @workflow
        async def in_order() -> int:
            return len(await asyncio.gather(*[greet(name) for name in sorted({"ann", "bob", "cid"})]))
    """
    test = """
        from shop import greetings, in_order

        def test_set(swf):
            assert swf.run(greetings) == 5

        def test_sorted(swf):
            assert swf.run(in_order) == 3
    """
    run(shop=shop, test_shop=test).assert_outcomes(passed=2)

    result = run("--flowpy-hash-seeds=1,2", shop=shop, test_shop=test)

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*NonDeterminismError: replayed under PYTHONHASHSEED=*"])
    result.stdout.no_fnmatch_line("*During handling of the above exception*")


@pytest.mark.parametrize("seeds", ["one", "1,-2", "4294967296"])
def test_what_is_no_hash_seed_is_wrong_usage(run, seeds):
    result = run(f"--flowpy-hash-seeds={seeds}", test_shop=TEST)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --flowpy-hash-seeds: *is no hash seed; say numbers of 0 to 4294967295*"])


def test_what_another_process_cannot_import_is_said(run):
    test = """
        from flowpy import workflow

        def test_it(swf):
            @workflow
            async def local() -> None: ...
            swf.run(local)
    """
    result = run("--flowpy-hash-seeds=1", test_shop=test)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*declared at the top of a module*"])


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("tests/shop/test_order.py::test_declined", "tests.shop.test_order.test_declined"),
        ("test_order.py::TestX::test_a[eu-1.2]", "test_order.TestX.test_a.eu-1.2"),
    ],
)
def test_files_are_named_after_their_tests(nodeid, name):
    assert file_name(nodeid) == name


@pytest.mark.parametrize(("one", "other"), [("a/b", "a:b"), ("a/b", "a.b"), ("é é", "é.é"), ("", ".")])
def test_names_of_odd_parameters_stay_apart(one, other):
    assert file_name(f"test_order.py::test_it[{one}]") != file_name(f"test_order.py::test_it[{other}]")


def test_the_second_run_of_a_test_is_none_of_another_test(run, pytester):
    test = """
        import pytest
        from shop import charge, order

        @pytest.mark.parametrize(("name", "runs"), [("a", 2), ("a-2", 1)], ids=["a", "a-2"])
        def test_orders(swf, name, runs):
            swf.stub(charge, returns="r-1")
            for number in range(runs):
                swf.start(order, f"{name}-{number}")
    """
    run("--flowpy-record", test_shop=test).assert_outcomes(passed=2)

    assert sorted(file.name for file in (pytester.path / "histories").iterdir()) == [
        "test_shop.test_orders.a-2.history.json",
        "test_shop.test_orders.a.history.json",
        "test_shop.test_orders.a~2.history.json",
    ]


def test_long_names_stay_apart():
    one, other = (file_name(f"test_order.py::test_it[{'x' * 300}{end}]") for end in "ab")
    assert one != other
    assert len(one) < 200
