"""Replays in processes with other hash seeds: what depends on the order of a set shows there, and nowhere else.

The order in which a set of texts is gone through is fixed when Python starts. So another process, with another
``PYTHONHASHSEED``, replays what the test recorded; one for each seed, for all tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, Self

from attrs import define, field
from cattrs import structure

from flowpy.data.converter import DEFAULT
from flowpy.errors import CallError, DeclarationError, NonDeterminismError
from flowpy.replay.divergence import Divergence
from flowpy.testing.environment import Environment
from flowpy.testing.live import Live

__all__ = ["HashSeeds"]

_LARGEST: Final = 4_294_967_295
"""The largest value of PYTHONHASHSEED."""


@define
class HashSeeds:
    """Processes that replay, by their hash seed.

    Args:
        seeds: Values of PYTHONHASHSEED.
        root: A folder from which modules can be imported too.
    """

    seeds: tuple[int, ...]
    root: Path
    _processes: dict[int, subprocess.Popen[str]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, text: str, root: Path) -> Self:
        """Read what ``--flowpy-hash-seeds`` says, such as ``1,2,3``.

        Raises:
            DeclarationError: One is nothing that Python takes.
        """
        parts = [part.strip() for part in text.split(",") if part.strip()]
        for part in parts:
            if not part.isdecimal() or int(part) > _LARGEST:
                raise DeclarationError(
                    f"{part!r} is no hash seed", remedy=f"say numbers of 0 to {_LARGEST}, such as 1,2,3"
                )
        return cls(tuple(int(part) for part in parts), root)

    def check(self, environment: Environment) -> None:
        """Replay every history of a test under every seed.

        Raises:
            NonDeterminismError: One is decided otherwise there.
            CallError: A workflow cannot be had in another process.
        """
        for seed in self.seeds:
            for live in environment.executions():
                answer = self._ask(seed, _request(live, self.root))
                if answer["error"] is not None:
                    raise _error(f"replayed under PYTHONHASHSEED={seed}: {answer['error']}", answer)

    def _ask(self, seed: int, request: dict[str, Any]) -> dict[str, Any]:
        process = self._process(seed)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request, default=lambda moment: moment.isoformat()) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            del self._processes[seed]
            raise CallError(f"the process for PYTHONHASHSEED={seed} ended with status {process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _process(self, seed: int) -> subprocess.Popen[str]:
        process = self._processes.get(seed)
        if process is None:
            path = os.pathsep.join(filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]))
            process = self._processes[seed] = subprocess.Popen(
                [sys.executable, "-m", "flowpy.testing.reseeded"],
                env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
            )
        return process

    def close(self) -> None:
        """End the processes."""
        for process in self._processes.values():
            with contextlib.suppress(BrokenPipeError):
                process.communicate()
        self._processes.clear()


def _error(text: str, answer: dict[str, Any]) -> CallError | NonDeterminismError:
    """The error that was raised in the other process."""
    if not answer["diverged"]:
        return CallError(text)
    report = answer["divergence"]
    return NonDeterminismError(text, divergence=report and structure(report, Divergence))


def _request(live: Live, root: Path) -> dict[str, Any]:
    workflow = live.workflow
    if live.converter is not DEFAULT:
        raise CallError("--flowpy-hash-seeds replays in other processes, which have the default converter only")
    module = workflow.fn.__module__
    return {
        "path": [*sys.path, str(root)],
        "module": module,
        "file": getattr(sys.modules.get(module), "__file__", None),
        "type": [workflow.name, workflow.version],
        "workflow_id": live.workflow_id,
        "run_id": live.run_id,
        "events": list(live.events),
        "answers": [[started, decisions] for started, decisions in live.answers.items()],
    }
