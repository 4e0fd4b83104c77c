"""How commands end: the exit codes, and errors as a line or two with what to do."""

from __future__ import annotations

import json
import os
import re
import traceback
from enum import IntEnum
from typing import IO, Any, Final

import click
from attrs import frozen

from flowpy import errors
from flowpy.cli.printing import harmless

__all__ = ["Exit", "Failure", "Misuse", "colour", "failure", "place_of"]


class Exit(IntEnum):
    """The exit codes of all commands; ``docs/command-line.md`` has the table."""

    OK = 0
    NO = 1
    USAGE = 2
    DIVERGED = 3
    NOT_FOUND = 4
    EXISTS = 5
    REFUSED = 6
    UNREACHABLE = 7
    NOT_READY = 8
    ABANDONED = 9
    INTERRUPTED = 130


_PLACE: Final = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
"""A frame of a recorded traceback."""

_LIBRARY: Final = re.compile(r"[/\\](site-packages|dist-packages|lib[/\\]python3\.\d+)[/\\]")
"""Where Python keeps modules of its own and those that are installed."""

_OWN: Final = re.compile(r"-packages[/\\]flowpy[/\\]")
"""Where flowpy is on other machines."""

_FLOWPY: Final = os.path.join(os.path.dirname(errors.__file__), "")  # noqa: PTH118, PTH120 - compared as text

_LINES: Final = re.compile(r"\s*\n\s*")
"""Between two lines of a message."""

_RANGE: Final = re.compile(r"is not a valid (integer|float)( range)?")
_NUMBERS: Final = {"integer": "is not a whole number", "float": "is not a number"}
"""What click says of what is no number, and what is said instead."""

_QUOTED: Final = re.compile(r"'([^']{60})[^']+'")
"""A value that a message repeats whole, however long."""

_LONGEST: Final = 400
"""Characters of a message that are shown: what workflow code raised may be of any length."""

_REPORTS: Final = (errors.NonDeterminismError, errors.RunBlocked)
"""Errors whose text is what the command was run for, with a form of its own; people see all of it."""

_UNKNOWN: Final = {
    "unknown domain": "flowpy types register MODULE --register-domain DAYS makes it",
    "unknown type": "a worker registers its types when it starts, as does flowpy types register MODULE; "
    "flowpy types list shows those that there are",
    "no run of": "flowpy list shows what there is; what has closed is kept as long as the domain retains it",
    "unknown execution": "flowpy list shows what is open, and only that can be told anything; "
    "with --status all what has closed too",
}
"""What to do, by what SWF's UnknownResourceFault is about."""


_HERE: Final = "flowpy server, on this machine, needs none: export AWS_ENDPOINT_URL_SWF=http://127.0.0.1:8042"

_LIMITS: Final = (
    "SWF takes 1 to 256 characters for an id or a name, with no ':', '/', '|' nor control characters in it, "
    "and at most 256 for a reason"
)

_FAULTS: Final = {
    "NoRegionError": f"give --region NAME, or set AWS_REGION or a region in the AWS profile; {_HERE}",
    "InvalidEndpoint": "give --endpoint-url URL, or AWS_ENDPOINT_URL_SWF, as in http://127.0.0.1:8042",
    "NoCredentialsError": _HERE,
    "ProfileNotFound": "aws configure list-profiles shows those that there are",
    "WorkflowExecutionAlreadyStartedFault": "flowpy start --attach goes on with an execution that is open",
    "TypeAlreadyExistsFault": "it is in use, and not deprecated: there is nothing to take back",
    "ParamValidationError": _LIMITS,
    "ValidationException": _LIMITS,
    "EndpointConnectionError": "nothing answers there: is flowpy server running, or is the address another one?",
}
"""What to do, by the fault that an error of the service carries."""


_CONFIGURED: Final = ("NoRegionError", "ProfileNotFound", "InvalidEndpoint")
"""Faults found on this machine, before the service is asked: trying again does not help."""


@frozen
class _Ending:
    error: type[BaseException]
    exit: Exit
    remedy: str = ""


# The first that fits counts.
_ENDINGS: Final = (
    _Ending(errors.NonDeterminismError, Exit.DIVERGED),
    _Ending(errors.UnknownWorkflowType, Exit.NOT_FOUND, "name the module that declares it"),
    _Ending(errors.UnknownResource, Exit.NOT_FOUND),
    _Ending(errors.AlreadyExists, Exit.EXISTS),
    _Ending(errors.RunBlocked, Exit.NOT_READY, "flowpy run --signal NAME VALUE sends a signal"),
    _Ending(errors.ResultNotReady, Exit.NOT_READY, "it goes on; wait longer with --timeout"),
    _Ending(errors.Throttled, Exit.UNREACHABLE, "SWF limits calls per account: try again in a while"),
    _Ending(errors.ServiceUnavailable, Exit.UNREACHABLE),
    _Ending(
        errors.NotStubbed,
        Exit.NO,
        "--stub NAME RESULT says what it gives; a whole service is flowpy server, worker and start",
    ),
    _Ending(errors.TypeDeprecated, Exit.REFUSED, "flowpy types undeprecate takes it back"),
    _Ending(errors.ServiceError, Exit.REFUSED),
    _Ending(errors.DurationError, Exit.USAGE, "a duration is seconds, or such as 90s, 5m, 1h30m, 30d"),
    _Ending(errors.DeclarationError, Exit.USAGE),
    _Ending(errors.ConfigurationError, Exit.USAGE),
    _Ending(errors.PayloadError, Exit.USAGE),
    _Ending(errors.FlowpyError, Exit.NO),
)


