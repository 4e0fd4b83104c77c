"""Recorded runs: written by one Python, replayed by others.

To record the committed ones anew, after a change of the contract version or of the programs' form (never to make a
failing test pass: what stands there stands in histories of real runs too), run with each Python in turn::

    PYTHONPATH=src:tests python3.11 -m properties.corpus record tests/properties/recorded/python3.11.json
    PYTHONPATH=src:tests python3.12 -m properties.corpus record tests/properties/recorded/python3.12.json
    PYTHONPATH=src:tests python3.13 -m properties.corpus record tests/properties/recorded/python3.13.json

``… -m properties.corpus check FILE`` replays a file under the Python that runs it, and says what differs.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from flowpy.runtime.replaying import replay_history

from . import interpreter, seeded
from .shop import OTHER, WORKFLOWS, Shop

RUNS = 8
EVENTS = 120
"""Runs with more events than this are left out of committed files."""


def played(program: list[Any], steps: list[Any], *, between: bool, workflow: Any, shop: Shop | None = None) -> Shop:
    """A shop in which a program, and an execution it may talk to, have run to their ends."""
    shop = shop or Shop(between=between)
    try:
        shop.start(program, workflow=workflow)
        shop.start(OTHER, "other")
        for name, choice in steps:
            getattr(shop, name)(choice)
        shop.drain()
        shop.check()
    finally:
        interpreter.sink = None
        shop.forget()
    return shop


def record(first: int, count: int) -> list[dict[str, Any]]:
    """Runs of programs with consecutive seeds, in a form that JSON can hold."""
    runs: list[dict[str, Any]] = []
    for seed in range(first, first + 20 * count):
        rng = random.Random(seed)
        plain = seed % 3 == 0
        program, steps = seeded.program(rng, plain=plain), seeded.story(rng)
        workflow = interpreter.walk_plain if plain else interpreter.walk
        shop = played(program, steps, between=seed % 2 == 0, workflow=workflow)
        for run, kept in shop.histories():
            types = [event["eventType"] for event in run.events]
            if run.workflow_id == "main" and 20 < len(types) <= EVENTS and "RecordMarkerFailed" not in types:
                runs.append(
                    {
                        "seed": seed,
                        "workflow": [run.workflow_type["name"], run.workflow_type["version"]],
                        "run_id": run.run_id,
                        "events": [{**e, "eventTimestamp": _epoch(e["eventTimestamp"])} for e in run.events],
                        "decisions": untraced([sent.answer.decisions for sent in kept.accepted]),
                        "trace": kept.accepted[-1].trace if kept.accepted else [],
                    }
                )
        if len(runs) >= count:
            break
    return runs[:count]


def _epoch(moment: Any) -> float:
    return moment if isinstance(moment, float | int) else moment.timestamp()  # type: ignore[no-any-return]


def differences(run: dict[str, Any]) -> Iterator[str]:
    """What a replay of a recorded run does otherwise; nothing if all is well."""
    workflow = WORKFLOWS.find(*run["workflow"])
    for warm in (False, True):
        trace: list[Any] = []
        interpreter.sink = trace
        interpreter.ran.clear()
        try:
            replay = replay_history(workflow, run["events"], "main", run["run_id"], warm=warm).check()
        finally:
            interpreter.sink = None
        decided = untraced([episode.decisions for episode in replay.episodes])
        if decided != run["decisions"]:
            pairs = zip_longest(decided, run["decisions"])
            index, pair = next((index, pair) for index, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"seed {run['seed']}, warm {warm}: in decision task {index}: {pair[0]}, not {pair[1]}"
        if trace[: len(run["trace"])] != run["trace"]:
            yield f"seed {run['seed']}, warm {warm}: code saw {trace}, not {run['trace']}"
        if interpreter.ran:
            yield f"seed {run['seed']}, warm {warm}: a side effect ran again"
        yield from (str(warning) for warning in replay.warnings)


def untraced(decisions: Any) -> Any:
    """Decisions without the tracebacks in them: they name files and lines, and look otherwise on other Pythons."""
    return json.loads(json.dumps(decisions), object_hook=_untraced)


def _untraced(read: dict[str, Any]) -> dict[str, Any]:
    failed = read.get("failWorkflowExecutionDecisionAttributes")
    if failed is not None:
        failed["details"] = json.loads(failed["details"], object_hook=lambda d: {**d, "traceback": None})
    return read


def write(path: Path, runs: list[dict[str, Any]]) -> None:
    """One run a line, so that a diff shows which ones changed."""
    lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
    # Tracebacks name files: where the checkout stands is nobody's business.
    for folder in (Path(__file__).resolve().parents[2], Path(asyncio.__file__).resolve().parents[1]):
        lines = lines.replace(f"{folder}/", "")
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def read(path: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return runs


def main(command: str, name: str) -> None:
    """``record FILE`` or ``check FILE``."""
    logging.disable(logging.WARNING)
    path = Path(name)
    if command == "record":
        write(path, record(sys.version_info.minor * 1000, RUNS))
        return
    found = [difference for run in read(path) for difference in differences(run)]
    sys.exit("\n".join(found) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
