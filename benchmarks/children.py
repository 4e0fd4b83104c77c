"""Processes that measure, each for one library: what one leaves on the heap costs the other nothing."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any


class Child:
    """A process that is asked for figures.

    Args:
        serve: What it does, with a name and its end of a pipe: says what it is, then answers what it is asked; see
            ``answer``.
        name: The name.

    Attributes:
        told: What it said that it is.
    """

    def __init__(self, serve: Callable[[str, Any], None], name: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(name, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.told: Any = self._pipe.recv()

    def asked(self, *question: Any) -> float:
        """Its answer; an error there ends the program here."""
        self._pipe.send(question)
        answer = self._pipe.recv()
        if isinstance(answer, str):
            raise SystemExit(answer)
        return float(answer)

    def close(self) -> None:
        """End the process."""
        self._pipe.send(None)
        self._process.join()


def answer(name: str, pipe: Any, do: Callable[..., float]) -> None:
    """In the process: answer until the other side closes."""
    while (asked := pipe.recv()) is not None:
        try:
            pipe.send(do(*asked))
        except Exception as error:
            pipe.send(f"{name}, {asked}: {type(error).__name__}: {error}")
