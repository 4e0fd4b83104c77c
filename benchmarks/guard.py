"""What the guard costs, as ratios to a process in which it was never switched on.

    python benchmarks/guard.py [--rounds 7] [--json]

Each way to run is a process of its own, because the audit hook, once installed, stays; the rounds go A B C, A B C, …
and every ratio is a median of ratios within rounds. A sample is decision tasks of one shape, decided in full.

- off: it was switched on before, and is off again;
- worker: ``Guard("warn", strict=False)`` around each decision task, as a worker has it by default;
- strict: ``Guard()`` around each decision task, as a test has it; around all: one block around the whole sample.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from peers import Flowpy
from timing import cpu, median_ratio, table

SHAPES = {"3 activities": ("chain", 3), "chain of 1,000": ("chain", 1_000), "fan-out of 1,000": ("fan-out", 1_000)}
WAYS = ("never", "off", "worker", "strict", "strict, around all")
SAMPLE = 0.1
"""Seconds of CPU that a sample takes at least, by repeating."""


def _guard(way: str) -> AbstractContextManager[Any]:
    from flowpy.runtime.guard import Guard

    return Guard("warn", strict=False) if way == "worker" else Guard()


class Child:
    """One way to run, in a process of its own."""

    def __init__(self, way: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(way, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def sample(self, shape: str) -> float:
        """CPU seconds of one decision task; the first call for a shape warms up."""
        self._pipe.send(shape)
        return float(self._pipe.recv())

    def close(self) -> None:
        """End the process."""
        self._pipe.send(None)
        self._process.join()


def _serve(way: str, pipe: Any) -> None:
    flowpy = Flowpy()
    if way == "off":
        with _guard(way):
            pass
    made: dict[str, tuple[Any, int]] = {}
    each = way in {"worker", "strict"}
    while (shape := pipe.recv()) is not None:
        kind, size = SHAPES[shape]

        def work() -> None:
            with _guard(way) if each else nullcontext():
                flowpy.replay(kind, size, made[shape][0])  # noqa: B023 - called at once

        if shape not in made:
            made[shape] = flowpy.build(kind, size), 1
            work()
            made[shape] = made[shape][0], max(1, round(SAMPLE / cpu(work, 3)))
        with _guard(way) if way == "strict, around all" else nullcontext():
            pipe.send(cpu(work, made[shape][1]))


def measured(rounds: int) -> dict[str, dict[str, list[float]]]:
    """CPU seconds by shape and way, one sample for each round, the rounds interleaved."""
    children = {way: Child(way) for way in WAYS}
    samples: dict[str, dict[str, list[float]]] = {shape: {way: [] for way in WAYS} for shape in SHAPES}
    for shape in SHAPES:
        for child in children.values():
            child.sample(shape)
        for _ in range(rounds):
            for way, child in children.items():
                samples[shape][way].append(child.sample(shape))
    for child in children.values():
        child.close()
    return samples


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What the guard costs.")
    parser.add_argument("--rounds", type=int, default=7, help="samples of each kind, default 7")
    parser.add_argument("--json", action="store_true", help="print every sample as JSON")
    given = parser.parse_args()
    samples = measured(given.rounds)
    if given.json:
        print(json.dumps({"python": platform.python_version(), "seconds": samples}))
        return
    rows = [
        [shape, *(median_ratio(samples[shape][way], samples[shape]["never"]) for way in WAYS[1:])] for shape in SHAPES
    ]
    print(f"Python {platform.python_version()}, CPU of a decision task over that without a guard\n")
    print(table(["", *WAYS[1:]], rows))


if __name__ == "__main__":
    main()
