"""``@activity``: a function that does the work, in any process, at any time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Generic, ParamSpec, Protocol, Self, TypeVar, Unpack, get_args, overload

from flowpy.declare.calling import Calls, current
from flowpy.declare.durations import NONE
from flowpy.declare.functions import declarable, default_name, is_async, locating, refuse_self
from flowpy.declare.keywords import ActivityCallOptions, ActivityDeclaration, Executor
from flowpy.declare.options import ActivityOptions
from flowpy.declare.promise import Promise
from flowpy.declare.registered import RegisteredType
from flowpy.declare.retry import Retry
from flowpy.declare.signature import Signature
from flowpy.errors import DeclarationError, OutsideWorkflow

__all__ = ["EXTERNAL", "Activity", "AsyncActivity", "PlainActivity", "activity"]

P = ParamSpec("P")
R = TypeVar("R")

_DECORATOR: Final = "@activity"
_current: Final = current.get  # CPython 3.11 is slow to call a method of a name that was imported
EXTERNAL: Final[set[tuple[str, str]]] = set()
"""Name and version of activities declared here that workers of other SDKs run: what reads their input is not flowpy."""

_HEARTBEAT: Final = "60"
_NEVER: Final = ActivityOptions(
    schedule_to_start_timeout=NONE,
    schedule_to_close_timeout=NONE,
    start_to_close_timeout=NONE,
    heartbeat_timeout=NONE,
)


class Activity(RegisteredType[P, Promise[R], ActivityOptions], Generic[P, R]):
    """A declared activity; calling it in workflow code schedules it.

    Attributes:
        retry: The retry policy of its calls, or None.
        manual: Whether it is completed elsewhere, by its task token.
        external: Whether a worker of another SDK runs it.
        executor: Where a worker runs it: ``"thread"`` (an ``async def``: its event loop) or ``"process"``.
        is_plain: Whether its calls have no options of their own and no retry, and may have one argument.
    """

    decorator = _DECORATOR

    def __init__(self, *, manual: bool, external: bool, executor: Executor, **declared: Any) -> None:
        self.manual = manual
        self.external = external
        self.executor: Executor = executor
        super().__init__(**declared)
        if external:
            EXTERNAL.add((self.name, self.version))

    def _apply(self, called: ActivityOptions) -> None:
        super()._apply(called)
        own = self.settings
        self.is_plain = (
            own.activity_id is None and own.retry is None and not self.overrides and 1 in self.signature.fits
        )

    @property
    def retry(self) -> Retry | None:
        """The retry policy of its calls, or None."""
        return self.settings.retry

    def _ask(self, calls: Calls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Promise[R]:
        return calls.call_activity(self, args, kwargs)

    if not TYPE_CHECKING:

        def __call__(self, /, *args, **kwargs):  # noqa: ANN002, ANN003, ANN204 - typed in Declared
            # What the base does, with one call less: this is made for every activity of every replay.
            calls = _current()
            if calls is None:
                raise self._outside()
            return calls.call_activity(self, args, kwargs)

    def _outside(self) -> OutsideWorkflow:
        return OutsideWorkflow(
            f"activity {self.name!r} was called outside workflow code",
            remedy=f"call {self.__name__}.fn(...) to run the plain function here, or call it in a @workflow function",
        )

    def options(self, **options: Unpack[ActivityCallOptions]) -> Self:
        """Returns the same activity, whose calls carry other options.

        Args:
            **options: Fields of ``ActivityOptions``; what is not named stays as it is.

        Raises:
            DeclarationError: If an option is unknown or its value refused.
        """
        return self._with(dict(options))


class PlainActivity(Activity[P, R]):
    """An activity that is a plain ``def``: ``fn`` returns its result."""

    fn: Callable[P, R]


class AsyncActivity(Activity[P, R]):
    """An activity that is an ``async def``: ``fn`` returns a coroutine."""

    fn: Callable[P, Coroutine[Any, Any, R]]


# A coroutine is a result too, so the overloads overlap; the first that fits is meant to win.
class ActivityDecorator(Protocol):
    """``@activity(...)`` with its options given."""

    @overload
    def __call__(self, fn: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncActivity[P, R]: ...  # type: ignore[overload-overlap]

    @overload
    def __call__(self, fn: Callable[P, R], /) -> PlainActivity[P, R]: ...


@overload
def activity(fn: Callable[P, Coroutine[Any, Any, R]], /) -> AsyncActivity[P, R]: ...  # type: ignore[overload-overlap]


@overload
def activity(fn: Callable[P, R], /) -> PlainActivity[P, R]: ...


@overload
def activity(
    *,
    name: str | None = ...,
    version: str = ...,
    manual: bool = ...,
    external: bool = ...,
    executor: Executor = ...,
    **options: Unpack[ActivityDeclaration],
) -> ActivityDecorator: ...


def activity(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1.0",
    manual: bool = False,
    external: bool = False,
    executor: Executor = "thread",
    **options: Any,
) -> Any:
    """Declares a function as an activity.

    The options are registered as defaults of the SWF activity type and may be overridden on each call with
    ``.options(...)``. Without any, only ``heartbeat_timeout`` is set, to 60 seconds: the worker heartbeats by itself,
    so a dead worker is noticed within a minute, however long the activity runs.

    Args:
        fn: The function, a plain ``def`` or ``async def``; without it a decorator is returned.
        name: Name of the activity type; default the function's qualified name.
        version: Version of the activity type.
        manual: Whether it is completed elsewhere, by its task token; then no timeout is set.
        external: Whether a worker of another SDK runs it; then no timeout is set, and the body is never called.
        executor: ``"process"`` for work that computes: a worker runs it in a process of its own, which imports the
            function by its module and name; ``"thread"`` (default) for everything else. An ``async def`` runs on the
            worker's event loop.
        **options: Fields of ``ActivityOptions``, in seconds, as a timedelta, text such as ``"5m"``, or ``NONE``.

    Raises:
        DeclarationError: If the declaration can never work; the message says what to change.
    """

    def declare(function: Any) -> Activity[..., Any]:
        plain = declarable(function, _DECORATOR)
        signature = Signature.of(plain)
        refuse_self(plain, signature, _DECORATOR)
        known_as = default_name(plain, _DECORATOR) if name is None else name
        with locating(f"{_DECORATOR} {known_as}"):
            signature.refuse_variadic()
            if manual and external:
                raise DeclarationError(
                    "manual is for activities that a worker of flowpy starts, external for those of another SDK",
                    remedy="give one of the two",
                )
            registered = _registered(options, heartbeat=not (manual or external))
            _check_executor(executor, plain, external=external)
        runs_async = is_async(plain)
        return (AsyncActivity if runs_async else PlainActivity)(
            fn=plain,
            name=known_as,
            version=version,
            signature=signature,
            is_async=runs_async,
            registered=registered,
            called=ActivityOptions(),
            manual=manual,
            external=external,
            executor=executor,
        )

    return declare if fn is None else declare(fn)


def _check_executor(executor: Any, fn: Callable[..., Any], *, external: bool) -> None:
    """Refuses what no worker could do."""
    if executor not in get_args(Executor):
        raise DeclarationError(f"executor: {executor!r} is none of {', '.join(map(repr, get_args(Executor)))}")
    if executor == "thread":
        return
    if external:
        raise DeclarationError(
            "executor is for activities that a worker of flowpy runs", remedy="leave it out with external"
        )
    if is_async(fn):
        raise DeclarationError('executor="process" is for a plain def: an async def waits, on the worker\'s event loop')
    if not inspect.isfunction(fn) or "<" in fn.__qualname__:
        raise DeclarationError(
            'executor="process" is for functions that another process can import by their name',
            remedy="move it to the top level of a module",
        )


def _registered(options: dict[str, Any], *, heartbeat: bool) -> ActivityOptions:
    """The options of a declaration over flowpy's defaults."""
    if options.get("activity_id") is not None:
        raise DeclarationError(
            "activity_id belongs to one call, and two calls with one id would clash",
            remedy="give it there: .options(activity_id=...)",
        )
    defaults = _NEVER.override(heartbeat_timeout=_HEARTBEAT) if heartbeat else _NEVER
    return defaults.override(**options)
