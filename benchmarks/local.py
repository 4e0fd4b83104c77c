"""The embedded SWF beside moto: activities per second, CPU of the server, and what closed executions cost.

    python benchmarks/local.py [--rounds 5] [--json] [--check]

A load is so many workflows one after the other, each a chain of activities: 4 L + 3 requests for a chain of L, the
whole history on every decision poll. One client, one thread, wall clock. Chains of 1, then of 20, then of 100; servers
are processes of their own that live through all of it, as they would through a day's work, and grow as old as that
makes them. A round of each load is for warming up; then rounds go A B C, A B C, … and every ratio is a median of ratios
within rounds, so that it holds on a shared machine. CPU of a server is what the operating system counts for its
process, CPU of the client what it counts for this one. Needs moto and flask (the extra ``test``) and Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from attrs import frozen
from local_clients import Call, boto_call, mocked_call, socket_call
from local_load import FIRST, LOADS, Load, prepare, run
from local_servers import Process, flowpy_server, moto_server
from timing import median_ratio, table

from flowpy.local import Engine, SystemClock, client

AGED = 10_000
"""Closed executions that must not slow a request."""
PROBE = Load("probe", 200, 5)
CLIENT, SERVER = "client CPU per request, ", "server CPU per request, "

BUDGETS: dict[str, tuple[float, bool]] = {
    **{f"{load}: boto3 to flowpy, SQLite / boto3 to moto": (3.0, True) for load in LOADS},
    **{f"{load}: Engine.call / boto3 in mock_aws": (10.0, True) for load in LOADS},
    **{f"{load}: server CPU per request, flowpy, SQLite / moto": (1 / 5, False) for load in LOADS},
    f"server CPU per request after {AGED} closed executions / after none": (1.2, False),
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
    return [
        Variant("boto3 to moto", moto_server),
        Variant("boto3 to flowpy, SQLite", lambda: flowpy_server(str(folder / "boto3.sqlite"))),
        Variant("boto3 to flowpy, memory", flowpy_server),
        Variant("http.client to moto", moto_server, "http.client"),
        Variant("http.client to flowpy, SQLite", lambda: flowpy_server(str(folder / "http.sqlite")), "http.client"),
        Variant("http.client to flowpy, memory", flowpy_server, "http.client"),
        Variant("boto3 in process on flowpy", None, "client"),
        Variant("Engine.call", None, "engine"),
        Variant("boto3 in mock_aws", None, "mock_aws"),
    ]


@frozen
class Connected:
    """A variant that can be called.

    Attributes:
        variant: Which.
        call: Makes a request.
        process: The server; None in process.
    """

    variant: Variant
    call: Call
    process: Process | None

    def sample(self, load: Load, samples: Samples) -> None:
        """Adds what one load shows."""
        server, client_cpu = self.process.cpu() if self.process else 0.0, time.process_time()
        seconds = run(self.call, load)
        client_cpu = time.process_time() - client_cpu
        found = {"": load.activities / seconds, CLIENT: client_cpu / load.requests}
        if self.process:
            found[SERVER] = (self.process.cpu() - server) / load.requests
        for what, value in found.items():
            samples.setdefault(f"{load.name}: {what}{self.variant.name}", []).append(value)


def connect(variant: Variant, stack: contextlib.ExitStack) -> Connected:
    """Starts the server of a variant and registers the types."""
    process: Process | None = None
    if variant.server is not None:
        process = stack.enter_context(variant.server())
        call = (socket_call if variant.client == "http.client" else boto_call)(process.url)
    elif variant.client == "engine":
        call = Engine(SystemClock()).call
    elif variant.client == "client":
        call = boto_call(made=client(Engine(SystemClock())))
    else:
        call = stack.enter_context(mocked_call())
    prepare(call)
    run(call, Load("warm-up", 1, 2))
    return Connected(variant, call, process)


def measure(rounds: int) -> Samples:
    """Activities per second, and CPU seconds per request of client and server, by load and variant."""
    samples: Samples = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        # Inside of mock_aws every boto3 client is mocked: it comes last, and the others are made before.
        connected = [connect(each, stack) for each in variants(Path(folder))]
        for load in (FIRST, *LOADS.values()):
            for begun in range(rounds + 1):
                for each in connected:
                    each.sample(load, samples if begun else {})
    return samples


def ageing(count: int) -> tuple[float, float]:
    """CPU seconds per request before and after so many executions were started and closed, with SQLite on."""
    with tempfile.TemporaryDirectory() as folder, flowpy_server(str(Path(folder) / "swf.sqlite")) as process:
        call = socket_call(process.url)
        prepare(call)
        run(call, PROBE)
        young = probe(call, process)
        run(call, Load("fill", count, 0))
        return young, probe(call, process)


def probe(call: Call, process: Process) -> float:
    """CPU seconds of the server per request."""
    before = process.cpu()
    run(call, PROBE)
    return (process.cpu() - before) / PROBE.requests


def ratios(samples: Samples, young: float, old: float) -> dict[str, float]:
    """Each budget's ratio."""
    found: dict[str, float] = {}
    for load in LOADS:
        cpu = f"{load}: {SERVER}boto3 to"
        for name, ours, theirs in (
            (f"{load}: boto3 to flowpy, SQLite / boto3 to moto", "boto3 to flowpy, SQLite", "boto3 to moto"),
            (f"{load}: Engine.call / boto3 in mock_aws", "Engine.call", "boto3 in mock_aws"),
        ):
            found[name] = median_ratio(samples[f"{load}: {ours}"], samples[f"{load}: {theirs}"])
        found[f"{load}: server CPU per request, flowpy, SQLite / moto"] = median_ratio(
            samples[f"{cpu} flowpy, SQLite"], samples[f"{cpu} moto"]
        )
    found[f"server CPU per request after {AGED} closed executions / after none"] = old / young
    return found


def is_met(name: str, ratio: float) -> bool:
    """Whether a ratio keeps its budget."""
    bound, more_is_better = BUDGETS[name]
    return ratio >= bound if more_is_better else ratio <= bound


def report(samples: Samples, found: dict[str, float]) -> str:
    """The medians, and the ratios beside their budgets."""
    medians = {name: statistics.median(values) for name, values in samples.items()}
    speeds = [(name, value) for name, value in medians.items() if "CPU" not in name]
    cpus = [(name, value * 1e3) for name, value in medians.items() if "CPU" in name]
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
            table(["CPU", "ms per request"], cpus),
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
