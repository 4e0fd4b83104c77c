"""flowpy's pytest plugin: fixtures ``swf`` and ``replay``, recorded histories as tests.

A module outside of the package, so that pytest loads nothing of flowpy before a test asks for it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowpy.data.converter import Converter
    from flowpy.testing import Environment
    from flowpy.testing.session import Session

__all__ = ["flowpy_converter", "replay", "swf"]

_SUFFIX = ".history.json"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, and what stands in the configuration file."""
    group = parser.getgroup("flowpy", "flowpy: tests of workflows")
    group.addoption(
        "--flowpy-record",
        action="store_true",
        help="store the history of each test that passes, in the folder that the ini option flowpy_histories names",
    )
    group.addoption(
        "--flowpy-strict",
        action="store_true",
        help="refuse calls that no replay can repeat, leave the order of activities to chance, replay every prefix",
    )
    group.addoption(
        "--flowpy-seed", type=int, metavar="N", help="what --flowpy-strict leaves to chance, as in an earlier run"
    )
    group.addoption(
        "--flowpy-hash-seeds",
        metavar="N,N,...",
        default="",
        help="replay every history also in processes with these values of PYTHONHASHSEED",
    )
    parser.addini("flowpy_workflows", "modules with the workflows of collected *.history.json files", type="args")
    parser.addini("flowpy_histories", "folder for --flowpy-record, seen from the root", default="histories")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed where all processes of a parallel run get to know it."""
    if config.option.flowpy_seed is None:
        config.option.flowpy_seed = random.SystemRandom().randrange(1_000_000)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say how to have the same chance again."""
    seed: int = config.option.flowpy_seed
    return f"flowpy: strict, --flowpy-seed={seed}" if config.option.flowpy_strict else None


@pytest.fixture
def flowpy_converter() -> Converter:
    """The converter of ``swf`` and ``replay``; a fixture of the same name in your tests takes its place."""
    from flowpy.data.converter import DEFAULT

    return DEFAULT


@pytest.fixture
def swf(request: pytest.FixtureRequest, flowpy_converter: Converter) -> Iterator[Environment]:
    """A ``flowpy.testing.Environment`` for one test; every history it makes is replayed at the end."""
    yield from _session(request.config).environment(request.node, flowpy_converter)


@pytest.fixture
def replay(request: pytest.FixtureRequest, flowpy_converter: Converter) -> Callable[..., Any]:
    """``flowpy.testing.replay``, whose errors show the history; strict with ``--flowpy-strict``."""
    return partial(_session(request.config).replay, converter=flowpy_converter)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test fails, not its teardown, if a history that it made does not replay."""
    try:
        result = yield
        if _is_used():
            _session(item.config).check(item)
    except BaseException as error:
        if _is_used() and not item.config.option.fulltrace:
            from flowpy.testing.tracebacks import shorten

            shorten(error)
        raise
    finally:
        if _is_used():
            _session(item.config).name_seed(item)
    return result


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """``*.history.json`` files are tests, where ``flowpy_workflows`` says what of, or a command names one."""
    if not file_path.name.endswith(_SUFFIX):
        return None
    if not (parent.config.getini("flowpy_workflows") or parent.session.isinitpath(file_path)):
        return None
    from flowpy.testing.collecting import HistoryFile

    return HistoryFile.from_parent(parent, path=file_path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the processes that were started."""
    if _is_used():
        _session(config).close()


def _is_used() -> bool:
    """Whether any test has asked for flowpy yet."""
    return "flowpy.testing.session" in sys.modules


def _session(config: pytest.Config) -> Session:
    from flowpy.testing.session import session_of

    return session_of(config)
