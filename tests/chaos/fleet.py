"""The processes: workers that are killed and replaced all the time, and a service that dies too."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from attrs import define, field

from processes import DOMAIN, REGION, Process, address, embedded

SCRIPT = Path(__file__).with_name("worker.py")


@define(eq=False)
class _Worker:
    process: Process
    log: Path

    @property
    def is_up(self) -> bool:
        """Whether it polls: none is killed before, or a slow machine would see no work done."""
        return self.log.exists() and "polls task list" in self.log.read_text(errors="replace")[:100_000]


@define(eq=False)
class Fleet:
    """So many workers, while a ``with`` block runs.

    Args:
        port: Where the service is, or what stands for it.
        folder: Where they write their logs.
        chance: Says who is killed when.
        size: How many work at once.
        every: Seconds from one kill to the next, on average; 0 to let all live.
        sticky: "on", "off", or "mixed": one in three keeps no runs.
    """

    port: int
    folder: Path
    chance: random.Random
    size: int = 3
    every: float = 3.0
    sticky: str = "mixed"
    killed: int = field(default=0, init=False)
    drained: int = field(default=0, init=False)
    _made: int = field(default=0, init=False)
    _alive: list[_Worker] = field(factory=list, init=False)
    _leaving: list[Process] = field(factory=list, init=False)
    _next: float = field(default=0.0, init=False)
    _stack: ExitStack = field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        for _ in range(self.size):
            self._add()
        self._wait()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for process in [*(worker.process for worker in self._alive), *self._leaving]:
            # All at once, and not one after the other as the stack ends them.
            process.ask_to_end()
        self._stack.__exit__(kind, error, _)

    def step(self) -> None:
        """Kill a worker if it is time to.

        Raises:
            ProcessFailed: A worker ended by itself.
        """
        for worker in self._alive:
            worker.process.check()
        if not self.every or time.monotonic() < self._next or not all(worker.is_up for worker in self._alive):
            return
        self._wait()
        victim = self._alive.pop(self.chance.randrange(len(self._alive))).process
        if self.chance.random() < 0.2:
            self.drained += 1
            victim.ask_to_end()
            self._leaving.append(victim)
        else:
            self.killed += 1
            victim.kill()
        self._add()

    def logs(self) -> list[Path]:
        """What the workers wrote."""
        return sorted(self.folder.glob("worker-*.log"))

    def _wait(self) -> None:
        self._next = time.monotonic() + self.every * self.chance.uniform(0.5, 1.5)

    def _add(self) -> None:
        self._made += 1
        keeps = self.sticky == "on" or (self.sticky == "mixed" and self._made % 3 != 0)
        options = ["--domain", DOMAIN, "--region", REGION, "--endpoint-url", address(self.port)]
        log = self.folder / f"worker-{self._made:03}.log"
        options += ["--log", str(log), *(["--sticky"] if keeps else [])]
        process = self._stack.enter_context(Process(f"worker {self._made}", str(SCRIPT), *options))
        self._alive.append(_Worker(process, log))


@define(eq=False)
class MortalService:
    """The embedded service, while a ``with`` block runs; it is killed now and then, and goes on with its file.

    Args:
        port: Port that it listens on.
        db: Its file.
        chance: Says when it is killed.
        every: Seconds from one kill to the next, on average; 0 to let it live.
    """

    port: int
    db: Path
    chance: random.Random
    every: float
    killed: int = field(default=0, init=False)
    _process: Process = field(init=False)
    _next: float = field(default=0.0, init=False)
    _stack: ExitStack = field(factory=ExitStack, init=False)

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, _)

    def step(self) -> None:
        """Kill it if it is time to, and wait until it is back.

        Raises:
            ProcessFailed: It ended by itself.
        """
        self._process.check()
        if self.every and time.monotonic() >= self._next:
            self.killed += 1
            self._process.kill()
            self._stack.close()
            self._start()

    def _start(self) -> None:
        self._process = self._stack.enter_context(embedded(self.port, self.db))
        self._next = time.monotonic() + self.every * self.chance.uniform(0.5, 1.5)
