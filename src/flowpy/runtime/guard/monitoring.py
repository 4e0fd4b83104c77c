"""Python 3.12 and newer: ``sys.monitoring`` tells of calls, and call sites that matter to nobody are left out."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, CodeType
from typing import Any, Final

from flowpy.errors import CallError
from flowpy.runtime.guard.forbidden import Forbidden
from flowpy.runtime.guard.places import is_ours

_monitoring: Final[Any] = getattr(sys, "monitoring", None)
"""None on Python 3.11, where nobody makes a Watch of these."""
_NAME: Final = "flowpy.guard"
# Those that no kind of tool is meant to take come first.
_IDS: Final = (4, 3, 5, 2, 1, 0)


class Watch:
    """Watches calls in the whole process.

    Raises:
        CallError: All tool ids are taken.
    """

    def __init__(self, forbidden: Forbidden) -> None:
        self._forbidden = forbidden
        self._events = _monitoring.events
        self._id = _take()
        _monitoring.register_callback(self._id, self._events.CALL, self._called)
        _monitoring.register_callback(self._id, self._events.PY_START, self._started)
        _monitoring.set_events(self._id, self._events.CALL)
        for code, _, _ in forbidden.codes.values():
            _monitoring.set_local_events(self._id, code, self._events.PY_START)

    def stop(self) -> None:
        """Give the tool id back."""
        _monitoring.set_events(self._id, 0)
        for code, _, _ in self._forbidden.codes.values():
            _monitoring.set_local_events(self._id, code, 0)
        _monitoring.register_callback(self._id, self._events.CALL, None)
        _monitoring.register_callback(self._id, self._events.PY_START, None)
        _monitoring.free_tool_id(self._id)

    def _called(self, code: CodeType, offset: int, function: Any, _first: Any) -> Any:
        if type(function) is BuiltinFunctionType:
            self._forbidden.builtin(function, sys._getframe(1), offset)
        return _monitoring.DISABLE if is_ours(code.co_filename) else None

    def _started(self, _code: CodeType, _offset: int) -> None:
        self._forbidden.started(sys._getframe(1))


def _take() -> int:
    """A tool id of our own."""
    for id in _IDS:
        if _monitoring.get_tool(id) is None:
            _monitoring.use_tool_id(id, _NAME)
            return id
    holders = ", ".join(str(_monitoring.get_tool(id)) for id in sorted(_IDS))
    raise CallError(
        f"the guard cannot watch calls: all six tool ids of sys.monitoring are taken ({holders}); stop one of them, or "
        "use Guard(strict=False), which does without"
    )
