"""Whose call it is: the line of workflow code that led to it, or nobody's."""

from __future__ import annotations

import gc
import linecache
import os
import site
import sysconfig
from asyncio import events
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path, PurePath
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from flowpy.rules import ignored
from flowpy.runtime import querying, recording
from flowpy.runtime.loop import COLLECTING, Loop

if TYPE_CHECKING:
    from flowpy.runtime.run import Run


@frozen
class Place:
    """A line of workflow code.

    Attributes:
        file: Its file.
        line: Its number.
        function: The function it stands in.
        through: The function of a library that it called, which made the call in the end; "" if it made it itself.
    """

    file: str
    line: int
    function: str
    through: str = ""

    def ignores(self, rule: str) -> bool:
        """Whether a comment on the line, or alone on the one above, lets a rule's calls through, with a reason."""
        above = linecache.getline(self.file, self.line - 1).strip()
        for text in (linecache.getline(self.file, self.line), above if above.startswith("#") else ""):
            rules, reason = ignored(text)
            if rule in rules and reason:
                return True
        return False


class _Kind(Enum):
    OWN = auto()
    """Code of the user."""
    LIBRARY = auto()
    """An installed distribution; its line is named if no code of the user's stands above it."""
    PASSED = auto()
    """The standard library and generated code: what they do is done by who called them."""
    FLOWPY = auto()
    EXEMPT = auto()
    """What it does, and what is done for it, is not the workflow's: logging, imports, reports, debuggers."""


_FLOWPY: Final = Path(__file__).parents[2]
_EXEMPT_FLOWPY: Final = f"{_FLOWPY / 'data'}{os.sep}"
"""Converters and codecs of the user's: payloads are written and read beside the code, not by it."""
_ENTRIES: Final = frozenset({(str(_FLOWPY / "runtime" / "run.py"), "feed"), (querying.__file__, querying.ask.__name__)})
"""Where a run is fed or asked: below stand the worker or a test, whose code made no call."""
_SIDE_EFFECT: Final = recording._run_once.__code__
_EXEMPT_STANDARD: Final = frozenset(
    "importlib logging warnings traceback linecache tokenize inspect zoneinfo pkgutil zipimport runpy "
    "pdb bdb cmd code codeop trace unittest doctest".split()
)
_EXEMPT_LIBRARIES: Final = frozenset({"coverage", "debugpy", "pydevd", "_pydevd_bundle", "_pydev_bundle", "_pytest"})


def running() -> Run | None:
    """The run whose code this thread steps, None if there is none or if it is only being cleared away."""
    loop: Any = events._get_running_loop()
    if type(loop) is not Loop or loop.thread == COLLECTING or loop.run.dead:
        return None
    return loop.run


def place_of(frame: FrameType | None, run: Run) -> Place | None:
    """The line of workflow code that made a call.

    Args:
        frame: The frame that made it.
        run: The run being stepped.

    Returns:
        None if it is not workflow code's: flowpy's own, a side effect's, logging's.
    """
    package = _package(_file(run))
    # What others have the collector call comes at any moment, inside whatever line.
    collecting = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    own: FrameType | None = None
    library: FrameType | None = None
    through: FrameType | None = None
    while frame is not None:
        code = frame.f_code
        kind = _kind(code.co_filename)
        if kind is _Kind.EXEMPT or code is _SIDE_EFFECT or code in collecting:
            return None
        if kind is _Kind.FLOWPY:
            if (code.co_filename, code.co_name) in _ENTRIES:
                break
            if own is None and library is None:
                return None
        elif own is None:
            if kind is _Kind.OWN or (kind is _Kind.LIBRARY and package and _package(code.co_filename) == package):
                own = frame
            elif kind is _Kind.LIBRARY and library is None:
                library = frame
            if own is None:
                through = frame
        frame = frame.f_back
    found = own or library
    if found is None:
        return None
    code = found.f_code
    name = _name(through) if through is not None and through is not found else ""
    return Place(code.co_filename, found.f_lineno or code.co_firstlineno, code.co_qualname, name)


def _name(frame: FrameType) -> str:
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"


def _file(run: Run) -> str:
    """The file of the workflow's function, or of its class's."""
    function = getattr(run.workflow.cls, run.workflow.execute_name, None) if run.workflow.cls else run.workflow.fn
    code = getattr(function, "__code__", None)
    return code.co_filename if code is not None else ""


def is_ours(file: str) -> bool:
    """Whether a file is flowpy's, or of those whose calls are nobody's concern."""
    return _kind(file) in _NOT_WATCHED


_NOT_WATCHED: Final = frozenset({_Kind.FLOWPY, _Kind.EXEMPT})
_STANDARD: Final = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    | {str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib")}
)
_INSTALLED: Final = tuple(
    {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    | {*site.getsitepackages(), site.getusersitepackages()}
)


@lru_cache(maxsize=4096)
def _kind(file: str) -> _Kind:
    if file.startswith("<"):
        module = file.strip("<>").removeprefix("frozen ").partition(".")[0]
        if module in _EXEMPT_STANDARD:
            return _Kind.EXEMPT
        return _Kind.OWN if file.startswith(("<stdin", "<doctest", "<ipython")) else _Kind.PASSED
    if file.startswith(_EXEMPT_FLOWPY):
        return _Kind.EXEMPT
    if file.startswith(f"{_FLOWPY}{os.sep}"):
        return _Kind.FLOWPY
    package = _package(file)
    if package:
        return _Kind.EXEMPT if PurePath(package).name in _EXEMPT_LIBRARIES else _Kind.LIBRARY
    for root in _STANDARD:
        if file.startswith(f"{root}{os.sep}"):
            module = PurePath(file).relative_to(root).parts[0].removesuffix(".py")
            return _Kind.EXEMPT if module in _EXEMPT_STANDARD else _Kind.PASSED
    return _Kind.OWN


@lru_cache(maxsize=4096)
def _package(file: str) -> str:
    """The installed package, or module, that a file belongs to; "" if it is not installed."""
    for root in _INSTALLED:
        if file.startswith(f"{root}{os.sep}"):
            return str(PurePath(root) / PurePath(file).relative_to(root).parts[0].removesuffix(".py"))
    return ""
