"""The run whose code is executing here."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from flowpy.declare.calling import calls_or_raise

if TYPE_CHECKING:
    from flowpy.runtime.run import Run


def current_run(what: str, remedy: str) -> Run:
    """The run that is executing.

    Args:
        what: What was called, for the message.
        remedy: What to do outside workflow code.

    Raises:
        OutsideWorkflow: No workflow code is executing here.
    """
    return cast("Run", calls_or_raise(what, remedy))
