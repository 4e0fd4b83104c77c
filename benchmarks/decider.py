"""What a decider costs in CPU and memory, line by line, beside botoflow and botocore's own parser.

    python benchmarks/decider.py [--rounds 9] [--whole-rounds 3] [--lines parse,wire,…] [--json] [--check]

Prints a table, or with ``--json`` one JSON object with every sample. ``--check`` makes a missed goal an error. Figures
are ratios within rounds, their median. Nothing is extrapolated: botoflow goes through each whole chain, which takes it
a minute or two, so there are ``--whole-rounds`` of those (default 3).
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Callable

import parsing
from attrs import frozen
from libraries import SAMPLE, Library
from timing import cpu, median_ratio, table

SHORT, MIDDLE, WHOLE = 100, 300, 1_000
"""Activities of the chains."""
EARLY, LATE = 100, 24_000
"""Events that a run has seen when the cost of new ones is measured."""
FEW, MANY = 10, 1_000
"""Activities behind a run when its memory is measured."""
OFTEN = {"from_wire": 8, "replay_only": 40}
"""How often flowpy goes through a whole chain before botoflow does so once, and again after it."""


@frozen
class Line:
    """What was measured of one thing.

    Attributes:
        name: What is done.
        figure: The figure that has a goal.
        goal: The goal.
        at_least: Whether the figure is to be at least that; else at most.
        shown: What stands behind the figure, in words.
        samples: Every sample, by what it is of, in seconds of CPU or bytes.
    """

    name: str
    figure: float
    goal: float
    at_least: bool
    shown: str
    samples: dict[str, list[float]]

    @property
    def missed(self) -> bool:
        """Whether the goal is missed."""
        return self.figure < self.goal if self.at_least else self.figure > self.goal


@frozen
class Bench:
    """The libraries, and how often what is done.

    Attributes:
        flowpy: flowpy, in a process of its own.
        botoflow: botoflow likewise, None if it is not installed.
        rounds: Samples of what is short.
        whole_rounds: Samples of whole chains by botoflow.
    """

    flowpy: Library
    botoflow: Library | None
    rounds: int
    whole_rounds: int

    def parse(self) -> list[Line]:
        """Reading a page of events."""
        ways = parsing.parse()
        times = [max(1, round(SAMPLE / cpu(way, 1))) for way in ways]
        ours, other = self._interleaved(*(lambda i=i: cpu(ways[i], times[i]) for i in (0, 1)))  # type: ignore[misc]
        name = f"read a page of {parsing.PAGE:,} events, botocore / flowpy"
        return [_times_less(name, ours, other, 8.0, "botocore")]

    def wire(self) -> list[Line]:
        """A whole chain from wire bytes to decisions."""
        return self._whole("from_wire", MIDDLE, 40.0, f"wire bytes to decisions, chain of {MIDDLE}, botoflow / flowpy")

    def chain(self) -> list[Line]:
        """A whole chain, replay only."""
        return self._whole("replay_only", WHOLE, 1_000.0, f"chain of {WHOLE:,}, replay only, botoflow / flowpy")

    def length(self) -> list[Line]:
        """A decision of a long run beside one of a short run."""
        sizes = (SHORT, WHOLE)
        for size in sizes:
            self.flowpy.cpu("replay_only", size)
        short, long = self._interleaved(*(lambda n=n: self.flowpy.cpu("replay_only", n) / (n + 1) for n in sizes))  # type: ignore[misc]
        name = f"µs per decision, chain of {WHOLE:,} / of {SHORT}"
        return [_flat(name, long, short, f"{_micro(long)} / {_micro(short)}", (WHOLE, SHORT))]

    def event(self) -> list[Line]:
        """A new event of a long run beside one of a short run."""
        early, late = self._interleaved(*(lambda n=n: self.flowpy.ask("new_event", n) for n in (EARLY, LATE)))  # type: ignore[misc]
        name = f"µs per new event, after {LATE:,} / after {EARLY}"
        return [_flat(name, late, early, f"{_micro(late)} / {_micro(early)}", (LATE, EARLY))]

    def memory(self) -> list[Line]:
        """The memory of a run that waits."""
        few, many = (self.flowpy.ask("memory", size) for size in (FEW, MANY))
        samples = {str(MANY): [many], str(FEW): [few]}
        most = max(few, many) / 1024
        return [
            Line("KB per run that waits, the most", most, 12.0, False, "", samples),
            Line(
                f"memory of a run, after {MANY:,} activities / after {FEW}",
                many / few,
                1.1,
                False,
                f"{many / 1024:.3g} KB / {few / 1024:.3g} KB",
                samples,
            ),
        ]

    def _interleaved(self, *samples: Callable[[], float]) -> list[list[float]]:
        rounds = [[sample() for sample in samples] for _ in range(self.rounds)]
        return [list(taken) for taken in zip(*rounds, strict=True)]

    def _whole(self, method: str, size: int, goal: float, name: str) -> list[Line]:
        if self.botoflow is None:
            return []
        ours, theirs = list[float](), list[float]()
        self.flowpy.cpu(method, size, 1)
        for _ in range(self.whole_rounds):
            # Before and after, because one chain of botoflow takes long enough for the machine to change its pace.
            before = self.flowpy.cpu(method, size, OFTEN[method])
            theirs.append(self.botoflow.cpu(method, size, 1))
            ours.append((before + self.flowpy.cpu(method, size, OFTEN[method])) / 2)
        return [_times_less(name, ours, theirs, goal, "botoflow")]


def _times_less(name: str, ours: list[float], other: list[float], goal: float, who: str) -> Line:
    """A line on how many times less CPU flowpy takes."""
    shown = f"{_milli(other)} / {_milli(ours)}"
    return Line(name, median_ratio(other, ours), goal, True, shown, {"flowpy": ours, who: other})


def _flat(name: str, long: list[float], short: list[float], shown: str, sizes: tuple[int, int]) -> Line:
    """A line on what should not grow."""
    return Line(name, median_ratio(long, short), 1.2, False, shown, {str(sizes[0]): long, str(sizes[1]): short})


def _milli(samples: list[float]) -> str:
    return f"{statistics.median(samples) * 1e3:,.4g} ms"


def _micro(samples: list[float]) -> str:
    return f"{statistics.median(samples) * 1e6:.3g} µs"


LINES = ("parse", "wire", "chain", "length", "event", "memory")


def text(lines: list[Line]) -> str:
    """The table."""
    rows = [
        (
            line.name,
            line.shown,
            f"{line.figure:,.4g}",
            f"{'≥' if line.at_least else '≤'} {line.goal:,g}",
            "MISSED" if line.missed else "held",
        )
        for line in lines
    ]
    return f"CPython {platform.python_version()}\n\n{table(('line', 'CPU or memory', 'figure', 'goal', ''), rows)}"


def as_json(lines: list[Line]) -> str:
    """The same with every sample."""
    told = {line.name: {"figure": line.figure, "goal": line.goal, "samples": line.samples} for line in lines}
    return json.dumps({"python": platform.python_version(), "lines": told}, indent=1, ensure_ascii=False)


def measure(lines: list[str], rounds: int, whole_rounds: int) -> list[Line]:
    """Measure some lines; those beside botoflow are left out if it is not installed."""
    libraries = [Library("flowpy"), Library("botoflow")]
    ours, theirs = libraries
    if not theirs.installed:
        print("botoflow is not installed here: left out", file=sys.stderr)
    bench = Bench(ours, theirs if theirs.installed else None, rounds, whole_rounds)
    found = [line for name in lines for line in getattr(bench, name)()]
    for library in libraries:
        if library.installed:
            library.close()
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="What a decider costs, line by line.")
    parser.add_argument("--rounds", type=int, default=9, help="samples of what is short (default 9)")
    parser.add_argument("--whole-rounds", type=int, default=3, help="whole chains by botoflow too (default 3)")
    parser.add_argument("--lines", default=",".join(LINES), help="which to measure (default all)")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every sample")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    options = parser.parse_args()
    lines = measure(options.lines.split(","), options.rounds, options.whole_rounds)
    print(as_json(lines) if options.json else text(lines))
    return 1 if options.check and any(line.missed for line in lines) else 0


if __name__ == "__main__":
    raise SystemExit(main())
