"""Libraries that are measured, each in a process of its own: what one leaves on the heap costs the other nothing."""

from __future__ import annotations

import logging
import os
from functools import partial
from typing import Any

import chains
from children import Child, answer
from timing import cpu

SAMPLE = 0.08
"""Seconds of CPU that a sample takes at least, by repeating."""


class Library(Child):
    """A library in a process of its own, asked to do what a method of its adapter does."""

    def __init__(self, name: str) -> None:
        super().__init__(_serve, name)
        self.installed: bool = self.told

    def ask(self, method: str, size: int) -> float:
        """What a method gives."""
        return self.asked(method, size, None)

    def cpu(self, method: str, size: int, times: int = 0) -> float:
        """CPU seconds of a method, of so many calls in a row; 0: as many as make a sample."""
        return self.asked(method, size, times)


def _serve(name: str, pipe: Any) -> None:
    """What the process does, on one processor.

    A worker's threads wake each other for every decision. On a machine that is idle the one that is woken gets a
    processor that slept, which on many virtual machines runs a third slower for a while: that would be measured too,
    although no work of either library is in it.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    logging.disable(logging.CRITICAL)
    try:
        library = chains.LIBRARIES[name]()
    except ImportError:
        pipe.send(False)
        return
    pipe.send(True)
    answer(name, pipe, partial(_done, library, {}))


def _done(library: Any, repeats: dict[tuple[str, int], int], method: str, size: int, times: int | None) -> float:
    do = getattr(library, method)
    if times is None:
        return float(do(size))
    if not times:
        if (method, size) not in repeats:
            repeats[method, size] = max(1, round(SAMPLE / cpu(lambda: do(size), 1)))
        times = repeats[method, size]
    return cpu(lambda: do(size), times)
