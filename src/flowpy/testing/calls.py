"""The calls that a test's workflows made, to be asserted on."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, Final

from attrs import field, frozen

from flowpy.data.arguments import decode_arguments
from flowpy.data.converter import Converter
from flowpy.declare.signature import Signature
from flowpy.errors import PayloadNotDecodable

__all__ = ["Call", "attempt_of", "bound"]

_ATTEMPT: Final = re.compile(r"\.r(\d+)$")


@frozen(eq=False)
class Call:
    """A call of an activity, child workflow or Lambda function that workflow code made and that was sent.

    It equals the tuple of its arguments, so that tests may say ``assert swf.calls(charge) == [("o-7", 4200)]``;
    arguments that can be given by name only are compared with ``kwargs``.

    Attributes:
        name: Name of the activity, workflow or function.
        at: The virtual time at which it was sent, UTC.
        args: The arguments by position, as the function receives them; an argument given by name that has a position
            is here.
        kwargs: The arguments that can be given by name only.
        attempt: Which attempt of an activity with a retry policy it was, from 1.
        id: activityId, workflowId of the child, or id of the Lambda function.
        workflow_id: The workflowId of the run that made it.
        run_id: Its runId.
    """

    name: str
    at: dt.datetime
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(factory=dict)
    attempt: int = 1
    id: str = ""
    workflow_id: str = ""
    run_id: str = ""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Call):
            return self is other
        return isinstance(other, tuple) and not self.kwargs and self.args == other

    __hash__ = None  # type: ignore[assignment] # arguments are lists and dicts more often than not

    def __repr__(self) -> str:
        given = [*map(repr, self.args), *(f"{name}={value!r}" for name, value in self.kwargs.items())]
        attempt = f", attempt {self.attempt}" if self.attempt > 1 else ""
        return f"<{self.name}({', '.join(given)}) at {self.at:%Y-%m-%d %H:%M:%S}{attempt}>"


def bound(
    text: str | None, signature: Signature | None, converter: Converter
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in an input, as the function called gets them.

    Args:
        text: The input.
        signature: Signature of the function; None for a Lambda function, which takes one value.
        converter: Reads values.
    """
    if signature is None:
        return (() if text is None else (converter.decode(text),)), {}
    try:
        arguments = decode_arguments(text, signature, converter)
    except PayloadNotDecodable:
        # The function itself will say so; a call it was all the same.
        return (text,), {}
    return arguments.args, arguments.kwargs


def attempt_of(activity_id: str) -> int:
    """Which attempt an activityId stands for (CONTRACTS §1): ``charge-1.r2`` is the second."""
    match = _ATTEMPT.search(activity_id)
    return int(match.group(1)) if match else 1
