"""How a call of something stubbed ends, and whether that fits: told when it is said, not when it is called."""

from __future__ import annotations

from typing import Any, Final

from attrs import frozen

from flowpy.data.converter import Converter
from flowpy.data.limits import DATA, HEARTBEAT
from flowpy.declare.activity import Activity
from flowpy.declare.signature import Parameter, Signature
from flowpy.declare.workflow import Workflow
from flowpy.errors import DeclarationError, PayloadError
from flowpy.runtime.lambdas import LambdaFunction

__all__ = ["NOTHING", "REAL", "TIMEOUTS", "WAYS", "Outcome", "Target", "check_outcome", "check_target"]

Target = Activity[..., Any] | Workflow[..., Any] | LambdaFunction[Any]
"""What can be stubbed by object."""

NOTHING: Final[Any] = object()
"""Stands for an argument of a stub that was not given: None is a result too."""

WAYS: Final = ("returns", "raises", "by", "times_out")
"""What a stub can say."""


@frozen
class Outcome:
    """How one call ends.

    Attributes:
        way: ``returns``, ``raises``, ``by`` or ``times_out``; ``""`` lets the real function run.
        value: The result, exception, function or kind of timeout.
        delay: Virtual seconds that the work takes.
        heartbeats: Details that it records while it works, evenly spread over the delay.
        left: How many further calls end so; None for all.
    """

    way: str = ""
    value: Any = None
    delay: int = 0
    heartbeats: tuple[Any, ...] = ()
    left: int | None = None


REAL: Final = Outcome()
"""What happens without a stub."""

TIMEOUTS: Final = {
    "START_TO_CLOSE": "startToCloseTimeout",
    "HEARTBEAT": "heartbeatTimeout",
    "SCHEDULE_TO_START": "scheduleToStartTimeout",
    "SCHEDULE_TO_CLOSE": "scheduleToCloseTimeout",
}
"""SWF's timeouts of an activity, and the attribute of its ActivityTaskScheduled that sets each."""


def check_target(call: str, target: Any) -> None:
    """Check that something can be stubbed, and its calls be listed, by object.

    Args:
        call: What is called with it, for the message.
        target: What was given.

    Raises:
        DeclarationError: It cannot.
    """
    if not isinstance(target, Activity | Workflow | LambdaFunction):
        raise DeclarationError(
            f"{call}: {target!r} is no activity, workflow or Lambda function",
            remedy="give what the decorator made of it, or its name",
        )


def check_outcome(what: str, declared: Target, outcome: Outcome, converter: Converter) -> None:
    """Check how a call of something is to end.

    Args:
        what: What is stubbed, for messages.
        declared: The declared activity, workflow or Lambda function.
        outcome: How the call ends.
        converter: Reads and writes values.

    Raises:
        DeclarationError: It does not fit.
    """
    if outcome.way == "returns":
        _check_result(what, declared, outcome.value, converter)
    elif outcome.way == "raises":
        if not (isinstance(outcome.value, BaseException) or _is_error(outcome.value)):
            raise DeclarationError(
                f"stub of {what}: raises={outcome.value!r} is no exception", remedy="give one, or its class"
            )
        _check_class(what, outcome.value)
    elif outcome.way == "by":
        _check_function(what, getattr(declared, "signature", None), outcome.value)
    elif outcome.way == "times_out":
        _check_timeout(what, declared, outcome.value)
    elif not isinstance(declared, Activity) or declared.external or declared.manual:
        raise DeclarationError(
            f"stub of {what}: there is no function here to run", remedy="say what it returns or raises"
        )
    if outcome.heartbeats:
        _check_heartbeats(what, declared, outcome.heartbeats, converter)


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _check_class(what: str, error: Any) -> None:
    if _is_error(error):
        try:
            error()
        except TypeError as refused:
            name = error.__name__
            raise DeclarationError(f"stub of {what}: {refused}", remedy=f"give one: raises={name}(...)") from refused


def _check_result(what: str, declared: Target, value: Any, converter: Converter) -> None:
    returned = declared.signature.return_type if isinstance(declared, Activity | Workflow) else declared.result_type
    try:
        text = converter.encode_within(value, DATA, f"returns={value!r}")
        converter.decode(text, returned, f"returns={value!r}")
    except PayloadError as error:
        raise DeclarationError(f"stub of {what}: what it returns does not fit its signature: {error}") from error


def _check_timeout(what: str, declared: Target, kind: str) -> None:
    known = list(TIMEOUTS) if isinstance(declared, Activity) else ["START_TO_CLOSE"]
    if kind not in known:
        raise DeclarationError(f"stub of {what}: times_out={kind!r} is none of {', '.join(known)}")


def _check_heartbeats(what: str, declared: Target, details: tuple[Any, ...], converter: Converter) -> None:
    if not isinstance(declared, Activity):
        raise DeclarationError(f"stub of {what}: only activities record heartbeats")
    for each in details:
        try:
            converter.encode_within(each, HEARTBEAT, "heartbeat details")
        except PayloadError as error:
            raise DeclarationError(f"stub of {what}: {error}") from error


def _check_function(what: str, signature: Signature | None, function: Any) -> None:
    if not callable(function):
        raise DeclarationError(f"stub of {what}: by={function!r} is no function", remedy="for a value say returns=...")
    try:
        own = Signature.of(function)
    except DeclarationError:
        return  # a builtin without a readable signature
    difference = _lambda_difference(own) if signature is None else _difference(signature, own)
    if difference:
        raise DeclarationError(f"stub of {what}: by={_name(function)} has another signature: {difference}")


def _lambda_difference(own: Signature) -> str:
    fits = own.needs <= 1 and (own.positional or own.var_positional)
    return "" if fits else "a Lambda function takes one value, or None"


def _difference(declared: Signature, own: Signature) -> str:
    """Which call of the declared function the other one would not take, "" if it takes them all."""
    if own.var_positional is None:
        names, taken = [p.name for p in declared.positional], [p.name for p in own.positional]
        if taken[: len(names)] != names:
            return f"it takes ({', '.join(taken)}), calls give ({', '.join(names)})"
    accepted: dict[str, Parameter] = {**{p.name: p for p in own.positional}, **own.keyword_only}
    given: dict[str, Parameter] = {**{p.name: p for p in declared.positional}, **declared.keyword_only}
    for name, parameter in given.items():
        if name not in accepted:
            if own.var_keyword is None and (name in declared.keyword_only or own.var_positional is None):
                return f"it does not take {name!r}"
        elif parameter.has_default and accepted[name].required:
            return f"calls may leave out {name!r}, which it needs"
    surplus = [name for name, parameter in accepted.items() if parameter.required and name not in given]
    if surplus:
        return f"it needs {', '.join(map(repr, surplus))}, which no call gives"
    return ""


def _name(function: Any) -> str:
    return str(getattr(function, "__qualname__", repr(function)))
