"""Ending the command's process although code that was left behind still runs in it.

Python waits for busy threads of pools before it ends, those of ``asyncio.to_thread`` too, however long that takes. A
worker whose grace is over has given back what they work on: to wait would only do that work twice.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import Final

__all__ = ["end_if_left", "leave"]

LONGEST: Final = 3.0
"""Seconds for what is registered to be done at the end, such as sending the last spans."""

_left = threading.Event()


def leave() -> None:
    """Work was left behind in this process, so the command ends it without waiting for threads."""
    _left.set()


def end_if_left(code: object) -> None:
    """End the process, if work was left behind in it.

    Args:
        code: As ``SystemExit`` has it: the exit code, None for 0, or a text, which is shown and means 1.
    """
    if not _left.is_set():
        return
    number = code if isinstance(code, int) else int(code is not None)
    late = threading.Timer(LONGEST, os._exit, (number,))
    late.daemon = True
    late.start()
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    try:
        atexit._run_exitfuncs()  # noqa: SLF001 - as multiprocessing does, which ends its processes like this
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(number)
