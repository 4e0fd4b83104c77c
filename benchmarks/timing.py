"""CPU samples, ratios within rounds, and tables."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence


def cpu(work: Callable[[], object], times: int) -> float:
    """Seconds of CPU that one call of ``work`` takes, of ``times`` calls in a row.

    CPU and not wall time, because other programs share the machine; garbage of the sample before is collected first,
    so that nobody pays for it, and the collector stays on, so that everybody pays for their own.
    """
    gc.collect()
    begin = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - begin) / times


def median_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Median of the ratios within each round: what slows the whole machine for a while cancels out."""
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table: first column to the left, numbers to the right."""
    cells = [list(head), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [f"| {' | '.join(map(_aligned, row, widths, range(len(head))))} |" for row in cells]
    rule = "|" + "|".join("-" * (width + 1) + (":" if i else "-") for i, width in enumerate(widths)) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)


def _shown(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
