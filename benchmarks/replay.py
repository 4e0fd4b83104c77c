"""CPU of a full replay, and of the import, beside peers.

    python benchmarks/replay.py [--rounds 7] [--peers flowpy,durabletask,botoflow] [--json] [--check]

Prints tables, or with ``--json`` one JSON object with every sample. ``--check`` makes a missed budget an error. Each
library runs in a process of its own, whose heap holds nothing of the others; the rounds go A B C, A B C, … and every
ratio is a median of ratios within rounds, so that it holds on a shared machine.
"""

from __future__ import annotations

import argparse
import json
import logging
import platform
import statistics
import subprocess
import sys
from typing import Any

from attrs import frozen
from children import Child, answer
from peers import PEERS, SHAPES
from timing import cpu, median_ratio, table

SIZE = 1_000
LONG = 4_000
"""4,000 chained activities are 24,003 events: SWF ends a run at 25,000."""
SAMPLE = 0.08
"""Seconds of CPU that a sample takes at least, by repeating."""

BUDGETS = {
    **{f"{shape}, flowpy / durabletask": 1 / 4 for shape in SHAPES},
    **{f"{shape}, flowpy / botoflow": 1 / 10 for shape in SHAPES},
    "chain, t(4000) / t(1000)": 5.0,
    "import flowpy / import boto3": 1.3,
}

Samples = dict[str, list[float]]
"""CPU seconds by peer, one for each round."""


class Peer(Child):
    """A peer in a process of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(_serve, name)
        self.version: str | None = self.told

    def sample(self, shape: str, size: int) -> float:
        """CPU seconds of one replay; the first call for a shape and size also builds the history and warms up."""
        return self.asked(shape, size)


def _serve(name: str, pipe: Any) -> None:
    """What the child does: replay whatever is asked for, as often as makes one sample."""
    logging.disable(logging.CRITICAL)
    try:
        peer = PEERS[name]()
    except ImportError:
        pipe.send(None)
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        pipe.send(version("flowpy-swf" if name == "flowpy" else name))
    except PackageNotFoundError:
        pipe.send("source")
    made: dict[tuple[str, int], tuple[Any, int]] = {}

    def replay(shape: str, size: int) -> float:
        if (shape, size) not in made:
            history = peer.build(shape, size)
            peer.replay(shape, size, history)
            once = cpu(lambda: peer.replay(shape, size, history), 1)
            made[shape, size] = history, max(1, round(SAMPLE / once))
        history, times = made[shape, size]
        return cpu(lambda: peer.replay(shape, size, history), times)

    answer(name, pipe, replay)


def replays(children: dict[str, Peer], shape: str, size: int, rounds: int) -> Samples:
    """Samples of every peer, the rounds interleaved."""
    samples: Samples = {name: [] for name in children}
    for child in children.values():
        child.sample(shape, size)
    for _ in range(rounds):
        for name, child in children.items():
            samples[name].append(child.sample(shape, size))
    return samples


def imports(rounds: int) -> Samples:
    """CPU seconds of new interpreters that import one module each, less those of an empty one."""
    modules = ("flowpy", "boto3")
    samples: Samples = {module: [] for module in modules}
    for _ in range(rounds):
        empty = _python("")
        for module in modules:
            samples[module].append(_python(f"import {module}") - empty)
    return samples


def _python(code: str) -> float:
    """CPU seconds of an interpreter up to the end of some code, told by itself."""
    told = subprocess.run(  # noqa: S603 - this Python, with code from above
        [sys.executable, "-c", f"import time\n{code}\nprint(time.process_time())"],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(told.stdout)


@frozen
class Report:
    """All that was measured.

    Attributes:
        versions: Version by peer.
        sizes: Samples by (shape, size).
        short: flowpy's samples of the short chain, taken in the rounds of the long one.
        imported: Samples of the imports.
    """

    versions: dict[str, str]
    sizes: dict[tuple[str, int], Samples]
    short: list[float]
    imported: Samples

    def ratios(self) -> dict[str, float]:
        """The ratios that have a budget."""
        found = {}
        for (shape, size), samples in self.sizes.items():
            if size == SIZE:
                for peer in samples.keys() - {"flowpy"}:
                    found[f"{shape}, flowpy / {peer}"] = median_ratio(samples["flowpy"], samples[peer])
        found["chain, t(4000) / t(1000)"] = median_ratio(self.sizes["chain", LONG]["flowpy"], self.short)
        found["import flowpy / import boto3"] = median_ratio(self.imported["flowpy"], self.imported["boto3"])
        return {name: found[name] for name in BUDGETS if name in found}

    def text(self) -> str:
        """The tables."""
        parts = [f"CPython {platform.python_version()}, {', '.join(f'{n} {v}' for n, v in self.versions.items())}"]
        for (shape, size), samples in self.sizes.items():
            rows = [
                (peer, statistics.median(taken) / size * 1e6, median_ratio(taken, samples["flowpy"]))
                for peer, taken in samples.items()
            ]
            parts.append(f"{shape} of {size:,}\n\n{table(('replay', 'µs of CPU per activity', 'x flowpy'), rows)}")
        rows = [(module, statistics.median(taken) * 1e3) for module, taken in self.imported.items()]
        parts.append(table(("import", "ms of CPU"), rows))
        rows = [
            (name, ratio, f"≤ {BUDGETS[name]:g}", "held" if ratio <= BUDGETS[name] else "MISSED")
            for name, ratio in self.ratios().items()
        ]
        parts.append(table(("ratio", "measured", "budget", ""), rows))
        return "\n\n".join(parts)

    def json(self) -> str:
        """The same with every sample."""
        return json.dumps(
            {
                "python": platform.python_version(),
                "versions": self.versions,
                "cpu_seconds": {f"{shape} {size}": samples for (shape, size), samples in self.sizes.items()},
                "import_cpu_seconds": self.imported,
                "ratios": self.ratios(),
                "budgets": BUDGETS,
            },
            indent=1,
        )


def measure(peers: list[str], rounds: int) -> Report:
    """Run everything; peers that are not installed are left out."""
    children = {name: Peer(name) for name in peers}
    children = {name: child for name, child in children.items() if child.version is not None}
    for absent in set(peers) - children.keys():
        print(f"{absent} is not installed here: left out", file=sys.stderr)
    sizes = {(shape, SIZE): replays(children, shape, SIZE, rounds) for shape in SHAPES}
    ours = children["flowpy"]
    ours.sample("chain", LONG)
    short, long = [], []
    for _ in range(rounds):
        short.append(ours.sample("chain", SIZE))
        long.append(ours.sample("chain", LONG))
    sizes["chain", LONG] = {"flowpy": long}
    versions = {name: child.version or "" for name, child in children.items()}
    for child in children.values():
        child.close()
    return Report(versions, sizes, short, imports(rounds))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="CPU of a full replay, and of the import, beside peers.")
    parser.add_argument("--rounds", type=int, default=7, help="samples of each (default 7)")
    parser.add_argument("--peers", default=",".join(PEERS), help="which to measure, flowpy among them (default all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every sample")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a budget is missed")
    options = parser.parse_args()
    report = measure(options.peers.split(","), options.rounds)
    print(report.json() if options.json else report.text())
    missed = any(ratio > BUDGETS[name] for name, ratio in report.ratios().items())
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
