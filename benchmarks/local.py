"""The embedded SWF beside moto: activities per second, CPU of the server, and what closed executions cost.

    python benchmarks/local.py [--rounds 5] [--json] [--check]

A load is so many workflows one after the other, each a chain of activities: 4 L + 3 requests for a chain of L, the
whole history on every decision poll. One client, one thread, wall clock. Servers are processes of their own, new in every
round; the rounds go A B C, A B C, … and every ratio is a median of ratios within rounds, so that it holds on a shared
machine. CPU of a server is what the operating system counts for its process. Needs moto and flask (the extra ``test``).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from local_clients import Call, boto_call, mocked_call, socket_call
from local_load import LOADS, Load, prepare, run
from local_servers import Process, flowpy_server, moto_server
from timing import median_ratio, table

from flowpy.local import Engine, SystemClock, client

AGED = 10_000
"""Closed executions that must not slow a request."""
BATCHES = 30
"""Loads of a probe; the fastest third of them counts, so that what else runs on the machine does not."""

BUDGETS: dict[str, tuple[float, bool]] = {
    **{f"{load}: boto3 to flowpy, SQLite / boto3 to moto": (3.0, True) for load in LOADS},
    **{f"{load}: Engine.call / boto3 in mock_aws": (10.0, True) for load in LOADS},
    **{f"{load}: server CPU per request, flowpy, SQLite / moto": (1 / 5, False) for load in LOADS},
    f"time per request after {AGED} closed executions / after none": (1.2, False),
}
"""A bound for each ratio, and whether more is better."""

Samples = dict[str, list[float]]


@frozen
class Variant:
    """One way to reach one service.

    Attributes:
        name: As tables show it.
        server: Starts the server; None for in process.
        client: ``boto3`` or ``http.client``.
    """

    name: str
    server: Any
    client: str = "boto3"


def variants(folder: Path) -> list[Variant]:
    """What is compared; the stores of the servers lie in a folder."""
    database = str(folder / "swf.sqlite")
    return [
        Variant("boto3 to moto", moto_server),
        Variant("boto3 to flowpy, SQLite", lambda: flowpy_server(database)),
        Variant("boto3 to flowpy, memory", flowpy_server),
        Variant("http.client to moto", moto_server, "http.client"),
        Variant("http.client to flowpy, SQLite", lambda: flowpy_server(database), "http.client"),
        Variant("http.client to flowpy, memory", flowpy_server, "http.client"),
        Variant("boto3 in mock_aws", None, "mock_aws"),
        Variant("boto3 in process on flowpy", None, "client"),
        Variant("Engine.call", None, "engine"),
    ]


@contextlib.contextmanager
def connected(variant: Variant) -> Iterator[tuple[Call, Process | None]]:
    """A call to a service that was started for it."""
    if variant.server is None:
        with in_process(variant.client) as call:
            yield call, None
        return
    with variant.server() as process:
        yield (socket_call if variant.client == "http.client" else boto_call)(process.url), process


@contextlib.contextmanager
def in_process(kind: str) -> Iterator[Call]:
    """A call that stays in this process."""
    if kind == "mock_aws":
        with mocked_call() as call:
            yield call
        return
    engine = Engine(SystemClock())
    if kind == "engine":
        yield engine.call
    else:
        yield boto_call(made=client(engine))


def measure(rounds: int) -> Samples:
    """Activities per second, and CPU seconds per request of the servers, by load and variant."""
    samples: Samples = {}
    for _ in range(rounds):
        for load in LOADS.values():
            with tempfile.TemporaryDirectory() as folder:
                for variant in variants(Path(folder)):
                    sample(load, variant, samples)
    return samples


def sample(load: Load, variant: Variant, samples: Samples) -> None:
    """Adds what one load shows on one variant."""
    with connected(variant) as (call, process):
        prepare(call)
        run(call, Load("warm-up", 1, 2))
        before = process.cpu() if process else 0.0
        seconds = run(call, load)
        samples.setdefault(f"{load.name}: {variant.name}", []).append(load.activities / seconds)
        if process:
            name = f"{load.name}: server CPU per request, {variant.name}"
            samples.setdefault(name, []).append((process.cpu() - before) / load.requests)


def ageing(count: int) -> tuple[float, float]:
    """Seconds per request before and after so many executions were started and closed, with SQLite on."""
    load, fill = Load("probe", 5, 5), Load("fill", count, 0)
    with tempfile.TemporaryDirectory() as folder, flowpy_server(str(Path(folder) / "swf.sqlite")) as process:
        call = socket_call(process.url)
        prepare(call)
        run(call, load)
        young = probe(call, load)
        run(call, fill)
        old = probe(call, load)
    return young, old


def probe(call: Call, load: Load) -> float:
    """Seconds per request of a load."""
    fastest = sorted(run(call, load) for _ in range(BATCHES))[: BATCHES // 3]
    return statistics.median(fastest) / load.requests


def ratios(samples: Samples, young: float, old: float) -> dict[str, float]:
    """Each budget's ratio."""
    found: dict[str, float] = {}
    for load in LOADS:
        cpu = f"{load}: server CPU per request, boto3 to"
        for name, ours, theirs in (
            (f"{load}: boto3 to flowpy, SQLite / boto3 to moto", "boto3 to flowpy, SQLite", "boto3 to moto"),
            (f"{load}: Engine.call / boto3 in mock_aws", "Engine.call", "boto3 in mock_aws"),
        ):
            found[name] = median_ratio(samples[f"{load}: {ours}"], samples[f"{load}: {theirs}"])
        found[f"{load}: server CPU per request, flowpy, SQLite / moto"] = median_ratio(
            samples[f"{cpu} flowpy, SQLite"], samples[f"{cpu} moto"]
        )
    found[f"time per request after {AGED} closed executions / after none"] = old / young
    return found


def is_met(name: str, ratio: float) -> bool:
    """Whether a ratio keeps its budget."""
    bound, more_is_better = BUDGETS[name]
    return ratio >= bound if more_is_better else ratio <= bound


def report(samples: Samples, found: dict[str, float]) -> str:
    """The medians, and the ratios beside their budgets."""
    speeds = [(name, statistics.median(values)) for name, values in samples.items() if "server CPU" not in name]
    cpus = [(name, statistics.median(values) * 1e3) for name, values in samples.items() if "server CPU" in name]
    rows = [
        (
            name,
            ratio,
            f"{'≥' if BUDGETS[name][1] else '≤'} {BUDGETS[name][0]:.3g}",
            "yes" if is_met(name, ratio) else "NO",
        )
        for name, ratio in found.items()
    ]
    return "\n\n".join(
        [
            table(["one client", "activities/s"], speeds),
            table(["server", "ms of CPU per request"], cpus),
            table(["ratio", "measured", "budget", "met"], rows),
        ]
    )


def main() -> int:
    """Measures and prints; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of everything (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print one JSON object with every sample")
    parser.add_argument("--check", action="store_true", help="a missed budget is an error")
    given = parser.parse_args()
    samples = measure(given.rounds)
    young, old = ageing(AGED)
    found = ratios(samples, young, old)
    if given.json:
        what = {"python": platform.python_version(), "samples": samples, "ratios": found, "ageing": [young, old]}
        print(json.dumps(what, indent=2))
    else:
        print(report(samples, found))
    missed = [name for name, ratio in found.items() if not is_met(name, ratio)]
    return 1 if given.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
