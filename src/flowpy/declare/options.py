"""Options of activities and workflows: SWF's own, in snake case, checked where they are written.

The same classes hold what a type is registered with (``defaults``) and what a call asks for (``attributes``). Unset
fields are None and never sent, so that SWF applies what was registered.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from typing import Any, ClassVar, Final, Self, Unpack, get_args

from attrs import field, frozen

from flowpy.declare.durations import NONE, swf_duration
from flowpy.declare.keywords import ActivityCallOptions, ChildPolicy, OnCancel, WorkflowCallOptions
from flowpy.declare.names import check_id, check_name, check_tag_list, check_text
from flowpy.declare.retry import Retry
from flowpy.errors import DeclarationError

__all__ = ["ActivityOptions", "Options", "WorkflowOptions"]

_LONGEST_ROLE: Final = 1600
_LOWEST_PRIORITY: Final = -(2**31)
_HIGHEST_PRIORITY: Final = 2**31 - 1


def _execution_timeout(value: Any, what: str) -> str:
    text = swf_duration(value, what)
    if text == NONE:
        raise DeclarationError(
            f"{what}: every SWF execution ends within a year, so NONE is refused", remedy='give "365d"'
        )
    return text


def _role(value: Any, what: str) -> str:
    return check_text(value, what, _LONGEST_ROLE)


def _priority(value: Any, what: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and _LOWEST_PRIORITY <= value <= _HIGHEST_PRIORITY:
        return value
    raise DeclarationError(
        f"{what}: {value!r} is not a priority",
        remedy=f"give a whole number from {_LOWEST_PRIORITY:,} to {_HIGHEST_PRIORITY:,}; higher goes first, 0 is usual",
    )


def _retry(value: Any, what: str) -> Retry:
    if isinstance(value, Retry):
        return value
    raise DeclarationError(f"{what}: {value!r} is not a policy", remedy="give flowpy.Retry(attempts=...)")


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any, str], str]:
    def check(value: Any, what: str) -> str:
        if value in allowed:
            return str(value)
        raise DeclarationError(f"{what}: {value!r} is none of {', '.join(map(repr, allowed))}")

    return check


@frozen(kw_only=True, init=False)
class Options:
    """What options of activities and workflows have in common.

    Attributes:
        task_list: Task list; default the type's, which is the registering worker's.
        task_priority: Whole number, higher goes first; SWF's default is 0.
        on_cancel: ``"try"``, ``"wait"`` or ``"abandon"``.

    Raises:
        DeclarationError: If an option is unknown (the message names the nearest), or a value is refused.
    """

    task_list: str | None = None
    task_priority: int | None = None
    on_cancel: OnCancel | None = None
    _attributes: dict[str, Any] | None = field(default=None, init=False, eq=False, repr=False)

    # Option -> how to check it. The order of the fields.
    CHECKS: ClassVar[dict[str, Callable[[Any, str], Any]]] = {
        "task_list": check_name,
        "task_priority": _priority,
        "on_cancel": _one_of(get_args(OnCancel)),
    }
    # Option -> its member in a registration; the others have no default in SWF.
    DEFAULTS: ClassVar[dict[str, str]] = {
        "task_list": "defaultTaskList",
        "task_priority": "defaultTaskPriority",
    }
    # Options that no decision carries under their own name.
    OWN: ClassVar[frozenset[str]] = frozenset({"on_cancel", "retry", "activity_id", "workflow_id"})

    def attributes(self) -> dict[str, Any]:
        """Returns the options that are set, as a decision or a StartWorkflowExecution carries them.

        Returns:
            SWF's names and forms, such as ``{"taskList": {"name": "eu"}, "startToCloseTimeout": "300"}``. Computed
            once and shared: do not change it. Ids, ``retry`` and ``on_cancel`` are no part of it.
        """
        if self._attributes is None:
            given = self.given().items()
            made = {_camel_case(name): _swf_form(name, value) for name, value in given if name not in self.OWN}
            object.__setattr__(self, "_attributes", made)
            return made
        return self._attributes

    def defaults(self, task_list: str | None = None) -> dict[str, Any]:
        """Returns the options that are set, as RegisterActivityType or RegisterWorkflowType takes them.

        Args:
            task_list: The worker's task list, the default for a type that names none.
        """
        given = {"task_list": task_list} if task_list is not None else {}
        given |= self.given()
        return {self.DEFAULTS[name]: _swf_form(name, value) for name, value in given.items() if name in self.DEFAULTS}

    def override(self, **options: Any) -> Self:
        """Returns these options with some replaced; those given as None stay as they are.

        Args:
            **options: Fields of this class.

        Raises:
            DeclarationError: If an option is unknown, or a value is refused.
        """
        # Stored values were checked when they came; checking them again would cost each .options(...) dearly.
        made = object.__new__(type(self))
        made.__attrs_init__(**(self.given() | self._checked(options)))
        return made

    def given(self) -> dict[str, Any]:
        """Returns the options that are set, by field name, in stored form."""
        return {name: value for name in self.CHECKS if (value := getattr(self, name)) is not None}

    @classmethod
    def _checked(cls, options: dict[str, Any]) -> dict[str, Any]:
        """The options that are set, each in its stored form."""
        for name in options:
            if name not in cls.CHECKS:
                raise _unknown(name, list(cls.CHECKS))
        return {name: cls.CHECKS[name](value, name) for name, value in options.items() if value is not None}


@frozen(kw_only=True, init=False)
class ActivityOptions(Options):
    """Options of an activity; timeouts are kept as SWF's text, such as ``"300"`` or ``"NONE"``.

    Attributes:
        schedule_to_start_timeout: Longest wait for a worker.
        schedule_to_close_timeout: Longest time from scheduling to the end.
        start_to_close_timeout: Longest time from a worker's start to the end.
        heartbeat_timeout: Longest silence of a worker.
        retry: The retry policy; None is no retry.
        activity_id: The activityId of one call; default one made from the name.
    """

    schedule_to_start_timeout: str | None = None
    schedule_to_close_timeout: str | None = None
    start_to_close_timeout: str | None = None
    heartbeat_timeout: str | None = None
    retry: Retry | None = None
    activity_id: str | None = None

    CHECKS: ClassVar[dict[str, Callable[[Any, str], Any]]] = Options.CHECKS | {
        "schedule_to_start_timeout": swf_duration,
        "schedule_to_close_timeout": swf_duration,
        "start_to_close_timeout": swf_duration,
        "heartbeat_timeout": swf_duration,
        "retry": _retry,
        "activity_id": check_id,
    }
    DEFAULTS: ClassVar[dict[str, str]] = Options.DEFAULTS | {
        "schedule_to_start_timeout": "defaultTaskScheduleToStartTimeout",
        "schedule_to_close_timeout": "defaultTaskScheduleToCloseTimeout",
        "start_to_close_timeout": "defaultTaskStartToCloseTimeout",
        "heartbeat_timeout": "defaultTaskHeartbeatTimeout",
    }

    def __init__(self, **options: Unpack[ActivityCallOptions]) -> None:
        self.__attrs_init__(**self._checked(dict(options)))


@frozen(kw_only=True, init=False)
class WorkflowOptions(Options):
    """Options of a workflow; timeouts are kept as SWF's text, such as ``"300"`` or ``"NONE"``.

    Attributes:
        execution_start_to_close_timeout: Longest life of an execution, at most one year.
        task_start_to_close_timeout: Longest time a worker may take for one decision.
        child_policy: What becomes of open children when an execution is terminated or times out.
        lambda_role: ARN of the role that Lambda functions are invoked with.
        tag_list: At most five tags.
        workflow_id: The workflowId of one start; default one made from the parent's.
    """

    execution_start_to_close_timeout: str | None = None
    task_start_to_close_timeout: str | None = None
    child_policy: ChildPolicy | None = None
    lambda_role: str | None = None
    tag_list: tuple[str, ...] | None = None
    workflow_id: str | None = None

    CHECKS: ClassVar[dict[str, Callable[[Any, str], Any]]] = Options.CHECKS | {
        "execution_start_to_close_timeout": _execution_timeout,
        "task_start_to_close_timeout": swf_duration,
        "child_policy": _one_of(get_args(ChildPolicy)),
        "lambda_role": _role,
        "tag_list": check_tag_list,
        "workflow_id": check_id,
    }
    DEFAULTS: ClassVar[dict[str, str]] = Options.DEFAULTS | {
        "execution_start_to_close_timeout": "defaultExecutionStartToCloseTimeout",
        "task_start_to_close_timeout": "defaultTaskStartToCloseTimeout",
        "child_policy": "defaultChildPolicy",
        "lambda_role": "defaultLambdaRole",
    }

    def __init__(self, **options: Unpack[WorkflowCallOptions]) -> None:
        self.__attrs_init__(**self._checked(dict(options)))


@functools.cache
def _camel_case(name: str) -> str:
    """SWF's name of an option."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _swf_form(name: str, value: Any) -> Any:
    """SWF's form of a stored value."""
    match name:
        case "task_list":
            return {"name": value}
        case "task_priority":
            return str(value)
        case "tag_list":
            return list(value)
        case _:
            return value


def _unknown(name: str, known: list[str]) -> DeclarationError:
    """Words the error for an option that does not exist, with the nearest one that does."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().removeprefix("default_")
    nearest = [snake] if snake in known else difflib.get_close_matches(snake, known, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return DeclarationError(f"unknown option {name!r}", remedy=f"{hint}The options are {', '.join(known)}")