class Failure(click.ClickException):
    """An error as the user is told it, on standard error.

    Args:
        message: What happened.
        exit: The exit code.
        remedy: What to do, "" if the message says it.
        error: The error that it comes from.
        as_json: Whether it is told as a line of JSON.
    """

    def __init__(
        self,
        message: str,
        exit: Exit = Exit.NO,
        remedy: str = "",
        *,
        error: BaseException | None = None,
        as_json: bool = False,
    ) -> None:
        super().__init__(message)
        self.exit = exit
        self.remedy = remedy
        self.error = error
        self.as_json = as_json

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # click has it as a constant of the class
        """The exit code."""
        return self.exit

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        cause = None if self.error is None else self.error.__cause__
        return {
            "error": _class_of(self.error),
            "code": next((one.code for one in (self.error, cause) if isinstance(one, errors.FlowpyError)), ""),
            "exit": int(self.exit),
            "message": self.message,
            "remedy": self.remedy,
        }

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it."""
        message = self.message if isinstance(self.error, _REPORTS) else _one_line(self.message)
        told = [f"{click.style('error', fg='red')}: {harmless(message)}"]
        if self.remedy:
            told.append(f"{click.style('hint', fg='cyan')}: {harmless(self.remedy)}")
        text = json.dumps(self.to_json()) if self.as_json else "\n".join(told)
        click.echo(text, file=file, err=True, color=colour())


class Misuse(click.UsageError):
    """Wrong usage of a command, with what to do instead of reading its help.

    Args:
        message: What is wrong.
        remedy: What to do.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


def _class_of(error: BaseException | None) -> str:
    if error is None:
        return "Failure"
    return "UsageError" if isinstance(error, Misuse) else type(error).__name__


def colour() -> bool | None:
    """What click is to make of colours: none with NO_COLOR; None: its own choice."""
    return False if os.environ.get("NO_COLOR") else None


def failure(error: Exception, *, as_json: bool = False) -> Failure | None:
    """How a command ends with an error, or None if the error is a mistake of flowpy's own."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx is not None else "flowpy"
        advised = next((one for one in (error, error.__cause__) if isinstance(one, Misuse | errors.FlowpyError)), None)
        remedy = _several(error, path) if advised is None else advised.remedy
        message = _RANGE.sub(lambda kind: _NUMBERS[kind[1]], error.format_message())
        return Failure(message, Exit.USAGE, remedy or f"{path} --help", error=error, as_json=as_json)
    if not isinstance(error, errors.FlowpyError):
        return _of_a_file(error, as_json=as_json)
    ending = next(each for each in _ENDINGS if isinstance(error, each.error))
    # What errors advise programs and tests is said here in terms of the command line.
    message, remedy = error.what, ending.remedy or error.remedy
    if isinstance(error, errors.ServiceError) and error.fault in _FAULTS:
        message, remedy = _QUOTED.sub(r"'\1…'", _LINES.sub(" ", message)), _FAULTS[error.fault]
        if error.fault in _CONFIGURED:
            return Failure(message, Exit.USAGE, remedy, error=error, as_json=as_json)
    elif isinstance(error, errors.UnknownResource):
        remedy = next((told for about, told in _UNKNOWN.items() if about in message.lower()), remedy)
    elif isinstance(error, errors.WorkflowFailed):
        remedy = _raised_at(error.failure)
    return Failure(message, ending.exit, remedy, error=error, as_json=as_json)


def _one_line(message: str) -> str:
    """A message as people see it; programs get all of it."""
    line = _LINES.sub(" ", message.strip())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def _several(error: click.UsageError, path: str) -> str:
    """How an option is given that takes several values and was given fewer."""
    if isinstance(error, click.BadOptionUsage) and error.ctx is not None:
        for option in error.ctx.command.params:
            if error.option_name in option.opts and option.nargs > 1:
                null = "; VALUE may be null" if "VALUE" in str(option.metavar) else ""
                return f"{path} {error.option_name} {option.metavar}{null}"
    return ""


def _of_a_file(error: Exception, *, as_json: bool) -> Failure | None:
    """A file or folder that cannot be read or written: a mistake in a path, and none of flowpy's."""
    if not isinstance(error, OSError) or error.filename is None:
        return None
    remedy = "is its folder there, and may you read and write there?"
    return Failure(f"{error.filename}: {error.strerror}", Exit.USAGE, remedy, error=error, as_json=as_json)


def place_of(error: BaseException) -> str:
    """The last line of the user's code that an error passed through, as `` (file:line)``; "" if there is none."""
    if isinstance(error, SyntaxError):
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_library(frame.filename)]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _raised_at(told: Any) -> str:
    """The line of the user's code where a failure began, "" if its record does not say it."""
    while told is not None and told.cause is not None:
        told = told.cause
    places = _PLACE.findall((told.traceback if told is not None else None) or "")
    places = [place for place in places if not _OWN.search(place[0]) and not place[0].startswith(_FLOWPY)]
    own = [place for place in places if not _is_library(place[0])]
    return "it was raised at {}:{} in {}".format(*(own or places)[-1]) if places else ""


def _is_library(file: str) -> bool:
    """Whether a file, perhaps of another machine, is Python's, flowpy's or installed, and no user's code."""
    return file.startswith((_FLOWPY, "<")) or _LIBRARY.search(file) is not None
