"""The state a run publishes, and the executionContext that carries it (CONTRACTS §2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowpy.data.context import CONTRACT, decode_context, encode_context
from flowpy.data.jsontext import parse
from flowpy.data.limits import CONTEXT
from flowpy.errors import RunHeld
from flowpy.runtime.eviction import PYTHON

if TYPE_CHECKING:
    from flowpy.runtime.run import Run


class Published:
    """What a run published, as text from the moment it did: later changes to the object are not published."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._state = "null"
        self._context = encode_context(None, PYTHON)

    def set(self, state: Any) -> None:
        """Publish a state.

        Raises:
            PayloadError: It has no JSON form, or is too long.
        """
        converter = self._run.converter
        text = encode_context(state, PYTHON, converter)
        self._context = converter.payloads.check(text, CONTEXT, "the state given to set_state")
        self._state = converter.text(state)

    @property
    def state(self) -> Any:
        """What is published now, as a plain JSON value; None if nothing is."""
        return parse(self._state)

    def to_send(self) -> str | None:
        """The executionContext of the next answer: with the run's first one, and when the state has changed."""
        run = self._run
        if not run.episodes.decided:
            return self._context
        recorded = run.episodes.context
        if recorded == self._context or (recorded is None and self._state == "null"):
            return None
        text = run.converter.text(decode_context(recorded).state)
        return None if run.converter.same(text, self._state) else self._context

    def check_contract(self) -> None:
        """A run keeps to the contract version of its first decision for its whole life.

        Raises:
            RunHeld: That version is newer than this flowpy.
        """
        first = self._run.episodes.first_context
        if first is None:
            return
        context = decode_context(first)
        self._run.execution.python = context.python or ""
        if context.flowpy > CONTRACT:
            raise RunHeld(
                f"the run was begun under contract version {context.flowpy}, this flowpy knows versions up to "
                f"{CONTRACT}: the run is held until a worker with a newer flowpy comes"
            )
