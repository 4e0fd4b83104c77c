"""Watches what code does that reads what others wrote: what it imports, executes, opens, and how much it takes."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_NEVER = ("import", "exec", "compile", "pickle", "marshal", "ctypes", "os.", "subprocess", "socket", "shutil", "urllib")
"""Beginnings of audit events (Python's documentation, "Audit events table") of what no payload may bring about."""

_seen: list[str] | None = None
_allowed = ""


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _seen is None:
        return
    if event == "open":
        path = str(args[0])
        # Reports show lines of source; "<unknown>" is what Python looks for to show one that ``ast`` cannot parse.
        if not path.endswith((".py", "<unknown>")) and not (_allowed and path.startswith(_allowed)):
            _seen.append(f"open {args[0]}")
    elif event.startswith(_NEVER) and not (event == "compile" and _is_parsed(sys._getframe(1))):
        _seen.append(f"{event} {args[:1]}")


def _is_parsed(frame: Any) -> bool:
    """Whether ``ast`` asks, which compiles nothing that can be executed: reports look at the code that made a call."""
    return bool(frame.f_globals.get("__name__") == "ast")


sys.addaudithook(_hook)  # for as long as the process lives: it does nothing outside ``watched``


@contextmanager
def watched(allowed: str = "") -> Iterator[None]:
    """Fail if anything inside imports, executes, connects, or opens files outside a directory.

    Args:
        allowed: What paths must begin with.
    """
    global _seen, _allowed
    _seen, _allowed = [], allowed
    try:
        yield
    finally:
        seen, _seen = _seen, None
    assert seen == [], seen


def peak(call: Callable[[], Any]) -> int:
    """Bytes that a call had allocated at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def seconds(call: Callable[[], Any]) -> float:
    """Seconds of processor time that a call takes."""
    begun = time.process_time()
    call()
    return time.process_time() - begun
